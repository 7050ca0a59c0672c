// The listener at which a RabbitMQ cluster asks about logins, over TLS with a secret in its path and plain without one: what
// a stranger, a wrong form and a database that does not answer get is never an "allow".
import { readFileSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openClusterAuth } from '../../broker/adapters/cluster/rabbitmq-auth.ts';
import type { MqttCount } from '../../broker/ports/mqtt-server.ts';
import { hashSecret } from '../../broker/store/devices/device-secret.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import type { Log } from '../../src/ports.ts';
import { createAuthority } from '../support/broker/certificates.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';

const folder = temporaryFolder('cluster-auth');
const pathSecret = 'word-of-the-cluster';
const user = { username: 'demo/truck-1', client_id: 'demo/truck-1', vhost: 'fleet', password: 'right' };
const lines: string[] = [];
const note = (message: string, fields?: object): void =>
  void lines.push(`${message} ${JSON.stringify(fields)}`);
const log = { debug: note, info: note, warn: note, error: note } as Log;

describe.each(['tls', 'plain'] as const)('the questions of a cluster over %s', (kind) => {
  const counted: MqttCount[] = [];
  let server: Awaited<ReturnType<typeof openClusterAuth>>;
  let ca = '';
  let isOverloaded = false;
  let isStoreGone = false;

  beforeAll(async () => {
    const authority = createAuthority(folder);
    const { cert, key } = authority.issue('localhost', 1);
    ca = readFileSync(authority.caFile, 'utf8');
    const options = {
      clock: createSystemClock(),
      log,
      vhost: 'fleet',
      pathSecretHash: kind === 'tls' ? hashSecret(pathSecret) : null,
      tls: kind === 'tls' ? { cert, key, clientCa: null } : null,
      async logIn(_device: object, secret: Uint8Array) {
        if (isStoreGone) throw new Error('the database does not answer');
        return Buffer.from(secret).toString() === 'right';
      },
      isOverloaded: () => isOverloaded,
      count: (what: MqttCount) => void counted.push(what),
    };
    server = await openClusterAuth(options, { host: '127.0.0.1', port: 0, setting: 'cluster-auth' });
  });
  afterAll(() => server.close());

  const ask = (
    path: string,
    form: Readonly<Record<string, string>> | string,
    method = 'POST',
  ): Promise<string> =>
    new Promise((resolve, reject) => {
      const to = { host: 'localhost', port: server.port, path, method, agent: false } as const;
      const request = kind === 'tls' ? tlsRequest({ ...to, ca }) : plainRequest(to);
      request.once('error', reject);
      request.once('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part) => (text += String(part)));
        response.once('end', () => resolve(`${response.statusCode} ${text}`));
      });
      request.end(typeof form === 'string' ? form : new URLSearchParams(form).toString());
    });
  const pathOf = (question: string): string =>
    kind === 'tls' ? `/auth/${pathSecret}/${question}` : `/auth/${question}`;

  it('are answered: identity and permitted topics', async () => {
    expect(await ask(pathOf('user'), user)).toBe('200 allow');
    expect(await ask(pathOf('user'), { ...user, password: 'wrong' })).toBe('200 deny');
    expect(await ask(pathOf('vhost'), { username: user.username, vhost: 'fleet' })).toBe('200 allow');
    expect(await ask(pathOf('vhost'), { username: user.username, vhost: '/' })).toBe('200 deny');
    const topic = { username: user.username, vhost: 'fleet', resource: 'topic', name: 'amq.topic' };
    const events = { ...topic, permission: 'write', routing_key: 'fleet.v1.demo.truck-1.events' };
    expect(await ask(pathOf('topic'), events)).toBe('200 allow');
    expect(await ask(pathOf('topic'), { ...events, permission: 'read' })).toBe('200 deny');
    expect(counted).toEqual(['accepted', 'refused_credentials', 'subscription_refused']);
  });

  it.each([
    ['a password that is missing', { username: user.username, client_id: user.client_id, vhost: 'fleet' }],
    ['an empty password', { ...user, password: '' }],
    ['another virtual host', { ...user, vhost: 'other' }],
    ['a client id of another', { ...user, client_id: 'demo/truck-2' }],
    ['a name that is no vehicle', { ...user, username: 'guest', client_id: 'guest' }],
  ])('get a "deny" for %s', async (_what, form) => {
    expect(await ask(pathOf('user'), form)).toBe('200 deny');
  });

  it('get no answer that could pass for one at another path, by another method, or with a body without end', async () => {
    const strange = [
      '/',
      '/auth',
      '/auth/user/',
      `${pathOf('user')}/more`,
      '/auth/wrong/user',
      pathOf('nothing'),
    ];
    for (const path of strange) expect(await ask(path, user), path).toBe('404 deny');
    if (kind === 'tls') expect(await ask('/auth/user', user)).toBe('404 deny');
    expect(await ask(pathOf('user'), '', 'GET')).toBe('404 deny');
    expect(await ask(pathOf('user'), { ...user, more: 'x'.repeat(9000) })).toBe('503 not now');
  });

  it('are an error, which admits no client, while the store fails or the bridge cannot keep up', async () => {
    isStoreGone = true;
    expect(await ask(pathOf('user'), user)).toBe('503 not now');
    isStoreGone = false;
    isOverloaded = true;
    expect(await ask(pathOf('user'), user)).toBe('503 not now');
    isOverloaded = false;
    expect(await ask(pathOf('user'), user)).toBe('200 allow');
  });

  it('leave no secret in the log', () => {
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).not.toMatch(/right|wrong|word-of/);
  });
});
