// Fetches what a Traccar server stored and could not forward: it keeps 100 positions for its repeats, in memory, and none over a
// restart. Everything that it stored in the time since the last look is taken in again; what is known is a repeat. Its ids are no
// help: a forwarded position bears none yet.
import { messageOf } from '../../../src/core/errors.ts';
import type { FeatureService, Kernel, Slice } from '../../api/base/api-services.ts';
import { createRates } from '../../core/scheduling/rate.ts';
import type { TraccarServer } from '../../ports/traccar-server.ts';
import { createPeriodicTask } from '../../scheduling/periodic-task.ts';
import { membersOf, recordOfPosition, secondOf } from './core/traccar-record.ts';
import { submitEvents } from './intake.ts';
import { serverTrackers, setFetched, type TrackerRow } from './tracker-statements.ts';

const limits = {
  /** First look after a start. */
  firstMs: 5000,
  /** A look goes back so far before the last one, as trackers send late. */
  overlapMs: 10 * 60_000,
  /** The first one of a process goes back further: while it was down, trackers may have sent what they had kept. */
  deepMs: 6 * 3_600_000,
  /** What the server received this long before the last look was taken in then, if its clock is right by as much. */
  skewMs: 2 * 60_000,
  /** Nothing older is fetched. */
  oldestMs: 7 * 86_400_000,
  /** Time asked for in one request. */
  windowMs: 3_600_000,
  /** From so many on the server may have cut the list. */
  cutFrom: 500,
  /** Positions in one commit. */
  atOnce: 200,
  trackersRead: 100,
  /** So many failures one after the other are of the server, fewer of a tracker. */
  failuresMost: 3,
  /** Longest pause after failures. */
  pauseMostMs: 3_600_000,
} as const;

/** Most calls of one phone: it keeps what it cannot send, and sends all of it later. A batch counts as one for each 20 records. */
const phoneRate = { burst: 300, perS: 5, records: 20 } as const;

interface From {
  readonly server: TraccarServer;
  readonly tracker: TrackerRow;
  /** Its number at the server now: after the records there were made anew another tracker may have the one before. */
  readonly serverDeviceID: number;
}

interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

/** @returns the number of new events. */
async function takeIn(kernel: Kernel, tracker: TrackerRow, positions: readonly unknown[]): Promise<number> {
  const sinceMs = tracker.fetchedMs - limits.skewMs;
  const fresh = positions.filter((one) => (secondOf(membersOf(one)['serverTime']) ?? sinceMs) >= sinceMs);
  let stored = 0;
  for (let at = 0; at < fresh.length; at += limits.atOnce) {
    const records = fresh.slice(at, at + limits.atOnce).flatMap((one) => recordOfPosition(one) ?? []);
    const taken = await Promise.all(
      records.map((record) => submitEvents(kernel, tracker, { ...record, isContact: false })),
    );
    for (const one of taken) stored += one.stored;
  }
  return stored;
}

/** Takes in everything of one window, also when the server cuts its lists. */
async function takeWindow(
  kernel: Kernel,
  { server, tracker, serverDeviceID }: From,
  { fromMs, toMs }: Window,
): Promise<number> {
  let stored = 0;
  for (let startMs = fromMs; ; ) {
    const positions = await server.positions(serverDeviceID, startMs, toMs);
    stored += await takeIn(kernel, tracker, positions);
    const lastMs = secondOf(membersOf(positions.at(-1))['fixTime']) ?? 0;
    // A second that holds a whole list cannot be passed by its own time.
    if (positions.length < limits.cutFrom) return stored;
    startMs = Math.max(lastMs - 1000, startMs + 1000);
  }
}

async function fetchTracker(
  kernel: Kernel,
  { server, tracker, backMs }: Omit<From, 'serverDeviceID'> & { readonly backMs: number },
): Promise<void> {
  const { clock, db, log } = kernel;
  const { deviceNo, accountID, deviceID, uniqueID, fetchedMs } = tracker;
  const nowMs = Math.round(clock.utcMs());
  const serverDeviceID = await server.find(uniqueID);
  if (serverDeviceID === null) return log.warn('tracker_not_at_server', { accountID, deviceID });
  const of = { server, tracker, serverDeviceID };
  let stored = 0;
  for (let fromMs = Math.max(fetchedMs - backMs, nowMs - limits.oldestMs); fromMs < nowMs; ) {
    // Trackers with a clock that runs ahead are included in the last window.
    const isLast = fromMs + limits.windowMs >= nowMs;
    const toMs = isLast ? nowMs + 86_400_000 : fromMs + limits.windowMs;
    stored += await takeWindow(kernel, of, { fromMs, toMs });
    fromMs += limits.windowMs;
  }
  await db.write([setFetched(deviceNo, nowMs)]);
  if (stored > 0) log.warn('lost_positions_fetched', { accountID, deviceID, count: stored });
}

interface LostPositions extends FeatureService {
  /** Looks for lost positions now, for tests. */
  runNow(): Promise<void>;
  /** True: this call of a phone, with so many records, is within its rate. */
  admitPhone(keyHash: string, records: number): boolean;
}

function createLostPositions(kernel: Kernel): LostPositions {
  const { clock, db, leases, log, traccar: server } = kernel;
  const rates = createRates(phoneRate);
  let failures = 0;
  let backMs: number = limits.deepMs;
  let inRow = 0;
  let hasMissed = false;
  const tryToFetch = async (from: TraccarServer, tracker: TrackerRow): Promise<void> => {
    try {
      await fetchTracker(kernel, { server: from, tracker, backMs });
      inRow = 0;
    } catch (thrown) {
      inRow += 1;
      hasMissed = true;
      if (inRow >= limits.failuresMost) throw thrown;
      const { accountID, deviceID } = tracker;
      log.warn('lost_positions_not_fetched', { accountID, deviceID, reason: messageOf(thrown) });
    }
  };
  const fetchAll = async (from: TraccarServer): Promise<void> => {
    let afterNo = 0;
    for (;;) {
      const page = { deviceNo: afterNo, limit: limits.trackersRead };
      const trackers = await serverTrackers(db, from.accountID, page);
      for (const tracker of trackers) await tryToFetch(from, tracker);
      const last = trackers.at(-1);
      if (last === undefined) return;
      afterNo = last.deviceNo;
    }
  };
  const run = async (): Promise<number> => {
    if (server === null) return limits.pauseMostMs;
    const everyMs = server.everyS * 1000;
    if (!leases.holds('upkeep')) return everyMs;
    try {
      hasMissed = false;
      await fetchAll(server);
      failures = 0;
      backMs = hasMissed ? limits.deepMs : limits.overlapMs;
      return everyMs;
    } catch (thrown) {
      failures += 1;
      backMs = limits.deepMs;
      log.warn('lost_positions_not_fetched', { accountID: server.accountID, reason: messageOf(thrown) });
      return Math.min(everyMs * 2 ** Math.min(failures, 12), Math.max(everyMs, limits.pauseMostMs));
    }
  };
  const task = createPeriodicTask({ clock, firstMs: limits.firstMs, run });
  return {
    runNow: () => task.runNow(),
    close: () => task.close(),
    admitPhone(keyHash, records) {
      for (let at = 0; at < Math.max(1, records); at += phoneRate.records)
        if (!rates.take(keyHash, clock.monoMs())) return false;
      return true;
    },
  };
}

export const lostPositions: Slice<LostPositions> = { create: createLostPositions };
