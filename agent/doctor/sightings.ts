// What the checks of one run have found out that a later one judges: clocks and receiver together. Pure but for the record itself.
import { type ClockFinding, judgeClocks } from '../core/clock-verdict.ts';
import type { ReceiverObstacle } from '../core/status/receiver-text.ts';

export interface Sightings {
  /** Null: no position was seen. */
  receiver: {
    /** How far its clock is ahead of this machine's, ms; null: it showed no time. */
    readonly aheadMs: number | null;
    readonly obstacle: ReceiverObstacle | null;
  } | null;
  /** How far the broker's clock is ahead of this machine's, ms; null: it was not asked. */
  brokerAheadMs: number | null;
}

export const createSightings = (): Sightings => ({ receiver: null, brokerAheadMs: null });

/** A welcome and a fix are read within this. */
const apartMostMs = { brokerMs: 5000, receiverMs: 6000 } as const;

/** Which clock is wrong, by all that were read in this run. */
export function clockFindings(
  { receiver, brokerAheadMs }: Sightings,
  now: { readonly utcMs: number; readonly earliestUtcMs: number },
): readonly ClockFinding[] {
  const shown = (aheadMs: number | null): number | null => (aheadMs === null ? null : now.utcMs + aheadMs);
  return judgeClocks(
    {
      machineMs: now.utcMs,
      brokerMs: shown(brokerAheadMs),
      receiverMs: shown(receiver?.aheadMs ?? null),
    },
    { earliestMs: now.earliestUtcMs, ...apartMostMs },
  );
}

/** What keeps the receiver from proving standstill; a date that is behind makes its positions doubtful or late. */
export function obstacleSeen(
  { receiver }: Sightings,
  clocks: readonly ClockFinding[],
): ReceiverObstacle | null {
  if (receiver === null) return null;
  const date = clocks.find(
    (one) =>
      (one.kind === 'receiver_off' && one.byMs < 0) || (one.kind === 'receiver_rolled_over' && one.weeks < 0),
  );
  return date === undefined ? receiver.obstacle : { kind: 'date', finding: date };
}
