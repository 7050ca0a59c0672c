// The shapes of geozones: the answer of the interface, and the members of create and update in every documented spelling.
// Schemas and name tables only.
import { type Static, type TSchema, Type } from 'typebox';
import { type ZoneSwitch, zoneLimits } from '../../../src/core/geo/geozone.ts';
import { namePatternSource } from '../../../src/core/ids.ts';
import { linesText, lineText } from '../base/input-members.ts';
import { envelope, featureDefinition, sensorMembers } from '../base/shapes.ts';

const bool = (description: string) => Type.Boolean({ description });
const vertex = (n: number) =>
  Type.String({ description: `Point ${n}: \`<lat>,<lng>\`, five decimals; \`0.00000,0.00000\` = not set` });

const sectionFeature = Type.Object(
  { ...sensorMembers, state: Type.Null({ description: 'Always null: a zone has no state of its own' }) },
  { description: 'Texts of a feature that the zone can act on' },
);
const section = (when: string) =>
  Type.Object(
    {
      displayText: Type.String({ description: 'Name for people' }),
      features: Type.Object(
        { cargoaccess: sectionFeature, enginecutoff: sectionFeature },
        { description: 'Feature key -> its texts' },
      ),
    },
    { description: `What the zone can act on when a vehicle ${when}` },
  );

const engineOff = 'engine cutoff 1, once the vehicle has proven that it stands still with the ignition off';

export const geozone = Type.Object({
  geozoneID: Type.String({ description: 'Identifier of the geozone' }),
  geozoneDisplayName: Type.String({ description: 'Short name for lists and maps; may be empty' }),
  geozoneDescription: Type.String({ description: 'Description, shown in event records; may be empty' }),
  geozoneRadius: Type.Integer({ description: 'Metres; used by types 0 and 2' }),
  geozoneType: Type.Integer({
    description: '0 circles, 1 rectangle, 2 corridor, 3 polygon, 4 point of interest',
  }),
  geozonePoint1: vertex(1),
  geozonePoint2: vertex(2),
  geozonePoint3: vertex(3),
  geozonePoint4: vertex(4),
  geozonePoint5: vertex(5),
  geozonePoint6: vertex(6),
  geozonePoint7: vertex(7),
  geozonePoint8: vertex(8),
  geozoneArrivalEngineOn: bool('On arrival: engine cutoff 0'),
  geozoneArrivalEngineOff: bool(`On arrival: ${engineOff}`),
  geozoneArrivalCabinLock: bool('On arrival: lock the cabin, where a lock is fitted'),
  geozoneArrivalCabinUnlock: bool('On arrival: unlock the cabin, where a lock is fitted'),
  geozoneArrivalCargoLock: bool('On arrival: cargo access 0'),
  geozoneArrivalCargoUnlock: bool('On arrival: cargo access 1'),
  geozoneDepartureEngineOn: bool('On departure: engine cutoff 0'),
  geozoneDepartureEngineOff: bool(`On departure: ${engineOff}`),
  geozoneDepartureCabinLock: bool('On departure: lock the cabin, where a lock is fitted'),
  geozoneDepartureCabinUnlock: bool('On departure: unlock the cabin, where a lock is fitted'),
  geozoneDepartureCargoLock: bool('On departure: cargo access 0'),
  geozoneDepartureCargoUnlock: bool('On departure: cargo access 1'),
  geozoneAlertEntry: bool('Alert on arrival: in the inbox, and sent by rules'),
  geozoneAlertExit: bool('Alert on departure: in the inbox, and sent by rules'),
  geozoneAlarmEntry: bool('Our addition. The alert on arrival is an alarm too, for a person to handle'),
  geozoneAlarmExit: bool('Our addition. The alert on departure is an alarm too, for a person to handle'),
  features: Type.Record(Type.String(), featureDefinition, { description: 'Feature key -> definition' }),
  sections: Type.Object(
    { arrive: section('arrives'), depart: section('departs') },
    { description: 'The two moments that the zone can act at' },
  ),
  hasUpdateGeozonePrivileges: bool('Whether the caller may change geozones'),
  geozoneWarning: Type.String({
    description: 'Why no vehicle can ever be in the zone as it stands (too few points); empty when it works',
  }),
  ...envelope,
});
export type GeozoneView = Static<typeof geozone>;

/** The answer to a change. */
export const savedGeozone = Type.Object({
  ...geozone.properties,
  geozoneRefusedBy: Type.Integer({
    minimum: 0,
    description:
      "Our addition. Units of the account with an owner's key: they refuse the cuts and unlocks of every zone. 0 where this zone asks for none",
  }),
});
export type SavedGeozone = Static<typeof savedGeozone>;

/** `geozones` of the answers that give several. */
export const geozoneMap = Type.Record(Type.String(), geozone, {
  description: 'Geozone id -> geozone, in the order of ids',
});

// One keyword each, not a union: what does not fit is then one fault at one place.
const given = <T>(schema: TSchema, description: string) =>
  Type.Optional(Type.Unsafe<T>({ ...schema, description }));

const flag = given<boolean | 'true' | 'false' | '1' | '0'>(
  { type: ['boolean', 'string'], pattern: '^(true|false|1|0)$' },
  'Boolean, or the same as text: `true`, `false`, `1`, `0`',
);

/** A latitude in decimal degrees; its range is checked where it is read. */
export const latitudePattern = '-?[0-9]{1,2}(\\.[0-9]{1,15})?';
export const longitudePattern = '-?[0-9]{1,3}(\\.[0-9]{1,15})?';

const latitude = Type.Optional(
  Type.String({ pattern: `^(${latitudePattern})?$`, description: 'Decimal degrees; empty = not set' }),
);
const longitude = Type.Optional(
  Type.String({ pattern: `^(${longitudePattern})?$`, description: 'Decimal degrees; empty = not set' }),
);
const pair = Type.Optional(
  Type.String({
    pattern: `^(${latitudePattern},${longitudePattern})?$`,
    description: '`<lat>,<lng>` as answers give it, instead of the two members; empty = not set',
  }),
);

export const geozoneID = Type.String({
  pattern: namePatternSource,
  description:
    'Name of the geozone: 1 to 64 characters of any script, no control characters, no space at either end',
});

/** Members of create and update. */
export const geozoneMembers = {
  geozoneID,
  geozoneDisplayName: Type.Optional(lineText(128, 'Short name')),
  geozoneDescription: Type.Optional(linesText(256, 'Description')),
  geozoneRadius: given<number | string>(
    {
      type: ['integer', 'string'],
      minimum: zoneLimits.radiusLeastM,
      maximum: zoneLimits.radiusMostM,
      pattern: '^[0-9]{1,5}$',
    },
    'Metres, 5 to 30000, or the same as decimal text',
  ),
  geozoneType: given<number | string>(
    { type: ['integer', 'string'], minimum: 0, maximum: 4, pattern: '^[0-4]$' },
    '0 circles, 1 rectangle, 2 corridor, 3 polygon, 4 point of interest; or the same as text',
  ),
  geozoneArrivalEngineOn: flag,
  geozoneArrivalEngineOff: flag,
  geozoneArrivalCabinLock: flag,
  geozoneArrivalCabinUnLock: flag,
  geozoneArrivalCargoLock: flag,
  geozoneArrivalCargoUnLock: flag,
  geozoneDepartureEngineOn: flag,
  geozoneDepartureEngineOff: flag,
  geozoneDepartureCabinLock: flag,
  geozoneDepartureCabinUnLock: flag,
  geozoneDepartureCargoLock: flag,
  geozoneDepartureCargoUnLock: flag,
  geozoneAlertEntry: flag,
  geozoneAlertExit: flag,
  geozoneAlarmEntry: flag,
  geozoneAlarmExit: flag,
  geozonePoint1lat: latitude,
  geozonePoint1lng: longitude,
  geozonePoint2lat: latitude,
  geozonePoint2lng: longitude,
  geozonePoint3lat: latitude,
  geozonePoint3lng: longitude,
  geozonePoint4lat: latitude,
  geozonePoint4lng: longitude,
  geozonePoint5lat: latitude,
  geozonePoint5lng: longitude,
  geozonePoint6lat: latitude,
  geozonePoint6lng: longitude,
  geozonePoint7lat: latitude,
  geozonePoint7lng: longitude,
  geozonePoint8lat: latitude,
  geozonePoint8lng: longitude,
  geozonePoint1: pair,
  geozonePoint2: pair,
  geozonePoint3: pair,
  geozonePoint4: pair,
  geozonePoint5: pair,
  geozonePoint6: pair,
  geozonePoint7: pair,
  geozonePoint8: pair,
} as const;

const geozoneBody = Type.Object(geozoneMembers, { additionalProperties: false });
export type GeozoneBody = Static<typeof geozoneBody>;

/** Members that set a switch, as update spells them; what answers show differs by letter case, which a request may have as it likes. */
export const switchMembers: Readonly<Record<ZoneSwitch, keyof GeozoneBody>> = {
  arrivalEngineOn: 'geozoneArrivalEngineOn',
  arrivalEngineOff: 'geozoneArrivalEngineOff',
  arrivalCabinLock: 'geozoneArrivalCabinLock',
  arrivalCabinUnlock: 'geozoneArrivalCabinUnLock',
  arrivalCargoLock: 'geozoneArrivalCargoLock',
  arrivalCargoUnlock: 'geozoneArrivalCargoUnLock',
  departureEngineOn: 'geozoneDepartureEngineOn',
  departureEngineOff: 'geozoneDepartureEngineOff',
  departureCabinLock: 'geozoneDepartureCabinLock',
  departureCabinUnlock: 'geozoneDepartureCabinUnLock',
  departureCargoLock: 'geozoneDepartureCargoLock',
  departureCargoUnlock: 'geozoneDepartureCargoUnLock',
  alertEntry: 'geozoneAlertEntry',
  alertExit: 'geozoneAlertExit',
  alarmEntry: 'geozoneAlarmEntry',
  alarmExit: 'geozoneAlarmExit',
};
