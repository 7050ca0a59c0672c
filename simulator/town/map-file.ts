// A map file of given shapes: vector tiles (Mapbox Vector Tile 2.1) in a PMTiles archive (github.com/protomaps/PMTiles, spec/v3).
import { gzipSync } from 'node:zlib';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { GeoJSONVT, type GeoJSONVTTile } from '@maplibre/geojson-vt';
import { fromGeojsonVt } from '@maplibre/vt-pbf';
import type { Feature } from 'geojson';
import { mercatorOf } from '../../src/core/geo/mercator.ts';

const extent = 4096;
const headerBytes = 127;

/** The number of a tile in the order of an archive, section 4: along the Hilbert curve of each zoom, zoom by zoom. */
export function tileID(zoom: number, column: number, row: number): number {
  let id = (4 ** zoom - 1) / 3;
  let [x, y] = [column, row];
  for (let side = 2 ** (zoom - 1); side >= 1; side /= 2) {
    const [isEast, isSouth] = [(x & side) > 0 ? 1 : 0, (y & side) > 0 ? 1 : 0];
    id += side * side * ((3 * isEast) ^ isSouth);
    if (isSouth === 0) {
      if (isEast === 1) [x, y] = [side - 1 - x, side - 1 - y];
      [x, y] = [y, x];
    }
  }
  return id;
}

export interface Tile {
  readonly id: number;
  readonly data: Uint8Array;
}

/** One directory, section 4.1. Tiles lie one behind the other in the order of their ids. */
function directoryOf(tiles: readonly Tile[]): Uint8Array {
  const writer = new BinaryWriter().uint32(tiles.length);
  tiles.forEach(({ id }, at) => writer.uint32(id - (tiles[at - 1]?.id ?? 0)));
  for (let at = 0; at < tiles.length; at += 1) writer.uint32(1);
  for (const { data } of tiles) writer.uint32(data.length);
  // 0: right behind the one before.
  tiles.forEach((_, at) => writer.uint32(at === 0 ? 1 : 0));
  return writer.finish();
}

export interface ArchiveOptions {
  readonly zoomLeast: number;
  readonly zoomMost: number;
  /** West, south, east, north in degrees. */
  readonly bounds: readonly [number, number, number, number];
  readonly metadata: object;
  /** Section 3.2.14; vector tiles unless given. */
  readonly tileType?: number;
}

/** An archive of unpacked tiles. Its one directory must hold in the first 16 KiB, section 3. */
export function writeArchive(tiles: readonly Tile[], options: ArchiveOptions): Buffer {
  const packed = tiles
    .toSorted((one, other) => one.id - other.id)
    .map(({ id, data }) => ({ id, data: gzipSync(data) }));
  const directory = gzipSync(directoryOf(packed));
  const metadata = gzipSync(JSON.stringify(options.metadata));
  const header = Buffer.alloc(headerBytes);
  header.write('PMTiles');
  header.writeUInt8(3, 7);
  const tilesAt = headerBytes + directory.length + metadata.length;
  const dataBytes = packed.reduce((sum, { data }) => sum + data.length, 0);
  const metadataAt = headerBytes + directory.length;
  [headerBytes, directory.length, metadataAt, metadata.length, tilesAt, 0, tilesAt, dataBytes].forEach(
    (value, at) => header.writeBigUInt64LE(BigInt(value), 8 + at * 8),
  );
  for (let at = 0; at < 3; at += 1) header.writeBigUInt64LE(BigInt(packed.length), 72 + at * 8);
  const { zoomLeast, zoomMost, bounds, tileType = 1 } = options;
  // Tiles in order, packed inside and out by gzip.
  header.set([1, 2, 2, tileType, zoomLeast, zoomMost], 96);
  bounds.forEach((degrees, at) => header.writeInt32LE(Math.round(degrees * 1e7), 102 + at * 4));
  const [west, south, east, north] = bounds;
  header.writeUInt8(zoomMost - 1, 118);
  header.writeInt32LE(Math.round(((west + east) / 2) * 1e7), 119);
  header.writeInt32LE(Math.round(((south + north) / 2) * 1e7), 123);
  return Buffer.concat([header, directory, metadata, ...packed.map(({ data }) => data)]);
}

type Layers = Readonly<Record<string, readonly Feature[]>>;

const leastZoomOf = ({ properties }: Feature): number => Number(properties?.['min_zoom'] ?? 0);

/** Column and row of the tile that holds a place. */
function tileAt(zoom: number, [longitude = 0, latitude = 0]: readonly number[]): [number, number] {
  const { x, y } = mercatorOf({ latitude, longitude });
  return [Math.floor(x * 2 ** zoom), Math.floor(y * 2 ** zoom)];
}

/** The shapes of each layer cut into tiles; a shape is in those of its `min_zoom` and nearer. */
export function cutTiles(
  layers: Layers,
  { zoomLeast, zoomMost, bounds }: Omit<ArchiveOptions, 'metadata'>,
): Tile[] {
  const [west, south, east, north] = bounds;
  const tiles: Tile[] = [];
  for (let zoom = zoomLeast; zoom <= zoomMost; zoom += 1) {
    const cut = Object.entries(layers).map(([name, features]) => {
      const shown = features.filter((one) => leastZoomOf(one) <= zoom);
      const collection = { type: 'FeatureCollection' as const, features: shown };
      return [
        name,
        new GeoJSONVT(collection, { maxZoom: zoom, indexMaxZoom: zoom, extent, buffer: 80 }),
      ] as const;
    });
    const [first, top] = tileAt(zoom, [west, north]);
    const [last, bottom] = tileAt(zoom, [east, south]);
    for (let x = first; x <= last; x += 1)
      for (let y = top; y <= bottom; y += 1) {
        const parts = cut.flatMap(([name, index]): [string, GeoJSONVTTile][] => {
          const tile = index.getTile(zoom, x, y);
          return tile === null ? [] : [[name, tile]];
        });
        if (parts.length === 0) continue;
        const data = fromGeojsonVt(Object.fromEntries(parts), { version: 2, extent });
        tiles.push({ id: tileID(zoom, x, y), data });
      }
  }
  return tiles;
}
