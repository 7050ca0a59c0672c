// Every operator, bound, negation and literal of the relay guard, changed one at a time: a case or a random line must show each. What changes nothing
// that can be seen is listed with its reason.
import { expect, it } from 'vitest';
import { extent } from '../support/extent.ts';
import { casesAsLines } from '../support/guard/guard-cases.ts';
import { createLineGuard, type Line, randomLines } from '../support/guard/guard-lines.ts';
import { type Guard, guardOf, guardSource, mutantsOf, mutated } from '../support/guard/guard-mutants.ts';
import { guardSetup, nowMs } from '../support/guard/guard-rig.ts';

/** Part of a mutant's title, and why no answer shows it. */
const equivalent: readonly (readonly [title: string, reason: string])[] = [
  ['  [setup.verifier?.verify(', 'decodeCommand answers null to what is no payload'],
  ['signedTypes.command) ?? null;  [null -> 0]', 'decodeCommand answers null to what is no payload'],
  [
    'decodeCommand(payload);  [payload === null -> (false)]',
    'decodeCommand answers null to what is no payload',
  ],
  [
    'decodeCommand(payload);  [null -> 0]',
    'decodeCommand answers null to what is no payload, and 0 has no members either',
  ],
  ['kmh: null,  [null -> 0]', 'what was never read is infinitely old'],
  ['isOn: null,  [null -> 0]', 'what was never read is neither true nor false'],
  ['list: null,  [null -> 0]', 'neither names a person'],
  ['atMs: 0,  [0 -> ', 'the greatest number stays the greatest'],
  ['kmh > limits.movingKmh;  [null -> 0]', 'null is not above any speed'],
  ['[order === undefined -> (false)]', 'an order that is undefined is none'],
  ['isMade = true;', 'it is there for the types'],
  ['limits.tryMs;  [< -> <=]', 'at that time the pace refuses a permit'],
  ['newestMs ? {  [> -> >=]', 'it is the same time'],
  ['[feature = null] = hit;  [null -> 0]', 'a write that hits no relay is a stray one'],
  ['alone");  [null -> 0]', 'a write that hits no relay is a stray one'],
  ['["not one relay alone" -> ', 'the text of the error is not read'],
];

const random = extent({ gate: ['1'], nightly: ['1', '2', '3', '4'] }).map((seed) =>
  [...randomLines(seed, 8000)].map((line) => JSON.parse(line) as Line),
);

/** Whether a guard whose state cannot be read refuses a cut, and lets a restore pass. */
function isFailSafe({ askGuard }: Guard): boolean {
  const fail = (): never => {
    throw new Error('the state cannot be read');
  };
  const broken = new Proxy({} as Parameters<typeof askGuard>[1], { get: fail });
  const permitOf = (on: boolean) =>
    askGuard(guardSetup, broken, {
      request: {
        kind: 'writeCoil',
        unit: 1,
        address: 0,
        on,
      },
      nowMs,
      isAllowed: () => true,
    }).permit;
  return permitOf(true) === null && permitOf(false) !== null;
}

/** Answers to some lines; a guard that fails has its failure for an answer. */
function* answers(guard: Guard, lines: readonly Line[]): Generator<string | null> {
  const answer = createLineGuard(guard);
  for (const line of lines) {
    try {
      yield answer(line);
    } catch (thrown) {
      yield `fails: ${String(thrown)}`;
    }
  }
}

it('finds every mutant of the guard', { timeout: 600_000 }, async () => {
  const source = await guardSource();
  const sound = guardOf(source);
  const worlds = [...casesAsLines, ...random];
  const right = worlds.map((lines) => [...answers(sound, lines)]);
  const isFound = (guard: Guard): boolean =>
    !isFailSafe(guard) ||
    worlds.some((lines, world) => {
      let at = 0;
      for (const answer of answers(guard, lines)) if (answer !== right[world]?.[at++]) return true;
      return false;
    });
  const mutants = mutantsOf(source);
  const unseen = mutants.filter((mutant) => {
    try {
      return !isFound(guardOf(mutated(source, mutant)));
    } catch {
      return false;
    }
  });
  const isListed = (title: string): boolean => equivalent.some(([part]) => title.includes(part));
  console.log(`${mutants.length} mutants of the guard, ${unseen.length} of them equivalent`);
  expect(mutants.length).toBeGreaterThan(300);
  expect(unseen.map(({ title }) => title).filter((title) => !isListed(title))).toEqual([]);
  expect(equivalent.filter(([part]) => !unseen.some(({ title }) => title.includes(part)))).toEqual([]);
});
