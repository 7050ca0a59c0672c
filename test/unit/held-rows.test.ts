// The held order of a list.
import { describe, expect, it } from 'vitest';
import { heldList } from '../../broker/console/components/rows/held-rows.ts';

interface Item {
  readonly id: string;
  readonly speed: number;
}

const items = (text: string, speed = 0): readonly Item[] => text.split('').map((id) => ({ id, speed }));
const keyOf = ({ id }: Item): string => id;
const textOf = (rows: ReturnType<typeof heldList<Item>>['rows']): string =>
  rows.map(({ item, isGone }) => item.id + (isGone ? '-' : '')).join('');

describe('the held order of a list', () => {
  it.each([
    ['follows the list while it is not held', null, 'bac', 'bac', ''],
    ['stays when the list is sorted anew', 'abc', 'cba', 'abc', ''],
    ['keeps the place of a row that is gone', 'abc', 'ca', 'ab-c', ''],
    ['counts rows that came, and shows none of them', 'abc', 'xaybc', 'abc', 'xy'],
    ['keeps rows of a list that is empty now', 'ab', '', 'a-b-', ''],
  ] as const)('%s', (...[, held, now, shown, fresh]) => {
    const rows = held === null ? null : heldList(null, items(held), keyOf).rows;
    const list = heldList(rows, items(now), keyOf);
    expect([textOf(list.rows), list.fresh.map(keyOf).join('')]).toEqual([shown, fresh]);
  });

  it('shows the content of now in a row that stays, and the last one of a row that is gone', () => {
    const { rows } = heldList(heldList(null, items('ab'), keyOf).rows, items('b', 50), keyOf);
    expect(rows.map(({ item }) => item.speed)).toEqual([0, 50]);
  });
});
