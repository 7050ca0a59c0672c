// Reads a report: vehicle after vehicle or page after page, with how far it is, until it is whole, stopped, or as long as a report may be.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReportKind } from '../../../../src/core/reports/columns.ts';
import { alarmRow, type ReportRow, stopRow, summaryRow, tripRow } from '../../../../src/core/reports/rows.ts';
import { useValue } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { fleetReadMs, vehicles } from '../../service/live.ts';
import { patiently } from '../../service/reading/patience.ts';
import { type Period, tooLong } from '../../state/reports/report-view.ts';
import { decisionRow, eventRow } from '../../state/reports/rows.ts';
import { createValue, type Value } from '../../state/value.ts';

/** Rows of the longest report: a page holds them all. */
export const rowsMost = 10_000;
/** Records that are looked through for the rows of the chosen vehicles. */
const recordsMost = 100_000;
const pageSize = '500';
const eventsPageSize = '5000';

export interface Asked {
  readonly kind: ReportKind;
  /** Empty: the whole fleet, or the group. */
  readonly deviceIDs: readonly string[];
  /** Vehicles of a chosen group. Null: none is chosen; undefined: they are not known yet. */
  readonly group: ReadonlySet<string> | null | undefined;
  readonly period: Period;
  /** Of trips; empty: all. */
  readonly driver: string;
  /** Of events. */
  readonly code: number;
}

export interface Progress {
  /** Vehicles that were read, of so many; 0 of 0 where pages are read. */
  readonly done: number;
  readonly all: number;
  readonly rows: number;
}

const noProgress: Progress = { done: 0, all: 0, rows: 0 };

interface Reading {
  readonly signal: AbortSignal;
  readonly progress: Value<Progress>;
}

interface Rows {
  readonly rows: readonly ReportRow[];
  /** There are more than a report may have. */
  readonly isCapped: boolean;
}

const capped = (found: readonly ReportRow[], isCut: boolean): Rows => ({
  rows: found.slice(0, rowsMost),
  isCapped: isCut || found.length > rowsMost,
});

/** Rows of one vehicle after the other. */
async function byVehicle(
  deviceIDs: readonly string[],
  { signal, progress }: Reading,
  read: (deviceID: string) => Promise<readonly ReportRow[]>,
): Promise<Rows> {
  const found: ReportRow[] = [];
  progress.set({ ...noProgress, all: deviceIDs.length });
  for (const [at, deviceID] of deviceIDs.entries()) {
    found.push(...(await patiently(signal, () => read(deviceID))));
    progress.set({ done: at + 1, all: deviceIDs.length, rows: found.length });
    if (found.length > rowsMost) break;
  }
  return capped(found, false);
}

interface Page {
  readonly rows: readonly ReportRow[];
  /** Records that were looked through for them. */
  readonly records: number;
  /** Cursor of the next page; null after the last one that is wanted. */
  readonly next: string | null;
}

async function byPage(
  { signal, progress }: Reading,
  read: (cursor: string | undefined) => Promise<Page>,
): Promise<Rows> {
  const found: ReportRow[] = [];
  let looked = 0;
  progress.set(noProgress);
  for (let cursor: string | undefined; ; ) {
    const from = cursor;
    const { rows, records, next } = await patiently(signal, () => read(from));
    found.push(...rows);
    looked += records;
    progress.set({ ...noProgress, rows: found.length });
    if (next === null) return capped(found, false);
    if (found.length > rowsMost || looked >= recordsMost) return capped(found, true);
    cursor = next;
  }
}

const nextOf = (page: { readonly more?: boolean; readonly next?: string | null }): string | null =>
  page.more === true ? (page.next ?? null) : null;

/** The rows of a report. @throws ServiceError */
async function readReport(
  { kind, deviceIDs, group, period, driver, code }: Asked,
  reading: Reading,
): Promise<Rows> {
  const { signal } = reading;
  const span = { startTime: String(Math.max(1, period.fromS)), endTime: String(period.toS) };
  const isWanted = ({ deviceID }: ReportRow): boolean =>
    deviceIDs.length === 0 ? (group?.has(deviceID) ?? true) : deviceIDs.includes(deviceID);
  const everyID = deviceIDs.length === 0 ? [...(group ?? vehicles.get().keys())].toSorted() : deviceIDs;
  switch (kind) {
    case 'summary': {
      // The service sums the whole fleet in one answer.
      const summed = deviceIDs.length === 0 ? ['*'] : deviceIDs;
      return byVehicle(summed, reading, async (deviceID) => {
        const { devices } = await call('reportSummary', { params: { deviceID, ...span }, signal });
        return devices.map(summaryRow).filter(isWanted);
      });
    }
    case 'trips':
      return byVehicle(everyID, reading, async (deviceID) => {
        const query = driver === '' ? {} : { driverID: driver };
        const { trips } = await call('reportTrips', { params: { deviceID, ...span }, query, signal });
        return trips.map(tripRow);
      });
    case 'stops':
      return byVehicle(everyID, reading, async (deviceID) => {
        const { stops } = await call('reportStops', { params: { deviceID, ...span }, signal });
        return stops.map(stopRow);
      });
    case 'alarms':
      return byPage(reading, async (cursor) => {
        const query = {
          state: 'open,closed',
          limit: pageSize,
          from: String(period.fromS),
          ...(period.toS === 0 ? {} : { to: String(period.toS) }),
          ...(deviceIDs.length === 1 && deviceIDs[0] !== undefined ? { deviceID: deviceIDs[0] } : {}),
          ...(cursor === undefined ? {} : { cursor }),
        };
        const page = await call('listAlarms', { query, signal });
        const { alarms } = page;
        return {
          rows: alarms.map(alarmRow).filter(isWanted),
          records: alarms.length,
          next: nextOf(page),
        };
      });
    case 'decisions':
      return byPage(reading, async (cursor) => {
        const query = { state: 'all', limit: pageSize, ...(cursor === undefined ? {} : { cursor }) };
        const page = await call('listApprovals', { query, signal });
        const { approvals } = page;
        // The newest come first: what is older than the period ends the reading.
        const isOlder = approvals.some(({ requested }) => requested < period.fromS);
        const inside = approvals.filter(
          ({ requested }) => requested >= period.fromS && (period.toS === 0 || requested <= period.toS),
        );
        return {
          rows: inside.map(decisionRow).filter(isWanted),
          records: approvals.length,
          next: isOlder ? null : nextOf(page),
        };
      });
    case 'events':
      return byPage(reading, async (cursor) => {
        const page = await call('fleetData', {
          params: { statusCode: String(code), ...span },
          query: { limit: eventsPageSize, ...(cursor === undefined ? {} : { cursor }) },
          signal,
        });
        const { devices } = page.eventdata;
        return { rows: devices.map(eventRow).filter(isWanted), records: devices.length, next: nextOf(page) };
      });
  }
}

export interface Report {
  readonly rows: readonly ReportRow[] | undefined;
  /** There are more rows than a report may have. */
  readonly isCapped: boolean;
  /** When it was read, epoch seconds. */
  readonly readS: number;
  readonly isReading: boolean;
  /** The reading has begun, and can be stopped. */
  readonly canStop: boolean;
  readonly progress: Value<Progress>;
  readonly error: Error | null;
  /** Days that a period may have at most, where this one is longer; null: it is not. */
  readonly tooLongDays: number | null;
  read(): void;
  stop(): void;
}

/** @param periodOf the period at a moment, epoch seconds: one that is named ends with the reading. */
export function useReport(
  asked: Omit<Asked, 'period'>,
  periodKey: string,
  periodOf: (nowS: number) => Period,
): Report {
  const queries = useQueryClient();
  const isFleetKnown = useValue(fleetReadMs) !== null;
  const [progress] = useState(() => createValue(noProgress));
  const { group, ...rest } = asked;
  const queryKey = ['report', rest, group == null ? group : [...group].toSorted(), periodKey];
  const nowS = Math.floor(Date.now() / 1000);
  const isFleet = asked.deviceIDs.length === 0;
  // The ids of all vehicles are those of the live picture.
  const isWaiting =
    group === undefined || (isFleet && (asked.kind === 'trips' || asked.kind === 'stops') && !isFleetKnown);
  const tooLongDays = tooLong(asked.kind, isFleet, periodOf(nowS), nowS);
  const { data, error, isFetching, refetch, dataUpdatedAt } = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const period = periodOf(Math.floor(Date.now() / 1000));
      return readReport({ ...asked, period }, { signal, progress });
    },
    enabled: !isWaiting && tooLongDays === null,
    // A report is read when it is asked for, and not again behind the reader's back.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    retry: false,
  });
  return {
    rows: data?.rows,
    isCapped: data?.isCapped ?? false,
    readS: Math.floor(dataUpdatedAt / 1000),
    isReading: isFetching || isWaiting,
    canStop: isFetching,
    progress,
    error,
    tooLongDays,
    read: () => void refetch(),
    stop: () => void queries.cancelQueries({ queryKey }),
  };
}
