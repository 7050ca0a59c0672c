// What the truth ledger keeps and what it finds. Types only. Times are monotonic ms of the run unless a name says UTC.
import type { FeatureName, FeatureState } from '../../src/core/event.ts';
import type { Fact } from './facts.ts';

export const breachKinds = [
  'acknowledgedMissing',
  'lost',
  'duplicated',
  'reordered',
  'corrupted',
  'invented',
  'unnoticed',
  'dropped',
  'panicLate',
  'commandTwice',
  'commandLate',
  'commandMoving',
  'commandOpen',
] as const;
export type BreachKind = (typeof breachKinds)[number];

export const breachWords: Readonly<Record<BreachKind, string>> = {
  acknowledgedMissing: 'acknowledged to the vehicle, and the service does not have it',
  lost: 'not at the service when the time to deliver was over',
  duplicated: 'returned more than once',
  reordered: 'returned in another order than it happened',
  corrupted: 'returned with another content',
  invented: 'no vehicle made it, or nothing happened that it tells of',
  unnoticed: 'it happened, and the vehicle made no event of it',
  dropped: 'given up by the vehicle for want of space',
  panicLate: 'a panic press that took too long',
  commandTwice: 'a relay moved more often than it was commanded',
  commandLate: 'a relay moved after its command had expired',
  commandMoving: 'a restrictive relay closed while the vehicle moved or its ignition was on',
  commandOpen: 'a command came to no end',
};

/** One thing that is not as it must be. */
export interface Breach {
  readonly kind: BreachKind;
  readonly deviceID: string;
  /** Number of the fact within its vehicle; null where it is of an event that tells of no fact, or of a command. */
  readonly factNo: number | null;
  /** `boot:seq`, or null. */
  readonly eventID: string | null;
  readonly commandID: string | null;
  readonly words: string;
}

/** What an event said when it was sent. */
export interface SentEvent {
  /** UTC ms; null while the vehicle did not know the time. */
  readonly timestampMs: number | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly speedKmh: number;
  readonly headingDeg: number;
  readonly commandID: string | null;
}

/** An event on a vehicle's disk. */
export interface EventNote {
  readonly code: number;
  readonly storedMs: number;
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
}

export interface ContactNote {
  readonly atMs: number;
  readonly feature: FeatureName;
  readonly energised: boolean;
  /** What the vehicle's log says it moved for, such as `drive:<commandID>`; null when by itself (`order-book.ts`). */
  readonly token: string | null;
  /** The vehicle had told before that the command of this token was carried out. */
  readonly wasConfirmed: boolean;
  /** How long the vehicle has moved and had its ignition on; 0 when it does not. */
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

/** When something was wrong with a vehicle on purpose. */
export interface Excuse {
  readonly kind: 'hardware' | 'link';
  readonly fromMs: number;
  readonly toMs: number;
}

/** A time in which a generator's process had no time for anything. */
export interface Stall {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface VehicleNotes {
  readonly deviceID: string;
  readonly facts: Fact[];
  /** By boot; the event of number n stands at n - 1. */
  readonly boots: Map<string, EventNote[]>;
  readonly contacts: ContactNote[];
  readonly excuses: Excuse[];
  /** When the process that drove it was late itself; the same list for all of its vehicles. */
  readonly stalls: readonly Stall[];
  /** Moments at which the link came up. */
  readonly ups: number[];
  isUp: boolean;
  /** What is stored from now on may stay on the vehicle; null: it runs. */
  stopMs: number | null;
  /** Of the record that the service returned last. */
  lastShown: { timestamp: number; timestampMs: number | null; eventID: string } | null;
  /** Events that must still be delivered: what is stored after `stopMs` is not among them. */
  unacknowledged: number;
}

/** What one part of a fleet has noted, to be laid into the ledger of the whole run. Plain data. */
export interface LedgerNotes {
  readonly vehicles: readonly VehicleNotes[];
  readonly breaches: readonly Breach[];
  readonly stalls: readonly Stall[];
  readonly counts: LedgerCounts;
}

export interface LedgerCounts {
  readonly facts: number;
  readonly events: number;
  /** Events handed to the link, those that were sent again too. */
  readonly sent: number;
  readonly acknowledged: number;
  readonly shown: number;
  readonly commands: number;
  readonly connects: number;
}
