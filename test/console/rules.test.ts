// Rules and deliveries of the console in Chromium against the real broker. What the screen says was done is compared with what the service
// then has. Host names end in `.invalid`, which no resolver knows.
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { whyNoConsole } from '../support/http/console-page.ts';
import {
  createUserPages,
  findEnglishOn,
  findFaultsOn,
  memberPassword as password,
  reachByKey,
} from '../support/http/user-pages.ts';
import { type DemoProgram, startDemoProgram } from '../support/programs/demo-program.ts';

const why = whyNoConsole();

const hook = 'https://hooks.invalid/fleet';

type Row = Readonly<Record<string, unknown>>;

describe.skipIf(why !== null)(
  why === null ? 'the rules of the console' : `the rules of the console [${why}]`,
  () => {
    let demo: DemoProgram;
    const { openAs, closePages, close } = createUserPages(() => demo);
    let token = '';

    const post = (path: string, body: object) => demo.call(`${path}/authorization`, { token, body });
    const ruleOf = async (ruleID: string): Promise<Row | undefined> => {
      const { rules } = await demo.call('notification/rules/authorization', { token });
      return (rules as readonly Row[]).find((rule) => rule['ruleID'] === ruleID);
    };
    const deliveriesOf = async (ruleID: string): Promise<readonly Row[]> => {
      const { deliveries } = await demo.call('notification/deliveries/authorization', { token });
      return (deliveries as readonly Row[]).filter((delivery) => delivery['ruleID'] === ruleID);
    };
    const dialogOf = (page: Page, name: string) => page.getByRole('dialog', { name });

    beforeAll(async () => {
      demo = await startDemoProgram(2);
      token = await demo.login('admin', demo.password);
      await post('user/createuser', { userID: 'olga', roleID: 'operator', password });
      await post('notification/updaterule', {
        ruleID: 'panic',
        ruleDisplayName: 'Panic to the control room',
        statusCodes: [63553],
        silenceS: 0,
        webhook: { url: hook },
      });
    });

    afterEach(closePages);

    afterAll(async () => {
      await close();
      await demo?.stop();
    });

    it('makes a rule by keyboard, whose secret is shown once', async () => {
      const opened = await openAs('admin');
      const { page, user, complaints } = opened;
      await reachByKey(opened, { key: 'n', heading: 'Rules and deliveries' });
      await page.getByRole('link', { name: 'Panic to the control room' }).waitFor();
      await user.goTo('Create rule…');
      await user.press('Enter');
      await expect.poll(user.focused).toBe('Name');
      await user.press('Tab');
      const create = dialogOf(page, 'Create a rule').getByRole('button', { name: 'Create rule' });
      await user.type('panic');
      await page.getByText('This identifier is taken').waitFor();
      expect(await create.isDisabled()).toBe(true);
      await user.type('-night');
      await page.getByText('Choose webhook, e-mail or push').waitFor();
      await user.goTo('Webhook');
      await user.type(hook);
      await user.goTo('Create rule');
      await user.press('Enter');
      const field = page.getByRole('textbox', { name: 'Secret of the webhook' });
      await field.waitFor();
      const secret = await field.inputValue();
      expect(secret.length).toBeGreaterThan(20);
      expect(await ruleOf('panic-night')).toMatchObject({
        isActive: true,
        statusCodes: 'alarms',
        kinds: [],
        webhook: { url: hook },
        quietHours: null,
        silenceS: 300,
      });
      await user.goTo('Close');
      await user.press('Enter');
      await page.getByRole('heading', { name: 'panic-night', exact: true }).waitFor();
      await user.expectFocus();
      expect(await page.content()).not.toContain(secret);
      expect(
        page.url() + String(await page.evaluate('JSON.stringify([sessionStorage, localStorage])')),
      ).not.toContain(secret);
      expect(complaints).toEqual([]);
    });

    it('keeps every member of a rule that the form did not change', async () => {
      await post('notification/updaterule', {
        ruleID: 'whole',
        isActive: false,
        statusCodes: [63553, 12345],
        devices: ['van-01'],
        silenceS: 77,
        quietHours: {
          timeZone: 'Asia/Tokyo',
          from: '21:15',
          to: '05:45',
          weekdays: [2, 5],
          exceptUrgent: false,
        },
        webhook: { url: hook },
        push: { userIDs: ['olga'] },
        alarm: { priority: 'low' },
      });
      const before = await ruleOf('whole');
      const { page, open } = await openAs('admin');
      await open('/rules?rule=whole&open=rule-edit');
      await page.getByRole('textbox', { name: 'Name' }).fill('The whole of it');
      await page.getByRole('button', { name: 'Save rule whole' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByRole('heading', { name: 'The whole of it' }).waitFor();
      const after = await ruleOf('whole');
      expect({ ...after, changed: 0 }).toEqual({
        ...before,
        ruleDisplayName: 'The whole of it',
        changed: 0,
      });
    });

    it('shows the refusal of the service where a rule names a device that is not there', async () => {
      const { page, open } = await openAs('admin');
      await post('device/createdevice', { deviceID: 'ghost' });
      await open('/rules?rule=panic&open=rule-edit');
      await page.getByText('ghost', { exact: true }).click();
      await post('device/deletedevice', { deviceID: 'ghost' });
      await page.getByRole('button', { name: 'Save rule panic' }).click();
      await page.getByRole('alert').filter({ hasText: 'there is no such device' }).waitFor();
      expect(await ruleOf('panic')).toMatchObject({ devices: [] });
    });

    it('tests a webhook and says in words why the receiver did not take it', async () => {
      const { page, open } = await openAs('admin', { language: 'de' });
      await open('/rules?rule=panic');
      await page.getByRole('button', { name: 'Webhook prüfen…' }).click();
      await page.getByRole('button', { name: 'Test senden' }).click();
      await page.getByText('hooks.invalid hat den Test nicht angenommen').waitFor();
      await page
        .getByText(/Der Empfänger ist nicht erreichbar|Der Name des Empfängers hat keine Adresse/)
        .waitFor();
    });

    it('shows deliveries with their reason, and tries one again that was given up', async () => {
      await demo.call('events/createactivation/van-01/63553/authorization', { token });
      await expect
        .poll(async () => (await deliveriesOf('panic')).some(({ lastError }) => lastError !== ''), {
          timeout: 60_000,
        })
        .toBe(true);
      // As after 24 hours.
      const db = new Sqlite(join(demo.state, 'fleetward.db'));
      db.prepare("UPDATE deliveries SET state = 'dead', ended_ms = ?").run(Date.now());
      db.close();
      const { page, user, complaints, open } = await openAs('admin');
      await open('/rules?list=deliveries');
      await page.getByRole('button', { name: 'Given up' }).click();
      expect(new URL(page.url()).search).toBe('?list=deliveries&state=dead');
      await page
        .getByText(/The receiver cannot be reached|The name of the receiver has no address/)
        .first()
        .waitFor();
      const [given] = await deliveriesOf('panic');
      const retry = `Try again: delivery ${String(given?.['deliveryID'])} to hooks.invalid`;
      await page.getByRole('button', { name: retry }).waitFor();
      await user.goTo(retry);
      await user.press('Enter');
      await page.getByRole('button', { name: retry }).waitFor({ state: 'detached' });
      const [again] = await deliveriesOf('panic');
      expect(again).toMatchObject({ deliveryID: given?.['deliveryID'], state: 'pending' });
      await page.getByRole('button', { name: 'Waiting' }).click();
      await page.getByText('waits', { exact: true }).first().waitFor();
      expect(complaints).toEqual([]);
    });

    it('says what a rule would have fired last week, and not for a rule that was changed since', async () => {
      const { page, open } = await openAs('admin');
      await demo.call('events/createactivation/van-02/63553/authorization', { token });
      await open('/rules?rule=panic&open=rule-edit');
      await page.getByRole('button', { name: 'What would have fired last week' }).click();
      const outcome = page.getByRole('status').filter({ hasText: /[1-9][0-9]* notifications?, 0 events/ });
      await outcome.waitFor();
      await page.getByText('van-02').first().waitFor();
      await page.getByRole('dialog').getByText('van-01', { exact: true }).first().click();
      await outcome.waitFor({ state: 'detached' });
      expect(await ruleOf('panic')).toMatchObject({ devices: [] });
    });

    it('deletes a rule by a button that names it', async () => {
      await post('notification/updaterule', {
        ruleID: 'old',
        statusCodes: 'alarms',
        webhook: { url: hook },
      });
      const { page, open } = await openAs('admin');
      await open('/rules?rule=old');
      await page.getByRole('button', { name: 'Delete…' }).click();
      await page.getByRole('button', { name: 'Delete rule old' }).click();
      await page.getByText('Choose a rule to see what it does').waitFor();
      expect(await ruleOf('old')).toBeUndefined();
    });

    it('offers no change to others than administrators', async () => {
      const { page, open } = await openAs('olga');
      await open('/rules');
      await page.getByText('Rules are changed by administrators').waitFor();
      expect(await page.getByRole('button', { name: /Create rule|Delete/ }).count()).toBe(0);
    });

    it.each(['fr', 'de', 'es', 'ar'])('speaks %s on the screens of rules', async (language) => {
      const opened = await openAs('admin', { language });
      const paths = [
        '/rules',
        '/rules?rule=panic&open=rule-edit',
        '/rules?rule=panic&open=rule-test',
        '/rules?list=deliveries',
      ];
      expect(await findEnglishOn(opened, { paths, names: ['Panic to the control room'] })).toEqual([]);
    });

    it.each([
      [1180, 'en'],
      [320, 'en'],
      [320, 'ar'],
      [1180, 'ar'],
    ])('has no fault of accessibility in any theme at %i px in %s', async (width, language) => {
      const opened = await openAs('admin', { width, language });
      const paths = ['/rules?rule=whole', '/rules?rule=whole&open=rule-edit', '/rules?list=deliveries'];
      expect(await findFaultsOn(opened, { paths })).toEqual([]);
      expect(opened.complaints).toEqual([]);
    });

    // The last one: the service ends with it.
    it('offers no change without the stream', async () => {
      const { page, open } = await openAs('admin');
      await open('/rules?rule=panic&open=rule-delete');
      const act = page.getByRole('button', { name: 'Delete rule panic' });
      await expect.poll(() => act.getAttribute('aria-disabled')).not.toBe('true');
      await demo.stop();
      await page.getByText('Commands wait for the connection').first().waitFor({ timeout: 60_000 });
      expect(await act.getAttribute('aria-disabled')).toBe('true');
    });
  },
);
