// Dependencies and settings of the command ledger. Types only.
import type { Entropy } from '../../src/ports.ts';
import type { DeviceRef } from '../core/device-key.ts';
import type { SenderOptions } from './command-sender.ts';

export interface LedgerOptions extends SenderOptions {
  readonly entropy: Entropy;
  /** Other processes send commands to the same devices. */
  readonly isShared?: boolean;
  /** False while no message could leave this process. Absent: true. */
  readonly canSend?: () => boolean;
  /** Ends the connection of a vehicle that commands do not reach, so that it makes a new one. */
  readonly kick?: (device: DeviceRef, reason: string) => void;
}
