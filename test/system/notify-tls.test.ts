// Webhooks and mail over TLS: sent where the certificate is valid for the name and signed by an authority that the process
// trusts (those of the platform, and NODE_EXTRA_CA_CERTS), and nowhere else; the password goes over TLS alone.
import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Certificate, createAuthority } from '../support/broker/certificates.ts';
import { type SmtpServer, startSmtpServer } from '../support/broker/smtp-server.ts';
import { requires } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';

const isBuilt = existsSync(new URL('../../dist/broker/main.js', import.meta.url));
const child = fileURLToPath(new URL('../support/broker/send-child.mjs', import.meta.url));
const tools = requires({ commands: ['openssl'], debian: ['openssl'] });
const mail = requires({
  python: ['aiosmtpd'],
  commands: ['openssl'],
  debian: ['python3-aiosmtpd', 'openssl'],
});
const skipped = isBuilt ? tools.missing : 'skipped: not built';

describe.skipIf(skipped !== null)(`TLS ${skipped ?? ''}`, () => {
  const folder = temporaryFolder('tls');
  const posts: string[] = [];
  const servers: Server[] = [];
  const authority = createAuthority(folder);
  const good = authority.issue('localhost', 2);
  const urls = { good: '', otherName: '', expired: '' };

  async function serve(name: string, { cert, key }: Certificate): Promise<string> {
    const server = createServer({ cert, key }, (request, response) => {
      posts.push(name);
      request.resume();
      response.writeHead(204).end();
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
    return `https://localhost:${(server.address() as AddressInfo).port}/`;
  }

  beforeAll(async () => {
    urls.good = await serve('good', good);
    urls.otherName = await serve('other name', authority.issue('hooks.example.com', 2));
    urls.expired = await serve('expired', authority.issue('localhost', -1));
  });

  afterAll(async () => {
    for (const server of servers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
    rmSync(folder, { recursive: true, force: true });
  });

  /** Sends by a process of its own, which trusts the authority or does not. */
  async function send(jobs: readonly object[], trusts = true): Promise<unknown> {
    const env = { PATH: process.env['PATH'], ...(trusts ? { NODE_EXTRA_CA_CERTS: authority.caFile } : {}) };
    const { stdout } = await promisify(execFile)(process.execPath, [child, JSON.stringify(jobs)], { env });
    return JSON.parse(stdout);
  }

  it('of a webhook is proven before anything is sent', async () => {
    const jobs = [{ url: urls.good }, { url: urls.otherName }, { url: urls.expired }];
    expect(await send(jobs)).toEqual([
      { status: 204, retryAfterS: null },
      { status: null, fault: 'unreachable ERR_TLS_CERT_ALTNAME_INVALID' },
      { status: null, fault: 'unreachable CERT_HAS_EXPIRED' },
    ]);
    expect(await send([{ url: urls.good }], false)).toEqual([
      { status: null, fault: expect.stringMatching(/^unreachable [A-Z_]*(LEAF|ISSUER)[A-Z_]*$/) },
    ]);
    expect(posts).toEqual(['good']);
  });

  describe.skipIf(mail.missing !== null)(`of mail ${mail.missing ?? ''}`, () => {
    let server: SmtpServer;
    const login = { user: 'fleetward', password: 'correct horse', from: 'fleetward@example.com' };
    const job = (changes: object) => ({
      smtp: { host: 'localhost', port: server.port, security: 'starttls', ...login, ...changes },
    });

    beforeAll(async () => {
      server = await startSmtpServer(mail.python ?? '', { ...good, ...login });
    });
    afterAll(() => server.close());

    it('is asked for, proven and used for the login', async () => {
      expect(await send([job({ id: 'with-login' })])).toEqual([{ kind: 'sent' }]);
      await expect.poll(() => server.mails.length).toBe(1);
      expect(server.mails[0]?.content).toContain('<with-login@example.com>');
    });

    it('that is not proven, a wrong password and a login in the clear send nothing, and are tried again', async () => {
      const notTrusted = await send([job({ id: 'not-trusted' })], false);
      expect(notTrusted).toMatchObject([{ kind: 'failed' }]);
      const refused = await send([
        job({ id: 'wrong-password', password: 'wrong' }),
        job({ id: 'in-the-clear', security: 'none' }),
        job({ id: 'other-name', host: '127.0.0.1' }),
      ]);
      expect(refused).toMatchObject([{ kind: 'failed' }, { kind: 'failed' }, { kind: 'failed' }]);
      expect(JSON.stringify([notTrusted, refused])).not.toMatch(/wrong"|horse/);
      expect(server.mails.map(({ content }) => /<(.*)@example\.com>/.exec(content)?.[1])).toEqual([
        'with-login',
      ]);
    });
  });
});
