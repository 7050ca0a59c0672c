// The credit of witnesses. Two independent ones prove each other when both were seen active together and then at rest
// together, on this vehicle; a contradiction removes the credit until it is earned again. It decides nothing about a
// relay.
import type { WitnessName, WitnessState } from '../../../src/core/verdict/witness.ts';

export const creditLimits = {
  /** Both active together for this long in one drive ... */
  activeMs: 30_000,
  /** ... and then both at rest for this long. */
  restMs: 5000,
  /** At rest while an independent witness is active for this long: a contradiction. */
  contradictionMs: 10_000,
  /** A charging voltage may sag; an alternator that never charges in a drive is contradicted later. */
  voltageMs: 60_000,
  /** A motion input that is active for this long on a vehicle that is proven to stand with ignition off is stuck. */
  stuckMs: 600_000,
  /** Credit ends when it was not renewed for this long. */
  lifeMs: 60 * 86_400_000,
} as const;

/** `against`: the witness that proved it, or spoke against it. Times are UTC ms; null = the time was not known. */
export type Credit =
  | { readonly kind: 'proven'; readonly utcMs: number | null; readonly against: WitnessName }
  | { readonly kind: 'contradicted'; readonly utcMs: number | null; readonly against: WitnessName };

export type Credits = Readonly<Partial<Record<WitnessName, Credit>>>;

/** The activity that a witness shows at this moment; null = none that counts. */
export type Activity = 'active' | 'rest' | null;
export type Activities = Readonly<Record<WitnessName, Activity>>;

/**
 * Independent pairs. Ignition and motion share an input block and prove nothing about each other; engine speed and
 * voltage both follow from the same engine, measured apart.
 */
const pairs = [
  ['gnss', 'ignition'],
  ['gnss', 'motion'],
  ['gnss', 'rpm'],
  ['gnss', 'voltage'],
  ['ignition', 'rpm'],
  ['ignition', 'voltage'],
  ['rpm', 'voltage'],
] as const satisfies readonly (readonly [WitnessName, WitnessName])[];

interface PairState {
  /** Time for which both were active in this drive. */
  readonly activeMs: number;
  /** Since when both have been at rest after it. */
  readonly restSinceMs: number | null;
}

const freshPair: PairState = { activeMs: 0, restSinceMs: null };

export interface CreditState {
  readonly credits: Credits;
  readonly pairs: readonly PairState[];
  /** Since when each witness has been doing what it does. */
  readonly since: Readonly<Record<WitnessName, { readonly activity: Activity; readonly atMs: number }>>;
  readonly atMs: number;
}

export function createCreditState(credits: Credits, nowMs: number): CreditState {
  const idle = { activity: null, atMs: nowMs } as const;
  return {
    credits,
    pairs: pairs.map(() => freshPair),
    since: { gnss: idle, motion: idle, ignition: idle, rpm: idle, voltage: idle },
    atMs: nowMs,
  };
}

/** A step longer than this was not observed. */
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
  // A rest after less than a whole drive proves nothing.
  if (pair.activeMs < creditLimits.activeMs) return pair.activeMs === 0 ? pair : freshPair;
  return pair.restSinceMs === null ? { ...pair, restSinceMs: now.atMs } : pair;
}

interface Contradiction {
  readonly witness: WitnessName;
  readonly by: WitnessName;
}

function contradictions(state: CreditState): readonly Contradiction[] {
  const { since, atMs } = state;
  const lasts = (name: WitnessName, activity: Activity, forMs: number): boolean =>
    since[name].activity === activity && atMs - since[name].atMs >= forMs;
  const { contradictionMs, voltageMs, stuckMs } = creditLimits;
  const found: Contradiction[] = [];
  for (const witness of ['motion', 'ignition', 'rpm', 'voltage'] as const) {
    const forMs = witness === 'voltage' ? voltageMs : contradictionMs;
    if (lasts('gnss', 'active', forMs) && lasts(witness, 'rest', forMs)) found.push({ witness, by: 'gnss' });
  }
  if (lasts('rpm', 'active', contradictionMs) && lasts('ignition', 'rest', contradictionMs))
    found.push({ witness: 'ignition', by: 'rpm' });
  const isParked = lasts('gnss', 'rest', stuckMs) && lasts('ignition', 'rest', stuckMs);
  const areProven = state.credits.gnss?.kind === 'proven' && state.credits.ignition?.kind === 'proven';
  if (isParked && areProven && lasts('motion', 'active', stuckMs))
    found.push({ witness: 'motion', by: 'gnss' });
  return found;
}

function withContradictions(state: CreditState, utcMs: number | null): CreditState {
  let { credits, pairs: pairStates } = state;
  for (const { witness, by } of contradictions(state)) {
    if (credits[witness]?.kind !== 'contradicted')
      credits = { ...credits, [witness]: { kind: 'contradicted', utcMs, against: by } };
    // What was earned in this drive before the contradiction is gone too.
    pairStates = pairStates.map((pair, at) =>
      pairs[at]?.includes(witness as never) === true && pair.activeMs > 0 ? freshPair : pair,
    );
  }
  return credits === state.credits && pairStates === state.pairs
    ? state
    : { ...state, credits, pairs: pairStates };
}

/** A renewed credit is written once a day, so that not every stop wears the disk. */
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

/** One step over the activities of all witnesses. Call it on each change, and at least every two seconds. */
export function stepCredits(
  before: CreditState,
  activities: Activities,
  now: {
    readonly atMs: number;
    readonly utcMs: number | null;
    /** Witnesses whose rest does not count at present. */
    readonly suspended: readonly WitnessName[];
  },
): CreditState {
  const { atMs, utcMs, suspended } = now;
  const stepMs = Math.min(Math.max(0, atMs - before.atMs), stepMostMs);
  const at = (name: WitnessName) => {
    const old = before.since[name];
    return old.activity === activities[name] ? old : { activity: activities[name], atMs };
  };
  const since = {
    gnss: at('gnss'),
    motion: at('motion'),
    ignition: at('ignition'),
    rpm: at('rpm'),
    voltage: at('voltage'),
  };
  const pairStates = before.pairs.map((pair, index) => {
    const [a, b] = pairs[index] ?? pairs[0];
    return stepPair(pair, [activities[a], activities[b]], { atMs, stepMs });
  });
  let state = withContradictions({ credits: before.credits, pairs: pairStates, since, atMs }, utcMs);
  for (const [index, [a, b]] of pairs.entries()) {
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

/** The state of a witness by its credit, regardless of its present claim. */
export function creditState(credit: Credit | undefined, utcMs: number | null): WitnessState {
  if (credit === undefined) return 'unproven';
  if (credit.kind === 'contradicted') return 'contradicted';
  if (credit.utcMs === null || utcMs === null) return 'proven';
  const ageMs = utcMs - credit.utcMs;
  // Credit from the future was stamped by a wrong clock; its age is not known.
  return ageMs > creditLimits.lifeMs || ageMs < -renewMs ? 'stale' : 'proven';
}
