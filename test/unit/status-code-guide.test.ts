// The table of status codes that integrators read is the table that the code uses.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { statusCodes } from '../../src/core/events/status-codes.ts';

const guide = readFileSync(new URL('../../broker/api/README.md', import.meta.url), 'utf8');
const classes = ['critical', 'alarm', 'change', 'routine'];

describe('the table of status codes in the API guide', () => {
  it('lists every code once, ascending, with its name and class', () => {
    const rows = [...guide.matchAll(/^\| (\d+) \| (\w+) \| (\w+) \| \S/gm)].map(([, code, name, kind]) =>
      [code, name, kind].join(' '),
    );
    const known = Object.values(statusCodes)
      .toSorted((one, other) => one.code - other.code)
      .map(({ code, text, priority }) => `${code} ${text} ${classes[priority]}`);
    expect(rows).toEqual(known);
  });
});
