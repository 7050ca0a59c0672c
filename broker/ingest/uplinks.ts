// Routes a publish of a device by its topic: events to the ingest, a hello to the ledger and the services that send on hello, a presence to the
// record. It must never complete a publish before it is stored.
import { AppError, messageOf } from '../../src/core/errors.ts';
import { type Ack, decodeHello, encodeJsonMessage, type Hello } from '../../src/core/wire/wire.ts';
import type { Clock, Log } from '../../src/ports.ts';
import { type Completion, completeWith } from '../core/completion.ts';
import type { DeviceRef } from '../core/device-key.ts';
import type { MqttServer, Uplink } from '../ports/mqtt-server.ts';
import type { GroupCommit } from '../scheduling/group-commit.ts';
import type { RetriableWork, StoreRetry } from '../scheduling/store-retry.ts';
import { markPresent } from '../store/devices/tracker-presence.ts';
import { setHeartbeat } from '../store/events/projections.ts';
import type { EventLimiter } from './event-limiter.ts';
import type { Ingest } from './ingest.ts';
import type { Outcome } from './open-payloads.ts';

/** Records whether a device is connected, and with which boot. */
interface PresenceRecord {
  /** Records a hello; false: a newer connection has said hello since. */
  onHello(device: DeviceRef, hello: Hello, turn?: number): Promise<boolean>;
  onOffline(device: DeviceRef, turn?: number): Promise<void>;
}

/** Sends pending items to a device when it says hello. */
interface HelloHandler {
  onHello(device: DeviceRef, hello: Hello): Promise<void>;
}

/** Observes connections without writing to the database. */
interface ConnectionObserver {
  onHello(device: DeviceRef, hello: Hello): void;
  onOffline(device: DeviceRef): void;
}

/** Services that receive publishes. */
export interface UplinkDeps {
  readonly options: { readonly clock: Clock; readonly log: Log };
  readonly commits: GroupCommit;
  readonly storeRetry: StoreRetry;
  readonly ingest: Ingest;
  /** Null: devices have no limits. */
  readonly limiter: Pick<EventLimiter, 'charge'> | null;
  readonly ledger: PresenceRecord;
  readonly rollout: ConnectionObserver;
  readonly zones: Pick<ConnectionObserver, 'onHello'>;
  readonly requests: HelloHandler;
  /** Used for answers to the device. */
  readonly mqtt: MqttServer | null;
  /**
   * False when the connection has ended, or a newer one has replaced it. Always true behind a cluster, where the turns decide which message is
   * newest.
   */
  readonly isPresent: (device: DeviceRef) => boolean;
}

/** Maximum size of a presence, bytes. */
const presenceBytesMost = 64;

const deviceDeleted = (): AppError => new AppError('not_found', 'the device was deleted');

/** A payload of events for the ingest, submitted again when the store failed. One object for all attempts. */
class EventsUplink implements RetriableWork, Completion<Outcome> {
  readonly #deps: UplinkDeps;
  readonly #device: DeviceRef;
  readonly #payload: Uint8Array;
  #completion: Completion | null = null;
  #isCharged = false;

  constructor(deps: UplinkDeps, device: DeviceRef, payload: Uint8Array) {
    this.#deps = deps;
    this.#device = device;
    this.#payload = payload;
  }

  begin(completion: Completion): void {
    this.#completion = completion;
    const events = this.#deps.ingest.take(this.#device, this.#payload, this);
    // A repeated attempt is not charged again.
    if (this.#isCharged) return;
    this.#isCharged = true;
    this.#deps.limiter?.charge(this.#device, { verb: 'events', payload: this.#payload }, events);
  }

  done(outcome: Outcome): void {
    if (outcome.kind === 'gone') return this.fail(deviceDeleted());
    if (outcome.kind === 'stored' && outcome.ack !== null) this.#acknowledge(outcome.ack);
    this.#completion?.done();
  }

  fail(thrown: unknown): void {
    this.#completion?.fail(thrown);
  }

  #acknowledge(ack: Ack): void {
    const { mqtt, options } = this.#deps;
    if (mqtt?.listens(this.#device, 'ack') !== true) return;
    // Not awaited: the PUBACK does not wait for a client that reads its `ack` topic slowly.
    const message = { verb: 'ack', payload: encodeJsonMessage(ack), qos: 0 } as const;
    mqtt.publish(this.#device, message).catch((thrown: unknown) => {
      options.log.debug('ack_not_sent', { reason: messageOf(thrown) });
    });
  }
}

async function handleHello(deps: UplinkDeps, device: DeviceRef, { payload, turn }: Uplink): Promise<void> {
  const hello = decodeHello(payload);
  if (hello !== null) {
    // Ignores a hello whose connection has closed while it waited for the store: the boot of the newest connection counts.
    if (!deps.isPresent(device)) return;
    if (!(await deps.ledger.onHello(device, hello, turn))) return;
    deps.zones.onHello(device, hello);
    await deps.requests.onHello(device, hello);
    if (!deps.isPresent(device)) return;
    return deps.rollout.onHello(device, hello);
  }
  const outcome = await deps.ingest.quarantine(device, { verb: 'hello', payload, reason: 'not a hello' });
  if (outcome.kind === 'gone') throw deviceDeleted();
}

async function handlePresence(deps: UplinkDeps, device: DeviceRef, { payload, turn }: Uplink): Promise<void> {
  const text = payload.length > presenceBytesMost ? '' : new TextDecoder().decode(payload);
  if (text === 'offline') {
    if (!deps.isPresent(device)) return;
    deps.rollout.onOffline(device);
    return deps.ledger.onOffline(device, turn);
  }
  if (text === 'online') {
    const { deviceNo } = device;
    const lastContactMs = Math.round(deps.options.clock.utcMs());
    await deps.commits.write([
      setHeartbeat(deviceNo, lastContactMs),
      markPresent([{ deviceNo, lastContactMs }]),
    ]);
    return;
  }
  const reason = 'presence is neither online nor offline';
  const outcome = await deps.ingest.quarantine(device, { verb: 'presence', payload, reason });
  if (outcome.kind === 'gone') throw deviceDeleted();
}

export function handleUplink(
  deps: UplinkDeps,
  device: DeviceRef,
  message: Uplink,
  completion: Completion,
): void {
  const { storeRetry, limiter } = deps;
  if (message.verb !== 'events') limiter?.charge(device, message, 0);
  switch (message.verb) {
    case 'events':
      return storeRetry.run(new EventsUplink(deps, device, message.payload), completion);
    case 'hello':
      return storeRetry.run(
        { begin: (one) => completeWith(one, () => handleHello(deps, device, message)) },
        completion,
      );
    case 'presence':
      return storeRetry.run(
        { begin: (one) => completeWith(one, () => handlePresence(deps, device, message)) },
        completion,
      );
  }
}
