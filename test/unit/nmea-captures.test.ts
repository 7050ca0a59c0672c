// Thirty captures of real receivers through decoder and epochs, compared with what gpsd makes of the same bytes.
// Every fix that we make and gpsd does not is named here with its reason; there is no blanket tolerance.
import { readdirSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import type { EpochStep } from '../../agent/core/gnss/epochs.ts';
import {
  assembleEpochs,
  createEpochState,
  epochDeadline,
  type Fix,
  flushEpoch,
} from '../../agent/core/gnss/epochs.ts';
import { createNmeaState, decodeNmea } from '../../agent/core/gnss/nmea.ts';
import { createPlausibilityState, judgeFix } from '../../agent/core/gnss/plausibility.ts';
import { readShared, sharedData, sharedTitle } from '../support/machine/shared-data.ts';
import { seededRandom } from '../support/serial/nmea-lines.ts';

interface GpsdFix {
  readonly time: string;
  readonly mode: number;
  readonly lat: number;
  readonly lon: number;
  /** m/s */
  readonly speed?: number;
  readonly track?: number;
  readonly altMSL?: number;
}

const lastEpoch = 'last epoch of the capture: gpsd waits for the next one to begin';
const firstEpoch = 'first epoch with a fix: gpsd has not learned yet which sentence ends an epoch';

/** Fixes that gpsd does not make, each found right by reading the bytes. */
const extras: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'blumax-gps009': { '2008-07-18T14:28:19.299Z': `${firstEpoch}; RMC A, GGA 1, GSA 3` },
  bt451: {
    '2009-12-09T15:25:04.500Z': `${firstEpoch}; tail of a burst, GLL A and ZDA`,
    '2009-12-09T15:25:08.500Z':
      'RMC A, then the recording stops and goes on with 14:33; gpsd loses the epoch at the seam',
    '2009-12-09T14:33:08.500Z': lastEpoch,
  },
  'gp-320fw-2019-03-28': {
    '2019-03-28T16:45:19.990Z':
      'RMC A, GGA 1, GSA 3; the GLL by which gpsd ends an epoch was not sent this once',
  },
  'haicom-305N': { '2007-04-08T09:53:04.802Z': `${firstEpoch}; RMC A, GGA 1, GSA 2` },
  isync: { '2016-02-03T13:15:30.000Z': lastEpoch },
  'motorola-t805': { '2007-12-18T21:26:14.879Z': `${firstEpoch}; RMC A, GGA 1` },
  'neo-m8n': { '2015-03-18T17:19:48.000Z': lastEpoch },
  'quectel-l76k-nmea': { '2026-08-05T05:53:04.000Z': `${lastEpoch}; GGA 1 and GLL A` },
  'st-teseo-liv3f': { '2026-03-16T20:35:20.000Z': lastEpoch },
  'ublox-lea-4h': { '2006-08-10T03:15:18.000Z': lastEpoch },
};

/** Reports without a fix, where the file is about them. */
const expectedVoids: Readonly<Record<string, number>> = {
  april6_2019: 2, // one without a position, one with a right checksum and the date 2208-1
  'bu353-glonass': 10, // lost for good
  'garmin-10x': 5, // one of them estimated (quality 6, mode E) with a position
  'garmin-geko201': 18, // simulator
  'haicom-305N': 6, // void with a position
  'quectel-eg25-g': 37, // cold start
  'telit-he910': 37,
  iTrek: 2,
};

/** Bytes that are no sentence: seen by reading the files. */
const expectedRejects: Readonly<Record<string, number>> = {
  april6_2019: 1, // the date 2208-1
  'garmin-geko201': 1, // `$GPBOD,,T,,M,,*` without its checksum, where the recording ends
  'google-mtv-f9k-a': 8, // checksums that do not match, as the manifest says
  isync: 1, // a GSV into which a `$PTNTA` line was written
  'ublox-8': 1, // an RMC cut after `W,0.`, where the recording ends
};

/**
 * The column "2D/3D differs" is not held: gpsd raises an epoch to 3D for a GGA with an altitude even where GSA says 2
 * (garmin-10x, ublox-lea-4h, haicom-305N, signalk-gps), and carries 3D over to epochs without GSA (iTrek). We say what
 * the GSA of the epoch says, and 3D without one only if there is an altitude.
 */
const folder = sharedData('nmea');
const files = folder === null ? [] : readdirSync(folder).filter((name) => /\.nmea(\.gz)?$/.test(name));
const stem = (file: string): string => file.replace(/\.nmea(\.gz)?$/, '');
const isoOf = (fix: Fix): string => (fix.utcMs === null ? 'no date' : new Date(fix.utcMs).toISOString());
const config = { earliestUtcMs: Date.UTC(2004, 0, 1) }; // older than every capture but the rolled-over one

function createCollector() {
  let epochs = createEpochState(config);
  const fixes: Fix[] = [];
  let voids = 0;
  const take = (step: EpochStep): void => {
    epochs = step.state;
    for (const report of step.reports) {
      if (report.kind === 'fix') fixes.push(report.fix);
      else voids += 1;
    }
  };
  const flush = (): void => {
    const deadline = epochDeadline(epochs);
    if (deadline !== null) take(flushEpoch(epochs, deadline));
  };
  return {
    feed: (sentence: Parameters<typeof assembleEpochs>[1], atMonoMs: number) =>
      take(assembleEpochs(epochs, sentence, atMonoMs)),
    flush,
    end: () => {
      flush();
      return { fixes, voids };
    },
  };
}

/** Without pauses, in chunks of random size: an epoch ends when the next begins. */
function playAtOnce(bytes: Uint8Array, seed: number) {
  const random = seededRandom(seed);
  const collector = createCollector();
  let state = createNmeaState();
  let rejected = 0;
  for (let at = 0, chunks = 0; at < bytes.length; chunks += 1) {
    const size = 1 + Math.floor(random() * 200);
    const decoded = decodeNmea(state, bytes.subarray(at, at + size));
    at += size;
    state = decoded.state;
    const { checksum, noChecksum, tooLong, malformed } = decoded.rejected;
    rejected += checksum + noChecksum + tooLong + malformed;
    for (const sentence of decoded.sentences) collector.feed(sentence, chunks);
  }
  return { ...collector.end(), rejected };
}

/** As a live receiver: silence after each burst, where a sentence brings another time; the epoch ends by silence. */
function playLive(bytes: Uint8Array) {
  const collector = createCollector();
  let atMonoMs = 0;
  let timeMs: number | null = null;
  for (const sentence of decodeNmea(createNmeaState(), bytes).sentences) {
    const isTimed = sentence.type !== 'GSA' && sentence.type !== 'VTG' && sentence.timeMs !== null;
    if (isTimed && sentence.timeMs !== timeMs) {
      collector.flush();
      timeMs = sentence.timeMs;
      atMonoMs += 1000;
    }
    atMonoMs += 5;
    collector.feed(sentence, atMonoMs);
  }
  return collector.end();
}

function largest(
  gpsd: readonly GpsdFix[],
  ours: ReadonlyMap<string, Fix>,
  differ: (a: GpsdFix, b: Fix) => number,
): number {
  let max = 0;
  for (const fix of gpsd) {
    const own = ours.get(fix.time);
    if (own !== undefined) max = Math.max(max, differ(fix, own));
  }
  return max;
}

function compare(file: string) {
  const name = stem(file);
  const text = new TextDecoder().decode(readShared(`nmea/${name}.fixes.jsonl`));
  const gpsd = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as GpsdFix);
  const bytes = readShared(`nmea/${file}`);
  const { fixes, voids, rejected } = playAtOnce(bytes, 7);
  const ours = new Map(fixes.map((fix) => [isoOf(fix), fix]));
  const theirs = new Set(gpsd.map((fix) => fix.time));
  const both = gpsd.filter((fix) => ours.has(fix.time));
  return {
    name,
    bytes,
    fixes,
    voids,
    rejected,
    gpsd,
    missed: gpsd.filter((fix) => !ours.has(fix.time)).map((fix) => fix.time),
    extra: fixes.map(isoOf).filter((time) => !theirs.has(time)),
    twice: fixes.length - ours.size,
    positionDeg: largest(gpsd, ours, (a, b) =>
      Math.max(Math.abs(a.lat - b.latitude), Math.abs(a.lon - b.longitude)),
    ),
    speedMs: largest(gpsd, ours, (a, b) =>
      a.speed === undefined ? 0 : Math.abs(a.speed - (b.speedKmh ?? 1e6) / 3.6),
    ),
    altitudeM: largest(gpsd, ours, (a, b) =>
      a.altMSL === undefined ? 0 : Math.abs(a.altMSL - (b.altitudeM ?? 1e6)),
    ),
    trackDeg: largest(gpsd, ours, (a, b) =>
      a.track === undefined ? 0 : Math.abs(a.track - (b.headingDeg ?? 1e6)),
    ),
    invented: both.filter(
      (fix) =>
        (fix.speed === undefined && ours.get(fix.time)?.speedKmh !== null) ||
        (fix.altMSL === undefined && ours.get(fix.time)?.altitudeM !== null),
    ).length,
    otherDimension: both.filter((fix) => fix.mode !== ours.get(fix.time)?.dimension).length,
  };
}

describe.skipIf(folder === null)(sharedTitle('thirty real receivers against gpsd', 'nmea'), () => {
  const table: Record<string, unknown>[] = [];
  afterAll(() => console.table(table));

  test('all thirty captures are there', () => {
    expect(files).toHaveLength(30);
  });

  test.each(files)('%s', (file) => {
    const result = compare(file);
    const { name, fixes, gpsd, voids, missed, extra } = result;
    table.push({
      capture: name,
      ours: fixes.length,
      gpsd: gpsd.length,
      missed: missed.length,
      extra: extra.length,
      void: voids,
      'position °': result.positionDeg.toExponential(1),
      'speed m/s': result.speedMs.toFixed(4),
      'altitude m': result.altitudeM.toFixed(4),
      '2D/3D differs': result.otherDimension,
    });
    expect(missed).toEqual([]);
    expect(extra).toEqual(Object.keys(extras[name] ?? {}));
    expect(result.twice).toBe(0);
    expect(result.invented).toBe(0);
    expect(result.positionDeg).toBeLessThan(1e-9); // gpsd prints 9 decimals
    expect(result.speedMs).toBeLessThan(0.00051); // 3 decimals
    expect(result.altitudeM).toBeLessThan(0.0005);
    expect(result.trackDeg).toBeLessThan(0.0005);
    expect(result.rejected).toBe(expectedRejects[name] ?? 0);
    if (expectedVoids[name] !== undefined) expect(voids).toBe(expectedVoids[name]);
  });

  test.each(files)('%s: the same fixes where epochs end by silence', (file) => {
    const bytes = readShared(`nmea/${file}`);
    const { fixes, voids } = playLive(bytes);
    const atOnce = playAtOnce(bytes, 11);
    const place = ({ utcMs, latitude, longitude, speedKmh, altitudeM }: Fix) => ({
      utcMs,
      latitude,
      longitude,
      speedKmh,
      altitudeM,
    });
    expect(fixes.map(place)).toEqual(atOnce.fixes.map(place));
    expect(voids).toBe(atOnce.voids);
  });

  test('the week roll-over of 6 April 2019 gives the raw date of 1999 and a doubt', () => {
    const { fixes } = playAtOnce(readShared('nmea/april6_2019.nmea'), 1);
    expect(fixes.map((fix) => [isoOf(fix), fix.doubts])).toEqual([
      ['1999-08-22T00:02:31.420Z', ['date-before-build']],
    ]);
  });

  test.each(['google-mtv-f9k-a.nmea.gz', 'signalk-gps.nmea.gz', 'ublox-8.nmea', 'bu353s4.nmea'])(
    'consecutive fixes of %s, driving or parked, are plausible',
    (file) => {
      let state = createPlausibilityState();
      const { fixes } = playAtOnce(readShared(`nmea/${file}`), 5);
      const startMs = fixes[0]?.utcMs ?? 0;
      const doubtful = fixes
        .map((fix) => {
          const judged = judgeFix(state, { ...fix, atMonoMs: (fix.utcMs ?? 0) - startMs });
          state = judged.state;
          return judged.fix;
        })
        .filter((fix) => fix.doubts.length > 0);
      expect(doubtful.map((fix) => [isoOf(fix), fix.doubts])).toEqual([]);
    },
  );

  test('no other capture raises a doubt within its epochs', () => {
    for (const file of files.filter((name) => name !== 'april6_2019.nmea')) {
      const doubtful = playAtOnce(readShared(`nmea/${file}`), 3).fixes.filter((fix) => fix.doubts.length > 0);
      expect({ file, doubtful }).toEqual({ file, doubtful: [] });
    }
  });
});
