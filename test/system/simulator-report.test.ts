// The report of a run as a person opens it: in a real browser, with plots that are drawn, nothing that leaves the machine, and nothing that
// keeps anybody out. Reports of real runs: one that passed, one in which a broker lost events, and one of light trackers.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { Check } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resultSchema } from '../../simulator/core/result-schema.ts';
import { formatComparisonHtml } from '../../simulator/report/comparison-page.ts';
import { formatHtml } from '../../simulator/report/page.ts';
import { formatJson, parseResult } from '../../simulator/run/report.ts';
import type { RunResult } from '../../simulator/run/result.ts';
import { chromiumNeeds, openBrowser, openFile } from '../support/browser.ts';
import { dropsOneIn, startFaultyBroker } from '../support/faulty-broker.ts';
import { runAgainst } from '../support/simulated-run.ts';
import { isSimulatorBuilt, simulate, simulatorNote, simulatorProgram } from '../support/simulator-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetward-report-'));
const place = (name: string): string => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { missing } = chromiumNeeds();
const why = missing === null ? simulatorNote : ` [${missing}]`;
const bytesMost = 500_000;
const hostile = 'a </script><img src="http://127.0.0.1:9/x" onerror="document.title=1"> title';

const small = ['durationS = 12', 'drainS = 30', 'panicMs = 10000'];
const outage = ['[[faults]]', 'kind = "link-outage"', 'atS = 4', 'forS = 4', 'share = 0.5'];

function scenario(name: string, lines: readonly string[]): string {
  writeFileSync(place(`${name}.toml`), `${[`title = '${hostile}'`, ...small, ...lines].join('\n')}\n`);
  return place(`${name}.toml`);
}

/** A run from the command line, with its report and its JSON. */
async function runToFiles(name: string, lines: readonly string[], flags: readonly string[] = []) {
  const files = ['--report', place(`${name}.html`), '--json', place(`${name}.json`)];
  const { text } = await simulate(['run', scenario(name, lines), ...files, ...flags]);
  expect(text).toContain('truth:');
}

async function loseEvents(): Promise<void> {
  const broker = await startFaultyBroker(() => dropsOneIn(7));
  const result = await runAgainst(broker, folder, { thresholds: ['ingest.p99<0.001ms'] });
  await broker.close();
  writeFileSync(place('lost.html'), formatHtml(result));
  writeFileSync(place('lost.json'), formatJson(result));
}

const resultOf = (name: string): RunResult =>
  parseResult(readFileSync(place(`${name}.json`), 'utf8'), `${name}.json`);

const reports = ['passed', 'lost', 'trackers', 'compared'] as const;

describe.skipIf(why !== '')(`the report of a run${why}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    const fleet = ['[fleet]', 'devices = 4', 'connectSpreadS = 1'];
    const deeds = ['[deeds]', 'panicPerHour = 720', 'doorPerHour = 720', '[reporting]', 'movingS = 1'];
    const commands = ['[commands]', 'perMinute = 10', 'restoreS = 5'];
    const trackers = [
      '[fleet]',
      'kind = "tracker"',
      'devices = 60',
      'trackerEveryS = 1',
      'connectSpreadS = 2',
    ];
    const storm = ['[[faults]]', 'kind = "reconnect-storm"', 'atS = 6', 'forS = 0'];
    await runToFiles('passed', [...fleet, ...deeds, ...commands, ...outage], ['--threshold', 'lost==0']);
    await runToFiles('trackers', [...trackers, ...storm]);
    await loseEvents();
    writeFileSync(place('compared.html'), formatComparisonHtml(resultOf('passed'), resultOf('lost')));
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  it.each(reports)('%s: is one file of less than 500 kB', (name) => {
    expect(statSync(place(`${name}.html`)).size).toBeLessThan(bytesMost);
  });

  it.each(reports)('%s: draws its plots, asks nobody for anything and complains of nothing', async (name) => {
    const { page, complaints } = await openFile(browser, place(`${name}.html`), { colours: 'light' });
    const always = ['rate', 'ingest', 'connections', 'backlog', 'cpu', 'memory', 'lag'];
    // Trackers send plain positions only, which the live stream is asked to leave out.
    const wanted = name === 'trackers' ? always : [...always, 'visible'];
    for (const id of wanted) {
      const lines = page.locator(`#plot-${id} svg[role=img] :is(.line, .dashes)`);
      const paths = await lines.evaluateAll((all) => all.map((path) => path.getAttribute('d') ?? ''));
      expect([id, paths.some((path) => (path.match(/-?\d+/g) ?? []).length > 10)]).toEqual([id, true]);
      const box = await page.locator(`#plot-${id} svg[role=img]`).boundingBox();
      expect(box?.width).toBeGreaterThan(500);
    }
    expect(await page.title()).not.toBe('1');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it.each(reports.flatMap((name) => [[name, 'light'] as const, [name, 'dark'] as const]))(
    '%s, %s: keeps nobody out (axe finds nothing)',
    async (name, colours) => {
      const { page, findFaults } = await openFile(browser, place(`${name}.html`), { colours });
      await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
      expect(await findFaults()).toEqual([]);
      await page.context().close();
    },
  );

  it('shows one moment in all plots, by pointer and by keyboard', async () => {
    const { page, complaints } = await openFile(browser, place('passed.html'), { colours: 'light' });
    const now = page.locator('#plot-connections .now').first();
    const before = await now.textContent();
    await page.locator('#moment').focus();
    for (let press = 0; press < 30; press += 1) await page.keyboard.press('ArrowRight');
    expect(await page.locator('#moment-words').textContent()).toMatch(/^\d:\d\d$/);
    expect(await now.textContent()).toMatch(/^\d+$/);
    expect(await page.locator('.cursor:not([hidden])').count()).toBeGreaterThan(7);
    await page.locator('#plot-rate .plane').hover();
    await page.mouse.move(0, 0);
    expect(await now.textContent()).toBe(before);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('can be read without scripts, on a telephone and on paper', async () => {
    const file = place('passed.html');
    const plain = await openFile(browser, file, { colours: 'light', hasScript: false, width: 360 });
    expect(await plain.page.locator('.verdict').innerText()).toContain('Every one of the');
    expect(await plain.page.locator('#moment').isVisible()).toBe(false);
    await plain.page.locator('#plot-rate summary').click();
    expect(await plain.page.locator('#plot-rate tbody tr').count()).toBeGreaterThan(5);
    const body = await plain.page.locator('body').boundingBox();
    expect(body?.width).toBeLessThanOrEqual(360);
    await plain.page.context().close();
    const { page } = await openFile(browser, file, { colours: 'dark' });
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)');
    expect(await page.locator('#plot-rate details').first().isVisible()).toBe(false);
    const pdf = await page.pdf({ format: 'A4' });
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
    await page.context().close();
  });

  it('says what failed and names the lost events', async () => {
    const { page } = await openFile(browser, place('lost.html'), { colours: 'light' });
    const { truth, breaches } = resultOf('lost');
    const verdict = await page.locator('.verdict').innerText();
    expect(verdict).toContain('Failed');
    expect(verdict).toContain(`${truth.acknowledgedMissing} × acknowledged, but missing`);
    expect(verdict).toContain('threshold ingest.p99<0.001ms was not met');
    const listed = await page.locator('ol.found').innerText();
    for (const { eventID } of breaches.slice(0, 20)) expect(listed).toContain(eventID);
    const words = await page.locator('main').innerText();
    expect(words).toContain('Nobody told where the broker shows its own figures');
    await page.context().close();
  });

  it('says that light trackers have no road, and shades the faults', async () => {
    const { page } = await openFile(browser, place('trackers.html'), { colours: 'light' });
    const words = await page.locator('main').innerText();
    expect(words).toContain('there is no map of them');
    expect(words).toContain('Until visible: The live stream is read without plain positions');
    expect(await page.locator('#plot-rate path.fault').getAttribute('d')).toMatch(/^M\d+ 0h\d+v400h-\d+z$/);
    await page.locator('summary', { hasText: '1 fault as a table' }).click();
    expect(await page.locator('main').innerText()).toMatch(/reconnect-storm\s+0:06\s+0:06\s+100 %/);
    expect(await page.locator('#plot-rate .label').allInnerTexts()).toEqual(['reconnect-storm']);
    await page.context().close();
  });

  it('comes with a JSON that keeps to its schema, columns in a line each', async () => {
    const text = readFileSync(place('passed.json'), 'utf8');
    const result = JSON.parse(text) as RunResult;
    expect(Check(resultSchema, result)).toBe(true);
    expect(text).toMatch(/^ {6}"storedRate": \[[\d.,null]+\],$/m);
    const { columns, stepMs } = result.series;
    const made = (columns.storedRate ?? []).reduce<number>(
      (sum, rate) => sum + ((rate ?? 0) * stepMs) / 1000,
      0,
    );
    // Each vehicle stores something more when it is taken off the road.
    expect(made).toBeGreaterThanOrEqual(result.counts.events - 3 * result.devices);
    expect(made).toBeLessThanOrEqual(result.counts.events * 1.02);
    expect(result.faults).toMatchObject([{ kind: 'link-outage', share: 0.5 }]);
    expect(result.brokerSight.seen).toBeGreaterThan(5);
    expect(Math.max(...(columns.brokerMb ?? []).map(Number))).toBeGreaterThan(30);
    expect(result.setting.command).toMatch(/^fleetward-simulator run .* --seed fleetward$/);
    const shown = await simulate(['scenario', 'schema', 'result']);
    expect(JSON.parse(shown.text)).toEqual(JSON.parse(JSON.stringify(resultSchema)));
  });

  it('lays one run over another', async () => {
    const { code, text } = await simulate([
      'compare',
      place('passed.json'),
      place('trackers.json'),
      '--report',
      place('both.html'),
    ]);
    expect([code, text]).toEqual([0, expect.stringContaining('these are runs of different things')]);
    const { page, complaints } = await openFile(browser, place('both.html'), { colours: 'light' });
    expect(await page.locator('#plot-rate svg[role=img] .dashes').count()).toBe(1);
    expect(await page.locator('#plot-rate svg[role=img] .line').count()).toBe(1);
    const words = await page.locator('main').innerText();
    expect(words).toContain('these are runs of different things');
    expect(words).toMatch(/ingest\.p50.*× \d/);
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});

/** Runs it on a terminal of that size. @param keys typed when the screen has been drawn. */
function simulateOnTerminal(args: readonly string[], keys: string): Promise<string> {
  const words = [process.execPath, simulatorProgram, ...args].map((word) => `'${word}'`).join(' ');
  const command = `stty cols 80 rows 24; exec ${words}`;
  const child = spawn('script', ['-qefc', command, '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'] });
  let text = '';
  let isTyped = false;
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    if (isTyped || !text.includes('generator late')) return;
    isTyped = true;
    child.stdin.write(keys);
  });
  return new Promise((done) => child.once('close', () => done(text)));
}

describe.skipIf(!isSimulatorBuilt)(`the screen of a run on a terminal${simulatorNote}`, () => {
  const path = scenario('screen', ['[fleet]', 'devices = 2', 'connectSpreadS = 0']);
  const run = (name: string, keys: string): Promise<string> =>
    simulateOnTerminal(['run', path, '--duration', '300', '--state', place(name)], keys);

  it('is drawn over itself, and put away on Ctrl-C, with the cursor back and the result below', async () => {
    const text = await run('once', '\u0003');
    const [, screen = '', rest = ''] = text.split(/\p{Cc}\[\?25[lh]/u);
    expect(screen).toContain('no breach so far');
    expect(screen).toMatch(/\p{Cc}\[1[0-9]A\r/u);
    expect(rest).toContain('Reading back what the service holds');
    expect(rest).toMatch(/truth: \d+ checks, all 0/);
  });

  it('gives the cursor back when it is ended at once', async () => {
    const text = await run('twice', '\u0003\u0003');
    expect(text.split('\u001b[?25h')).toHaveLength(2);
  });
});
