// Drives the fuel machine with recorded or made tanks: the recorded logs, parked time between them, liquid taken out or poured
// in, and what came of it. It must never look into the machine: only inputs and events count.

import { stepFuel } from '../../../agent/core/fuel/fuel.ts';
import {
  createFuel,
  emptyFuelMemory,
  type FuelMemory,
  fuelMemoryOf,
} from '../../../agent/core/fuel/fuel-memory.ts';
import type { FuelSettings } from '../../../src/core/settings/fuel.ts';
import { standardSettings } from '../../../src/core/settings/settings.ts';

const standardFuelSettings = standardSettings.fuel;

import type { FuelContext, FuelEvent, FuelState } from '../../../agent/core/fuel/fuel-types.ts';
import { readShared } from '../machine/shared-data.ts';

/** One second of a tank. */
export interface TankSecond extends FuelContext {
  readonly level: number | null | 'unknown';
}

export const fuelLogNames = [
  'carobd-drive1.csv.gz',
  'carobd-idle35.csv',
  'carobd-idle46.csv.gz',
  'carobd-live13.csv.gz',
  'carobd-long2.csv.gz',
  'carobd-ufpe12.csv.gz',
] as const;

export type FuelLogName = (typeof fuelLogNames)[number];

/** A recorded log, second by second, ignition on; it stands at 3 km/h and less, as GNSS judges it. */
export function readFuelLog(name: FuelLogName): readonly TankSecond[] {
  const lines = new TextDecoder()
    .decode(readShared(`fuel/${name}`))
    .trim()
    .split('\n')
    .slice(1);
  return lines.map((line) => {
    const [, , , kmh = '', percent = '', volts = ''] = line.split(',');
    return {
      level: Number(percent) / 100,
      ignition: 'on',
      motion: Number(kmh) > 3 ? 'moving' : 'standing',
      supplyV: Number(volts),
    };
  });
}

export const isTold = (event: FuelEvent): boolean => event.kind !== 'level';
export type FuelChange = Extract<FuelEvent, { kind: 'refill' | 'theft' }>;

export const changesOf = (events: readonly FuelEvent[]): readonly FuelChange[] =>
  events.filter((event): event is FuelChange => event.kind === 'refill' || event.kind === 'theft');

export interface FuelRun {
  readonly events: readonly FuelEvent[];
  readonly state: FuelState;
  readonly memory: FuelMemory;
}

/** All seconds from a start at `startMs`, with what an earlier run left behind. */
export function runTank(
  seconds: readonly TankSecond[],
  given: {
    readonly memory?: FuelMemory;
    readonly startMs?: number;
    readonly settings?: Partial<FuelSettings>;
    readonly stepMs?: number;
  } = {},
): FuelRun {
  const startMs = given.startMs ?? 10_000;
  const settings = { ...standardFuelSettings, ...given.settings };
  let state = createFuel(given.memory ?? emptyFuelMemory, startMs);
  const events: FuelEvent[] = [];
  for (const [at, second] of seconds.entries()) {
    const { level, ...context } = second;
    const step = stepFuel(state, { atMs: startMs + at * (given.stepMs ?? 1000), level, context }, settings);
    state = step.state;
    events.push(...step.events);
  }
  return { events, state, memory: fuelMemoryOf(state) };
}

/** The level of `seconds` moved by a ramp that begins at `atS`, lasts `durationS` and ends at `by`; stays within the tank. */
export function withChange(
  seconds: readonly TankSecond[],
  change: { readonly atS: number; readonly durationS: number; readonly by: number },
): readonly TankSecond[] {
  return seconds.map((second, at) => {
    if (typeof second.level !== 'number') return second;
    const share = Math.min(1, Math.max(0, (at - change.atS) / Math.max(1, change.durationS)));
    return { ...second, level: Math.min(1, Math.max(0, second.level + share * change.by)) };
  });
}

/** Parked seconds with the noise of a recorded idling tank around `level`. */
export function parked(
  noise: readonly TankSecond[],
  park: { readonly level: number; readonly seconds: number; readonly ignition?: 'on' | 'off' },
): readonly TankSecond[] {
  const levels = noise.map((second) => (typeof second.level === 'number' ? second.level : 0));
  const first = levels[0] ?? 0;
  return Array.from({ length: park.seconds }, (_, at) => ({
    // Forwards and backwards, so that its trend is no drain.
    level: clamp(park.level + (levels[mirror(at, levels.length)] ?? first) - first),
    ignition: park.ignition ?? 'off',
    motion: 'standing' as const,
    supplyV: 12.4,
  }));
}

const clamp = (level: number): number => Math.min(1, Math.max(0, level));

function mirror(at: number, length: number): number {
  const round = at % (2 * length);
  return round < length ? round : 2 * length - 1 - round;
}

/** The last numeric level of a run of seconds, as a median of its last half minute. */
export function lastLevel(seconds: readonly TankSecond[]): number {
  const levels = seconds.slice(-30).flatMap(({ level }) => (typeof level === 'number' ? [level] : []));
  return levels.sort((one, two) => one - two)[Math.floor(levels.length / 2)] ?? 0;
}

/** Seconds of a made tank: a level, half a point of noise of the converter, and what the vehicle does. */
export function made(
  level: number | null | 'unknown',
  seconds: number,
  context: Partial<FuelContext> = {},
): readonly TankSecond[] {
  let random = 12_345;
  return Array.from({ length: seconds }, () => {
    random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
    const noise = (random / 2_147_483_648 - 0.5) * 0.005;
    return {
      level: typeof level === 'number' ? clamp(level + noise) : level,
      ignition: 'on' as const,
      motion: 'standing' as const,
      supplyV: null,
      ...context,
    };
  });
}

export const off = { ignition: 'off' } as const;
export const driving = { motion: 'moving' } as const;

/** Everything but levels that a tank raises. */
export const told = (
  seconds: readonly TankSecond[],
  given: Parameters<typeof runTank>[1] = {},
): readonly FuelEvent[] => runTank(seconds, given).events.filter(isTold);
export const kinds = (seconds: readonly TankSecond[], given: Parameters<typeof runTank>[1] = {}) =>
  told(seconds, given).map(({ kind }) => kind);
