// The zones of the account: list, map, and the panel or the editor of one. What is shown stands in the address.

import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { zoneWords } from '../../../../build/words/zone.ts';
import type { Geozone } from '../../api/operations.ts';
import { Icon } from '../../components/icon.tsx';
import { usePut } from '../../components/patterns/address.tsx';
import { useZoneList } from '../../components/places/use-zones.ts';
import { numberText } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { vehicles } from '../../service/live.ts';
import { without } from '../../state/search.ts';
import { pointsMost } from '../../state/zones/zone-address.ts';
import { draftText, newDraft } from '../../state/zones/zone-draft.ts';
import { zoneOf } from '../../state/zones/zone-geometry.ts';
import { zoneName } from '../../state/zones/zone-name.ts';
import { vehiclesIn, zonesFound } from '../../state/zones/zone-view.ts';
import { ZoneEditor } from './editor.tsx';
import { ZonePanel } from './panel.tsx';
import { ShapeFrame } from './shape-frame.tsx';
import { ShapeList } from './shape-list.tsx';
import { type DraftEdit, useDraft } from './use-draft.ts';
import { useShapeMap } from './use-shape-map.ts';

const titleID = 'zones-title';

function Row({ zone, isSelected }: { readonly zone: Geozone; readonly isSelected: boolean }) {
  const { zones: texts } = useWords(zoneWords);
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
      <span className="name">{zoneName(zone)}</span>
      <span className="speed">{numberText(inside)}</span>
      <span className="line cut-off">
        {texts.kinds[shape.type]}
        {zone.geozoneDescription === '' ? '' : ` · ${zone.geozoneDescription}`}
      </span>
      <span className="age">{texts.inside}</span>
    </Link>
  );
}

function List({ zones, readMs, error, mayChange }: ReturnType<typeof useZoneList>) {
  const { pages, zones: texts } = useWords(zoneWords);
  const navigate = useNavigate({ from: '/zones' });
  const put = usePut();
  const { find = '', zone: selected } = useSearch({ from: '/shell/zones' });
  return (
    <ShapeList
      titleID={titleID}
      icon="hexagon"
      texts={{ ...texts, title: pages.zones.title }}
      all={zones}
      readMs={readMs}
      error={error}
      find={find}
      mayChange={mayChange}
      search={zonesFound}
      idOf={({ geozoneID }) => geozoneID}
      row={(zone) => <Row zone={zone} isSelected={zone.geozoneID === selected} />}
      onNew={() =>
        void navigate({
          search: (before) => ({ ...without(before, 'zone'), edit: 'new', shape: draftText(newDraft) }),
        })
      }
      onFind={(text) => put({ find: text || undefined })}
    />
  );
}

/** The map: all zones, the vehicles, and the zone that is selected or drawn. */
function useZoneMap(zones: readonly Geozone[], edit: DraftEdit) {
  const { zones: texts } = useWords(zoneWords);
  const put = usePut();
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
    onPlace: (place) => put({ at: place }),
  });
  const { map } = opened;
  useEffect(() => {
    map?.showZones(isEditing ? zones.filter(({ geozoneID }) => geozoneID !== zoneID) : zones);
  }, [map, zones, isEditing, zoneID]);
  return opened;
}

export function ZonesScreen() {
  const { pages, zones: texts } = useWords(zoneWords);
  const put = usePut();
  const { zone: selected, edit: editing, shape } = useSearch({ from: '/shell/zones' });
  const known = useZoneList();
  const { zones, isLoaded, error, mayChange } = known;
  const edit = useDraft({
    shape,
    first: newDraft,
    most: pointsMost,
    onShape: (text) => put({ shape: text }),
  });
  const opened = useZoneMap(zones, edit);
  const { map } = opened;
  const zone = zones.find(({ geozoneID }) => geozoneID === selected);
  const isEditing =
    isLoaded && mayChange && (editing === 'new' || (editing === 'change' && zone !== undefined));
  const close = (id: string | null): void =>
    put({ edit: undefined, shape: undefined, ...(id === null ? {} : { zone: id }) });
  return (
    <ShapeFrame
      titleID={titleID}
      texts={{ ...texts, title: pages.zones.title }}
      opened={opened}
      isLoaded={isLoaded}
      error={error}
      list={<List {...known} />}
      selected={selected}
      isFound={zone !== undefined}
      side={
        isEditing ? (
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
        )
      }
    />
  );
}
