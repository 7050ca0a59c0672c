// The live map with its list and the panel of the selected vehicle. Filter, search, selection and place stand in the address.

import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Button } from 'react-aria-components';
import { mapWords } from '../../../../build/words/map.ts';
import { Chips } from '../../components/chips.tsx';
import { FindField } from '../../components/find-field.tsx';
import { useWorstFirst } from '../../components/rows/use-worst-first.ts';
import { Empty } from '../../components/texts.tsx';
import { useTitle, useValue, useWords } from '../../components/use.ts';
import { countText, Known, usePicture } from '../../components/view.tsx';
import { vehicles } from '../../service/live.ts';
import {
  countsOf,
  type Filter,
  filters,
  matchesFilter,
  matchesText,
  type Vehicle,
} from '../../state/fleet.ts';
import { parsePlace, placeText } from '../../state/map-place.ts';
import { without } from '../../state/search.ts';
import { HereList, useOpenHere } from './here-list.tsx';
import { MapPane } from './map-pane.tsx';
import { VehiclePanel } from './panel.tsx';
import { VehicleList } from './vehicle-list.tsx';

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

function NothingShown({ hasVehicles }: { readonly hasVehicles: boolean }) {
  const { live } = useWords(mapWords);
  const navigate = useNavigate({ from: '/live' });
  if (!hasVehicles)
    return (
      <Empty icon="truck" title={live.empty}>
        <p>{live.emptyHint}</p>
      </Empty>
    );
  return (
    <Empty icon="search" title={live.noMatch}>
      <p>{live.noMatchHint}</p>
      <Button
        className="button secondary"
        onPress={() =>
          void navigate({ search: (before) => without(without(before, 'filter'), 'find'), replace: true })
        }
      >
        {live.clear}
      </Button>
    </Empty>
  );
}

export function LiveScreen() {
  const words = useWords(mapWords);
  const { live } = words;
  const navigate = useNavigate({ from: '/live' });
  const { filter = 'all', find = '', vehicle = null, at } = useSearch({ from: '/shell/live' });
  const fleet = useValue(vehicles);
  const picture = usePicture('vehicles');
  const { readMs, knowledge } = picture;
  const all = useWorstFirst();
  const shown = useMemo(
    () => all.filter((one) => matchesFilter(one, filter) && matchesText(one, find)),
    [all, filter, find],
  );
  const selected = vehicle === null ? undefined : fleet.get(vehicle);
  useTitle(live.title);
  const openHere = useOpenHere();
  const select = (id: string): void => void navigate({ search: (before) => ({ ...before, vehicle: id }) });
  return (
    <main className={selected === undefined ? 'live alone' : 'live'} id="main">
      <h1 className="hidden">{live.title}</h1>
      <section className="vehicles" aria-labelledby="vehicles-title">
        <header>
          <div className="row">
            <h2 id="vehicles-title">{live.vehicles}</h2>
            <span className="faint">{live.worstFirst}</span>
            <span className="faint push">
              {shown.length === all.length
                ? countText(all.length, knowledge)
                : live.shown({ shown: shown.length, all: all.length })}
            </span>
          </div>
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
          <FilterChips all={all} filter={filter} />
        </header>
        {shown.length === 0 ? (
          <Known {...picture}>
            <NothingShown hasVehicles={all.length > 0} />
          </Known>
        ) : (
          <VehicleList vehicles={shown} selected={vehicle} />
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
      {readMs === null ? null : <HereList among={shown} />}
      {selected !== undefined ? (
        <VehiclePanel vehicle={selected} />
      ) : vehicle !== null && readMs !== null ? (
        <p className="hidden" role="status">
          {words.vehicle.notFound({ id: vehicle })}
        </p>
      ) : null}
      <Link className="hidden" to="/alarms">
        {words.pages.alarms.title}
      </Link>
    </main>
  );
}
