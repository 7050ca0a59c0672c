// Toasts in German.
import { counterOf } from '../base/format.ts';
import type { ToastTexts } from './en.ts';

const many = counterOf('de');

export const toastTexts: ToastTexts = {
  toasts: {
    back: 'Die Verbindung ist wieder da',
    backHint: 'Was Sie sehen, ist wieder aktuell',
    more: (count) => `und ${many(count, 'weiterer neuer Alarm', 'weitere neue Alarme')}`,
    toAlarm: 'Alarm zeigen',
    restored: (vehicle) => `${vehicle} freigegeben`,
    restoredHint: 'Das Relais wurde als geschlossen zurückgelesen',
    notRestored: (vehicle) => `Die Freigabe von ${vehicle} ist nicht gelungen`,
    notRestoredHint: 'Öffnen Sie das Fahrzeug: dort steht der Grund und was zu tun ist',
    toVehicle: 'Fahrzeug öffnen',
  },
};
