// The seeded faults of the truth check and of the gate still find their lines: a fault that changes nothing proves nothing, and is noticed
// here and not in the night.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkout } from '../support/machine/checkout.ts';
import { whyNotBuilt } from '../support/machine/requires.ts';
import { clusterMutants } from '../support/truth/cluster-mutants.ts';
import { truthMutants } from '../support/truth/truth-mutants.ts';

const why = whyNotBuilt('broker');

describe.skipIf(why !== null)(`a seeded fault ${why ?? ''}`, () => {
  it('changes exactly one place of the build', () => {
    const mutants = [...truthMutants, ...clusterMutants];
    const lost = mutants.filter(({ file, find }) => {
      const text = readFileSync(join(checkout.pathname, 'dist', file), 'utf8');
      return text.split(find).length !== 2;
    });
    expect(mutants.length).toBeGreaterThan(100);
    expect(lost.map(({ fault }) => fault)).toEqual([]);
  });
});
