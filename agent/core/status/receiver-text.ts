// Names the obstacle to a receiver's proof of standstill and the setting that helps, for `status` of a running unit and `doctor`
// of a stopped one. Pure. Advice to drive is given only where no such obstacle is known.
import { standstillHint, standstillText } from '../../../src/core/verdict/verdict-text.ts';
import type { WitnessName } from '../../../src/core/verdict/witness.ts';
import { type ClockFinding, clockText } from '../clock-verdict.ts';
import type { Unusable } from '../gnss/receiver-facts.ts';
import { countProven } from '../protection/witness-rules.ts';

/** A receiver of 0.5 Hz proves standstill; from this interval on it is taken for a slower one, seconds. */
const seldomFromS = 2.5;

export type ReceiverObstacle =
  /** Its date makes its positions doubtful, or late. */
  | { readonly kind: 'date'; readonly finding: ClockFinding }
  /** So many seconds between two positions. */
  | { readonly kind: 'seldom'; readonly everyS: number }
  /** ... between two with a quality (HDOP), while positions come oftener. */
  | { readonly kind: 'no_quality'; readonly everyS: number | null }
  /** ... between two with a speed. */
  | { readonly kind: 'no_speed'; readonly everyS: number | null };

/** Periods of a receiver's sentences, s; null: not sent, or unknown. */
export interface ReceiverPace {
  readonly positionS: number | null;
  readonly qualityS: number | null;
  readonly speedS: number | null;
}

const isSeldom = (everyS: number | null): boolean => everyS === null || everyS >= seldomFromS;

/** Period that prevents a proof of standstill; null: none. */
export function paceObstacle({ positionS, qualityS, speedS }: ReceiverPace): ReceiverObstacle | null {
  if (positionS === null) return null;
  if (isSeldom(positionS)) return { kind: 'seldom', everyS: positionS };
  if (isSeldom(speedS)) return { kind: 'no_speed', everyS: speedS };
  return isSeldom(qualityS) ? { kind: 'no_quality', everyS: qualityS } : null;
}

export interface ObstacleText {
  readonly words: string;
  readonly todo: string;
}

/** Sentences that could not be used in words. */
export function unusableText({ count, example }: Unusable): ObstacleText {
  return {
    words: `${count} ${count === 1 ? 'sentence' : 'sentences'} with a right checksum could not be used, such as ${example}`,
    todo: 'Set the receiver to plain NMEA 0183 (coordinates as ddmm.mm and dddmm.mm), or update its firmware. The antenna is not the reason.',
  };
}

const onceASecond = 'once a second';
const every = (everyS: number | null): string =>
  everyS === null ? 'hardly a position' : `only one position in ${Math.round(everyS)} s`;

/** An obstacle in words, and the setting that removes it. */
export function obstacleText(obstacle: ReceiverObstacle): ObstacleText {
  switch (obstacle.kind) {
    case 'date':
      return clockText(obstacle.finding);
    case 'seldom':
      return {
        words: `the receiver sends ${every(obstacle.everyS)}`,
        todo: `Set the receiver to send RMC and GGA ${onceASecond} (every 2 s at most), and its line fast enough for them.`,
      };
    case 'no_quality':
      return {
        words: `${every(obstacle.everyS)} has an HDOP`,
        todo: `Set the receiver to send GGA or GSA with every RMC, ${onceASecond}.`,
      };
    case 'no_speed':
      return {
        words: `${every(obstacle.everyS)} has a speed of RMC`,
        todo: `Set the receiver to send RMC with every GGA, ${onceASecond}.`,
      };
    default:
      return obstacle satisfies never;
  }
}

/** What `status` knows of the receiver. */
export interface ReceiverStatus {
  readonly hasFix: boolean;
  readonly fixAgeS: number | null;
  readonly doubts: readonly string[];
  /** Reason why it proves no standstill now; null: it does, or it moves. */
  readonly fault: string | null;
  readonly hdop: number | null;
  /** Seconds between two epochs, and between two that could prove something. */
  readonly everyS: number;
  readonly goodEveryS: number;
  /** Members that most of its positions lack: a speed of RMC, an HDOP. */
  readonly lacks: { readonly speed: boolean; readonly hdop: boolean };
}

/** Faults that a slow receiver shows in turn. */
const paceFaults: readonly (string | null)[] = ['few_fixes', 'fix_old', 'hdop', 'no_fix'];

/** The obstacle of a running unit; null: none, or not known yet. */
export function receiverObstacle(
  facts: ReceiverStatus,
  clocks: readonly ClockFinding[],
): ReceiverObstacle | null {
  const { hasFix, doubts, fault, hdop, everyS, goodEveryS, lacks } = facts;
  if (!hasFix) return null;
  const date = clocks.find(({ kind }) => kind.startsWith('receiver_'));
  if (date !== undefined && (doubts.includes('date-before-build') || fault === 'fix_late'))
    return { kind: 'date', finding: date };
  if (everyS >= seldomFromS && fault !== null) return { kind: 'seldom', everyS };
  if (lacks.speed) return { kind: 'no_speed', everyS: null };
  if (lacks.hdop) return { kind: 'no_quality', everyS: null };
  if (!paceFaults.includes(fault)) return null;
  if (fault === 'hdop' && hdop !== null) return null;
  if (goodEveryS >= seldomFromS) return { kind: 'no_quality', everyS: goodEveryS };
  return fault === 'hdop' ? { kind: 'no_quality', everyS: null } : null;
}

/** Reason why it proves no standstill, from the facts of the same line: a present position is never called missing. */
export function faultText({ hasFix, fixAgeS, fault }: ReceiverStatus): ObstacleText {
  if (hasFix && (fault === 'no_fix' || fault === 'fix_old'))
    return { words: standstillText('few_fixes'), todo: '' };
  if (hasFix && fault === 'fix_void' && (fixAgeS ?? 0) < 2)
    return {
      words: 'No RMC confirms the position',
      todo: `Set the receiver to send RMC with every GGA, ${onceASecond}.`,
    };
  return { words: standstillText(fault), todo: standstillHint(fault) ?? '' };
}

/** Advice to earn a missing proof: a drive, unless there is an obstacle. @param fitted witnesses that the configuration names. */
export function proofAdvice(given: {
  readonly fitted: readonly WitnessName[];
  readonly obstacle: ReceiverObstacle | null;
  /** What else must be mended first; null: nothing. */
  readonly blocker?: string | null;
}): string {
  const { fitted, obstacle, blocker = null } = given;
  const needs = 'A cut needs two proven sensors';
  if (countProven((name) => fitted.includes(name)) < 2)
    return `${needs}, and fewer are fitted: map an ignition or motion input in [board.overrides.inputs].`;
  if (blocker !== null) return `${needs}: ${blocker} first, then a drive of a minute proves them.`;
  if (obstacle !== null) return `${needs}, and no drive proves one while ${obstacleText(obstacle).words}.`;
  return `${needs}: drive a minute with a view of the sky, stop, switch off.`;
}
