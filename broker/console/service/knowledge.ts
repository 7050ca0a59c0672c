// Since when answers count as fresh: what was read before the connection was lost has to be read again.
import type { QueryClient } from '@tanstack/react-query';
import { createValue } from '../state/value.ts';
import { connection } from './live.ts';

/** When the connection was lost last, ms since 1970; 0: never. */
export const lostMs = createValue(0);

let before = connection.get().state;
let queries: QueryClient | null = null;

connection.subscribe(() => {
  const { state } = connection.get();
  if (state === before) return;
  const wasDown = before === 'down';
  before = state;
  if (state === 'down') lostMs.set(Date.now());
  // A report, and what never changes, stay as they were read.
  if (wasDown && state === 'live')
    void queries?.invalidateQueries({
      predicate: ({ queryKey: [kind] }) => kind !== 'report' && kind !== 'replay',
    });
});

/** Reads the answers of these queries again when the connection is back. */
export function readAgainWhenBack(client: QueryClient): void {
  queries = client;
}
