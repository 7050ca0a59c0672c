// The outbox's tables and the statements on them. One table per class and no index beside the row id, so that a
// commit touches as few pages as it can; every statement seeks by row id and costs the same with 0 and 1,000,000
// queued.

import type { Priority } from '../../../src/core/events/status-codes.ts';
import { ddl, type Migration } from '../../../src/migrate.ts';
import type { Row, SqlValue, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Account } from '../../core/outbox/outbox-account.ts';
import { stateSum, valuesSum } from '../../core/outbox/outbox-row.ts';

export const priorities: readonly Priority[] = [0, 1, 2, 3];

/** Keys of notes; each always exists, empty if unused, so that a lost one is detected. */
export const noteKeys = {
  /** The file is in use. */
  open: 'open',
  /** Set-aside files that are not salvaged yet. */
  rescue: 'rescue',
  /** A replacement that is not reported yet. */
  report: 'report',
  /** The state of the agent was not saved. */
  stateLost: 'state_lost',
  /** How many boots there are, and how many events as of the last start or end. */
  census: 'census',
  /** Keys of the agent's state as of the last start or end. */
  stateKeys: 'state_keys',
} as const;

const emptyNote = (key: string): Statement =>
  ddl(`INSERT INTO notes (key, value, sum) VALUES ('${key}', '', ${stateSum(key, '')})`);
const emptyTotal = (priority: Priority): Statement =>
  ddl(
    `INSERT INTO totals (class, dropped, unreported, sum) VALUES (${priority}, 0, 0, ${valuesSum([priority, 0, 0])})`,
  );

/** Empty notes about required content. */
const createSmallTables: readonly Statement[] = [
  ddl(
    'CREATE TABLE notes (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID',
  ),
  ddl(
    'CREATE TABLE boots (number INTEGER PRIMARY KEY, boot TEXT NOT NULL, origin_ms INTEGER, quality TEXT, ' +
      'last_seq INTEGER NOT NULL, gone INTEGER NOT NULL, gone_sum INTEGER NOT NULL, sum INTEGER NOT NULL)',
  ),
  ddl(
    'CREATE TABLE dropped (class INTEGER NOT NULL, number INTEGER NOT NULL, reason TEXT NOT NULL, ' +
      'from_seq INTEGER NOT NULL, to_seq INTEGER NOT NULL, from_up_ms INTEGER, to_up_ms INTEGER, ' +
      'count INTEGER NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY (class, number, reason)) WITHOUT ROWID',
  ),
  ddl(
    'CREATE TABLE totals (class INTEGER PRIMARY KEY, dropped INTEGER NOT NULL, unreported INTEGER NOT NULL, ' +
      'sum INTEGER NOT NULL)',
  ),
  ...Object.values(noteKeys).map(emptyNote),
  ...priorities.map(emptyTotal),
];

export const outboxMigrations: readonly Migration[] = [
  {
    name: '1-outbox',
    statements: [
      ...priorities.map((priority) =>
        ddl(`CREATE TABLE p${priority} (id INTEGER PRIMARY KEY, body BLOB NOT NULL)`),
      ),
      // With a row id: a leaf then holds values of up to 450 bytes, WITHOUT ROWID of 100. A longer one is written with its
      // overflow pages and the list of free pages.
      ddl('CREATE TABLE state (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL)'),
      ...createSmallTables,
    ],
  },
];

/** These distinguish an outbox from the database of another program. */
export const outboxTables: readonly string[] = [
  'p0',
  'p1',
  'p2',
  'p3',
  'state',
  'boots',
  'dropped',
  'totals',
];

export const tableNames: Statement = ddl(
  "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid LIMIT 20",
);

/** From the table itself, as the migrations read it, and not from its index. */
export const migrationNames: Statement = ddl('SELECT name, applied_order FROM migrations LIMIT 100');

/** For inspection with the agent stopped: it scans. */
export const countQueued = (stateKey: string): Statement => ({
  sql: `SELECT ${priorities.map((priority) => `(SELECT count(*) FROM p${priority})`).join(' + ')} AS events,
    (SELECT value FROM state WHERE key = '${stateKey}') AS value`,
  params: [],
});

/** A statement on the table of one class; `$n` in `text`, `TABLE` where its name goes. */
function onClass(priority: Priority, text: string, params: readonly SqlValue[]): Statement {
  return { sql: text.replace('TABLE', `p${priority}`), params };
}

/** Inclusive row ids. */
export interface IdRange {
  readonly from: number;
  readonly to: number;
}

export const rows = {
  insert: (priority: Priority, row: { id: number; body: Uint8Array }): Statement =>
    onClass(priority, 'INSERT INTO TABLE (id, body) VALUES ($1, $2)', [row.id, row.body]),
  /** For salvage, which may meet the same row twice. */
  restore: (priority: Priority, row: { id: number; body: Uint8Array }): Statement =>
    onClass(priority, 'INSERT INTO TABLE (id, body) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
      row.id,
      row.body,
    ]),
  after: (priority: Priority, page: { id: number; limit: number }): Statement =>
    onClass(priority, 'SELECT id, body FROM TABLE WHERE id > $1 ORDER BY id LIMIT $2', [page.id, page.limit]),
  idsAfter: (priority: Priority, page: IdRange & { limit: number }): Statement =>
    onClass(priority, 'SELECT id FROM TABLE WHERE id BETWEEN $1 AND $2 ORDER BY id LIMIT $3', [
      page.from,
      page.to,
      page.limit,
    ]),
  /** Per boot number: how many rows, the sum of their numbers, and the last of these. It scans. */
  tallies: (priority: Priority): Statement =>
    onClass(
      priority,
      `SELECT id >> 31 AS number, count(*) AS count, sum(id & 2147483647) AS sum, max(id & 2147483647) AS last
       FROM TABLE GROUP BY id >> 31`,
      [],
    ),
  removeRange: (priority: Priority, range: IdRange): Statement =>
    onClass(priority, 'DELETE FROM TABLE WHERE id BETWEEN $1 AND $2', [range.from, range.to]),
  /** One seek each; `min` and `max` in one SELECT would scan. */
  first: (priority: Priority): Statement =>
    onClass(priority, 'SELECT id, body FROM TABLE ORDER BY id LIMIT 1', []),
  last: (priority: Priority): Statement =>
    onClass(priority, 'SELECT id, body FROM TABLE ORDER BY id DESC LIMIT 1', []),
};

/** So many events are stored at most before the number of the last is written where it does not depend on them. */
export const anchorEvery = 64;

/** One run of the agent, and the account of its events. */
export interface BootRow extends Account {
  readonly number: number;
  readonly boot: string;
  readonly originMs: number | null;
  readonly quality: string | null;
}

function bootValues(row: BootRow): readonly (string | number | null)[] {
  return [row.number, row.boot, row.originMs, row.quality, row.lastSeq, row.gone, row.goneSum];
}

const textOrNull = (value: Row[string] | undefined): string | null =>
  typeof value === 'string' ? value : null;
/** A number of a row. */
const numberOrNull = (value: Row[string] | undefined): number | null =>
  typeof value === 'number' ? value : null;

/** Null when the row is damaged. */
export function parseBoot(row: Row): BootRow | null {
  const parsed: BootRow = {
    number: Number(row['number']),
    boot: String(row['boot']),
    originMs: numberOrNull(row['origin_ms']),
    quality: textOrNull(row['quality']),
    lastSeq: Number(row['last_seq']),
    gone: Number(row['gone']),
    goneSum: Number(row['gone_sum']),
  };
  return row['sum'] === valuesSum(bootValues(parsed)) ? parsed : null;
}

export const boots = {
  /** New, or in the place of what was there under its number. */
  put: (row: BootRow): Statement =>
    sql`INSERT INTO boots (number, boot, origin_ms, quality, last_seq, gone, gone_sum, sum)
        VALUES (${row.number}, ${row.boot}, ${row.originMs}, ${row.quality}, ${row.lastSeq}, ${row.gone},
                ${row.goneSum}, ${valuesSum(bootValues(row))})
        ON CONFLICT (number) DO UPDATE SET boot = excluded.boot, origin_ms = excluded.origin_ms,
          quality = excluded.quality, last_seq = excluded.last_seq, gone = excluded.gone,
          gone_sum = excluded.gone_sum, sum = excluded.sum`,
  byNumber: (number: number): Statement => sql`SELECT * FROM boots WHERE number = ${number}`,
  /** Few rows and no index: a vehicle has one boot a day, and forgets those that are delivered. */
  byName: (boot: string): Statement => sql`SELECT * FROM boots WHERE boot = ${boot}`,
  newest: (): Statement => sql`SELECT * FROM boots ORDER BY number DESC LIMIT 1`,
  all: (): Statement => sql`SELECT * FROM boots ORDER BY number`,
  forget: (number: number): Statement => sql`DELETE FROM boots WHERE number = ${number}`,
};

export type DropReason = 'full' | 'damaged';

export interface Drop {
  readonly priority: Priority;
  readonly number: number;
  readonly reason: DropReason;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly fromUpMs: number | null;
  readonly toUpMs: number | null;
  readonly count: number;
}

function dropValues(drop: Drop): readonly (string | number | null)[] {
  const { priority, number, reason, fromSeq, toSeq, fromUpMs, toUpMs, count } = drop;
  return [priority, number, reason, fromSeq, toSeq, fromUpMs, toUpMs, count];
}

/** Content of the row, damaged or not. */
function readDrop(row: Row): Drop {
  return {
    priority: priorities.find((one) => one === row['class']) ?? 0,
    number: Number(row['number']),
    reason: row['reason'] === 'full' ? 'full' : 'damaged',
    fromSeq: Number(row['from_seq']),
    toSeq: Number(row['to_seq']),
    fromUpMs: numberOrNull(row['from_up_ms']),
    toUpMs: numberOrNull(row['to_up_ms']),
    count: Number(row['count']),
  };
}

/** Null when the row is damaged. */
export function parseDrop(row: Row): Drop | null {
  const drop = readDrop(row);
  return row['sum'] === valuesSum(dropValues(drop)) ? drop : null;
}

/** What a class lost for ever, and how much of that is not reported yet. */
export interface Total {
  readonly priority: Priority;
  readonly dropped: number;
  readonly unreported: number;
}

/** Null when the row is damaged. */
export function parseTotal(row: Row): Total | null {
  const priority = priorities.find((one) => one === row['class']);
  const dropped = Number(row['dropped']);
  const unreported = Number(row['unreported']);
  return priority !== undefined && row['sum'] === valuesSum([priority, dropped, unreported])
    ? { priority, dropped, unreported }
    : null;
}

export const drops = {
  put: (drop: Drop): Statement =>
    sql`INSERT OR REPLACE INTO dropped (class, number, reason, from_seq, to_seq, from_up_ms, to_up_ms, count, sum)
        VALUES (${drop.priority}, ${drop.number}, ${drop.reason}, ${drop.fromSeq}, ${drop.toSeq},
                ${drop.fromUpMs}, ${drop.toUpMs}, ${drop.count}, ${valuesSum(dropValues(drop))})`,
  of: ({ priority, number, reason }: Drop): Statement =>
    sql`SELECT * FROM dropped WHERE class = ${priority} AND number = ${number} AND reason = ${reason}`,
  all: (): Statement => sql`SELECT * FROM dropped ORDER BY class, number`,
  unreported: (): Statement => sql`SELECT * FROM dropped ORDER BY class, number LIMIT 32`,
  forget: ({ priority, number, reason }: Drop): Statement =>
    sql`DELETE FROM dropped WHERE class = ${priority} AND number = ${number} AND reason = ${reason}`,
  putTotal: ({ priority, dropped, unreported }: Total): Statement =>
    sql`INSERT OR REPLACE INTO totals (class, dropped, unreported, sum)
        VALUES (${priority}, ${dropped}, ${unreported}, ${valuesSum([priority, dropped, unreported])})`,
  totals: (): Statement => sql`SELECT * FROM totals ORDER BY class`,
};

export const notes = {
  put: (key: string, value: string): Statement =>
    sql`INSERT OR REPLACE INTO notes (key, value, sum) VALUES (${key}, ${value}, ${stateSum(key, value)})`,
  remove: (key: string): Statement => notes.put(key, ''),
  /** Only if the value is unchanged: a file that replaced this one has notes of its own. */
  clear: (key: string, value: string): Statement =>
    sql`UPDATE notes SET value = '', sum = ${stateSum(key, '')} WHERE key = ${key} AND value = ${value}`,
  all: (): Statement => sql`SELECT key, value, sum FROM notes`,
};

/** Keeps a value of the agent's; goes into `append` as an extra statement. Key to 64, value to 8192 characters. */
export function putState(key: string, value: string): Statement {
  return sql`INSERT INTO state (key, value, sum) VALUES (${key}, ${value}, ${stateSum(key, value)})
             ON CONFLICT (key) DO UPDATE SET value = excluded.value, sum = excluded.sum`;
}

/** From the table itself: a damaged index must not cost the state. */
export const readStateRows: Statement = ddl('SELECT key, value, sum FROM state ORDER BY +key');

/** The agent has read the relays back and rewritten its state: an earlier loss no longer matters. */
export function trustState(): Statement {
  return notes.remove(noteKeys.stateLost);
}
