// Walks the chains of the audit log and finds the first row of each that does not hold. Reads only, page by page, also
// while the broker runs.
import { setImmediate as nextLoopTurn } from 'node:timers/promises';
import { AppError } from '../../src/core/errors.ts';
import type { Clock, Database, Signer, Verifier } from '../../src/ports.ts';
import {
  type ChainedEntry,
  type ChainFault,
  type ChainHead,
  createChainCheck,
  emptyChain,
} from '../core/accounts/audit-chain.ts';
import {
  auditedAccounts,
  chainHead,
  chainPage,
  countUnsealed,
  headedAccounts,
  keptHead,
  sha256,
} from '../store/accounts/audit-log.ts';
import { readHead, type SignedHead, signedHeadOf, signHead } from './signed-head.ts';

/** Entries that are hashed in one turn of the event loop: some 1 ms. */
const pageSize = 100;
/** The sealer chains an entry within seconds; one that waits for longer is reported. */
const sealedWithinMs = 60_000;

export interface VerifyOptions {
  readonly db: Database;
  readonly clock: Clock;
  /** Checks the signatures of kept heads; null: they are compared without. */
  readonly verifier: Verifier | null;
  /** One account only; null: all, with the service's own chain. */
  readonly accountID: string | null;
  /** Heads that were kept elsewhere. */
  readonly saved: readonly SignedHead[];
  /** Called after every page. */
  onProgress(entries: number): void;
}

export interface Verdict {
  readonly chains: number;
  readonly entries: number;
  /** Entries whose detail was erased; their hash stands. */
  readonly erased: number;
  /** Entries that should have been sealed long ago. */
  readonly unsealed: number;
  /** Chains whose head has no signature of this service: nothing proves that their end is there. */
  readonly unproven: number;
  /** The first fault of each broken chain. */
  readonly faults: readonly ChainFault[];
}

/** What is checked of one chain. */
export interface ChainRequest {
  readonly db: Database;
  readonly verifier: Verifier | null;
  readonly accountID: string;
  /** Heads that were kept elsewhere. */
  readonly saved: readonly ChainHead[];
  /** The entry that was checked last; `emptyChain`: none. */
  readonly after: ChainHead;
  readonly entriesMost: number;
  /** Called after every page; what it throws ends the check. */
  onPage(entries: number): void;
}

/** What was found of a chain, or of a part of it. */
export interface ChainPart {
  readonly entries: number;
  readonly erased: number;
  readonly first: ChainedEntry | null;
  readonly last: ChainedEntry | null;
  readonly head: ChainHead;
  readonly fault: ChainFault | null;
  /** False: there may be more after `head`. */
  readonly isWhole: boolean;
  /** Whether a head that was signed by this service names an entry at the end or before it. */
  readonly isProven: boolean;
  /** Entries that the kept head counts. */
  readonly length: number;
}

/** Every account with entries, in the order of ids. */
async function* everyAccount(db: Database): AsyncGenerator<string, void, undefined> {
  let after: string | null = null;
  for (;;) {
    const page: readonly string[] = await auditedAccounts(db, { after, limit: 100 });
    yield* page;
    after = page.at(-1) ?? null;
    if (page.length < 100) return;
  }
}

async function accountsOf({ db, accountID, saved }: VerifyOptions): Promise<readonly string[]> {
  if (accountID !== null) return [accountID];
  // A chain of which nothing is left shows only against a saved head.
  const accounts = new Set([...saved.map((head) => head.accountID), ...(await headedAccounts(db))]);
  for await (const one of everyAccount(db)) accounts.add(one);
  return [...accounts].sort();
}

/** The head that was kept in the database, and what its signature says. Read before the entries: these may only go on after it. */
async function keptHeads(db: Database, verifier: Verifier | null, accountID: string) {
  const kept = await keptHead(db, accountID);
  if (kept === null) return { kept, heads: [], isProven: false };
  const head = verifier === null ? null : signedHeadOf(kept, verifier, accountID);
  // A row that does not say what was signed is compared as both.
  return { kept, heads: head === null ? [kept] : [kept, head], isProven: head !== null };
}

/** Checks one chain, or a part of it, with a turn of the event loop between pages. */
export async function checkChain(request: ChainRequest): Promise<ChainPart> {
  const { db, verifier, accountID, after, entriesMost, onPage } = request;
  const { kept, heads, isProven } = await keptHeads(db, verifier, accountID);
  const check = createChainCheck(sha256, { accountID, after, saved: [...request.saved, ...heads] });
  let [entries, first, last] = [0, null as ChainedEntry | null, null as ChainedEntry | null];
  const found = (fault: ChainFault | null, isWhole: boolean): ChainPart => ({
    entries,
    erased: check.erased(),
    first,
    last,
    head: check.head(),
    fault,
    isWhole,
    isProven,
    length: kept?.chainNo ?? 0,
  });
  for (let fromNo = after.chainNo === 0 ? Number.MIN_SAFE_INTEGER : after.chainNo + 1; ; ) {
    const page = await chainPage(db, { accountID, fromNo, limit: pageSize });
    for (const entry of page) {
      const fault = check.check(entry);
      if (fault !== null) return found(fault, true);
      entries += 1;
      first ??= entry;
      last = entry;
    }
    onPage(entries);
    if (page.length < pageSize) break;
    fromNo = check.head().chainNo + 1;
    if (entries >= entriesMost) return found(null, false);
    await nextLoopTurn();
  }
  const fault = check.finish();
  const { chainNo } = check.head();
  if (fault !== null || kept !== null || chainNo === 0) return found(fault, true);
  return found({ accountID, chainNo, auditNo: null, reason: 'head_missing' }, true);
}

/** Entries that should have been sealed long ago. @param accountID null: of all accounts. */
export function lateEntries(db: Database, clock: Clock, accountID: string | null): Promise<number> {
  return countUnsealed(db, { accountID, beforeMs: clock.utcMs() - sealedWithinMs });
}

/** Checks the chains; nothing is changed. */
export async function verifyAudit(options: VerifyOptions): Promise<Verdict> {
  const { db, clock, verifier } = options;
  const accounts = await accountsOf(options);
  const faults: ChainFault[] = [];
  let [entries, erased, unproven] = [0, 0, 0];
  for (const accountID of accounts) {
    const before = entries;
    const chain = await checkChain({
      db,
      verifier,
      accountID,
      saved: options.saved.filter((head) => head.accountID === accountID),
      after: emptyChain,
      entriesMost: Number.POSITIVE_INFINITY,
      onPage: (count) => options.onProgress(before + count),
    });
    entries += chain.entries;
    erased += chain.erased;
    if (verifier !== null && !chain.isProven && chain.length > 0) unproven += 1;
    if (chain.fault !== null) faults.push(chain.fault);
  }
  const unsealed = await lateEntries(db, clock, null);
  return { chains: accounts.length, entries, erased, unsealed, unproven, faults };
}

/** The head of one chain or of every chain, each signed. */
export async function auditHeads(
  { db, clock, signer }: { readonly db: Database; readonly clock: Clock; readonly signer: Signer },
  accountID: string | null,
): Promise<readonly (SignedHead & { readonly signed: string })[]> {
  const heads: (SignedHead & { readonly signed: string })[] = [];
  const add = async (one: string): Promise<void> => {
    const head = { accountID: one, ...(await chainHead(db, one)), atMs: Math.round(clock.utcMs()) };
    if (head.chainNo > 0) heads.push({ ...head, signed: signHead(signer, head) });
  };
  if (accountID !== null) await add(accountID);
  else for await (const one of everyAccount(db)) await add(one);
  return heads;
}

/**
 * Reads saved heads: any text in which the signed heads stand, as `audit heads` prints them or as they are logged.
 * @throws AppError `invalid_content` when there is none, or one was not signed by this broker.
 */
export function readHeads(text: string, verifier: Verifier): readonly SignedHead[] {
  const tokens = text.match(/[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{80,}/g) ?? [];
  if (tokens.length === 0) throw new AppError('invalid_content', 'there is no signed head in the file');
  return tokens.map((token) => {
    const head = readHead(verifier, token);
    if (head !== null) return head;
    throw new AppError(
      'invalid_content',
      `a saved head was not signed by this broker: ${token.slice(0, 40)}...`,
      {
        hint: 'Name the signing key that the broker had with --signing-key-file.',
      },
    );
  });
}
