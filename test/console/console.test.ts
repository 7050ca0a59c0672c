// The console in Chromium against the real broker and the real simulated fleet, as a dispatcher uses it, in three themes, at
// two widths, in four languages. What the screen shows is compared with what the service answers.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type ConsolePage,
  createConsoleBrowsers,
  findFaultsInThemes,
  openConsole,
  sentencesOf,
  watchPage,
  whyNoConsole,
} from '../support/http/console-page.ts';
import { allWords } from '../support/http/console-words.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();

const panic = 63553;
const viewerPassword = 'nine boats below the bridge';

describe.skipIf(why !== null)(why === null ? 'the console' : `the console [${why}]`, () => {
  let demo: DemoProgram;
  const browsers = createConsoleBrowsers();
  let token = '';
  const pages: ConsolePage[] = [];

  const open = async (of: Partial<Parameters<typeof openConsole>[1]> = {}): Promise<ConsolePage> => {
    const opened = await openConsole(browsers, { base: demo.base, ...of });
    pages.push(opened);
    return opened;
  };
  const openAs = (userID: string, secret: string, of: Partial<Parameters<typeof openConsole>[1]> = {}) =>
    demo.login(userID, secret).then((own) => open({ session: { token: own, userID }, ...of }));

  beforeAll(async () => {
    demo = await startDemoProgram(3);
    token = await demo.login('admin', demo.password);
    for (const [userID, roleID] of [
      ['olga', 'operator'],
      ['vera', 'viewer'],
    ])
      await demo.call('user/createuser/authorization', {
        token,
        body: { userID, roleID, password: viewerPassword },
      });
  });

  afterEach(async () => {
    for (const { context } of pages.splice(0)) await context.close();
  });

  afterAll(async () => {
    await browsers.close();
    await demo?.stop();
  });

  const rows = (page: Page) => page.locator('a.vehicle');
  const raisePanic = (deviceID: string) =>
    demo.call(`events/createactivation/${deviceID}/${panic}/authorization`, { token });
  const alarmRow = (page: Page, vehicle: string) =>
    page.locator('table.queue tbody tr', { hasText: vehicle }).filter({ hasText: 'Panic' });
  const panicOf = async (deviceID: string) => {
    const { alarms } = await demo.call(
      `alarm/alarms/authorization?state=open,closed&statusCode=${panic}&deviceID=${deviceID}`,
      { token },
    );
    return (alarms as readonly Readonly<Record<string, unknown>>[])[0];
  };

  it('signs in by the link of the terminal, and leaves no trace of it in the address or the history', async () => {
    const link = /Console\s+(\S+)/.exec(demo.said())?.[1] ?? '';
    expect(link).toMatch(/^http:[^?#]+\/console\/login\?next=\/practice#/);
    const { page } = await open();
    await page.goto(link);
    await page.getByRole('heading', { name: 'Practice fleet', level: 1 }).waitFor();
    expect(page.url()).not.toContain('#');
    await page.goBack().catch(() => null);
    expect(page.url()).not.toContain('password');
  });

  it('ends the session at the service when the user signs out, and shows nothing of the fleet afterwards', async () => {
    const { page, open: go } = await openAs('admin', demo.password);
    await go('/live');
    await rows(page).first().waitFor();
    const own = String(await page.evaluate("JSON.parse(sessionStorage['fleetward.session']).token"));
    await page.getByRole('button', { name: 'admin, menu' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByText('You have signed out').waitFor();
    expect(await page.getByText('van-01').count()).toBe(0);
    const answer = await demo.call('device/getalldevices/authorization', { token: own });
    expect((answer['error'] as { code: string }).code).toBe('unauthorized');
  });

  it('shows every vehicle in the list and on the map, and keeps filter, search and selection in the address', async () => {
    const { page, complaints, open: go } = await open({ session: { token, userID: 'admin' }, hasMap: true });
    await go('/live');
    await rows(page).nth(2).waitFor();
    await page.waitForSelector('.map-host[data-is-drawn]', { timeout: 60_000 });
    await page.getByRole('searchbox', { name: 'Find a vehicle in the list' }).fill('van-02');
    await expect.poll(() => rows(page).count()).toBe(1);
    await rows(page).first().click();
    await page.getByRole('region', { name: 'Selected vehicle: van-02' }).waitFor();
    await page.reload();
    await page.getByRole('region', { name: 'Selected vehicle: van-02' }).waitFor();
    expect(new URL(page.url()).search).toBe('?find=van-02&vehicle=van-02');
    expect(await rows(page).count()).toBe(1);
    // On a phone the map ends above the sheet, so that its middle, where the vehicle is, is in sight.
    await page.setViewportSize({ width: 390, height: 844 });
    const map = await page.locator('.live > .map').boundingBox();
    const sheet = await page.getByRole('region', { name: 'Selected vehicle: van-02' }).boundingBox();
    expect((map?.y ?? 0) + (map?.height ?? Infinity)).toBeLessThanOrEqual(sheet?.y ?? 0);
    expect(complaints).toEqual([]);
  });

  it('moves a vehicle in the list as the stream reports it', async () => {
    const { page, open: go } = await open({ session: { token, userID: 'admin' } });
    await go('/live?vehicle=van-01');
    const place = page.locator('.panel .fact', { hasText: 'Position' }).locator('.place .nowrap bdi');
    await place.waitFor();
    const shown = async () => {
      const { devices } = await demo.call(
        'device/getalldevices/authorization?fields=deviceLastValidLatitude',
        { token },
      );
      const [first] = devices as readonly { deviceLastValidLatitude: number }[];
      return (await place.textContent())?.startsWith((first?.deviceLastValidLatitude ?? 0).toFixed(5));
    };
    await expect.poll(shown).toBe(true);
  });

  it('shows an alarm at once, and takes, notes and closes it as the service then has it', async () => {
    const { page, complaints, open: go } = await openAs('olga', viewerPassword);
    await go('/alarms');
    await page.getByRole('heading', { name: 'Queue' }).waitFor();
    await raisePanic('van-01');
    const row = alarmRow(page, 'van-01');
    await row.getByRole('button', { name: 'Take' }).click();
    await row.getByText('olga').waitFor();
    expect(await panicOf('van-01')).toMatchObject({ alarmState: 'taken', owner: 'olga' });
    await row.getByRole('link', { name: 'Panic' }).click();
    await page.getByRole('textbox', { name: 'Note' }).fill('Driver called, button sticks');
    await page.getByRole('button', { name: 'Add note' }).click();
    await page.locator('.thread').getByText('Driver called, button sticks').waitFor();
    await row.getByRole('button', { name: /Close alarm/ }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Close alarm' }).isDisabled()).toBe(true);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel');
    await dialog.getByText('False alarm').click();
    await dialog.getByRole('button', { name: 'Close alarm' }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => row.count()).toBe(0);
    expect(await panicOf('van-01')).toMatchObject({
      alarmState: 'closed',
      closeReason: 'false_alarm',
      notes: 1,
    });
    expect(complaints).toEqual([]);
  });

  it('shelves an alarm with a reason, and brings it back', async () => {
    const { page, open: go } = await openAs('olga', viewerPassword);
    await raisePanic('van-02');
    await go('/alarms');
    const row = alarmRow(page, 'van-02');
    await row.getByRole('link', { name: 'Panic' }).click();
    await page
      .getByRole('complementary')
      .getByRole('button', { name: /Shelve/ })
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Why' }).fill('Unit in repair');
    await dialog.getByRole('button', { name: 'Shelve' }).click();
    await row.getByText('Unit in repair').waitFor();
    expect(await panicOf('van-02')).toMatchObject({ alarmState: 'shelved', note: 'Unit in repair' });
    await row.getByRole('button', { name: 'Resume' }).click();
    await row.getByRole('button', { name: 'Take' }).waitFor();
    expect(await panicOf('van-02')).toMatchObject({ alarmState: 'new' });
  });

  it('shows what another user did, not what was wanted: of two who take an alarm one is refused with the reason', async () => {
    const { page, open: go } = await openAs('olga', viewerPassword);
    await raisePanic('van-03');
    await go('/alarms');
    const row = alarmRow(page, 'van-03');
    await row.getByRole('link', { name: 'Panic' }).click();
    await row.getByRole('button', { name: 'Take' }).waitFor();
    const { alarmID } = (await panicOf('van-03')) ?? {};
    // The other user's change reaches the page while its own is on the way.
    await page.route('**/alarm/take/authorization', async (route) => {
      await demo.call('alarm/take/authorization', { token, body: { alarmID } });
      await route.continue();
    });
    await row.getByRole('button', { name: 'Take' }).click();
    await page
      .getByRole('alert')
      .filter({ hasText: /Not done: .*admin/ })
      .waitFor();
    await row.getByText('admin').waitFor();
    expect(await panicOf('van-03')).toMatchObject({ owner: 'admin' });
  });

  it('offers a viewer no change, and says who may', async () => {
    const { page, open: go } = await openAs('vera', viewerPassword);
    await go('/alarms');
    await alarmRow(page, 'van-02').getByRole('link', { name: 'Panic' }).click();
    await page.getByText('Viewers do not handle alarms').waitFor();
    expect(
      await page.getByRole('button', { name: /^(Take|Resume|Close alarm…?|Shelve…?|Give back)$/ }).count(),
    ).toBe(0);
    await go('/vehicle/van-02');
    await page.getByRole('heading', { name: 'van-02', level: 1 }).waitFor();
    expect(await page.getByRole('button', { name: 'Restore engine' }).count()).toBe(0);
  });

  it('asks the service to restore an engine with one press, and says that it was asked', async () => {
    const { page, open: go } = await openAs('olga', viewerPassword);
    await go('/vehicle/van-01');
    await page.getByRole('button', { name: 'Restore engine' }).click();
    await page.getByText(/Restore of van-01 asked|van-01 restored/).waitFor();
    const { commands } = await demo.call('command/list/van-01/authorization', { token });
    expect((commands as readonly unknown[])[0]).toMatchObject({ feature: 'enginecutoff', state: '0' });
  });

  it('lists the events of a vehicle with the proof of one, which the address names', async () => {
    const { page, complaints, open: go } = await open({ session: { token, userID: 'admin' } });
    await go('/vehicle/van-01?tab=events&kind=all&range=hour');
    const first = page.locator('table.events tbody tr').first();
    await first.getByRole('link').click();
    await page.getByRole('heading', { name: 'Proof of the event' }).waitFor();
    const event = new URL(page.url()).searchParams.get('event') ?? '';
    expect(event).toMatch(/^.+:\d+$/);
    await page.reload();
    await page.getByRole('heading', { name: 'Proof of the event' }).waitFor();
    await expect.poll(() => page.locator('.uplot canvas').count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('says that a vehicle or a page is not there', async () => {
    const { page, open: go } = await open({ session: { token, userID: 'admin' } });
    await go('/vehicle/nope');
    await page.getByText('There is no vehicle nope').waitFor();
    await go('/nowhere');
    await page.getByRole('main').getByText('There is no such page').last().waitFor();
  });

  it('takes nothing from an address that no page knows: each shows what it shows without it', async () => {
    const { page, complaints, open: go } = await open({ session: { token, userID: 'admin' } });
    const paths = [
      'live',
      'alarms',
      'approvals',
      'devices',
      'people',
      'rules',
      'releases',
      'zones',
      'routes',
      'reports',
    ];
    const members = [
      'show',
      'open',
      'list',
      'kind',
      'table',
      'edit',
      'at',
      'shape',
      'sort',
      'phase',
      'stage',
      'from',
      'to',
      'state',
    ];
    const strange = members.map((member) => `${member}=%22%3Cfoo%3E%22`).join('&');
    for (const path of [...paths, 'settings', 'account', 'inbox', 'audit', 'shares', 'vehicle/van-01']) {
      await go(`/${path}?${strange}`);
      await page.locator('main h1, main h2').first().waitFor({ state: 'attached' });
      expect([path, await page.getByText('<foo>').count()]).toEqual([path, 0]);
      expect([path, complaints]).toEqual([path, []]);
    }
  });

  it.each(['fr', 'de', 'es', 'ar'])(
    'speaks %s on every screen: no English sentence of the catalogue is left',
    async (language) => {
      const sentences = sentencesOf(await allWords('en'));
      const { page, open: go } = await open({ session: { token, userID: 'admin' }, language });
      for (const path of [
        '/live?vehicle=van-01',
        '/alarms',
        '/vehicle/van-01',
        '/vehicle/van-01?tab=events',
      ]) {
        await go(path);
        await page.locator('main').first().waitFor();
        const shown = await page.locator('body').innerText();
        expect(
          sentences.filter((sentence) => shown.includes(sentence) && !sentence.includes('GeoNames')),
        ).toEqual([]);
        expect(await page.evaluate('document.documentElement.lang')).toBe(language);
      }
    },
  );

  it.each([1180, 320])(
    'has no fault of accessibility in any theme at %i px, no sideways scroll, and no request to another host',
    async (width) => {
      const {
        page,
        complaints,
        open: go,
      } = await open({ session: { token, userID: 'admin' }, width, hasMap: width > 1000 });
      for (const path of [
        '/live',
        '/live?vehicle=van-01',
        '/alarms',
        '/vehicle/van-01',
        '/vehicle/van-01?tab=events&kind=all',
      ]) {
        await go(path);
        await page.locator('main h1').first().waitFor({ state: 'attached' });
        await page.waitForTimeout(800);
        expect([path, await findFaultsInThemes(page)]).toEqual([path, []]);
      }
      expect(complaints).toEqual([]);
    },
  );

  it('says within 3 s that the service is gone, offers no change then, and keeps restore', async () => {
    const { page, open: go } = await openAs('olga', viewerPassword);
    await go('/alarms');
    const take = alarmRow(page, 'van-02').getByRole('button', { name: 'Take' });
    await take.waitFor();
    const tookMs = await watchPage(page, `document.querySelector('.stale-notice') !== null`);
    await demo.stop();
    expect(await tookMs(Date.now())).toBeLessThan(3000);
    expect(await take.isDisabled()).toBe(true);
  });
});
