// Builds answers from rows of the store. Pure: no reads here. No secret can leak: every member is named, no row is ever
// spread into an answer.

import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { busValueFrom, busValueNames, busValues } from '../../../src/core/events/bus-values.ts';
import { type FeatureName, featureNames } from '../../../src/core/events/event.ts';
import { statusText } from '../../../src/core/events/status-codes.ts';
import { ownerFingerprint } from '../../../src/core/persons/owner-document.ts';
import { roleCovers } from '../../core/accounts/session.ts';
import { reasonText } from '../../core/commands/reported-reason.ts';
import { verdictRecord } from '../../core/commands/verdict-record.ts';
import { busStateName } from '../../core/events/projection.ts';
import { headingOrNull, wholeOrNull } from '../../core/live/live-message.ts';
import type { DeviceRow, DeviceState } from '../../store/devices/devices.ts';
import type { EventRow } from '../../store/events/events.ts';
import type { ZoneName } from '../../store/geozones/geozones.ts';
import { type Caller } from '../base/caller.ts';
import { viewTexts } from '../base/input-members.ts';
import {
  type BusValueView,
  type DeviceView,
  type EventView,
  type ListedDevice,
  ok,
  type SensorView,
  type VehicleBusView,
} from '../base/shapes.ts';
import type { Pending } from './pending-feature.ts';

export interface DeviceDetails {
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

/** Texts of the sensors that every device has. */
export const sensorTexts = {
  cargoaccess: { displayName: 'Cargo Access', onText: 'Allowed', offText: 'Disallowed' },
  fuel: { displayName: 'Fuel', onText: 'Present', offText: 'Empty' },
  enginecutoff: { displayName: 'Engine Cutoff', onText: 'Enabled', offText: 'Disabled' },
  ignition: { displayName: 'Ignition', onText: 'On', offText: 'Off' },
  panic: { displayName: 'Panic', onText: 'Pressed', offText: 'Released' },
} as const;

/** Further inputs, shown once the device has reported them: the five above are there from the first day. */
const furtherTexts = {
  cabinDoor: { displayName: 'Cabin Door', onText: 'Open', offText: 'Closed' },
  cargoDoor: { displayName: 'Cargo Door', onText: 'Open', offText: 'Closed' },
  tamper: { displayName: 'Tamper', onText: 'Tampered', offText: 'Intact' },
  externalPower: { displayName: 'External Power', onText: 'Connected', offText: 'Lost' },
  motion: { displayName: 'Motion', onText: 'Moving', offText: 'Still' },
  service: { displayName: 'Service', onText: 'On', offText: 'Off' },
} as const;

/** Fraction of a tank with three decimals. */
const levelText = (fraction: number): string => String(Number(fraction.toFixed(3)));

function furtherSensors(details: DeviceDetails): Partial<Record<keyof typeof furtherTexts, SensorView>> {
  const known = Object.entries(furtherTexts).flatMap(([name, texts]) => {
    const state = details.states.get(name)?.state;
    return state === undefined
      ? []
      : [[name, { ...texts, isNegativeTriggered: false, pendingState: null, state }] as const];
  });
  return Object.fromEntries(known);
}

/** Unreported states are unknown. By the interface a new device that has sent nothing has all states `0`. */
function stateOf({ row, states }: DeviceDetails, name: keyof typeof sensorTexts): string | null {
  const known = states.get(name);
  if (known?.isReported === true) return known.state;
  return row.heartbeatMs === 0 ? '0' : null;
}

/** `true` or `false` as text; empty: not known. */
const textOfState = (state: string | null): string =>
  state === null ? '' : state === '1' ? 'true' : 'false';

/** Member by member: a list of a large fleet has a million of them, and a spread takes several times as long. */
function sensorOf(details: DeviceDetails, name: keyof typeof sensorTexts): SensorView {
  const { displayName, onText, offText } = sensorTexts[name];
  const pendingState = details.pending.find((command) => command.feature === name)?.state ?? null;
  const state = stateOf(details, name);
  return { displayName, onText, offText, isNegativeTriggered: false, pendingState, state };
}

/** Like every sensor it has two states; the level is in `fuelLevelAverage`, whose 0 is empty here. */
function fuelSensor(details: DeviceDetails): SensorView {
  const sensor = sensorOf(details, 'fuel');
  if (sensor.state === null) return sensor;
  return { ...sensor, state: levelText(Number(sensor.state)) === '0' ? '0' : '1' };
}

function featureOf(details: DeviceDetails, name: FeatureName) {
  const pending = details.pending.find((command) => command.feature === name);
  return {
    ...sensorOf(details, name),
    pendingReason: (pending && reasonText(pending)) || null,
    verdict: pending === undefined ? null : verdictRecord(pending.verdict, pending.reportedMs),
    commandState: pending?.commandState ?? null,
    commandID: pending?.commandID ?? null,
    approvalID: pending?.approvalID ?? null,
  };
}

/** The values of the vehicle bus among the states of a device. */
export function viewVehicleBus(states: DeviceDetails['states']): VehicleBusView {
  const known = busValueNames.flatMap((name): (readonly [string, BusValueView])[] => {
    const state = states.get(busStateName(name));
    const value = state === undefined ? null : busValueFrom(name, state.state);
    if (state === undefined || value === null) return [];
    const { unit, source } = busValues[name];
    return [[name, { value, unit, source, timestamp: epochSeconds(state.changedMs) }]];
  });
  return known.length === 0 ? null : Object.fromEntries(known);
}

/** The `sensors` and `state` maps of a device, and its vehicle bus. */
export function viewStates(details: DeviceDetails): Pick<DeviceView, 'sensors' | 'state' | 'vehicleBus'> {
  return {
    sensors: {
      cargoaccess: sensorOf(details, 'cargoaccess'),
      fuel: fuelSensor(details),
      enginecutoff: sensorOf(details, 'enginecutoff'),
      ignition: sensorOf(details, 'ignition'),
      panic: sensorOf(details, 'panic'),
      ...furtherSensors(details),
    },
    state: {
      cargoaccess: featureOf(details, 'cargoaccess'),
      enginecutoff: featureOf(details, 'enginecutoff'),
    },
    vehicleBus: viewVehicleBus(details.states),
  };
}

/** Whether a caller may change devices. */
export function mayUpdateDevices(caller: Pick<Caller, 'role'>): boolean {
  return roleCovers(caller.role, 'operator');
}

const viewOwner = ({ ownerPin, ownerSet: set, ownerList: list, helloMs }: DeviceRow): DeviceView['owner'] =>
  ownerPin === null ? null : { key: ownerFingerprint(ownerPin), set, list, at: epochSeconds(helloMs) };

/** A device as its caller sees it. */
export function viewDevice(details: DeviceDetails, caller: Pick<Caller, 'role'>): DeviceView {
  const { row } = details;
  const mayUpdate = mayUpdateDevices(caller);
  const { sensors, state, vehicleBus } = viewStates(details);
  const fuel = row.fuelLevel === null ? null : levelText(row.fuelLevel);
  const hasPending = details.pending.some((command) => featureNames.some((name) => name === command.feature));
  return {
    deviceID: row.deviceID,
    deviceUnique: row.uniqueID,
    ...viewTexts(row),
    deviceDescription: row.description,
    deviceDriver: row.driver,
    deviceCreatedOn: row.createdS,
    deviceLastHeartbeat: epochSeconds(row.heartbeatMs),
    deviceLastValidLatitude: row.latitude,
    deviceLastValidLongitude: row.longitude,
    deviceLastValidSpeed: wholeOrNull(row.speed),
    deviceLastValidHeading: headingOrNull(row.heading),
    deviceLastValidTimestamp: epochSeconds(row.fixMs),
    deviceLastValidAddress: row.address,
    deviceLastGeozoneID: row.geozoneID,
    fuelLevelAverage: fuel,
    fuelLevels: fuel === null ? [] : [fuel],
    authorities: { read: true, update: mayUpdate, command: mayUpdate && !row.isForeign },
    isForeign: row.isForeign,
    features,
    sensors,
    state,
    witnesses: row.witnesses === null ? null : { ...row.witnesses, at: epochSeconds(row.helloMs) },
    owner: viewOwner(row),
    vehicleBus,
    hasPendingCommands: hasPending ? 'true' : 'false',
    hasUpdateDevicePrivileges: mayUpdate,
    cargoUnlocked: textOfState(state.cargoaccess.state),
    cabinUnlocked: '',
    deviceEngineOff: textOfState(state.enginecutoff.state),
    ...ok,
  };
}

/** A device with the given members only, and `deviceID`. */
export function narrowDevice(device: DeviceView, names: ReadonlySet<string>): ListedDevice {
  const narrow: Record<string, unknown> = { deviceID: device.deviceID };
  for (const name of names) narrow[name] = device[name as keyof DeviceView];
  return narrow as ListedDevice;
}

/** Names of what an event speaks of, read once for a whole answer. */
export interface EventTexts {
  /** Description of the device. */
  readonly description: string;
  /** Geozone id -> its names, see `zoneNames`; a zone that is not in it (deleted since) has empty names. */
  readonly zones: ReadonlyMap<string, ZoneName>;
}

/** An event record. */
export function viewEvent(row: EventRow, { description, zones }: EventTexts): EventView {
  const zone = zones.get(row.geozoneID);
  return {
    address: row.address,
    deviceDescription: description,
    creationTime: epochSeconds(row.receivedMs),
    timestamp: epochSeconds(row.timestampMs),
    latitude: row.latitude ?? 0,
    longitude: row.longitude ?? 0,
    isPositionValid: row.latitude !== null && row.longitude !== null,
    geozoneID: row.geozoneID,
    geozoneDescription: zone?.description ?? '',
    geozoneDisplayName: zone?.displayName ?? '',
    deviceID: row.deviceID,
    speed: wholeOrNull(row.speed),
    heading: headingOrNull(row.heading),
    statusDescription: statusText(row.statusCode),
    statusCode: row.statusCode,
    eventID: `${row.boot}:${row.seq}`,
    commandID: row.commandID,
    commandState: row.commandState,
  };
}
