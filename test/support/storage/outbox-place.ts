// A folder for the outboxes of each test, in which whatever a test opened is closed before the folder goes.
import { afterEach, beforeEach } from 'vitest';
import type { Outbox } from '../../../agent/outbox.ts';
import { createFolder, open } from './outbox-bench.ts';

/** To be called once in a test file. `path` and `folder` are those of the running test. */
export function useOutboxPlace() {
  let place: ReturnType<typeof createFolder>;
  let outboxes: Outbox[] = [];
  beforeEach(() => {
    place = createFolder();
  });
  afterEach(async () => {
    for (const outbox of outboxes) await outbox.close();
    outboxes = [];
    place.remove();
  });
  return {
    get path(): string {
      return place.path;
    },
    get folder(): string {
      return place.folder;
    },
    /** Opens one that the end of the test closes. */
    async opened(changes: Parameters<typeof open>[1] = {}, path = place.path): Promise<Outbox> {
      const outbox = await open(path, changes);
      outboxes.push(outbox);
      return outbox;
    },
  };
}
