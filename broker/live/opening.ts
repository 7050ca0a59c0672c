// How a live stream begins: from now on, or from the last message that its reader has seen, with what came since. Where
// that cannot be told in full it must say so and never pretend.
import type { Database } from '../../src/ports.ts';
import {
  commandMessage,
  deviceMessage,
  eventMessage,
  helloMessage,
  type LiveCommand,
  type LiveEvent,
  type ResetReason,
  resetMessage,
} from '../core/live-message.ts';
import type { Presence } from '../core/live-presence.ts';
import {
  commandsSince,
  eventsByNumber,
  holdsMore,
  presencesSince,
  receivedMsOf,
} from '../store/events-by-number.ts';
import type { Scope } from '../store/scope.ts';
import { lastEventNo } from '../store/slices.ts';

export const openingLimits = {
  /** Events of the account that are told again, before the reader is sent to read the present instead. */
  events: 10_000,
  /** Age of a resume point: longer than any outage of a client, shorter than what is kept of events. */
  ageMs: 24 * 3600 * 1000,
  /**
   * The present of devices is told after events that came later: so much earlier than the resume point is looked for
   * devices and commands whose message may not have left yet.
   */
  overlapMs: 10_000,
} as const;

export interface OpeningOptions {
  readonly db: Database;
  readonly nowMs: number;
  readonly scope: Scope;
  /** Number of the last message that the reader has seen; null: begin now; NaN: what it said is no number. */
  readonly after: number | null;
  /** What the reader asked for; the scope is not repeated here. */
  readonly wants: {
    event(event: LiveEvent): boolean;
    device(presence: Presence): boolean;
    command(command: LiveCommand): boolean;
  };
  /** The store is complete up to this number: whatever is newer comes live. */
  readonly onStart: (upTo: number) => void;
}

interface Missed {
  readonly after: number;
  readonly upTo: number;
  /** When the resume point came in; 0: before everything. */
  readonly sinceMs: number;
}

/** What the reader missed, or why that cannot be told. */
async function missed(options: OpeningOptions, upTo: number): Promise<Missed | ResetReason> {
  const { db, nowMs, scope, after } = options;
  // A number beyond the last one is from another time of this store (a backup).
  if (after === null || !Number.isSafeInteger(after) || after > upTo) return 'unknown';
  // 0 is the number that a reader gets before the first event of all.
  const sinceMs = after === 0 ? 0 : await receivedMsOf(db, after);
  if (sinceMs === null) return 'unknown';
  // Nothing came since, however long ago that is.
  if (after === upTo) return { after, upTo, sinceMs };
  if (after !== 0 && sinceMs < nowMs - openingLimits.ageMs) return 'old';
  const span = { after, upTo, accountID: scope.accountID, most: openingLimits.events };
  return (await holdsMore(db, span)) ? 'gap' : { after, upTo, sinceMs };
}

// Events come last: their numbers move the resume point, and a reader that breaks off before asks for all of it again.
async function* replay(options: OpeningOptions, { after, upTo, sinceMs }: Missed): AsyncGenerator<string> {
  const { db, scope, wants } = options;
  const fromMs = Math.max(0, sinceMs - openingLimits.overlapMs);
  for await (const page of presencesSince(db, { scope, sinceMs: fromMs })) {
    yield page.filter(wants.device).map(deviceMessage).join('');
  }
  for await (const page of commandsSince(db, { scope, sinceMs: fromMs })) {
    yield page.filter(wants.command).map(commandMessage).join('');
  }
  for await (const page of eventsByNumber(db, { scope, after, upTo })) {
    yield page.filter(wants.event).map(eventMessage).join('');
  }
}

/** The first messages of a stream whose queue is already being filled. */
export async function* openStream(options: OpeningOptions): AsyncGenerator<string, void, undefined> {
  const upTo = await lastEventNo(options.db);
  options.onStart(upTo);
  if (options.after === null) {
    yield helloMessage({ eventNo: upTo, id: upTo });
    return;
  }
  // Without a number of its own: until the missed events are told, the reader's resume point stays what it was.
  yield helloMessage({ eventNo: upTo });
  const found = await missed(options, upTo);
  if (typeof found === 'string') yield resetMessage({ reason: found, id: upTo });
  else yield* replay(options, found);
}
