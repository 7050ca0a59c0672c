// A store that can be taken back by some commits, as after a server that was behind has taken over, or a backup has come back.
import type { Database, Statement } from '../../../src/ports.ts';
import { openBenchDatabase } from '../broker/broker-bench.ts';

export interface ReplayedDatabase {
  readonly db: Database;
  /** The store is what it was `behind` commits ago; the first one, which makes a device, always stays. */
  goBack(behind: number): Promise<void>;
}

/** Starts with the accounts of the bench. */
export async function openReplayedDatabase(): Promise<ReplayedDatabase> {
  let real = await openBenchDatabase();
  let written: (readonly Statement[])[] = [];
  const db: Database = {
    read: (statement) => real.read(statement),
    async write(batch) {
      const results = await real.write(batch);
      written.push(batch);
      return results;
    },
    close: () => real.close(),
  };
  return {
    db,
    async goBack(behind) {
      const kept = written.slice(0, Math.max(1, written.length - behind));
      await real.close();
      real = await openBenchDatabase();
      written = [];
      for (const batch of kept) await db.write(batch);
    },
  };
}
