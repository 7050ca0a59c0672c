// Chains new audit entries every second and keeps the signed head of each chain beside it; every hour logs the heads of the
// chains that grew, so that a copy of the log shows later whether the end of a chain was cut off. It must never change what an entry says.
import { messageOf } from '../../src/core/errors.ts';
import type { Clock, Database, Log, Signer, Statement, Verifier } from '../../src/ports.ts';
import { type ChainHead, chainEntries } from '../core/accounts/audit-chain.ts';
import { isDataFault } from '../core/store-faults.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';
import { insertAudit } from '../store/accounts/audit.ts';
import {
  type AuditRow,
  chainHead,
  keepHead,
  keptHead,
  sealEntry,
  sha256,
  unsealedEntries,
} from '../store/accounts/audit-log.ts';
import { signedHeadOf, signHead } from './signed-head.ts';

export interface AuditSealerOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly signer: Signer;
  readonly verifier: Verifier;
  /** False while another process seals; absent: there is none. */
  readonly isOurs?: () => boolean;
}

export interface AuditSealer {
  /** Seals what waits; runs by itself every second. @returns how many entries were sealed. */
  seal(): Promise<number>;
  /** Seals what waits, then stops. */
  close(): Promise<void>;
}

const periodMs = 1000;
const reportMs = 3600 * 1000;
const entriesMost = 500;
/** Other processes may seal at the same time; each pass leaves fewer conflicts. */
const passesMost = 20;

function byAccount(rows: readonly AuditRow[]): ReadonlyMap<string, readonly AuditRow[]> {
  const groups = new Map<string, AuditRow[]>();
  for (const row of rows) groups.set(row.accountID, [...(groups.get(row.accountID) ?? []), row]);
  return groups;
}

/**
 * Statements that keep the end of a chain whose entries are sealed in the same batch. A head that another key has signed is taken over,
 * with an entry that says so: it is a new key of the service, or the work of another program. One whose values are not those that were
 * signed stays, and the check of the chain finds it.
 */
async function keepEnd(
  { db, clock, signer, verifier }: AuditSealerOptions,
  accountID: string,
  links: readonly ChainHead[],
): Promise<readonly Statement[]> {
  const [first, end] = [links[0], links.at(-1)];
  if (first === undefined || end === undefined) return [];
  const atMs = Math.round(clock.utcMs());
  const head = { chainNo: end.chainNo, hash: end.hash };
  const signed = signHead(signer, { accountID, ...head, atMs });
  const keep = keepHead(accountID, { ...head, signed }, first.chainNo === 1);
  const kept = await keptHead(db, accountID);
  if (kept === null) return keep;
  const own = signedHeadOf(kept, verifier, accountID);
  if (own !== null) return own.chainNo === kept.chainNo && own.hash === kept.hash ? keep : [];
  const detail = { chainNumber: kept.chainNo };
  const entry = {
    accountID,
    atMs,
    actor: 'service',
    source: '',
    action: 'audit.adopthead',
    object: accountID,
  };
  return [...keep, insertAudit({ ...entry, detail })];
}

/** Seals one page; gives how many entries. Every account is a batch of its own: one broken chain holds up no other. */
async function sealPage(options: AuditSealerOptions, heads: Map<string, ChainHead>): Promise<number> {
  const { db } = options;
  const rows = await unsealedEntries(db, entriesMost);
  let sealed = 0;
  for (const [accountID, entries] of byAccount(rows)) {
    const links = chainEntries(sha256, await chainHead(db, accountID), entries);
    const keep = await keepEnd(options, accountID, links);
    try {
      const results = await db.write([...links.map(sealEntry), ...keep]);
      const own = links.filter((_link, index) => results[index]?.changes === 1);
      sealed += own.length;
      const last = own.at(-1);
      if (last !== undefined) heads.set(accountID, { chainNo: last.chainNo, hash: last.hash });
    } catch (thrown) {
      // Another process has sealed this place: the next pass reads what it wrote.
      if (!isDataFault(thrown)) throw thrown;
    }
  }
  return sealed;
}

/** Starts sealing; it goes on until `close`. */
export function createAuditSealer(options: AuditSealerOptions): AuditSealer {
  const { clock, log, signer, isOurs } = options;
  /** Heads of chains that grew since the last report. */
  const heads = new Map<string, ChainHead>();
  let reportedMs = clock.monoMs();

  const seal = async (): Promise<number> => {
    let sealed = 0;
    for (let pass = 0; pass < passesMost; pass++) {
      const count = await sealPage(options, heads);
      sealed += count;
      if (count < entriesMost) break;
    }
    return sealed;
  };
  const report = (): void => {
    reportedMs = clock.monoMs();
    for (const [accountID, head] of heads) {
      const signed = signHead(signer, { accountID, ...head, atMs: Math.round(clock.utcMs()) });
      log.info('audit_head', { accountID, ...head, signed });
    }
    heads.clear();
  };
  const work = async (): Promise<number> => {
    try {
      if (isOurs?.() !== false) await seal();
    } catch (thrown) {
      log.error('audit_seal_failed', { reason: messageOf(thrown) });
    }
    if (clock.monoMs() - reportedMs >= reportMs) report();
    return periodMs;
  };
  const task = createPeriodicTask({ clock, firstMs: periodMs, run: work });
  return {
    seal,
    async close() {
      await task.close();
      await work();
      report();
    },
  };
}
