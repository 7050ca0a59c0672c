// Checks the content of an outbox's database: SQLite keeps no checksum of a page, so every row has its own, and the
// rows that must exist are counted elsewhere. At the start only small tables and the ends of each class; the rows in
// between are checked by the background scan. Read-only.
import type { Database, Row } from '../../../src/ports.ts';
import { liveOf } from '../../core/outbox/outbox-account.ts';
import { bootNumberOf, decodeRow, type StoredRow, seqOf, stateSum } from '../../core/outbox/outbox-row.ts';
import { damagedFault, type FileFault, shortFault } from './damaged-files.ts';
import {
  type BootRow,
  boots,
  type Drop,
  drops,
  noteKeys,
  notes,
  parseBoot,
  parseDrop,
  parseTotal,
  priorities,
  readStateRows,
  rows,
} from './outbox-schema.ts';

/** The small tables of a sound file. */
export interface Content {
  readonly notes: ReadonlyMap<string, string>;
  readonly boots: readonly BootRow[];
  readonly drops: readonly Drop[];
}

/** Boot id, highest number, and of how many numbers and of which sum there was nothing any more. */
export type NamedAccount = readonly [boot: string, lastSeq: number, gone: number, goneSum: number];

/** What is to be salvaged from a file without a usable account of its rows. */
export const nothingKnown = { accounts: null, tail: 0, dropped: 0 } as const;

export const namedAccount = ({ boot, lastSeq, gone, goneSum }: BootRow): NamedAccount => [
  boot,
  lastSeq,
  gone,
  goneSum,
];

/** The list of boots once more, as it was at the last start or end, in case that the other one is lost. */
export interface Census {
  readonly boots: number;
  /** Those that had events; null when there were too many. */
  readonly accounts: readonly NamedAccount[] | null;
}

const censusMost = 100;

export function formatCensus(all: readonly BootRow[]): string {
  const holding = all.filter((boot) => liveOf(boot).count > 0);
  const accounts = holding.length > censusMost ? null : holding.map(namedAccount);
  const census: Census = { boots: all.length, accounts };
  return JSON.stringify(census);
}

function isCensus(value: unknown): value is Census {
  return typeof value === 'object' && value !== null && 'boots' in value && 'accounts' in value;
}

/** Null when it is empty. Only for a text whose checksum is right. */
export function parseCensus(text: string | undefined): Census | null {
  const value: unknown = text === undefined || text === '' ? null : JSON.parse(text);
  return isCensus(value) ? value : null;
}

/** Notes with a right checksum, whatever is missing. */
export function intactNotes(found: readonly Row[]): ReadonlyMap<string, string> {
  const sound = found.filter((row) => row['sum'] === stateSum(String(row['key']), String(row['value'])));
  return new Map(sound.map((row) => [String(row['key']), String(row['value'])]));
}

const parsedAll = <T>(found: readonly Row[], parse: (row: Row) => T | null): readonly T[] | null => {
  const parsed = found.map(parse);
  return parsed.some((one) => one === null) ? null : parsed.filter((one) => one !== null);
};

/** Sorted keys of the agent's state. */
export const formatKeys = (found: readonly Row[]): string =>
  JSON.stringify(found.map((row) => String(row['key'])).sort());

function missesKeys(noted: string | undefined, found: readonly Row[]): boolean {
  if (noted === undefined || noted === '') return false;
  const keys: unknown = JSON.parse(noted);
  return Array.isArray(keys) && keys.some((key) => !found.some((row) => row['key'] === key));
}

/** Whether a noted key of the agent's state is missing. */
export async function stateMissing(database: Database, noted: string | undefined): Promise<boolean> {
  return noted === undefined || missesKeys(noted, await database.read(readStateRows));
}

async function stateFault(database: Database, noted: string | undefined): Promise<string | null> {
  const found = await database.read(readStateRows);
  const isSound = found.every((row) => row['sum'] === stateSum(String(row['key']), String(row['value'])));
  return isSound && !missesKeys(noted, found) ? null : 'the state is damaged';
}

async function readDrops(database: Database): Promise<readonly Drop[] | null> {
  const list = parsedAll(await database.read(drops.all()), parseDrop);
  const totals = parsedAll(await database.read(drops.totals()), parseTotal);
  if (list === null || totals?.length !== priorities.length) return null;
  const isComplete = totals.every(({ priority, unreported }) => {
    const noted = list.filter((drop) => drop.priority === priority);
    return noted.reduce((sum, drop) => sum + drop.count, 0) === unreported;
  });
  return isComplete ? list : null;
}

/** What a row of a class is: sound, spoiled (its checksum fails), or a sound one in a place that is not its own. */
export type RowVerdict =
  | { readonly kind: 'sound'; readonly stored: StoredRow }
  | { readonly kind: 'spoiled' }
  | { readonly kind: 'misplaced' };

/** @param boot name of the boot that the row's id speaks of; null when the file does not know it. */
export function checkRow(row: Row, priority: 0 | 1 | 2 | 3, boot: string | null): RowVerdict {
  const body = row['body'];
  const stored = body instanceof Uint8Array ? decodeRow(body) : null;
  if (stored === null) return { kind: 'spoiled' };
  const isHere =
    stored.priority === priority && stored.event.seq === seqOf(Number(row['id'])) && stored.boot === boot;
  return isHere ? { kind: 'sound', stored } : { kind: 'misplaced' };
}

async function endsFault(database: Database, all: readonly BootRow[]): Promise<string | null> {
  const nameOf = new Map(all.map(({ number, boot }) => [number, boot]));
  for (const priority of priorities) {
    for (const statement of [rows.first(priority), rows.last(priority)]) {
      const row = (await database.read(statement))[0];
      const boot = nameOf.get(bootNumberOf(Number(row?.['id'] ?? 0))) ?? null;
      if (row !== undefined && checkRow(row, priority, boot).kind !== 'sound')
        return `the first or last row of class ${priority} is damaged`;
    }
  }
  return null;
}

/**
 * Checks everything that does not grow with the backlog. Throws what SQLite throws.
 * @param isLogless whether the notes show that a log should exist which does not.
 */
export async function checkContent(
  database: Database,
  isLogless: (notes: ReadonlyMap<string, string>) => boolean,
): Promise<
  { readonly ok: true; readonly content: Content } | { readonly ok: false; readonly fault: FileFault }
> {
  const foundNotes = await database.read(notes.all());
  const kept = intactNotes(foundNotes);
  const keys = Object.values(noteKeys);
  if (foundNotes.length !== keys.length || !keys.every((key) => kept.has(key)))
    return { ok: false, fault: shortFault('the notes are damaged') };
  // Before all else: without its log the file is older than it looks, whatever else is wrong with it.
  if (isLogless(kept)) return { ok: false, fault: shortFault('the write-ahead log is missing') };
  const foundBoots = parsedAll(await database.read(boots.all()), parseBoot);
  const isOrdered = foundBoots?.every((boot, at) => boot.number > (foundBoots[at - 1]?.number ?? 0));
  if (!foundBoots || !isOrdered || foundBoots.length !== (parseCensus(kept.get(noteKeys.census))?.boots ?? 0))
    return { ok: false, fault: damagedFault('the list of boots is damaged') };
  const foundDrops = await readDrops(database);
  if (foundDrops === null)
    return { ok: false, fault: damagedFault('the counts of dropped events are damaged') };
  const fault =
    (await stateFault(database, kept.get(noteKeys.stateKeys))) ?? (await endsFault(database, foundBoots));
  return fault === null
    ? { ok: true, content: { notes: kept, boots: foundBoots, drops: foundDrops } }
    : { ok: false, fault: damagedFault(fault) };
}
