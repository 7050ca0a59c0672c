// The request header `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07): a repeated POST is executed once.
// The key is claimed on disk before the work and the answer stored after it. If a process dies in between the outcome is
// unknown, and the request must not be executed again automatically.
import { createHmac } from 'node:crypto';
import { AppError, messageOf } from '../../../src/core/errors.ts';
import { claimKey, findKey, freeKey, type KeyClaim, keepAnswer } from '../../store/accounts/idempotency.ts';
import type { ApiServices } from './api-services.ts';
import { type Caller } from './caller.ts';
import type { Operation } from './operation.ts';

/** Most characters of a key. */
const keyLength = 255;
/** Longer answers are not kept. */
const answerMost = 64 * 1024;
/** No request runs longer; a claim without an answer that is older belongs to one that died. */
const runningMs = 60_000;

/** True when the header means something for this operation. */
export function takesKey({ method, effects, answerIsSecret }: Operation): boolean {
  return method === 'POST' && effects && answerIsSecret !== true;
}

/**
 * The key in a header, as a structured field string (`"..."`) or bare.
 * @throws AppError `malformed_request`.
 */
export function parseKey(header: string): string {
  const text = header.trim();
  const key = /^"(.*)"$/.exec(text)?.[1]?.replace(/\\(["\\])/g, '$1') ?? text;
  if (/^[\x21-\x7e]+$/.test(key) && key.length <= keyLength) return key;
  throw new AppError('malformed_request', `Idempotency-Key must be 1 to ${keyLength} visible characters`, {
    hint: 'Send a random UUID for each thing that you want done, and the same one when you send it again.',
  });
}

/** A request that carries a key. */
export interface KeyedRequest {
  readonly key: string;
  readonly operation: Operation;
  readonly caller: Caller;
  /** Everything that decides what is done, already checked. */
  readonly asked: { readonly params: unknown; readonly query: unknown; readonly body: unknown };
}

export interface KeyedAnswer {
  /** JSON text. */
  readonly text: string;
  /** True: the answer of the first request, and nothing was done now. */
  readonly isReplayed: boolean;
}

/** Does the work; `services` report whether something was written. */
type Work = (services: ApiServices) => Promise<string>;

// Keyed with the idempotency key, which is kept nowhere: a short secret in a body cannot be found by trying.
const hash = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('hex');

/** JSON with the members of every object in the order of their names: the same thing asked otherwise is the same text. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)))
      : member,
  );
}

/** The caller was not proven: only the failure itself is recorded, and nothing was done. */
const isUnproven = (thrown: unknown): boolean =>
  thrown instanceof AppError && (thrown.code === 'password_needed' || thrown.code === 'password_wrong');

/** The body without what proves the caller. */
function withoutProof(body: unknown, { proofMember }: Operation): unknown {
  if (proofMember === undefined || typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== proofMember));
}

function claimOf({ key, operation, caller, asked }: KeyedRequest, atMs: number): KeyClaim {
  const { accountID, userID } = caller;
  const { params, query, body } = asked;
  return {
    keyHash: hash(key, `${accountID}\n${userID}\n${operation.id}`),
    accountID,
    userID,
    requestHash: hash(key, canonical({ params, query, body: withoutProof(body, operation) })),
    atMs,
    isOrder: operation.isOrder === true,
  };
}

/** The answer stored under a claimed key. @throws AppError `conflict`, `unavailable`, `throttled`. */
async function replay({ db, clock }: ApiServices, claim: KeyClaim): Promise<KeyedAnswer> {
  const known = await findKey(db, claim.keyHash);
  if (known === null) {
    throw new AppError('throttled', 'You, or your account, use too many idempotency keys at a time', {
      hint: 'A key is kept for 24 hours. Send requests that may be repeated without one.',
      retryAfterS: 60,
    });
  }
  if (known.requestHash !== claim.requestHash) {
    throw new AppError('conflict', 'The Idempotency-Key was used for another request', {
      hint: 'Use a new key for each thing that you want done.',
    });
  }
  if (known.answer !== null) return { text: known.answer, isReplayed: true };
  if (clock.utcMs() - known.claimedMs < runningMs) {
    throw new AppError('unavailable', 'The first request with this Idempotency-Key still runs', {
      retryAfterS: 1,
    });
  }
  throw new AppError('conflict', 'The first request with this Idempotency-Key has no answer that was kept', {
    hint: 'It may have been carried out. Read the object, and use a new key if it was not.',
  });
}

/** The services with a store that reports whether it was written to. */
function watch(services: ApiServices) {
  const seen = { hasWritten: false };
  const { db } = services;
  const watched: ApiServices = {
    ...services,
    db: {
      read: (statement) => db.read(statement),
      write: async (batch) => {
        const results = await db.write(batch);
        seen.hasWritten = true;
        return results;
      },
      close: () => db.close(),
    },
  };
  return { seen, watched };
}

/**
 * Does the work once for each key. An error after which nothing was written frees the key, so that the request can be
 * sent again. @throws AppError what the work throws, and `conflict`, `unavailable`, `throttled` for the key.
 */
export async function runOnce(
  services: ApiServices,
  request: KeyedRequest,
  work: Work,
): Promise<KeyedAnswer> {
  const { db, clock, log } = services;
  const claim = claimOf(request, Math.round(clock.utcMs()));
  const [, claimed] = await db.write(claimKey(claim));
  if (claimed?.changes !== 1) return replay(services, claim);
  const { seen, watched } = watch(services);
  // Its own failure must not hide that of the work, nor an answer that stands.
  const finishClaim = async (statement: ReturnType<typeof freeKey>): Promise<void> => {
    try {
      await db.write([statement]);
    } catch (thrown) {
      log.warn('idempotency_key_not_settled', { reason: messageOf(thrown) });
    }
  };
  let text: string;
  try {
    text = await work(watched);
  } catch (thrown) {
    if (!seen.hasWritten || isUnproven(thrown)) await finishClaim(freeKey(claim.keyHash));
    throw thrown;
  }
  if (text.length <= answerMost) await finishClaim(keepAnswer(claim.keyHash, text));
  else if (!seen.hasWritten) await finishClaim(freeKey(claim.keyHash));
  return { text, isReplayed: false };
}
