// `fleetward-broker owner`: owner keys and the signed list of authorized persons, on a machine without a connection to the service. It
// reads and writes its own folder only: no settings, no database, no network.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { personsCrypto } from '../../src/adapters/persons-crypto.ts';
import { canonicalJson } from '../../src/core/canonical-json.ts';
import { dayMs } from '../../src/core/durations.ts';
import { AppError, messageOf } from '../../src/core/errors.ts';
import {
  decodePersonsList,
  type Owner,
  type OwnerDocument,
  type OwnerSet,
  ownerFingerprint,
  ownerLimits,
  ownerSetID,
  type PersonsList,
  personRoles,
  signedText,
  signersOf,
  verifyOwnerDocument,
} from '../../src/core/persons/owner-document.ts';
import {
  newSeed,
  openOwnerFolder,
  openOwnerKey,
  readJson,
  writeOwnerKey,
} from '../adapters/keys/owner-folder.ts';
import { readSecretLine } from '../adapters/keys/secret-file.ts';
import { paperLines, parsePaper } from '../core/owner/paper-key.ts';
import {
  describeChange,
  describeList,
  nextList,
  type RegisteredPasskeys,
} from '../core/owner/people-change.ts';
import type { Flags } from './command-line.ts';
import type { OwnerAction } from './flags/owner-command-line.ts';
import { print } from './program.ts';

const documentFile = 'owner.json';
const draftFile = 'draft.json';
const { sha256 } = personsCrypto;

/** What waits for signatures. */
type Draft =
  | { readonly kind: 'list'; readonly value: PersonsList; readonly signatures: readonly string[] }
  | { readonly kind: 'set'; readonly value: OwnerSet; readonly signatures: readonly string[] };

type Folder = ReturnType<typeof openOwnerFolder>;
const folderOf = (flags: Flags): Folder => openOwnerFolder(resolve(String(flags['dir'])));

const passphraseLeast = 12;

function passphraseOf(flags: Flags): string {
  const line = readSecretLine('the passphrase file', String(flags['passphrase-file']));
  if (line.length >= passphraseLeast) return line;
  throw new AppError('usage', `The passphrase has ${line.length} characters`, {
    hint: `It needs ${passphraseLeast} at least: several words that belong to no sentence.`,
  });
}

/** @throws AppError `usage`. */
function countOf(flags: Flags, name: string, most: number): number {
  const count = Number(flags[name]);
  if (Number.isInteger(count) && count >= 1 && count <= most) return count;
  throw new AppError('usage', `--${name} must be a whole number from 1 to ${most}`);
}

const listOf = (value: unknown): readonly string[] =>
  typeof value === 'string' ? value.split(',').map((item) => item.trim()) : [];

/** The document of the folder, checked. @throws AppError `not_found`, `invalid_content`. */
function ownerOf(folder: Folder): Owner {
  const value = folder.read(documentFile) as OwnerDocument;
  const first = value.sets?.[0]?.set;
  const pin = first === undefined ? '' : ownerSetID(first, personsCrypto);
  const verdict = verifyOwnerDocument({ pin, value }, personsCrypto);
  if (verdict.ok) return verdict.owner;
  throw new AppError('invalid_content', `${folder.fileOf(documentFile)} is not good: ${verdict.refusal}`, {
    hint: 'It was changed, or is incomplete. Take it from a copy, or from the service.',
  });
}

const pinOf = ({ document }: Owner): string => {
  const [first] = document.sets;
  return first === undefined ? '' : ownerSetID(first.set, personsCrypto);
};

interface MadeKey {
  readonly file: string;
  readonly publicKey: string;
  readonly paper: readonly string[];
}

function makeSet(
  folder: Folder,
  flags: Flags,
  version: number,
): { readonly set: OwnerSet; readonly made: readonly MadeKey[] } {
  const count = countOf(flags, 'keys', ownerLimits.keys);
  const needed = countOf(flags, 'needed', count);
  const passphrase = passphraseOf(flags);
  const made = Array.from({ length: count }, (_, index) => {
    const seed = newSeed();
    const file = folder.fileOf(`key-${version}-${index + 1}.json`);
    return { file, publicKey: writeOwnerKey(file, seed, passphrase), paper: paperLines(seed, sha256) };
  });
  return { set: { version, needed, keys: made.map(({ publicKey }) => publicKey) }, made };
}

const keyTexts = (made: readonly MadeKey[]): readonly string[] =>
  made.flatMap(({ file, paper }) => [`${file}, on paper:`, ...paper.map((line) => `  ${line}`)]);

/** The pinned key for people: as agent.toml has it, and in groups to compare aloud. */
const pinTexts = (pin: string): readonly string[] => [
  `owner's key, for [owner] key in agent.toml: ${pin}`,
  `to compare at the vehicle: ${ownerFingerprint(pin)}`,
];

function create(flags: Flags): void {
  const folder = folderOf(flags);
  folder.make();
  if (folder.find(documentFile) !== null)
    throw new AppError(
      'conflict',
      `${folder.fileOf(documentFile)} is there already, and is never overwritten`,
      {
        hint: 'Name another folder with --dir, or make the next keys with `owner rotate`.',
      },
    );
  const { set, made } = makeSet(folder, flags, 1);
  folder.addFile(documentFile, { sets: [{ set, signatures: [] }], list: null, signatures: [] });
  const pin = ownerSetID(set, personsCrypto);
  print(flags, {
    json: { key: pin, fingerprint: ownerFingerprint(pin), needed: set.needed, keys: made },
    text: [
      ...pinTexts(pin),
      'Write these lines down now: they are not shown again. Whoever has them needs no passphrase.',
      ...keyTexts(made),
      'next: fleetward-broker owner people passkeys.json --vehicles ACCOUNT/*',
    ].join('\n'),
  });
}

function draftOf(folder: Folder): Draft | null {
  return folder.find(draftFile) as Draft | null;
}

function people(flags: Flags): void {
  const folder = folderOf(flags);
  const owner = ownerOf(folder);
  const draft = draftOf(folder);
  if (draft?.kind === 'set')
    throw new AppError('conflict', 'The next set of keys waits for signatures', {
      hint: 'Sign it first: `owner sign`.',
    });
  const { file, days } = flags;
  const base = draft?.value ?? owner.list;
  const added = days === undefined ? (base === null ? 365 : null) : countOf(flags, 'days', 1100);
  const list = nextList(
    { base, signed: owner.list, set: ownerSetID(owner.set, personsCrypto) },
    {
      registered: typeof file === 'string' ? (readJson(file) as RegisteredPasskeys) : null,
      removed: listOf(flags['remove']),
      needed: {
        ...(flags['cut'] === undefined ? {} : { enginecutoff: countOf(flags, 'cut', ownerLimits.needed) }),
        ...(flags['unlock'] === undefined
          ? {}
          : { cargoaccess: countOf(flags, 'unlock', ownerLimits.needed) }),
      },
      validUntilMs: added === null ? null : Date.now() + added * dayMs,
      role: String(flags['role']),
      vehicles: listOf(flags['vehicles']),
    },
  );
  const good = decodePersonsList(list);
  if (
    good === null ||
    canonicalJson(good).length > ownerLimits.documentBytes - canonicalJson(owner.document.sets).length
  )
    throw new AppError('invalid_content', 'This makes no list that a vehicle would read', {
      hint: `Each person needs id, name, role (${Object.keys(personRoles).join(', ')}), vehicles and passkeys (credential, publicKey as SPKI in base64url, P-256 or
  Ed25519), each passkey of one person only; each origin is https:// and below rpID; a document has at most ${ownerLimits.documentBytes} bytes.`,
    });
  folder.replace(draftFile, { kind: 'list', value: good, signatures: [] });
  const changes = describeChange(owner.list, good);
  print(flags, {
    json: { version: good.version, changes, needed: owner.set.needed },
    text: [
      `List ${good.version}, not signed yet:`,
      ...(changes.length === 0 ? ['  no change but its number'] : changes.map((line) => `  ${line}`)),
      'next: fleetward-broker owner sign --key KEY --passphrase-file FILE --yes',
    ].join('\n'),
  });
}

function changesOf(draft: Draft, owner: Owner): readonly string[] {
  if (draft.kind === 'list') return describeChange(owner.list, draft.value);
  return [
    `- ${owner.set.needed} of ${owner.set.keys.length} keys sign: ${owner.set.keys.join(', ')}`,
    `+ ${draft.value.needed} of ${draft.value.keys.length} keys sign: ${draft.value.keys.join(', ')}`,
    '- every list that the old keys signed; the present one is drafted again for the new keys',
  ];
}

/** Puts what has enough signatures into the document; the list of a set that goes is drafted again for the next one. */
function finishDraft(folder: Folder, owner: Owner, draft: Draft): void {
  const { document } = owner;
  const { signatures } = draft;
  if (draft.kind === 'list') {
    folder.replace(documentFile, { sets: document.sets, list: draft.value, signatures });
    return folder.remove(draftFile);
  }
  const sets = [...document.sets, { set: draft.value, signatures }];
  folder.replace(documentFile, { sets, list: null, signatures: [] });
  if (owner.list === null) return folder.remove(draftFile);
  const value = {
    ...owner.list,
    version: owner.list.version + 1,
    set: ownerSetID(draft.value, personsCrypto),
  };
  folder.replace(draftFile, { kind: 'list', value, signatures: [] });
}

function signDraft(flags: Flags): void {
  const folder = folderOf(flags);
  const owner = ownerOf(folder);
  const draft = draftOf(folder);
  if (draft === null)
    throw new AppError('not_found', 'Nothing waits for a signature', {
      hint: 'Draft a list: `owner people`.',
    });
  const changes = changesOf(draft, owner);
  if (flags['yes'] !== true)
    throw new AppError(
      'usage',
      `Nothing was signed. This would be:\n${changes.map((line) => `  ${line}`).join('\n')}`,
      {
        hint: 'Read it, and run the same command with --yes.',
      },
    );
  const key = openOwnerKey(String(flags['key']), passphraseOf(flags));
  if (!owner.set.keys.includes(key.publicKey))
    throw new AppError('forbidden', 'This key is not of the set that signs now', {
      hint: 'Sign with a key of the newest set; `owner show` lists them.',
    });
  const content = signedText(draft.kind, draft.value);
  const signatures = [...new Set([...draft.signatures, key.sign(content)])];
  const signers = signersOf(owner.set, content, signatures, personsCrypto).length;
  const signed: Draft = { ...draft, signatures };
  const isWhole = signers >= owner.set.needed;
  if (isWhole) finishDraft(folder, owner, signed);
  else folder.replace(draftFile, signed);
  // What was written must be what a vehicle takes.
  ownerOf(folder);
  const { needed } = owner.set;
  print(flags, {
    json: {
      kind: draft.kind,
      changes,
      signatures: signers,
      needed,
      isWhole,
      file: folder.fileOf(documentFile),
    },
    text: [
      'Signed:',
      ...changes.map((line) => `  ${line}`),
      isWhole
        ? `whole: carry ${folder.fileOf(documentFile)} to the service or to the vehicles${draft.kind === 'set' && owner.list !== null ? '; first sign the list again with the new keys' : ''}`
        : `${signers} of ${needed} signatures: sign with another key`,
    ].join('\n'),
  });
}

function rotate(flags: Flags): void {
  const folder = folderOf(flags);
  const owner = ownerOf(folder);
  if (draftOf(folder) !== null)
    throw new AppError('conflict', 'A draft waits for signatures', {
      hint: `Sign it, or remove ${folder.fileOf(draftFile)}; then rotate.`,
    });
  if (owner.document.sets.length >= ownerLimits.sets)
    throw new AppError(
      'conflict',
      `The document holds ${ownerLimits.sets} sets, which is the most that vehicles read`,
      {
        hint: 'Make a new owner and pin it at the vehicles.',
      },
    );
  const { set, made } = makeSet(folder, flags, owner.set.version + 1);
  folder.addFile(draftFile, { kind: 'set', value: set, signatures: [] });
  print(flags, {
    json: { version: set.version, needed: set.needed, keys: made },
    text: [
      'Write these lines down now: they are not shown again.',
      ...keyTexts(made),
      `next: sign with ${owner.set.needed} of the present keys: fleetward-broker owner sign --key KEY --passphrase-file FILE --yes`,
    ].join('\n'),
  });
}

function show(flags: Flags): void {
  const folder = folderOf(flags);
  const owner = ownerOf(folder);
  const draft = draftOf(folder);
  const pin = pinOf(owner);
  const { set, list } = owner;
  const waits = draft === null ? [] : changesOf(draft, owner);
  print(flags, {
    json: { key: pin, fingerprint: ownerFingerprint(pin), set, list, draft },
    text: [
      ...pinTexts(pin),
      `set ${set.version}: ${set.needed} of ${set.keys.length} keys sign: ${set.keys.join(', ')}`,
      ...(list === null
        ? ['no list is signed: no vehicle can be cut or unlocked']
        : [`list ${list.version}:`, ...describeList(list).map((line) => `  ${line}`)]),
      ...(draft === null
        ? []
        : [
            `waits for signatures (${draft.signatures.length} of ${set.needed}):`,
            ...waits.map((line) => `  ${line}`),
          ]),
    ].join('\n'),
  });
}

function restore(flags: Flags): void {
  const { paper, key } = flags;
  let typed: string;
  try {
    typed = readFileSync(paper === '-' ? 0 : String(paper), 'utf8');
  } catch (thrown) {
    throw new AppError('not_found', `Cannot read ${String(paper)}: ${messageOf(thrown)}`);
  }
  const result = parsePaper(typed, sha256);
  if (!result.ok)
    throw new AppError('invalid_content', `This is no paper backup: ${result.reason}`, {
      hint: 'Type four lines as `1: ABCD EFGH JKMN PQRS`, and compare them with the paper.',
    });
  const publicKey = writeOwnerKey(String(key), result.seed, passphraseOf(flags));
  print(flags, { json: { file: key, publicKey }, text: `${String(key)}: the key ${publicKey}` });
}

/** Runs one of them. @throws AppError `usage`, `conflict`, `not_found`, `invalid_content`, `login_failed`, `forbidden`, `config` or `storage`. */
export function runOwner(flags: Flags, action: OwnerAction): Promise<void> {
  const runs = { create, people, sign: signDraft, rotate, show, restore } as const;
  runs[action](flags);
  return Promise.resolve();
}
