// Every alarm of the vehicle as a row of data: what raises it, what ends it, what must be fitted. The command
// `alarms` prints these rows, and a test compares the table in agent/README.md with them. Descriptions only; the
// alarm machines decide.

import { type StatusName, statusCodes } from '../../../src/core/events/status-codes.ts';
import type { AlarmSettings } from '../../../src/core/settings/alarms.ts';

export interface AlarmRow {
  readonly name: StatusName;
  readonly when: string;
  /** The code that ends it, or why none does. */
  readonly ends: StatusName | 'by itself';
  readonly settings: readonly (keyof AlarmSettings)[];
  /** What must be fitted for it. */
  readonly needs: string;
}

export const alarmTable: readonly AlarmRow[] = [
  {
    name: 'ENGINE_START',
    when: 'The engine turns, or, without an ignition signal, the alternator charges',
    ends: 'ENGINE_STOP',
    settings: ['engineRpm', 'chargingV', 'chargingS', 'restingS', 'systemV'],
    needs: 'analog rpm, or supplyVoltage without an ignition wire',
  },
  {
    name: 'MOTION_START',
    when: 'Faster than the start speed for some seconds',
    ends: 'MOTION_STOP',
    settings: ['motionStartKmh', 'motionStartS', 'motionStopS', 'motionStopOffS'],
    needs: 'GNSS',
  },
  {
    name: 'MOTION_EN_ROUTE',
    when: 'Periodically while moving',
    ends: 'by itself',
    settings: ['enRouteS'],
    needs: 'GNSS',
  },
  {
    name: 'MOTION_DORMANT',
    when: 'Parked with ignition off for long, once',
    ends: 'by itself',
    settings: ['dormantS'],
    needs: 'input ignition',
  },
  {
    name: 'MOTION_IDLE',
    when: 'Engine on while it stands',
    ends: 'MOTION_IDLE_END',
    settings: ['idleS'],
    needs: 'GNSS; input ignition, analog rpm or supplyVoltage',
  },
  {
    name: 'MOTION_EXCESS_IDLE',
    when: 'Idling for long, once',
    ends: 'MOTION_IDLE_END',
    settings: ['idleExcessS'],
    needs: 'as idling',
  },
  {
    name: 'SPEEDING_BEGIN',
    when: 'Above the limit and its tolerance for some seconds',
    ends: 'SPEEDING_END',
    settings: ['speedingKmh', 'speedingToleranceKmh', 'speedingHoldS', 'speedingEndS', 'repeatS'],
    needs: 'GNSS',
  },
  {
    name: 'TOWING_START',
    when: 'Moves away from where it was parked with ignition off; also found so after a start. A ferry looks the same',
    ends: 'TOWING_STOP',
    settings: ['towing', 'towM', 'towArmS', 'towEndS', 'towMotionS', 'repeatS'],
    needs: 'GNSS; input ignition or analog supplyVoltage; input motion where there is no position',
  },
  {
    name: 'POWER_FAILURE',
    when: 'The contact opens, or the supply voltage falls away',
    ends: 'POWER_RESTORED',
    settings: ['powerCutV', 'powerCutS', 'systemV'],
    needs: 'input externalPower or analog supplyVoltage; a battery of the unit',
  },
  {
    name: 'LOW_BATTERY',
    when: "The vehicle's battery or the unit's own is low for some time",
    ends: 'BATTERY_RESTORED',
    settings: ['lowSupplyV', 'lowSupplyS', 'lowBackupV', 'lowBackupS', 'systemV', 'repeatS'],
    needs: 'analog supplyVoltage or backupVoltage',
  },
  {
    name: 'GPS_FIRST_FIX',
    when: 'The first plausible position after a start',
    ends: 'by itself',
    settings: [],
    needs: 'GNSS',
  },
  {
    name: 'GPS_LOST',
    when: 'No position for some time; with the reason',
    ends: 'GPS_RESTORED',
    settings: ['gnssLostS', 'gnssFirstFixS', 'repeatS'],
    needs: 'GNSS',
  },
  {
    name: 'GPS_JAMMING',
    when: 'All satellites vanish at once while it stands. On the move a tunnel looks the same: then GPS_LOST only',
    ends: 'GPS_RESTORED',
    settings: ['jamS', 'repeatS'],
    needs: 'GNSS that sends GSV',
  },
  {
    name: 'GPS_ANTENNA_OPEN',
    when: 'The receiver reports that its antenna is open or shorted',
    ends: 'GPS_RESTORED',
    settings: ['repeatS'],
    needs: 'GNSS that sends antenna TXT',
  },
  {
    name: 'POSITION_SUSPECT',
    when: 'The position contradicts itself, its speed or the clock for some time, or jumps far',
    ends: 'POSITION_TRUSTED',
    settings: ['suspectS', 'suspectJumpM', 'trustedS', 'repeatS'],
    needs: 'GNSS',
  },
  {
    name: 'CONNECTION_LOST',
    when: 'No session with the broker for some time; arrives with the next one',
    ends: 'CONNECTION_RESTORED',
    settings: ['linkLostS', 'repeatS'],
    needs: 'nothing',
  },
  {
    name: 'BREACH_ON',
    when: 'The cargo door is open while the cargo lock is locked, or on the move',
    ends: 'BREACH_OFF',
    settings: ['breachLocked', 'breachS', 'motionStartKmh', 'repeatS'],
    needs: 'input cargoDoor; relay cargoaccess or GNSS',
  },
  {
    name: 'PERSON_ENTER',
    when: 'A pulse of the sensor; with the people aboard',
    ends: 'by itself',
    settings: ['peopleMost'],
    needs: 'input personEnter',
  },
  {
    name: 'PERSON_EXIT',
    when: 'A pulse of the sensor; with the people aboard',
    ends: 'by itself',
    settings: ['peopleMost'],
    needs: 'input personExit',
  },
  {
    name: 'PERSON_INVENTORY',
    when: 'People aboard: at ignition off, when the counter or the door changed it, and periodically',
    ends: 'by itself',
    settings: ['peopleInventoryS', 'peopleReset', 'peopleMost'],
    needs: 'inputs personEnter and personExit, or analog passengers',
  },
  {
    name: 'IMPACT',
    when: 'The crash contact closes, at once; with the speed before and the positions around it',
    ends: 'by itself',
    settings: [],
    needs: 'input crash',
  },
  {
    name: 'PANIC_ON',
    when: 'The panic button is pressed, at its first sample',
    ends: 'PANIC_OFF',
    settings: [],
    needs: 'input panic',
  },
  {
    name: 'TAMPER_ON',
    when: 'The tamper contact closes',
    ends: 'TAMPER_OFF',
    settings: [],
    needs: 'input tamper',
  },
  {
    name: 'DOOR_OPEN_CABIN',
    when: 'The cabin door opens',
    ends: 'DOOR_CLOSE_CABIN',
    settings: [],
    needs: 'input cabinDoor',
  },
  {
    name: 'DOOR_OPEN_CARGO',
    when: 'The cargo door opens',
    ends: 'DOOR_CLOSE_CARGO',
    settings: [],
    needs: 'input cargoDoor',
  },
  {
    name: 'IGNITION_ON',
    when: 'The ignition is switched on',
    ends: 'IGNITION_OFF',
    settings: [],
    needs: 'input ignition',
  },
];

/** Output of the command for programs: each row with its codes. */
export function describeAlarms() {
  return alarmTable.map(({ name, ends, ...row }) => ({
    name,
    code: statusCodes[name].code,
    ...row,
    ends,
    endCode: ends === 'by itself' ? null : statusCodes[ends].code,
  }));
}
