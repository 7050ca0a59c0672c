// Sources of the broker's metrics: counts over small indexes, and table sizes estimated from both ends of a key and some of its
// pages. No statement may read a whole table: they run every few seconds.
import type { Database, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { numberOf, numberOrNull, textOf } from './base/row.ts';

/** Rows read at once; the rest waits for the next sample. */
const changesMost = 1000;

export interface Backlog {
  /** Unfinished commands by state. */
  readonly openCommands: ReadonlyMap<string, number>;
  /** Deliveries that wait or are being tried. */
  readonly deliveriesWaiting: number;
  /** Occurrences in the service that no rule has decided about. */
  readonly occurrencesWaiting: number;
  /** Cuts that wait for a second user. */
  readonly approvalsWaiting: number;
  /** Entries of the audit log without a place in a chain yet. */
  readonly auditUnsealed: number;
  /** Open alarms by state. */
  readonly openAlarms: ReadonlyMap<string, number>;
  /** Deleted devices with history left. */
  readonly purgesWaiting: number;
}

/** Queue lengths; each is counted in an index of its own. */
export async function readBacklog(db: Database): Promise<Backlog> {
  const states = await db.read(sql`SELECT command_state, COUNT(*) AS commands FROM commands WHERE is_final = 0
    GROUP BY command_state`);
  const alarms = await db.read(
    sql`SELECT state, COUNT(*) AS alarms FROM alarms WHERE state <> 'closed' GROUP BY state`,
  );
  const [row] = await db.read(sql`SELECT
    (SELECT COUNT(*) FROM deliveries WHERE state = 'pending') AS deliveries,
    (SELECT COUNT(*) FROM occurrences) AS occurrences,
    (SELECT COUNT(*) FROM approvals WHERE approval_state = 'pending') AS approvals,
    (SELECT COUNT(*) FROM audit WHERE chain_no IS NULL) AS audit,
    (SELECT COUNT(*) FROM deleted_devices WHERE is_purged = 0) AS purges`);
  const of = (column: string): number => (row === undefined ? 0 : numberOf(row, column));
  return {
    openCommands: new Map(states.map((one) => [textOf(one, 'command_state'), numberOf(one, 'commands')])),
    openAlarms: new Map(alarms.map((one) => [textOf(one, 'state'), numberOf(one, 'alarms')])),
    deliveriesWaiting: of('deliveries'),
    occurrencesWaiting: of('occurrences'),
    approvalsWaiting: of('approvals'),
    auditUnsealed: of('audit'),
    purgesWaiting: of('purges'),
  };
}

/**
 * Durations of commands that were confirmed after `fromMs` and up to `toMs` (broker's clock): from request to report, in ms.
 */
export async function confirmedWithin(
  db: Database,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<readonly number[]> {
  const rows = await db.read(sql`SELECT updated_ms - issued_ms AS took_ms FROM commands
    WHERE updated_ms > ${fromMs} AND updated_ms <= ${toMs} AND command_state = 'confirmed'
    ORDER BY updated_ms LIMIT ${changesMost}`);
  return rows.map((row) => numberOf(row, 'took_ms'));
}

export interface TableSize {
  readonly table: string;
  /** Upper bound: removed numbers count too. */
  readonly rows: number;
  /** Including indexes; estimated from some of the pages. */
  readonly bytes: number;
}

/** Leaf pages of each table and index that are sampled. */
const pagesSampled = 40;

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const plain = (text: string): Statement => ({ sql: text, params: [] });

interface Tree {
  readonly name: string;
  readonly table: string;
}

/**
 * Sizes of all tables of an SQLite database. Rows by the lowest and highest key, bytes by the row size in sampled pages: exact
 * for small tables, approximate for large ones. The slices of the events count as one.
 */
export async function sqliteTableSizes(db: Database): Promise<readonly TableSize[]> {
  const found = await db.read(
    plain(`SELECT name, tbl_name FROM sqlite_master WHERE type IN ('table', 'index') AND name NOT LIKE 'sqlite_s%'
      ORDER BY name`),
  );
  const trees: readonly Tree[] = found.map((row) => ({
    name: textOf(row, 'name'),
    table: textOf(row, 'tbl_name'),
  }));
  const tables = trees.filter(({ name, table }) => name === table).map(({ name }) => name);
  const sizes: TableSize[] = [];
  for (const table of tables) {
    const at = quoted(table);
    const [ends] = await db.read(
      plain(`SELECT (SELECT MAX(rowid) FROM ${at}) - (SELECT MIN(rowid) FROM ${at}) + 1 AS most`),
    );
    const most = ends === undefined ? 0 : (numberOrNull(ends, 'most') ?? 0);
    sizes.push({ table, ...(await sizeOf(db, { table, most, trees })) });
  }
  return inFamilies(sizes);
}

/** The slices of the events are shown as one table: their number grows with the history. */
function inFamilies(sizes: readonly TableSize[]): readonly TableSize[] {
  const families = new Map<string, TableSize>();
  for (const size of sizes) {
    const table = size.table.replace(/^events_\d+$/, 'events');
    const { rows, bytes } = families.get(table) ?? { rows: 0, bytes: 0 };
    families.set(table, { table, rows: rows + size.rows, bytes: bytes + size.bytes });
  }
  return [...families.values()];
}

interface TreeOf {
  readonly table: string;
  readonly most: number;
  readonly trees: readonly Tree[];
}

async function sizeOf(db: Database, { table, most, trees }: TreeOf): Promise<Omit<TableSize, 'table'>> {
  let bytes = 0;
  let rows = most;
  for (const tree of trees) {
    if (tree.table !== table) continue;
    const [seen] = await db.read(
      plain(`SELECT COUNT(*) AS pages, SUM(pgsize) AS bytes, SUM(ncell) AS cells FROM (SELECT pgsize, ncell FROM dbstat
        WHERE name = ${literal(tree.name)} AND pagetype = 'leaf' LIMIT ${pagesSampled})`),
    );
    if (seen === undefined) continue;
    const [pages, size, cells] = [
      numberOf(seen, 'pages'),
      numberOrNull(seen, 'bytes') ?? 0,
      numberOrNull(seen, 'cells') ?? 0,
    ] as const;
    const isWhole = pages < pagesSampled;
    if (isWhole && tree.name === table) rows = cells;
    // A partial index holds fewer rows than its table: this is the upper bound.
    bytes += isWhole || cells === 0 ? size : Math.round((size / cells) * Math.max(rows, cells));
  }
  return { rows, bytes };
}
