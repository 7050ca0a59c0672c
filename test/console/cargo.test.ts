// The cargo lock in Chromium, against the real broker and the real simulated fleet: an unlock is asked for as a cut is, with reason, proof and
// what the vehicle judges, a lock at one press; what the screen says is what the ledger has, and it speaks of no engine.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { cutWords } from '../../build/words/cut.ts';
import { findFaultsInThemes, sentencesOf, whyNoConsole } from '../support/http/console-page.ts';
import { createUserPages, memberPassword } from '../support/http/user-pages.ts';
import {
  type Answer,
  type DemoProgram,
  startDemoProgram,
  worldOf,
} from '../support/programs/demo-program.ts';

const why = whyNoConsole();
/** Ends a hang. */
const hangMs = 180_000;

type Row = Readonly<Record<string, unknown>>;

describe.skipIf(why !== null)(
  why === null ? 'the cargo in the console' : `the cargo in the console [${why}]`,
  () => {
    let demo: DemoProgram;
    const { openAs, closePages, close } = createUserPages(() => demo);
    let token = '';

    const post = (path: string, body: object): Promise<Answer> =>
      demo.call(`${path}/authorization`, { token, body });
    const act = (deviceID: string, action: string) => post('practice/act', { deviceID, action });
    const commandsOf = async (deviceID: string): Promise<readonly Row[]> =>
      (await demo.call(`command/list/${deviceID}/authorization`, { token }))['commands'] as readonly Row[];
    const ordersOf = async (deviceID: string, state: '0' | '1'): Promise<readonly Row[]> =>
      (await commandsOf(deviceID)).filter(
        (one) => one['feature'] === 'cargoaccess' && one['state'] === state,
      );
    const confirmButton = (page: Page) => page.locator('button.physical');
    const dialog = (page: Page, vehicle: string) =>
      page.getByRole('dialog', { name: `Unlock cargo · ${vehicle}`, exact: true });
    const choose = async (page: Page, reason: string) => {
      await page.getByRole('button', { name: /Reason/ }).click();
      await page.getByRole('option', { name: reason }).click();
    };
    /** No word of an engine, a cut or a restore. */
    const expectNoCut = async (page: Page) =>
      expect(await page.getByRole('dialog').innerText()).not.toMatch(/\bcuts?\b|engine|restor/i);

    beforeAll(async () => {
      demo = await startDemoProgram(5);
      token = await demo.login('admin', demo.password);
      for (const [userID, roleID] of [
        ['olga', 'operator'],
        ['vera', 'viewer'],
      ])
        await post('user/createuser', { userID, roleID, password: memberPassword });
    });

    afterEach(closePages);

    afterAll(async () => {
      await close();
      await demo?.stop();
    });

    it('is unlocked once the vehicle has proved that it stands, as the ledger has it, and is locked at one press', async () => {
      await act('van-01', 'stop');
      // A key that is turned just as the vehicle stops, beside a fix that comes late, counts once it was turned again.
      await expect
        .poll(async () => (await worldOf(demo, token, 'van-01'))?.['speedKmh'], { timeout: hangMs })
        .toBe(0);
      await act('van-01', 'ignitionOff');
      const { page, open, complaints } = await openAs('olga');
      await open('/vehicle/van-01');
      await page.getByRole('link', { name: 'Unlock cargo…' }).click();
      await dialog(page, 'van-01').waitFor();
      await page
        .getByRole('status')
        .filter({ hasText: /^(Yes: the vehicle would unlock now|No: )/ })
        .waitFor({ timeout: hangMs });
      const { requests } = await demo.call('diagnostic/requests/van-01/authorization', { token });
      expect((requests as readonly Row[])[0]).toMatchObject({ kind: 'interlock_cargo' });
      await confirmButton(page).click({ force: true });
      await page.waitForTimeout(300);
      expect(await ordersOf('van-01', '1')).toEqual([]);
      await expectNoCut(page);
      await choose(page, 'Delivery or pickup');
      await expect.poll(() => confirmButton(page).getAttribute('aria-disabled')).toBe('false');
      await confirmButton(page).click();
      await page.getByRole('heading', { name: 'Course' }).waitFor();
      // What it waits for stands in the failure.
      await expect
        .poll(() => ordersOf('van-01', '1'), { timeout: hangMs })
        .toMatchObject([{ commandState: 'confirmed' }]);
      await page.getByText(/^Cargo unlocked\. The lock was read back open at/).waitFor({ timeout: hangMs });
      const proof = page.getByRole('table', { name: /^Proof, as judged by the vehicle/ });
      expect(await proof.getByRole('row', { name: /^Proven Sensors agree/ }).count()).toBe(1);
      expect(await proof.locator('tr.no-value').count()).toBe(0);
      expect((await ordersOf('van-01', '1'))[0]).toMatchObject({
        commandState: 'confirmed',
        reason: 'delivery',
        issuer: 'olga',
      });
      await expectNoCut(page);
      await page.getByRole('dialog').getByRole('button', { name: 'Lock cargo', exact: true }).click();
      await page
        .getByRole('dialog')
        .getByText(/^Cargo of van-01 locked\. The lock was read back shut at/)
        .waitFor({ timeout: hangMs });
      expect((await ordersOf('van-01', '0'))[0]).toMatchObject({ commandState: 'confirmed', issuer: 'olga' });
      expect((await commandsOf('van-01')).filter(({ feature }) => feature === 'enginecutoff')).toEqual([]);
      // It can be read with the command later too; a lock needs no proof, and has none.
      const idOf = async (state: '0' | '1') => String((await ordersOf('van-01', state))[0]?.['commandID']);
      await open(`/vehicle/van-01?tab=commands&command=${await idOf('1')}`);
      await proof.waitFor();
      await open(`/vehicle/van-01?tab=commands&command=${await idOf('0')}`);
      await page.getByText('The vehicle has read its relay back in this state').waitFor();
      expect(await proof.count()).toBe(0);
      // On a phone it opens at its beginning: the button that has the focus is in sight by itself.
      await page.setViewportSize({ width: 360, height: 800 });
      await open(`/vehicle/van-01?unlock=command-${await idOf('1')}`);
      await proof.waitFor();
      expect(await page.locator('.modal').evaluate(({ scrollTop }) => scrollTop)).toBe(0);
      expect(complaints).toEqual([]);
    });

    it('waits while the vehicle drives, says why, and can be withdrawn', async () => {
      await act('van-02', 'drive');
      const { page, open } = await openAs('olga');
      await open('/vehicle/van-02?unlock=ask');
      await choose(page, 'Driver asked for it');
      await expect.poll(() => confirmButton(page).getAttribute('aria-disabled')).toBe('false');
      await confirmButton(page).click();
      await page.getByText(/^Waits: /).waitFor({ timeout: hangMs });
      await expectNoCut(page);
      const [waiting] = await ordersOf('van-02', '1');
      expect(waiting).toMatchObject({ commandState: 'armed' });
      await page.getByRole('button', { name: 'Withdraw' }).click();
      await page.getByText('Not unlocked. It was withdrawn').waitFor({ timeout: hangMs });
      expect((await ordersOf('van-02', '1'))[0]).toMatchObject({
        commandState: 'cancelled',
        commandID: waiting?.['commandID'],
      });
      // The order of one relay is no order of the other.
      await open(`/vehicle/van-02?cut=command-${String(waiting?.['commandID'])}`);
      await page.getByText('There is no such cut').waitFor();
    });

    it('asks for the password before an unlock where the account wants it, and never before a lock', async () => {
      await post('auth/updateaccount', { accountID: 'demo', password: demo.password, needsPassword: true });
      const { page, open } = await openAs('olga');
      await open('/vehicle/van-03?unlock=ask');
      await choose(page, 'Test');
      await page.getByText('Type your password first').waitFor();
      await page.getByText('Your account asks for it again before an unlock').waitFor();
      await page.getByLabel('Your password').fill('not the password');
      await confirmButton(page).click();
      await page.getByRole('alert').filter({ hasText: 'Not asked' }).waitFor();
      expect(await ordersOf('van-03', '1')).toEqual([]);
      await page.getByLabel('Your password').fill(memberPassword);
      await confirmButton(page).click();
      await page.getByRole('heading', { name: 'Course' }).waitFor();
      expect(await ordersOf('van-03', '1')).toHaveLength(1);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Lock cargo', exact: true }).click();
      await page.getByText(/Locking the cargo of van-03 was asked|Cargo of van-03 locked/).waitFor();
      expect(await ordersOf('van-03', '0')).toHaveLength(1);
      await post('auth/updateaccount', { accountID: 'demo', password: demo.password, needsPassword: false });
    });

    it('is reached by the palette, and the key of the restore never reaches the lock', async () => {
      const { page, open } = await openAs('olga');
      await open('/vehicle/van-04');
      await page.getByRole('button', { name: 'Lock cargo', exact: true }).waitFor();
      await page.keyboard.press('Shift+R');
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Restore engine');
      await page.keyboard.press('Control+k');
      await page.getByRole('menuitem', { name: 'Unlock cargo · van-04', exact: true }).click();
      await dialog(page, 'van-04').waitFor();
      await page.keyboard.press('Shift+R');
      expect(await page.evaluate('document.activeElement.textContent')).not.toMatch(/Lock|Restore/);
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+k');
      await page.getByRole('menuitem', { name: 'Lock cargo · van-04', exact: true }).click();
      await page.getByText(/Locking the cargo of van-04 was asked|Cargo of van-04 locked/).waitFor();
      expect(await ordersOf('van-04', '1')).toEqual([]);
      expect(await ordersOf('van-04', '0')).toHaveLength(1);
    });

    it('is not offered to a viewer', async () => {
      const { page, open } = await openAs('vera');
      await open('/vehicle/van-05?unlock=ask');
      await page.getByRole('heading', { name: 'van-05', level: 1 }).waitFor();
      await page.waitForTimeout(500);
      expect(await page.getByRole('dialog').count()).toBe(0);
      expect(await page.getByText(/(Unlock|Lock) cargo/).count()).toBe(0);
      await page.getByText('Cargo lock', { exact: true }).waitFor();
    });

    it.each([
      ['en', 1180],
      ['en', 320],
      ['ar', 1180],
      ['ar', 320],
    ] as const)('has no fault of accessibility in any theme in %s at %i px', async (language, width) => {
      const { page, open, complaints } = await openAs('olga', { language, width });
      for (const path of ['/vehicle/van-05', '/vehicle/van-05?unlock=ask']) {
        await open(path);
        await page
          .locator(path.includes('ask') ? '.evidence.rules' : 'main h1')
          .first()
          .waitFor();
        await page.waitForTimeout(800);
        expect([path, await findFaultsInThemes(page)]).toEqual([path, []]);
      }
      expect(complaints).toEqual([]);
    });

    it.each(['fr', 'de', 'es'])('speaks %s: no English sentence is left', async (language) => {
      const sentences = sentencesOf(await cutWords.en());
      const { page, open } = await openAs('olga', { language });
      await open('/vehicle/van-05?unlock=ask');
      await page.locator('.evidence.rules').first().waitFor();
      await page.waitForTimeout(1000);
      const shown = await page.locator('body').innerText();
      expect(sentences.filter((sentence) => shown.includes(sentence))).toEqual([]);
    });

    it('is not unlocked without a stream: the button names the reason, and the lock stays', async () => {
      const { page, open } = await openAs('olga');
      await open('/vehicle/van-05?unlock=ask');
      await choose(page, 'Test');
      await expect.poll(() => confirmButton(page).getAttribute('aria-disabled')).toBe('false');
      await demo.stop();
      await page.getByText('Unlocking is off: the console has no live evidence').first().waitFor();
      expect(await confirmButton(page).getAttribute('aria-disabled')).toBe('true');
      expect(
        await page.getByRole('dialog').getByRole('button', { name: 'Lock cargo', exact: true }).isEnabled(),
      ).toBe(true);
      await expectNoCut(page);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Unlock cargo…' }).waitFor();
      expect(await page.getByRole('button', { name: 'Lock cargo', exact: true }).isEnabled()).toBe(true);
      expect(await page.getByRole('button', { name: 'Restore engine' }).isEnabled()).toBe(true);
    });
  },
);
