// The service's answers about a vehicle besides the listing of the fleet. Types only.
import type { ShownEvent } from './ledger-types.ts';

/** The members of a device that are compared. */
export interface ShownDevice {
  readonly deviceID: string;
  readonly deviceLastHeartbeat: number;
  readonly deviceLastValidLatitude: number;
  readonly deviceLastValidLongitude: number;
  readonly deviceLastValidSpeed: number;
  readonly deviceLastValidHeading: number;
  /** Epoch seconds; 0 without a position. */
  readonly deviceLastValidTimestamp: number;
  readonly fuelLevelAverage: string | null;
  /** Absent where the service shows none. */
  readonly sensors?: Readonly<Record<string, { readonly state: string } | undefined>>;
  /** Null or absent: no value of a vehicle bus. */
  readonly vehicleBus?: Readonly<Record<string, { readonly value: unknown } | undefined>> | null;
}

/** The place of a device as a message of the live stream gives it. */
export type StreamedDevice = Pick<
  ShownDevice,
  | 'deviceLastValidLatitude'
  | 'deviceLastValidLongitude'
  | 'deviceLastValidSpeed'
  | 'deviceLastValidHeading'
  | 'deviceLastValidTimestamp'
>;

export interface ShownCommand {
  readonly commandID: string;
  readonly feature: string;
  readonly state: string;
  readonly commandState: string;
  /** User who asked for it, and when, epoch seconds. */
  readonly issuer: string;
  readonly issued: number;
}

/** A place of an exported track. `timestamp` is the written time in epoch seconds. */
export interface ShownPoint {
  readonly latitude: number;
  readonly longitude: number;
  readonly timestamp: number;
}

/** A record in GeoJSON; null: without a place. */
export interface ShownFeature {
  readonly eventID: string;
  readonly place: { readonly latitude: number; readonly longitude: number } | null;
  /** The written time in epoch seconds. */
  readonly writtenS: number;
  readonly timestamp: number;
  readonly creationTime: number;
  readonly statusCode: number;
}

/** A trip of the report. Times are epoch seconds, `distance` is km, `drivingTime` s, `maximumSpeed` km/h. */
export interface ShownTrip {
  readonly startTime: number;
  readonly startLatitude: number;
  readonly startLongitude: number;
  readonly endTime: number;
  readonly endLatitude: number;
  readonly endLongitude: number;
  readonly distance: number;
  readonly drivingTime: number;
  readonly maximumSpeed: number;
}

/** A stop of the report. Times are epoch seconds, `stopTime` s. */
export interface ShownStop {
  readonly startTime: number;
  readonly endTime: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly stopTime: number;
}

/** A line of the summary. */
export interface ShownSummary {
  readonly trips: number;
  readonly stops: number;
  readonly distance: number;
  readonly drivingTime: number;
  readonly stopTime: number;
  readonly maximumSpeed: number;
}

/** Everything about one vehicle, read when it had left the road. */
export interface VehicleViews {
  readonly deviceID: string;
  /** Its records in the listing of the fleet, the standard for the others. */
  readonly records: readonly ShownEvent[];
  readonly history: readonly ShownEvent[];
  readonly latest: ShownEvent | null;
  /** Entries of metadata; each stands for `count` records. */
  readonly pins: readonly { readonly count: string }[];
  /** Lines of the export by the names of its head; `time` as epoch seconds. */
  readonly csv: readonly Readonly<Record<string, string>>[];
  readonly geojson: readonly ShownFeature[];
  readonly gpx: readonly ShownPoint[];
  readonly device: ShownDevice;
  /** The same in the list of all devices. */
  readonly listed: ShownDevice | null;
  readonly commands: readonly ShownCommand[];
  readonly trips: readonly ShownTrip[];
  readonly stops: readonly ShownStop[];
  readonly summary: readonly ShownSummary[];
}

/** A notification of the inbox. */
export interface ShownNotice {
  readonly deviceID: string;
  readonly statusCode: number;
  readonly timestamp: number;
  readonly latitude: number;
  readonly longitude: number;
}

/** The service's answers about an account's alerts of the last 24 hours. */
export interface AlertViews {
  /** Of all devices of the account. */
  readonly alerts: readonly ShownEvent[];
  readonly summary: Readonly<Record<string, number>>;
  readonly inbox: readonly ShownNotice[];
}
