#!/usr/bin/env node
// The broker's command line and the only place that joins its adapters to its ports. Nothing is decided here. A
// failure ends with one plain message on stderr and the exit code of its kind (sysexits.h).
import { createEnrolmentCrypto } from '../src/adapters/enrolment-crypto.ts';
import { createLog } from '../src/adapters/log.ts';
import { runProgram, untilStopped } from '../src/adapters/program.ts';
import { createSigner } from '../src/adapters/signing.ts';
import { openSqliteThreads } from '../src/adapters/sqlite.ts';
import { createSystemClock, createSystemEntropy } from '../src/adapters/system.ts';
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
import { runCa } from './cli/ca.ts';
import { runDevice, runDeviceCode, runServiceCode } from './cli/devices.ts';
import { mqttListening, openTls, type TlsKeeper, warnOfPlain } from './cli/listening.ts';
import { configOf, pageSize } from './cli/program.ts';
import { runAudit, runConfig, runRetentionOnce } from './cli/upkeep.ts';
import { createCommandLine, type Flags } from './command-line.ts';
import type { BrokerConfig } from './config.ts';
import { type EnrolmentOptions } from './enrolment.ts';
import { isLoopback } from './listener-config.ts';
import { createServices, type Services } from './services.ts';
import { createDatabaseCheck } from './upkeep/database-check.ts';

interface Running {
  readonly broker: Broker;
  readonly services: Services;
  /** The interface for users, and the operator's own where it is switched on. */
  readonly hosts: readonly HttpServer[];
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
  const own = isLoopback(config.mqtt.host)
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

async function open(config: BrokerConfig): Promise<Running> {
  const log = createLog(config.logLevel);
  const clock = createSystemClock();
  // First of all: what is wrong with a certificate must be known before anything is opened or changed.
  const tls = openTls(config, { clock, log });
  warnOfPlain(config, log);
  const key = loadSigningKey(config.signingKeyFile);
  if (key.isNew) log.warn('signing-key-created', { file: config.signingKeyFile, publicKey: key.publicKey });
  const db = await openSqliteThreads({ path: config.database, pageSize });
  const broker = await createBroker({
    openMqttServer: createMqttServer,
    db,
    clock,
    entropy: createSystemEntropy(),
    signer: createSigner(key.privatePem),
    log,
    mqtt: mqttListening(config, tls.current()),
  }).catch(async (thrown: unknown) => {
    await db.close();
    throw thrown;
  });
  let isStopping = false;
  const checkDatabase = createDatabaseCheck(db, clock);
  const readiness = async (): Promise<readonly ReadyCheck[]> => [
    await checkDatabase(),
    { name: 'mqtt', fault: isStopping ? 'is stopping' : null },
  ];
  try {
    const senders = openSenders(config);
    const services = createServices({
      broker: broker.services,
      passwords: createPasswords(),
      firmwareHosts: config.firmware.hosts,
      senders,
      enrolment: openEnrolment(config, tls, { publicKey: key.publicKey, mqttPort: broker.mqttPort }),
    });
    const { trustedProxies, host, port, ratePerS, burst } = config.http;
    const http = await createHttpServer({
      services: services.api,
      operations,
      version: readVersion(),
      readiness,
      tls: tls.current().http,
      trustedProxies,
      rates: { ...defaultRequestRates, token: { burst, perS: ratePerS } },
    });
    const httpPort = await http.listen({ host, port });
    const admin = await openAdmin(config, services, { readiness, tls });
    log.info('broker-ready', {
      httpHost: host,
      httpPort,
      ...(admin === null ? {} : { adminHost: config.admin.host, adminPort: admin.port }),
      mqttHost: config.mqtt.host,
      mqttPort: broker.mqttPort,
      ...(broker.websocketPort === null ? {} : { wsHost: config.ws.host, wsPort: broker.websocketPort }),
    });
    const hosts = admin === null ? [http] : [http, admin.server];
    return {
      broker,
      services,
      hosts,
      markStopping() {
        isStopping = true;
        tls.close();
      },
      reload: () =>
        tls.reload((state) => {
          broker.renewTls({ mqtt: state.mqtt, websocket: state.ws });
          if (state.http !== null) http.renewTls(state.http);
          if (state.admin !== null) admin?.server.renewTls(state.admin);
        }),
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
  const { broker, services, hosts } = running;
  await broker.close(Promise.all([...hosts.map((host) => host.close()), services.close()]));
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
  };
  return createCommandLine(handlers, readVersion()).parseAsync();
});
