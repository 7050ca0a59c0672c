// Reads reports for mails: the same trips, stops, sums, alarms and decisions that the operations answer with, in the rows of the console.

import {
  alarmRow,
  decisionRow,
  type ReportRow,
  stopRow,
  summaryRow,
  tripRow,
} from '../../../src/core/reports/rows.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { summarise, viewStop, viewTrip } from '../../api/events/reports.ts';
import { tripsAndStops } from '../../api/events/trip-report.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { viewAlarm } from '../../core/alarms/alarm.ts';
import { aheadMostMs } from '../../core/events/projection.ts';
import { listNewestAlarms } from '../../store/alarms/alarms.ts';
import { type ApprovalCursor, listApprovals, viewApproval } from '../../store/commands/approvals.ts';
import { type MailedKind, scheduleLimits } from './core/report-schedule.ts';

export interface ReportQuestion {
  readonly kind: MailedKind;
  /** Whose devices may be read. */
  readonly scope: Scope;
  /** Devices that it is about, within the scope. */
  readonly deviceIDs: readonly string[];
  /** Epoch seconds, both included. */
  readonly period: { readonly fromS: number; readonly toS: number };
}

export interface ReportAnswer {
  readonly rows: readonly ReportRow[];
  /** There are more rows than a report may have. */
  readonly isCapped: boolean;
}

export interface ReportReader {
  /** @throws AppError `throttled` when too many reports of the account are under way; what `until` aborts with. */
  read(question: ReportQuestion, until: AbortSignal): Promise<ReportAnswer>;
}

type ReadingServices = Pick<ApiServices, 'archive' | 'clock' | 'exportLimit'>;

interface Reading extends ReportQuestion {
  readonly services: ReadingServices;
  readonly until: AbortSignal;
}

const pageSize = 500;
/** Records that are looked through for the rows of the chosen vehicles, as in the console. */
const recordsMost = 100_000;
const { rows: rowsMost } = scheduleLimits;

function spanOf({ services, period }: Reading) {
  const nowMs = Math.round(services.clock.utcMs());
  return { fromMs: period.fromS * 1000, toMs: period.toS * 1000 + 999, plausibleMs: nowMs + aheadMostMs };
}

/** Rows of one vehicle after the other, until there are more than a report may have. */
async function byVehicle(
  reading: Reading,
  rowsOf: (deviceID: string) => AsyncIterable<readonly ReportRow[]>,
): Promise<ReportAnswer> {
  const rows: ReportRow[] = [];
  for (const deviceID of reading.deviceIDs) {
    for await (const some of rowsOf(deviceID)) {
      reading.until.throwIfAborted();
      rows.push(...some);
      if (rows.length > rowsMost) return { rows: rows.slice(0, rowsMost), isCapped: true };
    }
  }
  return { rows, isCapped: false };
}

async function* tripRows(reading: Reading, deviceID: string): AsyncGenerator<readonly ReportRow[]> {
  const period = { ...spanOf(reading), scope: reading.scope, deviceID };
  for await (const some of tripsAndStops(reading.services.archive, period)) {
    yield some.flatMap((one) => {
      if (one.kind !== (reading.kind === 'trips' ? 'trip' : 'stop')) return [];
      return [
        one.kind === 'trip' ? tripRow(viewTrip(deviceID, one.trip)) : stopRow(viewStop(deviceID, one.stop)),
      ];
    });
  }
}

async function* sumRows(reading: Reading, deviceID: string): AsyncGenerator<readonly ReportRow[]> {
  const { services, scope } = reading;
  const device = { deviceID, description: '' };
  yield [summaryRow(await summarise(services, { scope }, device, spanOf(reading)))];
}

interface Page<C> {
  readonly rows: readonly ReportRow[];
  readonly records: number;
  /** Null: there is no further page. */
  readonly next: C | null;
}

/** Rows of the chosen vehicles, page after page. */
async function byPage<C>(
  reading: Reading,
  read: (cursor: C | null) => Promise<Page<C>>,
): Promise<ReportAnswer> {
  const wanted = new Set(reading.deviceIDs);
  const rows: ReportRow[] = [];
  let records = 0;
  for (let cursor: C | null = null; ; ) {
    const page: Page<C> = await read(cursor);
    reading.until.throwIfAborted();
    rows.push(...page.rows.filter(({ deviceID }) => wanted.has(deviceID)));
    records += page.records;
    if (rows.length > rowsMost) return { rows: rows.slice(0, rowsMost), isCapped: true };
    if (page.next === null) return { rows, isCapped: false };
    if (records >= recordsMost) return { rows, isCapped: true };
    cursor = page.next;
  }
}

function readAlarms(reading: Reading): Promise<ReportAnswer> {
  const { fromMs, toMs } = spanOf(reading);
  const filter = {
    scope: reading.scope,
    states: [],
    deviceID: null,
    statusCodes: [],
    priorities: [],
    owner: null,
    fromMs,
    toMs,
  };
  return byPage<number>(reading, async (cursor) => {
    const page = { before: cursor ?? Number.MAX_SAFE_INTEGER, limit: pageSize };
    const alarms = await listNewestAlarms(reading.services.archive, filter, page);
    return {
      rows: alarms.map((alarm) => alarmRow(viewAlarm(alarm))),
      records: alarms.length,
      next: alarms.length < pageSize ? null : (alarms.at(-1)?.alarmNo ?? null),
    };
  });
}

function readDecisions(reading: Reading): Promise<ReportAnswer> {
  const { fromMs, toMs } = spanOf(reading);
  const { scope, services } = reading;
  return byPage<ApprovalCursor>(reading, async (before) => {
    const page = { scope, pendingOnly: false, before, limit: pageSize };
    const approvals = await listApprovals(services.archive, page);
    const last = approvals.at(-1);
    // The newest come first: what is older than the period ends the reading.
    const isOver = last === undefined || approvals.length < pageSize || last.requestedMs < fromMs;
    const inside = approvals.filter(({ requestedMs }) => requestedMs >= fromMs && requestedMs <= toMs);
    return {
      rows: inside.map((approval) => decisionRow(viewApproval(approval))),
      records: approvals.length,
      next: isOver ? null : last,
    };
  });
}

function readRows(reading: Reading): Promise<ReportAnswer> {
  switch (reading.kind) {
    case 'summary':
      return byVehicle(reading, (deviceID) => sumRows(reading, deviceID));
    case 'trips':
    case 'stops':
      return byVehicle(reading, (deviceID) => tripRows(reading, deviceID));
    case 'alarms':
      return readAlarms(reading);
    case 'decisions':
      return readDecisions(reading);
  }
}

/** Reads with the limits of reports and exports, behind everything else that the database does. */
export function createReportReader(services: ReadingServices): ReportReader {
  return {
    async read(question, until) {
      const slot = new AbortController();
      // Mailed reports share the places of one user of the account.
      const owner = { accountID: question.scope.accountID, userID: '', tokenHash: '' };
      services.exportLimit.begin(owner, slot.signal);
      try {
        return await readRows({ ...question, services, until });
      } finally {
        slot.abort();
      }
    },
  };
}
