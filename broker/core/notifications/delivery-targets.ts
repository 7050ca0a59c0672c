// Validates targets that users enter: webhook addresses, push endpoints, e-mail addresses. Pure; each check returns the
// fault as text, or null. The resolved address is checked again on connect.
import { isAddress, isPublicAddress } from './public-address.ts';

export interface TargetRules {
  /** Private addresses and plain `http:` are allowed. */
  readonly allowsPrivate: boolean;
  /** Hosts of push services; `*.` in front takes every host below. */
  readonly pushHosts: readonly string[];
}

const urlMost = 2048;

/**
 * The parts of an absolute URL, or null. A parser (WHATWG URL) drops line ends, tabs and spaces around, so that a text with them
 * would be stored and shown as another one than is asked.
 */
function parse(text: string): URL | null {
  if (/[\p{C}\p{Z}]/u.test(text)) return null;
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

function faultOfUrl(text: string, { allowsPrivate }: TargetRules): string | null {
  const url = text.length > urlMost ? null : parse(text);
  if (url === null)
    return `must be a URL of at most ${urlMost} characters, without spaces and control characters`;
  if (url.protocol !== 'https:' && !(allowsPrivate && url.protocol === 'http:'))
    return 'must begin with https://';
  if (url.username !== '' || url.password !== '') return 'must hold no user and no password';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!allowsPrivate && isAddress(host) && !isPublicAddress(host)) return 'must not name a private address';
  if (!allowsPrivate && /(^|\.)(localhost|local|internal)\.?$/.test(host))
    return 'must not name a private host';
  return null;
}

/** What is wrong with the address of a webhook; null when it may be used. */
export function faultOfWebhook(url: string, rules: TargetRules): string | null {
  return faultOfUrl(url, rules);
}

const hostFits = (host: string, pattern: string): boolean =>
  pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;

/** What is wrong with the endpoint of a Web Push subscription; null when it may be used. */
export function faultOfEndpoint(endpoint: string, rules: TargetRules): string | null {
  const fault = faultOfUrl(endpoint, rules);
  if (fault !== null) return fault;
  const host = parse(endpoint)?.hostname ?? '';
  return rules.pushHosts.some((pattern) => hostFits(host, pattern))
    ? null
    : 'must be at a push service that this service knows';
}

/** True for a URL as it may be stored: WHATWG, one line, no spaces, no user and password. */
export function isPlainUrl(text: string): boolean {
  const url = parse(text);
  return url !== null && url.username === '' && url.password === '';
}

/** The host of a URL with its port, which may be shown and logged; the rest may hold a secret. */
export function hostOf(url: string): string {
  return parse(url)?.host ?? '';
}

/**
 * What of the webhooks of an account fails together: those of one rule, for a host may be well where one path of it is gone.
 */
export function webhookLane(of: {
  readonly accountID: string;
  readonly url: string;
  readonly ruleNo: number;
}): string {
  return `webhook:${of.accountID}:${hostOf(of.url)}#${of.ruleNo}`;
}

/** What of a channel shares places: webhooks to one host, whatever the rule; else the lane. */
export function limitKeyOf(channel: string, lane: string): string {
  return channel === 'webhook' ? lane.replace(/#\d+$/, '') : lane;
}

/**
 * One plain mailbox that mail can reach (RFC 5321 section 4.1.2): no display name, no quoting, no list, no bare address of a host, nothing
 * that could end a header.
 */
const mailbox =
  /^(?=[^@]{1,64}@)[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*(?![0-9]+$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;

/** The pattern's source, for JSON schemas. */
export const mailboxSource = mailbox.source;

/** The same, or empty for none. */
export const mailboxOrNoneSource = `^$|${mailbox.source}`;

/** The addresses of a list with commas between them; what is no address is left out. */
export function mailboxesOf(text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim());
  return [...new Set(parts)].filter((part) => part.length <= 254 && mailbox.test(part));
}
