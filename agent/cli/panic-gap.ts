// The panic button in `config check`: the shortest press that is certainly sampled, and a warning when that is longer
// than a usual press. It must never touch the board.
import { type BoardProfile, worstSampleGapMs } from '../core/board/board-profile.ts';

/** A quick press of a push button lasts 50 to 100 ms. */
const pressMs = 50;

export interface PanicGap {
  /** Presses of this length or longer are always seen, ms; null where no panic button is fitted. */
  readonly gapMs: number | null;
  readonly lines: readonly string[];
  readonly warnings: readonly string[];
}

/** The longest time between two samples of the panic button on an undisturbed bus, as text. */
export function describePanicGap(profile: BoardProfile): PanicGap {
  if (profile.inputs.panic === undefined) return { gapMs: null, lines: [], warnings: [] };
  const gapMs = worstSampleGapMs(profile, 'panic');
  const seenMs = Math.ceil(gapMs);
  const lines = [`a panic press of ${seenMs} ms or longer is always seen`];
  if (gapMs <= pressMs) return { gapMs, lines, warnings: [] };
  const { baudRate } = profile.serial;
  const warning =
    `a panic press of ${pressMs} ms could be missed at ${baudRate} baud: only from ${seenMs} ms on is it always seen. ` +
    'Set board and [board.overrides.serial] to a higher baudRate, read fewer registers at once ([board.overrides.polls], ' +
    'count), or fit a button that stays pressed.';
  return { gapMs, lines, warnings: [warning] };
}
