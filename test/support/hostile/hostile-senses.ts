// What the sensors of a hostile life make of the truth. Every input, analog and fix can be absent, stuck, inverted, delayed,
// drifting, chattering or lost with others, alone and in pairs, at any time. It also says which of them mislead at this moment.
import type { Fix } from '../../../agent/core/gnss/epochs.ts';
import type { WitnessName } from '../../../src/core/verdict/witness.ts';
import { pick } from './hostile-life.ts';
import { createLuck, stepMs, type Truth } from './hostile-truth.ts';
import { ignitionInput, type MotionInput, type Sample, startUtcMs } from './hostile-vehicle.ts';

export const contactFaults = ['stuck-0', 'stuck-1', 'inverted', 'delayed', 'chatter', 'pulse-25'] as const;
export const analogFaults = ['absent', 'stuck', 'zero', 'drift'] as const;
export const gnssFaults = [
  'void',
  'frozen',
  'frozen-still',
  'plausible-stop',
  'sudden-stop',
  'silent',
  'walk',
  'creep',
  'delayed',
  'hour-old',
  'behind',
  'jump',
] as const;
/**
 * `common`: inputs and analogs lose their supply in one sample. `contacts`: the contacts alone do. `silent`: the board does not answer.
 * `latched`: it repeats what it read. `swapped`: another of the same type answers, to which nothing is wired. A further one is of scripts only, `plug`:
 * the wires of the contacts come off, and not the one of the life input.
 */
export const boardFaults = ['common', 'contacts', 'silent', 'latched', 'swapped'] as const;

/**
 * One dip of the supply as the engine starts: the contacts stay dead, and the receiver restarts and shows its last place for a while.
 * `dip-board`: the board restarts with it.
 */
export const supplyFaults = ['dip', 'dip-board'] as const;

type Part = WitnessName | 'board' | 'supply' | 'bus';

export interface Fault {
  readonly part: Part;
  readonly kind: string;
  readonly fromMs: number;
  readonly untilMs: number;
  /** Of a delay, or of a restart, ms. */
  readonly delayMs: number;
}

export const noiseTimes = ['always', 'running', 'moving', 'standing', 'bursts'] as const;
export const lostSentences = ['any', 'rmc', 'gga', 'both'] as const;

/** Sentences that do not reach the unit, and when that is. */
export interface LineNoise {
  readonly when: (typeof noiseTimes)[number];
  readonly takes: (typeof lostSentences)[number];
  /** Of the epochs meanwhile. */
  readonly share: number;
  /** A burst, and the time from one to the next, ms. */
  readonly burstMs: number;
  readonly everyMs: number;
}

export interface Senses {
  readonly fitted: readonly WitnessName[];
  /** Mapped in the configuration and never wired: reads 0 for ever. */
  readonly unwired: WitnessName[];
  readonly faults: Fault[];
  /** Wired with a life input and a loop-back. */
  readonly isPositive: boolean;
  /** How the motion input is read beside the ignition. */
  readonly motionInput: MotionInput;
  readonly luck: () => number;
  /** Of the line from the receiver to the unit. */
  readonly lineLuck: () => number;
  readonly records: Records;
  /** Truth of the last 20 s, for what is delayed. */
  readonly past: { readonly atMs: number; sample: Sample; fix: Fix | null }[];
  lastFix: Fix | null;
  lastSample: Sample | null;
  noiseM: number;
  /** Where and how fast a lie about the place goes on. */
  lieNorthM: number;
  lieKmh: number;
  /** Where the vehicle last stood. */
  restNorthM: number;
  /** When it stood last. */
  restMs: number;
  /** When a whole fix last reached the unit. */
  fixMs: number;
  /** A charger is connected. */
  isCharged: boolean;
  /** Below this speed the receiver holds its place, at speed 0; 0: it never does. */
  holdKmh: number;
  /** From one epoch of the receiver to the next, ms. */
  everyMs: number;
  /** Share of epochs that the receiver leaves out, and scatter of its positions. */
  lostShare: number;
  scatterM: number;
  /** On the line to the unit; null: it loses nothing. */
  noise: LineNoise | null;
}

const metresPerDegree = 111_195;
const pastMs = 20_000;

const inputSalt = 0x69_6e_70_75;

/**
 * Of every second life as the ignition, else by a debounce of its own, and a poll unless all is honest: what falls in one moment need not be
 * seen in one.
 */
export function motionInputOf(seed: number, isHonest: boolean): MotionInput {
  const luck = createLuck(seed ^ inputSalt);
  if (luck() < 0.5) return ignitionInput;
  const debounceMs = pick({ luck }, [0, 200, 700, 1500]);
  return { debounceMs, pollMs: isHonest || luck() < 0.5 ? stepMs : 2 * stepMs };
}

export function createSenses(
  given: Pick<Senses, 'fitted' | 'unwired' | 'isPositive' | 'motionInput' | 'luck' | 'lineLuck'>,
): Senses {
  return {
    ...given,
    records: createRecords(),
    faults: [],
    past: [],
    lastFix: null,
    lastSample: null,
    noiseM: 0,
    lieNorthM: 0,
    lieKmh: 0,
    restNorthM: 0,
    restMs: 0,
    fixMs: Number.NEGATIVE_INFINITY,
    isCharged: false,
    holdKmh: 0,
    everyMs: 1000,
    lostShare: 0,
    scatterM: 0,
    noise: null,
  };
}

/** The fault of a part at a moment. */
export function faultOf({ faults }: Senses, part: Part, nowMs: number): Fault | undefined {
  return faults.find((fault) => fault.part === part && fault.fromMs <= nowMs && nowMs < fault.untilMs);
}

/** The dip that has killed the contacts. */
export function dipOf({ faults }: Senses, nowMs: number): Fault | undefined {
  return faults.find(({ part, fromMs }) => part === 'supply' && fromMs <= nowMs);
}

const isRestarting = ({ fromMs, delayMs }: Fault, nowMs: number): boolean => nowMs < fromMs + delayMs;

function pastOf({ past }: Senses, atMs: number): Senses['past'][number] | undefined {
  return past.findLast((one) => one.atMs <= atMs) ?? past[0];
}

function honestSample(senses: Senses, truth: Truth): Sample {
  const { luck, fitted, unwired } = senses;
  const isWired = (name: WitnessName): boolean => fitted.includes(name) && !unwired.includes(name);
  const runs = truth.ignition;
  return {
    ignition: isWired('ignition') && truth.ignition,
    // An accelerometer: moves with the vehicle, and for a moment with every bump.
    motion: isWired('motion') && (truth.speedKmh > 1 || (truth.ignition && luck() < 0.003)),
    rpm: isWired('rpm') ? (runs ? 800 + truth.speedKmh * 20 : 0) : fitted.includes('rpm') ? 0 : null,
    supplyV: isWired('voltage')
      ? (runs ? 14.4 : senses.isCharged ? 13.6 : 12.6) + luck() * 0.1
      : fitted.includes('voltage')
        ? 0
        : null,
  };
}

function contactRead(
  senses: Senses,
  name: 'ignition' | 'motion',
  now: { honest: boolean; atMs: number },
): boolean {
  const fault = faultOf(senses, name, now.atMs);
  switch (fault?.kind) {
    case 'stuck-0':
      return false;
    case 'stuck-1':
      return true;
    case 'inverted':
      return !now.honest;
    case 'delayed':
      return pastOf(senses, now.atMs - fault.delayMs)?.sample[name] ?? now.honest;
    case 'chatter':
      return senses.luck() < 0.5;
    case 'pulse-25':
      return now.honest && now.atMs % 25_000 < 1000;
    default:
      return now.honest;
  }
}

function analogRead(
  senses: Senses,
  name: 'rpm' | 'voltage',
  now: { honest: number | null; last: number | null; atMs: number },
): number | null {
  const fault = faultOf(senses, name, now.atMs);
  switch (fault?.kind) {
    case 'absent':
      return null;
    case 'stuck':
      return now.last ?? now.honest;
    case 'zero':
      return 0;
    case 'drift':
      return now.honest === null ? null : now.honest * Math.max(0, 1 - (now.atMs - fault.fromMs) / 100_000);
    default:
      return now.honest;
  }
}

/** One sample of the board as the agent reads it; null = the board is silent. */
export function readBoard(senses: Senses, truth: Truth, atMs: number): Sample | null {
  const honest = honestSample(senses, truth);
  momentOf(senses, atMs).sample = honest;
  const fault = faultOf(senses, 'board', atMs);
  const dip = dipOf(senses, atMs);
  if (fault?.kind === 'silent' || (dip?.kind === 'dip-board' && isRestarting(dip, atMs))) return null;
  if (fault?.kind === 'latched' && senses.lastSample !== null)
    return { ...senses.lastSample, isReading: false };
  const zeros = { ignition: false, motion: false, life: false };
  if (fault?.kind === 'swapped')
    return { ...zeros, rpm: senses.fitted.includes('rpm') ? 0 : null, supplyV: null };
  if (fault?.kind === 'common') return { ...zeros, rpm: null, supplyV: null, isReading: true };
  const last = senses.lastSample;
  const read: Sample = {
    ignition: contactRead(senses, 'ignition', { honest: honest.ignition === true, atMs }),
    motion: contactRead(senses, 'motion', { honest: honest.motion === true, atMs }),
    rpm: analogRead(senses, 'rpm', { honest: honest.rpm, last: last?.rpm ?? null, atMs }),
    supplyV: analogRead(senses, 'voltage', { honest: honest.supplyV, last: last?.supplyV ?? null, atMs }),
    life: true,
    isReading: true,
  };
  // What a latched board goes on with.
  senses.lastSample = read;
  if (fault?.kind === 'plug') return { ...read, ...zeros, life: true };
  return fault?.kind === 'contacts' || dip !== undefined ? { ...read, ...zeros } : read;
}

const unread: Sample = { ignition: null, motion: null, rpm: null, supplyV: null };

/** The record of this moment; a new one is empty. */
function momentOf({ past }: Senses, atMs: number): Senses['past'][number] {
  const last = past.at(-1);
  if (last?.atMs === atMs) return last;
  const moment = { atMs, sample: unread, fix: null };
  past.push(moment);
  if (past.length > pastMs / stepMs) past.shift();
  return moment;
}

function honestFix(senses: Senses, truth: Truth, atMs: number): Fix | null {
  const { luck } = senses;
  if (truth.isInTunnel || luck() < senses.lostShare) return null;
  senses.noiseM += (luck() - 0.5) * 0.8 - senses.noiseM * 0.05;
  const scatterM = senses.scatterM * 3.5 * (luck() - 0.5);
  const { lastFix } = senses;
  if (truth.speedKmh < senses.holdKmh && lastFix !== null)
    return { ...lastFix, utcMs: startUtcMs + atMs, atMonoMs: atMs, speedKmh: 0, hdop: 0.9 + luck() };
  return {
    utcMs: startUtcMs + atMs,
    atMonoMs: atMs,
    latitude: 43 + (truth.northM + senses.noiseM + scatterM) / metresPerDegree,
    longitude: -79,
    altitudeM: 90 + Math.round(luck() * 20) / 10,
    speedKmh: Math.max(0, truth.speedKmh + (luck() - 0.5) * 0.6),
    headingDeg: 0,
    hdop: 0.9,
    satellites: 9,
    dimension: 3,
    mode: 'A',
    rmcValid: true,
    doubts: [],
  };
}

const atNorth = (northM: number): number => 43 + northM / metresPerDegree;

/** The receiver says nothing at all. */
export function isReceiverSilent(senses: Senses, atMs: number): boolean {
  const dip = dipOf(senses, atMs);
  return faultOf(senses, 'gnss', atMs)?.kind === 'silent' || (dip !== undefined && isRestarting(dip, atMs));
}

function isNoisy({ when, burstMs, everyMs }: LineNoise, truth: Truth, atMs: number): boolean {
  switch (when) {
    case 'running':
      return truth.ignition;
    case 'moving':
      return truth.speedKmh > 3;
    case 'standing':
      return truth.speedKmh <= 3;
    case 'bursts':
      return atMs % everyMs < burstMs;
    default:
      return true;
  }
}

function takenBy({ takes }: LineNoise, luck: () => number): 'rmc' | 'gga' | 'both' {
  if (takes !== 'any') return takes;
  const lost = luck();
  if (lost < 0.6) return 'rmc';
  return lost < 0.85 ? 'gga' : 'both';
}

/** As the line lets it through: without RMC, GGA or both; null: both. */
export function heardFix({ noise, lineLuck }: Senses, truth: Truth, fix: Fix): Fix | null {
  if (noise === null || !isNoisy(noise, truth, fix.atMonoMs) || lineLuck() >= noise.share) return fix;
  switch (takenBy(noise, lineLuck)) {
    case 'rmc':
      return { ...fix, speedKmh: null, headingDeg: null, mode: null, rmcValid: false };
    case 'gga':
      return { ...fix, altitudeM: null, hdop: null, satellites: null };
    default:
      return null;
  }
}

/** One epoch of the receiver; null = an epoch without a fix. */
export function readReceiver(senses: Senses, truth: Truth, atMs: number): Fix | null {
  const honest = honestFix(senses, truth, atMs);
  momentOf(senses, atMs).fix = honest;
  const fault = faultOf(senses, 'gnss', atMs);
  const { luck, lastFix } = senses;
  const stamp = { utcMs: startUtcMs + atMs, atMonoMs: atMs };
  if (fault === undefined && faultOf(senses, 'supply', atMs) !== undefined && lastFix !== null)
    return { ...lastFix, ...stamp, latitude: atNorth(senses.lieNorthM + luck()), speedKmh: luck() * 0.4 };
  if (fault === undefined) {
    senses.lieNorthM = truth.northM;
    senses.lieKmh = truth.speedKmh;
    senses.lastFix = honest;
    return honest;
  }
  if (fault.kind === 'void') return null;
  const needsSky = ['creep', 'hour-old', 'behind'].includes(fault.kind);
  if (honest === null && needsSky) return null;
  // What the receiver makes up goes on in a tunnel, as it needs no sky.
  const base: Fix | null = honest ?? (lastFix === null ? null : { ...lastFix, ...stamp });
  if (base === null) return null;
  const lie = (northM: number, speedKmh: number): Fix => ({ ...base, latitude: atNorth(northM), speedKmh });
  switch (fault.kind) {
    case 'frozen':
      return { ...(lastFix ?? base), ...stamp };
    case 'frozen-still':
      return { ...(lastFix ?? base), ...stamp, speedKmh: 0 };
    case 'plausible-stop':
      // As if it braked to a stop, and stood from then on.
      senses.lieKmh = Math.max(0, senses.lieKmh - 9);
      senses.lieNorthM += senses.lieKmh / 3.6;
      return lie(senses.lieNorthM + (luck() - 0.5) * 2, senses.lieKmh === 0 ? luck() * 0.4 : senses.lieKmh);
    case 'sudden-stop':
      return lie(senses.lieNorthM + (luck() - 0.5) * 2, luck() * 0.4);
    case 'walk':
      senses.lieNorthM += 2.4;
      return lie(senses.lieNorthM, 0);
    case 'creep':
      return { ...base, hdop: 4.9, speedKmh: Math.min(2.9, base.speedKmh ?? 0) };
    case 'delayed':
      // Nothing comes twice: what it holds back comes later.
      return atMs - fault.delayMs < fault.fromMs
        ? null
        : pastFix(senses, atMs - fault.delayMs, stamp.atMonoMs);
    case 'behind':
      return { ...base, utcMs: stamp.utcMs - fault.delayMs };
    case 'hour-old':
      return { ...base, utcMs: stamp.utcMs - 3_600_000 };
    default:
      senses.lieNorthM += luck() < 0.1 ? 2000 : 0;
      return lie(senses.lieNorthM, 0);
  }
}

function pastFix({ past }: Senses, thenMs: number, atMonoMs: number): Fix | null {
  const fix = past.findLast((one) => one.atMs <= thenMs && one.fix !== null)?.fix ?? null;
  return fix === null ? null : { ...fix, atMonoMs };
}

/** What the world knows of a sensor's recent past. */
interface SensorRecord {
  /** It read "at rest" for long on a vehicle that an honest receiver showed driving: from then on it is no excuse. */
  isExposed: boolean;
  exposingSinceMs: number | null;
  /** When it was last read as active. */
  activeMs: number;
}

export type Records = Record<WitnessName, SensorRecord>;

export function createRecords(): Records {
  const one = (): SensorRecord => ({
    isExposed: false,
    exposingSinceMs: null,
    activeMs: Number.NEGATIVE_INFINITY,
  });
  return {
    gnss: one(),
    motion: one(),
    ignition: one(),
    rpm: one(),
    voltage: one(),
  };
}
