// The inbox of the console in Chromium against the real broker: what is there, what this user has viewed, and what others have not.
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { whyNoConsole } from '../support/http/console-page.ts';
import {
  createUserPages,
  findEnglishOn,
  findFaultsOn,
  memberPassword as password,
  reachByKey,
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

/** In place of the push service, which no test may reach. @param isThere false: the browser does not reach it. */
const pushScript = (isThere: boolean): string => `
  const keys = {
    p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  };
  let present = null;
  const subscription = {
    toJSON: () => ({ endpoint: 'https://fcm.googleapis.com/fcm/send/test', expirationTime: null, keys }),
    unsubscribe: async () => { present = null; return true; },
  };
  if (sessionStorage.getItem('isSubscribed') === 'yes') present = subscription;
  PushManager.prototype.getSubscription = async () => present;
  PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
    if (!${String(isThere)}) throw new DOMException('Registration failed', 'AbortError');
    globalThis.askedKey = applicationServerKey;
    present = subscription;
    return subscription;
  };
`;

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
    const registrationsOf = (userID: string): number => {
      const db = new Sqlite(join(demo.state, 'fleetward.db'), { readonly: true });
      const { count } = db
        .prepare('SELECT count(*) AS count FROM push_registrations WHERE user_id = ?')
        .get(userID) as { count: number };
      db.close();
      return count;
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
      const opened = await openAs('olga');
      const { page, user, complaints } = opened;
      await reachByKey(opened, { key: 'i', heading: 'Inbox' });
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

    it('switches notifications of this browser on after a press, at the service too, and off again', async () => {
      const { page, context, complaints, open } = await openAs('olga');
      await context.grantPermissions(['notifications'], { origin: demo.base });
      await context.addInitScript(pushScript(true));
      await open('/inbox');
      await page.getByText('Off in this browser', { exact: true }).waitFor();
      // The browser is asked for nothing before the press.
      expect(await page.evaluate('globalThis.askedKey')).toBeUndefined();
      await page.getByRole('button', { name: 'Switch on in this browser' }).click();
      await page.getByText('On in this browser', { exact: true }).waitFor();
      const { vapidKey } = await demo.call('notification/vapidkey/authorization', { token });
      expect(await page.evaluate('globalThis.askedKey')).toBe(vapidKey);
      expect(registrationsOf('olga')).toBe(1);
      await page.evaluate(
        `localStorage.setItem('fleetward.push', JSON.stringify({ ...JSON.parse(localStorage.getItem('fleetward.push')), userID: 'vera' }))`,
      );
      await page.evaluate(`sessionStorage.setItem('isSubscribed', 'yes')`);
      await page.reload();
      await page.getByText('On in this browser for another user').waitFor();
      await page.getByRole('button', { name: 'Switch on in this browser' }).click();
      await page.getByText('On in this browser', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Switch off in this browser' }).click();
      await page.getByText('Off in this browser', { exact: true }).waitFor();
      expect(registrationsOf('olga')).toBe(0);
      expect(complaints).toEqual([]);
    });

    it('shows in words what is pushed to the worker, in the language of the user', async () => {
      const { page, context, open } = await openAs('olga', { language: 'de' });
      await context.grantPermissions(['notifications'], { origin: demo.base });
      await context.addInitScript(pushScript(true));
      const devtools = await context.newCDPSession(page);
      const registered = new Promise<string>((done) => {
        devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
          const [one] = registrations;
          if (one !== undefined) done(one.registrationId);
        });
      });
      await devtools.send('ServiceWorker.enable');
      await open('/inbox');
      await page.getByRole('button', { name: 'In diesem Browser einschalten' }).click();
      await page.getByText('Ein in diesem Browser', { exact: true }).waitFor();
      await page.waitForFunction(
        `caches.match('/console/push-words.json').then((kept) => kept !== undefined)`,
      );
      await devtools.send('ServiceWorker.deliverPushMessage', {
        origin: demo.base,
        registrationId: await registered,
        data: JSON.stringify({
          notificationID: '7',
          deviceID: 'van-01',
          deviceDisplayName: 'van-01',
          statusCode: panic,
          statusDescription: 'Panic',
          timestamp: 1_763_683_200,
          urgent: true,
        }),
      });
      const shown = `navigator.serviceWorker.getRegistration('/console/').then((one) => one.getNotifications())
        .then((all) => all.map(({ title, tag, lang }) => [title, tag, lang]))`;
      await expect.poll(() => page.evaluate(shown)).toEqual([['Notruf · van-01', '7', 'de']]);
    });

    it('says what the browser has refused, and leaves nothing half done', async () => {
      const refusing = await openAs('vera');
      await refusing.context.addInitScript(
        `Object.defineProperty(Notification, 'permission', { get: () => 'denied' });`,
      );
      await refusing.open('/inbox');
      await refusing.page.getByText('Refused for this site in the settings of the browser').waitFor();
      expect(await refusing.page.getByRole('button', { name: /Switch on/ }).count()).toBe(0);
      const { page, context, open } = await openAs('vera');
      await context.grantPermissions(['notifications'], { origin: demo.base });
      await context.addInitScript(pushScript(false));
      await open('/inbox');
      await page.getByRole('button', { name: 'Switch on in this browser' }).click();
      await page
        .getByRole('alert')
        .filter({ hasText: 'The browser has not reached its push service' })
        .waitFor();
      await page.getByText('Off in this browser', { exact: true }).waitFor();
      expect(registrationsOf('vera')).toBe(0);
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
