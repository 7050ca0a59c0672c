// Sends the notifier's deliveries: claims due ones by a lease, sends them and records the outcome. Delivery is at least
// once: after a crash the lease expires and the same id is sent again. A dead target costs its own deliveries only, and
// an account cannot fill every slot.

import { messageOf } from '../../src/core/errors.ts';
import { retryDelayMs } from '../../src/core/retry-delay.ts';
import type { Clock, Database, Entropy, Log, Statement } from '../../src/ports.ts';
import { limitKeyOf } from '../core/notifications/delivery-targets.ts';
import type { Channel } from '../core/notifications/notification-rules.ts';
import { createPeriodicTask, type PeriodicTask } from '../scheduling/periodic-task.ts';
import {
  contentOf,
  type DueRow,
  dueDeliveries,
  endDelivery,
  expireDeliveries,
  leaseDelivery,
  postponeDelivery,
} from '../store/notifications/deliveries.ts';
import { digestContentOf } from '../store/notifications/digests.ts';
import { removeRegistration } from '../store/notifications/push.ts';
import { sendDelivery } from './delivery-sending.ts';
import type { Senders, Sending, SendMail } from './senders.ts';

export interface DeliveryOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  readonly senders: Senders;
  /** Address of the console, for links in mails; empty: not known. */
  readonly consoleUrl: string;
  /** Sends mails of a feature; absent: they are gone, with the feature. */
  readonly sendMail?: SendMail | undefined;
  /** False while another process holds the sender lease, so that per-target limits stay exact; absent: there is none. */
  readonly isOurs?: () => boolean;
}

export interface Delivery {
  wake(): void;
  /** Sends what is due now and waits for it. */
  runAll(): Promise<void>;
  /** Waits for what is being sent. */
  close(): Promise<void>;
}

/** Concurrent deliveries: of a channel, of one account in it, of one target. Mail goes through few connections. */
const concurrentOf: Readonly<Record<Channel, number>> = { webhook: 32, push: 32, email: 4 };
const concurrentOfAccount: Readonly<Record<Channel, number>> = { webhook: 8, push: 8, email: 3 };
const concurrentOfTarget = 2;
/** Due deliveries looked at for one account and channel (every rule's webhook has its turn), and in all. */
const dueOfAccount = 200;
const dueMost = 1000;
/** Reading many due deliveries is slow: it gets a quarter of the reading thread's time. */
const readRestFactor = 3;

const pollMs = 1000;
/** A wake waits so long for others. */
const gatherMs = 10;
/** After this the attempt counts as lost, with the process that made it; longer than the sender's own time-outs. */
const leaseMs: Readonly<Record<Channel, number>> = { webhook: 20_000, push: 20_000, email: 60_000 };
/** Given up after this, however many or few the attempts: a receiver that is down for hours must still get a panic. */
const deliverWithinMs = 24 * 3600 * 1000;
const backoff = { baseMs: 10_000, capMs: 3_600_000, floorMs: 5000 };

interface DeliveryQueue {
  readonly options: DeliveryOptions;
  readonly running: Map<number, { readonly row: DueRow; readonly done: Promise<void> }>;
  readonly loop: { wake(): void };
}

/** The due rows that have a slot now: a free slot goes to the account that has the fewest. */
function startable(queue: DeliveryQueue, due: readonly DueRow[]): readonly DueRow[] {
  const taken = new Map<string, number>();
  const accountOf = ({ channel, accountID }: DueRow): string => `${channel} ${accountID}`;
  const keysOf = (row: DueRow) =>
    [
      [row.channel, concurrentOf[row.channel]],
      [accountOf(row), concurrentOfAccount[row.channel]],
      [`target ${limitKeyOf(row.channel, row.lane)}`, concurrentOfTarget],
    ] as const;
  const reserve = (row: DueRow): void => {
    for (const [key] of keysOf(row)) taken.set(key, (taken.get(key) ?? 0) + 1);
  };
  for (const { row } of queue.running.values()) reserve(row);
  const turns = due.map((row) => ({ row, turn: row.ofAccount + (taken.get(accountOf(row)) ?? 0) }));
  turns.sort((one, other) => one.turn - other.turn);
  const inTurn = turns.map(({ row }) => row);
  return inTurn.filter((row) => {
    if (queue.running.has(row.deliveryNo)) return false;
    if (keysOf(row).some(([key, most]) => (taken.get(key) ?? 0) >= most)) return false;
    reserve(row);
    return true;
  });
}

/** Result of a failed attempt: a later retry, or the end. `row.attempts` does not count this one. */
function afterFailure(
  queue: DeliveryQueue,
  row: DueRow,
  failed: Extract<Sending, { kind: 'failed' }>,
): readonly Statement[] {
  const nowMs = Math.round(queue.options.clock.utcMs());
  const draw = { attempt: row.attempts, fraction: queue.options.entropy.fraction() };
  const askedMs = Math.min((failed.retryAfterS ?? 0) * 1000, backoff.capMs);
  const nextMs = nowMs + Math.max(retryDelayMs(backoff, draw), askedMs);
  const isOver = nextMs > row.sinceMs + deliverWithinMs;
  if (isOver) return [endDelivery(row.deliveryNo, { state: 'dead', nowMs, fault: failed.fault })];
  return postponeDelivery(row, { nextMs, fault: failed.fault });
}

/** A notice, or the digest of several; null: nothing of it is there any more. */
async function carriedBy(db: Database, { deliveryNo, digestNo }: DueRow) {
  if (digestNo !== null) return digestContentOf(db, deliveryNo);
  const content = await contentOf(db, deliveryNo);
  return content === null ? null : { content, digest: null };
}

async function attempt(queue: DeliveryQueue, row: DueRow): Promise<void> {
  const { db, clock, log, senders, sendMail, consoleUrl } = queue.options;
  const { deliveryNo, accountID, channel } = row;
  const carried = row.isReport ? null : await carriedBy(db, row);
  const content = carried?.content ?? null;
  const outcome: Sending =
    row.isReport && sendMail !== undefined
      ? await sendMail({ db, senders }, deliveryNo)
      : carried === null
        ? { kind: 'gone', fault: 'gone' }
        : await sendDelivery(senders, {
            channel,
            ...carried,
            consoleUrl,
            nowS: Math.floor(clock.utcMs() / 1000),
          });
  const nowMs = Math.round(clock.utcMs());
  if (outcome.kind === 'sent') {
    await db.write([endDelivery(deliveryNo, { state: 'sent', nowMs, fault: '' })]);
    return;
  }
  log.info('delivery_failed', { deliveryNo, accountID, channel, fault: outcome.fault });
  if (outcome.kind === 'failed') {
    await db.write(afterFailure(queue, row, outcome));
    return;
  }
  const end = endDelivery(deliveryNo, { state: 'dead', nowMs, fault: outcome.fault });
  const registrationNo = channel === 'push' ? (content?.push?.registrationNo ?? 0) : 0;
  await db.write(registrationNo === 0 ? [end] : [end, ...removeRegistration(registrationNo, nowMs)]);
}

/** Sends in the background; the slot is free when the outcome is written. */
function begin(queue: DeliveryQueue, row: DueRow): void {
  const done = attempt(queue, row)
    .catch((thrown: unknown) => {
      // Not written: the lease runs out and it is tried again.
      queue.options.log.error('delivery_not_recorded', {
        deliveryNo: row.deliveryNo,
        reason: messageOf(thrown),
      });
    })
    .finally(() => {
      queue.running.delete(row.deliveryNo);
      queue.loop.wake();
    });
  queue.running.set(row.deliveryNo, { row, done });
}

/** Begins what is due. */
async function takeDue(queue: DeliveryQueue): Promise<number> {
  const { db, clock, isOurs } = queue.options;
  if (isOurs?.() === false) return 0;
  const nowMs = Math.round(clock.utcMs());
  const due = await dueDeliveries(db, {
    nowMs,
    perLane: concurrentOfTarget,
    perAccount: dueOfAccount,
    limit: dueMost,
  });
  const expired = due.filter((row) => row.sinceMs < nowMs - deliverWithinMs);
  if (expired.length > 0) {
    await db.write([expireDeliveries(nowMs - deliverWithinMs, nowMs)]);
    return expired.length;
  }
  const rows = startable(queue, due);
  if (rows.length === 0) return 0;
  const leases = rows.map((row) => ({ row, statements: leaseDelivery(row, nowMs + leaseMs[row.channel]) }));
  const results = await db.write(leases.flatMap(({ statements }) => statements));
  const taken: DueRow[] = [];
  let at = 0;
  for (const { row, statements } of leases) {
    if (results[at]?.changes === 1) taken.push(row);
    at += statements.length;
  }
  for (const row of taken) begin(queue, row);
  return taken.length;
}

/** Starts to deliver. */
export function createDelivery(options: DeliveryOptions): Delivery {
  const { clock, log } = options;
  const queue: DeliveryQueue = { options, running: new Map(), loop: { wake: () => loop.wake() } };
  const run = async (): Promise<number> => {
    try {
      if ((await takeDue(queue)) > 0) loop.wake();
    } catch (thrown) {
      log.error('deliveries_unreadable', { reason: messageOf(thrown) });
    }
    return pollMs;
  };
  const loop: PeriodicTask = createPeriodicTask({
    clock,
    firstMs: gatherMs,
    gatherMs,
    pauseFactor: readRestFactor,
    run,
  });
  const drain = async (): Promise<void> => {
    while (queue.running.size > 0) await Promise.all([...queue.running.values()].map(({ done }) => done));
  };
  return {
    wake: () => loop.wake(),
    async runAll() {
      do {
        await loop.runNow();
        await drain();
      } while ((await takeDue(queue)) > 0);
      await drain();
    },
    async close() {
      await loop.close();
      await drain();
    },
  };
}
