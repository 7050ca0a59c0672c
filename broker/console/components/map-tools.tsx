// What every map has over it: zoom, fit, the choice of the base map, what is wrong with it, and whose data it is.
import { Button, Header, Menu, MenuItem, MenuSection, MenuTrigger, Popover } from 'react-aria-components';
import { mapWords } from '../../../build/words/map.ts';
import type { FleetMap } from '../map/map.ts';
import { chooseBaseMap } from '../service/maps/base-maps.ts';
import { choiceText, fileTitle, parseChoice } from '../state/base-map.ts';
import { createValue } from '../state/value.ts';
import type { WordsWith } from '../words/word-set.ts';
import { Icon } from './icon.tsx';
import { Notice } from './texts.tsx';
import { useValue, useWords } from './use.ts';
import { type ShownBaseMap, useBaseMap } from './use-base-map.ts';

// The choice of the base map, what is wrong with it, and whose data is drawn: over every map.

const osmCopyright = 'https://www.openstreetmap.org/copyright';
const noCredit = createValue('');

interface Row {
  readonly key: string;
  readonly title: string;
}

/** The world, the files, the style, and what was chosen although it is no longer offered. */
function rowsOf({ offer, choice }: ShownBaseMap, { baseMap }: WordsWith<[typeof mapWords]>): readonly Row[] {
  const rows: Row[] = [{ key: choiceText({ kind: 'world' }), title: baseMap.world }];
  for (const { name } of offer?.maps ?? [])
    rows.push({ key: choiceText({ kind: 'file', name }), title: fileTitle(name) });
  const style = offer?.style ?? null;
  if (style !== null)
    rows.push({
      key: choiceText({ kind: 'style' }),
      title: baseMap.style({ host: new URL(style.url).host }),
    });
  const chosen = choiceText(choice);
  if (choice.kind === 'file' && !rows.some(({ key }) => key === chosen))
    rows.push({ key: chosen, title: fileTitle(choice.name) });
  return rows;
}

/** A button that opens the list of maps; nothing while there is nothing to choose from. */
function BaseMapMenu({ shown }: { readonly shown: ShownBaseMap }) {
  const words = useWords(mapWords);
  const { baseMap } = words;
  const rows = rowsOf(shown, words);
  if (rows.length < 2) return null;
  return (
    <MenuTrigger>
      <Button className="button square base-map" aria-label={baseMap.choose}>
        <Icon name="layers" />
      </Button>
      <Popover className="menu" placement="bottom end">
        <Menu
          aria-label={baseMap.choose}
          selectionMode="single"
          disallowEmptySelection
          selectedKeys={[choiceText(shown.choice)]}
          onSelectionChange={(keys) => {
            for (const key of new Set<unknown>(keys)) chooseBaseMap(parseChoice(String(key)));
          }}
        >
          <MenuSection>
            <Header>{baseMap.choose}</Header>
            {rows.map(({ key, title }) => (
              <MenuItem key={key} id={key} textValue={title}>
                <bdi>{title}</bdi>
              </MenuItem>
            ))}
          </MenuSection>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

/** Why the chosen map is not drawn, or not all of it. */
function BaseMapNotice({ shown: { fault, retry } }: { readonly shown: ShownBaseMap }) {
  const { baseMap, common } = useWords(mapWords);
  return (
    <div className="map-notice" role="status">
      {fault === null ? null : (
        <Notice
          tone="look"
          icon="triangle-alert"
          title={baseMap.faults[fault.code]({ name: fault.source, hasName: fault.source !== '' })}
        >
          {fault.code === 'host' ? baseMap.restDrawn : baseMap.worldInstead}{' '}
          <Button className="button small" onPress={retry}>
            {common.retry}
          </Button>
        </Notice>
      )}
    </div>
  );
}

/** Whose data is drawn. A map of OpenStreetMap's data has to say so wherever it is shown (ODbL 1.0, 4.3). */
function MapCredit({ shown: { opened } }: { readonly shown: ShownBaseMap }) {
  const { live, baseMap } = useWords(mapWords);
  const own = useValue(opened?.credit ?? noCredit);
  if (opened === null) return <p className="float credit">{live.credit}</p>;
  const { bounds, name } = opened.base;
  if (bounds === null) return <p className="float credit always">{own === '' ? name : own}</p>;
  return (
    <p className="float credit always">
      <a href={osmCopyright} target="_blank" rel="noopener noreferrer">
        {baseMap.osm}
      </a>
      {own === '' || /openstreetmap/i.test(own) ? '' : ` · ${own}`} · {live.credit}
    </p>
  );
}

interface MapToolsProps {
  readonly map: FleetMap | null;
  /** Null: there is nothing but the choice of the map. */
  readonly fitText?: string | null;
  onFit?(): void;
}

export function MapTools({ map, fitText = null, onFit = () => undefined }: MapToolsProps) {
  const { live } = useWords(mapWords);
  const shown = useBaseMap(map);
  return (
    <>
      <div className="float tools">
        {fitText === null ? null : (
          <>
            <Button className="button square" aria-label={live.zoomIn} onPress={() => map?.zoom(1)}>
              <Icon name="plus" />
            </Button>
            <Button className="button square" aria-label={live.zoomOut} onPress={() => map?.zoom(-1)}>
              <Icon name="minus" />
            </Button>
            <Button className="button square" aria-label={fitText} onPress={onFit}>
              <Icon name="maximize" />
            </Button>
          </>
        )}
        <BaseMapMenu shown={shown} />
      </div>
      <BaseMapNotice shown={shown} />
      <MapCredit shown={shown} />
    </>
  );
}
