// Mail through a real SMTP server: what it accepts, what it refuses, and that nothing leaves without TLS where TLS is asked for.
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  createEmailSender,
  type EmailSender,
  type SmtpSettings,
} from '../../broker/adapters/delivery/email.ts';
import { type AcceptedMail, type SmtpServer, startSmtpServer } from '../support/broker/smtp-server.ts';
import { requires } from '../support/machine/requires.ts';

const { missing, python } = requires({ python: ['aiosmtpd'], debian: ['python3-aiosmtpd'] });

const settings = (port: number, changes: Partial<SmtpSettings> = {}): SmtpSettings => ({
  host: '127.0.0.1',
  port,
  security: 'none',
  user: '',
  password: '',
  from: 'fleetward@example.com',
  ...changes,
});

/** The mail of that id, once the server has reported it. */
async function arrived(server: SmtpServer, id: string): Promise<AcceptedMail> {
  const find = () => server.mails.find(({ content }) => content.includes(`<${id}@`));
  await expect.poll(find).toBeDefined();
  return find() ?? { from: '', to: [], content: '' };
}

const mail = (changes: Partial<Parameters<EmailSender['send']>[0]> = {}) => ({
  to: 'ops@example.com',
  subject: 'Panic: Truck 17 é',
  text: 'Panic on Truck 17\n<b>no markup</b>\n.\nlast line\n',
  id: '4711-night-watch',
  ...changes,
});

describe.skipIf(missing !== null)(`mail ${missing ?? ''}`, () => {
  let server: SmtpServer;
  let sender: EmailSender;

  beforeAll(async () => {
    server = await startSmtpServer(python ?? '');
    sender = createEmailSender(settings(server.port));
  });
  afterAll(async () => {
    sender.close();
    await server.close();
  });

  it('is plain text to one mailbox, with an id by which a repeat is recognised', async () => {
    expect(await sender.send(mail())).toEqual({ kind: 'sent' });
    const { from, to, content } = await arrived(server, '4711-night-watch');
    const [head = '', body = ''] = content.split('\r\n\r\n', 2);
    expect([from, to]).toEqual(['fleetward@example.com', ['ops@example.com']]);
    expect(head).toMatch(/^Content-Type: text\/plain; charset=utf-8$/im);
    expect(head).toMatch(/^Message-ID: <4711-night-watch@example\.com>$/im);
    expect(head).toMatch(/^Auto-Submitted: auto-generated$/im);
    expect(head).toMatch(/^To: (<)?ops@example\.com(>)?$/im);
    expect(body).toContain('<b>no markup</b>');
    expect(content).toContain('last line');
  });

  it('with a file is of two parts, the text and the file as it is, whatever its name contains', async () => {
    const content = '\ufeffdeviceID,Vehicle\r\nvan-1,Café\r\n.\r\n';
    const name = 'x.csv"\r\nBcc: thief@example.com';
    const file = { name, content: new TextEncoder().encode(content) };
    expect(await sender.send(mail({ id: 'with-file', file }))).toEqual({ kind: 'sent' });
    const { to, content: sent } = await arrived(server, 'with-file');
    expect(to).toEqual(['ops@example.com']);
    expect(sent).not.toMatch(/^Bcc:/im);
    const [, boundary = ''] = /^Content-Type: multipart\/mixed;\s+boundary="([^"]+)"/im.exec(sent) ?? [];
    const [text = '', attached = ''] = sent.split(`--${boundary}`).slice(1);
    expect(text).toMatch(/^Content-Type: text\/plain; charset=utf-8$/im);
    expect(attached).toMatch(/^Content-Type: text\/csv; charset=utf-8/im);
    expect(attached).toMatch(/^Content-Disposition: attachment/im);
    const [, body = ''] = attached.split('\r\n\r\n', 2);
    expect(Buffer.from(body, 'base64').toString()).toBe(content);
  });

  it('has no header but ours, whatever its texts contain', async () => {
    const evil = 'x\r\nBcc: thief@example.com\r\n\r\nbody';
    expect(await sender.send(mail({ subject: evil, id: 'evil' }))).toEqual({ kind: 'sent' });
    const { to, content } = await arrived(server, 'evil');
    const [head = ''] = content.split('\r\n\r\n', 1);
    expect(to).toEqual(['ops@example.com']);
    expect(head).not.toMatch(/^Bcc:/im);
  });

  it('reaches no recipient that a crafted address would add', async () => {
    for (const to of ['a@example.com, thief@example.com', 'a@example.com\r\nRCPT TO:<thief@example.com>']) {
      await sender.send(mail({ to }));
    }
    await sender.send(mail({ id: 'after-thief' }));
    await arrived(server, 'after-thief');
    for (const { to } of server.mails) expect(to).not.toContain('thief@example.com');
  });

  it('to a mailbox that does not exist is given up; to one that is busy it is tried again', async () => {
    expect(await sender.send(mail({ to: 'unknown@example.com' }))).toEqual({
      kind: 'gone',
      fault: 'mail_answered 550',
    });
    expect(await sender.send(mail({ to: 'busy@example.com' }))).toEqual({
      kind: 'failed',
      fault: 'mail_answered 450',
    });
    expect(await sender.send(mail())).toEqual({ kind: 'sent' });
  });

  it('of many at once is sent through few connections, all of it', async () => {
    const sent = await Promise.all(
      Array.from({ length: 50 }, (_, at) => sender.send(mail({ id: `many-${at}` }))),
    );
    expect(sent.every(({ kind }) => kind === 'sent')).toBe(true);
    for (let at = 0; at < 50; at += 1)
      expect((await arrived(server, `many-${at}`)).to).toEqual(['ops@example.com']);
  });

  it('does not leave where TLS is asked for and the server has none, and neither does the password', async () => {
    const strict = createEmailSender(
      settings(server.port, { security: 'starttls', user: 'fleetward', password: 'secret' }),
    );
    expect(await strict.send(mail({ id: 'in-the-clear' }))).toMatchObject({ kind: 'failed' });
    strict.close();
    const tls = createEmailSender(settings(server.port, { security: 'tls' }));
    expect(await tls.send(mail({ id: 'in-the-clear' }))).toMatchObject({ kind: 'failed' });
    tls.close();
    await sender.send(mail({ id: 'after-tls' }));
    await arrived(server, 'after-tls');
    expect(server.mails.some(({ content }) => content.includes('in-the-clear'))).toBe(false);
  });
});

it('mail to a server that is not there, or hangs, fails and ends with the service', async () => {
  const silent = createServer();
  onTestFinished(() => void silent.close());
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const hanging = createEmailSender(settings(port));
  onTestFinished(() => hanging.close());
  silent.once('connection', () => hanging.close());
  expect(await hanging.send(mail())).toMatchObject({ kind: 'failed' });
  await new Promise((resolve) => silent.close(resolve));
  const sender = createEmailSender(settings(port));
  onTestFinished(() => sender.close());
  expect(await sender.send(mail())).toMatchObject({ kind: 'failed' });
});
