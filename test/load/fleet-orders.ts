// What a bench asks of a process full of raw MQTT clients, and what that process answers. Types and small shared facts only.

/** Where clients connect. */
export interface FleetTarget {
  readonly port: number;
  /** PEM of the authority; null: without TLS. */
  readonly ca: string | null;
  /** What clients show; absent: nothing. */
  readonly certificates?: FleetCertificates;
}

/** By index of the client; one key for all of them. */
export interface FleetCertificates {
  readonly key: string;
  readonly certs: readonly string[];
}

export interface OpenOrder {
  readonly kind: 'open';
  readonly target: FleetTarget;
  /** Clients `first` to `first + count - 1` of the fleet. */
  readonly first: number;
  readonly count: number;
  /** Addresses of the loopback that they come from, in turn. */
  readonly from: readonly string[];
  /** Each begins at a random moment of this time; 0: all at once. */
  readonly spreadMs: number;
  /** Comes back to its TLS session by ticket where it has one. */
  readonly resumes: boolean;
  /** Until then everybody must be in. */
  readonly limitMs: number;
}

export interface OpenResult {
  readonly connected: number;
  readonly attempts: number;
  /** Attempts that ended without a session, by what ended them. */
  readonly refused: Readonly<Record<string, number>>;
  /** Sessions of TLS that were resumed. */
  readonly resumed: number;
  /** From the order to the last client that was in. */
  readonly tookMs: number;
  /** From the beginning of the order to the CONNACK of each. */
  readonly inAfterMs: readonly number[];
}

export interface PublishOrder {
  readonly kind: 'publish';
  /** Messages a second, over all clients of the process, in turn; `null`: as many as the window lets through. */
  readonly perS: number | null;
  readonly ms: number;
  /** Messages of one client that may wait for their PUBACK. */
  readonly window: number;
}

export interface PublishResult {
  readonly sent: number;
  readonly acknowledged: number;
  /** Of a sample of at most 200,000 messages: from PUBLISH to PUBACK. */
  readonly latenciesMs: readonly number[];
  /** Messages that were due and not sent because the window was full. */
  readonly skipped: number;
}

export type FleetOrder =
  | OpenOrder
  | PublishOrder
  | { readonly kind: 'drop' }
  | { readonly kind: 'ping'; readonly ms: number }
  | { readonly kind: 'count' };

export interface FleetAnswers {
  readonly open: OpenResult;
  readonly publish: PublishResult;
  readonly drop: null;
  readonly ping: { readonly answered: number };
  readonly count: { readonly connected: number };
}

export const fleetAccount = 'bench';
export const deviceOf = (index: number): string => `truck-${String(index).padStart(5, '0')}`;
