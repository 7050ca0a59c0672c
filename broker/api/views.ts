// Fills the shapes of the service from rows of the store. Pure: no reads here. Nothing secret passes: every member is
// named, no row is ever spread into an answer.

import { type FeatureName, featureNames } from '../../src/core/event.ts';
import { statusText } from '../../src/core/status-codes.ts';
import type { Verdict } from '../../src/core/verdict.ts';
import { reasonText } from '../core/reported-reason.ts';
import { roleCovers } from '../core/session.ts';
import type { DeviceRow, DeviceState } from '../store/devices.ts';
import type { EventRow } from '../store/events.ts';
import type { ZoneName } from '../store/geozones.ts';
import type { Pending } from './devices/pending.ts';
import type { Caller } from './operation.ts';
import {
  type DeviceView,
  type EventView,
  type MetadataView,
  ok,
  type SensorView,
  type VerdictView,
} from './shapes.ts';

export interface DeviceParts {
  readonly row: DeviceRow;
  readonly states: ReadonlyMap<string, DeviceState>;
  /** What is under way for this device. */
  readonly pending: readonly Pending[];
}

/** Definitions of the controllable features. */
export const features: DeviceView['features'] = {
  cargoaccess: { displayText: 'Cargo Access', states: { 0: 'Disallowed', 1: 'Allowed' } },
  enginecutoff: { displayText: 'Engine Cutoff', states: { 0: 'Disabled', 1: 'Enabled' } },
};

/** Words of the sensors that every device has. */
export const sensorWords = {
  cargoaccess: { displayName: 'Cargo Access', onText: 'Allowed', offText: 'Disallowed' },
  fuel: { displayName: 'Fuel', onText: 'Present', offText: 'Empty' },
  enginecutoff: { displayName: 'Engine Cutoff', onText: 'Enabled', offText: 'Disabled' },
  ignition: { displayName: 'Ignition', onText: 'On', offText: 'Off' },
  panic: { displayName: 'Panic', onText: 'Pressed', offText: 'Released' },
} as const;

/** Further inputs, shown once the device has reported them: the five above are there from the first day. */
const furtherWords = {
  cabinDoor: { displayName: 'Cabin Door', onText: 'Open', offText: 'Closed' },
  cargoDoor: { displayName: 'Cargo Door', onText: 'Open', offText: 'Closed' },
  tamper: { displayName: 'Tamper', onText: 'Tampered', offText: 'Intact' },
  externalPower: { displayName: 'External Power', onText: 'Connected', offText: 'Lost' },
  motion: { displayName: 'Motion', onText: 'Moving', offText: 'Still' },
  service: { displayName: 'Service', onText: 'On', offText: 'Off' },
} as const;

const seconds = (ms: number): number => Math.max(0, Math.floor(ms / 1000));
// Adding 0 turns the -0 of a rounded -0.000001 into 0: `-0.00000` is not how a coordinate is written.
/** Degrees with five decimals. */
export const degrees = (value: number | null): string =>
  (Math.round((value ?? 0) * 1e5) / 1e5 + 0).toFixed(5);
const decimal = (value: number, digits: number): string => String(Number(value.toFixed(digits)));

function furtherSensors(parts: DeviceParts): Partial<Record<keyof typeof furtherWords, SensorView>> {
  const known = Object.entries(furtherWords).flatMap(([name, words]) => {
    const state = parts.states.get(name)?.state;
    return state === undefined
      ? []
      : [[name, { ...words, isNegativeTriggered: false, pendingState: null, state }] as const];
  });
  return Object.fromEntries(known);
}

function sensorOf(parts: DeviceParts, name: keyof typeof sensorWords) {
  const pending = parts.pending.find((command) => command.feature === name);
  return {
    ...sensorWords[name],
    isNegativeTriggered: false,
    pendingState: pending?.state ?? null,
    state: parts.states.get(name)?.state ?? '0',
  };
}

/** A verdict as answers show it. */
export function viewVerdict(verdict: Verdict | null): VerdictView {
  if (verdict === null) return null;
  const { code, rules } = verdict;
  return {
    code,
    rules: rules.map(({ rule, isMet, value, needed, sinceMs }) => ({ rule, isMet, value, needed, sinceMs })),
  };
}

function featureOf(parts: DeviceParts, name: FeatureName) {
  const pending = parts.pending.find((command) => command.feature === name);
  return {
    ...sensorOf(parts, name),
    pendingReason: (pending && reasonText(pending)) || null,
    verdict: viewVerdict(pending?.verdict ?? null),
    commandState: pending?.commandState ?? null,
    commandID: pending?.commandID ?? null,
  };
}

/** The `sensors` and `state` maps of a device. */
export function viewStates(parts: DeviceParts): Pick<DeviceView, 'sensors' | 'state'> {
  return {
    sensors: {
      cargoaccess: sensorOf(parts, 'cargoaccess'),
      fuel: sensorOf(parts, 'fuel'),
      enginecutoff: sensorOf(parts, 'enginecutoff'),
      ignition: sensorOf(parts, 'ignition'),
      panic: sensorOf(parts, 'panic'),
      ...furtherSensors(parts),
    },
    state: { cargoaccess: featureOf(parts, 'cargoaccess'), enginecutoff: featureOf(parts, 'enginecutoff') },
  };
}

/** Whether a caller may change devices. */
export function mayUpdateDevices(caller: Pick<Caller, 'role'>): boolean {
  return roleCovers(caller.role, 'operator');
}

/** A device as its caller sees it. */
export function viewDevice(parts: DeviceParts, caller: Pick<Caller, 'role'>): DeviceView {
  const { row } = parts;
  const mayUpdate = mayUpdateDevices(caller);
  const { sensors, state } = viewStates(parts);
  const fuel = row.fuelLevel === null ? null : decimal(row.fuelLevel, 3);
  const hasPending = parts.pending.some((command) => featureNames.some((name) => name === command.feature));
  return {
    deviceID: row.deviceID,
    deviceUnique: row.uniqueID,
    deviceType: row.type,
    deviceDescription: row.description,
    deviceDisplayName: row.displayName,
    deviceNotifyEmail: row.notifyEmail,
    deviceDriver: row.driver,
    deviceCreatedOn: row.createdS,
    deviceLastHeartbeat: seconds(row.heartbeatMs),
    deviceLastValidLatitude: row.latitude,
    deviceLastValidLongitude: row.longitude,
    deviceLastValidSpeed: Math.round(row.speed),
    deviceLastValidHeading: Math.round(row.heading) % 360,
    deviceLastValidTimestamp: seconds(row.fixMs),
    deviceLastValidAddress: row.address,
    deviceLastGeozoneID: row.geozoneID,
    pinColor: row.pinColor,
    pinTag: row.pinTag,
    additionalPinDisplay: row.additionalPinDisplay,
    fuelLevelAverage: fuel,
    fuelLevels: fuel === null ? [] : [fuel],
    equipmentTypeId: row.equipmentTypeID,
    equipmentTypeDesc: row.equipmentTypeDesc,
    authorities: { read: true, update: mayUpdate, command: mayUpdate },
    features,
    sensors,
    state,
    witnesses: row.witnesses,
    hasPendingCommands: hasPending ? 'true' : 'false',
    hasUpdateDevicePrivileges: mayUpdate,
    cargoUnlocked: state.cargoaccess.state === '1' ? 'true' : 'false',
    cabinUnlocked: '',
    deviceEngineOff: state.enginecutoff.state === '1' ? 'true' : 'false',
    ...ok,
  };
}

/** Names of what an event speaks of, read once for a whole answer. */
export interface EventWords {
  /** Description of the device. */
  readonly description: string;
  /** Geozone id -> its names, see `zoneNames`; a zone that is not in it (deleted since) has empty names. */
  readonly zones: ReadonlyMap<string, ZoneName>;
}

/** An event record. */
export function viewEvent(row: EventRow, { description, zones }: EventWords): EventView {
  const zone = zones.get(row.geozoneID);
  return {
    address: row.address,
    deviceDescription: description,
    creationTime: seconds(row.receivedMs),
    timestamp: seconds(row.timestampMs),
    latitude: row.latitude ?? 0,
    longitude: row.longitude ?? 0,
    isPositionValid: row.latitude !== null && row.longitude !== null,
    geozoneID: row.geozoneID,
    geozoneDescription: zone?.description ?? '',
    geozoneDisplayName: zone?.displayName ?? '',
    deviceID: row.deviceID,
    speed: Math.round(row.speed ?? 0),
    heading: Math.round(row.heading ?? 0) % 360,
    statusDescription: statusText(row.statusCode),
    statusCode: row.statusCode,
    eventID: `${row.boot}:${row.seq}`,
    commandID: row.commandID,
    commandState: row.commandState,
  };
}

/** A metadata entry of one record. */
export function viewMetadata(row: EventRow, device: Pick<DeviceRow, 'pinColor' | 'pinTag'>): MetadataView {
  return {
    statusDescription: statusText(row.statusCode),
    creationTime: seconds(row.receivedMs),
    timestamp: seconds(row.timestampMs),
    pinColor: device.pinColor,
    latitude: degrees(row.latitude),
    longitude: degrees(row.longitude),
    count: '1',
    pinTag: device.pinTag,
    deviceID: row.deviceID,
    statusCode: String(row.statusCode),
  };
}
