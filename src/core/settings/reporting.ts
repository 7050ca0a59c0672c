// How often a vehicle reports: the table `reporting` of the settings. Data only.
import { type Static, Type } from 'typebox';
import { numberSetting } from './kinds.ts';

export const reportingSchema = Type.Object({
  movingS: numberSetting({ low: 1, high: 3600, standard: 10 }, 'A position at least this often while moving'),
  stoppedS: numberSetting({ low: 10, high: 86_400, standard: 300 }, '... and this often while parked'),
  distanceM: numberSetting({ low: 10, high: 100_000, standard: 250 }, '... and after this many metres'),
  turnDeg: numberSetting({ low: 5, high: 180, standard: 25 }, '... and after a turn of this many degrees'),
  heartbeatS: numberSetting({ low: 30, high: 86_400, standard: 600 }, 'A heartbeat this often'),
});

export type ReportingSettings = Static<typeof reportingSchema>;
