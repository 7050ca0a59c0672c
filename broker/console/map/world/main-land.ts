// Where the name of a country stands. It takes a while, so the build of the console does it.
import type { Position } from 'geojson';
import { type Country, coordinatesOf, type MainLand, polygonsOf, type Ring } from './shapes.ts';

function areaOf(ring: Ring): number {
  let sum = 0;
  for (let at = 1; at < ring.length; at += 1) {
    const [x0, y0] = coordinatesOf(ring[at - 1] ?? []);
    const [x1, y1] = coordinatesOf(ring[at] ?? []);
    sum += (x1 - x0) * (Math.sin((y0 * Math.PI) / 180) + Math.sin((y1 * Math.PI) / 180));
  }
  return Math.abs(sum);
}

/** Longitudes at which the ring crosses a latitude, from west to east: land lies between the first and second, third and fourth. */
function crossings(ring: Ring, latitude: number): readonly number[] {
  const found: number[] = [];
  for (let at = 1; at < ring.length; at += 1) {
    const [x0, y0] = coordinatesOf(ring[at - 1] ?? []);
    const [x1, y1] = coordinatesOf(ring[at] ?? []);
    if (y0 > latitude !== y1 > latitude) found.push(x0 + ((latitude - y0) / (y1 - y0)) * (x1 - x0));
  }
  return found.sort((one, other) => one - other);
}

/** Latitudes that are tried between the south and the north of a country. */
const lines = 24;

/** The middle of the widest stretch of land that is not close to the north or south end of the ring. */
function middleOf(ring: Ring): Position {
  const latitudes = ring.map((position) => coordinatesOf(position)[1]);
  const south = Math.min(...latitudes);
  const north = Math.max(...latitudes);
  let best = { room: -1, place: coordinatesOf(ring[0] ?? []) };
  for (let line = 1; line < lines; line += 1) {
    const latitude = south + ((north - south) * line) / lines;
    const ends = crossings(ring, latitude);
    const height = Math.min(latitude - south, north - latitude);
    for (let at = 1; at < ends.length; at += 2) {
      const [west = 0, east = 0] = ends.slice(at - 1, at + 1);
      const room = Math.min((east - west) * Math.cos((latitude * Math.PI) / 180), 3 * height);
      if (room > best.room) best = { room, place: [(west + east) / 2, latitude] };
    }
  }
  return [...best.place];
}

const rounded = (value: number, steps: number): number => Math.round(value * steps) / steps;

/** @param country continued past 180 degrees. */
export function mainLandOf(country: Country): MainLand {
  let [area, main]: [number, Ring] = [-1, []];
  for (const [outline = []] of polygonsOf(country)) {
    const size = areaOf(outline);
    if (size > area) [area, main] = [size, outline];
  }
  return { area: rounded(area, 1e6), place: middleOf(main).map((degrees) => rounded(degrees, 100)) };
}
