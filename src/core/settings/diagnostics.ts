// The table `diagnostics` of the settings: period of health reports. Data only.
import { Type } from 'typebox';
import { numberSetting } from './kinds.ts';

export const diagnosticsSchema = Type.Object({
  diagnosticsS: numberSetting(
    { low: 60, high: 604_800, standard: 21_600 },
    'A diagnostic of the unit this often (about 1 kB each), beside the first one a minute after the start',
  ),
});
