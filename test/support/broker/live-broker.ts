// A whole broker in this process on a free loopback port, with a real SQLite whose commits a test can hold back or fail.
import { issueDeviceSecret } from '../../../broker/accounts/issue-device-secret.ts';
import { createMqttServer } from '../../../broker/adapters/mqtt/aedes.ts';
import { type Broker, createBroker } from '../../../broker/broker.ts';
import type { DeviceRef } from '../../../broker/core/device-key.ts';
import type { MqttLimits, MqttServerOptions } from '../../../broker/ports/mqtt-server.ts';
import { createSigner, createVerifier, generateSigningKey } from '../../../src/adapters/signing.ts';
import { createSystemClock, createSystemEntropy } from '../../../src/adapters/system.ts';
import { AppError } from '../../../src/core/errors.ts';
import type { Clock, Database, Log, NotifyingDatabase, Verifier } from '../../../src/ports.ts';
import { connectPacket, connectRaw, type RawClient } from '../mqtt/raw-mqtt.ts';
import { addDevice, type BenchLog, createBenchLog, openBenchDatabase } from './broker-bench.ts';

export interface LiveDevice extends DeviceRef {
  readonly user: string;
  readonly secret: string;
  /** Its topic of that verb. */
  topic(verb: string): string;
}

export interface LiveBroker {
  readonly broker: Broker;
  readonly db: Database;
  readonly log: BenchLog;
  readonly port: number;
  readonly verifier: Verifier;
  addDevice(accountID: string, deviceID: string): Promise<LiveDevice>;
  /** A logged-in raw connection of the device. */
  login(device: LiveDevice, changes?: object, from?: string): Promise<RawClient>;
  /** Every write waits from now on until the returned function is called. */
  holdCommits(): () => void;
  /** Writes that wait for it. */
  heldWrites(): number;
  /** Every write fails from now on, or works again. */
  setFailing(isFailing: boolean): void;
  /** Every write fails from now on until the broker says that its store does, and works from that moment on. */
  failUntilNoticed(): void;
  /** Writes that have failed so. */
  failedWrites(): number;
}

/**
 * @param listening TLS and WebSocket; plain MQTT alone without it.
 * @param clock of the broker, where it is not the time of this machine.
 */
export async function startLiveBroker(
  limits: Partial<MqttLimits> = {},
  listening: Pick<MqttServerOptions, 'tls' | 'websocket'> = {},
  clock: Clock = createSystemClock(),
): Promise<LiveBroker> {
  const db = await openBenchDatabase();
  let gate: Promise<void> = Promise.resolve();
  let isFailing = false;
  let worksOnceNoticed = false;
  let heldWrites = 0;
  let failedWrites = 0;
  const gated: NotifyingDatabase = {
    ...db,
    write: async (batch) => {
      heldWrites += 1;
      await gate;
      heldWrites -= 1;
      if (isFailing) {
        failedWrites += 1;
        throw new AppError('storage', 'disk', { cause: { code: 'SQLITE_IOERR' } });
      }
      return db.write(batch);
    },
  };
  const entropy = createSystemEntropy();
  const log = createBenchLog();
  const watched: Log = {
    ...log,
    error(event, fields) {
      log.error(event, fields);
      if (!worksOnceNoticed || event !== 'store_unavailable') return;
      isFailing = false;
      worksOnceNoticed = false;
    },
    with: () => watched,
  };
  const key = generateSigningKey();
  const broker = await createBroker({
    openMqttServer: createMqttServer,
    db: gated,
    clock,
    entropy,
    signer: createSigner(key.privatePem),
    log: watched,
    mqtt: { host: '127.0.0.1', port: 0, limits, ...listening },
  });
  return {
    broker,
    db,
    log,
    port: broker.mqttPort,
    verifier: createVerifier(key.publicKey),
    async addDevice(accountID, deviceID) {
      const ref = await addDevice(db, accountID, deviceID);
      const secret = await issueDeviceSecret(db, entropy, clock, ref);
      const user = `${accountID}/${deviceID}`;
      return { ...ref, user, secret, topic: (verb) => `fleet/v1/${user}/${verb}` };
    },
    async login(device, changes = {}, from = '127.0.0.1') {
      const client = await connectRaw(broker.mqttPort, undefined, from);
      client.send(connectPacket(device.user, device.secret, changes));
      const { returnCode } = await client.next('connack');
      if (returnCode !== 0) throw new Error(`CONNACK ${returnCode}`);
      return client;
    },
    holdCommits() {
      let release: () => void = () => undefined;
      gate = new Promise((resolve) => {
        release = resolve;
      });
      return () => release();
    },
    heldWrites: () => heldWrites,
    setFailing(value) {
      isFailing = value;
    },
    failUntilNoticed() {
      isFailing = true;
      worksOnceNoticed = true;
    },
    failedWrites: () => failedWrites,
  };
}
