// State of fuel monitoring over a power-down, in at most 300 characters of JSON: a theft while the unit was off is
// found, and none is reported twice. Reading never throws: a damaged record counts as unknown.
import type { FuelFault, FuelReference, FuelState } from './fuel-types.ts';
import { median, stepOf } from './fuel-window.ts';

export interface FuelMemory {
  readonly v: 1;
  /** Level of the last drive, fraction of the tank. */
  readonly trend: number | null;
  /** Settled levels of the standstill under way, with the ignition on and off. */
  readonly on: number | null;
  readonly off: number | null;
  readonly low: boolean;
  readonly fault: FuelFault | null;
  /** The level as last reported. */
  readonly told: number | null;
  /** The step of the sender. */
  readonly step: number | null;
}

export const emptyFuelMemory: FuelMemory = {
  v: 1,
  trend: null,
  on: null,
  off: null,
  low: false,
  fault: null,
  told: null,
  step: null,
};

const faults: readonly FuelFault[] = ['out of range', 'at the end of its scale', 'stuck'];

/** A memory from anything that was stored; every member that is not what it should be is as if it had never been. */
export function parseFuelMemory(stored: unknown): FuelMemory {
  if (typeof stored !== 'object' || stored === null) return emptyFuelMemory;
  const members = stored as Readonly<Record<string, unknown>>;
  if (members['v'] !== 1) return emptyFuelMemory;
  const level = (name: string): number | null => {
    const value = members[name];
    return typeof value === 'number' && value >= 0 && value <= 1 ? value : null;
  };
  return {
    v: 1,
    trend: level('trend'),
    on: level('on'),
    off: level('off'),
    low: members['low'] === true,
    fault: faults.find((fault) => fault === members['fault']) ?? null,
    told: level('told'),
    step: level('step'),
  };
}

const rounded = (level: number | undefined | null): number | null =>
  level === undefined || level === null || !Number.isFinite(level) ? null : Math.round(level * 1000) / 1000;

/** What to store beside the events of this moment. */
export function fuelMemoryOf(state: FuelState): FuelMemory {
  const { before, after, trend } = state;
  // After an unjudged stop the level before it is the one that a theft would show against.
  const minutes = before === null ? [...trend, ...after] : [];
  return {
    v: 1,
    trend: rounded(before?.level ?? (minutes.length > 0 ? median(minutes) : null)),
    on: rounded(state.references.on?.level),
    off: rounded(state.references.off?.level),
    low: state.isLow,
    fault: state.sender.fault,
    told: rounded(state.reported?.level),
    step: state.steps.length === 0 ? null : rounded(stepOf(state)),
  };
}

/** The state after a start. `atMs` is monotonic; the old reference has no age, so no consumption is allowed for. */
export function createFuel(memory: FuelMemory, atMs: number): FuelState {
  const old = (level: number | null): FuelReference | null =>
    level === null ? null : { level, atMs, idleMs: 0, supplyV: null, nearAtMs: atMs, isOld: true };
  return {
    lastMs: null,
    ignition: 'unknown',
    ignitionSinceMs: atMs,
    phase: 'standing',
    phaseSinceMs: null,
    leaving: null,
    supplyV: null,
    blankUntilMs: -Infinity,
    raw: [],
    slot: null,
    slots: [],
    at: null,
    steps: memory.step === null ? [] : [memory.step],
    jump: 0,
    seenMs: null,
    settled: null,
    references: { on: old(memory.on), off: old(memory.off) },
    isAsleep: false,
    draining: null,
    driveMs: 0,
    idleMs: 0,
    minute: [],
    trend: [],
    recent: [],
    before:
      memory.trend === null ? null : { isSettled: false, level: memory.trend, atMs, driveMs: 0, idleMs: 0 },
    after: [],
    sender: {
      fault: memory.fault,
      lastReadMs: null,
      bad: null,
      good: null,
      pinnedSinceMs: null,
      pinnedMinutes: 0,
      still: null,
    },
    isLow: memory.low,
    level: null,
    reported: memory.told === null ? null : { level: memory.told, atMs },
  };
}
