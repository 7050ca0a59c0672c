#!/usr/bin/env node
// The broker's command line and the only place that joins its adapters to its ports. Nothing is decided here. A
// failure ends with one plain message on stderr and the exit code of its kind (sysexits.h).
import { type HeldDatabase, openDatabase } from '../src/adapters/database.ts';
import { createEnrolmentCrypto } from '../src/adapters/enrolment-crypto.ts';
import { createLog } from '../src/adapters/log.ts';
import { runProgram, untilStopped } from '../src/adapters/program.ts';
import { createSigner } from '../src/adapters/signing.ts';
import { createSystemClock, createSystemEntropy } from '../src/adapters/system.ts';
import { readEnvironment } from '../src/config.ts';
import { readVersion } from '../src/version.ts';
import { loadAdminTokenHash } from './adapters/admin-token-file.ts';
import { createMqttServer } from './adapters/aedes.ts';
import { createHttpServer, type HttpServer, type ReadyCheck } from './adapters/fastify.ts';
import { createPasswords } from './adapters/passwords.ts';
import { openSenders } from './adapters/senders.ts';
import { loadSigningKey } from './adapters/signing-key-file.ts';
import { createOperatorCheck } from './api/accounts/admin-caller.ts';
import { adminIntroduction, adminOperations } from './api/accounts/admin-operations.ts';
import { defaultRequestRates } from './api/admission.ts';
import { operations } from './api/operations.ts';
import { type Broker, createBroker } from './broker.ts';
import { runAccount, runAccountCreate, runAdminToken } from './cli/accounts.ts';
import { runBackup, runCheck, runRestore } from './cli/backup.ts';
import { runCa } from './cli/ca.ts';
import { readClusterIngress } from './cli/cluster.ts';
import { createCommandLine, type Flags } from './cli/command-line.ts';
import { runDevice, runDeviceCode, runServiceCode } from './cli/devices.ts';
import { mqttListening, openTls, type TlsKeeper, type TlsState, warnOfPlain } from './cli/listening.ts';
import { type Operating, startOperating } from './cli/operating.ts';
import { configOf, holdFor } from './cli/program.ts';
import { runAudit, runConfig, runRetentionOnce } from './cli/upkeep.ts';
import type { BrokerConfig } from './config.ts';
import { type EnrolmentOptions } from './devices/enrolment.ts';
import { isLoopback } from './listener-config.ts';
import { createMeter, type Meter } from './metrics/meter.ts';
import { createServices, type Services } from './services.ts';
import { createDatabaseCheck } from './upkeep/database-check.ts';
import { createReadiness } from './upkeep/readiness.ts';

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

/** The listener of the service's operator; null unless it has a token. */
async function openAdmin(
  { admin }: BrokerConfig,
  services: Services,
  { readiness, tls }: { readonly readiness: () => Promise<readonly ReadyCheck[]>; readonly tls: TlsKeeper },
): Promise<AdminHost | null> {
  if (admin.tokenFile === undefined) return null;
  const server = await createHttpServer({
    services: services.api,
    operations: adminOperations,
    version: readVersion(),
    readiness,
    authenticate: createOperatorCheck(loadAdminTokenHash(admin.tokenFile)),
    introduction: adminIntroduction,
    tls: tls.current().admin,
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
  },
): Promise<HttpServer> {
  return createHttpServer({
    services: services.api,
    operations,
    version: readVersion(),
    readiness: given.readiness,
    tls: given.tls.current().http,
    onAnswered: given.meter.onAnswered,
    trustedProxies: http.trustedProxies,
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

async function open(config: BrokerConfig): Promise<Running> {
  const log = createLog(config.logLevel);
  const clock = createSystemClock();
  // First of all: what is wrong with a certificate must be known before anything is opened or changed.
  const tls = openTls(config, { clock, log });
  warnOfPlain(config, log);
  const cluster = readClusterIngress(config);
  const key = loadSigningKey(config.signingKeyFile);
  if (key.isNew) log.warn('signing-key-created', { file: config.signingKeyFile, publicKey: key.publicKey });
  const meter = createMeter(clock);
  const held = await holdFor(config, { log, mode: cluster === null ? 'alone' : 'shared' });
  const opened = await openDatabase({
    database: config.database,
    environment: readEnvironment(),
    use: 'service',
  });
  const db = meter.watchDatabase(opened);
  const entropy = createSystemEntropy();
  const { publicKey } = key;
  const broker = await createBroker({
    openMqttServer: meter.watchMqtt(cluster?.({ db, clock, entropy, log, publicKey }) ?? createMqttServer),
    ingress: cluster === null ? 'own' : 'cluster',
    db,
    clock,
    entropy,
    signer: createSigner(key.privatePem),
    log,
    mqtt: mqttListening(config, tls.current()),
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
    const senders = openSenders(config);
    const services = createServices({
      broker: broker.services,
      passwords: createPasswords(),
      firmwareHosts: config.firmware.hosts,
      senders,
      enrolment: openEnrolment(config, tls, { publicKey: key.publicKey, mqttPort: broker.mqttPort }),
    });
    const { host } = config.http;
    const http = await openHttp(config, services, { readiness, tls, meter });
    const httpPort = await http.listen({ host, port: config.http.port });
    const admin = await openAdmin(config, services, { readiness, tls });
    const listeners = listenersOf(config, { broker, httpPort, admin });
    const certificates = () => tls.current().terms;
    const operating = await startOperating({ config, log, meter, broker, services, listeners, certificates });
    log.info('broker-ready', portsOf(config, { broker, httpPort, admin }, operating));
    const hosts = admin === null ? [http] : [http, admin.server];
    return {
      broker,
      services,
      hosts,
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

async function start(flags: Flags): Promise<void> {
  const config = configOf(flags).value;
  let opened: Running | null = null;
  // Before it is ready: whoever reads that may send a signal at once.
  const stopped = untilStopped(() => opened?.reload());
  const running = await open(config);
  opened = running;
  await stopped;
  running.markStopping();
  const { broker, services, hosts, operating, held } = running;
  operating.stopping();
  const users = [...hosts.map((host) => host.close()), services.close(), operating.close()];
  await broker.close(Promise.all(users));
  await held.close();
}

await runProgram('fleetward-broker', () => {
  const handlers = {
    start,
    accountCreate: runAccountCreate,
    account: runAccount,
    adminToken: runAdminToken,
    device: runDevice,
    deviceCode: runDeviceCode,
    serviceCode: runServiceCode,
    audit: runAudit,
    retention: runRetentionOnce,
    config: runConfig,
    ca: runCa,
    backup: runBackup,
    restore: runRestore,
    check: runCheck,
  };
  return createCommandLine(handlers, readVersion()).parseAsync();
});
