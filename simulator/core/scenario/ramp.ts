// A ramp: load grows in steps until a threshold fails. Its knee is the last good step, the first bad one with its failed
// thresholds, and a mark if the generator was the limit. Pure; an unmeasured step is never good.
import { countOf } from '../text/number-text.ts';
import type { Phase, Ramp } from './scenario-schema.ts';
import { type Figures, judgeThresholds } from './thresholds.ts';

export interface RampStep {
  readonly no: number;
  /** Vehicles on the road, or times the planned rate. */
  readonly level: number;
  /** Seconds of the run in which it was measured. */
  readonly fromS: number;
  readonly toS: number;
  readonly figures: Figures;
  /** Vehicles with a connection at its end, and events that had no acknowledgement yet. */
  readonly online: number;
  readonly waiting: number;
  /** Part of a core that the busiest process of the generator used, 0 to 1. */
  readonly generatorCore: number;
  /** Thresholds that did not hold, with what was measured. */
  readonly failures: readonly string[];
}

export interface Knee {
  readonly lastGood: RampStep | null;
  readonly firstBad: RampStep | null;
  /** The generator was late or full in the first bad step: the system may bear more than this. */
  readonly isGenerator: boolean;
  /** Place of the knee; `unknown`: the run ended before a step was measured. Absent in older results. */
  readonly place?: 'within' | 'below' | 'above' | 'unknown';
  readonly words: string;
}

export interface RampResult {
  readonly of: Ramp['of'];
  readonly steps: readonly RampStep[];
  readonly knee: Knee;
}

/** Levels in equal ratios, the first and the last as given; vehicles are whole. */
export function levelsOf({ of, from, to, steps }: Ramp): readonly number[] {
  return Array.from({ length: steps }, (_, at) => {
    const level = from * (to / from) ** (at / Math.max(1, steps - 1));
    return of === 'devices' ? Math.round(level) : Math.round(level * 100) / 100;
  });
}

/** The phases of a ramp of vehicles; null where it is one of the rate. */
export function phasesOf(ramp: Ramp, devices: number): readonly Phase[] | null {
  if (ramp.of !== 'devices') return null;
  return levelsOf(ramp).map((level, at) => ({
    name: countOf(level, 'vehicle'),
    atS: at * ramp.stepS,
    share: Math.min(1, level / devices),
    rate: 1,
  }));
}

/** The thresholds that a step did not meet, as text. */
export function failuresOf(ramp: Ramp, figures: Figures): readonly string[] {
  return judgeThresholds(ramp.thresholds, figures)
    .filter(({ isMet }) => !isMet)
    .map(({ text, value }) => `${text} (${value ?? 'not measured'})`);
}

/** With this much delay, or this share of a core, the generator and not the system is measured. */
const lateMs = 100;
const fullCore = 0.9;

export const formatLevel = (of: Ramp['of'], level: number): string =>
  of === 'devices' ? countOf(level, 'vehicle') : `x${level}`;

const levelText = (of: Ramp['of'], { level, figures }: RampStep): string =>
  `${formatLevel(of, level)} (${figures['events.rate'] ?? 0} events/s)`;

function generatorText({ figures, generatorCore }: RampStep): string {
  const lag = figures['lag.p99'] ?? 0;
  return `the generator was the bottleneck or shared its machine with it: busiest process ${Math.round(generatorCore * 100)} % of a core, lag p99 ${lag} ms; the system may bear more`;
}

function wordsOf(of: Ramp['of'], knee: Omit<Knee, 'words' | 'place'>): string {
  const { lastGood, firstBad, isGenerator } = knee;
  const good = lastGood === null ? null : `last good step ${levelText(of, lastGood)}`;
  if (firstBad === null)
    return good === null
      ? 'unknown: the run ended before a step was measured'
      : `none up to the end of the ramp: ${good}`;
  const bad = `${levelText(of, firstBad)}: ${firstBad.failures.join(', ')}`;
  return [
    ...(good === null
      ? [`it lies below the first step, which already failed: ${bad}`]
      : [good, `first bad step ${bad}`]),
    ...(isGenerator ? [generatorText(firstBad)] : []),
  ].join('; ');
}

/** The knee of what was measured; steps in their order. */
export function kneeOf(of: Ramp['of'], steps: readonly RampStep[]): Knee {
  const at = steps.findIndex(({ failures }) => failures.length > 0);
  const firstBad = at < 0 ? null : (steps[at] ?? null);
  const lastGood = (at < 0 ? steps.at(-1) : steps[at - 1]) ?? null;
  const lag = firstBad?.figures['lag.p99'] ?? 0;
  const isGenerator = firstBad !== null && (lag > lateMs || firstBad.generatorCore > fullCore);
  const found = { lastGood, firstBad, isGenerator };
  const [within, without] =
    firstBad === null ? (['above', 'unknown'] as const) : (['within', 'below'] as const);
  return { ...found, place: lastGood === null ? without : within, words: wordsOf(of, found) };
}

/** True when the first step of the ramp was bad. */
export const isBelowRamp = (ramp: RampResult | null): boolean =>
  ramp !== null && ramp.knee.lastGood === null && ramp.knee.firstBad !== null;
