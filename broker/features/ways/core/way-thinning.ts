// Keeps each street about once, however often it is driven: of a track only what covers cells that no kept way covers yet. What a
// vehicle covered just before does not count, as its own trail would hide the rest.
import {
  besideLongitude,
  type Grid,
  gridOf,
  metresBetween,
  middleOf,
  type Place,
  type Tile,
  tileOf,
  type Zoom,
  zooms,
} from './way-grid.ts';
import { type Line, lineOf, placesOf, simplify } from './way-lines.ts';

/** Steps of its own trail that do not hide a track: steps are half a cell to a cell long, and a cell covers its neighbours. */
const trailSteps = 6;
/** Steps that a kept part is continued into what is covered, so that it joins what it crosses. */
const joinSteps = 2;
/** When the cells of earlier ways were covered. */
const earlier = Number.NEGATIVE_INFINITY;

interface Step {
  readonly key: string;
  readonly tile: Tile;
  readonly middle: Place;
  readonly from: Place;
  readonly to: Place;
}

/** The ways of one owner in one tile and time. */
interface Cover {
  readonly grid: Grid;
  /** Cells by the number of the step that covered them first. */
  readonly cells: Map<number, number>;
}

export interface Track {
  /** Ways are thinned apart in each. */
  readonly period: number;
  readonly places: readonly Place[];
}

export const keyOf = (period: number, { zoom, x, y }: Tile): string => `${period}/${zoom}/${x}/${y}`;

/** Steps of half a cell to a cell along the places; the last one may be shorter. */
function* stepsAlong(places: readonly Place[], cellM: number): Generator<readonly [Place, Place]> {
  let [from] = places;
  for (const [at, to] of places.entries()) {
    if (from === undefined || at === 0) continue;
    const start = from;
    const farM = Math.hypot(...metresBetween(start, to));
    if (farM < cellM / 2 && at < places.length - 1) continue;
    from = to;
    const count = Math.max(1, Math.ceil(farM / cellM));
    const placeAt = (part: number): Place => [
      start[0] + (part / count) * (to[0] - start[0]),
      start[1] + (part / count) * (to[1] - start[1]),
    ];
    for (let part = 1; part <= count; part++) yield [placeAt(part - 1), placeAt(part)];
  }
}

const between = (from: Place, to: Place): Place => [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2];

/** Which steps are kept: no short run beside a known way, each with some steps more on either side. */
function keptSteps(isNew: readonly boolean[], leastSteps: number): readonly boolean[] {
  const isKept = isNew.map(() => false);
  for (let first = 0; first < isNew.length; ) {
    let end = first;
    while (end < isNew.length && isNew[end] === true) end += 1;
    const isLong = end - first >= Math.min(leastSteps, isNew.length);
    if (isLong && end > first) isKept.fill(true, Math.max(0, first - joinSteps), end + joinSteps);
    first = end + 1;
  }
  return isKept;
}

/** The tiles that a track has steps in. */
export function tilesOf({ period, places }: Track, zoom: Zoom): ReadonlyMap<string, Tile> {
  const tiles = new Map<string, Tile>();
  for (const [from, to] of stepsAlong(places, zooms[zoom].cellM)) {
    const tile = tileOf(zoom, between(from, to));
    if (tile !== null) tiles.set(keyOf(period, tile), tile);
  }
  return tiles;
}

/** A line of the tile and period that the key stands for. */
export interface KeyedLine {
  readonly key: string;
  readonly line: Line;
}

export interface Thinning {
  /** What is known already, in one tile and time. */
  cover(period: number, tile: Tile, lines: readonly Line[]): void;
  /**
   * What is new of a track. A step belongs to the tile of its middle.
   * @param within the tile that all of it belongs to; null: each step to its own.
   */
  add(track: Track, within: Tile | null): readonly KeyedLine[];
}

/** @param scale of the cells; 1 for what is stored. */
export function createThinning(zoom: Zoom, scale = 1): Thinning {
  const { leastSteps } = zooms[zoom];
  const cellM = zooms[zoom].cellM * scale;
  const covers = new Map<string, Cover>();
  let clock = 0;
  const coverOf = (key: string, tile: Tile): Cover => {
    const known = covers.get(key) ?? { grid: gridOf(tile, cellM), cells: new Map<number, number>() };
    covers.set(key, known);
    return known;
  };
  const mark = ({ grid, cells }: Cover, cell: number, at: number): void => {
    for (const one of grid.around(cell)) if (!cells.has(one)) cells.set(one, at);
  };
  const stepsOf = ({ period, places }: Track, within: Tile | null): readonly Step[] => {
    const steps: Step[] = [];
    for (const [from, to] of stepsAlong(places, cellM)) {
      const middle = between(from, to);
      const tile = within ?? tileOf(zoom, middle);
      if (tile !== null) steps.push({ key: keyOf(period, tile), tile, middle, from, to });
    }
    return steps;
  };
  const isNew = ({ key, tile, middle }: Step): boolean => {
    clock += 1;
    const cover = coverOf(key, tile);
    const cell = cover.grid.cellOf(middle);
    if ((cover.cells.get(cell) ?? clock) <= clock - trailSteps) return false;
    mark(cover, cell, clock);
    return true;
  };
  return {
    cover(period, tile, lines) {
      const cover = coverOf(keyOf(period, tile), tile);
      for (const line of lines)
        for (const [from, to] of stepsAlong(placesOf(line), cellM))
          mark(cover, cover.grid.cellOf(between(from, to)), earlier);
    },
    add(track, within) {
      const steps = stepsOf(track, within);
      // Another track's trail is no trail of this one.
      clock += trailSteps;
      const isKept = keptSteps(steps.map(isNew), leastSteps);
      const found: { key: string; tile: Tile; places: Place[] }[] = [];
      for (const [at, { key, tile, from, to }] of steps.entries()) {
        if (isKept[at] !== true) continue;
        const last = found.at(-1);
        if (isKept[at - 1] === true && last?.key === key) last.places.push(to);
        else found.push({ key, tile, places: [from, to] });
      }
      return found.flatMap(({ key, tile, places }) => {
        const [first] = places;
        const shift = first === undefined ? 0 : besideLongitude(middleOf(tile), first)[0] - first[0];
        const moved = places.map(([longitude, latitude]): Place => [longitude + shift, latitude]);
        const line = lineOf(simplify(moved, cellM / 8));
        return line === null ? [] : [{ key, line }];
      });
    },
  };
}

/** Most numbers in the ways of one tile that are joined. */
const numbersMost = 20_000;

/** Numbers in lines. */
const sizeOf = (lines: readonly Line[]): number => lines.reduce((sum, { length }) => sum + length, 0);

export interface Merging {
  add(lines: readonly Line[]): void;
  /** At most `numbersMost` numbers: beyond that they are thinned further. */
  lines(): readonly Line[];
}

/** Joins the ways of several owners and times in one tile. */
export function createMerging(tile: Tile, scale = 1): Merging {
  const thinning = createThinning(tile.zoom, scale);
  const merged: Line[] = [];
  return {
    add(lines) {
      for (const line of lines) {
        const track = { period: 0, places: placesOf(line) };
        merged.push(...thinning.add(track, tile).map((one) => one.line));
      }
    },
    lines() {
      if (sizeOf(merged) <= numbersMost) return merged;
      const coarser = createMerging(tile, scale * 2);
      coarser.add(merged);
      return coarser.lines();
    },
  };
}
