// The table `zones` of the settings: decision of arrival and departure. Data only.
import { type Static, Type } from 'typebox';
import { numberSetting } from './kinds.ts';

export const zonesSchema = Type.Object({
  hysteresisM: numberSetting(
    { low: 5, high: 500, standard: 25 },
    'Metres beyond the border of a geozone before an arrival or departure counts; less on arrival in a small zone',
  ),
  dwellS: numberSetting(
    { low: 0, high: 3600, standard: 10 },
    'Seconds that a vehicle must stay on one side of the border; a shorter visit is no visit',
  ),
});

export type ZonesSettings = Static<typeof zonesSchema>;
