// A question "who was here?" as its form and its address have it. Pure.
import { dayMs, hourS, minuteMs } from '../../../../src/core/durations.ts';
import type { Point } from '../../../../src/core/geo/geo.ts';
import { momentOf, wallMs } from '../../../../src/core/zoned-time.ts';
import { dateOf } from '../reports/report-dates.ts';
import { parsePoint } from '../zones/zone-address.ts';

export const radiusChoices = [50, 100, 200, 500, 1000, 2000, 5000] as const;
export const minuteChoices = [15, 60, 240, 720, 1440] as const;

export interface VisitQuestion {
  readonly place: Point;
  readonly radiusM: number;
  /** Epoch seconds, both ends included. */
  readonly fromS: number;
  readonly toS: number;
}

interface VisitMembers {
  readonly place?: string | undefined;
  readonly radius?: number | undefined;
  readonly from?: number | undefined;
  readonly minutes?: number | undefined;
}

/** What counts for members that the address does not have: the hour before this quarter of an hour. */
export const visitMembers = ({ radius, from, minutes }: VisitMembers, nowS: number) => ({
  radius: radius ?? 200,
  from: from ?? Math.floor(nowS / 900) * 900 - hourS,
  minutes: minutes ?? 60,
});

/** Null while the address names no place or no time. */
export function questionOf(members: VisitMembers): VisitQuestion | null {
  const place = parsePoint(members.place ?? '');
  if (place === null || members.from === undefined) return null;
  const { radius, from, minutes } = visitMembers(members, 0);
  return { place, radiusM: radius, fromS: from, toS: from + minutes * 60 - 1 };
}

/** The choices, with a further one that the address has. */
export const withChosen = (choices: readonly number[], chosen: number): readonly number[] =>
  choices.includes(chosen) ? choices : [...choices, chosen].toSorted((one, other) => one - other);

/** Day and time of day of a moment in a zone, as fields of a form have them. */
export function clockOf(seconds: number, zone: string): { readonly date: string; readonly time: string } {
  const minute = Math.floor((wallMs(zone, seconds * 1000) % dayMs) / minuteMs);
  const digits = (value: number): string => String(value).padStart(2, '0');
  return { date: dateOf(seconds, zone), time: `${digits(Math.floor(minute / 60))}:${digits(minute % 60)}` };
}

/** The moment of such fields in a zone, epoch seconds; null for what is none. */
export function momentOfFields(date: string, time: string, zone: string): number | null {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(date) ?? [];
  const [, hour, minute] = /^(\d{2}):(\d{2})/.exec(time) ?? [];
  if (day === undefined || minute === undefined) return null;
  const calendar = { year: Number(year), month: Number(month), day: Number(day) };
  const at = momentOf(zone, calendar, Number(hour) * 60 + Number(minute));
  return at > 0 ? at / 1000 : null;
}
