// The accounts of the running outbox: events of every boot that are queued, were queued and were dropped, kept in the
// same commits that change the rows, and compared with the rows once those were counted. A difference is damage that
// SQLite does not detect. Never guesses: an unreadable account is damage, too.
import type { Row, Statement } from '../../src/ports.ts';
import {
  addTally,
  appended,
  emptyTally,
  liveOf,
  removed,
  restored,
  type Tally,
} from '../core/outbox/outbox-account.ts';
import { bootNumberOf, type StoredRow, seqOf } from '../core/outbox/outbox-row.ts';
import { checkRow, formatCensus } from './file/outbox-check.ts';
import {
  anchorEvery,
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
  type Total,
} from './file/outbox-schema.ts';
import { originOf, type Queue, readRows } from './outbox-queue.ts';

/** What a damaged list of boots, or of drops, is called. */
export const faults = {
  boots: 'the list of boots is damaged',
  drops: 'the counts of dropped events are damaged',
  place: 'events are not where they belong',
} as const;

/** The boots of the file, oldest first; null when they are damaged: then the file has been replaced. */
export async function readBoots(queue: Queue): Promise<readonly BootRow[] | null> {
  const { database } = queue;
  const parsed = (await readRows(queue, boots.all())).map(parseBoot);
  if (queue.database !== database) return null;
  const all = parsed.filter((one) => one !== null);
  if (all.length === parsed.length) return all;
  await queue.replace(faults.boots);
  return null;
}

/** One boot by its number; null when it is not there or damaged: then the file has been replaced. */
async function readBoot(queue: Queue, number: number): Promise<BootRow | null> {
  const { database } = queue;
  const row = (await readRows(queue, boots.byNumber(number)))[0];
  const boot = row === undefined ? null : parseBoot(row);
  if (queue.database !== database) return null;
  if (boot === null) await queue.replace(faults.boots);
  return boot;
}

/** Rows to take out, by boot number. */
export type Tallies = ReadonlyMap<number, Tally>;

export function tallyOf(ids: readonly number[]): Map<number, Tally> {
  const tallies = new Map<number, Tally>();
  for (const id of ids) tallies.set(bootNumberOf(id), addTally(tallies.get(bootNumberOf(id)), seqOf(id)));
  return tallies;
}

/** The accounts after rows were taken out; null when the file had to be replaced. */
export async function accountsWithout(queue: Queue, gone: Tallies): Promise<readonly BootRow[] | null> {
  const changed: BootRow[] = [];
  for (const [number, tally] of gone) {
    const boot = await readBoot(queue, number);
    if (boot === null) return null;
    const known = number === queue.number ? appended(boot, queue.nextSeq - 1) : boot;
    changed.push({ ...boot, ...removed(known, tally) });
  }
  return changed;
}

/** The accounts after rows came back; null when the file had to be replaced. */
export async function accountsWith(queue: Queue, ids: readonly number[]): Promise<readonly BootRow[] | null> {
  const changed = new Map<number, BootRow>();
  for (const id of ids) {
    const number = bootNumberOf(id);
    const boot = changed.get(number) ?? (await readBoot(queue, number));
    if (boot === null) return null;
    const known = number === queue.number ? appended(boot, queue.nextSeq - 1) : boot;
    changed.set(number, { ...boot, ...restored(known, seqOf(id)) });
  }
  return [...changed.values()];
}

/** To be called once the accounts are committed. */
export function recordAccounts(queue: Queue, changed: readonly BootRow[]): void {
  queue.own = changed.find(({ number }) => number === queue.number) ?? queue.own;
}

/**
 * The own account with new events, when it is time to write it: with every urgent one, and now and then. Without it rows
 * that vanish at the very end of the queue would not be missed.
 */
export function anchorOf(queue: Queue, added: readonly { readonly priority: number }[]): BootRow | null {
  const lastSeq = queue.nextSeq - 1 + added.length;
  const isDue = lastSeq - queue.own.lastSeq >= anchorEvery || added.some(({ priority }) => priority === 0);
  return isDue && added.length > 0 ? { ...queue.own, lastSeq } : null;
}

/** For a close in good order: the next start then knows exactly what must be there. */
export async function closingStatements(queue: Queue): Promise<readonly Statement[]> {
  const all = await readBoots(queue);
  if (all === null || queue.isInDoubt) return [];
  const own = { ...queue.own, ...appended(queue.own, queue.nextSeq - 1) };
  const final = all.map((boot) => (boot.number === own.number ? own : boot));
  return [boots.put(own), notes.put(noteKeys.census, formatCensus(final))];
}

/** A new boot in the file, and the count of boots with it; nothing when the file had to be replaced. */
export async function addedBoot(queue: Queue, boot: BootRow): Promise<readonly Statement[]> {
  const all = await readBoots(queue);
  return all === null ? [] : [boots.put(boot), notes.put(noteKeys.census, formatCensus([...all, boot]))];
}

/** Statements that add to what was dropped and not yet reported; null when the file had to be replaced. */
export async function dropStatements(
  queue: Queue,
  list: readonly Drop[],
): Promise<readonly Statement[] | null> {
  const { database } = queue;
  const found = await readTotals(queue);
  if (found === null || queue.database !== database) return null;
  const totals = new Map(found.map((total) => [total.priority, total]));
  const statements: Statement[] = [];
  for (const drop of list) {
    const row = (await readRows(queue, drops.of(drop)))[0];
    if (queue.database !== database) return null;
    const known = row === undefined ? drop : parseDrop(row);
    const total = totals.get(drop.priority);
    if (known === null || total === undefined) {
      await queue.replace(faults.drops);
      return null;
    }
    statements.push(drops.put(row === undefined ? drop : joined(known, drop)));
    const { dropped, unreported } = total;
    const count = { dropped: dropped + drop.count, unreported: unreported + drop.count };
    totals.set(drop.priority, { ...total, ...count });
  }
  return [...statements, ...[...totals.values()].map(drops.putTotal)];
}

/**
 * Statements that forget drops which are reported in the same commit; null when the file had to be replaced. What was added
 * to a drop since it was read for the report is left for the next one.
 */
export async function reportedStatements(
  queue: Queue,
  list: readonly Drop[],
): Promise<readonly Statement[] | null> {
  const { database } = queue;
  const totals = await readTotals(queue);
  if (totals === null) return null;
  const statements: Statement[] = [];
  for (const drop of list) {
    const row = (await readRows(queue, drops.of(drop)))[0];
    const known = row === undefined ? null : parseDrop(row);
    const left = (known?.count ?? 0) - drop.count;
    statements.push(known !== null && left > 0 ? drops.put({ ...known, count: left }) : drops.forget(drop));
  }
  const left = totals.map((total) => {
    const reported = list.filter(({ priority }) => priority === total.priority);
    return {
      ...total,
      unreported: total.unreported - reported.reduce((sum, { count }) => sum + count, 0),
    };
  });
  return queue.database === database ? [...statements, ...left.map(drops.putTotal)] : null;
}

async function readTotals(queue: Queue): Promise<readonly Total[] | null> {
  const { database } = queue;
  const parsed = (await readRows(queue, drops.totals())).map(parseTotal);
  if (queue.database !== database) return null;
  const totals = parsed.filter((one) => one !== null);
  if (totals.length === priorities.length) return totals;
  await queue.replace(faults.drops);
  return null;
}

function joined(known: Drop, more: Drop): Drop {
  const ends = (a: number | null, b: number | null, pick: (...all: number[]) => number): number | null =>
    a === null ? b : b === null ? a : pick(a, b);
  return {
    ...known,
    fromSeq: Math.min(known.fromSeq, more.fromSeq),
    toSeq: Math.max(known.toSeq, more.toSeq),
    fromUpMs: ends(known.fromUpMs, more.fromUpMs, Math.min),
    toUpMs: ends(known.toUpMs, more.toUpMs, Math.max),
    count: known.count + more.count,
  };
}

export interface CheckedRow {
  readonly id: number;
  readonly bytes: number;
  readonly stored: StoredRow;
}

export interface CheckedPage {
  readonly sound: readonly CheckedRow[];
  readonly spoiled: readonly Row[];
}

/**
 * Checks rows in reading order. Null when one of them is misplaced: the tree itself is damaged then, and the file
 * has been replaced.
 */
export async function checkPage(
  queue: Queue,
  page: { readonly priority: 0 | 1 | 2 | 3; readonly after: number; readonly rows: readonly Row[] },
): Promise<CheckedPage | null> {
  const { database } = queue;
  const sound: CheckedRow[] = [];
  const spoiled: Row[] = [];
  let before = page.after;
  for (const row of page.rows) {
    const id = Number(row['id']);
    const origin = await originOf(queue, bootNumberOf(id));
    if (queue.database !== database) return null;
    const verdict = checkRow(row, page.priority, origin?.boot ?? null);
    if (id <= before || origin === null || verdict.kind === 'misplaced') {
      await queue.replace(faults.place);
      return null;
    }
    before = id;
    const body = row['body'];
    if (verdict.kind === 'spoiled') spoiled.push(row);
    else sound.push({ id, bytes: body instanceof Uint8Array ? body.length : 0, stored: verdict.stored });
  }
  return { sound, spoiled };
}

/** Whether the rows of earlier boots that were counted are those that must be there; replaces the file when not. */
export async function compareCounted(queue: Queue, seen: Tallies): Promise<void> {
  const all = await readBoots(queue);
  if (all === null) return;
  let missing = 0;
  let isSame = true;
  const numbers = new Set([...all.map(({ number }) => number), ...seen.keys()]);
  for (const number of numbers) {
    if (number >= queue.number) continue;
    const boot = all.find((one) => one.number === number);
    const must = boot === undefined ? emptyTally : liveOf(boot);
    const found = seen.get(number) ?? emptyTally;
    isSame &&= must.count === found.count && must.sum === found.sum;
    missing += Math.max(0, must.count - found.count);
  }
  if (!isSame) await queue.replace(`${missing} events are missing`);
}

/**
 * Whether more is left by the accounts than was delivered and waits to be deleted, once nothing is left to send; replaces
 * the file then.
 */
export async function compareEmpty(queue: Queue, pending: number): Promise<void> {
  const all = await readBoots(queue);
  if (all === null) return;
  const left = all.reduce((sum, boot) => {
    const known = boot.number === queue.number ? appended(boot, queue.nextSeq - 1) : boot;
    return sum + liveOf(known).count;
  }, 0);
  if (left > pending) await queue.replace(`${left - pending} events are missing`);
}
