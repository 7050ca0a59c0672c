// Pictures of every screen, for looking at them beside the design: `npm run pictures`. Nothing here judges.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConsoleBrowsers, openConsole } from '../support/http/console-page.ts';
import { chromiumNeeds } from '../support/machine/browser.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import {
  type Answer,
  type DemoProgram,
  settleUsers,
  startDemoProgram,
} from '../support/programs/demo-program.ts';

const folder = process.env['FLEETWARD_TEST_PICTURES'] ?? '';
const why = folder === '' ? 'on demand: npm run pictures' : chromiumNeeds().missing;
/** Those that README shows, at most 150 kB each. */
const shown = new URL('../../broker/console/pictures/', import.meta.url).pathname;
const shownBytesMost = 150_000;
const readmePictures = new Set([
  'live',
  'alarms',
  'vehicle-trips',
  'cut-waiting',
  'approvals',
  'vehicle-now',
  'practice',
]);

const looks = [
  ['light', 1440, 'en'],
  ['dark', 1440, 'en'],
  ['night', 1440, 'en'],
  ['light', 360, 'en'],
  ['dark', 360, 'en'],
  ['light', 1440, 'ar'],
] as const;

/** Drives, so that its cut waits. */
const driving = 'van-01';
/** Its cut waits for a second person. */
const waiting = 'van-07';
/** Long enough for a way that can be seen. */
const wayMs = 120_000;

describe.skipIf(why !== null)(why === null ? 'pictures' : `pictures [${why}]`, () => {
  const browsers = createConsoleBrowsers();
  let demo: DemoProgram;
  let token = '';
  let approvalID = '';
  let commandID = '';
  let alarmID = '';

  const orThrow = (answer: Answer): Answer => {
    if (answer['error'] !== undefined) throw new Error(JSON.stringify(answer['error']));
    return answer;
  };
  const post = (path: string, body: object) => demo.call(`${path}/authorization`, { token, body });
  const act = async (deviceID: string, action: string) =>
    orThrow(await post('practice/act', { deviceID, action }));
  const askCut = (deviceID: string, own = token) =>
    demo.call('command/feature/authorization', {
      token: own,
      body: {
        deviceID,
        feature: 'enginecutoff',
        state: '1',
        reason: 'stolen: police report 22-1187',
        password: demo.password,
      },
    });

  beforeAll(async () => {
    mkdirSync(folder, { recursive: true });
    mkdirSync(shown, { recursive: true });
    demo = await startDemoProgram(8);
    token = await demo.login('admin', demo.password);
    orThrow(
      await post('geozone/creategeozone', {
        geozoneID: 'market',
        geozoneDisplayName: 'Market Square, 06:00 to 22:00',
        geozoneType: 0,
        geozoneRadius: 450,
        geozonePoint1: '44.42000,-78.98000',
      }),
    );
    await post('user/createuser', { userID: 'olga', roleID: 'operator', password: demo.password });
    settleUsers(demo);
    for (const deviceID of [driving, waiting]) await act(deviceID, 'drive');
    await new Promise((done) => setTimeout(done, wayMs));
    await act(driving, 'drive');
    commandID = String(orThrow(await askCut(driving))['commandID']);
    await post('auth/updateaccount', { accountID: 'demo', password: demo.password, needsApproval: true });
    const olga = await demo.login('olga', demo.password);
    approvalID = String(orThrow(await askCut(waiting, olga))['approvalID']);
    for (const [deviceID, action] of [
      ['van-02', 'panic'],
      ['van-04', 'panic'],
      ['van-03', 'openCargoDoor'],
    ] as const)
      await act(deviceID, action);
    const open = await waitUntil(
      'three alarms',
      async () => {
        const { alarms } = await demo.call('alarm/alarms/authorization', { token });
        const all = alarms as readonly { readonly alarmID: string; readonly deviceID: string }[];
        return all.length >= 3 && all;
      },
      { everyMs: 1000 },
    );
    alarmID = open.find(({ deviceID }) => deviceID === 'van-04')?.alarmID ?? '';
    orThrow(await demo.call('alarm/take/authorization', { token: olga, body: { alarmID } }));
  }, 600_000);

  afterAll(async () => {
    await browsers.close();
    await demo?.stop();
  });

  /** Every page that the navigation names, and more states of some. */
  const screensOf = async (page: Page): Promise<Readonly<Record<string, string>>> => ({
    ...Object.fromEntries(
      (
        await page
          .locator('nav.rail a')
          .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''))
      ).map((path) => [path.slice('/console/'.length), path.slice('/console'.length)]),
    ),
    alarms: `/alarms?alarm=${alarmID}`,
    login: '/login',
    live: `/live?vehicle=${driving}`,
    'vehicle-now': `/vehicle/${driving}`,
    'vehicle-events': '/vehicle/van-02?tab=events&kind=all&range=hour',
    'vehicle-trips': `/vehicle/${driving}?tab=trips&range=hour`,
    'vehicle-commands': `/vehicle/${driving}?tab=commands&command=${commandID}`,
    'vehicle-health': `/vehicle/${driving}?tab=health`,
    'vehicle-messages': `/vehicle/${driving}?tab=messages`,
    'vehicle-audit': `/vehicle/${driving}?tab=audit`,
    'cut-ask': '/vehicle/van-01?cut=ask',
    'cut-waiting': `/vehicle/${driving}?cut=command-${commandID}`,
    'cut-approval': `/vehicle/${waiting}?cut=request-${approvalID}`,
    device: '/devices/van-02',
    account: '/account',
    wallboard: '/wallboard',
    practice: `/practice?vehicle=${driving}`,
  });

  async function take(page: Page, file: string, name: string | null): Promise<void> {
    await page.screenshot({ path: join(folder, file) });
    if (name === null || !readmePictures.has(name)) return;
    const bytes = await page.screenshot({ type: 'jpeg', quality: 68 });
    expect([name, bytes.length < shownBytesMost]).toEqual([name, true]);
    writeFileSync(join(shown, `${name}.jpg`), bytes);
  }

  it.each(looks)('of every screen in %s at %i px in %s', async (theme, width, language) => {
    const session = { token, userID: 'admin' };
    const opened = await openConsole(browsers, {
      base: demo.base,
      theme,
      width,
      language,
      hasMap: true,
      session,
    });
    const { page } = opened;
    const isShown = theme === 'light' && width > 1000 && language === 'en';
    await opened.open('/live');
    await page.locator('nav.rail a').first().waitFor();
    for (const [name, path] of Object.entries(await screensOf(page))) {
      // Its cut goes on waiting.
      await act(driving, 'drive');
      await opened.open(path);
      // The map, the answers of the service and the plots are drawn after the page.
      await page.waitForTimeout(3000);
      if ((await page.locator('.map-host').count()) > 0) {
        await page.locator('.map-host[data-is-drawn]').first().waitFor();
        await page.waitForTimeout(3000);
      }
      if (name === 'vehicle-trips') {
        await page.locator('main a[href*="tab=trips"][href*="from="]').first().click();
        await page.waitForTimeout(3000);
      }
      await take(page, `${name}-${theme}-${width}-${language}.png`, isShown ? name : null);
    }
    await opened.context.close();
  });
});
