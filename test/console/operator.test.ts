// The page of the operator in Chromium against the real broker: by keyboard, in five languages, three themes and two widths, with a broker
// that goes away and comes back, and with a page of another host that points its name at it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { chromium, type Page } from 'playwright-core';
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
  type BrokerSetup,
  createBrokerSetup,
  type Program,
  provision,
  runProgram,
  startBroker,
} from '../support/programs/fleet-processes.ts';

const why = whyNoConsole();
/** What a broker that is away or refuses writes into the log of the browser. */
const isRefusal = (complaint: string): boolean => /status of (400|401)|net::ERR/.test(complaint);

describe.skipIf(why !== null)(
  why === null ? 'the page of the operator' : `the page of the operator [${why}]`,
  () => {
    const setup: BrokerSetup = createBrokerSetup('operator-console');
    const at = (name: string): string => join(setup.folder, name);
    const browsers = createConsoleBrowsers();
    const pages: ConsolePage[] = [];
    let broker: Program;
    let port = 0;
    let base = '';
    let token = '';

    const openPage = async (of: { locale?: string; width?: number; from?: string } = {}) => {
      const { locale = 'en-GB', width = 1180, from = base } = of;
      const browser = await browsers.of(false);
      const context = await browser.newContext({ viewport: { width, height: 900 }, locale });
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      const complaints: string[] = [];
      const asked: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('request', (request) => asked.push(request.url()));
      pages.push({ page, context, complaints, open: async (to) => void (await page.goto(to)) });
      await page.goto(`${from}/`);
      await page.locator('#token').waitFor();
      return { page, context, complaints, asked };
    };
    const enter = async (page: Page): Promise<void> => {
      await page.locator('#token').fill(token);
      await page.keyboard.press('Enter');
      await page.locator('[data-link=current]').waitFor();
    };

    beforeAll(async () => {
      provision(setup, 'truck-17');
      const database = ['--database', at('fleet.db')];
      runProgram('broker', ['account', 'limit', 'demo', '--devices', '1', ...database]);
      runProgram('broker', ['backup', at('backup.db'), ...database]);
      runProgram('broker', ['admin-token', '--file', at('view.token')]);
      token = readFileSync(at('view.token'), 'utf8').trim();
      const db = new Sqlite(at('fleet.db'));
      const insert =
        db.prepare(`INSERT INTO quarantine (device_no, topic, received_ms, reason, bytes, payload)
      SELECT device_no, 'fleet/v1/demo/truck-17/events', ?, 'not JSON at byte ' || ?, 4, X'00010203' FROM devices`);
      for (let count = 0; count < 12; count++) insert.run(Date.now() - count * 1000, count);
      db.close();
      broker = await startBroker(setup, ['--admin-port', '0', '--admin-view-token-file', at('view.token')]);
      port = Number(broker.lines.find(({ msg }) => msg === 'broker_ready')?.['adminPort']);
      base = `http://127.0.0.1:${port}`;
    }, 120_000);

    afterEach(async () => {
      for (const { context } of pages.splice(0)) await context.close();
    });

    afterAll(async () => {
      await browsers.close();
      broker?.signal('SIGKILL');
      await broker?.ended();
    });

    it('is opened, read, refreshed and locked by keyboard alone', async () => {
      const { page, complaints } = await openPage();
      const user = createKeyboardUser(page);
      await expect.poll(user.focused).toBe('Token');
      await user.press('Enter');
      await page.getByRole('alert').filter({ hasText: 'Enter the token' }).waitFor();
      await user.type('service%7Coperator%7Cwrong');
      await user.press('Enter');
      await page.getByRole('alert').filter({ hasText: 'not a token of the operator' }).waitFor();
      await expect.poll(user.focused).toBe('Token');
      await user.type(token);
      await user.press('Enter');
      await page.locator('[data-link=current]').waitFor();
      await expect.poll(user.focused).toBe('Service');
      await user.goTo('Read now');
      const answered = page.waitForResponse(/admin\/status/);
      await user.press('Enter');
      expect((await answered).status()).toBe(200);
      await user.goTo('Lock');
      await user.press('Enter');
      await page.locator('#token').waitFor();
      expect(await page.locator('.card').count()).toBe(0);
      expect(complaints.filter((one) => !isRefusal(one))).toEqual([]);
    });

    it('shows what has passed a limit with its value, and the groups with their ages', async () => {
      const { page } = await openPage();
      await enter(page);
      const found = page.locator('[data-code=account_near_limit]');
      await found.getByText('Account demo is at its limit of devices').waitFor();
      expect(await found.innerText()).toContain('100% · limit 90%');
      await page.locator('[data-code=quarantine_grows]').getByText('12', { exact: true }).waitFor();
      expect(await page.title()).toBe('Look · Fleetward service');
      const quarantine = page.locator('#quarantine');
      // Reasons that differ in numbers only are one.
      expect(await quarantine.locator('tbody tr').count()).toBe(1);
      await quarantine.getByText('fleetward-broker quarantine list demo truck-17').waitFor();
      await page.locator('#backup').getByText('backup.db').waitFor();
      await page.locator('#backup').getByText('26 hours').waitFor();
      const titles = await page.locator('.card > header').allInnerTexts();
      expect(titles.length).toBeGreaterThan(7);
      for (const title of titles) expect(title).toMatch(/Read \d+ (second|minute)s? ago/);
    });

    it('keeps its token out of every address and every storage, and asks nothing but its one answer', async () => {
      const { page, context, asked } = await openPage();
      await enter(page);
      await page.waitForResponse(/admin\/status/);
      const paths = new Set(asked.filter((url) => url.includes('/api/')).map((url) => new URL(url).pathname));
      expect([...paths]).toEqual(['/api/v1/admin/status/authorization']);
      expect(asked.filter((url) => !url.startsWith(base))).toEqual([]);
      expect(asked.filter((url) => url.includes(token.slice(-64)))).toEqual([]);
      expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).toBe(
        '[{},{}]',
      );
      expect(await context.cookies()).toEqual([]);
      expect(await page.content()).not.toContain(token.slice(-64));
      expect(JSON.stringify(broker.lines)).not.toContain(token.slice(-64));
      await page.reload();
      await page.locator('#token').waitFor();
      expect(await page.locator('.card').count()).toBe(0);
    });

    it('says that it is not current, and how old its values are, while the broker does not answer, and is current again', async () => {
      const proxy = await openLinkProxy({
        host: '127.0.0.1',
        port,
        clock: createSystemClock(),
        entropy: { chance: () => false },
      });
      onTestFinished(() => proxy.close());
      const { page } = await openPage({ from: `http://127.0.0.1:${proxy.port}` });
      await enter(page);
      expect(await page.locator('[data-is-old=false]').count()).toBe(1);
      // Bytes vanish both ways and the connection stays, as in a dead network.
      proxy.setFaults({ ...noLinkFaults, isSilent: true });
      await page.locator('[data-link=old]').waitFor();
      await page.getByRole('alert').filter({ hasText: 'does not answer' }).waitFor();
      await page.getByText(/^All values below are at least .+ old$/).waitFor();
      expect(await page.locator('[data-is-old=true] .card').count()).toBeGreaterThan(5);
      expect(await page.locator('.page-head [data-level]').count()).toBe(0);
      expect(await page.title()).toBe('Not current · Fleetward service');
      expect(await findFaultsInThemes(page)).toEqual([]);
      proxy.setFaults(noLinkFaults);
      await page.locator('[data-link=current]').waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
      expect(await page.locator('[data-is-old=false]').count()).toBe(1);
    });

    it('is nothing to a page of another host that points its name at this listener', async () => {
      const browser = await chromium.launch({
        executablePath: '/usr/bin/chromium',
        args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP evil.example 127.0.0.1'],
        timeout: 60_000,
      });
      onTestFinished(() => browser.close());
      const page = await browser.newPage();
      const answer = await page.goto(`http://evil.example:${port}/console/`);
      expect(answer?.status()).toBe(400);
      expect(await page.content()).not.toContain('operator-');
      const asked = await page.evaluate(
        `fetch('/api/v1/admin/status/authorization', { headers: { authorization: ${JSON.stringify(token)} } }).then((a) => a.status, () => 0)`,
      );
      // The policy of the refusal does not even let it ask.
      expect([0, 400]).toContain(asked);
    });

    it.each([
      ['en-GB', 1180],
      ['en-GB', 320],
      ['de-DE', 320],
      ['fr-FR', 320],
      ['fr-FR', 760],
      ['de-DE', 1101],
      ['es-ES', 1180],
      ['ar-EG', 1180],
      ['ar-EG', 320],
    ])('has no fault of accessibility in %s at %i px, in any theme', async (locale, width) => {
      const { page, complaints } = await openPage({ locale, width });
      expect(await findFaultsInThemes(page)).toEqual([]);
      await enter(page);
      await page.locator('.finding').first().waitFor();
      const language = locale.slice(0, 2);
      expect(
        await page.evaluate('[document.documentElement.lang, document.documentElement.dir].join()'),
      ).toBe(`${language},${language === 'ar' ? 'rtl' : 'ltr'}`);
      expect(await findFaultsInThemes(page)).toEqual([]);
      expect(complaints).toEqual([]);
    });

    it('keeps the theme that was chosen, for the next night', async () => {
      const { page } = await openPage();
      await page.getByLabel('Theme').selectOption('night');
      expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('night');
      await page.reload();
      await page.locator('#token').waitFor();
      expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('night');
    });
  },
);
