// A simulated GNSS receiver: NMEA 0183 sentences once a second from the vehicle's position, with the noise and the faults of a real one.
// Wrong checksums come from the simulated cable only; it shares no code with the agent's parser.
import { dayMs } from '../../src/core/durations.ts';
import type { Cancel, Clock } from '../../src/ports.ts';
import type { SeededEntropy } from '../core/random.ts';
import {
  formatBurst,
  formatSentence,
  type GnssTruth,
  type Observation,
  type OptionalSentence,
  type ReceiverQuirk,
} from './gnss-sentences.ts';

export interface GnssOptions {
  readonly clock: Clock;
  readonly entropy: SeededEntropy;
  /** UTC of the satellites: the true time, not the vehicle's. */
  utcMs(): number;
  truth(): GnssTruth;
  send(bytes: Uint8Array): void;
  readonly talker?: 'GP' | 'GN';
  readonly extra?: readonly OptionalSentence[];
  /** Seconds after power-up without a fix; a cold start takes about 30. */
  readonly acquireS?: number;
}

/** How a receiver is built or set. */
export interface GnssHabits {
  /** Seconds between two bursts, and between two GGA. */
  readonly everyS: number;
  readonly ggaEveryS: number;
  /** Its date is ahead of the true one by this many days: -7168 after the roll-over of its week number. */
  readonly daysAhead: number;
  /** What it reports of its antenna; null: nothing. */
  readonly antenna: 'OK' | 'OPEN' | 'SHORT' | null;
}

export const usualHabits: GnssHabits = { everyS: 1, ggaEveryS: 1, daysAhead: 0, antenna: null };

export interface GnssState {
  readonly fix: 'valid' | 'acquiring' | 'tunnel' | 'jammed' | 'off';
  readonly isSpoofed: boolean;
  readonly quirks: readonly ReceiverQuirk[];
  /** Distance between the sent and the true position, metres. */
  readonly errorM: number;
}

interface SpoofWalk {
  readonly northMps: number;
  readonly eastMps: number;
}

export interface Gnss {
  /** No sky: void sentences; on leaving, the fix is back after a few seconds, first with a larger error. */
  setTunnel(isInside: boolean): void;
  /** Jammed: void, and no satellite is seen. */
  setJammed(isJammed: boolean): void;
  /** The position walks away from the truth at this speed; null ends it at once, as when a spoofer stops. */
  setSpoof(walk: SpoofWalk | null): void;
  /** Those that are not given stay. */
  setHabits(habits: Partial<GnssHabits>): void;
  /** It writes as other makers' receivers do; none: as the standard has it. */
  setQuirks(quirks: readonly ReceiverQuirk[]): void;
  /** Power off: no bytes at all. On: acquires again. */
  setPower(isOn: boolean): void;
  state(): GnssState;
  close(): void;
}

const metresPerDegree = 111_195; // mean meridian degree, sphere of IUGG mean radius
const noiseSigmaM = 1.5; // open-sky horizontal error of a modern single-band receiver
const noiseTimeS = 60; // the error wanders, it does not jump: first-order Gauss-Markov
const reacquireS = 3;

interface Offset {
  readonly northM: number;
  readonly eastM: number;
  readonly upM: number;
}

/** The receiver's error: a slow random walk, also at standstill, plus the offset of a spoofer. */
interface ErrorModel {
  /** The error one second later. */
  next(): Offset;
  now(): Offset;
  /** After a gap: an error that has to settle. */
  unsettle(): void;
  setSpoof(walk: SpoofWalk | null): void;
  isSpoofed(): boolean;
}

function createErrorModel(entropy: SeededEntropy): ErrorModel {
  const keep = Math.exp(-1 / noiseTimeS);
  const push = noiseSigmaM * Math.sqrt(1 - keep * keep);
  let wander: Offset = { northM: 0, eastM: 0, upM: 0 };
  let dragged = { northM: 0, eastM: 0 };
  let spoof: SpoofWalk | null = null;
  const now = (): Offset => ({
    northM: wander.northM + dragged.northM,
    eastM: wander.eastM + dragged.eastM,
    upM: wander.upM,
  });
  return {
    next() {
      wander = {
        northM: wander.northM * keep + entropy.normal() * push,
        eastM: wander.eastM * keep + entropy.normal() * push,
        upM: wander.upM * keep + entropy.normal() * push * 2,
      };
      if (spoof !== null) {
        dragged = { northM: dragged.northM + spoof.northMps, eastM: dragged.eastM + spoof.eastMps };
      }
      return now();
    },
    now,
    unsettle() {
      wander = { northM: entropy.normal() * 8, eastM: entropy.normal() * 8, upM: entropy.normal() * 12 };
    },
    setSpoof(walk) {
      spoof = walk;
      if (walk === null) dragged = { northM: 0, eastM: 0 };
    },
    isSpoofed: () => spoof !== null,
  };
}

/** The receiver's measurements of this second. Draws the same count of random numbers in every state. */
function observe(
  options: GnssOptions,
  errors: ErrorModel,
  status: { readonly fix: GnssState['fix']; readonly isTimeKnown: boolean },
): Observation {
  const { fix } = status;
  const { entropy } = options;
  const truth = options.truth();
  const error = errors.next();
  const isValid = fix === 'valid';
  // Doppler noise: standing receivers show up to a few tenths of a km/h, never exactly 0.
  const speedKmh = Math.max(0, truth.speedKmh + entropy.normal() * 0.15);
  const headingDeg = (truth.headingDeg + entropy.normal() * (20 / Math.max(5, truth.speedKmh)) + 360) % 360;
  const satellites = 9 + entropy.integer(0, 4);
  const hdop = 0.7 + Math.abs(entropy.normal()) * 0.2;
  const degreesEast = metresPerDegree * Math.cos((truth.latitude * Math.PI) / 180);
  return {
    // The second that has begun, also when the burst is late; a timer may fire a millisecond early.
    utcMs: status.isTimeKnown ? Math.floor((options.utcMs() + 1) / 1000) * 1000 : null,
    isValid,
    latitude: truth.latitude + error.northM / metresPerDegree,
    longitude: truth.longitude + error.eastM / degreesEast,
    altitudeM: truth.altitudeM + error.upM,
    speedKmh,
    headingDeg: headingDeg >= 359.995 ? 0 : headingDeg,
    satellites: isValid ? satellites : 0,
    satellitesInView: isValid ? satellites : fix === 'acquiring' ? 4 : 0,
    hdop,
  };
}

interface BurstOptions extends Pick<GnssOptions, 'talker' | 'extra'> {
  readonly habits: GnssHabits;
  readonly quirks: ReadonlySet<ReceiverQuirk>;
}

/** Sentences of the second `atS`, UTC; '' for none. */
function burstOf(
  seen: Observation,
  atS: number,
  { habits, quirks, talker = 'GN', extra = [] }: BurstOptions,
): string {
  if (atS % habits.everyS !== 0) return '';
  const utcMs = seen.utcMs === null ? null : seen.utcMs + habits.daysAhead * dayMs;
  const burst = formatBurst({ ...seen, utcMs }, talker, extra, quirks);
  const lines = burst.split(/(?<=\n)/);
  const kept =
    atS % habits.ggaEveryS === 0 ? lines : lines.filter((line) => !/^\$..(GGA|GSA|GNS)/.test(line));
  const antenna = habits.antenna === null ? '' : formatSentence(`GNTXT,01,01,02,ANTSTATUS=${habits.antenna}`);
  return `${kept.join('')}${antenna}`;
}

/** Starts at once: the first burst leaves at the next full second of UTC, then one every second. */
export function createGnss(options: GnssOptions): Gnss {
  const { clock } = options;
  const errors = createErrorModel(options.entropy);
  let fixAtMs = clock.monoMs() + (options.acquireS ?? 0) * 1000;
  // One satellite is enough for the time, a fix needs four.
  let timeAtMs = clock.monoMs() + (options.acquireS ?? 0) * 400;
  let isInTunnel = false;
  let isJammed = false;
  let isOn = true;
  let habits = usualHabits;
  let quirks: ReadonlySet<ReceiverQuirk> = new Set();
  let timer: Cancel | null = null;

  const fixState = (): GnssState['fix'] => {
    if (!isOn) return 'off';
    if (isJammed) return 'jammed';
    if (isInTunnel) return 'tunnel';
    return clock.monoMs() < fixAtMs ? 'acquiring' : 'valid';
  };
  const schedule = (): void => {
    const untilNextMs = 1000 - (((options.utcMs() % 1000) + 1000) % 1000);
    timer = clock.after(untilNextMs <= 1 ? untilNextMs + 1000 : untilNextMs, () => {
      const seen = observe(options, errors, { fix: fixState(), isTimeKnown: clock.monoMs() >= timeAtMs });
      const text = burstOf(seen, Math.floor((options.utcMs() + 1) / 1000), { ...options, habits, quirks });
      if (isOn && text !== '') options.send(new TextEncoder().encode(text));
      schedule();
    });
  };
  const reacquire = (seconds: number): void => {
    fixAtMs = Math.max(fixAtMs, clock.monoMs() + seconds * 1000);
    errors.unsettle();
  };
  schedule();
  return {
    setTunnel(isInside) {
      if (isInTunnel && !isInside) reacquire(reacquireS);
      isInTunnel = isInside;
    },
    setJammed(jammed) {
      if (isJammed && !jammed) reacquire(reacquireS * 3);
      isJammed = jammed;
    },
    setSpoof: (walk) => errors.setSpoof(walk),
    setHabits(changed) {
      habits = { ...habits, ...changed };
    },
    setQuirks(chosen) {
      quirks = new Set(chosen);
    },
    setPower(on) {
      if (!isOn && on) {
        const seconds = options.acquireS ?? reacquireS;
        timeAtMs = clock.monoMs() + seconds * 400;
        reacquire(seconds);
      }
      isOn = on;
    },
    state() {
      const { northM, eastM } = errors.now();
      return {
        fix: fixState(),
        isSpoofed: errors.isSpoofed(),
        quirks: [...quirks],
        errorM: Math.hypot(northM, eastM),
      };
    },
    close() {
      timer?.();
    },
  };
}
