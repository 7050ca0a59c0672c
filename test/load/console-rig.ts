// What the console bench stands on: a real broker with the fleet in its database, vehicles that report over MQTT in a process of their own, and
// Debian's Chromium with WebGL by software. It ends every process that it started.
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { insertDevice } from '../../broker/store/devices/devices.ts';
import { openSqlite } from '../../src/adapters/database/sqlite.ts';
import { sql } from '../../src/sql.ts';
import { openMapBrowser } from '../support/machine/browser.ts';
import type { Say } from './agent-figures.ts';
import { makeAccount } from './bench-account.ts';
import { type BenchFolder, benchLogin, makeBenchFolder, startOurBroker } from './bench-fleet.ts';
import type { VehiclesAnswer, VehiclesOrder } from './console-vehicles.ts';
import { type MeasuredProcess, serviceFlags, startClients } from './measured-process.ts';

/** The same service with no vehicle: what the page costs without them. */
const emptyLogin = { ...benchLogin, accountID: 'empty' } as const;
/** Vehicles with a connection; a larger fleet has the rest of its vehicles in the database, where they were last. */
const connectionsMost = 10_000;
/** The first vehicles report on order only. */
export const onOrder = 400;

export interface OpenedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the browser received so far, bytes as they travelled. */
  receivedBytes(): number;
}

export interface ConsoleRig {
  readonly base: string;
  readonly browser: Browser;
  readonly broker: MeasuredProcess;
  readonly connected: number;
  /** A page with a cold cache, not yet anywhere. @param account null: nobody is signed in. */
  openPage(account: 'fleet' | 'empty' | null, scripts: readonly string[]): Promise<OpenedPage>;
  /** Reports a second of all vehicles but those on order; 0: none. */
  drive(perS: number): Promise<VehiclesAnswer>;
  /** @returns when the broker acknowledged it, ms since 1970. */
  report(index: number, speed: number, statusCode: number): Promise<number>;
  close(): Promise<void>;
}

/**
 * The last position of every vehicle, as its events would have left it, and an account with one vehicle without a position: its map is
 * empty, and an account without any vehicle shows no map.
 */
async function furnish({ database }: BenchFolder): Promise<void> {
  const db = openSqlite({ path: database, pageSize: 4096 });
  await makeAccount(db, emptyLogin);
  await db.write(insertDevice({ accountID: emptyLogin.accountID, deviceID: 'silent' }, { createdS: 1 }));
  const atMs = Date.now() - 60_000;
  await db.write([
    sql`UPDATE devices SET heartbeat_ms = ${atMs}, fix_ms = ${atMs}, speed = 0, heading = 0,
      latitude = 43.2 + (device_no % 100) * 0.01, longitude = -80 + (device_no / 100) * 0.01`,
  ]);
  await db.close();
}

async function logIn(base: string, login: typeof benchLogin | typeof emptyLogin): Promise<string> {
  const answer = await fetch(`${base}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(login),
  });
  return ((await answer.json()) as { readonly token: string }).token;
}

async function openPageOf(
  browser: Browser,
  session: string | null,
  scripts: readonly string[],
): Promise<OpenedPage> {
  const context = await browser.newContext({ viewport: { width: 1180, height: 900 }, locale: 'en-IE' });
  if (session !== null)
    await context.addInitScript(`sessionStorage.setItem('fleetward.session', ${JSON.stringify(session)});`);
  for (const script of scripts) await context.addInitScript(script);
  const page = await context.newPage();
  page.setDefaultTimeout(180_000);
  let bytes = 0;
  const wire = await context.newCDPSession(page);
  await wire.send('Network.enable');
  wire.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  return { page, context, receivedBytes: () => bytes };
}

/** @param vehicles of the fleet. */
export async function createConsoleRig(vehicles: number, say: Say): Promise<ConsoleRig> {
  say(`${vehicles} vehicles are made`);
  const folder = await makeBenchFolder(vehicles);
  const closers: (() => unknown)[] = [() => folder.close()];
  const close = async (): Promise<void> => {
    for (const end of closers.splice(0).toReversed()) await end();
  };
  try {
    await furnish(folder);
    const broker = await startOurBroker(folder, 'plain', serviceFlags);
    closers.push(() => broker.close());
    const base = `http://127.0.0.1:${broker.httpPort}`;
    const fleet = await startClients<Record<VehiclesOrder['kind'], VehiclesAnswer>>('./console-vehicles.js');
    closers.push(() => fleet.close());
    say('the vehicles connect');
    const count = Math.min(vehicles, connectionsMost);
    const { connected } = await fleet.ask({ kind: 'open', port: broker.mqttPort, count });
    const browser = await openMapBrowser();
    closers.push(() => browser.close());
    const sessions = new Map<string, string>();
    for (const [account, login] of [
      ['fleet', benchLogin],
      ['empty', emptyLogin],
    ] as const) {
      const { accountID, userID } = login;
      sessions.set(account, JSON.stringify({ token: await logIn(base, login), accountID, userID }));
    }
    return {
      base,
      browser,
      broker,
      connected,
      openPage: (account, scripts) =>
        openPageOf(browser, account === null ? null : (sessions.get(account) ?? null), scripts),
      drive: (perS) => fleet.ask({ kind: 'drive', perS, first: onOrder }),
      report: async (index, speed, statusCode) =>
        (await fleet.ask({ kind: 'report', index, speed, statusCode })).ackedMs,
      close,
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}
