// The driver of a simulated vehicle: an engine whose starter is cut keeps him waiting with the key turned, and a tow moves the
// vehicle with the ignition off.
import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../simulator/clock.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { createCityRoute } from '../../simulator/world/city-route.ts';
import { createDriver } from '../../simulator/world/driver.ts';

const centre = { latitude: 43.6511, longitude: -79.347 };
const route = createCityRoute({ centre, entropy: createSeededEntropy('driver'), restS: 600 });

/** A driver who stands at the depot, some seconds before he turns the key. */
function atDepot() {
  const clock = createVirtualClock();
  const cut = { isOn: false };
  // The key is turned 10 s before the end of a round.
  const driver = createDriver({ clock, route, startS: route.roundS - 15, isStarterCut: () => cut.isOn });
  return { clock, cut, driver };
}

describe('a driver', () => {
  it('whose engine does not start waits with the key turned, however often it is polled, and then drives off', () => {
    const { clock, cut, driver } = atDepot();
    cut.isOn = true;
    const seen: boolean[] = [];
    for (let step = 0; step < 600; step += 1) {
      clock.advance(step % 3 === 0 ? 97 : 13);
      seen.push(driver.now().ignition);
    }
    const turned = seen.indexOf(true);
    expect(turned).toBeGreaterThan(0);
    expect(seen.slice(turned).every(Boolean)).toBe(true);
    expect(driver.now()).toMatchObject({ engine: 'blocked', speedKmh: 0 });
    cut.isOn = false;
    for (let second = 0; second < 30; second += 1) {
      clock.advance(1000);
      expect(driver.now()).toMatchObject({ engine: 'running', ignition: true });
    }
    expect(driver.now().speedKmh).toBeGreaterThan(0);
  });

  it('is pulled away under tow with the ignition off, let go, and drives on', () => {
    const { clock, driver } = atDepot();
    const { odometerM } = driver.now();
    driver.tow(25);
    clock.advance(30_000);
    expect(driver.now().ignition).toBe(false);
    expect(driver.now().speedKmh).toBeCloseTo(25);
    driver.tow(0);
    clock.advance(20_000);
    expect(driver.now()).toMatchObject({ ignition: false, speedKmh: 0 });
    expect(driver.now().odometerM - odometerM).toBeGreaterThan(150);
    expect(driver.drive()).toBe(true);
    clock.advance(30_000);
    expect(driver.now()).toMatchObject({ ignition: true, engine: 'running' });
    expect(driver.now().speedKmh).toBeGreaterThan(0);
  });

  it('who is told to drive does so at once, also in the middle of a rest, and keeps to the timetable from there', () => {
    const clock = createVirtualClock();
    const driver = createDriver({ clock, route, startS: route.roundS - 300, isStarterCut: () => false });
    expect(driver.now()).toMatchObject({ engine: 'off', speedKmh: 0 });
    const { odometerM } = driver.now();
    expect(driver.drive()).toBe(true);
    const metres: number[] = [];
    for (let second = 0; second < 20; second += 1) {
      clock.advance(1000);
      expect(driver.now()).toMatchObject({ ignition: true, engine: 'running' });
      metres.push(driver.now().odometerM - odometerM);
    }
    expect(metres.at(0)).toBeGreaterThan(0);
    expect(metres.at(-1)).toBeGreaterThan(50);
    for (const [at, metre] of metres.entries()) expect(metre).toBeGreaterThan(metres[at - 1] ?? 0);
  });
});
