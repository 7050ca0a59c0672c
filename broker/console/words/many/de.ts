// Viele Alarme und viele Fahrzeuge auf einmal, deutsch.
import { counterOf, formatNumber } from '../base/format.ts';
import type { ManyTexts } from './en.ts';

const n = (value: number): string => formatNumber(value, 'de');
const many = counterOf('de');
const alarms = (count: number): string => many(count, 'Alarm', 'Alarme');
const vehicles = (count: number): string => many(count, 'Fahrzeug', 'Fahrzeugen');

export const manyTexts: ManyTexts = {
  many: {
    pick: (alarm, vehicle) => `${alarm} von ${vehicle} auswählen`,
    picked: (count, most) => `${n(count)} von höchstens ${n(most)} ausgewählt`,
    all: 'Alle gezeigten auswählen',
    none: 'Keine auswählen',
    dismiss: 'Ergebnisse schließen',
    results: 'Ergebnisse',
    alarms: {
      take: (count) => `${alarms(count)} übernehmen`,
      assignTitle: (count) => `${alarms(count)} zuweisen`,
      assignText:
        'Der Benutzer hat sie von da an. Neue Alarme und Ihre eigenen lassen sich zuweisen; ein Administrator weist jeden übernommenen zu',
      assignAction: (count, user) => `${alarms(count)} an ${user} zuweisen`,
      user: 'Benutzer',
      userHint: 'Ein Operator oder Administrator, der die Fahrzeuge sieht',
      chooseUser: 'Benutzer wählen',
      close: (count) => `${alarms(count)} schließen`,
      done: {
        take: (count) => `${alarms(count)} übernommen`,
        assign: (count) => `${alarms(count)} zugewiesen`,
        close: (count) => `${alarms(count)} geschlossen`,
      },
      failed: (count) => `${alarms(count)} nicht geändert`,
    },
    commands: {
      restore: (count) => `${many(count, 'Motor', 'Motoren')} freigeben`,
      lock: (count) => `Ladung von ${vehicles(count)} verriegeln`,
      cut: (count) => `${many(count, 'Motor', 'Motoren')} sperren`,
      done: {
        restore: (count) => `Freigabe von ${vehicles(count)} angefordert`,
        lock: (count) => `Verriegelung von ${vehicles(count)} angefordert`,
        cut: (count) => `Sperre von ${vehicles(count)} angefordert`,
      },
      failed: (count) => `An ${vehicles(count)} ging kein Befehl`,
      follow: 'Verfolgen',
      evidence: (vehicle) => `Was ${vehicle} beurteilt hat`,
      meant: (vehicle) => `${vehicle} ist gemeint`,
      meantMissing: 'Haken Sie jedes gemeinte Fahrzeug an, und nehmen Sie die anderen heraus',
      takeOut: (vehicle) => `${vehicle} herausnehmen`,
      tooMany: (most) => `Höchstens ${n(most)} Motoren je Anforderung. Nehmen Sie einige heraus`,
      overLimit: (left) =>
        `In dieser Stunde sind nur noch ${n(left)} Sperren erlaubt. Nehmen Sie einige heraus`,
      gone: 'Dieses Fahrzeug gibt es nicht mehr',
      notYours: 'Sie dürfen diesem Fahrzeug nichts befehlen',
      button: (count) => `${many(count, 'Motor', 'Motoren')} sperren, jeden im Stand`,
    },
  },
};
