// Rollout by several processes: each sending is claimed in the store, device by device, and the work of a process that ended is
// taken over. Two processes must never send the same to one vehicle.
import type { Clock, Database } from '../../src/ports.ts';
import type { DeviceRef } from '../core/device-key.ts';
import {
  type ConnectedDevice,
  findConnected,
  overdueConfigDevices,
} from '../store/devices/connected-devices.ts';
import { claimSending, type DeviceConfigRow } from '../store/devices/device-configs.ts';

export interface SharingOptions {
  readonly db: Database;
  readonly clock: Clock;
  /** How long what was sent may stay without an answer, in ms. */
  readonly resendMs: number;
}

/** What holds for a vehicle that this process is about to serve. */
export type Turn =
  /** It is to be sent now, and no other process does. */
  | { readonly kind: 'ours' }
  /** Another process has sent, or may: check again after this. */
  | { readonly kind: 'later'; readonly delayMs: number }
  /** It is gone, or said hello anew to another process. */
  | { readonly kind: 'gone' };

export interface RolloutSharing {
  /** The vehicle as it is connected now; null when it is not, or with another boot. */
  connected(device: DeviceRef, boot: string | null): Promise<ConnectedDevice | null>;
  /** Claims the sending. @param row as it was read just now. */
  claim(device: DeviceRef, boot: string, row: DeviceConfigRow): Promise<Turn>;
  /** Some vehicles that no process serves. */
  overdue(): Promise<readonly ConnectedDevice[]>;
}

/** The process that received the hello or wrote the change goes first for this long. */
const ownerFirstMs = 60_000;
const periodMs = 30_000;
const atOnce = 200;

export function createRolloutSharing({ db, clock, resendMs }: SharingOptions): RolloutSharing {
  let readMs = clock.monoMs();
  let afterNo = 0;
  const connected: RolloutSharing['connected'] = async ({ deviceNo }, boot) => {
    const found = await findConnected(db, deviceNo);
    return found !== null && found.boot === boot ? found : null;
  };
  return {
    connected,
    async claim(device, boot, row) {
      const found = await connected(device, boot);
      if (found === null) return { kind: 'gone' };
      const nowMs = Math.round(clock.utcMs());
      const waitsMs = row.sentMs + resendMs - nowMs;
      // What was sent before the hello went to an earlier connection.
      if (row.sentMs >= found.helloMs && waitsMs > 0) return { kind: 'later', delayMs: waitsMs };
      const [claimed] = await db.write([claimSending(device.deviceNo, row, nowMs)]);
      return claimed?.changes === 1 ? { kind: 'ours' } : { kind: 'later', delayMs: resendMs };
    },
    async overdue() {
      if (clock.monoMs() - readMs < periodMs) return [];
      readMs = clock.monoMs();
      const nowMs = Math.round(clock.utcMs());
      const found = await overdueConfigDevices(db, {
        afterNo,
        changedBeforeMs: nowMs - ownerFirstMs,
        sentBeforeMs: nowMs - resendMs,
        limit: atOnce,
      });
      // Rows that do not change must not hide the rest.
      afterNo = found.length < atOnce ? 0 : (found.at(-1)?.device.deviceNo ?? 0);
      return found;
    },
  };
}
