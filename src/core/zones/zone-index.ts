// Finds the geozones near a place by a packed R-tree over their boxes (sort-tile-recursive, Leutenegger 1997), built
// once and never changed. A matching box is a candidate; `zoneContains` decides whether a point is in the zone
// itself. 10,000 zones take 36 bytes each plus a fifteenth for the upper levels.
import type { Point } from '../geo/geo.ts';
import type { Box } from '../geo/geozone.ts';

/** Boxes of one node. */
const fanOut = 16;
/** Numbers of one box: south, north, west, east. */
const sides = 4;

export interface ZoneIndex {
  /** All boxes, level by level: first those of the zones, last the few at the root. */
  readonly boxes: Float64Array;
  /** Zone number of each box of the lowest level. */
  readonly zones: Int32Array;
  /** Start of each level, in boxes, and the end of the last. */
  readonly levels: readonly number[];
}

interface Entry {
  readonly zone: number;
  readonly box: Box;
}

/** A box that crosses the antimeridian becomes two, so that west <= east in each. */
function entriesOf(boxes: readonly (Box | null)[]): Entry[] {
  return boxes.flatMap((box, zone): Entry[] => {
    if (box === null) return [];
    if (box.west <= box.east) return [{ zone, box }];
    return [
      { zone, box: { ...box, east: 180 } },
      { zone, box: { ...box, west: -180 } },
    ];
  });
}

/** Sorts into vertical strips, and each strip from south to north, so that neighbours share a node. */
function tile(entries: Entry[]): readonly Entry[] {
  const strips = Math.ceil(Math.sqrt(Math.ceil(entries.length / fanOut)));
  const perStrip = strips * fanOut;
  entries.sort((a, b) => a.box.west + a.box.east - b.box.west - b.box.east);
  const tiled: Entry[] = [];
  for (let first = 0; first < entries.length; first += perStrip) {
    const strip = entries.slice(first, first + perStrip);
    strip.sort((a, b) => a.box.south + a.box.north - b.box.south - b.box.north);
    for (const entry of strip) tiled.push(entry);
  }
  return tiled;
}

/** Start of each level when the lowest has `count` boxes. */
function levelsOf(count: number): readonly number[] {
  const levels = [0];
  for (let size = count, begin = 0; ; size = Math.ceil(size / fanOut)) {
    begin += size;
    levels.push(begin);
    if (size <= fanOut) return levels;
  }
}

/** Writes the box of a node: the smallest that holds its children `first`..`end`. */
function join(boxes: Float64Array, node: number, first: number, end: number): void {
  let [south, north, west, east] = [90, -90, 180, -180];
  for (let at = first * sides; at < end * sides; at += sides) {
    south = Math.min(south, boxes[at] ?? 90);
    north = Math.max(north, boxes[at + 1] ?? -90);
    west = Math.min(west, boxes[at + 2] ?? 180);
    east = Math.max(east, boxes[at + 3] ?? -180);
  }
  boxes.set([south, north, west, east], node * sides);
}

/**
 * Builds the index; the time grows as n log n.
 * @param boxes of the zones in their order (`zoneBox`); null for an empty zone.
 */
export function createZoneIndex(boxes: readonly (Box | null)[]): ZoneIndex {
  const entries = tile(entriesOf(boxes));
  const levels = levelsOf(entries.length);
  const packed = new Float64Array((levels.at(-1) ?? 0) * sides);
  for (const [at, { box }] of entries.entries())
    packed.set([box.south, box.north, box.west, box.east], at * sides);
  for (let level = 1; level + 1 < levels.length; level += 1) {
    const [below = 0, begin = 0, end = 0] = levels.slice(level - 1, level + 2);
    for (let node = begin; node < end; node += 1) {
      const first = below + (node - begin) * fanOut;
      join(packed, node, first, Math.min(first + fanOut, begin));
    }
  }
  return { boxes: packed, zones: Int32Array.from(entries, ({ zone }) => zone), levels };
}

interface Search {
  readonly index: ZoneIndex;
  readonly latitude: number;
  readonly longitude: number;
  readonly most: number;
  readonly found: number[];
}

function search(by: Search, level: number, first: number): void {
  const { boxes, zones, levels } = by.index;
  const end = Math.min(first + fanOut, levels[level + 1] ?? 0);
  for (let box = first; box < end && by.found.length < by.most; box += 1) {
    const at = box * sides;
    if (by.latitude < (boxes[at] ?? 90) || by.latitude > (boxes[at + 1] ?? -90)) continue;
    if (by.longitude < (boxes[at + 2] ?? 180) || by.longitude > (boxes[at + 3] ?? -180)) continue;
    if (level === 0) by.found.push(zones[box] ?? 0);
    else search(by, level - 1, (levels[level - 1] ?? 0) + (box - (levels[level] ?? 0)) * fanOut);
  }
}

/**
 * Numbers of the zones whose box holds the point, each once, in an arbitrary but stable order; at most `most` of
 * them.
 */
export function zonesNear(index: ZoneIndex, at: Point, most: number): readonly number[] {
  const found: number[] = [];
  const { latitude } = at;
  // One meridian, one number: `zoneBox` lets boxes begin and end at -180.
  const longitude = at.longitude === 180 ? -180 : at.longitude;
  const root = index.levels.length - 2;
  search({ index, latitude, longitude, most, found }, root, index.levels[root] ?? 0);
  return found;
}
