// An OpenID Connect provider that says whatever a test wants: its settings, keys and tokens can be altered, too long, or never end.
import { createHmac, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Json = Readonly<Record<string, unknown>>;

const base64 = (value: Json): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A key pair of the provider; only `good` is published. */
const makeKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
export const keys = { good: makeKey(), other: makeKey() };

export const publicPem = (): string => keys.good.publicKey.export({ type: 'spki', format: 'pem' }).toString();

/** An ID token, signed with RS256. */
export function signToken(claims: Json, header: Json = {}, key: KeyObject = keys.good.privateKey): string {
  const text = `${base64({ alg: 'RS256', kid: 'one', ...header })}.${base64(claims)}`;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(key, 'base64url')}`;
}

/** An ID token with a signature that a shared secret makes: any holder of it could make one. */
export function hmacToken(claims: Json, secret: string): string {
  const text = `${base64({ alg: 'HS256', kid: 'one' })}.${base64(claims)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

export const unsignedToken = (claims: Json): string => `${base64({ alg: 'none' })}.${base64(claims)}.`;

export function sendJson(reply: ServerResponse, body: unknown, status = 200): void {
  reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Sends without an end, until the other end closes. */
export function sendWithoutEnd(reply: ServerResponse): void {
  reply.writeHead(200, { 'content-type': 'application/json' });
  const block = ' '.repeat(64 * 1024);
  const send = (): void => {
    while (!reply.destroyed && reply.write(block));
  };
  reply.on('drain', send);
  send();
}

export interface Behaviour {
  /** Changes of the settings that it publishes. */
  readonly settings?: Json;
  readonly onSettings?: RequestListener;
  readonly onKeys?: RequestListener;
  /** What it answers for a code. */
  readonly onToken?: RequestListener;
}

/** Listens on this machine until `close`. */
export async function startLyingProvider(behaviour: Behaviour) {
  let issuer = '';
  let requests = 0;
  const server = createServer((request, reply) => {
    requests += 1;
    const path = request.url ?? '';
    if (path === '/.well-known/openid-configuration') {
      if (behaviour.onSettings !== undefined) return behaviour.onSettings(request, reply);
      return sendJson(reply, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        id_token_signing_alg_values_supported: ['RS256'],
        ...behaviour.settings,
      });
    }
    if (path === '/keys') {
      if (behaviour.onKeys !== undefined) return behaviour.onKeys(request, reply);
      const key = keys.good.publicKey.export({ format: 'jwk' });
      return sendJson(reply, { keys: [{ ...key, kid: 'one', use: 'sig' }] });
    }
    request.resume();
    if (behaviour.onToken !== undefined) return behaviour.onToken(request, reply);
    return sendJson(reply, { error: 'invalid_grant' }, 400);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    /** Requests so far. */
    asked: (): number => requests,
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
