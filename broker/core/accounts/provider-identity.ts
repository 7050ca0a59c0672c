// From the claims of an ID token to a user of an account. Pure. Deny by default: without an account, a usable name and a
// role from the table there is no login. A user is known again by issuer and subject, never by a name, which people choose.
import { isId } from '../../../src/core/ids.ts';
import { type Role, roleCovers } from './session.ts';

/** Who grants what a claim grants; no user has a name with a space. */
export const providerActor = 'OpenID Connect';

/** How claims become users. */
export interface ProviderRules {
  readonly issuer: string;
  /** One account for all; null: a value of the claim that stands in the table names it. */
  readonly accountID: string | null;
  readonly accountClaim: string;
  readonly accounts: readonly { readonly value: string; readonly accountID: string }[];
  readonly userClaim: string;
  readonly roleClaim: string;
  readonly roles: readonly { readonly value: string; readonly role: Role }[];
  /** Null: no claim limits the devices. */
  readonly groupsClaim: string | null;
  /** A session ends so many seconds after its login. */
  readonly sessionS: number;
}

export type Claims = Readonly<Record<string, unknown>>;

/** Issuer and subject, which no other person has. */
export interface ProviderUser {
  readonly accountID: string;
  readonly identity: string;
}

export type IdentityDecision =
  | { readonly kind: 'refused'; readonly reason: 'no_subject' | 'no_account' }
  | { readonly kind: 'refused'; readonly reason: 'no_role'; readonly user: ProviderUser }
  | {
      readonly kind: 'accepted';
      readonly user: ProviderUser;
      /** Name for a new user; null when the claim gives none that fits. */
      readonly userID: string | null;
      readonly displayName: string | null;
      readonly role: Role;
      /** Values of the groups claim; null: none is read. */
      readonly groups: readonly string[] | null;
    };

/** Values of one claim that are looked at. */
const valuesMost = 1000;
/** OpenID Connect Core section 2: at most 255 ASCII characters. */
const subjectPattern = /^[\x20-\x7e]{1,255}$/;
const displayNamePattern = /^[^\p{C}\p{Zl}\p{Zp}]{1,128}$/u;

const isObject = (value: unknown): value is Claims =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The claim of that name; else, of a name with dots, the member of a claim that is an object. */
function claimOf(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}

function textsOf(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.slice(0, valuesMost).filter((one) => typeof one === 'string');
}

/** A user id of a name or address: what no id may hold becomes `-`. */
function userIDOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const name = value
    .normalize('NFKC')
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return isId(name) ? name : null;
}

/** The strongest role that a value of the claim has in the table. */
function roleOf(values: readonly string[], roles: ProviderRules['roles']): Role | null {
  let best: Role | null = null;
  for (const { value, role } of roles) {
    if (values.includes(value) && (best === null || roleCovers(role, best))) best = role;
  }
  return best;
}

/** The account of a person: of a claim exactly one text that stands in the table, as no user may choose among accounts. */
function accountOf(claims: Claims, { accountID, accountClaim, accounts }: ProviderRules): string | null {
  if (accountID !== null) return accountID;
  const named = claimOf(claims, accountClaim);
  return accounts.find(({ value }) => value === named)?.accountID ?? null;
}

/** Clocks of provider and service may differ by so much, in s. */
const clockSkewS = 30;

/**
 * True when the ID token is of this person, who has logged in at the provider since `begunS`: a session that the provider
 * still had proves nothing.
 */
export function isFreshLogin(
  { sub, auth_time: loggedInS }: Claims,
  {
    identity,
    issuer,
    begunS,
  }: { readonly identity: string; readonly issuer: string; readonly begunS: number },
): boolean {
  if (typeof sub !== 'string' || `${issuer} ${sub}` !== identity) return false;
  return typeof loggedInS === 'number' && loggedInS >= begunS - clockSkewS;
}

/** Decides who the person of a checked ID token is here. */
export function decideIdentity(claims: Claims, rules: ProviderRules): IdentityDecision {
  const { sub, name } = claims;
  if (typeof sub !== 'string' || !subjectPattern.test(sub)) return { kind: 'refused', reason: 'no_subject' };
  const accountID = accountOf(claims, rules);
  if (accountID === null) return { kind: 'refused', reason: 'no_account' };
  // An issuer is a URL and has no space, so that the two parts cannot be shifted.
  const user = { accountID, identity: `${rules.issuer} ${sub}` };
  const role = roleOf(textsOf(claimOf(claims, rules.roleClaim)), rules.roles);
  if (role === null) return { kind: 'refused', reason: 'no_role', user };
  return {
    kind: 'accepted',
    user,
    userID: userIDOf(claimOf(claims, rules.userClaim)),
    displayName: typeof name === 'string' && displayNamePattern.test(name) ? name : null,
    role,
    groups: rules.groupsClaim === null ? null : textsOf(claimOf(claims, rules.groupsClaim)),
  };
}
