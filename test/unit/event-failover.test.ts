// A server that was behind takes over while the bridges live on with what they remember: what was acknowledged before and had
// not reached it is gone, and nothing that is acknowledged afterwards is. Memories of the old server must never stand in for
// what the new one has, also not when both histories have gone the same number of steps.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createIngest } from '../../broker/ingest/ingest.ts';
import { createGroupCommit } from '../../broker/scheduling/group-commit.ts';
import { sql } from '../../src/sql.ts';
import {
  addDevice,
  advanceUntilSettled,
  createBenchClock,
  createBenchLog,
  jsonBytes,
  startMs,
} from '../support/broker/broker-bench.ts';
import { openReplayedDatabase } from '../support/database/replayed-database.ts';

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      bridge: fc.nat({ max: 1 }),
      seqs: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 2 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('fail over' as const), behind: fc.integer({ min: 1, max: 3 }) }),
  },
);

test('every event that was acknowledged after the failover to a server that was behind is stored', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
      const clock = createBenchClock();
      const log = createBenchLog();
      const { db, goBack } = await openReplayedDatabase();
      const device = await addDevice(db, 'acme', 'truck-1');
      const bridges = [0, 1].map(() =>
        createIngest({
          db,
          commits: createGroupCommit({ db, clock, log }),
          clock,
          log,
          onCommitted: () => undefined,
        }),
      );
      for (const one of steps) {
        clock.advance(700);
        if (one.kind === 'fail over') {
          await goBack(one.behind);
          continue;
        }
        const eventOf = (seq: number) => ({ seq, timestamp: startMs - 100_000 + seq, statusCode: 61472 });
        const payload = jsonBytes({ boot: 'b1', events: one.seqs.map(eventOf) });
        const outcome = await advanceUntilSettled(
          clock,
          bridges[one.bridge]?.submit(device, payload) ?? expect.fail('no bridge'),
        );
        const rows = await db.read(sql`SELECT seq FROM events WHERE boot = 'b1'`);
        const stored = rows.map(({ seq }) => Number(seq));
        expect(new Set(stored).size).toBe(stored.length);
        if (outcome.kind !== 'stored' || outcome.ack === null) return expect.fail(outcome.kind);
        const upTo = Array.from({ length: outcome.ack.upTo }, (_unused, at) => at + 1);
        expect([...one.seqs, ...upTo].filter((seq) => !stored.includes(seq))).toEqual([]);
      }
      await db.close();
    }),
    { numRuns: Number(process.env['FLEETWARD_TEST_RUNS'] ?? 100) },
  );
});
