// A whole broker in this process for tests of the HTTP service: real store, ingest, ledger and host, in memory, on a
// clock that the test may move. Requests go in without a socket. With FLEETWARD_TEST_BRIDGES=2 (or more) and PostgreSQL so many
// brokers on one database behind one cluster, and each request goes to the next of them.
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccount, createDevice } from '../../../broker/accounts/administration.ts';
import { createHttpServer } from '../../../broker/adapters/http/fastify.ts';
import type { ConnectionLimits } from '../../../broker/adapters/http/http-connections.ts';
import { createMqttServer } from '../../../broker/adapters/mqtt/aedes.ts';
import { createPasswords } from '../../../broker/adapters/passwords.ts';
import { createBroker } from '../../../broker/broker.ts';
import type { Role } from '../../../broker/core/accounts/session.ts';
import { type RequestRates } from '../../../broker/core/scheduling/request-rates.ts';
import type { EnrolmentOptions } from '../../../broker/devices/enrolment.ts';
import { mailedReports } from '../../../broker/features/reports/mailed-reports.ts';
import type { Senders } from '../../../broker/notify/senders.ts';
import { demoOperations, operations } from '../../../broker/operations.ts';
import type { ConsoleFiles } from '../../../broker/ports/console-files.ts';
import type { FeedTarget } from '../../../broker/ports/feed-targets.ts';
import type { IdentityProvider } from '../../../broker/ports/identity-provider.ts';
import type { MapFolder } from '../../../broker/ports/map-folder.ts';
import type { MapStyle } from '../../../broker/ports/map-style.ts';
import type { PracticeWorld } from '../../../broker/ports/practice-world.ts';
import type { TraccarServer } from '../../../broker/ports/traccar-server.ts';
import { createServices } from '../../../broker/services.ts';
import { findDevice } from '../../../broker/store/devices/devices.ts';
import { createEnrolmentCrypto } from '../../../src/adapters/enrolment-crypto.ts';
import { personsCrypto } from '../../../src/adapters/persons-crypto.ts';
import { createSigner, createVerifier, generateSigningKey } from '../../../src/adapters/signing.ts';
import { createSystemClock, createSystemEntropy } from '../../../src/adapters/system.ts';
import type { Log, LogFields, NotifyingDatabase, SqlValue, Statement } from '../../../src/ports.ts';
import { createOfflineSenders } from '../broker/senders.ts';
import { createTestCluster } from '../broker/test-cluster.ts';
import { insertUser } from '../database/store-rows.ts';
import { isOnPostgres, openSecond, openTestDatabase } from '../database/test-database.ts';
import { createTestProvider } from './test-provider.ts';

/** Brokers that answer the requests of a test in turn. */
export const bridgesOfTest = isOnPostgres ? Number(process.env['FLEETWARD_TEST_BRIDGES'] ?? '1') : 1;

export const password = 'correct horse battery staple';

export interface Call {
  readonly method?: string;
  readonly path: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON unless it is text, which is sent as it is. */
  readonly body?: unknown;
  readonly from?: string;
}

function recordingLog(lines: string[]): Log {
  const write = (event: string, fields: LogFields = {}) =>
    void lines.push(JSON.stringify({ event, ...fields }));
  return { debug: write, info: write, warn: write, error: write, with: () => recordingLog(lines) };
}

export interface HttpServiceLimits {
  readonly rates?: RequestRates;
  readonly requestMs?: number;
  readonly stalledMs?: number;
  readonly gatherBytes?: number;
  readonly heldBytes?: number;
  readonly fleetBytes?: number;
  readonly connections?: ConnectionLimits;
  readonly trustedProxies?: readonly string[];
  /** The web console, and the folder of map files. */
  readonly console?: ConsoleFiles | null;
  readonly maps?: MapFolder | null;
  readonly mapStyle?: MapStyle | null;
  /** The server of other trackers. */
  readonly traccar?: TraccarServer | null;
  /** Brokers of others that events are fed into. */
  readonly feeds?: readonly FeedTarget[];
  /** The world of a practice fleet, with its operations. */
  readonly practice?: PracticeWorld | null;
  /** Where users without a password log in; null: nowhere. */
  readonly identityProvider?: IdentityProvider | null;
  readonly origins?: readonly string[];
  /** The ways out to people; without them nothing leaves this process. */
  readonly senders?: Senders;
  /** A file, worked on by two threads as in the program; without it the store is in memory. */
  readonly databasePath?: string;
  /** How long each access of the service to its store waits before it begins, in ms; without it none does. */
  readonly storeDelayMs?: () => number;
  /** What vehicles are given when they enrol, where it matters. */
  readonly enrolment?: Partial<EnrolmentOptions>;
}

/** Limits that no test reaches by accident: what they do has tests of its own. */
const wideRates: RequestRates = {
  token: { burst: 1e6, perS: 1e6 },
  failures: { burst: 1e6, perS: 1e6 },
};

/** The same store, each access to it begun later. */
function delayed(db: NotifyingDatabase, delayMs: () => number): NotifyingDatabase {
  const later = async (): Promise<void> => {
    const ms = delayMs();
    if (ms > 0) await sleep(ms);
  };
  return {
    ...db,
    read: async (statement) => (await later(), db.read(statement)),
    write: async (batch) => (await later(), db.write(batch)),
  };
}

/** Starts it; `close` must be called. */
export async function startHttpService(limits: HttpServiceLimits = {}) {
  const entropy = createSystemEntropy();
  const system = createSystemClock();
  let laterMs = 0;
  const clock = { ...system, utcMs: () => system.utcMs() + laterMs, monoMs: () => system.monoMs() + laterMs };
  const logLines: string[] = [];
  const {
    databasePath: path,
    enrolment: enrolmentChanges,
    storeDelayMs,
    fleetBytes,
    ...otherLimits
  } = limits;
  const db = await openTestDatabase(path);
  const signingKey = generateSigningKey();
  const signer = createSigner(signingKey.privatePem);
  const enrolment: EnrolmentOptions = {
    crypto: createEnrolmentCrypto(entropy),
    authority: null,
    codeHours: 24,
    mqttUrls: ['mqtts://broker.example.com:8883'],
    ca: null,
    publicKey: signingKey.publicKey,
    ...enrolmentChanges,
  };
  const log = recordingLog(logLines);
  const passwords = createPasswords();
  const {
    senders = createOfflineSenders(),
    identityProvider = createTestProvider(),
    ...hostLimits
  } = otherLimits;
  let faults: string[] = [];
  const cluster = bridgesOfTest > 1 ? createTestCluster() : null;
  const startBridge = async (opened: NotifyingDatabase) => {
    const store = storeDelayMs === undefined ? opened : delayed(opened, storeDelayMs);
    const broker = await createBroker({
      openMqttServer: cluster?.open ?? createMqttServer,
      ingress: cluster === null ? 'own' : 'cluster',
      db: store,
      clock,
      entropy,
      signer,
      log,
      mqtt: { host: '127.0.0.1', port: 0 },
    });
    const firmwareHosts = ['updates.example.com', 'files.example.com:443', 'mirror.example.com:8443'];
    const services = createServices({
      persons: personsCrypto,
      broker: broker.services,
      passwords,
      senders,
      identityProvider,
      verifier: createVerifier(signingKey.publicKey),
      firmwareHosts,
      enrolment: { ...enrolment },
      maps: limits.maps,
      mapStyle: limits.mapStyle,
      practice: limits.practice,
      traccar: limits.traccar,
      feeds: limits.feeds,
      fleetBytes,
    });
    const http = await createHttpServer({
      services: services.api,
      operations: limits.practice == null ? operations : demoOperations,
      practiceAccount: limits.practice?.accountID ?? null,
      rates: wideRates,
      ...hostLimits,
      version: '0.0.0',
      readiness: async () => [
        { name: 'database', fault: null },
        ...faults.map((name) => ({ name, fault: 'is broken' })),
      ],
    });
    return { broker, services, http };
  };
  const first = await startBridge(db);
  const bridges = [first];
  while (bridges.length < bridgesOfTest) bridges.push(await startBridge(await openSecond(db)));
  const { broker, services, http } = first;
  // Requests are counted by each broker for itself.
  let isPinned = limits.rates !== undefined;
  let turn = 0;
  /** The broker that does that work now; after a leap of the clock, or a stall of the machine, there is none for some seconds. */
  const notifying = () =>
    bridges.find(({ broker: { services: of } }) => of.leases.holds('notifications')) ?? null;
  /** Runs again when another broker took the lease meanwhile: the one that lost it stops before all is sent. */
  const runAllNotices = async (): Promise<void> => {
    for (let tries = 0; tries < 300; tries++) {
      const holder = notifying();
      if (holder === null) await sleep(50);
      else {
        for (const { services: of } of bridges) {
          await of.api.of(mailedReports).runAll();
          await of.notices.runAll();
        }
        if (notifying() === holder) return;
      }
    }
    throw new Error('no broker holds the lease of the notifications');
  };
  const ports = { db, clock, entropy, passwords };
  const call = async (request: Call) => {
    const { method = 'GET', path, token, headers = {}, body, from = '127.0.0.1' } = request;
    const isText = typeof body === 'string';
    const { 'content-type': type = body === undefined ? '' : 'application/json', ...others } = headers;
    turn += 1;
    const bridge = bridges[isPinned ? 0 : turn % bridges.length] ?? first;
    const answer = await bridge.http.inject({
      method,
      url: path,
      remoteAddress: from,
      headers: {
        ...(type === '' ? {} : { 'content-type': type }),
        ...(token === undefined ? {} : { authorization: token }),
        ...others,
      },
      ...(body === undefined ? {} : { payload: isText ? body : JSON.stringify(body) }),
    });
    return {
      status: answer.statusCode,
      headers: answer.headers,
      text: answer.body,
      raw: answer.rawPayload,
      json: () => answer.json<Record<string, unknown>>(),
    };
  };
  return {
    call,
    /** Of several brokers the first one answers from now on: for what each of them counts for itself. */
    pin: () => void (isPinned = true),
    logLines,
    http,
    /** The host of each broker. */
    hosts: bridges.map((bridge) => bridge.http),
    db,
    /** Live streams that are open. */
    streamCount: () => services.streamCount(),
    /** Queues and metrics of features, of the first broker. */
    queues: services.queues,
    families: services.families,
    /** What hosts work with, for a test that opens a further one. */
    api: services.api,
    mqttPort: broker.mqttPort,
    log,
    ingest: broker.services.ingest,
    advance: (ms: number) => void (laterMs += ms),
    breakPart: (name: string) => void (faults = [...faults, name]),
    async login(accountID: string, userID: string): Promise<string> {
      const answer = await call({
        method: 'POST',
        path: '/api/v1/auth/login',
        body: { accountID, userID, password },
      });
      return String(answer.json()['token']);
    },
    account: (accountID: string) => createAccount(ports, { accountID, userID: 'admin', password }),
    async user(accountID: string, userID: string, role: Role): Promise<void> {
      const passwordHash = await passwords.hash(password);
      await db.write([insertUser({ accountID, userID, passwordHash, role, createdS: 1 })]);
    },
    device: (accountID: string, deviceID: string) => createDevice(ports, { accountID, deviceID }),
    /** Takes events in as if the device had sent them in the JSON form, and sends the notifications. */
    async events(accountID: string, deviceID: string, batch: object): Promise<void> {
      const row = await findDevice(db, { accountID, deviceID });
      if (row === null) throw new Error(`no device ${deviceID}`);
      const payload = new TextEncoder().encode(JSON.stringify(batch));
      const outcome = await broker.services.ingest.submit(row, payload);
      if (outcome.kind !== 'stored') throw new Error(`the batch was not stored: ${JSON.stringify(outcome)}`);
      await runAllNotices();
    },
    notices: { ...services.notices, runAll: runAllNotices },
    sql: (text: string, params: readonly SqlValue[] = []) => db.write([{ sql: text, params }]),
    rows: (text: string) => db.read({ sql: text, params: [] }),
    write: (batch: readonly Statement[]) => db.write(batch),
    async close(): Promise<void> {
      // As the program does: live streams end while the host waits for its answers.
      for (const bridge of bridges.toReversed()) {
        await Promise.all([bridge.http.close(), bridge.services.close()]);
        await bridge.broker.close();
      }
    },
  };
}
