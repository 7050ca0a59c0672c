// The commit queue on a real outbox whose disk fails for a while: whoever waits for a commit is told at once that it is
// not durable, nothing is taken for stored that is not, and all of it is stored in order once the disk works.

import { expect, it, onTestFinished } from 'vitest';
import { createCommitQueue } from '../../agent/commit-queue.ts';
import { type Commit, type VehicleEvent } from '../../agent/core/kernel/vehicle-events.ts';
import { createCommandRecord } from '../../agent/core/protection/command-record.ts';
import { emptyMemory, readVehicleRecord } from '../../agent/vehicle-record.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { openSqlite } from '../../src/adapters/database/sqlite.ts';
import { AppError } from '../../src/core/errors.ts';
import { statusCodes } from '../../src/core/events/status-codes.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { createFolder, drain, open, silentLog } from '../support/storage/outbox-bench.ts';

const panicWith = (counter: number): Commit => ({
  kind: 'commit',
  events: [
    {
      event: { timestamp: null, upMs: counter, timeQuality: 'none', statusCode: statusCodes.PANIC_ON.code },
      priority: 0,
    },
  ],
  sendByMs: 0,
  record: { ...createCommandRecord(), counter },
  memory: emptyMemory,
  rows: { jobs: [`job-${counter}`] },
  token: `order-${counter}`,
  receipts: [counter],
});

it.each(['SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_IOERR_FSYNC', 'SQLITE_READONLY'])(
  'while every write ends with %s',
  async (code) => {
    const place = createFolder();
    onTestFinished(() => place.remove());
    const disk = { isFailing: false };
    const clock = createVirtualClock();
    const outbox = await open(place.path, {
      openDatabase: (file) => {
        const database = openSqlite(file);
        return {
          ...database,
          write: (batch) =>
            disk.isFailing
              ? Promise.reject(
                  new AppError('storage', code, { cause: Object.assign(new Error(code), { code }) }),
                )
              : database.write(batch),
        };
      },
    });
    const told: VehicleEvent[] = [];
    const receipts: number[] = [];
    const queue = createCommitQueue({
      outbox,
      clock,
      log: silentLog,
      isIntact: true,
      dispatch: (event) => void told.push(event),
      acknowledge: (receipt) => void receipts.push(receipt),
    });
    const answers = (): readonly string[] =>
      told.flatMap((event) => (event.kind === 'committed' ? [`${event.token} ${event.durable}`] : []));

    queue.add(panicWith(1));
    await waitUntil('the first commit', () => answers().length === 1 && receipts.length === 1);
    disk.isFailing = true;
    queue.add(panicWith(2));
    queue.add(panicWith(3));
    await waitUntil('an answer to each commit', () => answers().length >= 3);
    expect(answers()).toEqual(['order-1 true', 'order-2 false', 'order-3 false']);
    expect(receipts).toEqual([1]);
    expect(queue.status().failing).not.toBeNull();

    disk.isFailing = false;
    await waitUntil('an empty queue', () => {
      if (queue.status().waiting === 0) return true;
      clock.advance(60_000);
      return false;
    });
    // Told once and for all that it was not durable; the machine has asked anew or given up since.
    expect(answers()).toHaveLength(3);
    expect(receipts).toEqual([1, 2, 3]);
    expect(queue.status()).toEqual({ waiting: 0, failing: null });
    await outbox.close();

    const after = await open(place.path);
    expect((await drain(after)).flatMap(({ events }) => events.map(({ upMs }) => upMs))).toEqual([1, 2, 3]);
    const { record, rows } = await readVehicleRecord(after);
    expect([record.counter, rows['jobs']]).toEqual([3, ['job-3']]);
    await after.close();
  },
);
