// Pending changes of a feature, as device views show them: commands, cuts that wait for a second user, and the vehicle's own
// changes.
import type { CommandRow } from '../../store/commands/commands.ts';

/** Something that may still change the state of a feature. */
export interface Pending
  extends Pick<
    CommandRow,
    'deviceNo' | 'feature' | 'state' | 'detail' | 'verdict' | 'reportedMs' | 'approvalID'
  > {
  /** Null while it waits for a second user, and of what the vehicle does on its own. */
  readonly commandID: string | null;
  /** State of the command, or `approval` for one that waits for a second user. */
  readonly commandState: string;
}

/** `commandState` of a cut that waits for a second user: nothing is signed or sent yet. */
export const waitingState = 'approval';
/** Why such a cut waits. */
export const waitingReason = 'Waits for the approval of a second user';
/** The same of an order that the owner's persons sign. */
export const waitingForPersons = "Waits for the signatures of the owner's persons";
