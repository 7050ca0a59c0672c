// Commits in order, one at a time, until the disk accepts them. A failing disk is reported at once and retried for
// ever; the queue meanwhile is bounded, and positions are dropped first. Nothing is sent or acknowledged before it is
// committed.

import { messageOf } from '../src/core/errors.ts';
import { eventFault } from '../src/core/events/event-check.ts';
import type { Cancel, Clock, Log } from '../src/ports.ts';
import { pause } from '../src/timeout.ts';
import { type Commit, type VehicleEvent } from './core/kernel/vehicle-events.ts';
import { putState, trustState } from './outbox/file/outbox-schema.ts';
import type { Outbox } from './outbox.ts';
import { memoryRows, recordKey } from './vehicle-record.ts';

const limits = {
  /** Events that wait for a failing disk at most. */
  events: 2000,
  retryMs: 1000,
  retryMostMs: 30_000,
} as const;

export interface CommitQueue {
  add(commit: Commit): void;
  /** Resolves when all is committed, or at `untilMs` (monotonic). */
  settled(untilMs: number): Promise<void>;
  /** How long the commit in progress has taken; 0 when there is none. */
  hangingMs(): number;
  /** Commits that the disk has taken since the start. */
  committed(): number;
  status(): { readonly waiting: number; readonly failing: string | null };
}

/** Drops the least important events: positions first, then state changes. Never a record, a receipt, or class 0. */
function shed(waiting: Commit[], log: Log): void {
  const isSpare = (commit: Commit, least: number): boolean =>
    commit.record === null &&
    commit.token === null &&
    commit.receipts.length === 0 &&
    commit.events.every(({ priority }) => priority >= least);
  let count = waiting.reduce((sum, commit) => sum + commit.events.length, 0);
  for (const least of [3, 2, 1]) {
    while (count > limits.events) {
      const at = waiting.findIndex((commit, index) => index > 0 && isSpare(commit, least));
      const lost = at > 0 ? waiting.splice(at, 1)[0] : undefined;
      if (lost === undefined) break;
      count -= lost.events.length;
      log.error('events_discarded', {
        reason: 'the disk does not take them',
        events: lost.events.length,
        least,
      });
    }
  }
}

/** The tokens of all that waits, each taken once. */
function removeTokens(waiting: Commit[]): readonly string[] {
  const tokens: string[] = [];
  for (const [index, commit] of waiting.entries()) {
    if (commit.token === null) continue;
    tokens.push(commit.token);
    waiting[index] = { ...commit, token: null };
  }
  return tokens;
}

/** The outbox refuses values outside their range; one such event must not hold up all others for ever. */
function soundEvents(commit: Commit, log: Log): Commit['events'] {
  return commit.events.filter(({ event }) => {
    const fault = eventFault({ ...event, seq: 1 });
    if (fault !== null)
      log.error('events_discarded', { reason: fault, events: 1, statusCode: event.statusCode });
    return fault === null;
  });
}

/** A pause that can be ended early. */
function createPause(clock: Clock) {
  let end: () => void = () => undefined;
  return {
    pause: (ms: number): Promise<void> =>
      new Promise((resolve) => {
        const cancel: Cancel = clock.after(ms, resolve);
        end = () => {
          cancel();
          resolve();
        };
      }),
    end: (): void => end(),
  };
}

interface StoreOptions {
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly isIntact: boolean;
}

/** Writes one commit: its events, and of the records only what changed. */
function createStore({ outbox, clock, isIntact }: StoreOptions) {
  let isTrusted = isIntact;
  /** Rows of memory and modules as they were written last, by key. */
  const stored = new Map<string, unknown>();
  let startedMs: number | null = null;
  /** Gives the numbers of its events. */
  const store = async (commit: Commit): Promise<readonly number[]> => {
    startedMs = clock.monoMs();
    try {
      const rows = [...memoryRows(commit.memory), ...Object.entries(commit.rows)].filter(
        ([key, value]) => stored.get(key) !== value,
      );
      const statements = [
        ...rows.map(([key, row]) => putState(key, typeof row === 'string' ? row : JSON.stringify(row))),
        ...(commit.record === null ? [] : [putState(recordKey, JSON.stringify(commit.record))]),
      ];
      // After a loss the state counts as unknown until a record made from the board's readings is on disk.
      if (commit.record !== null && !isTrusted) statements.push(trustState());
      const events = await outbox.append(commit.events, statements);
      isTrusted ||= commit.record !== null;
      for (const [key, row] of rows) stored.set(key, row);
      return events.map(({ seq }) => seq);
    } finally {
      startedMs = null;
    }
  };
  return { store, hangingMs: (): number => (startedMs === null ? 0 : clock.monoMs() - startedMs) };
}

export function createCommitQueue(options: {
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Log;
  /** False when the state was lost at the start. */
  readonly isIntact: boolean;
  dispatch(event: VehicleEvent): void;
  acknowledge(receipt: number): void;
}): CommitQueue {
  const { clock, log, dispatch } = options;
  const waiting: Commit[] = [];
  let running = false;
  let failing: string | null = null;
  let committed = 0;
  const retry = createPause(clock);

  const { store, hangingMs } = createStore(options);

  /** Reports a failing disk to all waiting commits: a restore must not wait for it. */
  const reportFailure = (): void => {
    for (const token of removeTokens(waiting)) dispatch({ kind: 'committed', token, durable: false });
  };

  const run = async (): Promise<void> => {
    if (running) return;
    running = true;
    let retryMs: number = limits.retryMs;
    for (let commit = waiting[0]; commit !== undefined; commit = waiting[0]) {
      let seqs: readonly number[];
      try {
        seqs = await store(commit);
      } catch (thrown) {
        if (failing === null) log.error('commit_failed', { reason: messageOf(thrown) });
        failing = messageOf(thrown);
        reportFailure();
        await retry.pause(retryMs);
        retryMs = Math.min(limits.retryMostMs, retryMs * 2);
        continue;
      }
      if (failing !== null) log.info('commits_recovered');
      failing = null;
      committed += 1;
      retryMs = limits.retryMs;
      waiting.shift();
      for (const receipt of commit.receipts) options.acknowledge(receipt);
      if (commit.events.length > 0)
        dispatch({ kind: 'delivery', input: { kind: 'stored', dueMs: commit.sendByMs } });
      if (commit.token !== null) dispatch({ kind: 'committed', token: commit.token, durable: true, seqs });
    }
    running = false;
  };

  return {
    add(commit) {
      const events = soundEvents(commit, log);
      waiting.push({ ...commit, events });
      shed(waiting, log);
      if (failing !== null) {
        if (commit.token !== null) reportFailure();
        // Not before the disk is asked once more: it may have come back since.
        if (events.some(({ priority }) => priority === 0)) retry.end();
      }
      void run();
    },
    async settled(untilMs) {
      while (waiting.length > 0 && clock.monoMs() < untilMs) await pause(clock, 10);
    },
    hangingMs,
    committed: () => committed,
    status: () => ({ waiting: waiting.length, failing }),
  };
}
