// The wallboard in Chromium against the real broker and the simulated fleet: which tokens it takes, what it shows, and that it says how old that is
// and goes on by itself, whatever happens to the broker.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { noLinkFaults, openLinkProxy } from '../../simulator/run/link/link-proxy.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import {
  type ConsolePage,
  createConsoleBrowsers,
  findFaultsInThemes,
  openConsole,
  sentencesOf,
  whyNoConsole,
} from '../support/http/console-page.ts';
import { allWords } from '../support/http/console-words.ts';
import { createKeyboardUser } from '../support/http/keyboard-user.ts';
import { memberPassword as password } from '../support/http/user-pages.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();
const panic = 63_553;
const hangMs = 60_000;

/** What the browser itself writes when the broker is away or refuses, which is what is tested. */
const isOfNetwork = (complaint: string): boolean => /net::ERR|status of (401|503)/.test(complaint);

describe.skipIf(why !== null)(why === null ? 'the wallboard' : `the wallboard [${why}]`, () => {
  let demo: DemoProgram;
  let token = '';
  let screens = '';
  const browsers = createConsoleBrowsers();
  const opened: ConsolePage['context'][] = [];

  const post = (path: string, body: object, as = token) =>
    demo.call(`${path}/authorization`, { token: as, body });
  const tokenOf = async (as: string, body: object = {}): Promise<string> =>
    String((await post('auth/token', { description: 'television', ...body }, as))['token']);
  const openAlarms = async () =>
    (await demo.call('alarm/alarms/authorization?limit=200', { token }))['alarms'] as readonly {
      readonly alarmID: string;
      readonly alarmState: string;
    }[];

  /** A browser that has never been here. @param hash what stands behind `#` in the address. */
  const open = async (
    hash: string,
    of: {
      width?: number;
      height?: number;
      language?: string;
      hasMap?: boolean;
      session?: object;
      base?: string;
    } = {},
  ) => {
    const { width = 1920, height = 1080, language = 'en', hasMap = false, session, base = demo.base } = of;
    const browser = await browsers.of(hasMap);
    const context = await browser.newContext({ viewport: { width, height }, locale: 'en-IE' });
    opened.push(context);
    await context.addInitScript(`localStorage.setItem('fleetward.language', '${language}')`);
    if (session !== undefined)
      await context.addInitScript(
        `sessionStorage.setItem('fleetward.session', '${JSON.stringify(session)}')`,
      );
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const complaints: string[] = [];
    const asked: string[] = [];
    page.on('console', (message) => {
      if (hasMap || !message.text().includes('WebGL')) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => asked.push(`${request.method()} ${request.url()}`));
    await page.goto(`${base}/console/wallboard${hash === '' ? '' : `#${hash}`}`);
    return { page, context, complaints, asked };
  };
  const isLive = (page: Page) => page.locator('.board[data-link=live]').waitFor();

  beforeAll(async () => {
    demo = await startDemoProgram(3);
    token = await demo.login('admin', demo.password);
    await post('user/createuser', { userID: 'screens', roleID: 'viewer', groups: ['all'], password });
    screens = await tokenOf(await demo.login('screens', password));
  }, 120_000);

  afterEach(async () => {
    for (const context of opened.splice(0)) await context.close();
  });

  afterAll(async () => {
    await browsers.close();
    await demo?.stop();
  });

  it('is opened from the palette, and from where tokens are made, in a tab of its own', async () => {
    const { page, context } = await openConsole(browsers, {
      base: demo.base,
      session: { token, userID: 'admin' },
    });
    opened.push(context);
    await page.goto(`${demo.base}/console/people?list=own`);
    const link = page.getByRole('link', { name: 'Open the wallboard' });
    const byLink = context.waitForEvent('page');
    await link.click();
    await (await byLink).getByRole('heading', { name: 'Set up this wallboard' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('wallboard');
    await page.getByRole('menuitem', { name: 'Open the wallboard' }).waitFor();
    const byKey = context.waitForEvent('page');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await (await byKey).getByRole('heading', { name: 'Set up this wallboard' }).waitFor();
  });

  it('is set up by keyboard with a token that may read and nothing else; it says what is wrong with any other', async () => {
    const { page, complaints } = await open('');
    const user = createKeyboardUser(page);
    await page.getByRole('heading', { name: 'Set up this wallboard' }).waitFor();
    expect(await findFaultsInThemes(page)).toEqual([]);
    const field = page.getByLabel('API token');
    const offer = async (text: string): Promise<void> => {
      await field.fill(text);
      await field.focus();
      await user.press('Enter');
    };
    await offer('acme');
    await page.getByText('This is no whole API token').waitFor();
    await offer(await demo.login('screens', password));
    await page.getByText('This is the session of a person').waitFor();
    await offer(await tokenOf(token, { scopes: ['read', 'command'] }));
    await page.getByText('This token may do more than read').waitFor();
    await offer(`demo%7Cscreens%7C${'0'.repeat(64)}`);
    await page.getByText('The service does not accept this token').waitFor();
    expect(await page.evaluate(`localStorage.getItem('fleetward.wallboard')`)).toBeNull();
    await offer(screens);
    await isLive(page);
    expect(await page.evaluate(`localStorage.getItem('fleetward.wallboard')`)).toBe(screens);
    // Each start goes on with it.
    await page.reload();
    await isLive(page);
    await user.goTo('Set up this screen');
    await user.press('Enter');
    await user.goTo('Take the token off this browser');
    await user.press('Enter');
    await page.getByRole('heading', { name: 'Set up this wallboard' }).waitFor();
    expect(await page.evaluate(`localStorage.getItem('fleetward.wallboard')`)).toBeNull();
    expect(complaints.filter((one) => !isOfNetwork(one))).toEqual([]);
  });

  it('takes the token out of the address, and asks for nothing but reads', async () => {
    const { page, complaints, asked } = await open(screens, { hasMap: true });
    await isLive(page);
    await page.waitForSelector('.map-host[data-is-drawn]');
    expect(page.url()).toBe(`${demo.base}/console/wallboard`);
    expect(asked.filter((one) => one.split('#')[0]?.includes(screens.slice(-64)))).toEqual([]);
    expect(asked.filter((one) => !one.startsWith('GET '))).toEqual([]);
    expect(
      asked.filter((one) => !one.startsWith(`GET ${demo.base}/`) && !/^GET (data|blob):/.test(one)),
    ).toEqual([]);
    // Nothing of the shell and of no other screen is loaded, beside what the first load of the console holds.
    const parts =
      'cut|restore|live-?screen|session-form|vehicle|palette|menus|more-menu|keys-dialog|toasts|practice-mark';
    const others = new RegExp(`/(${parts})-[\\w-]{8}\\.js`);
    expect(asked.filter((one) => others.test(one))).toEqual([]);
    const buttons = await page.getByRole('button').allInnerTexts();
    expect(buttons).toEqual(['Set up this screen']);
    expect(complaints).toEqual([]);
  });

  it('shows vehicles by state, alarms with their owner and age, and orders that wait', async () => {
    const { page } = await open(screens);
    await isLive(page);
    const counts = async (): Promise<number> =>
      (await page.locator('.board-states dd').allInnerTexts()).reduce((sum, text) => sum + Number(text), 0);
    await expect.poll(counts, { timeout: 60_000 }).toBe(3);
    for (const code of [panic + 1, panic])
      await demo.call(`events/createactivation/van-01/${code}/authorization`, { token });
    const row = page.locator('.board-row.act').filter({ hasText: 'Panic · van-01' });
    await row.getByText(/^New · /).waitFor();
    const alarm = (await openAlarms()).find(({ alarmState }) => alarmState === 'new');
    await post('alarm/take', { alarmID: alarm?.alarmID });
    await page
      .locator('.board-row[data-alarm=taken]')
      .getByText(/^Taken by admin · /)
      .waitFor();
    await page.getByText('No order waits').waitFor();
    // Its unit has never called: the cut waits for it.
    await post('device/createdevice', { deviceID: 'spare-09' });
    const sent = await post('command/feature', { deviceID: 'spare-09', feature: 'enginecutoff', state: '1' });
    expect(sent['error']).toBeUndefined();
    await page.locator('.board-row.order').getByText('Cut the engine · spare-09').waitFor();
    await page.getByText('1 order waits').waitFor();
    expect(await findFaultsInThemes(page)).toEqual([]);
  });

  it('does not take the session of the person whose tab it is opened in, and leaves it', async () => {
    const session = { token, accountID: 'demo', userID: 'admin' };
    const { page, asked } = await open('', { session });
    await page.getByRole('heading', { name: 'Set up this wallboard' }).waitFor();
    expect(asked.filter((one) => one.includes('/api/'))).toEqual([]);
    await page.evaluate(`location.hash = ''`);
    await page.getByLabel('API token').fill(`demo%7Cscreens%7C${'0'.repeat(64)}`);
    await page.keyboard.press('Enter');
    await page.getByText('The service does not accept this token').waitFor();
    expect(await page.evaluate(`JSON.parse(sessionStorage.getItem('fleetward.session')).userID`)).toBe(
      'admin',
    );
  });

  it('shows the devices of its token only, when that names groups or devices', async () => {
    const narrow = await tokenOf(await demo.login('screens', password), { devices: ['van-02'] });
    const { page, complaints } = await open(narrow, { hasMap: true });
    await isLive(page);
    await expect
      .poll(
        async () =>
          (await page.locator('.board-states dd').allInnerTexts()).reduce(
            (sum, text) => sum + Number(text),
            0,
          ),
        { timeout: 60_000 },
      )
      .toBe(1);
    expect(await page.locator('body').innerText()).not.toContain('van-01');
    expect(complaints).toEqual([]);
  });

  it('goes on by itself after a broker that was killed and is back, and says since when it shows nothing new', async () => {
    const { page, complaints } = await open(screens);
    await isLive(page);
    await demo.kill();
    await page.getByText(/^No connection since \d\d:\d\d:\d\d \(/).waitFor();
    const notice = page.getByRole('alert').filter({ hasText: 'What you see is as of' });
    await notice.waitFor();
    expect(await findFaultsInThemes(page)).toEqual([]);
    demo = await startDemoProgram(3, demo);
    await isLive(page);
    expect(await page.locator('.board-notice').count()).toBe(0);
    expect(complaints.filter((one) => !isOfNetwork(one))).toEqual([]);
  });

  it('says that the service is away on a screen that is started meanwhile, and goes on by itself once it answers', async () => {
    const { page, complaints } = await open(screens);
    await isLive(page);
    await page.evaluate('navigator.serviceWorker.ready.then(() => undefined)');
    await demo.kill();
    await page.reload();
    await page.getByRole('heading', { name: 'The service does not answer' }).waitFor();
    await page.getByText('It is tried again by itself').waitFor();
    demo = await startDemoProgram(3, demo);
    await isLive(page);
    expect(complaints.filter((one) => !isOfNetwork(one))).toEqual([]);
  });

  it('hides the fleet when its token is ended, says since when, and goes on with another', async () => {
    const person = await demo.login('screens', password);
    const ended = await post('auth/token', { description: 'old television' }, person);
    const { page } = await open(String(ended['token']));
    await isLive(page);
    await post('auth/revoketoken', { tokenID: ended['tokenID'] }, person);
    await page.getByText(/^This screen has had no access since/).waitFor();
    expect(await page.locator('.board-states').count()).toBe(0);
    expect(await page.locator('body').innerText()).not.toContain('van-');
    expect(await findFaultsInThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Set up this screen' }).click();
    await page.getByLabel('API token').fill(screens);
    await page.keyboard.press('Enter');
    await isLive(page);
  });

  it('asks for the screen to stay on, again each time that it is shown', async () => {
    const { context } = await open('');
    await context.addInitScript(`
      globalThis.locks = [];
      Object.defineProperty(navigator, 'wakeLock', { value: { request: async (kind) => {
        const lock = new EventTarget();
        globalThis.locks.push(lock);
        if (kind !== 'screen') throw new Error(kind);
        return lock;
      } } });
    `);
    const page = await context.newPage();
    await page.goto(`${demo.base}/console/wallboard#${screens}`);
    await isLive(page);
    const asked = () => page.evaluate('globalThis.locks.length');
    await expect.poll(asked).toBe(1);
    await page.evaluate(`globalThis.locks[0].dispatchEvent(new Event('release'))`);
    await expect.poll(asked).toBe(2);
    expect(await page.getByText('This browser may switch the screen off').count()).toBe(0);
    await page.evaluate(`navigator.wakeLock.request = async () => { throw new Error('no'); };
      globalThis.locks[1].dispatchEvent(new Event('release'))`);
    await page.getByText('This browser may switch the screen off').waitFor();
  });

  it('keeps its lists bounded, and no listeners and elements of what is gone', async () => {
    const proxy = await openLinkProxy({
      host: '127.0.0.1',
      port: demo.ports[0],
      clock: createSystemClock(),
      entropy: { chance: () => false },
    });
    onTestFinished(() => proxy.close());
    const { page, context } = await open(screens, { base: `http://127.0.0.1:${proxy.port}` });
    await isLive(page);
    const devtools = await context.newCDPSession(page);
    await devtools.send('Performance.enable');
    const held = async () => {
      await devtools.send('HeapProfiler.collectGarbage');
      const { metrics } = await devtools.send('Performance.getMetrics');
      const of = (name: string): number => metrics.find((one) => one.name === name)?.value ?? 0;
      return { listeners: of('JSEventListeners'), nodes: of('Nodes') };
    };
    const again = async (times: number): Promise<void> => {
      for (let at = 0; at < times; at += 1) {
        // Each way round is a lost connection, and alarms that come and go.
        proxy.setFaults({ ...noLinkFaults, isOut: true });
        await page.locator('.board[data-link=down]').waitFor();
        proxy.setFaults(noLinkFaults);
        await isLive(page);
        for (const code of [panic + 1, panic])
          await demo.call(`events/createactivation/van-03/${code}/authorization`, { token });
        await page.locator('.board-row').filter({ hasText: 'van-03' }).first().waitFor();
        for (const { alarmID } of await openAlarms()) await post('alarm/close', { alarmID, reason: 'test' });
        await page.locator('.board-row').filter({ hasText: 'van-03' }).first().waitFor({ state: 'detached' });
      }
    };
    await again(2);
    const before = await held();
    await again(6);
    // What is gone is collected soon, and on a busy machine not at once.
    const grown = async (of: 'listeners' | 'nodes') => (await held())[of] - before[of];
    await expect.poll(() => grown('listeners'), { timeout: hangMs }).toBeLessThan(12);
    await expect.poll(() => grown('nodes'), { timeout: hangMs }).toBeLessThan(60);
  });

  it.each([
    ['en', 320],
    ['de', 320],
    ['fr', 1920],
    ['es', 1920],
    ['ar', 320],
  ])('has no fault of accessibility and no foreign sentence in %s at %i px', async (language, width) => {
    const { page } = await open(screens, { language, width, height: width === 320 ? 640 : 1080 });
    await isLive(page);
    expect(await page.evaluate('document.documentElement.lang')).toBe(language);
    expect(await findFaultsInThemes(page)).toEqual([]);
    if (language === 'en') return;
    const text = await page.locator('body').innerText();
    const english = sentencesOf(await allWords('en')).filter((one) => !one.includes('GeoNames'));
    expect(english.filter((one) => text.includes(one))).toEqual([]);
    await page.locator('.board-foot button').click();
    await page.locator('.set-up').waitFor();
    expect(await findFaultsInThemes(page)).toEqual([]);
  });
});
