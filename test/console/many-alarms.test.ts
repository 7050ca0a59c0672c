// Many alarms at once in Chromium against the real broker: taken, assigned and closed, each with its own result. What the screen says was
// done is compared with what the service then has.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { whyNoConsole } from '../support/http/console-page.ts';
import {
  createUserPages,
  findEnglishOn,
  findFaultsOn,
  memberPassword as password,
} from '../support/http/user-pages.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();

interface Alarm {
  readonly alarmID: string;
  readonly deviceID: string;
  readonly statusCode: number;
  readonly alarmState: string;
  readonly owner: string;
  readonly closeReason: string;
}

const panic = 63_553;
/** After it a panic is another event, and not the same one once more. */
const panicEnd = 63_554;
const fleet = ['van-01', 'van-02', 'van-03'] as const;

describe.skipIf(why !== null)(
  why === null ? 'many alarms of the console' : `many alarms of the console [${why}]`,
  () => {
    let demo: DemoProgram;
    const { openAs, closePages, close } = createUserPages(() => demo);
    let token = '';
    let olga = '';

    const post = (path: string, body: object, as = token) =>
      demo.call(`${path}/authorization`, { token: as, body });
    const alarmsOf = async (state: string): Promise<readonly Alarm[]> => {
      const { alarms } = await demo.call(`alarm/alarms/authorization?state=${state}&limit=200`, { token });
      return (alarms as readonly Alarm[]).filter(
        ({ statusCode, deviceID }) => statusCode === panic && fleet.some((id) => id === deviceID),
      );
    };
    const newOf = async (deviceID: string): Promise<Alarm> => {
      const found = (await alarmsOf('new')).find((alarm) => alarm.deviceID === deviceID);
      if (found === undefined) throw new Error(`${deviceID} has no new alarm`);
      return found;
    };
    const box = (page: Page, deviceID: string) =>
      page.getByRole('checkbox', { name: `Pick Panic of ${deviceID}` });
    const pickAll = async (page: Page): Promise<void> => {
      for (const deviceID of fleet) {
        await box(page, deviceID).waitFor({ state: 'attached' });
        await page.locator('label', { has: box(page, deviceID) }).click();
      }
    };

    beforeAll(async () => {
      demo = await startDemoProgram(3);
      token = await demo.login('admin', demo.password);
      for (const [userID, roleID] of [
        ['olga', 'operator'],
        ['vera', 'viewer'],
      ] as const)
        await post('user/createuser', { userID, roleID, password });
      olga = await demo.login('olga', password);
    });

    // Each test begins with three new ones.
    beforeEach(async () => {
      if ((await alarmsOf('new')).length === 3) return;
      for (const { alarmID } of [...(await alarmsOf('new')), ...(await alarmsOf('taken'))])
        await post('alarm/close', { alarmID, reason: 'test' });
      for (const deviceID of fleet)
        for (const code of [panicEnd, panic])
          await demo.call(`events/createactivation/${deviceID}/${code}/authorization`, { token });
      await expect.poll(async () => (await alarmsOf('new')).length, { timeout: 60_000 }).toBe(3);
    });

    afterEach(closePages);

    afterAll(async () => {
      await close();
      await demo?.stop();
    });

    it('are picked and taken by keyboard; which are picked stands in the address', async () => {
      const { page, user, complaints, open } = await openAs('admin');
      await open('/alarms?show=new');
      for (const deviceID of fleet) {
        await box(page, deviceID).waitFor({ state: 'attached' });
        await user.goTo(`Pick Panic of ${deviceID}`);
        await user.press('Space');
        await user.press('Home');
      }
      await page.getByText('3 of at most 100 picked').waitFor();
      await page.reload();
      await page.getByText('3 of at most 100 picked').waitFor();
      await user.goTo('Take 3 alarms');
      await user.press('Enter');
      await page.getByText('3 alarms taken').waitFor();
      await user.expectFocus();
      expect((await alarmsOf('taken')).map(({ owner }) => owner)).toEqual(['admin', 'admin', 'admin']);
      expect(new URL(page.url()).search).toBe('?show=new');
      expect(complaints).toEqual([]);
    });

    it('have each its own result: what another user took meanwhile stays picked, with the reason', async () => {
      const { page, open } = await openAs('admin');
      await open('/alarms');
      await pickAll(page);
      const { alarmID } = await newOf('van-02');
      await page.route('**/takealarms/**', async (route) => {
        await post('alarm/take', { alarmID }, olga);
        await route.continue();
      });
      await page.getByRole('button', { name: 'Take 3 alarms' }).click();
      await page.getByText('2 alarms taken').waitFor();
      const result = page.getByRole('region', { name: 'Results' });
      await result.getByRole('alert').filter({ hasText: '1 alarm not changed' }).waitFor();
      await result.getByRole('listitem').filter({ hasText: 'van-02' }).filter({ hasText: 'olga' }).waitFor();
      await page.getByText('1 of at most 100 picked').waitFor();
      expect(new URL(page.url()).searchParams.get('pick')).toContain(alarmID);
      await result.getByRole('button', { name: 'Close the results' }).click();
      await result.waitFor({ state: 'detached' });
    });

    it('are closed with one reason, after a dialog that names them', async () => {
      const { page, open } = await openAs('admin');
      await open('/alarms');
      await pickAll(page);
      await page.getByRole('button', { name: 'Close 3 alarms…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Close 3 alarms' });
      for (const deviceID of fleet) await dialog.getByText(deviceID).waitFor();
      const act = dialog.getByRole('button', { name: 'Close 3 alarms' });
      expect(await act.getAttribute('aria-disabled')).toBe('true');
      await dialog.getByText('Another reason').click();
      await dialog.getByText('Say what the reason is').waitFor();
      expect(await act.getAttribute('aria-disabled')).toBe('true');
      await dialog.getByRole('textbox', { name: 'What came of it' }).fill('drill of the night shift');
      await act.click();
      await page.getByText('3 alarms closed').waitFor();
      expect(await alarmsOf('new')).toEqual([]);
      const closed = (await alarmsOf('closed')).filter(({ closeReason }) => closeReason === 'other');
      expect(closed.length).toBe(3);
    });

    it('are assigned to a user who then has them, and to none whom the service refuses', async () => {
      const { page, open } = await openAs('admin');
      await open('/alarms');
      await pickAll(page);
      await page.getByRole('button', { name: 'Assign 3 alarms…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Assign 3 alarms' });
      await dialog.getByRole('button', { name: /User/ }).click();
      expect(await page.getByRole('option').allTextContents()).toEqual(['admin', 'olga']);
      await page.getByRole('option', { name: 'olga' }).click();
      await dialog.getByRole('button', { name: 'Assign 3 alarms to olga' }).click();
      await page.getByText('3 alarms assigned').waitFor();
      expect((await alarmsOf('taken')).map(({ owner }) => owner)).toEqual(['olga', 'olga', 'olga']);
      // An operator may not read the users, and names one.
      const theirs = await openAs('olga');
      const { alarmID = '' } = (await alarmsOf('taken'))[0] ?? {};
      await theirs.open(`/alarms?alarm=${alarmID}`);
      await theirs.page.getByRole('button', { name: 'Assign…' }).click();
      await theirs.page.getByRole('textbox', { name: 'User' }).fill('vera');
      await theirs.page.getByRole('button', { name: 'Assign 1 alarm to vera' }).click();
      await theirs.page.getByRole('alert').filter({ hasText: '1 alarm not changed' }).waitFor();
      expect((await alarmsOf('taken')).map(({ owner }) => owner)).toEqual(['olga', 'olga', 'olga']);
    });

    it('open one by one above their list on a phone, and one step back leads to the same row', async () => {
      const { page, open } = await openAs('olga', { width: 390 });
      await page.setViewportSize({ width: 390, height: 600 });
      await open('/alarms');
      const row = page.locator('.queue tbody tr').last();
      const link = row.locator('a.plain-link');
      await link.scrollIntoViewIfNeeded();
      const before = await row.boundingBox();
      await link.click();
      const detail = page.locator('.alarm-detail');
      await detail.getByRole('link', { name: 'Close', exact: true }).waitFor();
      const { y, height } = (await detail.boundingBox()) ?? { y: -1, height: 0 };
      expect([y > 0, y + height <= 600]).toEqual([true, true]);
      await page.goBack();
      await detail.waitFor({ state: 'detached' });
      expect(await row.boundingBox()).toEqual(before);
    });

    it('are not picked by viewers, nor where all are closed', async () => {
      const viewer = await openAs('vera');
      await viewer.open('/alarms');
      await viewer.page.locator('tbody tr').first().waitFor();
      expect(await viewer.page.getByRole('checkbox').count()).toBe(0);
      const { page, open } = await openAs('admin');
      await open('/alarms?show=closed');
      await page.locator('tbody tr').first().waitFor();
      expect(await page.getByRole('checkbox').count()).toBe(0);
    });

    it.each(['fr', 'de', 'es', 'ar'])('speak %s', async (language) => {
      const opened = await openAs('admin', { language });
      const pick = (await alarmsOf('new')).map(({ alarmID }) => alarmID).join(',');
      expect(await findEnglishOn(opened, { paths: [`/alarms?pick=${pick}`] })).toEqual([]);
      await opened.page.locator('[aria-haspopup=dialog].small').first().click();
      await opened.page.getByRole('dialog').waitFor();
    });

    it.each([
      [1180, 'en'],
      [320, 'en'],
      [320, 'ar'],
      [1180, 'ar'],
    ])('have no fault of accessibility in any theme at %i px in %s', async (width, language) => {
      const opened = await openAs('admin', { width, language });
      const pick = (await alarmsOf('new')).map(({ alarmID }) => alarmID).join(',');
      expect(await findFaultsOn(opened, { paths: [`/alarms?pick=${pick}`] })).toEqual([]);
      expect(opened.complaints).toEqual([]);
    });
  },
);
