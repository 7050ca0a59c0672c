// The audit log of the account, for its administrators: actor, action, object and source of every change.
import { Type } from 'typebox';
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { type AuditRow, auditPage } from '../../store/accounts/audit-log.ts';
import { operation } from '../base/operation.ts';
import { numberedPage, numberedQuery, pageMembers, pageText } from '../base/paging.ts';
import { envelope, ok } from '../base/shapes.ts';

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

/** What was changed behind the log's back may be no JSON any more; `audit verify` reports that, this list still answers. */
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
    timestamp: epochSeconds(row.atMs),
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
  description: `The audit log of the account, newest first. ${pageText} \`object\` gives only entries about that object, for example a
device id. Entries are never changed or removed; each is chained to the one before it by its hash within a second, so
that a change would show (\`fleetward-broker audit verify\`). When an account is deleted the details go and the hashes
stay.`,
  params: Type.Object({}),
  query: Type.Object(
    {
      ...numberedQuery,
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
    ...pageMembers,
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
    const { accountID } = caller;
    const { page, more, next } = await numberedPage(query, {
      read: (span) => auditPage(db, { accountID, object: query.object ?? null, ...span }),
      numberOf: ({ auditNo }) => auditNo,
    });
    return { ...ok, entries: page.map(view), more, next };
  },
});

export const auditOperations = [auditEntries] as const;
