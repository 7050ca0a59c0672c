// Counts of the vehicle bus, as members of trip reports.
import { type Static, Type } from 'typebox';
import type { BusSums } from '../../core/events/bus-counters.ts';

const sum = (what: string) =>
  Type.Union([Type.Number(), Type.Null()], {
    description: `${what}, as the vehicle counts on its bus; null where it did not say`,
  });

export const busShape = {
  busDistance: sum('km by the odometer, to about 1 km'),
  busFuelUsed: sum('Fuel used in L, to about 1 L'),
  busEngineHours: sum('Engine hours, to about 0.1 h'),
} as const;
const busObject = Type.Object(busShape);
type BusSumsView = Static<typeof busObject>;

export const noBusSums: BusSumsView = { busDistance: null, busFuelUsed: null, busEngineHours: null };

export const viewBusSums = ({ distanceKm, fuelL, engineH }: BusSums): BusSumsView => ({
  busDistance: distanceKm,
  busFuelUsed: fuelL,
  busEngineHours: engineH,
});

/** The sums with a further trip; null unless the bus counted every trip: a partial sum would look complete. */
export function addBusSums(sums: BusSumsView, trip: BusSumsView, isFirst: boolean): BusSumsView {
  const add = (name: keyof BusSumsView): number | null => {
    const before = isFirst ? 0 : sums[name];
    const value = trip[name];
    // In thousandths, so that the sum of many trips is exactly that.
    return before === null || value === null ? null : Math.round((before + value) * 1000) / 1000;
  };
  return {
    busDistance: add('busDistance'),
    busFuelUsed: add('busFuelUsed'),
    busEngineHours: add('busEngineHours'),
  };
}
