// Routes hold together: speed is the derivative of the position, the odometer counts what was driven, nobody drives
// with the ignition off, and the same seed drives the same way.
import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../simulator/clock.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { createCityRoute } from '../../simulator/world/city-route.ts';
import { createDriver } from '../../simulator/world/driver.ts';
import type { Route } from '../../simulator/world/routes.ts';
import { createTrackRoute } from '../../simulator/world/track-route.ts';
import { AppError } from '../../src/core/errors.ts';
import { distanceM } from '../../src/core/geo/geo.ts';
import { readShared, sharedData, sharedTitle } from '../support/machine/shared-data.ts';

const toronto = { latitude: 43.6511, longitude: -79.347 };
const city = (seed: string): Route =>
  createCityRoute({ centre: toronto, entropy: createSeededEntropy(seed) });

const track = [
  't,lat,lon',
  ...Array.from({ length: 200 }, (_, t) => `${1000 + t * 5},${45 + t * 0.0004},8`),
].join('\n');

/** Walks a round in quarter seconds. */
function inspect(route: Route) {
  let [worstSpeedKmh, worstMps2, drivenWithoutIgnition, odometerFell] = [0, 0, 0, 0];
  let before = route.at(0);
  for (let tS = 0.25; tS < route.roundS; tS += 0.25) {
    const moment = route.at(tS);
    const ahead = route.at(tS + 0.01);
    const middle = route.at(tS + 0.005);
    worstSpeedKmh = Math.max(
      worstSpeedKmh,
      Math.abs((distanceM(moment, ahead) / 0.01) * 3.6 - middle.speedKmh),
    );
    worstMps2 = Math.max(worstMps2, Math.abs(moment.speedKmh - before.speedKmh) / 3.6 / 0.25);
    if (moment.speedKmh > 0.1 && !moment.ignition) drivenWithoutIgnition += 1;
    if (moment.odometerM < before.odometerM) odometerFell += 1;
    before = moment;
  }
  return { worstSpeedKmh, worstMps2, drivenWithoutIgnition, odometerFell };
}

describe.each([
  ['city a', city('a')],
  ['city b', city('b')],
  ['track', createTrackRoute(track, 'track.csv')],
])('%s', (_, route) => {
  it('is driven as a vehicle is', () => {
    const seen = inspect(route);
    expect(seen.worstSpeedKmh).toBeLessThan(2); // at a bend the chord is shorter than the way
    expect(seen.worstMps2).toBeLessThan(4.1);
    expect(seen.drivenWithoutIgnition).toBe(0);
    expect(seen.odometerFell).toBe(0);
  });

  it('ends where it began and goes on for days', () => {
    const round = route.at(route.roundS - 0.001);
    expect(distanceM(round, route.at(0))).toBeLessThan(1);
    const late = route.at(route.roundS * 1000 + 100);
    expect(late.odometerM).toBeCloseTo(1000 * route.roundM + route.at(100).odometerM, 0);
    expect(distanceM(late, route.at(100))).toBeLessThan(1);
  });

  it('finds the time and the place of an odometer reading', () => {
    for (const odometerM of [0, 1, route.roundM / 2, route.roundM * 3.7]) {
      expect(route.at(route.timeAt(odometerM)).odometerM).toBeCloseTo(odometerM, 2);
      expect(distanceM(route.place(odometerM), route.at(route.timeAt(odometerM)))).toBeLessThan(0.1);
    }
  });
});

describe('city route', () => {
  it('has stops with the ignition off, doors that open only then, and limits that are kept', () => {
    const route = city('a');
    let [offS, doorS, maxKmh] = [0, 0, 0];
    for (let tS = 0; tS < route.roundS; tS += 1) {
      const moment = route.at(tS);
      if (!moment.ignition) offS += 1;
      if (moment.cargoDoor || moment.cabinDoor) {
        doorS += 1;
        expect(moment.speedKmh).toBe(0);
        expect(moment.ignition).toBe(false);
      }
      maxKmh = Math.max(maxKmh, moment.speedKmh);
    }
    expect(offS).toBeGreaterThan(300);
    expect(doorS).toBeGreaterThan(60);
    expect(maxKmh).toBeGreaterThan(35);
    expect(maxKmh).toBeLessThan(66);
    expect(route.roundM).toBeGreaterThan(3000);
  });

  it('same seed, same way; another seed, another', () => {
    expect(city('a').at(1234.5)).toEqual(city('a').at(1234.5));
    expect(city('a').at(1234.5)).not.toEqual(city('c').at(1234.5));
  });

  it('with a day it rests at the depot at night and goes on the next morning', () => {
    const day = { dayS: 86_400, shiftS: 36_000 };
    const route = createCityRoute({ centre: toronto, entropy: createSeededEntropy('n'), day });
    const night = route.at(80_000);
    expect([night.speedKmh, night.ignition]).toEqual([0, false]);
    expect(distanceM(night, route.at(0))).toBeLessThan(0.01);
    expect(route.at(86_400 + 500).odometerM - night.odometerM).toBeCloseTo(route.at(500).odometerM, 3);
    expect(route.at(route.timeAt(night.odometerM + 1000)).odometerM).toBeCloseTo(night.odometerM + 1000, 2);
  });
});

describe('track file', () => {
  it.each([
    ['another header', 's,x_m,y_m,activity\n0,1,2,OnFoot', 'van.csv:1'],
    ['a broken line', 't,lat,lon\n1,45,8\n2,abc,8', 'van.csv:3'],
    ['no drive in it', 't,lat,lon\n1,45,8\n2,45,8', 'van.csv'],
  ])('%s is refused with file and line', (_, text, where) => {
    const attempt = (): Route => createTrackRoute(text, 'van.csv');
    expect(attempt).toThrow(AppError);
    expect(attempt).toThrow(where);
  });

  describe.skipIf(sharedData('routes') === null)(sharedTitle('recorded tracks', 'routes'), () => {
    it.each(['munich-car-1hz.csv', 'aracaju-bus-13.csv', 'aracaju-car-31.csv'])(
      '%s can be driven',
      (name) => {
        const route = createTrackRoute(Buffer.from(readShared(`routes/${name}`)).toString('utf8'), name);
        const seen = inspect(route);
        expect(seen.worstMps2).toBeLessThan(4.1);
        expect(seen.drivenWithoutIgnition + seen.odometerFell).toBe(0);
        expect(seen.worstSpeedKmh).toBeLessThan(2);
      },
    );
  });
});

describe('driver', () => {
  const start = (startS: number | null) => {
    const clock = createVirtualClock();
    const cut = { isOn: false };
    const driver = createDriver({ clock, route: city('a'), startS, isStarterCut: () => cut.isOn });
    return { clock, cut, driver };
  };

  it('by manual control: speeds up, holds, brakes, and rolls out when the key is turned off', () => {
    const { clock, driver } = start(null);
    expect(driver.now()).toMatchObject({ speedKmh: 0, ignition: false, engine: 'off' });
    expect(driver.setSpeed(36)).toBe(true);
    clock.advance(2000);
    expect(driver.now().speedKmh).toBeCloseTo(14.4, 3);
    clock.advance(20_000);
    expect(driver.now().speedKmh).toBeCloseTo(36, 3);
    driver.setIgnition(false);
    clock.advance(3000);
    expect(driver.now()).toMatchObject({ ignition: false, engine: 'off' });
    expect(driver.now().speedKmh).toBeGreaterThan(10);
    clock.advance(10_000);
    expect(driver.now().speedKmh).toBe(0);
  });

  it('a cut starter stops no running engine, but no engine starts', () => {
    const { clock, cut, driver } = start(null);
    driver.setSpeed(36);
    clock.advance(10_000);
    cut.isOn = true;
    clock.advance(10_000);
    expect(driver.now()).toMatchObject({ engine: 'running' });
    expect(driver.now().speedKmh).toBeGreaterThan(35);
    driver.setIgnition(false);
    clock.advance(30_000);
    expect(driver.drive()).toBe(false);
    expect(driver.now()).toMatchObject({ engine: 'blocked', speedKmh: 0, ignition: true });
    cut.isOn = false;
    expect(driver.drive()).toBe(true);
    clock.advance(60_000);
    expect(driver.now().odometerM).toBeGreaterThan(150);
  });

  it('on the timetable: waits while the starter is cut and then drives on from where it waited', () => {
    const { clock, cut, driver } = start(0);
    let off = 0;
    while (driver.now().ignition && off < 20_000) {
      clock.advance(1000);
      off += 1;
    }
    const parkedAtM = driver.now().odometerM;
    cut.isOn = true;
    clock.advance(3_600_000);
    expect(driver.now()).toMatchObject({ engine: 'blocked', speedKmh: 0 });
    expect(driver.now().odometerM).toBeCloseTo(parkedAtM, 3);
    cut.isOn = false;
    clock.advance(120_000);
    expect(driver.now().odometerM).toBeGreaterThan(parkedAtM + 50);
  });

  it('goes elsewhere at once and drives on there', () => {
    const { clock, driver } = start(null);
    driver.goTo({ latitude: 48.1, longitude: 11.5 });
    driver.setSpeed(50);
    clock.advance(60_000);
    expect(distanceM(driver.now(), { latitude: 48.1, longitude: 11.5 })).toBeLessThan(1000);
  });
});
