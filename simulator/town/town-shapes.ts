// The town as shapes of a map, in the layers and kinds of a Protomaps base map of version 4 (docs.protomaps.com/basemaps/layers).
import type { Feature, Position } from 'geojson';
import type { SeededEntropy } from '../core/random.ts';
import { type Crossing, gridSize, isAvenueLine } from '../world/streets.ts';
import { type Block, type BlockKind, streetEnds, type Town } from './town.ts';
import { districtNames, laneNames, riverName, squareName, streetNames, townName } from './town-names.ts';

/** Layers of the map that the town has. */
export const townLayers = ['earth', 'landuse', 'water', 'roads', 'buildings', 'places'] as const;
type Layer = (typeof townLayers)[number];
export type TownShapes = Readonly<Record<Layer, readonly Feature[]>>;

/** The two roads through the middle of the town go on into the country for so many blocks. */
const countryBlocks = 46;
const middleLine = 12;
const range = (from: number, to: number, step = 1): number[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, at) => from + at * step);

type Tags = Readonly<Record<string, string | number | boolean>>;

function createPen({ at }: Town) {
  const place = (crossing: Crossing): Position => {
    const { latitude, longitude } = at(crossing);
    return [longitude, latitude];
  };
  const closed = (crossings: readonly Crossing[]): Position[] => {
    const ring = crossings.map(place);
    return [...ring, ...ring.slice(0, 1)];
  };
  return {
    point: (crossing: Crossing, properties: Tags): Feature => ({
      type: 'Feature',
      properties,
      geometry: { type: 'Point', coordinates: place(crossing) },
    }),
    line: (crossings: readonly Crossing[], properties: Tags): Feature => ({
      type: 'Feature',
      properties,
      geometry: { type: 'LineString', coordinates: crossings.map(place) },
    }),
    area: (crossings: readonly Crossing[], properties: Tags): Feature => ({
      type: 'Feature',
      properties,
      geometry: { type: 'Polygon', coordinates: [closed(crossings)] },
    }),
    /** A rectangle along the streets; blocks are 1 by 1. */
    box(corner: Crossing, width: number, depth: number, properties: Tags): Feature {
      const { column, row } = corner;
      const corners = [
        corner,
        { column: column + width, row },
        { column: column + width, row: row + depth },
        { column, row: row + depth },
      ];
      return this.area(corners, properties);
    },
  };
}

type Pen = ReturnType<typeof createPen>;

/** Half of a street, blocks. */
const verge = 0.07;

const landuse: Readonly<Partial<Record<BlockKind, Tags>>> = {
  halls: { kind: 'industrial' },
  park: { kind: 'park' },
  square: { kind: 'pedestrian' },
  school: { kind: 'school' },
  hospital: { kind: 'hospital' },
};

/** Buildings along the sides of a block: how many a side, and how deep. */
const rows: Readonly<Partial<Record<BlockKind, { readonly count: number; readonly depth: number }>>> = {
  houses: { count: 7, depth: 0.1 },
  shops: { count: 4, depth: 0.2 },
  halls: { count: 2, depth: 0.32 },
  school: { count: 1, depth: 0.2 },
  hospital: { count: 1, depth: 0.28 },
};

function buildingsOf({ corner, kind }: Block, pen: Pen, entropy: SeededEntropy): Feature[] {
  const row = rows[kind];
  if (row === undefined) return [];
  const from = verge + 0.05;
  const width = (1 - 2 * from) / row.count;
  const isBuilding = { kind: 'building', min_zoom: 14 };
  return range(0, row.count - 1).flatMap((at) =>
    [0, 1].flatMap((side) => {
      if (entropy.chance(0.08)) return [];
      const depth = row.depth * (0.8 + entropy.fraction() * 0.4);
      const column = corner.column + from + at * width;
      const start = side === 0 ? corner.row + from : corner.row + 1 - from - depth;
      return [pen.box({ column, row: start }, width * (0.6 + entropy.fraction() * 0.35), depth, isBuilding)];
    }),
  );
}

/** Streets of one direction, by their line in the grid. @param at the crossing at a place along the line. */
function streetsAlong(
  pen: Pen,
  names: readonly string[],
  given: { river: Town['river']; isAcross: boolean; at(line: number, along: number): Crossing },
): Feature[] {
  return range(0, gridSize).flatMap((line) => {
    const ends = streetEnds(line);
    if (ends === null) return [];
    const isAvenue = isAvenueLine(line);
    const isThrough = line === middleLine;
    const kind = isThrough ? 'highway' : isAvenue ? 'major_road' : 'minor_road';
    const name = `${names[line] ?? ''} ${isThrough ? 'Road' : isAvenue ? 'Avenue' : 'Street'}`;
    const detail = isThrough ? 'trunk' : isAvenue ? 'secondary' : 'residential';
    const properties = { kind, kind_detail: detail, name, min_zoom: isThrough ? 6 : isAvenue ? 11 : 13 };
    const [first, last] = isThrough ? [-countryBlocks, gridSize + countryBlocks] : ends;
    // A street without a bridge ends at one bank and goes on at the other.
    const { row, bridges } = given.river;
    const isCut = given.isAcross && !bridges.includes(line) && first <= row && row < last;
    const parts = isCut
      ? [
          [first, row],
          [row + 1, last],
        ]
      : [[first, last]];
    return parts.flatMap(([from = 0, to = 0]) =>
      from < to
        ? [
            pen.line(
              range(from, to, 0.25).map((along) => given.at(line, along)),
              properties,
            ),
          ]
        : [],
    );
  });
}

function riverOf(town: Town, pen: Pen): Feature[] {
  const columns = range(-countryBlocks, gridSize + countryBlocks, 0.25);
  const bank = (side: -1 | 1): Crossing[] =>
    columns.map((column) => ({ column, row: town.riverAt(column) + side * 0.17 }));
  return [
    pen.area([...bank(-1), ...bank(1).toReversed()], { kind: 'river', min_zoom: 8 }),
    pen.line(
      columns.map((column) => ({ column, row: town.riverAt(column) })),
      { kind: 'river', name: riverName, min_zoom: 9 },
    ),
  ];
}

/** Woods around the town: bent rounds. */
function woodsOf(pen: Pen, entropy: SeededEntropy): Feature[] {
  return range(0, 13).map((at) => {
    const turn = (at / 14) * 2 * Math.PI + entropy.fraction() * 0.3;
    const far = 19 + entropy.fraction() * 18;
    const size = 1.5 + entropy.fraction() * 3.5;
    const [phase, bend] = [entropy.fraction() * 6.3, 0.15 + entropy.fraction() * 0.2];
    const edge = range(0, 35).map((step) => {
      const angle = (step / 36) * 2 * Math.PI;
      const radius = size * (1 + bend * Math.sin(3 * angle + phase) + 0.1 * Math.sin(7 * angle));
      return {
        column: gridSize / 2 + far * Math.cos(turn) + radius * Math.cos(angle),
        row: gridSize / 2 + far * Math.sin(turn) + radius * Math.sin(angle),
      };
    });
    return pen.area(edge, { kind: 'wood', min_zoom: 9 });
  });
}

/** @param entropy for what vehicles never meet: woods and buildings. */
export function townShapes(town: Town, entropy: SeededEntropy): TownShapes {
  const pen = createPen(town);
  const used = town.blocks.flatMap(({ corner: { column, row }, kind }) => {
    const tags = landuse[kind];
    if (tags === undefined) return [];
    // No street cuts the green of the banks.
    const side = row === town.river.row ? 0 : verge;
    const start = { column: column + side, row: row + verge };
    return [pen.box(start, 1 - 2 * side, 1 - 2 * verge, { ...tags, min_zoom: 11 })];
  });
  const far = countryBlocks + 1;
  return {
    earth: [pen.box({ column: -far, row: -far }, gridSize + 2 * far, gridSize + 2 * far, { kind: 'earth' })],
    landuse: [...woodsOf(pen, entropy), ...used],
    water: riverOf(town, pen),
    roads: [
      ...streetsAlong(pen, streetNames, {
        river: town.river,
        isAcross: true,
        at: (line, along) => ({ column: line, row: along }),
      }),
      ...streetsAlong(pen, laneNames, {
        river: town.river,
        isAcross: false,
        at: (line, along) => ({ column: along, row: line }),
      }),
    ],
    buildings: town.blocks.flatMap((block) => buildingsOf(block, pen, entropy)),
    places: [
      pen.point(
        { column: gridSize / 2, row: gridSize / 2 + 0.5 },
        { kind: 'locality', kind_detail: 'town', name: townName, min_zoom: 5, population_rank: 11 },
      ),
      pen.point(
        { column: gridSize / 2, row: gridSize / 2 - 0.3 },
        { kind: 'neighbourhood', name: squareName, min_zoom: 14 },
      ),
      ...town.districts.map((place, at) =>
        pen.point(place, { kind: 'neighbourhood', name: districtNames[at] ?? '', min_zoom: 12 }),
      ),
    ],
  };
}
