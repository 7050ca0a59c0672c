// The simulator's exercise `operations` leaves no operation of the broker out.
import { describe, expect, it } from 'vitest';
import { servedPaths } from '../../broker/api/base/operation.ts';
import { operations } from '../../broker/api/operations.ts';
import { areas } from '../../simulator/run/exercises/operations/areas.ts';
import {
  carriedOutElsewhere,
  operationPaths,
  refusedHere,
} from '../../simulator/run/exercises/operations/paths.ts';

const byID = new Map(operations.map((operation) => [operation.id, operation]));
const changing = operations.filter(({ effects }) => effects).map(({ id }) => id);
const steps: readonly string[] = areas.flatMap((area) => area.operations);

describe('the exercise operations', () => {
  it('has a step for every operation that changes something, or names the part of a run that carries it out', () => {
    const covered = [...new Set([...steps, ...Object.keys(carriedOutElsewhere)])];
    expect(covered.toSorted()).toEqual(changing.toSorted());
  });

  it('carries nothing out that another part of a run already does', () => {
    expect(steps.filter((id) => Object.hasOwn(carriedOutElsewhere, id))).toEqual([]);
  });

  it('calls each operation at the path at which the broker serves it', () => {
    const wrong = Object.entries(operationPaths).filter(([id, route]) => {
      const operation = byID.get(id);
      const [method, path = ''] = route.split(' ');
      return (
        operation === undefined ||
        operation.method !== method ||
        !servedPaths(operation).includes(`/api/v1${path}`)
      );
    });
    expect(wrong).toEqual([]);
  });

  it('has a step for each path that it lists', () => {
    expect([...new Set(steps)].toSorted()).toEqual(Object.keys(operationPaths).toSorted());
  });

  it('names a step for each operation of which it sees the refusal alone', () => {
    expect(Object.keys(refusedHere).filter((id) => !steps.includes(id))).toEqual([]);
  });
});
