// What the NMEA decoder accepts, rejects and survives. All sentences here are written by hand or mutated from those.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assembleEpochs, createEpochState, epochDeadline, flushEpoch } from '../../agent/core/gnss/epochs.ts';
import { createNmeaState, decodeNmea, maxLineBytes } from '../../agent/core/gnss/nmea.ts';
import type { Sentence } from '../../agent/core/gnss/nmea-sentences.ts';
import { latin1, nmeaBytes, nmeaLine, seededRandom } from '../support/serial/nmea-lines.ts';

const rmc = 'GNRMC,123519.250,A,4807.0380,N,01131.0000,W,022.4,084.4,230394,003.1,W,D';
const bodies = [
  rmc,
  'GPGGA,123519.250,4807.0380,N,01131.0000,W,1,08,0.9,545.4,M,46.9,M,,',
  'GNGNS,123519.250,4807.0380,N,01131.0000,W,AAN,09,1.2,-14.1,32.0,,,V',
  'GNGLL,4807.0380,N,01131.0000,W,123519.250,A,D',
  'GPGSA,A,3,04,05,,09,12,,,24,,,,,2.5,1.3,2.1',
  'GPVTG,084.4,T,077.8,M,022.4,N,041.5,K,D',
  'GPZDA,123519.250,23,03,1994,00,00',
];

const decodeAll = (bytes: Uint8Array) => decodeNmea(createNmeaState(), bytes);
const only = (body: string): Sentence | undefined => decodeAll(nmeaBytes(body)).sentences[0];
const isRejected = (body: string): boolean => {
  const { sentences, rejected } = decodeAll(nmeaBytes(body));
  return sentences.every(({ type }) => type === 'unusable') && rejected.malformed === 1;
};

function decodeInChunks(bytes: Uint8Array, sizes: () => number) {
  let state = createNmeaState();
  const sentences: Sentence[] = [];
  const total = { checksum: 0, noChecksum: 0, tooLong: 0, malformed: 0, ignored: 0, strayBytes: 0 };
  for (let at = 0; at < bytes.length; ) {
    const size = sizes();
    const decoded = decodeNmea(state, bytes.subarray(at, at + size));
    at += size;
    state = decoded.state;
    expect(state.pending.length).toBeLessThanOrEqual(maxLineBytes);
    sentences.push(...decoded.sentences);
    for (const reason of ['checksum', 'noChecksum', 'tooLong', 'malformed'] as const) {
      total[reason] += decoded.rejected[reason];
    }
    total.ignored += decoded.ignored;
    total.strayBytes += decoded.strayBytes;
  }
  return { sentences, total, pending: state.pending };
}

describe('typed sentences', () => {
  test('RMC: position, Doppler speed in km/h, course, date and mode', () => {
    expect(only(rmc)).toEqual({
      type: 'RMC',
      talker: 'GN',
      timeMs: 45_319_250,
      valid: true,
      latitude: 48 + 7.038 / 60,
      longitude: -(11 + 31 / 60),
      speedKmh: 22.4 * 1.852,
      headingDeg: 84.4,
      day: Date.UTC(1994, 2, 23) / 86_400_000,
      mode: 'D',
    });
  });

  test('GGA, GNS, GLL, GSA, VTG, ZDA', () => {
    const sentences = decodeAll(nmeaBytes(...bodies)).sentences;
    expect(sentences.map((sentence) => sentence.type)).toEqual([
      'RMC',
      'GGA',
      'GNS',
      'GLL',
      'GSA',
      'VTG',
      'ZDA',
    ]);
    expect(sentences[1]).toMatchObject({
      talker: 'GP',
      quality: 1,
      satellites: 8,
      hdop: 0.9,
      altitudeM: 545.4,
    });
    expect(sentences[2]).toMatchObject({ modes: 'AAN', satellites: 9, hdop: 1.2, altitudeM: -14.1 });
    expect(sentences[3]).toMatchObject({ valid: true, mode: 'D', latitude: 48 + 7.038 / 60 });
    expect(sentences[4]).toMatchObject({ dimension: 3, used: 5, pdop: 2.5, hdop: 1.3, vdop: 2.1 });
    expect(sentences[5]).toMatchObject({ headingDeg: 84.4, speedKmh: 22.4 * 1.852, mode: 'D' });
    expect(sentences[6]).toMatchObject({ timeMs: 45_319_250, day: Date.UTC(1994, 2, 23) / 86_400_000 });
  });

  test('empty is null and void is not zero', () => {
    expect(only('GPRMC,,V,,,,,,,,,,N')).toEqual({
      type: 'RMC',
      talker: 'GP',
      timeMs: null,
      valid: false,
      latitude: null,
      longitude: null,
      speedKmh: null,
      headingDeg: null,
      day: null,
      mode: 'N',
    });
    expect(only('GPGGA,,,,,,0,,,,M,,M,,')).toMatchObject({
      quality: 0,
      satellites: null,
      hdop: null,
      altitudeM: null,
    });
    expect(only('GPGSA,A,1,,,,')).toMatchObject({ dimension: 1, used: 0, hdop: null });
    expect(only('GPVTG,,,,,,,,,N')).toMatchObject({ speedKmh: null, headingDeg: null, mode: 'N' });
    expect(only('GPZDA,,,,,00,00')).toMatchObject({ timeMs: null, day: null });
  });

  test('the mode is found where a receiver leaves out the direction of the variation', () => {
    expect(only('GPRMC,212607.891,V,,,,,,,181207,0,N')).toMatchObject({ mode: 'N' });
    expect(only('GPRMC,212607,A,4839.9488,N,00214.8863,E,0.5,344.41,181207,01,E')).toMatchObject({
      mode: null,
    });
  });

  test.each([
    ['the date 2208-1', rmc.replace('230394', '2208-1')],
    ['30 February', rmc.replace('230394', '300224')],
    ['month 13', rmc.replace('230394', '231394')],
    ['a date of 5 digits', rmc.replace('230394', '23394')],
    ['hour 24', rmc.replace('123519', '243519')],
    ['a time with a letter', rmc.replace('123519', '1235I9')],
    ['minutes of 60', rmc.replace('4807.0380', '4860.0000')],
    ['latitude above 90', rmc.replace('4807.0380', '9000.0001')],
    ['longitude above 180', rmc.replace('01131.0000', '18000.0001')],
    ['a lost digit of the latitude', rmc.replace('4807.0380', '807.0380')],
    ['no hemisphere', rmc.replace(',N,', ',,')],
    ['a wrong hemisphere', rmc.replace(',N,', ',E,')],
    ['one coordinate only', rmc.replace('01131.0000,W', ',')],
    ['negative speed', rmc.replace('022.4', '-22.4')],
    ['course above 360', rmc.replace('084.4', '360.1')],
    ['an exponent', rmc.replace('022.4', '2e2')],
    ['a status of another letter', rmc.replace(',A,', ',X,')],
    ['an end before the date', 'GNRMC,123519,A,4807.0380,N,01131.0000,W,022.4,084.4'],
    ['HDOP that is no number', 'GPGGA,123519,4807.0380,N,01131.0000,W,1,08,x,545.4,M,46.9,M,,'],
    ['half a satellite', 'GPGGA,123519,4807.0380,N,01131.0000,W,1,8.5,0.9,545.4,M,46.9,M,,'],
    ['altitude in feet', 'GPGGA,123519,4807.0380,N,01131.0000,W,1,08,0.9,545.4,F,46.9,M,,'],
  ])('a right checksum does not save a sentence with %s', (_name, body) => {
    expect(isRejected(body)).toBe(true);
  });

  test('29 February is a date in a leap year; years from 80 are of the last century', () => {
    expect(only(rmc.replace('230394', '290224'))).toMatchObject({ day: Date.UTC(2024, 1, 29) / 86_400_000 });
    expect(only(rmc.replace('230394', '220899'))).toMatchObject({ day: Date.UTC(1999, 7, 22) / 86_400_000 });
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1980-01-01'), max: new Date('2079-12-31'), noInvalidDate: true }),
        (date) => {
          const iso = date.toISOString();
          const ddmmyy = `${iso.slice(8, 10)}${iso.slice(5, 7)}${iso.slice(2, 4)}`;
          const day = Math.floor(date.getTime() / 86_400_000);
          expect(only(rmc.replace('230394', ddmmyy))).toMatchObject({ day });
        },
      ),
    );
  });

  test('course 360 is 0', () => {
    expect(only(rmc.replace('084.4', '360.0'))).toMatchObject({ headingDeg: 0 });
  });

  test.each(['99.99', '99.9', '100.0', '655.35', '9999.0', '9999.00', '0.0', ''])(
    'an HDOP of "%s" is unknown, and the other facts of the sentence count',
    (filler) => {
      const facts = { quality: 1, satellites: 8, altitudeM: 545.4, hdop: null };
      expect(only(`GPGGA,123519,4807.0380,N,01131.0000,W,1,08,${filler},545.4,M,46.9,M,,`)).toMatchObject(
        facts,
      );
      expect(only(`GNGGA,123519,,,,,0,00,${filler},,,,,,`)).toMatchObject({ quality: 0, hdop: null });
      expect(only(`GNGNS,123519,,,,,NN,00,${filler},,,,`)).toMatchObject({ modes: 'NN', hdop: null });
      expect(only(`GNGSA,A,1,,,,,,,,,,,,,${filler},${filler},${filler}`)).toMatchObject({
        dimension: 1,
        hdop: null,
      });
    },
  );

  test.each([
    ['A', true],
    ['D', true],
    ['R', true],
    ['F', true],
    ['P', true],
    ['V', false],
    ['N', false],
    ['E', false],
    ['M', false],
    ['S', false],
    ['', false],
  ])('status %s of RMC and GLL', (status, valid) => {
    const mode = ['A', 'V', ''].includes(status) ? null : status;
    const body = 'GNRMC,123519,A,4807.0380,N,01131.0000,W,022.4,084.4,230394,,';
    expect(only(body.replace(',A,', `,${status},`))).toMatchObject({
      valid,
      ...(mode === null ? {} : { mode }),
    });
    expect(only(`GNGLL,4807.0380,N,01131.0000,W,123519,${status}`)).toMatchObject({ valid });
    // The status of navigation of NMEA 4.1 is another field: V there says that it is not given.
    expect(only(`${body.replace(',A,', `,${status},`)},D,V`)).toMatchObject({ valid, mode: 'D' });
  });

  test.each([
    ['GGA', 'GNGGA,120000.00,4339.1000,N,7921.0000,W,1,08,0.9,545.4,M,46.9,M,,', 43_200_000],
    ['RMC', 'GNRMC,120000.00,A,339.1000,N,07921.0000,W,0.1,,281126,,,A', 43_200_000],
    ['GLL', 'GNGLL,4339.1000,N,7921.0000,W,120000.00,A,A', 43_200_000],
    ['GNS', 'GNGNS,120000.00,43.651667,N,079.35,W,AA,09,1.2,-14.1,32.0,,', 43_200_000],
    ['RMC', 'GNRMC,2026-11-28,A,4339.1000,N,07921.0000,W,0.1,,281126,,,A', null],
    ['VTG', 'GNVTG,,T,,M,x,N,,K,A', null],
  ])('an unusable %s is named as sent, and gives no position: %s', (of, body, timeMs) => {
    const [line] = nmeaLine(body).split('\r');
    expect(only(body)).toEqual({ type: 'unusable', of, talker: 'GN', timeMs, text: line });
  });

  test('a date of zeros is none yet, and makes no sentence unusable', () => {
    expect(only('GPRMC,000001.00,V,,,,,,,000000,,,N')).toMatchObject({ valid: false, day: null });
    expect(only('GPZDA,000001.00,00,00,0000,00,00')).toMatchObject({ type: 'ZDA', day: null });
    expect(only('GPZDA,000001.00,30,02,2026,00,00')).toMatchObject({ type: 'unusable', of: 'ZDA' });
  });

  test('signal strengths may have decimals', () => {
    const { sky } = decodeAll(nmeaBytes('GPGSV,1,1,03,03,15,000,29.9,05,21.5,053.1,30.0,07,27,106,,1'));
    expect(sky).toEqual([{ type: 'GSV', talker: 'GP', message: 1, tracked: 2, strong: 1 }]);
  });
});

describe('the byte stream', () => {
  test('a checksum is mandatory and must match, in either letter case', () => {
    const line = nmeaLine(rmc);
    expect(
      decodeAll(latin1(line.toLowerCase().replace(/^.*\*/, line.slice(0, line.indexOf('*') + 1)))).sentences,
    ).toHaveLength(1);
    expect(decodeAll(latin1(`$${rmc}\r\n`)).rejected).toMatchObject({ noChecksum: 1 });
    expect(decodeAll(latin1(line.replace('4807', '4808'))).rejected).toMatchObject({ checksum: 1 });
    expect(decodeAll(latin1(line.replace(/\*../, '*G0'))).rejected).toMatchObject({ checksum: 1 });
  });

  test.each(['\r\n', '\n', '\r', '\n\n\r'])('lines may end with %j', (ending) => {
    const stream = bodies.map((body) => nmeaLine(body).trimEnd() + ending).join('');
    expect(decodeAll(latin1(stream)).sentences).toHaveLength(bodies.length);
  });

  test('a line that was cut does not swallow the next one', () => {
    const { sentences, rejected } = decodeAll(latin1(`${nmeaLine(rmc).slice(0, 30)}${nmeaLine(rmc)}`));
    expect(sentences).toHaveLength(1);
    expect(rejected).toMatchObject({ malformed: 1 });
  });

  test('an endless line is dropped at the limit and the next `$` starts afresh', () => {
    const { sentences, rejected } = decodeAll(latin1(`$GPTXT,${'x'.repeat(5000)}${nmeaLine(rmc)}`));
    expect(sentences).toHaveLength(1);
    expect(rejected).toEqual({ checksum: 0, noChecksum: 0, tooLong: 1, malformed: 0 });
  });

  test('a line of exactly the limit is read', () => {
    const padded = `${rmc},V${','.repeat(maxLineBytes - rmc.length - 6)}`;
    expect(nmeaLine(padded).trimEnd()).toHaveLength(maxLineBytes);
    expect(decodeAll(nmeaBytes(padded)).sentences).toHaveLength(1);
    expect(decodeAll(nmeaBytes(`${padded},`)).rejected).toMatchObject({ tooLong: 1 });
  });

  test('other sentences are ignored and counted; noise outside lines is counted', () => {
    const decoded = decodeAll(
      latin1(`\u0000\u00ff{"x":1}${nmeaLine('GPGST,1,1,00')}${nmeaLine('PMTK010,001')}${nmeaLine('X')}`),
    );
    expect(decoded).toMatchObject({ ignored: 3, strayBytes: 9, sentences: [] });
  });

  test('any chunking gives the same sentences and counts', () => {
    const noisy = latin1(
      `\u00b5b\u0001${bodies.map(nmeaLine).join('$GPRMC,12')}$${'y'.repeat(400)}${nmeaLine(rmc)}${rmc}`,
    );
    const whole = decodeInChunks(noisy, () => noisy.length);
    expect(whole.sentences).toHaveLength(bodies.length + 1);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (sizes) => {
        let i = 0;
        expect(decodeInChunks(noisy, () => sizes[i++ % sizes.length] ?? 1)).toEqual(whole);
      }),
      { numRuns: 200 },
    );
  });

  test('garbage in front never loses the next good sentence', () => {
    const good = only(rmc);
    const noise = fc.oneof(
      fc.uint8Array({ maxLength: 600 }),
      fc
        .string({ maxLength: 600, unit: fc.constantFrom(...'$*,GPRMC0123456789AV\r\n'.split('')) })
        .map(latin1),
      fc.constantFrom(...bodies.map((body) => latin1(nmeaLine(body).slice(0, -5)))),
    );
    fc.assert(
      fc.property(noise, (garbage) => {
        const { sentences } = decodeAll(new Uint8Array([...garbage, ...nmeaBytes(rmc)]));
        expect(sentences.at(-1)).toEqual(good);
      }),
      { numRuns: 500 },
    );
  });
});

describe('mutated lines', () => {
  const random = seededRandom(20_260_315);
  const below = (n: number): number => Math.floor(random() * n);

  /** One body with one to three faults of the kinds that wires, buffers and firmware make. */
  function mutant(): string {
    let body = bodies[below(bodies.length)] ?? rmc;
    for (let faults = 1 + below(3); faults > 0; faults -= 1) {
      const at = below(body.length);
      const fields = body.split(',');
      const other = (bodies[below(bodies.length)] ?? rmc).split(',');
      switch (below(8)) {
        case 0: // a flipped bit
          body =
            body.slice(0, at) +
            String.fromCharCode(body.charCodeAt(at) ^ (1 << below(8))) +
            body.slice(at + 1);
          break;
        case 1: // cut
          body = body.slice(0, at);
          break;
        case 2: // lost bytes
          body = body.slice(0, at) + body.slice(at + 1 + below(6));
          break;
        case 3: // splice of two lines
          body = body.slice(0, at) + other.join(',').slice(below(20));
          break;
        case 4: // a field twice
          fields.splice(below(fields.length), 0, fields[below(fields.length)] ?? '');
          body = fields.join(',');
          break;
        case 5: // a field of another sentence
          fields[below(fields.length)] = other[below(other.length)] ?? '';
          body = fields.join(',');
          break;
        case 6: // a field emptied
          fields[below(fields.length)] = '';
          body = fields.join(',');
          break;
        default: // numbers out of all proportion
          fields[1 + below(fields.length)] =
            ['-0', '.', '-', '1e9', '99999999999999999999', 'NaN', '0000.0', '-90'][below(8)] ?? '';
          body = fields.join(',');
      }
      if (body === '') body = rmc;
    }
    return body;
  }

  function check(sentence: Sentence): void {
    for (const value of Object.values(sentence)) {
      if (typeof value === 'number' && !Number.isFinite(value))
        throw new Error(`not finite: ${JSON.stringify(sentence)}`);
    }
    if ('latitude' in sentence && sentence.latitude !== null) {
      const { latitude, longitude } = sentence;
      if (longitude === null || Math.abs(latitude) > 90 || Math.abs(longitude) > 180)
        throw new Error('off the globe');
    }
    if (
      'headingDeg' in sentence &&
      sentence.headingDeg !== null &&
      !(sentence.headingDeg >= 0 && sentence.headingDeg < 360)
    ) {
      throw new Error('heading');
    }
    if (
      'speedKmh' in sentence &&
      sentence.speedKmh !== null &&
      !(sentence.speedKmh >= 0 && sentence.speedKmh <= 1852)
    ) {
      throw new Error('speed');
    }
  }

  test('200,000 of them: no exception, nothing off the globe, no NaN, bounded state', () => {
    let nmea = createNmeaState();
    let epochs = createEpochState({ earliestUtcMs: 0 });
    let accepted = 0;
    let fixes = 0;
    const take = (step: ReturnType<typeof assembleEpochs>): void => {
      epochs = step.state;
      for (const report of step.reports) {
        if (report.kind === 'void') continue;
        fixes += 1;
        const { fix } = report;
        if (!(Math.abs(fix.latitude) <= 90 && Math.abs(fix.longitude) <= 180))
          throw new Error('fix off the globe');
      }
    };
    for (let n = 0; n < 200_000; n += 1) {
      const body = mutant();
      const line =
        random() < 0.6 ? nmeaLine(body) : `$${body}*${(n & 0xff).toString(16).padStart(2, '0')}\r\n`;
      const decoded = decodeNmea(nmea, latin1(random() < 0.02 ? line.slice(0, below(line.length)) : line));
      nmea = decoded.state;
      if (nmea.pending.length > maxLineBytes) throw new Error('unbounded');
      accepted += decoded.sentences.length;
      for (const sentence of decoded.sentences) {
        check(sentence);
        take(assembleEpochs(epochs, sentence, n * 20));
      }
      const deadline = epochDeadline(epochs);
      if (deadline !== null && random() < 0.2) take(flushEpoch(epochs, deadline));
    }
    expect(JSON.stringify(epochs).length).toBeLessThan(2000);
    expect(accepted).toBeGreaterThan(20_000); // the mutations do reach the field parsers and beyond
    expect(fixes).toBeGreaterThan(1000);
  });
});
