// Map files as an operator drops them into the folder of maps, small: PMTiles version 3 (github.com/protomaps/PMTiles, spec/v3) with vector tiles
// (Mapbox Vector Tile 2.1) that have the layers of a Protomaps base map. Every tile is all park, with a road and a place across it.
import { gzipSync } from 'node:zlib';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

const extent = 4096;

interface Feature {
  readonly type: 'point' | 'line' | 'polygon';
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly tags: Readonly<Record<string, string | number>>;
}

const types = { point: 1, line: 2, polygon: 3 } as const;
const zigzag = (value: number): number => (value < 0 ? -value * 2 - 1 : value * 2);
const command = (id: number, count: number): number => id + count * 8;

/** MoveTo, LineTo, ClosePath with steps from point to point. */
function geometryOf({ type, points }: Feature): number[] {
  let [x, y] = [0, 0];
  const steps = points.map(([toX, toY]) => {
    const step = [zigzag(toX - x), zigzag(toY - y)];
    [x, y] = [toX, toY];
    return step;
  });
  const [first = [], ...rest] = steps;
  const line = rest.length === 0 ? [] : [command(2, rest.length), ...rest.flat()];
  return [command(1, 1), ...first, ...line, ...(type === 'polygon' ? [command(7, 1)] : [])];
}

function writeLayer(name: string, features: readonly Feature[]): Uint8Array {
  const layer = new BinaryWriter();
  const keys: string[] = [];
  const values: (string | number)[] = [];
  const indexIn = <T>(list: T[], value: T): number => {
    if (!list.includes(value)) list.push(value);
    return list.indexOf(value);
  };
  layer.tag(15, WireType.Varint).uint32(2).tag(1, WireType.LengthDelimited).string(name);
  for (const feature of features) {
    const tags = Object.entries(feature.tags).flatMap(([key, value]) => [
      indexIn(keys, key),
      indexIn(values, value),
    ]);
    layer.tag(2, WireType.LengthDelimited).fork().tag(2, WireType.LengthDelimited).fork();
    for (const tag of tags) layer.uint32(tag);
    layer.join().tag(3, WireType.Varint).uint32(types[feature.type]).tag(4, WireType.LengthDelimited).fork();
    for (const number of geometryOf(feature)) layer.uint32(number);
    layer.join().join();
  }
  for (const key of keys) layer.tag(3, WireType.LengthDelimited).string(key);
  for (const value of values) {
    layer.tag(4, WireType.LengthDelimited).fork();
    if (typeof value === 'string') layer.tag(1, WireType.LengthDelimited).string(value);
    else layer.tag(4, WireType.Varint).int64(value);
    layer.join();
  }
  return layer.tag(5, WireType.Varint).uint32(extent).finish();
}

const whole = [
  [-64, -64],
  [extent + 64, -64],
  [extent + 64, extent + 64],
  [-64, extent + 64],
] as const;

/** A tile of these layers. */
export function vectorTile(layers: Readonly<Record<string, readonly Feature[]>>): Uint8Array {
  const tile = new BinaryWriter();
  for (const [name, features] of Object.entries(layers))
    tile.tag(3, WireType.LengthDelimited).bytes(writeLayer(name, features));
  return tile.finish();
}

/** All park. */
export const parkTile = (): Uint8Array =>
  vectorTile({
    earth: [{ type: 'polygon', points: whole, tags: { kind: 'earth' } }],
    landuse: [{ type: 'polygon', points: whole, tags: { kind: 'park' } }],
    roads: [
      {
        type: 'line',
        points: [
          [0, 1000],
          [extent, 1000],
        ],
        tags: { kind: 'highway', name: 'Harbour Road', min_zoom: 0 },
      },
    ],
    places: [
      {
        type: 'point',
        points: [[2048, 3000]],
        tags: {
          kind: 'locality',
          name: 'Old Port',
          'name:de': 'Alter Hafen',
          min_zoom: 0,
          population_rank: 14,
        },
      },
    ],
  });

const varints = (values: readonly number[]): Uint8Array => {
  const writer = new BinaryWriter();
  for (const value of values) writer.uint32(value);
  return writer.finish();
};

interface MapFileOptions {
  /** Zooms 0 to this one. */
  readonly zoomMost?: number;
  /** In the place of 1: vector tiles. */
  readonly tileType?: number;
  readonly metadata?: object;
}

const protomapsLayers = ['earth', 'landuse', 'roads', 'places'].map((id) => ({
  id,
  fields: { kind: 'String' },
}));

/** A map of the world: each tile stands for itself in one directory. */
export function mapFile({ zoomMost = 3, tileType = 1, metadata }: MapFileOptions = {}): Buffer {
  const count = (4 ** (zoomMost + 1) - 1) / 3;
  const tile = gzipSync(parkTile());
  const ids = Array.from({ length: count }, (_unused, at) => at);
  const directory = gzipSync(
    varints([
      count,
      ...ids.map((at) => (at === 0 ? 0 : 1)),
      ...ids.map(() => 1),
      ...ids.map(() => tile.length),
      // 0: right behind the one before.
      ...ids.map((at) => (at === 0 ? 1 : 0)),
    ]),
  );
  const described = gzipSync(
    JSON.stringify(
      metadata ?? {
        name: 'Harbour',
        vector_layers: protomapsLayers,
        attribution: '<b>Harbour</b> &copy; Town',
      },
    ),
  );
  const header = Buffer.alloc(127);
  header.write('PMTiles', 0, 'latin1');
  header.writeUInt8(3, 7);
  const metadataAt = header.length + directory.length;
  const tilesAt = metadataAt + described.length;
  const numbers = [
    header.length,
    directory.length,
    metadataAt,
    described.length,
    tilesAt,
    0,
    tilesAt,
    tile.length * count,
    count,
    count,
    count,
  ];
  for (const [at, value] of numbers.entries()) header.writeBigUInt64LE(BigInt(value), 8 + at * 8);
  header.writeUInt8(1, 96);
  header.writeUInt8(2, 97);
  header.writeUInt8(2, 98);
  header.writeUInt8(tileType, 99);
  header.writeUInt8(0, 100);
  header.writeUInt8(zoomMost, 101);
  const corners = [-180, -85.0511, 180, 85.0511];
  for (const [at, degrees] of corners.entries()) header.writeInt32LE(Math.round(degrees * 1e7), 102 + at * 4);
  return Buffer.concat([header, directory, described, ...ids.map(() => tile)]);
}
