// The road, the driver and the thief, as the simulation's truth: ignition, speed and place by a seeded script that
// changes its mind often, because faults live in the changes. Independent of everything that the agent is told.

import type { SeededEntropy } from '../../../simulator/core/random.ts';
import type { GnssTruth } from '../../../simulator/hardware/gnss-sentences.ts';
import type { Clock } from '../../../src/ports.ts';

export interface World {
  readonly ignition: boolean;
  readonly speedKmh: number;
  /** Milliseconds for which ignition has been on, and for which the speed has been above 3 km/h; 0 when not. */
  readonly ignitionOnMs: number;
  readonly movingMs: number;
}

export interface VirtualWorld {
  now(): World;
  place(): GnssTruth;
  /** The driver turns the key and drives off; under tow the ignition stays as it is. */
  goOff(isTowed: boolean): void;
  /** Parks for good: the calm after the storm. */
  calm(): void;
}

const stepS = 0.1;
const rateKmhPerS = 7;
const metresPerDegree = 111_195;
/** Above this a vehicle moves, as the interlock has it. */
const standstillKmh = 3;

interface Motion {
  ignition: boolean;
  speedKmh: number;
  targetKmh: number;
  headingDeg: number;
  latitude: number;
  longitude: number;
  ignitionOnSinceMs: number | null;
  movingSinceMs: number | null;
}

function createMotion(clock: Clock): { readonly motion: Motion; catchUp(): void } {
  const motion: Motion = {
    ignition: false,
    speedKmh: 0,
    targetKmh: 0,
    headingDeg: 30,
    latitude: 43.65,
    longitude: -79.34,
    ignitionOnSinceMs: null,
    movingSinceMs: null,
  };
  let atMs = clock.monoMs();
  const step = (seconds: number): void => {
    const reach = rateKmhPerS * seconds;
    const gap = motion.targetKmh - motion.speedKmh;
    motion.speedKmh += Math.max(-reach, Math.min(reach, gap));
    atMs += seconds * 1000;
    const wayM = (motion.speedKmh / 3.6) * seconds;
    const heading = (motion.headingDeg * Math.PI) / 180;
    motion.latitude += (wayM * Math.cos(heading)) / metresPerDegree;
    motion.longitude +=
      (wayM * Math.sin(heading)) / (metresPerDegree * Math.cos((motion.latitude * Math.PI) / 180));
    if (motion.speedKmh <= standstillKmh) motion.movingSinceMs = null;
    else motion.movingSinceMs ??= atMs;
  };
  return {
    motion,
    catchUp() {
      for (let leftS = (clock.monoMs() - atMs) / 1000; leftS > 1e-9; leftS -= stepS)
        step(Math.min(stepS, leftS));
      atMs = clock.monoMs();
    },
  };
}

/** @param options.isStarterCut true while the engine does not start; a running one runs on. */
export function createVirtualWorld(options: {
  readonly clock: Clock;
  readonly entropy: SeededEntropy;
  isStarterCut(): boolean;
}): VirtualWorld {
  const { clock, entropy } = options;
  const { motion, catchUp } = createMotion(clock);
  let isCalm = false;
  const setIgnition = (isOn: boolean): void => {
    motion.ignition = isOn;
    motion.ignitionOnSinceMs = isOn ? (motion.ignitionOnSinceMs ?? clock.monoMs()) : null;
  };
  const park = (): void => {
    setIgnition(false);
    motion.targetKmh = 0;
  };
  const script = (): void => {
    if (isCalm) return;
    catchUp();
    const luck = entropy.fraction();
    // A bridged relay lets a thief drive although the starter is cut.
    const starts = !options.isStarterCut() || motion.speedKmh > 0 || entropy.chance(0.2);
    let lastsS = 2 + entropy.fraction() * 40;
    if (luck < 0.45) {
      park();
      // Long enough, often, for a standstill that has to be held for a minute because no stop was observed.
      lastsS = 10 + entropy.fraction() * 290;
    } else if (luck < 0.53 && motion.speedKmh === 0) {
      setIgnition(false);
      motion.targetKmh = 5 + entropy.fraction() * 40; // under tow
    } else if (luck < 0.6) {
      setIgnition(true);
      motion.targetKmh = 0;
    } else if (luck < 0.66) {
      setIgnition(!motion.ignition); // plays with the key
      if (!motion.ignition) motion.targetKmh = 0;
      lastsS = 0.2 + entropy.fraction() * 12;
    } else {
      setIgnition(true);
      if (starts) motion.targetKmh = entropy.fraction() * 90;
      motion.headingDeg = (motion.headingDeg + entropy.integer(-90, 90) + 360) % 360;
    }
    clock.after(lastsS * 1000, script);
  };
  clock.after(0, script);
  return {
    now() {
      catchUp();
      const age = (sinceMs: number | null): number => (sinceMs === null ? 0 : clock.monoMs() - sinceMs);
      return {
        ignition: motion.ignition,
        speedKmh: motion.speedKmh,
        ignitionOnMs: age(motion.ignitionOnSinceMs),
        movingMs: age(motion.movingSinceMs),
      };
    },
    place() {
      catchUp();
      const { latitude, longitude, speedKmh, headingDeg } = motion;
      return { latitude, longitude, altitudeM: 90, speedKmh, headingDeg };
    },
    goOff(isTowed) {
      catchUp();
      if (isCalm) return;
      if (!isTowed) setIgnition(true);
      motion.targetKmh = 30;
    },
    calm() {
      catchUp();
      isCalm = true;
      park();
    },
  };
}
