// Cached answers about single devices, valid for one revision of the account's fleet: a request at the same revision needs no further
// read. Only callers who see all devices share them; an answer for a group-limited caller is read for each request.
import type { FleetCaller } from '../../ports/fleet-cache.ts';

/** Bytes of all accounts; beyond it everything is forgotten. */
const bytesMost = 32 * 2 ** 20;

interface AccountAnswers {
  readonly fleetRevision: number;
  readonly answers: Map<string, Buffer>;
}

export interface UnchangedAnswers {
  /** @param make reads it, at least as new as the caller's revision; null: there is nothing to keep. */
  get(caller: FleetCaller, key: string, make: () => Promise<Buffer | null>): Promise<Buffer | null>;
}

export function createUnchangedAnswers(): UnchangedAnswers {
  const accounts = new Map<string, AccountAnswers>();
  let bytes = 0;

  function keep({ scope, fleetRevision }: FleetCaller, key: string, answer: Buffer): void {
    bytes += answer.length;
    if (bytes > bytesMost) {
      accounts.clear();
      bytes = answer.length;
    }
    const known = accounts.get(scope.accountID);
    // One that was made for an older request may be older than what is kept.
    if (known !== undefined && known.fleetRevision > fleetRevision) return;
    const answers = known?.fleetRevision === fleetRevision ? known.answers : new Map<string, Buffer>();
    answers.set(key, answer);
    accounts.set(scope.accountID, { fleetRevision, answers });
  }

  return {
    async get(caller, key, make) {
      const { scope, fleetRevision } = caller;
      if (scope.limitedTo !== null) return make();
      const known = accounts.get(scope.accountID);
      const kept = known?.fleetRevision === fleetRevision ? known.answers.get(key) : undefined;
      if (kept !== undefined) return kept;
      const answer = await make();
      if (answer !== null) keep(caller, key, answer);
      return answer;
    },
  };
}
