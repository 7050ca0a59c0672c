// Die Wandtafel auf Deutsch.
import { counterOf } from '../base/format.ts';
import type { WallboardTexts } from './en.ts';

const many = counterOf('de');

export const wallboardTexts: WallboardTexts = {
  wallboard: {
    title: 'Wandtafel',
    states: 'Fahrzeuge nach Zustand',
    map: 'Karte der Fahrzeuge; die Zahlen daneben zählen dieselben',
    noMap: 'Die Karte braucht WebGL, das dieser Browser nicht bietet',
    alarms: (count) => many(count, 'offener Alarm', 'offene Alarme'),
    noAlarms: 'Keine offenen Alarme',
    alarmsUnknown: 'Offene Alarme: nicht bekannt',
    takenBy: (user) => `Übernommen von ${user}`,
    shelved: (count) => many(count, 'Alarm ist zurückgestellt', 'Alarme sind zurückgestellt'),
    orders: (count) => many(count, 'Befehl wartet', 'Befehle warten'),
    noOrders: 'Kein Befehl wartet',
    ordersUnknown: 'Wartende Befehle: nicht bekannt',
    more: (count) => `und ${many(count, 'weiterer', 'weitere')}`,
    opening: 'Verbindet',
    down: (time, span) => `Keine Verbindung seit ${time} (${span})`,
    downHint: (time) => `Sie sehen den Stand von ${time}. Es wird von selbst neu versucht`,
    noAnswer: (time, span) => `Der Dienst antwortet seit ${time} nicht (${span})`,
    noAnswerHint: 'Es wird von selbst neu versucht',
    ended: (time, span) => `Dieser Bildschirm hat seit ${time} keinen Zugang (${span})`,
    endedHint:
      'Sein Token ist abgelaufen oder wurde beendet. Es wird jede Minute neu versucht; unten wird ein neues eingerichtet',
    refused: 'Dieses Token ist nicht für eine Wandtafel',
    expires: (span) => `Das Token dieses Bildschirms endet in ${span}. Richten Sie vorher ein neues ein`,
    mayGoDark: 'Dieser Browser schaltet den Bildschirm vielleicht ab',
    setUp: 'Bildschirm einrichten',
  },
  wallboardSetup: {
    title: 'Diese Wandtafel einrichten',
    text: 'Eine Wandtafel braucht ein API-Token, das lesen darf und sonst nichts. Sie bietet keinen Befehl und keine Änderung.',
    steps: [
      'Ein Administrator legt einen Benutzer für Bildschirme an, mit der Rolle Betrachter und den Gruppen, die gezeigt werden dürfen',
      'Melden Sie sich als dieser Benutzer an. Erzeugen Sie unter Personen, Ihre Sitzungen und Token eines, das nur lesen darf',
      'Fügen Sie es hier ein. Es bleibt in diesem Browser, bis es hier entfernt oder unter Personen beendet wird',
    ],
    token: 'API-Token',
    use: 'Flotte mit diesem Token zeigen',
    busy: 'Der Dienst wird gefragt',
    faults: {
      shape: 'Das ist kein ganzes API-Token. Kopieren Sie alles',
      login: 'Das ist die Sitzung einer Person. Erzeugen Sie ein Token, das lesen darf',
      scopes: 'Dieses Token darf mehr als lesen. Erzeugen Sie eines, das nur lesen darf',
      unknown: 'Der Dienst nimmt dieses Token nicht an. Es ist vielleicht beendet',
      unreachable: 'Der Dienst antwortet nicht. Prüfen Sie das Netz und versuchen Sie es noch einmal',
    },
    remove: 'Token aus diesem Browser entfernen',
    back: 'Zurück zur Wandtafel',
    language: 'Sprache',
    theme: 'Farben',
  },
};
