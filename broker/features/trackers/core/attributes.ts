// What Traccar says, and what it is here. Data. Only what means the same is mapped; any other attribute is kept under its own name
// and decides nothing. Names and units: `Position.java` and `Event.java` of Traccar, August 2026.
import { type StatusName } from '../../../../src/core/events/status-codes.ts';

/** Km/h of a knot, exact: 1,852 m is a nautical mile. */
export const kmhPerKnot = 1.852;

/** Attributes that are measures of an event, and the factor of their unit. */
export const measures = {
  sat: ['satellites', 1],
  hdop: ['hdop', 1],
  odometer: ['odometer', 1 / 1000],
  fuelLevel: ['fuelLevel', 1 / 100],
} as const;

/** Attributes with another name or unit here: values of the vehicle, as its bus gives them. */
export const renamed = {
  rpm: ['rpm', 1],
  coolantTemp: ['coolant', 1],
  hours: ['engineHours', 1 / 3_600_000],
  obdSpeed: ['busSpeed', 1],
  obdOdometer: ['busOdometer', 1 / 1000],
} as const;

/** Attributes that keep their name because they mean what it means here. */
export const sameNames: readonly string[] = ['vin', 'dtcs', 'driverUniqueId'];

/** Never kept: raw messages, and names of files at Traccar. */
export const dropped: readonly string[] = ['raw', 'image', 'video', 'audio'];

/**
 * Alarms. A door says not which, jamming not of what, `powerOff` not whose; a lock would claim that a relay moved; geofences are
 * Traccar's own. These and all others stay the text `alarm`.
 */
export const alarms: Readonly<Record<string, StatusName>> = {
  sos: 'PANIC_ON',
  accident: 'IMPACT',
  tow: 'TOWING_START',
  tampering: 'TAMPER_ON',
  removing: 'TAMPER_ON',
  powerCut: 'POWER_FAILURE',
  powerRestored: 'POWER_RESTORED',
  lowBattery: 'LOW_BATTERY',
  gpsAntennaCut: 'GPS_ANTENNA_OPEN',
  overspeed: 'SPEEDING_BEGIN',
  idle: 'MOTION_EXCESS_IDLE',
  fuelLeak: 'FUEL_THEFT',
};

/**
 * Events. Presence is judged here by what arrives; geofences, maintenance, drivers and results of commands are of Traccar's own
 * records: these types are answered and not kept.
 */
export const eventTypes: Readonly<Record<string, StatusName>> = {
  ignitionOn: 'IGNITION_ON',
  ignitionOff: 'IGNITION_OFF',
  deviceMoving: 'MOTION_START',
  deviceStopped: 'MOTION_STOP',
  deviceOverspeed: 'SPEEDING_BEGIN',
  deviceFuelDrop: 'FUEL_THEFT',
  deviceFuelIncrease: 'FUEL_REFILL',
};
