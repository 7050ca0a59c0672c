// The sources of the map's style that are given data here; those of vehicles are in `vehicles/`.
import type { FeatureCollection } from 'geojson';
import type { GeoJSONSource, Map as LibreMap } from 'maplibre-gl';

export type Source =
  | 'countries-far'
  | 'countries'
  | 'country-names'
  | 'waters'
  | 'towns'
  | 'graticule'
  | 'ways'
  | 'zones'
  | 'draft'
  | 'track';

export const sourceOf = (map: LibreMap, name: Source): GeoJSONSource | undefined =>
  map.getSource<GeoJSONSource>(name);

/** Sets a source's data. During a change of style there is no source; the next style gets all data. */
export function setData(map: LibreMap, name: Source, data: FeatureCollection): void {
  // A map that is removed meanwhile rejects what its worker has not drawn.
  void sourceOf(map, name)
    ?.setData(data)
    .catch(() => undefined);
}
