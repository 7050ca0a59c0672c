// Work of which there is one: over random histories of processes that are slow, stop, end without releasing and come back, whose
// clocks share nothing but their pace, never two of those that run hold it at once, and it is never without a holder for long.
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLeases, type Leases, leaseLimits } from '../../broker/cluster/leases.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import type { Database } from '../../src/ports.ts';
import { createBenchClock, createBenchLog, openBenchDatabase } from '../support/broker/broker-bench.ts';

const processes = 3;
const stepMs = 500;

/** A process that may be stopped, and finds later that time has passed; or be killed, and started anew. */
function createProcess(db: Database, offsetMs: number) {
  const entropy = createSeededEntropy(`process ${offsetMs}`);
  let clock = createBenchClock();
  let missedMs = 0;
  let isRunning = true;
  let leases: Leases | null = null;
  const start = (): void => {
    clock = createBenchClock();
    clock.advance(offsetMs);
    [missedMs, isRunning] = [0, true];
    leases = createLeases({ db, clock, entropy, log: createBenchLog(), onCommit: () => () => undefined });
  };
  start();
  return {
    holds: () => isRunning && leases?.holds('notifications') === true,
    pass(ms: number): void {
      if (isRunning && leases !== null) clock.advance(ms);
      else missedMs += ms;
    },
    stop: () => void (isRunning = false),
    goOn(): void {
      isRunning = true;
      if (leases !== null) clock.advance(missedMs);
      missedMs = 0;
    },
    /** Ends without releasing anything: its clock is not moved any more. */
    kill: () => void (leases = null),
    restart(): void {
      if (leases === null) start();
    },
    async close(): Promise<void> {
      const closing = leases?.close();
      for (let at = 0; at < 20; at++) {
        clock.advance(100);
        await turn();
      }
      await closing;
    },
  };
}

const step = fc.record({
  what: fc.constantFrom('pass', 'pass', 'pass', 'stop', 'goOn', 'kill', 'restart'),
  who: fc.nat(processes - 1),
  steps: fc.integer({ min: 1, max: 30 }),
});

async function pass(all: readonly ReturnType<typeof createProcess>[]): Promise<number> {
  for (const one of all) one.pass(stepMs);
  for (let turns = 0; turns < 6; turns++) await turn();
  return all.filter((one) => one.holds()).length;
}

describe('a lease', () => {
  it('is held by one running process, and is never free for longer than its limit', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
        const db = await openBenchDatabase();
        const all = Array.from({ length: processes }, (_, at) => createProcess(db, at * 12_345));
        for (const { what, who, steps: count } of steps) {
          const one = all[who];
          if (what === 'stop') one?.stop();
          else if (what === 'goOn') one?.goOn();
          else if (what === 'kill') one?.kill();
          else if (what === 'restart') one?.restart();
          else for (let at = 0; at < count; at++) expect(await pass(all)).toBeLessThanOrEqual(1);
        }
        for (const one of all) {
          one.goOn();
          one.restart();
        }
        let waitedMs = 0;
        while ((await pass(all)) === 0 && waitedMs < 60_000) waitedMs += stepMs;
        expect(waitedMs).toBeLessThanOrEqual(leaseLimits.silentMs + leaseLimits.beatMs);
        await db.close();
      }),
      { numRuns: 25 },
    );
  });

  it('that was released is taken at the next renewal', async () => {
    const db = await openBenchDatabase();
    const [first, second] = [createProcess(db, 0), createProcess(db, 777)];
    await pass([first]);
    await pass([first, second]);
    expect([first.holds(), second.holds()]).toEqual([true, false]);
    await first.close();
    let waitedMs = 0;
    while ((await pass([second])) === 0 && waitedMs < 60_000) waitedMs += stepMs;
    expect(waitedMs).toBeLessThanOrEqual(leaseLimits.beatMs);
    await second.close();
    await db.close();
  });
});
