// From what a handler gave to bytes on the wire: whole or page by page, with an ETag where the operation has one. It must
// never cut an answer short in silence: a fault before the first bytes is an error answer, one after them breaks the
// connection.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../src/core/errors.ts';
import type { Operation } from '../api/operation.ts';

/** Bytes gathered before an answer begins to flow; a smaller one is sent whole, with its length. */
const gatherBytes = 256 * 1024;
/** Most bytes held for an answer with an ETag, which must be complete before its first byte leaves. */
const conditionalBytes = 64 * 1024 * 1024;

const isPages = (value: unknown): value is AsyncIterable<readonly unknown[]> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isPages(value);

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

/** The JSON text of a value in pieces of a page each. */
async function* jsonChunks(value: unknown): AsyncGenerator<string> {
  if (isPages(value)) {
    yield* listChunks(value);
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

interface Head {
  readonly chunks: readonly string[];
  /** Null: `chunks` is everything. */
  readonly rest: AsyncIterator<string> | null;
}

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

async function* flow(head: Head): AsyncGenerator<string> {
  yield head.chunks.join('');
  const { rest } = head;
  if (rest === null) return;
  try {
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    // The client has gone: the reader behind the pages ends too.
    await rest.return?.();
  }
}

/** True when `If-None-Match` names the tag (RFC 9110 section 13.1.2, weak comparison). */
function isKnown(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((one) => one.trim().replace(/^W\//, '') === tag.replace(/^W\//, ''));
}

async function answerConditional(
  { request, reply }: Exchange,
  source: AsyncIterable<string>,
): Promise<unknown> {
  const { chunks, rest } = await gather(source, conditionalBytes);
  if (rest !== null) {
    await rest.return?.();
    throw new AppError('invalid_content', 'the answer is too long to be sent at once', {
      hint: 'Ask for pages with ?limit and follow `next`.',
    });
  }
  const hash = createHash('sha256');
  for (const chunk of chunks) hash.update(chunk);
  const tag = `W/"${hash.digest('base64url').slice(0, 27)}"`;
  void reply.headers({ etag: tag, 'cache-control': 'private, no-cache' });
  if (isKnown(request.headers['if-none-match'], tag)) return reply.code(304).send();
  return reply.send(chunks.length === 1 ? chunks[0] : Readable.from(chunks, { objectMode: false }));
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

const isText = (value: unknown): value is AsyncIterable<string> | string =>
  typeof value === 'string' || isPages(value);

/** An answer that is not JSON: a stream of text, which begins at once where it is live. */
async function answerStream({ reply }: Exchange, operation: Operation, result: unknown): Promise<unknown> {
  if (!isText(result)) throw new Error(`${operation.id} gave no text`);
  const type = operation.produces ?? 'text/csv';
  void reply.type(type === 'text/csv' ? 'text/csv; charset=utf-8; header=present' : type);
  if (typeof result === 'string') return reply.send(result);
  if (type === 'text/event-stream') return reply.send(Readable.from(result, { objectMode: false }));
  const head = await gather(result, gatherBytes);
  if (head.rest === null) return reply.send(head.chunks.join(''));
  return reply.send(Readable.from(flow(head), { objectMode: false }));
}

/** Sends what the handler of `operation` gave. */
export async function sendAnswer(
  exchange: Exchange,
  operation: Operation,
  result: unknown,
): Promise<unknown> {
  if (operation.produces !== undefined) return answerStream(exchange, operation, result);
  const { reply } = exchange;
  void reply.type('application/json; charset=utf-8');
  if (operation.isConditional === true) return answerConditional(exchange, jsonChunks(result));
  if (!holdsPages(result)) return reply.send(JSON.stringify(result));
  const head = await gather(jsonChunks(result), gatherBytes);
  if (head.rest === null) return reply.send(head.chunks.join(''));
  return reply.send(Readable.from(flow(head), { objectMode: false }));
}
