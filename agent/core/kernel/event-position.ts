// The members of an event that a fix gives, rounded to a receiver's precision and within the limits of an event.
// Pure.
import type { FleetEvent } from '../../../src/core/events/event.ts';
import type { Fix } from '../gnss/epochs.ts';

/** Members for where an event happened; empty without a fix. */
export function positionFields(fix: Fix | null): Partial<FleetEvent> {
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
