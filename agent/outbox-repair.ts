// What the outbox does beside its daily work: replacing a damaged file, bringing back what lies in the old one in short
// steps, and the walk that counts and checks the backlog after a start. None of it ever holds up an append for long.
import { AppError } from '../src/core/errors.ts';
import type { Row, Statement } from '../src/ports.ts';
import { bootNumberMost, decodeRow, encodeRow, rowId, seqOf } from './core/outbox-row.ts';
import type { CarvedRow } from './core/page-carving.ts';
import {
  endIntent,
  evidenceOf,
  evidencePath,
  isSetAside,
  pruneEvidence,
  readIntent,
  setAside,
} from './outbox-evidence.ts';
import { closeFile, type FileOptions, type OpenedFile, openFile } from './outbox-file.ts';
import { commit, dropsOf, type NewRow, noteDrops, type Queue, readRows, remove } from './outbox-queue.ts';
import { createCarving, type Remains, readRemains } from './outbox-rescue.ts';
import { inMemory } from './outbox-reserve.ts';
import { boots, drops, noteKeys, notes, priorities, rows } from './outbox-schema.ts';
import { restore } from './outbox-space.ts';

/** Boot number of the run that puts a new file into place; salvaged boots get the numbers below. */
export const replacedBootNumber = 1_000_000;

/** Evidence that is to be salvaged, and below which row ids per class all was acknowledged long ago. */
interface RescuePlan {
  /** Name of the set-aside file, without its folder. */
  readonly evidence: string;
  readonly floors: readonly number[];
}

export interface Replacement {
  readonly opened: Extract<OpenedFile, { ok: true }>;
  readonly evidence: string;
  readonly reason: string;
  /** Texts of the notes that say what is to be salvaged, and what is to be reported. */
  readonly rescueNote: string;
  readonly reportNote: string;
}

function isPlan(value: unknown): value is RescuePlan {
  if (typeof value !== 'object' || value === null || !('evidence' in value) || !('floors' in value))
    return false;
  const { evidence, floors } = value;
  return (
    typeof evidence === 'string' && Array.isArray(floors) && floors.every((one) => typeof one === 'number')
  );
}

function parsePlans(text: string): readonly RescuePlan[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter(isPlan) : [];
  } catch {
    return [];
  }
}

/** What to salvage: the file just set aside, and what it had not brought back yet from an earlier one. */
function plansOf(path: string, evidence: string, remains: Remains): readonly RescuePlan[] {
  const { rescueNote } = remains;
  const earlier =
    rescueNote === null
      ? evidenceOf(path)
          .filter((name) => name !== evidence)
          .map((name) => ({ evidence: name, floors: [0, 0, 0, 0] }))
      : parsePlans(rescueNote);
  return [{ evidence, floors: remains.floors }, ...earlier];
}

/** Boots under new numbers, with the drops that are noted under the old ones. */
function copiesOf(remains: Remains, boot: string): readonly Statement[] {
  const copies = remains.boots.map((row, index) =>
    boots.copy({
      number: index + 1,
      boot: String(row['boot']),
      originMs: row['origin_ms'] ?? null,
      quality: row['quality'] ?? null,
    }),
  );
  const numberOf = new Map(
    remains.boots.map((row, index) => [row['number'], row['boot'] === boot ? replacedBootNumber : index + 1]),
  );
  const noted = remains.dropped.flatMap((row) => {
    const number = numberOf.get(row['number']);
    return number === undefined ? [] : [drops.copy(row, number)];
  });
  return [...copies, ...noted, ...remains.totals.map(drops.copyTotal)];
}

/** Commits are known to be missing with these, so that what is there of the state may be older than what was done. */
function isWholeFile(reason: string): boolean {
  return !['write-ahead log', 'cut short', 'is missing'].some((words) => reason.includes(words));
}

/**
 * Sets the damaged file aside, opens a new one and writes into it, in one commit, what SQLite could still read. An
 * interrupted replacement is carried to its end.
 * @param fault.boot of this run; it gets `replacedBootNumber`.
 */
export async function replaceFile(
  file: FileOptions,
  fault: { readonly reason: string; readonly boot: string },
): Promise<Replacement> {
  const reason = readIntent(file.path)?.reason ?? fault.reason;
  const evidence = setAside(file, reason);
  const opened = await openFile(file, true);
  if (!opened.ok)
    throw new AppError('storage', `${file.path}: a new outbox is damaged at once: ${opened.fault}`, {
      hint: 'It is tried again. A disk that does not give back what was written needs to be replaced.',
    });
  try {
    const remains = await readRemains(evidencePath(file.path, evidence), {
      file,
      isWhole: isWholeFile(reason),
    });
    const doubt = remains.isStateWhole ? [] : [notes.put(noteKeys.stateLost, reason)];
    const plans = plansOf(file.path, evidence, remains);
    const rescueNote = JSON.stringify(plans);
    const stateKept = remains.isStateWhole;
    const reportNote = JSON.stringify({
      phase: 'replaced',
      reason: reason.slice(0, 300),
      evidence,
      stateKept,
    });
    await opened.database.write([
      boots.add({ number: replacedBootNumber, boot: fault.boot }),
      ...copiesOf(remains, fault.boot),
      ...remains.state,
      ...doubt,
      notes.put(noteKeys.rescue, rescueNote),
      notes.put(noteKeys.report, reportNote),
    ]);
    endIntent(file.path);
    pruneEvidence(
      file.path,
      plans.map((plan) => plan.evidence),
    );
    return { opened, evidence, reason, rescueNote, reportNote };
  } catch (thrown) {
    await closeFile(opened.database);
    throw thrown;
  }
}

export type Start =
  | { readonly kind: 'sound'; readonly opened: Extract<OpenedFile, { ok: true }> }
  | { readonly kind: 'replaced'; readonly replaced: Replacement };

/** Opens the file, or replaces it when it is damaged or when its replacement was interrupted. */
export async function openOrReplace(file: FileOptions, boot: string): Promise<Start> {
  const intent = file.path === inMemory ? null : readIntent(file.path);
  if (intent !== null && !isSetAside(file.path, intent))
    return { kind: 'replaced', replaced: await replaceFile(file, { reason: intent.reason, boot }) };
  const opened = await openFile(file);
  if (intent === null) {
    if (opened.ok) return { kind: 'sound', opened };
    return { kind: 'replaced', replaced: await replaceFile(file, { reason: opened.fault, boot }) };
  }
  if (opened.ok && (await opened.database.read(boots.newest())).length > 0) {
    endIntent(file.path);
    return { kind: 'sound', opened };
  }
  // The new file was made and never came into use.
  if (opened.ok) await closeFile(opened.database);
  return { kind: 'replaced', replaced: await replaceFile(file, { reason: intent.reason, boot }) };
}

export interface Rescue {
  /** The note that called for it, to be settled when all is done. */
  readonly note: string;
  /** Brings back some more; false when all is done. */
  step(): Promise<boolean>;
  /** Rows brought back so far. */
  restored(): number;
  close(): void;
}

async function numberFor(queue: Queue, boot: string): Promise<number> {
  const known = (await readRows(queue, boots.byName(boot)))[0];
  if (known !== undefined) return Number(known['number']);
  // Below that of the run that made this file, also when a later run goes on with the salvage: older comes first.
  const newest = (await readRows(queue, boots.newestBelow(replacedBootNumber)))[0];
  const number = newest === undefined ? 1 : Number(newest['number']) + 1;
  if (number < replacedBootNumber) {
    await commit(queue, () => [boots.add({ number, boot })]);
    return number;
  }
  throw new AppError('storage', 'no boot number is left for salvaged events');
}

function newRowOf(number: number, { row }: CarvedRow): NewRow {
  return { id: rowId(number, row.event.seq), priority: row.priority, body: encodeRow(row) };
}

/** Goes on with the salvage that the file's note calls for; null when there is none. Starts over after a crash. */
export function resumeRescue(
  queue: Queue,
  context: { readonly path: string; readonly note: string | undefined },
): Rescue | null {
  const there = context.note === undefined ? [] : evidenceOf(context.path);
  const plans = parsePlans(context.note ?? '').filter(({ evidence }) => there.includes(evidence));
  let plan = plans[0];
  if (plan === undefined) return null;
  let at = 0;
  let carving = createCarving(evidencePath(context.path, plan.evidence));
  /** Found and not stored yet: kept over a failing disk. */
  let held: readonly CarvedRow[] | null = null;
  const numbers = new Map<string, number>();
  let restored = 0;
  const bring = async (found: readonly CarvedRow[], { floors }: RescuePlan): Promise<void> => {
    const wanted: NewRow[] = [];
    for (const carved of found) {
      if (carved.id < (floors[carved.row.priority] ?? 0)) continue;
      const number = numbers.get(carved.row.boot) ?? (await numberFor(queue, carved.row.boot));
      numbers.set(carved.row.boot, number);
      wanted.push(newRowOf(number, carved));
    }
    if (wanted.length > 0) restored += await restore(queue, wanted);
  };
  return {
    note: context.note ?? '',
    async step() {
      held ??= carving.next();
      if (held !== null && plan !== undefined) {
        await bring(held, plan);
        held = null;
        return true;
      }
      carving.close();
      if (plan === undefined) return false;
      at += 1;
      plan = plans[at];
      if (plan === undefined) return false;
      carving = createCarving(evidencePath(context.path, plan.evidence));
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
