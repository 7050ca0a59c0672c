// The command machine of the vehicle as a table: which state follows from which, and what makes it so. Data only;
// `agent/core/protection/commands.ts` is the machine, and `command-table.test.ts` proves that the two say the same, line by line.
import type { ActiveCommand } from '../../../agent/core/protection/command-record.ts';

/** Where a command of the vehicle is: its persisted phase, what its machine waits for, or its end. */
export type CommandPlace =
  | 'none'
  | 'received'
  | 'armed'
  | 'committing'
  | 'driving'
  | 'pausing'
  | 'unknown'
  | 'confirmed'
  | 'refused'
  | 'expired'
  | 'superseded'
  | 'cancelled';

/** What may happen to it, with what the interlock says at that moment. */
export type CommandCause =
  | 'accepted'
  | 'not fitted'
  | 'expired on arrival'
  | 'withdrawn'
  | 'replaced'
  | 'interlock waits'
  | 'interlock agrees'
  | 'life over'
  | 'committed, agrees'
  | 'committed, waits'
  | 'commit failed'
  | 'drive confirmed'
  | 'drive refused'
  | 'drive unknown'
  | 'drives used up'
  | 'read as ordered'
  | 'read otherwise'
  | 'pause over'
  | 'restarted'
  | 'restarted, not on disk';

export interface CommandMove {
  readonly from: CommandPlace;
  readonly on: CommandCause;
  readonly to: CommandPlace;
}

const move = (from: CommandPlace, on: CommandCause, to: CommandPlace): CommandMove => ({ from, on, to });

/** Every move that there is. What is not here must not happen. */
export const commandTable: readonly CommandMove[] = [
  move('none', 'accepted', 'received'),
  move('none', 'not fitted', 'refused'),
  move('none', 'expired on arrival', 'expired'),
  move('none', 'withdrawn', 'cancelled'),
  move('received', 'interlock agrees', 'committing'),
  move('received', 'interlock waits', 'armed'),
  move('received', 'life over', 'expired'),
  move('received', 'withdrawn', 'cancelled'),
  move('received', 'replaced', 'superseded'),
  move('received', 'restarted', 'received'),
  move('armed', 'interlock agrees', 'committing'),
  move('armed', 'interlock waits', 'armed'),
  move('armed', 'life over', 'expired'),
  move('armed', 'withdrawn', 'cancelled'),
  move('armed', 'replaced', 'superseded'),
  move('armed', 'restarted', 'armed'),
  move('committing', 'committed, agrees', 'driving'),
  move('committing', 'committed, waits', 'armed'),
  move('committing', 'commit failed', 'pausing'),
  move('committing', 'life over', 'expired'),
  move('committing', 'withdrawn', 'committing'),
  move('committing', 'replaced', 'committing'),
  move('committing', 'restarted', 'unknown'),
  move('committing', 'restarted, not on disk', 'received'),
  move('committing', 'restarted, not on disk', 'armed'),
  move('driving', 'drive confirmed', 'confirmed'),
  move('driving', 'drive refused', 'pausing'),
  move('driving', 'drive unknown', 'unknown'),
  move('driving', 'drives used up', 'refused'),
  move('driving', 'withdrawn', 'driving'),
  move('driving', 'replaced', 'driving'),
  move('driving', 'restarted', 'unknown'),
  move('pausing', 'pause over', 'armed'),
  move('pausing', 'withdrawn', 'cancelled'),
  move('pausing', 'replaced', 'superseded'),
  move('pausing', 'restarted', 'armed'),
  move('unknown', 'read as ordered', 'confirmed'),
  move('unknown', 'read otherwise', 'pausing'),
  move('unknown', 'drives used up', 'refused'),
  move('unknown', 'withdrawn', 'unknown'),
  move('unknown', 'replaced', 'unknown'),
  move('unknown', 'restarted', 'unknown'),
];

/** Where a command is, from what is kept of it and what its machine waits for. */
export function placeOf(
  active: Pick<ActiveCommand, 'phase'> | undefined,
  work: { readonly kind: 'committing' | 'driving' | 'ready' | 'pausing' } | undefined,
): CommandPlace {
  if (active === undefined) return 'none';
  if (active.phase === 'executing') return work?.kind === 'driving' ? 'driving' : 'committing';
  if (active.phase === 'unknown') return 'unknown';
  return work?.kind === 'pausing' ? 'pausing' : active.phase;
}
