// A user who presses anything: whatever is clicked, twice and out of order, no cut comes about but by its own form.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { orderReasons } from '../../src/core/reports/order-reason.ts';
import {
  type ConsolePage,
  createConsoleBrowsers,
  openConsole,
  whyNoConsole,
} from '../support/http/console-page.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';
import { seededRandom } from '../support/serial/nmea-lines.ts';

const why = whyNoConsole();
/** Acts of each run; more on demand. */
const acts = Number(process.env['FLEETWARD_TEST_CLICKS'] ?? 250);
const seed = Number(process.env['FLEETWARD_TEST_SEED'] ?? Date.now() % 1_000_000);
const password = 'nine boats below the bridge';
const vehicles = ['van-01', 'van-02', 'van-03', 'van-04'];

interface Target {
  readonly x: number;
  readonly y: number;
  readonly name: string;
  readonly isConfirm: boolean;
}

/** What a pointer would reach, without what ends the session. */
const targetsOf = (page: Page): Promise<readonly Target[]> =>
  page.evaluate(`[...document.querySelectorAll(
    'button, a[href], input, textarea, summary, [role=option], [role=tab], [role=menuitem], [role=switch]'
  )].flatMap((one) => {
    const box = one.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const hit = document.elementFromPoint(x, y);
    const name = (one.textContent || one.getAttribute('aria-label') || one.tagName).trim().slice(0, 40);
    const isReached = hit !== null && (one.contains(hit) || hit.contains(one));
    return isReached && name !== 'Sign out' ? [{ x, y, name, isConfirm: one.matches('.physical') }] : [];
  })`);

/** The press of a key may send the form: what has the focus stands in it. */
const maySend = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>("document.activeElement?.closest('[role=dialog]') != null").catch(() => true);

interface Asked {
  readonly reason: unknown;
  /** The evidence stood on the screen when it was sent. */
  readonly hadEvidence: boolean;
}

/** Notes in the request itself what stands on the screen at that moment: the next click may close it before anybody looks. */
const noteEvidence = `(() => {
  const send = globalThis.fetch;
  globalThis.fetch = (url, init) => {
    if (!String(url).includes('/command/feature/')) return send(url, init);
    const headers = new Headers(init?.headers);
    headers.set('x-evidence', String(document.querySelector('[role=dialog] .evidence.rules') !== null));
    return send(url, { ...init, headers });
  };
})()`;

describe.skipIf(why !== null)(
  why === null ? `a random clicker (seed ${seed})` : `a random clicker [${why}]`,
  () => {
    const browsers = createConsoleBrowsers();
    const random = seededRandom(seed);
    const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
    let demo: DemoProgram;
    let token = '';
    let opened: ConsolePage | null = null;

    const post = (path: string, body: object) => demo.call(`${path}/authorization`, { token, body });
    const cuts = async (): Promise<readonly Record<string, unknown>[]> => {
      const all = await Promise.all(
        vehicles.map((deviceID) => demo.call(`command/list/${deviceID}/authorization?limit=100`, { token })),
      );
      return all
        .flatMap(({ commands }) => commands as readonly Record<string, unknown>[])
        .filter(({ state, feature }) => state === '1' && feature === 'enginecutoff');
    };

    /** Acts at random, and counts the presses that may send the form of a cut. */
    async function clickAround(page: Page): Promise<number> {
      let presses = 0;
      for (let act = 0; act < acts; act += 1) {
        if (act % 25 === 0)
          await opened?.open(
            oneOf([
              '/live',
              '/alarms',
              '/approvals',
              ...vehicles.flatMap((id) => [`/vehicle/${id}`, `/vehicle/${id}?cut=ask`]),
            ]),
          );
        const kind = random();
        if (kind < 0.2) {
          const key = oneOf(['Tab', 'Enter', 'Space', 'Escape', 'ArrowDown']);
          if (await maySend(page)) presses += 1;
          await page.keyboard.press(key);
        } else if (kind < 0.28) {
          if (await maySend(page)) presses += 1;
          await page.keyboard.type(oneOf(['x7', 'stolen ', '<b>']));
        } else {
          // A page that is just left has none.
          const targets = await targetsOf(page).catch(() => []);
          const confirm = targets.filter(({ isConfirm }) => isConfirm);
          const options = targets.filter(({ name }) => /Stolen|Misuse|reason/i.test(name));
          const drawn = random();
          const target = oneOf(
            drawn < 0.25 && confirm.length > 0
              ? confirm
              : drawn < 0.5 && options.length > 0
                ? options
                : targets,
          );
          if (target === undefined) continue;
          if (target.isConfirm) presses += 1;
          await page.mouse.click(target.x, target.y, { clickCount: random() < 0.4 ? 2 : 1 });
        }
      }
      return presses;
    }

    async function clickAs(userID: string): Promise<{ presses: number; asked: readonly Asked[] }> {
      opened = await openConsole(browsers, {
        base: demo.base,
        session: { token: await demo.login(userID, password), userID },
      });
      const { page } = opened;
      const asked: Asked[] = [];
      await page.addInitScript(noteEvidence);
      await page.route('**/api/v1/command/feature/authorization', async (route) => {
        const body = route.request().postDataJSON() as Record<string, unknown>;
        if (body['state'] === '1')
          asked.push({
            reason: body['reason'],
            hadEvidence: route.request().headers()['x-evidence'] === 'true',
          });
        await route.continue();
      });
      return { presses: await clickAround(page), asked };
    }

    beforeAll(async () => {
      demo = await startDemoProgram(vehicles.length);
      token = await demo.login('admin', demo.password);
      await post('user/createuser', { userID: 'olga', roleID: 'operator', password });
    });

    afterEach(async () => {
      await opened?.context.close();
      opened = null;
    });

    afterAll(async () => {
      await browsers.close();
      await demo?.stop();
    });

    it('makes no cut where the password is asked for', async () => {
      await post('auth/updateaccount', { accountID: 'demo', password: demo.password, needsPassword: true });
      await clickAs('olga');
      expect(await cuts()).toEqual([]);
    });

    it('makes no cut but with a reason, the evidence on the screen, and a press on its button for each', async () => {
      await post('auth/updateaccount', { accountID: 'demo', password: demo.password, needsPassword: false });
      const { presses, asked } = await clickAs('olga');
      const made = await cuts();
      expect(made.length).toBeLessThanOrEqual(presses);
      expect(made.length).toBeLessThanOrEqual(asked.length);
      for (const { reason, hadEvidence } of asked) {
        expect(orderReasons.enginecutoff.some((code) => String(reason).startsWith(code))).toBe(true);
        expect(hadEvidence).toBe(true);
      }
    });
  },
);
