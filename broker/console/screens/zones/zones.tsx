// The zones of the account: list, map, and the panel or the editor of one. What is shown stands in the address.
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import type { Geozone } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { FindField } from '../../components/find-field.tsx';
import { Icon } from '../../components/icon.tsx';
import { MapTools } from '../../components/map-tools.tsx';
import { Empty, numberText } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { connection, vehicles } from '../../service/live.ts';
import { without } from '../../state/search.ts';
import { draftText, newDraft, pointsMost } from '../../state/zones/zone-draft.ts';
import { zoneOf } from '../../state/zones/zone-geometry.ts';
import { vehiclesIn, zoneName, zonesFound } from '../../state/zones/zone-view.ts';
import { useZoneList } from '../live/use-zones.ts';
import { ZoneEditor } from './editor.tsx';
import { ZonePanel } from './panel.tsx';
import { type DraftEdit, useDraft } from './use-draft.ts';
import { useShapeMap } from './use-shape-map.ts';

/** Rows in the document; a search finds the others. */
const rowsMost = 300;

function Row({ zone, isSelected }: { readonly zone: Geozone; readonly isSelected: boolean }) {
  const { zones: texts } = useWords();
  const fleet = useValue(vehicles);
  const shape = useMemo(() => zoneOf(zone), [zone]);
  const inside = useMemo(() => vehiclesIn(shape, [...fleet.values()]).length, [shape, fleet]);
  return (
    <Link
      className="vehicle"
      to="/zones"
      search={(before) => ({ ...without(without(before, 'edit'), 'shape'), zone: zone.geozoneID })}
      {...(isSelected ? { 'aria-current': true as const } : {})}
    >
      <Icon name={zone.geozoneWarning === '' ? 'hexagon' : 'triangle-alert'} />
      <span className="name cut-off">{zoneName(zone)}</span>
      <span className="speed">{numberText(inside)}</span>
      <span className="line cut-off">
        {texts.kinds[shape.type]}
        {zone.geozoneDescription === '' ? '' : ` · ${zone.geozoneDescription}`}
      </span>
      <span className="age">{texts.inside}</span>
    </Link>
  );
}

function List({ zones, mayChange }: { readonly zones: readonly Geozone[]; readonly mayChange: boolean }) {
  const { zones: texts } = useWords();
  const navigate = useNavigate({ from: '/zones' });
  const { find = '', zone: selected } = useSearch({ from: '/shell/zones' });
  const found = useMemo(() => zonesFound(zones, find), [zones, find]);
  const { state } = useValue(connection);
  return (
    <>
      <header>
        <div className="row">
          <h2 id="zones-title">{texts.title}</h2>
          <span className="faint">{numberText(zones.length)}</span>
          {mayChange ? (
            <ActionButton
              className="button secondary small push"
              isOff={state !== 'live'}
              onPress={() =>
                void navigate({
                  search: (before) => ({
                    ...without(before, 'zone'),
                    edit: 'new' as const,
                    shape: draftText(newDraft),
                  }),
                })
              }
            >
              <Icon name="plus" />
              {texts.new}
            </ActionButton>
          ) : null}
        </div>
        <FindField
          label={texts.find}
          value={find}
          onChange={(text) =>
            void navigate({
              search: (before) => (text === '' ? without(before, 'find') : { ...before, find: text }),
              replace: true,
            })
          }
        />
      </header>
      {found.length === 0 ? (
        <Empty icon="hexagon" title={zones.length === 0 ? texts.empty : texts.noMatch}>
          {zones.length === 0 ? <p>{mayChange ? texts.emptyHint : texts.viewer}</p> : null}
        </Empty>
      ) : (
        <ul className="list" aria-label={texts.list}>
          {found.slice(0, rowsMost).map((zone) => (
            <li key={zone.geozoneID}>
              <Row zone={zone} isSelected={zone.geozoneID === selected} />
            </li>
          ))}
          {found.length > rowsMost ? <li className="empty">{texts.more(found.length - rowsMost)}</li> : null}
        </ul>
      )}
    </>
  );
}

/** The map: all zones, the vehicles, and the zone that is selected or drawn. */
function useZoneMap(zones: readonly Geozone[], edit: DraftEdit) {
  const { zones: texts } = useWords();
  const navigate = useNavigate({ from: '/zones' });
  const { zone: zoneID, edit: editing, shape, at } = useSearch({ from: '/shell/zones' });
  const isEditing = editing !== undefined;
  const zone = zones.find(({ geozoneID }) => geozoneID === zoneID);
  const selected = useMemo(
    () => (zone === undefined ? undefined : { id: zone.geozoneID, shape: zoneOf(zone) }),
    [zone],
  );
  const opened = useShapeMap({
    name: texts.map,
    edit,
    isEditing,
    shape,
    at,
    selected,
    onPlace: (place) => void navigate({ search: (before) => ({ ...before, at: place }), replace: true }),
  });
  const { map } = opened;
  useEffect(() => {
    map?.showZones(isEditing ? zones.filter(({ geozoneID }) => geozoneID !== zoneID) : zones);
  }, [map, zones, isEditing, zoneID]);
  return opened;
}

export function ZonesScreen() {
  const words = useWords();
  const { zones: texts, live } = words;
  const navigate = useNavigate({ from: '/zones' });
  const { zone: selected, edit: editing, shape } = useSearch({ from: '/shell/zones' });
  const { zones, isLoaded, error, mayChange } = useZoneList();
  const edit = useDraft({
    shape,
    first: newDraft,
    most: pointsMost,
    onShape: (text) => void navigate({ search: (before) => ({ ...before, shape: text }), replace: true }),
  });
  const { host, map, isImpossible } = useZoneMap(zones, edit);
  const zone = zones.find(({ geozoneID }) => geozoneID === selected);
  useEffect(() => {
    document.title = `${texts.title} · ${words.common.brand}`;
  }, [texts, words]);
  const isEditing =
    isLoaded && mayChange && (editing === 'new' || (editing === 'change' && zone !== undefined));
  const close = (id: string | null): void =>
    void navigate({
      search: (before) => {
        const rest = without(without(before, 'edit'), 'shape');
        return id === null ? rest : { ...rest, zone: id };
      },
      replace: true,
    });
  return (
    <main className={isEditing || zone !== undefined ? 'live' : 'live alone'} id="main">
      <h1 className="hidden">{texts.title}</h1>
      <section className="vehicles" aria-labelledby="zones-title">
        <View error={error} isLoaded={isLoaded} empty={null}>
          <List zones={zones} mayChange={mayChange} />
        </View>
      </section>
      <div className="map">
        {isImpossible ? (
          <Empty icon="map" title={live.noWebgl} />
        ) : (
          <>
            <div className="map-host" ref={host} dir="ltr" />
            <MapTools
              map={map}
              fitText={zone === undefined ? live.fit : texts.fit}
              onFit={() => (zone === undefined ? map?.fit() : map?.fitDraft())}
            />
          </>
        )}
      </div>
      {isEditing ? (
        <ZoneEditor
          key={editing === 'new' ? '' : zone?.geozoneID}
          edit={edit}
          zone={editing === 'new' ? undefined : zone}
          zones={zones}
          middle={map === null ? null : () => map.middle()}
          onClose={close}
        />
      ) : zone === undefined ? null : (
        <ZonePanel key={zone.geozoneID} zone={zone} />
      )}
      {isLoaded && selected !== undefined && zone === undefined ? (
        <p className="hidden" role="status">
          {texts.missing(selected)}
        </p>
      ) : null}
    </main>
  );
}
