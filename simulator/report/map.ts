// The routes of the vehicles as lines on an empty plane with a scale, each with a label at its end and in the list below: no map tiles,
// because a report makes no network request.
import { distanceM } from '../../src/core/geo/geo.ts';
import type { DrivenRoute } from '../core/plots/route-map.ts';
import { formatCount, formatNumber } from '../core/text/number-text.ts';
import { type Html, html, nothing } from './html.ts';
import { type LabelBox, placeLabels } from './map-labels.ts';

const width = 10_000;
const margin = 300;
const tones = ['blue', 'orange', 'green', 'violet', 'red', 'grey'] as const;
/** Height of a label in units of the drawing, and about the width of a character. */
const label = { height: 190, character: 105, charactersMost: 14 } as const;

interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

function placesOf({ points }: DrivenRoute): readonly Place[] {
  return Array.from({ length: Math.floor(points.length / 2) }, (_, at) => ({
    latitude: points[at * 2] ?? 0,
    longitude: points[at * 2 + 1] ?? 0,
  }));
}

interface Bounds {
  readonly south: number;
  readonly north: number;
  readonly west: number;
  readonly east: number;
}

function boundsOf(places: readonly Place[]): Bounds {
  const [first = { latitude: 0, longitude: 0 }] = places;
  const none: Bounds = {
    south: first.latitude,
    north: first.latitude,
    west: first.longitude,
    east: first.longitude,
  };
  return places.reduce(
    ({ south, north, west, east }, { latitude, longitude }) => ({
      south: Math.min(south, latitude),
      north: Math.max(north, latitude),
      west: Math.min(west, longitude),
      east: Math.max(east, longitude),
    }),
    none,
  );
}

interface Projection {
  readonly height: number;
  /** Metres from side to side of the drawing. */
  readonly metres: number;
  place(place: Place): readonly [x: number, y: number];
}

/** Minimum extent, for a fleet that stands still. */
const leastDeg = 0.002;

function project(bounds: Bounds): Projection {
  const middle = (bounds.south + bounds.north) / 2;
  const squeeze = Math.max(0.05, Math.cos((middle * Math.PI) / 180));
  const spanX = Math.max(leastDeg, (bounds.east - bounds.west) * squeeze);
  const spanY = Math.max(leastDeg, bounds.north - bounds.south);
  const factor = Math.min((width - 2 * margin) / spanX, (width * 0.6 - 2 * margin) / spanY);
  const height = Math.round(spanY * factor + 2 * margin);
  const centre = (bounds.west + bounds.east) / 2;
  const metres = distanceM(
    { latitude: middle, longitude: centre },
    { latitude: middle, longitude: centre + width / factor / squeeze },
  );
  return {
    height,
    metres,
    place: ({ latitude, longitude }) => [
      Math.round(width / 2 + (longitude - centre) * squeeze * factor),
      Math.round(height / 2 - (latitude - middle) * factor),
    ],
  };
}

function lineOf(places: readonly Place[], { place }: Projection): string {
  return places.map((one, at) => `${at === 0 ? 'M' : at === 1 ? 'L' : ' '}${place(one).join(' ')}`).join('');
}

const lengthM = (places: readonly Place[]): number =>
  places.reduce((sum, place, at) => sum + (at === 0 ? 0 : distanceM(places[at - 1] ?? place, place)), 0);

/** A round length of about a fifth of the width. */
function barOf(metres: number): { readonly m: number; readonly words: string } {
  const decade = 10 ** Math.floor(Math.log10(metres / 5));
  const m = ([5, 2, 1].find((one) => one * decade <= metres / 5) ?? 1) * decade;
  return { m, words: m >= 1000 ? `${formatNumber(m / 1000)} km` : `${formatNumber(m)} m` };
}

/** What all ids begin with, up to a separator; '' for a single vehicle. */
export function commonStart(ids: readonly string[]): string {
  const [first = ''] = ids;
  if (ids.length < 2) return '';
  const ends = [...first.matchAll(/[-_.:]/g)].map(({ index }) => index + 1);
  const end = ends.findLast((at) => ids.every((id) => id.startsWith(first.slice(0, at)) && id.length > at));
  return first.slice(0, end ?? 0);
}

interface Way {
  readonly deviceID: string;
  readonly places: readonly Place[];
  readonly tone: string;
  /** Its id without the common start. */
  readonly label: string;
}

function waysOf(routes: readonly DrivenRoute[], start: string): readonly Way[] {
  return routes.map((route, at) => {
    const rest = route.deviceID.slice(start.length);
    return {
      deviceID: route.deviceID,
      places: placesOf(route),
      tone: tones[at % tones.length] ?? 'grey',
      label: rest.length > label.charactersMost ? `${rest.slice(0, label.charactersMost)}…` : rest,
    };
  });
}

function labelOf({ tone, label: words }: Way, { from, x, y, isAside }: LabelBox): Html {
  const line = isAside ? html`<path class="leader" d="M${from.join(' ')}L${x} ${y}"/>` : nothing;
  return html`${line}<text class="${tone}" x="${x}" y="${y}">${words}</text>`;
}

/** The map of a run. */
export function routeMap(routes: readonly DrivenRoute[], devices: number): Html {
  const start = commonStart(routes.map(({ deviceID }) => deviceID));
  const sorted = routes.toSorted((a, b) => a.deviceID.localeCompare(b.deviceID, 'en', { numeric: true }));
  const ways = waysOf(sorted, start);
  const projection = project(boundsOf(ways.flatMap(({ places }) => places)));
  const bar = barOf(projection.metres);
  const barWidth = Math.round((bar.m / projection.metres) * width);
  const ends = ways.map(({ places, label: words }) => {
    const [before = [0, 0], at = before] = places.slice(-2).map(projection.place);
    const angle = Math.atan2(at[1] - before[1], at[0] - before[0]);
    return { at, angle, width: (words.length + 0.6) * label.character };
  });
  const dots = ways.flatMap(({ places }) => places.slice(0, 1).map(projection.place));
  const boxes = placeLabels(ends, { width, height: projection.height, labelHeight: label.height, dots });
  const lines = ways.map(({ deviceID, places, tone }) => {
    const [first] = places;
    const dot = first === undefined ? '' : `M${projection.place(first).join(' ')}h0`;
    return html`<g><title>${deviceID}</title><path class="${tone}" d="${lineOf(places, projection)}"/><path class="start ${tone}" d="${dot}"/></g>`;
  });
  const labels = ways.flatMap((way, at) => {
    const box = boxes[at] ?? null;
    return box === null ? [] : [labelOf(way, box)];
  });
  const of =
    ways.length < devices
      ? `${formatNumber(ways.length)} of ${formatNumber(devices)} vehicles`
      : devices === 1
        ? 'the one vehicle'
        : `all ${devices} vehicles`;
  const words = `Routes of ${of} as reported, north up. The dot is where a vehicle began, its label is at its last position; the bar is ${bar.words} long.`;
  const left = ways.length - labels.length;
  const more = left === 0 ? '' : ` ${formatCount(left, 'label does', 'labels do')} not fit on the map.`;
  const shortened = start === '' ? '' : ` The labels leave out ${start}, with which every id begins.`;
  const list = ways.map(
    ({ deviceID, places, tone }) =>
      html`<li>${start}<b class="${tone}">${deviceID.slice(start.length)}</b> ${(lengthM(places) / 1000).toFixed(2)} km</li>`,
  );
  return html`<figure class="map"><div class="table" role="region" aria-label="Drawing of the routes" tabindex="0"><svg viewBox="0 0 ${width} ${projection.height}" role="img" aria-label="${words}">${lines}<path class="bar" d="M${margin} ${projection.height - margin / 2}h${barWidth}"/>${labels}</svg></div><figcaption><p class="soft">${words}${shortened}${more}</p></figcaption><ul class="vehicles" aria-label="Vehicles on the map">${list}</ul></figure>`;
}
