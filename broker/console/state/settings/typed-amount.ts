// Amounts as fields take them: typed in the unit of the reader, sent in that of the service. Pure.
import { type Quantity, type System, scaleOf, shownValue, unitOf } from '../account/measures.ts';

/** A number of the reader's unit in that of the service. */
export const storedValue = (shown: number, quantity: Quantity, system: System): number =>
  shown * scaleOf(quantity, system)[1];

/** Digits after the point of a number that a field shows in miles, feet or gallons. */
const typedDigits = 1;

/** A value as a field shows it. A field whose text was not changed keeps the value: this text may be rounded. */
export function typedValue(value: number, quantity: Quantity, system: System): string {
  const [unit] = scaleOf(quantity, system);
  return unit === quantity
    ? String(value)
    : String(Number(shownValue(value, quantity, system).toFixed(typedDigits)));
}

/** A limit in the reader's unit, rounded inwards: what is typed up to it is within the limit of the service. */
export function shownLimit(value: number, end: 'low' | 'high', quantity: Quantity, system: System): number {
  const shown = shownValue(value, quantity, system);
  if (unitOf(quantity, system) === quantity) return shown;
  const scaled = shown * 10 ** typedDigits;
  return (end === 'low' ? Math.ceil(scaled) : Math.floor(scaled)) / 10 ** typedDigits;
}
