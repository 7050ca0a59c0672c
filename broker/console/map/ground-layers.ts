// The layers below zones and vehicles: the world that ships, the fleet's own ways, and a base map above or in place of them.
import type { ExpressionSpecification, LayerSpecification } from 'maplibre-gl';
import type { BaseMap } from './base-map.ts';
import type { Colours } from './vehicles/colour-names.ts';

/** Families of this computer, as CSS names them. */
export const fonts = ['system-ui', 'Segoe UI', 'Roboto', 'Noto Sans', 'DejaVu Sans', 'sans-serif'];

/** Shores are exact to some 4 km: from here on a vehicle on a quay would stand in the water. */
const watersZoomMost = 9;
const watersFade: ExpressionSpecification = ['interpolate', ['linear'], ['zoom'], 8, 1, watersZoomMost, 0];

function worldLayers(colours: Colours): LayerSpecification[] {
  const fill = { 'fill-color': colours['map-land'] };
  const line = { 'line-color': colours['map-casing'], 'line-width': 1 };
  return [
    // Until the land is drawn there is no sea either.
    { id: 'water', type: 'background', paint: { 'background-color': colours['map-land'] } },
    { id: 'land-far', type: 'fill', source: 'countries-far', maxzoom: 3, paint: fill },
    { id: 'borders-far', type: 'line', source: 'countries-far', maxzoom: 3, paint: line },
    { id: 'land', type: 'fill', source: 'countries', minzoom: 3, paint: fill },
    {
      id: 'lakes',
      type: 'fill',
      source: 'waters',
      maxzoom: watersZoomMost,
      filter: ['==', ['geometry-type'], 'Polygon'],
      paint: { 'fill-color': colours['map-water'], 'fill-opacity': watersFade },
    },
    {
      id: 'rivers',
      type: 'line',
      source: 'waters',
      minzoom: 3,
      maxzoom: watersZoomMost,
      filter: ['==', ['geometry-type'], 'LineString'],
      layout: { 'line-join': 'round' },
      paint: {
        'line-color': colours['map-water'],
        'line-opacity': watersFade,
        'line-width': ['interpolate', ['linear'], ['zoom'], 3, 0.8, 8, 2.5],
      },
    },
    { id: 'borders', type: 'line', source: 'countries', minzoom: 3, paint: line },
    { id: 'graticule', type: 'line', source: 'graticule', paint: { ...line, 'line-opacity': 0.5 } },
    ...wayLayers(colours),
    ...worldNames(colours),
  ];
}

/** Where the fleet has driven, as the streets of other maps look. */
function wayLayers(colours: Colours): LayerSpecification[] {
  const layout = { 'line-join': 'round' } as const;
  const width = (one: number): ExpressionSpecification => [
    'interpolate',
    ['exponential', 1.5],
    ['zoom'],
    8,
    0.8 + one,
    17,
    9 + one,
  ];
  return [
    {
      id: 'ways-edge',
      type: 'line',
      source: 'ways',
      layout,
      paint: { 'line-color': colours['map-casing'], 'line-width': width(1.2) },
    },
    {
      id: 'ways',
      type: 'line',
      source: 'ways',
      layout,
      paint: { 'line-color': colours['map-street'], 'line-width': width(0) },
    },
  ];
}

function worldNames(colours: Colours): LayerSpecification[] {
  const label = {
    'text-color': colours['map-label'],
    'text-halo-color': colours['map-halo'],
    'text-halo-width': 1.5,
  };
  return [
    {
      id: 'towns',
      type: 'symbol',
      source: 'towns',
      minzoom: 4,
      filter: [
        'step',
        ['zoom'],
        ['>', ['get', 'population'], 3_000_000],
        5,
        ['>', ['get', 'population'], 1_000_000],
        6,
        ['>', ['get', 'population'], 400_000],
        7.5,
        ['>', ['get', 'population'], 200_000],
        8.5,
        true,
      ],
      layout: {
        'text-field': ['get', 'name'],
        'text-font': fonts,
        'text-size': ['interpolate', ['linear'], ['zoom'], 4, 11, 9, 14],
        'symbol-sort-key': ['-', 0, ['get', 'population']],
        'text-padding': 6,
      },
      paint: label,
    },
    {
      id: 'country-names',
      type: 'symbol',
      source: 'country-names',
      maxzoom: 6,
      // From far only those that have room for their name: more than 35,000 km², then 1,800.
      filter: ['>', ['get', 'area'], ['step', ['zoom'], 0.1, 3, 0.005, 4, 0]],
      layout: {
        'text-field': ['get', 'name'],
        'text-font': fonts,
        'text-size': 12,
        'text-padding': 8,
        'symbol-sort-key': ['-', 0, ['get', 'area']],
      },
      paint: label,
    },
  ];
}

/** Of the world that ships, what a map with bounds leaves: it names countries itself, and its streets are grid enough. */
const belowOthers: ReadonlySet<string> = new Set([
  'water',
  'land-far',
  'borders-far',
  'land',
  'lakes',
  'rivers',
  'borders',
  'ways-edge',
  'ways',
  'towns',
]);

/** What lies below zones and vehicles. @param language of the labels of a base map. */
export function groundLayers(
  colours: Colours,
  base: BaseMap | null,
  language: string,
): readonly LayerSpecification[] {
  const world = worldLayers(colours);
  if (base === null) return world;
  const kept = (id: string): boolean => (base.bounds === null ? id === 'water' : belowOthers.has(id));
  return [...world.filter(({ id }) => kept(id)), ...base.layers(colours, language)];
}
