// Readers of one column: what a query did not give is a fault of ours and never an empty text or a zero.
import { describe, expect, it } from 'vitest';
import {
  bytesOf,
  flagOf,
  jsonListOf,
  jsonObjectOrNull,
  numberOf,
  numberOrNull,
  textListOf,
  textOf,
  textOrNull,
} from '../../broker/store/base/row.ts';
import type { Row } from '../../src/ports.ts';

const row: Row = {
  text: 'a',
  empty: '',
  number: 7,
  zero: 0,
  big: '9007199254740991',
  real: 1.5,
  bytes: new Uint8Array([1, 2]),
  nothing: null,
  list: '["a",1,"b"]',
  object: '{"a":1}',
};

const readers = {
  textOf,
  textOrNull,
  numberOf,
  numberOrNull,
  flagOf,
  bytesOf,
  jsonListOf,
  textListOf,
  jsonObjectOrNull,
};
const all = Object.entries(readers);
const notNull = all.filter(([name]) => !name.endsWith('OrNull'));
const orNull = all.filter(([name]) => name.endsWith('OrNull'));

describe('a reader of one column', () => {
  it.each(all)(
    '%s refuses a column that the query did not give, and names it and those that it gave',
    (_name, read) => {
      expect(() => read(row, 'fix_ms')).toThrow(/no column "fix_ms".*text, empty, number/);
      // What every object has is no column.
      expect(() => read(row, 'constructor')).toThrow(/no column "constructor"/);
      expect(() => read({ ...row, text: undefined } as unknown as Row, 'text')).toThrow(/no column "text"/);
    },
  );

  it.each(notNull)('%s refuses NULL, and names the column', (_name, read) => {
    expect(() => read(row, 'nothing')).toThrow(/column "nothing" is NULL/);
  });

  it.each(orNull)('%s gives NULL as null', (_name, read) => {
    expect(read(row, 'nothing')).toBeNull();
  });

  it('gives what both databases give for one value', () => {
    expect([textOf(row, 'text'), textOf(row, 'empty'), textOf(row, 'number')]).toEqual(['a', '', '7']);
    expect([textOrNull(row, 'text'), textOrNull(row, 'empty')]).toEqual(['a', '']);
    const numbers = ['number', 'zero', 'big', 'real'];
    expect(numbers.map((name) => numberOf(row, name))).toEqual([7, 0, Number.MAX_SAFE_INTEGER, 1.5]);
    expect(numbers.map((name) => numberOrNull(row, name))).toEqual([7, 0, Number.MAX_SAFE_INTEGER, 1.5]);
    expect(bytesOf(row, 'bytes')).toEqual(new Uint8Array([1, 2]));
    expect(jsonListOf(row, 'list')).toEqual(['a', 1, 'b']);
    expect(textListOf(row, 'list')).toEqual(['a', 'b']);
    expect(jsonObjectOrNull(row, 'object')).toEqual({ a: 1 });
  });

  it('refuses a value of another kind', () => {
    expect(() => numberOf(row, 'text')).toThrow(/column "text" holds no number/);
    expect(() => numberOf(row, 'empty')).toThrow(/column "empty" holds no number/);
    expect(() => numberOrNull(row, 'text')).toThrow(/column "text" holds no number/);
    expect(() => numberOf(row, 'bytes')).toThrow(/column "bytes" holds no number/);
    expect(() => textOf(row, 'bytes')).toThrow(/column "bytes" holds no text/);
    expect(() => bytesOf(row, 'text')).toThrow(/column "text" holds no bytes/);
  });
});
