// Base maps of the console without a browser: what a choice and an address may hold, and that a map file asks for nothing but its tiles.
import { describe, expect, it } from 'vitest';
import { openFileMap } from '../../broker/console/map/file-map.ts';
import { withLocalLabels } from '../../broker/console/map/labels.ts';
import type { Colours } from '../../broker/console/map/vehicles/colour-names.ts';
import {
  choiceText,
  creditText,
  parseChoice,
  type ReadMapPart,
} from '../../broker/console/state/base-map.ts';
import { noVehicle, type Vehicle } from '../../broker/console/state/fleet.ts';
import { hereOf, hereText, parseHere, placeCounts, vehiclesHere } from '../../broker/console/state/here.ts';
import { mapFile } from '../support/maps/pmtiles-file.ts';

const colours = new Proxy({}, { get: (_all, name) => `#${String(name)}` }) as Colours;

/** The service's part of a file that is in memory. */
const partsOf =
  (file: Buffer): ReadMapPart =>
  async (_name, { offset, length }) => {
    const part = file.subarray(offset, offset + length);
    return { data: new Uint8Array(part).buffer, etag: '"1"', size: file.length };
  };
const none = (): void => undefined;

describe('the choice of a base map', () => {
  it.each(['world', 'style', 'file:toronto.pmtiles', 'file:a-b_c.1.pmtiles'])('is kept as %s', (text) => {
    expect(choiceText(parseChoice(text))).toBe(text);
  });

  it.each([
    null,
    '',
    'File:x.pmtiles',
    'file:',
    'file:../x.pmtiles',
    'file:x.pmtiles/..',
    'file:x y.pmtiles',
    'file:x',
    `file:${'x'.repeat(200)}.pmtiles`,
  ])('that is stored as %j is the world that ships', (text) => {
    expect(parseChoice(text)).toEqual({ kind: 'world' });
  });
});

describe('an attribution', () => {
  it.each([
    ['<a href="https://x">© OpenStreetMap</a>', '© OpenStreetMap'],
    ['&copy; One &amp; Two', '© One & Two'],
    ['<img src=x onerror=alert(1)>Harbour', 'Harbour'],
    ['x'.repeat(900), 'x'.repeat(200)],
    [{ name: 'x' }, ''],
    [undefined, ''],
  ])('%j is shown as text', (html, text) => {
    expect(creditText(html)).toBe(text);
  });
});

describe('a map file', () => {
  it('needs neither fonts nor pictures: its style names its tiles only, in each language', async () => {
    const { base } = await openFileMap('harbour.pmtiles', partsOf(mapFile()), none);
    expect([base.sprite, JSON.stringify(base.sources)]).toEqual([
      undefined,
      expect.not.stringMatching(/https?:/),
    ]);
    for (const language of ['en', 'fr', 'de', 'es', 'ar']) {
      const layers = base.layers(colours, language);
      const text = JSON.stringify(layers);
      expect(text).toContain(`name:${language}`);
      expect(text).not.toMatch(/icon-|Noto Sans (?!")|pgf:|https?:/);
      // None can take the place of a layer of the console.
      expect(layers.filter(({ id }) => !id.startsWith('base '))).toEqual([]);
      expect(new Set(layers.map(({ id }) => id)).size).toBe(layers.length);
    }
  });

  it('has no colour but those of the tokens', async () => {
    const { base } = await openFileMap('harbour.pmtiles', partsOf(mapFile()), none);
    const paints = JSON.stringify(base.layers(colours, 'en').map(({ paint }) => paint ?? {}));
    expect(paints).not.toMatch(/undefined|rgba?\(|"#[0-9a-f]{3,8}"/);
    expect(paints).toContain('#map-water');
  });

  it('of any bytes is refused with a reason, never with a fault of this program', async () => {
    const whole = mapFile({ zoomMost: 1 });
    for (let at = 0; at < 400; at += 1) {
      const file = Buffer.from(whole);
      file[at % file.length] = (at * 37) % 256;
      const cut = file.subarray(0, at % 2 === 0 ? file.length : at * 2);
      const opened = await openFileMap('x.pmtiles', partsOf(cut), none).catch((thrown: unknown) => thrown);
      if (!(opened instanceof Error)) continue;
      expect(opened).toHaveProperty('code', expect.stringMatching(/^(truncated|not-)/));
    }
  });
});

describe('labels of other maps', () => {
  it('lose fonts, glyphs and pictures wherever an expression names them', () => {
    const [layer] = withLocalLabels(
      [
        {
          id: 'a',
          type: 'symbol',
          source: 's',
          layout: {
            'icon-image': 'dot',
            'text-font': ['Other'],
            'text-field': [
              'format',
              ['get', 'pgf:name'],
              { 'text-font': ['literal', ['Other']], 'font-scale': 2 },
            ],
          },
        },
      ],
      false,
    );
    expect(layer).toMatchObject({
      layout: { 'text-field': ['format', ['get', 'name'], { 'font-scale': 2 }] },
    });
    expect(JSON.stringify(layer)).not.toMatch(/Other|icon|pgf/);
  });
});

describe('a place with several vehicles', () => {
  const vehicle = (id: string, longitude: number, change: Partial<Vehicle> = {}): Vehicle => ({
    ...noVehicle,
    id,
    name: id,
    place: [longitude, 50],
    ...change,
  });

  it('is told to the address and back', () => {
    const here = hereOf([
      [9, 50],
      [9.0001, 50],
    ]);
    expect(here).not.toBe(null);
    expect(parseHere(here === null ? '' : hereText(here))).toMatchObject({ latitude: 50, radiusM: 6 });
    expect(hereOf([])).toBe(null);
  });

  it.each([
    undefined,
    '',
    'x',
    '1,2',
    '1,2,3,4',
    '91,0,5',
    '0,181,5',
    '0,0,0',
    '0,0,-1',
    '0,0,1e9',
    'NaN,0,5',
    '<b>,0,5',
  ])('is none at %j', (text) => {
    expect(parseHere(text)).toBe(null);
  });

  it('has the vehicles within its radius, worst first, and those without a place nowhere', () => {
    const all = [
      vehicle('b', 9),
      vehicle('a', 9.00002),
      vehicle('far', 9.01),
      vehicle('none', 9, { place: null }),
      vehicle('silent', 9, { isOnline: false }),
    ];
    const found = vehiclesHere(all, { latitude: 50, longitude: 9, radiusM: 5 });
    expect(found.map(({ id }) => id)).toEqual(['silent', 'a', 'b']);
  });

  it('counts those whose marks lie on each other, in every corner of the world', () => {
    for (const [longitude, latitude] of [
      [180, 90],
      [-180, -90],
      [9.5, 50.5],
      [0, 0],
    ] as const) {
      const all = ['a', 'b', 'c'].map((id) => vehicle(id, 0, { place: [longitude, latitude] }));
      const countAt = placeCounts([
        ...all,
        vehicle('near', 0, { place: [longitude * 0.999, latitude * 0.999 + 1e-4] }),
      ]);
      expect(countAt([longitude, latitude])).toBe(3);
    }
  });

  it('is counted for 10,000 vehicles by looking at each of them once', () => {
    const places = Array.from({ length: 10_000 }, (_unused, at) => [9 + (at % 5000) / 1000, 50] as const);
    let looks = 0;
    const all = places.map((place, at) => ({
      ...vehicle(String(at), 9),
      get place() {
        looks += 1;
        return place;
      },
    }));
    const countAt = placeCounts(all);
    expect(places.every((place) => countAt(place) === 2)).toBe(true);
    expect(looks).toBe(places.length);
  });
});
