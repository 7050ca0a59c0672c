// Walks the chains of the audit log and finds the first row of each that does not hold. Reads only, page by page, also
// while the broker runs.
import { AppError } from '../../src/core/errors.ts';
import type { Clock, Database, Signer, Verifier } from '../../src/ports.ts';
import { type ChainFault, createChainCheck } from '../core/accounts/audit-chain.ts';
import { auditedAccounts, chainHead, chainPage, countUnsealed, sha256 } from '../store/accounts/audit-log.ts';
import { headType, type SignedHead, signHead } from './sealer.ts';

const pageSize = 1000;
/** The sealer chains an entry within seconds; one that waits for longer is reported. */
const sealedWithinMs = 60_000;

export interface VerifyOptions {
  readonly db: Database;
  readonly clock: Clock;
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
  /** The first fault of each broken chain. */
  readonly faults: readonly ChainFault[];
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
  const accounts = new Set(saved.map((head) => head.accountID));
  for await (const one of everyAccount(db)) accounts.add(one);
  return [...accounts].sort();
}

async function verifyChain(options: VerifyOptions, accountID: string, onPage: (count: number) => void) {
  const saved = options.saved.filter((head) => head.accountID === accountID);
  const check = createChainCheck(sha256, { accountID, saved });
  let entries = 0;
  for (let fromNo = Number.MIN_SAFE_INTEGER; ; ) {
    const page = await chainPage(options.db, { accountID, fromNo, limit: pageSize });
    for (const entry of page) {
      const fault = check.check(entry);
      if (fault !== null) return { entries, erased: check.erased(), fault };
      entries += 1;
    }
    onPage(entries);
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) break;
    fromNo = last.chainNo + 1;
  }
  return { entries, erased: check.erased(), fault: check.finish() };
}

/** Checks the chains; nothing is changed. */
export async function verifyAudit(options: VerifyOptions): Promise<Verdict> {
  const accounts = await accountsOf(options);
  const faults: ChainFault[] = [];
  let entries = 0;
  let erased = 0;
  for (const accountID of accounts) {
    const before = entries;
    const chain = await verifyChain(options, accountID, (count) => options.onProgress(before + count));
    entries += chain.entries;
    erased += chain.erased;
    if (chain.fault !== null) faults.push(chain.fault);
  }
  const unsealed = await countUnsealed(options.db, options.clock.utcMs() - sealedWithinMs);
  return { chains: accounts.length, entries, erased, unsealed, faults };
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

function parseHead(bytes: Uint8Array): SignedHead | null {
  const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
  if (typeof value !== 'object' || value === null) return null;
  const { accountID, chainNo, hash, atMs } = value as Partial<Record<keyof SignedHead, unknown>>;
  if (typeof accountID !== 'string' || typeof hash !== 'string') return null;
  if (typeof chainNo !== 'number' || typeof atMs !== 'number') return null;
  return { accountID, chainNo, hash, atMs };
}

/**
 * Reads saved heads: any text in which the signed heads stand, as `audit heads` prints them or as they are logged.
 * @throws AppError `invalid_content` when there is none, or one was not signed by this broker.
 */
export function readHeads(text: string, verifier: Verifier): readonly SignedHead[] {
  const tokens = text.match(/[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{80,}/g) ?? [];
  if (tokens.length === 0) throw new AppError('invalid_content', 'there is no signed head in the file');
  return tokens.map((token) => {
    const payload = verifier.verify(token, headType);
    const head = payload === null ? null : parseHead(payload);
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
