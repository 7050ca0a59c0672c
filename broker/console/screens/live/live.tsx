// The live map with its list and the panel of the selected vehicle. Filter, search, selection and place stand in the address.
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type KeyboardEvent, Suspense, useMemo } from 'react';
import { Button } from 'react-aria-components';
import { mapWords } from '../../../../build/words/map.ts';
import { Chips } from '../../components/chips.tsx';
import { FindField } from '../../components/find-field.tsx';
import { Mark } from '../../components/mark.tsx';
import { MapPane } from '../../components/places/map-pane.tsx';
import { useZoneName } from '../../components/places/use-zones.ts';
import type { HeldRow } from '../../components/rows/held-rows.ts';
import { RowsBar } from '../../components/rows/rows-bar.tsx';
import { useHeldRows } from '../../components/rows/use-held-rows.ts';
import { useWorstFirst } from '../../components/rows/use-worst-first.ts';
import { VirtualList } from '../../components/rows/virtual-list.tsx';
import { Age, amountOf, codeText, Empty } from '../../components/texts.tsx';
import { lazyPart, useNow, useTitle, useValue, useWords } from '../../components/use.ts';
import { countText, Known, usePicture } from '../../components/view.tsx';
import { vehicles } from '../../service/live.ts';
import { useGroupInAddress } from '../../service/reading/groups.ts';
import {
  countsOf,
  type Filter,
  filters,
  matchesFilter,
  matchesText,
  noVehicle,
  severityOf,
  stateNameOf,
  stateOf,
  type Vehicle,
} from '../../state/fleet.ts';
import { hereOf, hereText, type Place } from '../../state/here.ts';
import { parsePlace, placeText } from '../../state/map-place.ts';
import { without } from '../../state/search.ts';
import { withWords } from '../../words/word-set.ts';
import { VehiclePanel } from './panel.tsx';

const FirstVehicle = lazyPart(async () => (await withWords(import('./first-vehicle.tsx'))).FirstVehicle);
const HereList = lazyPart(async () => (await withWords(import('./here-list.tsx'))).HereList);
const GroupFilter = lazyPart(
  async () => (await withWords(import('../../components/patterns/group-filter.tsx'))).GroupFilter,
);

// The list of vehicles, worst first: the same content as the map. Only rows in sight are in the document.

/** A position is old after this, s: moving vehicles report every few seconds, standing ones every few minutes. */
const lateS = 600;

function Row({ vehicle, isSelected }: { readonly vehicle: Vehicle; readonly isSelected: boolean }) {
  const words = useWords();
  const zoneName = useZoneName();
  const now = useNow();
  const severity = severityOf(vehicle);
  const state = stateOf(vehicle);
  const shown =
    vehicle.place === null || vehicle.speed === null ? null : amountOf(vehicle.speed, 'kmh', words, 1);
  const isLate = state === 'offline' || state === 'doubtful' || now - vehicle.heartbeatS > lateS;
  const place = [vehicle.address || zoneName(vehicle.zone), vehicle.driver]
    .filter((text) => text !== '')
    .join(' · ');
  return (
    <Link
      className="vehicle"
      to="/live"
      search={(before) => ({ ...before, vehicle: vehicle.id })}
      {...(isSelected ? { 'aria-current': true as const } : {})}
    >
      <Mark vehicle={vehicle} />
      <span className="name cut-off" title={vehicle.name}>
        {vehicle.name}
        <span className="hidden">, {words.state[stateNameOf(vehicle)]}</span>
      </span>
      <span className="speed">
        <bdi>
          {shown === null ? words.common.unknown : shown.value}
          {shown === null ? null : <span className="unit">{`\u00a0${shown.unit}`}</span>}
        </bdi>
      </span>
      <span className="line cut-off">
        {vehicle.alarm === null ? null : (
          <>
            <span className={severity === 'look' ? 'look strong' : 'act strong'}>
              {codeText(vehicle.alarm.statusCode, words)}
            </span>
            {place === '' ? '' : ' · '}
          </>
        )}
        {vehicle.alarm === null && place === '' ? words.state[stateNameOf(vehicle)] : place}
      </span>
      <span className={isLate ? 'age late' : 'age'}>
        <Age at={vehicle.heartbeatS} isBare />
        <span className="hidden"> {words.age.old}</span>
      </span>
    </Link>
  );
}

/** Arrow keys go from row to row. */
function moveFocus(event: KeyboardEvent<HTMLDivElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || !(event.target instanceof HTMLElement)) return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('a.vehicle:not(.gone a)')].toSorted(
    (one, other) =>
      Number(one.closest('li')?.dataset['index']) - Number(other.closest('li')?.dataset['index']),
  );
  const next = rows[rows.indexOf(event.target) + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}

function VehicleList({
  rows,
  selected,
}: {
  readonly rows: readonly HeldRow<Vehicle>[];
  readonly selected: string | null;
}) {
  const { live, rows: texts } = useWords(mapWords);
  // Asked once and not for each row, and rows have no keys here: the list of a large fleet changes four times a second.
  const rowPx = matchMedia('(pointer: coarse), (max-width: 720px)').matches ? 56 : 44;
  return (
    <VirtualList
      items={rows}
      rowPx={rowPx}
      frame={{ className: 'list', onKeyDown: moveFocus }}
      label={live.list}
      keyOf={({ item }) => item.id}
      row={({ item, isGone }) => (
        <div {...(isGone ? { className: 'gone', inert: true, 'data-gone': texts.gone } : {})}>
          <Row vehicle={item} isSelected={item.id === selected} />
        </div>
      )}
    />
  );
}

/** Opens the list of the vehicles at these places, as the address keeps it. */
function useOpenHere(): (places: readonly Place[]) => void {
  const navigate = useNavigate({ from: '/live' });
  return (places) => {
    const place = hereOf(places);
    if (place === null) return;
    void navigate({ search: (before) => ({ ...before, here: hereText(place) }), replace: true });
  };
}

function FilterChips({ all, filter }: { readonly all: readonly Vehicle[]; readonly filter: Filter }) {
  const { live } = useWords(mapWords);
  const navigate = useNavigate({ from: '/live' });
  const counts = useMemo(() => countsOf(all), [all]);
  const { knowledge } = usePicture('vehicles');
  return (
    <Chips
      label={live.filter}
      values={filters.filter((one) => one !== 'unknown' || filter === one || counts.unknown > 0)}
      chosen={filter}
      content={(one) => (
        <>
          {live.filters[one]} <b>{countText(counts[one], knowledge)}</b>
        </>
      )}
      onChoose={(one) =>
        void navigate({
          search: (before) => (one === 'all' ? without(before, 'filter') : { ...before, filter: one }),
          replace: true,
        })
      }
    />
  );
}

function NothingShown() {
  const { live } = useWords(mapWords);
  const navigate = useNavigate({ from: '/live' });
  return (
    <Empty icon="search" title={live.noMatch}>
      <p>{live.noMatchHint}</p>
      <Button
        className="button secondary"
        onPress={() =>
          void navigate({
            search: (before) => without(without(without(before, 'filter'), 'find'), 'group'),
            replace: true,
          })
        }
      >
        {live.clear}
      </Button>
    </Empty>
  );
}

function Here({ among }: { readonly among: readonly Vehicle[] }) {
  return (
    <Suspense fallback={null}>
      <HereList among={among} />
    </Suspense>
  );
}

const idOf = ({ id }: Vehicle): string => id;

/** The worst vehicle of the list that became critical since its order was held. */
function urgentOf(vehicles: readonly Vehicle[], held: readonly HeldRow<Vehicle>[] | null) {
  if (held === null) return undefined;
  const before = new Map(held.map(({ item }) => [item.id, item.alarm?.priority]));
  const { alarm, name } =
    vehicles.find(
      (one) => one.alarm?.priority === 'critical' && !one.alarm.hasOwner && before.get(one.id) !== 'critical',
    ) ?? noVehicle;
  return alarm === null ? undefined : { ...alarm, name };
}

/** Vehicles of the fleet, of the group in the address, and of these the ones that match, worst first. */
function useShown(filter: Filter, find: string) {
  const all = useWorstFirst();
  const { ids, error } = useGroupInAddress();
  // Until its vehicles are known, a group shows none.
  const ofGroup = useMemo(() => (ids === null ? all : all.filter(({ id }) => ids?.has(id))), [all, ids]);
  const shown = useMemo(
    () =>
      filter === 'all' && find === ''
        ? ofGroup
        : ofGroup.filter((one) => matchesFilter(one, filter) && matchesText(one, find)),
    [ofGroup, filter, find],
  );
  return { all, ofGroup, shown, ids, error };
}

function NotFound({ id }: { readonly id: string }) {
  const { vehicle } = useWords();
  return (
    <p className="hidden" role="status">
      {vehicle.notFound({ id })}
    </p>
  );
}

function ListTitle({ shown, all }: { readonly shown: number; readonly all: number }) {
  const { live } = useWords(mapWords);
  const { knowledge } = usePicture('vehicles');
  return (
    <div className="row">
      <h2 id="vehicles-title">{live.vehicles}</h2>
      <span className="faint">{live.worstFirst}</span>
      <span className="faint push">
        {shown === all ? countText(all, knowledge) : live.shown({ shown, all })}
      </span>
    </div>
  );
}

export function LiveScreen() {
  const { live, pages } = useWords(mapWords);
  const navigate = useNavigate({ from: '/live' });
  const { filter = 'all', find = '', group, vehicle = null, at, here } = useSearch({ from: '/shell/live' });
  const fleet = useValue(vehicles);
  const picture = usePicture('vehicles');
  const { readMs } = picture;
  const { all, ofGroup, shown, ids, error } = useShown(filter, find);
  const held = useHeldRows(shown, idOf, `${filter} ${group ?? ''} ${find}`);
  const selected = vehicle === null ? undefined : fleet.get(vehicle);
  const urgent = useMemo(() => urgentOf(shown, held.held), [shown, held.held]);
  useTitle(live.title);
  const openHere = useOpenHere();
  const select = (id: string): void => void navigate({ search: (before) => ({ ...before, vehicle: id }) });
  if (all.length === 0 && picture.knowledge === 'known')
    return (
      <Suspense>
        <FirstVehicle />
      </Suspense>
    );
  return (
    <main className={selected === undefined ? 'live alone' : 'live'} id="main">
      <h1 className="hidden">{live.title}</h1>
      <section className="vehicles" aria-labelledby="vehicles-title" {...held.frame}>
        <header>
          <ListTitle shown={shown.length} all={all.length} />
          <FindField
            label={live.find}
            value={find}
            onChange={(text) =>
              void navigate({
                search: (before) => (text === '' ? without(before, 'find') : { ...before, find: text }),
                replace: true,
              })
            }
          />
          <Suspense>
            <GroupFilter />
          </Suspense>
          <FilterChips all={ofGroup} filter={filter} />
          <RowsBar count={held.fresh.length} urgent={urgent} insert={held.insert} />
        </header>
        {held.rows.length === 0 ? (
          <Known {...picture} {...(ids === undefined ? { readMs: null, error } : {})}>
            <NothingShown />
          </Known>
        ) : (
          <VehicleList rows={held.rows} selected={vehicle} />
        )}
      </section>
      <MapPane
        vehicles={shown}
        selected={vehicle}
        place={parsePlace(at)}
        onSelect={select}
        onSeveral={openHere}
        onMove={(place) =>
          void navigate({ search: (before) => ({ ...before, at: placeText(place) }), replace: true })
        }
      />
      {readMs === null || here === undefined ? null : <Here among={shown} />}
      {selected !== undefined ? (
        <VehiclePanel vehicle={selected} />
      ) : vehicle !== null && readMs !== null ? (
        <NotFound id={vehicle} />
      ) : null}
      <Link className="hidden" to="/alarms">
        {pages.alarms.title}
      </Link>
    </main>
  );
}
