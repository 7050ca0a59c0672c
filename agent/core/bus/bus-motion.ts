// Whether a bus shows rest: when all fresh speeds are zero, of senders that have settled and are alive, while an engine sends. Zeros of a
// sleeping bus, of an ECU on its own, of a start and of a gateway that repeats its last values are none (ways in which recorded buses lied), nor
// are those of a gateway that has lost its nodes: they come from one frame to the next.
import { busLimits } from './bus-limits.ts';
import type { BusFact, BusLack, BusMotion } from './bus-reading.ts';
import type { BusName } from './j1939-signals.ts';

/** One signal of one sender, as its frames gave it. */
export interface MotionSlot {
  readonly name: BusName;
  readonly source: number;
  readonly value: number | null;
  /** Frames of it count until then, as of a signal of motion. */
  readonly freshUntilMs: number;
  /** Since when its frames come without a gap, and since when each has had a value. */
  readonly sinceMs: number;
  readonly validSinceMs: number;
  /** When its value last changed, and when it last was beyond rest; minus infinity: never. */
  readonly changedMs: number;
  readonly aboveMs: number;
  /** A speed that fell faster than a vehicle brakes, and has shown no drive since. */
  readonly isSudden: boolean;
}

/** Measurements that vary on a vehicle at rest too; a counter or a clock that goes on says nothing of them. */
const measured: readonly BusName[] = [
  'speed',
  'axleSpeed',
  'tachographSpeed',
  'rpm',
  'fuelRate',
  'coolant',
  'batteryVolts',
];

const isFresh = ({ value, freshUntilMs }: MotionSlot, nowMs: number): boolean =>
  value !== null && nowMs <= freshUntilMs;

const highest = (slots: readonly MotionSlot[]): number | null =>
  slots.length === 0 ? null : Math.max(...slots.map(({ value }) => value ?? 0));

const addressOf = (source: number): string => source.toString(16).padStart(2, '0');

/** Addresses that can be seen to measure. */
function aliveSources(slots: readonly MotionSlot[], nowMs: number): ReadonlySet<number> {
  const alive = slots.filter(
    ({ name, changedMs }) => measured.includes(name) && nowMs - changedMs <= busLimits.aliveMs,
  );
  return new Set(alive.map(({ source }) => source));
}

/** Since when all of these have been at rest, counted from the end of their defaults; null: they are not. */
function restSince(live: readonly MotionSlot[], busSinceMs: number, nowMs: number): number | null {
  const sinceMs = Math.max(
    busSinceMs + busLimits.settleMs,
    ...live.map(({ sinceMs: from, validSinceMs, aboveMs }) =>
      Math.max(from + busLimits.settleMs, validSinceMs, aboveMs),
    ),
  );
  return sinceMs <= nowMs ? sinceMs : null;
}

/** The key switch of an ECU has its supply. */
function isKeyOn(slots: readonly MotionSlot[], nowMs: number): boolean {
  return slots.some((slot) => {
    const { name, value } = slot;
    return name === 'keyVolts' && (value ?? 0) >= busLimits.keyOnV && isFresh(slot, nowMs);
  });
}

/** What else shows that the vehicle is parked. */
function factOf(slots: readonly MotionSlot[], nowMs: number): BusFact | null {
  const settled = slots.filter((slot) => isFresh(slot, nowMs) && nowMs - slot.sinceMs >= busLimits.settleMs);
  const valuesOf = (name: BusName): readonly (number | null)[] =>
    settled.filter((slot) => slot.name === name).map(({ value }) => value);
  const brakes = valuesOf('parkingBrake');
  if (brakes.length > 0) return brakes.every((value) => value === 1) ? 'parking_brake' : null;
  const speeds = valuesOf('tachographSpeed');
  const motions = valuesOf('tachographMotion');
  const isStill = [...speeds, ...motions].every((value) => value === 0);
  return speeds.length > 0 && motions.length > 0 && isStill ? 'tachograph' : null;
}

/** Why the speeds show no rest; null when they do. */
function lackOf(
  {
    live,
    engines,
    sinceMs,
  }: {
    readonly live: readonly MotionSlot[];
    readonly engines: readonly MotionSlot[];
    readonly sinceMs: number | null;
  },
  alive: ReadonlySet<number>,
): BusLack | null {
  if (live.length === 0) return 'no_value';
  if ((highest(live) ?? 0) > busLimits.stillKmh) return 'moving';
  if (live.some(({ isSudden }) => isSudden)) return 'sudden_stop';
  if (engines.length === 0) return 'engine_silent';
  if (!live.some(({ source }) => alive.has(source))) return 'repeats';
  return sinceMs === null ? 'settling' : null;
}

/**
 * What the slots show at `nowMs`.
 * @param busSinceMs since when the bus has been without a gap.
 */
export function motionOf(
  slots: readonly MotionSlot[],
  bus: { readonly sinceMs: number; readonly vin: string | null },
  nowMs: number,
): BusMotion {
  const fresh = slots.filter((slot) => isFresh(slot, nowMs));
  const speedNames: readonly BusName[] = ['speed', 'axleSpeed', 'tachographSpeed'];
  const live = fresh.filter(({ name }) => speedNames.includes(name));
  const engines = fresh.filter(({ name }) => name === 'rpm');
  const alive = aliveSources(slots, nowMs);
  const sinceMs = restSince(live, bus.sinceMs, nowMs);
  const isOn = isKeyOn(slots, nowMs);
  const lacks = lackOf({ live, engines, sinceMs }, alive);
  const isStopped = highest(engines) === 0 && engines.some(({ source }) => alive.has(source));
  const sources = [...new Set(live.map(({ source }) => source))].sort((a, b) => a - b);
  return {
    atMs: nowMs,
    senders: sources.map(addressOf).join(','),
    vin: bus.vin,
    leastKmh: live.length === 0 ? null : Math.min(...live.map(({ value }) => value ?? 0)),
    mostKmh: highest(live),
    mostRpm: highest(engines),
    stillSinceMs: lacks === null ? sinceMs : null,
    lacks,
    // With the key on a driver leaves before a bus shows it.
    fact: isOn ? null : factOf(slots, nowMs),
    // An engine at rest proves nothing of a vehicle whose speed is not at rest too.
    stoppedSinceMs: isStopped && lacks === null && !isOn ? restSince(engines, bus.sinceMs, nowMs) : null,
  };
}
