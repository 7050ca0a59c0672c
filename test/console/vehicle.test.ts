// The tabs of a vehicle in Chromium against the real broker and the real simulated fleet: what they show is compared with what the
// service answers.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type ConsolePage,
  createConsoleBrowsers,
  findFaultsInThemes,
  openConsole,
  sentencesOf,
  whyNoConsole,
} from '../support/http/console-page.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();

const panic = 63553;
const password = 'nine boats below the bridge';
const tabs = ['now', 'events', 'trips', 'commands', 'health', 'messages', 'audit', 'device'] as const;

type Rows = readonly Readonly<Record<string, unknown>>[];

describe.skipIf(why !== null)(
  why === null ? 'the tabs of a vehicle' : `the tabs of a vehicle [${why}]`,
  () => {
    let demo: DemoProgram;
    const browsers = createConsoleBrowsers();
    let token = '';
    const pages: ConsolePage[] = [];

    const open = async (of: Partial<Parameters<typeof openConsole>[1]> = {}): Promise<ConsolePage> => {
      const opened = await openConsole(browsers, {
        base: demo.base,
        session: { token, userID: 'admin' },
        ...of,
      });
      pages.push(opened);
      return opened;
    };
    const openAs = async (userID: string): Promise<ConsolePage> =>
      open({ session: { token: await demo.login(userID, password), userID } });
    const panel = (page: Page, name: string) => page.getByRole('complementary', { name });

    beforeAll(async () => {
      demo = await startDemoProgram(2);
      token = await demo.login('admin', demo.password);
      for (const [userID, roleID] of [
        ['olga', 'operator'],
        ['vera', 'viewer'],
      ])
        await demo.call('user/createuser/authorization', { token, body: { userID, roleID, password } });
    });

    afterEach(async () => {
      for (const { context } of pages.splice(0)) await context.close();
    });

    afterAll(async () => {
      await browsers.close();
      await demo?.stop();
    });

    it('replays a period under one cursor: slider, map and values move together, and the address keeps the moment', async () => {
      const { page, complaints, open: go } = await open({ hasMap: true });
      // Two positions at least.
      await expect
        .poll(
          async () => {
            const { eventdata } = await demo.call(
              'eventdata/devicedata/van-01/authorization?fields=isPositionValid',
              { token },
            );
            return (eventdata as { devices: Rows }).devices.filter((one) => one['isPositionValid'] === true)
              .length;
          },
          { timeout: 60_000 },
        )
        .toBeGreaterThan(1);
      await go('/vehicle/van-01?tab=trips&range=hour');
      await page.getByRole('link', { name: 'Replay the whole period' }).click();
      const slider = page.getByRole('slider', { name: 'Moment of the replay' });
      await slider.waitFor();
      await page.waitForSelector('.replay-mark[data-state]', { state: 'attached' });
      await page.waitForSelector('.plot-cursor', { state: 'attached' });
      const cursorLeft = () => page.evaluate("document.querySelector('.plot-cursor').style.transform");
      await slider.focus();
      await page.keyboard.press('Home');
      await expect.poll(cursorLeft).toBe('translateX(0px)');
      await page.keyboard.press('End');
      await expect.poll(cursorLeft).not.toBe('translateX(0px)');
      const last = Number(await slider.inputValue());
      await expect.poll(() => new URL(page.url()).searchParams.get('time')).toBe(String(last));
      await page.reload();
      await slider.waitFor();
      expect(Number(await slider.inputValue())).toBeLessThanOrEqual(last);
      expect(complaints).toEqual([]);
    });

    it('saves the period as a file of the service', async () => {
      const { page, open: go } = await open();
      await go('/vehicle/van-01?tab=trips&range=hour');
      await page.getByRole('link', { name: 'Replay the whole period' }).click();
      await page.getByRole('button', { name: 'Save as file' }).click();
      const saving = page.waitForEvent('download');
      await page.getByRole('menuitem', { name: /^GPX/ }).click();
      expect((await saving).suggestedFilename()).toMatch(/^van-01_\w+\.gpx$/);
    });

    it('lists the trips of a vehicle as the service reports them', async () => {
      const { page, open: go } = await open();
      // A trip that begins meanwhile is in the one and not yet in the other.
      const isSame = async (): Promise<boolean> => {
        await go('/vehicle/van-01?tab=trips&range=day');
        await page.getByRole('heading', { name: 'Trips and stops' }).waitFor();
        await page.locator('table.trips tbody tr, .empty').first().waitFor();
        const nowS = Math.floor(Date.now() / 1000);
        const path = `report/trips/van-01/${nowS - 86_400}/0/authorization`;
        const { trips } = await demo.call(path, { token });
        const shown = await page.locator('table.trips tbody tr:not(.stop-row)').count();
        return shown === (trips as Rows).length;
      };
      await expect.poll(isSame, { timeout: 60_000 }).toBe(true);
    });

    it('shows the deliveries of the alarm that an event raised, and says where there is none', async () => {
      await demo.call(`events/createactivation/van-01/${panic}/authorization`, { token });
      const { page, complaints, open: go } = await open();
      await go('/vehicle/van-01?tab=events&kind=alarms&range=hour');
      await page.locator('table.events').getByText('Panic', { exact: true }).first().click();
      const proof = panel(page, 'Proof of the event');
      await proof.getByRole('heading', { name: 'Deliveries' }).waitFor();
      await proof.getByText('New', { exact: true }).waitFor();
      await proof.getByText('No delivery by e-mail, push or webhook is recorded').waitFor();
      await go('/vehicle/van-01?tab=events&kind=all&range=hour');
      await page.locator('table.events').getByText('Unit started').first().click();
      await proof.getByText('This event raised no alarm').waitFor();
      expect(complaints).toEqual([]);
    });

    it('finds the numbers beside an event though the list is thinned', async () => {
      const { page, open: go } = await open();
      await go('/vehicle/van-01?tab=events&kind=all&range=hour');
      // A row between others: the first event of a boot has none before it.
      await page.locator('table.events tbody tr').nth(6).waitFor();
      await page.locator('table.events tbody tr').nth(3).getByRole('link').click();
      await panel(page, 'Proof of the event').getByText('Both are stored').waitFor();
    });

    it('shows the course of a command as the ledger and the vehicle have it', async () => {
      await demo.call('command/feature/authorization', {
        token,
        body: { deviceID: 'van-02', feature: 'enginecutoff', state: '0' },
      });
      const { page, complaints, open: go } = await open();
      await go('/vehicle/van-02?tab=commands');
      const course = panel(page, 'Restore the engine');
      await course.getByText('Asked by admin').waitFor();
      const { commands } = await demo.call('command/list/van-02/authorization', { token });
      const [first] = commands as Rows;
      await course.getByText(String(first?.['commandID'])).waitFor();
      await expect
        .poll(async () => {
          const answer = await demo.call(`command/get/${String(first?.['commandID'])}/authorization`, {
            token,
          });
          return answer['commandState'];
        })
        .toBe('confirmed');
      await course.getByText('The vehicle has read its relay back in this state').waitFor();
      // Each state that it reported leads to its event; none is called confirmed before it was read back.
      for (const state of ['Received', 'Confirmed'])
        await course.getByRole('link', { name: state }).waitFor();
      expect(await course.getByRole('link', { name: 'Confirmed' }).count()).toBe(1);
      expect(await course.getByRole('button', { name: 'Withdraw the command' }).count()).toBe(0);
      expect(complaints).toEqual([]);
    });

    it('withdraws a cut that waits, as the service then has it', async () => {
      // A unit that was never connected: its cut waits for as long as this takes.
      await demo.call('device/createdevice/authorization', { token, body: { deviceID: 'spare-01' } });
      const { page, open: go } = await open();
      await go('/vehicle/spare-01?tab=commands');
      await page.getByRole('heading', { name: 'Commands' }).waitFor();
      const asked = await demo.call('command/feature/authorization', {
        token,
        body: {
          deviceID: 'spare-01',
          feature: 'enginecutoff',
          state: '1',
          reason: 'test',
          password: demo.password,
        },
      });
      if (asked['error'] !== undefined) throw new Error(JSON.stringify(asked['error']));
      const course = panel(page, 'Cut the engine');
      await course.getByRole('button', { name: 'Withdraw the command' }).click();
      // By the ledger: who withdrew it, and that it never goes to the vehicle.
      await course.getByText('Withdrawal asked by admin').waitFor();
      const { commands } = await demo.call('command/list/spare-01/authorization', { token });
      expect(commands).toMatchObject([{ commandState: 'cancelled', cancelledBy: 'admin' }]);
    });

    it('shows the values of the vehicle bus as the service has them, and no such panel for a vehicle without one', async () => {
      const { page, complaints, open: go } = await openAs('vera');
      const busOf = async () =>
        (await demo.call('device/getdevice/van-02/authorization', { token }))['vehicleBus'] as Record<
          string,
          { readonly value: unknown; readonly unit: string; readonly source: string }
        > | null;
      // A unit sends one set of values a minute, and in the first seconds of a bus only its number.
      await expect
        .poll(async () => Object.keys((await busOf()) ?? {}), { timeout: 150_000 })
        .toEqual(expect.arrayContaining(['vin', 'busOdometer', 'fuelUsed', 'dtcs']));
      await go('/vehicle/van-02');
      const bus = page.getByRole('region', { name: 'Vehicle bus' });
      const { vin, busOdometer, fuelUsed } = (await busOf()) ?? {};
      const rowOf = (name: string) => bus.getByRole('row', { name: new RegExp(`^${name}`) });
      await rowOf('VIN').getByText(String(vin?.value)).waitFor();
      await rowOf('VIN').getByText('J1939 VI').waitFor();
      for (const [name, one] of [
        ['Odometer', busOdometer],
        ['Fuel used', fuelUsed],
      ] as const)
        expect(await rowOf(name).innerText()).toContain(`\u00a0${String(one?.unit)}`);
      await rowOf('Odometer').getByText('ago').waitFor();
      await bus.getByText('No active trouble codes').waitFor();
      await go('/vehicle/van-01');
      await page.getByRole('heading', { name: 'Open alarms' }).waitFor();
      expect(await bus.count()).toBe(0);
      expect(complaints).toEqual([]);
    });

    it('shows the health of the unit, asks for it, and shows what came of it', async () => {
      const { page, complaints, open: go } = await openAs('olga');
      await go('/vehicle/van-01?tab=health');
      await page.getByRole('heading', { name: 'Fitted' }).waitFor();
      const requests = page.getByRole('region', { name: 'Ask the unit' });
      await requests.getByRole('button', { name: 'Ask for its health' }).click();
      await requests.locator('li', { hasText: 'Health' }).getByText('answered').waitFor();
      const { queueDepth } = await demo.call('diagnostic/diagnostic/van-01/authorization', { token });
      await page
        .getByRole('region', { name: 'Health report' })
        .getByText(`${String(queueDepth)} waiting on the vehicle`)
        .first()
        .waitFor();
      expect(complaints).toEqual([]);
    });

    it('says why a unit refused what it was asked, in its own text', async () => {
      const { page, complaints, open: go } = await openAs('olga');
      await go('/vehicle/van-02?tab=health');
      const requests = page.getByRole('region', { name: 'Ask the unit' });
      await requests.getByRole('button', { name: 'Ask for its log' }).click();
      const row = requests.locator('li', { hasText: 'Log' });
      await row.getByText('refused by the unit').waitFor();
      // The units of the demo keep no log.
      await row.getByText('this unit keeps no log').waitFor();
      expect(await row.getByRole('button', { name: 'Read the log' }).count()).toBe(0);
      expect(complaints).toEqual([]);
    });

    it('writes to a vehicle by keyboard alone, and shows when the vehicle confirmed it', async () => {
      const { page, complaints, open: go } = await openAs('olga');
      await go('/vehicle/van-01?tab=messages');
      await page.getByRole('textbox', { name: 'To van-01' }).focus();
      await page.keyboard.type('Dock 4 <b>is</b> closed');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      const sent = page.getByRole('region', { name: 'Written to the vehicle' });
      await sent.getByText('Dock 4 <b>is</b> closed').waitFor();
      await sent.getByText('Confirmed by the vehicle').waitFor();
      const { messages } = await demo.call('notificationqueue/sentmessages/van-01/authorization', { token });
      expect((messages as Rows)[0]).toMatchObject({ message: 'Dock 4 <b>is</b> closed', sender: 'olga' });
      expect(complaints).toEqual([]);
    });

    it('shows the audit log of a vehicle to administrators, and to others who may read it', async () => {
      const { page, open: go } = await open();
      await go('/vehicle/van-01?tab=audit');
      await page.locator('table.audit tbody tr').first().waitFor();
      const { entries } = await demo.call('audit/entries/authorization?object=van-01&limit=50', { token });
      await expect.poll(() => page.locator('table.audit tbody tr').count()).toBe((entries as Rows).length);
      const own = await openAs('olga');
      await own.open('/vehicle/van-01?tab=audit');
      await own.page.getByText('The audit log is read by administrators').waitFor();
      expect(own.complaints).toEqual([]);
    });

    it('offers a viewer neither messages nor requests, and asks the service for neither', async () => {
      const { page, complaints, open: go } = await openAs('vera');
      await go('/vehicle/van-01?tab=messages');
      await page.getByText('Viewers do not write to vehicles').waitFor();
      await go('/vehicle/van-01?tab=health');
      await page.getByText('Viewers do not ask units').waitFor();
      await go('/vehicle/van-02?tab=commands');
      await page.getByRole('heading', { name: 'Commands' }).waitFor();
      expect(await page.getByRole('button', { name: 'Withdraw the command' }).count()).toBe(0);
      // A refused call would stand in the log of the browser.
      expect(complaints).toEqual([]);
    });

    it.each([
      [1440, 900],
      [1280, 720],
      [390, 844],
    ])('shows its map with its facts at %i x %i, and its device as the last tab', async (width, height) => {
      const { page, complaints, open: go } = await open({ hasMap: true, width });
      await page.setViewportSize({ width, height });
      await go('/vehicle/van-01');
      await page.locator('.hero-map .map-host[data-is-drawn]').waitFor({ timeout: 60_000 });
      const [map, facts] = [
        await page.locator('.hero-map').boundingBox(),
        await page.locator('.hero-facts').boundingBox(),
      ];
      if (map === null || facts === null) throw new Error('The map or the facts are not in sight');
      if (width > 720) expect([map.x >= facts.x + facts.width - 1, map.height >= 200]).toEqual([true, true]);
      else expect([map.y + map.height <= facts.y + 1, map.height < height / 4]).toEqual([true, true]);
      const last = page.getByRole('navigation', { name: 'Vehicle' }).getByRole('link').last();
      expect(await last.textContent()).toBe('Device');
      await last.click();
      await page.getByRole('textbox', { name: 'Driver' }).waitFor();
      // The address of a device leads to the same page.
      await go('/devices/van-01?part=enrol');
      await page.getByRole('link', { name: 'Enrolment' }).waitFor();
      expect(new URL(page.url()).pathname).toBe('/console/vehicle/van-01');
      expect(complaints).toEqual([]);
    });

    it.each(['fr', 'de', 'es'])('speaks %s on every tab', async (language) => {
      const { tabTexts } = (await import('../../build/words/tab/en.ts')) as { tabTexts: object };
      const sentences = sentencesOf(tabTexts);
      const { page, open: go } = await open({ language });
      for (const tab of tabs) {
        await go(`/vehicle/van-01?tab=${tab}`);
        await page.locator('main h1').waitFor();
        await page.waitForTimeout(500);
        const shown = await page.locator('body').innerText();
        expect([tab, sentences.filter((sentence) => shown.includes(sentence))]).toEqual([tab, []]);
      }
    });

    it.each([
      ['en', 1180],
      ['en', 320],
      ['ar', 1180],
      ['ar', 320],
    ] as const)(
      'have no fault of accessibility in any theme in %s at %i px, and no sideways scroll',
      async (language, width) => {
        const { page, complaints, open: go } = await open({ language, width });
        for (const tab of tabs) {
          await go(`/vehicle/van-01?tab=${tab}`);
          await page.locator('main h1').waitFor();
          await page.waitForTimeout(800);
          expect([tab, await findFaultsInThemes(page)]).toEqual([tab, []]);
        }
        expect(complaints).toEqual([]);
      },
    );
  },
);
