// The look for names that stand twice in one object of a JSON text: of which a parser would silently take the last one.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findRepeatedKey } from '../../broker/core/json-keys.ts';

describe('a name that stands twice in one object', () => {
  it.each([
    ['{"a":1,"a":1}', '/a'],
    ['{"a":{"b":[1,{"c":1,"d":2,"c":3}]}}', '/a/b/1/c'],
    ['{"a":1,"\\u0061":2}', '/a'],
    ['{ "x/~" : 1 , "x/~" : 2 }', '/x~1~0'],
    ['[{},{"k":[],"k":{}}]', '/1/k'],
    ['{"":1,"":2}', '/'],
    ['{"__proto__":1,"__proto__":2}', '/__proto__'],
    ['{"a":"\\"}","b":"{\\"a\\":1","a":2}', '/a'],
  ])('is found in %s', (text, pointer) => {
    expect(JSON.parse(text)).toBeDefined();
    expect(findRepeatedKey(text)).toBe(pointer);
  });

  it.each([
    '{}',
    '[]',
    '"a"',
    '1',
    '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}',
    '{"a":"a","b":"a"}',
    '{"a":["a","a","a"]}',
    '{"a":"\\\\","b":1}',
    '{"A":1,"a":2}',
  ])('is not found in %s', (text) => {
    expect(findRepeatedKey(text)).toBeNull();
  });

  it('is never found in what was written from a value, whatever it holds and however it is spaced', () => {
    const spaces = fc.constantFrom(undefined, 0, 1, 4, '\t');
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), spaces, (value, space) => {
        expect(findRepeatedKey(JSON.stringify(value, null, space))).toBeNull();
      }),
      { numRuns: 2000 },
    );
  });

  it('is found wherever an object gets a second member of a name, also when it is escaped', () => {
    const escaped = (name: string): string =>
      `"${Array.from({ length: name.length }, (_unit, at) => `\\u${name.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;
    const wrap = fc.array(fc.constantFrom('list', 'member'), { maxLength: 5 });
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 3 }), { minKeys: 1 }),
        fc.nat(),
        wrap,
        fc.boolean(),
        (members, pick, around, isEscaped) => {
          const names = Object.keys(members);
          const name = names[pick % names.length] ?? '';
          const body = JSON.stringify(members).slice(0, -1);
          const second = isEscaped && name !== '' ? escaped(name) : JSON.stringify(name);
          const text = around.reduce(
            (inner, how) => (how === 'list' ? `[0,${inner}]` : `{"w":${inner}}`),
            `${body},${second}:null}`,
          );
          JSON.parse(text);
          expect(findRepeatedKey(text)).toMatch(/\//);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
