// Resumes the content of a sound file at a start: numbers the boot, closes the account of the boot before it, and
// restores the state of the scan and of an interrupted salvage. The cost does not depend on how much is queued.
import { AppError } from '../../src/core/errors.ts';
import { appended, liveOf, openAccount } from '../core/outbox/outbox-account.ts';
import { bootNumberOf, seqOf } from '../core/outbox/outbox-row.ts';
import { type Content, formatCensus } from './file/outbox-check.ts';
import { type BootRow, boots, noteKeys, notes, priorities, rows } from './file/outbox-schema.ts';
import { commit, emptyClass, type Queue, readRows } from './outbox-queue.ts';
import type { OutboxOptions, Run } from './outbox-run.ts';
import { resumeRescue } from './outbox-salvage.ts';
import { endedScan, startScan } from './outbox-scan.ts';
import { isNumberLeft } from './recovery/outbox-repair.ts';

/** The state before anything is read. */
export function createQueue(options: OutboxOptions, database: Queue['database']): Queue {
  return {
    clock: options.clock,
    log: options.log,
    boot: options.boot,
    path: options.path,
    maxBytes: options.maxBytes,
    diskPages: Number.MAX_SAFE_INTEGER,
    retryReserveMs: Number.NEGATIVE_INFINITY,
    database,
    number: 0,
    nextSeq: 1,
    own: { number: 0, boot: options.boot, originMs: null, quality: null, ...openAccount() },
    isInDoubt: false,
    unreadableSinceMs: null,
    damage: null,
    classes: [emptyClass(), emptyClass(), emptyClass(), emptyClass()],
    boots: new Map(),
    pending: [],
    pendingRows: 0,
    hasUnreported: true,
    reportNotBeforeMs: Number.NEGATIVE_INFINITY,
    thinPasses: 0,
    thinnedTo: 0,
    walk: endedScan(),
    replace: () => Promise.reject(new Error('not open yet')),
  };
}

/** The boot that ran last, with all that it stored: after a power cut its account may be behind its rows. */
function settledBoot(last: BootRow | undefined, ids: readonly number[]): BootRow | undefined {
  const seqs = ids.filter((id) => bootNumberOf(id) === last?.number).map(seqOf);
  return last && { ...last, ...appended(last, Math.max(0, ...seqs)) };
}

/** Boots that have no event and no unreported drop left. */
function forgettable(all: readonly BootRow[], { drops: noted, notes: kept }: Content): readonly BootRow[] {
  // A salvaged event may belong to any of them.
  if (kept.get(noteKeys.rescue) !== '') return [];
  return all.filter((boot) => liveOf(boot).count === 0 && !noted.some((drop) => drop.number === boot.number));
}

/** Takes up what a sound file holds; the cost does not depend on how much that is. */
export async function resumeQueue(run: Run, content: Content): Promise<void> {
  const { queue, options } = run;
  const { database } = queue;
  const note = content.notes.get(noteKeys.rescue) ?? '';
  run.reportNote = content.notes.get(noteKeys.report) || null;
  const lasts: number[] = [];
  for (const priority of priorities) {
    lasts.push(Number((await readRows(queue, rows.last(priority)))[0]?.['id'] ?? 0));
  }
  // Damage that shows only now has replaced the file, and all is taken up already.
  if (queue.database !== database) return;
  if (content.boots.some(({ boot }) => boot === options.boot)) {
    throw new AppError('config', `${options.path}: boot id ${options.boot} was used before`, {
      hint: 'Every start of the agent needs a boot id of its own.',
    });
  }
  const number = (content.boots.at(-1)?.number ?? 0) + 1;
  if (!isNumberLeft(number)) throw new AppError('storage', `${options.path}: no boot number is left`);
  const own: BootRow = { ...queue.own, number };
  const settled = settledBoot(content.boots.at(-1), lasts);
  const known = [...content.boots.slice(0, -1), ...(settled === undefined ? [] : [settled])];
  const forgotten = forgettable(known, content);
  const all = [...known.filter((boot) => !forgotten.includes(boot)), own];
  await commit(queue, () =>
    queue.database === database
      ? [
          ...forgotten.map((boot) => boots.forget(boot.number)),
          ...all.slice(-2).map(boots.put),
          notes.put(noteKeys.census, formatCensus(all)),
        ]
      : [],
  );
  if (queue.database !== database) return;
  queue.number = number;
  queue.own = own;
  for (const priority of priorities) queue.classes[priority].last = lasts[priority] ?? 0;
  queue.walk = startScan(number * 2 ** 31);
  run.rescue = resumeRescue(queue, { path: options.path, note });
}
