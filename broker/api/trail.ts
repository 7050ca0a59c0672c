// The audit entry of something a caller did, to stand in the batch that does it.
import type { Statement } from '../../src/ports.ts';
import { insertAudit } from '../store/audit.ts';
import type { ApiServices, Caller } from './operation.ts';

export interface Deed {
  /** `<resource>.<verb>`. */
  readonly action: string;
  /** Id of what it was done to. */
  readonly object: string;
  /** What changed, without secrets. */
  readonly detail?: Readonly<Record<string, unknown>>;
  /** Condition without which nothing happens, for an effect that depends on what is there. */
  readonly onlyIf?: Statement;
}

/** Who did it and from where. */
export interface Doer {
  readonly caller: Caller;
  readonly source: string;
}

/** @returns the statement that records the deed in the account's audit log. */
export function trail(services: Pick<ApiServices, 'clock'>, { caller, source }: Doer, deed: Deed): Statement {
  const entry = {
    accountID: caller.accountID,
    atMs: Math.round(services.clock.utcMs()),
    actor: caller.userID,
    source,
    action: deed.action,
    object: deed.object,
    detail: deed.detail ?? {},
  };
  return insertAudit(entry, deed.onlyIf);
}
