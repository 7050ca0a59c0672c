// What the command ledger is made with. Types only.
import type { Entropy } from '../../src/ports.ts';
import type { SenderOptions } from './command-sender.ts';

export interface LedgerOptions extends SenderOptions {
  readonly entropy: Entropy;
  /** Other processes send commands to the same devices. */
  readonly isShared?: boolean;
  /** False while nothing that is sent would leave. Absent: true. */
  readonly canSend?: () => boolean;
}
