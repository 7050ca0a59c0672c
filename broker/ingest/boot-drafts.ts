// Boots of one commit: the events known to be stored for each before its payloads, and those stored after them. A draft never claims more of a boot
// than the memory or the store does.

import type { TimeSpan } from '../core/events/event-spans.ts';
import type { Range, StoredNumbers } from '../core/events/stored-numbers.ts';
import { type BootKey, revisionAfter } from '../store/events/boot-states.ts';
import { type BootMemory, type BootState, bootName, isBelowFloor } from './boot-memory.ts';

/** Members of a payload that a draft needs. */
interface BootPayload {
  readonly deviceNo: number;
  /** Null: bare events, which have no numbers. */
  readonly boot: string | null;
  readonly ranges: readonly Range[];
  readonly receivedMs: number;
}

export interface Draft {
  readonly key: BootKey;
  readonly name: string;
  readonly from: BootState;
  readonly receivedMs: number;
  stored: StoredNumbers;
  /** Earliest and latest time of its events; null: none. */
  times: TimeSpan | null;
  /** Events under a number that was stored before: the boot changes although its numbers do not. */
  reused: number;
}

/** State of the boot once the draft is committed; `from` itself when nothing is new. */
export function stateAfter({ from, stored, times, reused, receivedMs }: Draft): BootState {
  if (stored === from.stored && reused === 0) return from;
  return {
    accountNo: from.accountNo,
    revision: revisionAfter(from.revision, receivedMs),
    stored,
    floor: from.floor,
    rangeCount: from.rangeCount + stored.ranges.length - from.stored.ranges.length,
    times,
  };
}

const keyOf = ({ deviceNo, boot }: BootPayload): BootKey => ({ deviceNo, boot: boot ?? '' });

const draftFrom = (work: BootPayload, name: string, from: BootState): Draft => ({
  key: keyOf(work),
  name,
  from,
  receivedMs: work.receivedMs,
  stored: from.stored,
  times: from.times,
  reused: 0,
});

/** Changes of all boots of a commit. */
export interface Drafts {
  /** One per boot. */
  readonly all: readonly Draft[];
  /** Draft of each payload's boot; null: its device was deleted. */
  readonly of: readonly (Draft | null)[];
}

/** Drafts of all boots of these payloads. Each name is made once, because there are thousands and making one has a cost. */
export async function draftsOf(memory: BootMemory, works: readonly BootPayload[]): Promise<Drafts> {
  const names = works.map((work) => bootName(keyOf(work)));
  const drafts = new Map<string, Draft | null>();
  const missing: Promise<void>[] = [];
  const readDraft = async (work: BootPayload, name: string): Promise<void> => {
    const from = await memory.find(keyOf(work));
    drafts.set(name, from === null ? null : draftFrom(work, name, from));
  };
  for (const [at, work] of works.entries()) {
    const name = names[at] ?? '';
    if (drafts.has(name)) continue;
    const from = memory.peek(name);
    drafts.set(name, from === undefined ? null : draftFrom(work, name, from));
    if (from === undefined) missing.push(readDraft(work, name));
  }
  if (missing.length > 0) await Promise.all(missing);
  await widenDrafts(memory, { works, names, drafts });
  const all: Draft[] = [];
  for (const draft of drafts.values()) if (draft !== null) all.push(draft);
  return { all, of: names.map((name) => drafts.get(name) ?? null) };
}

/** Reads the ranges around numbers that the memory does not cover: a backlog with gaps that arrives late. */
async function widenDrafts(
  memory: BootMemory,
  {
    works,
    names,
    drafts,
  }: {
    readonly works: readonly BootPayload[];
    readonly names: readonly string[];
    readonly drafts: Map<string, Draft | null>;
  },
): Promise<void> {
  const wanted = new Map<string, { readonly work: BootPayload; readonly runs: Range[] }>();
  for (const [at, work] of works.entries()) {
    const name = names[at] ?? '';
    const draft = drafts.get(name) ?? null;
    if (draft === null || draft.from.floor === 0) continue;
    const runs = work.ranges.filter((run) => isBelowFloor(draft.from, run));
    const known = wanted.get(name);
    if (known === undefined) wanted.set(name, { work, runs });
    else known.runs.push(...runs);
  }
  if (wanted.size === 0) return;
  const widened = [...wanted].map(async ([name, { work, runs }]) => {
    const draft = drafts.get(name) ?? null;
    if (draft === null || runs.length === 0) return;
    const from = await memory.widen(draft.key, draft.from, runs);
    drafts.set(name, draftFrom(work, name, from));
  });
  await Promise.all(widened);
}
