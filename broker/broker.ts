// Joins store, MQTT server, ingest and command ledger into one broker; runs as well inside a test. The HTTP host is
// joined by the caller through `services`. It must stop in order: no further input, commit, answer, close.
import { messageOf } from '../src/core/errors.ts';
import { type DeviceAddress, shortEventsTopic } from '../src/core/wire/topics.ts';
import type { Cancel, Clock, Database, Entropy, Log, NotifyingDatabase, Signer } from '../src/ports.ts';
import { waitAtMost } from '../src/timeout.ts';
import { alwaysHeld, createLeases, type Leases } from './cluster/leases.ts';
import { type CommandLedger, createCommandLedger } from './commands/commands.ts';
import { createDeviceRequests, type DeviceRequests } from './commands/device-requests.ts';
import { type Completion, completed, completeWith } from './core/completion.ts';
import type { DeviceRef } from './core/device-key.ts';
import { type EventLimits } from './core/scheduling/event-budget.ts';
import { authenticateDevice, type Login } from './devices/device-login.ts';
import { createOfflineRecorder, type OfflineRecorder } from './devices/offline-recorder.ts';
import { watchRevocations } from './devices/revocations.ts';
import { createEventLimiter, type EventLimiter } from './ingest/event-limiter.ts';
import { createIngest, type Ingest } from './ingest/ingest.ts';
import { handleUplink, type UplinkDeps } from './ingest/uplinks.ts';
import { prepareDatabase } from './known-database.ts';
import type { BrokerMetrics } from './ports/broker-metrics.ts';
import { type Committed } from './ports/committed.ts';
import type {
  Downlink,
  MqttServer,
  MqttServerOptions,
  OpenMqttServer,
  TlsRenewal,
} from './ports/mqtt-server.ts';
import { type ConfigRollout, createConfigRollout } from './rollout/config-rollout.ts';
import { encodeZones } from './rollout/config-zones.ts';
import { createGroupCommit } from './scheduling/group-commit.ts';
import { createPeriodicTask, type PeriodicTask } from './scheduling/periodic-task.ts';
import { createStoreRetry, type StoreRetry } from './scheduling/store-retry.ts';
import { findDevice, setAllOffline } from './store/devices/devices.ts';
import { liftFleetRevisions } from './store/devices/fleet.ts';
import { recordClone } from './store/notifications/occurrences.ts';
import { renumberIfRestored } from './store/renumbering.ts';
import { dateEmptySlice } from './store/slices/slice-writing.ts';
import { type AgingClock, createAgingClock } from './upkeep/aging-clock.ts';
import { createDatabaseCheck } from './upkeep/database-check.ts';
import { createZoneWatcher, type ZoneWatcher } from './zones/zone-watcher.ts';

export interface BrokerOptions {
  /** Opened by the caller; the broker brings it up to date and closes it. */
  readonly db: NotifyingDatabase;
  /**
   * `cluster`: devices are connected to a cluster that other brokers on the same database serve too, and presence is what devices
   * report. Absent: `own`, this process has every connection.
   */
  readonly ingress?: 'own' | 'cluster';
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly signer: Signer;
  readonly log: Log;
  readonly openMqttServer: OpenMqttServer;
  /** Absent: devices and accounts may send as much as they like. */
  readonly eventLimits?: EventLimits;
  readonly mqtt: Pick<MqttServerOptions, 'host' | 'port' | 'limits' | 'tls' | 'websocket'>;
}

/** What the HTTP side works with. */
export interface BrokerServices {
  readonly db: NotifyingDatabase;
  /** Other processes write to the database what this one writes too. */
  readonly isShared: boolean;
  readonly leases: Leases;
  /** The time that removals by age go by. */
  readonly aging: AgingClock;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  readonly signer: Signer;
  readonly ingest: Ingest;
  readonly ledger: CommandLedger;
  readonly requests: DeviceRequests;
  /** Whether the device is connected, to whichever process. */
  isOnline(accountID: string, deviceID: string): Promise<boolean>;
  /** Ends the device's MQTT connection, if it has one. */
  kick(device: DeviceAddress, reason: string): void;
  metrics(): BrokerMetrics;
  /** Calls the listener for every payload of events after its commit; it must not throw. */
  onCommitted(listener: (committed: Committed) => void): Cancel;
}

export interface Broker {
  readonly services: BrokerServices;
  readonly mqttPort: number;
  /** Null: MQTT over WebSocket is off. */
  readonly websocketPort: number | null;
  /** Why vehicles are not reached now; null: they are. */
  mqttFault(): string | null;
  /** New connections get the new certificates; sessions go on. @throws Error when OpenSSL refuses them. */
  renewTls(renewal: TlsRenewal): void;
  /**
   * Stops listening, commits and answers what came in, closes everything; within 5 s.
   * @param users what still works with `services` (the HTTP host that stops at the same time): the store stays open for
   * them for up to 3 s.
   */
  close(users?: Promise<unknown>): Promise<void>;
}

/** Above this lag new connections are refused: better than to acknowledge minutes late. */
const overloadLagMs = 10_000;
const usersMs = 3000;
const storeCloseMs = 1500;

interface BrokerParts extends UplinkDeps {
  readonly limiter: EventLimiter | null;
  readonly ledger: CommandLedger;
  readonly rollout: ConfigRollout;
  readonly requests: DeviceRequests;
  readonly options: BrokerOptions;
  readonly leases: Leases;
  readonly offlineRecorder: OfflineRecorder;
  readonly storeWatch: PeriodicTask;
  readonly aging: AgingClock;
  readonly zones: ZoneWatcher;
  /** What each connected device logged in with, by what `authenticate` gave for its connection. */
  readonly logins: WeakMap<DeviceRef, Login>;
  readonly listeners: Set<(committed: Committed) => void>;
  mqtt: MqttServer | null;
}

/**
 * Shows why a device is refused among what could not be read of it: MQTT 3.1.1 has no reasons that the device could be sent. Each reason
 * is kept once, however long the packets were.
 */
async function recordRefusal(
  { ingest, options }: BrokerParts,
  device: DeviceRef,
  reason: string,
): Promise<void> {
  const payload = new TextEncoder().encode(reason.replaceAll(/\d{5,}/g, '#'));
  await ingest.quarantine(device, { verb: 'connection', payload, reason }).catch((thrown: unknown) => {
    const { accountID, deviceID } = device;
    options.log.error('refusal_not_recorded', { accountID, deviceID, reason: messageOf(thrown) });
  });
}

function openMqtt(parts: BrokerParts): Promise<MqttServer> {
  const { clock, log, mqtt, openMqttServer } = parts.options;
  return openMqttServer({
    ...mqtt,
    clock,
    log,
    authenticate: async (device, proof) => {
      const login = await authenticateDevice(parts.options, device, proof);
      if (login !== null) parts.logins.set(login.device, login);
      return login?.device ?? null;
    },
    onUplink: (device, message, completion) => handleUplink(parts, device, message, completion),
    pacer: parts.limiter ?? undefined,
    // The queue has acknowledged it already.
    onUnprocessable: async (device, unreadable) =>
      void (await parts.ingest.quarantine(device, { ...unreadable, isForced: true })),
    onRefused: (device, reason) => void recordRefusal(parts, device, reason),
    onOffline: (device) => {
      parts.rollout.onOffline(device);
      parts.offlineRecorder.record(device);
    },
    onCloneSuspected: ({ deviceNo }) => {
      const noted = parts.options.db.write([recordClone(deviceNo, Math.round(clock.utcMs()))]);
      noted.catch((thrown: unknown) =>
        log.error('clone_not_recorded', { deviceNo, reason: messageOf(thrown) }),
      );
    },
    isOverloaded: () => parts.storeRetry.isDown() || parts.commits.lagMs() > overloadLagMs,
  });
}

const unlimited: BrokerMetrics['limited'] = { held: { device: 0, pace: 0, account: 0 }, waiting: 0 };

function servicesOf(parts: BrokerParts, mqtt: MqttServer): BrokerServices {
  const { clock, entropy, log, signer } = parts.options;
  const { commits, ingest, ledger, requests, leases, aging } = parts;
  const { db } = parts.options;
  const isShared = parts.options.ingress === 'cluster';
  return {
    db,
    isShared,
    leases,
    aging,
    clock,
    entropy,
    log,
    signer,
    ingest,
    ledger,
    requests,
    isOnline: async (accountID, deviceID) =>
      mqtt.connected({ accountID, deviceID }) !== null ||
      (await findDevice(db, { accountID, deviceID }))?.isOnline === true,
    kick: (device, reason) => mqtt.kick(device, reason),
    metrics: () => ({
      connections: mqtt.connectionCount(),
      arrivals: mqtt.waitingCount?.() ?? 0,
      lagMs: commits.lagMs(),
      waiting: commits.depth(),
      limited: parts.limiter?.counts() ?? unlimited,
      overLimit: parts.limiter?.overLimit() ?? [],
      ...ingest.counts(),
    }),
    onCommitted(listener) {
      parts.listeners.add(listener);
      return () => void parts.listeners.delete(listener);
    },
  };
}

/** In this order: what writes ends before what it writes through. */
async function closeStoreOf(parts: BrokerParts): Promise<void> {
  const { storeRetry, storeWatch, offlineRecorder, ingest, rollout, ledger, requests, commits } = parts;
  storeRetry.close();
  parts.limiter?.close();
  await storeWatch.close();
  offlineRecorder.close();
  await parts.zones.close();
  await ingest.close();
  await rollout.close();
  await ledger.close();
  await requests.close();
  await commits.close();
}

async function closeAll(parts: BrokerParts, mqtt: MqttServer, users: Promise<unknown>): Promise<void> {
  const { storeRetry, leases } = parts;
  const { db, clock, log, ingress } = parts.options;
  // What a failing store keeps waiting is not going to be stored now; the devices send it again.
  if (storeRetry.isFailing()) storeRetry.close();
  // At once, not one after the other: each may take seconds, and 5 s after the signal the program ends anyhow.
  await Promise.all([mqtt.close(), waitAtMost(clock, users, usersMs)]);
  // A store that hangs must not keep the process from ending: nothing of what it holds up was acknowledged.
  await waitAtMost(clock, closeStoreOf(parts), storeCloseMs);
  await leases.close();
  if (ingress !== 'cluster')
    await db.write([setAllOffline(Math.round(clock.utcMs()))]).catch(() => undefined);
  await db.close();
  log.info('broker_stopped');
}

function watchLogins(
  { options: { db, clock, log }, logins, limiter }: BrokerParts,
  mqtt: MqttServer,
): Cancel {
  return watchRevocations({
    db,
    clock,
    log,
    mqtt,
    loginOf: (one) => logins.get(one),
    onAccountLimit: (accountID, eventsPerS) => limiter?.setAccountLimit(accountID, eventsPerS),
  });
}

function openOfflineRecorder(
  { clock, log }: BrokerOptions,
  ledger: CommandLedger,
  connected: MqttServer['connected'],
): OfflineRecorder {
  const record = (device: DeviceRef): Promise<void> => ledger.onOffline(device);
  return createOfflineRecorder({ clock, log, record, isBack: (device) => connected(device) !== null });
}

function openStoreRetry({ db, clock, log }: BrokerOptions): StoreRetry {
  const checkDatabase = createDatabaseCheck(db, clock);
  // A server that took over may lack the newest events, whose numbers it would give again.
  const probe = async (): Promise<boolean> => {
    if ((await checkDatabase()).fault !== null) return false;
    return renumberIfRestored(db, Math.round(clock.utcMs())).then(
      () => true,
      () => false,
    );
  };
  return createStoreRetry({ clock, log, probe });
}

/** How often an idle store is asked whether its files are still there. */
const storeWatchMs = 3000;

/** Finds files that were taken away from under a store that nothing is written to. */
function watchStore({ db, clock }: BrokerOptions, storeRetry: StoreRetry): PeriodicTask {
  const begin = (completion: Completion): void =>
    completeWith(completion, async () => void (await db.write([])));
  const run = async (): Promise<number> => {
    await completed((completion) => storeRetry.run({ begin }, completion)).catch(() => undefined);
    return storeWatchMs;
  };
  return createPeriodicTask({ clock, firstMs: storeWatchMs, run });
}

function notifyCommitted({ ledger, rollout, zones, listeners }: BrokerParts, committed: Committed): void {
  ledger.onCommitted(committed);
  rollout.onCommitted(committed);
  zones.onCommitted(committed);
  for (const listener of listeners) listener(committed);
}

/** Brings the database up to date and starts to listen for devices. @throws AppError `storage`, `port_in_use`, `config`. */
export async function createBroker(options: BrokerOptions): Promise<Broker> {
  const { db, clock, entropy, signer, log, eventLimits: limits } = options;
  const isShared = options.ingress === 'cluster';
  await prepareDatabase(db);
  const nowMs = Math.round(clock.utcMs());
  if (await renumberIfRestored(db, nowMs))
    log.warn('numbers_begin_higher', { reason: 'the database was restored' });
  await db.write([dateEmptySlice(nowMs), liftFleetRevisions(nowMs * 1000)]);
  // Behind a cluster connections outlive the start of a broker.
  if (!isShared) await db.write([setAllOffline(nowMs)]);
  // Before the first event of this run: later ones bear the time of a clock that may be wrong.
  const aging = createAgingClock(options);
  await aging.read();
  const commits = createGroupCommit({ db, clock, log });
  const storeRetry = openStoreRetry(options);
  const grouped: Database = { read: db.read, write: commits.write, close: db.close };
  const publish = async (device: DeviceRef, message: Downlink): Promise<boolean> =>
    (await parts.mqtt?.publish(device, message)) ?? false;
  const canSend = (): boolean => (parts.mqtt?.fault?.() ?? null) === null;
  const kick = (device: DeviceRef, reason: string): void => parts.mqtt?.kick(device, reason);
  const sending = { db: grouped, clock, entropy, signer, log, publish, isShared, canSend, kick };
  // A cluster passes publishes on without their connection: only the long topic says whose they are.
  const ledger = createCommandLedger(isShared ? sending : { ...sending, eventsTopic: shortEventsTopic });
  const requests = createDeviceRequests(sending);
  const rollout = createConfigRollout({
    db: grouped,
    clock,
    log,
    signer,
    encodeZones,
    lagMs: () => commits.lagMs(),
    publish,
    isShared,
  });
  const leases = isShared ? createLeases({ db, clock, entropy, log, onCommit: db.onCommit }) : alwaysHeld;
  const ingest = createIngest({
    db,
    commits,
    clock,
    log,
    onCommitted: (committed) => notifyCommitted(parts, committed),
  });
  const zones = createZoneWatcher({ db: grouped, clock, log, submit: ingest.submit });
  const parts: BrokerParts = {
    options,
    commits,
    storeRetry,
    ingest,
    limiter: limits === undefined ? null : createEventLimiter({ limits, clock, log }),
    ledger,
    rollout,
    requests,
    leases,
    storeWatch: watchStore(options, storeRetry),
    aging,
    zones,
    offlineRecorder: openOfflineRecorder(options, ledger, (device) => parts.mqtt?.connected(device) ?? null),
    isPresent: (device) => isShared || parts.mqtt === null || parts.mqtt.connected(device) === device,
    logins: new WeakMap(),
    listeners: new Set(),
    mqtt: null,
  };
  const mqtt = await openMqtt(parts).catch(async (thrown: unknown) => {
    await closeStoreOf(parts);
    await leases.close();
    throw thrown;
  });
  parts.mqtt = mqtt;
  const stopWatching = watchLogins(parts, mqtt);
  log.info('broker_started', { mqttHost: options.mqtt.host, mqttPort: mqtt.port });
  return {
    services: servicesOf(parts, mqtt),
    mqttPort: mqtt.port,
    websocketPort: mqtt.websocketPort,
    mqttFault: () => mqtt.fault?.() ?? null,
    renewTls: (renewal) => mqtt.renewTls(renewal),
    async close(users = Promise.resolve()) {
      stopWatching();
      await closeAll(parts, mqtt, users);
    },
  };
}
