// An HTTP POST to an address that a user of the service entered: https only, to public addresses only, judged by the address
// that is connected to, so that a name that changes its mind cannot pass. Redirects are not followed, the answer is not
// read beyond 1 KiB, and faults hold neither URL nor address.
import { Resolver } from 'node:dns/promises';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { codeOf } from '../../../src/core/errors.ts';
import type { DeliveryFault } from '../../core/notifications/delivery-fault.ts';
import { isAddress, isPublicAddress } from '../../core/notifications/public-address.ts';
import { createTimedWork } from './timed-work.ts';

export interface Resolved {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Addresses of a name; rejects when there are none. */
export type Resolve = (hostname: string) => Promise<readonly Resolved[]>;

export interface GuardedPostOptions {
  /** Plain http and private addresses are allowed: for receivers of the own network. */
  readonly allowsPrivate: boolean;
  readonly resolve: Resolve;
}

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export type Posted =
  | { readonly status: number; readonly retryAfterS: number | null }
  | { readonly status: null; readonly fault: DeliveryFault };

export interface GuardedPost {
  /** Never rejects. */
  post(what: Post): Promise<Posted>;
  /** Ends what is under way. */
  close(): void;
}

const timeoutMs = 10_000;
const answerMost = 1024;
const headerMost = 8 * 1024;

/** Names by DNS alone and without the thread pool: a slow name server must not hold up logins and files. */
export function createResolve(): Resolve {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  return async (hostname) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const listed = (found: PromiseSettledResult<string[]>, family: 4 | 6): readonly Resolved[] =>
      found.status === 'fulfilled' ? found.value.map((address) => ({ address, family })) : [];
    const all = [...listed(v4, 4), ...listed(v6, 6)];
    if (all.length === 0) throw new Error('ENOTFOUND');
    return all;
  };
}

/** Refused before anything is sent. */
class Refusal extends Error {
  readonly fault: DeliveryFault;

  constructor(fault: DeliveryFault) {
    super(fault);
    this.fault = fault;
  }
}

/** The addresses of a name, every one of them public. @throws Refusal */
async function publicAddresses(
  resolve: Resolve,
  hostname: string,
): Promise<readonly [Resolved, ...Resolved[]]> {
  const [first, ...others] = await resolve(hostname).catch(() => []);
  if (first === undefined) throw new Refusal('no_address');
  if (![first, ...others].every(({ address }) => isPublicAddress(address))) {
    throw new Refusal('private_address');
  }
  return [first, ...others];
}

/** What the socket connects by. */
function guardedLookup(resolve: Resolve): LookupFunction {
  const answer = async (...[hostname, options, callback]: Parameters<LookupFunction>): Promise<void> => {
    let found: readonly [Resolved, ...Resolved[]];
    try {
      found = await publicAddresses(resolve, hostname);
    } catch (thrown) {
      callback(thrown instanceof Error ? thrown : new Refusal('no_address'), '', 0);
      return;
    }
    if (options.all === true) callback(null, [...found]);
    else callback(null, found[0].address, found[0].family);
  };
  return (hostname, options, callback) => void answer(hostname, options, callback);
}

function faultOf(error: Error): DeliveryFault {
  if (error instanceof Refusal) return error.fault;
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return `no_answer ${timeoutMs / 1000}`;
  const code = codeOf(error);
  return /^[A-Z][A-Z0-9_]*$/.test(code) ? `unreachable ${code}` : 'unreachable';
}

/** Seconds of a Retry-After header; dates are not worth the trouble. */
function retryAfterOf({ headers }: IncomingMessage): number | null {
  const text = headers['retry-after'] ?? '';
  return /^\d{1,6}$/.test(text) ? Number(text) : null;
}

/** Resolves once the answer is over, or has become too long to care; in any case when the connection ends. */
function answerOf(request: ClientRequest): Promise<Posted> {
  return new Promise((resolve) => {
    request.on('error', (error) => resolve({ status: null, fault: faultOf(error) }));
    let isAnswered = false;
    request.on('response', (answer) => {
      isAnswered = true;
      const posted = { status: answer.statusCode ?? 0, retryAfterS: retryAfterOf(answer) };
      let length = 0;
      answer.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > answerMost) request.destroy();
      });
      // The status is what counts: a body that breaks off changes nothing.
      answer.on('error', () => resolve(posted));
      answer.on('close', () => resolve(posted));
    });
    // A switch of protocols (101) ends without an error and without an answer.
    request.on('close', () => {
      if (!isAnswered) resolve({ status: null, fault: 'connection_ended' });
    });
  });
}

/** Makes posts of one kind. */
export function createGuardedPost({ allowsPrivate, resolve }: GuardedPostOptions): GuardedPost {
  const work = createTimedWork();
  const send = ({ url: text, headers, body }: Post, signal: AbortSignal): Promise<Posted> => {
    const url = new URL(text);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const isPlain = url.protocol === 'http:';
    if (isPlain && !allowsPrivate) throw new Refusal('not_https');
    // The lookup is not asked about an address.
    if (!allowsPrivate && isAddress(host) && !isPublicAddress(host)) throw new Refusal('private_address');
    const request = (isPlain ? httpRequest : httpsRequest)(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': String(body.length), 'user-agent': 'Fleetward' },
      // No connection is kept: the next one is judged anew.
      agent: false,
      maxHeaderSize: headerMost,
      signal,
      ...(allowsPrivate ? {} : { lookup: guardedLookup(resolve) }),
    });
    const answer = answerOf(request);
    request.end(body);
    return answer;
  };
  return {
    async post(what) {
      try {
        return await work.run(timeoutMs, async (signal) => send(what, signal));
      } catch (thrown) {
        return { status: null, fault: faultOf(thrown instanceof Error ? thrown : new Error('unknown')) };
      }
    },
    close: () => work.close(),
  };
}
