// The cut and the approvals in Chromium, against the real broker and the real simulated fleet: nothing is asked for without reason, proof and
// confirmation, and what the screen says is what the ledger has.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type ConsolePage,
  createConsoleBrowsers,
  findFaultsInThemes,
  openConsole,
  sentencesOf,
  watchPage,
  whyNoConsole,
} from '../support/http/console-page.ts';
import {
  type Answer,
  type DemoProgram,
  settleUsers,
  startDemoProgram,
  worldOf,
} from '../support/programs/demo-program.ts';

const why = whyNoConsole();

const userPassword = 'nine boats below the bridge';

describe.skipIf(why !== null)(
  why === null ? 'the cut in the console' : `the cut in the console [${why}]`,
  () => {
    let demo: DemoProgram;
    const browsers = createConsoleBrowsers();
    let token = '';
    const pages: ConsolePage[] = [];

    type Options = Partial<Parameters<typeof openConsole>[1]>;
    const openAs = async (userID: string, of: Options = {}): Promise<ConsolePage> => {
      const own = await demo.login(userID, userID === 'admin' ? demo.password : userPassword);
      const opened = await openConsole(browsers, { base: demo.base, session: { token: own, userID }, ...of });
      pages.push(opened);
      return opened;
    };
    const post = (path: string, body: object): Promise<Answer> =>
      demo.call(`${path}/authorization`, { token, body });
    const account = (change: object) =>
      post('auth/updateaccount', { accountID: 'demo', password: demo.password, ...change });

    beforeAll(async () => {
      demo = await startDemoProgram(9);
      token = await demo.login('admin', demo.password);
      for (const [userID, roleID] of [
        ['olga', 'operator'],
        ['otto', 'operator'],
        // Asks where the others may have used up what one user may ask for in a minute.
        ['oda', 'operator'],
        ['nina', 'operator'],
        ['vera', 'viewer'],
      ])
        await post('user/createuser', { userID, roleID, password: userPassword });
      settleUsers(demo, 'nina');
    });

    afterEach(async () => {
      for (const { context } of pages.splice(0)) await context.close();
      // The next test begins with nothing under way and the plain rules.
      for (const at of [1, 2, 3, 4, 5, 6, 7, 8])
        await post('command/feature', { deviceID: `van-0${at}`, feature: 'enginecutoff', state: '0' }).catch(
          () => undefined,
        );
    });

    afterAll(async () => {
      await browsers.close();
      await demo?.stop();
    });

    type Row = Readonly<Record<string, unknown>>;
    const cutsOf = async (deviceID: string): Promise<readonly Row[]> => {
      const { commands } = await demo.call(`command/list/${deviceID}/authorization`, { token });
      return (commands as readonly Row[]).filter(
        ({ state, feature }) => state === '1' && feature === 'enginecutoff',
      );
    };
    const requestsOf = async (deviceID: string): Promise<readonly Row[]> => {
      const { approvals } = await demo.call('command/approvals/authorization?state=all', { token });
      return (approvals as readonly Row[]).filter((one) => one['deviceID'] === deviceID);
    };
    const confirmButton = (page: Page) => page.locator('button.physical');
    const choose = async (page: Page, reason: string) => {
      await page.getByRole('button', { name: /Reason/ }).click();
      await page.getByRole('option', { name: reason }).click();
    };
    const ask = async (page: Page, vehicle: string) => {
      await page.getByRole('dialog', { name: `Cut engine · ${vehicle}` }).waitFor();
      await choose(page, 'Stolen');
      await expect.poll(() => confirmButton(page).getAttribute('aria-disabled')).toBe('false');
      await confirmButton(page).click();
    };

    // First: an account that has asked for a second person keeps asking for one.
    it('says what stands of a cut after its restore, in the open dialog and by its link', async () => {
      const act = (action: string) => post('practice/act', { deviceID: 'van-07', action });
      await act('stop');
      const speed = async () => (await worldOf(demo, token, 'van-07'))?.['speedKmh'];
      await expect.poll(speed, { timeout: 120_000 }).toBe(0);
      await act('ignitionOff');
      const asked = await post('command/feature', {
        deviceID: 'van-07',
        feature: 'enginecutoff',
        state: '1',
        reason: 'test',
      });
      const stateOf = async (): Promise<unknown> => (await cutsOf('van-07'))[0]?.['commandState'];
      await expect.poll(stateOf, { timeout: 120_000 }).toBe('confirmed');
      const { page, open: go } = await openAs('olga');
      const link = `/vehicle/van-07?cut=command-${String(asked['commandID'])}`;
      await go(link);
      const dialog = page.getByRole('dialog');
      await dialog.getByText('The engine cannot be started until it is restored').waitFor();
      await post('command/feature', { deviceID: 'van-07', feature: 'enginecutoff', state: '0' });
      for (const _opened of ['open', 'by its link']) {
        await dialog.getByText(/Restored by admin at/).waitFor({ timeout: 120_000 });
        const said = await dialog.innerText();
        expect(said).toContain('It is restored');
        for (const old of ['cannot be started', 'Confirmed']) expect(said).not.toContain(old);
        await go(link);
      }
      // The steps of all clocks stand in their order.
      const times = dialog.locator('.steps time');
      await expect.poll(() => times.count(), { timeout: 60_000 }).toBeGreaterThan(3);
      const shown = await times.evaluateAll((all) => all.map((one) => one.getAttribute('datetime')));
      expect(shown).toEqual(shown.toSorted((one, other) => String(one).localeCompare(String(other))));
    });

    it('shows the state and the reasons of the ledger while it waits, and the withdrawal as the vehicle answers it', async () => {
      const { page, open: go } = await openAs('olga');
      await go('/vehicle/van-03?cut=ask');
      await ask(page, 'van-03');
      const words: Readonly<Record<string, string>> = {
        sent: 'Sent',
        received: 'Received',
        armed: 'Armed, waits',
        executing: 'Executing',
        confirmed: 'Confirmed',
        cancelled: 'Withdrawn',
      };
      const isTrue = async (): Promise<boolean> => {
        const state = String((await cutsOf('van-03'))[0]?.['commandState']);
        return (
          (await page.getByRole('dialog').locator('header .badge').first().textContent()) === words[state]
        );
      };
      await expect.poll(isTrue).toBe(true);
      const withdraw = page.getByRole('button', { name: 'Withdraw' });
      if ((await withdraw.count()) === 0) return;
      await withdraw.click();
      await expect
        .poll(async () => (await cutsOf('van-03'))[0]?.['commandState'])
        .toMatch(/^(cancelled|confirmed)$/);
      await expect.poll(isTrue).toBe(true);
    });

    it('answers whether the vehicle would cut now, and moves nothing', async () => {
      const { page, open: go } = await openAs('olga');
      await go('/vehicle/van-04?cut=ask');
      const answer = page.getByRole('status').filter({ hasText: /^(Yes|No): / });
      await answer.waitFor();
      const { requests } = await demo.call('diagnostic/requests/van-04/authorization', { token });
      const { requestID } = (requests as readonly Row[])[0] ?? {};
      const { verdict } = await demo.call(`diagnostic/request/${String(requestID)}/authorization`, { token });
      const { code, rules } = verdict as { code: string; rules: readonly Row[] };
      expect((await answer.textContent())?.startsWith('Yes')).toBe(code === 'allowed');
      const unmet = page.locator('table.rules tr.no-value .value');
      expect(await unmet.count()).toBe(rules.filter(({ isMet }) => isMet === false).length);
      expect(await cutsOf('van-04')).toEqual([]);
    });

    it('asks for the password where the account wants it, says when it is wrong, and keeps it nowhere', async () => {
      await account({ needsPassword: true });
      const { page, open: go } = await openAs('olga');
      await go('/vehicle/van-05?cut=ask');
      await page.getByRole('dialog').waitFor();
      await choose(page, 'Stolen');
      await page.getByText('Type your password first').waitFor();
      const field = page.getByLabel('Your password');
      await field.fill('not the password');
      await confirmButton(page).click();
      await page.getByRole('alert').filter({ hasText: 'Not asked' }).waitFor();
      expect(await cutsOf('van-05')).toEqual([]);
      await field.fill(userPassword);
      await confirmButton(page).click();
      await page.getByRole('heading', { name: 'Course' }).waitFor();
      expect(await cutsOf('van-05')).toHaveLength(1);
      expect(await page.evaluate('JSON.stringify({ ...sessionStorage, ...localStorage })')).not.toContain(
        userPassword,
      );
      await account({ needsPassword: false });
    });

    it('waits for a second person, who sees it, refuses with a reason or approves; the asker cannot', async () => {
      await account({ needsApproval: true });
      const [asker, second] = [await openAs('olga'), await openAs('otto')];
      await second.open('/approvals');
      await second.page.getByText('Nothing waits for you').waitFor();
      await asker.open('/vehicle/van-09?cut=ask');
      await ask(asker.page, 'van-09');
      await asker.page.getByText('Not sent to the vehicle yet').waitFor();
      await asker.page.getByText('You asked, so you cannot approve').waitFor();
      const approve = second.page.getByRole('button', { name: 'Approve cut of van-09' });
      await approve.waitFor();
      const refuse = second.page.getByRole('button', { name: 'Refuse' });
      await refuse.click({ force: true });
      await second.page.waitForTimeout(300);
      expect((await requestsOf('van-09'))[0]).toMatchObject({ approvalState: 'pending' });
      await second.page.getByLabel('Reason, needed when you refuse').fill('wrong vehicle');
      await refuse.click();
      await asker.page.getByText('Not cut. otto refused; nothing was sent').waitFor();
      await asker.page.getByText('wrong vehicle').waitFor();
      expect((await requestsOf('van-09'))[0]).toMatchObject({
        approvalState: 'refused',
        decidedBy: 'otto',
        decidedReason: 'wrong vehicle',
      });
      expect(await cutsOf('van-09')).toEqual([]);
      await asker.open('/vehicle/van-09?cut=ask');
      await ask(asker.page, 'van-09');
      await approve.click();
      await second.page.getByRole('dialog', { name: 'Cut engine · van-09' }).waitFor();
      await asker.page.getByText('Approved by otto').waitFor();
      expect((await cutsOf('van-09'))[0]).toMatchObject({ issuer: 'olga', approver: 'otto' });
      expect(second.complaints).toEqual([]);
    });

    it('says to users who may not approve why, and offers them nothing', async () => {
      await account({ needsApproval: true });
      const asker = await openAs('olga');
      await asker.open('/vehicle/van-07?cut=ask');
      await ask(asker.page, 'van-07');
      for (const [userID, text] of [
        ['olga', 'Another operator or administrator who sees this vehicle must approve it'],
        ['nina', 'You may not approve: your role or password was changed'],
        ['vera', 'Viewers do not approve'],
      ] as const) {
        const { page, open: go } = await openAs(userID);
        await go('/approvals');
        await page.getByText(text).first().waitFor();
        expect([userID, await page.getByRole('button', { name: /^(Approve|Refuse)/ }).count()]).toEqual([
          userID,
          0,
        ]);
      }
      const { page, open: go } = await openAs('nina');
      await go('/vehicle/van-08?cut=ask');
      await page.getByText('You cannot ask for a cut yet').first().waitFor();
      await choose(page, 'Stolen');
      await confirmButton(page).click({ force: true });
      await page.waitForTimeout(300);
      expect(await requestsOf('van-08')).toEqual([]);
    });

    it('does not open the form for a viewer', async () => {
      const { page, open: go } = await openAs('vera');
      await go('/vehicle/van-01?cut=ask');
      await page.getByRole('heading', { name: 'van-01', level: 1 }).waitFor();
      await page.waitForTimeout(500);
      expect(await page.getByRole('dialog').count()).toBe(0);
      expect(await page.getByRole('link', { name: /Cut engine/ }).count()).toBe(0);
    });

    it('is opened by the palette, and a restore is asked for there at once', async () => {
      const { page, open: go } = await openAs('olga');
      await go('/vehicle/van-01');
      await page.getByRole('heading', { name: 'van-01', level: 1 }).waitFor();
      await page.keyboard.press('Control+k');
      await page.getByRole('menuitem', { name: /Restore engine · van-01/ }).click();
      await page.getByText(/Restore of van-01 asked|van-01 restored/).waitFor();
      await page.keyboard.press('Shift+R');
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Restore engine');
    });

    it.each([
      ['en', 1180],
      ['en', 320],
      ['ar', 1180],
      ['ar', 320],
    ] as const)('has no fault of accessibility in any theme in %s at %i px', async (language, width) => {
      await account({ needsApproval: true });
      const asker = await openAs('oda');
      await asker.open('/vehicle/van-02?cut=ask');
      await ask(asker.page, 'van-02');
      await asker.page.getByText('Not sent to the vehicle yet').waitFor();
      const { approvalID } = (await requestsOf('van-02'))[0] ?? {};
      const { page, complaints, open: go } = await openAs('otto', { language, width });
      for (const path of [
        '/vehicle/van-01?cut=ask',
        `/vehicle/van-02?cut=request-${String(approvalID)}`,
        '/approvals',
      ]) {
        await go(path);
        await page.locator('.evidence.rules').first().waitFor();
        // Its colours change with its state, over 120 ms.
        if (path === '/approvals')
          await expect.poll(() => confirmButton(page).getAttribute('aria-disabled')).toBe('false');
        await page.waitForTimeout(800);
        expect([path, await findFaultsInThemes(page)]).toEqual([path, []]);
      }
      expect(complaints).toEqual([]);
    });

    it.each(['fr', 'de', 'es'])(
      'speaks %s: no English sentence of the catalogue is left',
      async (language) => {
        const { cutWords } = await import('../../build/words/cut.ts');
        const sentences = sentencesOf(await cutWords.en());
        const { page, open: go } = await openAs('olga', { language });
        for (const path of ['/vehicle/van-01?cut=ask', '/approvals']) {
          await go(path);
          await page.locator('main').first().waitFor({ state: 'attached' });
          await page.waitForTimeout(1500);
          const shown = await page.locator('body').innerText();
          expect(sentences.filter((sentence) => shown.includes(sentence))).toEqual([]);
        }
      },
    );

    it('is not offered once the stream is down: the button names the reason, and restore stays', async () => {
      await account({ needsApproval: false });
      const { page, open: go } = await openAs('olga');
      await go('/vehicle/van-08?cut=ask');
      await page.getByRole('dialog').waitFor();
      await choose(page, 'Stolen');
      await expect.poll(() => confirmButton(page).getAttribute('aria-disabled')).toBe('false');
      const said = 'Cutting is off: the console has no live evidence';
      const tookMs = await watchPage(page, `document.body.innerText.includes('${said}')`);
      await demo.stop();
      expect(await tookMs(Date.now())).toBeLessThan(3000);
      expect(await confirmButton(page).getAttribute('aria-disabled')).toBe('true');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Cut engine…' }).waitFor();
      expect(await page.getByRole('button', { name: 'Restore engine' }).isEnabled()).toBe(true);
    });
  },
);
