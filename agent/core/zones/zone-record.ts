// State of the geozones over a restart: the zones that the vehicle is in and the borders that it crossed just now, by
// id, and which zones it was compared with. Small: 64 zones with ids of 64 characters fit the 8 KiB of a state row.
import { isName } from '../../../src/core/ids.ts';
import {
  type Cause,
  createZoneWatch,
  type Mark,
  type ZoneWatch,
  zoneWatchLimits,
} from '../../../src/core/zones/zone-watch.ts';

/** `[id, 1 inside or 0 outside, UTC ms or null, latitude and longitude in 1e-5 degrees, cause]`. */
type KeptMark = readonly [string, 0 | 1, number | null, number, number, number];

/** As JSON it is written and read. */
export interface ZoneRecord {
  readonly compared: string | null;
  readonly inside: readonly string[];
  readonly marks: readonly KeptMark[];
}

const causes: readonly Cause[] = ['seen', 'start', 'config'];
const perDegree = 1e5;
/** The length of a fingerprint has no reason to be more. */
const comparedMost = 40;

/** The record of a watch. */
export function recordZones({ compared, inside, marks }: ZoneWatch): ZoneRecord {
  return {
    compared,
    inside,
    marks: marks
      .filter(({ isDrift }) => !isDrift)
      .map(({ id, to, utcMs, latitude, longitude, cause }) => [
        id,
        to === 'inside' ? 1 : 0,
        utcMs,
        Math.round(latitude * perDegree),
        Math.round(longitude * perDegree),
        causes.indexOf(cause),
      ]),
  };
}

const isNameText = (value: unknown): value is string => typeof value === 'string' && isName(value);
const isIn = (value: unknown, low: number, high: number): value is number =>
  Number.isSafeInteger(value) && Number(value) >= low && Number(value) <= high;

function markOf(value: unknown): readonly Mark[] {
  if (!Array.isArray(value)) return [];
  const [id, to, utcMs, latitude, longitude, cause] = value as readonly unknown[];
  const isTime = utcMs === null || isIn(utcMs, 0, Number.MAX_SAFE_INTEGER);
  if (!isNameText(id) || !isIn(to, 0, 1) || !isTime || !isIn(cause, 0, causes.length - 1)) return [];
  if (!isIn(latitude, -90 * perDegree, 90 * perDegree) || !isIn(longitude, -180 * perDegree, 180 * perDegree))
    return [];
  return [
    {
      id,
      to: to === 1 ? 'inside' : 'outside',
      atMs: null,
      utcMs,
      latitude: latitude / perDegree,
      longitude: longitude / perDegree,
      cause: causes[cause] ?? 'config',
      gapMs: null,
      isCarried: true,
      isDrift: false,
    },
  ];
}

const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as readonly unknown[]).slice(0, zoneWatchLimits.tracked) : [];

/**
 * A watch that resumes from the record. Unreadable members are left out; at worst an arrival is reported again,
 * marked as caused by the configuration. Never throws.
 */
export function resumeZones(record: unknown): ZoneWatch {
  if (typeof record !== 'object' || record === null) return createZoneWatch();
  const { compared, inside, marks } = record as Readonly<Record<string, unknown>>;
  const isCompared = typeof compared === 'string' && compared.length <= comparedMost;
  const ids = [...new Set(listOf(inside).filter(isNameText))];
  const known = new Set(ids);
  const byId = new Map(
    listOf(marks)
      .flatMap(markOf)
      .map((mark) => [mark.id, mark]),
  );
  return {
    ...createZoneWatch(),
    inside: ids,
    marks: [...byId.values()].filter(({ id, to }) => known.has(id) === (to === 'outside')),
    compared: isCompared ? compared : null,
  };
}
