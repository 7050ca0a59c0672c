// Database figures for the operator of the service: accounts against their limits, unreadable payloads by reason, ages of queues,
// backups, positions. Reads are bounded and of low priority: they run every few seconds while an operator's page is open.
import { hourMs } from '../../src/core/durations.ts';
import type { Database, Row } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import type { ReleaseUnits } from '../core/operating/known-advisories.ts';
import type {
  AccountFacts,
  GoodBackup,
  QuarantineReason,
  QueueFacts,
  QueueName,
  ServiceFacts,
} from '../core/operating/service-facts.ts';
import { numberOf, numberOrNull, textOf, textOrNull } from './base/row.ts';
import { readBacklog } from './sampling.ts';
import { allSlices } from './slices/slices.ts';

/** Accounts that are looked at, and those of them that are shown. */
const accountsMost = 5000;
const accountsShown = 100;
/** Unreadable payloads that are grouped by reason: the newest. */
const payloadsExamined = 2000;
const reasonsShown = 20;
const reasonMost = 200;

const toS = (ms: number): number => Math.floor(ms / 1000);

function stateOf(row: Row, nowS: number): AccountFacts['state'] {
  if (numberOrNull(row, 'deleting_s') !== null) return 'deleting';
  if (numberOf(row, 'is_active') !== 1) return 'suspended';
  const expiresS = numberOrNull(row, 'expires_s');
  return expiresS !== null && expiresS <= nowS ? 'expired' : 'active';
}

const toAccount = (row: Row, nowS: number): AccountFacts => ({
  accountID: textOf(row, 'account_id'),
  accountDisplayName: textOf(row, 'display_name'),
  state: stateOf(row, nowS),
  devices: numberOf(row, 'devices'),
  devicesOnline: numberOf(row, 'online'),
  maximumDevices: numberOrNull(row, 'device_limit') ?? 0,
  users: numberOf(row, 'users'),
  createdAtS: numberOf(row, 'created_s'),
  expiresAtS: numberOrNull(row, 'expires_s') ?? 0,
  retainedDays: numberOrNull(row, 'retained_days') ?? 0,
});

/** Share of an account's device limit in use; -1 without a limit. */
const fillOf = ({ devices, maximumDevices }: AccountFacts): number =>
  maximumDevices === 0 ? -1 : devices / maximumDevices;
const endOf = ({ expiresAtS }: AccountFacts): number => expiresAtS || Number.POSITIVE_INFINITY;

/** The fullest first, then those that end first. */
const byUrgency = (one: AccountFacts, other: AccountFacts): number =>
  fillOf(other) - fillOf(one) ||
  (endOf(one) === endOf(other) ? 0 : endOf(one) - endOf(other)) ||
  (one.accountID < other.accountID ? -1 : 1);

type Group<Name extends keyof ServiceFacts> = Omit<NonNullable<ServiceFacts[Name]>, 'atS'>;

/** Accounts with their devices, users and limits. */
export async function readAccountFacts(db: Database, nowS: number): Promise<Group<'accounts'>> {
  const rows = await db.read(sql`SELECT a.account_id, a.display_name, a.is_active, a.created_s, a.expires_s,
      a.deleting_s, a.device_limit, a.retained_days,
      (SELECT COUNT(*) FROM devices d WHERE d.account_id = a.account_id) AS devices,
      (SELECT COUNT(*) FROM devices d WHERE d.account_id = a.account_id AND d.is_online = 1) AS online,
      (SELECT COUNT(*) FROM users u WHERE u.account_id = a.account_id) AS users
    FROM accounts a ORDER BY a.account_id LIMIT ${accountsMost}`);
  const [all] = await db.read(
    sql`SELECT COUNT(*) AS accounts, COALESCE(MIN(created_s), 0) AS oldest_s FROM accounts`,
  );
  const accounts = rows.map((row) => toAccount(row, nowS));
  const sum = (of: (one: AccountFacts) => number): number =>
    accounts.reduce((total, one) => total + of(one), 0);
  return {
    total: all === undefined ? 0 : numberOf(all, 'accounts'),
    oldestAtS: all === undefined ? 0 : numberOf(all, 'oldest_s'),
    devices: sum(({ devices }) => devices),
    devicesOnline: sum(({ devicesOnline }) => devicesOnline),
    listed: accounts.toSorted(byUrgency).slice(0, accountsShown),
  };
}

interface ReasonGroup {
  readonly newest: Row;
  readonly devices: Set<number>;
  payloads: number;
  oldestMs: number;
  newestMs: number;
}

/** Rows of the newest payloads, newest first, by reason. */
function reasonsOf(rows: readonly Row[]): readonly QuarantineReason[] {
  const groups = new Map<string, ReasonGroup>();
  for (const row of rows) {
    const key = textOf(row, 'reason').replace(/\d+/g, '#');
    const receivedMs = numberOf(row, 'received_ms');
    const group = groups.get(key) ?? {
      newest: row,
      devices: new Set(),
      payloads: 0,
      oldestMs: receivedMs,
      newestMs: receivedMs,
    };
    groups.set(key, group);
    group.payloads += 1;
    group.devices.add(numberOf(row, 'device_no'));
    group.oldestMs = Math.min(group.oldestMs, receivedMs);
    group.newestMs = Math.max(group.newestMs, receivedMs);
  }
  return [...groups.values()]
    .toSorted((one, other) => other.payloads - one.payloads)
    .slice(0, reasonsShown)
    .map(({ newest, devices, payloads, oldestMs, newestMs }) => ({
      reason: textOf(newest, 'reason').slice(0, reasonMost),
      payloads,
      devices: devices.size,
      oldestAtS: toS(oldestMs),
      newestAtS: toS(newestMs),
      accountID: textOf(newest, 'account_id'),
      deviceID: textOf(newest, 'device_id'),
    }));
}

/** The newest unreadable payloads by reason; no payload is read. */
export async function readQuarantineFacts(
  db: Database,
  nowMs: number,
): Promise<Omit<Group<'quarantine'>, 'payloads' | 'bytes'>> {
  const rows = await db.read(sql`SELECT q.device_no, q.reason, q.received_ms, d.account_id, d.device_id
    FROM (SELECT quarantine_no, device_no, reason, received_ms FROM quarantine
      ORDER BY quarantine_no DESC LIMIT ${payloadsExamined}) q
    JOIN devices d ON d.device_no = q.device_no ORDER BY q.quarantine_no DESC`);
  return {
    examined: rows.length,
    lastHour: rows.filter((row) => numberOf(row, 'received_ms') > nowMs - hourMs).length,
    reasons: reasonsOf(rows),
  };
}

/** Queues in the database, with the age of their oldest entry. */
export async function readQueues(db: Database, nowMs: number): Promise<readonly QueueFacts[]> {
  const backlog = await readBacklog(db);
  const [row = {}] = await db.read(sql`SELECT
    (SELECT MIN(issued_ms) FROM commands WHERE is_final = 0) AS commands,
    (SELECT MIN(since_ms) FROM deliveries WHERE state = 'pending') AS deliveries,
    (SELECT MIN(noted_ms) FROM occurrences) AS occurrences,
    (SELECT MIN(requested_ms) FROM approvals WHERE approval_state = 'pending') AS approvals,
    (SELECT MIN(at_ms) FROM audit WHERE chain_no IS NULL) AS audit,
    (SELECT opened_ms FROM alarms WHERE state = 'new' ORDER BY alarm_no LIMIT 1) AS alarms,
    (SELECT MIN(deleted_s) * 1000 FROM deleted_devices WHERE is_purged = 0) AS purges`);
  const sumOf = (counts: ReadonlyMap<string, number>): number =>
    [...counts.values()].reduce((sum, one) => sum + one, 0);
  const queue = (name: QueueName, waiting: number): QueueFacts => {
    const sinceMs = numberOrNull(row, name);
    return { name, waiting, oldestS: sinceMs === null ? 0 : Math.max(0, toS(nowMs - sinceMs)) };
  };
  return [
    queue('deliveries', backlog.deliveriesWaiting),
    queue('occurrences', backlog.occurrencesWaiting),
    queue('audit', backlog.auditUnsealed),
    queue('commands', sumOf(backlog.openCommands)),
    queue('approvals', backlog.approvalsWaiting),
    queue('alarms', backlog.openAlarms.get('new') ?? 0),
    queue('purges', backlog.purgesWaiting),
  ];
}

/** Releases of the agent that units said hello with, the most frequent first; 200 at most. */
export async function readReleases(db: Database): Promise<readonly ReleaseUnits[]> {
  const rows = await db.read(sql`SELECT agent_version AS version, COUNT(*) AS units FROM devices
    WHERE agent_version <> '' GROUP BY agent_version ORDER BY COUNT(*) DESC, agent_version LIMIT 200`);
  return rows.map((row) => ({ version: textOf(row, 'version'), units: numberOf(row, 'units') }));
}

/** Slices of the events, and how far events are stored and decided. */
export async function readPositions(
  db: Database,
): Promise<Pick<Group<'storage'>, 'slices' | 'oldestSliceAtS' | 'lastEventNo' | 'notifiedEventNo'>> {
  const slices = await allSlices(db);
  const [row] = await db.read(sql`SELECT (SELECT next_no - 1 FROM event_counter) AS stored,
    (SELECT event_no FROM notifier_cursor WHERE name = 'notifier') AS notified`);
  const countOf = (state: (typeof slices)[number]['state']): number =>
    slices.filter((slice) => slice.state === state).length;
  return {
    slices: {
      open: countOf('open'),
      closed: countOf('closed'),
      retired: countOf('retired'),
      dropping: countOf('dropping'),
    },
    oldestSliceAtS: toS(slices[0]?.openedMs ?? 0),
    lastEventNo: row === undefined ? 0 : (numberOrNull(row, 'stored') ?? 0),
    notifiedEventNo: row === undefined ? 0 : (numberOrNull(row, 'notified') ?? 0),
  };
}

/** Audit entry of a backup; `object` finds the newest by an index. */
export const backupEntry = {
  good: 'service.backup',
  failed: 'service.backupfail',
  object: 'backup',
} as const;

async function newestBackup(db: Database, action: string) {
  const [row] = await db.read(sql`SELECT audit_no, at_ms, detail FROM audit
    WHERE account_id = '' AND object = ${backupEntry.object} AND action = ${action}
    ORDER BY audit_no DESC LIMIT 1`);
  if (row === undefined) return null;
  // Written by the command `backup`; what another program wrote there has no members that are known.
  const detail = JSON.parse(textOrNull(row, 'detail') ?? '{}') as Readonly<Record<string, unknown>>;
  return { auditNo: numberOf(row, 'audit_no'), atS: toS(numberOf(row, 'at_ms')), detail };
}

/** The newest backups that this program has made of the database. */
export async function readBackups(db: Database): Promise<Pick<Group<'backup'>, 'good' | 'failed'>> {
  const [good, failed] = [
    await newestBackup(db, backupEntry.good),
    await newestBackup(db, backupEntry.failed),
  ];
  const lengthOf = (value: unknown): number => (typeof value === 'number' && value >= 0 ? value : 0);
  const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');
  const toGood = ({ atS, detail }: NonNullable<typeof good>): GoodBackup => ({
    atS,
    file: textIn(detail['file']),
    bytes: lengthOf(detail['bytes']),
    durationS: lengthOf(detail['durationS']),
    hasSigningKey: detail['hasSigningKey'] === true,
  });
  return {
    good: good && toGood(good),
    failed: failed && {
      atS: failed.atS,
      reason: textIn(failed.detail['reason']),
      isLast: failed.auditNo > (good?.auditNo ?? 0),
    },
  };
}
