// A broker of the run's own: the program from this build on a database in the run's folder, set up through its own command line.
// It can be killed without mercy and started again on the same files; it never outlives the run.
import { mkdir, readdir, stat } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { Entropy } from '../../src/ports.ts';
import {
  type DemoBroker,
  type DemoBrokerOptions,
  runBrokerCommand,
  startDemoBroker,
} from '../demo/demo-broker.ts';
import type { Login } from './service.ts';

/** Where a run sends its vehicles. */
export interface Target {
  /** Of the HTTP service, such as `http://127.0.0.1:8080`. */
  readonly http: string;
  /** Of the MQTT listener, such as `mqtt://127.0.0.1:1883`. */
  readonly mqtt: string;
  readonly login: Login;
  /** The key that vehicles pin; null: asked for with the first device. */
  readonly publicKey: string | null;
  /** PEM of the authority to trust, for both; null: the system's list. */
  readonly ca?: string | null;
}

export interface OwnBroker {
  readonly target: Target;
  /** Where it shows its figures. */
  readonly metricsUrl: string;
  /** The broker's public key, told with the new secret of this device; the secret before is void. */
  keyWithSecret(deviceID: string): Promise<{ readonly secret: string; readonly publicKey: string }>;
  /** Kills it (SIGKILL). */
  kill(): void;
  /** Starts it again on the same database and ports. */
  restart(): Promise<void>;
  /** Resolves with the reason when it ends although nobody stopped it. */
  readonly died: Promise<string>;
  close(): Promise<void>;
}

const accountID = 'simulation';
const userID = 'simulator';
const host = '127.0.0.1';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, host, done));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((done) => server.close(() => done()));
  return port;
}

/**
 * One after the other from the top: asked for a whole path at once, Node 20 never comes back where a parent takes no folder and says
 * that it is not there, as /proc does.
 */
async function makeFolder(folder: string): Promise<void> {
  const isThere = (await stat(folder).catch(() => null))?.isDirectory() === true;
  if (isThere) return;
  if (dirname(folder) !== folder) await makeFolder(dirname(folder));
  await mkdir(folder, { mode: 0o700 });
}

/** A run removes its folder when it has passed: whatever else is in there must not go with it. */
async function claim(folder: string): Promise<void> {
  await makeFolder(resolve(folder)).catch((cause: unknown) => {
    throw new AppError('usage', `The folder ${folder} cannot be made: ${messageOf(cause)}`, { cause });
  });
  if ((await readdir(folder)).length === 0) return;
  throw new AppError('usage', `The folder ${folder} is not empty`, {
    hint: 'A run removes its folder at the end: give it one of its own with --state.',
  });
}

/**
 * Starts a broker in `folder`, which must be new or empty. Rejects with AppError `usage`, or `unavailable` and the broker's
 * last words.
 */
export async function startOwnBroker(options: {
  readonly folder: string;
  readonly entropy: Entropy;
  readonly environment: DemoBrokerOptions['environment'];
}): Promise<OwnBroker> {
  const { folder, entropy, environment } = options;
  await claim(folder);
  const metricsPort = await freePort();
  const broker: DemoBrokerOptions = {
    database: join(folder, 'fleetward.db'),
    httpPort: await freePort(),
    mqttPort: await freePort(),
    metricsPort,
    logFile: join(folder, 'broker.log'),
    environment,
  };
  const password = Buffer.from(entropy.bytes(24)).toString('base64url');
  const create = ['account', 'create', accountID, '--admin', userID, '--password-file', '-'];
  await runBrokerCommand(broker, create, `${password}\n`);
  let running: DemoBroker = await startDemoBroker(broker);
  let tell: (reason: string) => void = () => undefined;
  const died = new Promise<string>((done) => {
    tell = done;
  });
  const watch = (): void => void running.died.then((reason) => tell(reason));
  watch();
  return {
    target: {
      http: `http://${host}:${broker.httpPort}`,
      mqtt: `mqtt://${host}:${broker.mqttPort}`,
      login: { accountID, userID, password },
      publicKey: null,
    },
    metricsUrl: `http://${host}:${metricsPort}/metrics`,
    async keyWithSecret(deviceID) {
      const printed = await runBrokerCommand(broker, ['device', 'secret', accountID, deviceID, '--json']);
      return JSON.parse(printed) as { secret: string; publicKey: string };
    },
    kill: () => running.kill(),
    async restart() {
      running = await startDemoBroker(broker);
      watch();
    },
    died,
    close: () => running.close(),
  };
}
