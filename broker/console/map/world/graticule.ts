// Lines of latitude and longitude below the vehicles: the only sense of scale where the world that ships has nothing to show.
import type { FeatureCollection } from 'geojson';

const degreesMost = 85;

/** Lines of latitude and longitude around a place, one `step` of degrees apart. */
export function graticule(longitude: number, latitude: number, step: number): FeatureCollection {
  const lines: [number, number][][] = [];
  const from = (value: number): number => Math.floor(value / step) * step - 20 * step;
  for (let at = 0; at <= 40; at += 1) {
    const [x, y] = [from(longitude) + at * step, from(latitude) + at * step];
    const [west, south] = [from(longitude), Math.max(-degreesMost, from(latitude))];
    const [east, north] = [west + 40 * step, Math.min(degreesMost, south + 40 * step)];
    lines.push([
      [x, south],
      [x, north],
    ]);
    if (Math.abs(y) <= degreesMost)
      lines.push([
        [west, y],
        [east, y],
      ]);
  }
  const line = { type: 'MultiLineString', coordinates: lines } as const;
  return { type: 'FeatureCollection', features: [{ type: 'Feature', properties: {}, geometry: line }] };
}
