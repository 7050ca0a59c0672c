// Whether the database takes writes, asked by a write that really reaches the disk: an update of no rows succeeds on a
// full disk too. Whoever asks often, and anybody may ask, must not cost a commit each time.
import type { Clock, Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';

/** How long an answer holds, in ms. */
const holdMs = 1000;
/** From here on nobody waits for an ask that hangs, in ms. */
const hangsMs = 3000;

// No account has an empty id, and nobody ever sees the row: it is gone before the commit, which writes its page all the
// same.
const probe = [
  sql`INSERT INTO accounts (account_id, display_name, is_active, created_s) VALUES ('', '', 0, 0)`,
  sql`DELETE FROM accounts WHERE account_id = ''`,
];

interface DatabaseCheck {
  readonly name: 'database';
  readonly fault: string | null;
}

/**
 * The check of one database; answers within a second of each other are one answer, and there is never more than one ask on
 * its way: behind a lock they would queue up before the writes of vehicles. It never rejects.
 */
export function createDatabaseCheck(db: Database, clock: Clock): () => Promise<DatabaseCheck> {
  let answer: Promise<DatabaseCheck> | null = null;
  let askedMs = 0;
  let isAsking = false;
  const ask = async (): Promise<DatabaseCheck> => {
    isAsking = true;
    try {
      await db.write(probe);
      return { name: 'database', fault: null };
    } catch {
      return { name: 'database', fault: 'cannot be written' };
    } finally {
      isAsking = false;
    }
  };
  return async () => {
    const ageMs = clock.monoMs() - askedMs;
    if (isAsking && ageMs >= hangsMs) return { name: 'database', fault: 'does not answer' };
    if (answer === null || (!isAsking && ageMs >= holdMs)) {
      askedMs = clock.monoMs();
      answer = ask();
    }
    return answer;
  };
}
