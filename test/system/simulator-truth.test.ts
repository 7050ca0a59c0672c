// The proof of the proof: a fleet of real agents against a good broker passes, and against brokers with a fault seeded at their
// door fails and names the very events and commands. Nothing of the simulator knows of the faults.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { formatJunit, formatResult } from '../../simulator/run/measure/report.ts';
import type { RunResult } from '../../simulator/run/measure/result.ts';
import {
  acknowledgesBeforeCommit,
  dropsOneIn,
  executesTwice,
  type FaultyBroker,
  startFaultyBroker,
} from '../support/broker/faulty-broker.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { runAgainst as runIn } from '../support/programs/simulated-run.ts';
import { createForgetfulDisk } from '../support/storage/forgetful-disk.ts';

const folder = temporaryFolder('truth');

const runAgainst = (broker: FaultyBroker, change?: object): Promise<RunResult> =>
  runIn(broker, folder, change);

const isFound = (count: number): boolean => count > 0;

/** What was found, in the form in which the fault notes what it did. */
const found = (result: RunResult, kind: string): readonly string[] =>
  result.breaches
    .filter((breach) => breach.kind === kind)
    .map(({ deviceID, eventID, commandID }) => `${deviceID} ${eventID ?? commandID}`)
    .sort();

const kindsOf = (result: RunResult): readonly string[] =>
  Object.entries(result.truth).flatMap(([kind, count]) => (isFound(count) ? [kind] : []));

describe.concurrent('a run of real agents', () => {
  it('passes against a correct broker, with every fact detected', async () => {
    const broker = await startFaultyBroker(null);
    // Each command has 15 s until its restore: agents of a busy machine prove late that their vehicle stands.
    const commands = { perMinute: 10, restoreS: 15 };
    const result = await runAgainst(broker, { durationS: 40, commands });
    await broker.close();
    expect(result.breaches).toEqual([]);
    expect(result.expectations.filter(({ isMet }) => !isMet)).toEqual([]);
    expect(result.isPassed).toBe(true);
    expect(result.counts.facts).toBeGreaterThan(10);
    expect(result.counts.shown).toBe(result.counts.acknowledged);
    expect(result.figures['durable.count']).toBe(result.counts.facts - result.unjudged);
  });

  it('reports each event that a broker acknowledges and drops', async () => {
    const broker = await startFaultyBroker(() => dropsOneIn(40));
    const result = await runAgainst(broker);
    await broker.close();
    expect(broker.fault?.done.length).toBeGreaterThan(0);
    expect(kindsOf(result)).toEqual(['acknowledgedMissing']);
    expect(found(result, 'acknowledgedMissing')).toEqual([...(broker.fault?.done ?? [])].sort());
    expect(result.isPassed).toBe(false);
    expect(formatResult(result)).toContain('FAILED');
    expect(formatJunit(result)).toContain(`acknowledgedMissing: ${result.breaches[0]?.deviceID}`);
  });

  it('reports each event that a broker acknowledged before its commit and lost when it died', async () => {
    const fault = acknowledgesBeforeCommit(3000);
    const broker = await startFaultyBroker(() => fault);
    const run = runAgainst(broker);
    await sleep(9000);
    await waitUntil('an event that is acknowledged and not stored', () => fault.waits() > 0);
    fault.crash();
    broker.dropConnections();
    const result = await run;
    await broker.close();
    expect(fault.done.length).toBeGreaterThan(0);
    // More are missing: what was told to be stored in the last seconds is not there yet either.
    expect(found(result, 'acknowledgedMissing')).toEqual(expect.arrayContaining(fault.done));
    expect(result.isPassed).toBe(false);
  });

  it('reports each command that is executed twice', async () => {
    const broker = await startFaultyBroker(executesTwice(9000));
    const commands = { perMinute: 10, restoreS: 5, features: ['cargoaccess'] };
    const result = await runAgainst(broker, {
      durationS: 40,
      fleet: { devices: 8, connectSpreadS: 1 },
      commands,
    });
    await broker.close();
    const twice = found(result, 'commandTwice');
    expect(twice.length).toBeGreaterThan(0);
    expect(broker.fault?.done).toEqual(expect.arrayContaining([...twice]));
    expect(result.isPassed).toBe(false);
  });
});

describe.concurrent('a run in which agents are killed', () => {
  const killed = {
    durationS: 20,
    actions: { doorPerHour: 720, panicPerHour: 720 },
    faults: [
      { kind: 'link-outage', atS: 5, forS: 10 },
      { kind: 'agent-kill', atS: 13, forS: 1 },
    ],
  };

  it('passes when killed vehicles start again from their disks', async () => {
    const broker = await startFaultyBroker(null);
    const result = await runAgainst(broker, killed);
    await broker.close();
    expect(result.breaches).toEqual([]);
    expect(result.isPassed).toBe(true);
    expect(result.counts.connects).toBeGreaterThanOrEqual(10);
  });

  // The links are out when the newest event is stored, so the broker cannot have it.
  const cutOff = {
    ...killed,
    drainS: 10,
    faults: [
      { kind: 'link-outage', atS: 3, forS: 12 },
      { kind: 'agent-kill', atS: 14, forS: 1 },
    ],
  };

  it('reports as lost each event that a vehicle had stored and its disk forgot', async () => {
    const broker = await startFaultyBroker(null);
    const disk = createForgetfulDisk('newest row');
    const result = await runIn(broker, folder, cutOff, disk.openDatabase);
    await broker.close();
    expect(disk.done()).toHaveLength(5);
    expect(found(result, 'lost')).toEqual(disk.done());
    expect(result.isPassed).toBe(false);
  });

  it('reports as lost the events of a vehicle whose disk is empty after a kill', async () => {
    const broker = await startFaultyBroker(null);
    const disk = createForgetfulDisk('file');
    const result = await runIn(broker, folder, cutOff, disk.openDatabase);
    await broker.close();
    const lost = found(result, 'lost');
    expect(new Set(lost.map((name) => name.split(' ')[0])).size).toBe(5);
    // What was acknowledged already may have lain there a little longer.
    expect(disk.done()).toEqual(expect.arrayContaining([...lost]));
    expect(result.isPassed).toBe(false);
  });
});

describe.concurrent('a run of light trackers', () => {
  const light = {
    durationS: 12,
    fleet: { kind: 'tracker', devices: 50, trackerEveryS: 1, connectSpreadS: 2 },
    actions: {},
    faults: [
      { kind: 'reconnect-storm', atS: 5, forS: 0 },
      { kind: 'link-outage', atS: 7, forS: 2, share: 0.2 },
    ],
  };

  it.each([true, false])(
    'passes when its connections break, with random reconnect delays: %j',
    async (jitter) => {
      const broker = await startFaultyBroker(null);
      const result = await runAgainst(broker, { ...light, fleet: { ...light.fleet, trackerJitter: jitter } });
      await broker.close();
      expect(result.breaches).toEqual([]);
      expect(result).toMatchObject({ isPassed: true, kind: 'tracker' });
      expect(result.counts.events).toBeGreaterThan(300);
      expect(result.counts.connects).toBeGreaterThanOrEqual(100);
    },
  );

  it('reports the events that a broker answers with PUBACK and drops', async () => {
    const broker = await startFaultyBroker(() => dropsOneIn(200));
    const result = await runAgainst(broker, light);
    await broker.close();
    expect(broker.fault?.done.length).toBeGreaterThan(0);
    expect(kindsOf(result)).toEqual(['acknowledgedMissing']);
    expect(found(result, 'acknowledgedMissing')).toEqual([...(broker.fault?.done ?? [])].sort());
  });
});
