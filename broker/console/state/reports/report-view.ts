// Vehicles and period of the reports in the address. Pure.
import { dayS, hourS } from '../../../../src/core/durations.ts';
import type { ReportKind } from '../../../../src/core/reports/columns.ts';
import { type Range, rangeS } from '../vehicle/vehicle-view.ts';

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
