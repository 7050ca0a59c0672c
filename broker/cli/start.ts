// Composition root of the broker as a service: joins its adapters to its ports. Nothing is decided here.

import { readAdvisories } from '../../src/adapters/advisory-file.ts';
import { type HeldDatabase, type HoldMode, openDatabase } from '../../src/adapters/database/database.ts';
import { listHolders, readServerFigures } from '../../src/adapters/database/postgres-figures.ts';
import { createEnrolmentCrypto } from '../../src/adapters/enrolment-crypto.ts';
import { createLog } from '../../src/adapters/log.ts';
import { personsCrypto } from '../../src/adapters/persons-crypto.ts';
import { untilStopped } from '../../src/adapters/program.ts';
import { createSigner, createVerifier } from '../../src/adapters/signing.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import { readVersion } from '../../src/adapters/version.ts';
import { readEnvironment } from '../../src/config.ts';
import { isPostgresUrl } from '../../src/core/database-url.ts';
import type { Clock, Database, Log } from '../../src/ports.ts';
import { openSenders } from '../adapters/delivery/senders.ts';
import { openFeedFolder } from '../adapters/feed-folder.ts';
import { createHttpServer, type HttpServer, type ReadyCheck } from '../adapters/http/fastify.ts';
import { loadAdminTokenHash } from '../adapters/keys/admin-token-file.ts';
import type { SigningKey } from '../adapters/keys/signing-key-file.ts';
import { createMqttServer } from '../adapters/mqtt/aedes.ts';
import { createPasswords } from '../adapters/passwords.ts';
import { openPracticeWorld } from '../adapters/practice-channel.ts';
import { sqliteDiskSizes } from '../adapters/storage/disk-sizes.ts';
import { openTraccarServer } from '../adapters/traccar-server.ts';
import { createOperatorCheck } from '../api/operator/admin-caller.ts';
import { adminIntroduction, adminOperations } from '../api/operator/admin-operations.ts';
import { type Broker, createBroker } from '../broker.ts';
import type { BrokerConfig } from '../config/broker-config.ts';
import { isLoopback } from '../config/listener-config.ts';
import { defaultRequestRates } from '../core/scheduling/request-rates.ts';
import { type EnrolmentOptions } from '../devices/enrolment.ts';
import { prepareDatabase } from '../known-database.ts';
import { createMeter, type Meter } from '../metrics/meter.ts';
import { createServiceStatus, type ServerAccess } from '../metrics/service-status.ts';
import { demoOperations, operations } from '../operations.ts';
import type { IdentityProvider } from '../ports/identity-provider.ts';
import type { ServiceStatus } from '../ports/service-status.ts';
import { createServices, type Services } from '../services.ts';
import { markRestored } from '../store/renumbering.ts';
import { putFact, readFact } from '../store/service-facts.ts';
import { createDatabaseCheck } from '../upkeep/database-check.ts';
import { createReadiness } from '../upkeep/readiness.ts';
import { readClusterIngress } from './cluster.ts';
import type { Flags } from './command-line.ts';
import { needLaterFiles, needPorts } from './config-check.ts';
import { loadFleetKey, needNoSignOfFleet } from './known-fleet.ts';
import { hasAdmin, mqttListening, openTls, type TlsKeeper, type TlsState, warnOfPlain } from './listening.ts';
import { type Operating, startOperating } from './operating.ts';
import { configOf, holdFor } from './program.ts';
import { openStaticFiles, type StaticFiles } from './static-files.ts';

interface Running {
  readonly broker: Broker;
  readonly services: Services;
  /** The interface for users, and the operator's own where it is switched on. */
  readonly hosts: readonly HttpServer[];
  readonly operating: Operating;
  /** Given back last. */
  readonly held: HeldDatabase;
  markStopping(): void;
  /** Reads certificates and authorities again. */
  reload(): void;
}

interface AdminHost {
  readonly server: HttpServer;
  readonly port: number;
}

/** What a database server says of itself; null for a file. */
function serverAccessOf({ database }: BrokerConfig, db: Database): ServerAccess | null {
  if (!isPostgresUrl(database)) return null;
  return { figures: () => readServerFigures(db), bridges: () => listHolders(db) };
}

interface OpenedParts {
  readonly broker: Broker;
  readonly services: Services;
  readonly http: HttpServer;
  readonly meter: Meter;
  readonly readiness: () => Promise<readonly ReadyCheck[]>;
  readonly tls: TlsKeeper;
  readonly files: StaticFiles;
}

/** What the operator sees of the service. */
function openStatus(config: BrokerConfig, parts: OpenedParts): ServiceStatus {
  const { broker, services, http, meter, readiness, tls } = parts;
  const { archive: db } = services.api;
  const { file, keyFile } = config.advisories;
  const server = serverAccessOf(config, db);
  return createServiceStatus({
    db,
    clock: createSystemClock(),
    meter,
    version: readVersion(),
    nodeVersion: process.version,
    ingress: broker.services.isShared ? 'cluster' : 'own',
    backupLateS: config.admin.backupHours * 3600,
    readiness,
    metrics: broker.services.metrics,
    apps: () => http.connections(),
    streams: services.streamCount,
    queues: services.queues,
    leases: () => broker.services.leases.list(),
    certificates: () => tls.current().terms,
    advisories: file === undefined || keyFile === undefined ? null : () => readAdvisories(file, keyFile),
    diskSizes: server === null ? () => sqliteDiskSizes(config.database) : null,
    server,
  });
}

const hashIn = (setting: string, file: string | undefined): string | null =>
  file === undefined ? null : loadAdminTokenHash(setting, file);

/** The listener of the service's operator; null unless it has a token. */
async function openAdmin(config: BrokerConfig, parts: OpenedParts): Promise<AdminHost | null> {
  if (!hasAdmin(config)) return null;
  const { admin } = config;
  const tls = parts.tls.current().admin;
  const server = await createHttpServer({
    services: parts.services.api,
    operations: adminOperations(openStatus(config, parts)),
    version: readVersion(),
    readiness: parts.readiness,
    authenticate: createOperatorCheck(
      hashIn('admin.tokenFile', admin.tokenFile),
      hashIn('admin.viewTokenFile', admin.viewTokenFile),
    ),
    introduction: adminIntroduction,
    console: parts.files.operatorPage,
    // With TLS the browser has compared the name with the certificate.
    names: tls === null ? [admin.host, ...admin.names] : null,
    tls,
  });
  const port = await server.listen({ host: admin.host, port: admin.port, setting: 'admin' });
  return { server, port };
}

/** What vehicles are given when they enrol. A broker for this machine alone knows its own address. */
function openEnrolment(
  config: BrokerConfig,
  tls: TlsKeeper,
  { publicKey, mqttPort }: { readonly publicKey: string; readonly mqttPort: number },
): EnrolmentOptions {
  const { codeHours, mqttUrls } = config.enrolment;
  const scheme = tls.current().mqtt === null ? 'mqtt' : 'mqtts';
  const own =
    config.ingress === undefined && isLoopback(config.mqtt.host)
      ? [`${scheme}://${config.mqtt.host.replace('::1', '[::1]')}:${mqttPort}`]
      : [];
  return {
    crypto: createEnrolmentCrypto(createSystemEntropy()),
    get authority() {
      return tls.current().authority;
    },
    codeHours,
    mqttUrls: mqttUrls.length > 0 ? mqttUrls : own,
    get ca() {
      return tls.current().vehicleCa;
    },
    publicKey,
  };
}

/** The interface for users; not listening yet. */
async function openHttp(
  { http }: BrokerConfig,
  services: Services,
  given: {
    readonly readiness: () => Promise<readonly ReadyCheck[]>;
    readonly tls: TlsKeeper;
    readonly meter: Meter;
    readonly files: StaticFiles;
  },
): Promise<HttpServer> {
  const { practice } = services.api;
  return createHttpServer({
    services: services.api,
    operations: practice === null ? operations : demoOperations,
    practiceAccount: practice?.accountID ?? null,
    ...given.files,
    version: readVersion(),
    readiness: given.readiness,
    tls: given.tls.current().http,
    onAnswered: given.meter.onAnswered,
    trustedProxies: http.trustedProxies,
    origins: http.origins,
    rates: { ...defaultRequestRates, token: { burst: http.burst, perS: http.ratePerS } },
  });
}

interface Opened {
  readonly broker: Broker;
  readonly httpPort: number;
  readonly admin: AdminHost | null;
}

/** Where it really listens, by name. */
function listenersOf(config: BrokerConfig, opened: Opened) {
  const { http, mqtt, ws, admin, cluster } = config;
  const { mqttPort, websocketPort } = opened.broker;
  return {
    http: { host: http.host, port: opened.httpPort },
    ...(config.ingress === undefined
      ? { mqtt: { host: mqtt.host, port: mqttPort } }
      : { clusterAuth: { host: cluster.authHost, port: mqttPort } }),
    ...(websocketPort === null ? {} : { ws: { host: ws.host, port: websocketPort } }),
    ...(opened.admin === null ? {} : { admin: { host: admin.host, port: opened.admin.port } }),
  };
}

/** The same in one line of the log. */
function portsOf(config: BrokerConfig, opened: Opened, { metricsPort }: Operating) {
  const { http, mqtt, ws, admin, cluster, metrics } = config;
  const { mqttPort, websocketPort } = opened.broker;
  return {
    httpHost: http.host,
    httpPort: opened.httpPort,
    ...(opened.admin === null ? {} : { adminHost: admin.host, adminPort: opened.admin.port }),
    ...(config.ingress === undefined
      ? { mqttHost: mqtt.host, mqttPort }
      : { clusterAuthHost: cluster.authHost, clusterAuthPort: mqttPort }),
    ...(websocketPort === null ? {} : { wsHost: ws.host, wsPort: websocketPort }),
    ...(metricsPort === null ? {} : { metricsHost: metrics.host, metricsPort }),
  };
}

/** Gives every listener its new certificate. */
function renewAll(
  { mqtt, ws, http, admin }: TlsState,
  to: { readonly broker: Broker; readonly http: HttpServer; readonly admin: AdminHost | null },
): void {
  to.broker.renewTls({ mqtt, websocket: ws });
  if (http !== null) to.http.renewTls(http);
  if (admin !== null) to.admin?.server.renewTls(admin);
}

/** The login provider; its client is loaded only where one is set. */
async function openProvider(
  { oidc }: BrokerConfig,
  ports: { readonly clock: Clock; readonly log: Log },
): Promise<IdentityProvider | null> {
  if (oidc.issuer === '') return null;
  const { openIdentityProvider } = await import('../adapters/identity-provider.ts');
  return openIdentityProvider(oidc, ports);
}

/** How vehicles connect, and how much they may send; without limits nothing is counted. */
const deviceSideOf = (config: BrokerConfig, tls: TlsState) => {
  const { ingest } = config;
  const isLimited = ingest.deviceEventsPerS > 0 || ingest.accountEventsPerS > 0;
  return { mqtt: mqttListening(config, tls), ...(isLimited ? { eventLimits: ingest } : {}) };
};

/** Of the newest start; the lock file of an SQLite database names the same. */
const startFact = 'start';

interface StoreTerms {
  readonly config: BrokerConfig;
  readonly flags: Flags;
  readonly log: Log;
  readonly meter: Meter;
  readonly mode: HoldMode;
}

/** Makes sure that database, key and lock belong together. @throws AppError `config` or `storage` when they do not. */
async function prepare(
  { config, flags, log }: StoreTerms,
  db: Database,
  held: HeldDatabase,
): Promise<SigningKey> {
  await prepareDatabase(db);
  const key = await loadFleetKey(config, db, flags);
  if (key.isNew) log.warn('signing_key_created', { file: config.signingKeyFile, publicKey: key.publicKey });
  if (held.recordStart === undefined) return key;
  // The lock file stays when a database is exchanged for an older copy: then the two name different starts.
  const start = String(Math.floor(createSystemEntropy().fraction() * 2 ** 31));
  const last = await readFact(db, startFact);
  const isExchanged = held.recordStart(start) !== (last ?? '0') && last !== null;
  await db.write([putFact(startFact, start), ...(isExchanged ? [markRestored()] : [])]);
  return key;
}

/** The database, held and compared with this build and with its key. */
async function openStore(terms: StoreTerms) {
  const { config, flags, log, meter, mode } = terms;
  // A start that fails leaves no key: vehicles would pin one that the next start, on the right path, does not have.
  await needLaterFiles(config);
  needNoSignOfFleet(config, flags);
  const held = await holdFor(config, { log, mode });
  await needPorts(config);
  const environment = readEnvironment();
  const opened = await openDatabase({ database: config.database, environment, use: 'service', held });
  const db = meter.watchDatabase(opened);
  try {
    return { held, db, key: await prepare(terms, db, held) };
  } catch (thrown) {
    await db.close();
    throw thrown;
  }
}

async function open(config: BrokerConfig, flags: Flags): Promise<Running> {
  const clock = createSystemClock();
  const meter = createMeter(clock);
  const log = meter.watchLog(createLog(config.logLevel));
  // First of all: what is wrong with a certificate must be known before anything is opened or changed.
  const tls = openTls(config, { clock, log });
  warnOfPlain(config, log);
  const practice = openPracticeWorld(config.practice.account, clock);
  const traccar = openTraccarServer(config.traccar);
  const cluster = readClusterIngress(config);
  const identityProvider = await openProvider(config, { clock, log });
  const files = await openStaticFiles(config);
  const mode = cluster === null ? 'alone' : 'shared';
  const { held, db, key } = await openStore({ config, flags, log, meter, mode });
  const entropy = createSystemEntropy();
  const broker = await createBroker({
    openMqttServer: meter.watchMqtt(cluster?.({ db, clock, entropy, log }) ?? createMqttServer),
    ingress: cluster === null ? 'own' : 'cluster',
    db,
    clock,
    entropy,
    signer: createSigner(key.privatePem),
    log,
    ...deviceSideOf(config, tls.current()),
  }).catch(async (thrown: unknown) => {
    await db.close();
    throw thrown;
  });
  let isStopping = false;
  const readiness = createReadiness({
    clock,
    checkDatabase: createDatabaseCheck(db, clock),
    lagMs: () => broker.services.metrics().lagMs,
    isStopping: () => isStopping,
    mqttFault: () => broker.mqttFault(),
  });
  try {
    const services = createServices({
      broker: broker.services,
      passwords: createPasswords(),
      firmwareHosts: config.firmware.hosts,
      consoleUrl: config.notify.consoleUrl,
      senders: openSenders(config),
      identityProvider,
      verifier: createVerifier(key.publicKey),
      persons: personsCrypto,
      enrolment: openEnrolment(config, tls, { publicKey: key.publicKey, mqttPort: broker.mqttPort }),
      ...files,
      practice,
      traccar,
      feeds: await openFeedFolder(config.feeds),
    });
    const http = await openHttp(config, services, { readiness, tls, meter, files });
    const httpPort = await http.listen({ host: config.http.host, port: config.http.port });
    const admin = await openAdmin(config, { broker, services, http, meter, readiness, tls, files });
    const listeners = listenersOf(config, { broker, httpPort, admin });
    const certificates = () => tls.current().terms;
    const operating = await startOperating({ config, log, meter, broker, services, listeners, certificates });
    log.info('broker_ready', portsOf(config, { broker, httpPort, admin }, operating));
    return {
      broker,
      services,
      hosts: admin === null ? [http] : [http, admin.server],
      operating,
      held,
      markStopping() {
        isStopping = true;
        tls.close();
      },
      reload: () => tls.reload((state) => renewAll(state, { broker, http, admin })),
    };
  } catch (thrown) {
    await broker.close();
    throw thrown;
  }
}

/** Runs the service until it is stopped, with the settings of these flags. @throws AppError when it cannot start. */
export async function start(flags: Flags): Promise<void> {
  const config = configOf(flags).value;
  let opened: Running | null = null;
  // Before `broker_ready`: its reader may send a signal at once.
  const stopped = untilStopped(() => opened?.reload());
  const running = await open(config, flags);
  opened = running;
  await stopped;
  running.markStopping();
  const { broker, services, hosts, operating, held } = running;
  operating.stopping();
  const users = [...hosts.map((host) => host.close()), services.close(), operating.close()];
  await broker.close(Promise.all(users));
  await held.close();
}
