// Who drove, by the key that an event names: positions name none and belong to the driver of the event before. Pure.
import { statusCodes } from '../../../src/core/events/status-codes.ts';

/** What an event says of the driver. */
export interface DriverMark {
  /** Id of the key, as it is stored; null: no driver counts any more. */
  readonly id: string | null;
}

/** The present driver, and when an event last named the key. */
export interface KnownDriver {
  readonly id: string;
  readonly atMs: number;
}

/** Drivers of one trip that are listed. */
export const driversMost = 8;
/** Characters of a key's id; a vehicle sends fewer. */
const idMost = 64;

const member = 'driverUniqueId';

/**
 * What the attributes of an event say of the driver; null: nothing. Most events say nothing, and are not parsed.
 * @param text the attributes as JSON.
 */
export function driverOf(
  { statusCode, text }: { readonly statusCode: number; readonly text: string | null },
  parse: () => Readonly<Record<string, unknown>> | null,
): DriverMark | null {
  if (statusCode === statusCodes.DRIVER_CLEARED.code) return { id: null };
  if (text === null || !text.includes(`"${member}"`)) return null;
  const id = parse()?.[member];
  return typeof id === 'string' && id !== '' && id.length <= idMost ? { id } : null;
}

/** A driver identification expires after this time, so that a trip does not depend on how far before the period a report reads. */
const staleMs = 12 * 3_600_000;

/** Who drives at `nowMs`, after what an event says; null: not known. */
export function laterDriver(
  before: KnownDriver | null,
  said: DriverMark | null,
  nowMs: number,
): KnownDriver | null {
  if (said !== null) return said.id === null ? null : { id: said.id, atMs: nowMs };
  return before !== null && nowMs - before.atMs > staleMs ? null : before;
}

/** The drivers of a way with one more; a way has few. */
export const withDriver = (drivers: readonly string[], driver: KnownDriver | null): readonly string[] =>
  driver === null || drivers.includes(driver.id) || drivers.length >= driversMost
    ? drivers
    : [...drivers, driver.id];
