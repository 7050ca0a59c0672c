// The types of the fuel machine: inputs, outputs and state. The rules are in `fuel.ts` and its parts. Every list in
// the state has an upper bound in `fuelLimits`.
import type { FuelSettings } from '../../../src/core/settings/fuel.ts';
import type { SensorReading } from '../board/inputs.ts';

export type Motion = 'moving' | 'standing' | 'unknown';

export interface FuelContext {
  readonly ignition: SensorReading;
  readonly motion: Motion;
  /** Volts of the vehicle's supply; null where not measured. */
  readonly supplyV: number | null;
}

export interface FuelInput {
  /** Monotonic; never decreases. */
  readonly atMs: number;
  /**
   * Fraction of the tank. Null: the board answered and the measure is outside of its valid range. `unknown`: the
   * board is silent, only the context is new.
   */
  readonly level: number | null | 'unknown';
  readonly context: FuelContext;
}

/**
 * Situation of a change: seen as it happened, parked or with the engine on, or only from the levels before and after.
 */
export type FuelSituation = 'parked' | 'idling' | 'unseen';

export type FuelFault = 'out of range' | 'at the end of its scale' | 'stuck';

export type FuelEvent =
  | {
      readonly kind: 'refill' | 'theft';
      /** The last moment at which the level was still the one before. */
      readonly beganAtMs: number;
      /** End of the change; of one in progress the time of evaluation. */
      readonly atMs: number;
      readonly before: number;
      readonly after: number;
      readonly situation: FuelSituation;
    }
  | { readonly kind: 'low' | 'level'; readonly atMs: number; readonly level: number }
  | { readonly kind: 'fault' | 'faultOver'; readonly atMs: number; readonly reason: FuelFault };

export interface FuelSlot {
  readonly atMs: number;
  readonly level: number;
}

/** The settled level of a standstill, to which later ones are compared. */
export interface FuelReference {
  readonly level: number;
  readonly atMs: number;
  /** `idleMs` of the state at that time. */
  readonly idleMs: number;
  readonly supplyV: number | null;
  /** The last time at which the level was near it. */
  readonly nearAtMs: number;
  /** From before a restart or a long silence: the vehicle may have been elsewhere meanwhile. */
  readonly isOld: boolean;
}

/** The level before a stop at which the tank may have changed unseen, or the settled one at the end of another stop. */
export interface FuelBefore {
  readonly isSettled: boolean;
  readonly level: number;
  readonly atMs: number;
  readonly driveMs: number;
  readonly idleMs: number;
}

interface SenderState {
  readonly fault: FuelFault | null;
  readonly lastReadMs: number | null;
  readonly bad: { readonly sinceMs: number; readonly samples: number } | null;
  readonly good: { readonly sinceMs: number; readonly samples: number } | null;
  /** It jumped to an end of its scale then and stays there. */
  readonly pinnedSinceMs: number | null;
  readonly pinnedMinutes: number;
  readonly still: { readonly level: number; readonly minutes: number } | null;
}

export interface FuelState {
  readonly lastMs: number | null;
  /** As last known. */
  readonly ignition: SensorReading;
  readonly ignitionSinceMs: number;
  readonly phase: 'standing' | 'driving';
  readonly phaseSinceMs: number | null;
  /** Since when, without a break, it moves or its motion is unknown. */
  readonly leaving: { readonly motion: 'moving' | 'unknown'; readonly sinceMs: number } | null;
  readonly supplyV: number | null;
  readonly blankUntilMs: number;
  /** The last samples while standing. */
  readonly raw: readonly FuelSlot[];
  readonly slot: {
    readonly startMs: number;
    readonly lastMs: number;
    readonly levels: readonly number[];
  } | null;
  readonly slots: readonly FuelSlot[];
  /** The sender's level now, left by more than noise only; null before the first median of a phase. */
  readonly at: FuelSlot | null;
  /** Sizes of its last changes, newest last: see `stepOf`. */
  readonly steps: readonly number[];
  /** The last change that no liquid makes and no known step explains, 0 to 1. */
  readonly jump: number;
  /** By ignition off or not: a sender may read another level, or none, without it. */
  readonly references: Readonly<Record<'on' | 'off', FuelReference | null>>;
  /** Last time of a known level, settled here or while driving; null before the first. */
  readonly seenMs: number | null;
  /** The settled level of this standstill, once there is one. */
  readonly settled: number | null;
  /** The sender does not work while the ignition is off. */
  readonly isAsleep: boolean;
  /** A reported theft in progress. */
  readonly draining: { readonly reportedAtMs: number } | null;
  /** Time with the engine on, driving and standing. */
  readonly driveMs: number;
  readonly idleMs: number;
  readonly minute: readonly number[];
  readonly trend: readonly number[];
  readonly recent: readonly number[];
  readonly before: FuelBefore | null;
  readonly after: readonly number[];
  readonly sender: SenderState;
  readonly isLow: boolean;
  /** The best that is known; null before the first and while the sender is faulty. */
  readonly level: number | null;
  readonly reported: { readonly level: number; readonly atMs: number } | null;
}

export type FuelDraft = { -readonly [Key in keyof FuelState]: FuelState[Key] };

/** One step of the fuel machine under way. */
export interface FuelStepContext {
  readonly draft: FuelDraft;
  readonly events: FuelEvent[];
  readonly atMs: number;
  readonly settings: FuelSettings;
}
