// The set-up of a demo and its folder: account, devices and their secrets, created through the broker's command line. Each step is saved
// before the next, so that an interrupted start continues; secrets have mode 0600.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { Entropy } from '../../src/ports.ts';
import { type BrokerProcessOptions, runBrokerCommand } from '../broker-process.ts';
import { townFile } from '../town/town-map.ts';
import type { OwnerFiles } from './practice-owner.ts';

/** The one account of the demo and its administrator. */
export const accountID = 'demo';
export const userID = 'admin';

interface SetupOptions {
  readonly entropy: Entropy;
  readonly vehicles: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly output: NodeJS.WritableStream;
}

export interface DeviceSecret {
  readonly secret: string;
  readonly publicKey: string;
}

/** What the folder keeps between two starts. */
interface DemoRecord {
  readonly account: string;
  readonly devices: Readonly<Record<string, DeviceSecret>>;
  /** Password of the colleague; absent: there is none yet. */
  readonly colleague?: string;
}

const noRecord: DemoRecord = { account: '', devices: {} };

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function parseSecret(value: unknown): DeviceSecret | null {
  if (!isRecord(value)) return null;
  const { secret, publicKey } = value as { secret?: unknown; publicKey?: unknown };
  return typeof secret === 'string' && typeof publicKey === 'string' ? { secret, publicKey } : null;
}

async function readRecord(path: string): Promise<DemoRecord> {
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) return noRecord;
  try {
    const value: unknown = JSON.parse(text);
    const found = isRecord(value) && isRecord(value['devices']) ? Object.entries(value['devices']) : [];
    const devices = found.flatMap(([id, kept]) => {
      const secret = parseSecret(kept);
      return secret === null ? [] : [[id, secret] as const];
    });
    const colleague = isRecord(value) ? value['colleague'] : undefined;
    const record = { account: accountID, devices: Object.fromEntries(devices) };
    return typeof colleague === 'string' ? { ...record, colleague } : record;
  } catch (error) {
    throw new AppError('config', `${path} is damaged: ${messageOf(error)}`, {
      hint: 'npm start -- --fresh starts over',
    });
  }
}

/** Replaces what the folder keeps. */
export async function writeRecord(path: string, record: DemoRecord): Promise<void> {
  await writeFile(path, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
}

export interface Paths {
  readonly folder: string;
  readonly record: string;
  readonly database: string;
  readonly brokerLog: string;
  readonly vehicleLog: string;
  readonly outboxes: string;
  /** Folder of map files, with that of the town. */
  readonly maps: string;
  /** Folder of the practice owner. */
  readonly owner: string;
}

/** Paths in the folder of a demo. */
export function pathsIn(folder: string): Paths {
  const root = resolve(folder);
  return {
    folder: root,
    record: join(root, 'demo.json'),
    database: join(root, 'fleetward.db'),
    brokerLog: join(root, 'broker.log'),
    vehicleLog: join(root, 'vehicles.log'),
    outboxes: join(root, 'vehicles'),
    maps: join(root, 'maps'),
    owner: join(root, 'owner'),
  };
}

/** Deletes the files of a demo by name: the folder may hold other files. */
export async function forget(paths: Paths): Promise<void> {
  const { database } = paths;
  const beside = ['', '-wal', '-shm', '.signing-key.pem', '.vapid-key.pem'].map(
    (suffix) => `${database}${suffix}`,
  );
  const logs = [paths.brokerLog, paths.vehicleLog, `${paths.vehicleLog}.1`];
  const map = join(paths.maps, townFile);
  for (const path of [...beside, ...logs, map, paths.record, paths.outboxes, paths.owner])
    await rm(path, { recursive: true, force: true });
}

/** Files of the practice owner, for this user alone. */
export const ownerFiles = ({ owner }: Paths): OwnerFiles => ({
  async renew() {
    await rm(owner, { recursive: true, force: true });
    await mkdir(owner, { recursive: true, mode: 0o700 });
  },
  read: (name) => readFile(join(owner, name), 'utf8').catch(() => null),
  write: (name, text) => writeFile(join(owner, name), text, { mode: 0o600 }),
});

/** 120 random bits. */
function generatePassword(entropy: Entropy): string {
  return Buffer.from(entropy.bytes(15)).toString('base64url');
}

/** Checked before anything is created. The limits are those of the broker's passwords. */
function givenPassword(environment: SetupOptions['environment']): string | undefined {
  const given = environment['FLEETWARD_DEMO_PASSWORD'];
  if (given === undefined || /^[^\r\n]{12,256}$/u.test(given)) return given;
  throw new AppError('usage', 'FLEETWARD_DEMO_PASSWORD must have 12 to 256 characters, on one line', {
    hint: 'Without it a password is generated and shown.',
  });
}

export interface Setup {
  readonly record: DemoRecord;
  /** Null on a later start: it was printed at the first. */
  readonly password: string | null;
}

/** Creates account and devices through the broker's command line and saves each step. */
export async function setUp(
  options: SetupOptions,
  paths: Paths,
  broker: BrokerProcessOptions,
): Promise<Setup> {
  let record = await readRecord(paths.record);
  let password: string | null = null;
  if (record.account === '') {
    password = givenPassword(options.environment) ?? generatePassword(options.entropy);
    const args = [
      'account',
      'create',
      accountID,
      '--admin',
      userID,
      '--password-file',
      '-',
      '--base-map',
      townFile,
    ];
    await runBrokerCommand(broker, args, `${password}\n`).catch((error: unknown) => {
      // The account is there, but this folder does not know it. Any other fault brings its own remedy along.
      const isThere = error instanceof AppError && error.code === 'conflict';
      const hint = 'An earlier start was broken off: npm start -- --fresh starts over';
      throw new AppError('unavailable', messageOf(error), { ...(isThere ? { hint } : {}), cause: error });
    });
    record = { account: accountID, devices: {} };
    await writeRecord(paths.record, record);
  }
  const missing = deviceIDs(options.vehicles).filter((id) => record.devices[id] === undefined);
  for (const [at, id] of missing.entries()) {
    options.output.write(`  creating vehicle ${at + 1} of ${missing.length}\n`);
    record = { ...record, devices: { ...record.devices, [id]: await createDevice(broker, id) } };
    await writeRecord(paths.record, record);
  }
  return { record, password };
}

/**
 * A new one-time code for the console's login, made by the broker's command line. Null when the demo's account allows none, for
 * example because its cuts need a second user.
 */
export async function makeLoginCode(broker: BrokerProcessOptions): Promise<string | null> {
  const args = ['account', 'login-code', accountID, userID, '--json'];
  try {
    const { code } = JSON.parse(await runBrokerCommand(broker, args)) as { readonly code?: unknown };
    return typeof code === 'string' ? code : null;
  } catch {
    return null;
  }
}

async function createDevice(broker: BrokerProcessOptions, id: string): Promise<DeviceSecret> {
  const make = (action: 'create' | 'secret'): Promise<string> =>
    runBrokerCommand(broker, ['device', action, accountID, id, '--json']);
  // An earlier start may have ended between the creation and the note of its secret.
  const printed = await make('create').catch((error: unknown) => {
    if (messageOf(error).includes('already')) return make('secret');
    throw error;
  });
  const secret = parseSecret(JSON.parse(printed));
  if (secret === null) throw new AppError('internal', `The broker printed no secret for ${id}`);
  return secret;
}

/** `van-01`, `van-02` … */
export function deviceIDs(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `van-${String(at + 1).padStart(2, '0')}`);
}
