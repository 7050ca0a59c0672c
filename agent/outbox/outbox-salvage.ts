// Restores the events of damaged files that were set aside, in short steps, and reports how many are lost: as a
// number where it is certain, between two bounds where it is not. Never restores an event that was certainly
// delivered, and never delays an append for long.
import { AppError } from '../../src/core/errors.ts';
import {
  createSeqSet,
  floorOf,
  type Loss,
  lossOf,
  openAccount,
  type SeqSet,
} from '../core/outbox/outbox-account.ts';
import { encodeRow, rowId, type StoredRow } from '../core/outbox/outbox-row.ts';
import { damagedFilesOf, damagedPath } from './file/damaged-files.ts';
import type { NamedAccount } from './file/outbox-check.ts';
import { addedBoot, readBoots } from './outbox-ledger.ts';
import { commit, type NewRow, type Queue } from './outbox-queue.ts';
import { restore } from './outbox-space.ts';
import { parsePlans, type RescuePlan, replacedBootNumber } from './recovery/outbox-repair.ts';
import { type Carving, createCarving } from './recovery/outbox-rescue.ts';

export interface Rescue {
  /** The note that called for it, to be settled when all is done. */
  readonly note: string;
  /** Brings back some more; false when all is done. */
  step(): Promise<boolean>;
  /** Rows brought back so far. */
  restored(): number;
  /** How many events of the processed files are lost; null for `most` when unknown. */
  lost(): { readonly least: number; readonly most: number | null };
  close(): void;
}

/** Number of a boot in the new file; null when that had to be replaced in its turn. */
async function numberFor(queue: Queue, boot: string): Promise<number | null> {
  const all = await readBoots(queue);
  if (all === null) return null;
  const known = all.find((one) => one.boot === boot);
  if (known !== undefined) return known.number;
  // Below that of the run that made this file, also when a later run continues the salvage: older comes first.
  const number = (all.findLast((one) => one.number < replacedBootNumber)?.number ?? 0) + 1;
  if (number >= replacedBootNumber)
    throw new AppError('storage', 'no boot number is left for salvaged events');
  const { database } = queue;
  const added = await addedBoot(queue, { number, boot, originMs: null, quality: null, ...openAccount() });
  await commit(queue, () => (queue.database === database ? added : []));
  return queue.database === database ? number : null;
}

const accountOf = ([, lastSeq, gone, goneSum]: NamedAccount) => ({ lastSeq, gone, goneSum });

/** What was found of one set-aside file, by boot. */
interface Search {
  readonly plan: RescuePlan;
  readonly floors: ReadonlyMap<string, number>;
  readonly found: Map<string, SeqSet>;
}

function openSearch(plan: RescuePlan): Search {
  const floors = new Map(plan.accounts?.map((account) => [account[0], floorOf(accountOf(account))]));
  return { plan, floors, found: new Map() };
}

/** Whether a row is to be brought back: neither found before, nor delivered for certain. */
function isWanted({ plan, floors, found }: Search, { boot, event }: StoredRow): boolean {
  if (found.get(boot)?.has(event.seq) === true) return false;
  const floor = floors.get(boot);
  // A boot that the accounts do not know had nothing left.
  return floor === undefined ? plan.accounts === null : event.seq >= floor;
}

function recordFound({ found }: Search, { boot, event }: StoredRow): void {
  const set = found.get(boot) ?? createSeqSet();
  found.set(boot, set);
  set.add(event.seq);
}

const nothingFound = { size: 0, last: 0 };

function lossIn({ plan, found }: Search): { readonly least: number; readonly most: number | null } {
  const { accounts, dropped, tail } = plan;
  if (accounts === null) return { least: dropped, most: null };
  const losses = accounts.map((account, index): Loss => {
    const isNewest = index === accounts.length - 1;
    return lossOf(accountOf(account), found.get(account[0]) ?? nothingFound, isNewest ? tail : 0);
  });
  const sum = (of: (loss: Loss) => number): number => losses.reduce((all, loss) => all + of(loss), dropped);
  return { least: sum(({ least }) => least), most: sum(({ most }) => most) };
}

/** Stores the wanted rows of `carved`; returns how many were inserted. May be repeated after a failure. */
async function bring(queue: Queue, search: Search, carved: readonly StoredRow[]): Promise<number> {
  const { database } = queue;
  const fresh = new Map<number, NewRow>();
  const wanted = carved.filter((row) => isWanted(search, row));
  for (const row of wanted) {
    const number = row.boot === queue.boot ? queue.number : await numberFor(queue, row.boot);
    if (number === null || queue.database !== database) return 0;
    const id = rowId(number, row.event.seq);
    const isTaken = number === queue.number && row.event.seq >= queue.nextSeq;
    if (!isTaken && !fresh.has(id)) fresh.set(id, { id, priority: row.priority, body: encodeRow(row) });
  }
  const restored = fresh.size === 0 ? 0 : await restore(queue, [...fresh.values()]);
  if (queue.database !== database) return 0;
  for (const row of wanted) recordFound(search, row);
  return restored;
}

/** So often is a file searched whose disk does not give all of it, before what is missing counts as lost. */
const searchesMost = 10;

/** Continues the salvage named in the file's note; null when there is none. Starts over after a crash. */
export function resumeRescue(
  queue: Queue,
  context: { readonly path: string; readonly note: string },
): Rescue | null {
  const there = context.note === '' ? [] : damagedFilesOf(context.path);
  const plans = parsePlans(context.note).filter(({ evidence }) => there.includes(evidence));
  if (plans.length === 0) return null;
  const searches = plans.map(openSearch);
  let at = 0;
  let searched = 0;
  let carving: Carving | null = null;
  /** Found and not stored yet: kept over a failing disk. */
  let held: readonly StoredRow[] | null = null;
  let restored = 0;
  return {
    note: context.note,
    async step() {
      const search = searches[at];
      if (search === undefined) return false;
      carving ??= createCarving(damagedPath(context.path, search.plan.evidence));
      held ??= carving.next();
      if (held !== null) {
        restored += await bring(queue, search, held);
        held = null;
        return true;
      }
      const hasGaps = carving.hasGaps();
      carving.close();
      carving = null;
      searched += 1;
      if (hasGaps && searched < searchesMost) {
        throw new AppError('storage', `${search.plan.evidence}: the disk does not give all of it`, {
          hint: 'It is searched again. Check the disk and its connection; dmesg names the fault.',
        });
      }
      searched = 0;
      at += 1;
      return at < searches.length;
    },
    restored: () => restored,
    lost() {
      const losses = searches.map(lossIn);
      return {
        least: losses.reduce((sum, { least }) => sum + least, 0),
        most: losses.reduce<number | null>(
          (sum, { most }) => (sum === null || most === null ? null : sum + most),
          0,
        ),
      };
    },
    close: () => carving?.close(),
  };
}
