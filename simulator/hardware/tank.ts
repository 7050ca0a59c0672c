// The fuel in a simulated vehicle's tank: it empties by distance and sloshes while the vehicle moves. Filling and draining are
// no faster than a pump or hose, as agents treat a faster change as a sender fault.
import type { DriverMoment } from '../world/driver.ts';

export interface Tank {
  /** Fraction that the sender shows now. */
  level(moment: DriverMoment, nowMs: number): number;
  /** Begins to fill or drain to this fraction, 0.02 to 0.98. */
  flowTo(fraction: number): void;
  /** Without slosh. */
  fraction(): number;
}

/** What a sender makes of the level. */
export interface TankSender {
  /** Steps of its scale: a float with so many reed contacts, 100 for whole per cent. Absent: as fine as the converter. */
  readonly steps?: number;
  /** Noise of the converter, as a fraction of the tank. */
  readonly noise?: number;
  /** It flips between two neighbours while the level is within this part of a step of the border between them. */
  readonly flip?: number;
  readonly rounding?: 'floor' | 'round' | 'ceil';
}

/** The level that this sender shows. @param random 0 to 1. */
export function shownLevel(sender: TankSender, level: number, random: () => number): number {
  const { steps, noise = 0, flip = 0, rounding = 'round' } = sender;
  const shown = steps === undefined ? level : Math[rounding](level * steps + (random() - 0.5) * flip) / steps;
  return Math.min(1, Math.max(0, shown + (random() - 0.5) * 2 * noise));
}

/** What the engine takes; standing it takes nothing. */
export const litresPerKm = 0.12;
const tankLitres = 70;
/** The tank is filled at a stop once it is this empty. */
export const refillBelow = 0.25;
const refillTo = 0.95;
/** A pump gives 40 litres a minute, a hose takes 20. */
const fillPerS = 40 / 60 / tankLitres;
const drainPerS = 20 / 60 / tankLitres;

/** @param startFraction 0 to 1. */
export function createTank(startFraction: number): Tank {
  let fraction = startFraction;
  let target: number | null = null;
  let atM: number | null = null;
  let atMs: number | null = null;
  const flow = (seconds: number): void => {
    if (target === null) return;
    const gap = target - fraction;
    fraction += Math.max(-drainPerS * seconds, Math.min(fillPerS * seconds, gap));
    if (Math.abs(target - fraction) < 1e-9) target = null;
  };
  return {
    level(moment, nowMs) {
      const drivenKm = (moment.odometerM - (atM ?? moment.odometerM)) / 1000;
      atM = moment.odometerM;
      fraction = Math.max(0, fraction - (drivenKm * litresPerKm) / tankLitres);
      // A vehicle does not drive off while it is being filled or drained.
      if (moment.speedKmh > 1) target = null;
      flow((nowMs - (atMs ?? nowMs)) / 1000);
      atMs = nowMs;
      if (fraction < refillBelow && !moment.ignition && target === null) target = refillTo;
      const slosh = moment.speedKmh > 5 ? 0.015 * Math.sin(moment.odometerM / 6) : 0;
      return Math.min(1, Math.max(0, fraction + slosh));
    },
    flowTo(wanted) {
      target = Math.min(0.98, Math.max(0.02, wanted));
    },
    fraction: () => fraction,
  };
}
