// Hintergrundkarten und Orte mit mehreren Fahrzeugen, auf Deutsch.
import { counterOf, formatNumber } from '../base/format.ts';
import type { MapTexts } from './en.ts';

const many = counterOf('de');
const n = (value: number): string => formatNumber(value, 'de');

export const mapTexts: MapTexts = {
  baseMap: {
    choose: 'Hintergrundkarte',
    world: 'Welt, eingebaut',
    style: (host) => `Karte von ${host}`,
    osm: '© OpenStreetMap-Mitwirkende (ODbL)',
    worldInstead: 'Stattdessen erscheint die eingebaute Welt.',
    restDrawn:
      'Der Rest der Karte ist gezeichnet. Ein Administrator des Dienstes kann den Host zulassen (mapStyle.origins).',
    faults: {
      gone: (name) =>
        name === ''
          ? 'Der Dienst bietet diese Karte nicht mehr an'
          : `Der Dienst hat die Kartendatei ${name} nicht mehr`,
      truncated: (name) =>
        `Die Kartendatei ${name} ist unvollständig. Kopieren Sie sie erneut auf den Dienst`,
      'not-pmtiles': (name) => `Die Kartendatei ${name} ist keine PMTiles-Datei der Version 3`,
      'not-vector': (name) =>
        `Die Kartendatei ${name} enthält Bilder, oder Kacheln, die nicht mit gzip gepackt sind`,
      'not-base-map': (name) => `Die Kartendatei ${name} ist keine Protomaps-Karte der Version 4`,
      unreachable: (name) => `Die Karte ${name} ist nicht lesbar`,
      'bad-style': (name) => `Was ${name} anbietet, ist kein Kartenstil, der sich zeichnen lässt`,
      host: (name) => `Ein Teil der Karte liegt bei ${name}, was nicht erlaubt ist`,
    },
  },
  here: {
    title: (count) => `${many(count, 'Fahrzeug', 'Fahrzeuge')} an diesem Ort`,
    none: 'An diesem Ort ist kein Fahrzeug mehr',
    list: 'Fahrzeuge an diesem Ort, das dringendste zuerst',
    more: (count) => `${many(count, 'weiteres', 'weitere')}; Sie finden sie in der Liste der Fahrzeuge`,
  },
  live: {
    title: 'Live-Karte',
    vehicles: 'Fahrzeuge',
    worstFirst: 'dringende zuerst',
    filter: 'Nach Zustand filtern',
    filters: {
      all: 'Alle',
      alarm: 'Alarm',
      moving: 'Fährt',
      standing: 'Steht',
      unknown: 'Tempo nicht bekannt',
      offline: 'Offline',
      doubtful: 'Zweifelhaft',
    },
    find: 'Fahrzeug in der Liste finden',
    list: 'Fahrzeuge, dringende zuerst',
    map: 'Karte der Fahrzeuge; die Liste daneben zeigt dasselbe',
    zones: 'Geozonen',
    empty: 'Noch keine Fahrzeuge',
    emptyHint: 'Ein Administrator erzeugt einen Anmeldecode; geben Sie ihn am ersten Fahrzeug ein',
    noMatch: 'Kein Fahrzeug passt',
    noMatchHint: 'Löschen Sie den Filter, um alle zu sehen',
    clear: 'Filter löschen',
    noWebgl: 'Die Karte braucht WebGL, das dieser Browser nicht bietet. Die Liste zeigt dasselbe',
    zoomIn: 'Vergrößern',
    zoomOut: 'Verkleinern',
    fit: 'Alle Fahrzeuge zeigen',
    rings: {
      act: 'Alarm ohne Bearbeiter',
      'act-taken': 'Alarm mit Bearbeiter',
      look: 'Niedriger Alarm',
    },
    credit: 'Natural Earth, © GeoNames',
    cluster: (count, alarms) =>
      `${alarms === 0 ? '' : `${many(alarms, 'Alarm', 'Alarme')}, `}${many(count, 'Fahrzeug', 'Fahrzeuge')}`,
    shown: (shown, all) => `${n(shown)} von ${n(all)}`,
  },
};
