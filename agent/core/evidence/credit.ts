// Credit of the witnesses. Two independent witnesses prove each other when both were active together and then at rest together, on this vehicle.
// Credit ages by driving and not by calendar: a drive in which the witness shows the opposite removes its credit until it is earned again. This file
// decides nothing about a relay.
import { type WitnessName, type WitnessState, witnessNames } from '../../../src/core/verdict/witness.ts';
import { type Causes, independentPairs, type WitnessPair } from './common-causes.ts';

export const creditLimits = {
  /** Time for which both must be active together in one drive. */
  activeMs: 20_000,
  /** Time for which both must then be at rest. */
  restMs: 5000,
  /** Time at rest, against an active independent witness, that is a contradiction. */
  contradictionMs: 10_000,
  /** The same for the supply voltage: a charging voltage may sag, so this is longer. */
  voltageMs: 60_000,
  /** A motion input that is active for this long is stuck, if the vehicle is proven to stand with ignition off. */
  stuckMs: 600_000,
  /** A receiver that shows rest is contradicted by a proven motion input that is active for this long with ignition on. */
  hungMs: 30_000,
  /** Longest pause of claims within a contradiction: lost NMEA sentences must hide no failed input. */
  pauseMs: 10_000,
} as const;

/**
 * `stale`: the witness may have missed a drive. `against`: the witness that proved it or contradicted it. `utcMs`: UTC, ms; null: the time was
 * unknown.
 */
export interface Credit {
  readonly kind: 'proven' | 'stale' | 'contradicted';
  readonly utcMs: number | null;
  readonly against: WitnessName;
}

export type Credits = Readonly<Partial<Record<WitnessName, Credit>>>;

/** Present activity of a witness; null: none that counts. */
export type Activity = 'active' | 'rest' | null;
export type Activities = Readonly<Record<WitnessName, Activity>>;

interface PairState {
  /** Time for which both were active in this drive, ms. */
  readonly activeMs: number;
  /** Monotonic start of their common rest after it, ms; null: not both at rest. */
  readonly restSinceMs: number | null;
}

const freshPair: PairState = { activeMs: 0, restSinceMs: null };

interface Opposed {
  /** Activity of the witness; null: no disagreement since they last agreed. */
  readonly activity: Activity;
  /** Duration, ms, without the pauses in which either showed nothing. */
  readonly forMs: number;
  /** Monotonic time of the last step in which they disagreed, ms. */
  readonly atMs: number;
}

const agreed: Opposed = { activity: null, forMs: 0, atMs: Number.NEGATIVE_INFINITY };

type OpposedWitness = Exclude<WitnessName, 'gnss'>;

export interface CreditState {
  readonly credits: Credits;
  /** Pairs that can prove each other, and the progress of each. */
  readonly independent: readonly WitnessPair[];
  readonly pairs: readonly PairState[];
  /** Present activity of each witness, and its monotonic start, ms. */
  readonly since: Readonly<Record<WitnessName, { readonly activity: Activity; readonly atMs: number }>>;
  readonly opposed: Readonly<Record<OpposedWitness, Opposed>>;
  readonly atMs: number;
}

export function createCreditState(credits: Credits, causes: Causes, nowMs: number): CreditState {
  const idle = { activity: null, atMs: nowMs } as const;
  const independent = independentPairs(causes);
  return {
    credits,
    independent,
    pairs: independent.map(() => freshPair),
    since: {
      gnss: idle,
      motion: idle,
      ignition: idle,
      rpm: idle,
      voltage: idle,
    },
    opposed: {
      motion: agreed,
      ignition: agreed,
      rpm: agreed,
      voltage: agreed,
    },
    atMs: nowMs,
  };
}

/** A longer step was not observed as a whole. */
const stepMostMs = 2000;

function stepPair(
  pair: PairState,
  both: readonly [Activity, Activity],
  now: { atMs: number; stepMs: number },
): PairState {
  const [a, b] = both;
  if (a === 'active' && b === 'active')
    return { activeMs: Math.min(pair.activeMs + now.stepMs, creditLimits.activeMs), restSinceMs: null };
  if (a !== 'rest' || b !== 'rest') return pair.restSinceMs === null ? pair : { ...pair, restSinceMs: null };
  // Rest after less than a whole drive proves nothing.
  if (pair.activeMs < creditLimits.activeMs) return pair.activeMs === 0 ? pair : freshPair;
  return pair.restSinceMs === null ? { ...pair, restSinceMs: now.atMs } : pair;
}

const opposedWitnesses = ['motion', 'ignition', 'rpm', 'voltage'] as const;

/** @param now `stepMs`: time since `CreditState` was made, ms. All witnesses showed during that time what the state holds. */
function opposedAfter(
  { since, opposed }: CreditState,
  activities: Activities,
  { atMs, stepMs }: { readonly atMs: number; readonly stepMs: number },
): CreditState['opposed'] {
  const { gnss } = activities;
  if (gnss === null) return opposed;
  const after = (name: OpposedWitness): Opposed => {
    const [known, activity] = [opposed[name], activities[name]];
    if (activity === null) return known;
    if (activity === gnss) return agreed;
    const goesOn = known.activity === activity && atMs - known.atMs <= creditLimits.pauseMs;
    if (!goesOn) return { activity, forMs: 0, atMs };
    const isSame = since.gnss.activity === gnss && since[name].activity === activity;
    return { activity, forMs: known.forMs + (isSame ? stepMs : 0), atMs };
  };
  const next = {
    motion: after('motion'),
    ignition: after('ignition'),
    rpm: after('rpm'),
    voltage: after('voltage'),
  };
  return opposedWitnesses.every((name) => next[name] === opposed[name]) ? opposed : next;
}

/** True when the witness has shown rest for `forMs` while the receiver showed movement, since they last agreed. */
export function hasOpposedAtRest(
  { opposed }: Pick<CreditState, 'opposed'>,
  name: OpposedWitness,
  forMs: number,
): boolean {
  return opposed[name].activity === 'rest' && opposed[name].forMs >= forMs;
}

interface Contradiction {
  readonly witness: WitnessName;
  readonly by: WitnessName;
}

export interface CreditContext {
  /** Monotonic time, ms. */
  readonly atMs: number;
  readonly utcMs: number | null;
  /** Witnesses whose rest does not count now. */
  readonly suspended: readonly WitnessName[];
  /** The vehicle moves and the ignition has been off since before: possibly towed. */
  readonly isTowed: boolean;
  /** The receiver has repeated one position since before the engine was switched on. */
  readonly isPinned: boolean;
}

function contradictions(state: CreditState, { isTowed }: CreditContext): readonly Contradiction[] {
  const { since, opposed, atMs, credits } = state;
  const lasts = (name: WitnessName, activity: Activity, forMs: number): boolean =>
    since[name].activity === activity && atMs - since[name].atMs >= forMs;
  const isProven = (name: WitnessName): boolean => credits[name]?.kind === 'proven';
  const { contradictionMs, voltageMs, stuckMs, hungMs } = creditLimits;
  const found: Contradiction[] = [];
  for (const witness of opposedWitnesses) {
    if (since.gnss.activity !== 'active' || since[witness].activity !== 'rest') continue;
    if (isTowed && witness !== 'motion') continue;
    const forMs = witness === 'voltage' ? voltageMs : contradictionMs;
    if (hasOpposedAtRest(state, witness, forMs)) found.push({ witness, by: 'gnss' });
  }
  if (lasts('rpm', 'active', contradictionMs) && lasts('ignition', 'rest', contradictionMs))
    found.push({ witness: 'ignition', by: 'rpm' });
  if (since.gnss.activity !== 'rest' || opposed.motion.activity !== 'active') return found;
  const { forMs } = opposed.motion;
  if (isProven('motion') && since.ignition.activity === 'active' && forMs >= hungMs)
    found.push({ witness: 'gnss', by: 'motion' });
  const isParked = isProven('gnss') && isProven('ignition') && lasts('ignition', 'rest', stuckMs);
  if (isParked && forMs >= stuckMs) found.push({ witness: 'motion', by: 'gnss' });
  return found;
}

function withContradictions(state: CreditState, context: CreditContext): CreditState {
  let { credits, pairs: pairStates } = state;
  const { utcMs } = context;
  for (const { witness, by } of contradictions(state, context)) {
    if (credits[witness]?.kind !== 'contradicted')
      credits = { ...credits, [witness]: { kind: 'contradicted', utcMs, against: by } };
    // A contradiction also voids what was earned in this drive before it.
    pairStates = pairStates.map((pair, at) =>
      state.independent[at]?.includes(witness) === true && pair.activeMs > 0 ? freshPair : pair,
    );
  }
  if (context.isPinned && credits.gnss?.kind === 'proven')
    credits = { ...credits, gnss: { kind: 'stale', utcMs, against: 'ignition' } };
  return credits === state.credits && pairStates === state.pairs
    ? state
    : { ...state, credits, pairs: pairStates };
}

/** A renewed credit is written at most once a day, to spare the disk. */
const renewMs = 86_400_000;

function withProof(
  credits: Credits,
  witness: WitnessName,
  proof: { utcMs: number | null; against: WitnessName },
): Credits {
  const old = credits[witness];
  const { utcMs } = proof;
  const isFresh =
    old?.kind === 'proven' && old.utcMs !== null && (utcMs === null || Math.abs(utcMs - old.utcMs) < renewMs);
  return isFresh ? credits : { ...credits, [witness]: { kind: 'proven', ...proof } };
}

function sinceAfter(
  before: CreditState['since'],
  activities: Activities,
  atMs: number,
): CreditState['since'] {
  const at = (name: WitnessName) =>
    before[name].activity === activities[name] ? before[name] : { activity: activities[name], atMs };
  return {
    gnss: at('gnss'),
    motion: at('motion'),
    ignition: at('ignition'),
    rpm: at('rpm'),
    voltage: at('voltage'),
  };
}

/** One step over the activities of all witnesses. Call it on each change, and at least every two seconds. */
export function stepCredits(
  before: CreditState,
  activities: Activities,
  context: CreditContext,
): CreditState {
  const { atMs, utcMs, suspended } = context;
  const { independent } = before;
  const stepMs = Math.min(Math.max(0, atMs - before.atMs), stepMostMs);
  const hasChanged = witnessNames.some((name) => before.since[name].activity !== activities[name]);
  const since = hasChanged ? sinceAfter(before.since, activities, atMs) : before.since;
  const pairStates = before.pairs.map((pair, index) => {
    const [a, b] = independent[index] ?? (['gnss', 'ignition'] as const);
    return stepPair(pair, [activities[a], activities[b]], { atMs, stepMs });
  });
  const opposed = opposedAfter(before, activities, { atMs, stepMs });
  let state = withContradictions(
    { credits: before.credits, independent, pairs: pairStates, since, opposed, atMs },
    context,
  );
  // Fast path: most steps prove nothing.
  if (pairStates.every(({ restSinceMs }) => restSinceMs === null)) return state;
  for (const [index, [a, b]] of independent.entries()) {
    const pair = state.pairs[index];
    if (pair?.restSinceMs === undefined || pair.restSinceMs === null) continue;
    if (atMs - pair.restSinceMs < creditLimits.restMs) continue;
    if (suspended.includes(a) || suspended.includes(b)) continue;
    const proven = withProof(state.credits, a, { utcMs, against: b });
    const credits = withProof(proven, b, { utcMs, against: a });
    state = {
      ...state,
      credits,
      pairs: state.pairs.map((one, other) => (other === index ? freshPair : one)),
    };
  }
  return state;
}

/** State of a witness by its credit alone, regardless of its present claim. */
export function creditState(credit: Credit | undefined): WitnessState {
  return credit?.kind ?? 'unproven';
}
