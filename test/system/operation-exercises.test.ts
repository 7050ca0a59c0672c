// Every operation of the HTTP service that changes something does it, and refuses what it must: against the built broker.
import { describe, expect, it } from 'vitest';
import { exerciseOperations } from '../support/exercises/exercise-operations.ts';
import { whyNotBuilt } from '../support/machine/requires.ts';

const why = whyNotBuilt('broker');

describe.skipIf(why !== null)(why === null ? 'the operations' : `the operations [${why}]`, () => {
  it('that change something do what they say, as others then read it and the audit log says', async () => {
    expect(await exerciseOperations()).toEqual([]);
  });
});
