// The practice fleet of a demonstration: the actions in its simulated world and the state of its vehicles. Data that the
// simulator, the broker and the console share.

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
  'agree',
] as const;
export type PracticeAction = (typeof practiceActions)[number];

/** The true state of one vehicle; elsewhere the console shows its unit's reports. */
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
  /** It has the practice owner's key: persons agree to its cut. */
  readonly hasOwner: boolean;
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
