// A broker process that mails reports through a real SMTP server and is killed while it does, several times over: each due time and each
// request has one mail for each recipient, which arrives at least once, always under the same id, with the same file; nothing else is sent.
// The moments of the kills come from a printed seed.
import { existsSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/adapters/database/sqlite.ts';
import { type AcceptedMail, type SmtpServer, startSmtpServer } from '../support/broker/smtp-server.ts';
import { requires } from '../support/machine/requires.ts';
import { runSeed } from '../support/machine/run-seed.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import {
  createBrokerSetup,
  openApi,
  type Program,
  provision,
  startBroker,
} from '../support/programs/fleet-processes.ts';

const isBuilt = existsSync(new URL('../../dist/broker/main.js', import.meta.url));
const { missing, python } = requires({ python: ['aiosmtpd'], debian: ['python3-aiosmtpd'] });
const skipped = isBuilt ? missing : 'skipped: not built';

const kills = 5;
const schedules = 10;
const recipients = ['ops@example.com', 'boss@example.com'];

const headOf = ({ content }: AcceptedMail): string => content.split('\r\n\r\n', 1)[0] ?? '';
const idOf = (mail: AcceptedMail): string => /^Message-ID: <([^@>]+)@/im.exec(headOf(mail))?.[1] ?? '';

/** The attached file. */
function fileOf({ content }: AcceptedMail): string {
  const part =
    content.split(/\r\n--[^\r\n]+\r\n/).find((one) => /^Content-Type: text\/csv/im.test(one)) ?? '';
  const [head = '', ...body] = part.split('\r\n\r\n');
  expect(head).toMatch(/^Content-Transfer-Encoding: base64$/im);
  return Buffer.from(body.join('').split('\r\n--')[0] ?? '', 'base64').toString();
}

describe.skipIf(skipped !== null)(`reports by mail of a broker that is killed ${skipped ?? ''}`, () => {
  const setup = createBrokerSetup('report-mail');
  const seed = runSeed();
  let server: SmtpServer;
  let broker: Program;
  let flags: readonly string[] = [];

  beforeAll(async () => {
    provision(setup, 'truck-17');
    server = await startSmtpServer(python ?? '');
    flags = [
      ['--notify-smtp-host', '127.0.0.1'],
      ['--notify-smtp-port', String(server.port)],
      ['--notify-smtp-security', 'none'],
      ['--notify-smtp-from', 'fleetward@example.com'],
      ['--notify-console-url', 'https://fleet.example.com/console/'],
    ].flat();
    broker = await startBroker(setup, flags);
  });

  afterAll(async () => {
    broker?.signal('SIGKILL');
    await broker?.ended();
    await server?.close();
    rmSync(setup.folder, { recursive: true, force: true });
  });

  const change = async (...statements: readonly string[]): Promise<void> => {
    const db = openSqlite({ path: `${setup.folder}/fleet.db`, pageSize: 4096 });
    await db.write(statements.map((sql) => ({ sql, params: [] })));
    await db.close();
  };

  it(`each arrive under an id that stays the same (FLEETWARD_TEST_RUN_SEED=${seed})`, async () => {
    const api = await openApi(setup);
    for (let at = 0; at < schedules; at += 1) {
      await api.post('/report/updateschedule/authorization', {
        scheduleID: `s${at}`,
        kind: 'summary',
        period: 'yesterday',
        every: 'day',
        // Two hours ago, so that it is not due by itself during the test.
        time: new Date(Date.now() - 2 * 3_600_000).toISOString().slice(11, 16),
        timeZone: 'UTC',
        recipients,
      });
    }
    let state = seed;
    for (let kill = 0; kill <= kills; kill += 1) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      broker.signal('SIGKILL');
      await broker.ended();
      const dueMs = Date.now() - 1000 * (kill + 1);
      // First what is due after an outage, then what was asked for. What was under way at a kill is tried again after 60 seconds, which
      // need not be waited for here.
      await change(
        kill === 0
          ? `UPDATE report_schedules SET next_ms = next_ms - 3 * 86400000, attempt_ms = next_ms - 3 * 86400000`
          : `UPDATE report_schedules SET asked_ms = COALESCE(asked_ms, ${dueMs}), attempt_ms = ${dueMs}`,
        "UPDATE deliveries SET next_ms = next_ms - 60000 WHERE state = 'pending'",
      );
      const before = server.mails.length;
      broker = await startBroker(setup, flags);
      const wanted = before + 1 + (state % (schedules * recipients.length - 2));
      if (kill < kills)
        await waitUntil('the moment of the kill', () => server.mails.length >= wanted, { everyMs: 1 });
    }
    const db = openSqlite({ path: `${setup.folder}/fleet.db`, pageSize: 4096 });
    const rows = (sql: string) => db.read({ sql, params: [] });
    await waitUntil('all deliveries', async () => {
      const [open] = await rows(`SELECT (SELECT COUNT(*) FROM deliveries WHERE state <> 'sent')
        + (SELECT COUNT(*) FROM report_schedules WHERE asked_ms IS NOT NULL OR next_ms <= ${Date.now()}) AS open_ones`);
      return Number(open?.['open_ones']) === 0;
    });
    const made = await rows('SELECT schedule_no, is_asked, due_ms FROM report_mails');
    const ids = made.map((row) => {
      const kind = row['is_asked'] === 1 ? 'asked' : 'due';
      return `report-${Number(row['schedule_no'])}-${kind}-${Number(row['due_ms'])}`;
    });
    // The due time once, and each request once, whatever the kills.
    expect(made.filter((row) => row['is_asked'] === 0)).toHaveLength(schedules);
    const [audited] = await rows("SELECT COUNT(*) AS count FROM audit WHERE action = 'reportschedule.mail'");
    expect(Number(audited?.['count'])).toBe(made.length);
    await db.close();
    const expected = ids.flatMap((id) => recipients.map((to) => `${id} ${to}`)).toSorted();
    // The server has accepted what is sent; its report of the last ones may still be on its way to this process.
    const namesOf = () => server.mails.map((mail) => `${idOf(mail)} ${mail.to.join()}`);
    await expect.poll(() => [...new Set(namesOf())].toSorted()).toEqual(expected);
    const received = namesOf();
    // A repeat comes of a kill alone: at most what was under way then.
    expect(received.length - expected.length).toBeLessThanOrEqual(kills * 4);
    const texts = new Map<string, string>();
    for (const mail of server.mails) {
      expect(headOf(mail)).toMatch(/^Content-Type: multipart\/mixed;/im);
      expect(headOf(mail)).toMatch(/^Auto-Submitted: auto-generated$/im);
      const file = fileOf(mail);
      expect(file).toMatch(/^\ufeffdeviceID,Vehicle,Trips,/);
      expect(file).toContain('\r\ntruck-17,');
      expect(texts.get(idOf(mail)) ?? file).toBe(file);
      texts.set(idOf(mail), file);
    }
    // No address and no text of a mail stands in the log.
    expect(broker.lines.filter((line) => JSON.stringify(line).includes('example.com'))).toEqual([]);
    expect(broker.complaints()).toBe('');
  }, 180_000);
});
