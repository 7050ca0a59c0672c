// Evidence of the engine in the supply voltage: an alternator that charges turns. It only speaks against standstill. No charging proves no rest,
// because smart alternators stop charging on the road.
import type { Sensed } from './contact.ts';
import type { Activity } from './credit.ts';

export const supplyLimits = {
  /** Charging voltage of an alternator in a 12 V and a 24 V system, and the margin below it at which the battery rests. */
  chargingV: { low: 13.2, high: 26.4 },
  restBelowV: 0.2,
  /** Time for which a voltage that rises with the ignition off shows an engine; after it, a charger. */
  chargerMs: 600_000,
  /** Fall of the voltage when the engine stops. Some batteries (LiFePO4) rest at a charging voltage and show only this fall. */
  dropV: { low: 0.3, high: 0.6 },
  /**
   * Maximum voltage of such a battery at rest. It may fall by less if the alternator charges little. Up to this voltage, the supply shows nothing
   * after `chargerMs` with ignition off.
   */
  restMostV: { low: 13.6, high: 27.2 },
  /** Between the two systems; a 12 V system never reaches it. */
  highSystemV: 18,
  /** Below this voltage the input is unwired and nothing is measured. */
  measuredV: 6,
} as const;

/** Supply since the ignition was last on: peak while charging, and whether it has fallen since. */
export interface Supply {
  readonly peakV: number | null;
  readonly hasDropped: boolean;
  /** Lowest voltage since the fall; null: unknown. A rise above it means charging. */
  readonly baseV: number | null;
  /** Monotonic time since which it charges again with ignition off, ms; null: it does not. */
  readonly roseMs: number | null;
}

export interface SupplyReading {
  readonly ignition: Sensed;
  /** In volts; null: unknown or not fitted. */
  readonly supplyV: number | null;
}

/** The limit of the 12 V or 24 V system, chosen by the voltage that is read. */
const ofSystem = ({ low, high }: { readonly low: number; readonly high: number }, volts: number): number =>
  volts >= supplyLimits.highSystemV ? high : low;

const chargingFromV = (volts: number): number => ofSystem(supplyLimits.chargingV, volts);

const fallOf = (volts: number): number => ofSystem(supplyLimits.dropV, volts);

/** Follows the supply while the engine charges it, and its fall afterwards. */
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
  // A new spell begins with the alternator, or with a charger connected before; both raise the voltage.
  const isCharging = baseV === null || supplyV >= baseV + fallOf(supplyV);
  return isCharging ? { ...before, peakV: supplyV, hasDropped: false, baseV: null, roseMs: null } : before;
}

/**
 * Evidence of the engine in the supply. A charging voltage with ignition off shows an engine until it has fallen once, or until it may be a battery
 * that rests as high. Otherwise a charger or such a battery would forbid a cut for ever.
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
  // The ignition contact of a running engine is dead, or a charger is connected. Within `chargerMs` such an engine drives off, or stands.
  const { roseMs } = supply;
  if (supply.hasDropped) return roseMs !== null && nowMs - roseMs < chargerMs ? 'active' : 'rest';
  return supplyV <= ofSystem(supplyLimits.restMostV, supplyV) && nowMs - ignition.sinceMs >= chargerMs
    ? null
    : 'active';
}
