// What the bench of neighbours asks of its two processes of clients, and what they answer. Types only.

/** Sessions of the attacked account, by what their callers may do. */
export interface AttackPlace {
  readonly httpPort: number;
  readonly mqttPort: number;
  readonly accountID: string;
  /** Sessions of one viewer who sees two vehicles, and of one who sees all. */
  readonly narrowTokens: readonly string[];
  readonly wideTokens: readonly string[];
  /** API tokens of an operator, each for the same single vehicle. */
  readonly orderTokens: readonly string[];
  readonly orderDevice: string;
  /** A share link of a trip. */
  readonly shareToken: string;
  /** Devices with a record every ten seconds of the last day. */
  readonly busyDevices: readonly string[];
  readonly dayS: { readonly from: number; readonly to: number };
  /** The tracker that floods. */
  readonly tracker: string;
  readonly secret: string;
  /** Where the webhooks of the attacked account go: this process listens there. */
  readonly hookPort: number;
}

export const attackNames = [
  'random fields, two vehicles',
  'random fields, all vehicles',
  'random fields, clients leave',
  'slow readers',
  'queued reads',
  'slow readers of a link',
  'idempotency keys',
  'cuts and approvals',
  'panics of one tracker',
  'wrong passwords, eight addresses',
] as const;
export type AttackName = (typeof attackNames)[number];

export type AttackOrder =
  | { readonly kind: 'begin'; readonly name: AttackName; readonly place: AttackPlace }
  | { readonly kind: 'end' }
  | { readonly kind: 'hook' };

/** What the service answered to an attack, by HTTP status, `left` where the client did not wait, and `puback`. */
export type AttackCounts = Readonly<Record<string, number>>;

export interface AttackAnswers {
  readonly begin: null;
  readonly end: AttackCounts;
  /** The port of the attackers' receiver of webhooks. */
  readonly hook: number;
}

/** What is measured beside an attack. */
export const watched = ['list', 'puback', 'webhook', 'colleague'] as const;
export type Watched = (typeof watched)[number];

export interface ClientsPlace {
  readonly httpPort: number;
  readonly mqttPort: number;
  /** Another tenant: its sessions and the devices that report. */
  readonly accountID: string;
  readonly secret: string;
  readonly deviceIDs: readonly string[];
  readonly tokens: readonly string[];
  /** The attacked account: other users' sessions, and devices that report, as a fleet does. */
  readonly colleagues: {
    readonly accountID: string;
    readonly deviceIDs: readonly string[];
    readonly tokens: readonly string[];
  };
}

export type ClientsOrder =
  | { readonly kind: 'hook' }
  | { readonly kind: 'begin'; readonly place: ClientsPlace }
  /** Samples since the last `take`; an answer that is still due counts with its age. */
  | { readonly kind: 'take' };

export interface Samples {
  readonly ms: readonly number[];
  /** Refused, broken off, or not sent because too many were due. */
  readonly failed: number;
}

export interface Taken {
  readonly samples: Readonly<Record<Watched, Samples>>;
  /** p99 delay of the loop of the clients' own process, ms. */
  readonly loopP99Ms: number;
}

export interface ClientsAnswers {
  readonly hook: number;
  readonly begin: null;
  readonly take: Taken;
}
