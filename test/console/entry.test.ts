// Ways into the console in Chromium against the real broker: the one-time link, the login at a real provider, Arabic from right to left, and
// the geozones on the map.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type ConsolePage,
  createConsoleBrowsers,
  findFaultsInThemes,
  openConsole,
  whyNoConsole,
} from '../support/http/console-page.ts';
import { startProvider } from '../support/http/oidc-browser.ts';
import { findFaults } from '../support/machine/browser.ts';
import {
  createBrokerSetup,
  type Program,
  provision,
  runProgram,
  startBroker,
} from '../support/programs/fleet-processes.ts';

const why = whyNoConsole();

const clientSecret = 'a secret of the test with : and /';
const roles = (...names: readonly string[]) => ({ realm_access: { roles: names } });
const people = {
  otto: { preferred_username: 'otto@example.com', name: 'Otto', ...roles('fleet-operators') },
  nobody: { preferred_username: 'nobody', ...roles('other') },
};

describe.skipIf(why !== null)(
  why === null ? 'the way into the console' : `the way into the console [${why}]`,
  () => {
    const setup = createBrokerSetup('console-entry');
    let provider: Awaited<ReturnType<typeof startProvider>>;
    let broker: Program;
    const browsers = createConsoleBrowsers();
    let base = '';
    let token = '';
    const pages: ConsolePage[] = [];

    const open = async (of: Partial<Parameters<typeof openConsole>[1]> = {}): Promise<ConsolePage> => {
      const opened = await openConsole(browsers, { base, ...of });
      pages.push(opened);
      return opened;
    };
    const call = async (path: string, body?: unknown, own = token) => {
      const answer = await fetch(`${base}/api/v1/${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          authorization: own,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return (await answer.json()) as Readonly<Record<string, unknown>>;
    };
    const makeCode = (): string => {
      const database = ['--database', `${setup.folder}/fleet.db`];
      const made = runProgram('broker', ['account', 'login-code', 'demo', 'admin', '--json', ...database]);
      return (JSON.parse(made) as { code: string }).code;
    };
    const heading = (page: Page) => page.getByRole('heading', { name: 'Vehicles' });
    const atProvider = async (page: Page, login: string): Promise<void> => {
      await page.locator('input[name="login"]').fill(login);
      await page.locator('input[name="password"]').fill('any');
      await page.locator('button[type="submit"]').click();
      await page.waitForLoadState();
      if (page.url().startsWith(provider.issuer)) await page.locator('button[type="submit"]').click();
    };
    const secretsLeft = (page: Page) =>
      page.evaluate(
        "[location.href, history.state, sessionStorage['fleetward.provider-login']].map(String).join()",
      );

    beforeAll(async () => {
      provision(setup, 'van-01');
      const secretFile = join(setup.folder, 'client-secret');
      writeFileSync(secretFile, `${clientSecret}\n`, { mode: 0o600 });
      // The port is that of the page which the provider sends the browser back to, so it is known first.
      broker = await startBroker(setup);
      broker.signal('SIGTERM');
      await broker.ended();
      base = `http://127.0.0.1:${setup.httpPort}`;
      const redirectUrl = `${base}/console/`;
      provider = await startProvider({ redirectUrl, clientSecret, people });
      broker = await startBroker(setup, [
        `--oidc-issuer=${provider.issuer}`,
        '--oidc-client-id=fleet',
        `--oidc-client-secret-file=${secretFile}`,
        `--oidc-redirect-url=${redirectUrl}`,
        '--oidc-account-id=demo',
        '--oidc-role-claim=realm_access.roles',
        '--oidc-roles=fleet-operators=operator',
      ]);
      const login = { accountID: 'demo', userID: 'admin', password: setup.password };
      token = String((await call('auth/login', login, ''))['token']);
      const zones = [
        { geozoneID: 'Depot', geozoneType: 0, geozoneRadius: 800, geozonePoint1: '43.65000,-79.38000' },
        {
          geozoneID: 'ساحة الشمال',
          geozoneType: 3,
          geozonePoint1: '43.66000,-79.39000',
          geozonePoint2: '43.66000,-79.37000',
          geozonePoint3: '43.67000,-79.38000',
        },
        {
          geozoneID: 'Lakeshore',
          geozoneType: 2,
          geozoneRadius: 300,
          geozonePoint1: '43.63000,-79.40000',
          geozonePoint2: '43.64000,-79.36000',
        },
      ];
      for (const zone of zones) await call('geozone/creategeozone/authorization', zone);
    }, 90_000);

    afterEach(async () => {
      for (const { context } of pages.splice(0)) await context.close();
    });

    afterAll(async () => {
      await browsers.close();
      broker?.signal('SIGKILL');
      await broker?.ended();
      await provider?.stop();
    });

    it('is a link that works once, and says so when it is opened again', async () => {
      const link = `${base}/console/login#code=${makeCode()}`;
      const { page, complaints } = await open();
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await page.goto(link);
      await heading(page).waitFor();
      const code = link.slice(-43);
      expect(asked.filter((url) => url.includes(code))).toEqual([]);
      expect(await secretsLeft(page)).not.toContain(code);
      expect(complaints).toEqual([]);
      const other = await open();
      await other.page.goto(link);
      await other.page.getByRole('alert').filter({ hasText: 'This link no longer works' }).waitFor();
      expect(other.page.url()).not.toContain(code);
      expect(broker.lines.some((line) => JSON.stringify(line).includes(code))).toBe(false);
    });

    it('takes a fresh link in the tab that shows the login, and refuses a garbled one', async () => {
      const { page, open: go } = await open();
      await go('/login');
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await page.evaluate("location.hash = 'code=garbled'");
      await page.getByRole('alert').filter({ hasText: 'This link no longer works' }).waitFor();
      await page.evaluate(`location.hash = 'code=${makeCode()}'`);
      await heading(page).waitFor();
    });

    it('is one for all tabs of a browser, in no storage that outlives them, and ends in all of them', async () => {
      const { page, context } = await open();
      await page.goto(`${base}/console/login#code=${makeCode()}`);
      await heading(page).waitFor();
      const second = await context.newPage();
      await second.goto(`${base}/console/alarms`);
      await second.getByRole('heading', { name: 'Alarms' }).first().waitFor();
      const stored = String(await second.evaluate("sessionStorage['fleetward.session']"));
      const { token: own } = JSON.parse(stored) as { readonly token: string };
      expect(await second.evaluate('JSON.stringify(localStorage)')).not.toContain(own);
      // Another browser has none of it, and neither has a tab that opens once all others are closed.
      const stranger = await open();
      await stranger.page.goto(`${base}/console/alarms`);
      await stranger.page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await second.getByRole('button', { name: /, menu$/ }).click();
      await second.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      // A tab that waits at the login goes on when another one signs in, to where it was.
      const link = await context.newPage();
      await link.goto(`${base}/console/login#code=${makeCode()}`);
      await heading(link).waitFor();
      await second.getByRole('heading', { name: 'Alarms' }).first().waitFor();
      for (const one of context.pages()) await one.close();
      const late = await context.newPage();
      await late.goto(`${base}/console/alarms`);
      await late.getByRole('heading', { name: 'Sign in' }).waitFor();
    });

    it('of another user in another tab is not taken by a tab that signs out', async () => {
      const { page, context } = await open();
      await page.goto(`${base}/console/login#code=${makeCode()}`);
      await heading(page).waitFor();
      await page.goto(`${base}/console/live`);
      await heading(page).waitFor();
      await call('user/createuser/authorization', {
        userID: 'olga',
        roleID: 'viewer',
        password: setup.password,
      });
      const other = await context.newPage();
      await other.goto(`${base}/console/login`);
      await other.getByLabel('Account').fill('demo');
      await other.getByLabel('User').fill('olga');
      await other.getByLabel('Password').fill(setup.password);
      await other.getByRole('button', { name: 'Sign in', exact: true }).click();
      await heading(other).waitFor();
      await page.getByRole('button', { name: 'admin, menu' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByText('You have signed out').waitFor();
      // A tab that opens now takes the session that there is; the one that signed out still does not.
      const late = await context.newPage();
      await late.goto(`${base}/console/alarms`);
      await late.getByRole('button', { name: 'olga, menu' }).waitFor();
      expect(await page.getByText('You have signed out').isVisible()).toBe(true);
      expect(await page.evaluate("sessionStorage['fleetward.session']")).toBe(undefined);
    });

    it('keeps account and user when the session ends, and goes back to where it was', async () => {
      const { page } = await open();
      await page.goto(`${base}/console/login#code=${makeCode()}`);
      await heading(page).waitFor();
      await page.goto(`${base}/console/alarms?show=closed`);
      await page.getByRole('heading', { name: 'Alarms' }).first().waitFor();
      const stored = String(await page.evaluate("sessionStorage['fleetward.session']"));
      const { token: own, accountID, userID } = JSON.parse(stored) as Record<string, string>;
      await call(`auth/logout/${accountID}/${userID}`, undefined, own);
      await page.getByText('Your session has ended').waitFor({ timeout: 60_000 });
      expect(await page.getByLabel('Account').inputValue()).toBe(accountID);
      expect(await page.getByLabel('User').inputValue()).toBe(userID);
      expect(await page.locator(':focus').getAttribute('name')).toBe('password');
      await page.getByRole('button', { name: 'Sign in otherwise' }).click();
      await page.waitForURL('**/console/login?next=**');
      expect(await page.getByLabel('User').inputValue()).toBe(userID);
      await page.evaluate(`location.hash = 'code=${makeCode()}'`);
      await page.waitForURL('**/console/alarms?show=closed');
    });

    it('keeps what was typed when the session ends, and goes on after the login in any tab of the same user', async () => {
      const { page, context } = await open();
      await page.goto(`${base}/console/login#code=${makeCode()}`);
      await heading(page).waitFor();
      const second = await context.newPage();
      await second.goto(`${base}/console/vehicle/van-01?cut=ask`);
      await second.getByRole('dialog', { name: /van-01/ }).waitFor();
      await page.goto(`${base}/console/people?open=user-create`);
      await page.getByRole('textbox', { name: 'User ID' }).fill('half-typed');
      const stored = String(await page.evaluate("sessionStorage['fleetward.session']"));
      const { token: own, accountID, userID } = JSON.parse(stored) as Record<string, string>;
      await call(`auth/logout/${accountID}/${userID}`, undefined, own);
      const ended = (of: Page) => of.getByRole('dialog', { name: 'Your session has ended' });
      for (const one of [page, second]) await ended(one).waitFor({ timeout: 60_000 });
      // The facts behind a question about a cut are old by the time of the login.
      await second.getByText('The question about the order was closed').waitFor();
      expect(await second.getByRole('dialog').count()).toBe(1);
      // A press that the dialog came in front of: nothing is sent, neither now nor after the login.
      const sent: string[] = [];
      second.on('request', (request) => {
        if (request.method() !== 'GET') sent.push(request.url());
      });
      await second
        .getByRole('button', { name: 'Restore engine', includeHidden: true })
        .first()
        .evaluate((button) => (button as unknown as { click(): void }).click());
      expect(await page.evaluate("sessionStorage['fleetward.session']")).toBe(undefined);
      expect(await ended(page).getByLabel('User').getAttribute('readonly')).not.toBe(null);
      expect(await page.locator(':focus').getAttribute('name')).toBe('password');
      await page.keyboard.press('Escape');
      await page.keyboard.type('wrong');
      await page.keyboard.press('Enter');
      await page.getByText('Account, user or password is wrong').waitFor();
      expect(await findFaultsInThemes(page)).toEqual([]);
      await ended(page).getByLabel('Password').fill(setup.password);
      await page.keyboard.press('Enter');
      for (const one of [page, second]) await ended(one).waitFor({ state: 'detached' });
      expect(await page.getByRole('textbox', { name: 'User ID' }).inputValue()).toBe('half-typed');
      for (const one of [page, second])
        await one.locator('.pulse[data-state=live]').waitFor({ state: 'attached' });
      await second.getByText('Not sent: your session had ended').first().waitFor();
      expect(sent).toEqual([]);
    });

    it('leaves the screen of an ended session for another user, and shows nothing of it', async () => {
      const { page } = await open();
      await page.goto(`${base}/console/login#code=${makeCode()}`);
      await heading(page).waitFor();
      await page.goto(`${base}/console/people?open=user-create`);
      await page.getByRole('textbox', { name: 'User ID' }).fill('half-typed');
      const stored = String(await page.evaluate("sessionStorage['fleetward.session']"));
      const { token: own, accountID, userID } = JSON.parse(stored) as Record<string, string>;
      await call(`auth/logout/${accountID}/${userID}`, undefined, own);
      await page.getByRole('button', { name: 'Sign in otherwise' }).click({ timeout: 60_000 });
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await page.getByLabel('Password').fill(setup.password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.waitForURL('**/console/people?open=user-create');
      expect(await page.getByRole('textbox', { name: 'User ID' }).inputValue()).toBe('');
    });

    it('goes to the login provider by keyboard, comes back to the page that was wanted, and leaves there too', async () => {
      const { page, context, open: go } = await open();
      await go('/live?filter=moving');
      const button = page.getByRole('button', { name: `Sign in with ${new URL(provider.issuer).host}` });
      await button.waitFor();
      await button.focus();
      await page.keyboard.press('Enter');
      await page.waitForURL(`${provider.issuer}/**`);
      expect(page.url()).not.toContain(clientSecret);
      await atProvider(page, 'otto');
      await heading(page).waitFor();
      expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/console/live?filter=moving');
      expect(await secretsLeft(page)).not.toMatch(/state=|loginSecret/);
      expect((await context.cookies(base)).filter(({ domain }) => domain === new URL(base).host)).toEqual([]);
      const kept = JSON.parse(String(await page.evaluate("sessionStorage['fleetward.session']"))) as {
        token: string;
        userID: string;
      };
      expect(kept.userID).toBe('otto-example-com');
      await page.getByRole('button', { name: 'otto-example-com, menu' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.waitForURL(`${provider.issuer}/session/end**`);
      const after = await call('device/getalldevices/authorization', undefined, kept.token);
      expect((after['error'] as { code: string }).code).toBe('unauthorized');
    });

    it('keeps what a user of the login provider typed when the session ends, and goes on after the login in a new tab', async () => {
      const { page, context, open: go } = await open();
      const button = (of: Page) => of.getByRole('button', { name: /^Sign in with [\w.]+:\d+$/ });
      await go('/vehicle/van-01?tab=messages');
      await button(page).click();
      await page.waitForURL(`${provider.issuer}/**`);
      await atProvider(page, 'otto');
      const message = page.getByRole('textbox', { name: 'To van-01' });
      await message.fill('half-typed');
      const kept = String(await page.evaluate("sessionStorage['fleetward.session']"));
      const { token: own, accountID, userID } = JSON.parse(kept) as Record<string, string>;
      await call(`auth/logout/${accountID}/${userID}`, undefined, own);
      const ended = page.getByRole('dialog', { name: 'Your session has ended' });
      await ended.waitFor({ timeout: 60_000 });
      expect(await findFaults(page)).toEqual([]);
      const opening = context.waitForEvent('page');
      await ended.getByRole('link', { name: /^Sign in with .* in a new tab$/ }).click();
      const other = await opening;
      await button(other).click();
      await heading(other).or(other.locator('input[name="login"]')).first().waitFor();
      if (other.url().startsWith(provider.issuer)) await atProvider(other, 'otto');
      await ended.waitFor({ state: 'detached' });
      expect(await message.inputValue()).toBe('half-typed');
    });

    it('says that the provider gave no role, and that a login was not begun in this tab', async () => {
      const { page, open: go } = await open();
      await go('/login');
      await page.getByRole('button', { name: /^Sign in with [\w.]+:\d+$/ }).click();
      await page.waitForURL(`${provider.issuer}/**`);
      await atProvider(page, 'nobody');
      await page.getByRole('alert').filter({ hasText: 'gives you no role in this fleet' }).waitFor();
      await go('/?code=stolen&state=elsewhere');
      await page.getByRole('alert').filter({ hasText: 'was not completed' }).waitFor();
      expect(page.url()).toBe(`${base}/console/login`);
      await go('/?error=access_denied&state=elsewhere');
      await page.getByRole('alert').filter({ hasText: 'was not completed' }).waitFor();
    });

    it('offers a password while the provider does not answer', async () => {
      const { page, open: go } = await open();
      await page.route('**/auth/login/begin', (route) =>
        route.fulfill({ status: 503, json: { error: { code: 'unavailable', detail: 'x', hint: null } } }),
      );
      await go('/login');
      await page.getByRole('button', { name: /^Sign in with [\w.]+:\d+$/ }).click();
      await page.getByRole('alert').filter({ hasText: 'The login provider does not answer' }).waitFor();
      await page.getByLabel('Account').fill('demo');
      await page.getByLabel('User').fill('admin');
      await page.getByLabel('Password').fill(setup.password);
      await page.keyboard.press('Enter');
      await heading(page).waitFor();
    });

    it('draws the geozones, and the names of joined scripts as pictures, without asking another host', async () => {
      const {
        page,
        complaints,
        open: go,
      } = await open({ session: { token, userID: 'admin' }, hasMap: true });
      await go('/live?at=43.65000,-79.38000,12.00');
      await page.waitForSelector('.map-host[data-is-drawn]', { timeout: 60_000 });
      await page.getByText('Geozones').waitFor();
      // A change reaches the map by the stream.
      const reading = page.waitForRequest('**/geozone/getgeozones/authorization');
      await call('geozone/creategeozone/authorization', {
        geozoneID: 'Harbour',
        geozonePoint1: '43.64000,-79.38000',
        geozoneType: 0,
      });
      await reading;
      expect(complaints).toEqual([]);
    });

    it.each([1180, 320])(
      'has no fault of accessibility in Arabic in any theme at %i px, and runs from right to left',
      async (width) => {
        const {
          page,
          complaints,
          open: go,
        } = await open({
          session: { token, userID: 'admin' },
          width,
          hasMap: width > 1000,
          language: 'ar',
        });
        for (const path of [
          '/live',
          '/live?vehicle=van-01',
          '/alarms',
          '/vehicle/van-01',
          '/vehicle/van-01?tab=events',
        ]) {
          await go(path);
          await page.locator('main h1').first().waitFor({ state: 'attached' });
          await page.waitForTimeout(800);
          expect(
            await page.evaluate('[document.documentElement.lang, document.documentElement.dir].join()'),
          ).toBe('ar,rtl');
          expect([path, await findFaultsInThemes(page)]).toEqual([path, []]);
        }
        if (width > 1000) {
          await go('/live');
          const [list, map] = [
            await page.locator('.vehicles').boundingBox(),
            await page.locator('.map').boundingBox(),
          ];
          expect(list?.x ?? 0).toBeGreaterThan(map?.x ?? 0);
        }
        expect(complaints).toEqual([]);
      },
    );

    it('has no fault of accessibility on the login with a provider, in both directions', async () => {
      for (const language of ['en', 'ar']) {
        const { page, open: go } = await open({ language });
        await go('/login');
        await page.locator('.or').waitFor();
        expect([language, await findFaults(page)]).toEqual([language, []]);
      }
    });
  },
);
