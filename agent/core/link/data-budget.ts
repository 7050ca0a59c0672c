// Monthly data budget and its traffic light. The count is an upper estimate of the billed volume: payload, MQTT, TLS 1.3, TCP and
// IP, in both directions. Pure.
import { dayMs } from '../../../src/core/durations.ts';
import type { LinkSettings } from '../../../src/core/settings/link.ts';

/** Bytes of one exchange beyond its payload. */
export const trafficCost = {
  /** A batch of events: MQTT header with topic 54, TLS 22, TCP/IP 52; its TCP ack 52; PUBACK 78; our `ack` about 230. */
  publish: 490,
  /** A new connection: TCP and TLS 1.3 handshake with certificates, CONNECT, three SUBSCRIBEs, hello and signed welcome. */
  connect: 7500,
  /** A further hello and its signed welcome on an existing link. */
  renewal: 1500,
  /** PINGREQ and PINGRESP with their TCP acks. */
  keepalive: 260,
} as const;

/** Bytes used in a month; survives restarts. */
export interface Traffic {
  /** Months since January 1970, UTC; null: the time was never known. */
  readonly month: number | null;
  readonly bytes: number;
}

export type BudgetLight = 'green' | 'amber' | 'red';

export const noTraffic: Traffic = { month: null, bytes: 0 };

/** Months since January 1970 at a UTC in ms (proleptic Gregorian calendar; Howard Hinnant, "days from civil", inverse). */
export function monthOf(utcMs: number): number {
  const days = Math.floor(utcMs / dayMs) + 719_468;
  const era = Math.floor(days / 146_097);
  const ofEra = days - era * 146_097;
  const year = Math.floor(
    (ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  );
  const ofYear = ofEra - (365 * year + Math.floor(year / 4) - Math.floor(year / 100));
  // 0 is March.
  const marchMonth = Math.floor((5 * ofYear + 2) / 153);
  return (era * 400 + year - 1970) * 12 + marchMonth + 2;
}

/** Counts traffic; a new month begins at zero. While the time is unknown, traffic counts for the last known month. */
export function addTraffic(traffic: Traffic, bytes: number, utcMs: number | null): Traffic {
  const month = utcMs === null ? traffic.month : monthOf(utcMs);
  const isNew = month !== null && traffic.month !== null && month !== traffic.month;
  return { month, bytes: (isNew ? 0 : traffic.bytes) + bytes };
}

/** Green: everything is sent. Amber: fewer positions, no backlog. Red: alarms and commands only. */
export function budgetLightOf(traffic: Traffic, settings: LinkSettings, utcMs: number | null): BudgetLight {
  const mostBytes = settings.monthlyMb * 1_000_000;
  const { bytes } = addTraffic(traffic, 0, utcMs);
  if (mostBytes === 0 || bytes < (mostBytes * settings.amberPercent) / 100) return 'green';
  return bytes < mostBytes ? 'amber' : 'red';
}

/** A record from disk; an empty one if it is damaged. */
export function trafficOf(value: unknown): Traffic {
  if (typeof value !== 'object' || value === null) return noTraffic;
  const { month, bytes } = value as Partial<Record<keyof Traffic, unknown>>;
  const isMonth = month === null || Number.isSafeInteger(month);
  return isMonth && typeof bytes === 'number' && bytes >= 0 && Number.isFinite(bytes)
    ? { month: month as number | null, bytes }
    : noTraffic;
}
