// A Traccar server whose trackers are also in an account here.

export interface TraccarServer {
  readonly accountID: string;
  /** Time between two looks for what it did not forward, in seconds. */
  readonly everyS: number;
  /** The number that a tracker has there now; null: its user sees none of that identifier. @throws Error as below. */
  find(uniqueID: string): Promise<number | null>;
  /**
   * Its stored positions of one of its devices by their time of fix, both ends included, earliest first. The server may cut
   * the list at its end.
   * @throws Error when it cannot be reached, refuses, or answers with something else.
   */
  positions(serverDeviceID: number, fromMs: number, toMs: number): Promise<readonly unknown[]>;
}
