// The slots of the signals of a J1939 bus: one for each signal and sender, with its age and period. Senders repeat a signal as "not
// available" that another one has, so that the last frame of a group means nothing.
import { busLimits } from './bus-limits.ts';
import type { BusActivity, BusValue, BusView } from './bus-reading.ts';
import { type BusName, type BusSignal, busSignals, readSignal } from './j1939-signals.ts';
import { createOdometer, type OdometerState, stepOdometer } from './odometer-check.ts';

const period = { leastMs: 10, mostMs: 1000, share: 1 / 8 } as const;
/** A frame of a signal of motion is fresh for five periods, at least this long. */
const freshPeriods = 5;
const freshLeastMs = 500;

interface Slot {
  readonly signal: BusSignal;
  readonly source: number;
  value: number | null;
  fault: BusValue['fault'];
  atMs: number;
  periodMs: number | null;
  /** Since when its frames come without a gap. */
  sinceMs: number;
  /** Frames in a row with a running engine. */
  running: number;
  odometer: OdometerState;
}

const speedNames: readonly BusName[] = ['speed', 'axleSpeed', 'tachographSpeed'];

function freshMs({ signal, periodMs }: Slot): number {
  if (signal.ageMostMs !== 'motion') return signal.ageMostMs;
  return Math.max(freshPeriods * (periodMs ?? 0), freshLeastMs);
}

/** Learns the period of a slot, and whether it begins anew after a gap. */
function recordPeriod(slot: Slot, atMs: number): void {
  const { leastMs, mostMs, share } = period;
  const gapMs = Math.max(busLimits.gapMs, freshPeriods * (slot.periodMs ?? Number.POSITIVE_INFINITY));
  if (atMs - slot.atMs > gapMs) slot.sinceMs = atMs;
  const measuredMs = Math.min(mostMs, Math.max(leastMs, atMs - slot.atMs));
  slot.periodMs = slot.periodMs === null ? measuredMs : slot.periodMs + (measuredMs - slot.periodMs) * share;
}

/** Takes one reading of a signal into its slot. */
function recordReading(slot: Slot, data: Uint8Array, atMs: number): void {
  const reading = readSignal(slot.signal, data);
  slot.fault = typeof reading === 'number' ? null : reading;
  slot.value = typeof reading === 'number' ? reading : null;
  if (slot.signal.name === 'rpm')
    slot.running = slot.value !== null && slot.value >= busLimits.runningRpm ? slot.running + 1 : 0;
  if (slot.signal.name === 'odometer' && slot.value !== null) {
    slot.odometer = stepOdometer(slot.odometer, slot.value, atMs);
    slot.value = slot.odometer.km;
  }
}

/** The most active of the slots that are fresh and beyond a limit; null: none is. */
function mostActive(
  slots: readonly Slot[],
  nowMs: number,
  isActive: (slot: Slot) => boolean,
): BusActivity | null {
  let most: BusActivity | null = null;
  for (const slot of slots) {
    const { value, source, atMs } = slot;
    const untilMs = atMs + freshMs(slot);
    if (value === null || nowMs > untilMs || !isActive(slot)) continue;
    if (most === null || value > most.value) most = { value, source, untilMs };
  }
  return most;
}

const orderOf = new Map(busSignals.map(({ spn }, at) => [spn, at]));
const byOrder = (a: BusValue, b: BusValue): number =>
  (orderOf.get(a.spn) ?? 0) - (orderOf.get(b.spn) ?? 0) || a.source - b.source;

/** Whether what began at `startMs` has lasted beyond the defaults of a start. */
export const isSettledAt = (startMs: number, nowMs: number): boolean => nowMs - startMs >= busLimits.settleMs;

function valueOf(slot: Slot, sinceMs: number, nowMs: number): BusValue {
  return {
    name: slot.signal.name,
    spn: slot.signal.spn,
    source: slot.source,
    value: slot.value,
    fault: slot.fault,
    atMs: slot.atMs,
    periodMs: slot.periodMs,
    untilMs: slot.atMs + freshMs(slot),
    isSettled: isSettledAt(Math.max(sinceMs, slot.sinceMs), nowMs),
  };
}

/** The slots of one bus. */
export interface BusSlots {
  /** Takes the signals of one frame of their group. */
  take(
    signals: readonly BusSignal[],
    from: { readonly source: number; readonly data: Uint8Array },
    atMs: number,
  ): void;
  /** What speaks for movement and for a running engine now; cheap. */
  activity(nowMs: number): Pick<BusView, 'movement' | 'engine'>;
  /** All slots, in the order of the table. @param sinceMs since when the bus has been without a gap. */
  values(sinceMs: number, nowMs: number): readonly BusValue[];
  odometerJumps(): number;
}

/** Slots of a bus that has sent nothing. */
export function createBusSlots(): BusSlots {
  const slots = new Map<number, Slot>();
  const speeds: Slot[] = [];
  const engines: Slot[] = [];
  const slotOf = (signal: BusSignal, source: number, atMs: number): Slot | null => {
    const key = signal.spn * 256 + source;
    const known = slots.get(key);
    if (known !== undefined || slots.size >= busLimits.slots) return known ?? null;
    const slot: Slot = {
      signal,
      source,
      value: null,
      fault: null,
      atMs,
      periodMs: null,
      sinceMs: atMs,
      running: 0,
      odometer: createOdometer(),
    };
    slots.set(key, slot);
    if (speedNames.includes(signal.name)) speeds.push(slot);
    if (signal.name === 'rpm') engines.push(slot);
    return slot;
  };
  return {
    take(signals, { source, data }, atMs) {
      for (const signal of signals) {
        const slot = slotOf(signal, source, atMs);
        if (slot === null) continue;
        if (atMs > slot.atMs) recordPeriod(slot, atMs);
        recordReading(slot, data, atMs);
        slot.atMs = atMs;
      }
    },
    activity: (nowMs) => ({
      movement: mostActive(speeds, nowMs, ({ value }) => value !== null && value > busLimits.movingKmh),
      engine: mostActive(engines, nowMs, ({ running }) => running >= busLimits.runningFrames),
    }),
    values: (sinceMs, nowMs) =>
      [...slots.values()].map((slot) => valueOf(slot, sinceMs, nowMs)).sort(byOrder),
    odometerJumps: () => [...slots.values()].reduce((sum, { odometer }) => sum + odometer.jumps, 0),
  };
}
