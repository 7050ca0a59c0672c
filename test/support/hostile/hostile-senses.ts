// What the sensors of a hostile life make of the truth. Every input, analog and fix can be absent, stuck, inverted, delayed,
// drifting, chattering or lost with others, alone and in pairs, at any time. It also says which of them mislead at this moment.
import type { Fix } from '../../../agent/core/gnss/epochs.ts';
import type { WitnessName } from '../../../src/core/verdict/witness.ts';
import { stepMs, type Truth } from './hostile-truth.ts';
import { type Sample, startUtcMs } from './hostile-vehicle.ts';

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
 * `latched`: it repeats what it read. `swapped`: another of the same type answers, to which nothing is wired.
 */
export const boardFaults = ['common', 'contacts', 'silent', 'latched', 'swapped'] as const;

type Part = WitnessName | 'board';

export interface Fault {
  readonly part: Part;
  readonly kind: string;
  readonly fromMs: number;
  readonly untilMs: number;
  /** Of a delay, ms. */
  readonly delayMs: number;
}

export interface Senses {
  readonly fitted: readonly WitnessName[];
  /** Mapped in the configuration and never wired: reads 0 for ever. */
  readonly unwired: WitnessName[];
  readonly faults: Fault[];
  /** Wired with a life input and a loop-back. */
  readonly isPositive: boolean;
  readonly luck: () => number;
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
  /** A charger is connected. */
  isCharged: boolean;
  /** Share of epochs that the receiver leaves out, and scatter of its positions. */
  lostShare: number;
  scatterM: number;
}

const metresPerDegree = 111_195;
const pastMs = 20_000;

export function createSenses(given: Pick<Senses, 'fitted' | 'unwired' | 'isPositive' | 'luck'>): Senses {
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
    isCharged: false,
    lostShare: 0,
    scatterM: 0,
  };
}

function faultOf({ faults }: Senses, part: Part, nowMs: number): Fault | undefined {
  return faults.find((fault) => fault.part === part && fault.fromMs <= nowMs && nowMs < fault.untilMs);
}

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
  if (fault?.kind === 'silent') return null;
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
  return fault?.kind === 'contacts' ? { ...read, ...zeros } : read;
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
  return faultOf(senses, 'gnss', atMs)?.kind === 'silent';
}

/** One second of the receiver as the agent reads it; null = an epoch without a fix. */
export function readReceiver(senses: Senses, truth: Truth, atMs: number): Fix | null {
  const honest = honestFix(senses, truth, atMs);
  momentOf(senses, atMs).fix = honest;
  const fault = faultOf(senses, 'gnss', atMs);
  const { luck, lastFix } = senses;
  const stamp = { utcMs: startUtcMs + atMs, atMonoMs: atMs };
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

/** Lies of the receiver that nothing but another witness can expose; all others must be seen through. */
const undetectable: Readonly<Record<string, readonly string[]>> = {
  gnss: ['plausible-stop', 'frozen'],
  ignition: ['stuck-0', 'inverted', 'delayed', 'pulse-25'],
  motion: ['stuck-0', 'inverted', 'delayed'],
  rpm: ['stuck', 'zero', 'drift'],
  voltage: ['stuck', 'drift'],
};

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
    bus_speed: one(),
    bus_rpm: one(),
  };
}

/** Long enough for the agent to have seen the contradiction; a voltage may sag for longer. */
const exposeMs = { motion: 20_000, ignition: 20_000, rpm: 20_000, voltage: 75_000 } as const;

/** Notes what the agent was shown in this step. */
export function keepRecords(senses: Senses, truth: Truth, atMs: number): void {
  const { records, lastSample } = senses;
  if (truth.speedKmh === 0) senses.restNorthM = truth.northM;
  if (lastSample === null) return;
  const isHonestDrive =
    truth.speedKmh >= 12 && !truth.isInTunnel && faultOf(senses, 'gnss', atMs) === undefined;
  const active: Readonly<Record<keyof typeof exposeMs, boolean>> = {
    ignition: lastSample.ignition === true,
    motion: lastSample.motion === true,
    rpm: (lastSample.rpm ?? 0) >= 100,
    voltage: (lastSample.supplyV ?? 0) >= 13.2,
  };
  for (const name of ['ignition', 'motion', 'rpm', 'voltage'] as const) {
    const record = records[name];
    if (active[name]) record.activeMs = atMs;
    // A pulse now and then is no drive.
    if (!isHonestDrive || atMs - record.activeMs < 4000) record.exposingSinceMs = null;
    else record.exposingSinceMs ??= atMs;
    if (record.exposingSinceMs !== null && atMs - record.exposingSinceMs >= exposeMs[name])
      record.isExposed = true;
  }
}

/**
 * The causes that may excuse a closing on a vehicle that moves, each once, however many sensors it takes along: of witnesses that the
 * agent counts, and whose lie nothing could have exposed. A sensor that was never wired, that was exposed, that lost its supply
 * together with others, or that showed no sign of life since `freshMs` excuses nothing.
 */
export function misleading(
  senses: Senses,
  rest: readonly WitnessName[],
  now: { readonly atMs: number; readonly freshMs: number },
): readonly string[] {
  const found = new Set<string>();
  const board = faultOf(senses, 'board', now.atMs);
  for (const name of rest) {
    const record = senses.records[name];
    if (record.isExposed) continue;
    if (senses.unwired.includes(name)) {
      if (hasFeigned(senses, name, now.atMs)) found.add(`${name} feigned`);
      continue;
    }
    const own = faultOf(senses, name, now.atMs);
    // A receiver that repeats itself is found out within 20 s.
    const isFrozen = own?.kind === 'frozen' || (own?.kind === 'frozen-still' && isAtRestPlace(senses));
    if (isFrozen && own !== undefined && now.atMs - own.fromMs > 25_000) continue;
    const isInput = name === 'ignition' || name === 'motion';
    if (isInput && !senses.isPositive && record.activeMs < now.freshMs) continue;
    // Nothing else that the board reads could show that its common is lost.
    const isAlone = !senses.fitted.some(
      (other) =>
        other !== 'gnss' &&
        other !== name &&
        !senses.unwired.includes(other) &&
        faultOf(senses, other, now.atMs) === undefined,
    );
    // Nor can an input that has a fault of its own fall with the others.
    if (isInput && board?.kind === 'common' && (isAlone || own !== undefined)) found.add('board common');
    else if (isInput && (board?.kind === 'contacts' || board?.kind === 'swapped'))
      found.add(`board ${board.kind}`);
    else if (name !== 'gnss' && board?.kind === 'latched') found.add('board latched');
    else if (own?.kind === 'sudden-stop' && isPlausibleStand(senses, lieSinceMs(senses, own), now.atMs))
      found.add('gnss sudden-stop');
    // A receiver that is about to jump shows one place until it does.
    else if (own?.kind === 'jump' && isPlausibleStand(senses, lieSinceMs(senses, own), now.atMs))
      found.add('gnss jump');
    else if (isFrozen || (own !== undefined && undetectable[name]?.includes(own.kind) === true))
      found.add(`${name} ${own?.kind}`);
    else if (name === 'gnss' && hasJustStopped(senses, now.atMs)) found.add('gnss plausible-stop');
  }
  return [...found];
}

const feignedKinds: readonly string[] = ['stuck-1', 'inverted', 'chatter', 'pulse-25'];

/** An input that nothing is connected to, and that a fault has made to be seen alive. */
function hasFeigned({ faults }: Senses, name: WitnessName, atMs: number): boolean {
  return faults.some(
    ({ part, kind, fromMs }) => part === name && fromMs <= atMs && feignedKinds.includes(kind),
  );
}

/** A lie that passed as a stop has turned into another one, which takes up to 20 s to be found. */
function hasJustStopped({ faults }: Senses, atMs: number): boolean {
  return faults.some(
    ({ part, kind, fromMs, untilMs }) =>
      part === 'gnss' && kind === 'plausible-stop' && fromMs <= atMs && atMs - untilMs < 20_000,
  );
}

/** Since when the same lie has gone on without a break: a fault may take over from an earlier one of its kind. */
function lieSinceMs(senses: Senses, { part, kind, fromMs }: Fault): number {
  const joined = senses.faults.find(
    (one) => one.part === part && one.kind === kind && one.fromMs < fromMs && one.untilMs >= fromMs,
  );
  return joined === undefined ? fromMs : lieSinceMs(senses, joined);
}

/** From this speed a brake stops within a second: no sudden stop, but an observed one. */
const brakedKmh = 21;

/**
 * A place held for a minute by fixes that vary, the place where the vehicle stood, or a stop from a slow speed: a standstill for any
 * receiver.
 */
function isPlausibleStand(senses: Senses, sinceMs: number, atMs: number): boolean {
  return atMs - sinceMs >= 60_000 || senses.lieKmh <= brakedKmh || isAtRestPlace(senses);
}

const isAtRestPlace = ({ lieNorthM, restNorthM }: Senses): boolean => Math.abs(lieNorthM - restNorthM) <= 30;

/** Healthy witnesses that have shown movement or a running engine without a break since `sinceMs`. */
export function honestAlarms(
  senses: Senses,
  truth: Truth,
  now: { atMs: number; sinceMs: number },
): readonly WitnessName[] {
  const { fitted, unwired, faults } = senses;
  const isHealthy = (name: WitnessName): boolean =>
    fitted.includes(name) &&
    !unwired.includes(name) &&
    !faults.some(
      ({ part, untilMs }) =>
        (part === name || (part === 'board' && name !== 'gnss')) && untilMs > now.sinceMs,
    );
  const moves = truth.movingSinceMs !== null && truth.movingSinceMs <= now.sinceMs;
  const runs = truth.ignition && truth.ignitionSinceMs <= now.sinceMs;
  const seen: Readonly<Record<WitnessName, boolean>> = {
    gnss: moves && !truth.isInTunnel && now.atMs - truth.tunnelEndMs > 8000,
    motion: moves,
    ignition: runs,
    rpm: runs,
    voltage: runs,
    bus_speed: false,
    bus_rpm: false,
  };
  return fitted.filter((name) => isHealthy(name) && seen[name]);
}
