// The simulated receiver says what a real one would: its sentences are read back with the agent's own decoder, which
// was written by somebody else.
import { describe, expect, it } from 'vitest';
import { createNmeaState, decodeNmea } from '../../agent/core/gnss/nmea.ts';
import type { Sentence } from '../../agent/core/gnss/nmea-sentences.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { createGnss, type GnssOptions } from '../../simulator/hardware/gnss.ts';
import { formatSentence, type GnssTruth } from '../../simulator/hardware/gnss-sentences.ts';
import { distanceM } from '../../src/core/geo/geo.ts';

const truth: GnssTruth = {
  latitude: 43.65107,
  longitude: -79.34702,
  altitudeM: 90,
  speedKmh: 54,
  headingDeg: 181,
};

function run(
  seconds: number,
  options: Partial<GnssOptions> & { readonly seed?: string } = {},
  clock = createVirtualClock(Date.UTC(2026, 10, 21, 12, 0, 0, 400)),
) {
  const bytes: Uint8Array[] = [];
  const gnss = createGnss({
    clock,
    entropy: createSeededEntropy(options.seed ?? 'gnss'),
    utcMs: () => clock.utcMs(),
    truth: () => truth,
    send: (burst) => bytes.push(burst),
    ...options,
  });
  clock.advance(seconds * 1000);
  const read = (): { sentences: readonly Sentence[]; rejected: number; ignored: number; sky: number } => {
    const all = decodeNmea(createNmeaState(), Buffer.concat(bytes));
    const { checksum, noChecksum, tooLong, malformed } = all.rejected;
    return {
      sentences: all.sentences,
      rejected: checksum + noChecksum + tooLong + malformed,
      ignored: all.ignored,
      sky: all.sky.length,
    };
  };
  return { clock, gnss, bytes, read };
}

const rmcs = (sentences: readonly Sentence[]) => sentences.flatMap((s) => (s.type === 'RMC' ? [s] : []));

describe('receiver with a fix', () => {
  it('speaks once a second, every sentence sound, position within metres of the truth', () => {
    const { read, bytes } = run(600, { extra: ['ZDA', 'GNS', 'GSV'] });
    const { sentences, rejected, ignored, sky } = read();
    expect(bytes).toHaveLength(600);
    expect(rejected).toBe(0);
    expect(ignored).toBe(0);
    expect(sky).toBeGreaterThanOrEqual(600); // GSV: at least one a second
    const types = new Set(sentences.map((sentence) => sentence.type));
    expect(types).toEqual(new Set(['RMC', 'GGA', 'GSA', 'VTG', 'ZDA', 'GNS']));
    const seen = rmcs(sentences);
    expect(seen).toHaveLength(600);
    for (const rmc of seen) {
      const { latitude, longitude } = rmc;
      expect(rmc.valid && rmc.mode === 'A').toBe(true);
      expect(distanceM(truth, { latitude: latitude ?? 0, longitude: longitude ?? 0 })).toBeLessThan(15);
      expect(Math.abs((rmc.speedKmh ?? 0) - 54)).toBeLessThan(1.5);
    }
    expect(seen[0]?.timeMs).toBe(12 * 3_600_000 + 1000);
    expect(seen[0]?.day).toBe(Date.UTC(2026, 10, 21) / 86_400_000);
    expect(Math.max(...bytes.map((burst) => burst.length))).toBeLessThan(900);
  });

  it('shows each second once, however late a busy machine lets it speak', () => {
    const lateMs = [0, 700, 0, 999, 400, 0];
    let bursts = 0;
    const clock = createVirtualClock(Date.UTC(2026, 10, 21, 12, 0, 0, 0));
    const late: GnssOptions['clock'] = {
      ...clock,
      after: (ms, run) => clock.after(ms + (lateMs[bursts++ % lateMs.length] ?? 0), run),
    };
    const { read } = run(60, { clock: late, utcMs: () => clock.utcMs() }, clock);
    const seconds = rmcs(read().sentences).map((rmc) => rmc.timeMs);
    expect(seconds.length).toBeGreaterThan(30);
    expect(new Set(seconds).size).toBe(seconds.length);
  });

  it('wanders a little while the vehicle stands, and has no course then', () => {
    const standing = { ...truth, speedKmh: 0 };
    const seen = rmcs(run(300, { truth: () => standing }).read().sentences);
    const places = new Set(seen.map((rmc) => rmc.latitude));
    expect(places.size).toBeGreaterThan(100);
    expect(Math.max(...seen.map((rmc) => rmc.speedKmh ?? 99))).toBeLessThan(1.5);
    expect(seen.every((rmc) => rmc.headingDeg === null)).toBe(true);
  });

  it.each([
    ['south and west', -33.865143, -70.5],
    ['a hair below a full degree', 51.9999999999, 7.9999999999],
    ['on the equator and the meridian', 0, 0],
  ])('writes angles that read back: %s', (_, latitude, longitude) => {
    const place = { ...truth, latitude, longitude };
    const { sentences, rejected } = run(30, { truth: () => place }).read();
    expect(rejected).toBe(0);
    for (const rmc of rmcs(sentences)) {
      expect(Math.abs((rmc.latitude ?? 99) - latitude)).toBeLessThan(1e-4);
      expect(Math.abs((rmc.longitude ?? 99) - longitude)).toBeLessThan(1e-4);
    }
  });

  it('has the checksum of the textbook', () => {
    expect(formatSentence('GPGLL,5300.97914,N,00259.98174,E,125926,A')).toMatch(/\*28\r\n$/);
  });

  it('same seed, same bytes; another seed, others', () => {
    const text = (seed: string): string => Buffer.concat(run(60, { seed }).bytes).toString();
    expect(text('a')).toBe(text('a'));
    expect(text('a')).not.toBe(text('b'));
  });
});

describe('receiver on a bad day', () => {
  it('is void without a position while it acquires, in a tunnel and when jammed', () => {
    const { clock, gnss, read } = run(10, { acquireS: 5 });
    gnss.setTunnel(true);
    clock.advance(10_000);
    expect(gnss.state().fix).toBe('tunnel');
    gnss.setTunnel(false);
    clock.advance(10_000);
    gnss.setJammed(true);
    clock.advance(10_000);
    const { sentences, rejected } = read();
    expect(rejected).toBe(0);
    const valid = rmcs(sentences).map((rmc) => rmc.valid);
    expect(valid.slice(0, 4)).toEqual([false, false, false, false]);
    expect(valid.slice(6, 10)).toEqual([true, true, true, true]);
    expect(valid.slice(11, 22).some(Boolean)).toBe(false);
    expect(valid.slice(24, 29).every(Boolean)).toBe(true);
    expect(valid.slice(31).some(Boolean)).toBe(false);
    expect(rmcs(sentences)[0]).toMatchObject({ timeMs: null, day: null });
    expect(rmcs(sentences)[3]?.day).not.toBeNull();
    const voids = rmcs(sentences).filter((rmc) => !rmc.valid);
    expect(voids.every((rmc) => rmc.latitude === null && rmc.speedKmh === null)).toBe(true);
  });

  it('walks away when spoofed and is back at once when it ends', () => {
    const { clock, gnss, read } = run(5);
    gnss.setSpoof({ northMps: 20, eastMps: 0 });
    clock.advance(60_000);
    expect(gnss.state().isSpoofed).toBe(true);
    const away = rmcs(read().sentences).at(-1);
    expect(
      distanceM(truth, { latitude: away?.latitude ?? 0, longitude: away?.longitude ?? 0 }),
    ).toBeGreaterThan(1000);
    gnss.setSpoof(null);
    clock.advance(2000);
    const back = rmcs(read().sentences).at(-1);
    expect(distanceM(truth, { latitude: back?.latitude ?? 0, longitude: back?.longitude ?? 0 })).toBeLessThan(
      15,
    );
  });

  it('without power it says nothing', () => {
    const { clock, gnss, bytes } = run(5);
    gnss.setPower(false);
    clock.advance(5000);
    expect(bytes).toHaveLength(5);
    gnss.setPower(true);
    clock.advance(5000);
    expect(bytes).toHaveLength(10);
  });
});
