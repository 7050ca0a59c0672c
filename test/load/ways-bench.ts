// The bench of ways: a town whose vehicles have driven a month, thinned by the service's own functions, then a busy tile over HTTP for
// the whole account and for a caller with 200 devices, against a bare route of the same bytes, and what is stored against the events.
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Place, type Tile, tileOf, zoomList } from '../../broker/features/ways/core/way-grid.ts';
import { type Line, placesOf } from '../../broker/features/ways/core/way-lines.ts';
import { createThinning, keyOf, tilesOf } from '../../broker/features/ways/core/way-thinning.ts';
import { oldestPeriod, periodOf } from '../../broker/features/ways/core/way-tracks.ts';
import { putWays } from '../../broker/features/ways/way-statements.ts';
import { openDatabase } from '../../src/adapters/database/database.ts';
import type { Database, Statement } from '../../src/ports.ts';
import { type BenchResult, type Figure, figuresFrom, onMachine, type Say } from './agent-figures.ts';
import { benchAccount, busyEvents, deviceCount, makeFleetDatabase, monthlyStepMs } from './fleet-database.ts';
import { logIn, median, startBare } from './http-bench.ts';
import { startBroker, stop } from './ingest-servers.ts';

export interface WaysBenchOptions {
  readonly vehicles: number;
  readonly requests: number;
  readonly say: Say;
}

/** A grid of streets at 48 degrees north. */
const town = { corner: [11e5, 48e5], streetM: 150, streets: 100 } as const;
/** Of one vehicle in each period: to so many customers about its depot, and back. */
const round = { rounds: 4, customers: 3, reachStreets: 15 } as const;
/** Between two positions of a vehicle that drives, at 40 km/h a position each 10 s; and of one that stands. */
const positionM = 110;
const standingEvents = 30 * 24 * 12;
const groupDevices = 200;
const eventCount = 100_000;

const metre = { east: 1e5 / (111_195 * Math.cos((48 * Math.PI) / 180)), north: 1e5 / 111_195 };
type Crossing = readonly [east: number, north: number];

/** The same numbers in each run. */
function numbersFrom(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % most;
  };
}

/** Along the streets from crossing to crossing, some metres off. */
function drive(crossings: readonly Crossing[], number: (most: number) => number): readonly Place[] {
  const places: Place[] = [];
  const report = (eastM: number, northM: number): void => {
    const error = () => number(11) - 5;
    places.push([
      town.corner[0] + (eastM + error()) * metre.east,
      town.corner[1] + (northM + error()) * metre.north,
    ]);
  };
  for (const [at, [east, north]] of crossings.slice(1).entries()) {
    const [fromEast = 0, fromNorth = 0] = crossings[at] ?? [];
    const far = (to: number, from: number) => (to - from) * town.streetM;
    const [x, y] = [fromEast * town.streetM, fromNorth * town.streetM];
    for (let m = 0; m < Math.abs(far(east, fromEast)); m += positionM)
      report(x + Math.sign(east - fromEast) * m, y);
    for (let m = 0; m < Math.abs(far(north, fromNorth)); m += positionM)
      report(east * town.streetM, y + Math.sign(north - fromNorth) * m);
  }
  return places;
}

interface Filled {
  readonly positions: number;
  readonly busiest: Tile;
}

/** Makes the ways of each vehicle and of the account as the worker does, and stores them. */
async function fill(db: Database, { vehicles, say }: WaysBenchOptions, nowMs: number): Promise<Filled> {
  const periods = Array.from({ length: 3 }, (_unused, at) => periodOf(nowMs) - at);
  const tiles = new Map<string, { readonly tile: Tile; readonly period: number }>();
  const ofAccount = new Map<string, Line[]>();
  const visits = new Map<string, number>();
  const accounts = zoomList.map((zoom) => [zoom, createThinning(zoom)] as const);
  const put = (deviceNo: number, lines: ReadonlyMap<string, readonly Line[]>): readonly Statement[] =>
    [...lines].flatMap(([key, all]) => {
      const at = tiles.get(key);
      return at === undefined
        ? []
        : [putWays({ accountNo: 1, deviceNo, ...at }, all, { revision: 0, nowMs })];
    });
  let positions = 0;
  for (let deviceNo = 1; deviceNo <= vehicles; deviceNo++) {
    const number = numbersFrom(deviceNo * 7919);
    const depot: Crossing = [number(town.streets), number(town.streets)];
    const near = (at: number): number =>
      Math.min(town.streets - 1, Math.max(0, at + number(2 * round.reachStreets) - round.reachStreets));
    const own = new Map<string, Line[]>();
    const thinnings = new Map(zoomList.map((zoom) => [zoom, createThinning(zoom)]));
    for (const period of periods) {
      for (let count = 0; count < round.rounds; count++) {
        const stops = Array.from(
          { length: round.customers },
          (): Crossing => [near(depot[0]), near(depot[1])],
        );
        const track = { period, places: drive([depot, ...stops, depot], number) };
        positions += track.places.length;
        for (const [zoom, account] of accounts) {
          for (const [key, tile] of tilesOf(track, zoom)) tiles.set(key, { tile, period });
          for (const { key, line } of thinnings.get(zoom)?.add(track, null) ?? []) {
            own.set(key, [...(own.get(key) ?? []), line]);
            const tile = tiles.get(key)?.tile;
            if (tile === undefined) continue;
            if (zoom === 12) visits.set(key, (visits.get(key) ?? 0) + 1);
            const added = account.add({ period, places: placesOf(line) }, tile).map((one) => one.line);
            if (added.length > 0) ofAccount.set(key, [...(ofAccount.get(key) ?? []), ...added]);
          }
        }
      }
    }
    await db.write(put(deviceNo, own));
    if (deviceNo % 1000 === 0) say(`${deviceNo} vehicles`);
  }
  await db.write(put(0, ofAccount));
  const [busiest] = [...visits].toSorted(([, one], [, other]) => other - one)[0] ?? [];
  const found = busiest === undefined ? undefined : tiles.get(busiest);
  const tile = found?.tile ?? tileOf(12, town.corner);
  if (tile === null || busiest !== keyOf(found?.period ?? 0, tile)) throw new Error('the town has no tile');
  return { positions, busiest: tile };
}

async function ask(port: number, path: string, token: string): Promise<{ ms: number; bytes: Buffer }> {
  const sinceMs = performance.now();
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: token } });
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${bytes.toString('utf8', 0, 300)}`);
  return { ms: performance.now() - sinceMs, bytes };
}

/** A token of the administrator that names a group of some devices. */
async function groupToken(db: Database, port: number, token: string): Promise<string> {
  const params = [benchAccount.accountID];
  const name = "INSERT INTO device_groups (account_id, group_id) VALUES ($1, 'part')";
  const fill = `INSERT INTO group_devices (device_no, group_no) SELECT d.device_no, g.group_no FROM devices d
    JOIN device_groups g ON g.account_id = d.account_id ORDER BY d.device_no LIMIT ${groupDevices}`;
  await db.write([
    { sql: name, params },
    { sql: fill, params: [] },
  ]);
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/auth/token/authorization`, {
    method: 'POST',
    headers: { authorization: token, 'content-type': 'application/json' },
    body: JSON.stringify({ description: 'bench', groups: ['part'] }),
  });
  return ((await answer.json()) as { readonly token: string }).token;
}

/** One caller: the first answer after each change, the next one from memory, and a bare route. */
async function benchCaller(
  { db, port, token, tile, file }: { db: Database; port: number; token: string; tile: Tile; file: string },
  { name, requests }: { readonly name: string; readonly requests: number },
): Promise<readonly Figure[]> {
  const path = `/api/v1/map/ways/${tile.zoom}/${tile.x}/${tile.y}/authorization`;
  const { bytes } = await ask(port, path, token);
  writeFileSync(file, bytes);
  const bare = await startBare({ [path]: file });
  const times: { fresh: number[]; known: number[]; bare: number[] } = { fresh: [], known: [], bare: [] };
  for (let at = 0; at < requests; at++) {
    await db.write([
      { sql: 'UPDATE ways SET revision = revision + 1 WHERE zoom = 12 AND x = $1', params: [tile.x] },
    ]);
    times.fresh.push((await ask(port, path, token)).ms);
    times.known.push((await ask(port, path, token)).ms);
    times.bare.push((await ask(bare.port, path, token)).ms);
  }
  bare.child.stdin.end();
  const bareMs = median(times.bare);
  return figuresFrom('ways', 'bare route', [
    [`${name}: first answer, ms`, 'ms', median(times.fresh), bareMs, 50],
    [`${name}: from memory, ms`, 'ms', median(times.known), bareMs],
    [`${name}: bytes of the answer`, 'bytes', bytes.length],
  ]);
}

async function measureWays(options: WaysBenchOptions, folder: string): Promise<readonly Figure[]> {
  const nowMs = Date.now();
  const database = join(folder, 'broker.db');
  await makeFleetDatabase({ path: database, eventCount, nowMs, stepMs: monthlyStepMs }, () => undefined);
  const eventBytes = statSync(database).size / (eventCount + busyEvents);
  const db = await openDatabase({ database, environment: {}, use: 'command' });
  // The worker finds all of them read.
  await db.write([
    { sql: 'INSERT INTO way_states SELECT device_no, $1, $2 FROM devices', params: [nowMs, nowMs] },
  ]);
  const { positions, busiest } = await fill(db, options, nowMs);
  const [sums] = await db.read({
    sql: `SELECT COUNT(*) AS ways, SUM(LENGTH(lines)) AS bytes, MIN(period) AS oldest FROM ways`,
    params: [],
  });
  if (Number(sums?.['oldest']) < oldestPeriod(nowMs)) throw new Error('ways of a period that is not kept');
  // Keys and indexes of a row with its lines.
  const wayBytes = (Number(sums?.['bytes']) + 90 * Number(sums?.['ways'])) / options.vehicles;
  // Three periods of 15 days are driven; events are those of 30 days.
  const events = ((positions / options.vehicles) * 2) / 3 + standingEvents;
  const server = await startBroker({ database, folder, profile: null, limitMs: 600_000 });
  try {
    const token = await logIn(server.httpPort);
    const limited = await groupToken(db, server.httpPort, token);
    const at = { db, port: server.httpPort, tile: busiest, file: join(folder, 'answer.json') };
    return [
      ...(await benchCaller(
        { ...at, token },
        { name: `${deviceCount} devices`, requests: options.requests },
      )),
      ...(await benchCaller(
        { ...at, token: limited },
        { name: `${groupDevices} devices`, requests: options.requests },
      )),
      ...figuresFrom('ways', 'events of 30 days', [
        ['stored for a device', 'bytes', wayBytes, events * eventBytes, (events * eventBytes) / 100],
      ]),
    ];
  } finally {
    await stop(server);
    await db.close();
  }
}

export async function benchWays(options: WaysBenchOptions): Promise<BenchResult> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-bench-'));
  try {
    return await onMachine(() => measureWays(options, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
