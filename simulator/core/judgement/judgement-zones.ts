// Judges the crossings of a round geozone against the vehicle's true place. A border is reported when the vehicle has been beyond
// it for the dwell time, with the time and place of the first position beyond it. A zone that comes to a vehicle inside is no
// arrival. Pure.

import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { distanceM, type Point } from '../../../src/core/geo/geo.ts';
import { isStruck, meets, runSpan, type Span } from '../ledger/excuses.ts';
import type { ShownEvent, VehicleNotes } from '../ledger/ledger-types.ts';
import { momentsWithin } from '../ledger/trace.ts';

export interface RoundZone extends Point {
  readonly geozoneID: string;
  readonly radiusM: number;
}

export interface ZoneViews {
  readonly zone: RoundZone;
  /** Latest time at which the vehicle held the zone, ms of the run; null: unknown, so it may miss a crossing. */
  readonly heldMs: number | null;
  /** Dwell time beyond a border, ms. */
  readonly dwellMs: number;
  /** Records of this vehicle at borders of this zone, as the fleet's listings by status code have them, by time. */
  readonly crossings: readonly ShownEvent[];
  /** All records of the vehicle, by time. */
  readonly records: readonly ShownEvent[];
}

/** Metres: noise of the receiver and what filters keep, as for any position (`world-compare.ts`). */
const placeM = 40;
/** Metres from the border where a unit is sure of its side: its own hysteresis (`zones.hysteresisM`, 25) and the noise of a fix. */
const clearM = 40;
/** Besides the dwell time until a crossing is reported, ms: fixes come once a second. */
const reportMs = 4000;
/** A generator that was late by less than this delays a crossing, and hides none, ms. */
const stallMs = 2000;
/** A position may be so much older or newer than its record, ms. */
const ageMs = 10_000;

const { GEOFENCE_ARRIVE: arrival, GEOFENCE_DEPART: departure } = statusCodes;

type Side = 'inside' | 'outside';

/** A span, ms of the run, in which the vehicle was surely on one side. */
interface Stay extends Span {
  readonly side: Side;
}

function staysOf({ trace, beganUtcMs }: VehicleNotes, zone: RoundZone, leastMs: number): readonly Stay[] {
  const stays: { side: Side; fromMs: number; toMs: number }[] = [];
  let wasClear = false;
  for (const [at, utcMs] of trace.utcMs.entries()) {
    const metres = distanceM(zone, {
      latitude: trace.latitude[at] ?? 0,
      longitude: trace.longitude[at] ?? 0,
    });
    const isClear = Math.abs(metres - zone.radiusM) > clearM;
    const side: Side = metres < zone.radiusM ? 'inside' : 'outside';
    const ms = utcMs - (beganUtcMs ?? 0);
    const last = stays.at(-1);
    if (isClear && wasClear && last?.side === side) last.toMs = ms;
    else if (isClear) stays.push({ side, fromMs: ms, toMs: ms });
    wasClear = isClear;
  }
  return stays.filter(({ fromMs, toMs }) => toMs - fromMs >= leastMs);
}

/** True when a fault kept the unit from knowing its place. */
function isExcused(vehicle: VehicleNotes, span: Span): boolean {
  return (
    isStruck(vehicle, ['hardware', 'position'], span) ||
    vehicle.stalls.some((stall) => stall.toMs - stall.fromMs > stallMs && meets(stall, span))
  );
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(0)} s`;

/** What is wrong with a crossing that is shown. */
function wrongCrossing(vehicle: VehicleNotes, zone: RoundZone, record: ShownEvent): string | null {
  const utc = { fromMs: record.timestamp * 1000 - ageMs, toMs: record.timestamp * 1000 + 1000 + ageMs };
  if (isExcused(vehicle, runSpan(vehicle, utc))) return null;
  const metres = momentsWithin(vehicle.trace, utc).map((moment) => distanceM(zone, moment));
  const isThere =
    record.statusCode === arrival.code
      ? metres.some((one) => one <= zone.radiusM + placeM)
      : metres.some((one) => one >= zone.radiusM - placeM);
  const [least, most] = [Math.min(...metres), Math.max(...metres)].map(Math.round);
  return isThere || metres.length === 0
    ? null
    : `${record.eventID}, ${record.statusDescription} of ${zone.geozoneID}: it was ${least} to ${most} m from the middle of a zone of ${zone.radiusM} m`;
}

/**
 * Crossings take turns.
 * @param start the side on which the vehicle surely held the zone; null: not known, or the first crossing is older.
 */
function wrongTurn(zone: RoundZone, crossings: readonly ShownEvent[], start: Side | null): string | null {
  const sides = crossings.map(({ statusCode }): Side => (statusCode === arrival.code ? 'inside' : 'outside'));
  const at = sides.findIndex((side, index) => side === (sides[index - 1] ?? start));
  const record = crossings[at];
  return record === undefined
    ? null
    : `${record.eventID}, ${record.statusDescription} of ${zone.geozoneID}: it was on that side already`;
}

interface Look {
  readonly vehicle: VehicleNotes;
  readonly views: ZoneViews;
  /** Found or missing; null: nothing to compare. */
  add(words: string | null): void;
}

/** Every change of sides must be reported. */
function lookForMissing({ vehicle, views, add }: Look, stays: readonly Stay[], settleMs: number): void {
  const { zone, heldMs, crossings } = views;
  const { beganUtcMs, stopMs } = vehicle;
  if (heldMs === null || beganUtcMs === null) return;
  let before: Stay | null = null;
  for (const stay of stays) {
    if (stay.toMs < heldMs + settleMs || stay.fromMs + settleMs > (stopMs ?? 0)) continue;
    const last: Stay = before ?? stay;
    before = stay;
    const span = { fromMs: last.toMs - ageMs, toMs: Math.max(stay.fromMs, heldMs) + settleMs };
    if (stay.side === last.side || isExcused(vehicle, span)) continue;
    const code = stay.side === 'inside' ? arrival.code : departure.code;
    const isThere = crossings.some(({ statusCode, timestamp }) => {
      const atMs = timestamp * 1000 - beganUtcMs;
      return statusCode === code && atMs >= span.fromMs - 1000 && atMs <= span.toMs;
    });
    const words = `${zone.geozoneID}: it was surely ${stay.side} from ${seconds(stay.fromMs)} to ${seconds(stay.toMs)} of the run, and no record says that it went there`;
    add(isThere ? null : words);
  }
}

/** Records name the zone while the vehicle is in it, and not while it is outside. */
function lookAtRecords({ vehicle, views, add }: Look, stays: readonly Stay[], settleMs: number): void {
  const { zone, heldMs, records } = views;
  const began = vehicle.beganUtcMs ?? 0;
  for (const { geozoneID, timestamp, statusCode, eventID } of records) {
    // The zone of a crossing is named on both sides of the border.
    if (statusCode === arrival.code || statusCode === departure.code) continue;
    const atMs = timestamp * 1000 - began;
    const stay = stays.find(({ fromMs, toMs }) => atMs >= fromMs + settleMs && atMs <= toMs - ageMs);
    if (stay === undefined || heldMs === null || atMs < heldMs + settleMs) continue;
    const names = geozoneID === zone.geozoneID;
    if (isExcused(vehicle, { fromMs: stay.fromMs, toMs: atMs })) continue;
    const words = `${eventID}: it was surely ${stay.side} of ${zone.geozoneID}, and the record names ${geozoneID === '' ? 'no zone' : geozoneID}`;
    add(names === (stay.side === 'inside') ? null : words);
  }
}

/** Compares one vehicle with one zone. @returns an entry for each comparison: what is wrong, or null. */
export function judgeZone(vehicle: VehicleNotes, views: ZoneViews): readonly (string | null)[] {
  const compared: (string | null)[] = [];
  const add = (words: string | null): void => void compared.push(words);
  const settleMs = views.dwellMs + reportMs;
  const stays = staysOf(vehicle, views.zone, settleMs);
  for (const record of views.crossings) add(wrongCrossing(vehicle, views.zone, record));
  const heldMs = views.heldMs ?? Number.POSITIVE_INFINITY;
  const isOlder = (views.crossings[0]?.timestamp ?? 0) * 1000 - (vehicle.beganUtcMs ?? 0) < heldMs;
  const start = stays.find(({ fromMs, toMs }) => fromMs <= heldMs && heldMs + settleMs <= toMs)?.side ?? null;
  const turn = wrongTurn(views.zone, views.crossings, isOlder ? null : start);
  if (turn !== null) add(turn);
  const look = { vehicle, views, add };
  lookForMissing(look, stays, settleMs);
  lookAtRecords(look, stays, settleMs);
  return compared;
}
