// A whole broker with HTTP and MQTT on loopback, and a fault in front of its ingest that a customer would never see coming: it is there to
// be found out by the simulator's truth check. The broker's own code is untouched; the fault sits between it and the network.
import { createAccount } from '../../../broker/accounts/administration.ts';
import { createHttpServer } from '../../../broker/adapters/http/fastify.ts';
import { createMqttServer } from '../../../broker/adapters/mqtt/aedes.ts';
import { createPasswords } from '../../../broker/adapters/passwords.ts';
import { createBroker } from '../../../broker/broker.ts';
import type { DeviceRef } from '../../../broker/core/device-key.ts';
import { operations } from '../../../broker/operations.ts';
import type { Downlink, MqttServer, Uplink } from '../../../broker/ports/mqtt-server.ts';
import { createServices } from '../../../broker/services.ts';
import type { Target } from '../../../simulator/run/service/broker-access.ts';
import { openSqlite } from '../../../src/adapters/database/sqlite.ts';
import { createEnrolmentCrypto } from '../../../src/adapters/enrolment-crypto.ts';
import { personsCrypto } from '../../../src/adapters/persons-crypto.ts';
import { createSigner, createVerifier, generateSigningKey } from '../../../src/adapters/signing.ts';
import { createSystemClock, createSystemEntropy } from '../../../src/adapters/system.ts';
import type { FleetEvent } from '../../../src/core/events/event.ts';
import { encodeProtobuf } from '../../../src/core/events/event-protobuf.ts';
import {
  type Ack,
  decodeAck,
  decodeCommand,
  decodeEvents,
  encodeJsonMessage,
  signedTypes,
  toRanges,
} from '../../../src/core/wire/wire.ts';
import type { Database, Log } from '../../../src/ports.ts';
import { createOfflineSenders } from './senders.ts';
import { type HandleUplink, handleUplinkOf, onUplinkOf } from './uplinks.ts';

interface Inner {
  readonly onUplink: HandleUplink;
}
type Publish = MqttServer['publish'];

/** A fault in front of the ingest. What it does is kept in `done`, to be compared with what is found. */
export interface BrokerFault {
  /** `<deviceID> <boot>:<seq>`, or `<deviceID> <commandID>`. */
  readonly done: string[];
  onUplink(device: DeviceRef, message: Uplink, inner: Inner & { readonly publish: Publish }): Promise<void>;
  publish(device: DeviceRef, message: Downlink, publish: Publish): Promise<boolean>;
}

const named = (device: DeviceRef, boot: string, seq: number): string => `${device.deviceID} ${boot}:${seq}`;

/** Every `n`th event is acknowledged and never stored; one that is sent again has the fate of its first time. */
export function dropsOneIn(n: number): BrokerFault {
  const done: string[] = [];
  const isDropped = new Map<string, boolean>();
  const lost = new Map<string, number[]>();
  return {
    done,
    async onUplink(device, message, { onUplink, publish }) {
      const decoded = message.verb === 'events' ? decodeEvents(message.payload) : { ok: false as const };
      if (!decoded.ok || decoded.batch.boot === null) return onUplink(device, message);
      const { boot } = decoded.batch;
      const kept: FleetEvent[] = [];
      for (const event of decoded.batch.events) {
        const name = named(device, boot, event.seq);
        if (!isDropped.has(name)) {
          isDropped.set(name, (isDropped.size + 1) % n === 0);
          if (isDropped.get(name) === true) done.push(name);
        }
        if (isDropped.get(name) === false) {
          kept.push(event);
          continue;
        }
        const boots = `${device.deviceID} ${boot}`;
        lost.set(boots, [...(lost.get(boots) ?? []), event.seq]);
      }
      if (kept.length > 0)
        return onUplink(device, { verb: 'events', payload: encodeProtobuf(boot, kept).payload });
      const ack: Ack = { boot, upTo: 0, ranges: toRanges(decoded.batch.events.map(({ seq }) => seq)) };
      await publish(device, { verb: 'ack', payload: encodeJsonMessage(ack), qos: 0 });
    },
    publish(device, message, publish) {
      const ack = message.verb === 'ack' ? decodeAck(message.payload) : null;
      const seqs = ack === null ? undefined : lost.get(`${device.deviceID} ${ack.boot}`);
      if (ack === null || seqs === undefined) return publish(device, message);
      const ranges = [...ack.ranges, ...seqs.map((seq) => [seq, seq] as const)];
      return publish(device, { ...message, payload: encodeJsonMessage({ ...ack, ranges }) });
    },
  };
}

export interface EarlyAck extends BrokerFault {
  /** Payloads that wait for the disk now. */
  waits(): number;
  /** What waits for the disk is gone, as with kill -9. */
  crash(): void;
}

/** PUBACK and acknowledgement leave at once; what they stand for is written `laterMs` later, unless the broker dies before. */
export function acknowledgesBeforeCommit(laterMs: number): EarlyAck {
  const done: string[] = [];
  const waiting = new Map<NodeJS.Timeout, readonly string[]>();
  return {
    done,
    async onUplink(device, message, { onUplink, publish }) {
      const decoded = message.verb === 'events' ? decodeEvents(message.payload) : { ok: false as const };
      if (!decoded.ok || decoded.batch.boot === null) return onUplink(device, message);
      const { boot, events } = decoded.batch;
      const ack: Ack = { boot, upTo: 0, ranges: toRanges(events.map(({ seq }) => seq)) };
      void publish(device, { verb: 'ack', payload: encodeJsonMessage(ack), qos: 0 });
      const timer = setTimeout(() => {
        waiting.delete(timer);
        // Those that are still to come when the broker stops are lost too.
        onUplink(device, message).catch(() => undefined);
      }, laterMs);
      waiting.set(
        timer,
        events.map(({ seq }) => named(device, boot, seq)),
      );
    },
    publish: (device, message, publish) => publish(device, message),
    waits: () => waiting.size,
    crash() {
      for (const [timer, names] of waiting) {
        clearTimeout(timer);
        done.push(...names);
      }
      waiting.clear();
    },
  };
}

/** Every command of state 1 is given once more, signed and with a counter of its own, after `laterMs`. */
export function executesTwice(
  laterMs: number,
): (key: { privatePem: string; publicKey: string }) => BrokerFault {
  return ({ privatePem, publicKey }) => {
    const signer = createSigner(privatePem);
    const verifier = createVerifier(publicKey);
    const done: string[] = [];
    const text = new TextDecoder();
    const sign = (body: object): Uint8Array =>
      new TextEncoder().encode(
        signer.sign(new TextEncoder().encode(JSON.stringify(body)), signedTypes.command),
      );
    let extra = 0;
    return {
      done,
      onUplink: (device, message, { onUplink }) => onUplink(device, message),
      publish(device, message, publish) {
        const signed = message.verb === 'commands' ? text.decode(message.payload) : '';
        const bytes = verifier.verify(signed, signedTypes.command);
        const body = bytes === null ? null : decodeCommand(bytes);
        if (body === null || body.cancel) return publish(device, message);
        // Room between the counters, so that the further one is the newest when it comes.
        const counter = body.counter * 1000;
        if (body.state === '1') {
          const commandID = `${body.commandID.slice(0, 24)}again`;
          done.push(`${device.deviceID} ${commandID}`);
          setTimeout(() => {
            extra += 1;
            const payload = sign({ ...body, commandID, counter: counter + 1500 + extra });
            void publish(device, { ...message, payload });
          }, laterMs);
        }
        return publish(device, { ...message, payload: sign({ ...body, counter }) });
      },
    };
  };
}

/** What a fault may use of the broker that it sits in. */
export interface BrokerInside {
  readonly privatePem: string;
  readonly publicKey: string;
  readonly db: Database;
}

const silent: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silent,
};

export interface FaultyBroker {
  readonly target: Target;
  readonly fault: BrokerFault | null;
  /** Ends every connection, as the end of the process does. */
  dropConnections(): void;
  close(): Promise<void>;
}

/** Starts it; null: a broker without a fault. */
export async function startFaultyBroker(
  makeFault: ((inside: BrokerInside) => BrokerFault) | null,
): Promise<FaultyBroker> {
  const entropy = createSystemEntropy();
  const clock = createSystemClock();
  const key = generateSigningKey();
  const signer = createSigner(key.privatePem);
  const db = openSqlite({ path: ':memory:', pageSize: 4096 });
  const fault = makeFault?.({ ...key, db }) ?? null;
  let server: MqttServer | null = null;
  const broker = await createBroker({
    async openMqttServer(options) {
      if (fault === null) return (server = await createMqttServer(options));
      const inner = await createMqttServer({
        ...options,
        onUplink: onUplinkOf((device, message) =>
          fault.onUplink(device, message, {
            onUplink: handleUplinkOf(options.onUplink),
            publish: inner.publish,
          }),
        ),
      });
      server = inner;
      return {
        ...inner,
        publish: (device, message) => fault.publish(device as DeviceRef, message, inner.publish),
      };
    },
    db,
    clock,
    entropy,
    signer,
    log: silent,
    mqtt: { host: '127.0.0.1', port: 0 },
  });
  const passwords = createPasswords();
  const services = createServices({
    persons: personsCrypto,
    broker: broker.services,
    passwords,
    senders: createOfflineSenders(),
    verifier: createVerifier(key.publicKey),
    firmwareHosts: [],
    enrolment: {
      crypto: createEnrolmentCrypto(entropy),
      authority: null,
      codeHours: 24,
      mqttUrls: [],
      ca: null,
      publicKey: key.publicKey,
    },
  });
  const http = await createHttpServer({
    services: services.api,
    operations,
    version: '0.0.0',
    readiness: async () => [],
  });
  const port = await http.listen({ host: '127.0.0.1', port: 0, setting: 'http' });
  const login = { accountID: 'sim', userID: 'admin', password: 'a long password of a test' };
  await createAccount({ db, clock, entropy, passwords }, login);
  return {
    fault,
    target: {
      http: `http://127.0.0.1:${port}`,
      mqtt: `mqtt://127.0.0.1:${broker.mqttPort}`,
      login,
      publicKey: key.publicKey,
    },
    dropConnections() {
      for (const device of server?.connectedDevices() ?? []) server?.kick(device, 'the broker died');
    },
    async close() {
      await Promise.all([http.close(), services.close()]);
      await broker.close();
    },
  };
}
