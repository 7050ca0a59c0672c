// The first minute with the console as a film: `npm run film`. A newcomer follows the address that the terminal prints, sees the fleet, an alarm,
// a cut that waits and why, and the approval of a second person. It fails when the minute does not happen, or is none.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConsoleBrowsers, openConsole } from '../support/http/console-page.ts';
import { beginFilm } from '../support/http/film.ts';
import { chromiumNeeds } from '../support/machine/browser.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';

const folder = process.env['FLEETWARD_TEST_FILM'] ?? '';
const why = folder === '' ? 'on demand: npm run film' : chromiumNeeds().missing;

/** Ends a hang: a vehicle on a busy machine waits for fresh proof of standstill. */
const hangMs = 120_000;
const secondsMost = 60;

describe.skipIf(why !== null)(why === null ? 'the film' : `the film [${why}]`, () => {
  const browsers = createConsoleBrowsers();
  let demo: DemoProgram;

  beforeAll(async () => {
    demo = await startDemoProgram(6);
  });
  afterAll(async () => {
    await browsers.close();
    await demo?.stop();
  });

  it('shows the fleet, an alarm, a cut that waits, and an approval within a minute', async () => {
    const { page } = await openConsole(browsers, { base: demo.base, hasMap: true, width: 1280 });
    page.setDefaultTimeout(hangMs);
    const link = /http\S+#code=\S+/.exec(demo.said())?.[0] ?? expect.fail(demo.said());
    const film = await beginFilm(page, folder);
    const look = (ms: number): Promise<void> => page.waitForTimeout(ms);
    const press = async (name: string | RegExp, role: 'button' | 'link' = 'button'): Promise<void> => {
      const target = page.getByRole(role, { name }).first();
      await target.scrollIntoViewIfNeeded();
      await target.hover();
      await look(500);
      await target.click();
    };
    const happened = (title: string): Promise<void> =>
      page.getByRole('listitem').filter({ hasText: title }).getByText('Happened').waitFor();

    film.caption('Open the address that `npm start` printed');
    await page.goto(link);
    await page.getByText('0 of 3 happened').waitFor();
    await look(2000);
    film.caption('The fleet, live');
    await press('Live', 'link');
    await page.locator('a.vehicle').first().waitFor();
    await look(3000);

    film.caption('A driver presses the panic button');
    await press('Practice fleet', 'link');
    await press(/^Press the panic button of van-/);
    await happened('An alarm');
    film.caption('The alarm, and who takes it');
    await press(/^Alarms/, 'link');
    await look(1000);
    await press(/^Take(?!n)/);
    await look(2000);

    film.caption('Cut a van that drives: reason and evidence first');
    await press('Practice fleet', 'link');
    const waits = await askForCut(page, press);
    film.caption(`${waits} drives, so its cut waits, and says why`);
    await page.getByText('Waits:').waitFor();
    const cut = page.url();
    await look(4000);
    film.caption('It stops, and the key is turned: only then is it cut');
    await page.goto(`${demo.base}/console/practice?vehicle=${waits}`);
    await happened('A cut that waits, and why');
    await press('Stop');
    await look(1500);
    await press('Ignition off');
    await look(1500);
    await page.goto(cut);
    await page.getByText('Engine cut.').waitFor();
    await look(1500);
    await page.goto(`${demo.base}/console/practice`);

    film.caption('A colleague asks for a cut: a second person must approve');
    await press(/^Let the colleague ask for the cut of van-/);
    await press('See the approvals', 'link');
    const approve = page.locator('button.physical').first();
    await expect.poll(() => approve.getAttribute('aria-disabled'), { timeout: hangMs }).toBe('false');
    await press(/^Approve/);
    await page.getByRole('dialog').waitFor();
    await look(2500);
    film.caption('All three happened');
    await page.goto(`${demo.base}/console/practice`);
    await page.getByText('3 of 3 happened').waitFor();
    await look(2500);
    const frames = await film.end();
    console.log(`${frames.length} pictures: ${folder}/index.html`);
    expect(frames.length).toBeLessThanOrEqual(secondsMost);
  });
});

/** Has a van driven, asks for its cut, and confirms it. @returns the van. */
async function askForCut(
  page: Page,
  press: (name: string | RegExp, role?: 'button' | 'link') => Promise<void>,
): Promise<string> {
  const step = page.getByRole('listitem').filter({ hasText: 'A cut that waits, and why' });
  const drive = step.getByRole('button', { name: /^Let van-.* drive$/ });
  const ask = step.getByRole('link', { name: /^Ask for the cut of van-/ });
  await drive.or(ask).waitFor();
  if (await drive.isVisible()) {
    await press(/^Let van-.* drive$/);
    await ask.waitFor();
  }
  const van = (await ask.textContent())?.match(/van-\d+/)?.[0] ?? '';
  await press(`Ask for the cut of ${van}`, 'link');
  await page.getByRole('dialog', { name: `Cut engine · ${van}` }).waitFor();
  await press(/Reason/);
  await page.getByRole('option', { name: 'Stolen' }).click();
  const confirm = page.locator('button.physical');
  await expect.poll(() => confirm.getAttribute('aria-disabled'), { timeout: hangMs }).toBe('false');
  await page.waitForTimeout(1500);
  await confirm.hover();
  await confirm.click();
  return van;
}
