// Lines as answers show them and as they are stored. `[lon, lat, dLon, dLat, ...]` in whole steps of 1e-5 degrees: the first pair is
// absolute, each further one the step from the one before. Stored as varints, each line as a step from the end of the one before.
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { metresBetween, type Place } from './way-grid.ts';

export type Line = readonly number[];

/** The places along a line. */
export function placesOf(line: Line): readonly Place[] {
  const places: Place[] = [];
  let [longitude, latitude] = [0, 0];
  for (let at = 0; at + 1 < line.length; at += 2) {
    longitude += line[at] ?? 0;
    latitude += line[at + 1] ?? 0;
    places.push([longitude, latitude]);
  }
  return places;
}

/** Null when nothing is left of it at the resolution of a line. */
export function lineOf(places: readonly Place[]): Line | null {
  const line: number[] = [];
  let [longitude, latitude] = [0, 0];
  for (const place of places) {
    const step = [Math.round(place[0]) - longitude, Math.round(place[1]) - latitude] as const;
    if (line.length > 0 && step[0] === 0 && step[1] === 0) continue;
    line.push(...step);
    longitude += step[0];
    latitude += step[1];
  }
  return line.length < 4 ? null : line;
}

export function encodeLines(lines: readonly Line[]): Uint8Array {
  const writer = new BinaryWriter();
  let [longitude, latitude] = [0, 0];
  for (const line of lines) {
    writer.uint32(line.length / 2);
    for (const [at, step] of line.entries()) {
      const before = at % 2 === 0 ? longitude : latitude;
      writer.sint32(at < 2 ? step - before : step);
      if (at % 2 === 0) longitude = at < 2 ? step : longitude + step;
      else latitude = at < 2 ? step : latitude + step;
    }
  }
  return writer.finish();
}

/** @throws RangeError when the bytes end within a line. */
export function decodeLines(bytes: Uint8Array): readonly Line[] {
  const reader = new BinaryReader(bytes);
  const lines: Line[] = [];
  let [longitude, latitude] = [0, 0];
  while (reader.pos < reader.len) {
    const line: number[] = [];
    for (let left = reader.uint32(); left > 0; left--) {
      const [east, north] = [reader.sint32(), reader.sint32()];
      longitude += east;
      latitude += north;
      if (line.length === 0) line.push(longitude, latitude);
      else line.push(east, north);
    }
    lines.push(line);
  }
  return lines;
}

/** How far a place lies off the way between two others, m. */
function offM(place: Place, from: Place, to: Place): number {
  const [x, y] = metresBetween(from, place);
  const [toX, toY] = metresBetween(from, to);
  const length = toX ** 2 + toY ** 2;
  const part = length === 0 ? 0 : Math.min(1, Math.max(0, (x * toX + y * toY) / length));
  return Math.hypot(x - part * toX, y - part * toY);
}

/** Leaves out places that lie within `mostM` of the line without them (Douglas and Peucker 1973). */
export function simplify(places: readonly Place[], mostM: number): readonly Place[] {
  const isKept = places.map((_, at) => at === 0 || at === places.length - 1);
  const open: (readonly [number, number])[] = [[0, places.length - 1]];
  for (let span = open.pop(); span !== undefined; span = open.pop()) {
    const [first, last] = span;
    const [from, to] = [places[first], places[last]];
    if (from === undefined || to === undefined) continue;
    let [farthest, farM] = [0, mostM];
    for (let at = first + 1; at < last; at++) {
      const off = offM(places[at] ?? from, from, to);
      if (off > farM) [farthest, farM] = [at, off];
    }
    if (farthest === 0) continue;
    isKept[farthest] = true;
    open.push([first, farthest], [farthest, last]);
  }
  return places.filter((_, at) => isKept[at]);
}
