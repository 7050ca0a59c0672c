// An authenticator app in Chromium against the real broker: set up, needed at the next sign-in, mistyped, replaced by a recovery code, and taken off; by
// keyboard and at each theme.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createAuthenticatorApp } from '../support/http/authenticator-app.ts';
import { findFaultsInThemes, whyNoConsole } from '../support/http/console-page.ts';
import { createUserPages, memberPassword } from '../support/http/user-pages.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();

describe.skipIf(why !== null)(why === null ? 'one-time codes' : `one-time codes [${why}]`, () => {
  let demo: DemoProgram;
  const { openAs, closePages, close } = createUserPages(() => demo);

  beforeAll(async () => {
    demo = await startDemoProgram(2);
    const token = await demo.login('admin', demo.password);
    const body = { userID: 'olga', roleID: 'operator', password: memberPassword };
    await demo.call('user/createuser/authorization', { token, body });
  });
  afterEach(closePages);
  afterAll(async () => {
    await close();
    await demo?.stop();
  });

  /** React Aria announces a button at work by its name, for seven seconds; the button may be gone by then. */
  const announced = (page: Page) =>
    expect.poll(() => page.locator('[role=log] [role=img]').count(), { timeout: 60_000 }).toBe(0);
  const expectNoFaults = async (page: Page): Promise<void> => {
    await announced(page);
    expect(await findFaultsInThemes(page)).toEqual([]);
  };
  const signOut = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: /, menu$/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  };
  const signIn = async (page: Page): Promise<void> => {
    await page.getByLabel('Account').fill('demo');
    await page.getByLabel('User').fill('olga');
    await page.getByLabel('Password').fill(memberPassword);
    await page.keyboard.press('Enter');
  };
  const code = (page: Page) => page.getByLabel('Code of your authenticator app');
  const entered = (page: Page) => page.getByRole('button', { name: 'olga, menu' }).waitFor();

  it('are set up with the password and a first code, are needed at the sign-in, and go again', async () => {
    const { page, open, user } = await openAs('olga');
    await open('/account');
    await page.getByText('No authenticator app is set up').waitFor();
    await user.goTo('Set up an app…');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Your password').fill('not my password');
    await page.keyboard.press('Enter');
    await dialog.getByText('The password is wrong').waitFor();
    await dialog.getByLabel('Your password').fill(memberPassword);
    await page.keyboard.press('Enter');
    await dialog.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
    const secret = await dialog
      .getByRole('textbox', { name: 'Key, where the app reads no QR code' })
      .inputValue();
    const app = createAuthenticatorApp(secret);
    await expectNoFaults(page);
    await dialog.getByLabel('Code in the app').fill('000000');
    await page.keyboard.press('Enter');
    await dialog.getByText('The code was not accepted').waitFor();
    await dialog.getByLabel('Code in the app').fill(app.code(Date.now()));
    await page.keyboard.press('Enter');
    const codes = dialog.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
    await expect.poll(() => codes.count()).toBe(10);
    const [recovery = ''] = await codes.allInnerTexts();
    await expectNoFaults(page);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByText('10 recovery codes are left').waitFor();
    await expectNoFaults(page);

    await signOut(page);
    await signIn(page);
    await page.getByText('This user also needs a code').waitFor();
    await page.locator('input[name=code]:focus').waitFor();
    await expectNoFaults(page);
    await page.keyboard.type('000000');
    await page.keyboard.press('Enter');
    await page.getByText('The code was not accepted').waitFor();
    // The next step: that of the set-up was used up.
    await code(page).fill(app.code(Date.now(), 1));
    await page.keyboard.press('Enter');
    await entered(page);

    await signOut(page);
    await signIn(page);
    await code(page).fill(recovery);
    await page.keyboard.press('Enter');
    await entered(page);
    await page.getByRole('button', { name: 'olga, menu' }).click();
    await page.getByRole('menuitem', { name: 'Account and preferences' }).click();
    await page.getByText('9 recovery codes are left').waitFor();
    await page.getByRole('button', { name: 'Take off…' }).click();
    await dialog.getByLabel('Your password').fill(memberPassword);
    await dialog.getByRole('button', { name: 'Take the app off' }).click();
    await page.getByText('No authenticator app is set up').waitFor();
    await signOut(page);
    await signIn(page);
    await entered(page);
  });

  it('are forgotten by the sign-in once another user is typed', async () => {
    const token = await demo.login('olga', memberPassword);
    const begun = await demo.call('auth/totp/begin/authorization', {
      token,
      body: { password: memberPassword },
    });
    const app = createAuthenticatorApp(String(begun['secret']));
    await demo.call('auth/totp/confirm/authorization', { token, body: { code: app.code(Date.now()) } });
    const { page, open } = await openAs('admin');
    await open('/alarms');
    await signOut(page);
    await signIn(page);
    await code(page).waitFor();
    await page.getByLabel('User').fill('admin');
    await expect.poll(() => code(page).count()).toBe(0);
    await page.getByLabel('Password').fill(demo.password);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'admin, menu' }).waitFor();
  });
});
