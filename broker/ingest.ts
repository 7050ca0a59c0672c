// The way of an uplink payload, one visible ordered list: decode, quarantine or accept, insert or ignore, project,
// commit, acknowledge. It must never report a payload as stored before it is on disk, and never lose one it cannot read.
import { AppError, messageOf } from '../src/core/errors.ts';
import type { EventBatch, FleetEvent } from '../src/core/event.ts';
import { formatTopic, type UplinkVerb } from '../src/core/topics.ts';
import { type Ack, decodeEvents, toRanges } from '../src/core/wire.ts';
import type { Clock, Database, Log, Statement, WriteResult } from '../src/ports.ts';
import { type Projection, projectBatch } from './core/projection.ts';
import { type GroupCommit, isDataFault } from './group-commit.ts';
import { type DeviceRef, deviceExists } from './store/devices.ts';
import { bareKey, insertEvents, insertOldEvents } from './store/events.ts';
import { advanceBoot, insertBoot, projectionStatements } from './store/projections.ts';
import { insertQuarantine } from './store/quarantine.ts';
import { numberOf } from './store/row.ts';

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
interface Accepted {
  readonly device: DeviceRef;
  readonly boot: string | null;
  readonly events: readonly FleetEvent[];
  readonly projection: Projection;
  readonly ranges: readonly (readonly [from: number, to: number])[];
  readonly receivedMs: number;
}

/** With the statements that its sender wants in the same batch. */
interface Submitted extends Accepted {
  readonly also: readonly Statement[];
}

function accept(device: DeviceRef, batch: EventBatch, receivedMs: number): Accepted {
  const { boot, events } = batch;
  const [first] = events;
  const bare = boot === null && first !== undefined ? bareKey(first) : null;
  const stored = bare === null ? events : events.map((event) => ({ ...event, seq: bare.seq }));
  const projection = projectBatch({ boot: boot ?? bare?.boot ?? '', events: stored }, receivedMs);
  const ranges = boot === null ? [] : toRanges(events.map((event) => event.seq));
  return { device, boot, events: stored, projection, ranges, receivedMs };
}

/** Retention removes nothing younger than a day (see `retention.ts`); before that no event can have been removed. */
const oldMs = 23 * 3_600_000;

function statementsOf(accepted: Accepted): { readonly inserts: Statement[]; readonly present: Statement[] } {
  const { boot, events, projection, ranges, receivedMs } = accepted;
  const { deviceNo } = accepted.device;
  const isOld =
    boot !== null && events.some(({ timestamp }) => timestamp === null || timestamp < receivedMs - oldMs);
  const inserts = (isOld ? insertOldEvents : insertEvents)(events, { deviceNo, boot, receivedMs });
  const present = projectionStatements(deviceNo, projection, receivedMs);
  if (boot === null) return { inserts, present };
  const advances = ranges.map(([from, to]) => advanceBoot({ deviceNo, boot, from, to, isOld }));
  return { inserts, present: [...present, insertBoot(deviceNo, boot, receivedMs), ...advances] };
}

interface Fresh {
  readonly events: readonly FleetEvent[];
  readonly eventNos: readonly number[];
}

/** The events that were not there before; of two with one number in a payload the first one counts. */
function freshOf(accepted: Accepted, inserted: readonly WriteResult[]): Fresh {
  const numbers = new Map(
    inserted.flatMap(({ rows }) => rows.map((row) => [numberOf(row, 'seq'), numberOf(row, 'event_no')])),
  );
  const events: FleetEvent[] = [];
  const eventNos: number[] = [];
  for (const event of accepted.events) {
    const eventNo = numbers.get(event.seq);
    if (eventNo === undefined) continue;
    numbers.delete(event.seq);
    events.push(event);
    eventNos.push(eventNo);
  }
  return { events, eventNos };
}

function ackOf(accepted: Accepted, results: readonly WriteResult[]): Ack | null {
  const row = results.at(-1)?.rows[0];
  if (accepted.boot === null || row === undefined) return null;
  return { boot: accepted.boot, upTo: numberOf(row, 'up_to'), ranges: accepted.ranges };
}

/** Builds the ingest side of the broker over a group commit that others may share. */
export function createIngest(options: IngestOptions): Ingest {
  const { db, commits, clock, log, onCommitted } = options;
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

  const publish = (accepted: Accepted, fresh: Fresh): void => {
    const { device, boot, projection, receivedMs } = accepted;
    if (projection.futureCount > 0) {
      const { accountID, deviceID } = device;
      log.warn('event time ahead of the clock', { accountID, deviceID, count: projection.futureCount });
    }
    try {
      onCommitted({ device, boot, fresh: fresh.events, eventNos: fresh.eventNos, receivedMs, projection });
    } catch (thrown) {
      // The events are stored; whoever listens must not be able to hold up the acknowledgement.
      log.error('listener failed', { reason: messageOf(thrown) });
    }
  };

  const store = async ({ also, ...accepted }: Submitted, payload: Uint8Array): Promise<Outcome> => {
    // The inserts stand before the rest: the boot's statements look at the events, those of the caller at what was there.
    const { inserts, present } = statementsOf(accepted);
    let results: readonly WriteResult[];
    try {
      results = await commits.write([...also, ...inserts, ...present]);
    } catch (thrown) {
      if (!isDataFault(thrown)) throw thrown;
      // Only this payload cannot be stored: its device is gone, or the database finds fault with its values.
      if (!(await deviceExists(db, accepted.device.deviceNo))) return { kind: 'gone' };
      return quarantine(accepted.device, { verb: 'events', payload, reason: messageOf(thrown) });
    }
    const fresh = freshOf(accepted, results.slice(also.length, also.length + inserts.length));
    counts.events += fresh.events.length;
    counts.duplicates += accepted.events.length - fresh.events.length;
    publish(accepted, fresh);
    return { kind: 'stored', fresh: fresh.events, ack: ackOf(accepted, results) };
  };

  const tracked = async (work: () => Promise<Outcome>): Promise<Outcome> => {
    if (isClosed) throw new AppError('unavailable', 'the broker is stopping');
    counts.payloads += 1;
    const outcome = work();
    open.add(outcome);
    try {
      return await outcome;
    } catch (thrown) {
      counts.failures += 1;
      throw thrown;
    } finally {
      open.delete(outcome);
    }
  };

  return {
    submit: (device, payload, also = []) =>
      tracked(() => {
        const decoded = decodeEvents(payload);
        if (!decoded.ok) return quarantine(device, { verb: 'events', payload, reason: decoded.reason });
        return store({ ...accept(device, decoded.batch, Math.round(clock.utcMs())), also }, payload);
      }),
    quarantine: (device, unreadable) => tracked(() => quarantine(device, unreadable)),
    counts: () => ({ ...counts }),
    async close() {
      isClosed = true;
      await Promise.allSettled(open);
    },
  };
}
