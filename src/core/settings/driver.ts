// The table `driver` of the settings: allowed keys, and how long a driver counts. Data only. No setting here reaches a relay.
import { type Static, Type } from 'typebox';
import { numberSetting } from './kinds.ts';

/** Ids with spaces, commas or line ends between them. Linear: two ids cannot touch each other. */
const keyList = '^[\\s,]*(?:(?:[0-9A-Fa-f]{16}|[0-9A-Fa-f]{10})(?:[\\s,]+|$))+$';

export const driverSettingsSchema = Type.Object({
  keys: Type.Optional(
    Type.String({
      pattern: keyList,
      // 500 iButtons, as trackers hold them.
      maxLength: 8500,
      'x-personal': true,
      description:
        "Ids of the drivers' keys, 10 or 16 hex digits each, with spaces or commas between them; another key is reported as unknown. Without a list every key counts. Personal data",
    }),
  ),
  clearS: numberSetting(
    { low: 10, high: 86_400, standard: 300 },
    'A driver no longer counts after the ignition was off this long',
  ),
});

export type DriverSettings = Static<typeof driverSettingsSchema>;
