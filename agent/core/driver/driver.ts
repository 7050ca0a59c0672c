// Identifies the driver by the key at the reader. It works without a network, and touches no relay and no evidence. Pure.
//
// A key counts as held to the reader until it was not read for `leaveMs`: repeated readings are one, and a second key in the
// field waits. An allowed key makes its driver the driver. After `clearS` of ignition off, by another allowed key, or when the
// key leaves the list, the driver is cleared. An unknown key or a lost reader does not clear it. While the ignition is unknown no
// time runs.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { DriverSettings } from '../../../src/core/settings/driver.ts';
import type { Sensed } from '../evidence/contact.ts';
import type { EventDraft } from '../protection/command-record.ts';
import { isKeyID, maskKey, parseKeyList } from './key-id.ts';
import type { ReaderReading } from './reader-reading.ts';

export const driverLimits = {
  /** A key that was not read for this long was taken away, ms. The slowest reader asks twice a second. */
  leaveMs: 3000,
  /** The same unknown key is reported again after this, ms. */
  unknownAgainMs: 600_000,
  /** Unknown keys that are remembered; further ones within the time above are counted and not reported. */
  unknownMost: 12,
  /** A reader that is lost is reported after this, ms ... */
  lostMs: 60_000,
  /** ... and at most this often. */
  lostAgainMs: 3_600_000,
} as const;

export interface DriverState {
  /** Id of the driver's key; null: not known. */
  readonly id: string | null;
  /** Last approach of the key, monotonic; after a restart the start. */
  readonly identifiedMs: number;
  /** The key at the reader. */
  readonly present: { readonly id: string; readonly seenMs: number } | null;
  /** Unknown keys by the moment of their report, oldest first. */
  readonly unknown: readonly { readonly id: string; readonly reportedMs: number }[];
  /** Unknown keys that were not reported since the last report. */
  readonly suppressed: number;
  readonly reader: ReaderReading | null;
  /** Since when the reader is lost; null while it is not. */
  readonly lostMs: number | null;
  readonly lostReportedMs: number | null;
}

export type DriverInput =
  | { readonly kind: 'key'; readonly id: string }
  | { readonly kind: 'reader'; readonly reading: ReaderReading }
  | { readonly kind: 'time' };

export interface DriverGiven {
  readonly nowMs: number;
  readonly ignition: Sensed;
  readonly settings: DriverSettings;
}

export interface DriverStep {
  readonly state: DriverState;
  readonly events: readonly EventDraft[];
  /** For the log; ids are masked. */
  readonly notes: readonly { readonly event: string; readonly fields: Readonly<Record<string, unknown>> }[];
}

/** @param kept the stored id; anything but an id counts as none. */
export function createDriver(kept: unknown, nowMs: number): DriverState {
  return {
    id: isKeyID(kept) ? kept : null,
    identifiedMs: nowMs,
    present: null,
    unknown: [],
    suppressed: 0,
    reader: null,
    lostMs: null,
    lostReportedMs: null,
  };
}

/** The list as it was parsed last: it changes with the settings only. */
let parsed = { text: '', keys: parseKeyList('') };

/** The allowed keys; empty: every key is. */
export function allowedKeys({ keys: text = '' }: DriverSettings): ReadonlySet<string> {
  if (parsed.text !== text) parsed = { text, keys: parseKeyList(text) };
  return parsed.keys;
}

function isAllowed(id: string, settings: DriverSettings): boolean {
  const keys = allowedKeys(settings);
  return keys.size === 0 || keys.has(id);
}

const unchanged = (state: DriverState): DriverStep => ({ state, events: [], notes: [] });

function cleared(state: DriverState, id: string, reason: 'ignition_off' | 'not_allowed'): DriverStep {
  return {
    state: { ...state, id: null },
    events: [
      { statusCode: statusCodes.DRIVER_CLEARED.code, attributes: { previousDriverUniqueId: id, reason } },
    ],
    notes: [{ event: 'driver_cleared', fields: { key: maskKey(id), reason } }],
  };
}

function identified(state: DriverState, id: string, nowMs: number): DriverStep {
  const next = { ...state, id, identifiedMs: nowMs };
  if (state.id === id) return unchanged(next);
  const before = state.id === null ? {} : { previousDriverUniqueId: state.id };
  return {
    state: next,
    events: [
      { statusCode: statusCodes.DRIVER_IDENTIFIED.code, attributes: { driverUniqueId: id, ...before } },
    ],
    notes: [{ event: 'driver_identified', fields: { key: maskKey(id) } }],
  };
}

function refused(state: DriverState, id: string, nowMs: number): DriverStep {
  const unknown = state.unknown.filter(({ reportedMs }) => nowMs - reportedMs < driverLimits.unknownAgainMs);
  if (unknown.some((one) => one.id === id) || unknown.length >= driverLimits.unknownMost)
    return unchanged({ ...state, unknown, suppressed: state.suppressed + 1 });
  const suppressed = state.suppressed === 0 ? {} : { suppressed: state.suppressed };
  return {
    state: { ...state, unknown: [...unknown, { id, reportedMs: nowMs }], suppressed: 0 },
    events: [{ statusCode: statusCodes.DRIVER_UNKNOWN.code, attributes: { keyUniqueId: id, ...suppressed } }],
    notes: [{ event: 'driver_key_unknown', fields: { key: maskKey(id) } }],
  };
}

function handleKey(state: DriverState, id: string, { nowMs, ignition, settings }: DriverGiven): DriverStep {
  const { present } = state;
  const isResting = present !== null && nowMs - present.seenMs < driverLimits.leaveMs;
  if (isResting && present.id !== id) return unchanged(state);
  const next = { ...state, present: { id, seenMs: nowMs } };
  // A card that stays in its holder names the driver again once the ignition is on.
  const isAwaited = state.id === null && ignition.value === true && isAllowed(id, settings);
  if (isResting && !isAwaited) return unchanged(next);
  return isAllowed(id, settings) ? identified(next, id, nowMs) : refused(next, id, nowMs);
}

function handleReader(state: DriverState, reading: ReaderReading, nowMs: number): DriverStep {
  const isLost = reading.fault === 'port' || reading.fault === 'no_answer';
  return unchanged({ ...state, reader: reading, lostMs: isLost ? (state.lostMs ?? nowMs) : null });
}

/** A reader that was pulled off or died: reported, as a driver may do it. The driver stays. */
function watchReader(state: DriverState, nowMs: number): DriverStep {
  const { lostMs, lostReportedMs, reader } = state;
  if (lostMs === null || nowMs - lostMs < driverLimits.lostMs) return unchanged(state);
  // Once for each loss.
  if (
    lostReportedMs !== null &&
    (lostReportedMs >= lostMs || nowMs - lostReportedMs < driverLimits.lostAgainMs)
  )
    return unchanged(state);
  const attributes = { part: 'driverReader', reason: reader?.fault ?? 'port' };
  return {
    state: { ...state, lostReportedMs: nowMs },
    events: [{ statusCode: statusCodes.INTERNAL_FAILURE.code, attributes }],
    notes: [],
  };
}

function watchDriver(state: DriverState, { nowMs, ignition, settings }: DriverGiven): DriverStep {
  const { id, identifiedMs } = state;
  if (id === null) return unchanged(state);
  if (!isAllowed(id, settings)) return cleared(state, id, 'not_allowed');
  if (ignition.value !== false) return unchanged(state);
  const offMs = nowMs - Math.max(ignition.sinceMs, identifiedMs);
  return offMs >= settings.clearS * 1000 ? cleared(state, id, 'ignition_off') : unchanged(state);
}

/** One step. */
export function stepDriver(state: DriverState, input: DriverInput, given: DriverGiven): DriverStep {
  switch (input.kind) {
    case 'key':
      return isKeyID(input.id) ? handleKey(state, input.id, given) : unchanged(state);
    case 'reader':
      return handleReader(state, input.reading, given.nowMs);
    case 'time': {
      const watched = watchReader(state, given.nowMs);
      const step = watchDriver(watched.state, given);
      return {
        state: step.state,
        events: [...watched.events, ...step.events],
        notes: [...watched.notes, ...step.notes],
      };
    }
  }
}
