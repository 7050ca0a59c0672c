#!/usr/bin/env node
// The broker's command line and the only place that joins its adapters to its ports. Nothing is decided here. A
// failure ends with one plain message on stderr and the exit code of its kind (sysexits.h).
import { existsSync, readFileSync } from 'node:fs';
import { createLog } from '../src/adapters/log.ts';
import { runProgram, untilStopped } from '../src/adapters/program.ts';
import { createSigner } from '../src/adapters/signing.ts';
import { openSqlite, openSqliteThreads } from '../src/adapters/sqlite.ts';
import { createSystemClock, createSystemEntropy } from '../src/adapters/system.ts';
import { readConfigFile, readEnvironment, settingAt, settingsOf } from '../src/config.ts';
import { AppError, messageOf } from '../src/core/errors.ts';
import { migrate } from '../src/migrate.ts';
import { readVersion } from '../src/version.ts';
import { createMqttServer } from './adapters/aedes.ts';
import { createHttpServer, type HttpServer, type ReadyCheck } from './adapters/fastify.ts';
import { createPasswords } from './adapters/passwords.ts';
import { loadSigningKey } from './adapters/signing-key-file.ts';
import { type AdministrationPorts, createAccount, createDevice, generatePassword } from './administration.ts';
import { operations } from './api/operations.ts';
import { type Broker, createBroker } from './broker.ts';
import { createCommandLine, type Flags } from './command-line.ts';
import { type BrokerConfig, brokerSchema, loadBrokerConfig } from './config.ts';
import { createDatabaseCheck } from './database-check.ts';
import { issueDeviceSecret } from './device-secret.ts';
import { createServices, type Services } from './services.ts';
import { migrations } from './store/migrations.ts';

const pageSize = 4096;

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
  readonly http: HttpServer;
  markStopping(): void;
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
    const services = createServices({ broker: broker.services, passwords: createPasswords() });
    const { trustedProxies, host, port } = config.http;
    const http = await createHttpServer({
      services: services.api,
      operations,
      version: readVersion(),
      readiness,
      trustedProxies,
    });
    const httpPort = await http.listen({ host, port });
    log.info('broker-ready', {
      httpHost: host,
      httpPort,
      mqttHost: config.mqtt.host,
      mqttPort: broker.mqttPort,
    });
    return { broker, services, http, markStopping: () => void (isStopping = true) };
  } catch (thrown) {
    await broker.close();
    throw thrown;
  }
}

async function start(flags: Flags): Promise<void> {
  const running = await open(configOf(flags).value);
  await untilStopped();
  running.markStopping();
  const { broker, services, http } = running;
  await broker.close(Promise.all([http.close(), services.close()]));
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

async function runDevice(flags: Flags, action: 'create' | 'secret'): Promise<void> {
  const key = { accountID: String(flags['accountID']), deviceID: String(flags['deviceID']) };
  const config = configOf(flags).value;
  // A misspelt path must not make a new fleet with a new key.
  if (!existsSync(config.database)) {
    throw new AppError('not_found', `there is no database ${config.database}`, {
      hint: 'Name it with --database; `fleetward-broker account create` makes a new one.',
    });
  }
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
  const handlers = { start, accountCreate: runAccountCreate, device: runDevice, config: runConfig };
  return createCommandLine(handlers, readVersion()).parseAsync();
});
