// Witnesses that must agree before a relay may restrict the vehicle, and the reasons if they do not. Two keys are needed that no single fault turns;
// `common-causes.ts` is the table of common causes.
import type { RuleFinding, Verdict } from '../../../src/core/verdict/verdict.ts';
import type { WitnessName } from '../../../src/core/verdict/witness.ts';
import { sharedCauses } from '../evidence/common-causes.ts';
import type { Evidence, Witnesses } from '../evidence/testimony.ts';
import { interlockLimits } from './interlock-rules.ts';
import { found } from './rule-findings.ts';

/** The supply voltage only speaks against standstill: no charging proves no rest. */
export const keys: readonly WitnessName[] = ['gnss', 'motion', 'ignition', 'rpm'];
/** Witnesses of the vehicle itself, not of its engine. */
export const ofVehicle: readonly WitnessName[] = ['gnss', 'motion'];

export function countProven(isProven: (name: WitnessName) => boolean): number {
  return keys.filter(isProven).length;
}

interface Wanted {
  readonly names: readonly WitnessName[];
  readonly needsEngine: boolean;
  /** Minimum time of ignition off that counts, ms. */
  readonly offMs: number;
}

type Pair = readonly [WitnessName, WitnessName];

/** Pairs with one witness of the vehicle itself. If `needsEngine` is set, the other must be a witness of the engine. */
function pairsOf(names: readonly WitnessName[], needsEngine: boolean): readonly Pair[] {
  return names
    .flatMap((a, at) => names.slice(at + 1).map((b): Pair => [a, b]))
    .filter((pair) => {
      const vehicle = pair.filter((name) => ofVehicle.includes(name)).length;
      return vehicle > 0 && (!needsEngine || vehicle < 2);
    });
}

/** Single fault that explains all pairs; `none`: there is no pair, or one that no single fault explains. */
function commonCause(pairs: readonly Pair[], witnesses: Witnesses): 'contacts' | 'board' | 'none' {
  const shared = pairs.map(([a, b]) => sharedCauses(witnesses[a].causes, witnesses[b].causes));
  if (shared.some((causes) => causes.length === 0)) return 'none';
  if (shared.some((causes) => causes.includes('contacts'))) return 'contacts';
  return shared.length > 0 ? 'board' : 'none';
}

/** True when a change waits only for the proof that the board does not repeat old values. */
export function waitsForBoard({ rules }: Verdict): boolean {
  const unmet = rules.filter(({ isMet }) => !isMet);
  const isBoard = unmet.some(({ rule, value }) => rule === 'common_cause' && value === 'board');
  return isBoard && unmet.every(({ rule }) => rule === 'common_cause' || rule.startsWith('witness'));
}

/** Rule of two keys: independent witnesses that have earned credit and agree. */
export function witnessRules(
  { witnesses }: Evidence,
  { names, needsEngine, offMs }: Wanted,
): readonly RuleFinding[] {
  const isLong = (name: WitnessName): boolean =>
    name !== 'ignition' || (witnesses.ignition.restForMs ?? 0) >= offMs;
  const agreeing = names.filter(
    (name) => witnesses[name].state === 'proven' && witnesses[name].claim === 'rest' && isLong(name),
  );
  const pairs = pairsOf(agreeing, needsEngine);
  const common = commonCause(pairs, witnesses);
  const isMet = pairs.length > 0 && common === 'none';
  const needed = interlockLimits.witnesses;
  const value = isMet ? agreeing.length : Math.min(agreeing.length, needed - 1);
  const rule = found('witnesses', { isMet, value, needed });
  if (isMet) return [rule];
  const others = names
    .filter((name) => !agreeing.includes(name) && witnesses[name].state !== 'absent')
    .map((name) => {
      const { state, claim } = witnesses[name];
      const seen = state === 'proven' ? (claim === 'active' ? 'active' : 'silent') : state;
      return found(`witness_${name}`, { isMet: false, value: seen, needed: 'proven' });
    });
  const shared = found('common_cause', { isMet: false, value: common, needed: 'none' });
  return common === 'none' ? [rule, ...others] : [shared, rule, ...others];
}
