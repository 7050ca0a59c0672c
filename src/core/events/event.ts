// The event record: the only uplink of facts. Sensor changes, positions, alarms, health and command results are all events, unique for ever by
// (account, device, boot, seq). Names and units are those of the JSON form on the wire.

/** Trust in the UTC of an event, worst first. `none`: the clock was never set since power-up. */
export const timeQualities = ['none', 'rtc', 'ntp', 'server', 'gnss'] as const;
export type TimeQuality = (typeof timeQualities)[number];

/** Digital inputs in the order of their bits on the wire; append only. */
export const inputNames = [
  'ignition',
  'panic',
  'cabinDoor',
  'cargoDoor',
  'tamper',
  'externalPower',
  'motion',
  'service',
  'crash',
  'personEnter',
  'personExit',
] as const;
export type InputName = (typeof inputNames)[number];

/** Controllable features (relays) in the order of their bits on the wire; append only. */
export const featureNames = ['enginecutoff', 'cargoaccess'] as const;
export type FeatureName = (typeof featureNames)[number];

/** `1` is the restrictive state of enginecutoff (engine disabled) and the permissive one of cargoaccess (allowed). */
export type FeatureState = '0' | '1';

export const commandStates = [
  'requested',
  'sent',
  'received',
  'armed',
  'executing',
  'confirmed',
  'refused',
  'expired',
  'superseded',
  'cancelled',
  'unknown',
] as const;
export type CommandState = (typeof commandStates)[number];

/** Optional members of an event that are measured numbers. */
export const measureNames = [
  'latitude',
  'longitude',
  'altitude',
  'speed',
  'heading',
  'hdop',
  'satellites',
  'odometer',
  'fuelLevel',
] as const;
export type MeasureName = (typeof measureNames)[number];

export type AttributeValue = string | number | boolean | null;

export interface FleetEvent {
  /** 1, 2, 3 ... within one boot; 0 for a bare JSON event without a number. */
  readonly seq: number;
  /** UTC in ms since 1970; null: the vehicle did not know the time. */
  readonly timestamp: number | null;
  /** Monotonic ms since the boot began; null: the sender has no such clock. */
  readonly upMs: number | null;
  readonly timeQuality: TimeQuality;
  /** OpenGTS status code, 1 to 65535. */
  readonly statusCode: number;
  /** Degrees, WGS 84; both or neither. */
  readonly latitude?: number;
  readonly longitude?: number;
  /** Metres above mean sea level. */
  readonly altitude?: number;
  /** km/h over ground. */
  readonly speed?: number;
  /** Degrees from true north, 0 to 359. */
  readonly heading?: number;
  readonly hdop?: number;
  readonly satellites?: number;
  /** Kilometres. */
  readonly odometer?: number;
  /** Fraction of the tank, 0 to 1. */
  readonly fuelLevel?: number;
  /** Only inputs that are fitted and known; true = active (ignition on, door open, panic pressed). */
  readonly inputs?: Readonly<Partial<Record<InputName, boolean>>>;
  /** Relays as last read back from the board; true: state `1` of the feature. */
  readonly outputs?: Readonly<Partial<Record<FeatureName, boolean>>>;
  readonly geozoneID?: string;
  readonly commandID?: string;
  readonly commandState?: CommandState;
  /** Flat facts for display and diagnostics; at most 2 KiB as JSON. */
  readonly attributes?: Readonly<Record<string, AttributeValue>>;
}

/** An event during its decoding. */
export type OpenEvent = { -readonly [K in keyof FleetEvent]: FleetEvent[K] };

/** Events of one boot of one device that travel together. */
export interface EventBatch {
  /** Boot id; null for bare JSON events, which (device, timestamp, statusCode) identifies. */
  readonly boot: string | null;
  readonly events: readonly FleetEvent[];
}

export const eventLimits = {
  /** Maximum number of events in one payload. */
  events: 500,
  /** Maximum size of one payload, bytes; equal to the broker's packet limit. */
  payloadBytes: 64 * 1024,
  /** Maximum size of `attributes` as JSON, bytes. */
  attributesBytes: 2048,
  /** Highest sequence number within a boot. */
  seq: 2 ** 31 - 1,
  /** Highest timestamp: the year 2100. A later one is a fault of the sender. */
  timestamp: 4_102_444_800_000,
} as const;
