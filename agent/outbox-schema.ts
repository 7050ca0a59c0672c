// The outbox's tables and the statements on them. One table per class and no index beside the row id, so that a commit
// touches as few pages as it can; every statement seeks by row id and costs the same with 0 and 1,000,000 queued.

import type { Priority } from '../src/core/status-codes.ts';
import { ddl, type Migration } from '../src/migrate.ts';
import type { Row, SqlValue, Statement } from '../src/ports.ts';
import { sql } from '../src/sql.ts';
import { stateSum } from './core/outbox-row.ts';

export const priorities: readonly Priority[] = [0, 1, 2, 3];

export const outboxMigrations: readonly Migration[] = [
  {
    name: '1-outbox',
    statements: [
      ...priorities.map((priority) =>
        ddl(`CREATE TABLE p${priority} (id INTEGER PRIMARY KEY, body BLOB NOT NULL)`),
      ),
      ddl(
        'CREATE TABLE state (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID',
      ),
      ddl('CREATE TABLE notes (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID'),
      ddl(
        'CREATE TABLE boots (number INTEGER PRIMARY KEY, boot TEXT NOT NULL UNIQUE, origin_ms INTEGER, quality TEXT)',
      ),
      ddl(
        'CREATE TABLE dropped (class INTEGER NOT NULL, number INTEGER NOT NULL, reason TEXT NOT NULL, ' +
          'from_seq INTEGER NOT NULL, to_seq INTEGER NOT NULL, from_up_ms INTEGER, to_up_ms INTEGER, ' +
          'count INTEGER NOT NULL, PRIMARY KEY (class, number, reason)) WITHOUT ROWID',
      ),
      ddl('CREATE TABLE totals (class INTEGER PRIMARY KEY, dropped INTEGER NOT NULL)'),
    ],
  },
];

/** By these an outbox is told from the database of another program. */
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

/** For a look from outside, with the agent stopped: it scans. */
export const countQueued = (): Statement =>
  ddl(`SELECT ${priorities.map((priority) => `(SELECT count(*) FROM p${priority})`).join(' + ')} AS events`);

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
  removeRange: (priority: Priority, range: IdRange): Statement =>
    onClass(priority, 'DELETE FROM TABLE WHERE id BETWEEN $1 AND $2', [range.from, range.to]),
  /** One seek each; `min` and `max` in one SELECT would scan. */
  first: (priority: Priority): Statement =>
    onClass(priority, 'SELECT id, body FROM TABLE ORDER BY id LIMIT 1', []),
  last: (priority: Priority): Statement =>
    onClass(priority, 'SELECT id, body FROM TABLE ORDER BY id DESC LIMIT 1', []),
};

export const boots = {
  add: (boot: { number: number; boot: string }): Statement =>
    sql`INSERT INTO boots (number, boot) VALUES (${boot.number}, ${boot.boot})`,
  copy: (boot: { number: number; boot: string; originMs: SqlValue; quality: SqlValue }): Statement =>
    sql`INSERT INTO boots (number, boot, origin_ms, quality)
        VALUES (${boot.number}, ${boot.boot}, ${boot.originMs}, ${boot.quality}) ON CONFLICT DO NOTHING`,
  byNumber: (number: number): Statement =>
    sql`SELECT boot, origin_ms, quality FROM boots WHERE number = ${number}`,
  byName: (boot: string): Statement => sql`SELECT number FROM boots WHERE boot = ${boot}`,
  newest: (): Statement => sql`SELECT number FROM boots ORDER BY number DESC LIMIT 1`,
  newestBelow: (number: number): Statement =>
    sql`SELECT number FROM boots WHERE number < ${number} ORDER BY number DESC LIMIT 1`,
  /** The newest ones, for salvage; a vehicle has one boot a day, not thousands. */
  all: (): Statement =>
    sql`SELECT number, boot, origin_ms, quality FROM boots ORDER BY number DESC LIMIT 1000`,
  setOrigin: (origin: { number: number; originMs: number; quality: string }): Statement =>
    sql`UPDATE boots SET origin_ms = ${origin.originMs}, quality = ${origin.quality} WHERE number = ${origin.number}`,
  /** Forgets boots that have no row and no unreported drop left. */
  forgetBelow: (number: number): Statement =>
    sql`DELETE FROM boots WHERE number < ${number} AND number NOT IN (SELECT number FROM dropped)`,
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

export const drops = {
  /** Adds to what was dropped and not yet reported, and to the total for ever. */
  note: (drop: Drop): readonly Statement[] => [
    sql`INSERT INTO dropped (class, number, reason, from_seq, to_seq, from_up_ms, to_up_ms, count)
        VALUES (${drop.priority}, ${drop.number}, ${drop.reason}, ${drop.fromSeq}, ${drop.toSeq},
                ${drop.fromUpMs}, ${drop.toUpMs}, ${drop.count})
        ON CONFLICT (class, number, reason) DO UPDATE SET
          from_seq = min(from_seq, excluded.from_seq), to_seq = max(to_seq, excluded.to_seq),
          from_up_ms = min(from_up_ms, excluded.from_up_ms), to_up_ms = max(to_up_ms, excluded.to_up_ms),
          count = count + excluded.count`,
    sql`INSERT INTO totals (class, dropped) VALUES (${drop.priority}, ${drop.count})
        ON CONFLICT (class) DO UPDATE SET dropped = dropped + excluded.dropped`,
  ],
  /** Into a new file: what an old one had not reported yet, and its totals. */
  copy: (row: Row, number: number): Statement =>
    sql`INSERT INTO dropped (class, number, reason, from_seq, to_seq, from_up_ms, to_up_ms, count)
        VALUES (${row['class'] ?? 0}, ${number}, ${row['reason'] ?? ''}, ${row['from_seq'] ?? 0}, ${row['to_seq'] ?? 0},
                ${row['from_up_ms'] ?? null}, ${row['to_up_ms'] ?? null}, ${row['count'] ?? 0}) ON CONFLICT DO NOTHING`,
  copyTotal: (row: Row): Statement =>
    sql`INSERT INTO totals (class, dropped) VALUES (${row['class'] ?? 0}, ${row['dropped'] ?? 0}) ON CONFLICT DO NOTHING`,
  all: (): Statement => sql`SELECT * FROM dropped LIMIT 1000`,
  unreported: (): Statement => sql`SELECT * FROM dropped ORDER BY class, number LIMIT 32`,
  forget: (drop: { class: SqlValue; number: SqlValue; reason: SqlValue }): Statement =>
    sql`DELETE FROM dropped WHERE class = ${drop.class} AND number = ${drop.number} AND reason = ${drop.reason}`,
  totals: (): Statement => sql`SELECT class, dropped FROM totals`,
};

export const notes = {
  put: (key: string, value: string): Statement =>
    sql`INSERT INTO notes (key, value) VALUES (${key}, ${value}) ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
  remove: (key: string): Statement => sql`DELETE FROM notes WHERE key = ${key}`,
  /** Only if it still says this: a file that took this one's place has notes of its own. */
  settle: (key: string, value: string): Statement =>
    sql`DELETE FROM notes WHERE key = ${key} AND value = ${value}`,
  all: (): Statement => sql`SELECT key, value FROM notes`,
};

/**
 * Names of notes: the file is in use; set-aside files that are not salvaged yet; a replacement that is not reported yet;
 * the state of the agent was not saved.
 */
export const noteKeys = {
  open: 'open',
  rescue: 'rescue',
  report: 'report',
  stateLost: 'state_lost',
} as const;

/** Keeps a value of the agent's; goes into `append` as an extra statement. Key to 64, value to 8192 characters. */
export function putState(key: string, value: string): Statement {
  return sql`INSERT INTO state (key, value, sum) VALUES (${key}, ${value}, ${stateSum(key, value)})
             ON CONFLICT (key) DO UPDATE SET value = excluded.value, sum = excluded.sum`;
}

export const readStateRows: Statement = ddl('SELECT key, value, sum FROM state');

/** The agent has read the relays back and written its state anew: what was lost no longer matters. */
export function trustState(): Statement {
  return notes.remove(noteKeys.stateLost);
}
