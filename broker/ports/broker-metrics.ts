// The broker's own figures, read on demand. Types only.

export interface BrokerMetrics {
  readonly connections: number;
  /** Connections that wait for their handshake. */
  readonly arrivals: number;
  /** Age of the oldest write that waits for the disk, in ms. */
  readonly lagMs: number;
  /** Writes that wait for a commit or are in one, and the values in those that wait. */
  readonly waiting: { readonly writes: number; readonly values: number };
  readonly payloads: number;
  readonly events: number;
  readonly duplicates: number;
  readonly reused: number;
  readonly quarantined: number;
  readonly failures: number;
}
