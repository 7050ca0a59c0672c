// Some hundred vehicles at a cluster, commands for them from either bridge, and the comparison of all records at the
// end: what was made is stored once, what was ordered was carried out at most once.
import { setTimeout as sleep } from 'node:timers/promises';
import { hashSecret } from '../../../broker/store/devices/device-secret.ts';
import { insertDevice, replaceSecret } from '../../../broker/store/devices/devices.ts';
import type { Database } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { everyEvent } from '../database/stored-events.ts';
import { adminPassword, type Bridge } from './cluster-bridge.ts';
import { createVehicle, type Vehicle } from './cluster-vehicle.ts';

export const accountID = 'demo';
const batchMost = 50;
const nameOf = (at: number): string => `truck-${at}`;

/** Devices `truck-0` and on, each with its secret. */
export async function addDevices(db: Database, count: number): Promise<void> {
  for (let from = 0; from < count; from += batchMost) {
    const names = Array.from({ length: Math.min(batchMost, count - from) }, (_, at) => nameOf(from + at));
    await db.write(
      names.flatMap((deviceID) => [
        ...insertDevice({ accountID, deviceID }, { createdS: 1 }),
        replaceSecret({ accountID, deviceID, secretHash: hashSecret(`secret-of-${deviceID}`), atS: 1 }),
      ]),
    );
  }
}

/** Vehicles that come one after the other within `spreadMs`. */
export async function startFleet(
  count: number,
  { ports, everyMs, spreadMs }: { ports: readonly number[]; everyMs: number; spreadMs: number },
): Promise<readonly Vehicle[]> {
  const fleet: Vehicle[] = [];
  for (let at = 0; at < count; at++) {
    const deviceID = nameOf(at);
    fleet.push(createVehicle({ accountID, deviceID, secret: `secret-of-${deviceID}`, ports, everyMs }));
    await sleep(spreadMs / count);
  }
  return fleet;
}

export interface Order {
  readonly vehicleNo: number;
  readonly commandID: string;
}

export interface Orders {
  readonly taken: readonly Order[];
  /** Requests that a bridge did not answer with a command: there may be one or not. */
  readonly failed: number;
  stop(): Promise<void>;
}

/** Orders something of one vehicle after the other, from the bridges in turn. */
export function startOrders(bridges: () => readonly Bridge[], vehicles: number, everyMs: number): Orders {
  const taken: Order[] = [];
  const counts = { failed: 0, asked: 0 };
  let token = '';
  let isStopped = false;
  const call = async (port: number, path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: token },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(15_000),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Record<string, unknown>;
  };
  const order = async (): Promise<void> => {
    const running = bridges();
    const bridge = running[counts.asked % running.length];
    const vehicleNo = counts.asked % vehicles;
    counts.asked += 1;
    if (bridge === undefined) return;
    if (token === '') {
      const login = { accountID, userID: 'admin', password: adminPassword };
      token = String((await call(bridge.httpPort, '/auth/login', login))['token']);
    }
    // Towards the safe state: others are limited to ten a minute.
    const command = {
      deviceID: nameOf(vehicleNo),
      feature: 'cargoaccess',
      state: '0',
      reason: 'test',
      ttl: 120,
    };
    const { commandID } = await call(bridge.httpPort, '/command/feature/authorization', command);
    taken.push({ vehicleNo, commandID: String(commandID) });
  };
  const loop = async (): Promise<void> => {
    for (;;) {
      if (isStopped) return;
      await order().catch(() => {
        counts.failed += 1;
      });
      await sleep(everyMs);
    }
  };
  const running = loop();
  return {
    taken,
    get failed() {
      return counts.failed;
    },
    async stop() {
      isStopped = true;
      await running;
    },
  };
}

export interface Comparison {
  readonly made: number;
  readonly stored: number;
  /** Facts of the vehicles that are not in the database, and facts there that no vehicle made. */
  readonly lost: number;
  readonly surplus: number;
  readonly orders: number;
  readonly states: Readonly<Record<string, number>>;
  /** Carried out by a vehicle more often than once, or although the ledger says that it was not. */
  readonly wrong: number;
}

/** Compares the books of the vehicles with the database. */
export async function compare(
  db: Database,
  fleet: readonly Vehicle[],
  orders: readonly Order[],
): Promise<Comparison> {
  const rows = await db.read(sql`
    SELECT boot, COUNT(*) AS count, COUNT(DISTINCT seq) AS seqs, MAX(seq) AS last
      FROM ${await everyEvent(db)} GROUP BY boot`);
  const stored = new Map(rows.map((row) => [String(row['boot']), row]));
  let made = 0;
  let lost = 0;
  let surplus = 0;
  for (const vehicle of fleet) {
    const row = stored.get(vehicle.boot);
    const mine = vehicle.books().made;
    const count = Number(row?.['count'] ?? 0);
    const isWhole = Number(row?.['seqs'] ?? 0) === count && Number(row?.['last'] ?? 0) === count;
    made += mine;
    lost += Math.max(0, mine - count) + (isWhole ? 0 : 1);
    surplus += Math.max(0, count - mine);
  }
  const commands = await db.read(sql`SELECT command_id, command_state FROM commands`);
  const states = new Map(commands.map((row) => [String(row['command_id']), String(row['command_state'])]));
  const counted: Record<string, number> = {};
  let wrong = 0;
  for (const { vehicleNo, commandID } of orders) {
    const state = states.get(commandID) ?? 'unrecorded';
    counted[state] = (counted[state] ?? 0) + 1;
    const times = fleet[vehicleNo]?.books().executed.get(commandID) ?? 0;
    if (times > 1 || (state === 'confirmed') !== (times === 1)) wrong += 1;
  }
  const total = rows.reduce((sum, row) => sum + Number(row['count']), 0);
  return { made, stored: total, lost, surplus, orders: orders.length, states: counted, wrong };
}

/** Longest time in which no vehicle at all received an acknowledgement, while `watch` ran; in ms. */
export function watchGaps(fleet: readonly Vehicle[]) {
  let openBefore = 0;
  let lastSeenMs = Date.now();
  let longestMs = 0;
  const acknowledged = (): number =>
    fleet.reduce((sum, vehicle) => {
      const { made, open } = vehicle.books();
      return sum + made - open;
    }, 0);
  let before = acknowledged();
  const timer = setInterval(() => {
    const now = acknowledged();
    const isDue = openBefore > 0;
    openBefore = fleet.some((vehicle) => vehicle.books().open > 0) ? 1 : 0;
    if (now > before || !isDue) lastSeenMs = Date.now();
    longestMs = Math.max(longestMs, Date.now() - lastSeenMs);
    before = now;
  }, 100);
  return {
    /** Gives the longest so far, and begins anew. */
    take(): number {
      const result = longestMs;
      longestMs = 0;
      lastSeenMs = Date.now();
      return result;
    },
    stop: () => clearInterval(timer),
  };
}
