// Checks every two seconds whether the sessions behind live streams are valid, and which devices their users' groups show. The
// stream of an ended session, or of one whose rights cannot be read for long, is ended.
import { messageOf } from '../../src/core/errors.ts';
import type { Clock, Database, Log } from '../../src/ports.ts';
import type { Scope } from '../core/accounts/scope.ts';
import { visibleDeviceNos } from '../store/events/events-by-number.ts';
import type { Audience, Audiences, LiveCaller, Reader } from './audiences.ts';

export interface LiveWatchOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly audiences: Audiences;
  /** Takes the devices that a audience may show now. */
  readonly showOnly: (audience: Audience, deviceNos: ReadonlySet<number>) => void;
  /** The caller of a valid session; null once it has ended. Rejects when the sessions cannot be read. */
  readonly callerOf: (tokenHash: string) => Promise<Pick<LiveCaller, 'scope'> | null>;
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

function groupBy<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group === undefined) groups.set(keyOf(one), [one]);
    else group.push(one);
  }
  return groups;
}

async function checkSessions(options: LiveWatchOptions): Promise<void> {
  const groups = groupBy<Reader>(options.audiences.readers(), ({ caller }) => caller.tokenHash);
  for (const [tokenHash, readers] of groups) {
    const caller = await options.callerOf(tokenHash);
    for (const { caller: known, stream } of readers) {
      // A caller whose limit has changed resumes with its new scope.
      if (caller === null || caller.scope.limitedTo !== known.scope.limitedTo) stream.end();
    }
  }
}

async function checkGroups({ db, audiences, showOnly }: LiveWatchOptions): Promise<void> {
  const limited = audiences.all().filter(({ deviceNos }) => deviceNos !== null);
  const groups = groupBy<Audience>(limited, ({ scope }) => `${scope.accountID}/${scope.limitedTo}`);
  for (const group of groups.values()) {
    const [first] = group;
    const fresh = first === undefined ? null : await devicesOf(db, first.scope);
    if (fresh !== null) for (const audience of group) showOnly(audience, fresh);
  }
}

/** @returns one check, to be repeated by the caller; it never rejects. */
export function createLiveWatch(options: LiveWatchOptions): () => Promise<void> {
  const { clock, log, audiences } = options;
  let readableMs = clock.monoMs();
  return async () => {
    try {
      await checkSessions(options);
      await checkGroups(options);
      readableMs = clock.monoMs();
    } catch (thrown) {
      log.error('live_rights_unreadable', { reason: messageOf(thrown) });
      if (clock.monoMs() - readableMs < unreadableMs) return;
      for (const { stream } of audiences.readers()) stream.end();
    }
  };
}
