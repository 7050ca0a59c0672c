#!/usr/bin/env node
// The broker's command line and the only place that joins its adapters to its ports. Nothing is decided here. A
// failure ends with one plain message on stderr and the exit code of its kind (sysexits.h).
import { existsSync, readFileSync } from 'node:fs';
import { createEnrolmentCrypto } from '../src/adapters/enrolment-crypto.ts';
import { createLog } from '../src/adapters/log.ts';
import { runProgram, untilStopped } from '../src/adapters/program.ts';
import { createSigner, createVerifier } from '../src/adapters/signing.ts';
import { openSqlite, openSqliteThreads } from '../src/adapters/sqlite.ts';
import { createSystemClock, createSystemEntropy } from '../src/adapters/system.ts';
import { readConfigFile, readEnvironment, settingAt, settingsOf } from '../src/config.ts';
import { enrolmentLimits } from '../src/core/enrolment.ts';
import { AppError, messageOf } from '../src/core/errors.ts';
import { migrate } from '../src/migrate.ts';
import { readVersion } from '../src/version.ts';
import { runAccountCommand } from './accounts/account-commands.ts';
import {
  type AdministrationPorts,
  createAccount,
  createDevice,
  generatePassword,
} from './accounts/administration.ts';
import { createAdminToken, loadAdminTokenHash } from './adapters/admin-token-file.ts';
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
import { reportHeads, reportVerify } from './audit/report.ts';
import { type Broker, createBroker } from './broker.ts';
import { type AccountAction, createCommandLine, type Flags } from './command-line.ts';
import { type BrokerConfig, brokerSchema, isLoopback, loadBrokerConfig } from './config.ts';
import { issueDeviceSecret } from './device-secret.ts';
import { type EnrolmentOptions, makeEnrolmentCode } from './enrolment.ts';
import { codeHoursMost } from './enrolment-config.ts';
import { createServices, type Services } from './services.ts';
import { findDevice } from './store/devices.ts';
import { migrations } from './store/migrations.ts';
import { createDatabaseCheck } from './upkeep/database-check.ts';
import { runRetention } from './upkeep/retention.ts';

const pageSize = 4096;
/** Between two batches, so that a running broker has the disk in between. */
const retentionRestMs = 20;

function configOf(flags: Flags) {
  const path = flags['config'];
  const file = typeof path === 'string' ? readConfigFile(path) : null;
  return loadBrokerConfig({ file, env: readEnvironment(), flags });
}

function print(flags: Flags, output: { readonly json: object; readonly text: string }): void {
  const isJson = flags['json'] === true;
  process.stdout.write(`${isJson ? JSON.stringify(output.json) : output.text}\n`);
}

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

/** Opens the database for one piece of work and closes it whatever happens; the broker may run meanwhile. */
async function administer(
  config: BrokerConfig,
  work: (ports: AdministrationPorts) => Promise<void>,
): Promise<void> {
  const db = openSqlite({ path: config.database, pageSize });
  try {
    await migrate(db, migrations);
    await work({
      db,
      clock: createSystemClock(),
      entropy: createSystemEntropy(),
      passwords: createPasswords(),
    });
  } finally {
    await db.close();
  }
}

/** The first line of a file; `-` is standard input. */
function readPassword(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8').split(/\r?\n/, 1)[0] ?? '';
  } catch (thrown) {
    throw new AppError('usage', `cannot read the password file ${path}: ${messageOf(thrown)}`);
  }
}

async function runAccountCreate(flags: Flags): Promise<void> {
  const accountID = String(flags['accountID']);
  const userID = String(flags['admin']);
  const file = flags['password-file'];
  await administer(configOf(flags).value, async (ports) => {
    const generated = file === undefined ? generatePassword(ports.entropy) : undefined;
    const password = generated ?? readPassword(String(file));
    await createAccount(ports, { accountID, userID, password });
    const shown = generated === undefined ? {} : { password: generated };
    const line = generated === undefined ? '' : `\npassword: ${generated}   (shown once)`;
    print(flags, {
      json: { accountID, userID, ...shown },
      text: `account ${accountID}, administrator ${userID}${line}`,
    });
  });
}

async function runAccount(flags: Flags, action: AccountAction): Promise<void> {
  const config = configOf(flags).value;
  needDatabase(config);
  await administer(config, async (ports) => {
    const onProgress = (line: string): void => void process.stderr.write(`${line}\n`);
    print(flags, await runAccountCommand({ ...ports, onProgress }, action, flags));
  });
}

function runAdminToken(flags: Flags): void {
  const file = String(flags['file']);
  createAdminToken(file, createSystemEntropy());
  print(flags, {
    json: { file },
    text: `${file} holds the token in its one line\nstart the broker with --admin-token-file ${file}`,
  });
}

/** A misspelt path must not make a new fleet with a new key. */
function needDatabase({ database }: BrokerConfig): void {
  if (existsSync(database)) return;
  throw new AppError('not_found', `there is no database ${database}`, {
    hint: 'Name it with --database; `fleetward-broker account create` makes a new one.',
  });
}

async function runDevice(flags: Flags, action: 'create' | 'secret'): Promise<void> {
  const key = { accountID: String(flags['accountID']), deviceID: String(flags['deviceID']) };
  const config = configOf(flags).value;
  needDatabase(config);
  await administer(config, async (ports) => {
    const { publicKey } = loadSigningKey(config.signingKeyFile);
    const secret =
      action === 'create'
        ? await createDevice(ports, key)
        : await issueDeviceSecret(ports.db, ports.entropy, ports.clock, key);
    const username = `${key.accountID}/${key.deviceID}`;
    const text = `username: ${username}\nsecret: ${secret}   (shown once)\nbroker public key: ${publicKey}`;
    print(flags, { json: { ...key, username, secret, publicKey }, text });
  });
}

/** Makes an enrolment code; whether the unit is connected now is what the running broker last wrote. */
async function runDeviceCode(flags: Flags): Promise<void> {
  const key = { accountID: String(flags['accountID']), deviceID: String(flags['deviceID']) };
  const config = configOf(flags).value;
  needDatabase(config);
  const hours = hoursOf(flags['hours']) ?? config.enrolment.codeHours;
  await administer(config, async (ports) => {
    const crypto = createEnrolmentCrypto(ports.entropy);
    const wish = { key, hours, actor: 'operator', source: '' };
    const made = await makeEnrolmentCode({ ...ports, crypto }, wish);
    const isOnline = (await findDevice(ports.db, key))?.isOnline === true;
    const expires = Math.floor(made.expiresMs / 1000);
    const warning = isOnline ? '\nits unit is connected now: using the code cuts it off' : '';
    const use = `fleetward-agent enrol --broker <http address of this broker> --code ${made.code}`;
    const text = `${made.code}   (shown once, good for ${hours} h and one unit)\non the vehicle: ${use}${warning}`;
    print(flags, { json: { ...key, code: made.code, codeID: made.codeID, expires, isOnline }, text });
  });
}

/** @throws AppError `usage`. */
function hoursOf(text: unknown): number | null {
  if (text === undefined) return null;
  const hours = Number(text);
  if (Number.isInteger(hours) && hours >= 1 && hours <= codeHoursMost) return hours;
  throw new AppError('usage', `--hours must be a whole number from 1 to ${codeHoursMost}`);
}

/** A text file; `-` is standard input. */
function readText(path: string, what: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (thrown) {
    throw new AppError('usage', `cannot read ${what} ${path}: ${messageOf(thrown)}`);
  }
}

async function runAudit(flags: Flags, action: 'verify' | 'heads'): Promise<void> {
  const config = configOf(flags).value;
  needDatabase(config);
  const accountID = typeof flags['account'] === 'string' ? flags['account'] : null;
  const file = flags['head'];
  const key = () => loadSigningKey(config.signingKeyFile);
  await administer(config, async ({ db, clock }) => {
    if (action === 'heads') {
      return print(
        flags,
        await reportHeads({ db, clock, signer: createSigner(key().privatePem) }, accountID),
      );
    }
    const kept =
      typeof file === 'string'
        ? { text: readText(file, 'the saved heads'), verifier: createVerifier(key().publicKey) }
        : null;
    const onProgress = (line: string): void => void process.stderr.write(`${line}\n`);
    const report = await reportVerify({ db, clock, accountID, kept, onProgress });
    print(flags, report);
    // Not a fault of the program or of its input: the log itself is wrong.
    if (!report.isGood) process.exitCode = 1;
  });
}

async function runRetentionOnce(flags: Flags): Promise<void> {
  const config = configOf(flags).value;
  needDatabase(config);
  const isDry = flags['dry-run'] === true;
  await administer(config, async ({ db, clock }) => {
    const rest = (): Promise<void> => new Promise((resolve) => void clock.after(retentionRestMs, resolve));
    const accounts = await runRetention({ db, clock, nowMs: Math.round(clock.utcMs()), rest, isDry });
    const lines = accounts.map(
      ({ accountID, days, devices, events, payloads }) =>
        `${accountID}: ${events} events and ${payloads} unreadable payloads of ${devices} devices, older than ${days} days`,
    );
    const head = isDry ? 'would be removed:' : 'removed:';
    const text = lines.length === 0 ? 'no account has a limit' : [head, ...lines].join('\n');
    print(flags, { json: { isDry, accounts }, text });
  });
}

function runConfig(flags: Flags, action: 'check' | 'show'): void {
  const { value, origins } = configOf(flags);
  if (action === 'check') return print(flags, { json: { ok: true }, text: 'the configuration is good' });
  const lines = settingsOf(brokerSchema).map(({ key }) => {
    const origin = flags['origin'] === true ? `   # ${origins[key]?.name ?? 'default'}` : '';
    return `${key} = ${JSON.stringify(settingAt(value, key))}${origin}`;
  });
  print(flags, { json: { config: value, origins }, text: lines.join('\n') });
}

await runProgram('fleetward-broker', () => {
  const handlers = {
    start,
    accountCreate: runAccountCreate,
    account: runAccount,
    adminToken: runAdminToken,
    device: runDevice,
    deviceCode: runDeviceCode,
    audit: runAudit,
    retention: runRetentionOnce,
    config: runConfig,
  };
  return createCommandLine(handlers, readVersion()).parseAsync();
});
