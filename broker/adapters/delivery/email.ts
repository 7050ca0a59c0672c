// Mail by SMTP, over nodemailer and nowhere else. Plain text to one mailbox, with at most one CSV file, which was checked where it came in; nothing
// that people or vehicles wrote can become a header, a file or a URL here. Faults hold the server's code, not its text.
import type { OutgoingMail, Sending } from '../../notify/senders.ts';
import { createTimedWork } from './timed-work.ts';

export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  /** `starttls` insists on it; `tls` from the first byte; `none` sends in the clear. */
  readonly security: 'starttls' | 'tls' | 'none';
  /** Empty: no login. */
  readonly user: string;
  readonly password: string;
  readonly from: string;
}

export interface EmailSender {
  send(mail: OutgoingMail): Promise<Sending>;
  close(): void;
}

const connections = 2;
const mailsOfConnection = 100;
const connectMs = 10_000;
const silenceMs = 20_000;
/** All of one mail, below the lease of its delivery. */
const mailMs = 45_000;

function sendingOf(thrown: unknown): Sending {
  const error = typeof thrown === 'object' && thrown !== null ? thrown : {};
  const code = 'code' in error ? String(error.code) : '';
  const status = 'responseCode' in error ? Number(error.responseCode) : 0;
  if (status === 0) return { kind: 'failed', fault: `mail_unreachable ${code || 'unknown'}` };
  const fault = `mail_answered ${status}` as const;
  // 5xx to this mailbox or mail is for good (RFC 5321 section 4.2.1); a refused login or sender is ours to mend.
  const command = 'command' in error ? String(error.command) : '';
  const isFinal = status >= 500 && (code === 'EMESSAGE' || (code === 'EENVELOPE' && command === 'RCPT TO'));
  return isFinal ? { kind: 'gone', fault } : { kind: 'failed', fault };
}

/** Bytes in memory: nothing is read from a path or URL. */
const attachmentOf = ({ name, content }: NonNullable<OutgoingMail['file']>) => ({
  filename: name,
  content: Buffer.from(content),
  contentType: 'text/csv; charset=utf-8',
});

/** Mail through one server. Connections are opened when there is something to send. */
export function createEmailSender(settings: SmtpSettings): EmailSender {
  const { host, port, security, user, password, from } = settings;
  const options = {
    pool: true,
    maxConnections: connections,
    maxMessages: mailsOfConnection,
    // A failed mail is tried again by its delivery, which is on disk.
    maxRequeues: 0,
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(user === '' ? {} : { auth: { user, pass: password } }),
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    dnsTimeout: connectMs,
    socketTimeout: silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  } as const;
  // Only a service that sends mail loads it.
  const opened = import('nodemailer').then(({ createTransport }) => createTransport(options));
  const domain = from.split('@').at(-1) ?? 'localhost';
  const work = createTimedWork();
  return {
    async send({ to, subject, text, id, file }) {
      try {
        const content = {
          from,
          to: { name: '', address: to },
          subject,
          text,
          ...(file === undefined ? {} : { attachments: [attachmentOf(file)] }),
          messageId: `<${id}@${domain}>`,
          // No out-of-office replies (RFC 3834).
          headers: { 'Auto-Submitted': 'auto-generated' },
        };
        const transport = await opened;
        await work.run(mailMs, (signal) => transport.sendMail({ ...content, signal }));
        return { kind: 'sent' };
      } catch (thrown) {
        return sendingOf(thrown);
      }
    },
    close() {
      work.close();
      void opened.then((transport) => transport.close());
    },
  };
}
