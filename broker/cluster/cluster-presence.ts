// Corrects the recorded presence of vehicles that are connected to the cluster. Vehicles report it by `hello` and last will; but a
// will is lost with its node, and the will of an old connection may arrive after the hello of a new one. So the cluster is
// queried: after each `offline`, and about silent vehicles. It never undoes what a vehicle has reported since.
import { messageOf } from '../../src/core/errors.ts';
import type { DeviceAddress } from '../../src/core/wire/topics.ts';
import type { Clock, Database, Log } from '../../src/ports.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';
import {
  correctPresence,
  findPresence,
  type PresenceRecord,
  recentDevices,
  silentDevices,
} from '../store/cluster.ts';
import { queryEach } from './cluster-queries.ts';

export interface ClusterPresenceOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Rejects when no node answers. */
  readonly isConnected: (device: DeviceAddress) => Promise<boolean>;
}

export interface ClusterPresence {
  /** Queries this device after `reconnectMs`. */
  ask(deviceNo: number): void;
  close(): Promise<void>;
}

export const presenceLimits = {
  periodMs: 1000,
  /** So long after an `offline` the old connection is gone and a new one is there, in ms. */
  reconnectMs: 2000,
  /** Devices that wait for a query, some 100 bytes each; beyond it the oldest are left to the scans. */
  askedMost: 100_000,
  /** Queries of one run: after an `offline`, and of each scan. */
  queriesEach: 200,
  scannedEach: 100,
  /** Runs between two scans. */
  scanEvery: 10,
  /** No message for so long, in ms. */
  silentMs: 600_000,
  /** A message within this time, in ms. */
  recentMs: 60_000,
} as const;

/** A scan of devices whose record may be wrong, one page a run. */
interface PresenceScan {
  afterNo: number;
  readonly page: (afterNo: number) => Promise<readonly PresenceRecord[]>;
}

interface PresenceState {
  readonly options: ClusterPresenceOptions;
  /** Device number -> monotonic time of its query; in the order of those times. */
  readonly asked: Map<number, number>;
  /** Each with its own position, so that neither scan delays the other. */
  readonly scans: readonly PresenceScan[];
  runs: number;
}

function createScans({ db, clock }: ClusterPresenceOptions): readonly PresenceScan[] {
  const limit = presenceLimits.scannedEach;
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
      page: (afterNo) => recentDevices(db, { afterNo, sinceMs: before(presenceLimits.recentMs), limit }),
    },
  ];
}

async function verify(
  { db, clock, log, isConnected }: ClusterPresenceOptions,
  known: PresenceRecord,
): Promise<void> {
  const { accountID, deviceID, isOnline } = known;
  const isThere = await isConnected({ accountID, deviceID });
  if (isThere === isOnline) return;
  const [result] = await db.write([correctPresence(known, Math.round(clock.utcMs()))]);
  if (result?.changes === 1) log.info('presence_corrected', { accountID, deviceID, isOnline: isThere });
}

/** The newest is at the end. */
function enqueue({ options, asked }: PresenceState, deviceNo: number): void {
  asked.delete(deviceNo);
  const [oldest] = asked.keys();
  if (asked.size >= presenceLimits.askedMost && oldest !== undefined) asked.delete(oldest);
  asked.set(deviceNo, options.clock.monoMs() + presenceLimits.reconnectMs);
}

function takeDue({ options, asked }: PresenceState): readonly number[] {
  const nowMs = options.clock.monoMs();
  const due: number[] = [];
  for (const [deviceNo, fromMs] of asked) {
    if (fromMs > nowMs || due.length >= presenceLimits.queriesEach) break;
    asked.delete(deviceNo);
    due.push(deviceNo);
  }
  return due;
}

/** Gives the reason of the first failure; null: all were queried. */
async function queryDue(state: PresenceState): Promise<string | null> {
  const { left, reason } = await queryEach(takeDue(state), async (deviceNo) => {
    const known = await findPresence(state.options.db, deviceNo);
    // A will that came late: without a hello there is nothing to go back to.
    if (known !== null && known.helloMs > 0) await verify(state.options, known);
  });
  // Query again: no other event would. A device with a newer `offline` is queued already.
  for (const deviceNo of left) if (!state.asked.has(deviceNo)) enqueue(state, deviceNo);
  return reason;
}

/** One page of a scan; the same page again when no node answered. */
async function runScan({ options }: PresenceState, look: PresenceScan): Promise<string | null> {
  const devices = await look.page(look.afterNo);
  const { reason, isGivenUp } = await queryEach(devices, (known) => verify(options, known));
  if (!isGivenUp)
    look.afterNo = devices.length < presenceLimits.scannedEach ? 0 : (devices.at(-1)?.deviceNo ?? 0);
  return reason;
}

async function runOnce(state: PresenceState): Promise<void> {
  const { log } = state.options;
  const run = async (work: () => Promise<string | null>): Promise<void> => {
    const reason = await work().catch(messageOf);
    if (reason !== null) log.error('presence_check_failed', { reason, waiting: state.asked.size });
  };
  await run(() => queryDue(state));
  state.runs += 1;
  if (state.runs % presenceLimits.scanEvery !== 0) return;
  for (const scan of state.scans) await run(() => runScan(state, scan));
}

export function createClusterPresence(options: ClusterPresenceOptions): ClusterPresence {
  const state: PresenceState = { options, asked: new Map(), scans: createScans(options), runs: 0 };
  const task = createPeriodicTask({
    clock: options.clock,
    firstMs: presenceLimits.periodMs,
    async run() {
      await runOnce(state);
      return presenceLimits.periodMs;
    },
  });
  return {
    ask: (deviceNo) => enqueue(state, deviceNo),
    close: () => task.close(),
  };
}
