// Das Konto und die eigenen Vorlieben, deutsch.
import { formatNumber } from '../base/format.ts';
import type { AccountTexts } from './en.ts';

const n = (value: number): string => formatNumber(value, 'de');

export const accountTexts: AccountTexts = {
  account: {
    of: (account) => `Konto ${account}`,
    state: 'Status',
    active: 'Aktiv',
    inactive: 'Gesperrt oder abgelaufen',
    ends: 'Endet',
    endsNever: 'Es endet nicht',
    devices: 'Geräte',
    devicesOf: (count, most) => `${n(count)} von ${n(most)}`,
    devicesFree: (count) => `${n(count)}, ohne Grenze`,
    adminsOnly: 'Einstellungen des Kontos ändern Administratoren',
    settings: 'Einstellungen',
    fields: {
      name: 'Name des Kontos',
      timeZone: 'Zeitzone',
      cutsPerHour: 'Sperren eines Benutzers je Stunde',
      retainedDays: 'Tage, die Ereignisse bleiben',
    },
    hints: {
      timeZone: 'Wie Europe/Berlin; neue Benutzer beginnen damit',
      cutsPerHour: '0 bis 1.000. Eine Sperre zu viel löst die Sicherung aus; 0 erlaubt keine',
      retainedDays: (most, mayBeForEver) =>
        mayBeForEver
          ? `1 bis ${n(most)}; 0 behält sie für immer`
          : `1 bis ${n(most)}, wie der Betreiber erlaubt`,
    },
    wrong: {
      name: 'Höchstens 128 Zeichen',
      timeZone: 'Nennen Sie eine Zeitzone',
      cutsPerHour: 'Eine ganze Zahl von 0 bis 1.000',
      retainedDays: 'Eine ganze Zahl von Tagen innerhalb der Grenzen',
    },
    look: (account) => `Für das Konto ${account} speichern?`,
    lookAction: (account) => `Für ${account} speichern`,
    looks: {
      deletes: 'Ältere Ereignisse werden endgültig gelöscht',
      noCuts: 'Kein Benutzer kann mehr eine Sperre anfordern. Freigaben bleiben frei',
      fewerCuts: 'Wer die neue Grenze erreicht hat, löst mit der nächsten Sperre die Sicherung aus',
    },
    cuts: 'Regeln für Sperren',
    approval: {
      name: 'Zweite Person',
      on: 'Jede Sperre braucht einen zweiten Benutzer',
      off: 'Ein Benutzer genügt für eine Sperre',
      require: 'Zweiten Benutzer verlangen',
      requireTitle: 'Für jede Sperre einen zweiten Benutzer verlangen?',
      requireText:
        'Ab dann wartet eine Sperre, bis ein anderer Operator oder Administrator zustimmt. Abschalten können es nur zwei Administratoren, oder einer nach einem Tag',
      requireAction: (account) => `Zweiten Benutzer in ${account} verlangen`,
      drop: 'Abschalten',
      dropTitle: 'Den zweiten Benutzer abschalten?',
      dropText:
        'Es gilt, sobald ein anderer Administrator dasselbe verlangt, oder, wo es keinen anderen gibt, wenn Sie es einen Tag später noch einmal verlangen. Jeder Administrator wird benachrichtigt',
      dropAction: (account) => `Abschalten in ${account} verlangen`,
      asked: (user, time) => `${user} verlangt seit ${time}, das abzuschalten`,
      agree: 'Zustimmen',
      agreeAction: (account) => `In ${account} abschalten`,
      again: 'Noch einmal verlangen',
      keep: 'Regel behalten',
    },
    password: {
      name: 'Passwort noch einmal',
      on: 'Eine Sperre und die Zustimmung brauchen noch einmal das Passwort',
      off: 'Eine Sperre braucht kein weiteres Passwort',
      require: 'Passwort verlangen',
      requireTitle: 'Vor jeder Sperre das Passwort verlangen?',
      requireText:
        'Ab dann brauchen eine Sperre, das Öffnen der Ladung und jede Zustimmung noch einmal das Passwort des Benutzers. Eine Freigabe braucht es nie',
      requireAction: (account) => `Passwort in ${account} verlangen`,
      drop: 'Abschalten',
      dropTitle: 'Das Passwort vor einer Sperre abschalten?',
      dropText: 'Dann genügt eine offene Sitzung für eine Sperre. Jeder Administrator wird benachrichtigt',
      dropAction: (account) => `Passwort in ${account} abschalten`,
    },
    breaker: {
      reset: 'Sicherung zurücksetzen',
      title: (account) => `Die Sicherung von ${account} zurücksetzen?`,
      text: 'Sperren werden wieder angenommen und neu gezählt. Wer sie ausgelöst hat, kann sie nicht zurücksetzen',
      reason: 'Warum es sicher weitergehen kann',
      reasonHint: 'Steht im Prüfprotokoll',
      action: (account) => `Sicherung von ${account} zurücksetzen`,
    },
    preferences: {
      title: 'Ihre Vorlieben',
      text: 'Der Dienst bewahrt sie für Sie auf: Sie gelten ab der Anmeldung in jedem Browser, in dem Sie sich anmelden. Die Menüs der Leiste ändern nur diesen Browser',
      language: 'Sprache',
      theme: 'Farben',
      singleKeys: 'Einzelne Tasten als Kürzel',
      notKept: 'Nicht aufbewahrt: jeder Browser entscheidet',
      save: 'Ihre Vorlieben speichern',
      saved: 'Gespeichert und hier angewandt',
      meanwhile:
        'Ihre Vorlieben wurden inzwischen anderswo geändert. Sie wurden neu gelesen: Sehen Sie nach, dann speichern Sie',
    },
  },
};
