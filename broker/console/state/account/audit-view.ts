// Filters of the audit log in its address. Pure.

/** The filter of the address. Times are epoch seconds. */
export interface AuditSearch {
  readonly actor?: string | undefined;
  /** One action, `user.create`, or all of one kind, `user`. */
  readonly action?: string | undefined;
  readonly object?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** An action or kind in an address; an invalid one counts as absent. */
export const actionOf = (text: string | undefined): string | undefined =>
  text !== undefined && /^[a-z]{1,40}(\.[a-z]{1,40})?$/.test(text) ? text : undefined;

/** Whether any entry is left out. */
export const isFiltered = (search: AuditSearch): boolean =>
  Object.values(search).some((value) => value !== undefined);

/** The filter as the service takes it. */
export function auditQuery({ actor, action, object, from, to }: AuditSearch) {
  return {
    ...(actor === undefined ? {} : { actor }),
    ...(action === undefined ? {} : { action }),
    ...(object === undefined ? {} : { object }),
    ...(from === undefined ? {} : { from: String(from) }),
    ...(to === undefined ? {} : { until: String(to) }),
  };
}
