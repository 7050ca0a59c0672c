// Examples of the larger answers in the API document: one invented truck with an engine cutoff that waits for standstill.
import { type BusValueName, busValues } from '../../../src/core/events/bus-values.ts';
import { exampleTexts } from '../base/input-members.ts';
import type {
  BusValueView,
  DeviceView,
  EventView,
  MetadataView,
  VehicleBusView,
  VerdictView,
} from '../base/shapes.ts';
import { ok } from '../base/shapes.ts';

const sensor = (displayName: string, [offText, onText]: readonly [string, string]) => ({
  onText,
  offText,
  displayName,
  isNegativeTriggered: false,
  pendingState: null,
  state: '0',
});
const cargo = sensor('Cargo Access', ['Disallowed', 'Allowed']);
const cutoff = { ...sensor('Engine Cutoff', ['Disabled', 'Enabled']), pendingState: '1' };
const nothingPending = {
  pendingReason: null,
  verdict: null,
  commandState: null,
  commandID: null,
  approvalID: null,
};

/** Rules of a cut as the vehicle judged them: the ignition is on. */
export const exampleVerdict: NonNullable<VerdictView> = {
  code: 'ignition_off',
  rules: [
    { rule: 'ignition_off', isMet: false, value: 'on', needed: 'off', sinceMs: 1763679600000 },
    { rule: 'time_known', isMet: true, value: 'known', needed: 'known', sinceMs: 1763676000000 },
  ],
  at: 1763683204,
};

/** The sensors of the truck. */
export const exampleSensors: DeviceView['sensors'] = {
  cargoaccess: cargo,
  fuel: { ...sensor('Fuel', ['Empty', 'Present']), state: '0.62' },
  enginecutoff: cutoff,
  ignition: { ...sensor('Ignition', ['Off', 'On']), state: '1' },
  panic: sensor('Panic', ['Released', 'Pressed']),
};

/** The features of the truck. */
export const exampleState: DeviceView['state'] = {
  cargoaccess: { ...cargo, ...nothingPending },
  enginecutoff: {
    ...cutoff,
    pendingReason: 'Ignition is on',
    verdict: exampleVerdict,
    commandState: 'armed',
    commandID: '5f0c6b0e9d1f4a3f8e7d6c5b4a392817',
    approvalID: null,
  },
};

const busValue = (name: BusValueName, value: BusValueView['value']): BusValueView => {
  const { unit, source } = busValues[name];
  return { value, unit, source, timestamp: 1763683200 };
};

/** What the truck last reported of its bus. */
export const exampleBus: VehicleBusView = {
  busSpeed: busValue('busSpeed', 54.2),
  rpm: busValue('rpm', 1180),
  parkingBrake: busValue('parkingBrake', false),
  busOdometer: busValue('busOdometer', 120_055.6),
  dtcs: busValue('dtcs', '110/0 639/9'),
};

export const exampleDevice: DeviceView = {
  deviceID: 'truck-17',
  deviceUnique: '356938035643809',
  ...exampleTexts,
  deviceDescription: 'Freightliner, Toronto',
  deviceDriver: 'A. Tremblay',
  deviceCreatedOn: 1763600000,
  deviceLastHeartbeat: 1763683205,
  deviceLastValidLatitude: 43.65107,
  deviceLastValidLongitude: -79.34702,
  deviceLastValidSpeed: 54,
  deviceLastValidHeading: 181,
  deviceLastValidTimestamp: 1763683200,
  deviceLastValidAddress: '',
  deviceLastGeozoneID: 'depot',
  fuelLevelAverage: '0.62',
  fuelLevels: ['0.62'],
  authorities: { read: true, update: true, command: true },
  features: {
    cargoaccess: { displayText: 'Cargo Access', states: { 0: 'Disallowed', 1: 'Allowed' } },
    enginecutoff: { displayText: 'Engine Cutoff', states: { 0: 'Disabled', 1: 'Enabled' } },
  },
  sensors: exampleSensors,
  state: exampleState,
  witnesses: {
    gnss: 'proven',
    motion: 'absent',
    ignition: 'proven',
    rpm: 'absent',
    voltage: 'unproven',
    at: 1763679600,
  },
  owner: null,
  vehicleBus: exampleBus,
  hasPendingCommands: 'true',
  hasUpdateDevicePrivileges: true,
  cargoUnlocked: 'false',
  cabinUnlocked: '',
  deviceEngineOff: 'false',
  ...ok,
};

export const exampleEvent: EventView = {
  address: '',
  deviceDescription: 'Freightliner, Toronto',
  creationTime: 1763683205,
  timestamp: 1763683200,
  latitude: 43.65107,
  longitude: -79.34702,
  isPositionValid: true,
  geozoneID: 'depot',
  geozoneDescription: '',
  geozoneDisplayName: 'Depot',
  deviceID: 'truck-17',
  speed: 54,
  heading: 181,
  statusDescription: 'Location',
  statusCode: 61472,
  eventID: '9c1d4a7e20b35f68:412',
  commandID: null,
  commandState: null,
};

export const exampleMetadata: MetadataView = {
  statusDescription: 'Location',
  creationTime: 1763683205,
  timestamp: 1763683200,
  pinColor: '1f77b4',
  latitude: '43.65107',
  longitude: '-79.34702',
  isPositionValid: true,
  count: '1',
  pinTag: '',
  deviceID: 'truck-17',
  statusCode: '61472',
};
