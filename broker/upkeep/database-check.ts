// Checks that the database accepts writes, by a write that reaches the disk: an update of no rows succeeds on a full disk
// too. Any client may request checks, so not each may cost a commit.
import { AppError, causeCodeOf, filesGoneCode, messageOf } from '../../src/core/errors.ts';
import type { Clock, Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';

/** How long a result is reused, ms. */
const holdMs = 1000;
/** A write that takes longer counts as hanging, in ms. */
const hangsMs = 3000;

// No account has an empty id, and the row is never visible: it is deleted before the commit, which writes its page all the
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
 * The check of one database. A result is reused for a second, and at most one probe runs: behind a lock, probes would
 * queue before the vehicles' writes. It never rejects.
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
    } catch (thrown) {
      // The file without its folder: anyone may ask.
      const isGone = thrown instanceof AppError && causeCodeOf(thrown) === filesGoneCode;
      return { name: 'database', fault: isGone ? messageOf(thrown.cause) : 'cannot be written' };
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
