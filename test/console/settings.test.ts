// Settings of the fleet and of a vehicle in Chromium against the real broker and the real simulated fleet: what the screen says holds is compared with
// what the service answers, and with what a vehicle confirms.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findFaultsInThemes, whyNoConsole } from '../support/http/console-page.ts';
import {
  createUserPages,
  findEnglishOn,
  findFaultsOn,
  memberPassword as password,
} from '../support/http/user-pages.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();

describe.skipIf(why !== null)(
  why === null ? 'the settings of the console' : `the settings of the console [${why}]`,
  () => {
    let demo: DemoProgram;
    const { openAs, closePages, close } = createUserPages(() => demo);
    let token = '';

    const read = (path: string) => demo.call(`settings/${path}/authorization`, { token });
    const save = (path: string, body: object) => demo.call(`settings/${path}/authorization`, { token, body });

    beforeAll(async () => {
      demo = await startDemoProgram(2);
      token = await demo.login('admin', demo.password);
      await demo.call('user/createuser/authorization', {
        token,
        body: { userID: 'vera', roleID: 'viewer', password },
      });
    });

    beforeEach(async () => {
      await save('saveaccount', { settings: {} });
      await save('savedevice', { deviceID: 'van-01', settings: {} });
    });

    afterEach(closePages);

    afterAll(async () => {
      await close();
      await demo?.stop();
    });

    it('of all vehicles are changed by keyboard: a number out of its limits is refused, a second look names each change', async () => {
      const { page, user, complaints, open } = await openAs('admin');
      await open('/live');
      await page.locator('a.vehicle').first().waitFor();
      await user.goTo('Live');
      await user.press('g', 's');
      await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
      await user.goTo('Position while moving, every (s)');
      await user.type('0');
      await page.getByText('Use a number from 1 to 3,600 s').waitFor();
      await user.press('Enter');
      expect(await page.getByRole('alertdialog').count()).toBe(0);
      await user.press('Control+a');
      await user.type('7');
      await page.getByText('1 change is not saved yet').waitFor();
      await user.press('Enter');
      const dialog = page.getByRole('alertdialog', { name: 'Save for all vehicles?' });
      await dialog.getByText('Not chosen becomes 7 s').waitFor();
      await expect.poll(user.focused).toBe('Cancel');
      await user.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      expect(await read('account')).toMatchObject({ settings: {} });
      await user.goTo('Save changes');
      await user.press('Enter');
      await user.goTo('Save for all vehicles');
      await user.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      await page.getByText('Saved', { exact: true }).waitFor();
      expect(await read('account')).toMatchObject({ settings: { reporting: { movingS: 7 } } });
      expect(complaints).toEqual([]);
    });

    it('of a vehicle hold over those of all, and the screen says when the vehicle has confirmed them', async () => {
      await save('saveaccount', { settings: { reporting: { movingS: 20, stoppedS: 600 } } });
      const { page, complaints, open } = await openAs('admin');
      await open('/devices/van-01?part=settings');
      const field = page.getByRole('textbox', { name: 'Position while moving, every' });
      await page.getByText('Without a choice here: 20 s, from all vehicles').waitFor();
      await page.getByText('Without a choice here: 600 s (10 min), from all vehicles').waitFor();
      expect([await field.inputValue(), await field.getAttribute('placeholder')]).toEqual(['', '20']);
      await field.fill('5');
      await page.getByRole('button', { name: 'Save changes' }).click();
      await page.getByText('Saved', { exact: true }).waitFor();
      expect(await read('device/van-01')).toMatchObject({
        settings: { reporting: { movingS: 5 } },
        sentSettings: { reporting: { movingS: 5, stoppedS: 600 } },
      });
      const held = page.getByRole('complementary', { name: 'On the vehicle' });
      await held
        .getByText('The vehicle uses what is chosen here, over the file of its installer')
        .waitFor({ timeout: 90_000 });
      const { configuration } = await read('device/van-01');
      expect(configuration).toMatchObject({ state: 'current' });
      const { heldVersion } = configuration as { readonly heldVersion: number };
      await held.getByText(`version ${heldVersion} of ${heldVersion}`).waitFor();
      await held.getByRole('link', { name: 'What the sensors have proven' }).click();
      await page.getByRole('heading', { name: 'van-01', level: 1 }).waitFor();
      expect(complaints).toEqual([]);
    });

    it('of one vehicle are asked for once more where they stop an alarm or decide when a zone acts', async () => {
      const { page, open } = await openAs('admin');
      await open('/devices/van-01?part=settings&table=alarms');
      await page.getByRole('textbox', { name: 'Jammed after' }).fill('0');
      const tables = page.getByRole('navigation', { name: 'Groups of settings' });
      await tables.getByRole('link', { name: 'Zones' }).click();
      await page.getByRole('textbox', { name: 'Shortest visit' }).fill('0');
      await page.getByText('2 changes are not saved yet').waitFor();
      await page.getByRole('button', { name: 'Save changes' }).click();
      const dialog = page.getByRole('alertdialog', { name: 'Save for van-01?' });
      await dialog.getByText('The vehicle no longer reports this').waitFor();
      await dialog.getByText('This decides when a zone acts').waitFor();
      expect(await findFaultsInThemes(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Save for van-01' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await read('device/van-01')).toMatchObject({
        settings: { alarms: { jamS: 0 }, zones: { dwellS: 0 } },
      });
      await page.getByRole('textbox', { name: 'Shortest visit' }).fill('');
      await page.getByRole('button', { name: 'Save changes' }).click();
      await dialog.getByRole('button', { name: 'Save for van-01' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect((await read('device/van-01'))['settings']).toEqual({ alarms: { jamS: 0 } });
    });

    it('that were changed meanwhile are not overwritten: the screen says so and shows what holds now', async () => {
      const { page, open } = await openAs('admin');
      await open('/settings');
      await page.getByRole('textbox', { name: 'Heartbeat, every' }).fill('60');
      // What is read anew stays on its way until the service has answered the change.
      const answered = page.waitForResponse('**/settings/saveaccount/**');
      await page.route('**/settings/account/**', async (route) => {
        await answered;
        await route.continue();
      });
      await save('saveaccount', { settings: { reporting: { movingS: 44 } } });
      await page.getByRole('button', { name: 'Save changes' }).click();
      const dialog = page.getByRole('alertdialog');
      await dialog.getByRole('button', { name: 'Save for all vehicles' }).click();
      await dialog.getByRole('alert').filter({ hasText: 'changed meanwhile' }).waitFor();
      expect((await read('account'))['settings']).toEqual({ reporting: { movingS: 44 } });
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await expect
        .poll(() => page.getByRole('textbox', { name: 'Position while moving, every' }).inputValue())
        .toBe('44');
      expect(await page.getByRole('textbox', { name: 'Heartbeat, every' }).inputValue()).toBe('60');
    });

    it('are shown to others than administrators, with who may change them', async () => {
      await save('saveaccount', { settings: { fuel: { theftFraction: 0.07 } } });
      const { page, complaints, open } = await openAs('vera');
      await open('/settings?table=fuel');
      await page.getByText('7 %', { exact: true }).waitFor();
      await page.getByText('Settings are changed by administrators').waitFor();
      expect(await page.getByRole('textbox').count()).toBe(0);
      await open('/devices/van-01?part=settings&table=fuel');
      await page.getByText('Without a choice here: 7 %, from all vehicles').waitFor();
      expect(complaints).toEqual([]);
    });

    it.each(['fr', 'de', 'es', 'ar'])('speak %s', async (language) => {
      const opened = await openAs('admin', { language });
      const paths = ['/settings?table=alarms', '/devices/van-01?part=settings&table=reporting'];
      expect(await findEnglishOn(opened, { paths, ready: 'main h2' })).toEqual([]);
    });

    it.each([
      [1180, 'en'],
      [320, 'en'],
      [320, 'ar'],
      [1180, 'ar'],
    ])('have no fault of accessibility in any theme at %i px in %s', async (width, language) => {
      const opened = await openAs('admin', { width, language });
      const paths = ['/settings', '/settings?table=fuel', '/devices/van-01?part=settings&table=alarms'];
      expect(await findFaultsOn(opened, { paths, ready: 'main h2' })).toEqual([]);
      expect(opened.complaints).toEqual([]);
    });

    it('cannot be saved while the service is gone', async () => {
      const { page, open } = await openAs('admin');
      await open('/settings');
      await page.getByRole('textbox', { name: 'Heartbeat, every' }).fill('60');
      await demo.stop();
      await page.locator('.stale-notice').waitFor();
      expect(await page.getByRole('button', { name: 'Save changes' }).isDisabled()).toBe(true);
      await page.getByText('Commands wait for the connection').first().waitFor();
    });
  },
);
