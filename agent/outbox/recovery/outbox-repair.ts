// Replaces a damaged file: it is set aside, a new one takes its place, and the readable part of the small tables is
// copied into that in one commit, with a note of what is to be salvaged. A pending salvage is never forgotten.
import { AppError } from '../../../src/core/errors.ts';
import type { Statement } from '../../../src/ports.ts';
import { openAccount } from '../../core/outbox/outbox-account.ts';
import { bootNumberMost } from '../../core/outbox/outbox-row.ts';
import {
  damagedFilesOf,
  damagedPath,
  endIntent,
  type FileFault,
  type Intent,
  isSetAside,
  pruneDamaged,
  readIntent,
  setAside,
  shortFault,
  writeIntent,
} from '../file/damaged-files.ts';
import { formatCensus, type NamedAccount, nothingKnown } from '../file/outbox-check.ts';
import { closeFile, type FileOptions, type OpenedFile, openFile } from '../file/outbox-file.ts';
import { inMemory } from '../file/outbox-reserve.ts';
import {
  anchorEvery,
  type BootRow,
  boots,
  drops,
  noteKeys,
  notes,
  priorities,
} from '../file/outbox-schema.ts';
import { type RecoveredContent, recoverContent } from './outbox-rescue.ts';

/** Boot number of the run that puts a new file into place; salvaged boots get the numbers below. */
export const replacedBootNumber = 1_000_000;

/** A damaged file to be salvaged, and its expected content. */
export interface RescuePlan {
  /** Name of the set-aside file, without its folder. */
  readonly evidence: string;
  /** Of every boot with rows in the file; null when unknown. */
  readonly accounts: readonly NamedAccount[] | null;
  /** Numbers behind the last one of the newest boot that may have been stored as well. */
  readonly tail: number;
  /** Notes of drops that cannot be reported any more: so many events. */
  readonly dropped: number;
}

export interface Replacement {
  readonly opened: Extract<OpenedFile, { ok: true }>;
  readonly evidence: string;
  readonly reason: string;
  /** The running boot in the new file. */
  readonly own: BootRow;
  /** Texts of the notes about pending salvage and pending reports. */
  readonly rescueNote: string;
  readonly reportNote: string;
}

function isPlan(value: unknown): value is RescuePlan {
  if (typeof value !== 'object' || value === null || !('evidence' in value) || !('accounts' in value))
    return false;
  return typeof value.evidence === 'string' && (value.accounts === null || Array.isArray(value.accounts));
}

export function parsePlans(text: string): readonly RescuePlan[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter(isPlan) : [];
  } catch {
    return [];
  }
}

/**
 * What to salvage: the file just set aside, and what it had not brought back yet from an earlier one. A file without a boot never
 * came into use, so that its empty note says nothing.
 */
function plansOf(path: string, fresh: RescuePlan, remains: RecoveredContent): readonly RescuePlan[] {
  const { rescueNote } = remains;
  const earlier =
    rescueNote === null || remains.boots.length === 0
      ? damagedFilesOf(path)
          .filter((name) => name !== fresh.evidence)
          .map((evidence) => ({ evidence, ...nothingKnown }))
      : parsePlans(rescueNote);
  return [fresh, ...earlier];
}

/** What must be in the damaged file. While running, memory knows how far the numbers went. */
function planOf(evidence: string, remains: RecoveredContent, fault: Fault): RescuePlan {
  const { accounts, wasClosed } = remains;
  const isRunning = accounts?.some(([boot]) => boot === fault.boot) === true;
  const known = accounts?.map((account): NamedAccount => {
    const [boot, lastSeq, gone, goneSum] = account;
    return boot === fault.boot ? [boot, Math.max(lastSeq, fault.lastSeq), gone, goneSum] : account;
  });
  const tail = wasClosed || isRunning ? 0 : anchorEvery - 1;
  return { evidence, accounts: known ?? null, tail, dropped: unmappedOf(remains) };
}

/** Boots of a damaged file that are taken over: the newest of more than there can be. */
const bootsMost = 1000;

const takenOver = (remains: RecoveredContent): readonly BootRow[] => remains.boots.slice(-bootsMost);

const unmappedOf = (remains: RecoveredContent): number =>
  remains.dropped
    .filter(({ number }) => !takenOver(remains).some((row) => row.number === number))
    .reduce((sum, { count }) => sum + count, 0);

interface Renewed {
  readonly own: BootRow;
  readonly boots: readonly BootRow[];
  readonly drops: readonly Statement[];
}

/** Boots under new numbers, with the drops that are noted under the old ones. */
function renewedOf(remains: RecoveredContent, fault: Fault): Renewed {
  const numbers = new Map<number, number>();
  const renewed: BootRow[] = [];
  for (const [index, row] of takenOver(remains).entries()) {
    numbers.set(row.number, row.boot === fault.boot ? replacedBootNumber : index + 1);
    if (row.boot !== fault.boot) renewed.push({ ...row, ...openAccount(), number: index + 1 });
  }
  const known = remains.boots.find(({ boot }) => boot === fault.boot);
  const own: BootRow = {
    originMs: known?.originMs ?? null,
    quality: known?.quality ?? null,
    ...openAccount(fault.lastSeq + fault.skipped),
    number: replacedBootNumber,
    boot: fault.boot,
  };
  const noted = remains.dropped.flatMap((drop) => {
    const number = numbers.get(drop.number);
    return number === undefined ? [] : [{ ...drop, number }];
  });
  const totals = priorities.map((priority) => {
    const unreported = noted
      .filter((drop) => drop.priority === priority)
      .reduce((sum, { count }) => sum + count, 0);
    const dropped = remains.totals.find((total) => total.priority === priority)?.dropped ?? unreported;
    return drops.putTotal({ priority, dropped, unreported });
  });
  return { own, boots: [...renewed, own], drops: [...noted.map(drops.put), ...totals] };
}

/** The fault, and the run in which it was found. */
export interface Fault extends FileFault {
  /** Id of this run; it gets `replacedBootNumber`. */
  readonly boot: string;
  /** Numbers that this run has assigned, and how many more it will not use: the disk may have them. */
  readonly lastSeq: number;
  readonly skipped: number;
  /** The file was in use until now: SQLite has taken its log into it. */
  readonly isRunning: boolean;
}

/**
 * Sets the damaged file aside, opens a new one and writes into it, in one commit, what SQLite could still read. An
 * interrupted replacement is carried to its end.
 */
export async function replaceFile(file: FileOptions, fault: Fault): Promise<Replacement> {
  const { reason, lacksCommits } = readIntent(file.path) ?? fault;
  const evidence = setAside(file, { reason, lacksCommits });
  const opened = await openFile(file, true);
  if (!opened.ok)
    throw new AppError('storage', `${file.path}: a new outbox is damaged at once: ${opened.fault.reason}`, {
      hint: 'It is tried again. A disk that does not give back what was written needs to be replaced.',
    });
  try {
    const remains = await recoverContent(damagedPath(file.path, evidence), {
      file,
      isWhole: !lacksCommits,
      isRunning: fault.isRunning,
    });
    const doubt = remains.isStateWhole ? [] : [notes.put(noteKeys.stateLost, reason)];
    const plans = plansOf(file.path, planOf(evidence, remains, fault), remains);
    const renewed = renewedOf(remains, fault);
    const rescueNote = JSON.stringify(plans);
    const stateKept = remains.isStateWhole;
    const reportNote = JSON.stringify({
      phase: 'replaced',
      reason: reason.slice(0, 300),
      evidence,
      stateKept,
    });
    await opened.database.write([
      ...renewed.boots.map(boots.put),
      ...renewed.drops,
      notes.put(noteKeys.census, formatCensus(renewed.boots)),
      ...remains.state,
      ...doubt,
      notes.put(noteKeys.rescue, rescueNote),
      notes.put(noteKeys.report, reportNote),
    ]);
    endIntent(file.path);
    pruneDamaged(
      file.path,
      plans.map((plan) => plan.evidence),
    );
    return { opened, evidence, reason, own: renewed.own, rescueNote, reportNote };
  } catch (thrown) {
    await closeFile(opened.database);
    throw thrown;
  }
}

/** The replacement to be finished when its note is gone and a new file without a boot stands beside a damaged one. */
function unfinishedReplacement(path: string): Intent | null {
  const evidence = path === inMemory ? undefined : damagedFilesOf(path).at(-1);
  return evidence === undefined
    ? null
    : { evidence, ...shortFault('the note of its replacement is missing') };
}

export type Start =
  | { readonly kind: 'sound'; readonly opened: Extract<OpenedFile, { ok: true }> }
  | { readonly kind: 'replaced'; readonly replaced: Replacement };

/** Opens the file, or replaces it when it is damaged or when its replacement was interrupted. */
export async function openOrReplace(file: FileOptions, boot: string): Promise<Start> {
  const replace = async ({ reason, lacksCommits }: FileFault): Promise<Start> => {
    const fault: Fault = { reason, lacksCommits, boot, lastSeq: 0, skipped: 0, isRunning: false };
    return { kind: 'replaced', replaced: await replaceFile(file, fault) };
  };
  const intent = file.path === inMemory ? null : readIntent(file.path);
  if (intent !== null && !isSetAside(file.path, intent)) return replace(intent);
  const opened = await openFile(file);
  if (!opened.ok) return replace(intent ?? opened.fault);
  if ((await opened.database.read(boots.newest())).length > 0) {
    if (intent !== null) endIntent(file.path);
    return { kind: 'sound', opened };
  }
  // The file never came into use. What is set aside beside it is the file that was in use.
  const begun = intent ?? unfinishedReplacement(file.path);
  if (begun === null) return { kind: 'sound', opened };
  await closeFile(opened.database);
  if (intent === null) writeIntent(file.path, begun);
  return replace(begun);
}

export function isNumberLeft(number: number): boolean {
  return number <= bootNumberMost;
}
