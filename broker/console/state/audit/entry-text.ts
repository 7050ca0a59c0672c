// Entries of the audit log as data: which member of a detail says what, and what it was before. The words are made at the edge. Pure.

/** Digits of a hash that are shown; the whole hash is the title. */
const hashDigits = 8;

/** Place in the chain and the first digits of the hash. @param hash null: it is not sealed yet. */
export const chainText = (chainNumber: number | null, hash: string | null): string =>
  `${chainNumber} ${(hash ?? '').slice(0, hashDigits)}`;

/** One member of a detail. */
export interface DetailItem {
  readonly name: string;
  readonly value: unknown;
  /** Before the change; undefined: the entry does not say. */
  readonly before?: unknown;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The members in their order; those within a member follow by their own names. */
export const detailItems = (detail: Readonly<Record<string, unknown>>): readonly DetailItem[] =>
  Object.entries(detail).flatMap(([name, value]) => {
    if (!isObject(value)) return [{ name, value }];
    if (name !== 'changes') return detailItems(value);
    return Object.entries(value).map(([changed, change]) =>
      isObject(change) && 'from' in change && 'to' in change
        ? { name: changed, value: change['to'], before: change['from'] }
        : { name: changed, value: change },
    );
  });

/** Members of the service that say the same, by one name. */
const sameNames: Readonly<Record<string, string>> = {
  accountDisplayName: 'name',
  userDisplayName: 'name',
  geozoneDisplayName: 'name',
  displayName: 'name',
  geozoneDescription: 'description',
  geozoneRadius: 'radius',
  geozoneType: 'shape',
  userNotifyEmail: 'email',
  contactPhone: 'phone',
  roleID: 'role',
  deviceID: 'device',
  userID: 'user',
  ruleID: 'rule',
  groupID: 'group',
  commandID: 'command',
  approvalID: 'approval',
  messageID: 'message',
  releaseID: 'release',
  requestID: 'request',
  shareID: 'share',
  codeID: 'code',
  quarantineID: 'quarantine',
  tokenID: 'token',
  sha256: 'checksum',
  timestamp: 'time',
};

/** The name by which a member has its words. */
export const fieldOf = (name: string): string => sameNames[name] ?? name;

/** Members whose numbers are epoch seconds; 0 is none. */
const times: ReadonlySet<string> = new Set(['time', 'expires', 'until', 'first', 'last']);
const spans: ReadonlySet<string> = new Set(['ttlS']);

export type ValueKind = 'none' | 'time' | 'span' | 'switch' | 'list' | 'plain';

/** What a value is. */
export function kindOf(name: string, value: unknown): ValueKind {
  if (value === null || value === undefined || value === '') return 'none';
  if (typeof value === 'boolean') return 'switch';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : 'list';
  if (typeof value !== 'number') return 'plain';
  if (times.has(fieldOf(name))) return value > 0 ? 'time' : 'none';
  return spans.has(name) ? 'span' : 'plain';
}
