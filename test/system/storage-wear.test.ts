// What a record and an hour cost the flash. Counts, never times: bytes written per record on the real files (goal G3 of
// the research), and commits of a whole agent in an hour parked and an hour of driving.
import { describe, expect, it } from 'vitest';
import { requires } from '../support/machine/requires.ts';
import { measureRecordCost } from '../support/storage/storage-cost.ts';
import { startVirtualVehicle } from '../support/virtual/virtual-vehicle.ts';

const { missing } = requires({ commands: ['strace'], debian: ['strace'] });

describe.skipIf(missing !== null)(
  `bytes written per record${missing === null ? '' : ` [${missing}]`}`,
  () => {
    it.each([
      { name: 'an alarm, committed alone', plan: { commits: 600, size: 1, priority: 2 }, most: 2600 },
      { name: 'a position in a window of 6', plan: { commits: 200, size: 6, priority: 3 }, most: 900 },
      { name: 'a position in a window of 25', plan: { commits: 60, size: 25, priority: 3 }, most: 600 },
    ] as const)('$name: at most $most', async ({ name, plan, most }) => {
      const cost = await measureRecordCost(plan);
      console.info(name, cost);
      expect(cost.bytesPerRecord).toBeLessThanOrEqual(most);
      // One for the commit; deletions and checkpoints share theirs over many.
      expect(cost.fsyncsPerCommit).toBeLessThanOrEqual(plan.size === 1 ? 1.1 : 1.5);
    });
  },
);

/** Commits and records of a whole agent within `seconds` after a minute of settling in. */
async function countCommits(isParked: boolean, seconds: number) {
  const counts = { commits: 0, records: 0 };
  const { pass, close } = await startVirtualVehicle({
    seed: 'wear',
    isParked,
    watch: (database) => ({
      ...database,
      write: (batch) => {
        counts.commits += 1;
        counts.records += batch.filter(({ sql }) => /^INSERT INTO p[0-3]/.test(sql)).length;
        return database.write(batch);
      },
    }),
  });
  await pass(60);
  const before = { ...counts };
  await pass(seconds);
  const during = { commits: counts.commits - before.commits, records: counts.records - before.records };
  await close();
  return during;
}

describe('commits, each of them one fsync', () => {
  it('of a parked vehicle: at most one a minute', async () => {
    const hour = await countCommits(true, 3600);
    console.info('an hour parked', hour);
    expect(hour.commits).toBeGreaterThan(0);
    expect(hour.commits).toBeLessThanOrEqual(60);
  });

  it('of a vehicle that drives: at most one for each window of 10 s, and those for changes', async () => {
    const { commits, records } = await countCommits(false, 1800);
    console.info('half an hour of driving', { commits, records });
    expect(commits).toBeLessThanOrEqual(180 + 60);
    expect(records).toBeGreaterThan(100);
  });
});
