// Decides which events of a payload are new: by their numbers, and by their content if numbers do not decide it. It must never treat an event as
// stored that is not, nor as new one that is stored.
import type { FleetEvent } from '../../src/core/events/event.ts';
import type { Database } from '../../src/ports.ts';
import { type Projection, projectBatch } from '../core/events/projection.ts';
import { addRange, isStored, type StoredNumbers } from '../core/events/stored-numbers.ts';
import type { Draft, Drafts } from './boot-drafts.ts';
import type { DecodedPayload } from './decoded-payload.ts';
import {
  type Answers,
  askStore,
  type Doubt,
  isOtherEvent,
  recordSent,
  type SentEvents,
  withTime,
} from './reused-numbers.ts';

/** Decision on one payload; null: its device was deleted. */
export type Decided = {
  readonly fresh: readonly FleetEvent[];
  /** Those of them that are stored under a separate run, because another event has their number. */
  readonly reused: ReadonlySet<FleetEvent>;
  readonly upTo: number;
  readonly accountNo: number;
  readonly projection: Projection;
} | null;

/** Result for one payload by its numbers alone. */
type Sorted = {
  readonly draft: Draft;
  readonly fresh: readonly FleetEvent[];
  /** Their numbers are stored, and numbers alone do not identify a repeat. */
  readonly again: readonly FleetEvent[];
} | null;

const nothing: readonly never[] = [];
const noneReused: ReadonlySet<FleetEvent> = new Set();
const noAnswers: Answers = new Map();

/** Splits the events into those with new numbers and the others. Of two with one number the first is new. */
function byNumber(
  work: DecodedPayload,
  stored: StoredNumbers,
): { readonly fresh: readonly FleetEvent[]; readonly again: readonly FleetEvent[] } {
  let highest = 0;
  let isAscending = true;
  for (const { seq } of work.events) {
    isAscending &&= seq > highest;
    highest = seq;
  }
  const [first] = work.events;
  const last = stored.ranges.at(-1)?.[1] ?? stored.upTo;
  // Fast path for nearly all payloads: every event follows the stored ones.
  if (isAscending && first !== undefined && first.seq > last) return { fresh: work.events, again: nothing };
  const seen = new Set<number>();
  const fresh: FleetEvent[] = [];
  const again: FleetEvent[] = [];
  for (const event of work.events) {
    if (seen.has(event.seq) || isStored(stored, event.seq)) again.push(event);
    else fresh.push(event);
    seen.add(event.seq);
  }
  return { fresh, again };
}

const isEmpty = ({ upTo, ranges }: StoredNumbers): boolean => upTo === 0 && ranges.length === 0;

/** Records that the draft also stores these events. */
function addTo(draft: Draft, events: readonly FleetEvent[], sent: SentEvents): void {
  // The span stays unknown for a boot whose earlier times were not recorded.
  const isTimed = draft.from.times !== null || isEmpty(draft.from.stored);
  if (events.length > 0) recordSent(sent, draft.name, events);
  if (isTimed) for (const { timestamp } of events) draft.times = withTime(draft.times, timestamp);
}

function sortByNumber(work: DecodedPayload, draft: Draft | null, sent: SentEvents): Sorted {
  if (draft === null) return null;
  // Only the insert shows whether bare events are new.
  if (work.boot === null) return { draft, fresh: work.events, again: nothing };
  const { fresh, again } = byNumber(work, draft.stored);
  if (fresh.length > 0) draft.stored = work.ranges.reduce<StoredNumbers>(addRange, draft.stored);
  if (work.isRandomBoot === true) return { draft, fresh, again: nothing };
  addTo(draft, fresh, sent);
  return { draft, fresh, again };
}

/** Inputs of the comparison for the payloads of a commit. */
interface Compared {
  readonly answers: Answers;
  /** Events of this plan, and of all plans that are being written. */
  readonly sent: readonly [SentEvents, ...SentEvents[]];
}

function decide(work: DecodedPayload, sorted: Sorted, { answers, sent }: Compared): Decided {
  if (sorted === null) return null;
  const { draft, again } = sorted;
  const { accountNo } = draft.from;
  let { fresh } = sorted;
  let reused = noneReused;
  for (const event of again) {
    if (!isOtherEvent({ draft, event }, answers, sent)) continue;
    addTo(draft, [event], sent[0]);
    draft.reused += 1;
    fresh = [...fresh, event];
    reused = new Set([...reused, event]);
  }
  // A repeat changes no state: its state was recorded with the original, and an event that is not stored must not change one.
  const { boot, receivedMs } = work;
  const isWhole = boot === null || fresh.length === work.events.length;
  const projection = isWhole ? work.projection : projectBatch({ boot, events: fresh }, receivedMs);
  return { fresh, reused, upTo: boot === null ? 0 : draft.stored.upTo, accountNo, projection };
}

/** Answers of the store about events whose numbers are stored. */
async function answersFor(
  db: Database,
  works: readonly DecodedPayload[],
  sorted: readonly Sorted[],
): Promise<Answers> {
  const doubts: Doubt[] = [];
  for (const one of sorted)
    for (const event of one?.again ?? nothing) if (one) doubts.push({ draft: one.draft, event });
  return doubts.length === 0 ? noAnswers : askStore(db, doubts, works.at(-1)?.receivedMs ?? 0);
}

/** Decides the payloads of a commit in turn. @param known `sent`: events of this plan, which it fills, and of those in flight. */
export async function decideAll(
  db: Database,
  works: readonly DecodedPayload[],
  { drafts, sent }: { readonly drafts: Drafts; readonly sent: Compared['sent'] },
): Promise<readonly Decided[]> {
  const sorted = works.map((work, at) => sortByNumber(work, drafts.of[at] ?? null, sent[0]));
  const answers = await answersFor(db, works, sorted);
  return works.map((work, at) => decide(work, sorted[at] ?? null, { answers, sent }));
}
