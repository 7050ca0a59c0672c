// Looks every two seconds whether the sessions behind live streams still live, and which devices their users' groups
// show. A reader whose session has ended, or whose rights cannot be read for long, is cut.
import { messageOf } from '../../src/core/errors.ts';
import type { Clock, Database, Log } from '../../src/ports.ts';
import { callerOf } from '../api/caller.ts';
import { resetMessage } from '../core/live-message.ts';
import { visibleDeviceNos } from '../store/events-by-number.ts';
import type { Scope } from '../store/scope.ts';
import type { Reader, Readers } from './readers.ts';

export interface LiveWatchOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly readers: Readers;
}

/** Rights that could not be read for this long count as lost. */
const unreadableMs = 30_000;

/** The devices of the groups that limit a scope; null: every device of the account. */
export async function devicesOf(db: Database, scope: Scope): Promise<ReadonlySet<number> | null> {
  if (scope.limitedTo === null) return null;
  const found = new Set<number>();
  for await (const page of visibleDeviceNos(db, scope)) for (const deviceNo of page) found.add(deviceNo);
  return found;
}

const isSame = (one: ReadonlySet<number>, other: ReadonlySet<number>): boolean =>
  one.size === other.size && [...one].every((deviceNo) => other.has(deviceNo));

function groupBy(readers: readonly Reader[], keyOf: (reader: Reader) => string): Map<string, Reader[]> {
  const groups = new Map<string, Reader[]>();
  for (const reader of readers) {
    const group = groups.get(keyOf(reader));
    if (group === undefined) groups.set(keyOf(reader), [reader]);
    else group.push(reader);
  }
  return groups;
}

async function checkSessions(options: LiveWatchOptions): Promise<void> {
  const groups = groupBy(options.readers.all(), ({ caller }) => caller.tokenHash);
  for (const [tokenHash, readers] of groups) {
    const caller = await callerOf(tokenHash, options);
    for (const { caller: known, stream } of readers) {
      // Who is limited from now on, or no longer, resumes with what he may see now.
      if (caller === null || caller.scope.limitedTo !== known.scope.limitedTo) stream.end();
    }
  }
}

async function checkGroups({ db, readers }: LiveWatchOptions): Promise<void> {
  const limited = readers.all().filter(({ deviceNos }) => deviceNos !== null);
  const groups = groupBy(limited, ({ caller }) => `${caller.accountID}/${caller.userID}`);
  for (const group of groups.values()) {
    const [first] = group;
    const fresh = first === undefined ? null : await devicesOf(db, first.caller.scope);
    if (fresh === null) continue;
    for (const reader of group) {
      if (reader.deviceNos === null || isSame(reader.deviceNos, fresh)) continue;
      reader.deviceNos = fresh;
      reader.queue.offer(null, resetMessage({ reason: 'scope' }));
      reader.stream.wake();
    }
  }
}

/** @returns one look, to be repeated by the caller; it never rejects. */
export function createLiveWatch(options: LiveWatchOptions): () => Promise<void> {
  const { clock, log, readers } = options;
  let readableMs = clock.monoMs();
  return async () => {
    try {
      await checkSessions(options);
      await checkGroups(options);
      readableMs = clock.monoMs();
    } catch (thrown) {
      log.error('live-rights-unread', { reason: messageOf(thrown) });
      if (clock.monoMs() - readableMs < unreadableMs) return;
      for (const { stream } of readers.all()) stream.end();
    }
  };
}
