// The sums of a fleet's trips over a month, not asked before: a broker that has just started, against a program that only reads the same
// rows from the file in the same order. Both are asked once a round, so that none finds an answer of its own.
import { join } from 'node:path';
import SqliteConnection from 'better-sqlite3';
import { dayMs, dayS } from '../../src/core/durations.ts';
import { type FleetDatabase, makeFleetDatabase } from './fleet-database.ts';
import { logIn, median } from './http-bench.ts';
import { startBroker, stop } from './ingest-servers.ts';
import { cpuMsOf } from './process-cpu.ts';

export interface SummaryFigure {
  readonly vehicles: number;
  readonly days: number;
  readonly events: number;
  readonly ms: number;
  /** CPU time of the broker, all threads. */
  readonly cpuMs: number;
  readonly bareMs: number;
  /** Time of the broker to that of the bare read. */
  readonly ratio: number;
}

const [vehicles, days, eventsADay] = [100, 30, 1000];
const rounds = 3;

/** What a summary needs of each event, vehicle by vehicle. */
function readRows({ path }: FleetDatabase): number {
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

async function askOnce({ path, nowMs }: FleetDatabase, folder: string) {
  const server = await startBroker({ database: path, folder, profile: null });
  try {
    const pid = server.child.pid ?? 0;
    const headers = { authorization: await logIn(server.httpPort) };
    const endS = nowMs / 1000 - dayS;
    const url = `http://127.0.0.1:${server.httpPort}/api/v1/report/summary/*/${endS - days * dayS}/${endS}/authorization`;
    const [sinceMs, before] = [performance.now(), cpuMsOf(pid)];
    const answer = await fetch(url, { headers });
    const { devices } = (await answer.json()) as { readonly devices?: readonly { readonly trips: number }[] };
    const trips = devices?.reduce((sum, one) => sum + one.trips, 0) ?? 0;
    if (trips < vehicles * (days - 1)) throw new Error(`the summary has ${trips} trips: ${answer.status}`);
    return { ms: performance.now() - sinceMs, cpuMs: cpuMsOf(pid) - before };
  } finally {
    await stop(server);
  }
}

/** Makes the database unless it is there. @throws Error when the summary lacks trips. */
export async function benchSummary(folder: string, say: (text: string) => void): Promise<SummaryFigure> {
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
  const pairs: { readonly bareMs: number; readonly ms: number; readonly cpuMs: number }[] = [];
  for (let round = 0; round < rounds; round++)
    pairs.push({ bareMs: readRows(fleet), ...(await askOnce(fleet, folder)) });
  const middle = (of: (one: (typeof pairs)[number]) => number): number => median(pairs.map(of));
  return {
    vehicles,
    days,
    events,
    ms: middle((one) => one.ms),
    cpuMs: middle((one) => one.cpuMs),
    bareMs: middle((one) => one.bareMs),
    ratio: middle((one) => one.ms / one.bareMs),
  };
}
