// The way of an uplink payload, one visible ordered list: decode, quarantine or accept, decide what is new, project, commit,
// acknowledge. It must never report a payload as stored before it is on disk, and never lose one it cannot read.
import { AppError, messageOf } from '../src/core/errors.ts';
import type { EventBatch, FleetEvent } from '../src/core/event.ts';
import { formatTopic, type UplinkVerb } from '../src/core/topics.ts';
import { type Ack, decodeEvents, toRanges } from '../src/core/wire.ts';
import type { Clock, Database, Log, Statement } from '../src/ports.ts';
import { type Projection, projectBatch } from './core/projection.ts';
import { createEventPlanner, type EventOutcome, type EventWork } from './event-plan.ts';
import { type GroupCommit, isDataFault } from './group-commit.ts';
import { type DeviceRef, deviceExists } from './store/devices.ts';
import { bareKey } from './store/event-insert.ts';
import { insertQuarantine } from './store/quarantine.ts';

/** What became of one payload; in every case it is on disk, except when the device itself is gone. */
type Outcome =
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
   * Stores the events of one payload; resolves in order of arrival once they are durable.
   * @param also statements that stand in the same batch, such as the audit entry of a record that a person made.
   * @throws AppError when the store failed or is overloaded: then the payload must not be acknowledged.
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

/** A payload ready to be stored: bare events already carry the boot and seq that stand for them. */
interface Accepted extends EventWork {
  readonly device: DeviceRef;
}

type Stored = Extract<EventOutcome, { readonly kind: 'stored' }>;

/** What a payload is likely to be written as: columns of an event, and those of its device and its states. */
const valuesOfEvent = 25;
const valuesOfDevice = 40;

function accept(
  device: DeviceRef,
  { boot, events }: EventBatch,
  { receivedMs, also }: Pick<Accepted, 'receivedMs' | 'also'>,
): Accepted {
  const [first] = events;
  const bare = boot === null && first !== undefined ? bareKey(first) : null;
  const stored = bare === null ? events : events.map((event) => ({ ...event, seq: bare.seq }));
  const projection = projectBatch({ boot: boot ?? bare?.boot ?? '', events: stored }, receivedMs);
  const ranges = boot === null ? [] : toRanges(events.map((event) => event.seq));
  return { device, deviceNo: device.deviceNo, boot, events: stored, projection, ranges, receivedMs, also };
}

/** Tells whoever listens of what was just committed. */
function publish({ log, onCommitted }: IngestOptions, accepted: Accepted, { fresh, eventNos }: Stored): void {
  const { device, boot, projection, receivedMs } = accepted;
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

/** Builds the ingest side of the broker over a group commit that others may share. */
export function createIngest(options: IngestOptions): Ingest {
  const { db, commits, clock, log } = options;
  const planner = createEventPlanner(db);
  const counts = { payloads: 0, events: 0, duplicates: 0, quarantined: 0, failures: 0 };
  const open = new Set<Promise<unknown>>();
  let isClosed = false;

  const quarantine = async (device: DeviceRef, unreadable: Unreadable): Promise<Outcome> => {
    const { verb, payload, reason } = unreadable;
    const entry = {
      topic: formatTopic(device, verb),
      receivedMs: Math.round(clock.utcMs()),
      reason,
      payload,
    };
    try {
      await commits.write(insertQuarantine(device.deviceNo, entry));
    } catch (thrown) {
      if (isDataFault(thrown) && !(await deviceExists(db, device.deviceNo))) return { kind: 'gone' };
      throw thrown;
    }
    counts.quarantined += 1;
    log.warn('payload quarantined', { accountID: device.accountID, deviceID: device.deviceID, verb, reason });
    return { kind: 'quarantined', reason };
  };

  const refused = async (accepted: Accepted, payload: Uint8Array, thrown: unknown): Promise<Outcome> => {
    if (!isDataFault(thrown)) throw thrown;
    // Only this payload cannot be stored: its device is gone, or the database finds fault with its values.
    if (!(await deviceExists(db, accepted.deviceNo))) return { kind: 'gone' };
    return quarantine(accepted.device, { verb: 'events', payload, reason: messageOf(thrown) });
  };

  const stored = (accepted: Accepted, outcome: EventOutcome): Outcome => {
    if (outcome.kind === 'gone') return outcome;
    const { boot, events, ranges } = accepted;
    const { fresh, upTo } = outcome;
    counts.events += fresh.length;
    counts.duplicates += events.length - fresh.length;
    publish(options, accepted, outcome);
    return { kind: 'stored', fresh, ack: boot === null ? null : { boot, upTo, ranges } };
  };

  const store = (accepted: Accepted, payload: Uint8Array): Promise<Outcome> => {
    const size = accepted.events.length * valuesOfEvent + valuesOfDevice;
    return commits.plan(planner, accepted, { size, isAlone: accepted.also.length > 0 }).then(
      (outcome) => stored(accepted, outcome),
      (thrown: unknown) => refused(accepted, payload, thrown),
    );
  };

  const tracked = (work: () => Promise<Outcome>): Promise<Outcome> => {
    if (isClosed) return Promise.reject(new AppError('unavailable', 'the broker is stopping'));
    counts.payloads += 1;
    const outcome = work();
    open.add(outcome);
    const leave = (): void => void open.delete(outcome);
    outcome.then(leave, () => {
      counts.failures += 1;
      leave();
    });
    return outcome;
  };

  return {
    submit: (device, payload, also = []) =>
      tracked(() => {
        const decoded = decodeEvents(payload);
        if (!decoded.ok) return quarantine(device, { verb: 'events', payload, reason: decoded.reason });
        return store(accept(device, decoded.batch, { receivedMs: Math.round(clock.utcMs()), also }), payload);
      }),
    quarantine: (device, unreadable) => tracked(() => quarantine(device, unreadable)),
    counts: () => ({ ...counts }),
    async close() {
      isClosed = true;
      await Promise.allSettled(open);
    },
  };
}
