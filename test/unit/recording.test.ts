// Recordings: what was written is what is read, whatever the events; a file that was cut, changed or made by something else is refused
// with its line; shifted places keep their distances north and south, and the order of a script is that of time.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createRecordingReader,
  formatEnd,
  formatEvent,
  formatHead,
  type RecordedEvent,
  scriptsOf,
  shiftPlace,
} from '../../simulator/core/traffic/recording.ts';

const micro = (low: number, high: number) =>
  fc.integer({ min: low * 1e6, max: high * 1e6 }).map((value) => value / 1e6);
const place = fc.oneof(
  fc.constant({ latitude: null, longitude: null }),
  fc.record({ latitude: micro(-85, 85), longitude: micro(-180, 180) }),
);
const event: fc.Arbitrary<RecordedEvent> = fc
  .record({
    device: fc.integer({ min: 0, max: 5 }).map((no) => `0123456789abcde${no}`),
    atS: fc.integer({ min: 0, max: 86_400 }),
    statusCode: fc.integer({ min: 1, max: 65_535 }),
    speedKmh: fc.integer({ min: 0, max: 200 }),
    headingDeg: fc.integer({ min: 0, max: 359 }),
  })
  .chain((rest) => place.map((at) => ({ ...rest, ...at })));

const linesOf = (events: readonly RecordedEvent[]): readonly string[] =>
  [formatHead({ isShifted: true }), ...events.map(formatEvent), formatEnd(events.length)].map((line) =>
    line.trimEnd(),
  );

function read(lines: readonly string[]) {
  const reader = createRecordingReader();
  for (const line of lines) reader.take(line);
  return reader.finish();
}

describe('a recording', () => {
  it('gives back what was written', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 50 }), (events) => {
        expect(read(linesOf(events))).toEqual({ isShifted: true, events });
      }),
    );
  });

  it('is refused when it was cut anywhere', () => {
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 20 }), fc.nat(), (events, at) => {
        const lines = linesOf(events);
        expect(() => read(lines.slice(0, at % lines.length))).toThrow(/cut|empty/);
      }),
    );
  });

  it('is refused with the line that is wrong', () => {
    const good = linesOf([
      {
        device: '0123456789abcdef',
        atS: 0,
        statusCode: 1,
        latitude: null,
        longitude: null,
        speedKmh: 0,
        headingDeg: 0,
      },
    ]);
    const withLine = (line: string) => () => read([good[0] ?? '', line]);
    expect(withLine('no JSON')).toThrow('Line 2');
    expect(withLine('{"d":"truck-17","t":0,"c":1}')).toThrow('Line 2');
    expect(withLine('{"d":"0123456789abcdef","t":0,"c":70000}')).toThrow('Line 2');
    expect(withLine('{"d":"0123456789abcdef","t":0,"c":1,"la":91,"lo":0}')).toThrow('Line 2');
    expect(withLine('{"d":"0123456789abcdef","t":-1,"c":1}')).toThrow('Line 2');
    expect(() => read(['{"format":"other"}'])).toThrow('no recording');
    expect(() => read(['{"format":"fleetward-recording","version":2}'])).toThrow('version 2');
    expect(() => read([...good, good[1] ?? ''])).toThrow('follows the end');
  });
});

const shift = fc.record({ latitude: micro(-3, 3), longitude: micro(-180, 179) });

describe('a shifted place', () => {
  it('stays on the map, and as far north of another as before', () => {
    fc.assert(
      fc.property(micro(-60, 60), micro(-60, 60), micro(-180, 179), shift, (a, b, longitude, by) => {
        const [first, second] = [a, b].map((latitude) => shiftPlace({ latitude, longitude }, by));
        expect((first?.latitude ?? 0) - (second?.latitude ?? 0)).toBeCloseTo(a - b, 5);
        expect(Math.abs(first?.latitude ?? 90)).toBeLessThanOrEqual(85);
        expect(first?.longitude).toBeGreaterThanOrEqual(-180);
        expect(first?.longitude).toBeLessThanOrEqual(180);
      }),
    );
  });
});

describe('scripts', () => {
  it('hold every event once, each device in the order of time, faster as asked', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), fc.integer({ min: 1, max: 100 }), (events, speed) => {
        const scripts = scriptsOf(events, speed);
        expect(scripts.flat()).toHaveLength(events.length);
        for (const script of scripts) {
          const times = script.map(({ atMs }) => atMs);
          expect(times).toEqual([...times].sort((a, b) => a - b));
        }
        const last = Math.max(0, ...events.map(({ atS }) => atS));
        expect(Math.max(0, ...scripts.flat().map(({ atMs }) => atMs))).toBeCloseTo((last * 1000) / speed, 6);
      }),
    );
  });
});
