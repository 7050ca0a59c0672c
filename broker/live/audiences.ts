// Audiences: readers of this process with the same scope and selection. A message is built, encoded and held once for all of
// them. Every message passes here, so that no reader gets anything outside of its scope.

import type { Scope } from '../core/accounts/scope.ts';
import {
  createDeviceBatch,
  createMessageBatch,
  type DeviceBatch,
  type LiveMessage,
  type MessageBatch,
} from '../core/live/live-batch.ts';
import type { LiveKind } from '../core/live/live-kinds.ts';
import type { LiveQueue } from '../core/live/live-queue.ts';
import { type Composer, createComposer, keyOf, type LiveSelection } from './selection.ts';
import type { LiveStream } from './stream.ts';

/** The session behind a stream. */
export interface LiveCaller {
  readonly accountID: string;
  readonly userID: string;
  /** SHA-256 of the token, the key of the session. */
  readonly tokenHash: string;
  /** Which devices the caller may see. */
  readonly scope: Scope;
}

export interface Reader {
  readonly caller: LiveCaller;
  readonly queue: LiveQueue;
  readonly stream: LiveStream;
  /** The opening covered everything up to this event. */
  startNo: number;
}

export interface Audience {
  readonly scope: Scope;
  readonly composer: Composer;
  readonly readers: Set<Reader>;
  /** Devices of the groups that limit the scope; null: every device of the account. */
  deviceNos: ReadonlySet<number> | null;
  /** Messages that its readers have not been offered yet. */
  pending: LiveMessage[];
}

/** Device states of one batch: a write that takes a client long holds up no more of them. */
const batchMost = 2000;

/** The messages that wait, as one batch; null when there are none. */
export function drainPending(audience: Audience): MessageBatch | null {
  if (audience.pending.length === 0) return null;
  const batch = createMessageBatch(audience.pending);
  audience.pending = [];
  return batch;
}

/** Device states of one beat in batches. */
export function deviceBatches(beat: number, texts: ReadonlyMap<number, string>): readonly DeviceBatch[] {
  if (texts.size <= batchMost) return texts.size === 0 ? [] : [createDeviceBatch(beat, texts)];
  const all = [...texts];
  return Array.from({ length: Math.ceil(all.length / batchMost) }, (_, at) =>
    createDeviceBatch(beat, new Map(all.slice(at * batchMost, (at + 1) * batchMost))),
  );
}

export interface Audiences {
  /** Adds a reader to the audience of its scope and selection. @param deviceNos what the scope shows now. */
  add(reader: Reader, selection: LiveSelection, deviceNos: ReadonlySet<number> | null): Audience;
  remove(reader: Reader, audience: Audience): void;
  all(): readonly Audience[];
  /** Audiences of an account that show the device, or any device for null. */
  of(accountID: string, deviceNo: number | null): readonly Audience[];
  readers(): readonly Reader[];
  accounts(): readonly string[];
  /** Whether any audience sends this kind. */
  wants(kind: LiveKind): boolean;
  count(): number;
}

const none: readonly Audience[] = [];

const shows = ({ deviceNos }: Audience, deviceNo: number | null): boolean =>
  deviceNos === null || (deviceNo === null ? deviceNos.size > 0 : deviceNos.has(deviceNo));

export function createAudiences(
  onChanged: (audience: Audience, deviceNos: ReadonlySet<number>) => void,
): Audiences {
  const byAccount = new Map<string, Map<string, Audience>>();
  const keys = new WeakMap<Audience, string>();
  const all = (): readonly Audience[] =>
    [...byAccount.values()].flatMap((audiences) => [...audiences.values()]);
  let count = 0;
  return {
    add(reader, selection, deviceNos) {
      const { scope } = reader.caller;
      const key = keyOf(scope, selection);
      const audiences = byAccount.get(scope.accountID) ?? new Map<string, Audience>();
      byAccount.set(scope.accountID, audiences);
      const known = audiences.get(key);
      if (known !== undefined && deviceNos !== null) onChanged(known, deviceNos);
      const audience: Audience = known ?? {
        scope,
        composer: createComposer(scope, selection),
        readers: new Set(),
        deviceNos,
        pending: [],
      };
      keys.set(audience, key);
      audiences.set(key, audience);
      audience.readers.add(reader);
      count += 1;
      return audience;
    },
    remove(reader, audience) {
      if (!audience.readers.delete(reader)) return;
      count -= 1;
      if (audience.readers.size > 0) return;
      const audiences = byAccount.get(audience.scope.accountID);
      audiences?.delete(keys.get(audience) ?? '');
      if (audiences?.size === 0) byAccount.delete(audience.scope.accountID);
    },
    all,
    of(accountID, deviceNo) {
      const audiences = byAccount.get(accountID);
      return audiences === undefined ? none : [...audiences.values()].filter((one) => shows(one, deviceNo));
    },
    readers: () => all().flatMap(({ readers }) => [...readers]),
    accounts: () => [...byAccount.keys()],
    wants: (kind) => all().some(({ composer }) => composer.wants(kind)),
    count: () => count,
  };
}
