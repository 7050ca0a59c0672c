// Memory of the alarms over a restart: active alarms, parking place, people aboard. A few hundred bytes of JSON
// beside the odometer. An unreadable member is left out; parsing never throws.
import type { Point } from '../../../src/core/geo/geo.ts';

/** Alarms with a begin and an end, by short names, because the record is written often. */
const episodeNames = [
  'engine',
  'motion',
  'idle',
  'excess',
  'speeding',
  'tow',
  'cut',
  'supply',
  'backup',
  'lost',
  'jam',
  'antenna',
  'suspect',
  'link',
  'forced',
  'driving',
] as const;
export type EpisodeName = (typeof episodeNames)[number];

export interface AlarmMemory {
  /** Alarms that were reported as active. */
  readonly on: readonly EpisodeName[];
  /** Degrees; null while the ignition is on or the place is not known. */
  readonly parked: readonly [latitude: number, longitude: number] | null;
  readonly people: number | null;
  readonly is24V: boolean;
}

export const emptyAlarmMemory: AlarmMemory = { on: [], parked: null, people: null, is24V: false };

const peopleMost = 10_000;

function isDegrees(value: unknown, most: number): value is number {
  return typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= most;
}

function parkedOf(value: unknown): AlarmMemory['parked'] {
  if (!Array.isArray(value) || value.length !== 2) return null;
  const [latitude, longitude] = value as readonly unknown[];
  return isDegrees(latitude, 90) && isDegrees(longitude, 180) ? [latitude, longitude] : null;
}

/** Reads a record of any origin. Never throws; an invalid member counts as absent. */
export function parseAlarmMemory(value: unknown): AlarmMemory {
  if (typeof value !== 'object' || value === null) return emptyAlarmMemory;
  const { on, parked, people, is24V } = value as Readonly<Record<string, unknown>>;
  const names: readonly unknown[] = Array.isArray(on) ? on : [];
  const isCount =
    typeof people === 'number' && Number.isInteger(people) && people >= 0 && people <= peopleMost;
  return {
    on: episodeNames.filter((name) => names.includes(name)),
    parked: parkedOf(parked),
    people: isCount ? people : null,
    is24V: is24V === true,
  };
}

/** 1e-6 degrees are about 0.1 m. */
export function parkedPlace(at: Point | null): AlarmMemory['parked'] {
  if (at === null) return null;
  const rounded = (degrees: number): number => Math.round(degrees * 1e6) / 1e6;
  return [rounded(at.latitude), rounded(at.longitude)];
}
