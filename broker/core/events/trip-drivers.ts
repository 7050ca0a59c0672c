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

/** A key on a way, from the first to the last position that it counted for. */
export interface KeyUse {
  readonly id: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The drivers of a way with the one of its next position; a way has few. */
export function withDriver(
  uses: readonly KeyUse[],
  driver: KnownDriver | null,
  nowMs: number,
): readonly KeyUse[] {
  if (driver === null) return uses;
  const { id } = driver;
  if (uses.some((one) => one.id === id))
    return uses.map((one) => (one.id === id ? { ...one, toMs: nowMs } : one));
  return uses.length >= driversMost ? uses : [...uses, { id, fromMs: nowMs, toMs: nowMs }];
}

/** A span of time in which a key belongs to a driver. */
export interface KeyOwner {
  /** As records name it. */
  readonly keyID: string;
  readonly fromMs: number;
  /** No longer part of it; null: still. */
  readonly untilMs: number | null;
  readonly driverID: string;
  readonly displayName: string;
}

/** A driver of a trip; null: the key belonged to no driver then. */
export interface TripDriver {
  readonly driverUniqueId: string;
  readonly driverID: string | null;
  readonly driverDisplayName: string | null;
}

/** The users of the keys, in order: a key that was handed over on the way has two owners. */
export const driversOf = (uses: readonly KeyUse[], owners: readonly KeyOwner[]): readonly TripDriver[] =>
  uses.flatMap(({ id, fromMs, toMs }): readonly TripDriver[] => {
    const own = owners
      .filter(
        (one) => one.keyID === id && one.fromMs <= toMs && (one.untilMs === null || one.untilMs > fromMs),
      )
      .toSorted((one, other) => one.fromMs - other.fromMs);
    if (own.length === 0) return [{ driverUniqueId: id, driverID: null, driverDisplayName: null }];
    return own.map(({ driverID, displayName }) => ({
      driverUniqueId: id,
      driverID,
      driverDisplayName: displayName,
    }));
  });
