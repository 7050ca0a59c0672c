// One AMQP connection to whichever node of a RabbitMQ cluster answers, opened again for ever with jitter. It must never
// give up by itself, never tell a password, and tells once for each connection that it is up and that it is down.
import { type ChannelModel, connect } from 'amqplib';
import { backoffMs } from '../../src/core/backoff.ts';
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { Clock, Entropy, Log } from '../../src/ports.ts';
import { pause, settleWithin } from '../../src/settle.ts';
import type { ClusterAddress, ClusterHost } from '../core/cluster-url.ts';

export interface ClusterTls {
  /** Authorities to trust (PEM); null: those of the system. */
  readonly ca: string | null;
  /** The bridge's own certificate and its key (PEM); null: none. */
  readonly client: { readonly cert: string; readonly key: string } | null;
}

export interface LinkOptions {
  readonly address: ClusterAddress;
  readonly password: string;
  readonly tls: ClusterTls;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  /** Sets up a new connection. A rejection closes it; AppError `config` at the very first one is final. */
  readonly onUp: (connection: ChannelModel) => Promise<void>;
  /** The connection is gone, and with it every channel. */
  readonly onDown: () => void;
}

export interface Link {
  isUp(): boolean;
  close(): Promise<void>;
}

/** A node that hangs is given up after two of these, in seconds. */
const heartbeatS = 5;
const connectMs = 5000;
const setUpMs = 20_000;
const closeMs = 1000;
const delays = { baseMs: 250, capMs: 4000, floorMs: 100 } as const;

function openConnection(
  { address, password, tls }: LinkOptions,
  { host, port }: ClusterHost,
): Promise<ChannelModel> {
  const target = {
    protocol: address.isTls ? 'amqps' : 'amqp',
    hostname: host,
    port,
    username: address.user,
    password,
    vhost: address.vhost,
    heartbeat: heartbeatS,
  };
  const security = {
    ...(tls.ca === null ? {} : { ca: [Buffer.from(tls.ca)] }),
    ...(tls.client === null ? {} : { cert: Buffer.from(tls.client.cert), key: Buffer.from(tls.client.key) }),
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2' as const,
  };
  return connect(target, {
    timeout: connectMs,
    noDelay: true,
    keepAlive: true,
    clientProperties: { connection_name: 'fleetward-bridge' },
    ...(address.isTls ? security : {}),
  });
}

/** Rejects after `limitMs`; what comes later is closed by the caller's own means. */
async function within<T>(clock: Clock, work: Promise<T>, limitMs: number): Promise<T> {
  let cancel = (): void => undefined;
  const late = new Promise<never>((_resolve, reject) => {
    cancel = clock.after(limitMs, () => reject(new Error(`no answer within ${limitMs / 1000} s`)));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}

/** Opens to one host and sets up; gives what settles when that connection has ended. */
async function attempt(options: LinkOptions, host: ClusterHost) {
  const { clock, log, onUp } = options;
  const connection = await openConnection(options, host);
  const ended = new Promise<string>((resolve) => {
    let reason = 'the connection was closed';
    // Without a listener an error would end the process; `close` always follows it.
    connection.on('error', (error) => void (reason = messageOf(error)));
    connection.on('close', () => resolve(reason));
    connection.on('blocked', (why) => log.error('cluster takes no messages', { reason: why }));
    connection.on('unblocked', () => log.info('cluster takes messages again'));
  });
  try {
    await within(clock, onUp(connection), setUpMs);
  } catch (thrown) {
    await settleWithin(clock, connection.close(), closeMs);
    throw thrown;
  }
  return { connection, ended };
}

/**
 * Starts to connect; resolves once it is up, or once every host was tried in vain: then it goes on trying.
 * @throws AppError `config` when the cluster cannot be used as it is set up.
 */
export async function openLink(options: LinkOptions): Promise<Link> {
  const { address, clock, entropy, log, onDown } = options;
  const { hosts } = address;
  let at = Math.floor(entropy.fraction() * hosts.length);
  let current: ChannelModel | null = null;
  let isClosed = false;
  let failures = 0;

  /** Gives what settles when the connection has ended; in a list, as a promise of a promise would wait for both. */
  const connectOnce = async (): Promise<readonly Promise<string>[]> => {
    const host = hosts[at % hosts.length];
    at += 1;
    if (host === undefined) throw new AppError('config', 'the cluster has no host');
    const { connection, ended } = await attempt(options, host);
    current = connection;
    failures = 0;
    log.info('cluster connected', { host: host.host, port: host.port });
    return [ended];
  };
  const fail = (thrown: unknown): void => {
    failures += 1;
    log.error('cluster not connected', { failures, reason: messageOf(thrown) });
  };
  /** All hosts at once, then with a rest that grows. */
  const rest = async (): Promise<void> => {
    if (failures === 0 || failures % hosts.length !== 0) return;
    const draw = { attempt: failures / hosts.length, fraction: entropy.fraction() };
    await pause(clock, backoffMs(delays, draw));
  };
  const follow = async (opened: readonly Promise<string>[]): Promise<void> => {
    let [open] = opened;
    for (;;) {
      if (open !== undefined) {
        const reason = await open;
        open = undefined;
        current = null;
        onDown();
        if (!isClosed) log.warn('cluster connection lost', { reason });
      }
      await rest();
      if (isClosed) return;
      try {
        [open] = await connectOnce();
      } catch (thrown) {
        fail(thrown);
      }
    }
  };
  let first: readonly Promise<string>[] = [];
  while (first.length === 0 && failures < hosts.length) {
    try {
      first = await connectOnce();
    } catch (thrown) {
      if (thrown instanceof AppError && thrown.code === 'config') throw thrown;
      fail(thrown);
    }
  }
  const following = follow(first);
  return {
    isUp: () => current !== null,
    async close() {
      isClosed = true;
      if (current !== null) await settleWithin(clock, current.close(), closeMs);
      await settleWithin(clock, following, closeMs);
    },
  };
}
