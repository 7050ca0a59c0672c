// The vehicles' routes as lines on an empty plane with a scale, labelled at the end and in the list below. It has no map tiles,
// because a report makes no network request.
import { distanceM } from '../../src/core/geo/geo.ts';
import type { DrivenRoute } from '../core/ledger/driven-routes.ts';
import { formatCount, formatNumber } from '../core/text/number-text.ts';
import { type Html, html, nothing } from './html.ts';

const width = 10_000;
const margin = 300;
const tones = ['blue', 'orange', 'green', 'violet', 'red', 'grey'] as const;
/** Height of a label in units of the drawing, and about the width of a character. */
const label = { height: 190, character: 105, charactersMost: 14 } as const;
/** Half of the side of the dot at a start. */
const dotSize = 70;

type Point = readonly [x: number, y: number];

interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

const placesOf = ({ points }: DrivenRoute): readonly Place[] =>
  Array.from({ length: Math.floor(points.length / 2) }, (_, at) => ({
    latitude: points[at * 2] ?? 0,
    longitude: points[at * 2 + 1] ?? 0,
  }));

interface Projection {
  readonly height: number;
  /** Metres from side to side of the drawing. */
  readonly metres: number;
  place(place: Place): Point;
}

/** Minimum extent, for a fleet that stands still. */
const leastDeg = 0.002;

const boundsOf = (values: readonly number[]): readonly [low: number, high: number] =>
  values.length === 0
    ? [0, 0]
    : [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];

function project(places: readonly Place[]): Projection {
  const [south, north] = boundsOf(places.map(({ latitude }) => latitude));
  const [west, east] = boundsOf(places.map(({ longitude }) => longitude));
  const middle = (south + north) / 2;
  const squeeze = Math.max(0.05, Math.cos((middle * Math.PI) / 180));
  const spanX = Math.max(leastDeg, (east - west) * squeeze);
  const spanY = Math.max(leastDeg, north - south);
  const factor = Math.min((width - 2 * margin) / spanX, (width * 0.6 - 2 * margin) / spanY);
  const height = Math.round(spanY * factor + 2 * margin);
  const centre = (west + east) / 2;
  const end = { latitude: middle, longitude: centre + width / factor / squeeze };
  return {
    height,
    metres: distanceM({ latitude: middle, longitude: centre }, end),
    place: ({ latitude, longitude }) => [
      Math.round(width / 2 + (longitude - centre) * squeeze * factor),
      Math.round(height / 2 - (latitude - middle) * factor),
    ],
  };
}

/** A round length of about a fifth of the width. */
function barOf(metres: number): { readonly m: number; readonly words: string } {
  const decade = 10 ** Math.floor(Math.log10(metres / 5));
  const m = ([5, 2, 1].find((one) => one * decade <= metres / 5) ?? 1) * decade;
  return { m, words: m >= 1000 ? `${formatNumber(m / 1000)} km` : `${formatNumber(m)} m` };
}

/** Common prefix of all ids, up to a separator; '' for a single vehicle. */
export function commonStart(ids: readonly string[]): string {
  const [first = ''] = ids;
  if (ids.length < 2) return '';
  const ends = [...first.matchAll(/[-_.:]/g)].map(({ index }) => index + 1);
  const end = ends.findLast((at) => ids.every((id) => id.startsWith(first.slice(0, at)) && id.length > at));
  return first.slice(0, end ?? 0);
}

interface LabelBox {
  /** Middle of the label. */
  readonly x: number;
  readonly y: number;
  /** So far from its point that a line has to lead there. */
  readonly isAside: boolean;
}

const rings = 12;
const directions = 16;

/**
 * Places labels beside their points where that is free, else further around them.
 * @param labels at a point, of a width, and where they stand best, radians: so the line of the vehicle does not run through them.
 * @returns a box for each, none over another, over a dot or outside; null: there is no free place near it.
 */
export function placeLabels(
  labels: readonly { readonly at: Point; readonly width: number; readonly angle: number }[],
  plane: { readonly width: number; readonly height: number; readonly dots: readonly Point[] },
): readonly (LabelBox | null)[] {
  const taken = plane.dots.map(([x, y]) => ({ x, y, width: dotSize * 2, height: dotSize * 2 }));
  return labels.map(({ at: [pointX, pointY], width: own, angle: best }) => {
    for (let spot = 0; spot < rings * directions; spot += 1) {
      const ring = Math.floor(spot / directions) + 1;
      const turn = spot % directions;
      // From the best direction to both sides of it: 0, 1, -1, 2, -2 ...
      const angle = best + (Math.PI * (turn % 2 === 0 ? -turn : turn + 1)) / directions;
      const x = Math.round(pointX + Math.cos(angle) * (own / 2 + label.height * (ring - 0.5)));
      const y = Math.round(pointY + Math.sin(angle) * label.height * ring);
      const isInside =
        x >= own / 2 &&
        x <= plane.width - own / 2 &&
        y >= label.height / 2 &&
        y <= plane.height - label.height / 2;
      const isFree = taken.every(
        (box) =>
          Math.abs(box.x - x) >= (box.width + own) / 2 ||
          Math.abs(box.y - y) >= (box.height + label.height) / 2,
      );
      if (!isInside || !isFree) continue;
      taken.push({ x, y, width: own, height: label.height });
      return { x, y, isAside: ring > 1 };
    }
    return null;
  });
}

/** The map of a run. */
export function routeMap(routes: readonly DrivenRoute[], devices: number): Html {
  const start = commonStart(routes.map(({ deviceID }) => deviceID));
  const sorted = routes.toSorted((a, b) => a.deviceID.localeCompare(b.deviceID, 'en', { numeric: true }));
  const { height, metres, place } = project(sorted.flatMap(placesOf));
  const ways = sorted.map((route, at) => {
    const places = placesOf(route);
    const points = places.map(place);
    const [before = [0, 0], end = before] = points.slice(-2);
    const rest = route.deviceID.slice(start.length);
    const text = rest.length > label.charactersMost ? `${rest.slice(0, label.charactersMost)}…` : rest;
    return {
      id: route.deviceID,
      points,
      tone: tones[at % tones.length] ?? 'grey',
      text,
      at: end,
      angle: Math.atan2(end[1] - before[1], end[0] - before[0]),
      width: (text.length + 0.6) * label.character,
      km: places.reduce((sum, one, index) => sum + distanceM(places[index - 1] ?? one, one), 0) / 1000,
    };
  });
  const dots = ways.flatMap(({ points }) => points.slice(0, 1));
  const boxes = placeLabels(ways, { width, height, dots });
  const lines = ways.map(({ id, points, tone }) => {
    const line = points.map((point, at) => `${['M', 'L'][at] ?? ' '}${point.join(' ')}`).join('');
    const dot = points.length === 0 ? '' : `M${points[0]?.join(' ')}h0`;
    return html`<g><title>${id}</title><path class="${tone}" d="${line}"/><path class="start ${tone}" d="${dot}"/></g>`;
  });
  const labels = ways.flatMap(({ tone, at, text }, index) => {
    const box = boxes[index] ?? null;
    if (box === null) return [];
    const { x, y, isAside } = box;
    const leader = isAside ? html`<path class="leader" d="M${at.join(' ')}L${x} ${y}"/>` : nothing;
    return [html`${leader}<text class="${tone}" x="${x}" y="${y}">${text}</text>`];
  });
  const of =
    ways.length < devices
      ? `${formatNumber(ways.length)} of ${formatNumber(devices)} vehicles`
      : devices === 1
        ? 'the one vehicle'
        : `all ${devices} vehicles`;
  const bar = barOf(metres);
  const words = `Routes of ${of} as reported, north up. The dot is where a vehicle began, its label is at its last position; the bar is ${bar.words} long.`;
  const left = ways.length - labels.length;
  const more = left === 0 ? '' : ` ${formatCount(left, 'label does', 'labels do')} not fit on the map.`;
  const shortened = start === '' ? '' : ` The labels leave out ${start}, with which every id begins.`;
  const list = ways.map(
    ({ id, tone, km }) =>
      html`<li>${start}<b class="${tone}">${id.slice(start.length)}</b> ${km.toFixed(2)} km</li>`,
  );
  return html`<figure class="map"><div class="table" role="region" aria-label="Drawing of the routes" tabindex="0"><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${words}">${lines}<path class="bar" d="M${margin} ${height - margin / 2}h${Math.round((bar.m / metres) * width)}"/>${labels}</svg></div><figcaption><p class="soft">${words}${shortened}${more}</p></figcaption><ul class="vehicles" aria-label="Vehicles on the map">${list}</ul></figure>`;
}
