// The mark of a replay on the map.
import type { Map as LibreMap, Marker } from 'maplibre-gl';
import { noVehicle } from '../state/fleet.ts';
import { formOf, type MarkLayer, markLayers, turnOf } from './vehicles/mark-layers.ts';

/** Where a replayed vehicle was. */
export interface ReplayMark {
  readonly place: readonly [longitude: number, latitude: number];
  /** km/h and degrees from north; null: not known. */
  readonly speed: number | null;
  readonly heading: number | null;
  /** Nothing is known of the moment: the place is the last one before. */
  readonly isMissing: boolean;
  /** Keeps the place in sight. */
  readonly isFollowed: boolean;
}

const svgSpace = 'http://www.w3.org/2000/svg';

/** Nothing is known of the moment. */
const missingLayers: readonly MarkLayer[] = [
  {
    path: 'M-8,0 A8,8 0 1 0 8,0 A8,8 0 1 0 -8,0 Z',
    fill: 'look-soft',
    stroke: 'look',
    width: 2,
    dash: [2, 2],
  },
];

/** The mark of a replay. Its colours are those of the theme. */
function replayElement(): SVGSVGElement {
  const element = document.createElementNS(svgSpace, 'svg');
  element.setAttribute('viewBox', '-16 -16 32 32');
  element.setAttribute('class', 'replay-mark');
  element.setAttribute('aria-hidden', 'true');
  for (const [name, layers] of Object.entries({ ...markLayers, missing: missingLayers })) {
    const group = document.createElementNS(svgSpace, 'g');
    group.setAttribute('class', name);
    for (const { path, fill, stroke, width = 0, dash = [] } of layers) {
      const shape = document.createElementNS(svgSpace, 'path');
      shape.setAttribute('d', path);
      const colourOf = (colour: string | undefined): string =>
        colour === undefined ? 'none' : `var(--${colour})`;
      shape.style.fill = colourOf(fill);
      shape.style.stroke = colourOf(stroke);
      shape.style.strokeWidth = String(width);
      shape.style.strokeDasharray = dash.join(' ');
      group.append(shape);
    }
    element.append(group);
  }
  return element;
}

/** Shows the mark of a replay; the same element moves, so nothing is copied to the worker. */
export function createReplayMark(
  map: LibreMap,
  markerOf: (element: HTMLElement) => Marker,
): (mark: ReplayMark | null) => void {
  let shown: { readonly element: SVGSVGElement; readonly marker: Marker } | null = null;
  const add = (place: readonly [number, number]) => {
    const element = replayElement();
    // MapLibre asks for an HTML element and uses what every element has.
    const holder = document.createElement('div');
    holder.append(element);
    return {
      element,
      marker: markerOf(holder)
        .setLngLat([...place])
        .addTo(map),
    };
  };
  return (mark) => {
    if (mark === null) {
      shown?.marker.remove();
      shown = null;
      return;
    }
    const { place, speed, heading, isMissing, isFollowed } = mark;
    const vehicle = { ...noVehicle, speed, heading };
    shown ??= add(place);
    shown.element.dataset['state'] = isMissing ? 'missing' : formOf(vehicle);
    shown.marker.setLngLat([...place]).setRotation(isMissing ? 0 : turnOf(vehicle));
    if (isFollowed && !map.isMoving() && !map.getBounds().contains([...place])) map.panTo([...place]);
  };
}
