// Trips and stops of a period, and the replay of one of them. What is replayed stands in the address.

import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { findWords } from '../../../../build/words/find.ts';
import { shareWords } from '../../../../build/words/share.ts';
import { tabWords } from '../../../../build/words/tab.ts';
import type { Device, Stop, Trip } from '../../api/operations.ts';
import { Chips } from '../../components/chips.tsx';
import { failureText } from '../../components/failure.ts';
import { Icon } from '../../components/icon.tsx';
import { CopyLink } from '../../components/patterns/copy-link.tsx';
import { Place } from '../../components/places/place.tsx';
import {
  amountOf,
  amountText,
  Badge,
  Empty,
  Notice,
  spanText,
  Time,
  timeText,
} from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { Known } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { type Range, rangeOf, rangeS, ranges } from '../../state/vehicle/vehicle-view.ts';
import { ShareTripLink } from '../shares/vehicle-shares.tsx';
import { Replay } from './replay/replay.tsx';

type Item =
  | { readonly kind: 'trip'; readonly trip: Trip; readonly startTime: number }
  | { readonly kind: 'stop'; readonly stop: Stop; readonly startTime: number };

/** Trips and stops of the last so many seconds, the newest first. One after the other: an account has few reports at once. */
function useItems(deviceID: string, range: Range) {
  return useQuery({
    queryKey: ['trips', deviceID, range],
    queryFn: async ({ signal }): Promise<readonly Item[]> => {
      const startTime = String(Math.floor(Date.now() / 1000) - rangeS[range]);
      const params = { deviceID, startTime, endTime: '0' };
      const { trips } = await call('reportTrips', { params, signal });
      const { stops } = await call('reportStops', { params, signal });
      return [
        ...trips.map((trip) => ({ kind: 'trip' as const, trip, startTime: trip.startTime })),
        ...stops.map((stop) => ({ kind: 'stop' as const, stop, startTime: stop.startTime })),
      ].toSorted((one, other) => other.startTime - one.startTime);
    },
    refetchInterval: 60_000,
  });
}

interface RowProps {
  readonly deviceID: string;
  /** Start of what is replayed, epoch seconds. */
  readonly shownS: number;
  /** A trip of the list has a driver whose key is known. */
  readonly hasDrivers: boolean;
}

/** By name; by the id of the key where it belonged to no driver. */
function Drivers({ drivers }: Pick<Trip, 'drivers'>) {
  const { common } = useWords();
  if (drivers.length === 0) return <span className="muted">{common.unknown}</span>;
  return drivers.map(({ driverUniqueId, driverDisplayName: name }, at) => (
    <bdi className={name === null ? 'mono' : undefined} key={`${driverUniqueId} ${name}`}>
      {name ?? driverUniqueId}
      {at === drivers.length - 1 ? '' : ', '}
    </bdi>
  ));
}

function TripRow({ deviceID, shownS, hasDrivers, trip }: RowProps & { readonly trip: Trip }) {
  const words = useWords(tabWords, shareWords, findWords);
  const { trips: texts } = words;
  const { startTime, endTime, startFuelLevel, endFuelLevel, isOpen } = trip;
  const percent = (level: number): number => Math.round(level * 100);
  return (
    <tr data-selected={startTime === shownS}>
      <th scope="row">
        <Link
          to="/vehicle/$deviceID"
          params={{ deviceID }}
          search={({ range }) => ({
            tab: 'trips' as const,
            ...(range === undefined ? {} : { range }),
            from: startTime,
            ...(isOpen ? {} : { to: endTime }),
          })}
        >
          <Time at={startTime} />
        </Link>
      </th>
      <td data-label={texts.end}>{isOpen ? texts.goesOn : <Time at={endTime} />}</td>
      {hasDrivers ? (
        <td data-label={words.vehicle.driver}>
          <Drivers drivers={trip.drivers} />
        </td>
      ) : null}
      <td className="num" data-label={texts.duration}>
        <bdi>{spanText(trip.drivingTime, words)}</bdi>
      </td>
      <td className="num" data-label={texts.distance}>
        <bdi>{amountText(trip.distance, 'km', words, 1)}</bdi>
      </td>
      <td className="num" data-label={texts.speeds}>
        <bdi>
          {amountOf(trip.averageSpeed, 'kmh', words).value} /{' '}
          {trip.maximumSpeed === null ? words.common.unknown : amountText(trip.maximumSpeed, 'kmh', words)}
        </bdi>
      </td>
      <td className="num" data-label={texts.idle}>
        <bdi>{trip.idleTime === null ? words.common.unknown : spanText(trip.idleTime, words)}</bdi>
      </td>
      <td className="num" data-label={texts.fuel}>
        <bdi>
          {startFuelLevel === null || endFuelLevel === null
            ? words.vehicle.noFuel
            : texts.fromTo({ from: percent(startFuelLevel), to: percent(endFuelLevel) })}
        </bdi>
      </td>
      <td>
        {isOpen ? null : (
          <div className="row">
            <CopyLink
              isSmall
              to={{
                to: '/vehicle/$deviceID',
                params: { deviceID },
                search: { tab: 'trips', from: startTime, to: endTime },
              }}
              what={words.find.link.trip({ time: timeText(startTime) })}
            />
            <ShareTripLink
              deviceID={deviceID}
              fromS={startTime}
              toS={endTime}
              label={words.shares.tripOf({ time: timeText(startTime) })}
            />
          </div>
        )}
      </td>
    </tr>
  );
}

function StopRow({ stop, hasDrivers }: Pick<RowProps, 'hasDrivers'> & { readonly stop: Stop }) {
  const words = useWords(tabWords);
  const { trips: texts } = words;
  return (
    <tr className="stop-row">
      <th scope="row">
        <Time at={stop.startTime} />
      </th>
      <td data-label={texts.end}>{stop.isOpen ? texts.stillThere : <Time at={stop.endTime} />}</td>
      {hasDrivers ? <td /> : null}
      <td className="num" data-label={texts.duration}>
        <bdi>{spanText(stop.stopTime, words)}</bdi>
      </td>
      <td colSpan={2}>
        <Badge icon="map">{texts.stopped}</Badge>{' '}
        <span className="muted">
          <Place latitude={stop.latitude} longitude={stop.longitude} isShort />
        </span>
      </td>
      <td className="num" data-label={texts.idle}>
        <bdi>{stop.idleTime === null ? words.common.unknown : spanText(stop.idleTime, words)}</bdi>
      </td>
      <td />
      <td />
    </tr>
  );
}

function ItemTable({ items, ...of }: Omit<RowProps, 'hasDrivers'> & { readonly items: readonly Item[] }) {
  const { trips: texts, shares, vehicle } = useWords(tabWords, shareWords);
  const hasDrivers = items.some((item) => item.kind === 'trip' && item.trip.drivers.length > 0);
  const row = { ...of, hasDrivers };
  const numbers = [texts.duration, texts.distance, texts.speeds, texts.idle, texts.fuel];
  return (
    <div className="scroll">
      <table className="table folds trips">
        <caption className="hidden">{texts.title}</caption>
        <thead>
          <tr>
            <th scope="col">{texts.start}</th>
            <th scope="col">{texts.end}</th>
            {hasDrivers ? <th scope="col">{vehicle.driver}</th> : null}
            {numbers.map((name) => (
              <th scope="col" key={name} className="num">
                {name}
              </th>
            ))}
            <th scope="col">
              <span className="hidden">{shares.share}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) =>
            item.kind === 'trip' ? (
              <TripRow key={`trip ${item.startTime}`} {...row} trip={item.trip} />
            ) : (
              <StopRow key={`stop ${item.startTime}`} stop={item.stop} hasDrivers={hasDrivers} />
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}

function Totals({ items }: { readonly items: readonly Item[] }) {
  const words = useWords(tabWords);
  const { distance, drivingTime, stops } = useMemo(() => {
    const trips = items.flatMap((item) => (item.kind === 'trip' ? [item.trip] : []));
    return {
      distance: trips.reduce((sum, trip) => sum + trip.distance, 0),
      drivingTime: trips.reduce((sum, trip) => sum + trip.drivingTime, 0),
      stops: items.length - trips.length,
    };
  }, [items]);
  return (
    <span className="muted">
      <bdi>
        {[
          spanText(drivingTime, words),
          amountText(distance, 'km', words, 1),
          words.trips.stops({ count: stops }),
        ].join(' · ')}
      </bdi>
    </span>
  );
}

/** What the address asks to replay; else the newest trip. Null: neither. */
function shownPeriod(items: readonly Item[] | undefined, from: number | undefined, to: number | undefined) {
  if (from !== undefined) return { fromS: from, toS: to ?? 0 };
  const newest = items?.find((item) => item.kind === 'trip');
  if (newest?.kind !== 'trip') return null;
  const { startTime, endTime, isOpen } = newest.trip;
  return { fromS: startTime, toS: isOpen ? 0 : endTime };
}

export function VehicleTrips({ device: { deviceID } }: { readonly device: Device }) {
  const words = useWords(tabWords);
  const { trips: texts, events } = words;
  const navigate = useNavigate({ from: '/vehicle/$deviceID' });
  const { range: chosen, from, to, time } = useSearch({ from: '/shell/vehicle/$deviceID' });
  const [openedS] = useState(() => Math.floor(Date.now() / 1000));
  const range = rangeOf(chosen, from, openedS);
  const { data: items, error, dataUpdatedAt } = useItems(deviceID, range);
  const failure = error === null ? null : failureText(error, words);
  const shown = shownPeriod(items, from, to);
  return (
    <div className="replay">
      {shown === null ? null : (
        <Replay deviceID={deviceID} {...shown} startS={time ?? null} isChosen={from !== undefined} />
      )}
      <section className="card whole-row" aria-labelledby="trips-title">
        <header className="wrap">
          <h2 id="trips-title">{texts.title}</h2>
          {items === undefined ? null : <Totals items={items} />}
          <Chips
            label={events.range}
            values={ranges}
            chosen={range}
            content={(one) => events.ranges[one]}
            onChoose={(one) => void navigate({ search: { tab: 'trips', range: one }, replace: true })}
          />
          <Link
            className="button small push"
            to="/vehicle/$deviceID"
            params={{ deviceID }}
            search={{ tab: 'trips', range, from: openedS - rangeS[range] }}
          >
            <Icon name="play" />
            {texts.whole}
          </Link>
        </header>
        {failure === null ? null : (
          <Notice tone="look" icon="triangle-alert" role="alert" title={failure.title}>
            {failure.hint}
          </Notice>
        )}
        {items === undefined || items.length === 0 ? (
          <Known readMs={dataUpdatedAt} error={error}>
            <Empty icon="map" title={texts.empty}>
              <p>{texts.emptyHint}</p>
            </Empty>
          </Known>
        ) : (
          <ItemTable items={items} deviceID={deviceID} shownS={shown?.fromS ?? 0} />
        )}
      </section>
    </div>
  );
}
