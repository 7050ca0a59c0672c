// The shapes of the service's answers, each field with the type of the interface (a number that is text there is text
// here). Schemas only; `views.ts` fills them from rows.
import { type Static, Type } from 'typebox';
import { type BusValueName, busValueNames } from '../../../src/core/events/bus-values.ts';
import { ruleNames, verdictLimits } from '../../../src/core/verdict/verdict.ts';
import { witnessStates } from '../../../src/core/verdict/witness.ts';
import { shownTexts } from './input-members.ts';

/** A time in an answer, UTC in s since 1970. */
export const epoch = (description: string) =>
  Type.Integer({ minimum: 0, description: `${description} (epoch seconds)` });

export const text = (description: string) => Type.String({ description });
export const wholeOrNull = (description: string) =>
  Type.Union([Type.Integer(), Type.Null()], { description });

export const count = (description: string) => Type.Integer({ minimum: 0, description });

/** A number in a request body: a JSON integer, or its decimal text of up to 16 digits. */
export const numberOrDigits = (description: string) =>
  Type.Unsafe<number | string>({
    type: ['integer', 'string'],
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    pattern: '^[0-9]{1,16}$',
    description: `${description}; a number or the same as decimal text`,
  });

/** Members of every successful flat answer. */
export const envelope = {
  status_code: Type.Literal('200', { description: 'HTTP status as text' }),
  success: Type.Literal('1', { description: '`1` on success' }),
} as const;

/** The values of `envelope`. */
export const ok = { status_code: '200', success: '1' } as const;

export const featureDefinition = Type.Object(
  {
    displayText: text('Name for people'),
    states: Type.Record(Type.String(), Type.String(), { description: 'State key -> its meaning' }),
  },
  { description: 'What a controllable feature is called and which states it has' },
);

export const sensorMembers = {
  onText: text('Label of state `1`'),
  offText: text('Label of state `0`'),
  displayName: text('Name for people'),
  isNegativeTriggered: Type.Boolean({ description: 'True when the triggered condition is inverted' }),
  pendingState: Type.Union([Type.String(), Type.Null()], {
    description: 'State that an unfinished command requests; null when nothing is pending',
  }),
  state: Type.Union([Type.String(), Type.Null()], {
    description:
      '`0` (`offText`) or `1` (`onText`); null: the device has never reported it, so it is not known',
  }),
} as const;

const sensorState = Type.Object(sensorMembers, { description: 'A sensor and its last reported state' });
export type SensorView = Static<typeof sensorState>;

const ruleValue = (description: string) =>
  Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()], { description });

export const ruleFinding = Type.Object({
  rule: text(`A rule; fleetward-agent sends ${ruleNames.map((name) => `\`${name}\``).join(', ')}`),
  isMet: Type.Boolean({ description: 'False: the command waits for this' }),
  value: ruleValue('Measured value, in the unit at the end of the rule name; null when unknown'),
  needed: ruleValue('Required value; null when the rule has none'),
  sinceMs: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Since when the value holds, UTC in ms since 1970; null when unknown',
  }),
});

/** Reason why a command waits, or the proof on which it was carried out, as data. */
export const verdict = Type.Union(
  [
    Type.Object({
      code: text('The first rule that is not met; `allowed` when all are'),
      rules: Type.Array(ruleFinding, {
        maxItems: verdictLimits.rules,
        description:
          'The rules that the vehicle judged, as sent; fleetward-agent puts those that are not met first',
      }),
      at: Type.Integer({ minimum: 0, description: 'When the vehicle judged so (epoch seconds)' }),
    }),
    Type.Null(),
  ],
  {
    description:
      'The rules of the newest report of the vehicle on the command: why it waits or ended, or, once confirmed, the proof that a cut or an unlock was carried out on; null when it sent none, and while a second user must approve it',
  },
);
export type VerdictView = Static<typeof verdict>;

const witness = (description: string) => Type.Enum([...witnessStates], { description });

const witnesses = Type.Union(
  [
    Type.Object({
      gnss: witness('The GNSS receiver'),
      motion: witness('The motion input'),
      ignition: witness('The ignition input'),
      rpm: witness('Engine speed'),
      voltage: witness('The supply voltage'),
      at: epoch('When the unit reported it'),
    }),
    Type.Null(),
  ],
  {
    description:
      'Which sensors can prove standstill, as the unit reported at its last connect, or within ten minutes of a change; null when it reported none. `absent`: not fitted; `unproven`: never seen to change in step with another; `proven`; `stale`: a drive may have passed that it did not see; `contradicted`: another sensor disagreed since; `suspended`: must be seen active once more',
  },
);

const owner = Type.Union(
  [
    Type.Object({
      key: text("Fingerprint of the owner's key, as `fleetward-agent status` prints it"),
      set: Type.Integer({
        minimum: 0,
        description: 'Version of the set of keys; 0: the unit has no document',
      }),
      list: Type.Integer({ minimum: 0, description: 'Version of the list of persons; 0: the unit has none' }),
      at: epoch('When the unit reported it: what it took since then is not known'),
    }),
    Type.Null(),
  ],
  {
    description:
      "The owner's key that the unit pins, as it reported at its last connect, or within ten minutes of a change; null when it reported none. A cut or unlock of a device with an owner waits for the persons of the owner's list: see `signCommand`",
  },
);

const busValue = Type.Object(
  {
    value: Type.Union([Type.Number(), Type.Boolean(), Type.String()], { description: 'In `unit`' }),
    unit: text('Unit; empty: a state, a code or a text'),
    source: text('The signal that the unit reads it from'),
    timestamp: epoch('When the vehicle reported it; 0: it had no time'),
  },
  { description: 'A value of the vehicle bus' },
);
export type BusValueView = Static<typeof busValue>;

const busValueTexts: Readonly<Record<BusValueName, string>> = {
  busSpeed: 'Speed of the wheels',
  tachographSpeed: 'Speed of the tachograph',
  rpm: 'Engine speed',
  parkingBrake: 'Whether the parking brake is set',
  busOdometer: 'Total distance',
  engineHours: 'Total engine hours',
  busFuelLevel: 'Fuel level',
  fuelRate: 'Fuel rate',
  fuelUsed: 'Total fuel used',
  coolant: 'Coolant temperature',
  vehicleVolts: 'Battery voltage',
  driver1State: 'Driver 1: 0 rest, 1 available, 2 work, 3 drive',
  driver2State: 'Driver 2: 0 rest, 1 available, 2 work, 3 drive',
  driverCard1: 'Number of the card of driver 1',
  driverCard2: 'Number of the card of driver 2',
  vin: 'Vehicle identification number',
  dtcs: 'Active trouble codes as `SPN/FMI`, with spaces between; empty: none',
};

/** What the vehicle last reported of its bus. */
export const vehicleBus = Type.Union([Type.Record(Type.String(), busValue), Type.Null()], {
  description: `Name -> the newest value of the vehicle bus, for each that the unit has reported; a unit sends one when it changes, and once an hour. Null: it reported none. ${busValueNames
    .map((name) => `\`${name}\`: ${busValueTexts[name]}`)
    .join('. ')}`,
});
export type VehicleBusView = Static<typeof vehicleBus>;

const featureState = Type.Object(
  {
    ...sensorMembers,
    pendingReason: Type.Union([Type.String(), Type.Null()], {
      description: 'Why the pending command waits, as a sentence (for example that the vehicle moves)',
    }),
    verdict,
    commandState: Type.Union([Type.String(), Type.Null()], {
      description:
        "State of the pending command: requested, sent, received, armed, executing or unknown; `approval`: it waits for a second user, or for the owner's persons",
    }),
    commandID: Type.Union([Type.String(), Type.Null()], {
      description:
        'The pending command; null for what waits for a second user, and for what the vehicle does on its own',
    }),
    approvalID: Type.Union([Type.String(), Type.Null()], {
      description: 'The approval that it waits for, or resulted from',
    }),
  },
  { description: 'A controllable feature: its state as read back from the vehicle, and what is pending' },
);

export const sensorMap = Type.Object(
  {
    cargoaccess: sensorState,
    fuel: sensorState,
    enginecutoff: sensorState,
    ignition: sensorState,
    panic: sensorState,
    // Fitted inputs beyond the five of a new device, once it has reported them.
    cabinDoor: Type.Optional(sensorState),
    cargoDoor: Type.Optional(sensorState),
    tamper: Type.Optional(sensorState),
    externalPower: Type.Optional(sensorState),
    motion: Type.Optional(sensorState),
    service: Type.Optional(sensorState),
  },
  { description: 'Sensor key -> sensor state' },
);

export const stateMap = Type.Object(
  { cargoaccess: featureState, enginecutoff: featureState },
  { description: 'Feature key -> current state' },
);

export const device = Type.Object({
  deviceID: text('Identifier of the device'),
  deviceUnique: text('Unique hardware identifier, decimal text; empty when not set'),
  ...shownTexts,
  deviceDescription: text('Description; generated from the id when none was given'),
  deviceDriver: text('Driver'),
  deviceCreatedOn: epoch('Creation of the record'),
  deviceLastHeartbeat: epoch('Last message of the device; 0 for a new device'),
  deviceLastValidLatitude: Type.Number({ description: 'Degrees, WGS 84; 0 while there was no fix' }),
  deviceLastValidLongitude: Type.Number({ description: 'Degrees, WGS 84; 0 while there was no fix' }),
  deviceLastValidSpeed: wholeOrNull('km/h; null where the last position says none'),
  deviceLastValidHeading: wholeOrNull(
    'Degrees from true north, 0 to 359; null where the last position says none',
  ),
  deviceLastValidTimestamp: epoch('Time of the last valid position; 0 while there is none'),
  deviceLastValidAddress: text(
    'Address of the last valid position as set by updateaddress; empty until then',
  ),
  deviceLastGeozoneID: text('Geozone of the last valid position; empty outside of all'),
  fuelLevelAverage: Type.Union([Type.String(), Type.Null()], {
    description: 'Mean fraction of the tanks, 0 to 1, decimal text; null without a fuel sensor',
  }),
  fuelLevels: Type.Array(Type.String(), { description: 'Fraction of each tank, decimal text' }),
  authorities: Type.Record(Type.String(), Type.Boolean(), {
    description: 'What the caller may do with this device: `read`, `update`, `command`',
  }),
  isForeign: Type.Boolean({
    description: 'Whether it is a tracker of another maker, which takes no command: it can never be cut',
  }),
  features: Type.Record(Type.String(), featureDefinition, { description: 'Feature key -> definition' }),
  sensors: sensorMap,
  state: stateMap,
  witnesses,
  owner,
  vehicleBus,
  hasPendingCommands: Type.Union([Type.Literal('true'), Type.Literal('false')], { description: 'As text' }),
  hasUpdateDevicePrivileges: Type.Boolean({ description: 'Whether the caller may update devices' }),
  cargoUnlocked: text(
    '`true` while cargo access is allowed, `false` while it is not, empty while that is not known',
  ),
  cabinUnlocked: text('Empty: no cabin lock is fitted'),
  deviceEngineOff: text(
    '`true` while the engine cutoff is enabled, `false` while it is not, empty while that is not known',
  ),
  ...envelope,
});
export type DeviceView = Static<typeof device>;

const { deviceID, ...deviceMembers } = device.properties;
/** A device in a list that `fields` may narrow. One schema for both, so that a generated client has one type for it. */
export const listedDevice = Type.Object(
  { deviceID, ...Type.Partial(Type.Object(deviceMembers)).properties },
  { description: 'A device: every member, or with `fields` those asked for and `deviceID`' },
);
export type ListedDevice = Static<typeof listedDevice>;

/** A device event data record. */
const eventRecord = Type.Object({
  address: text('Street address as set by updateaddress; empty until then'),
  deviceDescription: text('Description of the device'),
  creationTime: epoch('When the service stored the record'),
  timestamp: epoch('When it happened on the vehicle'),
  latitude: Type.Number({ description: 'Degrees, WGS 84; 0 without a position' }),
  longitude: Type.Number({ description: 'Degrees, WGS 84; 0 without a position' }),
  isPositionValid: Type.Boolean({ description: 'False when the record carries no position' }),
  geozoneID: text('Geozone; empty outside of all'),
  geozoneDescription: text('Its description now; empty when it was deleted'),
  geozoneDisplayName: text('Its display name now; empty when it was deleted'),
  deviceID: text('The device'),
  speed: wholeOrNull('km/h; null where the record says none'),
  heading: wholeOrNull('Degrees from true north; null where the record says none'),
  statusDescription: text('Text of the status code'),
  statusCode: Type.Integer({ description: 'OpenGTS status code' }),
  eventID: text('Unique within the device, for ever: `<boot>:<sequence number>`'),
  commandID: Type.Union([Type.String(), Type.Null()], { description: 'The command that it reports on' }),
  commandState: Type.Union([Type.String(), Type.Null()], { description: 'State of that command' }),
});
export type EventView = Static<typeof eventRecord>;

/** A record in a list that `fields` may narrow. */
export const listedEvent = Type.Partial(eventRecord, {
  description: 'A record: every member, or with `fields` those asked for',
});
export type ListedEvent = Static<typeof listedEvent>;

export const eventData = Type.Object(
  { devices: Type.Array(eventRecord) },
  { description: 'Records in the order of event time' },
);

/** `status_code`, `success` and `eventdata`. */
export const eventAnswer = Type.Object({ ...envelope, eventdata: eventData });

const metadataEntry = Type.Object({
  statusDescription: text('Text of the status code'),
  creationTime: epoch('When the service stored the first record'),
  timestamp: epoch('When the first record happened on the vehicle'),
  pinColor: text('Colour of the device, six hexadecimal digits'),
  latitude: text('Decimal degrees with five decimals; `0.00000` without a position'),
  longitude: text('Decimal degrees with five decimals; `0.00000` without a position'),
  isPositionValid: Type.Boolean({
    description: 'False when the record carries no position: nothing for a map',
  }),
  count: text('Records that the entry stands for, one after the other with this code at this place; decimal'),
  pinTag: text('Tag of the device'),
  deviceID: text('The device'),
  statusCode: text('Status code in decimal'),
});
export type MetadataView = Static<typeof metadataEntry>;

/** An entry in a list that `fields` may narrow. */
export const listedMetadata = Type.Partial(metadataEntry, {
  description: 'A metadata entry: every member, or with `fields` those asked for',
});
export type ListedMetadata = Static<typeof listedMetadata>;

/** Error object of every failing answer (RFC 9457 members and ours). */
export const errorAnswer = Type.Object({
  error: Type.Object({
    type: text('URI that names the kind of error'),
    title: text('Short text of the kind'),
    status: Type.Integer({ description: 'HTTP status code' }),
    detail: text('What failed in this request'),
    instance: text('Path of the request'),
    code: text('Stable code for programs to branch on'),
    message: text('Same as `detail`'),
    requestId: text('Names the request in the service log'),
    errors: Type.Array(
      Type.Object({ pointer: text('JSON pointer (RFC 6901)'), message: text('What is wrong there') }),
    ),
    hint: Type.Union([Type.String(), Type.Null()], { description: 'What to do about it' }),
  }),
});
export type ErrorView = Static<typeof errorAnswer>;
