// The audit log of the account, for its administrators: actor, action, object and source of every change, and the check of its
// chain.
import { Type } from 'typebox';
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { type AccountCheck, partMost } from '../../audit/account-check.ts';
import { type ChainedEntry, type ChainHead, chainFaults } from '../../core/accounts/audit-chain.ts';
import { type AuditFilter, type AuditRow, auditPage, auditScanned } from '../../store/accounts/audit-log.ts';
import { operation } from '../base/operation.ts';
import { numberedQuery, pageMembers, pageOf, pageSize, pageText } from '../base/paging.ts';
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

/** A manipulated detail may be invalid JSON; `audit verify` reports it, and this list still answers. */
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

const epoch = (description: string) => Type.Optional(Type.String({ pattern: '^[0-9]{1,11}$', description }));

const filterQuery = {
  object: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'Only entries about this object, for example a device id',
    }),
  ),
  actor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'Only what this user did; `operator` and `service` as in `userID`',
    }),
  ),
  action: Type.Optional(
    Type.String({
      pattern: '^[a-z]{1,40}([.][a-z]{1,40})?$',
      description: 'Only this action, `user.create`, or all of a resource, `user`',
    }),
  ),
  from: epoch('Only what was done from then on (epoch seconds)'),
  until: epoch('Only what was done up to then (epoch seconds)'),
};

type FilterQuery = { readonly [K in keyof typeof filterQuery]?: string };

function filterOf({ object, actor, action, from, until }: FilterQuery): AuditFilter {
  return {
    object: object ?? null,
    actor: actor ?? null,
    action: action ?? null,
    fromMs: from === undefined ? null : Number(from) * 1000,
    // Times are shown in whole seconds: the last one belongs to the period.
    untilMs: until === undefined ? null : Number(until) * 1000 + 999,
  };
}

const auditEntries = operation({
  id: 'auditEntries',
  method: 'GET',
  path: '/audit/entries/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Audit',
  summary: 'Who did what',
  description: `The audit log of the account, newest first. ${pageText} \`object\`, \`actor\`, \`action\`, \`from\` and \`until\` give only
entries that match all of them. With one of the last four a page looks through ${auditScanned} entries at most, so that it may hold fewer entries
than \`limit\`, or none, while \`more\` is true. Entries are never changed or removed; each is chained to the one before it by its hash within a
second, so that a change would show (\`audit/check\`, \`fleetward-broker audit verify\`). When an account is deleted the details go and the hashes
stay.`,
  params: Type.Object({}),
  query: Type.Object({ ...numberedQuery, ...filterQuery }, { additionalProperties: false }),
  body: null,
  result: Type.Object({
    ...envelope,
    entries: Type.Array(auditEntry, { description: 'Newest first' }),
    ...pageMembers,
  }),
  errors: ['invalid_content'],
  effects: false,
  examples: {
    result: {
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
  async run({ query, caller }, { archive }) {
    const size = pageSize(query.limit);
    const { rows, scannedTo } = await auditPage(archive, {
      accountID: caller.accountID,
      filter: filterOf(query),
      before: query.cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(query.cursor),
      limit: size + 1,
    });
    const { page, more, next } = pageOf(rows, size, ({ auditNo }) => String(auditNo));
    return {
      ...ok,
      entries: page.map(view),
      more: more || scannedTo !== null,
      next: next ?? (scannedTo === null ? null : String(scannedTo)),
    };
  },
});

const count = (description: string) => Type.Integer({ minimum: 0, description });
const hash = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Its hash' });
const entryID = { description: 'Number of the entry' };
const place = Type.Union([
  Type.Object({
    chainNumber: Type.Integer({ description: 'Place in the chain' }),
    entryID: Type.String(entryID),
    timestamp: Type.Integer({ description: 'When it was done (epoch seconds)' }),
  }),
  Type.Null(),
]);

const placeOf = (entry: ChainedEntry | null) =>
  entry === null
    ? null
    : {
        chainNumber: entry.chainNo,
        entryID: String(entry.auditNo),
        timestamp: epochSeconds(entry.atMs),
      };

const nextOf = ({ chainNo, hash: of }: ChainHead): string => `${chainNo}-${of}`;

function headOf(checked: string | undefined): ChainHead | null {
  const [chainNo = '', of] = (checked ?? '').split('-');
  return of === undefined ? null : { chainNo: Number(chainNo), hash: of };
}

function checkView(check: AccountCheck) {
  const { fault, head, signed, isWhole } = check;
  return {
    ...ok,
    entries: check.entries,
    erased: check.erased,
    unsealed: check.unsealed,
    length: check.length,
    from: placeOf(check.first),
    until: placeOf(check.last),
    fault:
      fault === null
        ? null
        : {
            chainNumber: fault.chainNo,
            entryID: fault.auditNo === null ? null : String(fault.auditNo),
            reason: fault.reason,
          },
    proven: check.isProven,
    head: signed === null ? null : { chainNumber: head.chainNo, hash: head.hash, signed },
    more: !isWhole,
    next: isWhole ? null : nextOf(head),
  };
}

const checkAudit = operation({
  id: 'checkAudit',
  method: 'GET',
  path: '/audit/check/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Audit',
  summary: 'Check the chain of the audit log',
  description: `Computes the hashes of the account's own chain anew and compares them, at most ${partMost} entries with a call: while \`more\` is true
send \`next\` back as \`?checked=\`. The first call begins with the first entry, so that \`from\`, \`until\` and \`entries\` of all calls say what
was checked. \`fault\` names the first place that does not hold, and ends the check: what comes after it proves nothing.

The service keeps the signed head of each chain beside it: a chain whose newest entries were removed ends before its head (\`cut_off\`). Whoever can
write to the database and has an older head can put that one back. Therefore keep \`head.signed\` of a good answer elsewhere, and send it as
\`?head=\` with each call of a later check: the chain must have passed through it. \`proven\` is false when the head that the service kept has
not its signature (a new signing key, or another program wrote it): the entries then hold, and nothing proves that there were no more.

Nothing is changed. The chain holds entries of this account only. One check of an account runs at a time; another is answered \`throttled\`.`,
  params: Type.Object({}),
  query: Type.Object(
    {
      checked: Type.Optional(
        Type.String({
          pattern: '^[0-9]{1,15}-[0-9a-f]{64}$',
          description: '`next` of the part before',
        }),
      ),
      head: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z0-9_-]{20,300}[.][A-Za-z0-9_-]{20,600}[.][A-Za-z0-9_-]{80,100}$',
          description: '`head.signed` of an earlier check',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  body: null,
  result: Type.Object({
    ...envelope,
    entries: count('Entries of this part that hold'),
    erased: count('Those of them whose detail was erased; their hash stands'),
    unsealed: count('Entries that wait to be chained for more than a minute, which is wrong'),
    length: count('Entries of the whole chain, as the head that the service kept counts them; 0 without one'),
    from: Type.Union(place.anyOf, { description: 'First entry that was checked; null: none was' }),
    until: Type.Union(place.anyOf, { description: 'Last entry that was checked; null: none was' }),
    fault: Type.Union(
      [
        Type.Object({
          chainNumber: Type.Integer({ description: 'Place in the chain' }),
          entryID: Type.Union([Type.String(entryID), Type.Null()], {
            description: 'The entry where it shows; null when that is missing',
          }),
          reason: Type.Enum([...chainFaults], {
            description: `\`doubled\`: two entries hold this place, \`missing\`: its entry is missing, \`unlinked\`: it does not follow from the one
before, \`detail_changed\`, \`changed\`: it was changed, \`replaced\`: it is another entry than a kept head names, \`cut_off\`: the chain ends
before a kept head, \`head_missing\`: the kept head was removed`,
          }),
        }),
        Type.Null(),
      ],
      { description: 'The first place that does not hold; null: all that was checked holds' },
    ),
    proven: Type.Boolean({ description: 'Whether the kept head has the signature of the service' }),
    head: Type.Union(
      [
        Type.Object({
          chainNumber: Type.Integer({ description: 'Place of the last entry' }),
          hash,
          signed: Type.String({ description: 'The same, signed by the service, to be kept elsewhere' }),
        }),
        Type.Null(),
      ],
      { description: 'The end of the chain, once all of it holds; null otherwise and for an empty log' },
    ),
    more: Type.Boolean({ description: 'Whether entries come after this part' }),
    next: Type.Union([Type.String(), Type.Null()], {
      description: 'Where the next part begins; null at the end',
    }),
  }),
  errors: ['invalid_content', 'throttled'],
  effects: false,
  examples: {
    result: {
      entries: 212,
      erased: 0,
      unsealed: 0,
      length: 212,
      from: { chainNumber: 1, entryID: '7', timestamp: 1763500000 },
      until: { chainNumber: 212, entryID: '4711', timestamp: 1763683200 },
      fault: null,
      proven: true,
      head: {
        chainNumber: 212,
        hash: '5f2d1c0b9a8877665544332211009f8e7d6c5b4a39281706f5e4d3c2b1a09f8e',
        signed: 'eyJhbGciOiJFZERTQSJ9.eyJhY2NvdW50SUQiOiJhY21lIn0.c2lnbmF0dXJl',
      },
    },
  },
  async run({ query, caller, until }, { auditChecks }) {
    const check = await auditChecks.check({
      accountID: caller.accountID,
      after: headOf(query.checked),
      saved: query.head ?? null,
      until: until(),
    });
    return checkView(check);
  },
});

export const auditOperations = [auditEntries, checkAudit] as const;
