// The audit entry of a caller's action, to be written in the batch of its effect.
import type { Statement } from '../../../src/ports.ts';
import { insertAudit } from '../../store/accounts/audit.ts';
import { type Caller } from './caller.ts';
import type { ApiServices } from './operation.ts';

export interface AuditedAction {
  /** `<resource>.<verb>`. */
  readonly action: string;
  /** Id of the object that it changes. */
  readonly object: string;
  /** What changed, without secrets. */
  readonly detail?: Readonly<Record<string, unknown>>;
  /** Condition of the effect, so that the entry is written only with it. */
  readonly onlyIf?: Statement;
}

/** The caller, and the address that the request came from. */
export interface Actor {
  readonly caller: Caller;
  readonly source: string;
}

/** The statement that writes the entry to the account's audit log. */
export function auditEntry(
  services: Pick<ApiServices, 'clock'>,
  { caller, source }: Actor,
  audited: AuditedAction,
): Statement {
  const entry = {
    accountID: caller.accountID,
    atMs: Math.round(services.clock.utcMs()),
    actor: caller.userID,
    source,
    action: audited.action,
    object: audited.object,
    detail: audited.detail ?? {},
  };
  return insertAudit(entry, audited.onlyIf);
}
