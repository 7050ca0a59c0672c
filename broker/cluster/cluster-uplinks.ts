// Handles a payload that was consumed from the queue of a cluster: processed, dropped when its device was deleted, or kept in
// quarantine. A requeued message comes back for ever and a rejected one is lost, so this retries until the payload is on disk, as
// long as the delivery is ours. It must never report a payload as stored that is not.

import { AppError, messageOf } from '../../src/core/errors.ts';
import type { DeviceAddress, UplinkVerb } from '../../src/core/wire/topics.ts';
import { formatDeviceUser } from '../../src/core/wire/topics.ts';
import type { Clock, Log } from '../../src/ports.ts';
import { pause } from '../../src/timeout.ts';
import { completed } from '../core/completion.ts';
import type { DeviceRef } from '../core/device-key.ts';
import { isStoreFault } from '../core/store-faults.ts';
import type { MqttServerOptions, Unprocessable } from '../ports/mqtt-server.ts';

export interface ClusterUplinksOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** The device of that name today, or null. */
  readonly find: (device: DeviceAddress) => Promise<DeviceRef | null>;
  readonly onUplink: MqttServerOptions['onUplink'];
  /** Keeps what cannot be processed. */
  readonly onUnprocessable: (device: DeviceRef, message: Unprocessable) => Promise<void>;
  /** True when messages of this turn about the device are stale, because a later turn has recorded something. */
  readonly isOver: (device: DeviceRef, turn: number) => Promise<boolean>;
}

export interface Delivered {
  readonly device: DeviceAddress;
  readonly verb: UplinkVerb;
  readonly payload: Uint8Array;
  /** See `Uplink`. */
  readonly turn?: number;
}

/**
 * `dropped`: its device was deleted. `unwanted`: not done, or outcome unknown; another bridge owns it. `over`: refused, because a
 * later turn has recorded something about the device.
 */
export type UplinkOutcome =
  | { readonly kind: 'stored'; readonly device: DeviceRef }
  | { readonly kind: 'dropped' | 'unwanted' | 'over' };

export interface ClusterUplinks {
  /**
   * Resolves once the payload is on disk or need not be. Never rejects.
   * @param isWanted false: the delivery is no longer ours.
   */
  handle(delivered: Delivered, isWanted: () => boolean): Promise<UplinkOutcome>;
}

/** Size of the cache of device numbers (least recently used first out). */
const namesMost = 100_000;
/** Between two tries, in ms. */
const restMs = 1000;
/** Tries of a payload that is refused while the store works. */
const triesMost = 3;

/** Device numbers by name. A number is never used again, so a stale one shows as a deleted device. */
function createNames(find: ClusterUplinksOptions['find']) {
  const known = new Map<string, DeviceRef>();
  /** Questions that are under way: a start brings many events of each device at once. */
  const asked = new Map<string, Promise<DeviceRef | null>>();
  const ask = async (user: string, address: DeviceAddress): Promise<DeviceRef | null> => {
    const found = await find(address);
    if (found === null) return null;
    const [oldest] = known.keys();
    if (known.size >= namesMost && oldest !== undefined) known.delete(oldest);
    known.set(user, found);
    return found;
  };
  return {
    async find(address: DeviceAddress): Promise<DeviceRef | null> {
      const user = formatDeviceUser(address);
      const held = known.get(user);
      if (held !== undefined) {
        known.delete(user);
        known.set(user, held);
        return held;
      }
      const underWay = asked.get(user);
      if (underWay !== undefined) return underWay;
      const asking = ask(user, address);
      asked.set(user, asking);
      const end = (): void => {
        if (asked.get(user) === asking) asked.delete(user);
      };
      asking.then(end, end);
      return asking;
    },
    /** The next question is asked anew: one that is under way may have begun before the device was deleted. */
    forget(address: DeviceAddress): void {
      const user = formatDeviceUser(address);
      known.delete(user);
      asked.delete(user);
    },
  };
}

const isDeleted = (thrown: unknown): boolean => thrown instanceof AppError && thrown.code === 'not_found';

export function createClusterUplinks(options: ClusterUplinksOptions): ClusterUplinks {
  const { clock, log, onUplink, onUnprocessable, isOver } = options;
  const names = createNames(options.find);
  const drop = ({ device, verb }: Delivered, reason: string): UplinkOutcome => {
    log.warn('payload_dropped', { ...device, verb, reason });
    return { kind: 'dropped' };
  };
  return {
    async handle(delivered, isWanted) {
      const { device: address, verb, payload, turn } = delivered;
      let refused: readonly string[] = [];
      let goneNo: number | null = null;
      while (isWanted()) {
        let device: DeviceRef | null = null;
        try {
          device = await names.find(address);
          if (device === null || device.deviceNo === goneNo) return drop(delivered, 'its device was deleted');
          const [reason] = refused.slice(triesMost - 1);
          if (reason === undefined) {
            const known = device;
            const message = { verb, payload, ...(turn === undefined ? {} : { turn }) };
            await completed((completion) => onUplink(known, message, completion));
            // Checked afterwards: a later turn may have written in between, and its bridge repeats what came before.
            if (turn !== undefined && (await isOver(device, turn))) return { kind: 'over' };
          } else {
            await onUnprocessable(device, { verb, payload, reason });
          }
          return { kind: 'stored', device };
        } catch (thrown) {
          if (isDeleted(thrown) && device !== null) {
            names.forget(address);
            goneNo = device.deviceNo;
            continue;
          }
          const reason = messageOf(thrown);
          if (!isStoreFault(thrown)) {
            refused = [...refused, reason].slice(-triesMost);
            log.error('payload_refused', { ...address, verb, tries: refused.length, reason });
          }
          await pause(clock, restMs);
        }
      }
      return { kind: 'unwanted' };
    },
  };
}
