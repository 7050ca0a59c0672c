// What the benches of connections and latency stand on: a folder with a broker's database of devices that have secrets, a
// certificate of P-256, the real broker process, bare aedes as its yardstick, and clients in processes of their own.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrations } from '../../broker/migrations.ts';
import { hashSecret } from '../../broker/store/devices/device-secret.ts';
import { insertDevice, replaceSecret } from '../../broker/store/devices/devices.ts';
import { noEventLimits } from '../../simulator/broker-process.ts';
import { openSqlite } from '../../src/adapters/database/sqlite.ts';
import { migrate } from '../../src/migrate.ts';
import { createOwnAuthority } from '../support/broker/own-authority.ts';
import { makeAccount } from './bench-account.ts';
import {
  deviceOf,
  type FleetAnswers,
  type FleetOrder,
  type FleetTarget,
  fleetAccount,
  type OpenResult,
} from './fleet-orders.ts';
import { benchSecretOf } from './fleet-secret.ts';
import {
  type FleetProcess,
  type MeasuredProcess,
  startFleetProcess,
  startMeasured,
} from './measured-process.ts';

export const benchLogin = {
  accountID: fleetAccount,
  userID: 'admin',
  password: 'a long bench password',
} as const;
/** Sockets of one process of clients: a storm of ten thousand has one core for all of them, and the broker the other. */
const clientsEach = 10_000;
const createdS = 1_700_000_000;

export interface BenchFolder {
  readonly folder: string;
  readonly database: string;
  readonly ca: string;
  readonly caFile: string;
  readonly caKey: string;
  readonly certFile: string;
  readonly keyFile: string;
  close(): void;
}

/** A database with so many devices, and a certificate for localhost. */
export async function makeBenchFolder(devices: number): Promise<BenchFolder> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-connections-'));
  const database = join(folder, 'fleet.db');
  const db = openSqlite({ path: database, pageSize: 4096 });
  await migrate(db, migrations);
  await makeAccount(db, benchLogin);
  for (let first = 0; first < devices; first += 500) {
    const statements = Array.from({ length: Math.min(500, devices - first) }, (_unused, at) => {
      const key = { accountID: fleetAccount, deviceID: deviceOf(first + at) };
      const secretHash = hashSecret(benchSecretOf(key.deviceID));
      return [...insertDevice(key, { createdS }), replaceSecret({ ...key, secretHash, atS: createdS })];
    });
    await db.write(statements.flat());
  }
  await db.close();
  const authority = createOwnAuthority(folder);
  const { certFile, keyFile } = authority.server('localhost,127.0.0.1');
  return {
    folder,
    database,
    ca: authority.ca,
    caFile: authority.caFile,
    caKey: readFileSync(authority.caKeyFile, 'utf8'),
    certFile,
    keyFile,
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** `mtls`: a certificate of the vehicle is wanted besides its secret. */
export type BenchSecurity = 'plain' | 'tls' | 'mtls';

/** The broker as it is started for vehicles. */
export function startOurBroker(
  { database, certFile, keyFile, caFile }: BenchFolder,
  security: BenchSecurity,
  nodeFlags: readonly string[] = [],
): Promise<MeasuredProcess> {
  const args = [
    'start',
    `--database=${database}`,
    '--http-port=0',
    '--mqtt-port=0',
    '--metrics-port=0',
    '--log-level=info',
    ...noEventLimits,
    ...(security === 'plain' ? [] : [`--mqtt-tls-cert-file=${certFile}`, `--mqtt-tls-key-file=${keyFile}`]),
    ...(security === 'mtls'
      ? [`--mqtt-tls-client-ca-file=${caFile}`, '--mqtt-tls-client-cert=required']
      : []),
  ];
  return startMeasured('../../broker/main.js', args, nodeFlags);
}

export function startBareBroker(
  { certFile, keyFile, caFile }: BenchFolder,
  security: BenchSecurity,
  nodeFlags: readonly string[] = [],
): Promise<MeasuredProcess> {
  const files = { plain: [], tls: [certFile, keyFile], mtls: [certFile, keyFile, caFile] }[security];
  return startMeasured('./bare-broker.js', files, nodeFlags);
}

export interface OpenWish {
  readonly target: FleetTarget;
  readonly first?: number;
  readonly count: number;
  /** How many addresses they come from. */
  readonly addresses: number;
  readonly spreadMs: number;
  readonly resumes?: boolean;
  readonly limitMs?: number;
}

export interface BenchFleet {
  open(wish: OpenWish): Promise<OpenResult>;
  /** The same order to every process. */
  each<Order extends FleetOrder>(order: Order): Promise<readonly FleetAnswers[Order['kind']][]>;
  /** An order to the first process alone. */
  one<Order extends FleetOrder>(order: Order): Promise<FleetAnswers[Order['kind']]>;
  close(): Promise<void>;
}

const addressesOf = (count: number): readonly string[] =>
  Array.from({ length: count }, (_unused, at) => `127.0.${1 + Math.floor(at / 250)}.${1 + (at % 250)}`);

function joinResults(results: readonly OpenResult[]): OpenResult {
  const refused: Record<string, number> = {};
  for (const result of results) {
    for (const [why, count] of Object.entries(result.refused)) refused[why] = (refused[why] ?? 0) + count;
  }
  const sum = (of: (result: OpenResult) => number): number =>
    results.reduce((total, one) => total + of(one), 0);
  return {
    connected: sum((one) => one.connected),
    attempts: sum((one) => one.attempts),
    resumed: sum((one) => one.resumed),
    refused,
    inAfterMs: results.flatMap((one) => one.inAfterMs),
    tookMs: Math.max(...results.map((one) => one.tookMs)),
  };
}

/** Processes for so many clients. */
export async function startFleet(clients: number): Promise<BenchFleet> {
  const count = Math.max(1, Math.ceil(clients / clientsEach));
  const processes: FleetProcess[] = [];
  for (let at = 0; at < count; at++) processes.push(await startFleetProcess());
  const [one] = processes;
  if (one === undefined) throw new Error('there is no process of clients');
  return {
    async open({
      target,
      first = 0,
      count: wanted,
      addresses,
      spreadMs,
      resumes = false,
      limitMs = 120_000,
    }) {
      const share = Math.ceil(wanted / processes.length);
      const from = addressesOf(addresses);
      const common = { kind: 'open', target, from, spreadMs, resumes, limitMs } as const;
      const results = await Promise.all(
        processes.map((each, at) => {
          const begin = at * share;
          return each.ask({ ...common, first: first + begin, count: Math.min(share, wanted - begin) });
        }),
      );
      return joinResults(results);
    },
    each: (order) => Promise.all(processes.map((each) => each.ask(order))),
    one: (order) => one.ask(order),
    close: async () => void (await Promise.all(processes.map((each) => each.close()))),
  };
}
