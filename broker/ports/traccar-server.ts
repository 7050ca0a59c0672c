// A Traccar server whose trackers are also in an account here.

export interface TraccarServer {
  readonly accountID: string;
  /** Time between two looks for what it did not forward, in seconds. */
  readonly everyS: number;
  /**
   * Its stored positions of one of its devices by their time of fix, both ends included, earliest first. The server may cut
   * the list at its end.
   * @throws Error when it cannot be reached, refuses, or answers with something else.
   */
  positions(serverDeviceID: number, fromMs: number, toMs: number): Promise<readonly unknown[]>;
}
