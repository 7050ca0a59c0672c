// The console shows no state of a cut that the ledger has not: over random lives of commands, while broker and agents are killed.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cutTexts } from '../../build/words/cut/en.ts';
import { createConsoleBrowsers, openConsole, whyNoConsole } from '../support/http/console-page.ts';
import { type DemoProgram, settleUsers, startDemoProgram } from '../support/programs/demo-program.ts';
import { seededRandom } from '../support/serial/nmea-lines.ts';

const why = whyNoConsole();
/** Lives of commands; more on demand. */
const lives = Number(process.env['FLEETWARD_TEST_LIVES'] ?? 8);
const seed = Number(process.env['FLEETWARD_TEST_SEED'] ?? Date.now() % 1_000_000);
const password = 'nine boats below the bridge';
/** One user may ask for 10 cuts in a minute. */
const users = ['ann', 'ben', 'cid', 'dan'];
const vehicles = 4;

/** How far a command is; what ended has no successor. An unknown outcome may still be told by the vehicle. */
const ranks: Readonly<Record<string, number>> = {
  requested: 0,
  sent: 1,
  received: 2,
  armed: 3,
  executing: 4,
  unknown: 4,
};
const rankOf = (state: string): number => ranks[state] ?? 5;
const stateOfText: ReadonlyMap<string, string> = new Map([
  ...Object.entries(cutTexts.order.states).map(([state, text]) => [text, state] as const),
  // A cut that was carried out, and restored since.
  [cutTexts.orders.enginecutoff.after.badge, 'confirmed'],
]);

/** The state that the dialog of the cut shows; null while it shows none. */
async function shownState(page: Page): Promise<string | null> {
  const badge = page.locator('[role=dialog] h2 ~ .badge, [role=dialog] header .badge').first();
  const text = await badge.textContent({ timeout: 1000 }).catch(() => null);
  return text === null ? null : (stateOfText.get(text.trim()) ?? null);
}

describe.skipIf(why !== null)(
  why === null
    ? `the state that the console shows (seed ${seed})`
    : `the state that the console shows [${why}]`,
  () => {
    const browsers = createConsoleBrowsers();
    const random = seededRandom(seed);
    let demo: DemoProgram;
    let token = '';
    const tokens: string[] = [];

    beforeAll(async () => {
      demo = await startDemoProgram(vehicles);
      token = await demo.login('admin', demo.password);
      for (const userID of users)
        await demo.call('user/createuser/authorization', {
          token,
          body: { userID, roleID: 'operator', password },
        });
      settleUsers(demo);
      for (const userID of users) tokens.push(await demo.login(userID, password));
    });

    afterAll(async () => {
      await browsers.close();
      await demo?.stop();
    });

    const ledgerState = async (commandID: string): Promise<string> => {
      const answer = await demo.call(`command/get/${commandID}/authorization`, { token });
      if (answer['error'] !== undefined) throw new Error(JSON.stringify(answer['error']));
      return String(answer['commandState']);
    };

    it('is never ahead of the ledger, and follows it', async () => {
      const { page, open: go } = await openConsole(browsers, {
        base: demo.base,
        session: { token, userID: 'admin' },
      });
      const seen = new Set<string>();
      const early: (readonly [string, string, string])[] = [];
      for (let life = 0; life < lives; life += 1) {
        const deviceID = `van-0${1 + Math.floor(random() * vehicles)}`;
        const order = (state: '0' | '1') =>
          demo.call('command/feature/authorization', {
            token: tokens[life % tokens.length] ?? token,
            body: { deviceID, feature: 'enginecutoff', state, reason: 'test' },
          });
        const { commandID, error } = await order('1');
        if (error !== undefined) throw new Error(JSON.stringify(error));
        await go(`/vehicle/${deviceID}?cut=command-${String(commandID)}`);
        const compare = async (): Promise<void> => {
          await sleep(100);
          const shown = await shownState(page);
          if (shown === null) return;
          seen.add(shown);
          const actual = await ledgerState(String(commandID));
          const isBehind = rankOf(shown) < rankOf(actual) || (rankOf(shown) === 4 && rankOf(actual) === 4);
          if (shown !== actual && !isBehind) early.push([String(commandID), shown, actual]);
        };
        const untilMs = Date.now() + 500 + random() * 4000;
        while (Date.now() < untilMs) await compare();
        // What was shown last stays while nobody answers, and what happened meanwhile is shown afterwards.
        if (life % 5 === 2) {
          await demo.kill();
          const before = await shownState(page);
          await sleep(1000);
          expect(await shownState(page)).toBe(before);
          demo = await startDemoProgram(vehicles, demo);
        }
        const end = random();
        if (end < 0.5) await order('0');
        else if (end < 0.8)
          await demo.call('command/cancel/authorization', { token, body: { commandID: String(commandID) } });
        const laterMs = Date.now() + 2000;
        while (Date.now() < laterMs) await compare();
        await expect
          .poll(async () => [await shownState(page), await ledgerState(String(commandID))])
          .toSatisfy((both) => (both as readonly string[])[0] === (both as readonly string[])[1]);
        await order('0');
      }
      expect(early).toEqual([]);
      expect(seen.size).toBeGreaterThan(1);
    });
  },
);
