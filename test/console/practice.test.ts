// The practice fleet in the console of the demo, in Chromium: a newcomer sees an alarm, a cut that waits and why, and the approval of a second
// person, each marked by what the service then has; the world of each vehicle does what its buttons say.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { whyNoConsole } from '../support/http/console-page.ts';
import {
  createUserPages,
  findEnglishOn,
  findFaultsOn,
  memberPassword as password,
} from '../support/http/user-pages.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import {
  type Answer,
  type DemoProgram,
  startDemoProgram,
  worldOf,
} from '../support/programs/demo-program.ts';

const why = whyNoConsole();

/** Ends a hang. */
const hangMs = 120_000;
/** The same for a cut: where unit and board stood still for a moment, as on a busy machine, the minute of standing begins anew. */
const cutHangMs = 360_000;

type Row = Readonly<Record<string, unknown>>;

describe.skipIf(why !== null)(
  why === null ? 'the practice fleet in the console' : `the practice fleet in the console [${why}]`,
  () => {
    let demo: DemoProgram;
    let token = '';
    const { openAs, closePages, close } = createUserPages(() => demo);
    const post = (path: string, body: object): Promise<Answer> =>
      demo.call(`${path}/authorization`, { token, body });
    const cutOf = async (deviceID: string): Promise<Row | undefined> => {
      const { commands } = await demo.call(`command/list/${deviceID}/authorization`, { token });
      return (commands as readonly Row[]).find(
        ({ feature, state }) => feature === 'enginecutoff' && state === '1',
      );
    };
    const stepOf = (page: Page, title: string) => page.getByRole('listitem').filter({ hasText: title });
    const happened = (page: Page, title: string) =>
      stepOf(page, title).getByText('Happened').waitFor({ timeout: hangMs });

    beforeAll(async () => {
      demo = await startDemoProgram(4);
      token = await demo.login('admin', demo.password);
      await post('user/createuser', { userID: 'vera', roleID: 'viewer', password });
      await post('user/createuser', { userID: 'olga', roleID: 'operator', password });
    });
    afterEach(closePages);
    afterAll(async () => {
      await close();
      await demo?.stop();
    });

    it('is marked on every screen, and reached from there', async () => {
      const { page, user, complaints, open } = await openAs('vera');
      for (const path of ['/live', '/alarms', '/people']) {
        await open(path);
        await page.getByRole('banner').getByRole('link', { name: 'Practice fleet' }).waitFor();
      }
      await user.goTo('Practice fleet');
      await user.press('g', 'w');
      await page.getByRole('heading', { name: 'Practice fleet', level: 1 }).waitFor();
      expect(complaints).toEqual([]);
    });

    it('shows a viewer the world, and lets the viewer do nothing in it', async () => {
      const { page, open } = await openAs('vera');
      await open('/practice?vehicle=van-02');
      await page.getByText('Operators and administrators act').waitFor();
      expect(await page.getByRole('button', { name: 'Press the panic button' }).count()).toBe(0);
    });

    it('leaves what changes the account to administrators', async () => {
      const { page, open } = await openAs('olga');
      await open('/practice');
      await page.getByText('An administrator of the account does this').waitFor();
      await page.getByRole('button', { name: /^Press the panic button of van-/ }).waitFor();
    });

    it('leads through an alarm, a cut that waits and is carried out, and an approval', async () => {
      const { page, user, complaints, open } = await openAs('admin');
      await open('/practice');
      await page.getByText('0 of 3 happened').waitFor();
      await user.goTo(/^Press the panic button of van-/);
      await user.press('Enter');
      await happened(page, 'An alarm');
      const { alarms } = await demo.call('alarm/alarms/authorization', { token });
      expect((alarms as readonly Row[]).some(({ statusCode }) => statusCode === 63553)).toBe(true);

      const second = stepOf(page, 'A cut that waits, and why');
      const drive = second.getByRole('button', { name: /^Let van-.* drive$/ });
      const ask = second.getByRole('link', { name: /^Ask for the cut of van-/ });
      await drive.or(ask).waitFor();
      if (await drive.isVisible()) {
        await user.goTo(/^Let van-.* drive$/);
        await user.press('Enter');
        await ask.waitFor();
      }
      const waits = (await ask.textContent())?.match(/van-\d+/)?.[0] ?? '';
      await user.goTo(`Ask for the cut of ${waits}`);
      await user.press('Enter');
      await page.getByRole('dialog', { name: `Cut engine · ${waits}` }).waitFor();
      await page.getByRole('button', { name: /Reason/ }).click();
      await page.getByRole('option', { name: 'Stolen' }).click();
      const confirm = page.locator('button.physical');
      await expect.poll(() => confirm.getAttribute('aria-disabled')).toBe('false');
      await confirm.click();
      await expect.poll(async () => (await cutOf(waits))?.['commandState']).toBe('armed');
      await open(`/practice?vehicle=${waits}`);
      await happened(page, 'A cut that waits, and why');

      // A person at the wheel stops: then, and only then, the engine is cut.
      await user.goTo('Stop');
      await user.press('Enter');
      await expect.poll(async () => Number((await worldOf(demo, token, waits))?.['speedKmh'])).toBe(0);
      await user.goTo('Ignition off');
      await user.press('Enter');
      let said: unknown;
      const isCut = async (): Promise<boolean> => {
        const cut = await cutOf(waits);
        said = cut?.['detail'];
        return cut?.['commandState'] === 'confirmed';
      };
      await waitUntil('the cut', isCut, { limitMs: cutHangMs, everyMs: 500, seen: () => String(said) });

      await user.goTo(/^Let the colleague ask for the cut of van-/);
      await user.press('Enter');
      await page.getByText('The colleague asks for a cut: van-').waitFor();
      await user.goTo('See the approvals');
      await user.press('Enter');
      await page.getByText('colleague', { exact: true }).first().waitFor();
      const approve = page.locator('button.physical');
      await expect.poll(() => approve.getAttribute('aria-disabled')).toBe('false');
      await user.goTo(/^Approve/);
      await user.press('Enter');
      await page.getByRole('dialog').waitFor();
      await open('/practice');
      await happened(page, 'A second person approves');
      await page.getByText('3 of 3 happened').waitFor();
      const { approvals } = await demo.call('command/approvals/authorization?state=all', { token });
      expect(approvals).toMatchObject([
        { approvalState: 'approved', requestedBy: 'colleague', decidedBy: 'admin' },
      ]);
      expect(complaints).toEqual([]);
    }, 600_000);

    it('does to a vehicle what its buttons say, and shows what came of it', async () => {
      const { page, user, open } = await openAs('olga');
      await open('/practice?vehicle=van-04');
      const press = async (name: string): Promise<void> => {
        await user.goTo(name);
        await user.press('Enter');
        await page.getByText(`${name}: van-04`).waitFor();
      };
      await press('Jam the receiver');
      await press('Open the cargo door for 30 s');
      await press('Cut the supply and tow it away');
      await page.getByText('Towed').waitFor();
      expect(await worldOf(demo, token, 'van-04')).toMatchObject({
        isJammed: true,
        isTowed: true,
        isPowered: false,
        isCargoDoorOpen: true,
        isConnected: true,
      });
      await press('Take the network away');
      const online = async (): Promise<unknown> =>
        (await demo.call('diagnostic/diagnostic/van-04/authorization', { token }))['online'];
      await expect.poll(online).toBe(false);
      await press('Give the network back');
      await press('End the jamming');
      await press('Stop');
      await expect.poll(online).toBe(true);
      await user.expectFocus();
      const { entries } = await demo.call('audit/entries/authorization?object=van-04', { token });
      const acts = (entries as readonly Row[]).filter(
        ({ action, userID }) => action === 'practice.act' && userID === 'olga',
      );
      expect(acts.map(({ detail }) => (detail as Row)['action']).toReversed()).toEqual([
        'jam',
        'openCargoDoor',
        'steal',
        'disconnect',
        'connect',
        'endJam',
        'stop',
      ]);
    });

    it.each([1180, 320])('is free of faults of accessibility at a width of %d', async (width) => {
      const opened = await openAs('admin', { width });
      expect(await findFaultsOn(opened, { paths: ['/practice', '/practice?vehicle=van-02'] })).toEqual([]);
      await opened.page.getByRole('link', { name: 'Practice fleet' }).first().waitFor();
    });

    it.each(['de', 'fr', 'es', 'ar'])('speaks the language %s', async (language) => {
      const opened = await openAs('admin', { language, width: language === 'ar' ? 320 : 1180 });
      expect(await findEnglishOn(opened, { paths: ['/practice'] })).toEqual([]);
      expect(await findFaultsOn(opened, { paths: ['/practice'] })).toEqual([]);
    });
  },
);
