// Merges streams of rows, each in the order of event time, into one. A stream is opened only after the rows before it
// were read, so the first page of a year costs no more than a day's.

/** Place of an event in a listing by event time; events of one millisecond follow in the order of arrival. */
export interface EventKey {
  readonly timestampMs: number;
  readonly eventNo: number;
}

/** Rows in order, some at a time. */
export type KeyedStream<T extends EventKey> = AsyncGenerator<readonly T[], void, undefined>;

export interface Source<T extends EventKey> {
  /** None of its rows is before this. */
  readonly fromMs: number;
  readonly open: () => KeyedStream<T>;
}

export const isBefore = (one: EventKey, other: EventKey): boolean =>
  one.timestampMs < other.timestampMs ||
  (one.timestampMs === other.timestampMs && one.eventNo < other.eventNo);

interface Head<T extends EventKey> {
  readonly stream: KeyedStream<T>;
  rows: readonly T[];
  at: number;
}

/** False at the end of the stream. */
async function refill<T extends EventKey>(head: Head<T>): Promise<boolean> {
  const next = await head.stream.next();
  head.rows = next.done === true ? [] : next.value;
  head.at = 0;
  return head.rows.length > 0;
}

function firstOf<T extends EventKey>(heads: readonly Head<T>[]): { head: Head<T>; row: T } | null {
  let first: { head: Head<T>; row: T } | null = null;
  for (const head of heads) {
    const row = head.rows[head.at];
    if (row !== undefined && (first === null || isBefore(row, first.row))) first = { head, row };
  }
  return first;
}

/**
 * One stream in order. Buffered rows are yielded before anything further is read, so that a reader can stop there.
 * @param sources in the order of their `fromMs`.
 */
export async function* inOrder<T extends EventKey>(sources: readonly Source<T>[]): KeyedStream<T> {
  const waiting = [...sources];
  let heads: Head<T>[] = [];
  let page: T[] = [];
  for (;;) {
    const [next] = waiting;
    const first = firstOf(heads);
    if (next !== undefined && (first === null || next.fromMs <= first.row.timestampMs)) {
      if (page.length > 0) yield page;
      page = [];
      waiting.shift();
      const head: Head<T> = { stream: next.open(), rows: [], at: 0 };
      if (await refill(head)) heads.push(head);
      continue;
    }
    if (first === null) return;
    const { head, row } = first;
    page.push(row);
    head.at += 1;
    if (head.at < head.rows.length) continue;
    yield page;
    page = [];
    if (!(await refill(head))) heads = heads.filter((one) => one !== head);
  }
}
