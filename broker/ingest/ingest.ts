// The way of an uplink payload, one visible ordered list: decode, quarantine or accept, decide what is new, project, commit,
// acknowledge. It must never report a payload as stored before it is on disk, and never lose one it cannot read.
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { EventBatch, FleetEvent } from '../../src/core/event.ts';
import { formatTopic, type UplinkVerb } from '../../src/core/topics.ts';
import { type Ack, decodeEvents, toRanges } from '../../src/core/wire.ts';
import type { Clock, Database, Log, Statement } from '../../src/ports.ts';
import { type Projection, projectBatch } from '../core/projection.ts';
import { type DeviceRef, deviceExists } from '../store/devices.ts';
import { bareKey } from '../store/event-insert.ts';
import { insertQuarantine } from '../store/quarantine.ts';
import type { Planner, Taker } from './commit-draft.ts';
import { createEventPlanner, type EventOutcome, type EventWork } from './event-plan.ts';
import type { GroupCommit } from './group-commit.ts';
import { isDataFault } from './store-faults.ts';

/** What became of one payload; in every case it is on disk, except when the device itself is gone. */
export type Outcome =
  | {
      readonly kind: 'stored';
      /** Events that were not there before. */
      readonly fresh: readonly FleetEvent[];
      /** Null for bare events, whose PUBACK is all the answer they get. */
      readonly ack: Ack | null;
    }
  | { readonly kind: 'quarantined'; readonly reason: string }
  | { readonly kind: 'gone' };

/** Events just committed, for live streams, notifications and the ledger; `projection` is what they say. */
export interface Committed {
  readonly device: DeviceRef;
  readonly boot: string | null;
  readonly fresh: readonly FleetEvent[];
  /** The number in the store of each event of `fresh`. */
  readonly eventNos: readonly number[];
  /** When the payload came in, by the broker's clock. */
  readonly receivedMs: number;
  readonly projection: Projection;
}

export interface IngestOptions {
  readonly db: Database;
  readonly commits: GroupCommit;
  readonly clock: Clock;
  readonly log: Log;
  /** Called after the commit and before the payload is answered; must not throw. */
  readonly onCommitted: (committed: Committed) => void;
}

interface IngestCounts {
  readonly payloads: number;
  readonly events: number;
  readonly duplicates: number;
  readonly quarantined: number;
  readonly failures: number;
}

export interface Ingest {
  /**
   * Stores the events of one payload; tells in order of arrival, once they are durable. Fails with an AppError when the store
   * failed or is overloaded: then the payload must not be acknowledged.
   */
  take(device: DeviceRef, payload: Uint8Array, taker: Taker<Outcome>): void;
  /**
   * The same as a promise.
   * @param also statements that stand in the same batch, such as the audit entry of a record that a person made.
   */
  submit(device: DeviceRef, payload: Uint8Array, also?: readonly Statement[]): Promise<Outcome>;
  /** Keeps a payload of another topic that could not be read. */
  quarantine(device: DeviceRef, unreadable: Unreadable): Promise<Outcome>;
  counts(): IngestCounts;
  /** Waits for what was submitted and refuses everything further. */
  close(): Promise<void>;
}

interface Unreadable {
  readonly verb: UplinkVerb;
  readonly payload: Uint8Array;
  readonly reason: string;
}

type Stored = Extract<EventOutcome, { readonly kind: 'stored' }>;

/** What a payload is likely to be written as: columns of an event, and those of its device and its states. */
const valuesOfEvent = 25;
const valuesOfDevice = 40;

interface Parts {
  readonly options: IngestOptions;
  readonly planner: Planner<EventWork, EventOutcome>;
  readonly counts: { -readonly [Name in keyof IngestCounts]: number };
  /** Payloads of which nobody was told yet, and who waits for the last of them. */
  open: number;
  onIdle: (() => void) | null;
  isClosed: boolean;
}

/** A payload that came in. */
interface Submitted {
  readonly device: DeviceRef;
  readonly payload: Uint8Array;
  readonly also: readonly Statement[];
}

const nothing: readonly Statement[] = [];

/** Whoever handed over a payload is told, and that it is no longer open. */
function tell(parts: Parts, word: () => void): void {
  parts.open -= 1;
  try {
    word();
  } finally {
    if (parts.open === 0) parts.onIdle?.();
  }
}

function failed(parts: Parts, taker: Taker<Outcome>, thrown: unknown): void {
  parts.counts.failures += 1;
  tell(parts, () => taker.fail(thrown));
}

/** Tells that the device is gone, or goes on when it is not: the database found fault with what was to be written. */
async function unlessGone(
  parts: Parts,
  device: DeviceRef,
  to: { readonly taker: Taker<Outcome>; readonly goOn: () => void },
): Promise<void> {
  let exists: boolean;
  try {
    exists = await deviceExists(parts.options.db, device.deviceNo);
  } catch (thrown) {
    return failed(parts, to.taker, thrown);
  }
  if (exists) to.goOn();
  else tell(parts, () => to.taker.done({ kind: 'gone' }));
}

/** Keeps what cannot be read; tells in order of arrival, as of what was read. */
function quarantine(parts: Parts, device: DeviceRef, unreadable: Unreadable, taker: Taker<Outcome>): void {
  const { commits, clock, log } = parts.options;
  const { verb, payload, reason } = unreadable;
  const topic = formatTopic(device, verb);
  const entry = { topic, receivedMs: Math.round(clock.utcMs()), reason, payload };
  commits.put(insertQuarantine(device.deviceNo, entry), {
    done() {
      const { accountID, deviceID } = device;
      parts.counts.quarantined += 1;
      log.warn('payload quarantined', { accountID, deviceID, verb, reason });
      tell(parts, () => taker.done({ kind: 'quarantined', reason }));
    },
    fail(thrown) {
      const goOn = (): void => failed(parts, taker, thrown);
      if (isDataFault(thrown)) void unlessGone(parts, device, { taker, goOn });
      else goOn();
    },
  });
}

/**
 * A payload on its way to the disk: bare events already carry the boot and seq that stand for them. One object with all
 * that is needed until it is answered, because thousands of them wait at a time.
 */
class Accepted implements EventWork, Taker<EventOutcome> {
  readonly #parts: Parts;
  readonly #submitted: Submitted;
  readonly #taker: Taker<Outcome>;
  readonly boot: string | null;
  readonly events: readonly FleetEvent[];
  readonly ranges: EventWork['ranges'];
  readonly projection: Projection;
  readonly receivedMs: number;

  constructor(
    parts: Parts,
    given: { readonly submitted: Submitted; readonly taker: Taker<Outcome> },
    { boot, events }: EventBatch,
  ) {
    this.#parts = parts;
    this.#submitted = given.submitted;
    this.#taker = given.taker;
    const [first] = events;
    const bare = boot === null && first !== undefined ? bareKey(first) : null;
    this.boot = boot;
    this.events = bare === null ? events : events.map((event) => ({ ...event, seq: bare.seq }));
    this.receivedMs = Math.round(parts.options.clock.utcMs());
    const stored = { boot: boot ?? bare?.boot ?? '', events: this.events };
    this.projection = projectBatch(stored, this.receivedMs);
    this.ranges = boot === null ? [] : toRanges(events.map((event) => event.seq));
  }

  get deviceNo(): number {
    return this.#submitted.device.deviceNo;
  }

  get also(): readonly Statement[] {
    return this.#submitted.also;
  }

  done(outcome: EventOutcome): void {
    const parts = this.#parts;
    if (outcome.kind === 'gone') return tell(parts, () => this.#taker.done(outcome));
    const { boot, ranges } = this;
    const { fresh, upTo } = outcome;
    parts.counts.events += fresh.length;
    parts.counts.duplicates += this.events.length - fresh.length;
    this.#publish(outcome);
    const ack = boot === null ? null : { boot, upTo, ranges };
    tell(parts, () => this.#taker.done({ kind: 'stored', fresh, ack }));
  }

  fail(thrown: unknown): void {
    const parts = this.#parts;
    const taker = this.#taker;
    if (!isDataFault(thrown)) return failed(parts, taker, thrown);
    // Only this payload cannot be stored: its device is gone, or the database finds fault with its values.
    const { device, payload } = this.#submitted;
    const unreadable = { verb: 'events', payload, reason: messageOf(thrown) } as const;
    void unlessGone(parts, device, { taker, goOn: () => quarantine(parts, device, unreadable, taker) });
  }

  /** Tells whoever listens of what was just committed. */
  #publish({ fresh, eventNos }: Stored): void {
    const { log, onCommitted } = this.#parts.options;
    const { boot, projection, receivedMs } = this;
    const { device } = this.#submitted;
    if (projection.futureCount > 0) {
      const { accountID, deviceID } = device;
      log.warn('event time ahead of the clock', { accountID, deviceID, count: projection.futureCount });
    }
    try {
      onCommitted({ device, boot, fresh, eventNos, receivedMs, projection });
    } catch (thrown) {
      // The events are stored; whoever listens must not be able to hold up the acknowledgement.
      log.error('listener failed', { reason: messageOf(thrown) });
    }
  }
}

/** False when nothing is taken any more. */
function enter(parts: Parts, taker: Taker<Outcome>): boolean {
  if (parts.isClosed) {
    taker.fail(new AppError('unavailable', 'the broker is stopping'));
    return false;
  }
  parts.counts.payloads += 1;
  parts.open += 1;
  return true;
}

function take(parts: Parts, submitted: Submitted, taker: Taker<Outcome>): void {
  if (!enter(parts, taker)) return;
  const { device, payload, also } = submitted;
  const decoded = decodeEvents(payload);
  if (!decoded.ok) {
    const unreadable = { verb: 'events', payload, reason: decoded.reason } as const;
    return quarantine(parts, device, unreadable, taker);
  }
  let accepted: Accepted;
  try {
    accepted = new Accepted(parts, { submitted, taker }, decoded.batch);
  } catch (thrown) {
    // Only a bug; whoever waits for an answer must hear of it all the same.
    return failed(parts, taker, thrown);
  }
  const size = accepted.events.length * valuesOfEvent + valuesOfDevice;
  const { planner } = parts;
  parts.options.commits.plan({ planner, item: accepted, size, isAlone: also.length > 0 }, accepted);
}

/** Builds the ingest side of the broker over a group commit that others may share. */
export function createIngest(options: IngestOptions): Ingest {
  const parts: Parts = {
    options,
    planner: createEventPlanner(options.db),
    counts: { payloads: 0, events: 0, duplicates: 0, quarantined: 0, failures: 0 },
    open: 0,
    onIdle: null,
    isClosed: false,
  };
  return {
    take: (device, payload, taker) => take(parts, { device, payload, also: nothing }, taker),
    submit: (device, payload, also = nothing) =>
      new Promise((done, fail) => take(parts, { device, payload, also }, { done, fail })),
    quarantine: (device, unreadable) =>
      new Promise((done, fail) => {
        const taker: Taker<Outcome> = { done, fail };
        if (enter(parts, taker)) quarantine(parts, device, unreadable, taker);
      }),
    counts: () => ({ ...parts.counts }),
    async close() {
      parts.isClosed = true;
      if (parts.open === 0) return;
      await new Promise<void>((resolve) => {
        parts.onIdle = resolve;
      });
    },
  };
}
