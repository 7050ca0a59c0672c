// A tab that stays open over a release of the service, in Chromium with the real broker: the new build has files of other names. The tab says so,
// goes on to show what the broker has, and what it can no longer load leads to a reload. A wallboard loads the new build by itself.
import { cpSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsolePage, whyNoConsole } from '../support/http/console-page.ts';
import { createUserPages } from '../support/http/user-pages.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { createBrokerProgram } from '../support/programs/broker-program.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';
import { connectOwnUnit, type OwnUnit } from '../support/programs/own-unit.ts';

const why = whyNoConsole();
/** Ends a hang. */
const hangMs = 120_000;
const panic = 63_553;

/** Copies the built console; with another name for every file that has a hash in its name, as a build of changed sources would. */
function copyBuild(folder: string, isChanged: boolean): void {
  cpSync(new URL('../../dist/broker/console', import.meta.url).pathname, folder, { recursive: true });
  if (!isChanged) return;
  const assets = join(folder, 'assets');
  const names = new Map(readdirSync(assets).map((name) => [name, name.replace(/(\.\w+)$/, 'x$1')] as const));
  const longestFirst = [...names].toSorted(([one], [other]) => other.length - one.length);
  const files = ['index.html', 'share.html', ...[...names.keys()].map((name) => join('assets', name))];
  for (const file of files) {
    if (!/\.(html|js|css)$/.test(file)) continue;
    const path = join(folder, file);
    const text = longestFirst.reduce(
      (all, [before, after]) => all.replaceAll(before, after),
      readFileSync(path, 'utf8'),
    );
    writeFileSync(path, text);
  }
  for (const [before, after] of names) renameSync(join(assets, before), join(assets, after));
}

describe.skipIf(why !== null)(
  why === null ? 'a tab that is open over a release' : `a tab that is open over a release [${why}]`,
  () => {
    const folder = temporaryFolder('console-release');
    const [before, after] = [join(folder, 'before'), join(folder, 'after')];
    const program = createBrokerProgram(folder);
    let demo: DemoProgram;
    let token = '';
    const { openAs, closePages, close } = createUserPages(() => demo);
    let unit: OwnUnit | null = null;

    const isReady = async (): Promise<boolean> => {
      const answer = await fetch(`${demo.base}/readyz`).catch(() => null);
      return answer?.ok === true;
    };
    /** The broker alone on what the demo has made. */
    const startBroker = async (console: string) => {
      const [http, mqtt] = demo.ports.map(String);
      const database = join(demo.state, 'fleetward.db');
      const launched = program.launch(
        ['start', '--database', database, '--console', console].concat([
          '--http-port',
          String(http),
          '--mqtt-port',
          String(mqtt),
        ]),
      );
      const deadlineMs = Date.now() + hangMs;
      while (!(await isReady())) {
        if (launched.child.exitCode !== null || Date.now() > deadlineMs)
          throw new Error(`The broker did not start:\n${launched.output.out}${launched.output.err}`);
        await new Promise((done) => setTimeout(done, 100));
      }
      return async (): Promise<void> => {
        launched.child.kill('SIGTERM');
        await launched.ended;
      };
    };
    const shows = ({ page }: ConsolePage, deviceID: string) =>
      page.locator('.queue').getByText(deviceID).first().waitFor({ timeout: hangMs });

    beforeAll(async () => {
      copyBuild(before, false);
      copyBuild(after, true);
      demo = await startDemoProgram(1);
      token = await demo.login('admin', demo.password);
      await demo.stop();
    });

    afterAll(async () => {
      unit?.end();
      await closePages();
      await close();
      program.killAll();
    });

    it('says that there is a new version, goes on to show what happens, and reloads for what is gone', async () => {
      const stopOld = await startBroker(before);
      unit = await connectOwnUnit(demo, token, 'own-1');
      const opened = await openAs('admin');
      const { page, open } = opened;
      await open('/alarms');
      await unit.report({ statusCode: panic });
      await shows(opened, 'own-1');
      expect(await page.getByText('There is a new version of the console').count()).toBe(0);
      const made = await demo.call('auth/token/authorization', {
        token,
        body: { description: 'television' },
      });
      const { page: board } = await openAs('admin');
      await board.goto(`${demo.base}/console/wallboard#${String(made['token'])}`);
      const boardIsLive = () => board.locator('.board[data-link=live]').waitFor({ timeout: hangMs });
      await boardIsLive();
      await board.evaluate('window.isTheOldPage = true');
      // The same build again: nothing is said.
      await stopOld();
      await page.locator('.stale-notice').waitFor({ timeout: hangMs });
      const stopSame = await startBroker(before);
      await page.locator('.stale-notice').waitFor({ state: 'detached', timeout: hangMs });
      await page.waitForTimeout(1000);
      expect(await page.getByText('There is a new version of the console').count()).toBe(0);
      await stopSame();
      const stopNew = await startBroker(after);
      await page.getByText('There is a new version of the console').waitFor({ timeout: hangMs });
      const other = await connectOwnUnit(demo, token, 'own-2');
      await other.report({ statusCode: panic });
      await shows(opened, 'own-2');
      other.end();
      await expect
        .poll(() => board.evaluate('window.isTheOldPage').catch(() => true), { timeout: hangMs })
        .toBe(undefined);
      await boardIsLive();
      await page.evaluate('window.isTheOldPage = true');
      await page.getByRole('link', { name: 'Zones' }).click();
      await page.getByRole('heading', { name: 'A part of the console could not be loaded' }).waitFor();
      expect(await page.evaluate('window.isTheOldPage')).toBe(true);
      // What is loaded is still there.
      await page.getByRole('link', { name: /^Alarms/ }).click();
      await shows(opened, 'own-2');
      await page.getByRole('link', { name: 'Zones' }).click();
      await page.locator('main').getByRole('button', { name: 'Load the page again' }).click();
      await page.getByText('No zones yet').waitFor();
      expect(await page.evaluate('window.isTheOldPage')).toBe(undefined);
      expect(await page.getByText('There is a new version of the console').count()).toBe(0);
      await stopNew();
    });
  },
);
