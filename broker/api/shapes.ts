// The shapes of the service's answers, each field with the type of the interface (a number that is text there is text
// here). Schemas only; `views.ts` fills them from rows.
import { type Static, Type } from 'typebox';
import { ruleNames, verdictLimits } from '../../src/core/verdict.ts';
import { witnessStates } from '../../src/core/witness.ts';

const epoch = (description: string) =>
  Type.Integer({ minimum: 0, description: `${description} (epoch seconds)` });
const text = (description: string) => Type.String({ description });

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
  onText: text('Word for state `1`'),
  offText: text('Word for state `0`'),
  displayName: text('Name for people'),
  isNegativeTriggered: Type.Boolean({ description: 'True when the triggered condition is inverted' }),
  pendingState: Type.Union([Type.String(), Type.Null()], {
    description: 'State that an unfinished command asks for; null when nothing is pending',
  }),
  state: text('`0` or `1`; for `fuel` the level as a fraction of the tank in decimal text'),
} as const;

const sensorState = Type.Object(sensorMembers, { description: 'A sensor and its last reported state' });
export type SensorView = Static<typeof sensorState>;

const ruleValue = (description: string) =>
  Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()], { description });

const ruleFinding = Type.Object({
  rule: text(`A rule; fleetward-agent sends ${ruleNames.map((name) => `\`${name}\``).join(', ')}`),
  isMet: Type.Boolean({ description: 'False: the command waits for this' }),
  value: ruleValue('What the vehicle saw, in the unit that ends the name of the rule; null when unknown'),
  needed: ruleValue('What it needs; null when the rule has no such value'),
  sinceMs: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Since when it has been so, UTC in ms since 1970; null when unknown',
  }),
});

/** Why a command waits, as data. */
export const verdict = Type.Union(
  [
    Type.Object({
      code: text('The first rule that is not met; `allowed` when all are'),
      rules: Type.Array(ruleFinding, {
        maxItems: verdictLimits.rules,
        description:
          'The rules that the vehicle judged, as sent; fleetward-agent puts those that are not met first',
      }),
    }),
    Type.Null(),
  ],
  {
    description:
      'The rules of the newest report of the vehicle on the command; null when it sent none, and while a second user is waited for',
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
    }),
    Type.Null(),
  ],
  {
    description:
      'Which sensors can prove standstill, as the unit said when it last connected; null when it did not say. `absent`: not fitted; `unproven`: never seen to change in step with another; `proven`; `stale`: proven too long ago; `contradicted`: another said otherwise since; `suspended`: must be seen active once more',
  },
);

const featureState = Type.Object(
  {
    ...sensorMembers,
    pendingReason: Type.Union([Type.String(), Type.Null()], {
      description: 'Why the pending command waits, as a sentence (for example that the vehicle moves)',
    }),
    verdict,
    commandState: Type.Union([Type.String(), Type.Null()], {
      description:
        'State of the pending command: requested, sent, received, armed, executing or unknown; `approval`: it waits for a second user',
    }),
    commandID: Type.Union([Type.String(), Type.Null()], { description: 'The pending command' }),
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
  deviceType: text('Type of the unit'),
  deviceDescription: text('Description; generated from the id when none was given'),
  deviceDisplayName: text('Short name for lists and maps'),
  deviceNotifyEmail: text('Notification e-mail; may be empty'),
  deviceDriver: text('Driver'),
  deviceCreatedOn: epoch('Creation of the record'),
  deviceLastHeartbeat: epoch('Last sign of life; 0 for a new device'),
  deviceLastValidLatitude: Type.Number({ description: 'Degrees, WGS 84; 0 while there was no fix' }),
  deviceLastValidLongitude: Type.Number({ description: 'Degrees, WGS 84; 0 while there was no fix' }),
  deviceLastValidSpeed: Type.Integer({ description: 'km/h' }),
  deviceLastValidHeading: Type.Integer({ description: 'Degrees from true north, 0 to 359' }),
  deviceLastValidTimestamp: epoch('Time of the last valid position; 0 while there is none'),
  deviceLastValidAddress: text(
    'Address of the last valid position as set by updateaddress; empty until then',
  ),
  deviceLastGeozoneID: text('Geozone of the last valid position; empty outside of all'),
  pinColor: Type.String({ pattern: '^[0-9A-Fa-f]{6}$', description: 'Hexadecimal colour without `#`' }),
  pinTag: text('Tag of the map pin'),
  additionalPinDisplay: text('Further text of the map pin'),
  fuelLevelAverage: Type.Union([Type.String(), Type.Null()], {
    description: 'Mean fraction of the tanks, 0 to 1, decimal text; null without a fuel sensor',
  }),
  fuelLevels: Type.Array(Type.String(), { description: 'Fraction of each tank, decimal text' }),
  equipmentTypeId: text('Equipment template'),
  equipmentTypeDesc: text('Name of the equipment template'),
  authorities: Type.Record(Type.String(), Type.Boolean(), {
    description: 'What the caller may do with this device: `read`, `update`, `command`',
  }),
  features: Type.Record(Type.String(), featureDefinition, { description: 'Feature key -> definition' }),
  sensors: sensorMap,
  state: stateMap,
  witnesses,
  hasPendingCommands: Type.Union([Type.Literal('true'), Type.Literal('false')], { description: 'As text' }),
  hasUpdateDevicePrivileges: Type.Boolean({ description: 'Whether the caller may update devices' }),
  cargoUnlocked: text('`true` while cargo access is allowed, else `false`'),
  cabinUnlocked: text('Empty: no cabin lock is fitted'),
  deviceEngineOff: text('`true` while the engine cutoff is enabled, else `false`'),
  ...envelope,
});
export type DeviceView = Static<typeof device>;

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
  speed: Type.Integer({ description: 'km/h' }),
  heading: Type.Integer({ description: 'Degrees from true north' }),
  statusDescription: text('Text of the status code'),
  statusCode: Type.Integer({ description: 'OpenGTS status code' }),
  eventID: text('Unique within the device, for ever: `<boot>:<sequence number>`'),
  commandID: Type.Union([Type.String(), Type.Null()], { description: 'The command that it reports on' }),
  commandState: Type.Union([Type.String(), Type.Null()], { description: 'State of that command' }),
});
export type EventView = Static<typeof eventRecord>;

export const eventData = Type.Object(
  { devices: Type.Array(eventRecord) },
  { description: 'Records in the order of event time' },
);

/** `status_code`, `success` and `eventdata`. */
export const eventAnswer = Type.Object({ ...envelope, eventdata: eventData });

export const metadataEntry = Type.Object({
  statusDescription: text('Text of the status code'),
  creationTime: epoch('When the service stored the record'),
  timestamp: epoch('When it happened on the vehicle'),
  pinColor: text('Colour of the device, six hexadecimal digits'),
  latitude: text('Decimal degrees with five decimals'),
  longitude: text('Decimal degrees with five decimals'),
  count: text('Records that the entry stands for: always `1`'),
  pinTag: text('Tag of the device'),
  deviceID: text('The device'),
  statusCode: text('Status code in decimal'),
});
export type MetadataView = Static<typeof metadataEntry>;

/** Error object of every failing answer (RFC 9457 members and ours). */
export const errorAnswer = Type.Object({
  error: Type.Object({
    type: text('URI that names the kind of error'),
    title: text('Short text of the kind'),
    status: Type.Integer({ description: 'HTTP status code' }),
    detail: text('What went wrong this time'),
    instance: text('Path of the request'),
    code: text('Stable word to branch on'),
    message: text('Same as `detail`'),
    requestId: text('Names the request in the service log'),
    errors: Type.Array(
      Type.Object({ pointer: text('JSON pointer (RFC 6901)'), message: text('What is wrong there') }),
    ),
    hint: Type.Union([Type.String(), Type.Null()], { description: 'What to do about it' }),
  }),
});
export type ErrorView = Static<typeof errorAnswer>;
