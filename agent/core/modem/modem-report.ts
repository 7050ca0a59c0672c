// Which facts of modem and SIM go with a position or a heartbeat, as its attributes: each when it has changed by more than its dead band, or after a
// day, and at most one set in ten minutes. What is not known is left out. Pure.
import type { AttributeValue } from '../../../src/core/events/event.ts';
import type { ModemReading } from './modem-reading.ts';

export const modemReportLimits = {
  /** Between two sets of attributes, ms. */
  everyMs: 600_000,
  /** A value that does not change is sent again after this long. */
  againMs: 86_400_000,
  /** Least changes that are sent: percent, and MB. */
  signal: 20,
  modemMb: 10,
} as const;

/** What was sent of each attribute, and when, monotonic ms. */
export interface ModemReportState {
  readonly sent: Readonly<Record<string, { readonly value: AttributeValue; readonly atMs: number }>>;
  readonly sentMs: number;
}

export const createModemReport = (): ModemReportState => ({ sent: {}, sentMs: Number.NEGATIVE_INFINITY });

type Attributes = Record<string, string | number | boolean>;

/** The known values under their names; `operator`, `roaming` and `iccid` are those of Traccar. */
function attributesOf({ operator, isRoaming, iccid, signal, technology, bytes }: ModemReading): Attributes {
  return {
    ...(operator === null ? {} : { operator }),
    ...(isRoaming === null ? {} : { roaming: isRoaming }),
    ...(iccid === null ? {} : { iccid }),
    ...(signal === null ? {} : { signal }),
    ...(technology === null ? {} : { technology }),
    ...(bytes === null ? {} : { modemMb: Math.round(bytes / 100_000) / 10 }),
  };
}

function isChanged(name: string, value: AttributeValue, before: AttributeValue): boolean {
  if (typeof value !== 'number' || typeof before !== 'number') return value !== before;
  return (
    Math.abs(value - before) >= (name === 'signal' ? modemReportLimits.signal : modemReportLimits.modemMb)
  );
}

/**
 * The attributes of the next position or heartbeat.
 * @returns null when there is nothing to send.
 */
export function stepModemReport(
  state: ModemReportState,
  reading: ModemReading,
  nowMs: number,
): { readonly state: ModemReportState; readonly attributes: Readonly<Attributes> } | null {
  const { everyMs, againMs } = modemReportLimits;
  if (nowMs - state.sentMs < everyMs) return null;
  const due = Object.entries(attributesOf(reading)).filter(([name, value]) => {
    const before = state.sent[name];
    return before === undefined || nowMs - before.atMs >= againMs || isChanged(name, value, before.value);
  });
  if (due.length === 0) return null;
  const sent = { ...state.sent };
  for (const [name, value] of due) sent[name] = { value, atMs: nowMs };
  return { state: { sent, sentMs: nowMs }, attributes: Object.fromEntries(due) };
}
