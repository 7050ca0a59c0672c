// People of the console in Chromium against the real broker: users, groups, sessions and tokens, as an administrator and as others see them. What
// the screen says was done is compared with what the service then does.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { whyNoConsole } from '../support/http/console-page.ts';
import {
  createUserPages,
  findEnglishOn,
  findFaultsOn,
  memberPassword as password,
  reachByKey,
} from '../support/http/user-pages.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();

const otherPassword = 'four kites above the harbour';

type Row = Readonly<Record<string, unknown>>;

describe.skipIf(why !== null)(
  why === null ? 'the people of the console' : `the people of the console [${why}]`,
  () => {
    let demo: DemoProgram;
    const { openAs, closePages, close } = createUserPages(() => demo);
    let token = '';

    const post = (path: string, body: object) => demo.call(`${path}/authorization`, { token, body });
    const userOf = (userID: string) => demo.call(`user/getuser/${userID}/authorization`, { token });
    const groupOf = async (groupID: string): Promise<Row | undefined> => {
      const { groups } = await demo.call('group/groups/authorization', { token });
      return (groups as readonly Row[]).find((group) => group['groupID'] === groupID);
    };
    /** What the service says to a token: the code of the error; undefined: it works. */
    const refusalOf = async (of: string): Promise<string | undefined> => {
      const { error } = await demo.call('device/getalldevices/authorization', { token: of });
      return (error as { code?: string } | undefined)?.code;
    };
    const dialogOf = (page: Page, name: string) => page.getByRole('dialog', { name });

    beforeAll(async () => {
      demo = await startDemoProgram(2);
      token = await demo.login('admin', demo.password);
      await post('group/updategroup', { groupID: 'north', devices: ['van-01'] });
      for (const [userID, roleID, groups] of [
        ['olga', 'operator', ['all']],
        ['vera', 'viewer', ['north']],
      ] as const)
        await post('user/createuser', { userID, roleID, groups, password });
    });

    afterEach(closePages);

    afterAll(async () => {
      await close();
      await demo?.stop();
    });

    it('revokes a user by keyboard: the sessions end at once, and the user cannot sign in again', async () => {
      await post('user/createuser', { userID: 'leo', roleID: 'operator', password });
      const theirs = await demo.login('leo', password);
      expect(await refusalOf(theirs)).toBeUndefined();
      const opened = await openAs('admin');
      const { page, user, complaints } = opened;
      await reachByKey(opened, { key: 'u', heading: 'People' });
      await page.getByRole('link', { name: 'leo' }).waitFor();
      await user.goTo('leo');
      await user.press('Enter');
      await page.getByRole('heading', { name: 'leo', exact: true }).waitFor();
      await user.goTo('Suspend…');
      await user.press('Enter');
      await dialogOf(page, 'Suspend leo').waitFor();
      expect(new URL(page.url()).search).toBe('?list=users&user=leo&open=user-access');
      await expect.poll(user.focused).toBe('Cancel');
      await user.press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await refusalOf(theirs)).toBeUndefined();
      await user.goTo('Suspend…');
      await user.press('Enter');
      await user.goTo('Suspend leo');
      await user.press('Enter');
      await page.getByRole('complementary').getByText('Suspended', { exact: true }).waitFor();
      await user.expectFocus();
      expect(await refusalOf(theirs)).toBe('unauthorized');
      expect(await demo.login('leo', password)).toBe('undefined');
      await page.getByText('the user is suspended').first().waitFor();
      expect(complaints).toEqual([]);
    });

    it('creates a user with role and groups, who then sees these devices only', async () => {
      const { page, complaints, open } = await openAs('admin');
      await open('/people?open=user-create');
      const dialog = dialogOf(page, 'Create a user');
      await dialog.getByRole('textbox', { name: 'User ID' }).fill('nils');
      const secret = dialog.getByLabel('Password', { exact: true });
      await secret.fill('short');
      await dialog.getByText('Use at least 12 characters').waitFor();
      expect(await dialog.getByRole('button', { name: 'Create user' }).isDisabled()).toBe(true);
      await secret.fill(password);
      await dialog.getByText('every device').click();
      await dialog.getByText('north', { exact: true }).click();
      await dialog.getByRole('button', { name: 'Create user' }).click();
      await page.getByRole('heading', { name: 'nils', exact: true }).waitFor();
      await page.getByText('devices of north').waitFor();
      expect(await userOf('nils')).toMatchObject({ roleID: 'viewer', groups: ['north'] });
      const { devices } = await demo.call('device/getalldevices/authorization?fields=deviceID', {
        token: await demo.login('nils', password),
      });
      expect(devices).toEqual([{ deviceID: 'van-01' }]);
      expect(page.url()).not.toContain(encodeURIComponent(password));
      expect(complaints).toEqual([]);
    });

    it('shows what a user may do, and why not', async () => {
      const { page, open } = await openAs('admin');
      const right = (name: string) => page.locator(`[data-right=${name}]`);
      await open('/people?user=vera');
      await right('see').getByText('devices of north').waitFor();
      expect(await right('command').getAttribute('data-allowed')).toBe('false');
      await right('command').getByText('by the role Viewer').waitFor();
      await open('/people?user=olga');
      await right('second').getByText('another administrator than admin must do it').waitFor();
      expect(await right('second').getAttribute('data-allowed')).toBe('false');
      // Who granted the rights cannot confirm: the refusal of the service is shown as it is.
      await page.getByRole('button', { name: 'Confirm…' }).click();
      await dialogOf(page, 'Confirm olga').getByRole('button', { name: 'Confirm olga' }).click();
      await page.getByRole('alert').filter({ hasText: 'was not confirmed' }).waitFor();
      expect(await userOf('olga')).toMatchObject({ isConfirmed: false });
    });

    it('changes only what was changed, and names the last administrator who cannot be demoted', async () => {
      const { page, open } = await openAs('admin');
      const sent: string[] = [];
      page.on('request', (request) => {
        if (request.url().includes('updateuser')) sent.push(request.postData() ?? '');
      });
      await open('/people?user=olga&open=user-edit');
      await page.getByRole('textbox', { name: 'Telephone' }).fill('+49 40 1234');
      await page.getByRole('button', { name: 'Save olga' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(sent).toEqual(['{"userID":"olga","contactPhone":"+49 40 1234"}']);
      await page.getByText('+49 40 1234').waitFor();
      await open('/people?user=admin&open=user-edit');
      await page.getByRole('dialog').getByRole('button', { name: /Role/ }).click();
      await page.getByRole('option', { name: 'Viewer' }).click();
      await page.getByRole('button', { name: 'Save admin' }).click();
      await page.getByRole('alert').filter({ hasText: 'last active administrator' }).waitFor();
    });

    it('deletes a user and sets a password only by buttons that name the user', async () => {
      await post('user/createuser', { userID: 'gast', password });
      const { page, open } = await openAs('admin');
      await open('/people?user=gast');
      await page.getByRole('button', { name: 'New password…' }).click();
      await page.getByLabel('Password', { exact: true }).fill(otherPassword);
      await page.getByRole('button', { name: 'Set the password of gast' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await demo.login('gast', password)).toBe('undefined');
      expect(await demo.login('gast', otherPassword)).not.toBe('undefined');
      await page.getByRole('button', { name: 'Delete…' }).click();
      await page.getByRole('button', { name: 'Delete user gast' }).click();
      await page.getByText('Choose a user to see what it may do').waitFor();
      await expect.poll(() => page.getByRole('link', { name: 'gast' }).count()).toBe(0);
      expect((await userOf('gast'))['error']).toBeDefined();
    });

    it('makes a token with scopes that is shown once, works within them, and ends when it is revoked', async () => {
      const { page, user, complaints, open } = await openAs('olga');
      await open('/people?list=own');
      await page.getByRole('heading', { name: 'Open sessions and tokens' }).waitFor();
      await user.goTo('Create token…');
      await user.press('Enter');
      await expect.poll(user.focused).toBe('What it is for');
      await user.type('Nightly report');
      await user.press('Enter');
      const field = page.getByRole('textbox', { name: 'Token', exact: true });
      await field.waitFor();
      await user.expectFocus();
      const made = await field.inputValue();
      expect(await refusalOf(made)).toBeUndefined();
      const { error } = await demo.call('command/feature/authorization', {
        token: made,
        body: { deviceID: 'van-01', feature: 'enginecutoff', state: '0' },
      });
      expect((error as { code: string }).code).toBe('forbidden');
      await user.goTo('Close');
      await user.press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await user.expectFocus();
      expect(await page.content()).not.toContain(made);
      expect(
        page.url() + String(await page.evaluate('JSON.stringify([sessionStorage, localStorage])')),
      ).not.toContain(made);
      await user.goTo('End Token Nightly report');
      await user.press('Enter');
      await dialogOf(page, 'End Token Nightly report').waitFor();
      await user.goTo('End Token Nightly report');
      await user.press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await expect.poll(() => page.locator('[data-session=api]').count()).toBe(0);
      await user.expectFocus();
      expect(await refusalOf(made)).toBe('unauthorized');
      expect(complaints).toEqual([]);
    });

    it('ends all sessions and tokens of a user, and none of others', async () => {
      const [theirs, mine] = [await demo.login('vera', password), await demo.login('olga', password)];
      const { page, open } = await openAs('admin');
      await open('/people?user=vera');
      await page.getByRole('button', { name: 'End all of vera…' }).click();
      await dialogOf(page, 'End all sessions and tokens of vera')
        .getByRole('button', { name: 'End all of vera' })
        .click();
      await page.getByText('No open session, no token').waitFor();
      expect([await refusalOf(theirs), await refusalOf(mine)]).toEqual(['unauthorized', undefined]);
    });

    it('changes the own password with the old one', async () => {
      await post('user/createuser', { userID: 'paul', password });
      const { page, open } = await openAs('paul');
      await open('/people?list=own&open=own-password');
      await page.getByLabel('Password until now').fill('not the password at all');
      await page.getByLabel('New password').fill(otherPassword);
      await page.getByRole('dialog').getByRole('button', { name: 'Change your password' }).click();
      await page.getByRole('alert').filter({ hasText: 'Not done' }).waitFor();
      await page.getByLabel('Password until now').fill(password);
      await page.getByRole('dialog').getByRole('button', { name: 'Change your password' }).click();
      await page.getByText('The password was changed').waitFor();
      expect(await demo.login('paul', otherPassword)).not.toBe('undefined');
    });

    it('makes a group by keyboard, puts a device into it, takes it out, and deletes the group by its name', async () => {
      const { page, user, complaints, open } = await openAs('admin');
      await open('/people?list=groups');
      await page.getByRole('link', { name: 'north' }).waitFor();
      await user.goTo('Create group…');
      await user.press('Enter');
      await expect.poll(user.focused).toBe('Name');
      const id = page.getByRole('textbox', { name: 'Group ID' });
      // A taken id gets a number.
      await user.type('Nörth');
      await expect.poll(() => id.inputValue()).toBe('north-2');
      await user.press('Control+a');
      await user.type('South yard');
      await expect.poll(() => id.inputValue()).toBe('south-yard');
      await user.press('Tab');
      await user.type('north');
      await page.getByText('This identifier is taken').waitFor();
      await user.press('Control+a');
      await user.type('south');
      await user.press('Enter');
      await page.getByRole('heading', { name: 'South yard' }).waitFor();
      await user.expectFocus();
      await user.goTo(/^Device to add/);
      await user.type('van-02');
      await page.getByRole('option', { name: 'van-02' }).waitFor();
      await user.press('ArrowDown', 'Enter');
      await user.goTo('Add to South yard');
      await user.press('Enter');
      await page.getByRole('link', { name: 'van-02' }).waitFor();
      expect((await groupOf('south'))?.['devices']).toEqual(['van-02']);
      await user.goTo('Remove van-02 from South yard', 'Shift+Tab');
      await user.press('Enter');
      await page.getByText('No device is in this group').waitFor();
      await user.expectFocus();
      expect((await groupOf('south'))?.['devices']).toEqual([]);
      await user.goTo('Delete group…');
      await user.press('Enter');
      await dialogOf(page, 'Delete group south').waitFor();
      await user.goTo('Delete group south');
      await user.press('Enter');
      await page.getByText('Choose a group to see its devices and users').waitFor();
      await user.expectFocus();
      expect(await groupOf('south')).toBeUndefined();
      expect(complaints).toEqual([]);
    });

    it('shows others than administrators no users, but their own sessions and groups', async () => {
      const { page, complaints, open } = await openAs('vera');
      await open('/people');
      await page.getByText('Users are managed by administrators').waitFor();
      await page.getByRole('link', { name: 'Groups' }).click();
      await page.getByRole('link', { name: 'north' }).click();
      await page.getByRole('link', { name: 'van-01' }).waitFor();
      await page.getByText('Groups are changed by administrators').waitFor();
      expect(await page.getByRole('button', { name: /Remove|Delete|Create/ }).count()).toBe(0);
      await page.getByRole('link', { name: 'Your sessions and tokens' }).click();
      await page.getByText('this session').waitFor();
      expect(complaints).toEqual([]);
    });

    it.each(['fr', 'de', 'es', 'ar'])('speaks %s on the screens of people', async (language) => {
      const opened = await openAs('admin', { language });
      const paths = [
        '/people?user=vera',
        '/people?open=user-create',
        '/people?list=groups&group=north',
        '/people?list=own&open=token-create',
      ];
      expect(await findEnglishOn(opened, { paths })).toEqual([]);
    });

    it.each([
      [1180, 'en'],
      [320, 'en'],
      [320, 'ar'],
      [1180, 'ar'],
    ])('has no fault of accessibility in any theme at %i px in %s', async (width, language) => {
      const opened = await openAs('admin', { width, language });
      const paths = [
        '/people?user=olga',
        '/people?user=olga&open=user-edit',
        '/people?list=groups&group=north',
        '/people?list=own',
        '/people?list=own&open=token-create',
      ];
      expect(await findFaultsOn(opened, { paths })).toEqual([]);
      expect(opened.complaints).toEqual([]);
    });
  },
);
