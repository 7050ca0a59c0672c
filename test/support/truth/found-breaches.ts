// What a run has found of a fault, and prints of it: a line of the table.
import type { RunResult } from '../../../simulator/run/measure/result.ts';
import type { TruthMutant } from './truth-mutant.ts';

type Found = TruthMutant['found'][number];

function kindsIn({ truth, thresholds }: RunResult): readonly Found[] {
  const kinds = (Object.entries(truth) as [Exclude<Found, 'threshold'>, number][]).flatMap(
    ([kind, count]): readonly Found[] => (count > 0 ? [kind] : []),
  );
  return thresholds.every(({ isMet }) => isMet) ? kinds : [...kinds, 'threshold'];
}

const textOf = ({ truth }: RunResult, kind: Found): string =>
  kind === 'threshold' ? kind : `${kind} ${truth[kind]}`;

/** The kinds by which the fault must be found, of those that the run has found; empty: it passed unseen. */
export function foundIn({ fault, found }: TruthMutant, result: RunResult): readonly Found[] {
  const kinds = kindsIn(result);
  console.log(`${fault}: ${kinds.map((kind) => textOf(result, kind)).join(', ') || 'NOTHING'}`);
  // What else a fault brings is no failure, but worth a look.
  for (const kind of kinds.filter((one) => !found.includes(one)))
    console.log(`  also ${result.breaches.find((one) => one.kind === kind)?.words ?? kind}`);
  return kinds.filter((kind) => found.includes(kind));
}
