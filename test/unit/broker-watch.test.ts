// When the broker counts as alive and when as ready: an orchestrator restarts what is not the one, and gives no work to
// what is not the other. A database that is gone must end nothing: the broker recovers alone.
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createReadiness } from '../../broker/upkeep/readiness.ts';
import { type ListenerProbe, startWatchdog } from '../../broker/upkeep/watchdog.ts';
import { advanceUntilSettled, createBenchClock, createBenchLog } from '../support/broker/broker-bench.ts';

function createWatched() {
  const clock = createBenchClock();
  const log = createBenchLog();
  const said = { alive: 0, status: '' };
  const state = { hangingMs: 0, isAlive: true };
  const listener: ListenerProbe = { name: 'mqtt', isAlive: async () => state.isAlive };
  const stop = startWatchdog({
    clock,
    log,
    supervisor: {
      ready: () => undefined,
      stopping: () => undefined,
      alive: () => void (said.alive += 1),
      status: (text) => void (said.status = text),
    },
    watchdogMs: 30_000,
    hangingMs: () => state.hangingMs,
    listeners: () => [listener],
    status: () => 'all is well',
  });
  const pass = async (ms: number): Promise<number> => {
    const before = said.alive;
    for (let passed = 0; passed < ms; passed += 1000) {
      clock.advance(1000);
      await turn();
      await turn();
    }
    return said.alive - before;
  };
  return { said, state, log, pass, stop };
}

it('feeds the watchdog three times within what the service manager waits', async () => {
  const { pass, said } = createWatched();
  expect(await pass(30_000)).toBeGreaterThanOrEqual(3);
  expect(said.status).toBe('all is well');
});

it('stops feeding while a write hangs, logs the reason, and continues when it went through', async () => {
  const { pass, state, said, log } = createWatched();
  await pass(10_000);
  state.hangingMs = 31_000;
  expect(await pass(60_000)).toBe(0);
  expect(said.status).toContain('a write hangs for 31 s');
  expect(log.lines.some(({ event }) => event === 'watchdog_not_notified')).toBe(true);
  state.hangingMs = 0;
  expect(await pass(20_000)).toBeGreaterThan(0);
});

it('stops feeding while a listener takes no connection', async () => {
  const { pass, state, said } = createWatched();
  await pass(10_000);
  state.isAlive = false;
  expect(await pass(60_000)).toBe(0);
  expect(said.status).toContain('mqtt');
});

it('is fed no more once it is stopped', async () => {
  const { pass, stop } = createWatched();
  await pass(10_000);
  stop();
  expect(await pass(60_000)).toBe(0);
});

it('is not ready while the database refuses, hangs, vehicles wait, or it stops; and is ready again', async () => {
  const clock = createBenchClock();
  const state = {
    fault: null as string | null,
    hangs: false,
    lagMs: 0,
    isStopping: false,
    mqtt: null as string | null,
  };
  const ready = createReadiness({
    clock,
    checkDatabase: () =>
      state.hangs ? new Promise(() => undefined) : Promise.resolve({ name: 'database', fault: state.fault }),
    lagMs: () => state.lagMs,
    isStopping: () => state.isStopping,
    mqttFault: () => state.mqtt,
  });
  const faults = async () =>
    (await advanceUntilSettled(clock, ready())).flatMap(({ name, fault }) =>
      fault === null ? [] : [`${name} ${fault}`],
    );
  expect(await faults()).toEqual([]);
  state.fault = 'cannot be written';
  expect(await faults()).toEqual(['database cannot be written']);
  state.fault = null;
  state.hangs = true;
  expect(await faults()).toEqual(['database does not answer']);
  state.hangs = false;
  state.lagMs = 10_001;
  expect(await faults()).toEqual(['ingest waits for the disk']);
  state.lagMs = 0;
  state.mqtt = 'has no connection to the cluster';
  expect(await faults()).toEqual(['mqtt has no connection to the cluster']);
  state.mqtt = null;
  state.isStopping = true;
  expect(await faults()).toEqual(['mqtt is stopping']);
  state.isStopping = false;
  expect(await faults()).toEqual([]);
});
