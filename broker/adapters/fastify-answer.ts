// From what a handler gave to bytes on the wire: whole or page by page, with an ETag where the operation has one. It must
// never cut an answer short in silence: a fault before the first bytes is an error answer, one after them breaks the
// connection.
import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { AppError } from '../../src/core/errors.ts';
import type { Cancel } from '../../src/ports.ts';
import type { Operation, PagedRecord } from '../api/operation.ts';
import { type Exchange, holdText, sendFlow, sendHeld, sendText } from './fastify-compress.ts';

/** Bytes gathered before an answer begins to flow; a smaller one is sent whole, with its length. */
const gatherBytes = 256 * 1024;
/** Most compressed bytes held for an answer with an ETag, which must be complete before its first byte leaves. */
const heldBytes = 16 * 1024 * 1024;

const isPages = (value: unknown): value is AsyncIterable<readonly unknown[]> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isPages(value);

const isPagedRecord = (value: unknown): value is PagedRecord<unknown> =>
  isPlainObject(value) && isPages(value['pagedRecord']);

/** True when a value or a member of it comes in pages; two levels deep, as `Answer` allows. */
function holdsPages(value: unknown, depth = 2): boolean {
  if (isPages(value)) return true;
  return depth > 0 && isPlainObject(value) && Object.values(value).some((one) => holdsPages(one, depth - 1));
}

async function* listChunks(pages: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  let separator = '[';
  for await (const page of pages) {
    if (page.length === 0) continue;
    yield separator + page.map((item) => JSON.stringify(item)).join();
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

async function* recordChunks(
  pages: AsyncIterable<readonly (readonly [name: string, value: unknown])[]>,
): AsyncGenerator<string> {
  let separator = '{';
  for await (const page of pages) {
    if (page.length === 0) continue;
    yield separator + page.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join();
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

/** The JSON text of a value in pieces of a page each. */
async function* jsonChunks(value: unknown): AsyncGenerator<string> {
  if (isPages(value)) {
    yield* listChunks(value);
  } else if (isPagedRecord(value)) {
    yield* recordChunks(value.pagedRecord);
  } else if (isPlainObject(value) && holdsPages(value)) {
    let separator = '{';
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      yield `${separator}${JSON.stringify(name)}:`;
      yield* jsonChunks(member);
      separator = ',';
    }
    yield '}';
  } else {
    yield JSON.stringify(value);
  }
}

/** How long answers share the service: see `broker/work/page-turns.ts`, here for one account. */
export interface Pace {
  /** Does a piece of the work when its turn has come. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
  /** Takes a place for a long answer, and gives the way to give it back. @throws AppError `throttled`. */
  begin(): Cancel;
}

/** The same pieces, each made in its turn. */
async function* paced(source: AsyncIterable<string>, { inTurn }: Pace): AsyncGenerator<string> {
  const pieces = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await inTurn(() => pieces.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // The client has gone: the reader behind the pieces ends too.
    await pieces.return?.();
  }
}

interface Head {
  readonly chunks: readonly string[];
  /** Null: `chunks` is everything. */
  readonly rest: AsyncIterator<string> | null;
}

interface LongHead extends Head {
  readonly rest: AsyncIterator<string>;
}

const isLong = (head: Head): head is LongHead => head.rest !== null;

/** Reads until `most` bytes are there or the answer ends, so that an early fault is still an error answer. */
async function gather(source: AsyncIterable<string>, most: number): Promise<Head> {
  const rest = source[Symbol.asyncIterator]();
  const chunks: string[] = [];
  for (let length = 0; length < most; ) {
    const next = await rest.next();
    if (next.done === true) return { chunks, rest: null };
    chunks.push(next.value);
    length += next.value.length;
  }
  return { chunks, rest };
}

async function* flow({ chunks, rest }: LongHead): AsyncGenerator<string> {
  try {
    yield chunks.join('');
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    // The client has gone: the reader behind the pages ends too.
    await rest.return?.();
  }
}

/** A long answer, once there is a place for it. It ends with the exchange, even if nobody ever reads it (a HEAD). */
async function begun({ reply }: Exchange, head: LongHead, pace: Pace): Promise<AsyncGenerator<string>> {
  const end = await placeOf(head, pace);
  const endAll = (): void => {
    end();
    void head.rest.return?.();
  };
  reply.raw.once('finish', endAll);
  reply.raw.once('close', endAll);
  return flow(head);
}

async function placeOf(head: LongHead, pace: Pace): Promise<Cancel> {
  try {
    return pace.begin();
  } catch (thrown) {
    await head.rest.return?.();
    throw thrown;
  }
}

/** True when `If-None-Match` names the tag (RFC 9110 section 13.1.2, weak comparison). */
function isKnown(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((one) => one.trim().replace(/^W\//, '') === tag.replace(/^W\//, ''));
}

/** A 304 describes no content (RFC 9110 section 15.4.5). */
function sendUnchanged(reply: Exchange['reply']): unknown {
  return reply.removeHeader('content-type').code(304).send();
}

/** True when the client has the answer already: then 304 is all that it gets. */
function isUnchanged({ request, reply }: Exchange, digest: Hash): boolean {
  const tag = `W/"${digest.digest('base64url').slice(0, 27)}"`;
  void reply.headers({ etag: tag, 'cache-control': 'private, no-cache' });
  return isKnown(request.headers['if-none-match'], tag);
}

/** The tag is a hash of the text itself, so that it is right whoever changed what. */
async function answerConditional(exchange: Exchange, { chunks, pace }: Long): Promise<unknown> {
  const { reply } = exchange;
  const digest = createHash('sha256');
  const head = await gather(chunks, gatherBytes);
  if (!isLong(head)) {
    const text = head.chunks.join('');
    return isUnchanged(exchange, digest.update(text)) ? sendUnchanged(reply) : sendText(exchange, text);
  }
  const onChunk = (chunk: string) => void digest.update(chunk);
  const isWanted = () => !reply.raw.destroyed;
  const held = await holdText(await begun(exchange, head, pace), { mostBytes: heldBytes, onChunk, isWanted });
  if (held === null) {
    throw new AppError('invalid_content', 'the answer is too long to be sent at once', {
      hint: 'Ask for pages with ?limit and follow `next`.',
    });
  }
  return isUnchanged(exchange, digest) ? sendUnchanged(reply) : sendHeld(exchange, held);
}

/**
 * A live stream whose client takes nothing for this long, or twice as long when it had just begun to, is cut. Its
 * keep-alives come more often.
 */
const stalledMs = 25_000;

/** What a handler gave. */
interface Result {
  readonly result: unknown;
  readonly pace: Pace;
}

interface Long {
  readonly chunks: AsyncIterable<string>;
  readonly pace: Pace;
}

const isText = (value: unknown): value is AsyncIterable<string> | string =>
  typeof value === 'string' || isPages(value);

/** An answer that is not JSON: a stream of text, which begins at once where it is live. */
async function answerStream(
  exchange: Exchange,
  operation: Operation,
  { result, pace }: Result,
): Promise<unknown> {
  const { reply } = exchange;
  if (!isText(result)) throw new Error(`${operation.id} gave no text`);
  const type = operation.produces ?? 'text/csv';
  void reply.type(type === 'text/csv' ? 'text/csv; charset=utf-8; header=present' : type);
  if (typeof result === 'string') return sendText(exchange, result);
  if (type === 'text/event-stream') {
    // A proxy must not hold messages back to fill its buffer.
    void reply.header('x-accel-buffering', 'no');
    // Counts from the last byte that the client took: what waits for it is bounded, and so is how long.
    reply.raw.setTimeout(stalledMs, () => void reply.raw.destroy());
    return reply.send(Readable.from(result, { objectMode: false }));
  }
  return answerFlow(exchange, { chunks: paced(result, pace), pace });
}

/** Whole when it is short, else while it is made. */
async function answerFlow(exchange: Exchange, { chunks, pace }: Long): Promise<unknown> {
  const head = await gather(chunks, gatherBytes);
  return isLong(head)
    ? sendFlow(exchange, await begun(exchange, head, pace))
    : sendText(exchange, head.chunks.join(''));
}

/** The whole JSON text of what a handler gave. */
export async function jsonText(result: unknown): Promise<string> {
  const chunks: string[] = [];
  for await (const chunk of jsonChunks(result)) chunks.push(chunk);
  return chunks.join('');
}

/** Sends a JSON text. */
export function sendJson(exchange: Exchange, text: string): Promise<unknown> {
  void exchange.reply.type('application/json; charset=utf-8');
  return sendText(exchange, text);
}

/** Sends what the handler of `operation` gave. */
export async function sendAnswer(
  exchange: Exchange,
  operation: Operation,
  { result, pace }: Result,
): Promise<unknown> {
  if (operation.produces !== undefined) return answerStream(exchange, operation, { result, pace });
  const { reply } = exchange;
  void reply.type('application/json; charset=utf-8');
  if (operation.answerIsSecret === true) return reply.send(JSON.stringify(result));
  if (operation.isConditional === true) {
    return answerConditional(exchange, { chunks: paced(jsonChunks(result), pace), pace });
  }
  if (!holdsPages(result)) return sendText(exchange, JSON.stringify(result));
  return answerFlow(exchange, { chunks: paced(jsonChunks(result), pace), pace });
}
