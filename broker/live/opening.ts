// The beginning of a live stream: from now on, or from the last message that its reader received, with everything since. If that
// is not complete it sends a reset, and never leaves a gap unnoticed.
import type { Database } from '../../src/ports.ts';
import type { Scope } from '../core/accounts/scope.ts';
import { helloMessage, type ResetReason, resetMessage } from '../core/live/live-message.ts';
import { eventsByNumber, holdsMore, presencesSince, receivedMsOf } from '../store/events/events-by-number.ts';
import { lastEventNo } from '../store/slices/slices.ts';
import { changeKinds, changesOf } from './changes.ts';
import type { Composer } from './selection.ts';

export const openingLimits = {
  /** Events of the account that are repeated; beyond it the reader gets a reset and reads the present state. */
  events: 10_000,
  /** Age of a resume point: longer than any outage of a client, shorter than what is kept of events. */
  ageMs: 24 * 3600 * 1000,
  /**
   * Device states may be sent after later events. So devices and other changes are read from this long before the resume point.
   */
  overlapMs: 10_000,
} as const;

export interface OpeningOptions {
  readonly db: Database;
  readonly nowMs: number;
  readonly scope: Scope;
  /** Number of the last message that the reader has seen; null: begin now; NaN: it was no number. */
  readonly after: number | null;
  /** What the reader asked for. */
  readonly composer: Composer;
  /** The store is complete up to this number: anything newer comes live. */
  readonly onStart: (upTo: number) => void;
}

interface Missed {
  readonly after: number;
  readonly upTo: number;
  /** Time of the resume point; 0: before everything. */
  readonly sinceMs: number;
}

/** The range that the reader missed, or why it cannot be repeated. */
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
  const { db, scope, composer } = options;
  const fromMs = Math.max(0, sinceMs - openingLimits.overlapMs);
  if (composer.wants('device')) {
    for await (const page of presencesSince(db, { scope, sinceMs: fromMs })) {
      yield page.map((one) => composer.device(one)).join('');
    }
  }
  for (const kind of changeKinds.filter(composer.wants)) {
    for await (const page of changesOf(kind, db, { scope, sinceMs: fromMs })) {
      yield page.map((one) => composer.change(one)).join('');
    }
  }
  if (!composer.wants('event')) return;
  for await (const page of eventsByNumber(db, { scope, after, upTo })) {
    yield page.map((one) => composer.event(one)).join('');
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
  // Without a number of its own: until the missed events were sent, the reader's resume point stays.
  yield helloMessage({ eventNo: upTo });
  const found = await missed(options, upTo);
  if (typeof found === 'string') yield resetMessage({ reason: found, id: upTo });
  else yield* replay(options, found);
}
