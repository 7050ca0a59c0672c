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
    safe: {
      enginecutoff: {
        done: (vehicle) => `${vehicle} freigegeben`,
        doneHint: 'Das Relais wurde als geschlossen zurückgelesen',
        notDone: (vehicle) => `Die Freigabe von ${vehicle} ist nicht gelungen`,
      },
      cargoaccess: {
        done: (vehicle) => `Laderaum von ${vehicle} verriegelt`,
        doneHint: 'Die Verriegelung wurde als geschlossen zurückgelesen',
        notDone: (vehicle) => `Die Verriegelung des Laderaums von ${vehicle} ist nicht gelungen`,
      },
    },
    ends: {
      enginecutoff: {
        confirmed: (vehicle) => `Motor von ${vehicle} gesperrt`,
        refused: (vehicle) => `Sperre von ${vehicle} abgelehnt`,
        expired: (vehicle) => `Sperre von ${vehicle} abgelaufen`,
        unknown: (vehicle) => `Ausgang der Sperre von ${vehicle} unbekannt`,
      },
      cargoaccess: {
        confirmed: (vehicle) => `Laderaum von ${vehicle} entriegelt`,
        refused: (vehicle) => `Entriegelung von ${vehicle} abgelehnt`,
        expired: (vehicle) => `Entriegelung von ${vehicle} abgelaufen`,
        unknown: (vehicle) => `Ausgang der Entriegelung von ${vehicle} unbekannt`,
      },
    },
    endHints: {
      confirmed: 'Das Fahrzeug hat sein Relais zurückgelesen',
      refused: 'Öffnen Sie den Befehl: dort steht der Grund',
      expired: 'Nichts ist geschehen, und nichts wird von selbst wiederholt',
      unknown: 'Sehen Sie nach, was das Fahrzeug meldet',
    },
    toOrder: 'Befehl zeigen',
    notDoneHint: 'Öffnen Sie das Fahrzeug: dort steht der Grund und was zu tun ist',
    toVehicle: 'Fahrzeug öffnen',
  },
};
