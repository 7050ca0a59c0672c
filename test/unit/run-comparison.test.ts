// Which changes between two runs fail a comparison.
import { describe, expect, it } from 'vitest';
import {
  type ChangeLimit,
  compareFigures,
  failedChanges,
  parseChangeLimit,
} from '../../simulator/core/result/comparison.ts';

const limitOf = (text: string): ChangeLimit => {
  const parsed = parseChangeLimit(text);
  return parsed.kind === 'ok' ? parsed.limit : expect.fail(parsed.message);
};
const failed = (texts: readonly string[], before: object, after: object) =>
  failedChanges(texts.map(limitOf), compareFigures({ ...before }, { ...after })).map(({ limit, ratio }) => [
    limit.text,
    ratio,
  ]);

describe('a comparison', () => {
  it('fails by a figure that grew or shrank by more than it may', () => {
    const [before, after] = [
      { 'ingest.p99': 100, 'events.rate': 50 },
      { 'ingest.p99': 130, 'events.rate': 40 },
    ];
    expect(failed(['ingest.p99>1.2x', 'events.rate < 0.9x'], before, after)).toEqual([
      ['ingest.p99>1.2x', 1.3],
      ['events.rate < 0.9x', 0.8],
    ]);
    expect(failed(['ingest.p99>1.3x', 'events.rate<0.8x'], before, after)).toEqual([]);
  });

  it('fails by a figure that was not measured in both runs, or that was 0 before', () => {
    expect(failed(['outage.p99>2x'], { 'outage.p99': 5 }, {})).toEqual([['outage.p99>2x', null]]);
    expect(failed(['lost>1x'], { lost: 0 }, { lost: 3 })).toEqual([['lost>1x', null]]);
    expect(failed(['lost>1x'], { lost: 0 }, { lost: 0 })).toEqual([]);
  });

  it.each([
    ['ingest.p99>1.2', 'is not such as ingest.p99>1.2x'],
    ['ingest.p99>250ms', 'is not such as'],
    ['ingest.p98>2x', 'did you mean "ingest.p9'],
    ['', 'is not such as'],
  ])('refuses %s', (text, words) => {
    expect(parseChangeLimit(text)).toMatchObject({ kind: 'fault', message: expect.stringContaining(words) });
  });
});
