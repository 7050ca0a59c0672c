// What is known of an ELM327 or STN adapter and of its dialogue with a car, as data for `status` and the doctor. Types only.

/** `clone`: it calls itself a version whose commands it does not know, or one that was never released. */
export type ElmKind = 'elm327' | 'stn' | 'clone';

/** Why nothing is asked of the car. */
export type ObdRefusal =
  /** The installer has not agreed. */
  | 'no_consent'
  | 'ignition_off'
  | 'ignition_unknown'
  /** It was switched on a moment ago: a starter may turn. */
  | 'ignition_new'
  | 'battery_low'
  /** Nothing answers as an ELM327 does, or it stopped to. */
  | 'silent_adapter'
  /** It lacks a command without which answers cannot be assigned to control units, or follows another protocol. */
  | 'unfit_adapter'
  /** It measures no supply: it is in no diagnostic connector. */
  | 'no_supply'
  /** The adapter answers and the car does not. */
  | 'silent_vehicle'
  /** The car speaks a protocol that is not read. */
  | 'unfit_protocol'
  /** Errors of the bus: nothing is asked until the ignition was off. */
  | 'bus_errors';

/** Names of values that only cars send. */
export type ObdName = 'engineRunTime' | 'malfunctionLamp' | 'codeCount';

/** Which list a trouble code is in: modes 03, 07 and 0A. */
export type CodeList = 'stored' | 'pending' | 'permanent';

export interface ObdFacts {
  /** Null until it was probed. */
  readonly kind: ElmKind | null;
  /** What its second name is, such as `STN1110 v4.0.4`; null: none. */
  readonly device: string | null;
  /** Commands of the claimed version that it does not know. */
  readonly failedProbes: readonly string[];
  /** Whether it takes two identifiers in one request, and the number of answers to wait for. */
  readonly hasLongRequests: boolean;
  readonly hasAnswerCount: boolean;
  /** Number of the protocol, 1 to 9 as of `ATDPN`; null: not found. */
  readonly protocol: number | null;
  /** Supply at the adapter, V; null: not measured. */
  readonly volts: number | null;
  /** Identifiers of mode 01 that each control unit offers. */
  readonly units: readonly { readonly source: number; readonly pids: readonly number[] }[];
  /** Requests that were given up because they had no answer. */
  readonly givenUp: readonly string[];
  /** Errors of the bus, and answers that were not complete. */
  readonly errors: number;
  /** Every command that was ever written, and how often. */
  readonly written: Readonly<Record<string, number>>;
}
