// Values of the vehicle bus among the attributes of an event: names, units and signals. The agent sends them; the service displays them.
import type { AttributeValue } from './event.ts';

type Kind = 'number' | 'state' | 'text';

const value = <K extends Kind>(kind: K, unit: string, source: string) => ({ kind, unit, source }) as const;
const number = (unit: string, source: string) => value('number', unit, source);

/** Kind, unit (empty: none) and SAE J1939 signals of each attribute. */
export const busValues = {
  busSpeed: number('km/h', 'J1939 SPN 84'),
  tachographSpeed: number('km/h', 'J1939 SPN 1624'),
  rpm: number('1/min', 'J1939 SPN 190'),
  parkingBrake: value('state', '', 'J1939 SPN 70'),
  busOdometer: number('km', 'J1939 SPN 917 or 245'),
  engineHours: number('h', 'J1939 SPN 247'),
  busFuelLevel: number('%', 'J1939 SPN 96'),
  fuelRate: number('L/h', 'J1939 SPN 183'),
  fuelUsed: number('L', 'J1939 SPN 250'),
  coolant: number('°C', 'J1939 SPN 110'),
  vehicleVolts: number('V', 'J1939 SPN 168'),
  driver1State: number('', 'J1939 SPN 1612'),
  driver2State: number('', 'J1939 SPN 1613'),
  driverCard1: value('text', '', 'J1939 DI'),
  driverCard2: value('text', '', 'J1939 DI'),
  vin: value('text', '', 'J1939 VI'),
  dtcs: value('text', '', 'J1939 DM1'),
} as const;

export type BusValueName = keyof typeof busValues;
export const busValueNames = Object.keys(busValues) as readonly BusValueName[];

/** Maximum length of a text from the bus, in characters; the longest holds 12 trouble codes. */
const textMost = 200;

const isOfKind: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  state: (value) => typeof value === 'boolean',
  text: (value) => typeof value === 'string' && value.length <= textMost && !/\p{Cc}/u.test(value),
};

const isName = (name: string): name is BusValueName => Object.hasOwn(busValues, name);

/** Values of the bus among attributes; a value of the wrong kind is omitted. */
export function busValuesOf(
  attributes: Readonly<Record<string, unknown>> | null | undefined,
): readonly (readonly [BusValueName, AttributeValue])[] {
  if (attributes === null || attributes === undefined) return [];
  return Object.entries(attributes).flatMap(([name, value]) =>
    isName(name) && isOfKind[busValues[name].kind](value) ? [[name, value as AttributeValue] as const] : [],
  );
}

/** Value from the text that `String` made of it; null: no value of this name. */
export function busValueFrom(name: BusValueName, text: string): number | boolean | string | null {
  const { kind } = busValues[name];
  if (kind === 'text') return text;
  if (kind === 'state') return text === 'true' ? true : text === 'false' ? false : null;
  const number = text === '' ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : null;
}
