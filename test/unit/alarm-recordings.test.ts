// Alarms over recorded reality: what stands must not be towed, what drives must not flap between start and stop, no honest
// receiver may be suspected or said to be jammed; and what is put into the recordings on purpose must be found.
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { distanceM } from '../../src/core/geo/geo.ts';
import { standardSettings } from '../../src/core/settings/settings.ts';
import { sharedData, sharedTitle } from '../support/machine/shared-data.ts';
import {
  createBench,
  playCapture,
  playSamples,
  readSpeedLog,
  readTrack,
} from '../support/vehicle/alarm-scenes.ts';

const nmea = sharedData('nmea');
const captures = nmea === null ? [] : readdirSync(nmea).filter((file) => /\.nmea(\.gz)?$/.test(file));

/** The only capture that moves: a car in traffic; with ignition off that is a tow, and rightly told. */
const moving = 'google-mtv-f9k-a.nmea.gz';

describe.skipIf(nmea === null)(sharedTitle('captures of receivers', 'nmea'), () => {
  it('raise no tow, no jamming and no suspicion while parked, whatever the receiver', () => {
    for (const file of captures) {
      const bench = createBench({ towArmS: 10, motionStopOffS: 5 });
      bench.set({ ignition: false });
      bench.pass(30);
      playCapture(bench, file);
      expect(bench.count('POSITION_SUSPECT') + bench.count('GPS_JAMMING'), file).toBe(0);
      expect(bench.count('TOWING_START'), file).toBe(file === moving ? 1 : 0);
    }
  });

  it('a receiver afloat for 20 minutes neither starts nor is towed', () => {
    const bench = createBench();
    bench.set({ ignition: true });
    playCapture(bench, 'signalk-gps.nmea.gz');
    expect(bench.count('MOTION_START')).toBe(0);
  });

  it('a car in traffic is one motion, not one for each light', () => {
    const bench = createBench();
    bench.set({ ignition: true });
    playCapture(bench, moving);
    expect([bench.count('MOTION_START'), bench.count('MOTION_STOP')]).toEqual([1, 0]);
  });
});

const routes = sharedData('routes');

/** Starts and stops of each track: two stand for minutes on the way. */
const stops: Readonly<Record<string, number>> = { 'aracaju-car-132.csv': 2 };

describe.skipIf(routes === null)(sharedTitle('recorded tracks', 'routes'), () => {
  const files = routes === null ? [] : readdirSync(routes);

  it('start once for each drive and stop only where they stood for minutes; nothing is suspected', () => {
    for (const file of files) {
      const bench = createBench();
      bench.set({ ignition: true });
      playSamples(bench, readTrack(file));
      const starts = bench.count('MOTION_START');
      expect([starts, bench.count('MOTION_STOP')], file).toEqual([
        Math.max(1, stops[file] ?? 1),
        stops[file] ?? 0,
      ]);
      expect(bench.count('POSITION_SUSPECT') + bench.count('SPEEDING_BEGIN'), file).toBe(0);
    }
  });

  it('with ignition off each is a tow that goes further than the limit', () => {
    for (const file of files) {
      const bench = createBench({ towArmS: 10 });
      const track = readTrack(file);
      const first = track[0];
      if (first === undefined) throw new Error(file);
      bench.set({ ignition: false });
      for (let s = 0; s < 60; s += 1) bench.fix({ ...first, speedKmh: 0 });
      playSamples(bench, track);
      // One van stays within 99 m of where it stood.
      const farM = Math.max(...track.map((at) => distanceM(first, at)));
      const isFar = farM > standardSettings.alarms.towM;
      expect(bench.count('TOWING_START') >= 1, `${file}: ${Math.round(farM)} m`).toBe(isFar);
    }
  });
});

describe.skipIf(sharedData('speed') === null)(sharedTitle('speed logs', 'speed'), () => {
  it('a long-haul truck starts and stops seldom; speeding put into it is found', () => {
    const samples = readSpeedLog('truck-long-haul.csv.gz').slice(0, 20_000);
    const bench = createBench({ speedingKmh: 130 });
    bench.set({ ignition: true });
    playSamples(bench, samples);
    expect(bench.count('SPEEDING_BEGIN')).toBe(0);
    const shortest = Math.min(
      ...bench.told
        .filter(({ name }) => name === 'MOTION_STOP')
        .map(({ attributes }) => Number(attributes['durationS'])),
    );
    expect(shortest).toBeGreaterThan(5);
    expect(bench.count('MOTION_START') - bench.count('MOTION_STOP')).toBeLessThanOrEqual(1);
    const fast = createBench({ speedingKmh: 100 });
    fast.set({ ignition: true });
    playSamples(
      fast,
      samples.slice(0, 3000).map((one) => ({ ...one, speedKmh: one.speedKmh > 80 ? 108 : one.speedKmh })),
    );
    console.log(
      `20,000 s of a truck: ${bench.count('MOTION_START')} starts, ${bench.count('MOTION_STOP')} stops; raised: ${fast.count('SPEEDING_BEGIN')} speeding`,
    );
  });
});
