// Open streams of share links. Once a second all of them are read in one statement, with the condition under which a share is open:
// a stream gets positions of its own vehicle and nothing else, and ends within that second when its share ends.
import { AppError, messageOf } from '../../../src/core/errors.ts';
import type { Clock, Database, Log } from '../../../src/ports.ts';
import { createDeviceBatch, createMessageBatch } from '../../core/live/live-batch.ts';
import { createLiveQueue, type LiveQueue } from '../../core/live/live-queue.ts';
import { createLiveStream, type LiveStream } from '../../live/stream.ts';
import { answerEnded } from '../../scheduling/per-account-limits.ts';
import { createPeriodicTask } from '../../scheduling/periodic-task.ts';
import { createSlots } from '../../scheduling/slots.ts';
import { listMost } from '../../store/base/fixed-list.ts';
import {
  sharedPositionMessage,
  shareEndMessage,
  shareKeepAlive,
  shareOpening,
} from './core/share-message.ts';
import { type OpenShare, openShares } from './share-statements.ts';

interface ShareStreamsOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}

interface ShareStreams {
  /** Takes a slot and opens a stream, to be read once. @throws AppError `throttled`, `unavailable`. */
  open(share: OpenShare, until: AbortSignal): AsyncIterable<Uint8Array>;
  /** Ends every stream. */
  close(): Promise<void>;
}

/** Open streams of one share, of the shares of one account, and of all. Others have slots of their own. */
export const shareSlotLimits = { token: 20, user: 20, account: 100, process: 500 } as const;

const periodMs = 1000;
/** Shares that cannot be read for this long count as ended. */
const unreadableMs = 30_000;

interface ShareReader {
  readonly tokenHash: string;
  readonly queue: LiveQueue;
  readonly stream: LiveStream;
  /** Time of the position sent last; 0: none was sent. */
  fixMs: number;
}

/** Gives a reader what is new to it; one whose share has ended gets to know that, and ends. */
function offer(reader: ShareReader, share: OpenShare | undefined): void {
  if (share === undefined) {
    reader.queue.offer(createMessageBatch([{ no: null, text: shareEndMessage }]));
    reader.stream.wake();
    return reader.stream.end();
  }
  const { position, deviceNo } = share;
  if (position === null || position.fixMs === reader.fixMs) return;
  reader.fixMs = position.fixMs;
  const texts = new Map([[deviceNo, sharedPositionMessage(position)]]);
  reader.queue.offerDevices(createDeviceBatch(position.fixMs, texts));
  reader.stream.wake();
}

async function readShares(
  { db, clock }: ShareStreamsOptions,
  readers: ReadonlySet<ShareReader>,
): Promise<void> {
  const present = [...readers];
  const hashes = [...new Set(present.map(({ tokenHash }) => tokenHash))];
  for (let start = 0; start < hashes.length; start += listMost) {
    const some = hashes.slice(start, start + listMost);
    const found = await openShares(db, some, Math.floor(clock.utcMs() / 1000));
    const byHash = new Map(found.map((share) => [share.tokenHash, share]));
    for (const reader of present)
      if (some.includes(reader.tokenHash)) offer(reader, byHash.get(reader.tokenHash));
  }
}

/** Reads while streams are open; ends with `close`. */
function createShareStreams(options: ShareStreamsOptions): ShareStreams {
  const { clock, log } = options;
  const slots = createSlots(shareSlotLimits);
  const readers = new Set<ShareReader>();
  let isClosed = false;
  let readableMs = clock.monoMs();
  const run = async (): Promise<number> => {
    try {
      await readShares(options, readers);
      readableMs = clock.monoMs();
      // Only after a read: without it the position that was sent last may not be the newest.
      for (const { queue, stream } of readers) {
        queue.offerComment(shareKeepAlive);
        stream.wake();
      }
    } catch (thrown) {
      log.error('shares_unreadable', { reason: messageOf(thrown) });
      if (clock.monoMs() - readableMs >= unreadableMs) for (const { stream } of readers) stream.end();
    }
    return periodMs;
  };
  const task = createPeriodicTask({ clock, firstMs: periodMs, run });
  return {
    open(share, until) {
      if (isClosed) throw new AppError('unavailable', 'The service is stopping', { retryAfterS: 5 });
      if (until.aborted) throw answerEnded();
      const { accountID, shareID: userID, tokenHash } = share;
      const ended = new AbortController();
      until.addEventListener('abort', () => ended.abort(), { once: true });
      const full = slots.take({ accountID, userID, tokenHash }, ended.signal);
      if (full !== null)
        throw new AppError('throttled', 'This share is open too often at this time', { retryAfterS: 10 });
      const queue = createLiveQueue();
      const { position } = share;
      const opening = (async function* first() {
        yield shareOpening;
        if (position !== null) yield sharedPositionMessage(position);
      })();
      const onEnd = (): void => {
        readers.delete(reader);
        ended.abort();
      };
      const stream = createLiveStream({ queue, opening, onEnd });
      const reader: ShareReader = {
        tokenHash: share.tokenHash,
        queue,
        stream,
        fixMs: position?.fixMs ?? 0,
      };
      readers.add(reader);
      until.addEventListener('abort', stream.end, { once: true });
      return stream;
    },
    async close() {
      isClosed = true;
      for (const { stream } of readers) stream.end();
      await task.close();
    },
  };
}

export const shareStreams = { create: createShareStreams };
