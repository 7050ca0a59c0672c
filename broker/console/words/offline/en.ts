// The page without network in English.
import type { Widened } from '../base/catalogue.ts';
import { counterOf, formatNumber } from '../base/format.ts';

const many = counterOf('en');
const n = (value: number): string => formatNumber(value, 'en');

export const offlineTexts = {
  offline: {
    title: 'Offline',
    asOf: (time: string) => `Offline, as of ${time}`,
    ageUnknown: 'Age unknown: the clock of this device was set back',
    again: 'The service does not answer. It is tried again by itself',
    asking: 'Asking the service',
    tryNow: 'Try now',
    remove: 'Remove the picture from this device',
    none: 'No picture of the fleet may be shown',
    noneHint:
      'None is kept on this device for you, it is older than 24 hours, or another user has signed in since. Account and preferences has the choice to keep it',
    noCommands:
      'This is the last picture that was kept. Nothing can be asked of a vehicle from here, no restore either',
    vehicles: (count: number) => many(count, 'vehicle', 'vehicles'),
    noVehicles: 'The picture has no vehicles',
    shown: (shown: number, all: number) => `The ${n(shown)} most urgent of ${n(all)} were kept`,
    was: {
      moving: 'was moving',
      standing: 'was standing',
      unknown: 'speed was not known',
      offline: 'was offline',
      doubtful: 'position was doubtful',
    },
    map: 'Map of the last picture; the list below holds the same',
    noMap: 'The map needs WebGL, which this browser does not offer. The list holds the same',
    zoomIn: 'Zoom in',
    zoomOut: 'Zoom out',
    fit: 'Show all vehicles',
  },
} as const;

export type OfflineTexts = Widened<typeof offlineTexts>;
