// Chains new audit entries every second, and every hour logs the signed head of each chain that grew, so that a copy of
// the log shows later whether the end of a chain was cut off. It must never change what an entry says.
import { messageOf } from '../../src/core/errors.ts';
import type { Clock, Database, Log, Signer } from '../../src/ports.ts';
import { type ChainHead, chainEntries } from '../core/accounts/audit-chain.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';
import { type AuditRow, chainHead, sealEntry, sha256, unsealedEntries } from '../store/accounts/audit-log.ts';
import { isDataFault } from '../store/base/store-faults.ts';

export interface AuditSealerOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly signer: Signer;
  /** False while another process seals; absent: there is none. */
  readonly isOurs?: () => boolean;
}

export interface AuditSealer {
  /** Seals what waits; runs by itself every second. @returns how many entries were sealed. */
  seal(): Promise<number>;
  /** Seals what waits, then stops. */
  close(): Promise<void>;
}

/** Type of a signed head; its payload is the JSON of `SignedHead`. */
export const headType = 'fleetward-audit-head-1';

export interface SignedHead extends ChainHead {
  readonly accountID: string;
  readonly atMs: number;
}

const periodMs = 1000;
const reportMs = 3600 * 1000;
const entriesMost = 500;
/** Other processes may seal at the same time; each pass leaves fewer conflicts. */
const passesMost = 20;

/** The head of a chain as a signed text of one line. */
export function signHead(signer: Signer, head: SignedHead): string {
  return signer.sign(new TextEncoder().encode(JSON.stringify(head)), headType);
}

function byAccount(rows: readonly AuditRow[]): ReadonlyMap<string, readonly AuditRow[]> {
  const groups = new Map<string, AuditRow[]>();
  for (const row of rows) groups.set(row.accountID, [...(groups.get(row.accountID) ?? []), row]);
  return groups;
}

/** Seals one page; gives how many entries. Every account is a batch of its own: one broken chain holds up no other. */
async function sealPage(db: Database, heads: Map<string, ChainHead>): Promise<number> {
  const rows = await unsealedEntries(db, entriesMost);
  let sealed = 0;
  for (const [accountID, entries] of byAccount(rows)) {
    const links = chainEntries(sha256, await chainHead(db, accountID), entries);
    try {
      const results = await db.write(links.map(sealEntry));
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
  const { db, clock, log, signer, isOurs } = options;
  /** Heads of chains that grew since the last report. */
  const heads = new Map<string, ChainHead>();
  let reportedMs = clock.monoMs();

  const seal = async (): Promise<number> => {
    let sealed = 0;
    for (let pass = 0; pass < passesMost; pass++) {
      const count = await sealPage(db, heads);
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
