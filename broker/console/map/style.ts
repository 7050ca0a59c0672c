// The style of the map: land, borders, towns, clusters, marks. Labels are drawn with fonts of this computer: there is no `glyphs`, so
// none is asked for.
import type {
  ExpressionSpecification,
  FilterSpecification,
  LayerSpecification,
  StyleSpecification,
} from 'maplibre-gl';
import type { BaseMap } from './base-map.ts';
import { fonts, groundLayers } from './ground-layers.ts';
import { nameImage, nameText } from './joined-names.ts';
import type { Colours } from './vehicles/colour-names.ts';
import { noImage } from './vehicles/mark-layers.ts';
import { draftLayers, draftSource, zoneLayers, zoneSource } from './zones.ts';

const empty = { type: 'FeatureCollection', features: [] } as const;
const worst: ExpressionSpecification = ['get', 'worst'];
const byWorst = (act: string, look: string, none: string): ExpressionSpecification => [
  'case',
  ['>=', worst, 2],
  act,
  ['>=', worst, 1],
  look,
  none,
];

function clusterLayers(colours: Colours): LayerSpecification[] {
  return [
    {
      id: 'clusters',
      type: 'circle',
      source: 'clusters',
      paint: {
        'circle-color': colours.surface,
        'circle-radius': ['get', 'radius'],
        'circle-stroke-width': ['case', ['>=', worst, 1], 3, 2],
        'circle-stroke-color': byWorst(colours['act-fill'], colours.look, colours['mark-standing']),
      },
    },
    {
      id: 'cluster-counts',
      type: 'symbol',
      source: 'clusters',
      layout: {
        'text-field': ['get', 'text'],
        'text-font': fonts,
        'text-size': 12,
        'text-allow-overlap': true,
        // The circle is no symbol: a picture of its size, which shows nothing, keeps names away from it.
        'icon-image': noImage,
        'icon-size': ['*', 2, ['get', 'radius']],
        'icon-allow-overlap': true,
      },
      paint: { 'text-color': colours.text },
    },
  ];
}

function trackLayers(colours: Colours): LayerSpecification[] {
  const layout = { 'line-cap': 'round', 'line-join': 'round' } as const;
  return [
    {
      id: 'track-edge',
      type: 'line',
      source: 'track',
      layout,
      paint: { 'line-color': colours['map-halo'], 'line-width': 6, 'line-opacity': 0.8 },
    },
    {
      id: 'track',
      type: 'line',
      source: 'track',
      filter: ['!=', ['get', 'isLate'], true],
      layout,
      paint: { 'line-color': colours.track, 'line-width': 3 },
    },
    {
      id: 'track-late',
      type: 'line',
      source: 'track',
      filter: ['==', ['get', 'isLate'], true],
      layout,
      paint: { 'line-color': colours.track, 'line-width': 3, 'line-dasharray': [0.1, 2] },
    },
  ];
}

/** Drawn over all, and names may lie on it. */
const always = { 'icon-allow-overlap': true, 'icon-ignore-placement': true } as const;

type VehicleSource = 'vehicles' | 'gliding';
const ownID = (source: VehicleSource, name: string): string =>
  source === 'vehicles' ? name : `${source}-${name}`;

/** Names give way to marks, which are placed first: a layer is placed before those below it. */
function nameLayer(colours: Colours, source: VehicleSource): LayerSpecification {
  return {
    id: ownID(source, 'names'),
    type: 'symbol',
    source,
    layout: {
      'text-field': nameText,
      'icon-image': nameImage,
      'icon-offset': [0, 26],
      'text-font': fonts,
      'text-size': 12,
      'text-offset': [0, 1.6],
      'text-padding': 0,
      'text-anchor': 'top',
      'symbol-sort-key': ['-', 0, worst],
      'text-optional': true,
    },
    paint: { 'text-color': colours.text, 'text-halo-color': colours['map-halo'], 'text-halo-width': 2 },
  };
}

function markLayersOf(source: VehicleSource): LayerSpecification[] {
  return [
    {
      id: ownID(source, 'rings'),
      type: 'symbol',
      source,
      filter: ['!=', ['get', 'ring'], ''] as FilterSpecification,
      layout: { 'icon-image': ['get', 'ring'], ...always },
    },
    {
      id: ownID(source, 'marks'),
      type: 'symbol',
      source,
      layout: {
        'icon-image': ['get', 'mark'],
        'icon-rotate': ['get', 'turn'],
        'icon-rotation-alignment': 'map',
        'icon-allow-overlap': true,
        'icon-padding': 0,
      },
    },
  ];
}

/** The selected vehicle, above all others. */
function selectedLayers(colours: Colours): LayerSpecification[] {
  const names = { 'text-color': colours.text, 'text-halo-color': colours['map-halo'], 'text-halo-width': 2 };
  return [
    {
      id: 'selected-ring',
      type: 'symbol',
      source: 'selected',
      filter: ['!=', ['get', 'ring'], ''] as FilterSpecification,
      layout: { 'icon-image': ['get', 'ring'], ...always },
    },
    {
      id: 'selected',
      type: 'symbol',
      source: 'selected',
      layout: { 'icon-image': 'ring-selected', ...always },
    },
    {
      id: 'selected-mark',
      type: 'symbol',
      source: 'selected',
      layout: {
        'icon-image': ['get', 'mark'],
        'icon-rotate': ['get', 'turn'],
        'icon-rotation-alignment': 'map',
        'text-field': nameText,
        'text-font': fonts,
        'text-size': 13,
        'text-offset': [0, 1.6],
        'text-anchor': 'top',
        'text-allow-overlap': true,
        'text-ignore-placement': true,
        ...always,
      },
      paint: names,
    },
    {
      id: 'selected-joined-name',
      type: 'symbol',
      source: 'selected',
      filter: ['==', ['get', 'isJoined'], true],
      layout: { 'icon-image': nameImage, 'icon-offset': [0, 28], ...always },
    },
  ];
}

/** @param base null: the world that ships. @param language of its labels. */
export function styleOf(colours: Colours, base: BaseMap | null, language: string): StyleSpecification {
  return {
    version: 8,
    ...(base?.sprite === undefined ? {} : { sprite: base.sprite }),
    sources: {
      ...base?.sources,
      'countries-far': { type: 'geojson', data: empty as never, tolerance: 0.5 },
      countries: { type: 'geojson', data: empty as never },
      'country-names': { type: 'geojson', data: empty as never },
      waters: { type: 'geojson', data: empty as never },
      towns: { type: 'geojson', data: empty as never },
      graticule: { type: 'geojson', data: empty as never },
      ways: { type: 'geojson', data: empty as never, tolerance: 0.5 },
      [zoneSource]: { type: 'geojson', data: empty as never, tolerance: 0.1 },
      [draftSource]: { type: 'geojson', data: empty as never, tolerance: 0.1 },
      track: { type: 'geojson', data: empty as never },
      clusters: { type: 'geojson', data: empty as never },
      vehicles: { type: 'geojson', data: empty as never, promoteId: 'id' },
      gliding: { type: 'geojson', data: empty as never, promoteId: 'id' },
      selected: { type: 'geojson', data: empty as never, promoteId: 'id' },
    },
    layers: [
      ...groundLayers(colours, base, language),
      ...zoneLayers(colours, fonts),
      ...draftLayers(colours),
      ...trackLayers(colours),
      nameLayer(colours, 'vehicles'),
      nameLayer(colours, 'gliding'),
      ...clusterLayers(colours),
      ...markLayersOf('vehicles'),
      ...markLayersOf('gliding'),
      ...selectedLayers(colours),
    ],
  };
}
