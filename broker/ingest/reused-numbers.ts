// Decides on events with a stored number, when numbers alone do not identify a repeat. A tracker may restart at 1 under the same boot, and its panic
// must not be taken for an old position. A repeat equals exactly what is stored. Anything else is another event and is stored under a separate run.
// It must never drop an event of which no record exists or existed.
import { dayMs } from '../../src/core/durations.ts';
import type { FleetEvent } from '../../src/core/events/event.ts';
import type { Database } from '../../src/ports.ts';
import { contentOf } from '../core/events/event-content.ts';
import type { TimeSpan } from '../core/events/event-spans.ts';
import type { BootKey } from '../store/events/boot-states.ts';
import { contentHash } from '../store/events/event-insert.ts';
import type { EventRow } from '../store/events/events.ts';
import { newestRecords, recordsAt, retainedDays } from '../store/events/same-number.ts';
import type { Draft } from './boot-drafts.ts';

/** Boot under which an event is stored if another event has its number. '@' is not allowed in ids. */
export const runOf = (boot: string, event: FleetEvent): string => `${boot}@${contentHash(event)}`;

/** Events stored by plans in flight, by payload and by name of their boot; the store does not find them yet. */
export type SentEvents = Map<string, (readonly FleetEvent[])[]>;

export function recordSent(sent: SentEvents, name: string, events: readonly FleetEvent[]): void {
  const known = sent.get(name);
  if (known === undefined) sent.set(name, [events]);
  else known.push(events);
}

/** The span extended by one time; an unknown time changes nothing. */
export function withTime(times: TimeSpan | null, atMs: number | null): TimeSpan | null {
  if (atMs === null) return times;
  if (times === null) return { fromMs: atMs, toMs: atMs };
  if (atMs >= times.fromMs && atMs <= times.toMs) return times;
  return { fromMs: Math.min(times.fromMs, atMs), toMs: Math.max(times.toMs, atMs) };
}

/** Result of the store for an event: the same content under its number, another content, or nothing. */
type Answer = 'same' | 'other' | 'none';

/** Answers of the store by event. A missing event was not looked up: no record has its time. */
export type Answers = ReadonlyMap<FleetEvent, Answer>;

export interface Doubt {
  readonly draft: Draft;
  readonly event: FleetEvent;
}

function answerFrom(event: FleetEvent, records: readonly EventRow[]): Answer {
  const content = contentOf(event);
  let answer: Answer = 'none';
  for (const record of records) {
    if (record.seq !== event.seq) continue;
    const timestamp = event.timestamp === null ? null : record.timestampMs;
    if (contentOf({ ...record, timestamp }) === content) return 'same';
    answer = 'other';
  }
  return answer;
}

/** True when no record of that time can exist: it is before or after all events of the boot. */
function isOutside({ times, from }: Draft, { timestamp }: FleetEvent): boolean {
  if (timestamp === null || times === null) return false;
  const isKnown = from.times !== null || (from.stored.upTo === 0 && from.stored.ranges.length === 0);
  return isKnown && (timestamp < times.fromMs || timestamp > times.toMs);
}

interface Asked {
  readonly db: Database;
  readonly key: BootKey;
  readonly accountNo: number;
  readonly nowMs: number;
}

/** True when retention has removed the record of an event that is not among the newest records; false: it may be further back. */
async function isRemoved({ db, accountNo, nowMs }: Asked, { timestamp }: FleetEvent): Promise<boolean> {
  const days = await retainedDays(db, accountNo);
  return timestamp !== null && days !== null && timestamp < nowMs - Math.max(1, days) * dayMs;
}

/** Looks up the events of one boot in the store. */
async function askBoot(
  asked: Asked,
  { events, times }: { readonly events: readonly FleetEvent[]; readonly times: TimeSpan | null },
): Promise<readonly (readonly [FleetEvent, Answer])[]> {
  const { db, key } = asked;
  const exact = events.flatMap(({ timestamp }) => (timestamp === null ? [] : [timestamp]));
  const records = exact.length === 0 ? [] : await recordsAt(db, key, exact);
  const answers = new Map<FleetEvent, Answer>();
  for (const event of events) {
    const answer = answerFrom(
      event,
      records.filter(({ timestampMs }) => timestampMs === event.timestamp),
    );
    answers.set(event, answer);
  }
  const open = events.filter((event) => answers.get(event) === 'none');
  if (open.length === 0) return [...answers];
  const isTimed = times !== null && open.every(({ timestamp }) => timestamp !== null);
  const span = isTimed ? times : { fromMs: Number.MIN_SAFE_INTEGER, toMs: Number.MAX_SAFE_INTEGER };
  const newest = await newestRecords(db, key, span);
  for (const event of open) {
    const found = answerFrom(event, newest.records);
    // A number without any record: retention removed it, and the event is the removed one.
    const isOther = found === 'none' && !newest.isWhole && !(await isRemoved(asked, event));
    answers.set(event, isOther ? 'other' : found);
  }
  return [...answers];
}

/** Looks up all doubts of a plan. Most restarts need no read, because their times are new. */
export async function askStore(db: Database, doubts: readonly Doubt[], nowMs: number): Promise<Answers> {
  const byDraft = new Map<Draft, FleetEvent[]>();
  for (const { draft, event } of doubts) {
    if (isOutside(draft, event)) continue;
    const known = byDraft.get(draft);
    if (known === undefined) byDraft.set(draft, [event]);
    else known.push(event);
  }
  const answers = new Map<FleetEvent, Answer>();
  for (const [{ key, times, from }, events] of byDraft) {
    const asked = { db, key, accountNo: from.accountNo, nowMs };
    for (const [event, answer] of await askBoot(asked, { events, times })) answers.set(event, answer);
  }
  return answers;
}

/** True when the event differs from what is stored, or about to be stored, under its number. */
export function isOtherEvent(
  { draft, event }: Doubt,
  answers: Answers,
  sent: readonly SentEvents[],
): boolean {
  const contents: string[] = [];
  for (const one of sent)
    for (const events of one.get(draft.name) ?? [])
      for (const other of events) if (other.seq === event.seq) contents.push(contentOf(other));
  if (contents.includes(contentOf(event))) return false;
  const answer = answers.get(event) ?? 'other';
  return answer === 'other' || (answer === 'none' && contents.length > 0);
}
