// Decides when a vehicle arrived at a geozone and when it left: a pure machine, fed with plausible fixes only. A border counts
// as crossed once the vehicle is deeper beyond it than hysteresis and uncertainty, and has stayed for the dwell time. The
// crossing is dated to the first fix beyond the border. Neither time alone nor a doubtful fix changes anything. A vehicle at
// rest crosses nothing (`zone-rest.ts`), and a new or moved zone around it is no entry. It never acts. A vehicle watches its own
// zones; the service those of a device without an agent.
import { distanceM, type Point } from '../geo/geo.ts';
import { zoneContains, zoneDepthM } from '../geo/geozone.ts';
import type { ZoneConfig } from '../geo/zone-config.ts';
import type { ZonesSettings } from '../settings/zones.ts';
import { zoneClearanceM } from './zone-clearance.ts';
import { zonesNear } from './zone-index.ts';
import { isAtRest, stepRest, type ZoneFix, type ZoneRest } from './zone-rest.ts';
import { type ZoneSet, zoneFingerprint, zoneOf } from './zone-set.ts';

export const zoneWatchLimits = {
  /**
   * Zones that a vehicle is in, or has just entered, at once. Their state must fit the record: see `zone-
   * record.ts`.
   */
  tracked: 64,
  /** Zones near a place that are tested exactly for one fix, about 10 µs each. */
  examined: 256,
  /** Error of a position at HDOP 1, metres: twice the range error of a working receiver (95 %). */
  rangeErrorM: 5,
  /** For a receiver without HDOP. */
  unknownHdop: 4,
  /** After this long without a position the time of a crossing is unknown; the event is marked so. */
  gapMs: 30_000,
  /** A zone counts as at least so deep; a narrower one cannot be resolved by any receiver. */
  clearanceLeastM: 5,
} as const;

/**
 * Cause of a crossing. `seen`: the vehicle was watched. `start`: somewhere between the last fix before the agent
 * stopped and the first one after. `config`: the zones changed, not the vehicle; it makes no crossing.
 */
export type Cause = 'seen' | 'start' | 'config';

/** A border that was crossed, so it seems: `to` where the vehicle is since then. At most one a zone. */
export interface Mark {
  readonly id: string;
  readonly to: 'inside' | 'outside';
  /** Monotonic time of the first fix beyond the border; null while carried over from before a restart. */
  readonly atMs: number | null;
  /** ... in UTC; null while the time was unknown. */
  readonly utcMs: number | null;
  readonly latitude: number;
  readonly longitude: number;
  readonly cause: Cause;
  /** Time without a position before it; null when there was none to speak of. */
  readonly gapMs: number | null;
  /** It was crossed before the agent's last start. */
  readonly isCarried: boolean;
  /** The position alone went beyond the border, the vehicle rested: no crossing, but nothing restrictive waits for this side. */
  readonly isDrift: boolean;
}

/** Changes that the next fix adopts without a movement of the vehicle. */
export interface PendingAdoption {
  readonly cause: 'start' | 'config';
  readonly fresh: 'all' | ReadonlySet<string>;
  /** The first fix that the changed zones were compared with; null before it. */
  readonly from: Point | null;
}

export interface ZoneWatch {
  /** Zones that the vehicle is in, in the order of arrival. */
  readonly inside: readonly string[];
  readonly marks: readonly Mark[];
  /** Monotonic time of the last fix. */
  readonly lastMs: number | null;
  readonly settling: PendingAdoption | null;
  /** Fingerprint of the zones that the last fix was compared with; null before the first one ever. */
  readonly compared: string | null;
  readonly rest: ZoneRest;
}

/** An arrival or departure that is certain now. */
export interface Crossing {
  readonly zone: ZoneConfig;
  readonly mark: Mark;
  readonly dwellMs: number;
}

export interface ZoneStep {
  readonly watch: ZoneWatch;
  /** By time of crossing, departures first. */
  readonly crossings: readonly Crossing[];
  /** Borders that the position of a vehicle at rest is certainly beyond. */
  readonly drifts: readonly Crossing[];
  /** Sides that a change of the zones put the vehicle on. */
  readonly adopted: readonly Crossing[];
  /** More zones overlap at this place than are watched. */
  readonly isCrowded: boolean;
}

/** A vehicle that has been in no zone yet. */
export function createZoneWatch(): ZoneWatch {
  return { inside: [], marks: [], lastMs: null, settling: null, compared: null, rest: null };
}

function freshIn(set: ZoneSet, before: ZoneSet): ReadonlySet<string> {
  const ids = set.zones.map(({ id }) => id);
  return new Set(ids.filter((id) => zoneFingerprint(set, id) !== zoneFingerprint(before, id)));
}

/**
 * Switches to another set of zones. A removed zone makes no departure, for the vehicle has not left it. For a zone
 * that is new or was moved the next fixes find out the side without a crossing.
 * @param before the zones until now; null at the start, when only the record shows what the vehicle was compared
 * with.
 */
export function adoptZones(watch: ZoneWatch, before: ZoneSet | null, set: ZoneSet): ZoneWatch {
  const isSame = (before === null ? watch.compared : before.fingerprint) === set.fingerprint;
  if (isSame)
    return before === null ? { ...watch, settling: { cause: 'start', fresh: 'all', from: null } } : watch;
  const pending = watch.settling;
  const changed = before === null ? 'all' : freshIn(set, before);
  const fresh =
    changed === 'all' || pending?.fresh === 'all' ? 'all' : new Set([...changed, ...(pending?.fresh ?? [])]);
  const isKept = (id: string): boolean => changed !== 'all' && !changed.has(id) && set.numbers.has(id);
  return {
    ...watch,
    inside: watch.inside.filter((id) => set.numbers.has(id)),
    marks: watch.marks.filter(({ id }) => isKept(id)),
    settling: { cause: 'config', fresh, from: null },
  };
}

/** One fix, and all that it is compared with. */
export interface ZoneInput {
  readonly set: ZoneSet;
  /** Plausible; see `isPlausible`. */
  readonly fix: ZoneFix;
  /** UTC at the fix as the vehicle knows it; null while it does not. */
  readonly utcMs: number | null;
  readonly settings: ZonesSettings;
  /** Since when the ignition has been off, monotonic; null while it is on or unknown. */
  readonly offSinceMs: number | null;
}

/** The thresholds for one fix. */
interface ZoneStepInput extends ZoneInput {
  readonly watch: ZoneWatch;
  readonly marks: ReadonlyMap<string, Mark>;
  readonly uncertaintyM: number;
  readonly dwellMs: number;
  readonly isAtRest: boolean;
}

const noMarks: ReadonlyMap<string, Mark> = new Map();

function stepInputOf(watch: ZoneWatch, input: ZoneInput, rest: ZoneRest): ZoneStepInput {
  const { set, fix, utcMs, settings, offSinceMs } = input;
  // Each by name: a spread here costs more than all the rest, and the service does this for each position.
  return {
    set,
    fix,
    utcMs,
    settings,
    offSinceMs,
    watch,
    marks: watch.marks.length === 0 ? noMarks : new Map(watch.marks.map((mark) => [mark.id, mark])),
    uncertaintyM: zoneWatchLimits.rangeErrorM * Math.max(1, fix.hdop ?? zoneWatchLimits.unknownHdop),
    dwellMs: settings.dwellS * 1000,
    isAtRest: isAtRest(rest),
  };
}

/**
 * The adoption at this fix. A change of the zones stays pending until the vehicle has moved so far that it was certainly outside
 * of any border that it then crosses.
 */
function pendingAt({ settling }: ZoneWatch, fix: ZoneFix, certainM: number): PendingAdoption | null {
  if (settling === null || settling.from === null) return settling;
  return distanceM(settling.from, fix) > certainM ? null : settling;
}

function openMark(
  { watch, fix, utcMs, isAtRest: isResting }: ZoneStepInput,
  id: string,
  to: Mark['to'],
): Mark {
  const { settling, lastMs } = watch;
  // A vehicle that is known to be inside leaves when it leaves; only the first fix can show that the zone was moved.
  const isFresh =
    settling !== null &&
    (settling.from === null || to === 'inside') &&
    (settling.fresh === 'all' || settling.fresh.has(id));
  const gapMs = lastMs === null ? null : fix.atMonoMs - lastMs;
  return {
    id,
    to,
    atMs: fix.atMonoMs,
    utcMs,
    latitude: fix.latitude,
    longitude: fix.longitude,
    cause: isFresh ? settling.cause : 'seen',
    gapMs: gapMs !== null && gapMs > zoneWatchLimits.gapMs ? gapMs : null,
    isCarried: false,
    isDrift: isResting && !isFresh,
  };
}

/** The mark of a zone at this fix, which is beyond the border: the existing one, or a new one. */
function markOf(look: ZoneStepInput, id: string, to: Mark['to']): Mark & { readonly atMs: number } {
  const known = look.marks.get(id);
  const { fix, utcMs } = look;
  const isDated = known !== undefined && (look.isAtRest || !known.isDrift);
  if (isDated && known.to === to) {
    if (known.atMs !== null) return known as Mark & { readonly atMs: number };
    // Between two boots only UTC counts on; without it the crossing is dated by this fix.
    if (known.utcMs !== null && utcMs !== null)
      return { ...known, atMs: fix.atMonoMs - Math.max(0, utcMs - known.utcMs) };
  }
  return { ...openMark(look, id, to), atMs: fix.atMonoMs };
}

/**
 * Depth in metres that counts as arrived: the hysteresis, or half of the zone's clearance. Null when the fix is
 * coarser than the zone and cannot decide.
 */
function arrivalDepthM({ settings, uncertaintyM }: ZoneStepInput, { zone }: ZoneConfig): number | null {
  const clearanceM = Math.max(zoneWatchLimits.clearanceLeastM, zoneClearanceM(zone));
  if (uncertaintyM > 2 * clearanceM) return null;
  return Math.min(Math.max(settings.hysteresisM, uncertaintyM), clearanceM / 2);
}

/** What one fix makes of the zones so far. */
interface Outcome {
  readonly inside: string[];
  readonly marks: Mark[];
  readonly crossings: Crossing[];
  readonly drifts: Crossing[];
  readonly adopted: Crossing[];
  /** Zones that it is in or has just entered. */
  tracked: number;
  isCrowded: boolean;
}

const sureOf = ({ adopted, crossings }: Outcome, { cause }: Mark): Crossing[] =>
  cause === 'config' ? adopted : crossings;

/** A zone that the vehicle was in. */
function lookOut(look: ZoneStepInput, zone: ZoneConfig, outcome: Outcome): void {
  const depthM = zoneDepthM(zone.zone, look.fix);
  const { id } = zone;
  if (depthM >= 0) return void outcome.inside.push(id);
  const mark = markOf(look, id, 'outside');
  const dwellMs = look.fix.atMonoMs - mark.atMs;
  const isOut = depthM <= -Math.max(look.settings.hysteresisM, look.uncertaintyM);
  const isCertain = isOut && dwellMs >= look.dwellMs;
  if (isCertain && !mark.isDrift) return void sureOf(outcome, mark).push({ zone, mark, dwellMs });
  if (isCertain) outcome.drifts.push({ zone, mark, dwellMs });
  outcome.inside.push(id);
  outcome.marks.push(mark);
}

/** A zone that holds the place and that the vehicle was not in. */
function lookIn(look: ZoneStepInput, zone: ZoneConfig, outcome: Outcome): void {
  const { id } = zone;
  const isNew = look.marks.get(id)?.to !== 'inside';
  const isFull = isNew && outcome.tracked >= zoneWatchLimits.tracked;
  outcome.isCrowded ||= isFull;
  // Of a zone that is not watched only the permission counts, and hardly one gives it.
  if (isFull && !zone.switches.includes('arrivalCargoUnlock')) return;
  const depthM = zoneDepthM(zone.zone, look.fix);
  if (isFull) return;
  if (isNew) outcome.tracked += 1;
  const mark = markOf(look, id, 'inside');
  const dwellMs = look.fix.atMonoMs - mark.atMs;
  const leastM = arrivalDepthM(look, zone);
  const isCertain = leastM !== null && depthM >= leastM && dwellMs >= look.dwellMs;
  if (isCertain && mark.isDrift) outcome.drifts.push({ zone, mark, dwellMs });
  if (!isCertain || mark.isDrift) return void outcome.marks.push(mark);
  outcome.inside.push(id);
  sureOf(outcome, mark).push({ zone, mark, dwellMs });
}

/** The previous list where nothing in it changed, so that it is not written again. */
function kept<T>(before: readonly T[], after: readonly T[]): readonly T[] {
  return before.length === after.length && before.every((one, at) => one === after[at]) ? before : after;
}

const isEarlier = (one: Crossing, other: Crossing): number =>
  (one.mark.atMs ?? 0) - (other.mark.atMs ?? 0) ||
  Number(one.mark.to === 'inside') - Number(other.mark.to === 'inside');

/** Handles one plausible fix. A fix that is not newer than the last one changes nothing. */
export function stepZones(watch: ZoneWatch, input: ZoneInput): ZoneStep {
  const { set, fix } = input;
  if (watch.lastMs !== null && fix.atMonoMs <= watch.lastMs)
    return { watch, crossings: [], drifts: [], adopted: [], isCrowded: false };
  const rest = stepRest(watch.rest, fix, input.offSinceMs);
  const around = stepInputOf(watch, input, rest);
  const settling = pendingAt(watch, fix, Math.max(input.settings.hysteresisM, around.uncertaintyM));
  const look = { ...around, watch: { ...watch, settling } };
  const outcome: Outcome = {
    inside: [],
    marks: [],
    crossings: [],
    drifts: [],
    adopted: [],
    tracked: 0,
    isCrowded: false,
  };
  for (const id of watch.inside) {
    const zone = zoneOf(set, id);
    if (zone !== null) lookOut(look, zone, outcome);
  }
  outcome.tracked = outcome.inside.length + watch.marks.filter(({ to }) => to === 'inside').length;
  const wasInside = new Set(watch.inside);
  const about = zonesNear(set.index, fix, zoneWatchLimits.examined);
  outcome.isCrowded = about.length >= zoneWatchLimits.examined;
  for (const number of about) {
    const zone = set.zones[number];
    if (zone === undefined || wasInside.has(zone.id) || !zoneContains(zone.zone, fix)) continue;
    lookIn(look, zone, outcome);
  }
  return {
    watch: {
      inside: kept(watch.inside, outcome.inside),
      marks: kept(watch.marks, outcome.marks),
      lastMs: fix.atMonoMs,
      settling: settling?.cause === 'config' ? { ...settling, from: settling.from ?? fix } : null,
      compared: set.fingerprint,
      rest,
    },
    crossings: outcome.crossings.sort(isEarlier),
    drifts: outcome.drifts,
    adopted: outcome.adopted,
    isCrowded: outcome.isCrowded,
  };
}
