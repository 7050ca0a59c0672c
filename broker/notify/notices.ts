// From events to people: decides, delivers and clears away, in the background from `createNotices` to `close`.
import { messageOf } from '../../src/core/errors.ts';
import type { Cancel, Clock, Database, Entropy, Log, News } from '../../src/ports.ts';
import type { Committed } from '../ingest/ingest.ts';
import {
  accountPage,
  biteRows,
  dropOldDeliveries,
  dropOldEpisodes,
  dropOldNotifications,
  dropUpTo,
  firstBeyond,
} from '../store/notification-retention.ts';
import { createDelivery } from './delivery.ts';
import { createNotifier } from './notifier.ts';
import type { Senders } from './senders.ts';
import { createWakeLoop } from './wake-loop.ts';

export interface NoticesOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  readonly senders: Senders;
  onCommitted(listener: (committed: Committed) => void): Cancel;
  onNews(listener: (news: News) => void): Cancel;
  /** False while another process does all of this; absent: there is none. */
  readonly isOurs?: () => boolean;
}

export interface Notices {
  /** Deliveries may be due. */
  wake(): void;
  /** Decides and sends all that is there; for tests. */
  runAll(): Promise<void>;
  /** Clears away what is too old or too much. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

const dayMs = 24 * 3600 * 1000;
const inboxDays = 90;
const deliveryDays = 30;
/** Longer than the longest silence of a rule. */
const episodeDays = 2;
const keptMost = 100_000;
const clearEveryMs = 10 * 60 * 1000;
/** The first clearing does not compete with the start. */
const firstClearMs = 60 * 1000;

/** Repeats a bite until it is not full. */
async function eat(bite: () => Promise<number>): Promise<void> {
  while ((await bite()) >= biteRows);
}

async function clearAccount(db: Database, accountID: string): Promise<void> {
  for (const table of ['notifications', 'deliveries'] as const) {
    const upTo = await firstBeyond(db, { table, accountID, most: keptMost });
    if (upTo === null) continue;
    await eat(async () => (await db.write([dropUpTo({ table, accountID, upTo })]))[0]?.changes ?? 0);
  }
}

async function clearAll(db: Database, nowMs: number): Promise<void> {
  const changesOf = (statements: Parameters<Database['write']>[0]) => async (): Promise<number> =>
    (await db.write(statements))[0]?.changes ?? 0;
  await eat(changesOf(dropOldNotifications(nowMs - inboxDays * dayMs)));
  await eat(changesOf([dropOldDeliveries(nowMs - deliveryDays * dayMs)]));
  await eat(changesOf([dropOldEpisodes(nowMs - episodeDays * dayMs)]));
  let after = '';
  for (;;) {
    const accountIDs = await accountPage(db, after);
    for (const accountID of accountIDs) await clearAccount(db, accountID);
    const last = accountIDs.at(-1);
    if (last === undefined) return;
    after = last;
  }
}

/** Starts it. */
export function createNotices(options: NoticesOptions): Notices {
  const { db, clock, log, senders } = options;
  const delivery = createDelivery(options);
  const notifier = createNotifier({ ...options, onDeliveries: () => delivery.wake() });
  const clear = (): Promise<void> => clearAll(db, Math.round(clock.utcMs()));
  const clearing = createWakeLoop({
    clock,
    everyMs: clearEveryMs,
    gatherMs: firstClearMs,
    run: async () => {
      if (options.isOurs?.() === false) return;
      await clear().catch((thrown: unknown) => {
        log.error('inbox-not-cleared', { reason: messageOf(thrown) });
      });
    },
  });
  return {
    wake: () => delivery.wake(),
    async runAll() {
      await notifier.runAll();
      await delivery.runAll();
    },
    clear,
    async close() {
      // What is being sent ends now, as failed, and is tried again by the next one.
      await senders.close();
      await Promise.all([notifier.close(), delivery.close(), clearing.close()]);
    },
  };
}
