// The practice fleet of a demonstration: what may be done in its simulated world and what its vehicles show. Data that the simulator,
// the broker and the console share.

/** The only actions in the world of one vehicle. */
export const practiceActions = [
  'drive',
  'stop',
  'ignitionOn',
  'ignitionOff',
  'openCargoDoor',
  'panic',
  'steal',
  'jam',
  'endJam',
  'disconnect',
  'connect',
] as const;
export type PracticeAction = (typeof practiceActions)[number];

/** One vehicle as it truly is; what the console shows of it elsewhere is what its unit reported. */
export interface PracticeVehicle {
  readonly deviceID: string;
  readonly speedKmh: number;
  /** `blocked`: the key is turned, and the cut starter does not turn. */
  readonly engine: 'off' | 'running' | 'blocked';
  readonly isIgnitionOn: boolean;
  readonly isCargoDoorOpen: boolean;
  readonly isPanicPressed: boolean;
  readonly isPowered: boolean;
  readonly isTowed: boolean;
  readonly isJammed: boolean;
  readonly isConnected: boolean;
  /** First action here in this run (epoch seconds); null: none. */
  readonly actedS: number | null;
}

export interface PracticeFleet {
  /** When this run of the fleet began (epoch seconds). */
  readonly startedS: number;
  readonly vehicles: readonly PracticeVehicle[];
}

/** What the broker asks the program that started it. */
export type PracticeRequest =
  | { readonly kind: 'look' }
  | { readonly kind: 'act'; readonly deviceID: string; readonly action: PracticeAction }
  | { readonly kind: 'askForCut'; readonly deviceID: string };
