// Notifications and alarms: decides, delivers, escalates and cleans up, in the background from `createNotices` to `close`.
import { dayMs } from '../../src/core/durations.ts';
import { messageOf } from '../../src/core/errors.ts';
import type { Cancel, Clock, CommitNotice, Database, Entropy, Log } from '../../src/ports.ts';
import type { Committed } from '../ports/committed.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';
import { dropClosedAlarms, dropClosedBeyond } from '../store/alarms/alarm-upkeep.ts';
import {
  accountPage,
  batchRows,
  dropOldDeliveries,
  dropOldEpisodes,
  dropOldNotifications,
  dropUpTo,
  firstBeyond,
} from '../store/notifications/notification-retention.ts';
import { dropOccurrencesBeyond, dropUnasked } from '../store/notifications/occurrences.ts';
import { createAlarmUpkeep } from './alarm-upkeep.ts';
import { createDelivery } from './delivery.ts';
import { createEscalation } from './escalation.ts';
import { createNotifier } from './notifier.ts';
import { createOccurrenceNotifier } from './occurrence-notifier.ts';
import type { Senders, SendMail } from './senders.ts';

export interface NoticesOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  readonly senders: Senders;
  /** See `DeliveryOptions`. */
  readonly sendMail?: SendMail | undefined;
  /** The time that removals by age go by. */
  readonly aging: { read(): Promise<{ readonly nowMs: number }> };
  /** Address of the console, for links in mails; empty: not known. */
  readonly consoleUrl: string;
  onCommitted(listener: (committed: Committed) => void): Cancel;
  onCommit(listener: (commit: CommitNotice) => void): Cancel;
  /** False while another process does all of this; absent: there is none. */
  readonly isOurs?: () => boolean;
}

export interface Notices {
  /** Deliveries may be due. */
  wake(): void;
  /** Decides and sends all that is there; for tests. */
  runAll(): Promise<void>;
  /** Removes what is too old or too much. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

const inboxDays = 90;
/** Of closed alarms, from their closing. */
const alarmDays = 90;
const deliveryDays = 30;
/** Longer than the longest silence of a rule. */
const episodeDays = 2;
const keptMost = 100_000;
/** Alarms removed by one batch, each with up to some hundred rows of its own. */
const alarmRows = 20;
const clearEveryMs = 10 * 60 * 1000;
/** The first clearing does not compete with the start. */
const firstClearMs = 60 * 1000;

/** Repeats a bite until it is not full. */
async function eat(bite: () => Promise<number>): Promise<void> {
  while ((await bite()) >= batchRows);
}

async function clearAccount(db: Database, accountID: string): Promise<void> {
  for (const table of ['notifications', 'deliveries'] as const) {
    const upTo = await firstBeyond(db, { table, accountID, most: keptMost });
    if (upTo === null) continue;
    await eat(async () => (await db.write([dropUpTo({ table, accountID, upTo })]))[0]?.changes ?? 0);
  }
  const beyond = { accountID, most: keptMost, count: alarmRows };
  while (((await db.write([dropClosedBeyond(beyond)]))[0]?.changes ?? 0) >= alarmRows);
}

/** Occurrences that wait grow only while none can be decided: then the oldest are given up. */
async function clearOccurrences(db: Database, log: Log): Promise<void> {
  let dropped = 0;
  await eat(async () => {
    const [result] = await db.write([dropOccurrencesBeyond(keptMost, batchRows)]);
    dropped += result?.changes ?? 0;
    return result?.changes ?? 0;
  });
  if (dropped > 0) log.error('occurrences_dropped', { dropped, kept: keptMost });
  await eat(async () => (await db.write([dropUnasked(batchRows)]))[0]?.changes ?? 0);
}

async function clearAll(db: Database, nowMs: number): Promise<void> {
  const changesOf = (statements: Parameters<Database['write']>[0]) => async (): Promise<number> =>
    (await db.write(statements))[0]?.changes ?? 0;
  await eat(changesOf(dropOldNotifications(nowMs - inboxDays * dayMs)));
  await eat(changesOf([dropOldDeliveries(nowMs - deliveryDays * dayMs)]));
  await eat(changesOf([dropOldEpisodes(nowMs - episodeDays * dayMs)]));
  const oldAlarms = dropClosedAlarms(nowMs - alarmDays * dayMs, alarmRows);
  while (((await db.write([oldAlarms]))[0]?.changes ?? 0) >= alarmRows);
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
  const onDeliveries = (): void => delivery.wake();
  const alarms = createAlarmUpkeep(options);
  const escalation = createEscalation({ ...options, onDeliveries });
  const occurrences = createOccurrenceNotifier({ ...options, onDeliveries });
  const notifier = createNotifier({ ...options, onDeliveries, onAlarms: () => alarms.wake() });
  const clear = async (): Promise<void> => {
    await clearOccurrences(db, log);
    await clearAll(db, (await options.aging.read()).nowMs);
  };
  const clearing = createPeriodicTask({
    clock,
    firstMs: firstClearMs,
    run: async () => {
      if (options.isOurs?.() !== false) {
        await clear().catch((thrown: unknown) => {
          log.error('inbox_cleanup_failed', { reason: messageOf(thrown) });
        });
      }
      return clearEveryMs;
    },
  });
  return {
    wake: () => delivery.wake(),
    async runAll() {
      await notifier.runAll();
      await occurrences.runAll();
      await alarms.runAll();
      await escalation.runAll();
      await delivery.runAll();
    },
    clear,
    async close() {
      // Deliveries under way fail now, and the next process tries them again.
      await senders.close();
      await Promise.all([
        notifier.close(),
        occurrences.close(),
        alarms.close(),
        escalation.close(),
        delivery.close(),
        clearing.close(),
      ]);
    },
  };
}
