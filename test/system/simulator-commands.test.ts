// Commands are judged by the contacts of the simulated relays: a good broker passes, and brokers that drop commands, restore another
// relay or call commands confirmed that they never sent fail, with the commands by name.
import { describe, expect, it } from 'vitest';
import type { RunResult } from '../../simulator/run/measure/result.ts';
import { type BrokerFault, type BrokerInside, startFaultyBroker } from '../support/broker/faulty-broker.ts';
import { confirmsUnsent, dropsCommands, restoresOtherRelay } from '../support/broker/faulty-commands.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { runAgainst } from '../support/programs/simulated-run.ts';

const folder = temporaryFolder('commands');

/** Short lives, so that what is dropped has expired when the run is judged. */
const commanded = {
  durationS: 24,
  drainS: 75,
  fleet: { devices: 8, connectSpreadS: 1 },
  actions: { doorPerHour: 300 },
  commands: { perMinute: 10, restoreS: 8, ttlS: 10, features: ['cargoaccess'] },
};

async function runWith(
  makeFault: ((inside: BrokerInside) => BrokerFault) | null,
  change: object = {},
): Promise<{ readonly result: RunResult; readonly done: readonly string[] }> {
  const broker = await startFaultyBroker(makeFault);
  try {
    const result = await runAgainst(broker, folder, { ...commanded, ...change });
    return { result, done: broker.fault?.done ?? [] };
  } finally {
    await broker.close();
  }
}

const found = (result: RunResult, kind: string): readonly string[] =>
  result.breaches
    .filter((breach) => breach.kind === kind)
    .map(({ deviceID, commandID }) => `${deviceID} ${commandID}`);

describe.concurrent('the commands of a run', () => {
  it('pass against a correct broker, with relays that moved', async () => {
    const { result } = await runWith(null);
    expect(result.breaches).toEqual([]);
    expect(result.isPassed).toBe(true);
    expect(result.figures['cut.count']).toBeGreaterThan(0);
    expect(result.figures['restore.count']).toBeGreaterThan(0);
  });

  it('fail by their names when the broker sends none of them', async () => {
    const { result, done } = await runWith(dropsCommands);
    expect(done.length).toBeGreaterThan(1);
    expect(result.isPassed).toBe(false);
    const named = found(result, 'commandUndelivered');
    expect(done).toEqual(expect.arrayContaining([...named]));
    // One that was taken back within seconds may not have had the time.
    expect(named.length).toBeGreaterThanOrEqual(done.length - 2);
  });

  it('fail when each restore goes to another relay, naming the vehicles left cut off', async () => {
    const { result, done } = await runWith(restoresOtherRelay);
    expect(done.length).toBeGreaterThan(0);
    expect(result.isPassed).toBe(false);
    expect(done).toEqual(expect.arrayContaining([...found(result, 'falseConfirmation')]));
    expect(found(result, 'falseConfirmation').length).toBeGreaterThan(0);
    expect(found(result, 'notRestored').length).toBeGreaterThan(0);
  });

  it('fail when the broker confirms commands that it has not sent', async () => {
    const { result, done } = await runWith(confirmsUnsent);
    expect(done.length).toBeGreaterThan(1);
    expect(result.isPassed).toBe(false);
    expect(found(result, 'falseConfirmation').toSorted()).toEqual([...done].toSorted());
  });
});
