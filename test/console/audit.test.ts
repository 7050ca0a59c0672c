// The audit log of the console in Chromium against the real broker: what is in it, who reads it, and a check of its chain that finds what
// another process did to the database file.
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findFaultsInThemes, whyNoConsole } from '../support/http/console-page.ts';
import {
  createUserPages,
  findEnglishOn,
  findFaultsOn,
  memberPassword as password,
  reachByKey,
} from '../support/http/user-pages.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();

describe.skipIf(why !== null)(
  why === null ? 'the audit log of the console' : `the audit log of the console [${why}]`,
  () => {
    let demo: DemoProgram;
    const { openAs, closePages, close } = createUserPages(() => demo);
    let token = '';

    const inFile = <T>(work: (db: Sqlite.Database) => T): T => {
      const db = new Sqlite(join(demo.state, 'fleetward.db'), { timeout: 20_000 });
      try {
        return work(db);
      } finally {
        db.close();
      }
    };
    const sealed = () =>
      waitUntil('every entry to be sealed', () =>
        inFile((db) => db.prepare('SELECT 1 FROM audit WHERE chain_no IS NULL').get() === undefined),
      );

    beforeAll(async () => {
      demo = await startDemoProgram(2);
      token = await demo.login('admin', demo.password);
      // The service lets a token call so often only.
      const post = (path: string, body: object) =>
        waitUntil(
          path,
          async () => (await demo.call(`${path}/authorization`, { token, body }))['error'] === undefined,
          { everyMs: 500 },
        );
      for (const [userID, roleID] of [
        ['olga', 'operator'],
        ['vera', 'viewer'],
      ] as const)
        await post('user/createuser', { userID, roleID, groups: ['all'], password });
      for (let index = 0; index < 150; index++)
        await post('group/updategroup', { groupID: `group-${index % 3}`, groupDescription: `turn ${index}` });
      await sealed();
    }, 300_000);

    afterEach(closePages);

    afterAll(async () => {
      await close();
      await demo?.stop();
    });

    it('is reached by keyboard, and says which entries were checked', async () => {
      const opened = await openAs('admin');
      const { page, user, complaints } = opened;
      await reachByKey(opened, { key: 'x', heading: 'Audit log' });
      await page.locator('[data-entry]').first().waitFor();
      await user.goTo('Check the chain');
      await user.press('Enter');
      const good = page.getByRole('status').filter({ hasText: /The chain holds: [\d,]+ entries checked/ });
      await good.waitFor();
      await user.expectFocus();
      const { count, hash } = inFile(
        (db) =>
          db
            .prepare(
              `SELECT chain_no AS count, hash FROM audit WHERE account_id = 'demo' AND chain_no IS NOT NULL
               ORDER BY chain_no DESC LIMIT 1`,
            )
            .get() as { count: number; hash: string },
      );
      expect(await good.innerText()).toContain(`${count} entries`);
      await page.getByText(hash, { exact: true }).waitFor();
      await page.getByText(/^entry 1, /).waitFor();
      await page.getByText('This browser now keeps the head').waitFor();
      await user.goTo('Check again');
      await user.press('Enter');
      await page.getByText(/^The chain also passes through entry/).waitFor();
      expect(complaints).toEqual([]);
    });

    it('shows what its address asks for, and keeps of all rows those in sight only', async () => {
      const { page, open } = await openAs('admin');
      await open('/audit?action=group&actor=admin');
      await page.getByText('100 entries shown').waitFor();
      expect(await page.locator('[data-entry]').count()).toBeLessThan(60);
      await page.getByRole('button', { name: 'Show older ones' }).click();
      await page.getByText('150 entries shown').waitFor();
      await page.getByLabel('Object').fill('group-1');
      await page.getByRole('button', { name: 'Show', exact: true }).click();
      await page.getByText('50 entries shown').waitFor();
      expect(new URL(page.url()).search).toBe('?actor=admin&action=group&object=group-1');
      await page.getByRole('textbox', { name: 'From' }).fill('2001-01-01');
      await page.getByRole('textbox', { name: 'To' }).fill('2001-01-02');
      await page.getByRole('button', { name: 'Show', exact: true }).click();
      await page.getByText('No entry matches').waitFor();
      await page.getByRole('button', { name: 'Show all entries' }).click();
      await page.locator('[data-entry]').first().waitFor();
      expect(new URL(page.url()).search).toBe('');
      await open('/audit?action=Group%3B&from=soon');
      await page.getByText('100 entries shown').waitFor();
    });

    it('is read by administrators only, and others are told so', async () => {
      for (const who of ['olga', 'vera']) {
        const { page, open } = await openAs(who);
        await open('/audit');
        await page.getByText('The audit log is read by administrators').waitFor();
        expect(await page.getByRole('button', { name: 'Check the chain' }).count()).toBe(0);
        expect(await page.getByRole('link', { name: 'Audit', exact: true }).count()).toBe(0);
        await page.keyboard.press('Control+k');
        await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).waitFor();
        expect(await page.getByRole('menuitem', { name: 'Go to the audit log' }).count()).toBe(0);
      }
    });

    it('is clean for axe in each theme and width, and whole in other languages', async () => {
      for (const width of [1180, 390]) {
        const opened = await openAs('admin', { width });
        expect(await findFaultsOn(opened, { paths: ['/audit', '/audit?actor=nobody'] })).toEqual([]);
      }
      for (const language of ['de', 'ar']) {
        const opened = await openAs('admin', { language });
        expect(await findEnglishOn(opened, { paths: ['/audit?action=group'] })).toEqual([]);
      }
    });

    // Last: what is done to the rows stays done.
    it('says where the chain breaks after another process has changed the file, and that entries were cut off', async () => {
      const { page, open } = await openAs('admin');
      await open('/audit');
      await page.getByRole('button', { name: 'Check the chain' }).click();
      await page.getByText(/^The chain holds/).waitFor();
      await sealed();
      const last = inFile((db) => {
        const { no } = db
          .prepare("SELECT MAX(chain_no) AS no FROM audit WHERE account_id = 'demo'")
          .get() as {
          no: number;
        };
        db.prepare("DELETE FROM audit WHERE account_id = 'demo' AND chain_no = ?").run(no);
        return no;
      });
      await page.getByRole('button', { name: 'Check again' }).click();
      const alert = page.getByRole('alert');
      await alert.filter({ hasText: `The chain breaks at entry ${last}` }).waitFor();
      await alert.filter({ hasText: 'The newest entries were removed' }).waitFor();
      inFile((db) =>
        db.prepare("UPDATE audit SET actor = 'olga' WHERE account_id = 'demo' AND chain_no = 20").run(),
      );
      await page.getByRole('button', { name: 'Check again' }).click();
      await alert.filter({ hasText: 'The chain breaks at entry 20' }).waitFor();
      await page.getByText('19 entries before it hold').waitFor();
      expect(await findFaultsInThemes(page)).toEqual([]);
      await page.getByRole('link', { name: 'Show entries around that time' }).click();
      await expect.poll(() => new URL(page.url()).search).toMatch(/from=\d+&to=\d+/);
    });
  },
);
