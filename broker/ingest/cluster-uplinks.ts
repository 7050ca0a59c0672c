// What becomes of a payload that a cluster handed to us: processed, dropped when its device is gone, or kept in quarantine.
// A cluster cannot be told "no": what is refused comes back for ever, and what is rejected is lost. So this goes on until the
// payload is on disk, as long as somebody wants it. It must never report anything as done that is not.

import { AppError, messageOf } from '../../src/core/errors.ts';
import type { DeviceAddress, UplinkVerb } from '../../src/core/topics.ts';
import { formatDeviceUser } from '../../src/core/topics.ts';
import type { Clock, Log } from '../../src/ports.ts';
import { pause } from '../../src/settle.ts';
import type { MqttServerOptions, Unprocessable } from '../mqtt-server.ts';
import type { DeviceRef } from '../store/devices.ts';
import { isStoreFault } from './store-faults.ts';
import { answered } from './uplink-answer.ts';

export interface ClusterUplinksOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** The device of that name today, or null. */
  readonly find: (device: DeviceAddress) => Promise<DeviceRef | null>;
  readonly onUplink: MqttServerOptions['onUplink'];
  /** Keeps what cannot be processed. */
  readonly onUnprocessable: (device: DeviceRef, message: Unprocessable) => Promise<void>;
  /** True when what this turn says of the device is refused, as a later one has spoken of it. */
  readonly isOver: (device: DeviceRef, turn: number) => Promise<boolean>;
}

export interface Delivered {
  readonly device: DeviceAddress;
  readonly verb: UplinkVerb;
  readonly payload: Uint8Array;
  /** Of what counts in the order of turns only, see `Uplink`. */
  readonly turn?: number;
}

/**
 * `dropped`: its device was deleted. `unwanted`: nothing was done, or nobody knows; it is somebody else's now. `over`: it was
 * refused, as a later turn has spoken of the device.
 */
export type Taken =
  | { readonly kind: 'stored'; readonly device: DeviceRef }
  | { readonly kind: 'dropped' | 'unwanted' | 'over' };

export interface ClusterUplinks {
  /**
   * Resolves once the payload is on disk or need not be. Never rejects.
   * @param isWanted false: it is not ours any more.
   */
  take(delivered: Delivered, isWanted: () => boolean): Promise<Taken>;
}

/** Names whose numbers are remembered: those that were used last. */
const namesMost = 100_000;
/** Between two tries, in ms. */
const restMs = 1000;
/** Tries of a payload that is refused while the store works. */
const triesMost = 3;

/** Numbers of devices by name. A number is never used again, so a wrong one is noticed: its device is gone. */
function createNames(find: ClusterUplinksOptions['find']) {
  const known = new Map<string, DeviceRef>();
  return {
    async find(address: DeviceAddress): Promise<DeviceRef | null> {
      const user = formatDeviceUser(address);
      const held = known.get(user);
      if (held !== undefined) {
        known.delete(user);
        known.set(user, held);
        return held;
      }
      const found = await find(address);
      if (found === null) return null;
      const [oldest] = known.keys();
      if (known.size >= namesMost && oldest !== undefined) known.delete(oldest);
      known.set(user, found);
      return found;
    },
    forget: (address: DeviceAddress): void => void known.delete(formatDeviceUser(address)),
  };
}

const isGone = (thrown: unknown): boolean => thrown instanceof AppError && thrown.code === 'not_found';

/** Builds it over what processes payloads. */
export function createClusterUplinks(options: ClusterUplinksOptions): ClusterUplinks {
  const { clock, log, onUplink, onUnprocessable, isOver } = options;
  const names = createNames(options.find);
  const drop = ({ device, verb }: Delivered, reason: string): Taken => {
    log.warn('payload dropped', { ...device, verb, reason });
    return { kind: 'dropped' };
  };
  return {
    async take(delivered, isWanted) {
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
            await answered((answer) => onUplink(known, message, answer));
            // Asked afterwards: whoever came between has spoken, and what was said before that is said again by him.
            if (turn !== undefined && (await isOver(device, turn))) return { kind: 'over' };
          } else {
            await onUnprocessable(device, { verb, payload, reason });
          }
          return { kind: 'stored', device };
        } catch (thrown) {
          if (isGone(thrown) && device !== null) {
            names.forget(address);
            goneNo = device.deviceNo;
            continue;
          }
          const reason = messageOf(thrown);
          if (!isStoreFault(thrown)) {
            refused = [...refused, reason].slice(-triesMost);
            log.error('payload refused', { ...address, verb, tries: refused.length, reason });
          }
          await pause(clock, restMs);
        }
      }
      return { kind: 'unwanted' };
    },
  };
}
