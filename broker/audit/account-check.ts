// Checks the chain of one account for its administrators, a part with each call, so that no request runs for long however long
// the log is. It reads in spare time and one call at a time for each account; an account learns of its own chain only.
import { AppError } from '../../src/core/errors.ts';
import type { Clock, Database, Signer, Verifier } from '../../src/ports.ts';
import { type ChainHead, emptyChain } from '../core/accounts/audit-chain.ts';
import { answerEnded } from '../scheduling/per-account-limits.ts';
import { createSlots } from '../scheduling/slots.ts';
import { type SignedHead, signHead } from './signed-head.ts';
import { type ChainPart, checkChain, lateEntries, readHeads } from './verify.ts';

/** Entries of one part: some 0.3 s. */
export const partMost = 20_000;
/** Checks under way. */
const checkLimits = { token: 1, user: 1, account: 1, process: 4 } as const;

export interface AccountCheckRequest {
  readonly accountID: string;
  /** Where the part before ended; null: from the beginning. */
  readonly after: ChainHead | null;
  /** A signed head that the caller kept; null: none. */
  readonly saved: string | null;
  /** Aborts when the answer has ended. */
  readonly until: AbortSignal;
}

/** What a check found. */
export interface AccountCheck extends ChainPart {
  /** Entries that should have been sealed long ago. */
  readonly unsealed: number;
  /** The end of a chain that holds, signed, for the caller to keep; null: there is none yet. */
  readonly signed: string | null;
}

export interface AccountChecks {
  /**
   * Checks a part of the chain.
   * @throws AppError `throttled` while another check of the account runs; `invalid_content` for a head that is not of this chain.
   */
  check(request: AccountCheckRequest): Promise<AccountCheck>;
}

export interface AccountChecksOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly signer: Signer;
  readonly verifier: Verifier;
}

export function createAccountChecks({ db, clock, signer, verifier }: AccountChecksOptions): AccountChecks {
  const slots = createSlots(checkLimits);
  const savedHeads = ({ accountID, saved }: AccountCheckRequest): readonly SignedHead[] => {
    if (saved === null) return [];
    const heads = readHeads(saved, verifier);
    if (heads.every((head) => head.accountID === accountID)) return heads;
    throw new AppError('invalid_content', 'the saved head is of another account');
  };
  return {
    async check(request) {
      const { accountID, after, until } = request;
      const saved = savedHeads(request);
      const full = slots.take({ accountID, userID: '', tokenHash: '' }, until);
      if (full !== null) {
        const whose = full === 'account' ? 'this account' : 'other accounts';
        const message = `The audit log of ${whose} is being checked`;
        throw new AppError('throttled', message, { retryAfterS: 1 });
      }
      const part = await checkChain({
        db,
        verifier,
        accountID,
        saved,
        after: after ?? emptyChain,
        entriesMost: partMost,
        onPage() {
          if (until.aborted) throw answerEnded();
        },
      });
      const unsealed = await lateEntries(db, clock, accountID);
      const { head, fault, isWhole } = part;
      const isGood = fault === null && isWhole && head.chainNo > 0;
      const signed = isGood
        ? signHead(signer, { accountID, ...head, atMs: Math.round(clock.utcMs()) })
        : null;
      return { ...part, unsealed, signed };
    },
  };
}
