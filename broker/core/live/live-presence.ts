// Device states between two beats of the live stream: of many reports the newest by event time, whatever the order of
// arrival. Pure. A late report must never move a vehicle back.
import type { Position, Projection, Reading } from '../events/projection.ts';

export interface Presence {
  readonly accountID: string;
  readonly deviceNo: number;
  readonly deviceID: string;
  /** Broker's time of the last sign of life. */
  readonly heartbeatMs: number;
  /** Null when it did not change. */
  readonly position: Position | null;
  readonly fuel: Reading | null;
}

/** What was just stored of one device. */
export interface PresenceChange {
  readonly accountID: string;
  readonly deviceNo: number;
  readonly deviceID: string;
  readonly receivedMs: number;
  readonly projection: Pick<Projection, 'position' | 'fuel'>;
}

export interface PresenceBoard {
  record(change: PresenceChange): void;
  /** What came since the last call, one entry a device. */
  drain(): readonly Presence[];
}

/** Devices whose newest report is remembered; the one longest silent goes first. */
const rememberedMost = 100_000;
/** A time further ahead of the broker's clock was a fault of the device's clock, as for the stored present, in ms. */
const aheadMostMs = 300_000;
/** A position of a time still further ahead moves no vehicle that is shown. */
const usableMs = 86_400_000;

interface Timed {
  readonly ms: number;
  readonly tie: string;
}

function isNewer(fresh: Timed, known: Timed | null, latestMs: number): boolean {
  if (known === null) return true;
  // What a clock that ran ahead left behind yields to an older time.
  if (known.ms > latestMs && fresh.ms <= latestMs) return true;
  return fresh.ms > known.ms || (fresh.ms === known.ms && fresh.tie > known.tie);
}

interface Newest {
  readonly position: Timed | null;
  readonly fuel: Timed | null;
}

const nothing: Newest = { position: null, fuel: null };

/** An empty board. */
export function createPresenceBoard(): PresenceBoard {
  const newest = new Map<number, Newest>();
  const waiting = new Map<number, Presence>();

  const remember = (deviceNo: number, moments: Newest): void => {
    newest.delete(deviceNo);
    newest.set(deviceNo, moments);
    if (newest.size <= rememberedMost) return;
    const oldest = newest.keys().next().value;
    if (oldest !== undefined) newest.delete(oldest);
  };

  return {
    record({ accountID, deviceNo, deviceID, receivedMs, projection }) {
      const known = newest.get(deviceNo) ?? nothing;
      const latestMs = receivedMs + aheadMostMs;
      const take = <T extends Timed>(fresh: T | null, old: Timed | null): T | null =>
        fresh !== null && isNewer(fresh, old, latestMs) ? fresh : null;
      const isUsable = (projection.position?.ms ?? 0) <= receivedMs + usableMs;
      const position = isUsable ? take(projection.position, known.position) : null;
      const fuel = take(projection.fuel, known.fuel);
      const before = waiting.get(deviceNo);
      waiting.set(deviceNo, {
        accountID,
        deviceNo,
        deviceID,
        heartbeatMs: Math.max(receivedMs, before?.heartbeatMs ?? 0),
        position: position ?? before?.position ?? null,
        fuel: fuel ?? before?.fuel ?? null,
      });
      const momentOf = ({ ms, tie }: Timed): Timed => ({ ms, tie });
      remember(deviceNo, {
        position: position === null ? known.position : momentOf(position),
        fuel: fuel === null ? known.fuel : momentOf(fuel),
      });
    },
    drain() {
      const drained = [...waiting.values()];
      waiting.clear();
      return drained;
    },
  };
}
