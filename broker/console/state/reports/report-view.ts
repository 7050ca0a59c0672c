// Vehicles and period of the reports in the address. Pure.
import { dateOfNumber, dateText, dayNumberOf } from '../../../../src/core/calendar.ts';
import { dayS, hourS } from '../../../../src/core/durations.ts';
import type { ReportKind } from '../../../../src/core/reports/columns.ts';
import { dateAt, momentOf } from '../../../../src/core/zoned-time.ts';
import { type Range, rangeS } from '../vehicle-view.ts';

/** Vehicles that an address can name. */
export const vehiclesMost = 50;

/** Longest period of trips, stops and sums: of the whole fleet, and of vehicles that are named. The service refuses a longer one. */
const daysMost = { fleet: 31, named: 366 } as const;

/** Kind of event that a report of events begins with: arrival at a zone. */
export const firstCode = 61968;

/** The ids of `a,b`, at most 50; null for what is none. Empty: the whole fleet. */
export function parseVehicles(text: string | undefined): readonly string[] | null {
  if (text === undefined || text === '') return [];
  const ids = [...new Set(text.split(','))];
  return ids.length <= vehiclesMost && ids.every((id) => /^[A-Za-z0-9_-]{1,64}$/.test(id)) ? ids : null;
}

export interface Period {
  /** Epoch seconds. */
  readonly fromS: number;
  /** Epoch seconds; 0: now. */
  readonly toS: number;
}

/** A period that is named ends now; one of dates is as the address has it. */
export function periodOf(range: Range, dates: Partial<Period>, nowS: number): Period {
  const { fromS, toS } = dates;
  if (fromS === undefined || toS === undefined) return { fromS: nowS - rangeS[range], toS: 0 };
  return { fromS: Math.min(fromS, toS), toS: Math.max(fromS, toS) };
}

/** Days of the longest period that can be asked for; null: the period is no longer than that. */
export function tooLong(kind: ReportKind, isFleet: boolean, { fromS, toS }: Period, nowS: number) {
  if (kind !== 'summary' && kind !== 'trips' && kind !== 'stops') return null;
  const days = isFleet ? daysMost.fleet : daysMost.named;
  // Days as the calendar counts them: the clock may be put back within them.
  return (toS === 0 ? nowS : toS) - fromS > days * dayS + hourS ? days : null;
}

/** The first second of a day of `2026-11-20` in a zone; null for what is no date. */
export function startOfDate(text: string, zone: string): number | null {
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (year === '') return null;
  const at = momentOf(zone, { year: Number(year), month: Number(month), day: Number(day) }, 0);
  return at <= 0 ? null : at / 1000;
}

/** The last second of that day. A day of a change of the clock has another length. */
export function endOfDate(text: string, zone: string): number | null {
  const start = startOfDate(text, zone);
  if (start === null) return null;
  const next = dayNumberOf(dateAt(zone, start * 1000)) + 1;
  return momentOf(zone, dateOfNumber(next), 0) / 1000 - 1;
}

/** `2026-11-20` of a moment in a zone. */
export const dateOf = (seconds: number, zone: string): string => dateText(dateAt(zone, seconds * 1000));
