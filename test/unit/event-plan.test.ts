// Two bridges on one store, which crash, forget and overtake each other: whatever a vehicle sends, in whatever order and
// however often, each event is stored once and reported once, and an acknowledgement claims nothing that is not there.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createIngest } from '../../broker/ingest/ingest.ts';
import { createGroupCommit } from '../../broker/scheduling/group-commit.ts';
import { AppError } from '../../src/core/errors.ts';
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import {
  addDevice,
  advanceUntilSettled,
  createBenchClock,
  createBenchLog,
  jsonBytes,
  openBenchDatabase,
  startMs,
} from '../support/broker/broker-bench.ts';

const payload = fc.record({
  bridge: fc.nat({ max: 1 }),
  device: fc.nat({ max: 1 }),
  boot: fc.constantFrom('b1', 'b2', null),
  seqs: fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 6 }),
});
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .array(payload, { minLength: 1, maxLength: 5 })
      .map((group) => ({ kind: 'send', group }) as const),
  },
  { weight: 1, arbitrary: fc.nat({ max: 1 }).map((bridge) => ({ kind: 'crash', bridge }) as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'fail' } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'remove' } as const) },
);

/** Bare events are distinguished by their time. */
const payloadOf = ({ boot, seqs }: { readonly boot: string | null; readonly seqs: readonly number[] }) => {
  const eventOf = (seq: number) => ({ timestamp: startMs - 100_000 + seq * 1000, statusCode: 61472 });
  return boot === null
    ? jsonBytes(eventOf(seqs[0] ?? 1))
    : jsonBytes({ boot, events: seqs.map((seq) => ({ seq, ...eventOf(seq) })) });
};

test('every event is stored once and every acknowledgement is true over any faults', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      const clock = createBenchClock();
      const log = createBenchLog();
      const real = await openBenchDatabase();
      let failures = 0;
      const db: Database = {
        ...real,
        write(batch) {
          if (failures === 0) return real.write(batch);
          failures -= 1;
          const cause = Object.assign(new Error('disk'), { code: 'SQLITE_IOERR' });
          return Promise.reject(new AppError('storage', 'disk', { cause }));
        },
      };
      const devices = [
        await addDevice(real, 'acme', 'truck-1'),
        await addDevice(real, 'acme', 'truck-2'),
      ] as const;
      const stored: string[] = [];
      const storedNos: number[] = [];
      const open = () =>
        createIngest({
          db,
          commits: createGroupCommit({ db, clock, log }),
          clock,
          log,
          onCommitted: ({ device, boot, fresh, eventNos }) => {
            for (const { seq, timestamp } of fresh)
              stored.push(
                boot === null ? `${device.deviceNo}@${timestamp}` : `${device.deviceNo}/${boot}/${seq}`,
              );
            storedNos.push(...eventNos);
          },
        });
      const bridges = [open(), open()];
      const acked = new Set<string>();
      for (const one of steps) {
        if (one.kind === 'crash') bridges[one.bridge] = open();
        else if (one.kind === 'fail') failures = 3;
        // As retention does: what was removed stays known as stored. Bare events have no number, and stay here.
        else if (one.kind === 'remove')
          await real.write([sql`DELETE FROM events WHERE seq <= 15 AND boot NOT LIKE '@%'`]);
        else {
          const sent = one.group.map(async ({ bridge, device, boot, seqs }) => {
            const to = devices[device] ?? devices[0];
            const outcome = await bridges[bridge]?.submit(to, payloadOf({ boot, seqs })).catch(() => null);
            if (outcome?.kind !== 'stored') return;
            if (boot === null) {
              expect(outcome.ack).toBeNull();
              acked.add(`${to.deviceNo}@${startMs - 100_000 + (seqs[0] ?? 1) * 1000}`);
              return;
            }
            for (const seq of seqs) acked.add(`${to.deviceNo}/${boot}/${seq}`);
            for (let seq = 1; seq <= (outcome.ack?.upTo ?? 0); seq++)
              expect(stored, `up to ${outcome.ack?.upTo}`).toContain(`${to.deviceNo}/${boot}/${seq}`);
          });
          await advanceUntilSettled(clock, Promise.all(sent));
        }
      }
      // Once each, in the order of their numbers within a bridge's commit, and everything acknowledged is among them.
      expect(new Set(stored).size).toBe(stored.length);
      expect(new Set(storedNos).size).toBe(storedNos.length);
      expect([...acked].filter((name) => !stored.includes(name))).toEqual([]);
      const rows = await real.read(sql`SELECT device_no, boot, seq, event_no FROM events`);
      expect(rows.filter((row) => !storedNos.includes(Number(row['event_no'])))).toEqual([]);
      const names = rows.map((row) => [row['device_no'], row['boot'], row['seq']].join('/'));
      expect(new Set(names).size).toBe(names.length);
      // What the store holds of each boot is exactly what was reported.
      const boots = await real.read(sql`SELECT device_no, boot, up_to, range_count FROM boots`);
      for (const row of boots) {
        const prefix = [row['device_no'], row['boot'], ''].join('/');
        const seqs = stored
          .filter((name) => name.startsWith(prefix))
          .map((name) => Number(name.slice(prefix.length)));
        const upTo = Number(row['up_to']);
        expect(seqs.filter((seq) => seq <= upTo)).toHaveLength(upTo);
        expect(seqs).not.toContain(upTo + 1);
        const ranges = await real.read(sql`SELECT first_seq, last_seq FROM stored_ranges
          WHERE device_no = ${row['device_no'] ?? 0} AND boot = ${row['boot'] ?? ''}`);
        expect(ranges).toHaveLength(Number(row['range_count']));
        const beyond = ranges.flatMap(({ first_seq, last_seq }) =>
          Array.from(
            { length: Number(last_seq) - Number(first_seq) + 1 },
            (_unused, at) => Number(first_seq) + at,
          ),
        );
        expect(beyond.sort((a, b) => a - b)).toEqual(seqs.filter((seq) => seq > upTo).sort((a, b) => a - b));
      }
      await real.close();
    }),
    { numRuns: Number(process.env['FLEETWARD_TEST_RUNS'] ?? 60) },
  );
});
