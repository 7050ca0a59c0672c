// What a person presses twice, holds down, or presses again after a lost answer happens once; and a restore is never kept back by that.
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type ConsolePage,
  createConsoleBrowsers,
  openConsole,
  whyNoConsole,
} from '../support/http/console-page.ts';
import { type DemoProgram, settleUsers, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();

const password = 'nine boats below the bridge';
const vehicles = ['van-01', 'van-02', 'van-03', 'van-04'];
/** Between the two clicks of a person. */
const clickMs = 150;

type Row = Readonly<Record<string, unknown>>;

/** Two clicks at one place of the screen, whatever stands there at the second. */
async function clickTwice(page: Page, button: Locator): Promise<void> {
  await button.scrollIntoViewIfNeeded();
  const box = await button.boundingBox();
  if (box === null) throw new Error('the button is not on the screen');
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.click(x, y);
  await page.waitForTimeout(clickMs);
  await page.mouse.click(x, y, { clickCount: 2 });
}

/** Enter as the keyboard repeats it while it is held down. */
async function holdEnter(page: Page, button: Locator): Promise<void> {
  await button.focus();
  for (let repeat = 0; repeat < 12; repeat += 1) {
    await page.keyboard.down('Enter');
    await page.waitForTimeout(30);
  }
  await page.keyboard.up('Enter');
}

const waysToPressTwice = [
  ['a double click', clickTwice],
  ['two clicks in one moment', (_page: Page, button: Locator) => button.dblclick()],
  ['Enter held down', holdEnter],
] as const;

describe.skipIf(why !== null)(
  why === null ? 'a button of the console that is pressed twice' : `a button that is pressed twice [${why}]`,
  () => {
    let demo: DemoProgram;
    const browsers = createConsoleBrowsers();
    let token = '';
    const pages: ConsolePage[] = [];

    const openAs = async (userID: string): Promise<ConsolePage> => {
      const session = { token: await demo.login(userID, password), userID };
      const opened = await openConsole(browsers, { base: demo.base, session });
      pages.push(opened);
      return opened;
    };
    const post = (path: string, body: object) => demo.call(`${path}/authorization`, { token, body });
    const restoreAll = async (): Promise<void> => {
      for (const deviceID of vehicles)
        await post('command/feature', { deviceID, feature: 'enginecutoff', state: '0' });
    };
    const commandsOf = async (deviceID: string, state: '0' | '1'): Promise<readonly Row[]> => {
      const { commands } = await demo.call(`command/list/${deviceID}/authorization?limit=100`, { token });
      return (commands as readonly Row[]).filter((one) => one['state'] === state);
    };
    const confirmButton = (page: Page): Locator => page.locator('button.physical');
    const fillForm = async ({ page, open }: ConsolePage, deviceID: string): Promise<void> => {
      await open(`/vehicle/${deviceID}?cut=ask`);
      await page.getByRole('button', { name: /Reason/ }).click();
      await page.getByRole('option', { name: 'Test' }).click();
      await expect.poll(() => confirmButton(page).getAttribute('aria-disabled')).toBe('false');
    };
    /** Requests of a page to one operation. */
    const countCalls = (page: Page, path: string): readonly string[] => {
      const calls: string[] = [];
      page.on('request', (request) => {
        if (request.url().endsWith(`${path}/authorization`)) calls.push(request.url());
      });
      return calls;
    };

    beforeAll(async () => {
      demo = await startDemoProgram(vehicles.length);
      token = await demo.login('admin', demo.password);
      for (const userID of ['olga', 'otto', 'oda'])
        await post('user/createuser', { userID, roleID: 'operator', password });
      settleUsers(demo);
    });

    afterEach(async () => {
      for (const { context } of pages.splice(0)) await context.close();
      await restoreAll();
    });

    afterAll(async () => {
      await browsers.close();
      await demo?.stop();
    });

    it.each(waysToPressTwice)('gives one cut for %s, and does not withdraw it', async (_name, pressTwice) => {
      const opened = await openAs('olga');
      const before = (await commandsOf('van-01', '1')).length;
      await fillForm(opened, 'van-01');
      await pressTwice(opened.page, confirmButton(opened.page));
      await opened.page.getByRole('heading', { name: 'Course' }).waitFor();
      await opened.page.waitForTimeout(500);
      const cuts = await commandsOf('van-01', '1');
      expect(cuts.length).toBe(before + 1);
      expect(cuts[0]?.['cancelledBy']).toBe('');
    });

    it('gives one cut when the answer was lost and the button is pressed again', async () => {
      const opened = await openAs('olga');
      const { page } = opened;
      const before = (await commandsOf('van-02', '1')).length;
      await fillForm(opened, 'van-02');
      let isLost = false;
      await page.route('**/command/feature/authorization', async (route) => {
        if (isLost) return route.continue();
        isLost = true;
        await route.fetch();
        return route.abort();
      });
      await confirmButton(page).click();
      await page.getByRole('alert').filter({ hasText: 'Sent, no answer yet' }).waitFor();
      // It may be found in the ledger before the press.
      await confirmButton(page)
        .click({ timeout: 2000 })
        .catch(() => undefined);
      await page.getByRole('heading', { name: 'Course' }).waitFor();
      expect((await commandsOf('van-02', '1')).length).toBe(before + 1);
    });

    it.each(waysToPressTwice)('approves once for %s', async (_name, pressTwice) => {
      await post('auth/updateaccount', { accountID: 'demo', password: demo.password, needsApproval: true });
      const own = await demo.login('oda', password);
      const before = (await commandsOf('van-03', '1')).length;
      await demo.call('command/feature/authorization', {
        token: own,
        body: { deviceID: 'van-03', feature: 'enginecutoff', state: '1', reason: 'test' },
      });
      const { page, open } = await openAs('otto');
      await open('/approvals');
      const approve = page.getByRole('button', { name: 'Approve cut of van-03' });
      await expect.poll(() => approve.getAttribute('aria-disabled')).toBe('false');
      await pressTwice(page, approve);
      await page.getByRole('dialog', { name: 'Cut engine · van-03' }).waitFor();
      await page.waitForTimeout(500);
      const cuts = await commandsOf('van-03', '1');
      expect(cuts.length).toBe(before + 1);
      expect(cuts[0]).toMatchObject({ approver: 'otto', cancelledBy: '' });
      await post('auth/updateaccount', { accountID: 'demo', password: demo.password, needsApproval: false });
    });

    it.each(waysToPressTwice)(
      'withdraws a request once for %s, and calls nothing failed',
      async (_name, pressTwice) => {
        await post('auth/updateaccount', { accountID: 'demo', password: demo.password, needsApproval: true });
        const opened = await openAs('olga');
        const { page } = opened;
        const calls = countCalls(page, 'command/withdraw');
        await fillForm(opened, 'van-04');
        await confirmButton(page).click();
        await page.getByText('Not sent to the vehicle yet').waitFor();
        await page.waitForTimeout(600);
        const withdraw = page.getByRole('button', { name: 'Withdraw' });
        await expect.poll(() => withdraw.getAttribute('aria-disabled')).not.toBe('true');
        await pressTwice(page, withdraw);
        await page.getByRole('dialog').getByText('Withdrawn', { exact: true }).first().waitFor();
        expect(calls).toHaveLength(1);
        expect(await page.getByText('Not withdrawn').count()).toBe(0);
        await post('auth/updateaccount', {
          accountID: 'demo',
          password: demo.password,
          needsApproval: false,
        });
      },
    );

    it.each(waysToPressTwice)('asks for one restore for %s', async (_name, pressTwice) => {
      const { page, open } = await openAs('olga');
      await open('/vehicle/van-01');
      const button = page.getByRole('button', { name: 'Restore engine' });
      await button.waitFor();
      const before = (await commandsOf('van-01', '0')).length;
      await pressTwice(page, button);
      await page.getByText(/Restore of van-01 asked|van-01 restored/).waitFor();
      await page.waitForTimeout(500);
      expect((await commandsOf('van-01', '0')).length).toBe(before + 1);
    });

    it('asks for another restore a moment later, and at once when the first failed', async () => {
      const { page, open } = await openAs('olga');
      const calls = countCalls(page, 'command/feature');
      await open('/vehicle/van-01');
      const button = page.getByRole('button', { name: 'Restore engine' });
      await button.click();
      await page.waitForTimeout(600);
      await button.click();
      await expect.poll(() => calls.length).toBe(2);
      await page.waitForTimeout(600);
      await page.route('**/command/feature/authorization', (route) => route.abort(), { times: 1 });
      await button.click();
      await page.getByRole('alert').filter({ hasText: 'Sent, no answer yet' }).waitFor();
      await button.click();
      await expect.poll(() => calls.length).toBe(4);
      await page.getByText(/Restore of van-01 asked|van-01 restored/).waitFor();
    });
  },
);
