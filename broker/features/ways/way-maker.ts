// Makes the ways of vehicles from their events, in the background: device after device, each some minutes apart, and lets vehicles go first.
import { dayMs, minuteMs } from '../../../src/core/durations.ts';
import { messageOf } from '../../../src/core/errors.ts';
import type { Database, Statement } from '../../../src/ports.ts';
import type { FeatureService, Kernel, Slice } from '../../api/base/api-services.ts';
import { createTextCache, type TextCache } from '../../core/events/text-cache.ts';
import { isConflict } from '../../core/store-faults.ts';
import { createPeriodicTask } from '../../scheduling/periodic-task.ts';
import { wholeAccount } from '../../store/base/scope.ts';
import { numberedTrackEvents } from '../../store/events/trip-events.ts';
import { type Tile, type Zoom, zoomList } from './core/way-grid.ts';
import { type Line, placesOf } from './core/way-lines.ts';
import {
  createMerging,
  createThinning,
  type KeyedLine,
  keyOf,
  type Track,
  tilesOf,
} from './core/way-thinning.ts';
import { createTracks, keptDays, oldestPeriod } from './core/way-tracks.ts';
import {
  deleteOld,
  dropWays,
  listDevices,
  nextToMake,
  putWays,
  recordRead,
  type StoredWays,
  type WayDevice,
  waysAtOnce,
  waysForDevice,
  waysOfDevices,
} from './way-statements.ts';

const limits = {
  /** Devices that one run looks at, and reads. */
  devicesLooked: 200,
  devicesRead: 4,
  /** Between two readings of a device. */
  againMs: 10 * minuteMs,
  /** Read once more each time, so that a track goes on where it was cut; and once a day, for events that came late. */
  overlapMs: 5 * minuteMs,
  lateMs: 2 * dayMs,
  /** Of one reading, some 500 km: what is left comes with the next one. */
  stepsMost: 20_000,
  busyMs: 200,
  idleMs: 5000,
  lagMostMs: 2000,
  /** A run that took long is followed by a pause of so many times that. */
  pauseFactor: 5,
  pauseMostMs: 30_000,
  /** Bytes of answers in memory. */
  answerBytes: 16_000_000,
} as const;

interface Reading {
  readonly tracks: readonly Track[];
  /** Event time that was reached. */
  readonly toMs: number;
  readonly isWhole: boolean;
}

const dayOf = (atMs: number): number => Math.floor(atMs / dayMs);

async function readTracks(db: Database, device: WayDevice, nowMs: number): Promise<Reading> {
  const { accountID, deviceID, toMs, readMs } = device;
  const isLateDue = dayOf(readMs) < dayOf(nowMs);
  const againMs = isLateDue ? limits.lateMs : limits.overlapMs;
  const fromMs = Math.max(toMs - againMs, nowMs - keptDays * dayMs);
  const tracks = createTracks();
  const span = { scope: wholeAccount(accountID), deviceID, fromMs, toMs: nowMs };
  for await (const page of numberedTrackEvents(db, span)) {
    for (const one of page) tracks.add(one);
    const lastMs = page.at(-1)?.event.timestampMs ?? 0;
    // It must come further than it was, or it would read the same for ever.
    if (tracks.steps() > limits.stepsMost && lastMs > toMs)
      return { tracks: tracks.all(), toMs: lastMs, isWhole: false };
  }
  return { tracks: tracks.all(), toMs: Math.min(device.fixMs, nowMs), isWhole: true };
}

/** What is known in the tiles of the tracks, and what is added to it. */
interface Known {
  readonly tile: Tile;
  readonly period: number;
  readonly ofDevice: StoredWays | null;
  readonly ofAccount: StoredWays | null;
}

async function knownIn(
  db: Database,
  device: WayDevice,
  tracks: readonly Track[],
  zoom: Zoom,
): Promise<ReadonlyMap<string, Known>> {
  const known = new Map<string, Known>();
  const read = new Map<string, readonly StoredWays[]>();
  for (const track of tracks) {
    for (const [key, tile] of tilesOf(track, zoom)) {
      if (known.has(key)) continue;
      const place = `${tile.x}/${tile.y}`;
      const rows = read.get(place) ?? (await waysForDevice(db, device, tile));
      read.set(place, rows);
      const of = (deviceNo: number) =>
        rows.find((row) => row.deviceNo === deviceNo && row.period === track.period) ?? null;
      known.set(key, { tile, period: track.period, ofDevice: of(device.deviceNo), ofAccount: of(0) });
    }
  }
  return known;
}

/** Thins tracks of the device by what it has, and what is new of them by what the account has. */
function newLines(zoom: Zoom, known: ReadonlyMap<string, Known>, tracks: readonly Track[]) {
  const [ofDevice, ofAccount] = [createThinning(zoom), createThinning(zoom)];
  for (const { tile, period, ofDevice: own, ofAccount: all } of known.values()) {
    ofDevice.cover(period, tile, own?.lines ?? []);
    ofAccount.cover(period, tile, all?.lines ?? []);
  }
  const own = tracks.flatMap((track) => ofDevice.add(track, null));
  const all = own.flatMap(({ key, line }) => {
    const { period, tile } = known.get(key) ?? {};
    return period === undefined || tile === undefined
      ? []
      : ofAccount.add({ period, places: placesOf(line) }, tile);
  });
  return { own, all };
}

const linesOf = (key: string, lines: readonly KeyedLine[]): readonly Line[] =>
  lines.flatMap((one) => (one.key === key ? [one.line] : []));

async function waysToPut(db: Database, device: WayDevice, tracks: readonly Track[], nowMs: number) {
  const { accountNo, deviceNo } = device;
  const statements: Statement[] = [];
  for (const zoom of zoomList) {
    const known = await knownIn(db, device, tracks, zoom);
    const { own, all } = newLines(zoom, known, tracks);
    for (const { tile, period, ofDevice, ofAccount } of known.values()) {
      const put = (of: number, row: StoredWays | null, added: readonly Line[]): void => {
        // Ways of the account that are to be made again take in those of this device then.
        if (added.length === 0 || row?.lines === null) return;
        const at = { revision: row?.revision ?? 0, nowMs };
        statements.push(
          putWays({ accountNo, deviceNo: of, tile, period }, [...(row?.lines ?? []), ...added], at),
        );
      };
      const key = keyOf(period, tile);
      put(deviceNo, ofDevice, linesOf(key, own));
      put(0, ofAccount, linesOf(key, all));
    }
  }
  return statements;
}

/** Reads what is new of a device; true when there is more. */
async function readDevice({ db, archive }: Kernel, device: WayDevice, nowMs: number): Promise<boolean> {
  const { tracks, toMs, isWhole } = await readTracks(archive, device, nowMs);
  const statements = await waysToPut(archive, device, tracks, nowMs);
  // One that is not read to its end is due again at once.
  const readMs = isWhole ? nowMs : nowMs - limits.againMs;
  await db.write([recordRead(device, { toMs, atMs: readMs }), ...statements]);
  return !isWhole;
}

/** Makes the ways of an account in one tile from those of its devices; true when it did. */
async function makeAgain({ db, archive }: Kernel, nowMs: number): Promise<boolean> {
  const next = await nextToMake(archive);
  if (next === null) return false;
  const merging = createMerging(next.tile);
  for (let afterNo: number | undefined = 0; afterNo !== undefined; ) {
    const rows: readonly StoredWays[] = await waysOfDevices(archive, next, { afterNo, limit: waysAtOnce });
    for (const { lines } of rows) merging.add(lines ?? []);
    afterNo = rows.length < waysAtOnce ? undefined : rows.at(-1)?.deviceNo;
  }
  const lines = merging.lines();
  await db.write([
    lines.length === 0
      ? dropWays(next, next.revision)
      : putWays(next, lines, { revision: next.revision, nowMs }),
  ]);
  return true;
}

/** A run of `createWays`: goes through the devices by number, round after round. True when there is more to do at once. */
function createRounds(kernel: Kernel): (nowMs: number) => Promise<boolean> {
  const { db, archive, log, aging } = kernel;
  let afterNo = 0;
  /** No rows are left of periods before it. */
  let cleanedTo = 0;
  const isDue = ({ fixMs, toMs, readMs }: WayDevice, nowMs: number): boolean =>
    fixMs > toMs && fixMs > nowMs - keptDays * dayMs && nowMs - readMs >= limits.againMs;
  const tryToRead = async (device: WayDevice, nowMs: number): Promise<boolean> => {
    try {
      return await readDevice(kernel, device, nowMs);
    } catch (thrown) {
      // In a conflict another process has read it, or the device is gone. What fails must not keep the others waiting.
      const { accountID, deviceID } = device;
      if (!isConflict(thrown)) log.error('ways_failed', { accountID, deviceID, reason: messageOf(thrown) });
      return false;
    }
  };
  const clean = async (): Promise<boolean> => {
    const period = oldestPeriod((await aging.read()).nowMs);
    if (cleanedTo === period) return false;
    const [deleted] = await db.write([deleteOld(period)]);
    if ((deleted?.changes ?? 0) > 0) return true;
    cleanedTo = period;
    return false;
  };
  return async (nowMs) => {
    if ((await clean()) || (await makeAgain(kernel, nowMs))) return true;
    const devices = await listDevices(archive, afterNo, limits.devicesLooked);
    let read = 0;
    for (const device of devices) {
      if (read >= limits.devicesRead) return true;
      if (isDue(device, nowMs)) {
        read += 1;
        if (await tryToRead(device, nowMs)) return true;
      }
      afterNo = device.deviceNo;
    }
    if (devices.length === limits.devicesLooked) return true;
    afterNo = 0;
    return false;
  };
}

export interface Ways extends FeatureService {
  /** Reads what is due now, for tests. */
  runNow(): Promise<void>;
  /** Texts of answers that were made. */
  readonly answers: TextCache<Buffer>;
}

function createWays(kernel: Kernel): Ways {
  const { clock, log, leases, lagMs } = kernel;
  const advance = createRounds(kernel);
  const run = async (): Promise<number> => {
    if (!leases.holds('upkeep') || lagMs() > limits.lagMostMs) return limits.idleMs;
    const beganMs = clock.monoMs();
    let isBusy = false;
    try {
      isBusy = await advance(Math.round(clock.utcMs()));
    } catch (thrown) {
      log.error('ways_failed', { reason: messageOf(thrown) });
    }
    const pauseMs = Math.min(limits.pauseMostMs, limits.pauseFactor * (clock.monoMs() - beganMs));
    return Math.max(isBusy ? limits.busyMs : limits.idleMs, pauseMs);
  };
  const task = createPeriodicTask({ clock, firstMs: limits.idleMs, run });
  const answers = createTextCache<Buffer>(limits.answerBytes, (text) => text.length);
  return { runNow: () => task.runNow(), close: () => task.close(), answers };
}

export const ways: Slice<Ways> = { create: createWays };
