// What the supply voltage shows of the engine: a charging alternator turns. It speaks against a standstill only; no charging is no proof of
// rest, as smart alternators stop charging on the road.
import type { Sensed } from './contact.ts';
import type { Activity } from './credit.ts';

export const supplyLimits = {
  /** An alternator that charges a 12 V and a 24 V system, and how far below the battery rests. */
  chargingV: { low: 13.2, high: 26.4 },
  restBelowV: 0.2,
  /** When the resting voltage is learnt, after the ignition went off, and what is the same. */
  learnMs: { from: 60_000, to: 120_000 },
  sameV: 0.2,
  /** Some batteries rest at a charging voltage (LiFePO4): they fall by this much when the engine stops. */
  dropV: { low: 0.3, high: 0.6 },
  /** Between the two systems; a 12 V system never reaches it. */
  highSystemV: 18,
  /** Below this the supply is not measured: an unwired input. */
  measuredV: 6,
} as const;

/** The supply since the ignition was last on: what it charged to, and whether it has fallen since. */
export interface Supply {
  readonly peakV: number | null;
  readonly hasDropped: boolean;
  /** What it rested at after an earlier drive; null = not known. */
  readonly restV: number | null;
}

/** What is read of it at one moment. */
export interface SupplyReading {
  readonly ignition: Sensed;
  /** In volts; null = not known or not fitted. */
  readonly supplyV: number | null;
}

/** 12 V and 24 V systems differ in what they charge to. */
const isHighSystem = (volts: number): boolean => volts >= supplyLimits.highSystemV;

/** Follows the supply while the ignition is on, and its fall after that. */
export function supplyAfter(before: Supply, seen: SupplyReading): Supply {
  const { supplyV, ignition } = seen;
  const { peakV, hasDropped, restV } = before;
  if (supplyV === null || supplyV < supplyLimits.measuredV) return before;
  // A new spell begins with the key.
  if (ignition.value === true)
    return {
      peakV: hasDropped || peakV === null ? supplyV : Math.max(peakV, supplyV),
      hasDropped: false,
      restV,
    };
  const { dropV } = supplyLimits;
  const fallV = isHighSystem(supplyV) ? dropV.high : dropV.low;
  return { peakV, hasDropped: hasDropped || (peakV !== null && supplyV <= peakV - fallV), restV };
}

/**
 * The resting voltage after this reading, which a restart must not forget: a battery that rests at a charging voltage would look like a
 * running engine then. It is learnt before a charger is connected.
 * @param offForMs how long the ignition has been off and the vehicle has stood; null: it has not.
 */
export function restVoltage(
  { restV, hasDropped }: Supply,
  { supplyV }: SupplyReading,
  offForMs: number | null,
): number | null {
  const { chargingV, restBelowV, measuredV, learnMs, sameV } = supplyLimits;
  const isLearning = hasDropped && offForMs !== null && offForMs >= learnMs.from && offForMs < learnMs.to;
  if (!isLearning || supplyV === null || supplyV < measuredV) return restV;
  const fromV = isHighSystem(supplyV) ? chargingV.high : chargingV.low;
  if (supplyV < fromV - restBelowV) return null;
  return restV !== null && Math.abs(supplyV - restV) <= sameV ? restV : Math.round(supplyV * 10) / 10;
}

/**
 * What the supply shows of the engine. A charging voltage with the ignition off speaks of an engine until it has fallen once: a charger, or
 * a battery that rests high, would speak against a cut for ever.
 */
export function voltageActivity({ supplyV, ignition }: SupplyReading, supply: Supply): Activity {
  const { chargingV, restBelowV, measuredV } = supplyLimits;
  if (supplyV === null || supplyV < measuredV) return null;
  const fromV = isHighSystem(supplyV) ? chargingV.high : chargingV.low;
  if (supplyV < fromV - restBelowV) return 'rest';
  if (supplyV < fromV) return null;
  if (ignition.value !== false) return 'active';
  if (supply.hasDropped) return 'rest';
  // After a restart: as it rested before.
  const fallV = isHighSystem(supplyV) ? supplyLimits.dropV.high : supplyLimits.dropV.low;
  const isKnown = supply.peakV === null && supply.restV !== null && supplyV <= supply.restV + fallV;
  return isKnown ? 'rest' : 'active';
}
