// A period of one vehicle for replay: its records, its place at each moment, gaps with their reasons, and the lines of its plot.
// Pure. A moment between two records that the service joins lies on the straight line between them; across a gap nothing is
// assumed.
import { matchesKind } from './vehicle/event-view.ts';

type Place = readonly [longitude: number, latitude: number];

/** A record as the service exports it; null where the vehicle said nothing. */
export interface TrackRecord {
  readonly eventID: string;
  /** Vehicle time and time of storing, epoch seconds. */
  readonly timestamp: number;
  readonly creationTime: number;
  readonly statusCode: number;
  readonly place: Place | null;
  /** km/h, degrees from north, fraction of the tanks. */
  readonly speed: number | null;
  readonly heading: number | null;
  readonly fuelLevel: number | null;
  readonly ignition: boolean | null;
  readonly hdop: number | null;
  readonly satellites: number | null;
}

interface Fix extends TrackRecord {
  readonly place: Place;
  /** The service draws a line from the position before to this one. */
  readonly isJoined: boolean;
}

export interface ReplayTrack {
  /** By vehicle time. */
  readonly records: readonly TrackRecord[];
  /** Those with a position. */
  readonly fixes: readonly Fix[];
}

/** Stored later than this after it happened, a record counts as late, s. */
export const lateS = 300;
/** A shorter break of the line is not shown as missing, s. */
const gapLeastS = 60;

export const isLate = ({ timestamp, creationTime }: TrackRecord): boolean => creationTime - timestamp > lateS;

type Members = Readonly<Record<string, unknown>>;

const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? (value as Members) : {};
const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

function placeOf(geometry: Members): Place | null {
  const { type, coordinates } = geometry;
  if (type !== 'Point' || !Array.isArray(coordinates)) return null;
  const [longitude, latitude] = coordinates.map(numberOf);
  return longitude == null || latitude == null ? null : [longitude, latitude];
}

function recordOf(feature: Members): TrackRecord | null {
  const properties = membersOf(feature['properties']);
  const { eventID, ignition } = properties;
  const number = (name: string): number | null => numberOf(properties[name]);
  const timestamp = number('timestamp');
  if (typeof eventID !== 'string' || timestamp === null) return null;
  return {
    eventID,
    timestamp,
    creationTime: number('creationTime') ?? timestamp,
    statusCode: number('statusCode') ?? 0,
    place: placeOf(membersOf(feature['geometry'])),
    speed: number('speed'),
    heading: number('heading'),
    fuelLevel: number('fuelLevel'),
    ignition: typeof ignition === 'boolean' ? ignition : null,
    hdop: number('hdop'),
    satellites: number('satellites'),
  };
}

interface Stretch {
  readonly fromS: number;
  readonly toS: number;
}

function stretchOf(feature: Members): readonly Stretch[] {
  // Of several lines where it crosses 180 degrees.
  if (!/^(Multi)?LineString$/.test(String(membersOf(feature['geometry'])['type']))) return [];
  const { from, to } = membersOf(feature['properties']);
  const fromS = Math.floor(Date.parse(String(from)) / 1000);
  const toS = Math.floor(Date.parse(String(to)) / 1000);
  return Number.isNaN(fromS + toS) ? [] : [{ fromS, toS }];
}

/** @param collection what `exportGeojson` answers. What is no feature of it is left out. */
export function replayTrackOf(collection: unknown): ReplayTrack {
  const { features } = membersOf(collection);
  const all = Array.isArray(features) ? features.map(membersOf) : [];
  const records = all
    .map(recordOf)
    .filter((record) => record !== null)
    .toSorted((one, other) => one.timestamp - other.timestamp);
  const stretches = all.flatMap(stretchOf).toSorted((one, other) => one.fromS - other.fromS);
  const fixes: Fix[] = [];
  let at = 0;
  for (const record of records) {
    const { place, timestamp } = record;
    if (place === null) continue;
    while (at < stretches.length - 1 && (stretches[at]?.toS ?? 0) < timestamp) at += 1;
    const stretch = stretches[at];
    const before = fixes.at(-1);
    const isJoined =
      before !== undefined &&
      stretch !== undefined &&
      stretch.fromS <= before.timestamp &&
      timestamp <= stretch.toS;
    fixes.push({ ...record, place, isJoined });
  }
  return { records, fixes };
}

/** Place of the last item at or before a time; -1 before the first. @param items by time. */
export function lastAt(items: readonly { readonly timestamp: number }[], timeS: number): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((items[middle]?.timestamp ?? Number.POSITIVE_INFINITY) <= timeS) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export interface ReplayMoment {
  /** Null before the first position. */
  readonly place: Place | null;
  /** Degrees from north and km/h, as last reported; null when unknown. */
  readonly heading: number | null;
  readonly speed: number | null;
  /** Fraction of the tanks, as last reported; null when unknown. */
  readonly fuel: number | null;
  readonly ignition: boolean | null;
  /** Time of the last reported position, epoch seconds; 0 before the first. */
  readonly fixS: number;
  /** Nothing is known of this moment: the values are those of `fixS`. */
  readonly isMissing: boolean;
}

function lastValue<K extends 'fuelLevel' | 'ignition'>(
  records: readonly TrackRecord[],
  from: number,
  name: K,
): TrackRecord[K] | null {
  for (let at = from; at >= 0; at -= 1) {
    const value = records[at]?.[name];
    if (value !== null && value !== undefined) return value;
  }
  return null;
}

/** What is known of a moment. @param timeS epoch seconds, with fractions. */
export function momentAt({ records, fixes }: ReplayTrack, timeS: number): ReplayMoment {
  const at = lastAt(fixes, timeS);
  const known = lastAt(records, timeS);
  const fuel = lastValue(records, known, 'fuelLevel');
  const ignition = lastValue(records, known, 'ignition');
  const fix = fixes[at];
  if (fix === undefined)
    return { place: null, heading: null, speed: null, fuel, ignition, fixS: 0, isMissing: true };
  const next = fixes[at + 1];
  const { timestamp, heading, speed } = fix;
  const shown = { heading, speed, fuel, ignition, fixS: timestamp };
  if (next === undefined || !next.isJoined || next.timestamp === timestamp)
    return { ...shown, place: fix.place, isMissing: timeS - timestamp > gapLeastS };
  const share = (timeS - timestamp) / (next.timestamp - timestamp);
  const [longitude, latitude] = fix.place;
  const place: Place = [
    longitude + (next.place[0] - longitude) * share,
    latitude + (next.place[1] - latitude) * share,
  ];
  return { ...shown, place, isMissing: false };
}

/** Reason of a gap: the unit was off, it had no position, or the reason is unknown. */
export type GapReason = 'off' | 'position' | 'unknown';

export interface Gap extends Stretch {
  readonly reason: GapReason;
}

const startedCode = 61456;
/** Position lost, last position, jamming. */
const lostCodes: ReadonlySet<number> = new Set([64807, 61477, 64805]);

export function gapsOf({ records, fixes }: ReplayTrack): readonly Gap[] {
  return fixes.flatMap((fix, index) => {
    const before = fixes[index - 1];
    if (before === undefined || fix.isJoined || fix.timestamp - before.timestamp < gapLeastS) return [];
    const [fromS, toS] = [before.timestamp, fix.timestamp];
    const within = records.filter(({ timestamp }) => timestamp >= fromS && timestamp <= toS);
    const hasStarted = within.some(
      ({ statusCode, timestamp }) => statusCode === startedCode && timestamp > fromS,
    );
    const hasLost = within.some(({ statusCode }) => lostCodes.has(statusCode));
    return [{ fromS, toS, reason: hasStarted ? 'off' : hasLost ? 'position' : 'unknown' }];
  });
}

/** The way as lines; one that arrived late is a line of its own, and a gap ends a line. */
export function linesOf({ fixes }: ReplayTrack): {
  readonly prompt: readonly (readonly Place[])[];
  readonly late: readonly (readonly Place[])[];
} {
  const lines: { readonly isLate: boolean; readonly places: Place[] }[] = [];
  for (const [index, fix] of fixes.entries()) {
    const before = fixes[index - 1];
    const last = lines.at(-1);
    const late = isLate(fix);
    if (before === undefined || !fix.isJoined) lines.push({ isLate: late, places: [fix.place] });
    else if (last?.isLate === late) last.places.push(fix.place);
    else lines.push({ isLate: late, places: [before.place, fix.place] });
  }
  const drawn = lines.filter(({ places }) => places.length > 1);
  return {
    prompt: drawn.filter((line) => !line.isLate).map(({ places }) => places),
    late: drawn.filter((line) => line.isLate).map(({ places }) => places),
  };
}

/** A value; null breaks the line, undefined leaves it as it is. */
type PlotValue = number | null | undefined;

export interface ReplayPlot {
  /** Epoch seconds, ascending, each once. */
  readonly times: readonly number[];
  readonly speeds: readonly PlotValue[];
  /** The part of the speeds that arrived late. */
  readonly lateSpeeds: readonly PlotValue[];
  /** Percent of the tanks. */
  readonly fuels: readonly PlotValue[];
}

export function plotOf(track: ReplayTrack): ReplayPlot {
  const gapEnds = new Map(gapsOf(track).map(({ fromS, toS }) => [toS, fromS]));
  const times: number[] = [];
  const speeds: PlotValue[] = [];
  const lateSpeeds: PlotValue[] = [];
  const fuels: PlotValue[] = [];
  const add = (time: number, values: readonly [PlotValue, PlotValue, PlotValue]): void => {
    times.push(time);
    speeds.push(values[0]);
    lateSpeeds.push(values[1]);
    fuels.push(values[2]);
  };
  /** The last speed, and where it stands. */
  let before: { readonly at: number; readonly speed: number; readonly isLate: boolean } | null = null;
  for (const record of track.records) {
    const { timestamp, place, fuelLevel } = record;
    const last = times.at(-1);
    if (last !== undefined && timestamp <= last) continue;
    const gapFromS = place === null ? undefined : gapEnds.get(timestamp);
    if (gapFromS !== undefined && last !== undefined) {
      add(Math.max(last, gapFromS) + 0.5, [null, null, null]);
      before = null;
    }
    const fuel = fuelLevel === null ? undefined : Math.round(fuelLevel * 1000) / 10;
    if (place === null || record.speed === null) {
      add(timestamp, [undefined, undefined, fuel]);
      continue;
    }
    const { speed } = record;
    const late = isLate(record);
    // The stretch to a record is drawn as that record is: where late and prompt meet, the one before stands in both lines.
    if (before !== null && before.isLate !== late) (late ? lateSpeeds : speeds)[before.at] = before.speed;
    before = { at: times.length, speed, isLate: late };
    add(timestamp, late ? [null, speed, fuel] : [speed, null, fuel]);
  }
  return { times, speeds, lateSpeeds, fuels };
}

/** Stretches with the ignition on. */
export function ignitionOf({ records }: ReplayTrack): readonly Stretch[] {
  const stretches: { fromS: number; toS: number }[] = [];
  let isOn = false;
  for (const { ignition, timestamp } of records) {
    const last = stretches.at(-1);
    if (isOn && last !== undefined) last.toS = timestamp;
    if (ignition === true && !isOn) stretches.push({ fromS: timestamp, toS: timestamp });
    isOn = ignition ?? isOn;
  }
  return stretches;
}

/** Status code of an alarm and of its end. */
const ends: Readonly<Record<number, number>> = {
  4368: 4369,
  4370: 4371,
  61792: 61807,
  63553: 63554,
  63601: 63602,
  63621: 63622,
  63625: 63626,
  63838: 63839,
  64784: 64786,
  64787: 64789,
  64807: 64806,
};

/** Alarms with their end; one whose end is not among the records is a moment. */
export function alarmStretchesOf({ records }: ReplayTrack): readonly Stretch[] {
  return records.flatMap(({ statusCode, timestamp }, index) => {
    if (!matchesKind(statusCode, 'alarms')) return [];
    const end = records.slice(index + 1).find((later) => later.statusCode === ends[statusCode]);
    return [{ fromS: timestamp, toS: end?.timestamp ?? timestamp }];
  });
}

/** Records that are no positions: the stops of "next" and "previous". */
export const occurrencesOf = ({ records }: ReplayTrack): readonly TrackRecord[] =>
  records.filter(({ statusCode }) => matchesKind(statusCode, 'changes'));
