// The reports in German.
import { decisions, reportColumns, reportKinds } from '../../../../src/core/words/reports/de.ts';
import { counterOf, formatNumber } from '../base/format.ts';
import type { ReportTexts } from './en.ts';

const many = counterOf('de');
const n = (value: number): string => formatNumber(value, 'de');

export const reportTexts: ReportTexts = {
  reports: {
    pages: { label: 'Seiten der Berichte', report: 'Bericht', mail: 'Per Mail' },
    kind: 'Bericht',
    kinds: reportKinds,
    rows: (count) => many(count, 'Zeile', 'Zeilen'),
    asOf: (time) => `Stand ${time}`,
    readAgain: 'Neu lesen',
    print: 'Drucken',
    printed: (account) => `Konto ${account}`,
    vehicles: 'Fahrzeuge',
    fleet: 'Ganze Flotte',
    vehicleCount: (count) => many(count, 'Fahrzeug', 'Fahrzeuge'),
    choose: 'Fahrzeuge wählen',
    chosen: (what) => `Fahrzeuge: ${what}`,
    findVehicle: 'Fahrzeug suchen',
    noVehicle: 'Kein Fahrzeug passt',
    most: (count) => `Ein Bericht nennt höchstens ${count} Fahrzeuge`,
    moreVehicles: (count) => `und ${n(count)} weitere: bitte suchen`,
    from: 'Von',
    to: 'Bis',
    apply: 'Zeitraum zeigen',
    between: (from, to) => `${from} bis ${to}`,
    code: 'Art des Ereignisses',
    empty: {
      summary: 'Kein Fahrzeug ist in diesem Bericht',
      trips: 'In diesem Zeitraum begann keine Fahrt',
      stops: 'In diesem Zeitraum begann kein Stopp',
      alarms: 'In diesem Zeitraum wurde kein Alarm ausgelöst',
      decisions: 'In diesem Zeitraum brauchte keine Abschaltung eine zweite Person',
      events: 'Kein solches Ereignis in diesem Zeitraum',
    },
    emptyHint: 'Einen längeren Zeitraum oder andere Fahrzeuge wählen',
    reading: (done, all) => `${n(done)} von ${n(all)} Fahrzeugen gelesen`,
    readingRows: (count) => `${many(count, 'Zeile', 'Zeilen')} gelesen`,
    stop: 'Lesen anhalten',
    stopped: 'Das Lesen wurde angehalten',
    stoppedHint: 'Es wird nichts gezeigt, weil nicht jedes Fahrzeug gelesen wurde',
    capped: (count) => `Nur die ersten ${n(count)} Zeilen wurden gelesen`,
    cappedHint: 'Für alle Zeilen einen kürzeren Zeitraum oder weniger Fahrzeuge wählen',
    tooLong: (days) => `Der Zeitraum ist länger als ${days} Tage`,
    tooLongFleet: 'Einen kürzeren Zeitraum wählen, oder Fahrzeuge: dann werden bis zu 366 Tage gelesen',
    tooLongNamed: 'Einen kürzeren Zeitraum wählen',
    showMore: 'Mehr Zeilen zeigen',
    shown: (shown, all) => `${n(shown)} von ${n(all)} Zeilen gezeigt`,
    all: 'Alle',
    notes: {
      summary:
        'Eine Fahrt oder ein Stopp gehört zu dem Zeitraum, in dem sie beginnen, und zählt ganz. Kraftstoff ist der Füllstand am Anfang der ersten und am Ende der letzten Fahrt: was dazwischen getankt wurde, ist nicht zu sehen, und ohne die Größe des Tanks gibt es keine Liter. Spalten des Busses sind, was das Fahrzeug selbst zählt (J1939): auf etwa 1 km, 1 L und 0,1 h',
      trips:
        'Eine Fahrt gehört zu dem Zeitraum, in dem sie beginnt. Leerlauf heißt Zündung an, ohne sich zu bewegen, unterwegs. Spalten des Busses sind, was das Fahrzeug selbst zählt (J1939): auf etwa 1 km, 1 L und 0,1 h',
      stops:
        'Ein Stopp gehört zu dem Zeitraum, in dem er beginnt. Leerlauf heißt Zündung an, während das Fahrzeug stand',
      alarms:
        'Nach der Zeit, zu der der Dienst sie auslöste. Geschlossene Alarme werden 90 Tage lang aufbewahrt',
      decisions: 'Abschaltungen, die eine zweite Person brauchten, nach der Zeit der Anfrage',
      events:
        'Nach der Zeit des Fahrzeugs. Verspätung heißt, wie lange danach der Dienst das Ereignis speicherte',
    },
    columns: reportColumns,
    decisions,
    open: 'dauert an',
    order: 'Ordnung',
    upwards: (column) => `${column}, aufsteigend`,
    downwards: (column) => `${column}, absteigend`,
    plot: {
      summary:
        'Strecke und Fahrzeit der Fahrzeuge, in der Ordnung der Tabelle; die Tabelle enthält die Werte',
      trips: 'Strecke und Fahrzeit jedes Tages; die Tabelle enthält die Werte',
      stops: 'Standzeit und Leerlauf jedes Tages; die Tabelle enthält die Werte',
      alarms: 'Alarme jedes Tages; die Tabelle enthält sie',
      decisions: 'Anfragen jedes Tages; die Tabelle enthält sie',
      events: 'Ereignisse jedes Tages; die Tabelle enthält sie',
    },
    perDay: 'Zeilen eines Tages',
    save: 'Als Datei speichern',
    saveTable: 'CSV, diese Tabelle',
    saveSemicolons: 'CSV mit Semikolons, diese Tabelle',
    saveTracks: 'Aufzeichnungen der Fahrzeuge, je eine Datei',
    formats: { gpx: 'GPX, der Weg', csv: 'CSV, jede Aufzeichnung', geojson: 'GeoJSON, jede Aufzeichnung' },
    saveMost: (count) => `Bis zu ${count} Fahrzeuge wählen, um ihre Aufzeichnungen zu speichern`,
    saving: (vehicle, file, files) => `${vehicle} wird gespeichert, Datei ${n(file)} von ${n(files)}`,
    received: (mebibytes) => `${mebibytes} MiB empfangen`,
    saved: (files) => many(files, 'Datei wurde gespeichert', 'Dateien wurden gespeichert'),
    cancelled: 'Das Speichern wurde abgebrochen',
    notSaved: (vehicle) => `${vehicle} wurde nicht gespeichert`,
    tooLarge: (mebibytes) => `Die Datei ist größer als ${n(mebibytes)} MiB. Einen kürzeren Zeitraum wählen`,
  },
};
