// What one life of the hostile world is made of, what it counts, and how it is told: shared by the world, its judge and its plots.
import { type InterlockRules } from '../../../agent/core/protection/interlock-rules.ts';
import type { CommandBody } from '../../../src/core/wire/wire.ts';
import type { HostileBus } from './hostile-bus.ts';
import { type Senses } from './hostile-senses.ts';
import { type Truth } from './hostile-truth.ts';
import { type Disk, type HostileVehicle, type Order, startUtcMs } from './hostile-vehicle.ts';

/**
 * What nothing can know in time: fixes come once a second here, a decision follows at once, an order waits half a second, and each step of
 * the world takes half a second. A vehicle that has moved for longer must have been seen.
 */
export const latencyMs = 2500;
export const lifeMs = 110_000;

export interface LifeCounts {
  lives: number;
  closings: number;
  withIgnitionOn: number;
  unlocks: number;
  reboots: number;
  withdrawals: number;
  /** Closings on a vehicle that was towed with its key off. */
  towed: number;
  /** Closings above 3 km/h with two misleading proven witnesses, by pair. */
  doubleLies: Record<string, number>;
  /** How often each rule was the reason to wait. */
  refusals: Record<string, number>;
  /** True speed at each closing, in steps of 10 km/h. */
  speeds: Record<string, number>;
}

export const noCounts = (): LifeCounts => ({
  lives: 0,
  closings: 0,
  withIgnitionOn: 0,
  unlocks: 0,
  reboots: 0,
  withdrawals: 0,
  towed: 0,
  doubleLies: {},
  refusals: {},
  speeds: {},
});

export interface Life {
  readonly breaches: readonly string[];
  readonly trail: readonly string[];
  /** When the first cut was confirmed, ms after it was sent; null when it was not. */
  readonly confirmedMs: number | null;
}

export interface World {
  readonly luck: () => number;
  /** Nothing fails, and commands live for an hour. */
  readonly isHonest: boolean;
  readonly rules: InterlockRules;
  readonly disk: { now: Disk };
  readonly truth: Truth;
  readonly senses: Senses;
  /** Null: the vehicle has none. */
  readonly bus: HostileBus | null;
  readonly counts: LifeCounts;
  readonly breaches: string[];
  readonly trail: string[];
  vehicle: HostileVehicle;
  wiring: string;
  nowMs: number;
  /** How far the system clock is off. */
  systemErrorMs: number;
  isOffline: boolean;
  readonly contacts: Record<Order['relay'], boolean>;
  warningSinceMs: number;
  isStuck: boolean;
  isDiskBad: boolean;
  nextReadMs: number;
  isBoardFresh: boolean;
  /** When the agent was last started, and its unit switched on. */
  startedMs: number;
  poweredMs: number;
  /** Since when the agent has read its inputs without a break; a receiver that shows the vehicle at rest vouches for them too. */
  freshMs: number;
  /** Since when delivered fixes have shown a vehicle at rest. */
  restFixMs: number | null;
  silentSinceMs: number | null;
  /** The panic button is pressed, and when it last was. */
  isPanic: boolean;
  panicMs: number;
  /** When each relay was last moved by a command. */
  readonly changedMs: Record<Order['relay'], number>;
  boot: number;
  counter: number;
  readonly issued: CommandBody[];
  /** When each was first issued. */
  readonly sentMs: Map<string, number>;
  /** How far the broker's clock is off. */
  serverErrorMs: number;
  rebootAtMs: number;
  mendAtMs: number;
  /** What the broker's clock is off by then. */
  mendedErrorMs: number;
  tunnelAtMs: number;
  driveAtMs: number;
  /** Speed at which it drives off then; null: any of a road. */
  crawlKmh: number | null;
  keyOffAtMs: number;
  /** The unit has no power until then. */
  downMs: number;
  downUntilMs: number;
  readonly movedBy: Map<string, boolean>;
  /** By relay: the command that closed it last. */
  readonly lastMover: Map<string, string>;
  confirmedMs: number | null;
}

export const chance = (world: Pick<World, 'luck'>, of: number): boolean => world.luck() < of;
export const pick = <T>(world: Pick<World, 'luck'>, from: readonly T[]): T =>
  from[Math.floor(world.luck() * from.length)] as T;
export const count = (table: Record<string, number>, key: string): void => {
  table[key] = (table[key] ?? 0) + 1;
};
export const note = (world: World, text: string): void => {
  if (world.trail.length > 400) world.trail.shift();
  world.trail.push(`${(world.nowMs / 1000).toFixed(1)} ${text}`);
};
export const breach = (world: World, text: string): void => {
  const { faults, fitted, unwired } = world.senses;
  const active = faults.filter(({ fromMs, untilMs }) => fromMs <= world.nowMs && world.nowMs < untilMs);
  const names = active.map(({ part, kind }) => `${part} ${kind}`).join(', ');
  world.breaches.push(
    `${(world.nowMs / 1000).toFixed(1)} s: ${text} [fitted ${fitted.join(' ')}; unwired ${unwired.join(' ')}; ${names}]`,
  );
  note(world, `BREACH ${text}`);
};
export const utcMs = (world: World): number => startUtcMs + world.nowMs;
export const serverMs = (world: World): number => utcMs(world) + world.serverErrorMs;
