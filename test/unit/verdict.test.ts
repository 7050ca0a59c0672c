// A verdict of the interlock on the wire and in words. Whatever a vehicle sends, decoding neither throws nor gives more than the
// limits allow, and every rule that is not met has a sentence.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AttributeValue } from '../../src/core/events/event.ts';
import { eventLimits } from '../../src/core/events/event.ts';
import {
  allowed,
  isAllowed,
  isSameVerdict,
  isUnmet,
  leastWaitS,
  type RuleFinding,
  ruleNames,
  verdictAttributes,
  verdictFrom,
  verdictLimits,
  verdictOf,
} from '../../src/core/verdict/verdict.ts';
import { ruleText, verdictHint, verdictText } from '../../src/core/verdict/verdict-text.ts';
import { witnessStates } from '../../src/core/verdict/witness.ts';

const sinceMs = 1_767_614_400_000;
const ignitionOn: RuleFinding = { rule: 'ignition_off', isMet: false, value: 'on', needed: 'off', sinceMs };
const timeKnown: RuleFinding = {
  rule: 'time_known',
  isMet: true,
  value: 'known',
  needed: 'known',
  sinceMs: null,
};
const slow: RuleFinding = { rule: 'speed_kmh', isMet: true, value: 0.4, needed: 1, sinceMs };

const text = fc.string({ unit: 'binary', maxLength: 60 });
/** Values that come back as they were sent. */
const faithful = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.stringMatching(/^[ -~äß€😀]{0,20}$/u),
);
const hostile: fc.Arbitrary<AttributeValue> = fc.oneof(text, fc.double(), fc.boolean(), fc.constant(null));
const findings = (value: fc.Arbitrary<AttributeValue>, since: fc.Arbitrary<number | null>) =>
  fc.array(
    fc.record({
      rule: fc.constantFrom(...ruleNames),
      isMet: fc.boolean(),
      value,
      needed: value,
      sinceMs: since,
    }),
    { maxLength: 40 },
  );
const anyTime = fc.option(fc.double());
/** What may stand in place of a name: also names that every object has. */
const oddName = fc.oneof(
  fc.constantFrom(
    ...ruleNames,
    allowed,
    'constructor',
    'toString',
    '__proto__',
    'hasOwnProperty',
    'witness_',
  ),
  text,
);

const encoded = (rules: unknown) => verdictFrom({ code: 'ignition_off', rules: JSON.stringify(rules) });

describe('the least wait of a verdict', () => {
  const lasting = (rule: string, value: number | null, needed: number): RuleFinding => ({
    rule,
    isMet: value !== null && value >= needed,
    value,
    needed,
    sinceMs: null,
  });

  test('is the longest missing time of a rule, and its full time if it has not begun', () => {
    expect(leastWaitS(verdictOf([lasting('ignition_off_s', 4, 10), lasting('standstill_s', 20, 60)]))).toBe(
      40,
    );
    expect(leastWaitS(verdictOf([lasting('panic_calm_s', null, 300), lasting('standstill_s', 9, 10)]))).toBe(
      300,
    );
  });

  test('is unknown if no rule lacks only time', () => {
    expect(leastWaitS(verdictOf([ignitionOn, timeKnown, slow, lasting('warning_s', 30, 30)]))).toBeNull();
  });
});

describe('a verdict', () => {
  test('names the first rule that is not met, and is allowed when all are met', () => {
    expect(verdictOf([timeKnown, ignitionOn]).code).toBe('ignition_off');
    expect(isAllowed(verdictOf([timeKnown, slow]))).toBe(true);
    expect(isUnmet(verdictOf([timeKnown, ignitionOn]), 'ignition_off')).toBe(true);
    expect(isUnmet(verdictOf([timeKnown, ignitionOn]), 'time_known')).toBe(false);
  });

  test('is the same while only numbers and times change', () => {
    const one = verdictOf([ignitionOn, slow]);
    expect(
      isSameVerdict(
        one,
        verdictOf([
          { ...ignitionOn, sinceMs: 1 },
          { ...slow, value: 0.9 },
        ]),
      ),
    ).toBe(true);
    expect(isSameVerdict(one, verdictOf([{ ...ignitionOn, value: 'unknown' }, slow]))).toBe(false);
    expect(isSameVerdict(one, verdictOf([ignitionOn, { ...slow, isMet: false }]))).toBe(false);
  });
});

describe('the attributes of a verdict', () => {
  test('have the form of the wire, with rules that are not met first', () => {
    expect(verdictAttributes(verdictOf([timeKnown, ignitionOn]))).toEqual({
      code: 'ignition_off',
      rules: `[["ignition_off",0,"on","off",${sinceMs}],["time_known",1,"known","known",null]]`,
    });
  });

  test('say a number to three decimals', () => {
    const late = { rule: 'fix_age_ms', isMet: false, value: 508.143749, needed: 300, sinceMs: null };
    expect(verdictAttributes(verdictOf([late])).rules).toBe('[["fix_age_ms",0,508.144,300,null]]');
  });

  test('bring back every finding while it fits', () => {
    fc.assert(
      fc.property(
        findings(faithful, fc.option(fc.integer())),
        fc.integer({ min: 0, max: 12 }),
        (list, count) => {
          const verdict = verdictOf(list.slice(0, count));
          const decoded = verdictFrom(verdictAttributes(verdict));
          expect(decoded?.code).toBe(verdict.code);
          const unmetFirst = [...verdict.rules].sort((a, b) => Number(a.isMet) - Number(b.isMet));
          const kept = decoded?.rules ?? [];
          expect(kept).toEqual(unmetFirst.slice(0, kept.length));
          if (count <= 6) expect(kept).toHaveLength(verdict.rules.length);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('are always readable again and fit in an event, whatever the values are', () => {
    fc.assert(
      fc.property(findings(hostile, anyTime), (list) => {
        const verdict = verdictOf(list);
        const attributes = verdictAttributes(verdict);
        const decoded = verdictFrom(attributes);
        expect(decoded?.code).toBe(verdict.code);
        expect(decoded?.rules.length).toBeLessThanOrEqual(verdictLimits.rules);
        expect(JSON.stringify(attributes).length).toBeLessThan(eventLimits.attributesBytes - 300);
      }),
      { numRuns: 1000 },
    );
  });

  test('keep the rules that are not met when there are too many', () => {
    const many = Array.from({ length: verdictLimits.rules + 1 }, () => timeKnown);
    const decoded = verdictFrom(verdictAttributes(verdictOf([...many, ignitionOn])));
    expect(decoded?.rules).toHaveLength(verdictLimits.rules);
    expect(decoded?.rules[0]).toEqual(ignitionOn);
  });

  test('never carry a text that is cut inside of a character', () => {
    const value = `${'a'.repeat(verdictLimits.text - 1)}😀`;
    const decoded = verdictFrom(verdictAttributes(verdictOf([{ ...ignitionOn, value }])));
    expect(decoded?.rules[0]?.value).toBe(`${'a'.repeat(verdictLimits.text - 1)} `);
  });
});

describe('decoding a verdict', () => {
  const good = ['ignition_off', 0, 'on', 'off', sinceMs];

  test.each([
    ['no list', {}],
    ['null', null],
    ['a rule that is no list', [{ rule: 'ignition_off' }]],
    ['a rule that is too short', [good.slice(0, 4)]],
    ['a rule that is too long', [[...good, 1]]],
    ['a name with capitals', [['Ignition', ...good.slice(1)]]],
    ['a name of 41 characters', [['a'.repeat(41), ...good.slice(1)]]],
    ['a truth value that is neither 0 nor 1', [['ignition_off', true, ...good.slice(2)]]],
    ['a value of 41 characters', [['ignition_off', 0, 'x'.repeat(41), 'off', null]]],
    ['a value with a control character', [['ignition_off', 0, 'a\u0000b', 'off', null]]],
    ['a value with half a character', [['ignition_off', 0, '\ud800', 'off', null]]],
    ['a nested value', [['ignition_off', 0, ['on'], 'off', null]]],
    ['a time that is no whole number', [['ignition_off', 0, 'on', 'off', 1.5]]],
    ['a time that is text', [['ignition_off', 0, 'on', 'off', '1']]],
    ['one good and one bad rule', [good, 7]],
    ['too many rules', Array.from({ length: verdictLimits.rules + 1 }, () => ['a', 1, null, null, null])],
  ])('gives null for %s', (_title, rules) => {
    expect(encoded(rules)).toBeNull();
  });

  test.each([
    ['no attributes', undefined],
    ['a code without rules', { code: 'ignition_off' }],
    ['rules without a code', { rules: '[]' }],
    ['a code that is no name', { code: 'Ignition is on', rules: '[]' }],
    ['a code that is a number', { code: 7, rules: '[]' }],
    ['rules that are no JSON', { code: 'ignition_off', rules: '[[' }],
    ['an infinite number', { code: 'ignition_off', rules: '[["a",0,1e999,null,null]]' }],
    ['rules beyond the limit', { code: 'ignition_off', rules: `[]${' '.repeat(verdictLimits.encoded)}` }],
    ['an allowed change with a rule that is not met', { code: allowed, rules: JSON.stringify([good]) }],
  ])('gives null for %s', (_title, attributes) => {
    expect(verdictFrom(attributes)).toBeNull();
  });

  test('accepts a rule that only newer vehicles know', () => {
    expect(encoded([['bus_speed_kmh', 0, 3, 0, null]])?.rules).toHaveLength(1);
  });

  test('never throws, stays within the limits, and yields a verdict with a text', () => {
    const odd = fc.oneof(fc.anything(), fc.tuple(oddName, fc.constantFrom(0, 1), hostile, hostile, anyTime));
    const attributes = fc.record({
      code: oddName,
      rules: fc.oneof(
        text,
        fc.array(odd, { maxLength: 30 }).map((list) => JSON.stringify(list)),
      ),
    });
    fc.assert(
      fc.property(attributes, (sent) => {
        const verdict = verdictFrom(sent);
        if (verdict === null) return;
        expect(verdict.rules.length).toBeLessThanOrEqual(verdictLimits.rules);
        expect(JSON.stringify(verdict).length).toBeLessThan(8000);
        expect(typeof verdictText(verdict)).toBe('string');
        expect(['string', 'object']).toContain(typeof verdictHint(verdict));
      }),
      { numRuns: 3000 },
    );
  });
});

describe('the words of a rule', () => {
  test('exist for every unmet rule and any value', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ruleNames), hostile, hostile, (rule, value, needed) => {
        const sentence = ruleText({ rule, isMet: false, value, needed, sinceMs: null });
        expect(sentence).toMatch(/^\S.{5,}/su);
        expect(sentence).not.toBe(`Rule ${rule} is not met`);
        expect(sentence).not.toMatch(/\bnull\b|undefined|NaN|\[object|native code/);
      }),
      {
        numRuns: 3000,
        // NaN was once shown as the end of a relay's order (seed -1735060897); the others are values that a sentence must not repeat.
        examples: ruleNames.flatMap((rule) =>
          [null, Number.NaN, -Infinity, '', 'NaN', 'undefined', '[object Object]', 'constructor', false].map(
            (value): [typeof rule, AttributeValue, AttributeValue] => [rule, value, ''],
          ),
        ),
      },
    );
  });

  test.each(['constructor', 'to_string', '__proto__', 'witness_constructor', 'valueof'])(
    'name the unknown rule %s as it is',
    (rule) => {
      const finding = { rule, isMet: false, value: 'constructor', needed: null, sinceMs: null };
      expect(ruleText(finding)).toContain(rule.slice(1));
      expect(verdictHint({ code: rule, rules: [finding] })).toBeNull();
    },
  );

  test('of a value such as `constructor` are those of an unknown value', () => {
    const finding = { rule: 'standstill', isMet: false, value: 'constructor', needed: null, sinceMs: null };
    expect(ruleText(finding)).toBe('Standstill is not proven');
    expect(ruleText({ ...finding, rule: 'witness_gnss' })).toBe('GNSS is not proven');
  });

  test('name each way in which the order of a relay may end', () => {
    const sentenceOf = (value: AttributeValue) =>
      ruleText({ rule: 'relay_follows', isMet: false, value, needed: null, sinceMs: null });
    expect(['refused', 'mismatch', 'unknown', 'of a newer vehicle', Number.NaN].map(sentenceOf)).toEqual([
      'The relay did not follow: the board refused its last order',
      'The relay did not follow: its read-back differs from its last order',
      'The relay did not follow: how its last order ended is unknown',
      'The relay did not follow: how its last order ended is unknown',
      'The relay did not follow: how its last order ended is unknown',
    ]);
  });

  test('differ for every state of a witness', () => {
    const states = [...witnessStates, 'silent', 'active'];
    const sentences = states.map((value) =>
      ruleText({ rule: 'witness_motion', isMet: false, value, needed: 'proven', sinceMs: null }),
    );
    expect(new Set(sentences).size).toBe(states.length);
  });
});

describe('the words of a verdict', () => {
  test('begin with its code and omit rules that are met', () => {
    const moving: RuleFinding = { rule: 'speed_kmh', isMet: false, value: 53.6, needed: 1, sinceMs };
    expect(verdictText({ code: 'speed_kmh', rules: [timeKnown, ignitionOn, moving] })).toBe(
      'The vehicle moves at 54 km/h; Ignition is on',
    );
  });

  test('are empty when the change is allowed, and name a code that has no finding', () => {
    expect(verdictText(verdictOf([timeKnown]))).toBe('');
    expect(verdictText({ code: 'bus_speed_kmh', rules: [] })).toBe('Rule bus_speed_kmh is not met');
  });

  test('come with a hint if there is a remedy', () => {
    expect(verdictHint(verdictOf([ignitionOn]))).toMatch(/^Switch the ignition off/);
    // Who turns the key again begins the wait anew.
    expect(verdictHint(verdictOf([{ ...ignitionOn, value: 'unsteady' }]))).toBeNull();
    expect(verdictHint(verdictOf([{ ...ignitionOn, rule: 'standstill_s' }]))).toBeNull();
    expect(verdictHint(verdictOf([timeKnown]))).toBeNull();
  });
});
