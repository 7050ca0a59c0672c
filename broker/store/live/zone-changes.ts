// Geozones and routes that were created, changed or deleted, and configurations that vehicles took or refused, as live streams
// send them. The former are read from the audit log, which is written in the batch of the change and knows deletions too.
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import type { Database, Row } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { LiveChange } from '../../core/live/live-kinds.ts';
import { numberOf, textOf } from '../base/row.ts';
import { seesAny } from '../base/scope.ts';
import { type ChangePages, type ChangeSpan, changePages, seenIn } from './change-pages.ts';

/** Audit entries of one read; they are read backwards, as their numbers follow time. */
const entriesEach = 200;
/** Reads for one reader: beyond them it gets a change that names no zone, and reads the lists again. */
const readsMost = 20;

const changesOf: Readonly<Record<string, string>> = {
  create: 'created',
  update: 'changed',
  delete: 'deleted',
};

function toZoneChange(row: Row): readonly LiveChange<'zone'>[] {
  const [, zoneType = '', verb = ''] = /^(geozone|route)\.(\w+)$/.exec(textOf(row, 'action')) ?? [];
  const change = changesOf[verb];
  if (change === undefined) return [];
  const changed = epochSeconds(numberOf(row, 'at_ms'));
  const zoneID = textOf(row, 'object');
  return [
    {
      kind: 'zone',
      accountID: textOf(row, 'account_id'),
      deviceNo: null,
      deviceID: null,
      key: String(numberOf(row, 'audit_no')),
      atMs: numberOf(row, 'at_ms'),
      data: { zoneType, zoneID, change, deviceID: null, version: null, heldVersion: null, changed },
    },
  ];
}

/** What stands for more changes than are looked for. */
const manyChanges = (accountID: string, atMs: number): readonly LiveChange<'zone'>[] =>
  ['geozone', 'route'].map((zoneType) => ({
    kind: 'zone',
    accountID,
    deviceNo: null,
    deviceID: null,
    key: `many ${zoneType} ${accountID}`,
    atMs,
    data: {
      zoneType,
      zoneID: null,
      change: 'changed',
      deviceID: null,
      version: null,
      heldVersion: null,
      changed: epochSeconds(atMs),
    },
  }));

/** Oldest first. */
async function geozoneChanges(
  db: Database,
  { scope, sinceMs }: ChangeSpan,
): Promise<readonly LiveChange<'zone'>[]> {
  const found: LiveChange<'zone'>[] = [];
  const ofAccount = scope === null ? sql`` : sql`AND account_id = ${scope.accountID}`;
  let before = Number.MAX_SAFE_INTEGER;
  const most = scope === null ? Number.POSITIVE_INFINITY : readsMost;
  for (let reads = 0; reads < most; reads++) {
    const rows: readonly Row[] = await db.read(sql`
      SELECT audit_no, account_id, at_ms, action, object FROM audit WHERE audit_no < ${before} ${ofAccount}
      ORDER BY audit_no DESC LIMIT ${entriesEach}`);
    const late = rows.filter((row) => numberOf(row, 'at_ms') >= sinceMs);
    found.push(...late.flatMap(toZoneChange));
    const last = rows.at(-1);
    // Clocks of several processes may differ a little, so one older entry does not end it.
    if (last === undefined || rows.length < entriesEach || late.length === 0) return found.toReversed();
    before = numberOf(last, 'audit_no');
  }
  return scope === null ? [] : manyChanges(scope.accountID, sinceMs);
}

/** Vehicles that reported another configuration as held, or refused one. */
function configChanges(db: Database, { scope, sinceMs }: ChangeSpan): ChangePages<'zone'> {
  return changePages(
    db,
    { sinceMs: 0, start: 0 },
    {
      statement: ({ key }, limit) => sql`
        SELECT c.device_no, c.version, c.held_version, c.held_ms, c.failed_version, c.failed_ms, d.account_id, d.device_id
        FROM device_configs c JOIN devices d ON d.device_no = c.device_no
        WHERE c.device_no > ${key} AND (c.held_ms >= ${sinceMs} OR c.failed_ms >= ${sinceMs}) AND ${seenIn(scope)}
        ORDER BY c.device_no LIMIT ${limit}`,
      placeOf: (row) => ({ atMs: 0, key: numberOf(row, 'device_no') }),
      toChange(row) {
        const [heldMs, failedMs] = [numberOf(row, 'held_ms'), numberOf(row, 'failed_ms')];
        const isHeld = heldMs >= failedMs;
        const deviceID = textOf(row, 'device_id');
        return {
          kind: 'zone',
          accountID: textOf(row, 'account_id'),
          deviceNo: numberOf(row, 'device_no'),
          deviceID,
          key: `device ${numberOf(row, 'device_no')}`,
          atMs: Math.max(heldMs, failedMs),
          data: {
            zoneType: 'configuration',
            zoneID: null,
            change: isHeld ? 'held' : 'refused',
            deviceID,
            version: isHeld ? numberOf(row, 'version') : numberOf(row, 'failed_version'),
            heldVersion: numberOf(row, 'held_version'),
            changed: epochSeconds(Math.max(heldMs, failedMs)),
          },
        };
      },
    },
  );
}

/** Changes of geozones and routes, oldest first, then configurations. A caller who sees no device gets none. */
export async function* zoneChanges(db: Database, span: ChangeSpan): ChangePages<'zone'> {
  if (span.scope === null || (await seesAny(db, span.scope))) yield await geozoneChanges(db, span);
  yield* configChanges(db, span);
}
