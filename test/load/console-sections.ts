// The sections of the console bench: first view, panning over vehicles that drive, from commit to the screen, memory, keys. Each opens its own
// pages on the rig and gives figures; goals are those of the console.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { type Figure, figuresFrom, percentile, type Say } from './agent-figures.ts';
import { type ConsoleRig, onOrder } from './console-rig.ts';
import { frameScript, keyScript, seenScript, textScript } from './console-scripts.ts';
import { type FrameTimes, frameTimesOf, traceCategories } from './console-trace.ts';
import { median, startBare } from './http-bench.ts';

export interface ConsoleBenchOptions {
  readonly vehicles: number;
  /** Reports a second. */
  readonly ratePerS: number;
  /** Of panning. */
  readonly seconds: number;
  readonly rounds: number;
  /** Of the memory section. */
  readonly minutes: number;
  readonly say: Say;
}

const positionCode = 61472;
const panicCode = 63553;
/** Over the middle of the first 10,000 vehicles. */
const place = '43.70000,-79.50000,9.00';
const listed = 'a.vehicle';
const drawn = '.map-host[data-is-drawn]';

/** Waits for a list and a map that are drawn. */
async function openLive(page: Page, base: string, search: string, hasVehicles: boolean): Promise<void> {
  await page.goto(`${base}/console/live?${search}`);
  if (hasVehicles) await page.locator(listed).first().waitFor();
  await page.waitForSelector(drawn, { state: 'attached' });
  await sleep(3000);
}

const views = [
  { name: 'login usable', path: '/login', account: null, selector: 'input[name=accountID]', goal: 300 },
  {
    name: 'alarm list filled',
    path: '/alarms',
    account: 'fleet',
    selector: 'table.queue tbody tr',
    goal: 500,
  },
  { name: 'list of vehicles filled', path: '/live', account: 'fleet', selector: listed, goal: null },
  { name: 'map with the vehicles', path: '/live', account: 'fleet', selector: drawn, goal: 1200 },
] as const;

/** A page that takes as many bytes from a server that does nothing else, until they are there. */
async function bareViewMs(rig: ConsoleRig, bytes: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-console-'));
  const [page, body] = [join(folder, 'page'), join(folder, 'body')];
  writeFileSync(page, '{}');
  writeFileSync(body, Buffer.alloc(bytes, 'x'));
  const bare = await startBare({ '/page': page, '/body': body });
  const opened = await rig.openPage(null, []);
  try {
    await opened.page.goto(`http://127.0.0.1:${bare.port}/page`);
    return Number(
      await opened.page.evaluate("fetch('/body').then((a) => a.arrayBuffer()).then(() => performance.now())"),
    );
  } finally {
    await opened.context.close();
    bare.child.kill('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** G4. */
export async function measureViews(
  rig: ConsoleRig,
  { rounds, say }: ConsoleBenchOptions,
): Promise<readonly Figure[]> {
  for (let index = 0; index < 20; index += 1) await rig.report(index, 0, panicCode);
  const figures: Figure[] = [];
  for (const { name, path, account, selector, goal } of views) {
    say(name);
    const [ours, bare]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      const { page, context, receivedBytes } = await rig.openPage(account, [seenScript({ it: selector })]);
      await page.goto(`${rig.base}/console${path}`);
      await page.waitForSelector(selector, { state: 'attached' });
      ours.push(Number(await page.evaluate('globalThis.seen.it')));
      const bytes = receivedBytes();
      await context.close();
      bare.push(await bareViewMs(rig, bytes));
    }
    figures.push({
      section: 'view',
      name,
      value: median(ours),
      unit: 'ms',
      baseline: { name: 'bare page, same bytes', value: median(bare) },
      ...(goal === null ? {} : { goal }),
    });
  }
  return figures;
}

/** Drags the map to and fro. */
async function pan(page: Page, seconds: number): Promise<void> {
  const box = await page.locator('.map-host').boundingBox();
  if (box === null) throw new Error('the page has no map');
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const endMs = performance.now() + seconds * 1000;
  for (let way = 1; performance.now() < endMs; way = -way) {
    await page.mouse.move(x - way * 150, y);
    await page.mouse.down();
    for (let step = -150; step <= 150 && performance.now() < endMs; step += 5) {
      await page.mouse.move(x + way * step, y + way * step * 0.3);
      await sleep(16);
    }
    await page.mouse.up();
  }
}

interface Panned extends FrameTimes {
  readonly framesPerS: number;
}

async function panOnce(rig: ConsoleRig, account: 'fleet' | 'empty', seconds: number): Promise<Panned> {
  const { page, context } = await rig.openPage(account, [frameScript]);
  await openLive(page, rig.base, `at=${place}`, account === 'fleet');
  const count = async (): Promise<number> => Number(await page.evaluate('globalThis.frameCount()'));
  await rig.browser.startTracing(page, { categories: traceCategories });
  const [before, fromMs] = [await count(), performance.now()];
  await pan(page, seconds);
  const framesPerS = ((await count()) - before) / ((performance.now() - fromMs) / 1000);
  const times = frameTimesOf(await rig.browser.stopTracing());
  await context.close();
  return { ...times, framesPerS };
}

/** G5, and G6 with more vehicles. */
export async function measurePanning(
  rig: ConsoleRig,
  { ratePerS, seconds, vehicles, say }: ConsoleBenchOptions,
): Promise<readonly Figure[]> {
  const isLarge = vehicles > 10_000;
  await rig.drive(ratePerS);
  say(`panning ${seconds} s without vehicles, then with them`);
  const without = await panOnce(rig, 'empty', seconds);
  await rig.drive(ratePerS);
  const panned = await panOnce(rig, 'fleet', seconds);
  const { sent, skipped } = await rig.drive(0);
  const section = 'pan';
  const p95 = ({ scriptMs }: Panned): number => percentile(scriptMs, 0.95);
  return figuresFrom(section, 'without vehicles', [
    ['script time of a frame, p95', 'ms', p95(panned), p95(without), isLarge ? 8 : 4],
    [
      'tasks of more than 50 ms',
      '',
      panned.longTasksMs.length,
      without.longTasksMs.length,
      isLarge ? undefined : 0,
    ],
    ['longest task', 'ms', Math.max(0, ...panned.longTasksMs), Math.max(0, ...without.longTasksMs)],
    ['frames', '/s', panned.framesPerS, without.framesPerS],
    [
      'frames lost to the vehicles',
      '%',
      100 * (1 - panned.framesPerS / without.framesPerS),
      undefined,
      isLarge ? 25 : 10,
    ],
    ['reports while panning', 'of due', sent / (sent + skipped || 1)],
  ]);
}

async function valueLatencies(rig: ConsoleRig, reports: number): Promise<readonly number[]> {
  const { page, context } = await rig.openPage('fleet', [textScript]);
  await openLive(page, rig.base, `at=${place}&vehicle=truck-00399`, true);
  const latencies: number[] = [];
  for (let at = 0; at < reports; at += 1) {
    const speed = 10 + at;
    const shown = page.evaluate(`globalThis.awaitText('.panel .fact.big dd', '${speed} ')`);
    const ackedMs = await rig.report(onOrder - 1, speed, positionCode);
    latencies.push(Number(await shown) - ackedMs);
    await sleep(100 + Math.random() * 1000);
  }
  await context.close();
  return latencies;
}

async function alarmLatencies(rig: ConsoleRig, reports: number): Promise<readonly number[]> {
  const { page, context } = await rig.openPage('fleet', [textScript]);
  await page.goto(`${rig.base}/console/alarms`);
  await page.getByRole('heading', { name: 'Queue' }).waitFor();
  await sleep(2000);
  const latencies: number[] = [];
  for (let at = 0; at < reports; at += 1) {
    const name = `truck-00${100 + at}`;
    const shown = page.evaluate(`globalThis.awaitText('table.queue tbody th', '${name}')`);
    const ackedMs = await rig.report(100 + at, 0, panicCode);
    latencies.push(Number(await shown) - ackedMs);
    await sleep(100 + Math.random() * 500);
  }
  await context.close();
  return latencies;
}

/** G7. */
export async function measureCommits(
  rig: ConsoleRig,
  { ratePerS, say }: ConsoleBenchOptions,
): Promise<readonly Figure[]> {
  const reports = 20;
  await rig.drive(ratePerS);
  say(`${reports} positions and ${reports} alarms from commit to screen`);
  const values = await valueLatencies(rig, reports);
  const alarms = await alarmLatencies(rig, reports);
  await rig.drive(0);
  const section = 'commit';
  return figuresFrom(section, '', [
    ['position to value, p50', 'ms', percentile(values, 0.5)],
    ['position to value, p99', 'ms', percentile(values, 0.99), undefined, 1200],
    ['alarm to row, p50', 'ms', percentile(alarms, 0.5)],
    ['alarm to row, p99', 'ms', percentile(alarms, 0.99), undefined, 500],
  ]);
}

/** G8: grows from the fifth minute on; in a short run from its first quarter on. */
export async function measureMemory(
  rig: ConsoleRig,
  { ratePerS, minutes, say }: ConsoleBenchOptions,
): Promise<readonly Figure[]> {
  await rig.drive(ratePerS);
  const { page, context } = await rig.openPage('fleet', []);
  await openLive(page, rig.base, `at=${place}`, true);
  const wire = await context.newCDPSession(page);
  await wire.send('Performance.enable');
  const look = async (): Promise<{ readonly heapMB: number; readonly nodes: number }> => {
    for (let round = 0; round < 3; round += 1) await wire.send('HeapProfiler.collectGarbage');
    const { metrics } = await wire.send('Performance.getMetrics');
    const of = (name: string): number => metrics.find((one) => one.name === name)?.value ?? Number.NaN;
    return { heapMB: of('JSHeapUsedSize') / 1e6, nodes: of('Nodes') };
  };
  const settleMinutes = Math.min(5, minutes / 4);
  say(`memory over ${minutes} minutes`);
  await pan(page, settleMinutes * 60);
  const before = await look();
  await pan(page, (minutes - settleMinutes) * 60);
  const after = await look();
  const { detachedNodes } = await wire.send('DOM.getDetachedDomNodes');
  await rig.drive(0);
  await context.close();
  const section = 'memory';
  return figuresFrom(section, '', [
    [`heap after ${minutes} minutes`, 'MB', after.heapMB],
    [`its growth from minute ${settleMinutes}`, 'MB', after.heapMB - before.heapMB, undefined, 5],
    ['nodes', '', after.nodes, undefined, 3000],
    ['detached trees', '', detachedNodes.length, undefined, 0],
  ]);
}

interface Typed {
  readonly keyTimes: readonly number[];
  readonly keyEvents: readonly number[];
  readonly rows: number;
}

async function typeIn(rig: ConsoleRig, list: string, begin: (page: Page) => Promise<void>): Promise<Typed> {
  const { page, context } = await rig.openPage('fleet', [keyScript(list)]);
  await openLive(page, rig.base, `at=${place}`, true);
  await begin(page);
  for (const text of ['truck-00', 'truck-01234', '9876', 'nothing']) {
    for (const letter of text) {
      await page.keyboard.press(letter);
      await sleep(250);
    }
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Backspace');
    await sleep(500);
  }
  await page.keyboard.type('truck-0');
  await sleep(500);
  const rows = await page.locator(`${list} a.vehicle, ${list} [role=menuitem]`).count();
  const typed = await page.evaluate<Pick<Typed, 'keyTimes' | 'keyEvents'>>(
    '({ keyTimes: globalThis.keyTimes, keyEvents: globalThis.keyEvents })',
  );
  await context.close();
  return { ...typed, rows };
}

/** G9, G17, G19. */
export async function measureKeys(rig: ConsoleRig, { say }: ConsoleBenchOptions): Promise<readonly Figure[]> {
  say('typing into palette and filter');
  const palette = await typeIn(rig, '.palette-list', async (page) => {
    await page.keyboard.press('Control+k');
    await page.locator('.palette-list').waitFor();
  });
  const filter = await typeIn(rig, '.list', (page) =>
    page.getByRole('searchbox', { name: 'Find a vehicle in the list' }).focus(),
  );
  const section = 'keys';
  const events = [...palette.keyEvents, ...filter.keyEvents];
  return figuresFrom(section, '', [
    ['palette, key to list, p50', 'ms', percentile(palette.keyTimes, 0.5)],
    ['palette, key to list, p98', 'ms', percentile(palette.keyTimes, 0.98), undefined, 16],
    ['filter, key to list, p50', 'ms', percentile(filter.keyTimes, 0.5)],
    ['filter, key to list, p98', 'ms', percentile(filter.keyTimes, 0.98), undefined, 30],
    ['rows of the list in the page', '', filter.rows, undefined, 60],
    ['keys until drawn, p98', 'ms', percentile(events, 0.98), undefined, 80],
  ]);
}
