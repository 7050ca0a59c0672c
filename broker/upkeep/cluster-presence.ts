// Keeps true what is on record of connections that no process of ours holds. Vehicles say it themselves, by `hello` and by
// their last will; but a will is lost with its node, and one of an old connection may come behind the hello of a new one. So
// the cluster is asked: after each `offline`, and about who was silent for long. It never takes back what a vehicle said since.
import { messageOf } from '../../src/core/errors.ts';
import type { DeviceAddress } from '../../src/core/topics.ts';
import type { Clock, Database, Log } from '../../src/ports.ts';
import { createRounds } from '../rounds.ts';
import { correctPresence, findPresence, type PresenceRecord, silentDevices } from '../store/cluster.ts';

export interface ClusterPresenceOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Rejects when nobody can tell. */
  readonly isConnected: (device: DeviceAddress) => Promise<boolean>;
}

export interface ClusterPresence {
  /** Asks about this device in a moment. */
  ask(deviceNo: number): void;
  close(): Promise<void>;
}

export const presenceLimits = {
  periodMs: 1000,
  /** So long after an `offline` the old connection is gone and a new one is there, in ms. */
  settleMs: 2000,
  /** Devices that wait to be asked about; beyond it the oldest are left to the look at the silent ones. */
  askedMost: 10_000,
  /** Questions of one round: after an `offline`, and about the silent. */
  asksAtOnce: 50,
  silentAtOnce: 100,
  /** Rounds between two looks at the silent. */
  silentEvery: 10,
  /** Not heard of for so long, in ms. */
  silentMs: 600_000,
} as const;

interface Parts {
  readonly options: ClusterPresenceOptions;
  /** Device number -> monotonic time from which on it may be asked about. */
  readonly asked: Map<number, number>;
  /** Where the look at the silent ones goes on. */
  afterNo: number;
  rounds: number;
}

async function verify(
  { db, log, isConnected }: ClusterPresenceOptions,
  known: PresenceRecord,
): Promise<void> {
  const { accountID, deviceID, isOnline } = known;
  const isThere = await isConnected({ accountID, deviceID });
  if (isThere === isOnline) return;
  const [result] = await db.write([correctPresence(known)]);
  if (result?.changes === 1) log.info('presence corrected', { accountID, deviceID, isOnline: isThere });
}

function takeDue({ options, asked }: Parts): readonly number[] {
  const nowMs = options.clock.monoMs();
  const due: number[] = [];
  for (const [deviceNo, fromMs] of asked) {
    if (fromMs > nowMs || due.length >= presenceLimits.asksAtOnce) break;
    asked.delete(deviceNo);
    due.push(deviceNo);
  }
  return due;
}

async function round(parts: Parts): Promise<void> {
  const { db, clock } = parts.options;
  for (const deviceNo of takeDue(parts)) {
    const known = await findPresence(db, deviceNo);
    // A will that came late: without a hello there is nothing to go back to.
    if (known === null || known.helloMs === 0) continue;
    try {
      await verify(parts.options, known);
    } catch (thrown) {
      // Asked again, as nobody else would.
      parts.asked.set(deviceNo, clock.monoMs() + presenceLimits.settleMs);
      throw thrown;
    }
  }
  parts.rounds += 1;
  if (parts.rounds % presenceLimits.silentEvery !== 0) return;
  const silent = await silentDevices(db, {
    afterNo: parts.afterNo,
    sinceMs: Math.round(clock.utcMs()) - presenceLimits.silentMs,
    limit: presenceLimits.silentAtOnce,
  });
  for (const known of silent) await verify(parts.options, known);
  parts.afterNo = silent.length < presenceLimits.silentAtOnce ? 0 : (silent.at(-1)?.deviceNo ?? 0);
}

/** Starts to look; it goes on until `close`. */
export function createClusterPresence(options: ClusterPresenceOptions): ClusterPresence {
  const parts: Parts = { options, asked: new Map(), afterNo: 0, rounds: 0 };
  const rounds = createRounds({
    clock: options.clock,
    firstMs: presenceLimits.periodMs,
    async run() {
      await round(parts).catch((thrown: unknown) => {
        options.log.error('presence not checked', { reason: messageOf(thrown) });
      });
      return presenceLimits.periodMs;
    },
  });
  return {
    ask(deviceNo) {
      const { asked } = parts;
      asked.delete(deviceNo);
      const [oldest] = asked.keys();
      if (asked.size >= presenceLimits.askedMost && oldest !== undefined) asked.delete(oldest);
      asked.set(deviceNo, options.clock.monoMs() + presenceLimits.settleMs);
    },
    close: () => rounds.close(),
  };
}
