// Thresholds of the vehicle's own alarms: the table `alarms` of the settings. Data only. Voltages are those of a 12 V
// system and count double on a 24 V one. 0 switches an alarm off where its description says so.
import { type Static, Type } from 'typebox';
import { numberSetting, switchSetting } from './kinds.ts';

export const alarmSettingsSchema = Type.Object({
  repeatS: numberSetting(
    { low: 0, high: 86_400, standard: 600 },
    'An alarm that began is reported again after this time at the earliest; suppressed reports are counted',
  ),
  systemV: numberSetting(
    { low: 0, high: 24, standard: 0 },
    'Nominal voltage of the vehicle, 12 or 24; 0 = found out by itself',
  ),
  chargingV: numberSetting(
    { low: 12.4, high: 15, standard: 13.2 },
    'From this supply voltage on the alternator charges, so the engine runs (without an ignition wire)',
  ),
  chargingS: numberSetting({ low: 1, high: 600, standard: 15 }, '... if it lasts this long'),
  restingS: numberSetting({ low: 5, high: 3600, standard: 60 }, 'Below it for this long the engine stands'),
  engineRpm: numberSetting(
    { low: 100, high: 2000, standard: 300 },
    'From these revolutions on the engine runs',
  ),
  motionStartKmh: numberSetting({ low: 5, high: 30, standard: 8 }, 'Motion starts at this speed'),
  motionStartS: numberSetting({ low: 1, high: 60, standard: 5 }, '... if it is held this long'),
  motionStopS: numberSetting({ low: 10, high: 3600, standard: 120 }, 'Motion stops after standing this long'),
  motionStopOffS: numberSetting({ low: 5, high: 600, standard: 30 }, '... and this long with ignition off'),
  enRouteS: numberSetting({ low: 0, high: 3600, standard: 0 }, 'En route this often while moving; 0 = never'),
  dormantS: numberSetting(
    { low: 0, high: 604_800, standard: 43_200 },
    'Dormant once after standing this long with ignition off; 0 = never',
  ),
  idleS: numberSetting(
    { low: 0, high: 3600, standard: 180 },
    'Idling: engine on, standing this long; 0 = never',
  ),
  idleExcessS: numberSetting(
    { low: 0, high: 14_400, standard: 900 },
    'Excess idling after this long; 0 = never',
  ),
  speedingKmh: numberSetting({ low: 0, high: 250, standard: 120 }, 'Speed limit of the vehicle; 0 = none'),
  speedingToleranceKmh: numberSetting(
    { low: 0, high: 30, standard: 5 },
    'Speeding begins above limit and this',
  ),
  speedingHoldS: numberSetting({ low: 1, high: 300, standard: 10 }, '... if it lasts this long'),
  speedingEndS: numberSetting(
    { low: 1, high: 300, standard: 10 },
    'Speeding ends after this long within the limit',
  ),
  towing: switchSetting(
    true,
    'Report when it moves with ignition off; switch off for vehicles that go by ferry or rail',
  ),
  towM: numberSetting({ low: 50, high: 5000, standard: 100 }, 'Towed: this far from where it was parked'),
  towArmS: numberSetting({ low: 10, high: 3600, standard: 180 }, 'Watched after this long with ignition off'),
  towEndS: numberSetting({ low: 10, high: 3600, standard: 180 }, 'Towing ends after standing this long'),
  towMotionS: numberSetting(
    { low: 0, high: 3600, standard: 180 },
    'Without a position: towed when the motion input is active this long; 0 = never',
  ),
  powerCutV: numberSetting(
    { low: 0, high: 10, standard: 6 },
    'Supply is cut below this voltage; 0 = not judged',
  ),
  powerCutS: numberSetting({ low: 0, high: 60, standard: 2 }, '... if it lasts this long'),
  lowSupplyV: numberSetting(
    { low: 0, high: 12.8, standard: 11.6 },
    'Vehicle battery low below this; 0 = not judged',
  ),
  lowSupplyS: numberSetting(
    { low: 10, high: 3600, standard: 120 },
    '... if it lasts this long (starting does not)',
  ),
  lowBackupV: numberSetting(
    { low: 0, high: 28, standard: 3.5 },
    'Backup battery of the unit low below this, as measured; 0 = not judged',
  ),
  lowBackupS: numberSetting({ low: 10, high: 3600, standard: 60 }, '... if it lasts this long'),
  gnssLostS: numberSetting(
    { low: 15, high: 3600, standard: 120 },
    'GNSS lost after this long without a position',
  ),
  gnssFirstFixS: numberSetting(
    { low: 60, high: 3600, standard: 300 },
    '... and this long after a start that never had one',
  ),
  jamS: numberSetting(
    { low: 0, high: 300, standard: 15 },
    'Jammed: all satellites gone at once while standing, for this long; 0 = not judged',
  ),
  suspectS: numberSetting({ low: 1, high: 300, standard: 15 }, 'Position suspect after doubts for this long'),
  suspectJumpM: numberSetting(
    { low: 500, high: 100_000, standard: 2000 },
    '... and at once after a jump as far as this',
  ),
  trustedS: numberSetting(
    { low: 5, high: 600, standard: 60 },
    'Position trusted again after this long without doubts',
  ),
  linkLostS: numberSetting(
    { low: 30, high: 86_400, standard: 300 },
    'Connection lost after this long without broker',
  ),
  breachLocked: switchSetting(true, 'Cargo door open while the cargo lock is locked is a breach'),
  breachS: numberSetting(
    { low: 1, high: 300, standard: 10 },
    'Cargo door open while moving this long is a breach',
  ),
  peopleMost: numberSetting(
    { low: 1, high: 500, standard: 100 },
    'More people than this the counter never shows',
  ),
  peopleInventoryS: numberSetting(
    { low: 60, high: 86_400, standard: 3600 },
    'People aboard are reported at least this often while they change',
  ),
  peopleReset: switchSetting(
    false,
    'The counter starts at 0 when the cabin door closes again with ignition off',
  ),
});

export type AlarmSettings = Static<typeof alarmSettingsSchema>;
