// Statements on drivers and their keys. Every change is planned on a version of the account's list and raises it.
import { keyForm } from '../../../src/core/driver-key.ts';
import type { Database, Statement } from '../../../src/ports.ts';
import { sql, valueList } from '../../../src/sql.ts';
import type { KeyOwner } from '../../core/events/trip-drivers.ts';
import { numberOf, numberOrNull, readNumber, textOf } from '../../store/base/row.ts';
import { type Infer, shape } from '../../store/base/table.ts';
import { drivers } from './driver-tables.ts';
import type { KeySpan, OwnedSpan } from './key-spans.ts';

export type DriverRow = Infer<typeof drivers>;
export type DriverTexts = Pick<DriverRow, 'displayName' | 'phone' | 'note'>;

const ownedSpan = shape({
  keyID: textOf,
  fromMs: numberOf,
  untilMs: numberOrNull,
  driverNo: numberOf,
  driverID: textOf,
  displayName: textOf,
});

const selectSpans = sql`SELECT k.key_id, k.from_ms, k.until_ms, d.driver_no, d.driver_id, d.display_name
  FROM driver_keys k JOIN drivers d ON d.driver_no = k.driver_no`;

/** The version of the account's list; 0: nothing was ever in it. Read it before what a change is planned on. */
export async function listVersion(db: Database, accountID: string): Promise<number> {
  return (await readNumber(db)(sql`SELECT version FROM driver_lists WHERE account_id = ${accountID}`)) ?? 0;
}

export function findDriver(db: Database, accountID: string, driverID: string): Promise<DriverRow | null> {
  return drivers.first(db)(
    sql`SELECT * FROM drivers WHERE account_id = ${accountID} AND driver_id = ${driverID}`,
  );
}

export async function countDrivers(db: Database, accountID: string): Promise<number> {
  return (
    (await readNumber(db)(sql`SELECT COUNT(*) AS count FROM drivers WHERE account_id = ${accountID}`)) ?? 0
  );
}

/** Drivers of the account, by id. */
export function listDrivers(
  db: Database,
  accountID: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly DriverRow[]> {
  return drivers.all(db)(sql`SELECT * FROM drivers
    WHERE account_id = ${accountID} AND driver_id > ${after} ORDER BY driver_id LIMIT ${limit}`);
}

/** Every span of every key of the account, the oldest first. */
export function allSpans(db: Database, accountID: string): Promise<readonly OwnedSpan[]> {
  return ownedSpan.all(db)(
    sql`${selectSpans} WHERE k.account_id = ${accountID} ORDER BY k.key_id, k.from_ms`,
  );
}

/** The spans of these keys, the oldest first; at least one key, in the form that is kept. */
export function spansOf(
  db: Database,
  accountID: string,
  keyIDs: readonly string[],
): Promise<readonly OwnedSpan[]> {
  return ownedSpan.all(db)(sql`${selectSpans} WHERE k.account_id = ${accountID}
    AND k.key_id IN (${valueList(keyIDs)}) ORDER BY k.key_id, k.from_ms`);
}

/** The owners of keys as records name them. */
export async function ownersOfKeys(
  db: Database,
  accountID: string,
  keyIDs: readonly string[],
): Promise<readonly KeyOwner[]> {
  if (keyIDs.length === 0) return [];
  const spans = await spansOf(db, accountID, [...new Set(keyIDs.map(keyForm))]);
  return keyIDs.flatMap((keyID) =>
    spans.filter((span) => span.keyID === keyForm(keyID)).map((span) => ({ ...span, keyID })),
  );
}

/** Rejects its batch when the list was changed since `version` was read. */
export function raiseVersion(accountID: string, version: number): Statement {
  return {
    ...sql`INSERT INTO driver_lists (account_id, version) VALUES (${accountID}, ${version + 1})
      ON CONFLICT (account_id) DO UPDATE SET version = excluded.version WHERE driver_lists.version = ${version}`,
    mustChange: 1,
  };
}

interface DriverKey {
  readonly accountID: string;
  readonly driverID: string;
  readonly driverNo: number;
}

/** A driver who left is back with the next change. */
export function putDriver({ accountID, driverID, driverNo }: DriverKey, texts: DriverTexts): Statement {
  const { displayName, phone, note } = texts;
  return sql`INSERT INTO drivers (driver_no, account_id, driver_id, display_name, phone, note)
    VALUES (${driverNo}, ${accountID}, ${driverID}, ${displayName}, ${phone}, ${note})
    ON CONFLICT (driver_no) DO UPDATE SET display_name = excluded.display_name, phone = excluded.phone,
      note = excluded.note, left_ms = NULL`;
}

/** Replaces the spans of a driver. */
export function putSpans(
  { accountID, driverNo }: Omit<DriverKey, 'driverID'>,
  spans: readonly KeySpan[],
): readonly Statement[] {
  return [
    sql`DELETE FROM driver_keys WHERE driver_no = ${driverNo}`,
    ...spans.map(
      ({
        keyID,
        fromMs,
        untilMs,
      }) => sql`INSERT INTO driver_keys (account_id, key_id, from_ms, until_ms, driver_no)
        VALUES (${accountID}, ${keyID}, ${fromMs}, ${untilMs}, ${driverNo})`,
    ),
  ];
}

/** Ends a span that is there. */
export const endSpan = (accountID: string, { keyID, fromMs, untilMs }: KeySpan): Statement =>
  sql`UPDATE driver_keys SET until_ms = ${untilMs}
    WHERE account_id = ${accountID} AND key_id = ${keyID} AND from_ms = ${fromMs}`;

/** The driver left: the keys are no longer theirs, the name stays with the past. */
export const leaveDriver = (driverNo: number, atMs: number): readonly Statement[] => [
  sql`DELETE FROM driver_keys WHERE driver_no = ${driverNo} AND from_ms >= ${atMs}`,
  sql`UPDATE driver_keys SET until_ms = ${atMs}
    WHERE driver_no = ${driverNo} AND (until_ms IS NULL OR until_ms > ${atMs})`,
  sql`UPDATE drivers SET left_ms = ${atMs} WHERE driver_no = ${driverNo}`,
];

/** Nothing of the driver is left, and no record has a name any more. */
export const eraseDriver = (driverNo: number): Statement =>
  sql`DELETE FROM drivers WHERE driver_no = ${driverNo}`;
