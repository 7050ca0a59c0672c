// Units, clock and zone of a user in Chromium against the real broker, and a vehicle whose name is long: it is cut in rows and pushes nothing out.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { whyNoConsole } from '../support/http/console-page.ts';
import { createUserPages, memberPassword as password } from '../support/http/user-pages.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();
const longName = `${'Doppelstockauflieger-'.repeat(4)}Nord`;

describe.skipIf(why !== null)(
  why === null ? 'units and long names in the console' : `units and long names in the console [${why}]`,
  () => {
    let demo: DemoProgram;
    const { openAs, closePages, close } = createUserPages(() => demo);
    let token = '';
    const post = (path: string, body: object) => demo.call(`${path}/authorization`, { token, body });

    beforeAll(async () => {
      demo = await startDemoProgram(2);
      token = await demo.login('admin', demo.password);
      await post('user/createuser', { userID: 'vera', roleID: 'viewer', password });
      await post('device/settings', { deviceID: 'van-02', deviceDisplayName: longName });
      await post('auth/updateaccount', { accountID: 'demo', timeZone: 'Asia/Kathmandu' });
    });

    afterEach(closePages);

    afterAll(async () => {
      await close();
      await demo?.stop();
    });

    it('shows miles, 12 hours and the zone of the account once they are saved, and says which zone it is', async () => {
      const { page, open, complaints } = await openAs('vera');
      await open('/account');
      const own = page.getByRole('region', { name: 'Your preferences' });
      for (const [label, option] of [
        ['Distances', 'Miles, feet, US gallons'],
        ['Clock', '12 hours, with AM and PM'],
        ['Times', 'In the zone of the account (Asia/Kathmandu)'],
      ] as const) {
        await own.getByRole('button', { name: new RegExp(label) }).click();
        await page.getByRole('option', { name: option }).click();
      }
      await own.getByRole('button', { name: 'Save your preferences' }).click();
      await own.getByText('Saved, and applied here').waitFor();
      await page.getByText('Times are in the zone of the account: Asia/Kathmandu').waitFor();
      await open('/vehicle/van-02');
      await page
        .getByText(/^\d+(\.\d)?\smph$/)
        .first()
        .waitFor();
      const whole = await page.locator('time[title]').first().getAttribute('title');
      expect(whole).toMatch(/[AP]M GMT\+5:45$/);
      expect(complaints).toEqual([]);
    });

    it('has the whole name of a vehicle in its title, and scrolls to no side', async () => {
      const { page, open } = await openAs('vera');
      for (const [width, height] of [
        [390, 844],
        [1280, 720],
        [1440, 900],
      ] as const) {
        await page.setViewportSize({ width, height });
        for (const path of ['/live?vehicle=van-02', '/vehicle/van-02', '/alarms', '/approvals', '/reports']) {
          await open(path);
          await page.locator('#main').waitFor();
          const beside = await page.evaluate(
            `Math.max(...[document.documentElement, ...document.querySelectorAll('.content, .panel')].map((one) => one.scrollWidth - one.clientWidth))`,
          );
          expect([width, path, beside]).toEqual([width, path, 0]);
        }
        await open('/live');
        await page.getByTitle(longName).first().waitFor();
      }
    });
  },
);
