// Salvage from a damaged outbox that was set aside: boots and state through SQLite on a copy, as far as they are sound;
// events row by row from the raw pages, class 0 first, in short steps. Never changes the evidence. It may bring back
// rows that were already acknowledged, which the broker drops as repeats; it must not miss one that was not.
import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
} from 'node:fs';
import { AppError } from '../src/core/errors.ts';
import type { Database, Row, Statement } from '../src/ports.ts';
import { decodeRow, seqOf, stateSum } from './core/outbox-row.ts';
import { type CarvedRow, carveRows, type PageAt, pageBytes, walFrames } from './core/page-carving.ts';
import type { FileOptions } from './outbox-file.ts';
import { boots, drops, noteKeys, notes, priorities, putState, readStateRows, rows } from './outbox-schema.ts';

export interface Remains {
  /** Boots, oldest first, empty when unreadable. */
  readonly boots: readonly Row[];
  /** Statements that write the state anew, as far as it was readable. */
  readonly state: readonly Statement[];
  /** False when any of it was unreadable or may be out of date. */
  readonly isStateWhole: boolean;
  /** Drops that were not reported yet, and totals per class. */
  readonly dropped: readonly Row[];
  readonly totals: readonly Row[];
  /** What the notes said of salvage that was not done yet; null when they were unreadable. */
  readonly rescueNote: string | null;
  /** Lowest live row id per class; 0 when unknown. Lower rows on unused pages were acknowledged long ago. */
  readonly floors: readonly number[];
}

/** Below the first row that SQLite finds: a damaged page may hide its neighbours. */
const floorMargin = 64;
const copyMostBytes = 2 ** 31;

const nothing: Remains = {
  boots: [],
  state: [],
  isStateWhole: false,
  dropped: [],
  totals: [],
  rescueNote: null,
  floors: [0, 0, 0, 0],
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

async function readFloor(database: Database, statement: Statement): Promise<number> {
  const first = (await database.read(statement))[0];
  const body = first?.['body'];
  const id = Number(first?.['id']);
  const isSound = body instanceof Uint8Array && decodeRow(body)?.event.seq === seqOf(id);
  return isSound ? Math.max(0, id - floorMargin) : 0;
}

/**
 * Reads what SQLite can still read, from a copy beside the evidence that is removed again.
 * @param isWhole false when commits are known to be missing: state may then be older than what the agent did.
 */
export async function readRemains(
  evidence: string,
  context: { file: FileOptions; isWhole: boolean },
): Promise<Remains> {
  const copy = `${context.file.path}.salvage`;
  const remove = (): void => {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(copy + suffix, { force: true });
  };
  remove();
  let database: Database | null = null;
  try {
    for (const suffix of ['', '-wal']) {
      if (existsSync(evidence + suffix)) copyFileSync(evidence + suffix, copy + suffix);
    }
    database = await context.file.openDatabase({ path: copy, maxBytes: copyMostBytes });
    const source = database;
    const state = await attempt(() => readSoundState(source), { statements: [], isWhole: false });
    const found = await attempt(() => source.read(boots.all()), []);
    const floors: number[] = [];
    for (const priority of priorities) {
      floors.push(context.isWhole ? await attempt(() => readFloor(source, rows.first(priority)), 0) : 0);
    }
    const kept = await attempt(() => source.read(notes.all()), null);
    return {
      boots: found.toReversed(),
      state: state.statements,
      isStateWhole: context.isWhole && state.isWhole,
      dropped: await attempt(() => source.read(drops.all()), []),
      totals: await attempt(() => source.read(drops.totals()), []),
      rescueNote: kept && String(kept.find((row) => row['key'] === noteKeys.rescue)?.['value'] ?? ''),
      floors,
    };
  } catch {
    // No room for the copy, or not a database any more: the raw pages still speak.
    return nothing;
  } finally {
    await attempt(async () => database?.close(), undefined);
    remove();
  }
}

export interface Carving {
  /** Rows of the next stretch of pages; null at the end. */
  next(): readonly CarvedRow[] | null;
  close(): void;
}

const pagesPerStep = 64;

/** What the disk does not give must not keep back what it gives. */
function readable<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** Walks all pages of file and log twice: first for class 0, then for the others. A row may come more than once. */
export function createCarving(evidence: string): Carving {
  const file = readable(() => (existsSync(evidence) ? openSync(evidence, 'r') : null), null);
  const filePages = file === null ? 0 : Math.floor(fstatSync(file).size / pageBytes);
  const log = `${evidence}-wal`;
  const frames = readable(() => (existsSync(log) ? walFrames(readFileSync(log)) : []), []);
  const newest = new Map(frames.map((frame) => [frame.pageNumber, frame.page]));
  const readPage: PageAt = (number) => {
    if (file === null || number < 1 || number > filePages) return null;
    const page = new Uint8Array(pageBytes);
    const read = readable(() => readSync(file, page, 0, pageBytes, (number - 1) * pageBytes), 0);
    return read === pageBytes ? page : null;
  };
  const pageAt: PageAt = (number) => newest.get(number) ?? readPage(number);
  const total = filePages + frames.length;
  let position = 0;
  let isClosed = false;
  return {
    next() {
      if (isClosed || position >= total * 2) return null;
      const found: CarvedRow[] = [];
      for (let step = 0; step < pagesPerStep && position < total * 2; step++, position++) {
        const urgent = position < total;
        const index = position % total;
        const page = index < filePages ? readPage(index + 1) : (frames[index - filePages]?.page ?? null);
        if (page === null) continue;
        found.push(...carveRows(page, pageAt).filter(({ row }) => (row.priority === 0) === urgent));
      }
      return found;
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      if (file !== null) closeSync(file);
    },
  };
}
