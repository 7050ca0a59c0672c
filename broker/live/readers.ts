// The readers of live streams in this process, and what each may and wants to see. Every message goes through here, so
// that no reader gets what is outside of his scope.
import type { Caller } from '../api/operation.ts';
import type { LiveCommand, LiveEvent } from '../core/live-message.ts';
import type { LiveQueue } from '../core/live-queue.ts';
import type { LiveStream } from './stream.ts';

/** What a reader asked for. */
export interface LiveWishes {
  /** Null: every device that he may see. */
  readonly deviceIDs: ReadonlySet<string> | null;
  /** Status codes of events; null: all that are not routine. */
  readonly codes: ReadonlySet<number> | null;
  /** Whether the present of devices is told too. */
  readonly hasDevices: boolean;
}

export interface Reader {
  readonly caller: Caller;
  readonly wishes: LiveWishes;
  readonly queue: LiveQueue;
  readonly stream: LiveStream;
  /** Devices of the groups that limit him; null: every device of the account. */
  deviceNos: ReadonlySet<number> | null;
  /** The store told him of everything up to this event. */
  startNo: number;
}

interface OfDevice {
  readonly deviceNo: number;
  readonly deviceID: string;
}

const wantsDevice = ({ deviceIDs }: LiveWishes, { deviceID }: OfDevice): boolean =>
  deviceIDs === null || deviceIDs.has(deviceID);

/** What a reader asked for, as a choice of messages. */
export const wants = {
  event: (wishes: LiveWishes, event: LiveEvent): boolean =>
    wantsDevice(wishes, event) && (wishes.codes === null || wishes.codes.has(event.statusCode)),
  device: (wishes: LiveWishes, device: OfDevice): boolean => wishes.hasDevices && wantsDevice(wishes, device),
  command: (wishes: LiveWishes, command: LiveCommand): boolean => wantsDevice(wishes, command),
} as const;

export interface Readers {
  add(reader: Reader): void;
  remove(reader: Reader): void;
  all(): readonly Reader[];
  /** Those of an account who may see the device. */
  of(accountID: string, deviceNo: number): readonly Reader[];
  count(): number;
}

/** Nobody reads. */
export function createReaders(): Readers {
  const byAccount = new Map<string, Set<Reader>>();
  return {
    add(reader) {
      const { accountID } = reader.caller;
      const readers = byAccount.get(accountID) ?? new Set();
      byAccount.set(accountID, readers.add(reader));
    },
    remove(reader) {
      const { accountID } = reader.caller;
      const readers = byAccount.get(accountID);
      readers?.delete(reader);
      if (readers?.size === 0) byAccount.delete(accountID);
    },
    all: () => [...byAccount.values()].flatMap((readers) => [...readers]),
    of(accountID, deviceNo) {
      const readers = byAccount.get(accountID);
      if (readers === undefined) return [];
      return [...readers].filter(({ deviceNos }) => deviceNos === null || deviceNos.has(deviceNo));
    },
    count: () => [...byAccount.values()].reduce((sum, { size }) => sum + size, 0),
  };
}
