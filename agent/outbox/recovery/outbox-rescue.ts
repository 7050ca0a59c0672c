// Salvage from a damaged outbox that was set aside: boots and state through SQLite on a copy, as far as they are
// sound; events row by row from the raw pages, class 0 first, in short steps. Never changes the damaged file. It may
// restore rows that were already acknowledged, which the broker drops as repeats; it must not miss one that was not.
import {
  closeSync,
  copyFileSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { AppError } from '../../../src/core/errors.ts';
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { type StoredRow, stateSum } from '../../core/outbox/outbox-row.ts';
import { carveRows, type PageAt, pageBytes, schemaPages, walFrames } from '../../core/outbox/page-carving.ts';
import {
  intactNotes,
  type NamedAccount,
  namedAccount,
  parseCensus,
  stateMissing,
} from '../file/outbox-check.ts';
import type { FileOptions } from '../file/outbox-file.ts';
import { isThere } from '../file/outbox-reading.ts';
import { inMemory } from '../file/outbox-reserve.ts';
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
  putState,
  readStateRows,
  type Total,
} from '../file/outbox-schema.ts';

export interface RecoveredContent {
  /** Sound boots, oldest first. */
  readonly boots: readonly BootRow[];
  /** Expected content of the file, of every boot with rows in it; null when unknown. */
  readonly accounts: readonly NamedAccount[] | null;
  /** The file was closed in good order: the accounts are to the last event. */
  readonly wasClosed: boolean;
  /** Statements that rewrite the state, as far as it was readable. */
  readonly state: readonly Statement[];
  /** False when any of it was unreadable or may be out of date. */
  readonly isStateWhole: boolean;
  /** Drops that were not reported yet, and totals per class. */
  readonly dropped: readonly Drop[];
  readonly totals: readonly Total[];
  /** The notes about pending salvage; null when they were unreadable. */
  readonly rescueNote: string | null;
}

const copyMostBytes = 2 ** 31;

const nothing: RecoveredContent = {
  boots: [],
  accounts: null,
  wasClosed: false,
  state: [],
  isStateWhole: false,
  dropped: [],
  totals: [],
  rescueNote: null,
};

async function attempt<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof AppError) return otherwise;
    throw thrown;
  }
}

interface SoundState {
  readonly statements: readonly Statement[];
  readonly isWhole: boolean;
}

async function readSoundState(database: Database): Promise<SoundState> {
  const found = await database.read(readStateRows);
  const sound = found.filter((row) => row['sum'] === stateSum(String(row['key']), String(row['value'])));
  const statements = sound.map((row) => putState(String(row['key']), String(row['value'])));
  return { statements, isWhole: sound.length === found.length };
}

/** Every sound row of a table; none of one that cannot be read. */
async function readSound<T>(
  database: Database,
  statement: Statement,
  parse: (row: Row) => T | null,
): Promise<readonly T[]> {
  const found = await attempt(() => database.read(statement), []);
  return found.map(parse).filter((one) => one !== null);
}

interface Source {
  readonly file: FileOptions;
  /** False when commits are known to be missing: state may then be older than what the agent did. */
  readonly isWhole: boolean;
  /** The file was in use until now, so that no log beside it is none that is missing. */
  readonly isRunning: boolean;
}

/**
 * Reads what SQLite can still read, from a temporary copy beside the damaged file. Where the schema table is
 * unusable, or the file shorter than its header says, once more with that of the new file.
 */
export async function recoverContent(evidence: string, source: Source): Promise<RecoveredContent> {
  const remains = await readCopy(evidence, source, () => undefined);
  if (remains.accounts !== null || source.file.path === inMemory) return remains;
  const mended = await readCopy(evidence, source, (copy) => putSchema(copy, source.file.path));
  return mended.boots.length > 0 ? mended : remains;
}

/** Page count, and the list of free pages, of the header (format 1.3). */
const pageCountAt = 28;
const freeListAt = { from: 32, to: 40 };

/** Puts the pages of the table of tables of `sound` into `copy`; they are the same in every outbox. */
function putSchema(copy: string, sound: string): void {
  const from = readFileSync(sound);
  const pages = Math.floor(statSync(copy).size / pageBytes);
  const file = openSync(copy, 'r+');
  try {
    for (const number of schemaPages(from)) {
      const page = from.subarray((number - 1) * pageBytes, number * pageBytes);
      if (number === 1) {
        page.writeUInt32BE(pages, pageCountAt);
        page.fill(0, freeListAt.from, freeListAt.to);
      }
      if (number <= pages) writeSync(file, page, 0, pageBytes, (number - 1) * pageBytes);
    }
    ftruncateSync(file, pages * pageBytes);
  } finally {
    closeSync(file);
  }
}

async function readCopy(
  evidence: string,
  source: Source,
  mend: (copy: string) => void,
): Promise<RecoveredContent> {
  const { file } = source;
  const copy = `${file.path}.salvage`;
  const remove = (): void => {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(copy + suffix, { force: true });
  };
  remove();
  let database: Database | null = null;
  try {
    for (const suffix of ['', '-wal']) {
      if (isThere(evidence + suffix)) copyFileSync(evidence + suffix, copy + suffix);
    }
    mend(copy);
    database = await file.openDatabase({ path: copy, pageSize: pageBytes, maxBytes: copyMostBytes });
    const hasLog = source.isRunning || isThere(`${evidence}-wal`);
    return await readTables(database, { isWhole: source.isWhole, hasLog });
  } catch {
    // No space for the copy, or not a database any more: the raw pages can still be read.
    return nothing;
  } finally {
    await attempt(async () => database?.close(), undefined);
    remove();
  }
}

async function readTables(
  source: Database,
  { isWhole, hasLog }: { readonly isWhole: boolean; readonly hasLog: boolean },
): Promise<RecoveredContent> {
  const state = await attempt(() => readSoundState(source), { statements: [], isWhole: false });
  const kept = intactNotes(await attempt(() => source.read(notes.all()), []));
  const rowsOfBoots = await attempt(() => source.read(boots.all()), []);
  const found = rowsOfBoots.map(parseBoot).filter((one) => one !== null);
  const census = parseCensus(kept.get(noteKeys.census));
  const wasClosed = kept.get(noteKeys.open) === '';
  // Without any notes it is unknown whether a log is missing as well: two losses at once are not assumed.
  const isCurrent = wasClosed || (isWhole && (hasLog || kept.size === 0));
  const isEvery = found.length === rowsOfBoots.length && found.length === (census?.boots ?? found.length);
  const noted = wasClosed ? (census?.accounts ?? null) : null;
  const hasKeys = !(await attempt(() => stateMissing(source, kept.get(noteKeys.stateKeys)), true));
  return {
    boots: found,
    accounts: isCurrent && isEvery && found.length > 0 ? found.map(namedAccount) : noted,
    wasClosed,
    state: state.statements,
    isStateWhole: isWhole && (wasClosed || hasLog) && state.isWhole && hasKeys,
    dropped: await readSound(source, drops.all(), parseDrop),
    totals: await readSound(source, drops.totals(), parseTotal),
    rescueNote: kept.get(noteKeys.rescue) ?? null,
  };
}

export interface Carving {
  /** Rows of the next stretch of pages; null at the end. */
  next(): readonly StoredRow[] | null;
  /** Whether the disk has not given some of it so far, also when asked again. */
  hasGaps(): boolean;
  close(): void;
}

const pagesPerStep = 64;

/** A read that fails now may succeed at once: a loose card, a busy controller. A bad sector costs this many tries. */
const readTries = 4;

/** What the disk does not give, also when asked again, must not keep back what it gives. */
function readable<T>(read: () => T | null): T | null {
  for (let tries = 0; tries < readTries; tries += 1) {
    try {
      const found = read();
      if (found !== null) return found;
    } catch {
      // Asked again.
    }
  }
  return null;
}

/** Walks all pages of file and log twice: first for class 0, then for the others. A row may come more than once. */
export function createCarving(evidence: string): Carving {
  let hasGaps = false;
  /** Null, and a gap, where the disk does not give it. */
  const required = <T>(read: () => T | null): T | null => {
    const found = readable(read);
    hasGaps ||= found === null;
    return found;
  };
  const file = isThere(evidence) ? required(() => openSync(evidence, 'r')) : null;
  const filePages = file === null ? 0 : Math.floor(fstatSync(file).size / pageBytes);
  const log = `${evidence}-wal`;
  const frames = isThere(log) ? (required(() => walFrames(readFileSync(log))) ?? []) : [];
  const newest = new Map(frames.map((frame) => [frame.pageNumber, frame.page]));
  const readPage: PageAt = (number) => {
    if (file === null || number < 1 || number > filePages) return null;
    const page = new Uint8Array(pageBytes);
    const at = (number - 1) * pageBytes;
    return required(() => (readSync(file, page, 0, pageBytes, at) === pageBytes ? page : null));
  };
  const pageAt: PageAt = (number) => newest.get(number) ?? readPage(number);
  const total = filePages + frames.length;
  let position = 0;
  let isClosed = false;
  return {
    next() {
      if (isClosed || position >= total * 2) return null;
      const found: StoredRow[] = [];
      for (let step = 0; step < pagesPerStep && position < total * 2; step++, position++) {
        const urgent = position < total;
        const index = position % total;
        const page = index < filePages ? readPage(index + 1) : (frames[index - filePages]?.page ?? null);
        if (page === null) continue;
        found.push(...carveRows(page, pageAt).filter((row) => (row.priority === 0) === urgent));
      }
      return found;
    },
    hasGaps: () => hasGaps,
    close() {
      if (isClosed) return;
      isClosed = true;
      if (file !== null) closeSync(file);
    },
  };
}
