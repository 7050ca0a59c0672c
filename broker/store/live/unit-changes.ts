// Connections of units and the releases that they run, as live streams send them.
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import type { Database, Row } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { jsonObjectOrNull, numberOf, numberOrNull, textOf, textOrNull } from '../base/row.ts';
import { type ChangePages, type ChangeSpan, changePages, seenIn } from './change-pages.ts';

const unitOf = (row: Row) => ({
  accountID: textOf(row, 'account_id'),
  deviceNo: numberOf(row, 'device_no'),
  deviceID: textOf(row, 'device_id'),
  key: String(numberOf(row, 'device_no')),
});

/** Devices that went online or offline. */
export function presenceChanges(db: Database, { scope, sinceMs }: ChangeSpan): ChangePages<'presence'> {
  return changePages(
    db,
    { sinceMs, start: 0 },
    {
      statement: ({ atMs, key }, limit) => sql`
        SELECT d.device_no, d.account_id, d.device_id, d.is_online, d.linked_ms, d.presence_ms, d.presence_cause
        FROM devices d
        WHERE (d.linked_ms, d.device_no) > (${atMs}, ${key}) AND d.presence_ms >= ${sinceMs} AND ${seenIn(scope)}
        ORDER BY d.linked_ms, d.device_no LIMIT ${limit}`,
      placeOf: (row) => ({ atMs: numberOf(row, 'linked_ms'), key: numberOf(row, 'device_no') }),
      toChange(row) {
        const unit = unitOf(row);
        return {
          kind: 'presence',
          ...unit,
          atMs: numberOf(row, 'presence_ms'),
          data: {
            deviceID: unit.deviceID,
            online: numberOf(row, 'is_online') === 1,
            since: epochSeconds(numberOf(row, 'presence_ms')),
            cause: textOf(row, 'presence_cause'),
          },
        };
      },
    },
  );
}

const selectRelease = sql`SELECT d.device_no, d.account_id, d.device_id, d.agent_version, d.agent_since_ms, d.linked_ms,
    c.command_id, c.command_state, c.content, c.detail, c.expires_ms, c.updated_ms
  FROM devices d`;
const newestJob = sql`SELECT n.command_id FROM commands n WHERE n.device_no = d.device_no AND n.feature = 'firmware'
  ORDER BY n.issued_ms DESC, n.command_id DESC LIMIT 1`;

function toRelease(row: Row) {
  const unit = unitOf(row);
  const changedMs = numberOrNull(row, 'updated_ms') ?? 0;
  const version = jsonObjectOrNull(row, 'content')?.['version'];
  return {
    kind: 'release' as const,
    ...unit,
    atMs: Math.max(changedMs, numberOf(row, 'agent_since_ms')),
    data: {
      deviceID: unit.deviceID,
      agentVersion: textOf(row, 'agent_version'),
      agentSince: epochSeconds(numberOf(row, 'agent_since_ms')),
      commandID: textOrNull(row, 'command_id'),
      version: typeof version === 'string' ? version : null,
      commandState: textOrNull(row, 'command_state'),
      detail: textOrNull(row, 'detail') ?? '',
      expires: epochSeconds(numberOrNull(row, 'expires_ms')),
      updated: epochSeconds(changedMs),
    },
  };
}

/** Devices with a new reported release, or a new state of their newest firmware job. */
export async function* releaseChanges(db: Database, { scope, sinceMs }: ChangeSpan): ChangePages<'release'> {
  yield* changePages(
    db,
    { sinceMs, start: 0 },
    {
      statement: ({ atMs, key }, limit) => sql`${selectRelease}
        LEFT JOIN commands c ON c.command_id = (${newestJob})
        WHERE (d.linked_ms, d.device_no) > (${atMs}, ${key}) AND d.agent_since_ms >= ${sinceMs} AND ${seenIn(scope)}
        ORDER BY d.linked_ms, d.device_no LIMIT ${limit}`,
      placeOf: (row) => ({ atMs: numberOf(row, 'linked_ms'), key: numberOf(row, 'device_no') }),
      toChange: toRelease,
    },
  );
  yield* changePages(
    db,
    { sinceMs, start: '' },
    {
      statement: ({ atMs, key }, limit) => sql`${selectRelease}
        JOIN commands c ON c.device_no = d.device_no
        WHERE (c.updated_ms, c.command_id) > (${atMs}, ${key}) AND c.feature = 'firmware'
          AND c.command_id = (${newestJob}) AND ${seenIn(scope)}
        ORDER BY c.updated_ms, c.command_id LIMIT ${limit}`,
      placeOf: (row) => ({ atMs: numberOf(row, 'updated_ms'), key: textOf(row, 'command_id') }),
      toChange: toRelease,
    },
  );
}
