// Compares the service's records of a vehicle with its true place. Positions come from a simulated receiver through the agent's
// filters; all tolerances are in this file. Pure.

import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { vehicleBreach } from './breach.ts';
import { isStruck, meets, recoveryMs, runSpan, type Span } from './excuses.ts';
import type { Breach, EventNote, ShownEvent, VehicleNotes } from './ledger-types.ts';
import { drivenSpans, metresFrom, momentsWithin } from './trace.ts';

/** Metres: the noise of the receiver (1.5 m, 8 m after a gap, each three times), and what the agent's filters keep. */
const placeM = 40;
/**
 * A record may carry a position that is so much older or newer than its time: the agent's own limit. Newer, as a report on what began
 * earlier (a board that answers again) has the place of the moment in which it is certain.
 */
const oldestMs = 10_000;
const newestMs = 10_000;
/** km/h: Doppler noise, rounding, and what a second changes. */
const speedKmh = 8;

/** Records whose position is older by their meaning. */
const lateCodes: ReadonlySet<number> = new Set([
  statusCodes.LAST_LOCATION.code,
  statusCodes.GPS_LOST.code,
  statusCodes.GPS_JAMMING.code,
]);

/** Records of a border that was crossed before the agent was restarted have its place and time only. */
const carriedCodes: ReadonlySet<number> = new Set([
  statusCodes.GEOFENCE_ARRIVE.code,
  statusCodes.GEOFENCE_DEPART.code,
]);

/** True when a report was decided so late that the agent has no place for it: an engine judged by voltage. */
const isDecidedLate = ({ beganUtcMs }: VehicleNotes, { code, storedMs }: EventNote, atMs: number): boolean =>
  code !== statusCodes.LOCATION.code && storedMs + (beganUtcMs ?? 0) - atMs > newestMs;

/** True when a record lacks a position that the vehicle had: it had one before, and nothing prevented the next. */
function lacksPlace(vehicle: VehicleNotes, record: ShownEvent, span: Span): boolean {
  if (record.isPositionValid || vehicle.firstPlaceS === null) return false;
  if (record.timestamp - vehicle.firstPlaceS < oldestMs / 1000) return false;
  const run = runSpan(vehicle, span);
  return (
    !isStruck(vehicle, ['hardware', 'position'], run) && !vehicle.stalls.some((stall) => meets(stall, run))
  );
}

/** Breach of a record's place, speed or time; null: none, or not judged. Records of a vehicle come by time. */
export function wrongPlace(vehicle: VehicleNotes, note: EventNote, record: ShownEvent): string | null {
  const { trace, beganUtcMs } = vehicle;
  if (beganUtcMs === null || lateCodes.has(note.code)) return null;
  if (note.sent?.isTimed !== true || note.isResent) return null;
  const atMs = record.timestamp * 1000;
  const span = { fromMs: atMs - oldestMs, toMs: atMs + 1000 + newestMs };
  if (record.isPositionValid) vehicle.firstPlaceS ??= record.timestamp;
  if (!isDecidedLate(vehicle, note, atMs) && lacksPlace(vehicle, record, span))
    return `status code ${record.statusCode} at ${record.timestamp}: no position, and it had one ${record.timestamp - (vehicle.firstPlaceS ?? 0)} s before`;
  // A change of the tank is decided later, and has the place of that moment.
  const known = { ...span, toMs: Math.max(span.toMs, note.storedMs + beganUtcMs) };
  if (!record.isPositionValid || isStruck(vehicle, ['position'], runSpan(vehicle, known))) return null;
  const moments = momentsWithin(trace, span);
  const first = trace.utcMs[0];
  if (first === undefined || span.fromMs < first || moments.length === 0) return null;
  const metres = metresFrom(record, moments);
  if (metres !== null && metres > placeM)
    return `${record.latitude},${record.longitude} at ${record.timestamp}: the vehicle was ${Math.round(metres)} m away`;
  if (note.sent.speedKmh === null && carriedCodes.has(note.code)) return null;
  const speeds = moments.map((moment) => moment.speedKmh);
  const [least, most] = [Math.min(...speeds), Math.max(...speeds)];
  if (record.speed < least - speedKmh || record.speed > most + speedKmh)
    return `${record.speed} km/h at ${record.timestamp}: the vehicle drove ${Math.round(least)} to ${Math.round(most)} km/h`;
  return null;
}

/** Slower than this a vehicle may count as parked. */
const drivesKmh = 10;
/** Longest time between two positions of a driving vehicle besides three intervals, ms. */
const gapMs = 5000;
/** A simulated receiver finds its satellites in half of this, ms. */
const acquireMs = 10_000;

/** A span without others and their recovery times. */
function without(span: Span, others: readonly Span[]): readonly Span[] {
  return others.reduce<readonly Span[]>(
    (pieces, { fromMs, toMs }) =>
      pieces.flatMap((piece) =>
        [
          { fromMs: piece.fromMs, toMs: Math.min(piece.toMs, fromMs) },
          { fromMs: Math.max(piece.fromMs, toMs + recoveryMs), toMs: piece.toMs },
        ].filter((one) => one.toMs > one.fromMs),
      ),
    [span],
  );
}

/**
 * Spans in which a vehicle drove and no position of it was reported.
 * @param movingS a position at least this often while it moves.
 */
export function findUntracked(vehicle: VehicleNotes, movingS: number): readonly Breach[] {
  const { deviceID, trace, beganUtcMs, stopMs, boots, excuses, stalls } = vehicle;
  const startMs = trace.utcMs[0];
  // What was never sent is reported as lost.
  const hasSent = [...boots.values()].some((notes) =>
    notes.some((note) => note !== undefined && note.sent !== null),
  );
  if (beganUtcMs === null || startMs === undefined || !hasSent) return [];
  const longestMs = gapMs + 3 * movingS * 1000;
  const positions = [...boots.values()]
    .flat()
    .flatMap((note) => {
      const isPosition = note?.code === statusCodes.LOCATION.code && note.sent?.latitude != null;
      return isPosition && note.sent?.timestampMs != null ? [note.sent.timestampMs - beganUtcMs] : [];
    })
    .sort((a, b) => a - b);
  const known = { fromMs: startMs - beganUtcMs + acquireMs, toMs: stopMs ?? Number.POSITIVE_INFINITY };
  const faults = [...excuses.filter(({ kind }) => kind !== 'link'), ...stalls];
  const found: Breach[] = [];
  for (const driven of drivenSpans(trace, drivesKmh).map((span) => runSpan(vehicle, span))) {
    const judged = {
      fromMs: Math.max(driven.fromMs, known.fromMs),
      toMs: Math.min(driven.toMs, known.toMs),
    };
    for (const { fromMs, toMs } of judged.toMs > judged.fromMs ? without(judged, faults) : []) {
      const times = [fromMs, ...positions.filter((at) => at > fromMs && at < toMs), toMs];
      for (const [index, at] of times.entries()) {
        const before = times[index - 1] ?? at;
        if (at - before <= longestMs) continue;
        const words = `it drove from ${(before / 1000).toFixed(1)} s to ${(at / 1000).toFixed(1)} s of the run without a position`;
        found.push(vehicleBreach('untracked', deviceID, words));
      }
    }
  }
  return found;
}
