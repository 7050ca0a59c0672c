// Passkeys in Chromium against the real broker, with an authenticator of the browser's own (WebAuthn domain of the DevTools protocol): added, needed at the
// next sign-in, used, refused and deleted, by keyboard and at each size.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findFaultsInThemes, whyNoConsole } from '../support/http/console-page.ts';
import { createUserPages, memberPassword, type UserPage } from '../support/http/user-pages.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();

describe.skipIf(why !== null)(why === null ? 'passkeys' : `passkeys [${why}]`, () => {
  let demo: DemoProgram;
  // Browsers give passkeys to `localhost`, and to no other address without TLS.
  const local = (): DemoProgram => ({ ...demo, base: demo.base.replace('127.0.0.1', 'localhost') });
  const { openAs, closePages, close } = createUserPages(local);

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

  /** @returns sets whether the user passes the check by PIN or finger. */
  async function addAuthenticator({ context, page }: UserPage) {
    const devTools = await context.newCDPSession(page);
    await devTools.send('WebAuthn.enable');
    const options = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true } as const;
    const { authenticatorId } = await devTools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        ...options,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    return (isUserVerified: boolean) =>
      devTools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
  }

  /** React Aria announces a button at work by its name, for seven seconds; the button may be gone by then. */
  const announced = (page: Page) =>
    expect.poll(() => page.locator('[role=log] [role=img]').count(), { timeout: 60_000 }).toBe(0);
  const signOut = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: /, menu$/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  };
  const signIn = async (page: Page): Promise<void> => {
    await page.getByLabel('Account').fill('demo');
    await page.getByLabel('User').fill('olga');
    await page.getByLabel('Password').fill(memberPassword);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };
  const withPasskey = (page: Page) => page.getByRole('button', { name: 'Sign in with a passkey' });

  it('are added with the password, are needed and suffice at the next sign-in, and go again', async () => {
    const opened = await openAs('olga');
    const { page, open, user } = opened;
    const setVerified = await addAuthenticator(opened);
    await open('/account');
    await page.getByText('You have no passkey').waitFor();
    await user.goTo('Add a passkey…');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name of the device').fill('Desk');
    await dialog.getByLabel('Your password').fill('not my password');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByText('The password is wrong').waitFor();
    await dialog.getByLabel('Your password').fill(memberPassword);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Not used yet').waitFor();
    await announced(page);
    expect(await findFaultsInThemes(page)).toEqual([]);

    await signOut(page);
    await signIn(page);
    await page.getByText('This user signs in with a passkey').waitFor();
    await announced(page);
    expect(await findFaultsInThemes(page)).toEqual([]);
    await setVerified(false);
    await withPasskey(page).click();
    await page.getByText('The passkey was not accepted').waitFor();
    await setVerified(true);
    await withPasskey(page).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'olga, menu' }).waitFor();

    await page.getByRole('button', { name: 'olga, menu' }).click();
    await page.getByRole('menuitem', { name: 'Account and preferences' }).click();
    await page.getByText('Last used').waitFor();
    await page.getByRole('button', { name: 'Delete the passkey Desk' }).click();
    await dialog.getByLabel('Your password').fill(memberPassword);
    await dialog.getByRole('button', { name: 'Delete the passkey Desk' }).click();
    await page.getByText('You have no passkey').waitFor();
    await signOut(page);
    await signIn(page);
    await page.getByRole('button', { name: 'olga, menu' }).waitFor();
  });

  it('are not made where the browser has none, and its words say so', async () => {
    const { page, open } = await openAs('olga');
    await open('/account');
    await page.getByRole('button', { name: 'Add a passkey…' }).click();
    const dialog = page.getByRole('dialog');
    await page.evaluate(
      "navigator.credentials.create = () => Promise.reject(new DOMException('', 'NotAllowedError'))",
    );
    await dialog.getByLabel('Name of the device').fill('Desk');
    await dialog.getByLabel('Your password').fill(memberPassword);
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByText('No passkey was made').waitFor();
    await announced(page);
    expect(await findFaultsInThemes(page)).toEqual([]);
  });
});
