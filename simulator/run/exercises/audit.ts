// The audit log: it has an entry with the actor for every change of the run, holds no secret, and its hash chain verifies.
import type { Ledger } from '../../core/ledger/ledger.ts';
import type { Service } from '../service/service.ts';
import { createFindings, type Exercise } from './exercise.ts';

interface Entry {
  /** Epoch seconds. */
  readonly timestamp: number;
  readonly userID: string;
  readonly action: string;
  readonly object: string;
  readonly detail: Readonly<Record<string, unknown>> | null;
}

interface Page {
  readonly entries: readonly Entry[];
  readonly more: boolean;
  readonly next: string | null;
}

const pageSize = 500;

/** The whole log of the account of a login. */
export async function readEntries(service: Service): Promise<readonly Entry[]> {
  const all: Entry[] = [];
  let cursor = '';
  for (;;) {
    const path = `/audit/entries/authorization?limit=${pageSize}${cursor}`;
    const { entries, more, next } = await service.call<Page>({ path });
    for (const entry of entries) all.push(entry);
    if (!more || next === null) return all;
    cursor = `&cursor=${next}`;
  }
}

export const keyOf = ({ userID, action, object }: Omit<Entry, 'detail' | 'timestamp'>): string =>
  `${userID} ${action} ${object}`;

/** Commands of the run that no entry names. */
function findUnnamed(ledger: Ledger, entries: readonly Entry[]): readonly string[] {
  const named = new Set(
    entries.flatMap(({ action, detail }) =>
      action.startsWith('command.') && detail !== null ? [String(detail['commandID'])] : [],
    ),
  );
  return [...ledger.commands.keys()].filter((commandID) => !named.has(commandID));
}

/** The account is made before the run begins, seconds; a busy machine takes long for it. */
const beforeS = 900;

export const exerciseAudit: Exercise = (context) =>
  Promise.resolve(async ({ ledger }) => {
    const { access, changes, secrets, ports, time } = context;
    const { look, outcome } = createFindings('auditWrong');
    const entries = await readEntries(access.service);
    const has = new Set(entries.map(keyOf));
    for (const change of changes)
      look(change.object, has.has(keyOf(change)) ? null : `no entry ${keyOf(change)}`);
    const unnamed = new Set(findUnnamed(ledger, entries));
    for (const { commandID, deviceID } of ledger.commands.values())
      look(deviceID, unnamed.has(commandID) ? `no entry names the command ${commandID}` : null);
    const nowS = ports.clock.utcMs() / 1000;
    const fromS = nowS - time.nowMs() / 1000 - beforeS;
    for (const entry of entries) {
      const isThen = entry.timestamp >= fromS && entry.timestamp <= nowS + 2;
      look('', isThen ? null : `${keyOf(entry)} is of ${entry.timestamp}, not of this run`);
    }
    const text = JSON.stringify(entries);
    const isShown = [...secrets, access.target.login.password].some((secret) => text.includes(secret));
    look('', isShown ? 'a password, code or secret stands in it' : null);
    look('', await access.own.auditFault());
    return outcome();
  });
