// The HTTP bench: each route of a real broker process against a bare fastify route that gives the same bytes, turn by turn
// on the same cores, once with a little history and once with much. What a request costs with much, to what it costs with
// little, is the price of history.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  benchAccount,
  busyDevice,
  type FleetDatabase,
  makeFleetDatabase,
  monthlyStepMs,
  rareCode,
} from './fleet-database.ts';
import { cpuMsOf as cpuMsOfProcess } from './process-cpu.ts';
import { hasWrk, type LoadRequest, type LoadResult, runWrk } from './wrk.ts';

export interface HttpBenchOptions {
  readonly folder: string;
  /** Events stored in each database. */
  readonly histories: readonly number[];
  readonly seconds: number;
  readonly rounds: number;
  readonly say: (text: string) => void;
}

interface Route {
  readonly name: string;
  readonly path: string;
  readonly connections: number;
  readonly body?: object;
}

interface RouteFigures {
  readonly route: string;
  readonly events: number;
  readonly bytes: number;
  readonly ours: LoadResult;
  readonly bare: LoadResult;
  /** Requests a second, ours to bare. */
  readonly ratio: number;
  /** CPU time of one request in ms, all threads: what stays the same when the machine is busy with other things. */
  readonly ourCpuMs: number;
  readonly bareCpuMs: number;
}

export interface HttpBenchResult {
  readonly figures: readonly RouteFigures[];
  /** CPU time of a request with the longest history to that with the shortest, by route: the price of history. */
  readonly history: Readonly<Record<string, number>>;
}

// As built: this file is dist/test/load/http-bench.js.
const program = (path: string): string => new URL(path, import.meta.url).pathname;
const dayS = 24 * 3600;

function routesAt(nowS: number): readonly Route[] {
  const { accountID, userID, password } = benchAccount;
  return [
    { name: 'getdevice', path: `/api/v1/device/getdevice/${busyDevice}/authorization`, connections: 16 },
    { name: 'getalldevices (10,000)', path: '/api/v1/device/getalldevices/authorization', connections: 2 },
    {
      name: 'devicemetadata, a day of 8,640',
      path: `/api/v1/eventdata/devicemetadata/${busyDevice}/${nowS - dayS}/${nowS}/authorization`,
      connections: 2,
    },
    {
      name: 'fleetdata by code, a month',
      path: `/api/v1/eventdata/fleetdata/${rareCode}/${nowS - 31 * dayS}/${nowS}/authorization`,
      connections: 4,
    },
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

export async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.stdin?.end();
  child.kill('SIGTERM');
  await ended;
}

function brokerPort(line: string): number | null {
  try {
    const entry = JSON.parse(line) as { readonly httpPort?: number };
    return entry.httpPort ?? null;
  } catch {
    return null;
  }
}

export async function startBroker(database: string) {
  const child = spawn(
    process.execPath,
    [
      program('../../broker/main.js'),
      'start',
      `--database=${database}`,
      '--http-port=0',
      '--mqtt-port=0',
      '--log-level=info',
      // The bench is one user who asks as fast as he can.
      '--http-rate-per-s=1000000',
      '--http-burst=1000000',
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  return { child, port: await portSaidBy(child, brokerPort) };
}

/** @param files path -> file with the bytes that it gives. */
async function startBare(files: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [program('./bare-server.js')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.write(`${JSON.stringify(files)}\n`);
  return { child, port: await portSaidBy(child, (line) => Number(line) || null) };
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

function middle(results: readonly LoadResult[]): LoadResult {
  return {
    requestsPerS: median(results.map(({ requestsPerS }) => requestsPerS)),
    p50Ms: median(results.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(results.map(({ p99Ms }) => p99Ms)),
    failures: results.reduce((sum, { failures }) => sum + failures, 0),
  };
}

/** CPU time of a child so far, in ms. */
export const cpuMsOf = (child: ChildProcess): number => cpuMsOfProcess(child.pid ?? 0);

interface Measured extends LoadResult {
  readonly cpuMs: number;
}

/** One run against a child, with the CPU time that a request cost it. */
async function measure(child: ChildProcess, request: LoadRequest): Promise<Measured> {
  const before = cpuMsOf(child);
  const result = await runWrk(request);
  const requests = Math.max(1, result.requestsPerS * request.seconds);
  return { ...result, cpuMs: (cpuMsOf(child) - before) / requests };
}

/** Asks once and keeps the answer for the bare server. */
async function capture(
  route: Route,
  at: { readonly port: number; readonly token: string; readonly file: string },
): Promise<number> {
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
  return bytes.length;
}

export async function logIn(port: number): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(benchAccount),
  });
  return ((await answer.json()) as { readonly token: string }).token;
}

async function benchHistory(
  fleet: FleetDatabase,
  options: HttpBenchOptions,
): Promise<readonly RouteFigures[]> {
  const { seconds, rounds, say } = options;
  const broker = await startBroker(fleet.path);
  const scratch = mkdtempSync(join(tmpdir(), 'fleetward-bench-'));
  const routes = routesAt(Math.floor(fleet.nowMs / 1000));
  try {
    const token = await logIn(broker.port);
    const files: Record<string, string> = {};
    const sizes = new Map<Route, number>();
    for (const [index, route] of routes.entries()) {
      const file = join(scratch, String(index));
      sizes.set(route, await capture(route, { port: broker.port, token, file }));
      files[route.path] = file;
    }
    const bare = await startBare(files);
    const figures: RouteFigures[] = [];
    for (const route of routes) {
      const load = ({ child, port }: { readonly child: ChildProcess; readonly port: number }) => {
        const url = `http://127.0.0.1:${port}${route.path}`;
        return measure(child, { ...route, url, headers: { authorization: token }, seconds });
      };
      const pairs: { readonly bare: Measured; readonly ours: Measured }[] = [];
      for (let round = 0; round < rounds; round++) {
        pairs.push({ bare: await load(bare), ours: await load(broker) });
      }
      const sides = {
        bare: middle(pairs.map((pair) => pair.bare)),
        ours: middle(pairs.map((pair) => pair.ours)),
      };
      figures.push({
        route: route.name,
        events: fleet.eventCount,
        bytes: sizes.get(route) ?? 0,
        ...sides,
        ratio: median(pairs.map((pair) => pair.ours.requestsPerS / pair.bare.requestsPerS)),
        ourCpuMs: median(pairs.map((pair) => pair.ours.cpuMs)),
        bareCpuMs: median(pairs.map((pair) => pair.bare.cpuMs)),
      });
      say(`${route.name}: ${sides.ours.requestsPerS.toFixed(1)}/s, p99 ${sides.ours.p99Ms.toFixed(1)} ms`);
    }
    await stop(bare.child);
    return figures;
  } finally {
    await stop(broker.child);
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
    figures.find((one) => one.route === route && one.events === events)?.ourCpuMs ?? Number.NaN;
  const names = [...new Set(figures.map(({ route }) => route))];
  const [least, most] = [options.histories[0], options.histories.at(-1)];
  return {
    figures,
    history: Object.fromEntries(names.map((name) => [name, of(name, most) / of(name, least)])),
  };
}
