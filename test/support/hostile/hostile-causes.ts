// Which causes mislead the agent at one moment of a hostile life, counted by what failed and not by what it takes along; and which healthy
// witnesses show the opposite.
import { ofVehicle } from '../../../agent/core/protection/witness-rules.ts';
import type { WitnessName } from '../../../src/core/verdict/witness.ts';
import { plainCauses } from '../vehicle/plain-causes.ts';
import { dipOf, type Fault, faultOf, type Senses } from './hostile-senses.ts';
import type { Truth } from './hostile-truth.ts';

/** Lies of the receiver that nothing but another witness can expose; all others must be seen through. */
const undetectable: Readonly<Record<string, readonly string[]>> = {
  gnss: ['plausible-stop', 'frozen'],
  ignition: ['stuck-0', 'inverted', 'delayed', 'pulse-25'],
  motion: ['stuck-0', 'inverted', 'delayed'],
  rpm: ['stuck', 'zero', 'drift'],
  voltage: ['stuck', 'drift'],
};

/** Long enough for the agent to have seen the contradiction; a voltage may sag for longer. */
const exposeMs = { motion: 20_000, ignition: 20_000, rpm: 20_000, voltage: 75_000 } as const;

/** What a board showed holds for so long. */
const freshMs = 2000;

/** Notes what the agent was shown in this step. */
export function keepRecords(senses: Senses, truth: Truth, atMs: number): void {
  const { records, lastSample } = senses;
  if (truth.speedKmh === 0) {
    senses.restNorthM = truth.northM;
    senses.restMs = atMs;
  }
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
    // A tow with the key off exposes no witness of the engine, and a pulse now and then is no drive.
    const isExposing = isHonestDrive && (name === 'motion' || truth.ignition);
    if (!isExposing || atMs - record.activeMs < 4000) record.exposingSinceMs = null;
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
  const board = boardFaultOf(senses, now.atMs);
  for (const name of rest) {
    const record = senses.records[name];
    if (record.isExposed) continue;
    if (senses.unwired.includes(name)) {
      if (hasFeigned(senses, name, now.atMs)) found.add(`${name} feigned`);
      continue;
    }
    if (isDipped(senses, name, now.atMs)) {
      found.add('supply dip');
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
        plainCauses[other].includes('board:io') &&
        other !== name &&
        !senses.unwired.includes(other) &&
        faultOf(senses, other, now.atMs) === undefined,
    );
    // Nor can an input that has a fault of its own fall with the others, and a stop that the receiver feigns explains their fall.
    const isHidden =
      isAlone ||
      own !== undefined ||
      (board !== undefined && faultOf(senses, 'gnss', board.fromMs) !== undefined);
    if (isInput && board?.kind === 'common' && isHidden) found.add('board common');
    // Both inputs that come off with one plug fall together.
    else if (isInput && board?.kind === 'plug' && !hasBothInputs(senses)) found.add('board plug');
    else if (isInput && board?.kind === 'contacts') found.add('board contacts');
    // Another board of the same type reads an engine at rest too.
    else if ((isInput || name === 'rpm') && board?.kind === 'swapped') found.add('board swapped');
    else if (name !== 'gnss' && board?.kind === 'latched') found.add('board latched');
    else if (own?.kind === 'sudden-stop' && isPlausibleStand(senses, lieSinceMs(senses, own), now.atMs))
      found.add('gnss sudden-stop');
    // A receiver that is about to jump shows one place until it does.
    else if (own?.kind === 'jump' && isPlausibleStand(senses, lieSinceMs(senses, own), now.atMs))
      found.add('gnss jump');
    // A steady drift of the position cannot be distinguished from multipath until it has left the place where the vehicle stood.
    else if (own?.kind === 'walk' && isAtRestPlace(senses)) found.add('gnss walk');
    else if (isFrozen || (own !== undefined && undetectable[name]?.includes(own.kind) === true))
      found.add(`${name} ${own?.kind}`);
    else if (name === 'gnss' && hasJustStopped(senses, now.atMs)) found.add('gnss plausible-stop');
    // A motion input that pulses now and then is as one that reads 0 until its first pulse of this drive.
    else if (name === 'motion' && own?.kind === 'pulse-25' && record.activeMs <= senses.restMs)
      found.add('motion pulse-25');
  }
  return [...found];
}

/** The fault of the board; of one that repeated also just after it: what it read last holds for a moment. */
function boardFaultOf({ faults }: Senses, atMs: number): Fault | undefined {
  return faults.find(
    ({ part, kind, fromMs, untilMs }) =>
      part === 'board' && fromMs <= atMs && atMs < untilMs + (kind === 'latched' ? freshMs : 0),
  );
}

/** Whether a witness of the vehicle itself has a fault: with the key off one is enough for a tow to be missed (SAFETY, H19). */
export function isVehicleMisled(senses: Senses, rest: readonly WitnessName[], atMs: number): boolean {
  return rest.some((name) => ofVehicle.includes(name) && faultOf(senses, name, atMs) !== undefined);
}

const hasBothInputs = ({ fitted, unwired }: Senses): boolean =>
  (['ignition', 'motion'] as const).every((name) => fitted.includes(name) && !unwired.includes(name));

/** A dip of the supply makes this witness lie. */
function isDipped(senses: Senses, name: WitnessName, atMs: number): boolean {
  const dip = dipOf(senses, atMs);
  if (dip === undefined) return false;
  return name === 'ignition' || name === 'motion' || (name === 'gnss' && atMs < dip.untilMs + 20_000);
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

/** Ways in which a receiver shows one place. */
const standingKinds: readonly string[] = ['frozen-still', 'plausible-stop', 'sudden-stop', 'jump'];

/** Since when the receiver has shown one place without a break: a fault may take over from an earlier one. */
function lieSinceMs(senses: Senses, { part, fromMs }: Fault): number {
  const joined = senses.faults.find(
    (one) =>
      one.part === part && standingKinds.includes(one.kind) && one.fromMs < fromMs && one.untilMs >= fromMs,
  );
  return joined === undefined ? fromMs : lieSinceMs(senses, joined);
}

/** From this speed a brake stops within a second: no sudden stop, but an observed one. On a line that loses sentences, within two. */
const brakedKmh = { whole: 21, lossy: 30 } as const;

/**
 * A place held for a minute by fixes that vary, the place where the vehicle stood, or a stop from a slow speed: a standstill for any
 * receiver.
 */
function isPlausibleStand(senses: Senses, sinceMs: number, atMs: number): boolean {
  const brakedFromKmh = senses.noise !== null ? brakedKmh.lossy : brakedKmh.whole;
  return atMs - sinceMs >= 60_000 || senses.lieKmh <= brakedFromKmh || isAtRestPlace(senses);
}

/**
 * A unit that starts anew takes a place that is no further off for the one where it was parked (SAFETY, H18: 40 m), give or take the noise; and
 * a steady drift after a long standstill has gone so far when it is found (SAFETY, H8).
 */
const samePlaceM = 45;

const isAtRestPlace = ({ lieNorthM, restNorthM }: Senses): boolean =>
  Math.abs(lieNorthM - restNorthM) <= samePlaceM;

/** What speaks against a change: a witness, or what the vehicle bus shows. */
export type Alarm = WitnessName | 'bus speed' | 'bus engine';

/** Healthy witnesses, and an honest bus, that have shown movement or a running engine without a break since `sinceMs`. */
export function honestAlarms(
  senses: Senses,
  truth: Truth,
  now: { readonly atMs: number; readonly sinceMs: number; readonly hasBus: boolean },
): readonly Alarm[] {
  const { fitted, unwired, faults } = senses;
  const isHealthy = (name: WitnessName): boolean =>
    fitted.includes(name) &&
    (name !== 'gnss' || truth.speedKmh >= senses.holdKmh) &&
    !unwired.includes(name) &&
    dipOf(senses, now.atMs) === undefined &&
    !faults.some(
      ({ part, untilMs }) =>
        (part === name || (part === 'board' && name !== 'gnss')) && untilMs > now.sinceMs,
    );
  // Nodes that were asleep begin with defaults.
  const isBusAwake =
    now.hasBus &&
    truth.ignition &&
    truth.ignitionSinceMs <= now.sinceMs - 5000 &&
    !faults.some(({ part, fromMs }) => part === 'bus' && fromMs <= now.atMs);
  const moves = truth.movingSinceMs !== null && truth.movingSinceMs <= now.sinceMs;
  const runs = truth.ignition && truth.ignitionSinceMs <= now.sinceMs;
  const seen: Readonly<Record<WitnessName, boolean>> = {
    gnss: moves && senses.fixMs >= now.sinceMs && !truth.isInTunnel && now.atMs - truth.tunnelEndMs > 8000,
    motion: moves,
    ignition: runs,
    rpm: runs,
    voltage: runs,
  };
  return [
    ...fitted.filter((name) => isHealthy(name) && seen[name]),
    ...(isBusAwake && moves ? (['bus speed'] as const) : []),
    ...(isBusAwake && runs ? (['bus engine'] as const) : []),
  ];
}
