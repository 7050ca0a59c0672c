// What the bench of neighbours stands on: a broker process with the limits that it has by default, an account of 10,000 vehicles that is
// attacked, and another tenant whose trackers report; each has a rule that sends every panic by webhook.
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../src/adapters/database/database.ts';
import { dayS } from '../../src/core/durations.ts';
import type { Say } from './agent-figures.ts';
import { benchAccount, busyDevice, busyDevices, makeFleetDatabase, monthlyStepMs } from './fleet-database.ts';
import { furnishUser } from './fleet-users.ts';
import { furnishAccount, furnishDevices, ingestAccount, profileFlags } from './ingest-servers.ts';
import { type MeasuredProcess, serviceFlags, startMeasured } from './measured-process.ts';
import type { AttackPlace, ClientsPlace } from './neighbours-orders.ts';

const attacked = benchAccount.accountID;
const tenant = 'neighbour';
const tenantDevices = 200;
/** Those of them that report. */
const reporting = 10;
const storedEvents = 50_000;
/** One token may ask 30 times a second. */
const sessions = 10;

export interface Stage {
  readonly broker: MeasuredProcess;
  readonly attack: Omit<AttackPlace, 'hookPort'>;
  readonly clients: ClientsPlace;
  close(): Promise<void>;
}

const named = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_unused, at) => `${prefix}-${String(at).padStart(5, '0')}`);

async function furnish(database: string) {
  const db = await openDatabase({ database, environment: {}, use: 'command' });
  await furnishAccount(db, tenant);
  await furnishDevices(db, tenant, named('van', tenantDevices));
  await furnishDevices(db, attacked, []);
  const user = (accountID: string, userID: string, role: 'admin' | 'viewer', deviceIDs?: readonly string[]) =>
    furnishUser(db, { accountID, userID, role, sessions, ...(deviceIDs === undefined ? {} : { deviceIDs }) });
  const tokens = {
    narrow: await user(attacked, 'narrow', 'viewer', named('truck', 2)),
    wide: await user(attacked, 'wide', 'viewer'),
    colleagues: [...(await user(attacked, 'ann', 'viewer')), ...(await user(attacked, 'bob', 'viewer'))],
    boss: await user(attacked, 'boss', 'admin'),
    tenant: await user(tenant, 'tess', 'admin'),
  };
  await db.close();
  return tokens;
}

type Post = (path: string, token: string, body: object) => Promise<Readonly<Record<string, unknown>>>;

const postAt =
  (port: number): Post =>
  async (path, token, body) => {
    const headers = { authorization: token, 'content-type': 'application/json' };
    const url = `http://127.0.0.1:${port}/api/v1/${path}/authorization`;
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Readonly<Record<string, unknown>>;
  };

export interface StageOptions {
  /** Ports of the receivers of webhooks. */
  readonly hooks: { readonly attackers: number; readonly clients: number };
  /** Folder for CPU profiles of the broker, one a thread; null: none. */
  readonly profile: string | null;
  /** Where the database is made. */
  readonly folder: string;
  readonly say: Say;
}

export async function openStage({ hooks, profile, folder: parent, say }: StageOptions): Promise<Stage> {
  const folder = mkdtempSync(join(parent, 'fleetward-neighbours-'));
  const database = join(folder, 'fleet.db');
  let broker: MeasuredProcess | null = null;
  const close = async (): Promise<void> => {
    await broker?.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    say('the attacked account, its 10,000 vehicles and their history are made');
    const nowMs = Date.now();
    const fleet = { path: database, eventCount: storedEvents, nowMs, stepMs: monthlyStepMs };
    await makeFleetDatabase(fleet, () => undefined);
    const tokens = await furnish(database);
    broker = await startMeasured(
      '../../broker/main.js',
      [
        'start',
        `--database=${database}`,
        '--http-port=0',
        '--mqtt-port=0',
        '--log-level=info',
        '--notify-allow-private-targets',
      ],
      [...serviceFlags, ...profileFlags(profile)],
    );
    const { mqttPort, httpPort = 0 } = broker;
    const post = postAt(httpPort);
    const [boss = '', tess = ''] = [tokens.boss[0], tokens.tenant[0]];
    const rule = (port: number) => ({
      ruleID: 'panics',
      statusCodes: [63_553],
      silenceS: 0,
      webhook: { url: `http://127.0.0.1:${port}/` },
    });
    await post('notification/updaterule', boss, rule(hooks.attackers));
    await post('notification/updaterule', tess, rule(hooks.clients));
    const toS = Math.floor(nowMs / 1000);
    const trip = { startTime: toS - dayS, endTime: toS - 1, expires: toS + dayS };
    const share = await post('share/create', boss, { deviceID: busyDevice, ...trip });
    const orderDevice = 'truck-00100';
    const limits = { description: 'bench', scopes: ['read', 'command'], devices: [orderDevice] };
    const orderTokens: string[] = [];
    for (let at = 0; at < sessions; at++)
      orderTokens.push(String((await post('auth/token', boss, limits))['token']));
    const { secret } = ingestAccount;
    return {
      broker,
      attack: {
        httpPort,
        mqttPort,
        secret,
        accountID: attacked,
        narrowTokens: tokens.narrow,
        wideTokens: tokens.wide,
        orderTokens,
        orderDevice,
        shareToken: String(share['token']),
        busyDevices: named('truck', busyDevices),
        dayS: { from: toS - dayS, to: toS },
        tracker: 'truck-00200',
      },
      clients: {
        httpPort,
        mqttPort,
        secret,
        accountID: tenant,
        deviceIDs: named('van', reporting),
        tokens: tokens.tenant,
        colleagues: {
          accountID: attacked,
          deviceIDs: named('truck', reporting),
          tokens: tokens.colleagues,
        },
      },
      close,
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}
