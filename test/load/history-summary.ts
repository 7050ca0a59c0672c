// The sums of a fleet's trips over a month, not asked before: a broker that has just started, with and without stored days, against a program that
// only reads the same rows from the file in the same order. Each is asked once a round, so that none finds an answer of its own.
import { join } from 'node:path';
import SqliteConnection from 'better-sqlite3';
import { deviceAfter } from '../../broker/store/events/trip-days.ts';
import { storeTripDays } from '../../broker/upkeep/trip-days.ts';
import { openSqlite } from '../../src/adapters/database/sqlite.ts';
import { dayMs, dayS } from '../../src/core/durations.ts';
import { sql } from '../../src/sql.ts';
import { type FleetDatabase, makeFleetDatabase } from './fleet-database.ts';
import { logIn, median } from './http-bench.ts';
import { startBroker, stop } from './ingest-servers.ts';
import { cpuMsOf } from './process-cpu.ts';

interface Asked {
  readonly ms: number;
  /** CPU time of the broker, all threads. */
  readonly cpuMs: number;
  /** Time of the broker to that of the bare read. */
  readonly ratio: number;
}

export interface SummaryFigure {
  readonly vehicles: number;
  readonly days: number;
  readonly bareMs: number;
  readonly unstored: Asked;
  readonly stored: Asked;
  /** CPU time in which the days were stored. */
  readonly storingMs: number;
}

const [days, eventsADay] = [30, 1000];
const rounds = 3;

/** What a summary needs of each event, vehicle by vehicle. */
function readRows({ path, driving: vehicles = 0 }: FleetDatabase): number {
  const connection = new SqliteConnection(path, { readonly: true });
  const tables = connection
    .prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'events_[0-9]*' ORDER BY name",
    )
    .pluck()
    .all() as string[];
  const sinceMs = performance.now();
  for (let device = 1; device <= vehicles; device++) {
    for (const table of tables) {
      const rows =
        connection.prepare(`SELECT timestamp_ms, status_code, latitude, longitude, speed, hdop, satellites, odometer,
        fuel_level, inputs, attributes FROM ${table} WHERE device_no = ? ORDER BY timestamp_ms, event_no`);
      for (const _row of rows.raw(true).iterate(device));
    }
  }
  const tookMs = performance.now() - sinceMs;
  connection.close();
  return tookMs;
}

/** Forgets the stored days, or stores them. */
async function keepDays({ path, nowMs }: FleetDatabase, isStored: boolean): Promise<void> {
  const db = openSqlite({ path, pageSize: 4096 });
  if (!isStored) await db.write([sql`DELETE FROM trip_days`]);
  let device = isStored ? await deviceAfter(db, 0) : null;
  while (device !== null) {
    while (await storeTripDays({ db, archive: db }, device, nowMs));
    device = await deviceAfter(db, device.deviceNo);
  }
  await db.close();
}

async function askOnce({ path, nowMs, driving: vehicles = 0 }: FleetDatabase, folder: string) {
  const server = await startBroker({ database: path, folder, profile: null });
  try {
    const pid = server.child.pid ?? 0;
    const headers = { authorization: await logIn(server.httpPort) };
    const endS = nowMs / 1000 - dayS;
    const url = `http://127.0.0.1:${server.httpPort}/api/v1/report/summary/*/${endS - days * dayS}/${endS}/authorization`;
    const [sinceMs, before] = [performance.now(), cpuMsOf(pid)];
    const answer = await fetch(url, { headers });
    const text = await answer.text();
    const { devices } = JSON.parse(text) as { readonly devices?: readonly { readonly trips: number }[] };
    const trips = devices?.reduce((sum, one) => sum + one.trips, 0) ?? 0;
    if (trips < vehicles * (days - 1)) throw new Error(`the summary has ${trips} trips: ${answer.status}`);
    return { ms: performance.now() - sinceMs, cpuMs: cpuMsOf(pid) - before, devices };
  } finally {
    await stop(server);
  }
}

/** Makes the database unless it is there. @throws Error when the summary lacks trips, or is another one with stored days. */
export async function benchSummary(
  folder: string,
  say: (text: string) => void,
  vehicles = 100,
): Promise<SummaryFigure> {
  const nowMs = Math.floor(Date.now() / dayMs) * dayMs;
  const events = vehicles * days * eventsADay;
  const path = join(folder, `summary-${events}-${nowMs / 1000}.db`);
  const fleet = {
    path,
    eventCount: events,
    nowMs,
    stepMs: dayMs / (vehicles * eventsADay),
    driving: vehicles,
  };
  await makeFleetDatabase(fleet, (done) => say(`${path}: ${Math.round(done * 100)} %`));
  const bare: number[] = [];
  const answers = new Set<string>();
  const asked = async (): Promise<Asked> => {
    const pairs: Asked[] = [];
    for (let round = 0; round < rounds; round++) {
      const bareMs = readRows(fleet);
      const { devices, ...times } = await askOnce(fleet, folder);
      bare.push(bareMs);
      answers.add(JSON.stringify(devices));
      pairs.push({ ...times, ratio: times.ms / bareMs });
      say(`${Math.round(times.ms)} ms, ${Math.round(times.cpuMs)} ms CPU`);
    }
    if (answers.size !== 1) throw new Error('the answers differ');
    const middle = (of: (one: Asked) => number): number => median(pairs.map(of));
    return {
      ms: middle((one) => one.ms),
      cpuMs: middle((one) => one.cpuMs),
      ratio: middle((one) => one.ratio),
    };
  };
  await keepDays(fleet, false);
  const unstored = await asked();
  await keepDays(fleet, false);
  const before = process.cpuUsage();
  await keepDays(fleet, true);
  const { user, system } = process.cpuUsage(before);
  const stored = await asked();
  return { vehicles, days, bareMs: median(bare), unstored, stored, storingMs: (user + system) / 1000 };
}
