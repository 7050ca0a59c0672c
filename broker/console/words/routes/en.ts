// The routes in English.
import type { Widened } from '../base/catalogue.ts';
import { counterOf } from '../base/format.ts';

const many = counterOf('en');

export const routeTexts = {
  routes: {
    list: 'Routes by name',
    find: 'Find a route in the list',
    new: 'New route',
    map: 'Map of the routes; the list beside it holds the same',
    fit: 'Show the route',
    empty: 'No routes yet',
    emptyHint: 'Draw the first one: the way that vehicles are planned to keep to',
    noMatch: 'No route matches',
    missing: (name: string) => `There is no route ${name}`,
    selected: (name: string) => `Selected route: ${name}`,
    length: 'Length',
    planned: 'Planned for',
    plannedNone: 'It is planned for no vehicle',
    plannedHint:
      'Judged by the code of the vehicles from the last position of each. Vehicles do not hold routes: nothing happens when one leaves its route',
    vehicles: (count: number) => many(count, 'vehicle', 'vehicles'),
    keeps: { on: 'On the route', off: 'Beside the route', unknown: 'No position' },
    removeHint: 'It is deleted for every vehicle that it is planned for. It cannot be undone',
    viewer: 'Routes are changed by operators and administrators who see all vehicles of the route',
    newTitle: 'Draw a route',
    idTaken: 'Another route has this identifier',
    full: 'A route has at most 100 points. Move or remove one',
    most: (count: number) => `A route names at most ${count} vehicles`,
    save: 'Save the route',
  },
};

export type RouteTexts = Widened<typeof routeTexts>;
