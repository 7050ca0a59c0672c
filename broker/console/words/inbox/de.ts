// Der Eingang, deutsch.
import { counterOf } from '../base/format.ts';
import type { InboxTexts } from './en.ts';

const many = counterOf('de');

export const inboxTexts: InboxTexts = {
  inbox: {
    filter: 'Nach Angesehenem filtern',
    filters: { all: 'Alle', unviewed: 'Nicht angesehen' },
    only: (vehicle) => `Nur ${vehicle}`,
    every: 'Alle Fahrzeuge zeigen',
    caption: 'Benachrichtigungen, neueste zuerst',
    columns: { what: 'Was', vehicle: 'Fahrzeug', when: 'Wann', state: 'Stand' },
    empty: 'Noch nichts hier',
    emptyHint:
      'Warnungen der Fahrzeuge, die Sie sehen, und was Regeln Ihnen senden, stehen hier 90 Tage lang',
    allViewed: 'Sie haben alles angesehen',
    account: (user) => `Hinweis des Kontos zu ${user}`,
    late: 'kam spät',
    lateAlarms: 'Verspätete Alarme',
    fresh: 'Nicht angesehen',
    viewed: 'Angesehen',
    mark: 'Als angesehen merken',
    markOf: (what, vehicle) => `Als angesehen merken: ${what}, ${vehicle}`,
    markAll: 'Alle als angesehen merken',
    marked: 'Alle sind als angesehen gemerkt',
    alarm: 'Alarm öffnen',
    older: 'Ältere zeigen',
    shown: (count) => `${many(count, 'Benachrichtigung', 'Benachrichtigungen')} gezeigt`,
    fromVehicles: {
      title: 'Nachrichten von Fahrzeugen',
      none: 'Keine ungelesenen Nachrichten von Fahrzeugen',
      hint: 'Was die Geräte Ihrer Fahrzeuge als Text senden, steht hier 30 Tage lang',
      own: 'Nur für Sie, von allen Fahrzeugen',
      read: 'Diese als gelesen markieren',
    },
    push: {
      title: 'Benachrichtigungen dieses Browsers',
      text: 'Regeln mit Push benachrichtigen Sie hier, auch bei geschlossener Konsole und nach dem Abmelden',
      states: {
        insecure: 'Nicht möglich: Benachrichtigungen brauchen HTTPS',
        unsupported: 'Dieser Browser bietet das nicht',
        refused: 'In den Einstellungen des Browsers für diese Seite abgelehnt. Erlauben Sie es zuerst dort',
        off: 'Aus in diesem Browser',
        on: 'Ein in diesem Browser',
        other: 'Ein in diesem Browser für einen anderen Benutzer',
      },
      faults: {
        refused: 'Der Browser darf nicht benachrichtigen',
        no_service: 'Der Browser hat seinen Push-Dienst nicht erreicht',
        undeliverable: 'Der Dienst kann an diesen Browser nicht senden',
      },
      switchOn: 'In diesem Browser einschalten',
      switchOff: 'In diesem Browser ausschalten',
      failed: 'Nichts wurde geändert',
    },
  },
};
