// The far end of MQTT on a virtual clock: the broker's real ingest and command ledger over a real SQLite, and a network
// in memory that delays, breaks and goes half-open as told. Only the MQTT packets themselves are left out.
import { type CommandLedger, createCommandLedger } from '../../../broker/commands/commands.ts';
import { createDeviceRequests, type DeviceRequests } from '../../../broker/commands/device-requests.ts';
import type { DeviceRef } from '../../../broker/core/device-key.ts';
import { createIngest, type Ingest } from '../../../broker/ingest/ingest.ts';
import type { Downlink } from '../../../broker/ports/mqtt-server.ts';
import { type ConfigRollout, createConfigRollout } from '../../../broker/rollout/config-rollout.ts';
import { encodeZones } from '../../../broker/rollout/config-zones.ts';
import { createGroupCommit } from '../../../broker/scheduling/group-commit.ts';
import type { SeededEntropy } from '../../../simulator/core/random.ts';
import { createSigner, createVerifier, generateSigningKey } from '../../../src/adapters/signing.ts';
import { formatTopic, shortEventsTopic } from '../../../src/core/wire/topics.ts';
import { decodeHello, encodeJsonMessage } from '../../../src/core/wire/wire.ts';
import type {
  Clock,
  Database,
  Log,
  MqttLink,
  MqttMessage,
  OpenMqttLink,
  Verifier,
} from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { addDevice, jsonBytes, openBenchDatabase } from '../broker/broker-bench.ts';
import { type Life, mortalClock } from './virtual-disk.ts';

export interface Network {
  isUp: boolean;
  /** What is sent either way vanishes, and nobody is told. */
  isHalfOpen: boolean;
  latencyMs: number;
  /** Acknowledgements of events get lost, and nothing else. */
  isAckLost: boolean;
}

export interface VirtualBroker {
  readonly db: Database;
  readonly network: Network;
  readonly openMqttLink: OpenMqttLink;
  readonly verifier: Verifier;
  /** Null while the broker is dead. */
  ledger(): CommandLedger | null;
  requests(): DeviceRequests | null;
  kill(): void;
  start(): void;
  /** Breaks the connection as a lost carrier does. */
  cut(reason: string): void;
  /** Sends what an attacker with the broker's signing key made; false: the vehicle is not connected. */
  forge(type: string, body: object): boolean;
  /** Sends an old signed envelope once more, as somebody in the middle could. */
  replay(): void;
  close(): Promise<void>;
}

interface Connection {
  isOpen: boolean;
  readonly topics: Set<string>;
  /** Sends to the vehicle. */
  toVehicle(message: MqttMessage): void;
  end(reason: string): void;
}

interface Process {
  readonly life: Life;
  readonly ingest: Ingest;
  readonly ledger: CommandLedger;
  readonly rollout: ConfigRollout;
  readonly requests: DeviceRequests;
}

const keepaliveMost = 1.5;
const envelopesKept = 50;

/** One direction of a connection: in order, each message a little later than it was sent. */
function createLane(clock: Clock, entropy: SeededEntropy, network: Network) {
  let dueMs = 0;
  return (run: () => void): void => {
    if (network.isHalfOpen) return;
    dueMs = Math.max(dueMs, clock.monoMs() + network.latencyMs * (0.5 + entropy.fraction()));
    clock.after(dueMs - clock.monoMs(), run);
  };
}

export async function createVirtualBroker(options: {
  readonly clock: Clock;
  readonly entropy: SeededEntropy;
  readonly log: Log;
}): Promise<VirtualBroker> {
  const { clock, entropy, log } = options;
  const db = await openBenchDatabase();
  // Chaos asks for far more cuts than people do; what stands against too many has tests of its own.
  await db.write([sql`UPDATE accounts SET cuts_per_hour = 1000000`]);
  const device: DeviceRef = await addDevice(db, 'acme', 'truck-1');
  const key = generateSigningKey();
  const signer = createSigner(key.privatePem);
  const network: Network = { isUp: true, isHalfOpen: false, latencyMs: 20, isAckLost: false };
  const envelopes: MqttMessage[] = [];
  let connection: Connection | null = null;
  let server: Process | null = null;

  const publish = async (_device: DeviceRef, message: Downlink): Promise<boolean> => {
    const topic = formatTopic(device, message.verb);
    if (connection === null || !connection.topics.has(topic)) return false;
    if (message.verb === 'ack' && network.isAckLost) return true;
    const sent: MqttMessage = { topic, payload: message.payload, qos: message.qos };
    if (message.verb !== 'welcome' && message.verb !== 'ack')
      envelopes.splice(0, envelopes.push(sent) - envelopesKept);
    connection.toVehicle(sent);
    return true;
  };

  const start = (): void => {
    const life: Life = { isAlive: true };
    const own = mortalClock(clock, life);
    const commits = createGroupCommit({ db, clock: own, log });
    const grouped: Database = { ...db, write: (batch) => commits.write(batch) };
    const guarded = async (of: DeviceRef, message: Downlink): Promise<boolean> =>
      life.isAlive ? publish(of, message) : false;
    const sending = { db: grouped, clock: own, entropy, signer, log, publish: guarded };
    const ledger = createCommandLedger({ ...sending, eventsTopic: shortEventsTopic });
    const requests = createDeviceRequests(sending);
    const ingest = createIngest({
      db,
      commits,
      clock: own,
      log,
      onCommitted(committed) {
        ledger.onCommitted(committed);
        rollout.onCommitted(committed);
      },
    });
    const rollout = createConfigRollout({
      db: grouped,
      clock: own,
      log,
      signer,
      encodeZones,
      lagMs: () => commits.lagMs(),
      publish: guarded,
    });
    server = { life, ingest, ledger, rollout, requests };
  };

  const handleUplink = async (of: Process, message: MqttMessage): Promise<void> => {
    if (message.topic === formatTopic(device, 'events') || message.topic === shortEventsTopic) {
      const outcome = await of.ingest.submit(device, message.payload);
      if (outcome.kind === 'quarantined') throw new Error(`quarantined: ${outcome.reason}`);
      if (outcome.kind !== 'stored' || outcome.ack === null || !of.life.isAlive) return;
      await publish(device, { verb: 'ack', payload: encodeJsonMessage(outcome.ack), qos: 0 });
    } else if (message.topic === formatTopic(device, 'hello')) {
      const hello = decodeHello(message.payload);
      if (hello === null) return;
      await of.ledger.onHello(device, hello);
      await of.requests.onHello(device, hello);
      of.rollout.onHello(device, hello);
    }
  };

  const dropConnection = (reason: string): void => {
    const last = connection;
    connection = null;
    if (last === null) return;
    last.end(reason);
    if (server?.life.isAlive !== true) return;
    server.rollout.onOffline(device);
    void server.ledger.onOffline(device).catch(() => undefined);
  };

  const openMqttLink: OpenMqttLink = (linkOptions, handlers): MqttLink => {
    let phase: 'connecting' | 'open' | 'down' = 'connecting';
    let silentMs = 0;
    const up = createLane(clock, entropy, network);
    const down = createLane(clock, entropy, network);
    const end = (reason: string): void => {
      if (phase === 'down') return;
      phase = 'down';
      mine.isOpen = false;
      handlers.onDown(reason);
    };
    const mine: Connection = {
      isOpen: true,
      topics: new Set(),
      toVehicle: (message) =>
        down(() => {
          if (phase === 'open') handlers.onMessage(message, () => undefined);
        }),
      end,
    };
    // The keep-alive of mqtt.js and of the broker: silence ends the connection at both ends.
    const watch = (): void => {
      if (phase !== 'open') return;
      silentMs = network.isHalfOpen ? silentMs + 1000 : 0;
      if (silentMs < linkOptions.keepaliveS * 1000 * keepaliveMost) return void clock.after(1000, watch);
      if (connection === mine) dropConnection('keep-alive time-out');
      end('keep-alive time-out');
    };
    clock.after(network.latencyMs, () => {
      if (phase !== 'connecting') return;
      if (!network.isUp || network.isHalfOpen || server?.life.isAlive !== true) {
        clock.after(1000, () => end('connection refused'));
        return;
      }
      dropConnection('taken over');
      connection = mine;
      phase = 'open';
      watch();
      handlers.onUp();
    });
    return {
      publish(message) {
        if (phase === 'open') {
          up(() => {
            const of = server;
            if (connection !== mine || of === null || !of.life.isAlive) return;
            handleUplink(of, message).catch((thrown: unknown) => {
              log.warn('connection ended by the broker', { reason: String(thrown) });
              if (connection === mine) dropConnection('refused by the broker');
            });
          });
        }
        return new Promise(() => undefined);
      },
      subscribe: (topics) =>
        new Promise((resolve) => {
          if (phase !== 'open') return;
          up(() => {
            for (const topic of topics) mine.topics.add(topic);
            down(resolve);
          });
        }),
      async close() {
        phase = 'down';
        if (connection === mine) dropConnection('closed');
      },
      destroy(reason) {
        if (connection === mine) dropConnection(reason);
        end(reason);
      },
    };
  };

  start();
  return {
    db,
    network,
    openMqttLink,
    verifier: createVerifier(key.publicKey),
    ledger: () => (server?.life.isAlive === true ? server.ledger : null),
    requests: () => (server?.life.isAlive === true ? server.requests : null),
    kill() {
      if (server !== null) server.life.isAlive = false;
      server = null;
      const last = connection;
      connection = null;
      last?.end('connection reset');
    },
    start,
    cut: dropConnection,
    forge(type, body) {
      const payload = new TextEncoder().encode(signer.sign(jsonBytes(body), type));
      connection?.toVehicle({ topic: formatTopic(device, 'commands'), payload, qos: 1 });
      return connection !== null;
    },
    replay() {
      const old = envelopes[entropy.integer(0, Math.max(0, envelopes.length - 1))];
      if (old !== undefined) connection?.toVehicle(old);
    },
    async close() {
      if (server !== null) server.life.isAlive = false;
      await db.close();
    },
  };
}
