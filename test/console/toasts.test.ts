// Toasts in Chromium against the real broker and a simulated fleet: what happened elsewhere or later, by keyboard too, and never without a place
// on a screen.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findFaultsInThemes, whyNoConsole } from '../support/http/console-page.ts';
import { createUserPages, memberPassword, type UserPage } from '../support/http/user-pages.ts';
import { type DemoProgram, startDemoProgram, worldOf } from '../support/programs/demo-program.ts';

const why = whyNoConsole();
const panic = 63_553;
/** Ends a hang. */
const hangMs = 120_000;
const panicEnd = 63_554;

interface Alarm {
  readonly alarmID: string;
  readonly deviceID: string;
}

describe.skipIf(why !== null)(why === null ? 'toasts' : `toasts [${why}]`, () => {
  let demo: DemoProgram;
  const { openAs, closePages, close } = createUserPages(() => demo);
  let token = '';

  const raise = async (deviceID: string): Promise<void> => {
    for (const code of [panicEnd, panic])
      await demo.call(`events/createactivation/${deviceID}/${code}/authorization`, { token });
  };
  const newAlarms = async (): Promise<readonly Alarm[]> => {
    const path = `alarm/alarms/authorization?state=new&limit=200`;
    return (await demo.call(path, { token }))['alarms'] as readonly Alarm[];
  };
  const closeAlarms = async (): Promise<void> => {
    for (const { alarmID } of await newAlarms())
      await demo.call('alarm/close/authorization', { token, body: { alarmID, reason: 'test' } });
  };
  /** The road of the demo has alarms of its own; they are closed as they come. */
  const expectNone = (page: Page) =>
    expect
      .poll(
        async () => {
          await closeAlarms();
          return page.locator('.toast').count();
        },
        { timeout: hangMs },
      )
      .toBe(0);
  /** From then on the stream reports each alarm that begins. */
  const openZones = async ({ page, open }: UserPage): Promise<void> => {
    await open('/zones');
    await page.getByText('No zones yet').waitFor();
    await page.locator('.pulse[data-state="live"]').waitFor({ state: 'attached' });
  };
  const toast = (page: Page, text: string | RegExp) => page.locator('.toast').filter({ hasText: text });

  beforeAll(async () => {
    demo = await startDemoProgram(3);
    token = await demo.login('admin', demo.password);
    await closeAlarms();
  });

  afterEach(async () => {
    await closePages();
    await closeAlarms();
  });

  afterAll(async () => {
    await close();
    await demo?.stop();
  });

  it('say an alarm that comes in on another screen, stay, and go when it is taken', async () => {
    const opened = await openAs('admin');
    const { page } = opened;
    await openZones(opened);
    await raise('van-01');
    await toast(page, 'New alarm: Panic, van-01').waitFor();
    await raise('van-02');
    await toast(page, /and \d+ more new alarm/).waitFor();
    expect(await page.locator('.toast').count()).toBe(1);
    expect(await findFaultsInThemes(page)).toEqual([]);
    await page.waitForTimeout(8000);
    expect(await page.locator('.toast').count()).toBe(1);
    await expectNone(page);
  });

  it('of alarms are reached and closed by keyboard, and lead to the alarm', async () => {
    const opened = await openAs('admin');
    const { page, user } = opened;
    await openZones(opened);
    await raise('van-03');
    await toast(page, 'van-03').waitFor();
    for (let press = 0; press < 6; press += 1) {
      await page.keyboard.press('F6');
      if ((await page.locator('.toasts :focus, .toasts:focus').count()) > 0) break;
    }
    await user.goTo('Close');
    await page.keyboard.press('Enter');
    await toast(page, 'Panic, van-03').waitFor({ state: 'detached' });
    await user.expectFocus();
    await raise('van-01');
    await toast(page, 'van-01').getByRole('link', { name: 'Show the alarm' }).click();
    await page.waitForURL(/\/alarms\?alarm=/);
    await expect.poll(() => page.locator('.toast').count()).toBe(0);
  });

  it('say no alarm on the screen of the alarms, which shows it', async () => {
    const { page, open } = await openAs('admin');
    await open('/alarms');
    await page.getByText('No open alarms').or(page.locator('.queue')).first().waitFor();
    await raise('van-01');
    // The road of the demo may have an alarm of that vehicle too.
    await page
      .locator('.queue tr')
      .filter({ hasText: 'Panic' })
      .filter({ hasText: 'van-01' })
      .first()
      .waitFor();
    expect(await page.locator('.toast').count()).toBe(0);
    await page.getByRole('link', { name: 'Zones' }).click();
    await page.getByText('No zones yet').waitFor();
    expect(await toast(page, 'Panic').count()).toBe(0);
  });

  it('say that the connection is back, and leave by themselves', async () => {
    const { page, open } = await openAs('admin');
    await page.route('**/events/stream/**', (route) => route.abort());
    await open('/zones');
    await page.locator('.stale-notice').waitFor();
    // Toasts are loaded after the first screen: what ends before they are there is said by the notice alone.
    const areLoaded = (): Promise<unknown> =>
      page.evaluate("performance.getEntriesByType('resource').some(({ name }) => /toasts-/.test(name))");
    await expect.poll(areLoaded, { timeout: hangMs }).toBe(true);
    await page.waitForTimeout(1000);
    expect(await toast(page, 'connection').count()).toBe(0);
    await page.unroute('**/events/stream/**');
    await toast(page, 'The connection is back').waitFor({ timeout: hangMs });
    await toast(page, 'The connection is back').waitFor({ state: 'detached' });
    expect(await page.locator('.stale-notice').count()).toBe(0);
  });

  it('say how a restore has ended to the user who has gone to another screen', async () => {
    const { page, open } = await openAs('admin');
    for (const ending of ['fails', 'is confirmed'] as const) {
      const held: { release(): void }[] = [];
      await page.route('**/api/v1/command/**', async (route) => {
        if (route.request().method() !== 'POST') return route.continue();
        await new Promise<void>((resolve) => {
          held.push({ release: resolve });
        });
        return ending === 'fails' ? route.abort() : route.continue();
      });
      await open('/vehicle/van-01');
      await page.getByRole('button', { name: 'Restore engine' }).first().click();
      await expect.poll(() => held.length, { timeout: hangMs }).toBe(1);
      await page.getByRole('link', { name: 'Zones' }).click();
      await page.getByText('No zones yet').waitFor();
      held[0]?.release();
      if (ending === 'fails') {
        await toast(page, 'Restore of van-01 has not ended well').waitFor();
        await page.waitForTimeout(8000);
        await toast(page, 'van-01').getByRole('link', { name: 'Open the vehicle' }).click();
        await page.waitForURL(/\/vehicle\/van-01/);
      } else {
        await toast(page, 'van-01 restored').waitFor();
        await toast(page, 'van-01 restored').waitFor({ state: 'detached' });
      }
      await page.unrouteAll({ behavior: 'ignoreErrors' });
    }
  });

  const act = (deviceID: string, action: string) =>
    demo.call('practice/act/authorization', { token, body: { deviceID, action } });
  /** @returns the id of the command. */
  const order = async (
    deviceID: string,
    of: { readonly feature: 'enginecutoff' | 'cargoaccess'; readonly ttl: number },
    as = token,
  ): Promise<string> => {
    const body = { deviceID, state: '1', reason: 'test', ...of };
    const answer = await demo.call('command/feature/authorization', { token: as, body });
    if (answer['error'] !== undefined) throw new Error(JSON.stringify(answer['error']));
    return String(answer['commandID']);
  };
  const stateOf = async (commandID: string): Promise<unknown> =>
    (await demo.call(`command/get/${commandID}/authorization`, { token }))['commandState'];
  const expectExpired = (commandID: string) =>
    expect.poll(() => stateOf(commandID), { timeout: hangMs }).toBe('expired');
  const soon = { feature: 'enginecutoff', ttl: 10 } as const;

  it('say how a cut and an unlock of this user have ended on any other screen, and lead to the order', async () => {
    await act('van-01', 'drive');
    await act('van-02', 'stop');
    // A key that is turned while it rolls proves no rest to come.
    await expect
      .poll(async () => (await worldOf(demo, token, 'van-02'))?.['speedKmh'], { timeout: hangMs })
      .toBe(0);
    await act('van-02', 'ignitionOff');
    const { page, open } = await openAs('admin');
    await open('/zones');
    await page.getByText('No zones yet').waitFor();
    const unlock = await order('van-02', { feature: 'cargoaccess', ttl: 300 });
    await order('van-01', soon);
    // What went well leaves by itself, and may end first: both are looked for from here on.
    const unlocked = async (): Promise<void> => {
      await toast(page, 'Cargo of van-02 unlocked').waitFor({ timeout: hangMs });
      await toast(page, 'Cargo of van-02 unlocked').waitFor({ state: 'detached', timeout: hangMs });
    };
    await Promise.all([
      unlocked(),
      toast(page, 'Cut of van-01 expired').waitFor({ timeout: hangMs }),
      // What it waits for stands in the failure.
      expect
        .poll(() => demo.call(`command/get/${unlock}/authorization`, { token }), { timeout: hangMs })
        .toMatchObject({ commandState: 'confirmed' }),
    ]);
    expect(await toast(page, 'Cut of van-01 expired').count()).toBe(1);
    expect(await findFaultsInThemes(page)).toEqual([]);
    await toast(page, 'Cut of van-01 expired').getByRole('link', { name: 'Show the order' }).click();
    await page.getByText('Not cut. It expired before the vehicle acted').waitFor();
  });

  it('say nothing of an order on its own screen, nor of an order of another user', async () => {
    const body = { userID: 'olga', roleID: 'operator', password: memberPassword };
    await demo.call('user/createuser/authorization', { token, body });
    await act('van-01', 'drive');
    await act('van-03', 'drive');
    const [own, elsewhere] = [await openAs('admin'), await openAs('admin')];
    const ordered = await order('van-01', soon);
    await own.open(`/vehicle/van-01?cut=command-${ordered}`);
    await elsewhere.open('/zones');
    await elsewhere.page.getByText('No zones yet').waitFor();
    const ofOlga = await order('van-03', soon, await demo.login('olga', memberPassword));
    await own.page.getByText('Not cut. It expired before the vehicle acted').waitFor({ timeout: hangMs });
    await toast(elsewhere.page, 'Cut of van-01 expired').waitFor({ timeout: hangMs });
    await expectExpired(ofOlga);
    await elsewhere.page.waitForTimeout(2000);
    // The vehicle may have an alarm of its own.
    expect(await toast(own.page, 'Cut of van-01').count()).toBe(0);
    expect(await toast(elsewhere.page, /Cut of van-03/).count()).toBe(0);
  });

  it('say each end once over a break of the stream, also one that came while there was none', async () => {
    await act('van-01', 'drive');
    await act('van-03', 'drive');
    const { page, open } = await openAs('admin');
    await open('/zones');
    await page.getByText('No zones yet').waitFor();
    const before = await order('van-01', soon);
    await toast(page, 'Cut of van-01 expired').waitFor({ timeout: hangMs });
    const missed = await order('van-03', { feature: 'enginecutoff', ttl: 10 });
    await expect.poll(() => stateOf(missed), { timeout: hangMs }).not.toBe('sent');
    await demo.kill();
    await page.locator('.stale-notice').waitFor({ timeout: hangMs });
    await page.waitForTimeout(11_000);
    demo = await startDemoProgram(3, demo);
    await toast(page, 'The connection is back').waitFor({ timeout: hangMs });
    await expectExpired(missed);
    await toast(page, 'Cut of van-03 expired').waitFor({ timeout: hangMs });
    await page.waitForTimeout(3000);
    expect(await stateOf(before)).toBe('expired');
    expect(await toast(page, 'Cut of van-01 expired').count()).toBe(1);
    expect(await toast(page, 'Cut of van-03 expired').count()).toBe(1);
  });
});
