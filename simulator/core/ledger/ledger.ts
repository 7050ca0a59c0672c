// The truth ledger of a run: it numbers every fact, records every event on a vehicle's disk with its outcome, and compares the
// service's records with them. Pure. Every excuse is on record.
import { busValuesOf } from '../../../src/core/events/bus-values.ts';
import type { FeatureName, FleetEvent, TimeQuality } from '../../../src/core/events/event.ts';
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { eventBreach } from './breach.ts';
import type { FactKind } from './facts.ts';
import { compareShown } from './ledger-compare.ts';
import type {
  Breach,
  BusShown,
  CommandNote,
  ContactNote,
  CrewNotes,
  EventNote,
  Excuse,
  LedgerCounts,
  LedgerNotes,
  SentEvent,
  ShownEvent,
  Stall,
  TruckNotes,
  VehicleNotes,
} from './ledger-types.ts';
import { addMoment, emptyTrace, type TraceMoment } from './trace.ts';

/** More events than this are a run that has to be split: a note takes about 250 bytes. */
export const eventsMost = 5_000_000;

export interface Ledger {
  addVehicle(deviceID: string): void;
  truck(deviceID: string, truck: TruckNotes): void;
  /** True place of a vehicle, about once a second. @param atMs the same moment in ms of the run. */
  moment(deviceID: string, moment: TraceMoment, atMs: number): void;
  /** @returns the number of the fact within its vehicle. */
  fact(deviceID: string, kind: FactKind, atMs: number): number;
  /** Events are on the vehicle's disk. */
  stored(deviceID: string, boot: string, of: { events: readonly FleetEvent[]; atMs: number }): void;
  /** A batch was given to the link. */
  sent(deviceID: string, boot: string, of: { events: readonly FleetEvent[]; atMs: number }): void;
  /** @returns the events that were not acknowledged before, with when they were stored. */
  acknowledged(
    deviceID: string,
    boot: string,
    of: { ranges: readonly (readonly [from: number, to: number])[]; atMs: number },
  ): readonly EventNote[];
  link(deviceID: string, isUp: boolean, atMs: number): void;
  excuse(deviceID: string, excuse: Excuse): void;
  /** The simulated hardware itself was late: the generator had no time for it. Applies to all vehicles of this ledger. */
  stall(fromMs: number, toMs: number): void;
  contact(deviceID: string, contact: ContactNote): void;
  requested(command: Omit<CommandNote, 'endState' | 'hasEnded'>): void;
  ended(commandID: string, endState: string, hasEnded: boolean): void;
  /** The state of a relay as the service shows it at the end. @param state `0` or `1`. */
  shownState(deviceID: string, feature: FeatureName, state: string): void;
  /** The notes of the people at a vehicle, to be written. */
  crew(deviceID: string): CrewNotes;
  /** Events that are stored from now on need not be delivered. The first call counts. */
  stopping(deviceID: string, atMs: number): void;
  /** A record that the service returned; records of one vehicle in its order. @param isSameClock the service reads the clock of this machine. */
  shown(record: ShownEvent, isSameClock: boolean): void;
  /** Events that must be delivered and that no acknowledgement has come for, over all vehicles. */
  waiting(): number;
  /** Storing time of an event on the vehicle; null when unknown. */
  storedMsOf(deviceID: string, eventID: string): number | null;
  breach(breach: Breach): void;
  counts(): LedgerCounts;
  /** All that was noted, for the ledger of the whole run. */
  notes(): LedgerNotes;
  /** Merges the notes of a worker. @throws Error when a vehicle is present already: no two workers may run one. */
  merge(notes: LedgerNotes): void;
  readonly stalls: readonly Stall[];
  readonly vehicles: ReadonlyMap<string, VehicleNotes>;
  readonly commands: ReadonlyMap<string, CommandNote>;
  readonly breaches: readonly Breach[];
}

/** A vehicle's own clock without these may be wrong by minutes. */
const trustedTimes: ReadonlySet<TimeQuality> = new Set(['gnss', 'server']);

/** The values of the vehicle bus among the attributes of an event; null: there is none. */
function busOf(attributes: FleetEvent['attributes'] = {}): BusShown | null {
  const number = (name: string): number | null => {
    const value = attributes[name];
    return typeof value === 'number' ? value : null;
  };
  const { vin } = attributes;
  const sent = busValuesOf(attributes);
  if (sent.length === 0) return null;
  return {
    sent,
    speedKmh: number('busSpeed'),
    rpm: number('rpm'),
    odometerKm: number('busOdometer'),
    fuelPercent: number('busFuelLevel'),
    vin: typeof vin === 'string' ? vin : null,
  };
}

const sentOf = (event: FleetEvent): SentEvent => ({
  timestampMs: event.timestamp,
  latitude: event.latitude ?? null,
  longitude: event.longitude ?? null,
  speedKmh: event.speed ?? null,
  headingDeg: event.heading ?? 0,
  commandID: event.commandID ?? null,
  commandState: event.commandState ?? null,
  isTimed: event.timestamp !== null && trustedTimes.has(event.timeQuality),
  odometerKm: event.odometer ?? null,
  fuelLevel: event.fuelLevel ?? null,
  bus: busOf(event.attributes),
  inputs: event.inputs,
});

function noteOf(event: FleetEvent, atMs: number): EventNote {
  const { statusCode: code } = event;
  return {
    code,
    storedMs: atMs,
    sentMs: null,
    ackedMs: null,
    sent: null,
    isResent: false,
    shown: 0,
    factNo: null,
  };
}

/** The event that a service's id names. */
export function findNote(vehicle: VehicleNotes, eventID: string): EventNote | undefined {
  const at = eventID.lastIndexOf(':');
  return vehicle.boots.get(eventID.slice(0, at))?.[Number(eventID.slice(at + 1)) - 1];
}

function emptyNotes(deviceID: string, stalls: readonly Stall[]): VehicleNotes {
  return {
    deviceID,
    trace: emptyTrace(),
    truck: null,
    beganUtcMs: null,
    firstPlaceS: null,
    facts: [],
    boots: new Map(),
    contacts: [],
    excuses: [],
    stalls,
    ups: [],
    downs: [],
    reports: [],
    crew: { written: [], entered: [], held: [], configVersion: null },
    shownStates: {},
    isUp: false,
    stopMs: null,
    lastShown: null,
    unacknowledged: 0,
  };
}

interface Books {
  readonly vehicles: Map<string, VehicleNotes>;
  readonly commands: Map<string, CommandNote>;
  readonly breaches: Breach[];
  readonly stalls: Stall[];
  readonly counts: { -readonly [K in keyof LedgerCounts]: LedgerCounts[K] };
}

function vehicleIn({ vehicles, stalls }: Books, deviceID: string): VehicleNotes {
  const notes = vehicles.get(deviceID) ?? emptyNotes(deviceID, stalls);
  vehicles.set(deviceID, notes);
  return notes;
}

/** True when an event stored then must be delivered before the run may end. */
const isDue = ({ stopMs }: VehicleNotes, storedMs: number): boolean => stopMs === null || storedMs < stopMs;

/** The notes of a boot with one for each of these events. */
function enter(
  books: Books,
  deviceID: string,
  of: { boot: string; events: readonly FleetEvent[]; atMs: number },
) {
  const vehicle = vehicleIn(books, deviceID);
  const notes = vehicle.boots.get(of.boot) ?? [];
  vehicle.boots.set(of.boot, notes);
  for (const event of of.events) {
    if (notes[event.seq - 1] !== undefined) continue;
    notes[event.seq - 1] = noteOf(event, of.atMs);
    books.counts.events += 1;
    const { commandID, commandState: state } = event;
    if (commandID !== undefined && state !== undefined)
      vehicle.reports.push({ commandID, state, storedMs: of.atMs });
    if (isDue(vehicle, of.atMs)) vehicle.unacknowledged += 1;
    if (event.statusCode !== statusCodes.EVENTS_DROPPED.code) continue;
    const id = { deviceID, eventID: `${of.boot}:${event.seq}` };
    books.breaches.push(eventBreach('dropped', id, JSON.stringify(event.attributes ?? {})));
  }
  return notes;
}

function acknowledge(
  books: Books,
  vehicle: VehicleNotes,
  of: { notes: readonly EventNote[]; ranges: readonly (readonly [number, number])[]; atMs: number },
): readonly EventNote[] {
  const fresh: EventNote[] = [];
  for (const [from, to] of of.ranges) {
    for (let seq = from; seq <= Math.min(to, of.notes.length); seq += 1) {
      const note = of.notes[seq - 1];
      if (note === undefined || note.ackedMs !== null) continue;
      note.ackedMs = of.atMs;
      if (isDue(vehicle, note.storedMs)) vehicle.unacknowledged -= 1;
      books.counts.acknowledged += 1;
      fresh.push(note);
    }
  }
  return fresh;
}

function show(books: Books, record: ShownEvent, isSameClock: boolean): void {
  const vehicle = books.vehicles.get(record.deviceID);
  if (vehicle === undefined) return; // a vehicle of another run
  books.counts.shown += 1;
  books.breaches.push(...compareShown(vehicle, findNote(vehicle, record.eventID), record, isSameClock));
}

function eventNotes(books: Books): Pick<Ledger, 'stored' | 'sent' | 'acknowledged' | 'shown' | 'storedMsOf'> {
  return {
    stored(deviceID, boot, { events, atMs }) {
      enter(books, deviceID, { boot, events, atMs });
    },
    sent(deviceID, boot, { events, atMs }) {
      const notes = enter(books, deviceID, { boot, events, atMs });
      books.counts.sent += events.length;
      for (const event of events) {
        const note = notes[event.seq - 1];
        if (note === undefined) continue;
        note.sentMs ??= atMs;
        if (note.sent === null) note.sent = sentOf(event);
        else if (note.sent.timestampMs !== event.timestamp) note.isResent = true;
      }
    },
    acknowledged(deviceID, boot, { ranges, atMs }) {
      const vehicle = vehicleIn(books, deviceID);
      return acknowledge(books, vehicle, { notes: vehicle.boots.get(boot) ?? [], ranges, atMs });
    },
    shown: (record, isSameClock) => show(books, record, isSameClock),
    storedMsOf(deviceID, eventID) {
      const vehicle = books.vehicles.get(deviceID);
      return vehicle === undefined ? null : (findNote(vehicle, eventID)?.storedMs ?? null);
    },
  };
}

function mergeNotes(books: Books, { vehicles, breaches, stalls, counts }: LedgerNotes): void {
  for (const vehicle of vehicles) {
    if (books.vehicles.has(vehicle.deviceID)) throw new Error(`${vehicle.deviceID} was driven twice`);
    books.vehicles.set(vehicle.deviceID, vehicle);
  }
  for (const breach of breaches) books.breaches.push(breach);
  for (const stall of stalls) books.stalls.push(stall);
  for (const name of Object.keys(counts) as (keyof LedgerCounts)[]) books.counts[name] += counts[name];
}

/** An empty ledger. */
export function createLedger(): Ledger {
  const books: Books = {
    vehicles: new Map(),
    commands: new Map(),
    breaches: [],
    stalls: [],
    counts: { facts: 0, events: 0, sent: 0, acknowledged: 0, shown: 0, commands: 0, connects: 0 },
  };
  const { vehicles, commands, breaches, stalls, counts } = books;
  return {
    vehicles,
    commands,
    breaches,
    stalls,
    ...eventNotes(books),
    addVehicle: (deviceID) => void vehicleIn(books, deviceID),
    truck(deviceID, truck) {
      vehicleIn(books, deviceID).truck = truck;
    },
    moment(deviceID, moment, atMs) {
      const vehicle = vehicleIn(books, deviceID);
      vehicle.beganUtcMs ??= moment.utcMs - atMs;
      addMoment(vehicle.trace, moment);
    },
    fact(deviceID, kind, atMs) {
      const { facts } = vehicleIn(books, deviceID);
      const no = facts.length + 1;
      facts.push({ no, kind, atMs });
      counts.facts += 1;
      return no;
    },
    link(deviceID, isUp, atMs) {
      const vehicle = vehicleIn(books, deviceID);
      if (isUp && !vehicle.isUp) {
        vehicle.ups.push(atMs);
        counts.connects += 1;
      }
      if (!isUp && vehicle.isUp) vehicle.downs.push(atMs);
      vehicle.isUp = isUp;
    },
    excuse: (deviceID, excuse) => void vehicleIn(books, deviceID).excuses.push(excuse),
    stall(fromMs, toMs) {
      const last = stalls.at(-1);
      // Late again before anything could settle: one stall.
      if (last === undefined || fromMs - last.toMs > 1000) stalls.push({ fromMs, toMs });
      else stalls.splice(-1, 1, { ...last, toMs });
    },
    contact: (deviceID, contact) => void vehicleIn(books, deviceID).contacts.push(contact),
    requested(command) {
      commands.set(command.commandID, { ...command, endState: null, hasEnded: false });
      counts.commands += 1;
    },
    ended(commandID, endState, hasEnded) {
      const command = commands.get(commandID);
      if (command !== undefined) Object.assign(command, { endState, hasEnded });
    },
    shownState(deviceID, feature, state) {
      vehicleIn(books, deviceID).shownStates[feature] = state;
    },
    crew: (deviceID) => vehicleIn(books, deviceID).crew,
    stopping(deviceID, atMs) {
      vehicleIn(books, deviceID).stopMs ??= atMs;
    },
    waiting: () => [...vehicles.values()].reduce((sum, vehicle) => sum + vehicle.unacknowledged, 0),
    breach: (breach) => void breaches.push(breach),
    counts: () => ({ ...counts }),
    notes: () => ({ vehicles: [...vehicles.values()], breaches, stalls, counts: { ...counts } }),
    merge: (notes) => mergeNotes(books, notes),
  };
}
