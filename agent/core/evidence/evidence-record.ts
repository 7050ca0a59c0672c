// Evidence that survives restarts: the credit of each witness, the last known drive state and place, and the wiring for which all of it is valid. An
// unreadable member counts as never earned; parsing never throws.

import type { Point } from '../../../src/core/geo/geo.ts';
import { type WitnessName, witnessNames } from '../../../src/core/verdict/witness.ts';
import type { Credit, Credits } from './credit.ts';

export type MotionState = 'driving' | 'standing' | 'unknown';

export interface EvidenceRecord {
  /** Identifies the unit, the board, its profile and its wiring. Any change of these voids every credit. */
  readonly wiring: string;
  readonly credits: Credits;
  /** Worst state since the ignition was last on; `standing` only once parked. */
  readonly motion: MotionState;
  /** Witness that showed `motion`, and the UTC time, ms; null: unknown. */
  readonly by: WitnessName | null;
  readonly utcMs: number | null;
  /** Place of the proven standstill with ignition off; null after evidence of movement or of a running engine. */
  readonly parkedAt: Point | null;
}

/** Record of a first start, or after new wiring. */
export function emptyEvidence(wiring: string): EvidenceRecord {
  return { wiring, credits: {}, motion: 'unknown', by: null, utcMs: null, parkedAt: null };
}

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;
const nameOf = (value: unknown): WitnessName | null => witnessNames.find((name) => name === value) ?? null;
const timeOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;

function creditOf(value: unknown): Credit | null {
  if (!isObject(value)) return null;
  const { kind, utcMs, against } = value;
  const by = nameOf(against);
  const known = (['proven', 'stale', 'contradicted'] as const).find((one) => one === kind);
  return by === null || known === undefined ? null : { kind: known, utcMs: timeOf(utcMs), against: by };
}

function creditsOf(value: unknown): Credits {
  const credits: Partial<Record<WitnessName, Credit>> = {};
  if (!isObject(value)) return credits;
  for (const name of witnessNames) {
    const credit = creditOf(value[name]);
    if (credit !== null) credits[name] = credit;
  }
  return credits;
}

function pointOf(value: unknown): Point | null {
  if (!isObject(value)) return null;
  const { latitude, longitude } = value;
  const isDegrees = (angle: unknown, most: number): angle is number =>
    typeof angle === 'number' && Number.isFinite(angle) && Math.abs(angle) <= most;
  return isDegrees(latitude, 90) && isDegrees(longitude, 180) ? { latitude, longitude } : null;
}

/** Reads a record of any origin for this wiring. */
export function parseEvidence(value: unknown, wiring: string): EvidenceRecord {
  const empty = emptyEvidence(wiring);
  if (!isObject(value)) return empty;
  const motion =
    value['motion'] === 'driving' || value['motion'] === 'standing' ? value['motion'] : 'unknown';
  const state = {
    motion,
    by: nameOf(value['by']),
    utcMs: timeOf(value['utcMs']),
    // A record of a drive holds no place, because evidence of movement removes it.
    parkedAt: motion === 'driving' ? null : pointOf(value['parkedAt']),
  } as const;
  return value['wiring'] === wiring
    ? { wiring, credits: creditsOf(value['credits']), ...state }
    : { ...empty, ...state, parkedAt: null };
}

/** 1e-6 degrees are 11 cm. */
export function roundedPlace({ latitude, longitude }: Point): Point {
  const round = (degrees: number): number => Math.round(degrees * 1e6) / 1e6;
  return { latitude: round(latitude), longitude: round(longitude) };
}
