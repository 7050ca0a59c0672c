// What a run did not look at because it ended early, or because the service did not let it: such a run has proved nothing of that. Pure.
import { formatCount } from '../text/number-text.ts';
import type { StopSignal } from './stop-signal.ts';

export interface Coverage {
  readonly interruptedBy: StopSignal | null;
  /** How long actions went on, and how long the scenario is. */
  readonly elapsedS: number;
  readonly durationS: number;
  /** Whether everything that people read was read back. */
  readonly hasViews: boolean;
  /** Why it was not; null: it was, or a signal had ended the run before. */
  readonly unreadReason: string | null;
}

const views =
  'what people read: history, exports, present, commands, alerts, live stream, and access that must be refused';

/** Empty for a complete run. */
export function notLookedAtOf(run: Coverage): readonly string[] {
  const { interruptedBy, hasViews, unreadReason } = run;
  const unread = hasViews ? [] : [unreadReason === null ? views : `${views} (${unreadReason})`];
  if (interruptedBy === null) return unread;
  const leftS = Math.round(run.durationS - run.elapsedS);
  const left = leftS > 0 ? [`the last ${formatCount(leftS, 'second')} of the scenario`] : [];
  return [...left, 'whether it saw what its scenario needs', ...unread];
}
