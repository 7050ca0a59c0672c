// The console while the service is silent: connections stay open and nothing comes (the broker is stopped), or an answer is lost on its way. What
// went out is never denied, what acts is off within seconds, and a restore is always there.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  type ConsolePage,
  createConsoleBrowsers,
  openConsole,
  whyNoConsole,
} from '../support/http/console-page.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();
const unanswered = 'Sent, no answer yet: it may still be carried out';
type Row = Readonly<Record<string, unknown>>;

describe.skipIf(why !== null)(
  why === null ? 'the console of a silent service' : `the console of a silent service [${why}]`,
  () => {
    let demo: DemoProgram;
    let token = '';
    const browsers = createConsoleBrowsers();
    const opened: ConsolePage[] = [];

    const openAs = async (path: string): Promise<ConsolePage> => {
      const own = await demo.login('admin', demo.password);
      const one = await openConsole(browsers, { base: demo.base, session: { token: own, userID: 'admin' } });
      opened.push(one);
      await one.open(path);
      await one.page.locator('.pulse[data-state=live]').waitFor();
      return one;
    };
    const silence = (): (() => void) => {
      const goOn = demo.silence();
      onTestFinished(goOn);
      return goOn;
    };
    const cutsOf = async (deviceID: string): Promise<readonly Row[]> => {
      const { commands } = await demo.call(`command/list/${deviceID}/authorization`, { token });
      return (commands as readonly Row[]).filter(({ state }) => state === '1');
    };
    const dialog = (page: Page) => page.locator('.dialog.cut');
    const cutButton = (page: Page) => page.locator('button.physical');
    const isOff = (page: Page) => cutButton(page).getAttribute('aria-disabled');
    const text = (page: Page): Promise<string> => dialog(page).innerText();
    /** Opens the form of a vehicle and fills it in. */
    const openForm = async (deviceID: string): Promise<Page> => {
      const { page } = await openAs(`/vehicle/${deviceID}?cut=ask`);
      await page.getByRole('button', { name: /Reason/ }).click();
      await page.getByRole('option', { name: 'Stolen' }).click();
      await expect.poll(() => isOff(page), { timeout: 60_000 }).toBe('false');
      expect(await text(page)).toContain('Nothing sent yet');
      return page;
    };
    const isFollowed = (page: Page) =>
      expect.poll(() => page.url(), { timeout: 120_000 }).toMatch(/cut=command-/);

    beforeAll(async () => {
      demo = await startDemoProgram(8);
      token = await demo.login('admin', demo.password);
    });

    afterEach(async () => {
      for (const { context } of opened.splice(0)) await context.close();
    });

    afterAll(async () => {
      await browsers.close();
      await demo?.stop();
    });

    it('is not live after seconds of silence, and nothing that acts can be pressed but the way back', async () => {
      const page = await openForm('van-01');
      const board = await openAs('/devices?pick=van-01,van-02&open=cut');
      await expect.poll(() => dialog(board.page).getByRole('checkbox').count(), { timeout: 60_000 }).toBe(2);
      const goOn = silence();
      await page.locator('.pulse[data-state=down]').waitFor({ timeout: 60_000 });
      // The connection was not given up yet: the silence alone says it.
      expect(await isOff(page)).toBe('true');
      expect(await text(page)).toContain('Cutting is off');
      expect(await page.locator('.pulse').innerText()).not.toContain('Live');
      const restore = dialog(page).getByRole('button', { name: 'Restore engine' });
      expect(await restore.isEnabled()).toBe(true);
      await restore.click();
      await dialog(page).getByText(unanswered).waitFor({ timeout: 60_000 });
      await board.page.locator('.pulse[data-state=down]').waitFor({ timeout: 60_000 });
      expect(await isOff(board.page)).toBe('true');
      expect(await board.page.getByRole('button', { name: 'Restore engine' }).count()).toBe(2);
      goOn();
      await page.locator('.pulse[data-state=live]').waitFor({ timeout: 120_000 });
      await expect.poll(() => isOff(page), { timeout: 60_000 }).toBe('false');
      expect((await cutsOf('van-01')).length).toBe(0);
    });

    it('knows again what there is after a silence that its connection has survived', async () => {
      const { page } = await openAs('/alarms');
      const shelved = page.locator('.chip').filter({ hasText: 'Shelved' });
      await expect.poll(() => shelved.innerText()).toMatch(/0$/);
      const goOn = silence();
      await page.locator('.pulse[data-state=down]').waitFor({ timeout: 60_000 });
      expect(await shelved.innerText()).toMatch(/\?$/);
      goOn();
      await expect.poll(() => shelved.innerText(), { timeout: 120_000 }).toMatch(/0$/);
    });

    it('never denies a cut that went out, and shows what the service made of it once it goes on', async () => {
      const page = await openForm('van-03');
      const goOn = silence();
      await cutButton(page).click();
      await dialog(page).getByText(unanswered).waitFor({ timeout: 60_000 });
      await page.locator('.pulse[data-state=down]').waitFor({ timeout: 60_000 });
      const said = await text(page);
      for (const denied of ['Nothing sent', 'Cutting is off', 'Not asked'])
        expect(said).not.toContain(denied);
      expect(await dialog(page).getByRole('button', { name: 'Restore engine' }).isEnabled()).toBe(true);
      expect(await isOff(page)).toBe('true');
      // Closed, it is found on the page of the vehicle.
      await dialog(page).getByRole('button', { name: 'Close' }).click();
      await page.getByRole('link', { name: unanswered }).click();
      await dialog(page).getByText(unanswered).waitFor();
      goOn();
      await isFollowed(page);
      await dialog(page)
        .getByText(/Armed|Sent|Received|Engine cut/)
        .first()
        .waitFor({ timeout: 60_000 });
      expect((await cutsOf('van-03')).length).toBe(1);
    });

    it('lets a restore count that was pressed after a cut without an answer', async () => {
      const page = await openForm('van-04');
      const goOn = silence();
      await cutButton(page).click();
      await dialog(page).getByText(unanswered).waitFor({ timeout: 60_000 });
      await dialog(page).getByRole('button', { name: 'Restore engine' }).click();
      await new Promise((done) => setTimeout(done, 5000));
      goOn();
      const left = async (): Promise<unknown> => {
        const { commands } = await demo.call('command/list/van-04/authorization', { token });
        const all = commands as readonly Row[];
        const isOver = all.filter(({ state }) => state === '1').every(({ hasEnded }) => hasEnded === true);
        return all[0]?.['state'] === '0' && isOver;
      };
      await expect.poll(left, { timeout: 120_000 }).toBe(true);
      expect((await cutsOf('van-04')).every(({ commandState }) => commandState !== 'confirmed')).toBe(true);
    });

    it.each([
      ['a proxy that gives up', 'van-05', 504],
      ['a connection that breaks', 'van-08', 0],
    ])('finds the cut in the ledger whose answer was lost by %s', async (_by, deviceID, status) => {
      const page = await openForm(deviceID);
      await page.route('**/command/feature/**', async (route) => {
        await route.fetch();
        if (status === 0) await route.abort('connectionreset');
        else await route.fulfill({ status, contentType: 'text/html', body: '<h1>Gateway Time-out</h1>' });
      });
      await cutButton(page).click();
      await isFollowed(page);
      expect((await cutsOf(deviceID)).length).toBe(1);
    });

    it('asks again as the same order, over a reload', async () => {
      const page = await openForm('van-07');
      const keys: (string | undefined)[] = [];
      page.on('request', (request) => {
        if (request.url().includes('command/feature')) keys.push(request.headers()['idempotency-key']);
      });
      await page.route('**/command/feature/**', (route) => route.abort('timedout'));
      await cutButton(page).click();
      await dialog(page).getByText(unanswered).waitFor({ timeout: 60_000 });
      await page.unroute('**/command/feature/**');
      await page.reload();
      await dialog(page).getByText(unanswered).waitFor({ timeout: 60_000 });
      expect(await text(page)).not.toContain('Nothing sent');
      await expect.poll(() => isOff(page), { timeout: 60_000 }).toBe('false');
      await page.getByRole('button', { name: 'Ask again, as the same order' }).click();
      await isFollowed(page);
      expect(keys.length).toBe(2);
      expect(new Set(keys).size).toBe(1);
      expect((await cutsOf('van-07')).length).toBe(1);
    });
  },
);
