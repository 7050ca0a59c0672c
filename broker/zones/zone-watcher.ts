// Watches geozones for devices without an agent, which watches its own: reads what they have just stored, and records arrivals and
// departures as events of the device, like those of a vehicle. It alerts only, and never asks a device for anything. It follows
// commits and can delay none. An event of a crossing and the new state are one batch: neither a crash nor two processes at once
// lose or repeat one.
import { messageOf } from '../../src/core/errors.ts';
import type { FleetEvent } from '../../src/core/events/event.ts';
import { circumstancesOf, crossingCode } from '../../src/core/zones/crossing.ts';
import { createZones, type ZoneSet } from '../../src/core/zones/zone-set.ts';
import type { Crossing } from '../../src/core/zones/zone-watch.ts';
import type { Clock, Database, Log, Statement } from '../../src/ports.ts';
import type { DeviceRef } from '../core/device-key.ts';
import { aheadOfClockMs } from '../core/events/projection.ts';
import { isConflict, isStoreFault, isUnknown } from '../core/store-faults.ts';
import {
  resumeTracker,
  stepTracker,
  type TrackerEvent,
  type TrackerZones,
  trackerEvent,
} from '../core/zones/tracker-zones.ts';
import type { Ingest } from '../ingest/ingest.ts';
import type { Committed } from '../ports/committed.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';
import { type GeozoneRow, listGeozones, watchedZones } from '../store/geozones/geozones.ts';
import {
  earlierRecords,
  findZoneWatch,
  putZoneWatch,
  type ZoneWatchRow,
  zonesRevision,
} from '../store/geozones/zone-watches.ts';

export interface ZoneWatcherOptions {
  /** Writes may be grouped with others. */
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly submit: Ingest['submit'];
}

export interface ZoneWatcher {
  /** The device has an agent, which watches its zones. */
  onHello(device: DeviceRef): void;
  /** Must be called for every commit; never throws. */
  onCommitted(committed: Committed): void;
  /** Takes what has come in until now, and nothing more. */
  close(): Promise<void>;
}

export const zoneWatcherLimits = {
  /** Events that wait; beyond it the oldest of a device are left out. */
  waiting: 50_000,
  /** Devices that are remembered; what is forgotten is read again. */
  devices: 50_000,
  /** Zones that are kept prepared, of all accounts. */
  zones: 100_000,
  /** Time after which it is checked again whether a device has an agent. */
  agentMs: 900_000,
  agents: 500_000,
  /** Crossings of one payload that are recorded, the newest; they must fit a payload. */
  crossings: 100,
  retryMs: 1000,
} as const;

const idleMs = 60_000;
const pageRows = 500;

/** The boot of the service's own records of crossings. */
export const crossingBoot = 'service-zones';

/** Events of one payload. */
type Arrived = Pick<Committed, 'fresh' | 'receivedMs'>;

/** What has come in of one device. */
interface Waiting {
  readonly device: DeviceRef;
  /** Number of the first of its events. */
  readonly eventNo: number;
  /** Of the newest of its payloads. */
  receivedMs: number;
  /** In order of arrival. */
  readonly arrived: Arrived[];
}

interface Tracker {
  readonly row: ZoneWatchRow;
  readonly zones: TrackerZones;
}

interface AccountZones {
  readonly revision: number;
  readonly set: ZoneSet;
}

interface WatcherState {
  readonly options: ZoneWatcherOptions;
  readonly waiting: Map<number, Waiting>;
  /** The one longest silent first. */
  readonly trackers: Map<number, Tracker>;
  /** Devices with an agent, until when that holds (monotonic). */
  readonly agents: Map<number, number>;
  readonly accounts: Map<string, AccountZones>;
  waitingCount: number;
}

/** Sets it as the newest, and forgets the oldest. */
function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}

async function readZones(db: Database, accountID: string): Promise<ZoneSet> {
  const rows: GeozoneRow[] = [];
  for (let after = ''; ; after = rows.at(-1)?.geozoneID ?? '') {
    const page = await listGeozones(db, { accountID, after, limit: pageRows });
    rows.push(...page);
    if (page.length < pageRows) return createZones(watchedZones(rows));
  }
}

/** Forgets the accounts whose zones were read longest ago. */
function forgetAccounts(accounts: Map<string, AccountZones>): void {
  let count = 0;
  for (const { set } of accounts.values()) count += set.zones.length + 1;
  for (const [accountID, { set }] of accounts) {
    if (count <= zoneWatcherLimits.zones || accounts.size === 1) return;
    accounts.delete(accountID);
    count -= set.zones.length + 1;
  }
}

/** The account's zones as they are now: one small read, and more only after a change. */
async function zonesOf({ options: { db }, accounts }: WatcherState, accountID: string): Promise<ZoneSet> {
  const revision = await zonesRevision(db, accountID);
  const known = accounts.get(accountID);
  if (known?.revision === revision) return known.set;
  const set = await readZones(db, accountID);
  accounts.delete(accountID);
  accounts.set(accountID, { revision, set });
  forgetAccounts(accounts);
  return set;
}

function rememberAgent({ agents, options: { clock } }: WatcherState, deviceNo: number): void {
  remember(agents, deviceNo, clock.monoMs() + zoneWatcherLimits.agentMs, zoneWatcherLimits.agents);
}

/** Null: it is not watched. */
async function readTracker(
  state: WatcherState,
  { device, eventNo, receivedMs }: Waiting,
): Promise<Tracker | null> {
  const { db } = state.options;
  const row = await findZoneWatch(db, device.deviceNo);
  if (row === 'agent') rememberAgent(state, device.deviceNo);
  if (row === 'agent' || row === null) return null;
  const nowMs = receivedMs + aheadOfClockMs;
  return { row, zones: resumeTracker(row, await earlierRecords(db, device, { eventNo, nowMs })) };
}

function eventOf({ zone, mark, dwellMs }: Crossing, seq: number): FleetEvent {
  const crossing = { zone, mark, dwellMs };
  return {
    seq,
    timestamp: mark.utcMs,
    upMs: null,
    timeQuality: 'rtc',
    statusCode: crossingCode(crossing),
    latitude: mark.latitude,
    longitude: mark.longitude,
    geozoneID: zone.id,
    attributes: { ...circumstancesOf(crossing), dwellS: Math.round(dwellMs / 1000), by: 'service' },
  };
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((id, at) => id === other[at]);

/** Stores the crossings and the watch after them, both or neither. */
async function record(
  { db, log, submit }: ZoneWatcherOptions,
  { device, kept, first }: { readonly device: DeviceRef; readonly kept: Statement; readonly first: number },
  crossings: readonly Crossing[],
): Promise<void> {
  if (crossings.length === 0) return void (await db.write([kept]));
  const events = crossings.map((crossing, at) => eventOf(crossing, first + at));
  const payload = new TextEncoder().encode(JSON.stringify({ boot: crossingBoot, events }));
  await submit(device, payload, [kept]);
  const { accountID, deviceID } = device;
  for (const { zone, mark } of crossings)
    log.info('geozone', { accountID, deviceID, geozoneID: zone.id, is: mark.to });
}

/** The events that may concern zones. */
const eventsOf = ({ arrived }: Waiting): readonly TrackerEvent[] =>
  arrived.flatMap(({ fresh, receivedMs }) => fresh.flatMap((event) => trackerEvent(event, receivedMs) ?? []));

/** Compares what came of one device with the zones; a promise where there is something to store: that it is. */
function compare(
  state: WatcherState,
  set: ZoneSet,
  waiting: Waiting,
  tracker: Tracker,
): Promise<void> | null {
  const { device } = waiting;
  const { row } = tracker;
  const step = stepTracker(tracker.zones, set, eventsOf(waiting));
  const { inside, compared } = step.state.watch;
  const keep = (stored: ZoneWatchRow): void =>
    remember(state.trackers, device.deviceNo, { row: stored, zones: step.state }, zoneWatcherLimits.devices);
  if (step.crossings.length === 0 && compared === row.compared && isSame(inside, row.inside)) {
    keep(row);
    return null;
  }
  const crossings = step.crossings.slice(-zoneWatcherLimits.crossings);
  const to = { compared, inside, crossings: row.crossings + crossings.length };
  const kept = putZoneWatch(device.deviceNo, row, to);
  return record(state.options, { device, kept, first: row.crossings + 1 }, crossings).then(() =>
    keep({ ...to, revision: row.revision + 1 }),
  );
}

const countOf = ({ arrived }: Waiting): number => arrived.reduce((sum, { fresh }) => sum + fresh.length, 0);

/** Puts back what could not be written. */
function putBack(state: WatcherState, failed: Waiting): void {
  const { deviceNo } = failed.device;
  state.waitingCount += countOf(failed);
  const newer = state.waiting.get(deviceNo)?.arrived ?? [];
  state.waiting.set(deviceNo, { ...failed, arrived: [...failed.arrived, ...newer] });
}

/** Of one device; false when it has to be tried again. */
async function compareSafely(
  state: WatcherState,
  waiting: Waiting,
  work: () => Promise<void> | null,
): Promise<boolean> {
  const { accountID, deviceID, deviceNo } = waiting.device;
  try {
    await work();
    return true;
  } catch (thrown) {
    state.trackers.delete(deviceNo);
    // What is stored is newer than what is remembered: the next position is compared with that.
    if (isConflict(thrown) || isUnknown(thrown)) return true;
    state.options.log.error('zones_not_watched', { accountID, deviceID, reason: messageOf(thrown) });
    // Else its device was deleted, or it is a bug.
    if (isStoreFault(thrown)) putBack(state, waiting);
    return !isStoreFault(thrown);
  }
}

async function readAndCompare(state: WatcherState, set: ZoneSet, waiting: Waiting): Promise<void> {
  const tracker = await readTracker(state, waiting);
  if (tracker !== null) await compare(state, set, waiting, tracker);
}

/** All of one account; false when some of it has to be tried again. */
async function compareAll(state: WatcherState, set: ZoneSet, all: readonly Waiting[]): Promise<boolean> {
  const works = all.map((one) => {
    const tracker = state.trackers.get(one.device.deviceNo);
    return compareSafely(state, one, () =>
      tracker === undefined ? readAndCompare(state, set, one) : compare(state, set, one, tracker),
    );
  });
  return (await Promise.all(works)).every(Boolean);
}

/** Takes all that waits, account by account; false when some of it has to be tried again. */
async function watchAll(state: WatcherState): Promise<boolean> {
  const byAccount = new Map<string, Waiting[]>();
  for (const waiting of state.waiting.values()) {
    const { accountID } = waiting.device;
    const ofAccount = byAccount.get(accountID);
    if (ofAccount === undefined) byAccount.set(accountID, [waiting]);
    else ofAccount.push(waiting);
  }
  state.waiting.clear();
  state.waitingCount = 0;
  let isDone = true;
  for (const [accountID, all] of byAccount) {
    const set = await zonesOf(state, accountID).catch((thrown: unknown) => {
      state.options.log.error('zones_not_read', { accountID, reason: messageOf(thrown) });
      return null;
    });
    if (set === null) {
      for (const one of all) putBack(state, one);
      isDone = false;
    } else if (set.zones.length > 0) {
      isDone = (await compareAll(state, set, all)) && isDone;
    }
  }
  return isDone;
}

/** Adds the events of one payload. @returns how many of the oldest of the device were left out. */
function addArrived(state: WatcherState, { device, fresh, receivedMs, eventNos }: Committed): number {
  const { deviceNo } = device;
  const [eventNo = 0] = eventNos;
  let waiting = state.waiting.get(deviceNo);
  if (waiting === undefined) {
    waiting = { device, eventNo, receivedMs, arrived: [] };
    state.waiting.set(deviceNo, waiting);
  }
  waiting.receivedMs = receivedMs;
  waiting.arrived.push({ fresh, receivedMs });
  state.waitingCount += fresh.length;
  let leftOut = 0;
  while (state.waitingCount > zoneWatcherLimits.waiting) {
    const oldest = waiting.arrived.shift();
    if (oldest === undefined) break;
    leftOut += oldest.fresh.length;
    state.waitingCount -= oldest.fresh.length;
  }
  return leftOut;
}

/** Starts to watch, until `close`. */
export function createZoneWatcher(options: ZoneWatcherOptions): ZoneWatcher {
  const { clock, log } = options;
  const state: WatcherState = {
    options,
    waiting: new Map(),
    trackers: new Map(),
    agents: new Map(),
    accounts: new Map(),
    waitingCount: 0,
  };
  const run = async (): Promise<number> => ((await watchAll(state)) ? idleMs : zoneWatcherLimits.retryMs);
  const task = createPeriodicTask({ clock, firstMs: idleMs, run });
  return {
    onHello({ deviceNo }) {
      state.trackers.delete(deviceNo);
      rememberAgent(state, deviceNo);
    },
    onCommitted(committed) {
      const { deviceNo } = committed.device;
      if ((state.agents.get(deviceNo) ?? 0) > clock.monoMs()) return;
      if (committed.boot === crossingBoot || committed.fresh.length === 0) return;
      const leftOut = addArrived(state, committed);
      if (leftOut > 0) log.warn('zones_watched_late', { deviceNo, leftOut });
      task.wake();
    },
    async close() {
      await task.runNow();
      await task.close();
    },
  };
}
