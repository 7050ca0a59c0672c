// The inbox of the console in Chromium against the real broker: what is there, what this user has viewed, and what others have not.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { whyNoConsole } from '../support/http/console-page.ts';
import {
  createUserPages,
  findEnglishOn,
  findFaultsOn,
  memberPassword as password,
} from '../support/http/user-pages.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();

interface Notification {
  readonly notificationID: string;
  readonly deviceID: string;
  readonly statusCode: number;
  readonly viewed: boolean;
}

const panic = 63_553;

describe.skipIf(why !== null)(
  why === null ? 'the inbox of the console' : `the inbox of the console [${why}]`,
  () => {
    let demo: DemoProgram;
    const { openAs, closePages, close } = createUserPages(() => demo);
    let token = '';

    const inboxOf = async (userID: string): Promise<readonly Notification[]> => {
      const as = await demo.login(userID, userID === 'admin' ? demo.password : password);
      const { notifications } = await demo.call('notification/getallpushnotifications/authorization', {
        token: as,
      });
      return notifications as readonly Notification[];
    };
    const panicOf = async (userID: string, deviceID: string): Promise<Notification | undefined> =>
      (await inboxOf(userID)).find((one) => one.statusCode === panic && one.deviceID === deviceID);

    beforeAll(async () => {
      demo = await startDemoProgram(2);
      token = await demo.login('admin', demo.password);
      const post = (path: string, body: object) => demo.call(`${path}/authorization`, { token, body });
      await post('group/updategroup', { groupID: 'north', devices: ['van-01'] });
      for (const [userID, roleID, groups] of [
        ['olga', 'operator', ['all']],
        ['vera', 'viewer', ['north']],
      ] as const)
        await post('user/createuser', { userID, roleID, groups, password });
      for (const deviceID of ['van-01', 'van-02'])
        await demo.call(`events/createactivation/${deviceID}/${panic}/authorization`, { token });
      for (const deviceID of ['van-01', 'van-02'])
        await waitUntil(
          `notification of ${deviceID}`,
          async () => (await panicOf('olga', deviceID)) !== undefined,
        );
    });

    afterEach(closePages);

    afterAll(async () => {
      await close();
      await demo?.stop();
    });

    it('is reached and marked by keyboard, for this user only', async () => {
      const { page, user, complaints, open } = await openAs('olga');
      await open('/live');
      await page.locator('a.vehicle').first().waitFor();
      await user.goTo('Live');
      await user.press('g', 'i');
      await page.getByRole('heading', { name: 'Inbox', level: 1 }).waitFor();
      const mark = 'Mark as viewed: Panic, van-01';
      await page.getByRole('button', { name: mark }).waitFor();
      await page.getByRole('link', { name: /^Inbox ?, [1-9]\d* not viewed/ }).waitFor();
      await user.goTo(mark);
      await user.press('Enter');
      await page.getByRole('button', { name: mark }).waitFor({ state: 'detached' });
      await user.expectFocus();
      expect(await panicOf('olga', 'van-01')).toMatchObject({ viewed: true });
      expect(await panicOf('olga', 'van-02')).toMatchObject({ viewed: false });
      expect(await panicOf('vera', 'van-01')).toMatchObject({ viewed: false });
      expect(complaints).toEqual([]);
    });

    it('shows only what was not viewed, or one vehicle, as the address says', async () => {
      const { page, open } = await openAs('vera');
      await open('/inbox?show=unviewed');
      const rows = page.locator('[data-notification]');
      await rows.first().waitFor();
      await page.getByRole('link', { name: 'Only van-01' }).first().click();
      await page.getByRole('button', { name: 'Show every vehicle' }).waitFor();
      expect(new URL(page.url()).search).toBe('?show=unviewed&vehicle=van-01');
      await page.getByRole('button', { name: 'Mark all as viewed' }).click();
      await page.getByText('You have viewed everything').waitFor();
      expect((await inboxOf('vera')).filter(({ viewed }) => !viewed)).toEqual([]);
      await expect.poll(() => page.getByRole('link', { name: /^Inbox ?, / }).count()).toBe(0);
      await page.getByRole('button', { name: 'All', exact: true }).click();
      await rows.first().waitFor();
      await open('/inbox?vehicle=van-02');
      await page.getByRole('alert').filter({ hasText: 'van-02' }).waitFor();
    });

    it('counts a new one at once, and leads to its alarm', async () => {
      const { page, open } = await openAs('vera');
      await open('/inbox?show=unviewed');
      await page.getByText('You have viewed everything').waitFor();
      for (const code of [63_554, panic])
        await demo.call(`events/createactivation/van-01/${code}/authorization`, { token });
      await page.getByRole('link', { name: /^Inbox ?, [1-9]\d* not viewed/ }).waitFor({ timeout: 60_000 });
      await page.getByRole('link', { name: 'Open the alarm' }).first().click();
      await expect.poll(() => new URL(page.url()).pathname).toBe('/console/alarms');
      await page.getByRole('heading', { name: 'Panic · van-01' }).waitFor();
    });

    it.each(['fr', 'de', 'es', 'ar'])('speaks %s', async (language) => {
      const opened = await openAs('admin', { language });
      const paths = ['/inbox', '/inbox?show=unviewed&vehicle=van-01'];
      // What a notice of the account is about stands there in the words of the service.
      const names = ['User waits for confirmation', 'User waits for confirmation'];
      expect(await findEnglishOn(opened, { paths, names })).toEqual([]);
    });

    it.each([
      [1180, 'en'],
      [320, 'en'],
      [320, 'ar'],
      [1180, 'ar'],
    ])('has no fault of accessibility in any theme at %i px in %s', async (width, language) => {
      const opened = await openAs('admin', { width, language });
      expect(await findFaultsOn(opened, { paths: ['/inbox', '/inbox?vehicle=van-02'] })).toEqual([]);
      expect(opened.complaints).toEqual([]);
    });

    // The last one: the service ends with it.
    it('offers no marks without the stream', async () => {
      const { page, open } = await openAs('admin');
      await open('/inbox');
      const all = page.getByRole('button', { name: 'Mark all as viewed' });
      await expect.poll(() => all.getAttribute('aria-disabled')).not.toBe('true');
      await demo.stop();
      await page.getByText('Commands wait for the connection').first().waitFor({ timeout: 60_000 });
      expect(await all.getAttribute('aria-disabled')).toBe('true');
    });
  },
);
