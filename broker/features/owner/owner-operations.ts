// The owner's document of an account: set by an administrator, read. The service checks it and can neither make nor change one.
import { type Static, Type } from 'typebox';
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { AppError } from '../../../src/core/errors.ts';
import {
  decodeOwnerDocument,
  type Owner,
  ownerFingerprint,
  ownerSetID,
  parseOwnerDocument,
  personRoles,
  verifyOwnerDocument,
} from '../../../src/core/persons/owner-document.ts';
import type { PersonsCrypto } from '../../../src/core/persons/webauthn.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { auditEntry } from '../../api/base/audit-entry.ts';
import { invalidAt } from '../../api/base/input-members.ts';
import { operation } from '../../api/base/operation.ts';
import { envelope, epoch, ok, text } from '../../api/base/shapes.ts';
import {
  countOwned,
  documentOf,
  isKept,
  keepOwnerDocument,
  listOwnerDocuments,
  type OwnerDocumentRow,
} from '../../store/commands/owner-documents.ts';
import { ownerDelivery } from './owner-delivery.ts';

/** Characters of a document with some room for its formatting. */
const documentMost = 8192;

/** The keys of `personRoles`. A list that is stored has no other role. */
type PersonRole = 'cut' | 'unlock' | 'both';

const person = Type.Object({
  personID: text('Names the person'),
  name: text('As the owner wrote it'),
  role: Type.Enum(Object.keys(personRoles) as PersonRole[], { description: 'What the person may order' }),
  vehicles: Type.Array(Type.String(), { description: '`account/device`, or a beginning of it and `*`' }),
  passkeys: Type.Integer({ minimum: 0, description: 'Passkeys of the person' }),
});
const ownerRecord = Type.Object({
  key: text("Fingerprint of the owner's key: compare it with the owner's"),
  pin: text('The same in full, as a unit pins it'),
  set: Type.Integer({ minimum: 1, description: 'Version of the set of keys' }),
  list: Type.Integer({ minimum: 0, description: 'Version of the list of persons; 0: there is none' }),
  validUntil: epoch('When the list ends; 0: there is none'),
  needed: Type.Union(
    [Type.Object({ enginecutoff: Type.Integer(), cargoaccess: Type.Integer() }), Type.Null()],
    {
      description: 'Persons who must sign; null: there is no list',
    },
  ),
  rpID: text('Domain that the passkeys are bound to; empty: there is no list'),
  persons: Type.Array(person),
  uploaded: epoch('When it was set'),
  uploadedBy: text('Who set it'),
  units: Type.Integer({ minimum: 0, description: 'Devices of the account that pin this key' }),
  outdated: Type.Integer({ minimum: 0, description: 'Those of them that hold an older document, or none' }),
});
type OwnerView = Static<typeof ownerRecord>;

async function viewOwners({ db }: ApiServices, accountID: string): Promise<readonly OwnerView[]> {
  const [rows, counts] = await Promise.all([listOwnerDocuments(db, accountID), countOwned(db, accountID)]);
  return rows.map((row) => {
    const list = documentOf(row)?.list ?? null;
    const { units, outdated } = counts.get(row.pin) ?? { units: 0, outdated: 0 };
    return {
      key: ownerFingerprint(row.pin),
      pin: row.pin,
      set: row.setVersion,
      list: row.listVersion,
      validUntil: epochSeconds(list?.validUntilMs ?? 0),
      needed: list === null ? null : { ...list.needed },
      rpID: list?.rpID ?? '',
      persons: (list?.persons ?? []).map(({ id, name, role, vehicles, passkeys }) => ({
        personID: id,
        name,
        role: role as PersonRole,
        vehicles: [...vehicles],
        passkeys: passkeys.length,
      })),
      uploaded: epochSeconds(row.uploadedMs),
      uploadedBy: row.uploadedBy,
      units,
      outdated,
    };
  });
}

const documentHint =
  'Give the whole text of the newest owner.json, as `fleetward-broker owner sign` wrote it.';

/** @throws AppError `invalid_content`. */
function verified(document: string, persons: PersonsCrypto): Owner & { readonly pin: string } {
  const value = parseOwnerDocument(document);
  const first = decodeOwnerDocument(value)?.sets[0];
  if (first === undefined) throw invalidAt('/document', 'document_form', documentHint);
  const pin = ownerSetID(first.set, persons);
  const verdict = verifyOwnerDocument({ pin, value }, persons);
  if (!verdict.ok) throw invalidAt('/document', verdict.refusal, documentHint);
  return { ...verdict.owner, pin };
}

const exampleOwner: OwnerView = {
  key: '3T5F 9QRW 2KXM 8HDN 4BVC 7YPA',
  pin: 'qLh8yK0o3v5nX1bZ7cT2mR9wE4sU6aD8fG0hJ2kL4pM',
  set: 1,
  list: 4,
  validUntil: 1795219200,
  needed: { enginecutoff: 2, cargoaccess: 1 },
  rpID: 'fleet.example.com',
  persons: [{ personID: 'ann', name: 'Ann Li', role: 'both', vehicles: ['acme/*'], passkeys: 2 }],
  uploaded: 1763683200,
  uploadedBy: 'admin',
  units: 12,
  outdated: 3,
};

const getOwner = operation({
  id: 'getOwner',
  method: 'GET',
  path: '/owner/get/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: 'none',
  tag: 'Commands',
  summary: "Read the owner's documents of the account",
  description: `Our addition. One for each owner's key, the newest first; usually there is one. A device names the key that it pins in \`owner\` of getdevice.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({ ...envelope, owners: Type.Array(ownerRecord) }),
  errors: [],
  effects: false,
  examples: { result: { owners: [exampleOwner] } },
  run: async ({ caller }, services) => ({
    ...ok,
    owners: [...(await viewOwners(services, caller.accountID))],
  }),
});

const setOwner = operation({
  id: 'setOwner',
  method: 'POST',
  path: '/owner/set/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: 'none',
  tag: 'Commands',
  summary: "Set the owner's document of the account",
  description: `Our addition. \`document\` is the text of \`owner.json\`, which \`fleetward-broker owner\` makes on a machine that never sees the service. It is
kept as it comes, and sent to each unit that pins its key: to connected ones at once, to others when they connect. The units verify it themselves. What waits
for signatures by its key ends (\`void\`, \`endCause\` \`list\`). One that is not newer than the kept one answers 422 \`conflict\`, the same one once more 200.
One that is none, or whose signatures do not hold, answers 422 \`invalid_content\`. The documents of the newest 4 owners are kept.`,
  params: Type.Object({}),
  body: Type.Object(
    { document: Type.String({ minLength: 2, maxLength: documentMost, description: 'Text of `owner.json`' }) },
    { additionalProperties: false },
  ),
  result: Type.Object({ ...envelope, owner: ownerRecord }),
  errors: ['conflict', 'invalid_content'],
  effects: true,
  examples: {
    body: { document: '{"sets":[],"list":null,"signatures":[]}' },
    result: { owner: exampleOwner },
  },
  async run({ body: { document }, caller, source }, services) {
    const { accountID, userID: uploadedBy } = caller;
    const { pin, set, list } = verified(document, services.persons);
    const row: OwnerDocumentRow = {
      accountID,
      pin,
      document: document.trim(),
      setVersion: set.version,
      listVersion: list?.version ?? 0,
      uploadedMs: Math.round(services.clock.utcMs()),
      uploadedBy,
    };
    const detail = { key: ownerFingerprint(pin), set: row.setVersion, list: row.listVersion };
    const [kept] = await services.db.write([
      ...keepOwnerDocument(row),
      auditEntry(
        services,
        { caller, source },
        {
          action: 'owner.set',
          object: accountID,
          detail,
          onlyIf: isKept(row),
        },
      ),
    ]);
    const present = (await listOwnerDocuments(services.db, accountID)).find((one) => one.pin === pin);
    if (kept?.changes !== 1 && present?.document !== row.document) {
      throw new AppError(
        'conflict',
        `The service keeps list ${present?.listVersion ?? 0} of this owner; nothing was changed`,
        {
          hint: 'Give the newest owner.json. The owner raises the version when signing.',
        },
      );
    }
    services.log.info('owner_document_set', { accountID, ...detail });
    services.of(ownerDelivery).wake();
    const owner = (await viewOwners(services, accountID)).find((one) => one.pin === pin);
    if (owner === undefined) throw new AppError('not_found', 'The account was deleted meanwhile');
    return { ...ok, owner };
  },
});

export const ownerOperations = [getOwner, setOwner] as const;
