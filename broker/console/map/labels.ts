// Labels of maps that others have made, without fonts and pictures of theirs: both would have to be asked for.
import type { LayerSpecification } from 'maplibre-gl';
import { fonts } from './ground-layers.ts';

/** Protomaps keeps some names a second time in the glyphs of one font; the plain ones are beside them. */
const glyphPrefix = 'pgf:';

/** An expression without fonts and glyphs of its own. */
function plain(value: unknown): unknown {
  if (typeof value === 'string')
    return value.startsWith(glyphPrefix) ? value.slice(glyphPrefix.length) : value;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'text-font'));
}

/**
 * Labels by the fonts of this computer.
 * @param hasPictures the map has a sprite; without one its icons are left out, and what is an icon only is not drawn.
 */
export function withLocalLabels(
  layers: readonly LayerSpecification[],
  hasPictures: boolean,
): readonly LayerSpecification[] {
  return layers.flatMap((layer): LayerSpecification[] => {
    if (layer.type !== 'symbol') return [layer];
    const members = Object.entries(layer.layout ?? {}).filter(
      ([name]) => name !== 'text-font' && (hasPictures || !name.startsWith('icon-')),
    );
    const text = members.find(([name]) => name === 'text-field');
    if (text === undefined && !hasPictures) return [];
    const layout = Object.fromEntries(members.map(([name, value]) => [name, plain(value)]));
    return [{ ...layer, layout: { ...layout, 'text-font': [...fonts] } }];
  });
}
