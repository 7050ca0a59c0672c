// Orders that persons of an owner's list sign, in Chromium against the real broker and a simulated vehicle with an owner's key: the passkeys reach the
// owner, the list reaches the vehicle, two people sign one order, and a service that shows another order than it wants signed gets no signature.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findFaultsInThemes, whyNoConsole } from '../support/http/console-page.ts';
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
const vehicle = 'van-06';
const broker = new URL('../../dist/broker/main.js', import.meta.url).pathname;

type Row = Readonly<Record<string, unknown>>;

describe.skipIf(why !== null)(why === null ? 'orders of persons' : `orders of persons [${why}]`, () => {
  let demo: DemoProgram;
  let token = '';
  let olga: UserPage;
  let otto: UserPage;
  let admin: UserPage;
  // Browsers give passkeys to `localhost`, and to no other address without TLS.
  const local = (): DemoProgram => ({ ...demo, base: demo.base.replace('127.0.0.1', 'localhost') });
  const { openAs, closePages, close } = createUserPages(local);

  const post = (path: string, body: object): Promise<Answer> =>
    demo.call(`${path}/authorization`, { token, body });
  const ordersOf = async (state: '0' | '1'): Promise<readonly Row[]> => {
    const { commands } = await demo.call(`command/list/${vehicle}/authorization`, { token });
    return (commands as readonly Row[]).filter((one) => one['state'] === state);
  };
  const newestRequest = async (): Promise<Row | undefined> => {
    const { approvals } = await demo.call('command/approvals/authorization?state=all', { token });
    return (approvals as readonly Row[]).find(({ deviceID }) => deviceID === vehicle);
  };
  const restore = () => post('command/feature', { deviceID: vehicle, feature: 'enginecutoff', state: '0' });
  const owner = (...args: readonly string[]): void => {
    const dir = join(demo.state, 'owner');
    const { status, stderr } = spawnSync(process.execPath, [broker, 'owner', ...args, '--dir', dir], {
      encoding: 'utf8',
      env: {},
    });
    expect([status, stderr]).toEqual([0, '']);
  };

  /** @returns sets whether the person passes the check by PIN or finger. */
  async function addAuthenticator({ context, page }: UserPage) {
    const devTools = await context.newCDPSession(page);
    await devTools.send('WebAuthn.enable');
    const { authenticatorId } = await devTools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    return (isUserVerified: boolean) =>
      devTools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
  }
  let setOttoVerified: Awaited<ReturnType<typeof addAuthenticator>>;

  const dialog = (page: Page) => page.getByRole('dialog', { name: `Cut engine · ${vehicle}` });
  const signButton = (page: Page) => page.getByRole('button', { name: 'Agree with your passkey' });
  /** React Aria announces a button at work by its name, for seven seconds; the button may be gone by then. */
  const announced = (page: Page) =>
    expect.poll(() => page.locator('[role=log] [role=img]').count(), { timeout: hangMs }).toBe(0);
  const expectNoFaults = async (page: Page): Promise<void> => {
    await announced(page);
    expect(await findFaultsInThemes(page)).toEqual([]);
  };

  /** Asks for the cut with keys only, up to the signature of who asks. */
  async function askAs({ page, user, open }: UserPage): Promise<void> {
    await open(`/vehicle/${vehicle}?cut=ask`);
    await dialog(page)
      .getByText(/must agree, each with a passkey/)
      .waitFor();
    // An operator sees who may, until when, and what the vehicle held when it last reported.
    await dialog(page)
      .getByText(/^May agree: /)
      .waitFor();
    await dialog(page)
      .getByText(/^List \d+: at the service since .*, valid until /)
      .waitFor();
    await dialog(page)
      .getByText(/^The vehicle held (no list|list \d+) when it last reported \(/)
      .waitFor();
    await user.goTo(/Reason/);
    await user.press('Enter');
    await page.getByRole('option', { name: 'Stolen' }).waitFor();
    await user.goTo('Stolen', 'ArrowDown');
    await user.press('Enter');
    const confirm = page.locator('button.physical');
    await expect.poll(() => confirm.getAttribute('aria-disabled')).toBe('false');
    await user.goTo(`Cut ${vehicle} when it stands`);
    await user.press('Enter');
    await dialog(page).getByText('1 of 2 agreed').waitFor({ timeout: hangMs });
  }
  const lookAtRequest = async ({ page, open }: UserPage): Promise<void> => {
    await open(`/approvals?request=${String((await newestRequest())?.['approvalID'])}`);
    await page.getByRole('heading', { name: 'Agreement of persons' }).waitFor();
    await expect.poll(() => signButton(page).isEnabled()).toBe(true);
  };
  /** Counts requests to sign from here on. */
  const countSigned = (page: Page): (() => number) => {
    let count = 0;
    page.on('request', (request) => {
      if (request.url().includes('/command/sign/')) count += 1;
    });
    return () => count;
  };

  beforeAll(async () => {
    demo = await startDemoProgram(6);
    token = await demo.login('admin', demo.password);
    for (const userID of ['olga', 'otto'])
      await post('user/createuser', { userID, roleID: 'operator', password: memberPassword });
    settleUsers(demo);
    // It drives: an order that the persons signed waits on the vehicle.
    await post('practice/act', { deviceID: vehicle, action: 'drive' });
    olga = await openAs('olga');
    otto = await openAs('otto');
    admin = await openAs('admin');
    await addAuthenticator(olga);
    setOttoVerified = await addAuthenticator(otto);
  }, 300_000);
  afterEach(async () => {
    for (const { page } of [olga, otto, admin]) await page.unrouteAll();
    await restore();
  });
  afterAll(async () => {
    await closePages();
    await close();
    await demo?.stop();
  });

  it('begin with passkeys that their owners save, a list that the owner signs, and its upload', async () => {
    for (const [{ page, open }, userID] of [
      [olga, 'olga'],
      [otto, 'otto'],
    ] as const) {
      await open('/account');
      await page.getByRole('button', { name: 'Add a passkey…' }).click();
      const adding = page.getByRole('dialog');
      await adding.getByLabel('Name of the device').fill('Desk');
      await adding.getByLabel('Your password').fill(memberPassword);
      await adding.getByRole('button', { name: 'Add' }).click();
      await adding.waitFor({ state: 'detached' });
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Save your passkeys for the owner' }).click();
      const file = join(demo.state, `${userID}.json`);
      await (await download).saveAs(file);
      expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
        rpID: 'localhost',
        origins: [local().base],
        persons: [{ id: userID, passkeys: [{ publicKey: expect.stringMatching(/^M(Fkw|Cow)/) }] }],
      });
      owner('people', file, '--vehicles', `demo/${vehicle}`);
    }
    const folder = join(demo.state, 'owner');
    const pass = ['--passphrase-file', join(folder, 'passphrase')];
    owner('sign', '--key', join(folder, 'key-1-1.json'), ...pass, '--yes');

    const { page, open } = admin;
    await open('/account');
    await page.getByText('Colleague (practice passkey)').waitFor();
    await page.getByRole('button', { name: 'Upload the owner’s list…'.replace('’', "'") }).click();
    const chosen = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Choose owner.json…' }).click();
    const refused = join(demo.state, 'not-an-owner.json');
    writeFileSync(refused, '{}');
    await (await chosen).setFiles(refused);
    await page.getByRole('button', { name: 'Upload the list' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    const again = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Choose owner.json…' }).click();
    await (await again).setFiles(join(folder, 'owner.json'));
    await page.getByRole('button', { name: 'Upload the list' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByText('otto', { exact: true }).first().waitFor();
    await expectNoFaults(page);
    await open(`/vehicle/${vehicle}?tab=device`);
    // The unit reports a new list at its next connect, or after minutes.
    await page.getByText(/^List (1older than list 2 at the service|2)/).waitFor({ timeout: hangMs });
    await page.getByText('2 to a cut, 1 to an unlock').waitFor();
    await open('/vehicle/van-01?tab=device');
    await page.getByText('None, or the unit does not say').waitFor();
  });

  it('are asked for by keyboard with one touch, wait for the second person, and go out with both', async () => {
    await askAs(olga);
    await dialog(olga.page).getByText("waits for 1 more person of the owner's list").waitFor();
    await dialog(olga.page).getByText('Not sent to the vehicle yet: 1 of 2 persons agreed').waitFor();
    await expectNoFaults(olga.page);
    expect(await ordersOf('1')).toEqual([]);

    const { page, user } = otto;
    await lookAtRequest(otto);
    const members = page.getByRole('region', { name: 'Agreement of persons' });
    for (const text of [`demo/${vehicle}`, 'Cut', 'Stolen', 'olga agreed at'])
      await members.getByText(text).first().waitFor();
    await expectNoFaults(page);
    await user.goTo('Agree with your passkey');
    await user.press('Enter');
    await dialog(page).waitFor({ timeout: hangMs });
    // The vehicle has taken it: it waits for the vehicle to stand, and is not refused.
    await expect
      .poll(async () => (await ordersOf('1'))[0]?.['commandState'], { timeout: hangMs })
      .toBe('armed');
    for (const one of [olga, otto]) {
      await dialog(one.page)
        .getByText(/^Waits: /)
        .waitFor({ timeout: hangMs });
      for (const name of ['olga', 'otto'])
        await dialog(one.page).getByText(`Approved by ${name}`).waitFor({ timeout: hangMs });
    }
  });

  it('are restored with no touch, which ends an order that still waits for persons', async () => {
    await askAs(olga);
    const { page, open } = otto;
    await page.evaluate('navigator.credentials.get = () => { throw new Error("asked for a passkey") }');
    await open(`/vehicle/${vehicle}`);
    await page.evaluate('navigator.credentials.get = () => { throw new Error("asked for a passkey") }');
    const before = (await ordersOf('0')).length;
    await page.getByRole('button', { name: 'Restore engine' }).first().click();
    await expect
      .poll(
        async () => {
          const [newest, ...older] = await ordersOf('0');
          return older.length >= before && newest?.['commandState'];
        },
        { timeout: hangMs },
      )
      .toBe('confirmed');
    await dialog(olga.page)
      .getByText(/Not cut\. It (ended before enough persons agreed|was withdrawn)/)
      .waitFor({ timeout: hangMs });
    expect((await newestRequest())?.['approvalState']).toMatch(/^(void|withdrawn)$/);
  });

  it('are refused by the second person, with no touch', async () => {
    await askAs(olga);
    const { page, user } = otto;
    await lookAtRequest(otto);
    await page.getByLabel('Reason, needed when you refuse').fill('driver reached');
    await user.goTo('Refuse');
    await user.press('Enter');
    await dialog(olga.page).getByText('Not cut. otto refused; nothing was sent').waitFor({ timeout: hangMs });
    expect(await newestRequest()).toMatchObject({ approvalState: 'refused' });
  });

  it.each([
    ['challenge', (order: Row) => ({ ...order, reason: 'test' }), 'test'],
    ['reason', (order: Row) => ({ ...order, reason: 'test' }), null],
    ['vehicle', (order: Row) => ({ ...order, deviceID: 'van-01' }), null],
  ] as const)('are not signed where the service shows another %s', async (member, change, reason) => {
    await askAs(olga);
    const { page } = otto;
    await page.route('**/command/approvals/authorization*', async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { readonly approvals: readonly Row[] };
      const approvals = body.approvals.map((one) => ({
        ...one,
        ...(reason === null ? {} : { reason }),
        ...(one['signing'] === null
          ? {}
          : {
              signing: {
                ...(one['signing'] as Row),
                order: change((one['signing'] as Row)['order'] as Row),
              },
            }),
      }));
      await route.fulfill({ response: answer, json: { ...body, approvals } });
    });
    await lookAtRequest(otto);
    const signed = countSigned(page);
    await signButton(page).click();
    await page.getByText(new RegExp(`^Not signed: .*\\(${member}\\)`)).waitFor();
    expect(signed()).toBe(0);
    expect((await newestRequest())?.['signing']).toMatchObject({ given: [{ personID: 'olga' }] });
    await expectNoFaults(page);
  });

  it('go on waiting where no passkey is given, and say what to do without a listed one', async () => {
    await askAs(olga);
    await lookAtRequest(otto);
    await setOttoVerified(false);
    const signed = countSigned(otto.page);
    await signButton(otto.page).click();
    await otto.page.getByText(/^No passkey was given in time/).waitFor({ timeout: hangMs });
    expect(signed()).toBe(0);
    await setOttoVerified(true);
    await lookAtRequest(admin);
    await admin.page.getByText(/^No passkey of your user is on the owner's list/).waitFor();
    await expectNoFaults(admin.page);
    await otto.page.evaluate('delete window.PublicKeyCredential');
    await signButton(otto.page).click();
    await otto.page.getByText(/^This browser offers no passkeys/).waitFor();
  });

  it('are agreed to by the two practice persons of the demonstration', async () => {
    const { page, open } = admin;
    await open(`/vehicle/${vehicle}?cut=ask`);
    await dialog(page)
      .getByText(/^This vehicle has an owner's key\. 2 persons/)
      .waitFor();
    await dialog(page)
      .getByText(/May agree: .*Deputy \(practice passkey\)/)
      .waitFor();
    await page.getByRole('button', { name: /Reason/ }).click();
    await page.getByRole('option', { name: 'Stolen' }).click();
    await expect.poll(() => page.locator('button.physical').getAttribute('aria-disabled')).toBe('false');
    await page.locator('button.physical').click();
    await dialog(page).getByText('0 of 2 agreed').waitFor({ timeout: hangMs });
    await open(`/practice?vehicle=${vehicle}`);
    await page.getByText('protect nothing').waitFor();
    await page.getByRole('button', { name: 'Let two practice persons agree' }).click();
    await expect
      .poll(async () => (await ordersOf('1'))[0]?.['commandState'], { timeout: hangMs })
      .toBe('armed');
    expect((await newestRequest())?.['signing']).toMatchObject({
      given: [{ personID: 'colleague' }, { personID: 'deputy' }],
    });
    await expectNoFaults(page);
  });
});
