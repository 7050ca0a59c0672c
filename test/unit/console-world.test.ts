// The world that ships with the console: every country where it is, and named once, on its own land.
import { readFileSync } from 'node:fs';
import type { Position } from 'geojson';
import { describe, expect, it } from 'vitest';
import { mainLandOf } from '../../broker/console/map/world/main-land.ts';
import {
  type Country,
  countriesOf,
  countryNames,
  type NamedCountry,
} from '../../broker/console/map/world/shapes.ts';

const readCountries = (scale: string): readonly NamedCountry[] => {
  const path = new URL(`../../node_modules/world-atlas/countries-${scale}.json`, import.meta.url);
  const countries = countriesOf(JSON.parse(readFileSync(path, 'utf8')));
  return countries.map((one) => ({ ...one, properties: { ...one.properties, ...mainLandOf(one) } }));
};

const rings = ({ geometry }: Country): readonly Position[][] =>
  geometry.type === 'Polygon' ? geometry.coordinates : geometry.coordinates.flat();
const longitudes = (ring: readonly Position[]): readonly number[] => ring.map(([x = 0]) => x);

describe.each(['110m', '50m'])('the countries at 1:%s', (scale) => {
  const countries = readCountries(scale);

  it('have no edge that runs around the world', () => {
    const jumps = countries.flatMap((country) =>
      rings(country).flatMap((ring) =>
        longitudes(ring).flatMap((x, at) =>
          // Antarctica is closed along the pole.
          at > 0 && Math.abs(x - (ring[at - 1]?.[0] ?? x)) > 180 && ring[at]?.[1] !== -90
            ? [country.properties.name]
            : [],
        ),
      ),
    );
    expect(jumps).toEqual([]);
  });

  it('are no wider than they are, those that cross 180 degrees too', () => {
    const widths = new Map(
      countries.map((country) => [
        country.properties.name,
        Math.max(
          ...rings(country).map((ring) => Math.max(...longitudes(ring)) - Math.min(...longitudes(ring))),
        ),
      ]),
    );
    expect(widths.get('Russia')).toBeLessThan(170);
    expect(widths.get('Fiji')).toBeLessThan(5);
    expect(widths.get('Antarctica')).toBeCloseTo(360, 0);
    expect([...widths].filter(([, width]) => width > 170).map(([name]) => name)).toEqual(['Antarctica']);
  });

  it('are named once each, on their largest land', () => {
    const { features } = countryNames(countries, 'en');
    const placeOf = new Map(
      features.map(({ properties, geometry }) => [properties?.['name'] as string, geometry.coordinates]),
    );
    expect(features).toHaveLength(placeOf.size);
    // Territories that share the number of their country share its name.
    expect(countries.length - placeOf.size).toBeLessThan(2);
    for (const [name, [west, south, east, north]] of [
      ['Russia', [60, 55, 130, 70]],
      ['France', [-1, 44, 6, 49]],
      ['United States', [-115, 33, -80, 47]],
      ['Norway', [6, 59, 14, 66]],
      ['Netherlands', [4.5, 51.5, 7, 53.3]],
      ['New Zealand', [166, -47, 179, -34]],
      ['Fiji', [177, -19, 181, -16]],
    ] as const) {
      const [x = Number.NaN, y = Number.NaN] = placeOf.get(name) ?? [];
      expect([name, x > west && x < east, y > south && y < north]).toEqual([name, true, true]);
    }
  });
});

it('names countries in the language of the reader, and in English those without a number', () => {
  const countries = readCountries('50m');
  const namesIn = (language: string): readonly unknown[] =>
    countryNames(countries, language).features.map(({ properties }) => properties?.['name']);
  expect(namesIn('de')).toEqual(expect.arrayContaining(['Deutschland', 'Vereinigtes Königreich', 'Kosovo']));
  expect(namesIn('ar')).toEqual(expect.arrayContaining(['ألمانيا', 'Kosovo']));
});
