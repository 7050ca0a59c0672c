// Brings an outbox of the first format, which kept no accounts and no checksums of its small tables, to today's: in one
// commit, with every event, drop and word of the state. Never takes an event out, and never takes a damaged file of today
// for an old one. What an old file lost before this cannot be missed any more; what it holds is accounted for from here on.
import { ddl } from '../../src/migrate.ts';
import type { Database, Statement } from '../../src/ports.ts';
import { accountOf, emptyTally, type Tally } from '../core/outbox/outbox-account.ts';
import { formatCensus, nothingKnown } from './outbox-check.ts';
import { evidenceOf } from './outbox-evidence.ts';
import { inMemory } from './outbox-reserve.ts';
import {
  type BootRow,
  boots,
  createSmallTables,
  type Drop,
  drops,
  noteKeys,
  notes,
  numberOrNull,
  priorities,
  readDrop,
  rows,
} from './outbox-schema.ts';

/** Columns of the tables that have others today, in their order. */
const firstColumns = {
  notes: ['key', 'value'],
  boots: ['number', 'boot', 'origin_ms', 'quality'],
  dropped: ['class', 'number', 'reason', 'from_seq', 'to_seq', 'from_up_ms', 'to_up_ms', 'count'],
  totals: ['class', 'dropped'],
} as const;

const columnsOf = (table: string): Statement =>
  ddl(`SELECT name FROM pragma_table_info('${table}') ORDER BY cid`);

/** Only when every one of these tables is exactly that of the first format. */
export async function isFirstFormat(database: Database): Promise<boolean> {
  for (const [table, columns] of Object.entries(firstColumns)) {
    const found = (await database.read(columnsOf(table))).map((row) => String(row['name']));
    if (found.join() !== columns.join()) return false;
  }
  return true;
}

/** What is queued of each boot, by its number. */
async function countQueued(
  database: Database,
): Promise<ReadonlyMap<number, Tally & { readonly last: number }>> {
  const counted = new Map<number, Tally & { readonly last: number }>();
  for (const priority of priorities) {
    for (const row of await database.read(rows.tallies(priority))) {
      const number = Number(row['number']);
      const { count, sum, last } = counted.get(number) ?? { ...emptyTally, last: 0 };
      counted.set(number, {
        count: count + Number(row['count']),
        sum: sum + Number(row['sum']),
        last: Math.max(last, Number(row['last'])),
      });
    }
  }
  return counted;
}

/** Boots with the accounts that follow from what is queued: numbers up to the last one that are not there are gone. */
async function readBoots(database: Database, noted: readonly Drop[]): Promise<readonly BootRow[]> {
  const queued = await countQueued(database);
  return (await database.read(boots.all())).map((row) => {
    const number = Number(row['number']);
    const { last, ...tally } = queued.get(number) ?? { ...emptyTally, last: 0 };
    const dropped = noted.filter((drop) => drop.number === number).map(({ toSeq }) => toSeq);
    return {
      number,
      boot: String(row['boot']),
      originMs: numberOrNull(row['origin_ms']),
      quality: typeof row['quality'] === 'string' ? row['quality'] : null,
      ...accountOf(Math.max(last, ...dropped), tally),
    };
  });
}

/** A salvage that was going on is begun anew, from all that was set aside: the first format planned it otherwise. */
function rescueNote(path: string, value: string | undefined): string {
  if (value === undefined || path === inMemory) return '';
  return JSON.stringify(evidenceOf(path).map((evidence) => ({ evidence, ...nothingKnown })));
}

/** Statements that fill the small tables with what the old ones say. */
async function contentOf(database: Database, path: string): Promise<readonly Statement[]> {
  const kept = new Map(
    (await database.read(ddl('SELECT key, value FROM notes'))).map((row) => [
      String(row['key']),
      String(row['value']),
    ]),
  );
  const noted = (await database.read(drops.all())).map(readDrop);
  const oldTotals = await database.read(drops.totals());
  const totals = priorities.map((priority) => {
    const ofClass = noted.filter((drop) => drop.priority === priority);
    const unreported = ofClass.reduce((sum, { count }) => sum + count, 0);
    const ever = Number(oldTotals.find((row) => row['class'] === priority)?.['dropped'] ?? 0);
    return drops.putTotal({ priority, dropped: Math.max(ever, unreported), unreported });
  });
  const all = await readBoots(database, noted);
  const text = (key: string): string => kept.get(key) ?? '';
  return [
    ...all.map(boots.put),
    ...noted.map(drops.put),
    ...totals,
    notes.put(noteKeys.open, text(noteKeys.open)),
    notes.put(noteKeys.report, text(noteKeys.report)),
    notes.put(noteKeys.stateLost, text(noteKeys.stateLost)),
    notes.put(noteKeys.rescue, rescueNote(path, kept.get(noteKeys.rescue))),
    notes.put(noteKeys.census, formatCensus(all)),
  ];
}

/**
 * Rewrites the small tables in one commit; after a power cut the file is wholly of the one format or of the other. It
 * reads every row id once. Throws what SQLite throws.
 */
export async function upgradeFirstFormat(database: Database, path: string): Promise<void> {
  const content = await contentOf(database, path);
  const remove = Object.keys(firstColumns).map((table) => ddl(`DROP TABLE ${table}`));
  await database.write([...remove, ...createSmallTables, ...content]);
}
