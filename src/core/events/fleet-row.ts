// A device in a row of the fleet: what a map and a list of vehicles need of it, without the names of the members. The service writes rows, the
// console reads them.
import type { FeatureName, FeatureState } from './event.ts';

/** A change of a relay that is under way. */
export interface FleetPending {
  readonly feature: FeatureName;
  readonly state: FeatureState;
  /** Of the command; `approval` while a second user or the owner's persons have to agree. */
  readonly commandState: string;
  /** Both null: the vehicle does it on its own. */
  readonly commandID: string | null;
  readonly approvalID: string | null;
}

/** The members of a row, in its order. */
export const fleetColumns = [
  'deviceID',
  'deviceUnique',
  'deviceDisplayName',
  'deviceDescription',
  'deviceDriver',
  'deviceLastHeartbeat',
  'deviceLastValidTimestamp',
  'deviceLastValidLatitude',
  'deviceLastValidLongitude',
  'deviceLastValidSpeed',
  'deviceLastValidHeading',
  'deviceLastValidAddress',
  'deviceLastGeozoneID',
  'fuelLevelAverage',
  'ignition',
  'enginecutoff',
  'cargoaccess',
  'online',
  'features',
  'isForeign',
  'pending',
] as const;

/**
 * Times are epoch seconds, 0 before the first; `fix` 0: `latitude` and `longitude` mean nothing. Null: not known. `speed`: km/h, `heading`: degrees
 * from north, `fuel`: fraction of the tanks. `ignition`, `cutoff`, `cargo`: `0` or `1` as the unit reported it.
 */
export type FleetRow = readonly [
  deviceID: string,
  /** Hardware number; empty: none. */
  unique: string,
  displayName: string,
  description: string,
  driver: string,
  heartbeat: number,
  fix: number,
  latitude: number,
  longitude: number,
  speed: number | null,
  heading: number | null,
  address: string,
  geozoneID: string,
  fuel: number | null,
  ignition: string | null,
  cutoff: string | null,
  cargo: string | null,
  online: boolean,
  /** Relays that are fitted, by the last hello; empty before it. */
  features: readonly string[],
  isForeign: boolean,
  /** Null: nothing is under way. */
  pending: readonly FleetPending[] | null,
];

/** The changes of relays that are under way; null: none. */
export const pendingIn = (row: FleetRow): readonly FleetPending[] | null => row[20];
