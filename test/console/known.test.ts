// What is not known, in Chromium against the real broker and the real simulated fleet: without a connection, over one that is silent, while
// the first reading fails or lasts, no screen may look empty and calm.
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { noLinkFaults, openLinkProxy } from '../../simulator/run/link/link-proxy.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import {
  type ConsolePage,
  createConsoleBrowsers,
  findFaultsInThemes,
  openConsole,
  whyNoConsole,
} from '../support/http/console-page.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();
const panic = 63_553;
const hangMs = 60_000;

/** Every screen with a list. */
const lists = [
  '/alarms',
  '/alarms?show=closed',
  '/live',
  '/approvals',
  '/inbox',
  '/zones',
  '/routes',
  '/reports?kind=alarms',
  '/devices',
  '/releases',
  '/audit',
  '/rules',
  '/shares',
  '/people',
  '/drivers',
  '/vehicle/van-01',
  '/vehicle/van-01?tab=events',
  '/vehicle/van-01?tab=commands',
  '/vehicle/van-01?tab=messages',
] as const;

/** What lists say of nothing, in English: no screen may say so while it is not known. */
const calm =
  /No open alarms|No alarm in this state|No \w+ yet|No vehicle matches|Nothing waits|Nothing here yet|No link |No deliveries|No entries|No events in|No trips|Fewer than two|at once/;

describe.skipIf(why !== null)(why === null ? 'what is not known' : `what is not known [${why}]`, () => {
  let demo: DemoProgram;
  let token = '';
  const browsers = createConsoleBrowsers();
  const pages: ConsolePage[] = [];

  const open = async (of: Partial<Parameters<typeof openConsole>[1]> = {}): Promise<ConsolePage> => {
    const opened = await openConsole(browsers, {
      base: demo.base,
      session: { token, userID: 'admin' },
      ...of,
    });
    pages.push(opened);
    return opened;
  };
  const throughProxy = async () => {
    const proxy = await openLinkProxy({
      host: '127.0.0.1',
      port: demo.ports[0],
      clock: createSystemClock(),
      entropy: { chance: () => false },
    });
    onTestFinished(() => proxy.close());
    return proxy;
  };
  const closeAlarms = async (): Promise<void> => {
    const { alarms } = (await demo.call('alarm/alarms/authorization?limit=200', { token })) as {
      alarms: readonly { alarmID: string }[];
    };
    for (const { alarmID } of alarms)
      await demo.call('alarm/close/authorization', { token, body: { alarmID, reason: 'test' } });
  };

  beforeAll(async () => {
    demo = await startDemoProgram(2);
    token = await demo.login('admin', demo.password);
  }, 120_000);

  afterEach(async () => {
    for (const { context } of pages.splice(0)) await context.close();
  });

  afterAll(async () => {
    await browsers.close();
    await demo?.stop();
  });

  it('is said of the alarms as soon as the connection is lost, with its last state, and of nothing once it is back', async () => {
    const proxy = await throughProxy();
    const { page, open: go } = await open({ base: `http://127.0.0.1:${proxy.port}` });
    await closeAlarms();
    await go('/alarms');
    const main = page.locator('main');
    await main.getByText('No open alarms').waitFor();
    proxy.setFaults({ ...noLinkFaults, isOut: true });
    await main.getByText('Not known').first().waitFor({ timeout: hangMs });
    const text = await main.innerText();
    expect(text).toMatch(/No connection since \d/);
    expect(text).toMatch(/Last state, of \d.*: empty/);
    expect(text).not.toMatch(calm);
    expect(text).not.toMatch(/\b0 new\b/);
    // The notice of the shell above all screens is looked at there.
    expect((await findFaultsInThemes(page)).filter((fault) => !fault.includes('.notice'))).toEqual([]);
    // Raised meanwhile: what looked empty was not.
    await demo.call(`events/createactivation/van-01/${panic}/authorization`, { token });
    proxy.setFaults(noLinkFaults);
    await main.locator('table.queue tbody tr').first().waitFor({ timeout: hangMs });
    expect(await main.getByText('Not known').count()).toBe(0);
    await closeAlarms();
    await main.getByText('No open alarms').waitFor({ timeout: hangMs });
  });

  it.each(['refused', 'silent'] as const)(
    'looks on no screen like an empty list while every answer of the service is %s',
    async (how) => {
      const { page, open: go } = await open();
      await page.route('**/api/**', (route) =>
        how === 'refused' ? route.fulfill({ status: 503, json: {} }) : new Promise<void>(() => undefined),
      );
      for (const path of lists) {
        await go(path);
        await page.locator('main').waitFor();
        await page.waitForTimeout(1500);
        expect([path, await page.locator('body').innerText()]).toEqual([
          path,
          expect.not.stringMatching(calm),
        ]);
      }
    },
  );

  it('is what the alarms say while the list alone cannot be read, and that it is read again', async () => {
    const { page, open: go } = await open();
    await page.route('**/api/v1/alarm/alarms/**', (route) => route.fulfill({ status: 503, json: {} }));
    await closeAlarms();
    await go('/alarms');
    const main = page.locator('main');
    await main.getByText('It could not be read').waitFor({ timeout: hangMs });
    expect(await main.innerText()).not.toMatch(calm);
    await page.unroute('**/api/v1/alarm/alarms/**');
    await main.getByText('No open alarms').waitFor({ timeout: hangMs });
  });

  it('of zones and reports is said when the connection is lost under them', async () => {
    const proxy = await throughProxy();
    const { page, open: go } = await open({ base: `http://127.0.0.1:${proxy.port}` });
    for (const [path, empty] of [
      ['/routes', 'No routes yet'],
      ['/shares', 'No link is open'],
    ] as const) {
      proxy.setFaults(noLinkFaults);
      await go(path);
      await page.getByText(empty).waitFor({ timeout: hangMs });
      proxy.setFaults({ ...noLinkFaults, isOut: true });
      await page.getByText('Not known').first().waitFor({ timeout: hangMs });
      expect(await page.getByText(empty).count()).toBe(0);
    }
  });

  it('of a vehicle has its own mark, and the legend names all marks that the map draws', async () => {
    const { page, open: go } = await open({ hasMap: true, width: 1440 });
    await go('/live');
    const legend = page.locator('.legend');
    await legend.waitFor({ timeout: hangMs });
    const forms = await legend
      .locator('svg')
      .evaluateAll((marks) => marks.map((mark) => mark.dataset['form'] ?? mark.dataset['ring']));
    expect(forms).toEqual([
      'moving',
      'unheaded',
      'standing',
      'unknown',
      'offline',
      'doubtful',
      'act',
      'act-taken',
      'look',
    ]);
    expect(await legend.innerText()).toContain('Speed not known');
  });
});
