// The UTC of an event that is about to be sent, in the light of what is known by then of its boot. An event is stored with
// what was known at its moment and never rewritten on disk; `upMs` is always right, so its UTC can be made up for later.
// Never changes an order: all events of a boot follow one origin, but for those that a good source stamped by itself.
import type { FleetEvent, TimeQuality } from '../../../src/core/event.ts';
import { timeLimits } from '../timekeeping.ts';

/** UTC of `upMs` 0 of a boot. */
export interface BootOrigin {
  readonly originMs: number;
  readonly quality: TimeQuality;
}

const toleranceMs = 1000;

/** A clock that nobody vouches for: it may be years off, and stepped when NTP reached it. */
const isGuess = (quality: TimeQuality): boolean => quality === 'none' || quality === 'rtc';

/** What two honest origins of one boot may differ by after `upMs`: their sources, and the quartz in between. */
function honestMs(upMs: number): number {
  return timeLimits.serverDisagreementMs + (upMs * timeLimits.driftPpm) / 1e6;
}

/**
 * The event with the time that is known now. Null becomes UTC; the guess of a clock becomes what a better source says, or
 * what that clock said last; what a receiver said that was found to be wrong afterwards becomes what the server says.
 */
export function timedEvent(event: FleetEvent, origin: BootOrigin | null): FleetEvent {
  const { timestamp, upMs, timeQuality } = event;
  if (origin === null || upMs === null) return event;
  const known: FleetEvent = { ...event, timestamp: origin.originMs + upMs, timeQuality: origin.quality };
  if (timestamp === null) return known;
  const apartMs = Math.abs(origin.originMs + upMs - timestamp);
  if (isGuess(timeQuality)) return isGuess(origin.quality) && apartMs <= toleranceMs ? event : known;
  return !isGuess(origin.quality) && apartMs > honestMs(upMs) ? known : event;
}

/**
 * Which origin a boot keeps. The first good one stays, as it is the nearest to the events that had none and the quartz
 * drifts with every day; another counts if it is better, or if it shows that the first was wrong.
 * @param upMs monotonic time since the start of the boot.
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
  return isFiner || apartMs > honestMs(upMs) ? offered : known;
}
