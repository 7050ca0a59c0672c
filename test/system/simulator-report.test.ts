// The report of a run as a person opens it: in a real browser, with plots that are drawn, nothing that leaves the machine, and nothing that
// keeps anybody out. Reports of real runs: one that passed, one in which a broker lost events, and one of light trackers.
import { spawn } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { Check } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readReportParts } from '../../simulator/cli/page-files.ts';
import { resultSchema } from '../../simulator/core/result/result-schema.ts';
import { formatComparisonHtml } from '../../simulator/report/comparison-page.ts';
import { formatHtml } from '../../simulator/report/page.ts';
import { formatJson, parseResult } from '../../simulator/run/measure/report.ts';
import type { RunResult } from '../../simulator/run/measure/result.ts';
import { dropsOneIn, startFaultyBroker } from '../support/broker/faulty-broker.ts';
import { chromiumNeeds, openBrowser, openFile } from '../support/machine/browser.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { runAgainst } from '../support/programs/simulated-run.ts';
import {
  isSimulatorBuilt,
  simulate,
  simulatorNote,
  simulatorProgram,
} from '../support/programs/simulator-program.ts';

const folder = temporaryFolder('report');
const place = (name: string): string => join(folder, name);
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
  writeFileSync(place('lost.html'), formatHtml(result, readReportParts()));
  writeFileSync(place('lost.json'), formatJson(result));
}

const resultOf = (name: string): RunResult =>
  parseResult(readFileSync(place(`${name}.json`), 'utf8'), `${name}.json`);

/** The pixels of a plot, as a script of the page. */
const pixels = (id: string): string =>
  `const canvas = document.querySelector('#plot-${id} canvas');
   const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);`;

/** Pixels of a plot in a colour of its lines, which neither grid nor text has. */
const inkOf = (page: Page, id: string): Promise<number> =>
  page.evaluate<number>(`(() => {
    ${pixels(id)}
    const style = getComputedStyle(document.documentElement);
    const tones = ['blue', 'green', 'orange', 'violet', 'grey', 'red'].map((name) => {
      const digits = style.getPropertyValue('--' + name).trim().slice(1);
      return [0, 2, 4].map((at) => parseInt(digits.slice(at, at + 2), 16));
    });
    let count = 0;
    for (let at = 0; at < data.length; at += 4)
      if (data[at + 3] > 100 && tones.some((tone) => tone.every((part, of) => Math.abs(part - data[at + of]) < 12))) count += 1;
    return count;
  })()`);

/** Whether the shade of a fault is drawn: its colour, with the alpha of a shade or of its edge. */
const hasFaultShade = (page: Page, id: string): Promise<boolean> =>
  page.evaluate<boolean>(`(() => {
    ${pixels(id)}
    for (let at = 0; at < data.length; at += 4)
      if (data[at + 3] > 15 && data[at + 3] < 60 && data[at] > 190 && data[at + 2] < 50) return true;
    return false;
  })()`);

const pictureOf = (page: Page, id: string): Promise<string> =>
  page.evaluate(`document.querySelector('#plot-${id} canvas').toDataURL()`);

const reports = ['passed', 'lost', 'trackers', 'compared'] as const;

describe.skipIf(why !== '')(`the report of a run${why}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    const fleet = ['[fleet]', 'devices = 4', 'connectSpreadS = 1'];
    const actions = ['[actions]', 'panicPerHour = 720', 'doorPerHour = 720', '[reporting]', 'movingS = 1'];
    const commands = ['[commands]', 'perMinute = 10', 'restoreS = 5', '[needs]', 'commands = 0'];
    const trackers = [
      '[fleet]',
      'kind = "tracker"',
      'devices = 60',
      'trackerEveryS = 1',
      'connectSpreadS = 2',
    ];
    const storm = ['[[faults]]', 'kind = "reconnect-storm"', 'atS = 6', 'forS = 0'];
    await runToFiles('passed', [...fleet, ...actions, ...commands, ...outage], ['--threshold', 'lost==0']);
    await runToFiles('trackers', [...trackers, ...storm]);
    await loseEvents();
    const both = formatComparisonHtml(resultOf('passed'), resultOf('lost'), readReportParts());
    writeFileSync(place('compared.html'), both);
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  it.each(reports)('%s: is one file of less than 500 kB', (name) => {
    expect(statSync(place(`${name}.html`)).size).toBeLessThan(bytesMost);
  });

  it.each(reports)('%s: draws its plots without a network request and without an error', async (name) => {
    const { page, complaints } = await openFile(browser, place(`${name}.html`), { colours: 'light' });
    const always = ['rate', 'ingest', 'connections', 'backlog', 'cpu', 'memory', 'lag'];
    // Trackers send plain positions only, which the live stream is asked to leave out.
    const wanted = name === 'trackers' ? always : [...always, 'visible'];
    for (const id of wanted) {
      expect([id, (await inkOf(page, id)) > 50]).toEqual([id, true]);
      const box = await page.locator(`#plot-${id} canvas`).boundingBox();
      expect(box?.width).toBeGreaterThan(500);
    }
    expect(await page.title()).not.toBe('1');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it.each(reports.flatMap((name) => [[name, 'light'] as const, [name, 'dark'] as const]))(
    '%s, %s: has no accessibility fault that axe finds',
    async (name, colours) => {
      const { page, findFaults } = await openFile(browser, place(`${name}.html`), { colours });
      await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
      expect(await findFaults()).toEqual([]);
      await page.context().close();
    },
  );

  it('shows one moment in all plots, chosen by pointer or keyboard', async () => {
    const { page, complaints } = await openFile(browser, place('passed.html'), { colours: 'light' });
    const now = page.locator('#plot-connections .now').first();
    const before = await now.textContent();
    await page.locator('#moment').focus();
    for (let press = 0; press < 300; press += 1) await page.keyboard.press('ArrowRight');
    const moment = await page.locator('#moment-words').textContent();
    expect(moment).toMatch(/^\d:\d\d$/);
    expect(await now.textContent()).toMatch(/^\d+$/);
    expect(await page.locator('.u-cursor-x:not(.u-off)').count()).toBeGreaterThan(7);
    await page.locator('#plot-rate .u-over').hover();
    expect(await page.locator('#moment-words').textContent()).not.toBe(moment);
    await page.mouse.move(0, 0);
    expect(await now.textContent()).toBe(before);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('zooms all plots by dragging over one, and shows the whole run again on a double click', async () => {
    const { page, complaints } = await openFile(browser, place('passed.html'), { colours: 'light' });
    const range = page.locator('#range');
    expect(await range.textContent()).toBe('whole run');
    const over = page.locator('#plot-rate .u-over');
    await over.scrollIntoViewIfNeeded();
    const whole = await pictureOf(page, 'cpu');
    const box = await over.boundingBox();
    if (box === null) throw new Error('no plot');
    await page.mouse.move(box.x + box.width * 0.25, box.y + 80);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 80, { steps: 5 });
    await page.mouse.up();
    await expect.poll(() => range.textContent()).toMatch(/^\d:\d\d to \d:\d\d$/);
    await page.mouse.move(0, 0);
    expect(await pictureOf(page, 'cpu')).not.toBe(whole);
    await over.dblclick();
    await expect.poll(() => range.textContent()).toBe('whole run');
    await page.mouse.move(0, 0);
    expect(await pictureOf(page, 'cpu')).toBe(whole);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('zooms by keyboard alone, never out of the run', async () => {
    const { page } = await openFile(browser, place('passed.html'), { colours: 'light' });
    const range = page.locator('#range');
    const press = async (name: string): Promise<string | null> => {
      await page.getByRole('button', { name }).focus();
      await page.keyboard.press('Enter');
      return range.textContent();
    };
    const first = await press('Zoom in');
    expect(first).toMatch(/^0:\d\d to 0:\d\d$/);
    expect(await press('Later')).not.toBe(first);
    await press('Earlier');
    await press('Earlier');
    expect(await press('Earlier')).toMatch(/^0:00 to /);
    for (let times = 0; times < 5; times += 1) await press('Zoom in');
    expect(await page.getByRole('button', { name: 'Zoom in' }).getAttribute('aria-disabled')).toBe('true');
    expect(await press('Whole run')).toBe('whole run');
    await page.context().close();
  });

  it('follows the theme and paper in the colours of its plots', async () => {
    const { page } = await openFile(browser, place('passed.html'), { colours: 'light' });
    const light = await pictureOf(page, 'rate');
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(() => pictureOf(page, 'rate')).not.toBe(light);
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(() => pictureOf(page, 'rate')).toBe(light);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await expect.poll(() => page.locator('#plot-rate .uplot').evaluate((plot) => plot.clientWidth)).toBe(660);
    await page.context().close();
  });

  it('leads to each section from the list at its top', async () => {
    const { page } = await openFile(browser, place('passed.html'), { colours: 'light' });
    const links = await page.locator('nav a').all();
    expect(links.length).toBeGreaterThan(9);
    for (const link of links) {
      const id = (await link.getAttribute('href')) ?? '';
      await link.click();
      expect([id, await page.locator(`section${id} h2`).first().innerText()]).toEqual([
        id,
        await link.innerText(),
      ]);
    }
    await page.context().close();
  });

  it('names every vehicle on the map', async () => {
    const { page } = await openFile(browser, place('passed.html'), { colours: 'light' });
    const { routes } = resultOf('passed');
    expect(routes).toHaveLength(4);
    const labels = await page.locator('.map text').allTextContents();
    const ids = await page.locator('.vehicles li').allInnerTexts();
    for (const [at, { deviceID }] of routes.entries()) {
      expect(deviceID.endsWith(labels[at] ?? '?')).toBe(true);
      expect(ids[at]).toContain(deviceID);
    }
    await page.context().close();
  });

  it('counts facts, commands, errors and figures of the server as the JSON does', async () => {
    const { page } = await openFile(browser, place('passed.html'), { colours: 'light' });
    const { facts, commands, counts, unjudged } = resultOf('passed');
    const all = Object.values(facts);
    expect(all.reduce((sum, { happened }) => sum + happened, 0)).toBe(counts.facts);
    const reasons = all.flatMap((one) => Object.values(one.unjudged));
    expect(reasons.reduce((sum, count) => sum + count, 0)).toBe(unjudged);
    const requested = commands.reduce((sum, one) => sum + one.requested, 0);
    expect(requested).toBe(counts.commands);
    expect(await page.locator('#facts').innerText()).toMatch(
      new RegExp(`ignition on\\s+${facts.ignitionOn.happened}\\s+${facts.ignitionOn.found}\\s`),
    );
    expect(await page.locator('#commands').innerText()).toMatch(/confirmed/);
    expect(await page.locator('#errors').innerText()).toMatch(/HTTP requests failed \(5xx\)\s+0/);
    expect(await page.locator('#machines').innerText()).toMatch(/Broker: resident memory, MiB\s+\d/);
    await page.context().close();
  });

  it('can be read without scripts, on a telephone and on paper', async () => {
    const file = place('passed.html');
    const plain = await openFile(browser, file, { colours: 'light', hasScript: false, width: 360 });
    expect(await plain.page.locator('.verdict').innerText()).toContain('Every one of the');
    expect(await plain.page.locator('#tools').isVisible()).toBe(false);
    expect(await plain.page.locator('noscript').innerText()).toContain('The plots need JavaScript');
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

  it('names the failed checks and the lost events', async () => {
    const { page } = await openFile(browser, place('lost.html'), { colours: 'light' });
    const { truth, breaches } = resultOf('lost');
    const verdict = await page.locator('.verdict').innerText();
    expect(verdict).toContain('Failed');
    expect(verdict).toContain(`${truth.acknowledgedMissing} × acknowledged, but missing`);
    expect(verdict).toContain('threshold ingest.p99<0.001ms was not met');
    const listed = await page.locator('ol.found').innerText();
    for (const { eventID } of breaches.slice(0, 20)) expect(listed).toContain(eventID);
    const words = await page.locator('main').innerText();
    expect(words).toContain('The address of the broker’s metrics is not known');
    await page.context().close();
  });

  it('has no map for light trackers, says what it did not look at, and shades the faults', async () => {
    const { page } = await openFile(browser, place('trackers.html'), { colours: 'light' });
    const words = await page.locator('main').innerText();
    expect(words).toContain('there is no map of them');
    expect(words).toContain('Relays, sensors and the road: a light tracker has none.');
    expect(words).toContain('Until visible: The live stream is read without plain positions');
    await page.locator('summary', { hasText: '1 fault as a table' }).click();
    expect(await page.locator('main').innerText()).toMatch(/reconnect-storm\s+0:06\s+0:06\s+100 %/);
    // Between 0:04 and 0:08 the shade of the fault at 0:06 is drawn, at the left of 0:04 it is not.
    const { faults } = resultOf('trackers');
    expect(faults.map(({ kind }) => kind)).toEqual(['reconnect-storm']);
    expect(await hasFaultShade(page, 'rate')).toBe(true);
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await page.getByRole('button', { name: 'Later' }).click();
    await page.getByRole('button', { name: 'Later' }).click();
    expect(await hasFaultShade(page, 'rate')).toBe(false);
    await page.context().close();
  });

  it('has a JSON result that is valid by its schema, with each column on one line', async () => {
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

  it('compares two runs in one page', async () => {
    const { code, text } = await simulate([
      'compare',
      place('passed.json'),
      place('trackers.json'),
      '--report',
      place('both.html'),
    ]);
    expect([code, text]).toEqual([
      0,
      expect.stringContaining('The runs differ in scenario, size or kind of vehicle'),
    ]);
    const { page, complaints } = await openFile(browser, place('both.html'), { colours: 'light' });
    expect(await page.locator('#plot-rate .key :is(.dashes, .line)').count()).toBe(2);
    expect(await inkOf(page, 'rate')).toBeGreaterThan(50);
    const words = await page.locator('main').innerText();
    expect(words).toContain('The runs differ in scenario, size or kind of vehicle');
    expect(words).toMatch(/ingest\.p50.*× \d/);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('fails a comparison by --fail-on', async () => {
    const compare = (limit: string) =>
      simulate(['compare', place('passed.json'), place('passed.json'), '--fail-on', limit]);
    expect(await compare('ingest.p99>1.2x')).toMatchObject({ code: 0 });
    expect(await compare('ingest.p99<1.2x')).toMatchObject({
      code: 3,
      text: expect.stringContaining('FAILED  ingest.p99<1.2x: x1.00'),
    });
    expect(await compare('ingest.p99')).toMatchObject({
      code: 64,
      text: expect.stringContaining('--fail-on'),
    });
  });
});

/** Runs it on a terminal of that size. @param keys typed when the screen has been drawn. */
function simulateOnTerminal(args: readonly string[], keys: string): Promise<string> {
  const words = [process.execPath, simulatorProgram, ...args].map((word) => `'${word}'`).join(' ');
  const command = `stty cols 80 rows 24; exec ${words}`;
  const child = spawn('script', ['-qefc', command, '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'] });
  // The run hangs up with its terminal.
  onTestFinished(() => void child.kill('SIGKILL'));
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

  it('is redrawn in place, and removed on Ctrl-C with the cursor restored and the result below', async () => {
    const text = await run('once', '\u0003');
    const [, screen = '', rest = ''] = text.split(/\p{Cc}\[\?25[lh]/u);
    expect(screen).toContain('no breach so far');
    expect(screen).toMatch(/\p{Cc}\[1[0-9]A\r/u);
    expect(rest).toContain('Reading back the records of the service');
    expect(rest).toMatch(/truth: \d+ checks, all 0/);
  });

  it('restores the cursor when the run is ended at once', async () => {
    const text = await run('twice', '\u0003\u0003');
    expect(text.split('\u001b[?25h')).toHaveLength(2);
  });
});
