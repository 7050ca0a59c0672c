// The notes and breaches of the truth ledger. Types only. Times are monotonic ms of the run unless a name says UTC.
import type { busValuesOf } from '../../../src/core/events/bus-values.ts';
import type { CommandState, FeatureName, FeatureState, FleetEvent } from '../../../src/core/events/event.ts';
import type { Fact } from './facts.ts';
import type { Trace } from './trace.ts';

export const breachKinds = [
  'acknowledgedMissing',
  'lost',
  'duplicated',
  'reordered',
  'corrupted',
  'invented',
  'unnoticed',
  'misplaced',
  'mistimed',
  'untracked',
  'odometerWrong',
  'fuelWrong',
  'busWrong',
  'historyWrong',
  'presentWrong',
  'alertsWrong',
  'streamWrong',
  'accessWrong',
  'settingsWrong',
  'zonesWrong',
  'messagesWrong',
  'deliveriesWrong',
  'approvalsWrong',
  'serviceCodesWrong',
  'auditWrong',
  'reportsWrong',
  'dropped',
  'panicLate',
  'commandTwice',
  'commandLate',
  'commandMoving',
  'commandOpen',
  'commandUndelivered',
  'falseConfirmation',
  'wrongRelay',
  'notRestored',
  'wrongState',
  'commandsWrong',
] as const;
export type BreachKind = (typeof breachKinds)[number];

export const breachTexts: Readonly<Record<BreachKind, string>> = {
  acknowledgedMissing: 'acknowledged to the vehicle, and the service does not have it',
  lost: 'not at the service when the time to deliver was over',
  duplicated: 'returned more than once',
  reordered: 'returned in another order than it happened',
  corrupted: 'returned with another content',
  invented: 'no vehicle made it, or nothing happened that it reports',
  unnoticed: 'it happened, and the vehicle made no event of it',
  misplaced: 'returned with a place or a speed that the vehicle did not have then',
  mistimed: 'returned with another time than that at which it happened, or arrived',
  untracked: 'a vehicle drove, and no position tells where',
  odometerWrong: 'the odometer of a vehicle grew otherwise than its way, or went down',
  fuelWrong: 'the level of a record is not that of the tank, or no fuel was filled or stolen that it reports',
  busWrong: 'a value of the vehicle bus is not that of the vehicle',
  historyWrong:
    'the history of a vehicle, its metadata or an export says something else than the records of the fleet',
  presentWrong: 'a vehicle is shown otherwise than it reported last',
  alertsWrong: 'alerts, their count or the inbox say something else than the records',
  streamWrong: 'the live stream left an event out, sent it twice, or shows something else than was sent',
  accessWrong: 'somebody got in, or saw a vehicle, who may not',
  settingsWrong: 'settings that were saved are not what the vehicle holds',
  zonesWrong:
    'a vehicle crossed the border of a geozone and nothing says so, or a crossing is shown that was none',
  messagesWrong: 'a message did not come, or came twice',
  deliveriesWrong: 'a webhook did not get an alert as it is, got it again, or got what it must not trust',
  approvalsWrong: 'a cut that needs two people went with one, or did not go with two',
  serviceCodesWrong: 'a vehicle took a service code that is void, or refused its own',
  auditWrong: 'the audit log leaves something out, or names another user or time',
  reportsWrong: 'a report of trips and stops says something else than the vehicle did',
  dropped: 'dropped by the vehicle because its outbox was full',
  panicLate: 'a panic press that took too long',
  commandTwice: 'a relay moved more often than it was commanded',
  commandLate: 'a relay moved after its command had expired',
  commandMoving: 'a restrictive relay closed while the vehicle moved or its ignition was on',
  commandOpen: 'a command has not ended',
  commandUndelivered: 'a command never reached its vehicle, which was connected',
  falseConfirmation: 'confirmed in the ledger of the broker, but the relay or the vehicle did not confirm it',
  wrongRelay: 'a relay moved for a command to another relay',
  notRestored: 'a vehicle was left cut off or unlocked at the end',
  wrongState: 'the service shows another state of a relay than the relay is in',
  commandsWrong: 'the commands of a vehicle are listed otherwise than they were given and ended',
};

export interface Breach {
  readonly kind: BreachKind;
  readonly deviceID: string;
  /** Number of the fact within its vehicle; null for an event without a fact and for a command. */
  readonly factNo: number | null;
  /** `boot:seq`, or null. */
  readonly eventID: string | null;
  readonly commandID: string | null;
  readonly words: string;
}

/** Values of the vehicle bus in one event; null: not in it. */
export interface BusShown {
  /** All of them, as they are named and sent. */
  readonly sent: ReturnType<typeof busValuesOf>;
  readonly speedKmh: number | null;
  /** 1/min. */
  readonly rpm: number | null;
  readonly odometerKm: number | null;
  /** Percent of the tank. */
  readonly fuelPercent: number | null;
  readonly vin: string | null;
}

/** What an event said when it was sent. */
export interface SentEvent {
  /** UTC ms; null while the vehicle did not know the time. */
  readonly timestampMs: number | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
  /** Null: it said none, and the service shows 0. */
  readonly speedKmh: number | null;
  readonly headingDeg: number;
  readonly commandID: string | null;
  readonly commandState: string | null;
  /** The vehicle knew UTC well enough to be judged by it. */
  readonly isTimed: boolean;
  readonly odometerKm: number | null;
  /** Fraction of the tank. */
  readonly fuelLevel: number | null;
  /** Values of the vehicle bus; null: it has none. */
  readonly bus: BusShown | null;
  readonly inputs: FleetEvent['inputs'];
}

/** An event on a vehicle's disk. */
export interface EventNote {
  readonly code: number;
  readonly storedMs: number;
  /** When it was first given to the link. */
  sentMs: number | null;
  ackedMs: number | null;
  /** As first sent; a vehicle that learns the time sends the same event with a better one. */
  sent: SentEvent | null;
  isResent: boolean;
  shown: number;
  factNo: number | null;
}

/** An event record as the HTTP service returns it. */
export interface ShownEvent {
  readonly deviceID: string;
  readonly eventID: string;
  readonly statusCode: number;
  /** Epoch seconds. */
  readonly timestamp: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly isPositionValid: boolean;
  /** Whole km/h and degrees. */
  readonly speed: number;
  readonly heading: number;
  readonly commandID: string | null;
  readonly commandState: string | null;
  /** Empty: in no geozone. */
  readonly geozoneID: string;
  readonly statusDescription: string;
  /** When the service received it, epoch seconds. */
  readonly creationTime: number;
}

export interface ContactNote {
  readonly atMs: number;
  readonly feature: FeatureName;
  readonly energised: boolean;
  /** Cause of the move by the vehicle's log, such as `drive:<commandID>`; null when by itself (`order-book.ts`). */
  readonly token: string | null;
  /** The vehicle had reported before that the command of this token was carried out. */
  readonly wasConfirmed: boolean;
  /** Time for which the vehicle has moved, or had its ignition on; 0: it does not. */
  readonly movingMs: number;
  readonly ignitionOnMs: number;
}

export interface CommandNote {
  readonly commandID: string;
  readonly deviceID: string;
  readonly feature: FeatureName;
  readonly state: FeatureState;
  readonly requestedMs: number;
  readonly expiresMs: number;
  /** State in the broker's ledger at the end; null: never asked. */
  endState: string | null;
  hasEnded: boolean;
}

/** An event about a command on the vehicle's disk. */
export interface CommandReport {
  readonly commandID: string;
  readonly state: CommandState;
  readonly storedMs: number;
}

/** Actions of people at a vehicle, and its unit's final state. */
export interface CrewNotes {
  /** Messages to the fleet that the unit took, in their order. */
  readonly written: string[];
  /** Result of each entered service code, in order. */
  readonly entered: boolean[];
  /** Texts of the messages that the unit holds. */
  readonly held: string[];
  /** Version of the configuration that the unit holds; null: not read. */
  configVersion: number | null;
}

/** A span in which a fault of the scenario struck the vehicle; `position`: its receiver or its clock was deceived. */
export interface Excuse {
  readonly kind: 'hardware' | 'link' | 'position' | 'bus';
  readonly fromMs: number;
  readonly toMs: number;
}

/** A span in which the event loop of a generator process was blocked. */
export interface Stall {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What a truck's bus truly says of it. */
export interface TruckNotes {
  readonly vin: string;
  /** Of its odometer at the begin of the run. */
  readonly startKm: number;
}

export interface VehicleNotes {
  readonly deviceID: string;
  /** Where it truly was; empty for a light tracker. */
  readonly trace: Trace;
  /** Null: it has no bus. */
  truck: TruckNotes | null;
  /** UTC in ms at the begin of the run; null for a light tracker. */
  beganUtcMs: number | null;
  /** Time of the first returned record with a position, epoch seconds. */
  firstPlaceS: number | null;
  readonly facts: Fact[];
  /** By boot; the event of number n stands at n - 1. */
  readonly boots: Map<string, EventNote[]>;
  readonly contacts: ContactNote[];
  readonly excuses: Excuse[];
  /** Of the process that ran it; the same list for all of its vehicles. */
  readonly stalls: readonly Stall[];
  /** Moments at which the link came up. */
  readonly ups: number[];
  /** Moments at which it went down; ups and downs take turns, beginning with an up. */
  readonly downs: number[];
  /** Its events about commands, in the order of their storing. */
  readonly reports: CommandReport[];
  readonly crew: CrewNotes;
  /** States of its relays as the service shows them at the end: `0` or `1`; absent: not asked. */
  readonly shownStates: Partial<Record<FeatureName, string>>;
  isUp: boolean;
  /** Events stored after this may stay on the vehicle; null: it runs. */
  stopMs: number | null;
  /** Of the record that the service returned last. */
  lastShown: { timestamp: number; timestampMs: number | null; eventID: string } | null;
  /** Events that must still be delivered: what is stored after `stopMs` is not among them. */
  unacknowledged: number;
}

/** The notes of one worker, to be merged into the ledger of the run. Plain data. */
export interface LedgerNotes {
  readonly vehicles: readonly VehicleNotes[];
  readonly breaches: readonly Breach[];
  readonly stalls: readonly Stall[];
  readonly counts: LedgerCounts;
}

export interface LedgerCounts {
  readonly facts: number;
  readonly events: number;
  /** Events given to the link, repeats included. */
  readonly sent: number;
  readonly acknowledged: number;
  readonly shown: number;
  readonly commands: number;
  readonly connects: number;
}

/** An event that the live stream has shown, and when. */
export interface Sighting {
  readonly deviceID: string;
  readonly eventID: string;
  readonly atMs: number;
}
