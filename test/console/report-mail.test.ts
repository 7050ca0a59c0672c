// Reports by mail in Chromium against the real broker: made, changed, sent and deleted by keyboard, with what became of each in words. What the
// screen says is compared with what the service then has, and the mailed file with the one that the console saves.
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readConsoleFiles } from '../../broker/adapters/storage/console-files.ts';
import type { OutgoingMail, Sending } from '../../broker/notify/senders.ts';
import { createLoopbackSenders } from '../support/broker/senders.ts';
import {
  type ConsolePage,
  createConsoleBrowsers,
  findFaultsInThemes,
  openConsole,
  sentencesOf,
  whyNoConsole,
} from '../support/http/console-page.ts';
import { allWords } from '../support/http/console-words.ts';
import { startHttpService } from '../support/http/http-service.ts';
import { createKeyboardUser } from '../support/http/keyboard-user.ts';

const why = whyNoConsole();
const built = new URL('../../dist/broker/console/', import.meta.url).pathname;
const daySeconds = 86_400;

type Row = Readonly<Record<string, unknown>>;

/** A drive of half an hour on the day before today, UTC. */
function driveOf(todayS: number): readonly object[] {
  return Array.from({ length: 180 }, (_, minute) => ({
    seq: minute + 1,
    timestamp: todayS - daySeconds + 6 * 3600 + minute * 60,
    statusCode: minute > 30 && minute < 60 ? 61714 : 61472,
    latitude: Number((43 + Math.min(29, Math.max(0, minute - 30)) * 0.008).toFixed(6)),
    longitude: -79.3,
    speed: minute > 30 && minute < 60 ? 54 : 0,
    inputs: { ignition: minute > 30 && minute < 60 },
  }));
}

describe.skipIf(why !== null)(
  why === null ? 'the reports by mail of the console' : `the reports by mail of the console [${why}]`,
  () => {
    const browsers = createConsoleBrowsers();
    const mails: OutgoingMail[] = [];
    let answer: Sending = { kind: 'sent' };
    let service: Awaited<ReturnType<typeof startHttpService>>;
    let base = '';
    const tokens = new Map<string, string>();
    const pages: ConsolePage[] = [];

    const openAs = async (userID: string, of: Partial<Parameters<typeof openConsole>[1]> = {}) => {
      const opened = await openConsole(browsers, {
        base,
        session: { token: tokens.get(userID) ?? '', userID },
        ...of,
      });
      pages.push(opened);
      return { ...opened, user: createKeyboardUser(opened.page) };
    };
    const schedules = async (): Promise<readonly Row[]> => {
      const path = '/api/v1/report/schedules/authorization';
      const { json } = await service.call({ path, token: tokens.get('admin') ?? '' });
      return json()['schedules'] as readonly Row[];
    };
    const put = async (changes: object = {}, userID = 'admin'): Promise<void> => {
      const { status, text } = await service.call({
        method: 'POST',
        path: '/api/v1/report/updateschedule/authorization',
        token: tokens.get(userID) ?? '',
        body: {
          scheduleID: 'daily',
          scheduleDisplayName: 'Trips of the day',
          kind: 'trips',
          period: 'yesterday',
          every: 'day',
          time: '06:30',
          timeZone: 'America/Toronto',
          recipients: ['ops@example.com'],
          ...changes,
        },
      });
      expect(status, text).toBe(200);
    };

    beforeAll(async () => {
      const senders = createLoopbackSenders(async (mail) => {
        mails.push(mail);
        return answer;
      });
      service = await startHttpService({
        senders,
        console: why === null ? await readConsoleFiles(built) : null,
      });
      await service.account('demo');
      for (const deviceID of ['van-01', 'van-02']) await service.device('demo', deviceID);
      const todayS = Math.floor(Date.now() / 1000 / daySeconds) * daySeconds;
      await service.events('demo', 'van-01', { boot: 'b1', events: driveOf(todayS) });
      await service.user('demo', 'olga', 'operator');
      await service.user('demo', 'vera', 'viewer');
      await service.sql("UPDATE users SET notify_email = 'olga@example.com' WHERE user_id = 'olga'");
      for (const userID of ['admin', 'olga', 'vera']) tokens.set(userID, await service.login('demo', userID));
      base = `http://127.0.0.1:${await service.http.listen({ host: '127.0.0.1', port: 0 })}`;
    });

    afterEach(async () => {
      for (const { context } of pages.splice(0)) await context.close();
      answer = { kind: 'sent' };
      mails.length = 0;
      await service.sql('DELETE FROM report_schedules');
    });

    afterAll(async () => {
      await browsers.close();
      await service?.close();
    });

    it('are made, sent as a test and deleted by keyboard, and the last result stands in words', async () => {
      const { page, user, complaints, open } = await openAs('admin');
      await open('/live');
      await page.locator('a.vehicle').first().waitFor();
      await user.goTo('Live');
      await user.press('g', 'r');
      await page.getByRole('heading', { name: 'Reports', level: 1 }).waitFor();
      await user.goTo('By mail');
      await user.press('Enter');
      await page.getByText('No reports are mailed').waitFor();
      await user.goTo('Create report by mail…');
      await user.press('Enter');
      await expect.poll(user.focused).toBe('Name');
      const dialog = page.getByRole('dialog', { name: 'Create a report by mail' });
      const create = dialog.getByRole('button', { name: 'Create report by mail' });
      await user.type('weekly');
      expect(await create.isDisabled()).toBe(true);
      await user.goTo('van-01');
      await user.press('Space');
      await user.goTo('Mailboxes');
      await user.type('not a mailbox');
      await dialog.getByText('Name 1 to 10 mailboxes').waitFor();
      await user.press('Control+a');
      await user.type('ops@example.com, boss@example.com');
      expect(await findFaultsInThemes(page)).toEqual([]);
      await user.goTo('Create report by mail');
      await user.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('heading', { name: 'weekly', exact: true }).waitFor();
      await user.expectFocus();
      const [made] = await schedules();
      expect(made).toMatchObject({
        scheduleID: 'weekly',
        owner: 'admin',
        kind: 'summary',
        devices: ['van-01'],
        period: 'lastWeek',
        every: 'week',
        weekday: 1,
        time: '06:30',
        recipients: ['ops@example.com', 'boss@example.com'],
      });
      await page.getByText('None was due or asked for yet').waitFor();
      await user.goTo('Send now…');
      await user.press('Enter');
      await user.goTo('Send report weekly');
      await user.press('Enter');
      const results = page.getByRole('list', { name: 'Mails' });
      await results.getByText('Sent').nth(1).waitFor();
      expect(await results.innerText()).toContain('boss@example.com');
      expect(mails.map(({ to }) => to).toSorted()).toEqual(['boss@example.com', 'ops@example.com']);
      expect(mails[0]?.subject).toMatch(/^\[Test\] Summary: weekly/);
      await user.goTo('Delete…');
      await user.press('Enter');
      await user.goTo('Delete report by mail weekly');
      await user.press('Enter');
      await page.getByText('No reports are mailed').waitFor();
      await user.expectFocus();
      expect(await schedules()).toEqual([]);
      expect(complaints).toEqual([]);
    });

    it('mail the very file that the console saves', async () => {
      await put({ timeZone: 'UTC' });
      const { page, open } = await openAs('admin');
      const path = '/api/v1/report/sendschedule/authorization';
      const body = { scheduleID: 'daily' };
      await service.call({ method: 'POST', path, token: tokens.get('admin') ?? '', body });
      await expect.poll(() => mails.length).toBe(1);
      const todayS = Math.floor(Date.now() / 1000 / daySeconds) * daySeconds;
      await open(`/reports?kind=trips&from=${todayS - daySeconds}&to=${todayS - 1}`);
      await page.locator('table.report tbody tr').first().waitFor();
      const saving = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Save as file' }).click();
      await page.getByRole('menuitem', { name: 'CSV, this table' }).click();
      const saved = await readFile(await (await saving).path(), 'utf8');
      expect(saved.split('\r\n').length).toBeGreaterThan(2);
      expect(Buffer.from(mails[0]?.file?.content ?? []).toString()).toBe(saved);
    });

    it('keep every member that the form did not change, and show the next due time in their own zone', async () => {
      await put({
        devices: ['van-02'],
        every: 'month',
        monthDay: 31,
        weekday: 4,
        language: 'ar',
        isActive: false,
      });
      const [before] = await schedules();
      const { page, open } = await openAs('admin');
      await open('/reports/mail?schedule=daily&open=schedule-edit');
      await page.getByRole('textbox', { name: 'Name' }).fill('Renamed');
      await page.getByText('Mail it when it is due').click();
      await page.getByRole('button', { name: 'Save report by mail daily' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByRole('heading', { name: 'Renamed' }).waitFor();
      const [after] = await schedules();
      const changing = { scheduleDisplayName: '', changed: 0, nextDue: 0, isActive: true };
      expect({ ...after, ...changing }).toEqual({ ...before, ...changing });
      const zone = { timeZone: 'America/Toronto' };
      const due = new Date(Number(after?.['nextDue']) * 1000).toLocaleDateString('en', {
        ...zone,
        month: 'short',
        day: 'numeric',
        year: 'numeric',
      });
      await page.getByText(`${due}, 06:30 (America/Toronto)`).first().waitFor();
    });

    it('say why the last one was not delivered, and why one was stopped', async () => {
      answer = { kind: 'gone', fault: 'mail_answered 550' };
      await put();
      await put({ scheduleID: 'of-olga', recipients: ['olga@example.com'] }, 'olga');
      await service.sql(
        "UPDATE report_schedules SET stopped = 'vehicles_gone', next_ms = NULL, attempt_ms = NULL WHERE schedule_id = 'of-olga'",
      );
      const { page, open } = await openAs('admin');
      await open('/reports/mail?schedule=daily&open=schedule-send');
      await page.getByRole('button', { name: 'Send report daily' }).click();
      await page.getByText('The mail server answered 550').waitFor();
      await page.getByRole('link', { name: 'Trips of the day' }).nth(1).click();
      await page.getByText('Its owner no longer sees what it names').waitFor();
      await page.getByText('It belongs to olga, who alone changes it').waitFor();
      expect(await page.getByRole('button', { name: 'Change…' }).count()).toBe(0);
      // Anew, without what a button that was pressed announces for some seconds.
      await open('/reports/mail?schedule=of-olga');
      await page.getByText('It was stopped').waitFor();
      expect(await findFaultsInThemes(page)).toEqual([]);
    });

    it('are for operators, who get the reason of a refusal, and not for viewers', async () => {
      const viewer = await openAs('vera');
      await viewer.open('/reports/mail');
      await viewer.page.getByText('Reports by mail are for operators and administrators').waitFor();
      const { page, open } = await openAs('olga');
      await open('/reports/mail?open=schedule-create');
      await page.getByRole('textbox', { name: 'ID' }).fill('mine');
      expect(await page.getByRole('textbox', { name: 'Mailboxes' }).inputValue()).toBe('olga@example.com');
      await page.getByRole('textbox', { name: 'Mailboxes' }).fill('stranger@example.org');
      await page.getByRole('button', { name: 'Create report by mail', exact: true }).click();
      await page.getByRole('alert').filter({ hasText: 'no such mailbox of a user of the account' }).waitFor();
    });

    it.each(['de', 'fr', 'es', 'ar'])(
      'are accessible and without an English sentence in %s',
      async (language) => {
        await put();
        await service.sql(
          "UPDATE report_schedules SET last_ms = 1, last_due_ms = 1, last_fault = 'not_read', stopped = 'owner_role'",
        );
        const { page, open } = await openAs('admin', { language });
        const sentences = sentencesOf(await allWords('en'));
        for (const path of ['/reports/mail?schedule=daily', '/reports/mail?open=schedule-create']) {
          await open(path);
          await page.locator('table.folds tbody tr').first().waitFor({ state: 'attached' });
          await page.waitForTimeout(600);
          const body = (await page.locator('body').innerText()).replace('Trips of the day', '');
          expect(sentences.filter((sentence) => body.includes(sentence))).toEqual([]);
          expect(await findFaultsInThemes(page)).toEqual([]);
        }
      },
    );
  },
);
