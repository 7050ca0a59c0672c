// What the outbox does beside its daily work: replacing a damaged file, bringing back what lies in the old one in short
// steps, and the walk that counts and checks the backlog after a start. None of it ever holds up an append for long.
import { AppError } from '../src/core/errors.ts';
import type { Row, Statement } from '../src/ports.ts';
import { bootNumberMost, decodeRow, encodeRow, rowId, seqOf } from './core/outbox-row.ts';
import type { CarvedRow } from './core/page-carving.ts';
import { evidenceOf, type FileOptions, type OpenedFile, openFile, setAside } from './outbox-file.ts';
import { commit, dropsOf, type NewRow, noteDrops, type Queue, readRows, remove } from './outbox-queue.ts';
import { createCarving, type Remains, readRemains } from './outbox-rescue.ts';
import { boots, drops, noteKeys, notes, priorities, rows } from './outbox-schema.ts';
import { restore } from './outbox-space.ts';

/** Boot number of the run that puts a new file into place; salvaged boots get the numbers below. */
export const replacedBootNumber = 1_000_000;

export interface Replacement {
  readonly opened: Extract<OpenedFile, { ok: true }>;
  readonly evidence: string;
  readonly reason: string;
  readonly isStateKept: boolean;
  readonly floors: readonly number[];
}

function rescueNote(evidence: string, floors: readonly number[]): Statement {
  return notes.put(noteKeys.rescue, JSON.stringify({ evidence, floors }));
}

function copiesOf(remains: Remains): readonly Statement[] {
  return remains.boots.map((row, index) =>
    boots.copy({
      number: index + 1,
      boot: String(row['boot']),
      originMs: row['origin_ms'] ?? null,
      quality: row['quality'] ?? null,
    }),
  );
}

/**
 * Sets the damaged file aside, opens a new one and writes into it, in one commit, what SQLite could still read.
 * @param boot of this run; it gets `replacedBootNumber`.
 */
export async function replaceFile(
  file: FileOptions,
  fault: { reason: string; boot: string },
): Promise<Replacement> {
  const evidence = setAside(file);
  const opened = await openFile(file, true);
  if (!opened.ok)
    throw new AppError('storage', `${file.path}: a new outbox is damaged at once: ${opened.fault}`);
  const isWhole = !fault.reason.includes('write-ahead log') && !fault.reason.includes('cut short');
  const remains = await readRemains(evidence, { file, isWhole });
  const doubt = remains.isStateWhole ? [] : [notes.put(noteKeys.stateLost, fault.reason)];
  await opened.database.write([
    boots.add({ number: replacedBootNumber, boot: fault.boot }),
    ...copiesOf(remains),
    ...remains.state,
    ...doubt,
    rescueNote(evidence, remains.floors),
  ]);
  return {
    opened,
    evidence,
    reason: fault.reason,
    isStateKept: remains.isStateWhole,
    floors: remains.floors,
  };
}

export interface Rescue {
  /** Brings back some more; false when all is done. */
  step(): Promise<boolean>;
  /** Rows brought back so far. */
  restored(): number;
  close(): void;
}

async function numberFor(queue: Queue, boot: string): Promise<number> {
  const known = (await readRows(queue, boots.byName(boot)))[0];
  if (known !== undefined) return Number(known['number']);
  const newest = (await readRows(queue, boots.newestBelow(queue.number)))[0];
  const number = newest === undefined ? 1 : Number(newest['number']) + 1;
  if (number < queue.number) {
    await commit(queue, () => [boots.add({ number, boot })]);
    return number;
  }
  throw new AppError('storage', 'no boot number is left for salvaged events');
}

function newRowOf(number: number, { row }: CarvedRow): NewRow {
  return { id: rowId(number, row.event.seq), priority: row.priority, body: encodeRow(row) };
}

interface RescuePlan {
  readonly evidence: string;
  readonly floors: readonly number[];
}

function parsePlan(text: string): RescuePlan | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('evidence' in value) || !('floors' in value))
      return null;
    const { evidence, floors } = value;
    return typeof evidence === 'string' && Array.isArray(floors)
      ? { evidence, floors: floors.map(Number) }
      : null;
  } catch {
    return null;
  }
}

/** Goes on with a salvage that the file's notes call for; null when there is none. Starts over after a crash. */
export function resumeRescue(
  queue: Queue,
  context: { path: string; note: string | undefined },
): Rescue | null {
  const plan = context.note === undefined ? null : parsePlan(context.note);
  if (plan === null || !evidenceOf(context.path).includes(plan.evidence)) return null;
  const carving = createCarving(plan.evidence);
  const numbers = new Map<string, number>();
  let restored = 0;
  return {
    async step() {
      const found = carving.next();
      if (found === null) {
        await commit(queue, () => [notes.remove(noteKeys.rescue)]);
        return false;
      }
      const wanted: NewRow[] = [];
      for (const carved of found) {
        if (carved.id < (plan.floors[carved.row.priority] ?? 0)) continue;
        const number = numbers.get(carved.row.boot) ?? (await numberFor(queue, carved.row.boot));
        numbers.set(carved.row.boot, number);
        wanted.push(newRowOf(number, carved));
      }
      if (wanted.length > 0) restored += await restore(queue, wanted);
      return true;
    },
    restored: () => restored,
    close: () => carving.close(),
  };
}

const walkRows = 256;

/** Whether a row is what it claims to be. */
export function isSoundRow(row: Row): boolean {
  const body = row['body'];
  return body instanceof Uint8Array && decodeRow(body)?.event.seq === seqOf(Number(row['id']));
}

/** Takes damaged rows out of the queue, counted: they can never be sent, and must not stop what is behind them. */
export async function discardDamaged(
  queue: Queue,
  damage: { priority: 0 | 1 | 2 | 3; rows: readonly Row[] },
): Promise<void> {
  if (damage.rows.length === 0) return;
  const list = dropsOf(damage.priority, 'damaged', damage.rows);
  const removals = damage.rows.map((row) => {
    const id = Number(row['id']);
    return { priority: damage.priority, range: { from: id, to: id } };
  });
  await remove(queue, removals, list.flatMap(drops.note));
  noteDrops(queue, list);
}

/** Counts and checks some more of what was there at the start; false when all is done. */
export async function walkStep(queue: Queue): Promise<boolean> {
  const priority = priorities.find((one) => one === queue.walk.priority);
  if (priority === undefined) return false;
  const { at, boundary } = queue.walk;
  const page = await readRows(queue, rows.after(priority, { id: at, limit: walkRows }));
  // A replacement in between started the walk anew.
  if (queue.walk.at !== at || queue.walk.boundary !== boundary) return true;
  const old = page.filter((row) => Number(row['id']) < boundary);
  queue.classes[priority].count += old.length;
  queue.walk =
    old.length < walkRows
      ? { priority: priority + 1, at: 0, boundary }
      : { priority, at: Number(old.at(-1)?.['id']), boundary };
  await discardDamaged(queue, { priority, rows: old.filter((row) => !isSoundRow(row)) });
  return true;
}

export function isNumberLeft(number: number): boolean {
  return number <= bootNumberMost;
}
