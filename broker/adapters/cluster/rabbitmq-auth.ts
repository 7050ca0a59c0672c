// Answers RabbitMQ's HTTP authorisation backend: may this client log in, and what may it use. Nothing is allowed that is not
// asked for in full and found right; every doubt is a "deny", and a database that does not answer is an error, which
// RabbitMQ takes for one. It must never show or log a secret, nor wait without an end.
import type { IncomingMessage } from 'node:http';
import { type DeviceAddress, formatDeviceUser } from '../../../src/core/wire/topics.ts';
import type { Clock, Log } from '../../../src/ports.ts';
import { pause } from '../../../src/timeout.ts';
import { deviceOf, mayUseResource, mayUseTopic, type Question } from '../../core/cluster/cluster-access.ts';
import { createRates } from '../../core/scheduling/rate.ts';
import type { MqttCount } from '../../ports/mqtt-server.ts';
import { type TlsMaterial } from '../../ports/tls.ts';
import { isSecret } from '../../store/devices/device-secret.ts';
import { type Answer, openSmallHttp, type SmallHttp } from '../http/small-http.ts';
import type { ListenAddress } from '../listen.ts';

export interface ClusterAuthOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** The only virtual host of vehicles. */
  readonly vhost: string;
  /** SHA-256 of the secret that every path must contain; null: none, for a listener on loopback. */
  readonly pathSecretHash: string | null;
  readonly tls: TlsMaterial | null;
  /** True once the login is right and recorded. Rejects when it cannot be checked now. */
  readonly logIn: (device: DeviceAddress, secret: Uint8Array) => Promise<boolean>;
  /** True while all logins should be refused. */
  readonly isOverloaded: () => boolean;
  readonly count: (what: MqttCount) => void;
}

const bodyBytes = 8192;
/** Questions at work, waiting failures included; beyond it the answer is an error and the vehicle comes again. */
const openMost = 2000;
const connectionsMost = 4096;
/** Failed logins of one name; beyond it every login of that name waits two seconds. */
const failures = { burst: 20, perS: 0.2 } as const;
const failureDelayMs = 2000;

type Verdict = 'allow' | 'deny';

/** The kind of query in the path; null when it is unknown, or without the right secret. */
function kindOf(url: string, pathSecretHash: string | null): string | null {
  const parts = url.split('?', 1)[0]?.split('/') ?? [];
  const [root, auth, ...rest] = parts;
  const [kind, pathSecret] = rest.length === 1 ? [rest[0], ''] : [rest[1], rest[0]];
  if (root !== '' || auth !== 'auth' || rest.length > 2 || rest.length === 0) return null;
  const isRight =
    pathSecretHash === null ? rest.length === 1 : isSecret(Buffer.from(pathSecret ?? ''), pathSecretHash);
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

/** Starts to listen. @throws AppError `port_in_use` or `config`. */
export function openClusterAuth(options: ClusterAuthOptions, address: ListenAddress): Promise<SmallHttp> {
  const { log, tls, pathSecretHash } = options;
  const judge = createJudge(options);
  let open = 0;
  const decide = async (kind: string, request: IncomingMessage): Promise<Answer> => {
    const question = await readForm(request);
    const verdict = await judge(kind, question);
    if (verdict === 'deny') {
      const { username = '', permission = '', name = '', routing_key: key = '' } = question;
      const what = { kind, username, permission, name, key };
      log.warn('cluster_access_refused', Object.fromEntries(Object.entries(what).map(clip)));
    }
    return { status: verdict === null ? 404 : 200, body: verdict ?? 'deny' };
  };
  const serve = async (request: IncomingMessage): Promise<Answer> => {
    const kind = request.method === 'POST' ? kindOf(request.url ?? '', pathSecretHash) : null;
    if (kind === null || open >= openMost) {
      request.resume();
      return kind === null ? { status: 404, body: 'deny' } : { status: 503, body: 'busy' };
    }
    open += 1;
    try {
      return await decide(kind, request);
    } finally {
      open -= 1;
    }
  };
  const faulty = { status: 503, body: 'not now' };
  const server = { name: 'cluster login', log, tls, connectionsMost, keepAliveMs: 60_000, serve, faulty };
  return openSmallHttp(server, address);
}

const clip = ([name, value]: readonly [string, string]): readonly [string, string] => [
  name,
  value.slice(0, 200),
];
