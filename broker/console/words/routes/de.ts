// The routes in German.
import { counterOf } from '../base/format.ts';
import type { RouteTexts } from './en.ts';

const many = counterOf('de');

export const routeTexts: RouteTexts = {
  routes: {
    list: 'Routen nach Namen',
    find: 'Route in der Liste suchen',
    new: 'Neue Route',
    map: 'Karte der Routen; die Liste daneben enthält dasselbe',
    fit: 'Route zeigen',
    empty: 'Noch keine Routen',
    emptyHint: 'Die erste zeichnen: den Weg, den Fahrzeuge nehmen sollen',
    noMatch: 'Keine Route passt',
    missing: (name) => `Es gibt keine Route ${name}`,
    selected: (name) => `Gewählte Route: ${name}`,
    length: 'Länge',
    planned: 'Geplant für',
    plannedNone: 'Sie ist für kein Fahrzeug geplant',
    plannedHint:
      'Beurteilt mit dem Code der Fahrzeuge nach der letzten Position jedes Fahrzeugs. Fahrzeuge haben keine Routen: verlässt eines seine Route, geschieht nichts',
    vehicles: (count) => many(count, 'Fahrzeug', 'Fahrzeuge'),
    keeps: { on: 'Auf der Route', off: 'Neben der Route', unknown: 'Keine Position' },
    removeHint:
      'Sie wird für jedes Fahrzeug gelöscht, für das sie geplant ist. Das lässt sich nicht rückgängig machen',
    viewer: 'Routen ändern Disponenten und Administratoren, die alle Fahrzeuge der Route sehen',
    newTitle: 'Route zeichnen',
    idTaken: 'Eine andere Route hat diese Kennung',
    full: 'Eine Route hat höchstens 100 Punkte. Einen verschieben oder entfernen',
    most: (count) => `Eine Route nennt höchstens ${count} Fahrzeuge`,
    save: 'Route speichern',
  },
};
