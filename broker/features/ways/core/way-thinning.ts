// Keeps each street about once, however often it is driven: of a track only what covers cells that no kept way covers yet. What a
// vehicle covered just before does not count, as its own trail would hide the rest.
import {
  around,
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

/** The ways of one owner in one tile and time. */
interface Cover {
  readonly key: string;
  readonly tile: Tile;
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

type VisitStep = (fromLon: number, fromLat: number, toLon: number, toLat: number) => void;

/** Visits steps of half a cell to a cell along the places; the last one may be shorter. */
function walk(places: readonly Place[], cellM: number, visit: VisitStep): void {
  let [from] = places;
  for (const [at, to] of places.entries()) {
    if (from === undefined || at === 0) continue;
    const [east, north] = metresBetween(from, to);
    const farM = Math.hypot(east, north);
    if (farM < cellM / 2 && at < places.length - 1) continue;
    const count = Math.max(1, Math.ceil(farM / cellM));
    let [lon, lat] = from;
    const [lonStep, latStep] = [(to[0] - lon) / count, (to[1] - lat) / count];
    for (let part = 0; part < count; part++) {
      visit(lon, lat, lon + lonStep, lat + latStep);
      lon += lonStep;
      lat += latStep;
    }
    from = to;
  }
}

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
  walk(places, zooms[zoom].cellM, (fromLon, fromLat, toLon, toLat) => {
    const tile = tileOf(zoom, [(fromLon + toLon) / 2, (fromLat + toLat) / 2]);
    if (tile !== null) tiles.set(keyOf(period, tile), tile);
  });
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
  const coverOf = (period: number, tile: Tile): Cover => {
    const key = keyOf(period, tile);
    const known = covers.get(key) ?? {
      key,
      tile,
      grid: gridOf(tile, cellM),
      cells: new Map<number, number>(),
    };
    covers.set(key, known);
    return known;
  };
  const mark = ({ cells }: Cover, cell: number, at: number): void => {
    for (const offset of around) if (!cells.has(cell + offset)) cells.set(cell + offset, at);
  };
  /** True of what is not covered yet; it is from now on. */
  const isNew = (cover: Cover, longitude: number, latitude: number): boolean => {
    clock += 1;
    const cell = cover.grid.cellOf(longitude, latitude);
    if ((cover.cells.get(cell) ?? clock) <= clock - trailSteps) return false;
    mark(cover, cell, clock);
    return true;
  };
  /** The kept steps, those of one tile that follow each other as one. */
  const join = (places: readonly Place[], of: readonly (Cover | null)[], isKept: readonly boolean[]) => {
    const found: { readonly cover: Cover; readonly places: Place[] }[] = [];
    let at = 0;
    walk(places, cellM, (fromLon, fromLat, toLon, toLat) => {
      const cover = of[at] ?? null;
      if (cover !== null && isKept[at] === true) {
        const last = found.at(-1);
        if (isKept[at - 1] === true && last?.cover === cover) last.places.push([toLon, toLat]);
        else {
          const start: Place = [fromLon, fromLat];
          found.push({ cover, places: [start, [toLon, toLat]] });
        }
      }
      at += 1;
    });
    return found;
  };
  return {
    cover(period, tile, lines) {
      const cover = coverOf(period, tile);
      for (const line of lines)
        walk(placesOf(line), cellM, (fromLon, fromLat, toLon, toLat) =>
          mark(cover, cover.grid.cellOf((fromLon + toLon) / 2, (fromLat + toLat) / 2), earlier),
        );
    },
    add({ period, places }, within) {
      const whole = within === null ? null : coverOf(period, within);
      const of: (Cover | null)[] = [];
      const areNew: boolean[] = [];
      // Another track's trail is no trail of this one.
      clock += trailSteps;
      walk(places, cellM, (fromLon, fromLat, toLon, toLat) => {
        const [longitude, latitude] = [(fromLon + toLon) / 2, (fromLat + toLat) / 2];
        const tile = whole === null ? tileOf(zoom, [longitude, latitude]) : null;
        const cover = tile === null ? whole : coverOf(period, tile);
        of.push(cover);
        areNew.push(cover !== null && isNew(cover, longitude, latitude));
      });
      if (!areNew.includes(true)) return [];
      return join(places, of, keptSteps(areNew, leastSteps)).flatMap(
        ({ cover: { key, tile }, places: along }) => {
          const [first] = along;
          const shift = first === undefined ? 0 : besideLongitude(middleOf(tile), first)[0] - first[0];
          const moved = along.map(([longitude, latitude]): Place => [longitude + shift, latitude]);
          const line = lineOf(simplify(moved, cellM / 8));
          return line === null ? [] : [{ key, line }];
        },
      );
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
