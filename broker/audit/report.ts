// Output of `audit verify` and `audit heads`: as text and as JSON.
import type { Clock, Database, Signer, Verifier } from '../../src/ports.ts';
import type { ChainFault } from '../core/accounts/audit-chain.ts';
import { chainFaultTexts } from '../core/accounts/audit-chain-text.ts';
import type { SignedHead } from './signed-head.ts';
import { auditHeads, readHeads, type Verdict, verifyAudit } from './verify.ts';

/** Period of progress lines during a long check, ms. */
const progressMs = 2000;

interface Report {
  readonly json: object;
  readonly text: string;
}

/** The chain of '' is the service's own. */
const chainName = (accountID: string): string => (accountID === '' ? 'the service itself' : accountID);

function faultLine({ accountID, chainNo, auditNo, reason }: ChainFault): string {
  const row = auditNo === null ? '' : ` (row ${auditNo})`;
  return `BROKEN ${chainName(accountID)}, entry ${chainNo}${row}: ${chainFaultTexts[reason]}`;
}

function verdictText(verdict: Verdict): string {
  const { chains, entries, erased, unsealed, unproven, faults } = verdict;
  const lines = faults.map(faultLine);
  lines.push(
    `${chains} chains, ${entries} entries${faults.length === 0 ? ': all hold' : ' hold up to there'}`,
  );
  if (erased > 0) lines.push(`${erased} entries without their detail, which was erased`);
  if (unproven > 0) lines.push(`${unproven} chains whose head was not signed by this service`);
  if (unsealed > 0)
    lines.push(`${unsealed} entries older than a minute are not sealed: does the broker run?`);
  return lines.join('\n');
}

export interface VerifyRequest {
  readonly db: Database;
  readonly clock: Clock;
  readonly accountID: string | null;
  /** Checks signatures of the service; null: its key is not here. */
  readonly verifier: Verifier | null;
  /** Text with signed heads that were kept elsewhere; null: none were. */
  readonly kept: string | null;
  /** Gets a line of text while a long check runs. */
  onProgress(line: string): void;
}

function savedHeads({ kept, verifier, accountID }: VerifyRequest): readonly SignedHead[] {
  if (kept === null || verifier === null) return [];
  const heads = readHeads(kept, verifier);
  return accountID === null ? heads : heads.filter((head) => head.accountID === accountID);
}

/** Checks the audit log. @throws AppError `invalid_content` for heads that cannot be read. */
export async function reportVerify(request: VerifyRequest): Promise<Report & { readonly isGood: boolean }> {
  const { db, clock, verifier, accountID, onProgress } = request;
  let reportedMs = clock.monoMs();
  const verdict = await verifyAudit({
    db,
    clock,
    accountID,
    verifier,
    saved: savedHeads(request),
    onProgress: (entries) => {
      if (clock.monoMs() - reportedMs < progressMs) return;
      reportedMs = clock.monoMs();
      onProgress(`${entries} entries checked`);
    },
  });
  const isGood = verdict.faults.length === 0;
  return { isGood, json: { ok: isGood, ...verdict }, text: verdictText(verdict) };
}

/** The heads of the chains, to be kept elsewhere. */
export async function reportHeads(
  ports: { readonly db: Database; readonly clock: Clock; readonly signer: Signer },
  accountID: string | null,
): Promise<Report> {
  const heads = await auditHeads(ports, accountID);
  const lines = heads.map(
    (head) => `${chainName(head.accountID)} ${head.chainNo} ${head.hash}\n  ${head.signed}`,
  );
  return { json: { heads }, text: lines.length === 0 ? 'the audit log is empty' : lines.join('\n') };
}
