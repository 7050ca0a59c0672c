// The nearest town in words: distance and direction from its middle, across the date line too, and none where none is near.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearestTown } from '../../broker/console/map/world/nearest-town.ts';
import { bandOf, bandStarts, bandsNear } from '../../broker/console/map/world/town-bands.ts';

const towns = [
  { name: 'Toronto', latitude: 43.7, longitude: -79.416 },
  { name: 'Scarborough', latitude: 43.772, longitude: -79.257 },
  { name: 'Suva', latitude: -18.142, longitude: 178.442 },
  { name: 'Tromsø', latitude: 69.649, longitude: 18.957 },
];
const near = (latitude: number, longitude: number) => {
  const town = nearestTown(towns, { latitude, longitude });
  return town === null ? null : `${town.distanceKm.toFixed(0)} km ${town.direction} of ${town.name}`;
};

describe('the nearest town', () => {
  it.each([
    ['in it', 43.772, -79.2571, '0 km W of Scarborough'],
    ['east', 43.772, -79.22, '3 km E of Scarborough'],
    ['between two, the nearer', 43.72, -79.37, '4 km NE of Toronto'],
    ['north-west', 44, -79.7, '40 km NW of Toronto'],
    ['south', 42.9, -79.416, '89 km S of Toronto'],
    ['across the date line', -17.9, -179.9, '177 km E of Suva'],
    ['where degrees of longitude are short', 69.649, 24, '195 km E of Tromsø'],
    ['too far for words', 47, -79.4, null],
    ['at sea', 0, -30, null],
    ['at the pole', 90, 0, null],
  ])('of a place %s', (_, latitude, longitude, wanted) => {
    expect(near(latitude, longitude)).toBe(wanted);
  });

  it('is none while there are no towns', () => {
    expect(nearestTown([], { latitude: 43.7, longitude: -79.4 })).toBe(null);
  });
});

describe('the bands of towns that a place needs', () => {
  it.each([
    ['in the middle of one', 50.5, 22, [3]],
    ['at a border', 43.7, -79.4, [0, 1]],
    ['at the date line', -17.9, 179.9, [0, 7]],
    ['at the pole', 90, 0, [...bandStarts.keys()]],
  ])('%s', (_, latitude, longitude, wanted) => {
    expect(bandsNear({ latitude, longitude })).toEqual(wanted);
  });

  it('hold the nearest town, wherever place and town are', () => {
    const anywhere = fc.record({
      latitude: fc.double({ min: -90, max: 90, noNaN: true }),
      longitude: fc.double({ min: -180, max: 180, noNaN: true }),
    });
    const step = fc.double({ min: -3, max: 3, noNaN: true });
    fc.assert(
      fc.property(anywhere, step, step, (place, north, east) => {
        const longitude = ((place.longitude + east + 540) % 360) - 180;
        const latitude = Math.min(90, Math.max(-90, place.latitude + north));
        const found = nearestTown([{ name: 'town', latitude, longitude }], place);
        if (found !== null) expect(bandsNear(place)).toContain(bandOf(longitude));
      }),
    );
  });
});
