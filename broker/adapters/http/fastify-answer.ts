// From what a handler gave to bytes on the wire: whole or page by page, with an ETag where the operation has one. It must
// never cut an answer short in silence: a fault before the first bytes is an error answer, one after them breaks the
// connection.
import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { answerTag, namesTag } from '../../api/base/answer-tag.ts';
import type { Operation, PagedRecord, WrittenList } from '../../api/base/operation.ts';
import { isReadyJson, type ReadyJson } from '../../api/base/ready-json.ts';
import { attachment } from '../../core/file-name.ts';
import {
  buffersOf,
  byteLengthOf,
  type Chunk,
  type Exchange,
  holdText,
  lengthOf,
  type StallWatch,
  sendFlow,
  sendHeld,
  sendPieces,
  sendText,
} from './fastify-compress.ts';

const isPages = (value: unknown): value is AsyncIterable<readonly unknown[]> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

const isWritten = (value: unknown): value is WrittenList<unknown> =>
  typeof value === 'object' && value !== null && 'writtenItems' in value;

const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isPages(value);

const isPagedRecord = (value: unknown): value is PagedRecord<unknown> =>
  isPlainObject(value) && isPages(value['pagedRecord']);

/** True when a value or a member of it comes in pages; two levels deep, as `Answer` allows. */
function holdsPages(value: unknown, depth = 2): boolean {
  if (isPages(value) || isWritten(value)) return true;
  return depth > 0 && isPlainObject(value) && Object.values(value).some((one) => holdsPages(one, depth - 1));
}

async function* listChunks(pages: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  let separator = '[';
  for await (const page of pages) {
    // An empty piece: others have their turn.
    if (page.length === 0) {
      yield '';
      continue;
    }
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
    if (page.length === 0) {
      yield '';
      continue;
    }
    yield separator + page.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join();
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

async function* writtenChunks(items: AsyncIterable<readonly Uint8Array[]>): AsyncGenerator<Chunk> {
  let isFirst = true;
  for await (const buffers of items) {
    const [first, ...others] = buffers;
    if (first === undefined) {
      yield '';
      continue;
    }
    // Before the first item no comma.
    yield isFirst ? [Buffer.from('['), first.subarray(1), ...others] : buffers;
    isFirst = false;
  }
  yield isFirst ? '[]' : ']';
}

/** The JSON text of a value in pieces of a page each. */
async function* jsonChunks(value: unknown): AsyncGenerator<Chunk> {
  if (isPages(value)) {
    yield* listChunks(value);
  } else if (isWritten(value)) {
    yield* writtenChunks(value.writtenItems);
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

/** How long answers share the service: see `broker/scheduling/per-account-limits.ts`, here for one answer. */
export interface Pace extends StallWatch {
  /** An answer of fewer bytes is sent whole, with its length; a longer one is a long answer and flows. */
  readonly gatherBytes: number;
  /** Most compressed bytes held for an answer with an ETag, which must be complete before its first byte leaves; a longer one has none. */
  readonly heldBytes: number;
  /** Aborts when the answer has ended: nothing that it holds outlives that. */
  readonly until: () => AbortSignal;
  /** Does a piece of the work when its turn has come. @throws AppError `throttled`; `unavailable` once the answer has ended. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
  /** Takes a place for a long answer, for as long as it lasts. @throws AppError `throttled`. */
  begin(): void;
}

/** The same pieces, each made in its turn. The reader behind them ends with the answer, also if no piece was ever asked for. */
function paced(source: AsyncIterable<Chunk>, { inTurn, until }: Pace): AsyncGenerator<Chunk> {
  const pieces = source[Symbol.asyncIterator]();
  const close = (): void => void pieces.return?.().catch(() => undefined);
  const ended = until();
  if (ended.aborted) close();
  else ended.addEventListener('abort', close, { once: true });
  return (async function* inTurns() {
    for (;;) {
      const next = await inTurn(() => pieces.next());
      if (next.done === true) return;
      yield next.value;
    }
  })();
}

interface Head {
  readonly chunks: readonly Chunk[];
  /** Null: `chunks` is everything. */
  readonly rest: AsyncIterator<Chunk> | null;
}

interface LongHead extends Head {
  readonly rest: AsyncIterator<Chunk>;
}

/** The chunks as one. */
function joined(chunks: readonly Chunk[]): Chunk {
  if (chunks.every((chunk) => typeof chunk === 'string')) return chunks.join('');
  return chunks.flatMap(buffersOf);
}

function whole(chunks: readonly Chunk[]): string | Buffer {
  const chunk = joined(chunks);
  return typeof chunk === 'string' ? chunk : Buffer.concat(chunk);
}

const isLong = (head: Head): head is LongHead => head.rest !== null;

/** Reads until `most` bytes are there or the answer ends, so that an early fault is still an error answer. */
async function gather(source: AsyncIterable<Chunk>, most: number): Promise<Head> {
  const rest = source[Symbol.asyncIterator]();
  const chunks: Chunk[] = [];
  for (let length = 0; length < most; ) {
    const next = await rest.next();
    if (next.done === true) return { chunks, rest: null };
    chunks.push(next.value);
    length += lengthOf(next.value);
  }
  return { chunks, rest };
}

/** The pieces of a long answer. */
async function* piecesOf({ chunks, rest }: LongHead): AsyncGenerator<Chunk> {
  yield joined(chunks);
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
    if (lengthOf(next.value) > 0) yield next.value;
  }
}

/** A 304 describes no content (RFC 9110 section 15.4.5). */
function sendUnchanged(reply: Exchange['reply']): unknown {
  return reply.removeHeader('content-type').code(304).send();
}

/** True when the client has the answer already: then 304 is all that it gets. */
function isUnchanged({ request, reply }: Exchange, digest: Hash, cacheS: number | undefined): boolean {
  const tag = answerTag(digest);
  const held = request.headers['if-none-match'];
  const caching = cacheS === undefined ? 'private, no-cache' : `public, max-age=${cacheS}`;
  void reply.headers({ etag: tag, 'cache-control': caching });
  return held !== undefined && namesTag(held, tag);
}

/** The tag is a hash of the text itself, so that it is right after every kind of change. */
async function answerConditional(
  exchange: Exchange,
  { cacheS }: Operation,
  { chunks, pace }: Long,
): Promise<unknown> {
  const { reply } = exchange;
  const digest = createHash('sha256');
  const head = await gather(chunks, pace.gatherBytes);
  if (!isLong(head)) {
    const text = whole(head.chunks);
    return isUnchanged(exchange, digest.update(text), cacheS)
      ? sendUnchanged(reply)
      : sendText(exchange, text);
  }
  pace.begin();
  const onChunk = (part: string | Uint8Array) => void digest.update(part);
  const held = await holdText(piecesOf(head), { mostBytes: pace.heldBytes, onChunk });
  // Too long to be held: it is sent as it is made, and has no tag.
  if (held.rest === null && isUnchanged(exchange, digest, cacheS)) return sendUnchanged(reply);
  return sendHeld(exchange, held, pace);
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
  readonly chunks: AsyncIterable<Chunk>;
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
  const fileName = operation.fileName?.(exchange.request.params as Readonly<Record<string, string>>);
  if (fileName !== undefined) void reply.header('content-disposition', attachment(fileName));
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
  const head = await gather(chunks, pace.gatherBytes);
  if (!isLong(head)) return sendText(exchange, whole(head.chunks));
  pace.begin();
  return sendFlow(exchange, piecesOf(head), pace);
}

/** The whole JSON text of what a handler gave. */
export async function jsonText(result: unknown): Promise<string> {
  const chunks: Chunk[] = [];
  for await (const chunk of jsonChunks(result)) chunks.push(chunk);
  return whole(chunks).toString();
}

/** Sends a JSON text. */
export function sendJson(exchange: Exchange, text: string): Promise<unknown> {
  void exchange.reply.type('application/json; charset=utf-8');
  return sendText(exchange, text);
}

/** @param tag what the text depends on; hashed, as it names devices and users. */
function answerReady(exchange: Exchange, { pieces, tag }: ReadyJson, pace: Pace): unknown {
  if (tag !== null && isUnchanged(exchange, createHash('sha256').update(tag), undefined))
    return sendUnchanged(exchange.reply);
  const made = pieces();
  if (byteLengthOf(made) < pace.gatherBytes) {
    const [first = Buffer.alloc(0), ...others] = made;
    return sendText(exchange, others.length === 0 ? first : Buffer.concat(made));
  }
  pace.begin();
  return sendPieces(exchange, made, pace);
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
  if (isReadyJson(result)) return answerReady(exchange, result, pace);
  if (operation.answerIsSecret === true) return reply.send(JSON.stringify(result));
  if (operation.isConditional === true) {
    return answerConditional(exchange, operation, { chunks: paced(jsonChunks(result), pace), pace });
  }
  if (!holdsPages(result)) return sendText(exchange, JSON.stringify(result));
  return answerFlow(exchange, { chunks: paced(jsonChunks(result), pace), pace });
}
