// Answers RabbitMQ's HTTP authorisation backend: may this client log in, and what may it use. Nothing is allowed that is not
// asked for in full and found right; every doubt is a "deny", and a database that does not answer is an error, which
// RabbitMQ takes for one. It must never show or log a secret, nor wait without an end.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { messageOf } from '../../src/core/errors.ts';
import { type DeviceAddress, formatDeviceUser } from '../../src/core/topics.ts';
import type { Clock, Log } from '../../src/ports.ts';
import { pause } from '../../src/settle.ts';
import { deviceOf, mayUseResource, mayUseTopic, type Question } from '../core/cluster-access.ts';
import { createRates } from '../core/rate.ts';
import { isSecret } from '../device-secret.ts';
import type { MqttCount, TlsMaterial } from '../mqtt-server.ts';
import { type ListenAddress, listenError } from './fastify-faults.ts';
import { serverOptions } from './tls-options.ts';

export interface ClusterAuthOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** The only virtual host of vehicles. */
  readonly vhost: string;
  /** SHA-256 of the word that every path must hold; null: none, for a listener on loopback. */
  readonly wordHash: string | null;
  readonly tls: TlsMaterial | null;
  /** True once the login is right and recorded. A rejection: nobody knows now. */
  readonly logIn: (device: DeviceAddress, secret: Uint8Array) => Promise<boolean>;
  /** True while nobody should be let in. */
  readonly isOverloaded: () => boolean;
  readonly count: (what: MqttCount) => void;
}

export interface ClusterAuth {
  readonly port: number;
  close(): Promise<void>;
}

const bodyBytes = 8192;
/** Questions at work, waiting failures included; beyond it the answer is an error and the vehicle comes again. */
const openMost = 2000;
const connectionsMost = 4096;
const requestMs = 10_000;
/** Failed logins of one name; beyond it every login of that name waits two seconds. */
const failures = { burst: 20, perS: 0.2 } as const;
const failureDelayMs = 2000;

type Verdict = 'allow' | 'deny';

/** What kind of question the path asks; null when it is none of ours, or without the right word. */
function kindOf(url: string, wordHash: string | null): string | null {
  const parts = url.split('?', 1)[0]?.split('/') ?? [];
  const [root, auth, ...rest] = parts;
  const [kind, word] = rest.length === 1 ? [rest[0], ''] : [rest[1], rest[0]];
  if (root !== '' || auth !== 'auth' || rest.length > 2 || rest.length === 0) return null;
  const isRight = wordHash === null ? rest.length === 1 : isSecret(Buffer.from(word ?? ''), wordHash);
  return isRight ? (kind ?? null) : null;
}

function readForm(request: IncomingMessage): Promise<Question> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    request.on('data', (part: Buffer) => {
      size += part.length;
      if (size > bodyBytes) reject(new Error('the question is too long'));
      else parts.push(part);
    });
    request.on('error', reject);
    request.on('end', () =>
      resolve(Object.fromEntries(new URLSearchParams(Buffer.concat(parts).toString()))),
    );
  });
}

function createJudge({ clock, vhost, logIn, isOverloaded, count }: ClusterAuthOptions) {
  const failed = createRates(failures);
  const user = async (question: Question): Promise<Verdict> => {
    const device = deviceOf(question);
    const secret = question['password'] ?? '';
    // Without a password it is a login by certificate, and RabbitMQ does not say by which.
    if (device === null || secret === '' || question['vhost'] !== vhost) {
      count('refused_identity');
      return 'deny';
    }
    if (isOverloaded()) {
      count('refused_unavailable');
      throw new Error('the bridge cannot keep up');
    }
    const name = formatDeviceUser(device);
    if (failed.isSpent(name, clock.monoMs())) await pause(clock, failureDelayMs);
    if (await logIn(device, Buffer.from(secret))) {
      count('accepted');
      return 'allow';
    }
    failed.take(name, clock.monoMs());
    count('refused_credentials');
    return 'deny';
  };
  const counted = (isAllowed: boolean, what: MqttCount): Verdict => {
    if (!isAllowed) count(what);
    return isAllowed ? 'allow' : 'deny';
  };
  return async (kind: string, question: Question): Promise<Verdict | null> => {
    if (kind === 'user') return user(question);
    const isHere = question['vhost'] === vhost && (question['username'] ?? '').includes('/');
    const what = question['permission'] === 'write' ? 'publish_refused' : 'subscription_refused';
    if (kind === 'vhost') return isHere ? 'allow' : 'deny';
    if (kind === 'resource') return counted(isHere && mayUseResource(question), what);
    if (kind === 'topic') return counted(isHere && mayUseTopic(question), what);
    return null;
  };
}

function answer(response: ServerResponse, status: number, words: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(words),
  });
  response.end(words);
}

/** Starts to listen. @throws AppError `port_in_use` or `config`. */
export async function openClusterAuth(
  options: ClusterAuthOptions,
  address: ListenAddress,
): Promise<ClusterAuth> {
  const { log, tls, wordHash } = options;
  const judge = createJudge(options);
  let open = 0;
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const kind = request.method === 'POST' ? kindOf(request.url ?? '', wordHash) : null;
    if (kind === null) {
      request.resume();
      return answer(response, 404, 'deny');
    }
    if (open >= openMost) {
      request.resume();
      return answer(response, 503, 'busy');
    }
    open += 1;
    try {
      const question = await readForm(request);
      const verdict = await judge(kind, question);
      if (verdict === 'deny') {
        const { username = '', permission = '', name = '', routing_key: key = '' } = question;
        const what = { kind, username, permission, name, key };
        log.warn('cluster login or access refused', Object.fromEntries(Object.entries(what).map(clip)));
      }
      answer(response, verdict === null ? 404 : 200, verdict ?? 'deny');
    } finally {
      open -= 1;
    }
  };
  const listener: RequestListener = (request, response) => {
    serve(request, response).catch((thrown: unknown) => {
      log.error('cluster question not answered', { reason: messageOf(thrown) });
      if (response.headersSent) response.destroy();
      else answer(response, 503, 'not now');
    });
  };
  const limits = { requestTimeout: requestMs, headersTimeout: requestMs, maxHeaderSize: 8192 };
  const server =
    tls === null
      ? createServer({ ...limits, keepAliveTimeout: 60_000 }, listener)
      : createTlsServer({ ...serverOptions({ material: tls, clientCert: 'none' }), ...limits }, listener);
  server.maxConnections = connectionsMost;
  server.setTimeout(requestMs * 10);
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', (thrown) => reject(listenError(thrown, address)));
    server.listen({ host: address.host, port: address.port }, () => {
      const bound = server.address();
      resolve(typeof bound === 'object' && bound !== null ? bound.port : address.port);
    });
  });
  server.on('error', (thrown) => log.error('cluster listener failed', { reason: messageOf(thrown) }));
  return {
    port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

const clip = ([name, value]: readonly [string, string]): readonly [string, string] => [
  name,
  value.slice(0, 200),
];
