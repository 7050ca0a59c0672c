// Lists that change by themselves, in Chromium against the real broker: a press acts on the row that was under the pointer.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { whyNoConsole } from '../support/http/console-page.ts';
import { createUserPages } from '../support/http/user-pages.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();

const panic = 63_553;
/** After it a panic is another event, and not the same one once more. */
const panicEnd = 63_554;
const fleet = ['van-01', 'van-02', 'van-03'] as const;

describe.skipIf(why !== null)(
  why === null ? 'lists that change by themselves' : `lists that change by themselves [${why}]`,
  () => {
    let demo: DemoProgram;
    const { openAs, closePages, close } = createUserPages(() => demo);
    let token = '';

    const alarmsOf = async (state: string) => {
      const { alarms } = await demo.call(`alarm/alarms/authorization?state=${state}&limit=200`, { token });
      return alarms as readonly { readonly alarmID: string; readonly deviceID: string }[];
    };
    const end = (alarmID: string) =>
      demo.call('alarm/close/authorization', { token, body: { alarmID, reason: 'test' } });
    const raise = async (deviceID: string): Promise<void> => {
      for (const code of [panicEnd, panic])
        await demo.call(`events/createactivation/${deviceID}/${code}/authorization`, { token });
      await expect
        .poll(async () => (await alarmsOf('new')).some((one) => one.deviceID === deviceID), {
          timeout: 60_000,
        })
        .toBe(true);
    };
    /** Moves the pointer to the middle of an element, which is not looked up again for the press. */
    const aim = async (page: Page, selector: string): Promise<void> => {
      const box = await page.locator(selector).boundingBox();
      if (box === null) throw new Error(`${selector} is not in sight`);
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 2 });
    };
    const press = async (page: Page): Promise<void> => {
      await page.mouse.down();
      await page.mouse.up();
    };

    beforeAll(async () => {
      demo = await startDemoProgram(3);
      token = await demo.login('admin', demo.password);
    });

    beforeEach(async () => {
      for (const state of ['new', 'taken'])
        for (const { alarmID } of await alarmsOf(state)) await end(alarmID);
    });

    afterEach(closePages);

    afterAll(async () => {
      await close();
      await demo?.stop();
    });

    it('keep the row of an alarm under the pointer, name a critical one that came, and catch up afterwards', async () => {
      for (const deviceID of fleet) await raise(deviceID);
      const { page, complaints, open } = await openAs('admin');
      await open('/alarms');
      const rows = page.locator('table.queue tbody tr');
      await expect.poll(() => rows.count()).toBe(3);
      await aim(page, 'table.queue tr:has-text("van-02") button:has-text("Take")');
      const first = (await alarmsOf('new')).find(({ deviceID }) => deviceID === 'van-01');
      await end(first?.alarmID ?? '');
      await page.locator('tr.gone[inert]', { hasText: 'van-01' }).waitFor();
      await press(page);
      await expect
        .poll(async () => (await alarmsOf('taken')).map(({ deviceID }) => deviceID))
        .toEqual(['van-02']);
      await raise('van-01');
      const bar = page.getByRole('button', { name: 'Critical: Panic · van-01 1 new' });
      await bar.waitFor();
      expect(await rows.count()).toBe(3);
      await bar.click();
      await expect.poll(() => page.locator('tr.gone').count()).toBe(0);
      await expect.poll(() => rows.count()).toBe(3);
      await bar.waitFor({ state: 'detached' });
      await page.mouse.move(1, 1);
      await expect.poll(() => rows.last().textContent()).toContain('van-02');
      expect(complaints).toEqual([]);
    });

    it('keep the order of the vehicles under the pointer and under the keyboard', async () => {
      const { page, user, open } = await openAs('admin');
      await open('/live');
      const names = async (): Promise<readonly string[]> =>
        page.locator('.vehicles li .name').evaluateAll((all) => all.map((one) => one.textContent ?? ''));
      const order = async (): Promise<string> => (await names()).map((name) => name.slice(0, 6)).join(' ');
      await expect.poll(async () => (await names()).length).toBe(3);
      await aim(page, '.vehicles li:nth-child(2) a');
      const before = await order();
      const [, aimed = '', last = ''] = before.split(' ');
      await raise(last);
      await page.getByRole('button', { name: `Critical: Panic · ${last}` }).waitFor();
      expect(await order()).toBe(before);
      await press(page);
      await expect.poll(() => new URL(page.url()).searchParams.get('vehicle')).toBe(aimed);
      await page.mouse.move(1, 1);
      await expect.poll(async () => (await order()).slice(0, 6)).toBe(last);
      // By keyboard too, as long as the focus is in the list.
      await user.press('Tab');
      await page.locator('.vehicles li a').last().focus();
      const held = await order();
      for (const { alarmID } of await alarmsOf('new')) await end(alarmID);
      await expect.poll(async () => page.locator('.vehicles .act.strong').count()).toBe(0);
      expect(await order()).toBe(held);
    });
  },
);
