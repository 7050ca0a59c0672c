// The routes that vehicles drove, from the positions that they sent, simplified to a bounded number of points. Pure. Not for light
// trackers: their positions are random.
import type { VehicleNotes } from './ledger-types.ts';

export interface DrivenRoute {
  readonly deviceID: string;
  /** Latitude and longitude, one after the other, in the order in which they were passed. */
  readonly points: readonly number[];
}

interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

const vehiclesMost = 100;
const pointsMost = 5000;
/** Of one vehicle before simplification. */
const placesMost = 20_000;
/** About one metre. */
const finestDeg = 1e-5;

function placesOf({ boots }: VehicleNotes): readonly Place[] {
  const placed = [...boots.values()].flatMap((notes) =>
    notes.flatMap((note) => {
      if (note === undefined || note.sent === null) return [];
      const { latitude, longitude } = note.sent;
      return latitude === null || longitude === null
        ? []
        : [{ atMs: note.storedMs, place: { latitude, longitude } }];
    }),
  );
  const sorted = placed.sort((a, b) => a.atMs - b.atMs);
  const every = Math.max(1, Math.ceil(sorted.length / placesMost));
  return sorted.filter((_, at) => at % every === 0).map(({ place }) => place);
}

/** Distance of a place from the line between two others, in degrees of latitude. */
function distanceDeg(place: Place, from: Place, to: Place): number {
  const squeeze = Math.cos((from.latitude * Math.PI) / 180);
  const toX = (to.longitude - from.longitude) * squeeze;
  const toY = to.latitude - from.latitude;
  const x = (place.longitude - from.longitude) * squeeze;
  const y = place.latitude - from.latitude;
  const length = toX * toX + toY * toY;
  const part = length === 0 ? 0 : Math.min(1, Math.max(0, (x * toX + y * toY) / length));
  return Math.hypot(x - part * toX, y - part * toY);
}

/** Simplifies a line so that no omitted place is further away than this (Douglas and Peucker 1973), without recursion. */
export function simplify(places: readonly Place[], withinDeg: number): readonly Place[] {
  const isKept = new Set([0, places.length - 1]);
  const spans: (readonly [first: number, last: number])[] = [[0, places.length - 1]];
  for (let span = spans.pop(); span !== undefined; span = spans.pop()) {
    const [first, last] = span;
    const from = places[first];
    const to = places[last];
    if (from === undefined || to === undefined) continue;
    let farthest = -1;
    let farthestDeg = withinDeg;
    for (let at = first + 1; at < last; at += 1) {
      const place = places[at];
      const deg = place === undefined ? 0 : distanceDeg(place, from, to);
      if (deg > farthestDeg) {
        farthest = at;
        farthestDeg = deg;
      }
    }
    if (farthest < 0) continue;
    isKept.add(farthest);
    spans.push([first, farthest], [farthest, last]);
  }
  return places.filter((_, at) => isKept.has(at));
}

const round = (deg: number): number => Math.round(deg * 1e5) / 1e5;

/** The routes of the first vehicles that have one. */
export function routesOf(vehicles: Iterable<VehicleNotes>): readonly DrivenRoute[] {
  const driven: { readonly deviceID: string; readonly places: readonly Place[] }[] = [];
  for (const vehicle of vehicles) {
    if (driven.length >= vehiclesMost) break;
    const places = placesOf(vehicle);
    if (places.length > 0) driven.push({ deviceID: vehicle.deviceID, places });
  }
  const most = Math.max(2, Math.floor(pointsMost / Math.max(1, driven.length)));
  return driven.map(({ deviceID, places }) => {
    let withinDeg = finestDeg;
    let line = simplify(places, withinDeg);
    for (; line.length > most; line = simplify(line, withinDeg)) withinDeg *= 2;
    return {
      deviceID,
      points: line.flatMap(({ latitude, longitude }) => [round(latitude), round(longitude)]),
    };
  });
}
