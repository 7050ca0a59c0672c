// Two AMQP connections to whichever node of a RabbitMQ cluster answers, one to take and one to publish, that live and end
// together and are opened again for ever with jitter: a node with an alarm reads nothing more of a connection that publishes,
// acknowledgements included. It must never give up by itself, never reveal a password, and reports once that a pair is up or down.
import type { ChannelModel } from 'amqplib';
import { AppError, messageOf } from '../../../src/core/errors.ts';
import { retryDelayMs } from '../../../src/core/retry-delay.ts';
import type { Clock, Entropy, Log } from '../../../src/ports.ts';
import { pause, waitAtMost } from '../../../src/timeout.ts';
import type { ClusterAddress, ClusterHost } from '../../core/cluster/cluster-url.ts';

export interface ClusterTls {
  /** Authorities to trust (PEM); null: those of the system. */
  readonly ca: string | null;
  /** The bridge's own certificate and its key (PEM); null: none. */
  readonly client: { readonly cert: string; readonly key: string } | null;
}

export interface LinkPair {
  readonly taking: ChannelModel;
  /** Nothing is taken on it: the cluster may hold it up. */
  readonly publishing: ChannelModel;
}

export interface LinkOptions {
  readonly address: ClusterAddress;
  readonly password: string;
  readonly tls: ClusterTls;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  /** Sets up a new pair. A rejection closes it; AppError `config` at the very first one is final. */
  readonly onUp: (pair: LinkPair) => Promise<void>;
  /** Both are gone or about to be, and with them every channel. */
  readonly onDown: () => void;
  /** The cluster holds up what is published (memory, disk), or does so no more. */
  readonly onBlocked: (isBlocked: boolean) => void;
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

async function openConnection(
  { address, password, tls }: LinkOptions,
  { host, port }: ClusterHost,
  name: keyof LinkPair,
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
  const { connect } = await import('amqplib');
  return connect(target, {
    timeout: connectMs,
    noDelay: true,
    keepAlive: true,
    clientProperties: { connection_name: `fleetward-bridge ${name}` },
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

/** Settles when the connection has ended. */
function endOf(connection: ChannelModel): Promise<string> {
  return new Promise<string>((resolve) => {
    let reason = 'the connection was closed';
    // Without a listener an error would end the process; `close` always follows it.
    connection.on('error', (error) => void (reason = messageOf(error)));
    connection.on('close', () => resolve(reason));
  });
}

async function closePair(clock: Clock, { taking, publishing }: LinkPair): Promise<void> {
  await Promise.all([taking, publishing].map((one) => waitAtMost(clock, one.close(), closeMs)));
}

/** Opens both to one host; they end together. */
async function openPair(options: LinkOptions, host: ClusterHost) {
  const { clock, log, onBlocked } = options;
  const taking = await openConnection(options, host, 'taking');
  const takingEnd = endOf(taking);
  try {
    const publishing = await openConnection(options, host, 'publishing');
    const pair: LinkPair = { taking, publishing };
    publishing.on('blocked', (why) => {
      log.error('cluster_publish_blocked', { reason: why });
      onBlocked(true);
    });
    publishing.on('unblocked', () => {
      log.info('cluster_publish_resumed');
      onBlocked(false);
    });
    const ended = Promise.race([takingEnd, endOf(publishing)]);
    // The other one would be of no use.
    void ended.then(() => closePair(clock, pair));
    return { pair, ended };
  } catch (thrown) {
    await waitAtMost(clock, taking.close(), closeMs);
    throw thrown;
  }
}

/** Opens to one host and sets up; gives what resolves when that pair has ended. */
async function attempt(options: LinkOptions, host: ClusterHost) {
  const { clock, onUp } = options;
  const { pair, ended } = await openPair(options, host);
  try {
    await within(clock, onUp(pair), setUpMs);
  } catch (thrown) {
    await closePair(clock, pair);
    throw thrown;
  }
  return { pair, ended };
}

/**
 * Starts to connect; resolves once it is up, or once every host was tried in vain: then it goes on trying.
 * @throws AppError `config` when the cluster cannot be used as it is set up.
 */
export async function openLink(options: LinkOptions): Promise<Link> {
  const { address, clock, entropy, log, onDown } = options;
  const { hosts } = address;
  let at = Math.floor(entropy.fraction() * hosts.length);
  let current: LinkPair | null = null;
  let isClosed = false;
  let failures = 0;

  /** Gives what resolves when the connection has ended; in a list, as a promise of a promise would wait for both. */
  const connectOnce = async (): Promise<readonly Promise<string>[]> => {
    const host = hosts[at % hosts.length];
    at += 1;
    if (host === undefined) throw new AppError('config', 'the cluster has no host');
    const { pair, ended } = await attempt(options, host);
    current = pair;
    failures = 0;
    log.info('cluster_connected', { host: host.host, port: host.port });
    return [ended];
  };
  const fail = (thrown: unknown): void => {
    failures += 1;
    log.error('cluster_connect_failed', { failures, reason: messageOf(thrown) });
  };
  /** All hosts at once, then again after a growing delay. */
  const rest = async (): Promise<void> => {
    if (failures === 0 || failures % hosts.length !== 0) return;
    const draw = { attempt: failures / hosts.length, fraction: entropy.fraction() };
    await pause(clock, retryDelayMs(delays, draw));
  };
  const follow = async (opened: readonly Promise<string>[]): Promise<void> => {
    let [open] = opened;
    for (;;) {
      if (open !== undefined) {
        const reason = await open;
        open = undefined;
        current = null;
        onDown();
        if (!isClosed) log.warn('cluster_connection_lost', { reason });
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
      if (current !== null) await closePair(clock, current);
      await waitAtMost(clock, following, closeMs);
    },
  };
}
