// Commands for many vehicles at once in Chromium against the real broker: restored and locked by one press, cut by the one careful form. What the
// screen says was asked is compared with the ledger.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { whyNoConsole } from '../support/http/console-page.ts';
import {
  createUserPages,
  findEnglishOn,
  findFaultsOn,
  memberPassword as password,
} from '../support/http/user-pages.ts';
import { type DemoProgram, settleUsers, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();

type Row = Readonly<Record<string, unknown>>;

describe.skipIf(why !== null)(
  why === null ? 'commands for many vehicles' : `commands for many vehicles [${why}]`,
  () => {
    let demo: DemoProgram;
    const { openAs, closePages, close } = createUserPages(() => demo);
    let token = '';

    const post = (path: string, body: object) => demo.call(`${path}/authorization`, { token, body });
    const commandsOf = async (deviceID: string, feature: string, state: string): Promise<readonly Row[]> => {
      const { commands } = await demo.call(`command/list/${deviceID}/authorization`, { token });
      return (commands as readonly Row[]).filter(
        (one) => one['feature'] === feature && one['state'] === state,
      );
    };
    const results = (page: Page) => page.getByRole('region', { name: 'Results' });
    const tick = (page: Page, name: string) =>
      page.locator('label', { has: page.getByRole('checkbox', { name }) }).click();
    /** Requests of this page to command many. */
    const sentBy = (page: Page): readonly { readonly body: string; readonly key: string }[] => {
      const sent: { body: string; key: string }[] = [];
      page.on('request', (request) => {
        if (request.url().includes('/command/devices/'))
          sent.push({ body: request.postData() ?? '', key: request.headers()['idempotency-key'] ?? '' });
      });
      return sent;
    };

    beforeAll(async () => {
      demo = await startDemoProgram(3);
      token = await demo.login('admin', demo.password);
      for (const [userID, roleID] of [
        ['olga', 'operator'],
        ['vera', 'viewer'],
      ] as const)
        await post('user/createuser', { userID, roleID, password });
      settleUsers(demo);
    });

    afterEach(closePages);

    afterAll(async () => {
      await close();
      await demo?.stop();
    });

    it('are restored by keyboard with one press, and one request', async () => {
      const { page, user, complaints, open } = await openAs('olga');
      const sent = sentBy(page);
      await open('/devices?pick=van-01,van-02');
      await page.getByText('2 of at most 100 picked').waitFor();
      expect(await page.getByRole('button', { name: /Delete/ }).count()).toBe(0);
      await user.goTo('Restore 2 engines');
      await user.press('Enter');
      await results(page).getByText('Restore asked of 2 vehicles').waitFor();
      await user.expectFocus();
      expect(sent.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
        { deviceIDs: ['van-01', 'van-02'], feature: 'enginecutoff', state: '0' },
      ]);
      expect(sent[0]?.key).not.toBe('');
      for (const deviceID of ['van-01', 'van-02'])
        expect((await commandsOf(deviceID, 'enginecutoff', '0')).length).toBe(1);
      await results(page).getByRole('link', { name: 'Follow it' }).first().click();
      await expect.poll(() => new URL(page.url()).pathname).toBe('/console/vehicle/van-01');
      expect(complaints).toEqual([]);
    });

    it('have each its own result: what was not commanded stays picked, with the reason', async () => {
      await post('device/createdevice', { deviceID: 'old-01' });
      const { page, open } = await openAs('admin');
      await open('/devices?pick=van-01,old-01');
      await page.getByText('2 of at most 100 picked').waitFor();
      await page.route('**/command/devices/**', async (route) => {
        await post('device/deletedevice', { deviceID: 'old-01' });
        await route.continue();
      });
      await page.getByRole('button', { name: 'Restore 2 engines' }).click();
      await results(page).getByText('Restore asked of 1 vehicle').waitFor();
      await results(page).getByRole('alert').filter({ hasText: '1 vehicle not commanded' }).waitFor();
      await results(page).getByText('There is no device').waitFor();
      expect(new URL(page.url()).search).toBe('?pick=old-01');
    });

    it('are locked as the ledger then says', async () => {
      const { page, open } = await openAs('admin');
      await open('/devices?pick=van-01,van-02,van-03');
      await page.getByRole('button', { name: 'Lock the cargo of 3 vehicles' }).click();
      await results(page).waitFor();
      const asked = await results(page).getByRole('link', { name: 'Follow it' }).count();
      let found = 0;
      for (const deviceID of ['van-01', 'van-02', 'van-03'])
        found += (await commandsOf(deviceID, 'cargoaccess', '0')).length;
      expect(found).toBe(asked);
      expect((await results(page).getByRole('listitem').count()) - asked).toBe(
        await results(page).getByText('has no').count(),
      );
    });

    it('are cut only with reason and a tick for each vehicle, of which each was asked what it judges', async () => {
      const { page, user, open } = await openAs('olga');
      const sent = sentBy(page);
      await open('/devices?pick=van-01,van-02,van-03');
      await user.goTo('Cut 3 engines…');
      await user.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Cut 3 engines' });
      await dialog.waitFor();
      await expect.poll(user.focused).toBe('Cancel');
      await user.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      expect(sent).toEqual([]);
      await open('/devices?pick=van-01,van-02,van-03&open=cut');
      const kindsOf = async (deviceID: string): Promise<readonly unknown[]> => {
        const { requests } = await demo.call(`diagnostic/requests/${deviceID}/authorization`, { token });
        return (requests as readonly Row[]).map(({ kind }) => kind);
      };
      for (const deviceID of ['van-01', 'van-02', 'van-03'])
        await expect.poll(() => kindsOf(deviceID), { timeout: 60_000 }).toContain('interlock');
      const actOf = (count: number) =>
        page.getByRole('button', { name: `Cut ${count} engines, each when it stands` });
      const isOff = (count: number) => actOf(count).getAttribute('aria-disabled');
      await page.getByText('Tick each vehicle that is meant').waitFor();
      await page.getByRole('button', { name: 'Take van-03 out' }).click();
      await tick(page, 'van-01 is meant');
      expect(await isOff(2)).toBe('true');
      await tick(page, 'van-02 is meant');
      await page.getByText('Choose a reason first').waitFor();
      expect(await isOff(2)).toBe('true');
      await page.getByRole('button', { name: /Reason/ }).click();
      await page.getByRole('option', { name: 'Stolen' }).click();
      await expect.poll(() => isOff(2)).toBe('false');
      await actOf(2).dblclick();
      await results(page).getByText('Cut asked of 2 vehicles').waitFor();
      expect(sent.length).toBe(1);
      expect(JSON.parse(sent[0]?.body ?? '')).toEqual({
        deviceIDs: ['van-01', 'van-02'],
        feature: 'enginecutoff',
        state: '1',
        reason: 'stolen',
        ttl: 1800,
      });
      for (const [deviceID, count] of [
        ['van-01', 1],
        ['van-02', 1],
        ['van-03', 0],
      ] as const)
        expect([deviceID, (await commandsOf(deviceID, 'enginecutoff', '1')).length]).toEqual([
          deviceID,
          count,
        ]);
      await results(page).getByRole('link', { name: 'Follow it' }).first().click();
      await page.getByRole('dialog').waitFor();
      expect(new URL(page.url()).search).toMatch(/^\?cut=command-/);
      await demo.call('command/devices/authorization', {
        token,
        body: { deviceIDs: ['van-01', 'van-02'], feature: 'enginecutoff', state: '0' },
      });
    });

    it('are not cut beyond the limits, nor a vehicle that is gone', async () => {
      const { page, open } = await openAs('olga');
      const names = Array.from({ length: 9 }, (_, at) => `gone-${at}`);
      await open(`/devices?pick=van-02,van-03,${names.join(',')}&open=cut`);
      await page.getByRole('alert').filter({ hasText: 'At most 10 engines' }).waitFor();
      await page.getByText('There is no such vehicle any more').first().waitFor();
      await post('auth/updateaccount', { accountID: 'demo', cutsPerHour: 1 });
      await open('/devices?pick=van-02,van-03&open=cut');
      await page
        .getByRole('alert')
        .filter({ hasText: /Only [01] more cuts/ })
        .waitFor();
      await post('auth/updateaccount', { accountID: 'demo', cutsPerHour: 20 });
    });

    it('are not picked by viewers', async () => {
      const { page, open } = await openAs('vera');
      await open('/devices?pick=van-01&open=cut');
      await page.getByRole('link', { name: 'van-01' }).first().waitFor();
      expect(await page.getByRole('checkbox').count()).toBe(0);
      expect(await page.getByRole('dialog').count()).toBe(0);
      expect(await page.getByRole('button', { name: /Restore|Cut|Lock/ }).count()).toBe(0);
    });

    it.each(['fr', 'de', 'es', 'ar'])('speak %s', async (language) => {
      const opened = await openAs('admin', { language });
      const paths = ['/devices?pick=van-01,van-02', '/devices?pick=van-03&open=cut'];
      expect(await findEnglishOn(opened, { paths })).toEqual([]);
    });

    it.each([
      [1180, 'en'],
      [320, 'en'],
      [320, 'ar'],
      [1180, 'ar'],
    ])('have no fault of accessibility in any theme at %i px in %s', async (width, language) => {
      const opened = await openAs('admin', { width, language });
      const paths = ['/devices?pick=van-01,van-02', '/devices?pick=van-03&open=cut'];
      expect(await findFaultsOn(opened, { paths })).toEqual([]);
      expect(opened.complaints).toEqual([]);
    });

    // The last one: the service ends with it.
    it('are not cut without the stream, while a restore is still offered', async () => {
      const { page, open } = await openAs('admin');
      await open('/devices?pick=van-03&open=cut');
      await page.getByRole('button', { name: 'Take van-03 out' }).waitFor();
      await demo.stop();
      await page.getByText('Cutting is off: the console has no live evidence').waitFor({ timeout: 60_000 });
      await page.getByRole('button', { name: 'Cancel' }).click();
      const restore = page.getByRole('button', { name: 'Restore 1 engine' });
      expect(await restore.isEnabled()).toBe(true);
      await restore.click();
      await page.getByRole('alert').filter({ hasText: 'Sent, no answer yet' }).waitFor();
    });
  },
);
