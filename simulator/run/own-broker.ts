// A broker of the run's own: the program from this build on a database in the run's folder, set up through its command line. It can be
// killed with SIGKILL and started again on the same files; it never outlives the run.
import { mkdir, readdir, stat } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { Entropy } from '../../src/ports.ts';
import { ageUser } from '../age-user.ts';
import {
  type BrokerProcess,
  type BrokerProcessOptions,
  noEventLimits,
  runBrokerCommand,
  startBrokerProcess,
} from '../broker-process.ts';
import type { OwnBroker } from './service/broker-access.ts';
import type { Login } from './service/service.ts';
import type { RunPorts } from './shared/run-ports.ts';
import { createSecretText } from './shared/secret-text.ts';

const accountID = 'simulation';
const userID = 'simulator';
const host = '127.0.0.1';

/** Below those that Linux gives to outgoing connections (32768 and up): a broker that was killed finds its ports free again. */
const portLeast = 16_384;
const portCount = 16_384;
const portTries = 100;

/** A free port of that range, held by the server. @throws AppError `unavailable` when none is found. */
async function holdPort(entropy: Entropy): Promise<Server> {
  let error: Error | null = null;
  for (let tries = 0; tries < portTries; tries += 1) {
    const server = createServer();
    const port = portLeast + Math.floor(entropy.fraction() * portCount);
    error = await new Promise<Error | null>((done) => {
      server.once('error', done);
      server.listen(port, host, () => done(null));
    });
    if (error === null) return server;
  }
  throw new AppError('unavailable', `No free port was found at ${host}: ${messageOf(error)}`, {
    hint: 'Can programs listen on the loopback interface of this machine?',
  });
}

/** Distinct free ports: all are held until the last is known. */
async function freePorts(entropy: Entropy, count: number): Promise<readonly number[]> {
  const servers: Server[] = [];
  while (servers.length < count) servers.push(await holdPort(entropy));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise<void>((done) => server.close(() => done()))));
  return ports;
}

/**
 * Creates the folders of a path one by one. A recursive `mkdir` of Node 20 never returns where a parent reports ENOENT for a new
 * folder, like /proc.
 */
async function makeFolder(folder: string): Promise<void> {
  const isThere = (await stat(folder).catch(() => null))?.isDirectory() === true;
  if (isThere) return;
  if (dirname(folder) !== folder) await makeFolder(dirname(folder));
  await mkdir(folder, { mode: 0o700 });
}

/** A run removes its folder when it has passed, so the folder must hold nothing else. */
async function assertEmptyFolder(folder: string): Promise<void> {
  await makeFolder(resolve(folder)).catch((cause: unknown) => {
    throw new AppError('usage', `The folder ${folder} cannot be created: ${messageOf(cause)}`, { cause });
  });
  if ((await readdir(folder)).length === 0) return;
  throw new AppError('usage', `The folder ${folder} is not empty`, {
    hint: 'A run removes its folder at the end: choose an empty one with --state.',
  });
}

/**
 * Starts a broker in `folder`, which must be new or empty. Rejects with AppError `usage`, or `unavailable` and the last lines of
 * the broker's log.
 */
export async function startOwnBroker(options: {
  readonly folder: string;
  readonly entropy: Entropy;
  readonly openDatabase: RunPorts['openDatabase'];
  readonly environment: BrokerProcessOptions['environment'];
}): Promise<OwnBroker> {
  const { folder, entropy, openDatabase, environment } = options;
  await assertEmptyFolder(folder);
  const [metricsPort = 0, httpPort = 0, mqttPort = 0] = await freePorts(entropy, 3);
  const broker: BrokerProcessOptions = {
    database: join(folder, 'fleetward.db'),
    httpPort,
    mqttPort,
    metricsPort,
    logFile: join(folder, 'broker.log'),
    // A webhook of the run itself is on this machine, and the run decides how much it sends.
    flags: ['--notify-allow-private-targets', ...noEventLimits],
    environment,
  };
  const createAccount = async (name: string): Promise<Login> => {
    const password = createSecretText(entropy);
    const create = ['account', 'create', name, '--admin', userID, '--password-file', '-'];
    await runBrokerCommand(broker, create, `${password}\n`);
    return { accountID: name, userID, password };
  };
  const login = await createAccount(accountID);
  let running: BrokerProcess = await startBrokerProcess(broker);
  let onDied: (reason: string) => void = () => undefined;
  const died = new Promise<string>((done) => {
    onDied = done;
  });
  const watch = (): void => void running.died.then((reason) => onDied(reason));
  watch();
  return {
    target: {
      http: `http://${host}:${broker.httpPort}`,
      mqtt: `mqtt://${host}:${broker.mqttPort}`,
      login,
      publicKey: null,
    },
    metricsUrl: `http://${host}:${metricsPort}/metrics`,
    async keyWithSecret(deviceID) {
      const printed = await runBrokerCommand(broker, ['device', 'secret', accountID, deviceID, '--json']);
      return JSON.parse(printed) as { secret: string; publicKey: string };
    },
    async ageUser(user) {
      await ageUser({ openDatabase, path: broker.database, accountID: null, userID: user });
    },
    auditFault: () =>
      runBrokerCommand(broker, ['audit', 'verify']).then(
        () => null,
        (thrown: unknown) => messageOf(thrown),
      ),
    createAccount,
    kill: () => running.kill(),
    async restart() {
      running = await startBrokerProcess(broker);
      watch();
    },
    died,
    close: () => running.close(),
  };
}
