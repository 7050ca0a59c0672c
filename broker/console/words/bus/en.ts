// The vehicle bus in English: values, driver states, failure modes.
import type { Widened } from '../base/catalogue.ts';

export const busTexts = {
  bus: {
    title: 'Vehicle bus',
    hint: 'Read on the bus by the unit. What is grey may have changed since',
    codes: 'Active trouble codes',
    noCodes: 'No active trouble codes',
    codesUnknown: 'The bus has not said whether there are any',
    set: 'Set',
    released: 'Released',
    noCard: 'No card',
    names: {
      busSpeed: 'Wheel speed',
      tachographSpeed: 'Tachograph speed',
      rpm: 'Engine speed',
      parkingBrake: 'Parking brake',
      busOdometer: 'Odometer',
      engineHours: 'Engine hours',
      busFuelLevel: 'Fuel level',
      fuelRate: 'Fuel rate',
      fuelUsed: 'Fuel used',
      coolant: 'Coolant',
      vehicleVolts: 'Battery',
      driver1State: 'Driver 1',
      driver2State: 'Driver 2',
      driverCard1: 'Card of driver 1',
      driverCard2: 'Card of driver 2',
      vin: 'VIN',
    },
    /** Working states of a driver. */
    drivers: {
      0: 'Rest',
      1: 'Available',
      2: 'Work',
      3: 'Drive',
    },
    /** Failure modes of SAE J1939-73. */
    failures: {
      0: 'Far above the normal range',
      1: 'Far below the normal range',
      2: 'Erratic or incorrect',
      3: 'Voltage too high or shorted to supply',
      4: 'Voltage too low or shorted to ground',
      5: 'Current too low or open circuit',
      6: 'Current too high or grounded circuit',
      7: 'Mechanical part does not respond',
      8: 'Abnormal frequency or pulse',
      9: 'Abnormal update rate',
      10: 'Abnormal rate of change',
      11: 'Cause not known',
      12: 'Defective device',
      13: 'Out of calibration',
      14: 'Special instructions',
      15: 'Slightly above the normal range',
      16: 'Moderately above the normal range',
      17: 'Slightly below the normal range',
      18: 'Moderately below the normal range',
      19: 'Received data in error',
      20: 'Drifted high',
      21: 'Drifted low',
      31: 'Condition exists',
    },
    unknownFailure: 'Unknown failure mode',
  },
};

export type BusTexts = Widened<typeof busTexts>;
