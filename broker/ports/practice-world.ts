// The simulated world of a practice fleet, as the broker reaches it: a port to the demonstration that started it.
import type { PracticeAction, PracticeFleet } from '../../src/core/practice.ts';

export interface PracticeWorld {
  /** The one account that it belongs to. */
  readonly accountID: string;
  /** Its vehicles now. Rejects with AppError `unavailable` when the demonstration does not answer. */
  look(): Promise<PracticeFleet>;
  /** Rejects with AppError `not_found` for a vehicle that it does not have, `unavailable` as above. */
  act(deviceID: string, action: PracticeAction): Promise<void>;
  /**
   * Has the colleague, a simulated second user, ask for an engine cut, in an account whose cuts need two people from then on. Rejects
   * with AppError `conflict` when that cannot be, and as `act`.
   */
  askForCut(deviceID: string): Promise<void>;
}
