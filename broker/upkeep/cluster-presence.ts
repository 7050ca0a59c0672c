// Keeps true what is on record of connections that no process of ours holds. Vehicles say it themselves, by `hello` and by
// their last will; but a will is lost with its node, and one of an old connection may come behind the hello of a new one. So
// the cluster is asked: after each `offline`, and about who was silent for long. It never takes back what a vehicle said since.
import { messageOf } from '../../src/core/errors.ts';
import type { DeviceAddress } from '../../src/core/topics.ts';
import type { Clock, Database, Log } from '../../src/ports.ts';
import {
  correctPresence,
  findPresence,
  heardDevices,
  type PresenceRecord,
  silentDevices,
} from '../store/cluster.ts';
import { createRounds } from '../work/rounds.ts';
import { askEach } from './cluster-asks.ts';

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
  /** Devices that wait to be asked about, some 100 bytes each; beyond it the oldest are left to the looks. */
  askedMost: 100_000,
  /** Questions of one round: after an `offline`, and of each look. */
  asksEach: 200,
  looksEach: 100,
  /** Rounds between two looks. */
  lookEvery: 10,
  /** Not heard of for so long, in ms. */
  silentMs: 600_000,
  /** Heard of so lately, in ms. */
  heardMs: 60_000,
} as const;

/** A walk through devices that may be on record wrongly, a page in each look. */
interface Look {
  afterNo: number;
  readonly page: (afterNo: number) => Promise<readonly PresenceRecord[]>;
}

interface Parts {
  readonly options: ClusterPresenceOptions;
  /** Device number -> monotonic time from which on it may be asked about; in the order of those times. */
  readonly asked: Map<number, number>;
  /** Each with its own place, so that many of one kind hold up nobody of the other. */
  readonly looks: readonly Look[];
  rounds: number;
}

function createLooks({ db, clock }: ClusterPresenceOptions): readonly Look[] {
  const limit = presenceLimits.looksEach;
  const before = (agoMs: number): number => Math.round(clock.utcMs()) - agoMs;
  return [
    // A will that was lost.
    {
      afterNo: 0,
      page: (afterNo) => silentDevices(db, { afterNo, sinceMs: before(presenceLimits.silentMs), limit }),
    },
    // A will that came late: without this a command would wait for the next hello, hours.
    {
      afterNo: 0,
      page: (afterNo) => heardDevices(db, { afterNo, sinceMs: before(presenceLimits.heardMs), limit }),
    },
  ];
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

/** In a moment; the newest at the end. */
function enqueue({ options, asked }: Parts, deviceNo: number): void {
  asked.delete(deviceNo);
  const [oldest] = asked.keys();
  if (asked.size >= presenceLimits.askedMost && oldest !== undefined) asked.delete(oldest);
  asked.set(deviceNo, options.clock.monoMs() + presenceLimits.settleMs);
}

function takeDue({ options, asked }: Parts): readonly number[] {
  const nowMs = options.clock.monoMs();
  const due: number[] = [];
  for (const [deviceNo, fromMs] of asked) {
    if (fromMs > nowMs || due.length >= presenceLimits.asksEach) break;
    asked.delete(deviceNo);
    due.push(deviceNo);
  }
  return due;
}

/** Gives why not everybody could be asked about; null: all were. */
async function askDue(parts: Parts): Promise<string | null> {
  const { left, reason } = await askEach(takeDue(parts), async (deviceNo) => {
    const known = await findPresence(parts.options.db, deviceNo);
    // A will that came late: without a hello there is nothing to go back to.
    if (known !== null && known.helloMs > 0) await verify(parts.options, known);
  });
  // Asked again, as nobody else would. Who said `offline` again meanwhile is asked about later anyhow.
  for (const deviceNo of left) if (!parts.asked.has(deviceNo)) enqueue(parts, deviceNo);
  return reason;
}

/** One page of a look; the same again when nobody answered. */
async function takeLook({ options }: Parts, look: Look): Promise<string | null> {
  const devices = await look.page(look.afterNo);
  const { reason, isGivenUp } = await askEach(devices, (known) => verify(options, known));
  if (!isGivenUp)
    look.afterNo = devices.length < presenceLimits.looksEach ? 0 : (devices.at(-1)?.deviceNo ?? 0);
  return reason;
}

async function round(parts: Parts): Promise<void> {
  const { log } = parts.options;
  const run = async (work: () => Promise<string | null>): Promise<void> => {
    const reason = await work().catch(messageOf);
    if (reason !== null) log.error('presence not checked', { reason, waiting: parts.asked.size });
  };
  await run(() => askDue(parts));
  parts.rounds += 1;
  if (parts.rounds % presenceLimits.lookEvery !== 0) return;
  for (const look of parts.looks) await run(() => takeLook(parts, look));
}

/** Starts to look; it goes on until `close`. */
export function createClusterPresence(options: ClusterPresenceOptions): ClusterPresence {
  const parts: Parts = { options, asked: new Map(), looks: createLooks(options), rounds: 0 };
  const rounds = createRounds({
    clock: options.clock,
    firstMs: presenceLimits.periodMs,
    async run() {
      await round(parts);
      return presenceLimits.periodMs;
    },
  });
  return {
    ask: (deviceNo) => enqueue(parts, deviceNo),
    close: () => rounds.close(),
  };
}
