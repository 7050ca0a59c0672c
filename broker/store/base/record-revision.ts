// Revisions of everything, except events, that the text of an account's events depends on.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { numberOf, numberOrNull, textOrNull } from './row.ts';
import { visible } from './scope.ts';

/** Columns of a device that its records show. */
export type DeviceTexts = Readonly<Record<'device_id' | 'description' | 'pin_color' | 'pin_tag', string>>;

/** Inputs of an account's record texts, except the events. */
export interface TextState {
  readonly accountNo: number;
  /** Another one after every change of what records show of devices, geozones and addresses. */
  readonly revision: string;
  /** Another one after every removal of events past the retention of the account; slices that are dropped do not change it. */
  readonly removedRevision: number;
  /** Events of deleted devices may still be there. */
  readonly hasDeleted: boolean;
  /** Number of the newest event of all accounts. */
  readonly lastNo: number;
  /** Null when the scope has no such device. */
  readonly device: { readonly deviceNo: number; readonly texts: DeviceTexts } | null;
}

/** Read at the start of a listing, in one read. @param deviceID null: no device is asked for. */
export async function readTextState(
  db: Database,
  scope: Scope,
  deviceID: string | null,
): Promise<TextState | null> {
  const { accountID } = scope;
  const [row] =
    await db.read(sql`SELECT a.account_no, a.record_revision, a.members_revision, a.zones_revision, a.removed_revision,
      (SELECT next_no - 1 FROM event_counter WHERE one = 1) AS last_no,
      (SELECT COUNT(*) FROM (SELECT 1 FROM deleted_devices WHERE account_id = ${accountID} AND is_purged = 0 LIMIT 1) x)
        AS deleted,
      d.device_no, d.device_id, d.description, d.pin_color, d.pin_tag
    FROM accounts a LEFT JOIN devices d ON ${visible(scope)} AND d.device_id = ${deviceID ?? ''}
    WHERE a.account_id = ${accountID}`);
  if (row === undefined) return null;
  const deviceNo = numberOrNull(row, 'device_no');
  const textIn = (column: string): string => textOrNull(row, column) ?? '';
  const texts = {
    device_id: textIn('device_id'),
    description: textIn('description'),
    pin_color: textIn('pin_color'),
    pin_tag: textIn('pin_tag'),
  };
  return {
    accountNo: numberOf(row, 'account_no'),
    revision: [
      numberOf(row, 'record_revision'),
      numberOf(row, 'members_revision'),
      numberOf(row, 'zones_revision'),
    ].join('.'),
    removedRevision: numberOf(row, 'removed_revision'),
    hasDeleted: numberOf(row, 'deleted') > 0,
    lastNo: numberOrNull(row, 'last_no') ?? 0,
    device: deviceNo === null ? null : { deviceNo, texts },
  };
}

/** Marks that records of the account have other addresses; of everything else triggers see to it, see `fleet-revisions.ts`. */
export function touchRecords(accountID: string): Statement {
  return sql`UPDATE accounts SET record_revision = record_revision + 1 WHERE account_id = ${accountID}`;
}

/** Records that events of a device were removed, in the batch that removes them. */
export function touchRemoved(deviceNo: number): Statement {
  return sql`UPDATE accounts SET removed_revision = removed_revision + 1
    WHERE account_id = (SELECT account_id FROM devices WHERE device_no = ${deviceNo})`;
}
