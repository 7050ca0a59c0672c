// The HTTP bench: each route of a real broker process against a bare fastify route that gives the same bytes, turn by turn
// on the same cores, with p50, p99, CPU and the delay of the event loop. With several histories: what a request costs with the
// longest, to what it costs with the shortest, is the price of history.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { dayS } from '../../src/core/durations.ts';
import {
  benchAccount,
  busyDevice,
  busyDevices,
  commonCode,
  type FleetDatabase,
  makeFleetDatabase,
  monthlyStepMs,
} from './fleet-database.ts';
import { type MeasuredProcess, startMeasured } from './measured-process.ts';
import { cpuMsOf } from './process-cpu.ts';
import { hasWrk, type LoadRequest, type LoadResult, runWrk } from './wrk.ts';

export interface HttpBenchOptions {
  readonly folder: string;
  /** Events stored in each database. */
  readonly histories: readonly number[];
  readonly seconds: number;
  readonly rounds: number;
  /** Part of the names of the routes to measure; empty: all. */
  readonly only: string;
  readonly say: (text: string) => void;
}

interface Route {
  readonly name: string;
  readonly path: string;
  /** Asked for in turn, in place of `path` alone: answers that are alike. */
  readonly paths?: readonly string[];
  readonly connections: number;
  readonly body?: object;
  /** True: the client has the answer, and asks whether it has changed. */
  readonly isUnchanged?: boolean;
}

/** One side of a comparison. */
interface Side extends LoadResult {
  /** CPU time of one request in ms, all threads: what stays the same when the machine is busy with other things. */
  readonly cpuMs: number;
  /** Longest delay of the event loop in ms; 0 of the bare server, which has no probe. */
  readonly loopMostMs: number;
}

interface RouteFigures {
  readonly route: string;
  readonly events: number;
  readonly bytes: number;
  readonly ours: Side;
  readonly bare: Side;
  /** Requests a second, ours to bare. */
  readonly ratio: number;
}

export interface HttpBenchResult {
  readonly figures: readonly RouteFigures[];
  /** CPU time of a request with the longest history to that with the shortest, by route: the price of history. */
  readonly history: Readonly<Record<string, number>>;
}

// As built: this file is dist/test/load/http-bench.js.
const program = (path: string): string => new URL(path, import.meta.url).pathname;

const v1 = (path: string): string => `/api/v1/${path}/authorization`;

/** @param asOf revision of the fleet, which does not change while it is measured. */
function routesAt(nowS: number, asOf: number): readonly Route[] {
  const { accountID, userID, password } = benchAccount;
  const day = `${nowS - dayS}/${nowS}`;
  const devices = Array.from(
    { length: busyDevices },
    (_unused, at) => `truck-${String(at).padStart(5, '0')}`,
  );
  const month = `${v1(`eventdata/fleetdata/${commonCode}/${nowS - 31 * dayS}/${nowS}`)}?limit=5000`;
  return [
    { name: 'getdevice', path: v1(`device/getdevice/${busyDevice}`), connections: 16 },
    { name: 'latest', path: v1(`eventdata/latest/${busyDevice}`), connections: 16 },
    { name: 'fleet list, 10,000', path: v1('device/getalldevices'), connections: 2 },
    { name: 'fleet list, 304', path: v1('device/getalldevices'), connections: 2, isUnchanged: true },
    { name: 'fleet list, since', path: `${v1('device/getalldevices')}?since=${asOf}`, connections: 2 },
    { name: 'data, a day of 8,640', path: v1(`eventdata/devicedata/${busyDevice}/${day}`), connections: 2 },
    {
      name: `the same, ${busyDevices} devices in turn`,
      path: v1(`eventdata/devicedata/${busyDevice}/${day}`),
      paths: devices.map((device) => v1(`eventdata/devicedata/${device}/${day}`)),
      connections: 2,
    },
    {
      name: 'metadata, a day of 8,640',
      path: v1(`eventdata/devicemetadata/${busyDevice}/${day}`),
      connections: 2,
    },
    { name: 'fleet by code, a month, 5,000', path: month, connections: 4 },
    // Last: a user keeps his newest hundred sessions only, so it ends that of the bench.
    { name: 'login', path: '/api/v1/auth/login', connections: 4, body: { accountID, userID, password } },
  ];
}

/** The port in the first line of a child's standard output that says one. */
async function portSaidBy(child: ChildProcess, portOf: (line: string) => number | null): Promise<number> {
  if (child.stdout === null) throw new Error('the child has no standard output');
  const lines = createInterface({ input: child.stdout });
  return new Promise((resolve, reject) => {
    lines.on('line', (line) => {
      const found = portOf(line);
      if (found !== null) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`a child ended with ${code}`)));
  });
}

/** The bench is one user who asks as fast as he can. */
const unlimited = ['--http-rate-per-s=1000000', '--http-burst=1000000'];

const startBroker = (database: string): Promise<MeasuredProcess> =>
  startMeasured('../../broker/main.js', [
    'start',
    `--database=${database}`,
    '--http-port=0',
    '--mqtt-port=0',
    '--log-level=info',
    ...unlimited,
  ]);

/** @param files path -> file with the bytes that it gives. */
export async function startBare(files: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [program('./bare-server.js')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.write(`${JSON.stringify(files)}\n`);
  return { child, port: await portSaidBy(child, (line) => Number(line) || null) };
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

function middle(results: readonly Side[]): Side {
  const of = (value: (one: Side) => number): number => median(results.map(value));
  return {
    requestsPerS: of(({ requestsPerS }) => requestsPerS),
    p50Ms: of(({ p50Ms }) => p50Ms),
    p99Ms: of(({ p99Ms }) => p99Ms),
    cpuMs: of(({ cpuMs }) => cpuMs),
    loopMostMs: Math.max(...results.map(({ loopMostMs }) => loopMostMs)),
    failures: results.reduce((sum, { failures }) => sum + failures, 0),
  };
}

interface Target {
  readonly pid: number;
  readonly port: number;
  /** Null: without a probe. */
  readonly probe: MeasuredProcess | null;
}

/** One run against a child, with the CPU time that a request cost it. */
async function measure({ pid, probe }: Target, request: LoadRequest): Promise<Side> {
  await probe?.look();
  const before = cpuMsOf(pid);
  const result = await runWrk(request);
  const requests = Math.max(1, result.requestsPerS * request.seconds);
  const cpuMs = (cpuMsOf(pid) - before) / requests;
  return { ...result, cpuMs, loopMostMs: (await probe?.look())?.loopMostMs ?? 0 };
}

interface Captured {
  readonly bytes: number;
  readonly etag: string | null;
}

/** Asks once and keeps the answer for the bare server. */
async function capture(
  route: Route,
  at: { readonly port: number; readonly token: string; readonly file: string },
): Promise<Captured> {
  const answer = await fetch(`http://127.0.0.1:${at.port}${route.path}`, {
    method: route.body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: at.token,
      ...(route.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(route.body === undefined ? {} : { body: JSON.stringify(route.body) }),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (answer.status !== 200)
    throw new Error(`${route.name}: ${answer.status} ${bytes.toString('utf8', 0, 500)}`);
  writeFileSync(at.file, bytes);
  return { bytes: route.isUnchanged === true ? 0 : bytes.length, etag: answer.headers.get('etag') };
}

export async function logIn(port: number): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(benchAccount),
  });
  return ((await answer.json()) as { readonly token: string }).token;
}

/** The revision of the fleet, as an app gets it with its first list. */
async function readAsOf(port: number, token: string): Promise<number> {
  const list = `${v1('device/getalldevices')}?since=0&limit=1`;
  const answer = await fetch(`http://127.0.0.1:${port}${list}`, { headers: { authorization: token } });
  const { asOf } = (await answer.json()) as { readonly asOf?: number };
  if (asOf === undefined) throw new Error(`${list}: ${answer.status}, without asOf`);
  return asOf;
}

/** Both sides of one route, in turn. */
async function compare(
  route: Route,
  sides: { readonly ours: Target; readonly bare: Target; readonly barePath: string },
  {
    headers,
    seconds,
    rounds,
  }: { readonly headers: LoadRequest['headers']; readonly seconds: number; readonly rounds: number },
): Promise<Pick<RouteFigures, 'ours' | 'bare' | 'ratio'>> {
  const { paths: _paths, ...single } = route;
  const at = ({ port }: Target, path: string): string => `http://127.0.0.1:${port}${path}`;
  const pairs: { readonly bare: Side; readonly ours: Side }[] = [];
  // The first round of each side does not count: a server is compiled by what it does in its first seconds.
  for (let round = 0; round <= rounds; round++) {
    const bareUrl = at(sides.bare, sides.barePath);
    const bare = await measure(sides.bare, { ...single, url: bareUrl, headers, seconds });
    const url = at(sides.ours, route.path);
    const ours = await measure(sides.ours, { ...route, url, headers, seconds });
    if (round > 0) pairs.push({ bare, ours });
  }
  return {
    bare: middle(pairs.map((pair) => pair.bare)),
    ours: middle(pairs.map((pair) => pair.ours)),
    ratio: median(pairs.map(({ ours, bare }) => ours.requestsPerS / bare.requestsPerS)),
  };
}

async function benchHistory(
  fleet: FleetDatabase,
  { seconds, rounds, only, say }: HttpBenchOptions,
): Promise<readonly RouteFigures[]> {
  const broker = await startBroker(fleet.path);
  const scratch = mkdtempSync(join(tmpdir(), 'fleetward-bench-'));
  const port = broker.httpPort ?? 0;
  try {
    const token = await logIn(port);
    const asOf = await readAsOf(port, token);
    const routes = routesAt(Math.floor(fleet.nowMs / 1000), asOf).filter(({ name }) => name.includes(only));
    const captured: Captured[] = [];
    const files: Record<string, string> = {};
    for (const [index, route] of routes.entries()) {
      files[`/${index}`] = join(scratch, String(index));
      captured.push(await capture(route, { port, token, file: join(scratch, String(index)) }));
    }
    const bare = await startBare(files);
    const figures: RouteFigures[] = [];
    for (const [index, route] of routes.entries()) {
      const { bytes = 0, etag = null } = captured[index] ?? {};
      const headers = {
        authorization: token,
        ...(route.isUnchanged === true && etag !== null
          ? { 'if-none-match': etag.replaceAll('"', '\\"') }
          : {}),
      };
      const sides = {
        ours: { pid: broker.pid, port, probe: broker },
        bare: { pid: bare.child.pid ?? 0, port: bare.port, probe: null },
        barePath: `/${index}`,
      };
      const figure = await compare(route, sides, { headers, seconds, rounds });
      figures.push({ route: route.name, events: fleet.eventCount, bytes, ...figure });
      say(`${route.name}: ${figure.ours.requestsPerS.toFixed(1)}/s, ratio ${figure.ratio.toFixed(3)}`);
    }
    bare.child.kill('SIGTERM');
    return figures;
  } finally {
    await broker.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Makes what databases are missing, then measures. @throws Error when `wrk` is missing or a route does not answer 200. */
export async function benchHttp(options: HttpBenchOptions): Promise<HttpBenchResult> {
  if (!hasWrk()) throw new Error('the bench needs wrk: apt-get install wrk');
  const nowMs = Math.floor(Date.now() / (dayS * 1000)) * dayS * 1000;
  const figures: RouteFigures[] = [];
  for (const eventCount of options.histories) {
    const path = join(options.folder, `history-${eventCount}-${nowMs / 1000}.db`);
    const fleet = { path, eventCount, nowMs, stepMs: monthlyStepMs };
    await makeFleetDatabase(fleet, (done) => options.say(`${path}: ${Math.round(done * 100)} %`));
    figures.push(...(await benchHistory(fleet, options)));
  }
  const of = (route: string, events: number | undefined) =>
    figures.find((one) => one.route === route && one.events === events)?.ours.cpuMs ?? Number.NaN;
  const names = [...new Set(figures.map(({ route }) => route))];
  const [least, most] = [options.histories[0], options.histories.at(-1)];
  return {
    figures,
    history: Object.fromEntries(names.map((name) => [name, of(name, most) / of(name, least)])),
  };
}
