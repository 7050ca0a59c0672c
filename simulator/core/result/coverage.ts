// Checks that a run left out because it ended early or the service refused: it has proved nothing about them. Pure.
import { formatCount } from '../text/number-text.ts';
import type { StopSignal } from './stop-signal.ts';

export interface Coverage {
  readonly interruptedBy: StopSignal | null;
  /** Duration of the actions, and of the scenario. */
  readonly elapsedS: number;
  readonly durationS: number;
  /** Whether everything that people read was read back. */
  readonly hasViews: boolean;
  /** Reason; null: it was read, or a signal had ended the run before. */
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
