// The live picture of the account: vehicles, open alarms and the state of the connection, from the list of devices and the stream. It is
// read once for all screens. Changes reach the screens at most four times a second, of more than 10,000 vehicles more rarely, alarms and
// commands at once.
import type { QueryClient } from '@tanstack/react-query';
import type { FleetRow } from '../../../src/core/events/fleet-row.ts';
import type { StreamMessage } from '../../client/event-stream.ts';
import { lookAtStreams } from '../../client/silence.ts';
import type { Alarm, ListedDevice } from '../api/operations.ts';
import type { Vehicle } from '../state/fleet.ts';
import { alarmMarks, vehicleOf, withDevice } from '../state/fleet-messages.ts';
import { createValue } from '../state/value.ts';
import { call, ServiceError } from './call.ts';
import { openStream } from './stream.ts';

export type Vehicles = ReadonlyMap<string, Vehicle>;

export interface Connection {
  /** `live` only while each second brings a sign of life. */
  readonly state: 'opening' | 'live' | 'down';
  /** When something last came, ms since 1970; 0 before the first. */
  readonly aliveMs: number;
}

/** An event as the stream gives it. */
export interface LiveEvent {
  readonly deviceID: string;
  readonly eventID: string;
  readonly statusCode: number;
  readonly timestamp: number;
}

export const vehicles = createValue<Vehicles>(new Map());
/** Null until the list of devices was read. */
export const fleetReadMs = createValue<number | null>(null);
export const alarms = createValue<ReadonlyMap<string, Alarm>>(new Map());
/** Null until the open alarms were read. */
export const alarmsReadMs = createValue<number | null>(null);
/**
 * Alarms that were open before this picture: those of the first list whose begin the stream had not reported. Null until they were read. By the
 * alarms themselves: no two clocks are compared.
 */
export const alarmsBefore = createValue<ReadonlySet<string> | null>(null);
/** Why the last reading of vehicles and alarms failed; null: it did not, or none has ended. */
export const readFailure = createValue<Error | null>(null);
export const connection = createValue<Connection>({ state: 'opening', aliveMs: 0 });
/** Newest events of the stream, the newest first. */
export const liveEvents = createValue<readonly LiveEvent[]>([]);
/** Devices of the newest events and commands of the stream, so that screens read these again; a new set each time. */
export const changedDevices = createValue<ReadonlySet<string>>(new Set());

/** The newest message about a command or a request for approval; a new object each time. */
export const orderMessages = createValue<{
  readonly event: 'command' | 'approval';
  readonly message: Readonly<Record<string, unknown>>;
} | null>(null);
/** Devices as they were read last: all, or those that changed since. */
export const listedRows = createValue<readonly FleetRow[]>([]);

/** Counts changes of geozones, so that the map reads them again. */
export const zoneChanges = createValue(0);

/**
 * That a command or a request for approval changed: a new object for each message; `deviceID` null: any may have changed, because the stream begins
 * anew.
 */
export const orderChanges = createValue<{ readonly deviceID: string | null }>({ deviceID: null });

/** Whether the stream is live at this moment: after a sleep its state is judged late. */
export function isLive(): boolean {
  lookAtStreams();
  return connection.get().state === 'live';
}

const publishMs = 250;
/** Screens go through all vehicles at each publication, so large fleets are published more rarely: 100,000 vehicles every 2.5 s. */
const publishedPerMs = 40;
const eventsKept = 500;
const retryMs = 3000;

interface Picture {
  readonly fleet: Map<string, Vehicle>;
  readonly open: Map<string, Alarm>;
  /** Alarms that changed since the reading of their list began; null while none is under way. */
  touched: Set<string> | null;
  /** For each reading of devices that is under way, the presence that the stream reported since it began: it is newer than the rows. */
  readonly presence: Set<Map<string, boolean>>;
  /** Alarms whose begin the stream reported before the first list was read. */
  readonly begun: Set<string>;
  /** Revision of the list of devices that the next question continues from. */
  asOf: number;
  timer: ReturnType<typeof setTimeout> | null;
}

function publish(picture: Picture): void {
  if (picture.timer !== null) clearTimeout(picture.timer);
  picture.timer = null;
  vehicles.set(new Map(picture.fleet));
}

const periodOf = ({ fleet }: Picture): number => Math.max(publishMs, fleet.size / publishedPerMs);

function publishSoon(picture: Picture): void {
  picture.timer ??= setTimeout(() => publish(picture), periodOf(picture));
}

function markVehicle({ fleet, open }: Picture, deviceID: string): void {
  const vehicle = fleet.get(deviceID);
  if (vehicle === undefined) return;
  const own = [...open.values()].filter((alarm) => alarm.deviceID === deviceID);
  fleet.set(deviceID, { ...vehicle, ...alarmMarks(own) });
}

function takeAlarm(picture: Picture, alarm: Alarm): void {
  const known = picture.open.get(alarm.alarmID);
  if (known !== undefined && (known.version > alarm.version || known.count > alarm.count)) return;
  picture.touched?.add(alarm.alarmID);
  if (alarm.alarmState === 'closed') picture.open.delete(alarm.alarmID);
  else picture.open.set(alarm.alarmID, alarm);
  markVehicle(picture, alarm.deviceID);
}

/** Shows an alarm as an answer of the service has it, before the stream says the same. */
export function showAlarm(alarm: Alarm): void {
  if (current === null) return;
  takeAlarm(current, alarm);
  publish(current);
  alarms.set(new Map(current.open));
}

let current: Picture | null = null;
let readCurrent: (() => void) | null = null;

/** Reads vehicles and alarms anew, after a change of devices that the stream does not report. */
export const readFleetAgain = (): void => readCurrent?.();

/** Reads rows of devices. @param since revision of the fleet; 0: all of them. */
async function readRows(picture: Picture, since: number, signal: AbortSignal): Promise<void> {
  const reported = new Map<string, boolean>();
  picture.presence.add(reported);
  try {
    const query = { form: 'rows', since: String(since) };
    const {
      rows,
      asOf,
      isWhole,
      hasUpdateDevicePrivileges: mayUpdate,
    } = await call('getAllDevices', { query, signal });
    if (rows === undefined || asOf === undefined) throw new Error('the list of devices has no rows');
    const before = new Map(picture.fleet);
    if (isWhole === true) picture.fleet.clear();
    for (const row of rows) {
      const [id] = row;
      picture.fleet.set(
        id,
        vehicleOf(row, { before: before.get(id), isOnline: reported.get(id), mayUpdate }),
      );
    }
    listedRows.set(rows);
    picture.asOf = asOf;
  } finally {
    picture.presence.delete(reported);
  }
  // A screen that waits for the list finds the vehicles in it.
  publish(picture);
  fleetReadMs.set(Date.now());
}

async function readAlarms(picture: Picture, signal: AbortSignal): Promise<void> {
  const found: Alarm[] = [];
  const touched = new Set<string>();
  picture.touched = touched;
  for (let cursor: string | undefined; ; ) {
    const query = { sort: 'queue', limit: '500', ...(cursor === undefined ? {} : { cursor }) } as const;
    const page = await call('listAlarms', { query, signal });
    found.push(...page.alarms);
    if (!page.more || page.next === null) break;
    cursor = page.next;
  }
  // What the stream said meanwhile is newer than the list.
  for (const id of picture.open.keys()) if (!touched.has(id)) picture.open.delete(id);
  for (const alarm of found) if (!touched.has(alarm.alarmID)) picture.open.set(alarm.alarmID, alarm);
  picture.touched = null;
  if (alarmsBefore.get() === null)
    alarmsBefore.set(new Set([...picture.open.keys()].filter((id) => !picture.begun.has(id))));
  alarms.set(new Map(picture.open));
  alarmsReadMs.set(Date.now());
}

/** Marks all vehicles by the open alarms. */
function markVehicles({ fleet, open }: Picture): void {
  const byDevice = new Map<string, Alarm[]>();
  for (const alarm of open.values())
    byDevice.set(alarm.deviceID, [...(byDevice.get(alarm.deviceID) ?? []), alarm]);
  for (const [id, vehicle] of fleet) {
    const own = byDevice.get(id) ?? [];
    const isMarked = vehicle.alarm !== null || vehicle.isDoubtful;
    if (isMarked || own.length > 0) fleet.set(id, { ...vehicle, ...alarmMarks(own) });
  }
}

/** Reads everything anew; tried again until it succeeds or the session ends. */
async function readAll(picture: Picture, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      // Open alarms do not wait for a large fleet; a new try begins when both have ended. All rows: presence raises no revision.
      const read = await Promise.allSettled([readRows(picture, 0, signal), readAlarms(picture, signal)]);
      for (const one of read) if (one.status === 'rejected') throw one.reason;
      markVehicles(picture);
      publish(picture);
      readFailure.set(null);
      return;
    } catch (thrown) {
      if (signal.aborted || (thrown instanceof ServiceError && thrown.status === 401)) return;
      readFailure.set(thrown instanceof Error ? thrown : new Error(String(thrown)));
      await new Promise((done) => setTimeout(done, retryMs));
    }
  }
}

interface Handlers {
  readonly picture: Picture;
  readAgain(): void;
  readChanged(deviceID: string): void;
}

function handle({ picture, readAgain, readChanged }: Handlers, { event, data }: StreamMessage): void {
  const { fleet } = picture;
  switch (event) {
    case 'hello':
    case 'reset':
      zoneChanges.set(zoneChanges.get() + 1);
      orderChanges.set({ deviceID: null });
      return readAgain();
    case 'device': {
      const message = JSON.parse(data) as ListedDevice;
      const vehicle = fleet.get(message.deviceID);
      if (vehicle === undefined) return;
      fleet.set(message.deviceID, withDevice(vehicle, message));
      return publishSoon(picture);
    }
    case 'presence': {
      const { deviceID, online } = JSON.parse(data) as {
        readonly deviceID: string;
        readonly online: boolean;
      };
      const vehicle = fleet.get(deviceID);
      if (vehicle !== undefined) fleet.set(deviceID, { ...vehicle, isOnline: online });
      for (const reported of picture.presence) reported.set(deviceID, online);
      return publishSoon(picture);
    }
    case 'alarm': {
      const alarm = JSON.parse(data) as Alarm;
      if (alarmsBefore.get() === null && alarm.count === 1) picture.begun.add(alarm.alarmID);
      takeAlarm(picture, alarm);
      alarms.set(new Map(picture.open));
      return publish(picture);
    }
    case 'zone':
      return zoneChanges.set(zoneChanges.get() + 1);
    case 'command':
    case 'approval': {
      const message = JSON.parse(data) as { readonly deviceID: string } & Readonly<Record<string, unknown>>;
      orderMessages.set({ event, message });
      orderChanges.set({ deviceID: message.deviceID });
      return readChanged(message.deviceID);
    }
    case 'event': {
      const happened = JSON.parse(data) as LiveEvent;
      liveEvents.set([happened, ...liveEvents.get()].slice(0, eventsKept));
      return readChanged(happened.deviceID);
    }
    default:
      return;
  }
}

/** Follows the account until the returned function is called. */
export function followFleet(): () => void {
  const leave = new AbortController();
  const picture: Picture = {
    fleet: new Map(),
    open: new Map(),
    touched: null,
    presence: new Set(),
    begun: new Set(),
    asOf: 0,
    timer: null,
  };
  current = picture;
  let rereading: ReturnType<typeof setTimeout> | null = null;
  let reading = new AbortController();
  let changed = new Set<string>();
  let nextReadMs = 0;
  const handlers: Handlers = {
    picture,
    readAgain() {
      // Only the newest reading goes on: while the service refuses all, each connection would add one.
      reading.abort();
      reading = new AbortController();
      void readAll(picture, AbortSignal.any([leave.signal, reading.signal]));
    },
    // Inputs and commands are members of the list that no message has: what changed is read, at most once in a moment.
    readChanged(deviceID) {
      changed.add(deviceID);
      rereading ??= setTimeout(readWhatChanged, publishMs);
    },
  };
  const readWhatChanged = (): void => {
    rereading = null;
    if (changed.size > 0) changedDevices.set(changed);
    changed = new Set();
    // One reading after the other: what was read earlier must not come later. The service looks at each device for it.
    if (picture.presence.size > 0 || performance.now() < nextReadMs) {
      rereading = setTimeout(readWhatChanged, publishMs);
      return;
    }
    nextReadMs = performance.now() + periodOf(picture);
    const signal = AbortSignal.any([leave.signal, reading.signal]);
    readRows(picture, picture.asOf, signal).catch(() => undefined);
  };
  readCurrent = handlers.readAgain;
  const close = openStream({
    onMessages: (messages) => messages.forEach((message) => handle(handlers, message)),
    onAlive: () => connection.set({ state: 'live', aliveMs: Date.now() }),
    onDown: () => connection.set({ state: 'down', aliveMs: connection.get().aliveMs }),
  });
  return () => {
    leave.abort();
    close();
    if (picture.timer !== null) clearTimeout(picture.timer);
    if (rereading !== null) clearTimeout(rereading);
    current = null;
    readCurrent = null;
    vehicles.set(new Map());
    alarms.set(new Map());
    liveEvents.set([]);
    listedRows.set([]);
    orderMessages.set(null);
    fleetReadMs.set(null);
    alarmsReadMs.set(null);
    alarmsBefore.set(null);
    readFailure.set(null);
    connection.set({ state: 'opening', aliveMs: 0 });
  };
}

/** When the connection was lost last, ms since 1970; 0: never. */
export const lostMs = createValue(0);

/** Counts how often the connection came back. */
export const returns = createValue(0);

let stateBefore = connection.get().state;
let queries: QueryClient | null = null;

connection.subscribe(() => {
  const { state } = connection.get();
  if (state === stateBefore) return;
  const wasDown = stateBefore === 'down';
  stateBefore = state;
  if (state === 'down') lostMs.set(Date.now());
  if (!wasDown || state !== 'live') return;
  // A connection that was silent only says no hello.
  readCurrent?.();
  // A report, and what never changes, stay as they were read.
  void queries?.invalidateQueries({
    predicate: ({ queryKey: [kind] }) => kind !== 'report' && kind !== 'replay',
  });
  returns.set(returns.get() + 1);
});

/** Reads the answers of these queries again when the connection is back. */
export function readAgainWhenBack(client: QueryClient): void {
  queries = client;
}
