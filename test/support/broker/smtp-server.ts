// Starts the SMTP server of smtp-server.py as a process of its own and collects the mails that it accepted.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface AcceptedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** The message as it was sent: headers and body. */
  readonly content: string;
}

export interface SmtpServer {
  readonly port: number;
  readonly mails: readonly AcceptedMail[];
  close(): Promise<void>;
}

/** What makes the server insist on STARTTLS and a login. */
interface SmtpLogin {
  readonly certFile: string;
  readonly keyFile: string;
  readonly user: string;
  readonly password: string;
}

/** @param python an interpreter with aiosmtpd; see `requires`. */
export async function startSmtpServer(python: string, login: SmtpLogin | null = null): Promise<SmtpServer> {
  const script = fileURLToPath(new URL('./smtp-server.py', import.meta.url));
  const strict = login === null ? [] : [login.certFile, login.keyFile, login.user, login.password];
  const child = spawn(python, [script, ...strict], { stdio: ['ignore', 'pipe', 'inherit'] });
  const endChild = (): void => void child.kill();
  process.once('exit', endChild);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const mails: AcceptedMail[] = [];
  const lines = createInterface({ input: child.stdout });
  const port = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the SMTP server ended with ${code}`)));
    lines.once('line', (line) => {
      lines.on('line', (next) => void mails.push(JSON.parse(next) as AcceptedMail));
      resolve(Number(line));
    });
  });
  return {
    port,
    mails,
    async close() {
      process.removeListener('exit', endChild);
      child.kill();
      await ended;
    },
  };
}
