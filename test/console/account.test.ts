// Account and preferences of the console in Chromium against the real broker: what the screen says was done is compared with what the service
// then has.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createConsoleBrowsers, openConsole, whyNoConsole } from '../support/http/console-page.ts';
import {
  createUserPages,
  findEnglishOn,
  findFaultsOn,
  memberPassword as password,
  reachByKey,
} from '../support/http/user-pages.ts';
import { type DemoProgram, settleUsers, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();

describe.skipIf(why !== null)(
  why === null ? 'the account in the console' : `the account in the console [${why}]`,
  () => {
    let demo: DemoProgram;
    const { openAs, closePages, close } = createUserPages(() => demo);
    const browsers = createConsoleBrowsers();
    let token = '';

    const post = (path: string, body: object, as = token) =>
      demo.call(`${path}/authorization`, { token: as, body });
    const account = () => demo.call('auth/account/authorization', { token });
    const dialogOf = (page: Page, name: string) => page.getByRole('dialog', { name });
    const cut = async (userID: string, deviceID: string) =>
      post(
        'command/feature',
        { deviceID, feature: 'enginecutoff', state: '1', reason: 'test', ttl: 600 },
        await demo.login(userID, password),
      );

    beforeAll(async () => {
      demo = await startDemoProgram(2);
      token = await demo.login('admin', demo.password);
      for (const [userID, roleID] of [
        ['olga', 'operator'],
        ['vera', 'viewer'],
        ['anna', 'admin'],
      ] as const)
        await post('user/createuser', { userID, roleID, password });
      settleUsers(demo);
    });

    afterEach(closePages);

    afterAll(async () => {
      await close();
      await browsers.close();
      await demo?.stop();
    });

    it('saves its settings by keyboard, only what was changed', async () => {
      const opened = await openAs('admin');
      const { page, user, complaints } = opened;
      const sent: string[] = [];
      page.on('request', (request) => {
        if (request.url().includes('updateaccount')) sent.push(request.postData() ?? '');
      });
      await reachByKey(opened, { key: 'c', heading: 'Account and preferences' });
      await page.getByRole('textbox', { name: 'Name of the account' }).waitFor();
      await user.goTo('Name of the account');
      await user.press('Control+a');
      await user.type('Harbour fleet');
      await user.press('Enter');
      await page.getByText('Saved', { exact: true }).waitFor();
      await user.expectFocus();
      expect(sent).toEqual(['{"accountID":"demo","accountDisplayName":"Harbour fleet"}']);
      expect(await account()).toMatchObject({ accountDisplayName: 'Harbour fleet' });
      expect(complaints).toEqual([]);
    });

    it('asks once more before events are deleted for good, and shows the refusal of the service', async () => {
      const { page, open } = await openAs('admin');
      await open('/account');
      const days = page.getByRole('textbox', { name: 'Days that events are kept' });
      await days.fill('0.5');
      await page.getByText('Use a whole number of days within the limits').waitFor();
      expect(await page.getByRole('button', { name: 'Save changes' }).isDisabled()).toBe(true);
      await days.fill('400');
      await page.getByRole('button', { name: 'Save changes' }).click();
      const look = page.getByRole('alertdialog', { name: 'Save for account demo?' });
      await look.getByText('Older events are deleted for good').waitFor();
      await look.getByRole('button', { name: 'Cancel' }).click();
      expect(await account()).toMatchObject({ retainedDays: 0 });
      await page.getByRole('button', { name: 'Save changes' }).click();
      await look.getByRole('button', { name: 'Save for demo' }).click();
      await look.waitFor({ state: 'detached' });
      expect(await account()).toMatchObject({ retainedDays: 400 });
      await page.getByRole('textbox', { name: 'Time zone' }).fill('Nowhere/Town');
      await page.getByRole('button', { name: 'Save changes' }).click();
      await page.getByRole('alert').filter({ hasText: 'is no IANA time zone' }).waitFor();
    });

    it('requires the password before a cut at once, and drops it with the password of the administrator only', async () => {
      const { page, user, open } = await openAs('admin');
      await open('/account');
      await page.getByRole('button', { name: 'Require the password…' }).click();
      await dialogOf(page, 'Require the password before every cut?')
        .getByRole('button', { name: 'Require the password in demo' })
        .click();
      await page.getByText('A cut and its approval need the password again').waitFor();
      expect(await account()).toMatchObject({ needsPassword: true });
      await open('/account?open=password');
      const drop = dialogOf(page, 'Switch off the password before a cut?');
      const act = drop.getByRole('button', { name: 'Switch off the password in demo' });
      await expect.poll(user.focused).toBe('Cancel');
      expect(await act.getAttribute('aria-disabled')).toBe('true');
      await drop.getByLabel('Your password').fill('not the password at all');
      await act.click();
      await drop.getByRole('alert').filter({ hasText: 'The password is wrong' }).waitFor();
      expect(await account()).toMatchObject({ needsPassword: true });
      await drop.getByLabel('Your password').fill(demo.password);
      await act.click();
      await drop.waitFor({ state: 'detached' });
      expect(await account()).toMatchObject({ needsPassword: false });
      expect(page.url()).not.toContain(encodeURIComponent(demo.password));
    });

    it('switches the second person off only when two administrators ask for it', async () => {
      const first = await openAs('admin');
      await first.open('/account?open=approval');
      await first.page.getByRole('button', { name: 'Require a second user in demo' }).click();
      await first.page.getByText('Every cut needs a second user').waitFor();
      await first.page.getByRole('button', { name: 'Switch off…' }).first().click();
      await first.page.getByRole('button', { name: 'Ask to switch it off in demo' }).click();
      await first.page.getByText('admin asks since').waitFor();
      expect(await account()).toMatchObject({ needsApproval: true, approvalOffRequestedBy: 'admin' });
      await first.page.getByRole('button', { name: 'Keep the rule' }).click();
      await first.page.getByText('admin asks since').waitFor({ state: 'detached' });
      expect(await account()).toMatchObject({ needsApproval: true, approvalOffRequestedBy: '' });
      await first.page.getByRole('button', { name: 'Switch off…' }).first().click();
      await first.page.getByRole('button', { name: 'Ask to switch it off in demo' }).click();
      await first.page.getByText('admin asks since').waitFor();
      const second = await openAs('anna');
      await second.open('/account');
      await second.page.getByRole('button', { name: 'Agree…' }).click();
      await second.page.getByRole('button', { name: 'Switch it off in demo' }).click();
      await second.page.getByText('One user is enough for a cut').waitFor();
      expect(await account()).toMatchObject({ needsApproval: false });
    });

    it('resets the breaker by its name and a reason, and not for the user who opened it', async () => {
      await post('auth/updateaccount', { accountID: 'demo', cutsPerHour: 1 });
      await cut('anna', 'van-01');
      await cut('anna', 'van-02');
      const limits = () => demo.call('command/limits/authorization', { token });
      expect(await limits()).toMatchObject({ isBreakerOpen: false, stoppedUsers: ['anna'] });
      const theirs = await openAs('anna');
      await theirs.open('/account?open=breaker');
      const act = theirs.page.getByRole('button', { name: 'Reset the breaker of demo' });
      expect(await act.getAttribute('aria-disabled')).toBe('true');
      await theirs.page.getByRole('textbox', { name: 'Why it is safe to go on' }).fill('it was me');
      await act.click();
      await theirs.page.getByRole('alert').filter({ hasText: 'must be reset by another' }).waitFor();
      const { page, user, complaints, open } = await openAs('admin');
      await open('/account');
      await page.getByText('Cuts of anna are refused until another administrator resets').waitFor();
      await user.goTo('Reset the breaker…');
      await user.press('Enter');
      await expect.poll(user.focused).toBe('Cancel');
      await user.goTo(/^Why it is safe/, 'Shift+Tab');
      await user.type('agreed with the owner');
      await user.press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await user.expectFocus();
      expect(await limits()).toMatchObject({ isBreakerOpen: false, stoppedUsers: [] });
      expect(complaints).toEqual([]);
    });

    it('keeps the preferences of a user at the service, and applies them at the next sign-in', async () => {
      await post(
        'user/savepreferences',
        { preferences: { units: 'metric' } },
        await demo.login('olga', password),
      );
      const { page, open } = await openAs('olga');
      await open('/account');
      // Language and theme of this browser have buttons of the same name.
      const own = page.getByRole('region', { name: 'Your preferences' });
      await own.getByRole('button', { name: /Language$/ }).click();
      await page.getByRole('option', { name: 'Deutsch' }).click();
      await own.getByRole('button', { name: /Theme$/ }).click();
      await page.getByRole('option', { name: 'Night' }).click();
      await page.getByRole('button', { name: 'Save your preferences' }).click();
      await page.getByText('Gespeichert und hier angewandt').waitFor();
      expect(await page.locator('html').getAttribute('data-theme')).toBe('night');
      const saved = await demo.call('user/preferences/authorization', {
        token: await demo.login('olga', password),
      });
      expect(saved['preferences']).toEqual({ units: 'metric', console: { language: 'de', theme: 'night' } });
      const fresh = await openConsole(browsers, { base: demo.base });
      await fresh.open('/login');
      await fresh.page.getByRole('textbox', { name: 'Account' }).fill('demo');
      await fresh.page.getByRole('textbox', { name: 'User' }).fill('olga');
      await fresh.page.getByLabel('Password').fill(password);
      await fresh.page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await expect.poll(() => fresh.page.locator('html').getAttribute('lang')).toBe('de');
      expect(await fresh.page.locator('html').getAttribute('data-theme')).toBe('night');
      await fresh.context.close();
    });

    it('overwrites no preferences that were changed elsewhere meanwhile', async () => {
      const { page, open } = await openAs('vera');
      await open('/account');
      await page.getByRole('button', { name: /Single keys/ }).click();
      await page.getByRole('option', { name: 'Off' }).click();
      await post('user/savepreferences', { preferences: { other: 1 } }, await demo.login('vera', password));
      await page.getByRole('button', { name: 'Save your preferences' }).click();
      await page.getByText('Your preferences were changed elsewhere meanwhile').waitFor();
      await page.getByRole('button', { name: 'Save your preferences' }).click();
      await page.getByText('Saved, and applied here').waitFor();
      const { preferences } = await demo.call('user/preferences/authorization', {
        token: await demo.login('vera', password),
      });
      expect(preferences).toEqual({ other: 1, console: { singleKeys: false } });
    });

    it('shows others than administrators what the account may hold, and no settings', async () => {
      const { page, complaints, open } = await openAs('vera');
      await open('/account?open=breaker');
      await page.getByText('2, without a limit').waitFor();
      await page.getByText('The settings of the account are changed by administrators').waitFor();
      expect(await page.getByRole('dialog').count()).toBe(0);
      expect(await page.getByRole('button', { name: /Require|Reset|Save changes/ }).count()).toBe(0);
      expect(complaints).toEqual([]);
    });

    it.each(['fr', 'de', 'es', 'ar'])('speaks %s on the screen of the account', async (language) => {
      const opened = await openAs('admin', { language });
      const paths = ['/account', '/account?open=approval', '/account?open=password'];
      expect(await findEnglishOn(opened, { paths })).toEqual([]);
    });

    it.each([
      [1180, 'en'],
      [320, 'en'],
      [320, 'ar'],
      [1180, 'ar'],
    ])('has no fault of accessibility in any theme at %i px in %s', async (width, language) => {
      const opened = await openAs('admin', { width, language });
      const paths = ['/account', '/account?open=password'];
      expect(await findFaultsOn(opened, { paths })).toEqual([]);
      expect(opened.complaints).toEqual([]);
    });

    // The last one: the service ends with it.
    it('offers no change without the stream', async () => {
      const { page, open } = await openAs('admin');
      await open('/account?open=password');
      const act = page.getByRole('button', { name: 'Require the password in demo' });
      await expect.poll(() => act.getAttribute('aria-disabled')).not.toBe('true');
      await demo.stop();
      await page.getByText('Commands wait for the connection').first().waitFor({ timeout: 60_000 });
      expect(await act.getAttribute('aria-disabled')).toBe('true');
    });
  },
);
