// Records the ends of connections, and retries when the store fails; else a vehicle that disconnected meanwhile would count as
// connected until it comes back. It must never mark a vehicle as offline that is connected again.
import { messageOf } from '../../src/core/errors.ts';
import type { Cancel, Clock, Log } from '../../src/ports.ts';
import type { DeviceRef } from '../core/device-key.ts';

export interface OfflineRecorderOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Records that the device is offline; records of one device are written in the order of the calls. */
  readonly record: (device: DeviceRef) => Promise<void>;
  /** True when the device has a newer connection. */
  readonly isBack: (device: DeviceRef) => boolean;
}

export interface OfflineRecorder {
  /** The connection of the device has ended and no newer one has taken its place. */
  record(device: DeviceRef): void;
  /** Gives up what waits. */
  close(): void;
}

/** Between two tries of what the store did not take, in ms. */
const restMs = 1000;
/** Tried at a time. */
const concurrentMost = 100;

/** Builds it; it holds each device once at most. */
export function createOfflineRecorder({
  clock,
  log,
  record,
  isBack,
}: OfflineRecorderOptions): OfflineRecorder {
  const waiting = new Map<number, DeviceRef>();
  let cancel: Cancel | null = null;
  let isClosed = false;
  /** False when the store did not take it. */
  const tryToRecord = async (device: DeviceRef): Promise<boolean> => {
    const { deviceNo } = device;
    try {
      if (!isBack(device)) await record(device);
    } catch (thrown) {
      if (!waiting.has(deviceNo)) log.error('offline_not_recorded', { deviceNo, reason: messageOf(thrown) });
      waiting.set(deviceNo, device);
      return false;
    }
    // Not the end of a later connection, which may have come to wait in its place.
    if (waiting.get(deviceNo) === device) waiting.delete(deviceNo);
    return true;
  };
  /** Tries some, and further ones at once while the store accepts them. */
  const retry = async (): Promise<void> => {
    const some = [...waiting.values()].slice(0, concurrentMost);
    const isTaken = (await Promise.all(some.map(tryToRecord))).every(Boolean);
    cancel = null;
    if (waiting.size > 0) schedule(isTaken ? 0 : restMs);
  };
  const schedule = (delayMs: number): void => {
    if (!isClosed) cancel ??= clock.after(delayMs, () => void retry());
  };
  return {
    record: (device) => void tryToRecord(device).then((isTaken) => (isTaken ? undefined : schedule(restMs))),
    close() {
      isClosed = true;
      cancel?.();
    },
  };
}
