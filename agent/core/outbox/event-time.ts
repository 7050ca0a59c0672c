// Computes the UTC of an event when it is sent, from the present knowledge about its boot's clock. An event is stored with the time known at its
// moment and never rewritten on disk. `upMs` is always right, so the UTC can be computed later. The order never changes: all events of a boot follow
// one origin, except those that a good source stamped directly.
import type { FleetEvent, TimeQuality } from '../../../src/core/events/event.ts';
import { timeLimits } from '../timekeeping.ts';

/** UTC of `upMs` 0 of a boot, ms. */
export interface BootOrigin {
  readonly originMs: number;
  readonly quality: TimeQuality;
}

const toleranceMs = 1000;

/** An unverified clock: it may be years off, and may have stepped when NTP was reached. */
const isGuess = (quality: TimeQuality): boolean => quality === 'none' || quality === 'rtc';

/** Allowed difference of two correct origins of one boot after `upMs`, ms: source error plus quartz drift. */
function allowedDifferenceMs(upMs: number): number {
  return timeLimits.serverDisagreementMs + (upMs * timeLimits.driftPpm) / 1e6;
}

/**
 * The event with the best time known now. A null time becomes UTC. A guess of the clock becomes the time of a better source, or the clock's last
 * time. A receiver time that was found wrong afterwards becomes the server's.
 */
export function timedEvent(event: FleetEvent, origin: BootOrigin | null): FleetEvent {
  const { timestamp, upMs, timeQuality } = event;
  if (origin === null || upMs === null) return event;
  const known: FleetEvent = { ...event, timestamp: origin.originMs + upMs, timeQuality: origin.quality };
  if (timestamp === null) return known;
  const apartMs = Math.abs(origin.originMs + upMs - timestamp);
  if (isGuess(timeQuality)) return isGuess(origin.quality) && apartMs <= toleranceMs ? event : known;
  return !isGuess(origin.quality) && apartMs > allowedDifferenceMs(upMs) ? known : event;
}

/**
 * Origin to keep for a boot. The first good one stays: it is nearest to the events without a time, and the quartz drifts with every day. Another one
 * counts if it is better, or if it shows that the first was wrong.
 * @param upMs monotonic time since the start of the boot, ms.
 */
export function keptOrigin(known: BootOrigin | null, offered: BootOrigin, upMs: number): BootOrigin {
  if (known === null) return offered;
  const apartMs = Math.abs(known.originMs - offered.originMs);
  if (isGuess(known.quality)) {
    const isSame = known.quality === offered.quality && apartMs <= toleranceMs;
    return isSame ? known : offered;
  }
  if (isGuess(offered.quality)) return known;
  const isBetter = known.quality !== 'gnss' && offered.quality === 'gnss';
  const isFiner = isBetter && apartMs <= timeLimits.serverDisagreementMs;
  return isFiner || apartMs > allowedDifferenceMs(upMs) ? offered : known;
}
