// The commit queue when the disk fails: everybody who waits is told at once (a restore must not wait for a disk),
// nothing that matters is given up, and what waits stays bounded.

import { describe, expect, it } from 'vitest';
import { createCommitQueue } from '../../agent/commit-queue.ts';
import { emptyEvidence } from '../../agent/core/evidence/evidence-record.ts';
import { type Commit, type VehicleEvent } from '../../agent/core/kernel/vehicle-events.ts';
import { createCommandRecord } from '../../agent/core/protection/command-record.ts';
import type { Outbox, OutboxRecord } from '../../agent/outbox.ts';
import { emptyMemory } from '../../agent/vehicle-record.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { AppError } from '../../src/core/errors.ts';
import { statusCodes } from '../../src/core/events/status-codes.ts';
import type { SqlValue } from '../../src/ports.ts';
import { createBenchLog } from '../support/broker/broker-bench.ts';

const commitOf = (name: 'LOCATION' | 'IGNITION_ON' | 'PANIC_ON', over: Partial<Commit> = {}): Commit => ({
  kind: 'commit',
  events: [
    {
      event: { timestamp: null, upMs: 1, timeQuality: 'none', statusCode: statusCodes[name].code },
      priority: statusCodes[name].priority,
    },
  ],
  sendByMs: 0,
  record: null,
  memory: emptyMemory,
  rows: {},
  token: null,
  receipts: [],
  ...over,
});

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

function createRig() {
  const clock = createVirtualClock();
  const disk = { isFailing: true, stored: [] as OutboxRecord[], states: [] as SqlValue[] };
  const told: VehicleEvent[] = [];
  const acknowledged: number[] = [];
  const outbox: Pick<Outbox, 'append'> = {
    append: async (records, extra = []) => {
      if (disk.isFailing) throw new AppError('storage', 'no');
      disk.states.push(...extra.map(({ params }) => params[0] ?? null));
      disk.stored.push(...records);
      return [];
    },
  };
  const queue = createCommitQueue({
    outbox: outbox as Outbox,
    clock,
    log: createBenchLog(),
    isIntact: true,
    dispatch: (event) => void told.push(event),
    acknowledge: (receipt) => void acknowledged.push(receipt),
  });
  return { clock, disk, told, acknowledged, queue };
}

const failed = (token: string): VehicleEvent => ({ kind: 'committed', token, durable: false });

describe('while the disk fails', () => {
  it('every waiting caller is notified, also behind the commit that fails and after it failed', async () => {
    const { queue, told } = createRig();
    queue.add(commitOf('LOCATION'));
    queue.add(commitOf('PANIC_ON', { token: 'behind' }));
    await turns();
    queue.add(commitOf('PANIC_ON', { token: 'later' }));
    expect(told).toEqual([failed('behind'), failed('later')]);
  });

  it('nothing is acknowledged, and all of it is once the disk works', async () => {
    const { queue, disk, clock, acknowledged } = createRig();
    queue.add(commitOf('LOCATION', { receipts: [1] }));
    queue.add(commitOf('PANIC_ON', { receipts: [2] }));
    await turns();
    expect(acknowledged).toEqual([]);
    disk.isFailing = false;
    clock.advance(1000);
    await turns();
    expect(acknowledged).toEqual([1, 2]);
    expect(disk.stored).toHaveLength(2);
  });

  it('a panic asks the disk at once, however long the pause has become', async () => {
    const { queue, disk, clock } = createRig();
    queue.add(commitOf('LOCATION'));
    for (let second = 0; second < 300; second += 1) {
      await turns();
      clock.advance(1000);
    }
    await turns();
    disk.isFailing = false;
    queue.add(commitOf('PANIC_ON'));
    await turns();
    expect(disk.stored).toHaveLength(2);
  });

  it('positions are given up first, records, receipts and panics never', async () => {
    const { queue, disk, clock } = createRig();
    queue.add(commitOf('LOCATION'));
    queue.add({ ...commitOf('LOCATION'), events: [], record: createCommandRecord(), receipts: [7] });
    for (let count = 0; count < 3000; count += 1) {
      queue.add(commitOf('LOCATION'));
      if (count % 10 === 0) queue.add(commitOf('IGNITION_ON'));
      if (count % 100 === 0) queue.add(commitOf('PANIC_ON'));
    }
    expect(queue.status().waiting).toBeLessThanOrEqual(2001);
    await turns();
    disk.isFailing = false;
    clock.advance(60_000);
    for (let turn = 0; turn < 3000; turn += 1) await turns();
    const count = (name: 'IGNITION_ON' | 'PANIC_ON'): number =>
      disk.stored.filter(({ event }) => event.statusCode === statusCodes[name].code).length;
    expect(count('PANIC_ON')).toBe(30);
    expect(count('IGNITION_ON')).toBe(300);
  });
});

describe('the state of the vehicle in a commit', () => {
  it('is written only as far as it changed since the last one that the disk took', async () => {
    const { queue, disk, clock } = createRig();
    const memory = { ...emptyMemory, evidence: emptyEvidence('board') };
    queue.add(commitOf('LOCATION', { memory }));
    await turns();
    expect(disk.states).toEqual([]);
    disk.isFailing = false;
    clock.advance(1000);
    await turns();
    expect(disk.states.splice(0)).toEqual(['memory', 'evidence']);
    queue.add(commitOf('LOCATION', { memory: { ...memory, odometerM: 10 } }));
    queue.add(commitOf('LOCATION', { memory: { ...memory, odometerM: 10 } }));
    await turns();
    expect(disk.states.splice(0)).toEqual(['memory']);
    queue.add(
      commitOf('LOCATION', { memory: { ...memory, odometerM: 10, evidence: emptyEvidence('other') } }),
    );
    await turns();
    expect(disk.states).toEqual(['evidence']);
  });
});
