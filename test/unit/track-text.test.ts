// Exported texts stay well formed whatever a record carries, and no spreadsheet takes a cell for a formula.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  csvHead,
  csvLine,
  geojsonLine,
  geojsonPoint,
  gpxHead,
  gpxPoint,
} from '../../broker/features/exports/core/track-text.ts';
import { csvText } from '../../src/core/reports/csv.ts';

const time = (ms: number): string => new Date(ms).toISOString();
const form = { time, separator: 'comma' } as const;
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '=1+1',
    '+cmd',
    '-2',
    '@SUM(A1)',
    '\t=1',
    '\r\n',
    '"',
    '""',
    ',',
    ']]>',
    '<!--',
    '&amp;',
    '\ud800',
    '\u0000',
    '\uffff',
    '＝1',
  ),
);
const point = {
  eventID: 'b:1',
  timestampMs: 1_763_683_200_000,
  receivedMs: 1_763_683_201_000,
  statusCode: 61472,
  point: { latitude: -43.65, longitude: -79.34 },
  altitude: -3.5,
  speed: 0,
  heading: 359,
  hdop: 0.9,
  satellites: 11,
  odometer: null,
  fuelLevel: 1e-9,
  ignition: false,
  geozoneID: '',
};

/** RFC 4180, by its grammar: the cells of the one line in the text. */
function cellsOf(text: string): readonly string[] {
  const cells: string[] = [];
  let rest = `${text},`;
  while (rest !== '') {
    const cell = /^(?:"((?:[^"]|"")*)"|([^",\r\n]*)),/.exec(rest);
    if (cell === null) throw new Error(`not RFC 4180 at ${JSON.stringify(rest)}`);
    cells.push(cell[1]?.replaceAll('""', '"') ?? cell[2] ?? '');
    rest = rest.slice(cell[0].length);
  }
  return cells;
}

describe('CSV', () => {
  it('keeps every text in one cell, which is no formula', () => {
    fc.assert(
      fc.property(anyText, anyText, (deviceID, geozoneID) => {
        const line = csvLine(deviceID, { ...point, geozoneID }, form);
        expect(line.endsWith('\r\n')).toBe(true);
        const cells = cellsOf(line.slice(0, -2));
        expect(cells).toHaveLength(csvHead('comma').trim().split(',').length);
        for (const [at, text] of [
          [0, deviceID],
          [17, geozoneID],
        ] as const) {
          expect([text, `'${text}`]).toContain(cells[at]);
          expect(cells[at]).not.toMatch(/^[=+\-@\t\r\n]/);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('leaves negative numbers as they are, and texts that need nothing', () => {
    expect(cellsOf(csvLine('truck-17', point, form).slice(0, -2)).slice(7, 10)).toEqual([
      '-43.65',
      '-79.34',
      '-3.5',
    ]);
    expect(csvText('truck-17')).toBe('truck-17');
    expect(csvText('-1+cmd|x')).toBe("'-1+cmd|x");
    // A spreadsheet guesses the separator: any of them within a text is quoted.
    for (const text of ['depot; north', 'a\tb', 'a,b']) expect(csvText(text)).toBe(`"${text}"`);
  });

  it('writes numbers without an exponent', () => {
    const cells = cellsOf(csvLine('t', point, form).slice(0, -2));
    for (const cell of cells.slice(7, 16)) expect(cell).toMatch(/^(-?\d+(\.\d+)?)?$/);
  });
});

describe('GPX', () => {
  it('keeps longitudes in the range of its schema', () => {
    expect(gpxPoint(point, { latitude: 10, longitude: 180 }, time)).toContain(
      'lat="10.0000000" lon="-180.0000000"',
    );
    expect(gpxHead({ deviceID: 'a&b', description: '<script>' })).toContain('<desc>&lt;script&gt;</desc>');
  });
});

describe('GeoJSON', () => {
  it('is JSON with longitude first, and null where there is no position', () => {
    fc.assert(
      fc.property(anyText, (geozoneID) => {
        const feature = JSON.parse(geojsonPoint('t', { ...point, geozoneID }, time)) as Record<
          string,
          unknown
        >;
        expect(feature).toMatchObject({
          type: 'Feature',
          geometry: { type: 'Point', coordinates: [-79.34, -43.65] },
        });
        expect(JSON.parse(geojsonPoint('t', { ...point, point: null }, time))).toMatchObject({
          geometry: null,
        });
      }),
      { numRuns: 200 },
    );
  });
});

describe('GeoJSON', () => {
  const along = (...places: readonly (readonly [number, number])[]) => {
    const text = geojsonLine(
      'truck-17',
      places.map(([longitude, latitude]) => ({ at: { latitude, longitude }, time: time(0) })),
    );
    return text === null ? null : (JSON.parse(text) as { geometry: unknown }).geometry;
  };

  it.each([
    [
      'eastwards',
      [
        [179, 10],
        [-179, 12],
      ],
      [
        [
          [179, 10],
          [180, 11],
        ],
        [
          [-180, 11],
          [-179, 12],
        ],
      ],
    ],
    [
      'westwards',
      [
        [-179.5, 0],
        [179.5, 0],
      ],
      [
        [
          [-179.5, 0],
          [-180, 0],
        ],
        [
          [180, 0],
          [179.5, 0],
        ],
      ],
    ],
    [
      'there and back',
      [
        [179, 0],
        [-179, 2],
        [179, 4],
      ],
      [
        [
          [179, 0],
          [180, 1],
        ],
        [
          [-180, 1],
          [-179, 2],
          [-180, 3],
        ],
        [
          [180, 3],
          [179, 4],
        ],
      ],
    ],
    [
      'from the edge',
      [
        [180, 5],
        [-179, 5],
      ],
      [
        [
          [-180, 5],
          [-179, 5],
        ],
      ],
    ],
    [
      'to the edge',
      [
        [179, 5],
        [-180, 5],
        [-179, 6],
      ],
      [
        [
          [179, 5],
          [180, 5],
        ],
        [
          [-180, 5],
          [-179, 6],
        ],
      ],
    ],
    [
      'not at all',
      [
        [-1, 0],
        [1, 0],
      ],
      [
        [
          [-1, 0],
          [1, 0],
        ],
      ],
    ],
  ] as const)('is cut where it crosses 180 degrees: %s', (_what, places, parts) => {
    expect(along(...places)).toEqual(
      parts.length === 1
        ? { type: 'LineString', coordinates: parts[0] }
        : { type: 'MultiLineString', coordinates: parts },
    );
  });
});
