// What a feed publishes, whatever its format: events, each once, and states of devices. Pure. No publication ever names a topic that
// its target's users could command a vehicle by: nothing here reads from the target.
import { epochSeconds } from '../../../../src/core/epoch-seconds.ts';
import type { InputName } from '../../../../src/core/events/event.ts';
import { statusText } from '../../../../src/core/events/status-codes.ts';
import { headingOrNull, wholeOrNull } from '../../../core/live/live-message.ts';

/** One message to the target. */
export interface Publication {
  readonly topic: string;
  /** Empty with `isRetained`: removes what the target keeps. */
  readonly payload: string;
  readonly isRetained: boolean;
}

export interface FeedFormat {
  /** Published after each connection, and its last will; null: none. */
  readonly online: Publication | null;
  readonly offline: Publication | null;
  event(event: StoredEvent): Publication;
  /** Describes a device to the target, published when it changes; null: the format has none. */
  config(device: FeedDevice): Publication | null;
  state(device: FeedDevice): readonly Publication[];
  /** Takes back what the target keeps of a deleted device. */
  removed(deviceID: string): readonly Publication[];
}

/** What formats are made for. */
export interface FeedPlace {
  readonly accountID: string;
  readonly prefix: string;
  readonly discoveryPrefix: string;
}

/** A stored event, see the table of events. */
export interface StoredEvent {
  readonly eventNo: number;
  readonly deviceID: string;
  readonly boot: string;
  readonly seq: number;
  readonly timestampMs: number;
  readonly receivedMs: number;
  readonly timeQuality: string;
  readonly statusCode: number;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly altitude: number | null;
  readonly speed: number | null;
  readonly heading: number | null;
  readonly odometer: number | null;
  readonly fuelLevel: number | null;
  readonly inputs: object | null;
  readonly outputs: object | null;
  readonly geozoneID: string;
  readonly commandID: string | null;
  readonly commandState: string | null;
  readonly attributes: object | null;
}

/** Inputs that a state shows, each with its class in Home Assistant. */
export const shownInputs = {
  ignition: 'power',
  motion: 'moving',
  cabinDoor: 'door',
  cargoDoor: 'door',
  externalPower: 'plug',
  tamper: 'tamper',
  panic: 'safety',
} as const satisfies Partial<Record<InputName, string>>;
export type ShownInput = keyof typeof shownInputs;
export const shownInputNames = Object.keys(shownInputs) as readonly ShownInput[];

/** The present of a device; what is not known is null, never 0 or false. */
export interface FeedDevice {
  readonly deviceID: string;
  readonly name: string;
  readonly model: string;
  readonly version: string;
  readonly isOnline: boolean;
  /** Broker's time of the last sign of life; 0: never. */
  readonly heartbeatMs: number;
  readonly position: {
    readonly ms: number;
    readonly latitude: number;
    readonly longitude: number;
    readonly speed: number | null;
    readonly heading: number | null;
    readonly geozoneID: string;
    readonly address: string;
  } | null;
  /** Fraction, 0 to 1. */
  readonly fuelLevel: number | null;
  /** km. */
  readonly odometer: number | null;
  /** Of the vehicle's battery, V. */
  readonly batteryVolts: number | null;
  readonly inputs: Readonly<Record<ShownInput, boolean | null>>;
  readonly openAlarms: number;
}

/**
 * An event as JSON: the members of the public API's event, with null for what is not known, its identity (`eventID`, which is boot and
 * number) and its place in the feed (`eventNo`, which only grows).
 */
export const eventRecord = (event: StoredEvent): object => ({
  deviceID: event.deviceID,
  eventID: `${event.boot}:${event.seq}`,
  eventNo: event.eventNo,
  statusCode: event.statusCode,
  statusDescription: statusText(event.statusCode),
  timestamp: epochSeconds(event.timestampMs),
  creationTime: epochSeconds(event.receivedMs),
  timeQuality: event.timeQuality,
  isPositionValid: event.latitude !== null && event.longitude !== null,
  latitude: event.latitude,
  longitude: event.longitude,
  altitude: event.altitude,
  speed: wholeOrNull(event.speed),
  heading: headingOrNull(event.heading),
  odometer: event.odometer,
  fuelLevel: event.fuelLevel,
  inputs: event.inputs,
  outputs: event.outputs,
  geozoneID: event.geozoneID,
  commandID: event.commandID,
  commandState: event.commandState,
  attributes: event.attributes,
});

/** The state of a device as JSON. */
export const stateRecord = (device: FeedDevice): object => ({
  deviceID: device.deviceID,
  name: device.name,
  online: device.isOnline,
  lastHeartbeat: epochSeconds(device.heartbeatMs),
  position: device.position && {
    latitude: device.position.latitude,
    longitude: device.position.longitude,
    speed: wholeOrNull(device.position.speed),
    heading: headingOrNull(device.position.heading),
    timestamp: epochSeconds(device.position.ms),
    geozoneID: device.position.geozoneID,
    address: device.position.address,
  },
  fuelLevel: device.fuelLevel,
  odometer: device.odometer,
  batteryVolts: device.batteryVolts,
  inputs: device.inputs,
  openAlarms: device.openAlarms,
});

/**
 * A name of ours as one level of a topic: without wildcards, separators, control characters and a leading `$` (MQTT 3.1.1, 4.7). Two
 * names never become one.
 */
export const topicLevel = (name: string): string =>
  name === '' ? '%' : encodeURIComponent(name.toWellFormed());
