// The members of an event that a fix gives, rounded to what a receiver knows and inside of what an event may hold. Pure.
import type { FleetEvent } from '../../../src/core/event.ts';
import type { Fix } from '../gnss/epochs.ts';

/** Where an event happened; nothing without a fix. */
export function place(fix: Fix | null): Partial<FleetEvent> {
  if (fix === null) return {};
  return {
    latitude: fix.latitude,
    longitude: fix.longitude,
    ...(fix.altitudeM === null || fix.altitudeM < -1000 || fix.altitudeM > 20_000
      ? {}
      : { altitude: Math.round(fix.altitudeM) }),
    ...(fix.speedKmh === null ? {} : { speed: Math.round(fix.speedKmh * 10) / 10 }),
    ...(fix.headingDeg === null ? {} : { heading: Math.round(fix.headingDeg) % 360 }),
    ...(fix.hdop === null ? {} : { hdop: Math.round(fix.hdop * 10) / 10 }),
    ...(fix.satellites === null ? {} : { satellites: fix.satellites }),
  };
}
