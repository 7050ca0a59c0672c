// Steps of a payload of events: decode, quarantine or accept, plan, commit, acknowledge. The order is the guarantee: it must never complete a payload
// before it is on disk, and never lose an unreadable one. Each step calls the next one. There is one object per payload and no promise, because
// thousands wait at a time.
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { EventBatch, FleetEvent } from '../../src/core/events/event.ts';
import type { RejectedEvents } from '../../src/core/events/rejected-events.ts';
import { decodeEvents, isRandomBoot, toRanges } from '../../src/core/wire/wire.ts';
import type { Statement } from '../../src/ports.ts';
import type { Completion } from '../core/completion.ts';
import type { DeviceRef } from '../core/device-key.ts';
import { type Projection, projectBatch } from '../core/events/projection.ts';
import { isDataFault } from '../core/store-faults.ts';
import type { Committed } from '../ports/committed.ts';
import type { Planner } from '../scheduling/commit-draft.ts';
import { bareKey } from '../store/events/event-insert.ts';
import type { DecodedPayload, EventOutcome } from './event-plan.ts';
import type { Outcome } from './open-payloads.ts';
import { ignoreIfDeleted, keepUnreadable, type QuarantineDeps, quarantine } from './payload-quarantine.ts';

export interface PipelineDeps extends QuarantineDeps {
  readonly planner: Planner<DecodedPayload, EventOutcome>;
  /** Called after the commit and before the payload is answered; must not throw. */
  readonly onCommitted: (committed: Committed) => void;
}

/** A bare event that another server sent. */
export interface Forwarded {
  /** 16 hexadecimal digits: of two events of one device, time and status code with the same key the second is a repeat. */
  readonly key: string;
  /** False: it was fetched later, and is no sign of life. */
  readonly isContact: boolean;
}

export interface Submitted {
  readonly device: DeviceRef;
  readonly payload: Uint8Array;
  /** Statements of the same batch, for a record that a person made. */
  readonly also: readonly Statement[];
  readonly forwarded?: Forwarded | undefined;
}

/** Runs all steps; completes in order of arrival, once the events are durable. @returns the number of events in it. */
export function storePayload(
  deps: PipelineDeps,
  submitted: Submitted,
  completion: Completion<Outcome>,
): number {
  if (!deps.open.begin(completion)) return 0;
  const decoded = decodeEvents(submitted.payload);
  if (!decoded.ok) {
    quarantineEvents(deps, submitted, { reason: decoded.reason, completion });
    return 0;
  }
  const accepted = accept(deps, { submitted, completion }, decoded.batch);
  if (accepted === null) return 0;
  // Both are in progress at once; readable events are stored even if there is no space for the rest.
  if (decoded.rejected !== undefined) accepted.keepRejected(decoded.rejected);
  planAndCommit(deps, accepted);
  // The commit completes `accepted`, which publishes the events and acknowledges the payload.
  return accepted.events.length;
}

function quarantineEvents(
  deps: PipelineDeps,
  { device, payload }: Submitted,
  { reason, completion }: { readonly reason: string; readonly completion: Completion<Outcome> },
): void {
  quarantine(deps, device, { verb: 'events', payload, reason }, completion);
}

/** Null: it failed, and is completed. */
function accept(deps: PipelineDeps, given: Given, batch: EventBatch): AcceptedPayload | null {
  try {
    return new AcceptedPayload(deps, given, batch);
  } catch (thrown) {
    // Only a bug gets here; the payload must still be completed.
    deps.open.fail(given.completion, thrown);
    return null;
  }
}

/** Estimated number of values per payload: columns of an event, and columns of its device and states. */
const valuesOfEvent = 25;
const valuesOfDevice = 40;

/** The planner makes the statements when a commit is due, for all payloads in it. */
function planAndCommit({ commits, planner }: PipelineDeps, accepted: AcceptedPayload): void {
  const size = accepted.events.length * valuesOfEvent + valuesOfDevice;
  commits.plan({ planner, item: accepted, size, isAlone: accepted.also.length > 0 }, accepted);
}

interface Given {
  readonly submitted: Submitted;
  readonly completion: Completion<Outcome>;
}

/** A payload on its way to the disk. Bare events already carry the boot and seq that represent them. */
class AcceptedPayload implements DecodedPayload, Completion<EventOutcome> {
  readonly #deps: PipelineDeps;
  readonly #submitted: Submitted;
  readonly #completion: Completion<Outcome>;
  /** The unreadable events are being stored; the commits received them first. */
  #isKeeping = false;
  /** Reason why they could not be stored; null: they are stored, or there are none. */
  #refusal: unknown = null;
  readonly boot: string | null;
  readonly isRandomBoot: boolean;
  readonly events: readonly FleetEvent[];
  readonly ranges: DecodedPayload['ranges'];
  readonly projection: Projection;
  readonly receivedMs: number;

  constructor(deps: PipelineDeps, given: Given, { boot, events }: EventBatch) {
    this.#deps = deps;
    this.#submitted = given.submitted;
    this.#completion = given.completion;
    this.receivedMs = Math.round(deps.clock.utcMs());
    const [first] = events;
    const bare = boot === null && first !== undefined ? bareKey(first, this.receivedMs, this.key) : null;
    this.boot = boot;
    this.isRandomBoot = boot !== null && isRandomBoot(given.submitted.payload, boot);
    this.events = bare === null ? events : events.map((event) => ({ ...event, seq: bare.seq }));
    const stored = { boot: boot ?? bare?.boot ?? '', events: this.events };
    this.projection = projectBatch(stored, this.receivedMs);
    this.ranges = boot === null ? [] : toRanges(events.map((event) => event.seq));
  }

  /** Stores the unreadable events; the payload is not acknowledged before. */
  keepRejected({ payload, reason }: RejectedEvents): void {
    const { device, payload: whole } = this.#submitted;
    this.#isKeeping = true;
    keepUnreadable(
      this.#deps,
      device,
      { verb: 'events', payload: payload ?? whole, reason },
      {
        done: () => void (this.#isKeeping = false),
        fail: (thrown) => {
          this.#isKeeping = false;
          this.#refusal = thrown;
        },
      },
    );
  }

  get deviceNo(): number {
    return this.#submitted.device.deviceNo;
  }

  get key(): string | undefined {
    return this.#submitted.forwarded?.key;
  }

  get lastContactMs(): number {
    const { also, forwarded } = this.#submitted;
    return also.length > 0 || forwarded?.isContact === false ? 0 : this.receivedMs;
  }

  get also(): readonly Statement[] {
    return this.#submitted.also;
  }

  /** The commit is durable. */
  done(outcome: EventOutcome): void {
    if (outcome.kind === 'gone') return this.#deps.open.done(this.#completion, outcome);
    this.#publish(outcome);
    // The unreadable events were completed before, because completion is in order of arrival.
    if (this.#refusal === null && !this.#isKeeping) this.#acknowledge(outcome);
    else
      this.#deps.open.fail(
        this.#completion,
        this.#refusal ?? new AppError('storage', 'events are not kept yet'),
      );
  }

  /** Nothing of it was written. */
  fail(thrown: unknown): void {
    const deps = this.#deps;
    const completion = this.#completion;
    if (!isDataFault(thrown)) return deps.open.fail(completion, thrown);
    // Only this payload cannot be stored: its device was deleted, or the database rejects its values.
    const submitted = this.#submitted;
    const goOn = (): void => quarantineEvents(deps, submitted, { reason: messageOf(thrown), completion });
    void ignoreIfDeleted(deps, submitted.device, { completion, goOn });
  }

  #publish(outcome: Extract<EventOutcome, { readonly kind: 'stored' }>): void {
    const { log, onCommitted, open } = this.#deps;
    const { boot, receivedMs } = this;
    const { device } = this.#submitted;
    const { fresh, eventNos, boots, projection, reused } = outcome;
    open.counts.events += fresh.length;
    open.counts.duplicates += this.events.length - fresh.length;
    open.counts.reused += reused;
    if (reused > 0) {
      const { accountID, deviceID } = device;
      log.warn('event_numbers_reused', { accountID, deviceID, boot: boot ?? '', count: reused });
    }
    if (projection.futureCount > 0) {
      const { accountID, deviceID } = device;
      log.warn('event_time_ahead', { accountID, deviceID, count: projection.futureCount });
    }
    try {
      onCommitted({ device, boot, fresh, eventNos, boots, receivedMs, projection });
    } catch (thrown) {
      // The events are stored; a listener must not delay the acknowledgement.
      log.error('commit_listener_failed', { reason: messageOf(thrown) });
    }
  }

  #acknowledge({ fresh, upTo }: Extract<EventOutcome, { readonly kind: 'stored' }>): void {
    const { boot, ranges } = this;
    const ack = boot === null ? null : { boot, upTo, ranges };
    this.#deps.open.done(this.#completion, { kind: 'stored', fresh, ack });
  }
}
