// What the outbox's tests share: an outbox in a folder of its own on the real SQLite adapter, and records to put in.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Batch } from '../../../agent/outbox/outbox-sending.ts';
import { type Outbox, type OutboxOptions, type OutboxRecord, openOutbox } from '../../../agent/outbox.ts';
import { openSqlite } from '../../../src/adapters/database/sqlite.ts';
import { createSystemClock, createSystemEntropy } from '../../../src/adapters/system.ts';
import type { Priority } from '../../../src/core/events/status-codes.ts';
import type { Clock, Log } from '../../../src/ports.ts';
import { waitUntil } from '../machine/wait-until.ts';

export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silentLog,
};

/** The pauses of the background work are for the bus of a real truck, not for us. */
export const impatientClock: Clock = {
  ...createSystemClock(),
  after(_delayMs, run) {
    const timer = setImmediate(run);
    return () => clearImmediate(timer);
  },
};

/** An empty folder, and how to get rid of it. */
export function createFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-outbox-'));
  return {
    folder,
    path: join(folder, 'outbox.db'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

let boots = 0;

function outboxOptions(path: string, changes: Partial<OutboxOptions> = {}): OutboxOptions {
  const clock = createSystemClock();
  boots += 1;
  return {
    path,
    boot: `boot-${process.pid}-${boots}`,
    bootMonoMs: clock.monoMs(),
    clock,
    entropy: createSystemEntropy(),
    log: silentLog,
    maxBytes: 16 * 1024 * 1024,
    openDatabase: openSqlite,
    ...changes,
  };
}

export function open(path: string, changes: Partial<OutboxOptions> = {}): Promise<Outbox> {
  return openOutbox(outboxOptions(path, changes));
}

const codes = { 0: 63553, 1: 64807, 2: 62465, 3: 61472 } as const;

/** A record as the agent makes it, told apart by `mark`. */
export function record(priority: Priority, mark: number): OutboxRecord {
  return {
    priority,
    event: {
      timestamp: 1_763_683_200_000 + mark * 1000,
      upMs: mark,
      timeQuality: 'gnss',
      statusCode: codes[priority],
      latitude: 43.651_07 + mark / 100_000,
      longitude: -79.347_02,
      altitude: 90,
      speed: 54,
      heading: 181,
      satellites: 9,
      hdop: 0.9,
      odometer: 1200.5,
      inputs: { ignition: true, panic: priority === 0 },
    },
  };
}

/** Everything that is queued, handed out from the beginning; acknowledges nothing. */
export async function drain(outbox: Outbox): Promise<Batch[]> {
  await outbox.rewind();
  const batches: Batch[] = [];
  for (;;) {
    const batch = await outbox.next({ limit: 200, bytes: 60_000 });
    if (batch === null) break;
    batches.push(batch);
  }
  // As they were stored within each class: what was sent first as the newest is the last of the stored.
  const place = (batch: Batch): number => batch.priority * 2 + (batch.isBacklog ? 0 : 1);
  return batches.sort((a, b) => place(a) - place(b));
}

/** The marks of the drained records of a class. */
export function marksOf(batches: readonly Batch[], priority: Priority): number[] {
  return batches
    .filter((batch) => batch.priority === priority)
    .flatMap((batch) =>
      batch.events.filter((event) => event.statusCode === codes[priority]).map((event) => event.upMs ?? -1),
    );
}

/** Waits until the background work is done. */
export async function settle(outbox: Outbox): Promise<void> {
  await waitUntil('the background work of the outbox', async () => (await outbox.stats()).isExact);
}
