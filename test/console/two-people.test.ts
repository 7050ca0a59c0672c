// Two people at once in Chromium, each in a browser of their own, against the real broker and a simulated fleet: the same alarm, the same cut. One of
// them wins, the other's screen says who, and in the end both screens say what the service has.
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { cutTexts } from '../../build/words/cut/en.ts';
import { whyNoConsole } from '../support/http/console-page.ts';
import { createUserPages, memberPassword, type UserPage } from '../support/http/user-pages.ts';
import {
  type Answer,
  type DemoProgram,
  settleUsers,
  startDemoProgram,
} from '../support/programs/demo-program.ts';

const why = whyNoConsole();
/** Ends a hang. */
const hangMs = 120_000;
const panic = 63_553;
const panicEnd = 63_554;

type Row = Readonly<Record<string, unknown>>;

describe.skipIf(why !== null)(why === null ? 'two people' : `two people [${why}]`, () => {
  let demo: DemoProgram;
  const { openAs, closePages, close } = createUserPages(() => demo);
  let token = '';
  const tokens = new Map<string, string>();

  const post = (path: string, body: object, as = token): Promise<Answer> =>
    demo.call(`${path}/authorization`, { token: as, body });
  const account = (change: object) =>
    post('auth/updateaccount', { accountID: 'demo', password: demo.password, ...change });
  const cutsOf = async (deviceID: string): Promise<readonly Row[]> => {
    const { commands } = await demo.call(`command/list/${deviceID}/authorization`, { token });
    return (commands as readonly Row[]).filter(
      ({ feature, state }) => feature === 'enginecutoff' && state === '1',
    );
  };
  const requestsOf = async (deviceID: string): Promise<readonly Row[]> => {
    const { approvals } = await demo.call('command/approvals/authorization?state=all', { token });
    return (approvals as readonly Row[]).filter((one) => one['deviceID'] === deviceID);
  };
  const both = async (): Promise<readonly [UserPage, UserPage]> => [
    await openAs('olga'),
    await openAs('otto'),
  ];
  /** Both ask for it as it was before, and the service gets both requests in one moment. */
  const pressBoth = async (one: Locator, other: Locator): Promise<void> => {
    const held: (() => void)[] = [];
    let areHeld = true;
    for (const button of [one, other])
      await button.page().route(/\/api\/v1\/(alarm|command)\//, async (route) => {
        if (areHeld && route.request().method() === 'POST')
          await new Promise<void>((done) => {
            held.push(done);
          });
        await route.continue();
      });
    await Promise.all([one.click(), other.click()]);
    await expect.poll(() => held.length, { timeout: hangMs }).toBe(2);
    areHeld = false;
    for (const go of held) go();
  };
  const confirmButton = (page: Page) => page.locator('button.physical');
  /** The state that the open dialog of a cut shows, as the ledger names it. */
  const shownState = async (page: Page): Promise<string | undefined> => {
    const text = await page.getByRole('dialog').locator('header .badge').first().textContent();
    return Object.entries(cutTexts.order.states).find(([, name]) => name === text?.trim())?.[0];
  };
  const stateOf = async (commandID: string): Promise<string> =>
    String((await demo.call(`command/get/${commandID}/authorization`, { token }))['commandState']);
  const commandIDOf = (page: Page): string => /cut=command-(\w+)/.exec(page.url())?.[1] ?? '';
  /** Waits until the screen of a cut says what the ledger has of it. */
  const expectAgreement = (page: Page) =>
    expect
      .poll(async () => [await shownState(page), await stateOf(commandIDOf(page))], { timeout: hangMs })
      .toSatisfy((pair) => (pair as readonly string[])[0] === (pair as readonly string[])[1]);
  const fillForm = async ({ page, open }: UserPage, deviceID: string): Promise<void> => {
    await open(`/vehicle/${deviceID}?cut=ask`);
    await page.getByRole('button', { name: /Reason/ }).click();
    await page.getByRole('option', { name: 'Stolen' }).click();
    await expect.poll(() => confirmButton(page).getAttribute('aria-disabled')).toBe('false');
  };

  beforeAll(async () => {
    demo = await startDemoProgram(5);
    token = await demo.login('admin', demo.password);
    for (const userID of ['olga', 'otto', 'ann']) {
      await post('user/createuser', { userID, roleID: 'operator', password: memberPassword });
      tokens.set(userID, await demo.login(userID, memberPassword));
    }
    settleUsers(demo);
    // Nothing is cut meanwhile: every order waits.
    for (const at of [1, 2, 3, 4, 5]) await post('practice/act', { deviceID: `van-0${at}`, action: 'drive' });
  });

  afterEach(async () => {
    await closePages();
    await account({ needsApproval: false });
    for (const at of [1, 2, 3, 4, 5])
      await post('command/feature', { deviceID: `van-0${at}`, feature: 'enginecutoff', state: '0' });
  });

  afterAll(async () => {
    await close();
    await demo?.stop();
  });

  it('take the same alarm: it has one owner, and the other screen names that person', async () => {
    for (const code of [panicEnd, panic])
      await demo.call(`events/createactivation/van-01/${code}/authorization`, { token });
    const newPanic = async (): Promise<string | undefined> => {
      const { alarms } = await demo.call('alarm/alarms/authorization?state=new&limit=200', { token });
      const found = (alarms as readonly Row[]).find(
        ({ deviceID, statusCode }) => deviceID === 'van-01' && statusCode === panic,
      );
      return found === undefined ? undefined : String(found['alarmID']);
    };
    await expect.poll(newPanic, { timeout: hangMs }).toBeDefined();
    const alarmID = String(await newPanic());
    const [olga, otto] = await both();
    for (const { open } of [olga, otto]) await open(`/alarms?alarm=${alarmID}`);
    const take = ({ page }: UserPage) =>
      page.getByRole('complementary').getByRole('button', { name: 'Take', exact: true });
    await Promise.all([take(olga).waitFor(), take(otto).waitFor()]);
    await pressBoth(take(olga), take(otto));
    const ownerOf = async () =>
      String((await demo.call(`alarm/alarm/${alarmID}/authorization`, { token }))['owner']);
    await expect.poll(ownerOf, { timeout: hangMs }).toMatch(/^(olga|otto)$/);
    const owner = await ownerOf();
    for (const { page } of [olga, otto]) {
      const row = page
        .locator('.queue tbody tr, .queue li')
        .filter({ hasText: 'van-01' })
        .filter({ hasText: 'Panic' });
      await row.filter({ hasText: owner }).first().waitFor();
      expect(await take({ page } as UserPage).count()).toBe(0);
    }
    const loser = owner === 'olga' ? otto : olga;
    await loser.page.getByRole('alert').filter({ hasText: owner }).waitFor();
  });

  it('ask for the same cut: the newer order replaces the older, and both screens say what became of theirs', async () => {
    const [olga, otto] = await both();
    await Promise.all([fillForm(olga, 'van-02'), fillForm(otto, 'van-02')]);
    await pressBoth(confirmButton(olga.page), confirmButton(otto.page));
    for (const { page } of [olga, otto]) await page.getByRole('heading', { name: 'Course' }).waitFor();
    const cuts = await cutsOf('van-02');
    expect(new Set(cuts.map(({ issuer }) => issuer))).toEqual(new Set(['olga', 'otto']));
    for (const { page } of [olga, otto]) await expectAgreement(page);
    await expect
      .poll(async () => (await cutsOf('van-02')).map(({ commandState }) => commandState), {
        timeout: hangMs,
      })
      .toContain('superseded');
    for (const { page } of [olga, otto]) await expectAgreement(page);
    expect(await Promise.all([olga, otto].map(({ page }) => shownState(page)))).toContain('superseded');
  });

  it('withdraw the same cut: it is withdrawn once, and neither screen calls that a failure', async () => {
    const { commandID } = await post(
      'command/feature',
      { deviceID: 'van-03', feature: 'enginecutoff', state: '1', reason: 'test' },
      tokens.get('ann'),
    );
    const [olga, otto] = await both();
    const withdraw = ({ page }: UserPage) => page.getByRole('button', { name: 'Withdraw' });
    for (const one of [olga, otto]) {
      await one.open(`/vehicle/van-03?cut=command-${String(commandID)}`);
      await withdraw(one).waitFor();
    }
    // Not pressed as the second press of a double click.
    await olga.page.waitForTimeout(800);
    await pressBoth(withdraw(olga), withdraw(otto));
    await expect.poll(() => stateOf(String(commandID)), { timeout: hangMs }).toBe('cancelled');
    for (const { page } of [olga, otto]) {
      await expectAgreement(page);
      await page.getByText('Not cut. It was withdrawn').waitFor();
      expect(await page.getByText('Not withdrawn').count()).toBe(0);
    }
  });

  it('approve the same request: it gives one cut, and the other screen says who has approved', async () => {
    await account({ needsApproval: true });
    await post(
      'command/feature',
      { deviceID: 'van-04', feature: 'enginecutoff', state: '1', reason: 'stolen' },
      tokens.get('ann'),
    );
    const [olga, otto] = await both();
    const approve = ({ page }: UserPage) => page.getByRole('button', { name: 'Approve cut of van-04' });
    for (const one of [olga, otto]) {
      await one.open('/approvals');
      await expect.poll(() => approve(one).getAttribute('aria-disabled')).toBe('false');
    }
    await pressBoth(approve(olga), approve(otto));
    await expect.poll(async () => (await cutsOf('van-04')).length, { timeout: hangMs }).toBe(1);
    const [request] = await requestsOf('van-04');
    const approver = String(request?.['decidedBy']);
    expect((await cutsOf('van-04'))[0]).toMatchObject({ issuer: 'ann', approver });
    const [winner, loser] = approver === 'olga' ? [olga, otto] : [otto, olga];
    await winner.page.getByRole('dialog', { name: 'Cut engine · van-04' }).waitFor();
    await expectAgreement(winner.page);
    await loser.page.getByText(`van-04: approved by ${approver}`).waitFor({ timeout: hangMs });
    expect(await approve(loser).count()).toBe(0);
    expect(loser.page.url()).toContain('/approvals');
  });

  it('approve and withdraw the same request: the ledger decides, and both screens follow it', async () => {
    await account({ needsApproval: true });
    const [olga, otto] = await both();
    await fillForm(olga, 'van-05');
    await confirmButton(olga.page).click();
    await olga.page.getByText('Not sent to the vehicle yet').waitFor();
    await otto.open('/approvals');
    const approve = otto.page.getByRole('button', { name: 'Approve cut of van-05' });
    await expect.poll(() => approve.getAttribute('aria-disabled')).toBe('false');
    await pressBoth(olga.page.getByRole('button', { name: 'Withdraw' }), approve);
    await expect
      .poll(async () => (await requestsOf('van-05'))[0]?.['approvalState'], { timeout: hangMs })
      .toMatch(/^(approved|withdrawn)$/);
    if ((await requestsOf('van-05'))[0]?.['approvalState'] === 'approved') {
      for (const { page } of [olga, otto]) {
        await expect.poll(() => commandIDOf(page), { timeout: hangMs }).not.toBe('');
        await expectAgreement(page);
      }
      expect(await cutsOf('van-05')).toHaveLength(1);
    } else {
      await olga.page.getByText('Not cut. It was withdrawn').waitFor({ timeout: hangMs });
      await otto.page.getByText('van-05: withdrawn by olga').waitFor({ timeout: hangMs });
      expect(await cutsOf('van-05')).toEqual([]);
    }
  });
});
