// What the console says of the codes of an order: why a person asked for it, and why a vehicle waits or refuses. Every code of the service's own lists
// has words in every language; what is on no list is shown as it came.
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../broker/console/api/operations.ts';
import { reasonWords, unmetText } from '../../broker/console/screens/cut/verdict-words.ts';
import { stepsOf } from '../../broker/console/state/command-view.ts';
import type { WordsWith } from '../../broker/console/words/word-set.ts';
import type { cutWords } from '../../build/words/cut.ts';
import { featureNames } from '../../src/core/events/event.ts';
import { orderReasons } from '../../src/core/reports/order-reason.ts';
import { ruleNames } from '../../src/core/verdict/verdict.ts';
import { standstillFaults } from '../../src/core/verdict/verdict-text.ts';
import { type Language, languages } from '../../src/core/words/languages.ts';
import { allWords } from '../support/http/console-words.ts';

const unmet = (rule: string, value: Finding['value']): Finding => ({
  rule,
  isMet: false,
  value,
  needed: null,
  sinceMs: null,
});
const wordsOf = async (language: Language) =>
  (await allWords(language)) as unknown as WordsWith<[typeof cutWords]>;

describe.each(Object.keys(languages) as readonly Language[])('the words for an order in %s', (language) => {
  it.each(featureNames)('say every reason for which %s is asked, with its note', async (relay) => {
    const words = await wordsOf(language);
    const said = orderReasons[relay].map((code) => reasonWords(code, relay, words));
    expect(new Set(said).size).toBe(orderReasons[relay].length);
    for (const [at, code] of orderReasons[relay].entries()) {
      expect(said[at]).not.toBe(code);
      expect(reasonWords(`${code}: report 22`, relay, words)).toBe(`${said[at]}. report 22`);
    }
  });

  it('show a reason of another client as it came, and none as none', async () => {
    const words = await wordsOf(language);
    for (const text of ['Wanted by the police', 'constructor', 'stolen_twice: report 22'])
      expect(reasonWords(text, 'enginecutoff', words)).toBe(text);
    expect(reasonWords('delivery', 'enginecutoff', words)).toBe('delivery');
    expect(reasonWords('', 'enginecutoff', words)).toBe(words.common.none);
  });

  it('say every rule that a vehicle judges, and name one of a newer vehicle', async () => {
    const words = await wordsOf(language);
    for (const rule of ruleNames) {
      expect(unmetText(unmet(rule, null), words)).not.toBe(words.order.rules.other({ rule }));
      if (rule.startsWith('witness_')) expect(words.vehicle.witness).toHaveProperty(rule.slice(8));
    }
    expect(unmetText(unmet('rule_of_tomorrow', 1), words)).toContain('rule_of_tomorrow');
  });

  it('say every reason for which standstill is not proven', async () => {
    const words = await wordsOf(language);
    const said = standstillFaults.map((fault) => unmetText(unmet('standstill', fault), words));
    expect(new Set(said).size).toBe(standstillFaults.length);
    expect(said).not.toContain(words.order.standstill.other);
    expect(unmetText(unmet('standstill', 'constructor'), words)).toBe(words.order.standstill.other);
  });
});

describe('the course of a command', () => {
  const report = (at: number, commandState: string) => ({
    eventID: `b1:${at}`,
    timestamp: at,
    creationTime: at,
    statusCode: 4353,
    commandID: 'c1',
    commandState,
  });

  it('has the states that the vehicle reported, each from its first report', () => {
    const records = [report(4, 'armed'), report(1, 'received'), report(3, 'armed'), report(2, 'armed')];
    expect(stepsOf(records, 'c1').map(({ timestamp, state }) => [timestamp, state])).toEqual([
      [1, 'received'],
      [2, 'armed'],
    ]);
  });

  it('stands in the order in which the vehicle made its reports, whatever its clock said and in whichever order they were stored', () => {
    const made = [
      { ...report(1, 'received'), timestamp: 4600, creationTime: 900 },
      { ...report(2, 'armed'), timestamp: 1000, creationTime: 60 },
      { ...report(3, 'executing'), timestamp: 1001, creationTime: 61 },
      // After a restart of the unit its numbers begin again.
      { ...report(1, 'confirmed'), eventID: 'a7:1', timestamp: 900, creationTime: 100 },
    ];
    const names = ['received', 'armed', 'executing', 'confirmed'];
    for (const records of [
      made,
      made.toReversed(),
      [made[2], made[0], made[3], made[1]].flatMap((one) => one ?? []),
    ])
      expect(stepsOf(records, 'c1').map(({ state }) => state)).toEqual(names);
  });

  it('leaves out no report of a state that it does not know', () => {
    const states = stepsOf([report(1, 'parked'), report(2, 'parked')], 'c1').map(({ state }) => state);
    expect(states).toEqual([null, null]);
  });
});
