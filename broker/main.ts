#!/usr/bin/env node
// The broker's command line and the only place that joins its adapters to its ports. Nothing is decided here. A
// failure ends with one plain message on stderr and the exit code of its kind (sysexits.h).
import { createEnrolmentCrypto } from '../src/adapters/enrolment-crypto.ts';
import { createLog } from '../src/adapters/log.ts';
import { runProgram, untilStopped } from '../src/adapters/program.ts';
import { createSigner } from '../src/adapters/signing.ts';
import { openSqliteThreads } from '../src/adapters/sqlite.ts';
import { createSystemClock, createSystemEntropy } from '../src/adapters/system.ts';
import { enrolmentLimits } from '../src/core/enrolment.ts';
import { AppError } from '../src/core/errors.ts';
import { readVersion } from '../src/version.ts';
import { loadAdminTokenHash } from './adapters/admin-token-file.ts';
import { createMqttServer } from './adapters/aedes.ts';
import { loadCertificateAuthority } from './adapters/certificate-authority.ts';
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
import { runDevice, runDeviceCode, runServiceCode } from './cli/devices.ts';
import { configOf, pageSize, readText } from './cli/program.ts';
import { runAudit, runConfig, runRetentionOnce } from './cli/upkeep.ts';
import { createCommandLine, type Flags } from './command-line.ts';
import { type BrokerConfig, isLoopback } from './config.ts';
import { type EnrolmentOptions } from './enrolment.ts';
import { createServices, type Services } from './services.ts';
import { createDatabaseCheck } from './upkeep/database-check.ts';

interface Running {
  readonly broker: Broker;
  readonly services: Services;
  /** The interface for users, and the operator's own where it is switched on. */
  readonly hosts: readonly HttpServer[];
  markStopping(): void;
}

interface AdminHost {
  readonly server: HttpServer;
  readonly port: number;
}

/** The listener of the service's operator; null unless it has a token. */
async function openAdmin(
  { admin }: BrokerConfig,
  services: Services,
  readiness: () => Promise<readonly ReadyCheck[]>,
): Promise<AdminHost | null> {
  if (admin.tokenFile === undefined) return null;
  const server = await createHttpServer({
    services: services.api,
    operations: adminOperations,
    version: readVersion(),
    readiness,
    authenticate: createOperatorCheck(loadAdminTokenHash(admin.tokenFile)),
    introduction: adminIntroduction,
  });
  const port = await server.listen({ host: admin.host, port: admin.port, setting: 'admin' });
  return { server, port };
}

/** @throws AppError `config`. */
function readMqttCa(path: string): string {
  const pem = readText(path, 'enrolment.mqttCaFile').replaceAll('\r\n', '\n').trimStart();
  if (pem.startsWith('-----BEGIN CERTIFICATE-----\n') && pem.length <= enrolmentLimits.pem) return pem;
  throw new AppError('config', `enrolment.mqttCaFile ${path} holds no certificate in PEM`);
}

/** What vehicles are given when they enrol. A broker for this machine alone knows its own address. */
function openEnrolment(config: BrokerConfig, publicKey: string, mqttPort: number): EnrolmentOptions {
  const { codeHours, mqttUrls, mqttCaFile, caCertFile, caKeyFile, certDays } = config.enrolment;
  const entropy = createSystemEntropy();
  const own = isLoopback(config.mqtt.host)
    ? [`mqtt://${config.mqtt.host.replace('::1', '[::1]')}:${mqttPort}`]
    : [];
  return {
    crypto: createEnrolmentCrypto(entropy),
    authority:
      caCertFile === undefined || caKeyFile === undefined
        ? null
        : loadCertificateAuthority({ certFile: caCertFile, keyFile: caKeyFile, days: certDays }, entropy),
    codeHours,
    mqttUrls: mqttUrls.length > 0 ? mqttUrls : own,
    ca: mqttCaFile === undefined ? null : readMqttCa(mqttCaFile),
    publicKey,
  };
}

async function open(config: BrokerConfig): Promise<Running> {
  const log = createLog(config.logLevel);
  const key = loadSigningKey(config.signingKeyFile);
  if (key.isNew) log.warn('signing-key-created', { file: config.signingKeyFile, publicKey: key.publicKey });
  const db = await openSqliteThreads({ path: config.database, pageSize });
  const broker = await createBroker({
    openMqttServer: createMqttServer,
    db,
    clock: createSystemClock(),
    entropy: createSystemEntropy(),
    signer: createSigner(key.privatePem),
    log,
    mqtt: config.mqtt,
  }).catch(async (thrown: unknown) => {
    await db.close();
    throw thrown;
  });
  let isStopping = false;
  const checkDatabase = createDatabaseCheck(db, createSystemClock());
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
      enrolment: openEnrolment(config, key.publicKey, broker.mqttPort),
    });
    const { trustedProxies, host, port, ratePerS, burst } = config.http;
    const http = await createHttpServer({
      services: services.api,
      operations,
      version: readVersion(),
      readiness,
      trustedProxies,
      rates: { ...defaultRequestRates, token: { burst, perS: ratePerS } },
    });
    const httpPort = await http.listen({ host, port });
    const admin = await openAdmin(config, services, readiness);
    log.info('broker-ready', {
      httpHost: host,
      httpPort,
      ...(admin === null ? {} : { adminHost: config.admin.host, adminPort: admin.port }),
      mqttHost: config.mqtt.host,
      mqttPort: broker.mqttPort,
    });
    const hosts = admin === null ? [http] : [http, admin.server];
    return { broker, services, hosts, markStopping: () => void (isStopping = true) };
  } catch (thrown) {
    await broker.close();
    throw thrown;
  }
}

async function start(flags: Flags): Promise<void> {
  const running = await open(configOf(flags).value);
  await untilStopped();
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
  };
  return createCommandLine(handlers, readVersion()).parseAsync();
});
