// Mails the reports that are due, or that a user asked for. What comes of a due time (mail, deliveries, audit entry, next due time) is one
// batch, on the condition that the schedule is as it was read: each due time has one mail, over several processes and kill -9. After an
// outage only the latest due time counts. A schedule whose owner may no longer see what it names stops, and says why.
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { dateText } from '../../../src/core/calendar.ts';
import { messageOf } from '../../../src/core/errors.ts';
import { retryDelayMs } from '../../../src/core/retry-delay.ts';
import type { Clock, Database, Entropy, Log, Statement } from '../../../src/ports.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { serviceActor } from '../../core/alarms/alarm.ts';
import { lastDue, nextDue, periodBefore } from '../../core/reports/due-times.ts';
import type { Senders } from '../../notify/senders.ts';
import { createPeriodicTask } from '../../scheduling/periodic-task.ts';
import { insertAudit } from '../../store/accounts/audit.ts';
import { countWaiting, waitingMost } from '../../store/notifications/deliveries.ts';
import { mailOfReport } from './core/report-mail.ts';
import { type MissReason, type StopReason, scheduleLimits } from './core/report-schedule.ts';
import { insertReportMail } from './report-mails.ts';
import type { ReportReader } from './report-reading.ts';
import {
  dueSchedules,
  endSchedule,
  isAsRead,
  postponeSchedule,
  type ScheduleRow,
  stopSchedule,
} from './report-schedules.ts';
import {
  findOwner,
  mailboxesOfUsers,
  scopeOfOwner,
  selectVehicles,
  sightOf,
  type Vehicle,
} from './report-sight.ts';

export interface ReportMailerOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  readonly senders: Pick<Senders, 'email'>;
  readonly reader: ReportReader;
  readonly consoleUrl: string;
  /** False while another process does it; absent: there is none. */
  readonly isOurs?: () => boolean;
  /** Called after deliveries were written. */
  readonly onDeliveries: () => void;
}

export interface ReportMailer {
  /** A report may be due. */
  wake(): void;
  /** Makes all that is due now; for tests. */
  runAll(): Promise<void>;
  close(): Promise<void>;
}

const periodMs = 5000;
const gatherMs = 20;
/** Reports that are read at a time: in all, and of one account. */
const readMost = 4;
const readMostOfAccount = 1;
const dueMost = 100;
/** Of a report that could not be read. */
const backoff = { baseMs: 30_000, capMs: 1_800_000, floorMs: 10_000 };
/** How long one that a user asked for is tried. */
const askedTryMs = 10 * 60_000;

const pack = promisify(gzip);

/** One due time or request. */
interface Job {
  readonly row: ScheduleRow;
  readonly isAsked: boolean;
  readonly dueMs: number;
}

function jobOf(row: ScheduleRow, nowMs: number): Job {
  if (row.askedMs !== null) return { row, isAsked: true, dueMs: row.askedMs };
  // The latest one: those that an outage left out before it are not made up for.
  const dueMs = Math.max(lastDue(row.definition.recurrence, nowMs), row.nextMs ?? 0);
  return { row, isAsked: false, dueMs };
}

/** When the schedule is due after this job. */
function nextOf({ row, isAsked }: Job, nowMs: number): number | null {
  if (isAsked) return row.nextMs;
  return row.definition.isActive ? nextDue(row.definition.recurrence, nowMs) : null;
}

type Permitted =
  | { readonly scope: Scope; readonly vehicles: readonly Vehicle[] }
  | { readonly stop: StopReason; readonly missing: readonly string[] };

/** What the owner may mail now, and to these recipients. */
async function permit(db: Database, { accountID, owner, definition }: ScheduleRow): Promise<Permitted> {
  const user = await findOwner(db, { accountID, userID: owner });
  if (user === null || !user.isActive) return { stop: 'owner_gone', missing: [owner] };
  const scope = scopeOfOwner({ accountID, userID: owner }, user);
  if (scope === null) return { stop: 'owner_role', missing: [owner] };
  const known = user.role === 'admin' ? null : await mailboxesOfUsers(db, accountID, definition.recipients);
  const unknown = definition.recipients.filter((one) => known?.has(one.toLowerCase()) === false);
  if (unknown.length > 0) return { stop: 'recipients_gone', missing: unknown };
  const { vehicles, missingDevices, missingGroups } = await selectVehicles(db, scope, definition);
  const missing = [...missingDevices, ...missingGroups];
  const seesNone = scope.limitedTo !== null && vehicles.length === 0;
  return missing.length > 0 || seesNone ? { stop: 'vehicles_gone', missing } : { scope, vehicles };
}

/** The mailer with what it has under way. */
interface Mailing extends ReportMailerOptions {
  readonly running: Map<number, { readonly accountID: string; readonly done: Promise<void> }>;
  readonly closing: AbortController;
  readonly loop: { wake(): void };
}

const nowOf = ({ clock }: Pick<ReportMailerOptions, 'clock'>): number => Math.round(clock.utcMs());

function auditEntry(
  mailing: Mailing,
  { row }: Job,
  action: string,
  detail: Readonly<Record<string, unknown>>,
): Statement {
  const { accountID, scheduleID, owner } = row;
  const entry = { accountID, atMs: nowOf(mailing), actor: serviceActor, source: '', object: scheduleID };
  return insertAudit({ ...entry, action, detail: { owner, ...detail } }, isAsRead(row));
}

/** Ends a job without a mail. */
async function miss(mailing: Mailing, job: Job, fault: MissReason): Promise<void> {
  const { scheduleNo, accountID } = job.row;
  const nowMs = nowOf(mailing);
  mailing.log.warn('report_not_mailed', { scheduleNo, accountID, fault });
  const outcome = { nowMs, dueMs: job.dueMs, nextMs: nextOf(job, nowMs), fault, rows: 0, cut: '' } as const;
  await mailing.db.write([endSchedule(job.row, outcome)]);
}

async function stop(
  mailing: Mailing,
  job: Job,
  { stop: reason, missing }: Extract<Permitted, { stop: StopReason }>,
): Promise<void> {
  const { row, dueMs } = job;
  const { scheduleNo, accountID } = row;
  mailing.log.warn('report_schedule_stopped', { scheduleNo, accountID, reason });
  await mailing.db.write([
    auditEntry(mailing, job, 'reportschedule.stop', { reason, missing: missing.slice(0, 20) }),
    stopSchedule(row, { reason, nowMs: nowOf(mailing), dueMs }),
  ]);
}

/** The rows of the report; a reading that takes too long is given up. */
async function read(
  { clock, reader, closing }: Mailing,
  { row, dueMs }: Job,
  { scope, vehicles }: Extract<Permitted, { scope: Scope }>,
) {
  const { kind, period: name, recurrence } = row.definition;
  const late = new AbortController();
  const cancel = clock.after(scheduleLimits.readingMs, () => late.abort(new Error('it took too long')));
  const period = periodBefore(name, recurrence.timeZone, dueMs);
  const deviceIDs = vehicles.map(({ deviceID }) => deviceID);
  try {
    const until = AbortSignal.any([closing.signal, late.signal]);
    const answer = await reader.read({ kind, scope, deviceIDs, period }, until);
    const names = new Map(vehicles.map((one) => [one.deviceID, one.name]));
    return { period, report: { ...answer, names } };
  } finally {
    cancel();
  }
}

async function mail(mailing: Mailing, job: Job): Promise<void> {
  const { db, senders, consoleUrl, onDeliveries } = mailing;
  const { row, isAsked, dueMs } = job;
  const { accountID, scheduleID, owner, definition } = row;
  const permitted = await permit(db, row);
  if ('stop' in permitted) return stop(mailing, job, permitted);
  if (senders.email === null) return miss(mailing, job, 'no_mail_server');
  const waiting = (await countWaiting(db, [accountID])).get(accountID) ?? 0;
  if (waiting >= waitingMost) return miss(mailing, job, 'too_many');
  // Before the reading: what changes meanwhile is found at the delivery.
  const sight = await sightOf(db, permitted.scope);
  const { period, report } = await read(mailing, job, permitted);
  const nowMs = nowOf(mailing);
  const of = { accountID, scheduleID, owner, definition, period, report, isAsked, readMs: nowMs, consoleUrl };
  const { subject, text: body, fileName, csv: text, cut, rows } = mailOfReport(of);
  const csv = text === '' ? null : await pack(text);
  const onlyIf = isAsRead(row);
  const written = { schedule: row, dueMs, isAsked, sight, subject, body, fileName, csv, nowMs, onlyIf };
  const [first, last] = [dateText(period.first), dateText(period.last)];
  const detail = {
    kind: definition.kind,
    first,
    last,
    rows,
    recipients: definition.recipients.length,
    isAsked,
  };
  const results = await db.write([
    auditEntry(mailing, job, 'reportschedule.mail', detail),
    ...insertReportMail(written, definition.recipients),
    endSchedule(row, { nowMs, dueMs, nextMs: nextOf(job, nowMs), fault: '', rows, cut }),
  ]);
  if (results.at(-1)?.changes === 1) onDeliveries();
}

/** Tries a report that could not be read again, for as long as it is worth it. */
async function retry(mailing: Mailing, job: Job, thrown: unknown): Promise<void> {
  if (mailing.closing.signal.aborted) return;
  const { row, isAsked, dueMs } = job;
  const { scheduleNo, accountID } = row;
  mailing.log.warn('report_failed', { scheduleNo, accountID, reason: messageOf(thrown) });
  const nowMs = nowOf(mailing);
  const draw = { attempt: row.failures, fraction: mailing.entropy.fraction() };
  const nextMs = nowMs + retryDelayMs(backoff, draw);
  const untilMs = dueMs + (isAsked ? askedTryMs : scheduleLimits.tryMs);
  if (nextMs > untilMs) await miss(mailing, job, 'not_read');
  else await mailing.db.write([postponeSchedule(row, nextMs)]);
}

/** Works in the background; the slot is free when the outcome is written. */
function begin(mailing: Mailing, row: ScheduleRow, nowMs: number): void {
  const { running, log, loop } = mailing;
  const { scheduleNo, accountID } = row;
  const job = jobOf(row, nowMs);
  const done = mail(mailing, job)
    .catch((thrown: unknown) => retry(mailing, job, thrown))
    .catch((thrown: unknown) => {
      // Not written: the schedule is as it was, and the next run finds it.
      log.error('report_not_recorded', { scheduleNo, accountID, reason: messageOf(thrown) });
    })
    .finally(() => {
      running.delete(scheduleNo);
      loop.wake();
    });
  running.set(scheduleNo, { accountID, done });
}

function hasSlot({ running }: Mailing, { scheduleNo, accountID }: ScheduleRow): boolean {
  const ofAccount = [...running.values()].filter((one) => one.accountID === accountID).length;
  return !running.has(scheduleNo) && running.size < readMost && ofAccount < readMostOfAccount;
}

/** Begins what is due and has a slot. */
async function takeDue(mailing: Mailing): Promise<void> {
  if (mailing.closing.signal.aborted || mailing.isOurs?.() === false) return;
  const nowMs = nowOf(mailing);
  for (const row of await dueSchedules(mailing.db, nowMs, dueMost))
    if (hasSlot(mailing, row)) begin(mailing, row, nowMs);
}

/** Starts to mail, until `close`. */
export function createReportMailer(options: ReportMailerOptions): ReportMailer {
  const { clock, log } = options;
  const mailing: Mailing = {
    ...options,
    running: new Map(),
    closing: new AbortController(),
    loop: { wake: () => task.wake() },
  };
  const task = createPeriodicTask({
    clock,
    firstMs: periodMs,
    gatherMs,
    run: async () => {
      await takeDue(mailing).catch((thrown: unknown) =>
        log.error('report_schedules_unreadable', { reason: messageOf(thrown) }),
      );
      return periodMs;
    },
  });
  const underWay = async (): Promise<void> => {
    await Promise.all([...mailing.running.values()].map(({ done }) => done));
  };
  return {
    wake: () => task.wake(),
    async runAll() {
      await task.runNow();
      while (mailing.running.size > 0) {
        await underWay();
        await task.runNow();
      }
    },
    async close() {
      mailing.closing.abort();
      await task.close();
      await underWay();
    },
  };
}
