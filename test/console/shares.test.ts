// Share links in Chromium against the real broker and the real simulated fleet: made and revoked in the console, opened by people without a session in
// a browser of their own, who see this one vehicle or trip and nothing else.
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { noLinkFaults, openLinkProxy } from '../../simulator/run/link/link-proxy.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import {
  type ConsolePage,
  createConsoleBrowsers,
  findFaultsInThemes,
  whyNoConsole,
} from '../support/http/console-page.ts';
import { createKeyboardUser } from '../support/http/keyboard-user.ts';
import {
  createUserPages,
  findEnglishOn,
  findFaultsOn,
  memberPassword as password,
} from '../support/http/user-pages.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();

type Row = Readonly<Record<string, unknown>>;

/** Refusals are part of what is tested; the browser writes each into its log. */
const isRefusal = (complaint: string): boolean => /status of (401|422|503)|net::ERR/.test(complaint);

describe.skipIf(why !== null)(why === null ? 'share links' : `share links [${why}]`, () => {
  let demo: DemoProgram;
  let token = '';
  const { openAs, closePages, close } = createUserPages(() => demo);
  const browsers = createConsoleBrowsers();
  const guests: ConsolePage[] = [];

  const post = (path: string, body: object) => demo.call(`${path}/authorization`, { token, body });
  const laterS = (hours: number): number => Math.floor(Date.now() / 1000) + hours * 3600;
  const share = async (body: object = {}) =>
    (await post('share/create', { deviceID: 'van-01', expires: laterS(2), ...body })) as {
      readonly token: string;
      readonly shareID: string;
    };
  const linkOf = (of: string): string => `${demo.base}/console/share#${of}`;

  /** A browser that has never been here: no session, nothing stored, a language of its own. */
  const openGuest = async (of: { locale?: string; width?: number; hasMap?: boolean } = {}) => {
    const { locale = 'en-GB', width = 390, hasMap = false } = of;
    const browser = await browsers.of(hasMap);
    const context = await browser.newContext({ viewport: { width, height: 800 }, locale });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const complaints: string[] = [];
    const asked: string[] = [];
    page.on('console', (message) => {
      if (hasMap || !message.text().includes('WebGL')) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => asked.push(request.url()));
    const guest = { page, context, complaints, open: async (path: string) => void (await page.goto(path)) };
    guests.push(guest);
    return { ...guest, asked };
  };
  const isLive = (page: Page) => page.locator('[data-link=live]').waitFor();
  const shownAt = async (page: Page): Promise<number> =>
    Number(await page.locator('dl.facts').getAttribute('data-at'));

  beforeAll(async () => {
    demo = await startDemoProgram(2);
    token = await demo.login('admin', demo.password);
    for (const [userID, roleID] of [
      ['olga', 'operator'],
      ['vera', 'viewer'],
    ] as const)
      await post('user/createuser', { userID, roleID, groups: ['all'], password });
  }, 120_000);

  afterEach(async () => {
    await closePages();
    for (const { context } of guests.splice(0)) await context.close();
  });

  afterAll(async () => {
    await close();
    await browsers.close();
    await demo?.stop();
  });

  it('are made by keyboard, shown once with a QR code, opened without a session, and revoked while they are open', async () => {
    const { page, user, complaints, open } = await openAs('olga');
    await open('/vehicle/van-01');
    await page.getByRole('link', { name: 'Share…' }).waitFor();
    await user.goTo('Share…');
    await user.press('Enter');
    const dialog = page.getByRole('dialog', { name: /^Share / });
    await dialog.waitFor();
    expect(new URL(page.url()).search).toBe('?share=live');
    await user.goTo('Note for the person');
    await user.type('Your delivery, Acme');
    await user.press('Enter');
    const field = dialog.getByRole('textbox', { name: 'Link' });
    await field.waitFor();
    await dialog.getByRole('img', { name: 'QR code of the link' }).waitFor();
    const link = await field.inputValue();
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console\/share#share-[0-9a-f]{64}$/);
    expect(await findFaultsInThemes(page)).toEqual([]);
    expect(page.url()).not.toContain('share-');
    const stored = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
    expect(stored).not.toContain(link.slice(-64));

    const guest = await openGuest();
    await guest.open(link);
    await guest.page.getByRole('heading', { name: 'Your delivery, Acme' }).waitFor();
    await isLive(guest.page);
    const before = await shownAt(guest.page);
    await expect.poll(() => shownAt(guest.page), { timeout: 60_000 }).toBeGreaterThan(before);

    await user.goTo('Close');
    await user.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await user.goTo('1 open link');
    await user.press('Enter');
    const row = page.locator('tr[data-standing=open]');
    await row.getByText('olga').waitFor();
    await row.getByText('Your delivery, Acme').waitFor();
    await user.goTo(/^Revoke the link to .*: Your delivery, Acme$/);
    await user.press('Enter');
    await page.getByRole('dialog', { name: /^Revoke the link/ }).waitFor();
    await expect.poll(user.focused).toBe('Cancel');
    await user.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await isLive(guest.page);
    await user.goTo(/^Revoke the link to .*: Your delivery, Acme$/);
    await user.press('Enter');
    await page.getByRole('dialog', { name: /^Revoke the link/ }).waitFor();
    await user.goTo('Revoke');
    await user.press('Enter');

    await guest.page.getByRole('alert').filter({ hasText: 'The sharing was ended' }).waitFor();
    expect(await guest.page.locator('dl.facts, .map').count()).toBe(0);
    await page.getByText('No link is open').waitFor();
    await user.expectFocus();
    await page.getByRole('button', { name: 'Ended' }).click();
    await page.locator('tr[data-standing=revoked]').getByText('Your delivery, Acme').waitFor();
    expect(complaints).toEqual([]);
    expect(guest.complaints.filter((one) => !isRefusal(one))).toEqual([]);
  });

  it('keep the token out of every address that a server or another page can read', async () => {
    const { token: own } = await share();
    const { page, context, complaints, asked, open } = await openGuest({ hasMap: true });
    const referrers: (string | undefined)[] = [];
    page.on('request', (request) => referrers.push(request.headers()['referer']));
    await open(linkOf(own));
    await isLive(page);
    await page.waitForSelector('.replay-mark[data-state]', { state: 'attached' });
    await page.waitForSelector('.map-host[data-is-drawn]');
    expect(asked.filter((url) => url.split('#')[0]?.includes(own.slice(6)))).toEqual([]);
    expect(asked.filter((url) => !/^(data:|blob:)/.test(url) && !url.startsWith(demo.base))).toEqual([]);
    expect(referrers.filter((one) => (one ?? '') !== '')).toEqual([]);
    expect(await context.cookies()).toEqual([]);
    expect(await page.evaluate('localStorage.length + sessionStorage.length')).toBe(0);
    expect(demo.said()).not.toContain(own.slice(6));
    expect(complaints).toEqual([]);
  });

  it('load a page that is small, is in no search engine, and has a policy without other hosts', async () => {
    const { token: own } = await share();
    const { page, asked, open } = await openGuest();
    await open(linkOf(own));
    await isLive(page);
    const files = asked.filter((url) => url.includes('/console/assets/'));
    expect(files.filter((url) => /\/(index|session|Dialog|call|live|login)-/.test(url))).toEqual([]);
    const paths = [
      ...new Set(asked.filter((url) => url.includes('/api/')).map((url) => new URL(url).pathname)),
    ];
    expect(paths).toEqual(['/api/v1/share/view/authorization', '/api/v1/share/stream/authorization']);
    const answer = await fetch(`${demo.base}/console/share`);
    expect(answer.headers.get('x-robots-tag')).toContain('noindex');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(answer.headers.get('content-security-policy')).toContain("connect-src 'self';");
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it('show the way of a trip that is over, and no stream', async () => {
    await expect
      .poll(
        async () => {
          const { eventdata } = await demo.call('eventdata/devicedata/van-01/authorization', { token });
          return (eventdata as { devices: readonly Row[] }).devices.length;
        },
        { timeout: 60_000 },
      )
      .toBeGreaterThan(2);
    const nowS = Math.floor(Date.now() / 1000);
    const { page, open } = await openAs('olga');
    await open(`/vehicle/van-01?tab=trips&from=${nowS - 3600}&to=${nowS - 1}&share=trip`);
    const dialog = page.getByRole('dialog', { name: /^Share a trip of/ });
    await dialog.getByRole('button', { name: 'Create link' }).click();
    const link = await dialog.getByRole('textbox', { name: 'Link' }).inputValue();
    const guest = await openGuest({ hasMap: true });
    await guest.open(link);
    await guest.page.getByRole('heading', { name: 'Shared trip' }).waitFor();
    await guest.page.getByText('Distance').waitFor();
    await guest.page.waitForSelector('.map-host[data-is-drawn]');
    expect(guest.asked.filter((url) => url.includes('/share/stream/'))).toEqual([]);
    expect(guest.complaints).toEqual([]);
  });

  it.each([
    ['is incomplete', 'share-12', 'This link is incomplete'],
    ['is unknown', `share-${'0'.repeat(64)}`, 'This link shows nothing'],
  ])('say plainly that a link %s', async (_what, of, text) => {
    const { page, open } = await openGuest();
    await open(linkOf(of));
    await page.getByRole('alert').filter({ hasText: text }).waitFor();
    // Another link in the same tab changes the fragment only.
    const { token: own } = await share();
    await page.evaluate(`location.hash = '${own}'`);
    await isLive(page);
  });

  it('say that they have expired, while they are open and when they are opened later', async () => {
    const { token: own, shareID } = await share();
    const { page, open } = await openGuest();
    await open(linkOf(own));
    await isLive(page);
    const shift = (seconds: number): void => {
      const db = new Sqlite(join(demo.state, 'fleetward.db'));
      db.prepare('UPDATE shares SET expires_s = ? WHERE share_id = ?').run(
        Math.floor(Date.now() / 1000) + seconds,
        shareID,
      );
      db.close();
    };
    shift(4);
    await page.reload();
    await page.getByRole('alert').filter({ hasText: 'This link has expired' }).waitFor();
    await page.reload();
    await page.getByRole('alert').filter({ hasText: 'This link shows nothing' }).waitFor();
  });

  it('say that the page is not live when no sign of life comes, how old it is, and when it is live again', async () => {
    const { token: own } = await share();
    const { page, open } = await openGuest();
    const proxy = await openLinkProxy({
      host: '127.0.0.1',
      port: demo.ports[0],
      clock: createSystemClock(),
      entropy: { chance: () => false },
    });
    onTestFinished(() => proxy.close());
    await open(`http://127.0.0.1:${proxy.port}/console/share#${own}`);
    await isLive(page);
    // Bytes vanish both ways and the connection stays, as in a dead network.
    proxy.setFaults({ ...noLinkFaults, isSilent: true });
    await page.locator('[data-link=down]').waitFor();
    await page.getByText(/^What you see is \d+ seconds? old/).waitFor();
    expect(await page.locator('dl.facts').count()).toBe(1);
    proxy.setFaults(noLinkFaults);
    await isLive(page);
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('give their token the right to nothing else of the account', async () => {
    const { token: own } = await share();
    for (const path of [
      'device/getalldevices',
      'device/getdevice/van-01',
      'eventdata/devicedata/van-01',
      'share/shares',
      'events/stream',
      'map/list',
      'user/getallusers',
    ]) {
      const { error } = await demo.call(`${path}/authorization`, { token: own });
      expect([path, (error as { code?: string } | undefined)?.code]).toEqual([path, 'forbidden']);
    }
    const { page, open } = await openGuest();
    await open(linkOf(own));
    await isLive(page);
    const text = await page.locator('body').innerText();
    const { devices } = (await demo.call('device/getalldevices/authorization', { token })) as {
      devices: readonly Row[];
    };
    for (const { deviceID, deviceDisplayName } of devices)
      for (const name of [deviceID, deviceDisplayName]) expect(text).not.toContain(String(name));
    // The console itself asks for a login.
    await open(`${demo.base}/console/live`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('are nothing for viewers, who see why', async () => {
    const { page, open } = await openAs('vera');
    await open('/vehicle/van-01');
    await page.getByRole('link', { name: 'Show on the map' }).waitFor();
    await page.waitForTimeout(600);
    expect(await page.getByRole('link', { name: 'Share…' }).count()).toBe(0);
    await open('/vehicle/van-01?share=live');
    await page.getByRole('link', { name: 'Show on the map' }).waitFor();
    await page.waitForTimeout(600);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await open('/shares');
    await page.getByText('Operators and administrators share vehicles').waitFor();
  });

  it.each(['en-GB', 'de-DE', 'fr-FR', 'es-ES', 'ar-EG'])(
    'open a page in %s without a fault of accessibility, at 320 px too',
    async (locale) => {
      const { token: own } = await share();
      const { page, open, complaints } = await openGuest({ locale, width: 320 });
      await open(linkOf(own));
      await isLive(page);
      const language = locale.slice(0, 2);
      expect(
        await page.evaluate('[document.documentElement.lang, document.documentElement.dir].join()'),
      ).toBe(`${language},${language === 'ar' ? 'rtl' : 'ltr'}`);
      expect(await findFaultsInThemes(page)).toEqual([]);
      await page.evaluate("location.hash = 'share-1'");
      await page.getByRole('alert').waitFor();
      expect(await findFaultsInThemes(page)).toEqual([]);
      expect(complaints).toEqual([]);
    },
  );

  it('are used by keyboard alone on their page, the map included', async () => {
    const { token: own } = await share();
    const { page, open } = await openGuest({ hasMap: true });
    const user = createKeyboardUser(page);
    await open(linkOf(own));
    await page.waitForSelector('.map-host[data-is-drawn]');
    await user.goTo('Zoom in');
    await user.press('Enter');
    await user.goTo('Show the vehicle');
    await user.press('Enter');
    expect(await findFaultsInThemes(page)).toEqual([]);
  });

  it('have no fault of accessibility in the console, and no English sentence in another language', async () => {
    await share({ title: 'x' });
    const paths = ['/shares', '/shares?show=all', '/shares?vehicle=van-01', '/vehicle/van-01?share=live'];
    for (const width of [1180, 320])
      expect(await findFaultsOn(await openAs('olga', { width }), { paths })).toEqual([]);
    for (const language of ['de', 'ar'])
      expect(await findEnglishOn(await openAs('olga', { language }), { paths })).toEqual([]);
  });

  it('are reached by keys and by the palette', async () => {
    const { page, user, open } = await openAs('olga');
    await open('/live');
    await page.locator('a.vehicle').first().waitFor();
    await user.goTo('Live');
    await user.press('g', 'h');
    await page.getByRole('heading', { name: 'Shares', level: 1 }).waitFor();
  });
});
