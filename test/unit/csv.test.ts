// CSV as RFC 4180 has it and as spreadsheets write it, with the line of every row and of every fault.
import { describe, expect, it } from 'vitest';
import { readCsv } from '../../broker/api/answers/csv.ts';

const rowsOf = async (text: string) => (await readCsv(text, 100)).map(({ line, cells }) => [line, ...cells]);

describe('CSV', () => {
  it.each([
    ['with CRLF', 'a,b\r\n1,2\r\n'],
    ['with LF', 'a,b\n1,2\n'],
    ['without an end of line at the end', 'a,b\n1,2'],
    ['with a byte order mark', '\uFEFFa,b\n1,2\n'],
    ['with semicolons', 'a;b\n1;2\n'],
    ['with quotes', '"a","b"\n"1","2"\n'],
  ])('is read %s', async (_what, text) => {
    expect(await rowsOf(text)).toEqual([
      [1, 'a', 'b'],
      [2, '1', '2'],
    ]);
  });

  it('keeps separators, quotes and line breaks within quotes, and counts lines as an editor does', async () => {
    expect(await rowsOf('a,b\n"1,""x""\ny",2\n\n3,4\n')).toEqual([
      [1, 'a', 'b'],
      [3, '1,"x"\ny', '2'],
      [5, '3', '4'],
    ]);
  });

  it('takes a semicolon for a character where the first line has commas', async () => {
    expect(await rowsOf('a,b\nx;y,z\n')).toEqual([
      [1, 'a', 'b'],
      [2, 'x;y', 'z'],
    ]);
  });

  it('gives rows of any width: what is missing is for its reader to say', async () => {
    expect(await rowsOf('a,b\n1\n1,2,3\n')).toEqual([
      [1, 'a', 'b'],
      [2, '1'],
      [3, '1', '2', '3'],
    ]);
  });

  it.each([
    ['an open quote', 'a\n"b\n'],
    ['a quote within a bare cell', 'a\nb"c\n'],
    ['something behind a closing quote', 'a\n"b"c\n'],
    ['a row of more than 64 KiB', `a\n${'x'.repeat(70_000)}\n`],
  ])('with %s is refused without quoting it', async (_what, text) => {
    const refusal = expect.objectContaining({
      code: 'invalid_content',
      message: expect.stringMatching(/is no CSV/),
    });
    await expect(readCsv(text, 100)).rejects.toEqual(refusal);
    await expect(readCsv(text, 100)).rejects.not.toThrow('xxx');
  });

  it('with too many rows is refused', async () => {
    await expect(readCsv('a\n'.repeat(101), 100)).rejects.toThrow('more than 100 rows');
  });
});
