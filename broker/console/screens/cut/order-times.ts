// When a command was reported, and since when the breaker is open, in words. Apart from the rest: the live map loads it.
import type { cutWords } from '../../../../build/words/cut.ts';
import type { CommandRecord, Result } from '../../api/operations.ts';
import { timeText } from '../../components/texts.tsx';
import type { WordsWith } from '../../words/word-set.ts';

/** A report that came in so late is of another moment than the one at which the service had it, s. */
const lateS = 60;

/** The time of a report by the clock of the service; of one that came late, by that of the vehicle, and named so. */
export function reportTime(
  { reported, updated }: Pick<CommandRecord, 'reported' | 'updated'>,
  { order }: WordsWith<[typeof cutWords]>,
): string {
  const isOther = reported !== 0 && Math.abs(updated - reported) > lateS;
  return isOther ? order.ownClock({ time: timeText(reported) }) : timeText(updated);
}

/** Time and user that opened the breaker. */
export const breakerText = (
  { breakerOpened, breakerOpenedBy }: Pick<Result<'commandLimits'>, 'breakerOpened' | 'breakerOpenedBy'>,
  texts: WordsWith<[typeof cutWords]>['cutLimits'],
): string => texts.breakerOpen({ time: timeText(breakerOpened), user: breakerOpenedBy });
