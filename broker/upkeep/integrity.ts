// Checks the whole database, part by part: pages, indexes, references, rows without a device, device states against
// events, acknowledged numbers, the audit log. It changes nothing and repairs nothing.
import type { Clock, Database } from '../../src/ports.ts';
import type { ChainFaultReason } from '../core/accounts/audit-chain.ts';
import { chainFaultTexts } from '../core/accounts/audit-chain-text.ts';
import { textOf, textOrNull } from '../store/base/row.ts';
import { findGaps, findOrphans, findStale, notifierAhead, sampleDevices } from '../store/checking.ts';

/** What the check of the audit log found. */
export interface AuditVerdict {
  readonly chains: number;
  readonly entries: number;
  readonly faults: readonly {
    readonly accountID: string;
    readonly chainNo: number;
    readonly reason: ChainFaultReason;
  }[];
}

export interface IntegrityOptions {
  readonly db: Database;
  readonly clock: Clock;
  /** Devices whose present state is compared with their events. */
  readonly sample: number;
  /** Checks every chain of the audit log; reports its progress in entries. */
  readonly verifyAudit: (onProgress: (entries: number) => void) => Promise<AuditVerdict>;
  onProgress(line: string): void;
}

export interface CheckedPart {
  readonly name: string;
  /** What was checked, as text. */
  readonly looked: string;
  /** Empty when all of it holds; the first ones when there are many. */
  readonly faults: readonly string[];
}

export interface IntegrityReport {
  readonly ok: boolean;
  readonly parts: readonly CheckedPart[];
}

const faultsMost = 20;
/** Retention removes nothing younger than a day: of what is newer everything is there. */
const freshMs = 23 * 3_600_000;

async function checkPages({ db }: IntegrityOptions): Promise<CheckedPart> {
  const rows = await db.read({ sql: `PRAGMA integrity_check(${faultsMost})`, params: [] });
  const lines = rows.map((row) => textOf(row, 'integrity_check'));
  return {
    name: 'pages',
    looked: 'pages, indexes and columns',
    faults: lines.filter((line) => line !== 'ok'),
  };
}

async function checkReferences({ db }: IntegrityOptions): Promise<CheckedPart> {
  const rows = await db.read({ sql: 'PRAGMA foreign_key_check', params: [] });
  const faults = rows
    .slice(0, faultsMost)
    .map(
      (row) =>
        `row ${textOrNull(row, 'rowid') ?? '(no number)'} of ${textOf(row, 'table')}: no such row of ${textOf(row, 'parent')}`,
    );
  return { name: 'references', looked: 'every reference between tables', faults };
}

async function checkOrphans({ db }: IntegrityOptions): Promise<CheckedPart> {
  const faults = (await findOrphans(db)).map(
    ({ table, devices }) => `${table} of ${devices} devices that are not there and are not being purged`,
  );
  const ahead = await notifierAhead(db);
  if (ahead > 0) faults.push(`the notifier has passed ${ahead} event numbers that were never given`);
  return { name: 'orphans', looked: 'what belongs to devices', faults };
}

async function checkPresent({ db, clock, sample, onProgress }: IntegrityOptions): Promise<CheckedPart> {
  const devices = await sampleDevices(db, sample);
  const faults: string[] = [];
  let reportedMs = clock.monoMs();
  for (const [at, deviceNo] of devices.entries()) {
    const stale = await findStale(db, deviceNo);
    if (stale !== null)
      faults.push(`${stale.accountID}/${stale.deviceID}: ${stale.readings.join(', ')} older than its events`);
    for (const gap of await findGaps(db, deviceNo, clock.utcMs() - freshMs)) {
      const { accountID, deviceID, boot, upTo, stored } = gap;
      faults.push(`${accountID}/${deviceID}: ${upTo} events of boot ${boot} acknowledged, ${stored} stored`);
    }
    if (clock.monoMs() - reportedMs < 2000) continue;
    reportedMs = clock.monoMs();
    onProgress(`${at + 1} of ${devices.length} devices`);
  }
  return {
    name: 'present',
    looked: `${devices.length} devices against their events`,
    faults: faults.slice(0, faultsMost),
  };
}

async function checkAudit({ clock, verifyAudit, onProgress }: IntegrityOptions): Promise<CheckedPart> {
  let reportedMs = clock.monoMs();
  const verdict = await verifyAudit((entries) => {
    if (clock.monoMs() - reportedMs < 2000) return;
    reportedMs = clock.monoMs();
    onProgress(`${entries} entries of the audit log`);
  });
  const faults = verdict.faults
    .slice(0, faultsMost)
    .map(
      ({ accountID, chainNo, reason }) =>
        `${accountID === '' ? 'the service' : accountID}, entry ${chainNo}: ${chainFaultTexts[reason]}`,
    );
  return { name: 'audit', looked: `${verdict.entries} entries in ${verdict.chains} chains`, faults };
}

const parts = [
  ['pages and indexes', checkPages],
  ['references', checkReferences],
  ['rows without their device', checkOrphans],
  ['devices against their events', checkPresent],
  ['the audit log', checkAudit],
] as const;

/** Checks everything; a broken part does not keep the others from being looked at. @throws AppError `storage`. */
export async function checkIntegrity(options: IntegrityOptions): Promise<IntegrityReport> {
  const checked: CheckedPart[] = [];
  for (const [label, check] of parts) {
    options.onProgress(`checking ${label}`);
    checked.push(await check(options));
  }
  return { ok: checked.every(({ faults }) => faults.length === 0), parts: checked };
}
