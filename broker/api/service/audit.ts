// The audit log of the account, for its administrators: who did what to what, from where.
import { Type } from 'typebox';
import { type AuditRow, auditPage } from '../../store/audit-log.ts';
import { operation } from '../operation.ts';
import { envelope, ok } from '../shapes.ts';

const limits = { standard: 100, most: 500 } as const;

const auditEntry = Type.Object({
  entryID: Type.String({ description: 'Number of the entry; grows' }),
  timestamp: Type.Integer({ minimum: 0, description: 'When it was done (epoch seconds)' }),
  userID: Type.String({
    description: 'Who did it; `operator`: at the command line of the service, `service`: by itself',
  }),
  source: Type.String({ description: 'Address that the request came from; empty when there was none' }),
  action: Type.String({ description: 'What was done: `<resource>.<verb>`' }),
  object: Type.String({ description: 'Id of what it was done to' }),
  detail: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], {
    description: 'What changed, without secrets; null once it was erased, or when it cannot be read',
  }),
  chainNumber: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Place in the chain of the account; null for the second until it is sealed',
  }),
  hash: Type.Union([Type.String(), Type.Null()], {
    description: 'SHA-256 over the entry and the hash of the one before it; null until it is sealed',
  }),
});

/** What was changed behind the log's back may be no JSON any more; `audit verify` tells of that, this list still answers. */
function detailOf(detail: string | null): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(detail ?? 'null');
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

function view(row: AuditRow) {
  return {
    entryID: String(row.auditNo),
    timestamp: Math.max(0, Math.floor(row.atMs / 1000)),
    userID: row.actor,
    source: row.source,
    action: row.action,
    object: row.object,
    detail: detailOf(row.detail),
    chainNumber: row.chainNo,
    hash: row.hash,
  };
}

const auditEntries = operation({
  id: 'auditEntries',
  method: 'GET',
  path: '/audit/entries/authorization',
  forms: ['versioned'],
  access: 'admin',
  tag: 'Audit',
  summary: 'Who did what',
  description: `The audit log of the account, newest first: at most \`limit\` entries (1 to ${limits.most}, by default ${limits.standard}). When
\`more\` is true, ask again with \`cursor\` set to \`next\`. \`object\` gives only entries about that object, for example a
device id. Entries are never changed or removed; each is chained to the one before it by its hash within a second, so
that a change would show (\`fleetward-broker audit verify\`). When an account is deleted the details go and the hashes
stay.`,
  params: Type.Object({}),
  query: Type.Object(
    {
      limit: Type.Optional(
        Type.String({
          pattern: '^([1-9][0-9]?|[1-4][0-9]{2}|500)$',
          description: `Entries, 1 to ${limits.most}`,
        }),
      ),
      cursor: Type.Optional(
        Type.String({ pattern: '^[0-9]{1,15}$', description: '`next` of the page before' }),
      ),
      object: Type.Optional(
        Type.String({ minLength: 1, maxLength: 128, description: 'Only entries about this object' }),
      ),
    },
    { additionalProperties: false },
  ),
  body: null,
  result: Type.Object({
    ...envelope,
    entries: Type.Array(auditEntry, { description: 'Newest first' }),
    more: Type.Boolean({ description: 'True when there are older entries' }),
    next: Type.Union([Type.String(), Type.Null()], {
      description: 'The cursor of the next page; null at the end',
    }),
  }),
  errors: ['invalid_content'],
  effects: false,
  examples: {
    params: {},
    body: null,
    result: {
      ...ok,
      entries: [
        {
          entryID: '4711',
          timestamp: 1763683200,
          userID: 'dispatch',
          source: '192.0.2.7',
          action: 'command.request',
          object: 'truck-17',
          detail: { feature: 'enginecutoff', state: '1' },
          chainNumber: 212,
          hash: '5f2d1c0b9a8877665544332211009f8e7d6c5b4a39281706f5e4d3c2b1a09f8e',
        },
      ],
      more: true,
      next: '4711',
    },
  },
  async run({ query, caller }, { db }) {
    const limit = Number(query.limit ?? limits.standard);
    const before = query.cursor === undefined ? null : Number(query.cursor);
    const { accountID } = caller;
    const rows = await auditPage(db, { accountID, object: query.object ?? null, before, limit: limit + 1 });
    const shown = rows.slice(0, limit);
    const more = rows.length > limit;
    const last = shown.at(-1);
    return {
      ...ok,
      entries: shown.map(view),
      more,
      next: more && last !== undefined ? String(last.auditNo) : null,
    };
  },
});

export const auditOperations = [auditEntries] as const;
