// Die Seite ohne Netz auf Deutsch.
import { counterOf, formatNumber } from '../base/format.ts';
import type { OfflineTexts } from './en.ts';

const many = counterOf('de');
const n = (value: number): string => formatNumber(value, 'de');

export const offlineTexts: OfflineTexts = {
  offline: {
    title: 'Offline',
    asOf: (time) => `Offline, Stand ${time}`,
    ageUnknown: 'Alter unbekannt: die Uhr dieses Geräts wurde zurückgestellt',
    again: 'Der Dienst antwortet nicht. Es wird von selbst neu versucht',
    asking: 'Der Dienst wird gefragt',
    tryNow: 'Jetzt versuchen',
    remove: 'Bild von diesem Gerät entfernen',
    none: 'Es darf kein Bild der Flotte gezeigt werden',
    noneHint:
      'Auf diesem Gerät wird keines für Sie behalten, es ist älter als 24 Stunden, oder ein anderer Benutzer hat sich seither angemeldet. Unter Konto und Vorlieben wählen Sie, ob es behalten wird',
    noCommands:
      'Das ist das letzte Bild, das behalten wurde. Von hier kann von keinem Fahrzeug etwas verlangt werden, auch keine Freigabe',
    vehicles: (count) => many(count, 'Fahrzeug', 'Fahrzeuge'),
    noVehicles: 'Das Bild hat keine Fahrzeuge',
    shown: (shown, all) => `Die ${n(shown)} dringendsten von ${n(all)} wurden behalten`,
    was: {
      moving: 'fuhr',
      standing: 'stand',
      unknown: 'Tempo war nicht bekannt',
      offline: 'war offline',
      doubtful: 'Position war zweifelhaft',
    },
    map: 'Karte des letzten Bildes; die Liste darunter enthält dasselbe',
    noMap: 'Die Karte braucht WebGL, das dieser Browser nicht bietet. Die Liste enthält dasselbe',
    zoomIn: 'Vergrößern',
    zoomOut: 'Verkleinern',
    fit: 'Alle Fahrzeuge zeigen',
  },
};
