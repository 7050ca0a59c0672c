// Access tokens and session lifetimes. Pure. A token is `<accountID>%7C<userID>%7C<random>`; only the random part is
// secret, the names must match the session. A token must never be stored or logged: the store keeps its SHA-256.
import { hexId, isId } from '../../../src/core/ids.ts';

/** Bytes of the random part: 256 bits. */
export const tokenRandomBytes = 32;

/** A session ends after 12 h without use, and after 30 days in any case. */
export const sessionLimits = {
  idleS: 12 * 3600,
  absoluteS: 30 * 24 * 3600,
  /** The last use is written at most this often, so that reading does not become writing. */
  touchS: 60,
  /** Longest life of an API token: a year and a day. */
  apiTokenS: 366 * 24 * 3600,
} as const;

const separator = '%7C';
const randomPattern = /^[0-9a-f]{64}$/;

export interface TokenOwner {
  readonly accountID: string;
  readonly userID: string;
}

/** @param random exactly `tokenRandomBytes` bytes fit for keys. */
export function formatToken(owner: TokenOwner, random: Uint8Array): string {
  return [owner.accountID, owner.userID, hexId(random)].join(separator);
}

/** The names in a token of the right shape; null for anything else. It does not say that the token is valid. */
export function parseToken(token: string): TokenOwner | null {
  const [accountID, userID, random, ...rest] = token.split(separator);
  if (accountID === undefined || userID === undefined || random === undefined || rest.length > 0) return null;
  return isId(accountID) && isId(userID) && randomPattern.test(random) ? { accountID, userID } : null;
}

const sharePattern = /^share-[0-9a-f]{64}$/;

/** The token of a share link: it holds no name. @param random exactly `tokenRandomBytes` bytes fit for keys. */
export function formatShareToken(random: Uint8Array): string {
  return `share-${hexId(random)}`;
}

/** Whether a token has the shape of a share link's. */
export function isShareToken(token: string): boolean {
  return sharePattern.test(token);
}

/** A token of the right shape. */
export interface SentToken {
  readonly token: string;
  /** The names in it; null for the token of a share link, which holds none. */
  readonly owner: TokenOwner | null;
}

/**
 * The token in an `authorization` header: the value exactly as login returned it, or the same after `Bearer `
 * (RFC 6750). Null when there is none; the user and password of basic authentication are ignored.
 */
export function tokenIn(header: string | undefined): SentToken | null {
  if (header === undefined) return null;
  const token = /^bearer /i.test(header) ? header.slice('bearer '.length).trim() : header.trim();
  const owner = parseToken(token);
  return owner === null && !isShareToken(token) ? null : { token, owner };
}

/** The same without its names. */
export function tokenOf(header: string | undefined): string | null {
  return tokenIn(header)?.token ?? null;
}

export interface SessionTimes {
  readonly createdS: number;
  readonly lastUsedS: number;
  /** End of an API token, which lives until then whatever its use; null or absent for a login. */
  readonly expiresS?: number | null;
  /** End of the account; null or absent when it has none. */
  readonly accountExpiresS?: number | null;
}

const isOver = (endS: number | null | undefined, nowS: number): boolean =>
  endS !== null && endS !== undefined && nowS >= endS;

/** `touch`: alive, and its last use is worth writing. A clock that stepped back ends nothing. */
export function decideSession(times: SessionTimes, nowS: number): 'live' | 'touch' | 'ended' {
  if (isOver(times.accountExpiresS, nowS) || isOver(times.expiresS, nowS)) return 'ended';
  const isLogin = times.expiresS === null || times.expiresS === undefined;
  if (isLogin && nowS - times.createdS >= sessionLimits.absoluteS) return 'ended';
  const idleS = nowS - times.lastUsedS;
  if (isLogin && idleS >= sessionLimits.idleS) return 'ended';
  return idleS >= sessionLimits.touchS ? 'touch' : 'live';
}

/**
 * What an API token may be used for, beside what its user's role allows: `read` shows, `write` changes what is recorded,
 * `command` orders and asks vehicles, `track` sends positions of other makers' trackers, `admin` manages users, rules and the account.
 */
export const tokenScopes = ['read', 'write', 'command', 'track', 'admin'] as const;
export type TokenScope = (typeof tokenScopes)[number];

/** The scopes in a stored text; names that are not known give nothing. */
export function parseScopes(text: string): readonly TokenScope[] {
  const names = text.split(' ');
  return tokenScopes.filter((scope) => names.includes(scope));
}

/** What a user may do, weakest first; each role includes those before it. */
export const roles = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof roles)[number];

/** True when `role` includes everything that `needed` may do. */
export function roleCovers(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

/** The role of that name; the weakest for a name that is not known. */
export function parseRole(name: string): Role {
  return roles.find((role) => role === name) ?? 'viewer';
}
