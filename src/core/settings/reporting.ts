// The table `reporting` of the settings: periods of positions. Data only.
import { type Static, Type } from 'typebox';
import { numberSetting } from './kinds.ts';

export const reportingSchema = Type.Object({
  movingS: numberSetting({ low: 1, high: 3600, standard: 10 }, 'A position at least this often while moving'),
  stoppedS: numberSetting({ low: 10, high: 86_400, standard: 300 }, '... and this often while parked'),
  distanceM: numberSetting({ low: 10, high: 100_000, standard: 250 }, '... and after this many metres'),
  turnDeg: numberSetting({ low: 5, high: 180, standard: 25 }, '... and after a turn of this many degrees'),
  cornerM: numberSetting(
    { low: 0, high: 1000, standard: 15 },
    '... and a corner where the route deviates from the straight line between two reports by this much; 0 is never',
  ),
  speedDeltaKmh: numberSetting(
    { low: 0, high: 200, standard: 30 },
    '... and when the speed changed by this much; 0 is never',
  ),
  roamingMovingS: numberSetting(
    { low: 1, high: 86_400, standard: 60 },
    'In a foreign network, or close to the data budget: a position this often while moving, and nothing else',
  ),
  roamingStoppedS: numberSetting(
    { low: 10, high: 86_400, standard: 3600 },
    '... and this often while parked',
  ),
  lowBatteryS: numberSetting(
    { low: 10, high: 86_400, standard: 900 },
    'On a low battery: a position this often while parked; while moving as in a foreign network',
  ),
  heartbeatS: numberSetting({ low: 30, high: 86_400, standard: 600 }, 'A heartbeat this often'),
});

export type ReportingSettings = Static<typeof reportingSchema>;
