// Base maps and places with several vehicles, in English.
import type { Widened } from '../base/catalogue.ts';
import { counterOf, formatNumber } from '../base/format.ts';

const many = counterOf('en');
const n = (value: number): string => formatNumber(value, 'en');

export const mapTexts = {
  baseMap: {
    choose: 'Base map',
    world: 'World, built in',
    style: (host: string) => `Map of ${host}`,
    osm: '© OpenStreetMap contributors (ODbL)',
    worldInstead: 'The built-in world is shown instead.',
    restDrawn:
      'The rest of the map is drawn. An administrator of the service can allow the host (mapStyle.origins).',
    faults: {
      gone: (name: string) =>
        name === ''
          ? 'The service no longer offers this map'
          : `The service has no map file ${name} any more`,
      truncated: (name: string) => `The map file ${name} is not whole. Copy it to the service again`,
      'not-pmtiles': (name: string) => `The map file ${name} is no PMTiles file of version 3`,
      'not-vector': (name: string) =>
        `The map file ${name} holds pictures, or tiles packed in another way than gzip`,
      'not-base-map': (name: string) => `The map file ${name} is no Protomaps base map of version 4`,
      unreachable: (name: string) => `The map ${name} cannot be read`,
      'bad-style': (name: string) => `What ${name} offers is no map style that can be drawn`,
      host: (name: string) => `A part of the map lies at ${name}, which is not allowed`,
    },
  },
  here: {
    title: (count: number) => `${many(count, 'vehicle', 'vehicles')} at this place`,
    none: 'No vehicle is at this place any more',
    list: 'Vehicles at this place, worst first',
    more: (count: number) => `${many(count, 'more', 'more')}; find them in the list of vehicles`,
  },
  live: {
    title: 'Live map',
    vehicles: 'Vehicles',
    worstFirst: 'worst first',
    filter: 'Filter by state',
    filters: {
      all: 'All',
      alarm: 'Alarm',
      moving: 'Moving',
      standing: 'Standing',
      unknown: 'Speed not known',
      offline: 'Offline',
      doubtful: 'Doubtful',
    },
    find: 'Find a vehicle in the list',
    list: 'Vehicles, worst first',
    map: 'Map of the vehicles; the list beside it holds the same',
    zones: 'Geozones',
    empty: 'No vehicles yet',
    emptyHint: 'An administrator creates an enrolment code; type it at the first vehicle',
    noMatch: 'No vehicle matches',
    noMatchHint: 'Clear the filter to see all of them',
    clear: 'Clear the filter',
    noWebgl: 'The map needs WebGL, which this browser does not offer. The list holds the same',
    zoomIn: 'Zoom in',
    zoomOut: 'Zoom out',
    fit: 'Show all vehicles',
    rings: {
      act: 'Alarm without owner',
      'act-taken': 'Alarm with owner',
      look: 'Low alarm',
    },
    credit: 'Natural Earth, © GeoNames',
    cluster: (count: number, alarms: number) =>
      alarms === 0
        ? many(count, 'vehicle', 'vehicles')
        : `${many(alarms, 'alarm', 'alarms')}, ${many(count, 'vehicle', 'vehicles')}`,
    shown: (shown: number, all: number) => `${n(shown)} of ${n(all)}`,
  },
};

export type MapTexts = Widened<typeof mapTexts>;
