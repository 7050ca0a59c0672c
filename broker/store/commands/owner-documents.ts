// Statements on the owner's documents. The service keeps them as they came and carries them to the units; it can sign none.
import {
  decodeOwnerDocument,
  type OwnerDocument,
  parseOwnerDocument,
} from '../../../src/core/persons/owner-document.ts';
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { followed } from '../base/live-topic.ts';
import { numberOf, readNumber, textOf } from '../base/row.ts';
import { deviceRef, type Infer, shape } from '../base/table.ts';
import { ownerDocuments } from '../schema/commands.ts';

export type OwnerDocumentRow = Infer<typeof ownerDocuments>;

/** Owners of one account: two while its units go over to another. */
const ownersMost = 4;
/** Units that one read gives. */
const outdatedMost = 100;

/** The account's documents, the newest upload first. */
export const listOwnerDocuments = (db: Database, accountID: string): Promise<readonly OwnerDocumentRow[]> =>
  ownerDocuments.all(db)(sql`SELECT * FROM owner_documents WHERE account_id = ${accountID}
    ORDER BY uploaded_ms DESC, pin`);

interface OwnerKey {
  readonly accountID: string;
  /** Null: the device pins none. */
  readonly ownerPin: string | null;
}

/** What is kept of one owner; null: the service has no document. */
export const findOwnerRow = async (
  db: Database,
  { accountID, ownerPin }: OwnerKey,
): Promise<OwnerDocumentRow | null> =>
  ownerPin === null
    ? null
    : ownerDocuments.first(db)(
        sql`SELECT * FROM owner_documents WHERE account_id = ${accountID} AND pin = ${ownerPin}`,
      );

/** The document of one owner; null: the service has none. */
export async function findOwnerDocument(db: Database, key: OwnerKey): Promise<OwnerDocument | null> {
  const row = await findOwnerRow(db, key);
  return row === null ? null : documentOf(row);
}

/** Its signatures were checked as it came. */
export const documentOf = ({ document }: Pick<OwnerDocumentRow, 'document'>): OwnerDocument | null =>
  decodeOwnerDocument(parseOwnerDocument(document));

/** Condition: the kept document of this owner has these versions. */
export const isKept = ({
  accountID,
  pin,
  setVersion,
  listVersion,
  uploadedMs,
}: OwnerDocumentRow): Statement =>
  sql`EXISTS (SELECT 1 FROM owner_documents WHERE account_id = ${accountID} AND pin = ${pin}
    AND set_version = ${setVersion} AND list_version = ${listVersion} AND uploaded_ms = ${uploadedMs})`;

/** Keeps a document unless one of the same owner is as new; the oldest of too many goes. The first result says whether it did. */
export function keepOwnerDocument(row: OwnerDocumentRow): readonly Statement[] {
  const { accountID, pin, document, setVersion, listVersion, uploadedMs, uploadedBy } = row;
  return [
    sql`INSERT INTO owner_documents (account_id, pin, document, set_version, list_version, uploaded_ms, uploaded_by)
      VALUES (${accountID}, ${pin}, ${document}, ${setVersion}, ${listVersion}, ${uploadedMs}, ${uploadedBy})
      ON CONFLICT (account_id, pin) DO UPDATE SET document = excluded.document, set_version = excluded.set_version,
        list_version = excluded.list_version, uploaded_ms = excluded.uploaded_ms, uploaded_by = excluded.uploaded_by
      WHERE owner_documents.set_version < excluded.set_version
        OR (owner_documents.set_version = excluded.set_version AND owner_documents.list_version < excluded.list_version)`,
    sql`DELETE FROM owner_documents WHERE account_id = ${accountID} AND pin NOT IN (SELECT k.pin FROM owner_documents k
      WHERE k.account_id = ${accountID} ORDER BY k.uploaded_ms DESC, k.pin LIMIT ${ownersMost})`,
    // The units drop what waits when they take a newer list.
    followed(sql`UPDATE approvals SET approval_state = 'void', end_cause = 'list', decided_ms = ${uploadedMs}
      WHERE approval_state = 'pending' AND owner_pin = ${pin} AND ${isKept(row)}
        AND device_no IN (SELECT d.device_no FROM devices d WHERE d.account_id = ${accountID})`),
  ];
}

/** Condition on `devices` and `owner_documents` under the aliases `d` and `o`: the unit holds an older document, or none. */
const isOlder = sql`(d.owner_set < o.set_version OR (d.owner_set = o.set_version AND d.owner_list < o.list_version))`;
const ofOwner = sql`FROM devices d JOIN owner_documents o ON o.account_id = d.account_id AND o.pin = d.owner_pin`;

/** The document to send to a unit; null: it holds as new a one, or pins no key that the service has a document of. */
export async function documentFor(db: Database, deviceNo: number): Promise<string | null> {
  const [row] = await db.read(
    sql`SELECT o.document ${ofOwner} WHERE d.device_no = ${deviceNo} AND ${isOlder}`,
  );
  return row === undefined ? null : textOf(row, 'document');
}

const outdated = shape({
  device: shape(deviceRef).toRecord,
  boot: textOf,
  setVersion: numberOf,
  listVersion: numberOf,
});
/** A connected unit that holds an older document, and the versions of the newer one. */
export type OutdatedUnit = Infer<typeof outdated>;

/** Connected units that hold an older document than the service, by number. */
export const outdatedUnits = (db: Database, afterNo: number): Promise<readonly OutdatedUnit[]> =>
  // CROSS JOIN: SQLite then begins with the few documents, and does not go through every device.
  outdated.all(db)(sql`SELECT d.device_no, d.account_id, d.device_id, d.boot, o.set_version, o.list_version
    FROM owner_documents o CROSS JOIN devices d
    WHERE d.account_id = o.account_id AND d.owner_pin = o.pin AND d.is_online = 1 AND d.boot IS NOT NULL
      AND d.device_no > ${afterNo} AND ${isOlder}
    ORDER BY d.device_no LIMIT ${outdatedMost}`);

/** Units of the account that pin an owner's key, any one. */
export async function countOwnedUnits(db: Database, accountID: string): Promise<number> {
  const count = sql`SELECT COUNT(*) AS units FROM devices WHERE account_id = ${accountID} AND owner_pin IS NOT NULL`;
  return (await readNumber(db)(count)) ?? 0;
}

/** Units of the account by the owner's key that they pin, and those of them that hold an older document than the service. */
export async function countOwned(
  db: Database,
  accountID: string,
): Promise<ReadonlyMap<string, { readonly units: number; readonly outdated: number }>> {
  const rows = await db.read(sql`SELECT d.owner_pin AS pin, COUNT(*) AS units,
      SUM(CASE WHEN o.pin IS NOT NULL AND ${isOlder} THEN 1 ELSE 0 END) AS outdated
    FROM devices d LEFT JOIN owner_documents o ON o.account_id = d.account_id AND o.pin = d.owner_pin
    WHERE d.account_id = ${accountID} AND d.owner_pin IS NOT NULL GROUP BY d.owner_pin`);
  return new Map(
    rows.map((row) => [
      textOf(row, 'pin'),
      { units: numberOf(row, 'units'), outdated: numberOf(row, 'outdated') },
    ]),
  );
}
