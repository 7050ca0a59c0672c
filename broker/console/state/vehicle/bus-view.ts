// The vehicle bus as the page of a vehicle shows it: its values in order, marks of outdated ones, and its trouble codes. Pure.
import { type BusValueName, busValueNames } from '../../../../src/core/events/bus-values.ts';
import type { Device } from '../../api/operations.ts';

type Bus = NonNullable<Device['vehicleBus']>;
type BusValue = Bus[string];

export interface BusRow {
  readonly name: Exclude<BusValueName, 'dtcs'>;
  readonly value: BusValue;
  readonly isStale: boolean;
}

/** Parameter and failure mode (SAE J1939-73). */
export interface TroubleCode {
  readonly spn: number;
  readonly fmi: number;
}

export interface TroubleCodes {
  readonly codes: readonly TroubleCode[];
  readonly value: BusValue;
  readonly isStale: boolean;
}

/** A unit sends each value once an hour, s. */
const againS = 65 * 60;
/** A bus that is awake changes some value within this time, s. */
const silentS = 10 * 60;

/** True when a value is outdated: it is old, or the whole bus fell silent. */
function isStaleOf(bus: Bus, nowS: number): (value: BusValue) => boolean {
  const newestS = Math.max(...Object.values(bus).map(({ timestamp }) => timestamp));
  const isSilent = nowS - newestS > silentS;
  return ({ timestamp }) => isSilent || nowS - timestamp > againS;
}

/** The values but the trouble codes, in their order. */
export function busRows(bus: Bus, nowS: number): readonly BusRow[] {
  const isStale = isStaleOf(bus, nowS);
  return busValueNames.flatMap((name) => {
    const value = bus[name];
    return value === undefined || name === 'dtcs' ? [] : [{ name, value, isStale: isStale(value) }];
  });
}

/** A word of the list; none where it is no code. */
function troubleCodeOf(word: string): readonly TroubleCode[] {
  const [, spn, fmi] = /^(\d{1,6})\/(\d{1,2})$/.exec(word) ?? [];
  return spn === undefined || fmi === undefined ? [] : [{ spn: Number(spn), fmi: Number(fmi) }];
}

/** The active trouble codes; null: the unit has not reported whether there are any. */
export function troubleCodesOf(bus: Bus, nowS: number): TroubleCodes | null {
  const value = bus['dtcs'];
  if (value === undefined) return null;
  const codes = String(value.value).split(' ').flatMap(troubleCodeOf);
  return { codes, value, isStale: isStaleOf(bus, nowS)(value) };
}

/** Parameters that the console has a name for, by number. */
export const spnNames: Readonly<Record<number, BusRow['name']>> = {
  84: 'busSpeed',
  190: 'rpm',
  70: 'parkingBrake',
  917: 'busOdometer',
  245: 'busOdometer',
  247: 'engineHours',
  96: 'busFuelLevel',
  183: 'fuelRate',
  250: 'fuelUsed',
  110: 'coolant',
  168: 'vehicleVolts',
  1624: 'tachographSpeed',
};
