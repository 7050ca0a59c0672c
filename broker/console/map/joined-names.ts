// Names in scripts that are written from right to left or joined (Arabic, Hebrew). MapLibre places letters one by one and would
// need a plugin to order and join them. The browser does it for a whole name, so each such name is a picture.
import type { ExpressionSpecification, Map as LibreMap } from 'maplibre-gl';
import type { Colours } from './vehicles/colour-names.ts';

const prefix = 'name ';
const fontPx = 13;
const haloPx = 4;
const pixelRatio = 2;
/** A longer name is cut off: pictures take memory. */
const charactersMost = 40;

/** For `text-field`: nothing where the name is a picture. */
export const nameText: ExpressionSpecification = ['case', ['get', 'isJoined'], '', ['get', 'name']];
/** For `icon-image`: the picture of the name, or none. */
export const nameImage: ExpressionSpecification = [
  'case',
  ['get', 'isJoined'],
  ['concat', prefix, ['get', 'name']],
  '',
];

function drawName(name: string, colours: Colours): ImageData | null {
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) return null;
  const font = `${fontPx}px system-ui, sans-serif`;
  const text = Array.from(name).slice(0, charactersMost).join('');
  context.font = font;
  const width = Math.ceil(context.measureText(text).width) + 2 * haloPx;
  const height = Math.ceil(fontPx * 1.5) + 2 * haloPx;
  canvas.width = width * pixelRatio;
  canvas.height = height * pixelRatio;
  context.scale(pixelRatio, pixelRatio);
  context.font = font;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.lineJoin = 'round';
  context.lineWidth = haloPx;
  context.strokeStyle = colours['map-halo'];
  context.strokeText(text, width / 2, height / 2);
  context.fillStyle = colours.text;
  context.fillText(text, width / 2, height / 2);
  return context.getImageData(0, 0, canvas.width, canvas.height);
}

/** Draws each name when the map first needs it, and again after a change of the theme. */
export function drawJoinedNames(map: LibreMap, coloursNow: () => Colours): void {
  map.setMissingStyleImageResolver((id) => {
    if (!id.startsWith(prefix) || map.hasImage(id)) return;
    const image = drawName(id.slice(prefix.length), coloursNow());
    if (image !== null) map.addImage(id, image, { pixelRatio });
  });
}
