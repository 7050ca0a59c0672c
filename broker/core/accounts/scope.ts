// Which devices a caller may see.

export interface Scope {
  readonly accountID: string;
  /**
   * Names what limits the visible devices: a user with groups, or an API token that names devices. One name always stands for
   * one limit. Null: every device of the account.
   */
  readonly limitedTo: string | null;
  /** The devices that an API token names; absent: `limitedTo` is a user. */
  readonly within?: DeviceLimit;
}

/** What an API token names: of the devices that its user sees only these. */
export interface DeviceLimit {
  /** User whose groups limit the token too; null: its user sees every device. */
  readonly userID: string | null;
  readonly deviceNos: readonly number[];
  /** Groups whose devices count as long as they are in them. */
  readonly groupNos: readonly number[];
}
