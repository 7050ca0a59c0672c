// The slots of the signals of a J1939 bus: one for each signal and sender, with its age and period. A sender may send "not
// available" for a signal that another one has, so the last frame of a group means nothing.
import { busLimits } from './bus-limits.ts';
import type { BusActivity, BusValue, BusView } from './bus-reading.ts';
import { type BusName, type BusSignal, busSignals, isAtTop, readSignal } from './j1939-signals.ts';
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
  /** The newest frame that speaks for movement or a running engine: another one of the same address may deny it at once. */
  active: { readonly value: number; readonly atMs: number } | null;
  odometer: OdometerState;
}

const speedNames: readonly BusName[] = ['speed', 'axleSpeed', 'tachographSpeed'];

const motionFreshMs = ({ periodMs }: Slot): number => Math.max(freshPeriods * (periodMs ?? 0), freshLeastMs);

function freshMs(slot: Slot): number {
  const { ageMostMs } = slot.signal;
  return ageMostMs === 'motion' ? motionFreshMs(slot) : ageMostMs;
}

/** Learns the period of a slot, and restarts it after a gap. */
function recordPeriod(slot: Slot, atMs: number): void {
  const { leastMs, mostMs, share } = period;
  const gapMs = Math.max(busLimits.gapMs, freshPeriods * (slot.periodMs ?? Number.POSITIVE_INFINITY));
  if (atMs - slot.atMs > gapMs) slot.sinceMs = atMs;
  const measuredMs = Math.min(mostMs, Math.max(leastMs, atMs - slot.atMs));
  slot.periodMs = slot.periodMs === null ? measuredMs : slot.periodMs + (measuredMs - slot.periodMs) * share;
}

/** Records evidence of movement, or of a running engine. */
function recordMotion(slot: Slot, atMs: number): void {
  const { value } = slot;
  const { name } = slot.signal;
  if (value === null) {
    slot.running = 0;
    return;
  }
  if (name === 'rpm') slot.running = value >= busLimits.runningRpm ? slot.running + 1 : 0;
  const isActive =
    name === 'rpm'
      ? slot.running >= busLimits.runningFrames
      : speedNames.includes(name) && value > busLimits.movingKmh;
  if (isActive) slot.active = { value, atMs };
}

/** Takes one reading of a signal into its slot. */
function recordReading(slot: Slot, data: Uint8Array, atMs: number): void {
  const reading = readSignal(slot.signal, data);
  slot.fault = typeof reading === 'number' ? null : reading;
  slot.value = typeof reading === 'number' ? reading : null;
  recordMotion(slot, atMs);
  if (slot.signal.name === 'odometer' && slot.value !== null && !isAtTop(slot.signal, slot.value)) {
    slot.odometer = stepOdometer(slot.odometer, slot.value, atMs);
    slot.value = slot.odometer.km;
  }
}

/** The most active of the slots that speak for movement, or for an engine, and are fresh; null: none does. */
function mostActive(slots: readonly Slot[], nowMs: number): BusActivity | null {
  let most: BusActivity | null = null;
  for (const slot of slots) {
    const { active, source } = slot;
    if (active === null) continue;
    const untilMs = active.atMs + motionFreshMs(slot);
    if (nowMs <= untilMs && (most === null || active.value > most.value))
      most = { value: active.value, source, untilMs };
  }
  return most;
}

const orderOf = new Map(busSignals.map(({ spn }, at) => [spn, at]));
const byOrder = (a: Slot, b: Slot): number =>
  (orderOf.get(a.signal.spn) ?? 0) - (orderOf.get(b.signal.spn) ?? 0) || a.source - b.source;

/** True when the senders' defaults after a start at `startMs` are over. */
export const isSettledAt = (startMs: number, nowMs: number): boolean => nowMs - startMs >= busLimits.settleMs;

function valueOf(slot: Slot, sinceMs: number, nowMs: number): BusValue {
  // It still counts for movement and the engine: a veto of a cut is never dropped.
  const isMeasured = slot.value === null || !isAtTop(slot.signal, slot.value);
  return {
    name: slot.signal.name,
    spn: slot.signal.spn,
    source: slot.source,
    value: isMeasured ? slot.value : null,
    fault: isMeasured ? slot.fault : 'not_available',
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
  /** Current evidence of movement and of a running engine; cheap. */
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
      active: null,
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
      movement: mostActive(speeds, nowMs),
      engine: mostActive(engines, nowMs),
    }),
    values: (sinceMs, nowMs) =>
      [...slots.values()].sort(byOrder).map((slot) => valueOf(slot, sinceMs, nowMs)),
    odometerJumps: () => [...slots.values()].reduce((sum, { odometer }) => sum + odometer.jumps, 0),
  };
}
