// A map file of the service (PMTiles, with the layers of a Protomaps base map), in the colours of the theme. The one file that loads these two
// libraries; it is loaded when a map file is chosen.
import { type Flavor, layers } from '@protomaps/basemaps';
import type { LayerSpecification } from 'maplibre-gl';
import { bytesToHeader, EtagMismatch, type Header, PMTiles, type Source, TileType } from 'pmtiles';
import { BaseMapFault, creditText, type ReadMapPart } from '../state/base-map.ts';
import { createValue } from '../state/value.ts';
import { type BaseMap, type Bounds, baseName, type OnFault, type OpenedMap } from './base-map.ts';
import { withLocalLabels } from './labels.ts';
import type { Colours } from './vehicles/colour-names.ts';

/** Size of the header (PMTiles version 3, section 3). */
const headerBytes = 127;
/** Browsers unpack these: none, gzip. */
const readable: ReadonlySet<number> = new Set([1, 2]);
/** Other kinds of map files have neither; they name and describe things otherwise. */
const ownLayers: ReadonlySet<string> = new Set(['earth', 'roads']);
/** Base maps before version 4 kept the kind of a thing here. */
const oldField = 'pmap:kind';

/** Fonts and icons have no colour here; ground cover is drawn as land. */
type Role = Exclude<keyof Flavor, 'regular' | 'bold' | 'italic' | 'pois' | 'landcover'>;

/** The token of each thing that Protomaps colours. */
const tokens: Readonly<Record<Role, keyof Colours>> = {
  background: 'map-water',
  water: 'map-water',
  earth: 'map-land',
  glacier: 'map-land',
  sand: 'map-land',
  beach: 'map-land',
  park_a: 'map-park',
  park_b: 'map-park',
  wood_a: 'map-park',
  wood_b: 'map-park',
  scrub_a: 'map-park',
  scrub_b: 'map-park',
  zoo: 'map-park',
  hospital: 'map-built',
  industrial: 'map-built',
  school: 'map-built',
  pedestrian: 'map-built',
  military: 'map-built',
  aerodrome: 'map-built',
  buildings: 'map-built',
  runway: 'map-street',
  pier: 'map-street',
  other: 'map-street',
  minor_service: 'map-street',
  minor_a: 'map-street',
  minor_b: 'map-street',
  tunnel_other: 'map-street',
  tunnel_minor: 'map-street',
  bridges_other: 'map-street',
  bridges_minor: 'map-street',
  link: 'map-road',
  major: 'map-road',
  tunnel_link: 'map-road',
  tunnel_major: 'map-road',
  bridges_link: 'map-road',
  bridges_major: 'map-road',
  highway: 'map-motorway',
  tunnel_highway: 'map-motorway',
  bridges_highway: 'map-motorway',
  minor_service_casing: 'map-casing',
  minor_casing: 'map-casing',
  link_casing: 'map-casing',
  major_casing_early: 'map-casing',
  major_casing_late: 'map-casing',
  highway_casing_early: 'map-casing',
  highway_casing_late: 'map-casing',
  tunnel_other_casing: 'map-casing',
  tunnel_minor_casing: 'map-casing',
  tunnel_link_casing: 'map-casing',
  tunnel_major_casing: 'map-casing',
  tunnel_highway_casing: 'map-casing',
  bridges_other_casing: 'map-casing',
  bridges_minor_casing: 'map-casing',
  bridges_link_casing: 'map-casing',
  bridges_major_casing: 'map-casing',
  bridges_highway_casing: 'map-casing',
  railway: 'map-rail',
  boundaries: 'map-label',
  roads_label_minor: 'map-label',
  roads_label_major: 'map-label',
  ocean_label: 'map-label',
  subplace_label: 'map-label',
  city_label: 'map-label',
  state_label: 'map-label',
  country_label: 'map-label',
  address_label: 'map-label',
  roads_label_minor_halo: 'map-halo',
  roads_label_major_halo: 'map-halo',
  subplace_label_halo: 'map-halo',
  city_label_halo: 'map-halo',
  state_label_halo: 'map-halo',
  address_label_halo: 'map-halo',
};

const flavour = (colours: Colours): Flavor =>
  Object.fromEntries(Object.entries(tokens).map(([role, token]) => [role, colours[token]])) as Record<
    Role,
    string
  >;

/** True when a part ends beyond the file, which was replaced meanwhile. */
const isReplaced = (thrown: unknown, etag: string | undefined): boolean =>
  etag !== undefined && thrown instanceof BaseMapFault && thrown.code === 'truncated';

function sourceOf(name: string, readPart: ReadMapPart): Source {
  return {
    getKey: () => name,
    async getBytes(offset, length, signal, etag) {
      const part = await readPart(name, { offset, length }, signal).catch((thrown: unknown) => {
        throw isReplaced(thrown, etag) ? new EtagMismatch(etag) : thrown;
      });
      // The reader then drops its cached directories and retries once.
      if (etag !== undefined && etag !== part.etag) throw new EtagMismatch(etag);
      return { data: part.data, etag: part.etag };
    },
  };
}

/** End of its parts by the header, bytes. */
const endOf = (header: Header): number =>
  Math.max(
    header.rootDirectoryOffset + header.rootDirectoryLength,
    header.jsonMetadataOffset + header.jsonMetadataLength,
    header.leafDirectoryOffset + (header.leafDirectoryLength ?? 0),
    header.tileDataOffset + (header.tileDataLength ?? 0),
  );

/** Reads and judges the header before the reader trusts it. @throws BaseMapFault */
async function readHeader(name: string, readPart: ReadMapPart): Promise<Header> {
  const { data, size } = await readPart(name, { offset: 0, length: headerBytes });
  const magic = new TextDecoder().decode(data.slice(0, 7));
  if (magic !== 'PMTiles') throw new BaseMapFault('not-pmtiles', name, 'its first bytes are others');
  if (data.byteLength < headerBytes) throw new BaseMapFault('truncated', name, `it has ${size} bytes`);
  const version = new DataView(data).getUint8(7);
  if (version !== 3) throw new BaseMapFault('not-pmtiles', name, `it has version ${version}`);
  const header = bytesToHeader(data);
  const end = endOf(header);
  if (end > size) throw new BaseMapFault('truncated', name, `it has ${size} of ${end} bytes`);
  if (header.tileType !== TileType.Mvt) throw new BaseMapFault('not-vector', name, `type ${header.tileType}`);
  if (!readable.has(header.tileCompression) || !readable.has(header.internalCompression))
    throw new BaseMapFault('not-vector', name, `compression ${header.tileCompression}`);
  return header;
}

interface VectorLayer {
  readonly id?: unknown;
  readonly fields?: unknown;
}

/** @throws BaseMapFault for a map that is described otherwise. */
function checkLayers(name: string, found: unknown): void {
  const rows: readonly (VectorLayer | null)[] = Array.isArray(found) ? found : [];
  const isOld = rows.some((row) => Object.hasOwn(Object(row?.fields), oldField));
  if (isOld) throw new BaseMapFault('not-base-map', name, 'it is older than version 4');
  const ids = rows.map((row) => String(row?.id));
  if (!ids.some((id) => ownLayers.has(id)))
    throw new BaseMapFault('not-base-map', name, `it has the layers ${ids.join(', ')}`);
}

/** Web Mercator ends here, degrees of latitude. */
const latitudeMost = 85.0511;

function boundsOf({ minLon, minLat, maxLon, maxLat }: Header): Bounds {
  const [west, east] = [Math.max(-180, minLon), Math.min(180, maxLon)];
  const [south, north] = [Math.max(-latitudeMost, minLat), Math.min(latitudeMost, maxLat)];
  // Some writers leave them out.
  return west < east && south < north ? [west, south, east, north] : [-180, -latitudeMost, 180, latitudeMost];
}

const tilesName = baseName('tiles');
const tilePath = 'tile/';

function baseOf(header: Header, archive: PMTiles, hasOpenData: boolean, onFault: OnFault): BaseMap {
  const bounds = boundsOf(header);
  const { minZoom: minzoom, maxZoom: maxzoom } = header;
  const source = { type: 'vector' as const, tiles: [`${tilePath}{z}/{x}/{y}`], minzoom, maxzoom };
  return {
    name: archive.source.getKey(),
    sources: { [tilesName]: { ...source, bounds: [...bounds] } },
    bounds,
    hasOpenData,
    layers(colours, lang) {
      const made = layers(tilesName, flavour(colours), { lang }) as readonly LayerSpecification[];
      const drawn = made.filter(({ type }) => type !== 'background');
      return withLocalLabels(drawn, false).map((layer) => ({ ...layer, id: baseName(layer.id) }));
    },
    isOwn: (url) => url.startsWith(tilePath),
    async read(url, signal) {
      const [z = 0, x = 0, y = 0] = url.slice(tilePath.length).split('/').map(Number);
      try {
        const tile = await archive.getZxy(z, x, y, signal);
        return tile?.data ?? new ArrayBuffer(0);
      } catch (thrown) {
        if (thrown instanceof BaseMapFault && thrown.code !== 'unreachable') onFault(thrown);
        throw thrown;
      }
    },
    fail: onFault,
  };
}

/**
 * Opens a map file of the service.
 * @param onFault called with a later fault; the map can then no longer be drawn.
 * @throws BaseMapFault when it cannot be drawn.
 */
export async function openFileMap(name: string, readPart: ReadMapPart, onFault: OnFault): Promise<OpenedMap> {
  const header = await readHeader(name, readPart);
  const archive = new PMTiles(sourceOf(name, readPart));
  const metadata = await archive.getMetadata().catch((thrown: unknown) => {
    throw thrown instanceof BaseMapFault ? thrown : new BaseMapFault('not-pmtiles', name, String(thrown));
  });
  const {
    attribution,
    vector_layers: found,
    'fleetward:generated': isGenerated,
  } = Object(metadata) as {
    readonly attribution?: unknown;
    readonly vector_layers?: unknown;
    /** Of the town of the practice fleet. */
    readonly 'fleetward:generated'?: unknown;
  };
  checkLayers(name, found);
  return {
    base: baseOf(header, archive, isGenerated !== true, onFault),
    credit: createValue(creditText(attribution)),
  };
}
