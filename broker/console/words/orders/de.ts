// German: what is said of an order, by the relay that it moves. No word of one relay stands in the texts of another.
import { cutReasons } from '../../../../src/core/words/reports/de.ts';
import type { OrdersTexts } from './en.ts';

export const orders: OrdersTexts = {
  enginecutoff: {
    noun: 'Sperre',
    button: (vehicle) => `${vehicle} sperren, sobald es steht`,
    closeGoesOn: 'Schließen; die Sperre läuft weiter',
    noFeature: 'Dieses Fahrzeug meldet keine Motorsperre',
    already: 'Der Motor ist bereits gesperrt, wie vom Fahrzeug zurückgelesen',
    notFound: 'Diese Sperre gibt es nicht',
    consequence: 'Das Relais öffnet erst, wenn die Zündung aus ist und das Fahrzeug nachweislich steht',
    consequenceTimes: (offS, standS) =>
      `Das Relais öffnet erst, wenn die Zündung seit ${offS} s aus ist und das Fahrzeug seit ${standS} s nachweislich steht`,
    until: (time) =>
      `Spätestens bis ${time}. Danach startet der Motor nicht, bis Sie ihn freigeben. Während der Fahrt geschieht nichts`,
    reasons: cutReasons,
    ttlHint: 'Höchstens 24 h',
    passwordHint: 'Ihr Konto verlangt es vor einer Sperre noch einmal',
    failed: 'Nicht angefordert',
    withdraw: 'Zurückziehen',
    withdrawFailed: 'Nicht zurückgezogen',
    executing: 'Relais soll öffnen',
    says: {
      armedPlain: 'Wartet im Fahrzeug, bis es sicher ist',
      executing: 'Das Relais soll öffnen. Es ist noch nicht zurückgelesen',
      confirmed: (time) => `Motor gesperrt. Das Relais wurde um ${time} offen zurückgelesen`,
      refused: (vehicle, why) => `Nicht gesperrt. ${vehicle} hat abgelehnt: ${why}`,
      refusedBy: (user) => `Nicht gesperrt. ${user} hat abgelehnt; nichts wurde gesendet`,
      expired: 'Nicht gesperrt. Der Befehl lief ab, bevor das Fahrzeug handelte',
      expiredRequest: 'Nicht gesperrt. Keine zweite Person hat rechtzeitig zugestimmt; nichts wurde gesendet',
      cancelled: 'Nicht gesperrt. Der Befehl wurde zurückgezogen',
    },
    hints: {
      confirmed: 'Der Motor startet nicht, bis er freigegeben wird',
      nothingRepeated:
        'Nichts wird von selbst wiederholt. Fordern Sie neu an, wenn weiterhin gesperrt werden soll',
      unknown: 'Prüfen Sie die zurückgelesene Motorsperre; geben Sie im Zweifel frei',
    },
    after: {
      badge: 'Freigegeben',
      undone: (time) =>
        `Der Motor war gesperrt: das Relais wurde um ${time} offen zurückgelesen. Er ist freigegeben`,
      by: (user, time) => `Freigegeben von ${user} um ${time}`,
      readBack: 'Das Relais ist geschlossen, vom Fahrzeug zurückgelesen',
      undoing: (user, time) =>
        `${user} hat um ${time} die Freigabe angefordert. Das Relais ist noch nicht geschlossen zurückgelesen`,
      replaced: 'Der Motor ist jetzt durch einen anderen Auftrag gesperrt, vom Fahrzeug zurückgelesen',
      step: (user) => `Freigegeben von ${user}`,
    },
    relayNow: 'Motorsperre jetzt',
    leftAnnounce: (span) => `Noch ${span}, bis die Sperre abläuft`,
    stale: (time) =>
      `Sie sehen den Stand von ${time}. Das Fahrzeug entscheidet ohne die Konsole. Eine Freigabe kann weiterhin angefordert werden; antwortet der Dienst nicht, nutzen Sie den Servicecode`,
    needMovement: 'nach Bewegungseingang, Drehzahl und Bordspannung',
    rehearse: 'Fahrzeug fragen: Würde es jetzt sperren?',
    rehearsal: 'Würde es jetzt sperren?',
    would: 'Ja: Das Fahrzeug würde jetzt sperren',
    safe: {
      pressAgain: 'Sie können jederzeit noch einmal drücken: zwei Freigaben schaden nicht',
      asked: (vehicle) => `Freigabe von ${vehicle} angefordert`,
      states: {
        requested: 'Sie geht hinaus, sobald sich das Fahrzeug verbindet',
        sent: 'Gesendet. Das Fahrzeug hat noch nicht geantwortet',
        received: 'Das Fahrzeug hat sie',
        armed: 'Das Fahrzeug hat sie und wartet',
        executing: 'Das Relais soll schließen. Es ist noch nicht zurückgelesen',
        refused: 'Das Fahrzeug hat sie abgelehnt',
        expired: 'Sie lief ab, bevor das Fahrzeug handelte',
        cancelled: 'Sie wurde zurückgezogen',
        superseded: 'Ein neuerer Befehl hat sie ersetzt',
        unknown: 'Ihr Ausgang ist unbekannt',
      },
      confirmed: (vehicle, time) =>
        `${vehicle} freigegeben. Das Relais wurde um ${time} geschlossen zurückgelesen`,
      asking: (vehicle) => `Fordert die Freigabe von ${vehicle} an`,
    },
  },
  cargoaccess: {
    noun: 'Entriegelung',
    button: (vehicle) => `Laderaum von ${vehicle} entriegeln, sobald es steht`,
    closeGoesOn: 'Schließen; die Entriegelung läuft weiter',
    noFeature: 'Dieses Fahrzeug meldet keine Laderaumverriegelung',
    already: 'Der Laderaum ist bereits entriegelt, wie vom Fahrzeug zurückgelesen',
    notFound: 'Diese Entriegelung gibt es nicht',
    consequence: 'Der Laderaum wird erst entriegelt, wenn das Fahrzeug nachweislich steht',
    consequenceTimes: (offS, standS) =>
      `Der Laderaum wird erst entriegelt, wenn die Zündung seit ${offS} s aus ist und das Fahrzeug seit ${standS} s nachweislich steht`,
    until: (time) =>
      `Spätestens bis ${time}. Danach bleibt der Laderaum so lange offen, wie am Fahrzeug eingestellt ist, 30 s, wenn der Einbauer nichts anderes gewählt hat, und verriegelt von selbst. Während der Fahrt geschieht nichts`,
    reasons: {
      delivery: 'Lieferung oder Abholung',
      inspection: 'Kontrolle durch eine Behörde',
      rescue: 'Person oder Ware in Gefahr',
      driver: 'Fahrer bat darum',
      test: 'Test',
      other: 'Anderer Grund',
    },
    ttlHint: 'Höchstens 1 h. Eine Person sollte beim Fahrzeug sein',
    passwordHint: 'Ihr Konto verlangt es vor einer Entriegelung noch einmal',
    failed: 'Nicht angefordert',
    withdraw: 'Zurückziehen',
    withdrawFailed: 'Nicht zurückgezogen',
    executing: 'Verriegelung soll öffnen',
    says: {
      armedPlain: 'Wartet im Fahrzeug, bis es sicher ist',
      executing: 'Die Verriegelung soll öffnen. Sie ist noch nicht zurückgelesen',
      confirmed: (time) => `Laderaum entriegelt. Die Verriegelung wurde um ${time} offen zurückgelesen`,
      refused: (vehicle, why) => `Nicht entriegelt. ${vehicle} hat abgelehnt: ${why}`,
      refusedBy: (user) => `Nicht entriegelt. ${user} hat abgelehnt; nichts wurde gesendet`,
      expired: 'Nicht entriegelt. Der Befehl lief ab, bevor das Fahrzeug handelte',
      expiredRequest:
        'Nicht entriegelt. Keine zweite Person hat rechtzeitig zugestimmt; nichts wurde gesendet',
      cancelled: 'Nicht entriegelt. Der Befehl wurde zurückgezogen',
    },
    hints: {
      confirmed:
        'Er verriegelt von selbst nach der am Fahrzeug eingestellten Zeit. Sie können ihn jederzeit verriegeln',
      nothingRepeated:
        'Nichts wird von selbst wiederholt. Fordern Sie neu an, wenn weiterhin entriegelt werden soll',
      unknown: 'Prüfen Sie die zurückgelesene Laderaumverriegelung; verriegeln Sie im Zweifel',
    },
    after: {
      badge: 'Wieder verriegelt',
      undone: (time) =>
        `Der Laderaum war entriegelt: die Verriegelung wurde um ${time} offen zurückgelesen. Er ist wieder verriegelt`,
      by: (user, time) => `Verriegelt von ${user} um ${time}`,
      readBack: 'Die Verriegelung ist geschlossen, vom Fahrzeug zurückgelesen',
      undoing: (user, time) =>
        `${user} hat um ${time} die Verriegelung angefordert. Sie ist noch nicht geschlossen zurückgelesen`,
      replaced: 'Der Laderaum ist jetzt durch einen anderen Auftrag entriegelt, vom Fahrzeug zurückgelesen',
      step: (user) => `Verriegelt von ${user}`,
    },
    relayNow: 'Laderaumverriegelung jetzt',
    leftAnnounce: (span) => `Noch ${span}, bis die Entriegelung abläuft`,
    stale: (time) =>
      `Sie sehen den Stand von ${time}. Das Fahrzeug entscheidet ohne die Konsole und verriegelt von selbst. Eine Verriegelung kann weiterhin angefordert werden`,
    needMovement: 'nach Bewegungseingang und Fahrzeugbus',
    rehearse: 'Fahrzeug fragen: Würde es jetzt entriegeln?',
    rehearsal: 'Würde es jetzt entriegeln?',
    would: 'Ja: Das Fahrzeug würde jetzt entriegeln',
    safe: {
      pressAgain: 'Sie können jederzeit noch einmal drücken: zweimal verriegeln schadet nicht',
      asking: (vehicle) => `Fordert die Verriegelung des Laderaums von ${vehicle} an`,
      asked: (vehicle) => `Verriegelung des Laderaums von ${vehicle} angefordert`,
      states: {
        requested:
          'Sie geht hinaus, sobald sich das Fahrzeug verbindet. Ein offener Laderaum verriegelt auch von selbst, nach der eingestellten Zeit',
        sent: 'Gesendet. Das Fahrzeug hat noch nicht geantwortet',
        received: 'Das Fahrzeug hat sie',
        armed: 'Das Fahrzeug hat sie und wartet',
        executing: 'Die Verriegelung soll schließen. Sie ist noch nicht zurückgelesen',
        refused: 'Das Fahrzeug hat sie abgelehnt',
        expired: 'Sie lief ab, bevor das Fahrzeug handelte',
        cancelled: 'Sie wurde zurückgezogen',
        superseded: 'Ein neuerer Befehl hat sie ersetzt',
        unknown: 'Ihr Ausgang ist unbekannt',
      },
      confirmed: (vehicle, time) =>
        `Laderaum von ${vehicle} verriegelt. Die Verriegelung wurde um ${time} geschlossen zurückgelesen`,
    },
  },
};
