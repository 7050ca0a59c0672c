// The owner's document: sets of owner keys and the list of persons who may order cuts and unlocks. A vehicle pins the first set by its hash and
// believes what the keys of a set sign; no key of a service counts. Pure. A document that is not exactly of this form is refused.
//
// The list names vehicles, not groups: groups are rows of the service, so its operator could put any vehicle into one.
import { canonicalJson } from '../canonical-json.ts';
import { base32Of, grouped } from '../crockford.ts';
import { type FeatureName, featureNames } from '../events/event.ts';
import { isId } from '../ids.ts';
import { isCount, isText, type JsonObject } from '../wire/wire-checks.ts';
import { decodeBase64url, encodeBase64url, type PersonsCrypto } from './webauthn.ts';

export const ownerLimits = {
  /** A value of the unit's store holds 8192 characters; no document may need more. */
  documentBytes: 8000,
  sets: 8,
  keys: 5,
  persons: 40,
  passkeys: 4,
  vehicles: 32,
  origins: 4,
  /** Persons who must agree to one order. */
  needed: 3,
} as const;

/** Keys of the owner. `needed` of them sign a list, or the next set. */
export interface OwnerSet {
  /** 1 for the pinned set; each rotation adds 1. */
  readonly version: number;
  readonly needed: number;
  /** Ed25519 public keys, base64 of 32 bytes. */
  readonly keys: readonly string[];
}

export interface Passkey {
  /** Id of the credential, base64url. */
  readonly credential: string;
  /** SPKI in base64url, as `getPublicKey()` of the browser gives it. */
  readonly publicKey: string;
}

/** What a person may order. */
export const personRoles: Readonly<Record<string, readonly FeatureName[]>> = {
  cut: ['enginecutoff'],
  unlock: ['cargoaccess'],
  both: featureNames,
};

export interface Person {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  /** `account/device`, or a beginning of it and `*`: `acme/*`, `acme/bus-*`. */
  readonly vehicles: readonly string[];
  readonly passkeys: readonly Passkey[];
}

export interface PersonsList {
  /** Only grows while the set stays. */
  readonly version: number;
  /** Id of the set whose keys sign it: a key that stays over a rotation revives no older list. */
  readonly set: string;
  readonly rpID: string;
  readonly origins: readonly string[];
  readonly validUntilMs: number;
  readonly needed: Readonly<Record<FeatureName, number>>;
  readonly persons: readonly Person[];
}

/** A value and the signatures of owner keys over it, base64url. */
export interface SignedSet {
  readonly set: OwnerSet;
  /** Of keys of the set before; none for the pinned set. */
  readonly signatures: readonly string[];
}

export interface OwnerDocument {
  /** The pinned set, then each rotation. */
  readonly sets: readonly SignedSet[];
  /** Null: the newest set has signed none yet. */
  readonly list: PersonsList | null;
  /** Of keys of the newest set over the list. */
  readonly signatures: readonly string[];
}

const spkiHeads = {
  /** RFC 5480: id-ecPublicKey, secp256r1, an uncompressed point of 65 bytes. */
  p256: '3059301306072a8648ce3d020106082a8648ce3d03010703420004',
  /** RFC 8410. */
  ed25519: '302a300506032b6570032100',
} as const;
const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** True for a public key in SPKI that a passkey may have: P-256 or Ed25519, and no other encoding of it. */
function isPasskeyKey(value: unknown): value is string {
  const bytes = isText(value, 200) ? decodeBase64url(value) : null;
  if (bytes === null) return false;
  const hex = hexOf(bytes);
  return (
    (bytes.length === 91 && hex.startsWith(spkiHeads.p256)) ||
    (bytes.length === 44 && hex.startsWith(spkiHeads.ed25519))
  );
}

/** An object with exactly these members; null: anything else. */
function exact(value: unknown, names: readonly string[]): JsonObject | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const isExact =
    Object.keys(value).length === names.length && names.every((name) => Object.hasOwn(value, name));
  return isExact ? (value as JsonObject) : null;
}

/** A list of at most so many items, each decoded; null when one is not what it must be. */
function itemsOf<Item>(
  value: unknown,
  most: number,
  decode: (item: unknown) => Item | null,
): readonly Item[] | null {
  if (!Array.isArray(value) || value.length > most) return null;
  const items = value.map(decode);
  return items.every((item): item is Item & {} => item !== null) ? items : null;
}

const areUnique = (values: readonly string[]): boolean => new Set(values).size === values.length;
const matching =
  (pattern: RegExp, most: number) =>
  (value: unknown): string | null =>
    isText(value, most) && pattern.test(value) ? value : null;
const isWithin = (value: unknown, low: number, high: number): value is number =>
  isCount(value) && value >= low && value <= high;

// Each in its one spelling: the spare bits of the last character are zero.
const ownerKey = matching(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/, 44);
const signature = matching(/^[A-Za-z0-9_-]{85}[AQgw]$/, 86);
const vehicle = matching(/^[A-Za-z0-9_-]{1,64}\/([A-Za-z0-9_-]{1,64}|[A-Za-z0-9_-]{0,63}\*)$/, 129);
const origin = matching(/^(https:\/\/[a-z0-9.-]{1,253}|http:\/\/localhost)(:[1-9]\d{0,4})?$/, 270);
/** The id of a set, as a vehicle pins it: SHA-256 in base64url. */
export const ownerPinPattern = '^[A-Za-z0-9_-]{43}$';
const setID = matching(new RegExp(ownerPinPattern), 43);
const rpID = matching(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/, 253);

function decodeSet(value: unknown): OwnerSet | null {
  const { version, needed, keys } = exact(value, ['version', 'needed', 'keys']) ?? {};
  const known = itemsOf(keys, ownerLimits.keys, ownerKey);
  if (known === null || !areUnique(known) || !isWithin(version, 1, ownerLimits.sets)) return null;
  return isWithin(needed, 1, known.length) ? { version, needed, keys: known } : null;
}

function decodePasskey(value: unknown): Passkey | null {
  const { credential, publicKey } = exact(value, ['credential', 'publicKey']) ?? {};
  if (!isText(credential, 340) || decodeBase64url(credential) === null) return null;
  return isPasskeyKey(publicKey) ? { credential, publicKey } : null;
}

function decodePerson(value: unknown): Person | null {
  const { id, name, role, vehicles, passkeys } =
    exact(value, ['id', 'name', 'role', 'vehicles', 'passkeys']) ?? {};
  const where = itemsOf(vehicles, ownerLimits.vehicles, vehicle);
  const keys = itemsOf(passkeys, ownerLimits.passkeys, decodePasskey);
  if (typeof id !== 'string' || !isId(id) || !isText(name, 64) || where === null || keys === null)
    return null;
  return typeof role === 'string' && Object.hasOwn(personRoles, role)
    ? { id, name, role, vehicles: where, passkeys: keys }
    : null;
}

/** True when each person, passkey and key stands once: nobody counts as two. */
function isDistinct(persons: readonly Person[]): boolean {
  const passkeys = persons.flatMap((person) => person.passkeys);
  return [
    persons.map(({ id }) => id),
    passkeys.map(({ credential }) => credential),
    passkeys.map(({ publicKey }) => publicKey),
  ].every(areUnique);
}

/** The host of an origin lies in the domain that passkeys are bound to (WebAuthn Level 2 section 5.1.4.1, step 7). */
function isOfDomain(of: string, domain: string): boolean {
  const host = /^https?:\/\/([^:]+)/.exec(of)?.[1] ?? '';
  return host === domain || host.endsWith(`.${domain}`);
}

/** Null: not a list of persons. */
export function decodePersonsList(value: unknown): PersonsList | null {
  const list = exact(value, ['version', 'set', 'rpID', 'origins', 'validUntilMs', 'needed', 'persons']) ?? {};
  const { version, validUntilMs } = list;
  const needed = exact(list['needed'], featureNames) ?? {};
  const [set, domain] = [setID(list['set']), rpID(list['rpID'])];
  const origins = itemsOf(list['origins'], ownerLimits.origins, origin);
  const persons = itemsOf(list['persons'], ownerLimits.persons, decodePerson);
  const { enginecutoff, cargoaccess } = needed;
  if (set === null || domain === null || origins === null || persons === null) return null;
  if (!isCount(version) || version === 0 || !isCount(validUntilMs) || !isDistinct(persons)) return null;
  if (!isWithin(enginecutoff, 1, ownerLimits.needed) || !isWithin(cargoaccess, 1, ownerLimits.needed))
    return null;
  if (!origins.every((one) => isOfDomain(one, domain))) return null;
  return {
    version,
    set,
    rpID: domain,
    origins,
    validUntilMs,
    needed: { enginecutoff, cargoaccess },
    persons,
  };
}

/** Null: not a document of an owner. Its signatures are not checked here. */
export function decodeOwnerDocument(value: unknown): OwnerDocument | null {
  const document = exact(value, ['sets', 'list', 'signatures']) ?? {};
  const signatures = itemsOf(document['signatures'], ownerLimits.keys, signature);
  const sets = itemsOf(document['sets'], ownerLimits.sets, (item) => {
    const signed = exact(item, ['set', 'signatures']) ?? {};
    const set = decodeSet(signed['set']);
    const by = itemsOf(signed['signatures'], ownerLimits.keys, signature);
    return set === null || by === null ? null : { set, signatures: by };
  });
  const list = document['list'] === null ? null : decodePersonsList(document['list']);
  if (signatures === null || sets === null || sets.length === 0) return null;
  return list === null && document['list'] !== null ? null : { sets, list, signatures };
}

/** The text that owner keys sign: its kind, and the one canonical spelling of the value. */
export const signedText = (kind: 'set' | 'list', value: OwnerSet | PersonsList): string =>
  `fleetward-owner-${kind}-1\n${canonicalJson(value)}`;

/** The id of a set: what a vehicle pins, and what a list names. */
export function ownerSetID(set: OwnerSet, { sha256 }: Pick<PersonsCrypto, 'sha256'>): string {
  return encodeBase64url(sha256(new TextEncoder().encode(signedText('set', set))));
}

/** The id of the pinned set in six groups, 120 of its bits: what two persons compare. */
export function ownerFingerprint(pin: string): string {
  return grouped(base32Of((decodeBase64url(pin) ?? new Uint8Array()).slice(0, 15)));
}

/** Keys of the set that signed the text, each once. */
export function signersOf(
  set: OwnerSet,
  text: string,
  signatures: readonly string[],
  crypto: PersonsCrypto,
): readonly string[] {
  return set.keys.filter((key) => signatures.some((one) => crypto.verifyOwner(key, text, one)));
}

export type DocumentRefusal =
  /** Not the form of a document, or too long. */
  | 'document_form'
  /** Its first set is not the pinned one. */
  | 'other_owner'
  /** A rotation lacks signatures of the set before, or skips a version. */
  | 'rotation'
  /** The list lacks signatures of the newest set, or names another set. */
  | 'list_signatures'
  /** The same version, or a newer one, was accepted before. */
  | 'not_newer';

/** A document that was checked. */
export interface Owner {
  readonly document: OwnerDocument;
  readonly set: OwnerSet;
  readonly list: PersonsList | null;
}

export type OwnerVerdict =
  | { readonly ok: true; readonly owner: Owner }
  | { readonly ok: false; readonly refusal: DocumentRefusal };

const isSignedBy = (set: OwnerSet, text: string, signatures: readonly string[], crypto: PersonsCrypto) =>
  signersOf(set, text, signatures, crypto).length >= set.needed;

/** Checks a document against the pinned set. @param known accepted before; null: none. */
export function verifyOwnerDocument(
  {
    pin,
    value,
    known = null,
  }: { readonly pin: string; readonly value: unknown; readonly known?: Owner | null },
  crypto: PersonsCrypto,
): OwnerVerdict {
  const refuse = (refusal: DocumentRefusal): OwnerVerdict => ({ ok: false, refusal });
  const document = decodeOwnerDocument(value);
  const first = document?.sets[0];
  if (document === null || first === undefined) return refuse('document_form');
  if (canonicalJson(document).length > ownerLimits.documentBytes) return refuse('document_form');
  if (ownerSetID(first.set, crypto) !== pin || first.set.version !== 1) return refuse('other_owner');
  let { set } = first;
  for (const next of document.sets.slice(1)) {
    const isNext = next.set.version === set.version + 1;
    if (!isNext || !isSignedBy(set, signedText('set', next.set), next.signatures, crypto))
      return refuse('rotation');
    set = next.set;
  }
  const { list, signatures } = document;
  const isListGood =
    list === null ||
    (list.set === ownerSetID(set, crypto) && isSignedBy(set, signedText('list', list), signatures, crypto));
  if (!isListGood) return refuse('list_signatures');
  if (known !== null && !isNewer({ set, list }, known)) return refuse('not_newer');
  return { ok: true, owner: { document, set, list } };
}

function isNewer({ set, list }: Pick<Owner, 'set' | 'list'>, known: Owner): boolean {
  if (set.version !== known.set.version) return set.version > known.set.version;
  return (list?.version ?? 0) > (known.list?.version ?? 0);
}

/** What a unit checks with. */
export interface OwnerSource {
  readonly crypto: PersonsCrypto;
  /** Text of the document on this machine; null: there is none. */
  readonly documentText: string | null;
}

/** The value of a document's text; undefined: too long, or not JSON. */
export function parseOwnerDocument(text: string): unknown {
  if (text.trimEnd().length > ownerLimits.documentBytes) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
