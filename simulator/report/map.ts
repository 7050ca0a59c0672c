// The ways of the vehicles as lines on an empty plane: no tiles, because a report asks nobody for anything. The page says how wide it is.
import { distanceM } from '../../src/core/geo.ts';
import { formatNumber } from '../core/plot-scale.ts';
import type { DrivenRoute } from '../core/route-map.ts';
import { type Html, html, table } from './html.ts';

const width = 10_000;
const margin = 300;
const tones = ['blue', 'orange', 'green', 'violet', 'red', 'grey'] as const;
const rowsMost = 100;

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

/** Leasts that keep a fleet which stands still from filling the plane. */
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

/** The map of a run. */
export function routeMap(routes: readonly DrivenRoute[], devices: number): Html {
  const ways = routes.map((route) => ({ deviceID: route.deviceID, places: placesOf(route) }));
  const projection = project(boundsOf(ways.flatMap(({ places }) => places)));
  const bar = barOf(projection.metres);
  const barWidth = Math.round((bar.m / projection.metres) * width);
  const lines = ways.map(({ deviceID, places }, at) => {
    const [first] = places;
    const tone = tones[at % tones.length] ?? 'grey';
    const start = first === undefined ? '' : `M${projection.place(first).join(' ')}h0`;
    return html`<g><title>${deviceID}</title><path class="${tone}" d="${lineOf(places, projection)}"/><path class="start ${tone}" d="${start}"/></g>`;
  });
  const of =
    ways.length < devices
      ? `the first ${ways.length} of ${devices} vehicles`
      : devices === 1
        ? 'the one vehicle'
        : `all ${devices} vehicles`;
  const words = `Ways of ${of} as they reported them, north up. The dot is where a vehicle began; the bar is ${bar.words} long.`;
  const rows = ways
    .slice(0, rowsMost)
    .map(({ deviceID, places }) => [deviceID, (lengthM(places) / 1000).toFixed(2), String(places.length)]);
  return html`<figure class="map"><svg viewBox="0 0 ${width} ${projection.height}" role="img" aria-label="${words}">${lines}<path class="bar" d="M${margin} ${projection.height - margin / 2}h${barWidth}"/></svg><figcaption><p class="soft">${words}</p></figcaption><details><summary>Ways as a table</summary>${table({ caption: 'Length of each way, simplified', heads: ['vehicle', 'km', 'points'], rows })}</details></figure>`;
}
