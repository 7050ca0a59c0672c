// A feature: what one folder below `broker/features/` adds to the kernel. Without the folder and its line in
// `broker/features.ts` the broker compiles and starts.
import type { AppError } from '../../src/core/errors.ts';
import type { Database, Statement } from '../../src/ports.ts';
import type { FeatureService, Slice } from '../api/base/api-services.ts';
import type { LinkCallers } from '../api/base/caller.ts';
import type { Operation } from '../api/base/operation.ts';
import type { KeyOwner } from '../core/events/trip-drivers.ts';
import type { SendMail } from '../notify/senders.ts';
import type { UserKey } from '../store/accounts/accounts.ts';

export interface Feature {
  /**
   * Its tables and triggers, in an order that references allow. Their rows go with their device, user or account by references
   * with `ON DELETE CASCADE`, unless `clearedTables` names them.
   */
  readonly tables?: readonly Statement[];
  /**
   * Tables that the deletion of an account clears in small batches before its users, each with its primary key. Rows are found by
   * `account_id`, or by `account_no` where the key begins with it.
   */
  readonly clearedTables?: readonly (readonly [table: string, key: string])[];
  readonly operations: readonly Operation[];
  /** Operations of the kernel that its own stand after, in routes and documents. */
  readonly follows: readonly Operation[];
  /** True: only the broker of a demonstration serves its operations. */
  readonly isPractice?: true;
  /** Its services and background work. */
  readonly slice?: Slice<FeatureService>;
  /** Sends the mails that its deliveries carry; of one feature, which alone fills `mail_no` of deliveries. */
  readonly sendMail?: SendMail;
  /** Finds the callers of the links that it gives. */
  readonly links?: LinkCallers;
  /** Why the password of this user alone begins no session; null: it does, as far as this feature knows. Of several the first in the list answers. */
  readonly needsMore?: (db: Database, user: UserKey) => Promise<AppError | null>;
  /** Names the owners of drivers' keys; of one feature. */
  readonly keyOwners?: (
    db: Database,
    accountID: string,
    keyIDs: readonly string[],
  ) => Promise<readonly KeyOwner[]>;
}

/** Keeps the types of the operations, for a client that is compiled beside them. */
export const feature = <const F extends Feature>(definition: F): F => definition;
