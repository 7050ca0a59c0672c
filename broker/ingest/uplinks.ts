// What becomes of a publish of a device: events to the ingest, a hello to the ledger and all who wait for one, a presence to
// the record. It must never answer that anything is stored before it is.
import { AppError, messageOf } from '../../src/core/errors.ts';
import { type Ack, decodeHello, encodeJsonMessage } from '../../src/core/wire.ts';
import type { Clock, Log } from '../../src/ports.ts';
import type { CommandLedger } from '../commands/commands.ts';
import type { RequestDesk } from '../commands/device-requests.ts';
import type { MqttServer, Uplink } from '../mqtt-server.ts';
import type { ConfigRollout } from '../rollout/config-rollout.ts';
import type { DeviceRef } from '../store/devices.ts';
import { setHeartbeat } from '../store/projections.ts';
import type { Taker } from './commit-draft.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Ingest, Outcome } from './ingest.ts';
import type { PatientWork, StorePatience } from './store-patience.ts';
import { answerBy, type UplinkAnswer } from './uplink-answer.ts';

/** What publishes go to. */
export interface UplinkParts {
  readonly options: { readonly clock: Clock; readonly log: Log };
  readonly commits: GroupCommit;
  readonly patience: StorePatience;
  readonly ingest: Ingest;
  readonly ledger: CommandLedger;
  readonly rollout: ConfigRollout;
  readonly requests: RequestDesk;
  /** For what goes back to the device. */
  readonly mqtt: MqttServer | null;
  /**
   * False when the connection that this stands for has ended, or a newer one has taken its place. Behind a cluster always true:
   * there the turns say who has spoken last.
   */
  readonly isPresent: (device: DeviceRef) => boolean;
}

/** Bytes of a presence. */
const presenceMost = 64;

const gone = (): AppError => new AppError('not_found', 'the device was deleted');

/** A payload of events: handed to the ingest, once more when the store failed, and answered. One object for all of it. */
class EventsUplink implements PatientWork, Taker<Outcome> {
  readonly #parts: UplinkParts;
  readonly #device: DeviceRef;
  readonly #payload: Uint8Array;
  #answer: UplinkAnswer | null = null;

  constructor(parts: UplinkParts, device: DeviceRef, payload: Uint8Array) {
    this.#parts = parts;
    this.#device = device;
    this.#payload = payload;
  }

  begin(answer: UplinkAnswer): void {
    this.#answer = answer;
    this.#parts.ingest.take(this.#device, this.#payload, this);
  }

  done(outcome: Outcome): void {
    if (outcome.kind === 'gone') return this.fail(gone());
    if (outcome.kind === 'stored' && outcome.ack !== null) this.#acknowledge(outcome.ack);
    this.#answer?.stored();
  }

  fail(thrown: unknown): void {
    this.#answer?.refused(thrown);
  }

  #acknowledge(ack: Ack): void {
    const { mqtt, options } = this.#parts;
    if (mqtt?.listens(this.#device, 'ack') !== true) return;
    // Not awaited: the PUBACK does not wait for a client that is slow to read its `ack` topic.
    const message = { verb: 'ack', payload: encodeJsonMessage(ack), qos: 0 } as const;
    mqtt.publish(this.#device, message).catch((thrown: unknown) => {
      options.log.debug('ack not sent', { reason: messageOf(thrown) });
    });
  }
}

async function takeHello(parts: UplinkParts, device: DeviceRef, { payload, turn }: Uplink): Promise<void> {
  const hello = decodeHello(payload);
  if (hello !== null) {
    // It may have waited for the store for longer than its connection lived: who has gone is not there, and the boot that
    // counts is that of the newest connection.
    if (!parts.isPresent(device)) return;
    if (!(await parts.ledger.onHello(device, hello, turn))) return;
    await parts.requests.onHello(device, hello);
    if (!parts.isPresent(device)) return;
    return parts.rollout.onHello(device, hello);
  }
  const outcome = await parts.ingest.quarantine(device, { verb: 'hello', payload, reason: 'not a hello' });
  if (outcome.kind === 'gone') throw gone();
}

async function takePresence(parts: UplinkParts, device: DeviceRef, { payload, turn }: Uplink): Promise<void> {
  const text = payload.length > presenceMost ? '' : new TextDecoder().decode(payload);
  if (text === 'offline') {
    if (!parts.isPresent(device)) return;
    parts.rollout.onOffline(device);
    return parts.ledger.onOffline(device, turn);
  }
  if (text === 'online') {
    await parts.commits.write([setHeartbeat(device.deviceNo, Math.round(parts.options.clock.utcMs()))]);
    return;
  }
  const reason = 'presence is neither online nor offline';
  const outcome = await parts.ingest.quarantine(device, { verb: 'presence', payload, reason });
  if (outcome.kind === 'gone') throw gone();
}

/** Takes a publish of a device. */
export function takeUplink(
  parts: UplinkParts,
  device: DeviceRef,
  message: Uplink,
  answer: UplinkAnswer,
): void {
  const { patience } = parts;
  switch (message.verb) {
    case 'events':
      return patience.take(new EventsUplink(parts, device, message.payload), answer);
    case 'hello':
      return patience.take(
        { begin: (told) => answerBy(told, () => takeHello(parts, device, message)) },
        answer,
      );
    case 'presence':
      return patience.take(
        { begin: (told) => answerBy(told, () => takePresence(parts, device, message)) },
        answer,
      );
  }
}
