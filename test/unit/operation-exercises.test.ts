// The exercise of operations leaves no operation of the broker out that changes something.
import { describe, expect, it } from 'vitest';
import { operations } from '../../broker/operations.ts';
import { areas } from '../support/exercises/areas.ts';
import { type OperationID, refusedHere } from '../support/exercises/bench.ts';

/** What carries out the others that change something. */
const elsewhere: Readonly<Partial<Record<OperationID, string>>> = {
  setMessages: 'the simulator, exercise messages: it needs the driver of a vehicle',
  readMessages: 'the simulator, exercise messages: it needs the driver of a vehicle',
  showServiceCode: 'the simulator, exercise serviceCodes: the code is entered at the unit of a vehicle',
  streamEvents: 'the simulator, every run: the live stream is read to its end, event by event',
  requestDiagnostic: 'test/system/chain.test.ts: the unit of a vehicle answers',
  readLog: 'test/system/chain.test.ts: the unit of a vehicle sends its log',
};

const steps: readonly OperationID[] = areas.flatMap((area) => area.operations);

describe('the exercise of operations', () => {
  it('has a step for every operation that changes something, unless another test carries it out', () => {
    const covered = [...new Set(steps), ...Object.keys(elsewhere)];
    const changing = operations.filter(({ effects }) => effects).map(({ id }) => id);
    expect(covered.toSorted()).toEqual(changing.toSorted());
  });

  it('has a step for each operation of which it sees the refusal alone', () => {
    expect([...refusedHere].filter((id) => !steps.includes(id))).toEqual([]);
  });
});
