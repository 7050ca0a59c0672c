// The layers of the geozones: below the vehicles, so that a zone hides none.
import type { FilterSpecification, LayerSpecification } from 'maplibre-gl';
import { nameImage, nameText } from './joined-names.ts';
import type { Colours } from './vehicles/colour-names.ts';

export const zoneSource = 'zones';
/** The zone that is selected or being drawn. */
export const draftSource = 'draft';

const ofKind = (kind: string): FilterSpecification => ['==', ['get', 'kind'], kind];

/** @param fonts of this computer, as the other labels have them. */
export function zoneLayers(colours: Colours, fonts: readonly string[]): LayerSpecification[] {
  const source = zoneSource;
  const colour = colours['zone'];
  const border = { 'line-color': colour, 'line-width': 1.5 };
  return [
    {
      id: 'zone-areas',
      type: 'fill',
      source,
      filter: ofKind('area'),
      paint: { 'fill-color': colour, 'fill-opacity': 0.12 },
    },
    { id: 'zone-borders', type: 'line', source, filter: ofKind('area'), paint: border },
    // Its parts overlap at the bends, so it has no border but the line that it is about.
    {
      id: 'zone-corridors',
      type: 'fill',
      source,
      filter: ofKind('corridor'),
      paint: { 'fill-color': colour, 'fill-opacity': 0.1 },
    },
    {
      id: 'zone-corridor-lines',
      type: 'line',
      source,
      filter: ofKind('line'),
      paint: { ...border, 'line-dasharray': [4, 3] },
    },
    {
      id: 'zone-places',
      type: 'circle',
      source,
      filter: ofKind('place'),
      paint: {
        'circle-color': colours['map-halo'],
        'circle-radius': 4,
        'circle-stroke-color': colour,
        'circle-stroke-width': 2,
      },
    },
    {
      id: 'zone-names',
      type: 'symbol',
      source,
      minzoom: 9,
      filter: ofKind('name'),
      layout: {
        'text-field': nameText,
        'icon-image': nameImage,
        'text-font': [...fonts],
        'text-size': 12,
        'text-max-width': 9,
        'text-offset': [0, -0.9],
        'text-padding': 4,
      },
      paint: { 'text-color': colour, 'text-halo-color': colours['map-halo'], 'text-halo-width': 1.5 },
    },
  ];
}

/** The zone that is selected or being drawn, above the others and below the vehicles. */
export function draftLayers(colours: Colours): LayerSpecification[] {
  const colour = colours.accent;
  const line = { 'line-color': colour, 'line-width': 2.5 };
  const source = draftSource;
  return [
    {
      id: 'draft-areas',
      type: 'fill',
      source,
      filter: ['in', ['get', 'kind'], ['literal', ['area', 'corridor']]],
      paint: { 'fill-color': colour, 'fill-opacity': 0.14 },
    },
    {
      id: 'draft-borders',
      type: 'line',
      source,
      filter: ['in', ['get', 'kind'], ['literal', ['area', 'border']]],
      paint: line,
    },
    {
      id: 'draft-lines',
      type: 'line',
      source,
      filter: ofKind('line'),
      paint: { ...line, 'line-dasharray': [3, 2] },
    },
    {
      id: 'draft-places',
      type: 'circle',
      source,
      filter: ofKind('place'),
      paint: {
        'circle-color': colours['map-halo'],
        'circle-radius': 6,
        'circle-stroke-color': colour,
        'circle-stroke-width': 2.5,
      },
    },
  ];
}
