// What the supply voltage shows of the engine: a charging alternator turns. It speaks against a standstill only; no charging is no proof of
// rest, as smart alternators stop charging on the road.
import type { Sensed } from './contact.ts';
import type { Activity } from './credit.ts';

export const supplyLimits = {
  /** An alternator that charges a 12 V and a 24 V system, and how far below the battery rests. */
  chargingV: { low: 13.2, high: 26.4 },
  restBelowV: 0.2,
  /** A voltage that rises with the ignition off speaks of an engine for this long, and of a charger after that. */
  chargerMs: 600_000,
  /** Some batteries rest at a charging voltage (LiFePO4): they fall by this much when the engine stops. */
  dropV: { low: 0.3, high: 0.6 },
  /** ... or by less where the alternator charges little. At most this, with the ignition off for `chargerMs`, may be such a battery at rest. */
  restMostV: { low: 13.6, high: 27.2 },
  /** Between the two systems; a 12 V system never reaches it. */
  highSystemV: 18,
  /** Below this the supply is not measured: an unwired input. */
  measuredV: 6,
} as const;

/** The supply since the ignition was last on: what it charged to, and whether it has fallen since. */
export interface Supply {
  readonly peakV: number | null;
  readonly hasDropped: boolean;
  /** The lowest that it was since then; null = not known. The engine charges when it rises above that. */
  readonly baseV: number | null;
  /** Since when it has been a charging one again, with the ignition off; null = it is not. */
  readonly roseMs: number | null;
}

/** What is read of it at one moment. */
export interface SupplyReading {
  readonly ignition: Sensed;
  /** In volts; null = not known or not fitted. */
  readonly supplyV: number | null;
}

/** A limit as it is for the 12 V or the 24 V system that reads so many volts. */
const ofSystem = ({ low, high }: { readonly low: number; readonly high: number }, volts: number): number =>
  volts >= supplyLimits.highSystemV ? high : low;

/** What an alternator charges to, at least. */
const chargingFromV = (volts: number): number => ofSystem(supplyLimits.chargingV, volts);

/** By how much a battery falls when the engine stops, at least. */
const fallOf = (volts: number): number => ofSystem(supplyLimits.dropV, volts);

/** Follows the supply while the engine charges it, and its fall after that. */
export function supplyAfter(before: Supply, seen: SupplyReading, nowMs: number): Supply {
  const { supplyV, ignition } = seen;
  const { peakV, hasDropped, baseV } = before;
  if (supplyV === null || supplyV < supplyLimits.measuredV) return before;
  if (ignition.value !== true) {
    const isDropped = hasDropped || (peakV !== null && supplyV <= peakV - fallOf(supplyV));
    const lowestV = baseV === null ? supplyV : Math.min(baseV, supplyV);
    if (!isDropped) return before;
    const hasRisen = supplyV >= chargingFromV(supplyV) && supplyV >= lowestV + fallOf(supplyV);
    return {
      ...before,
      hasDropped: true,
      baseV: lowestV,
      roseMs: hasRisen ? (before.roseMs ?? nowMs) : null,
    };
  }
  if (!hasDropped) return { ...before, peakV: peakV === null ? supplyV : Math.max(peakV, supplyV) };
  // A new spell begins with the alternator, or with a charger that was connected before: both rise.
  const isCharging = baseV === null || supplyV >= baseV + fallOf(supplyV);
  return isCharging ? { ...before, peakV: supplyV, hasDropped: false, baseV: null, roseMs: null } : before;
}

/**
 * What the supply shows of the engine. A charging voltage with the ignition off speaks of an engine until it has fallen once, or for so long
 * that it may be a battery that rests as high: a charger, or that battery, would speak against a cut for ever.
 */
export function voltageActivity(
  { supplyV, ignition }: SupplyReading,
  supply: Supply,
  nowMs: number,
): Activity {
  const { restBelowV, measuredV, chargerMs } = supplyLimits;
  if (supplyV === null || supplyV < measuredV) return null;
  const fromV = chargingFromV(supplyV);
  if (supplyV < fromV - restBelowV) return 'rest';
  if (supplyV < fromV) return null;
  if (ignition.value !== false) return 'active';
  // An engine whose ignition contact is dead, or a charger: the former drives off meanwhile, or stands.
  const { roseMs } = supply;
  if (supply.hasDropped) return roseMs !== null && nowMs - roseMs < chargerMs ? 'active' : 'rest';
  return supplyV <= ofSystem(supplyLimits.restMostV, supplyV) && nowMs - ignition.sinceMs >= chargerMs
    ? null
    : 'active';
}
