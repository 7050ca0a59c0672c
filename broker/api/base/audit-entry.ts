// The audit entry of a caller's action, to be written in the batch of its effect.
import { canonicalJson } from '../../../src/core/canonical-json.ts';
import type { Statement } from '../../../src/ports.ts';
import { insertAudit } from '../../store/accounts/audit.ts';
import type { ApiServices } from './api-services.ts';
import { type Caller } from './caller.ts';

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

type Members = Readonly<Record<string, unknown>>;

/** A member before and after a change; null: there was, or is, none. */
interface AuditedChange {
  readonly from: unknown;
  readonly to: unknown;
}

/**
 * The audit detail of a change: each member of `after` that differs, with its value before and after. Never give it a secret.
 * @param before as it was read before the write: where no condition of the write guards it, another change may have come between.
 */
export function changesOf(
  before: Members,
  after: Members,
): { readonly changes: Readonly<Record<string, AuditedChange>> } {
  const changed = Object.entries(after).filter(
    ([name, to]) => to !== undefined && canonicalJson(before[name] ?? null) !== canonicalJson(to),
  );
  return {
    changes: Object.fromEntries(changed.map(([name, to]) => [name, { from: before[name] ?? null, to }])),
  };
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
