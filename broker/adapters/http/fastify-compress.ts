// Answers in fewer bytes: brotli or gzip where the client takes it, nothing for what is short. It must never touch a live
// stream, whose messages would wait in the encoder, nor an answer that holds a secret (its length would reveal something about it).

import { pipeline, Readable, type Transform } from 'node:stream';
import { promisify } from 'node:util';
import {
  type BrotliOptions,
  brotliCompress,
  constants,
  createBrotliCompress,
  createGunzip,
  createGzip,
  gzip,
} from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Cancel } from '../../../src/ports.ts';
import { gzipPieces } from './gzip-pieces.ts';

export interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export type Encoding = 'br' | 'gzip';

/** Shorter answers are sent as they are: they fit into one packet anyhow. */
const leastBytes = 1024;
// Quality 4 costs about what gzip does and gives a fifth less.
const brotliOptions: BrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const gzipOptions = { level: 5 } as const;
const brotliOf = promisify(brotliCompress);
const gzipOf = promisify(gzip);

/** Weight of a content coding in an `Accept-Encoding` header (RFC 9110 section 12.5.3). */
function weightOf(header: string, coding: string): number {
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const text = parameters.find((piece) => piece.startsWith('q='))?.slice('q='.length);
    const weight = text === undefined ? 1 : Number(text);
    weights.set(name, Number.isFinite(weight) ? weight : 0);
  }
  return weights.get(coding) ?? weights.get('*') ?? 0;
}

/** The coding that the client likes best; null: the answer as it is. */
export function encodingOf(header: string | undefined): Encoding | null {
  if (header === undefined) return null;
  const [br, gz] = [weightOf(header, 'br'), weightOf(header, 'gzip')];
  if (br <= 0 && gz <= 0) return null;
  return br >= gz ? 'br' : 'gzip';
}

const acceptOf = ({ request }: Exchange): string | undefined => {
  const header = request.headers['accept-encoding'];
  return typeof header === 'string' ? header : undefined;
};

function declare({ reply }: Exchange, encoding: Encoding | null): void {
  // An answer to another origin differs as well, where origins are set.
  const others = reply.getHeader('vary');
  void reply.header('vary', others === undefined ? 'accept-encoding' : `${String(others)}, accept-encoding`);
  if (encoding !== null) void reply.header('content-encoding', encoding);
}

async function packed(text: string | Buffer, encoding: Encoding | null): Promise<string | Buffer> {
  if (encoding === null) return text;
  return encoding === 'br' ? brotliOf(text, brotliOptions) : gzipOf(text, gzipOptions);
}

/** Sends a whole text. The work is done on another thread. */
export async function sendText(exchange: Exchange, text: string | Buffer): Promise<unknown> {
  const encoding = text.length < leastBytes ? null : encodingOf(acceptOf(exchange));
  declare(exchange, encoding);
  return exchange.reply.send(await packed(text, encoding));
}

/** Sends one text again and again: read when it is asked for, and packed once for each coding. */
export function createFixedText(
  read: () => string | Promise<string>,
): (exchange: Exchange) => Promise<unknown> {
  const known = new Map<Encoding | null, Promise<string | Buffer>>();
  const readPacked = async (encoding: Encoding | null) => packed(await read(), encoding);
  return async (exchange) => {
    const encoding = encodingOf(acceptOf(exchange));
    declare(exchange, encoding);
    const bytes = known.get(encoding) ?? readPacked(encoding);
    known.set(encoding, bytes);
    // A file that could not be read is read again for the next request.
    bytes.catch(() => known.delete(encoding));
    return exchange.reply.send(await bytes);
  };
}

/** The far end of a pipeline; a fault on the way breaks it, and so the connection. */
function through(source: Readable, coder: Transform): Transform {
  pipeline(source, coder, () => undefined);
  return coder;
}

/** A part of an answer: text, or buffers of UTF-8 that are sent as they are, without a copy. */
export type Chunk = string | readonly Uint8Array[];

/** Bytes of a chunk; of a text its characters. */
export function lengthOf(chunk: Chunk): number {
  return typeof chunk === 'string' ? chunk.length : chunk.reduce((sum, { length }) => sum + length, 0);
}

/** The buffers of a chunk. */
export function buffersOf(chunk: Chunk): readonly Uint8Array[] {
  return typeof chunk === 'string' ? [Buffer.from(chunk)] : chunk;
}

async function* oneByOne(chunks: AsyncIterable<Chunk>): AsyncGenerator<string | Uint8Array> {
  for await (const chunk of chunks) {
    if (typeof chunk === 'string') yield chunk;
    else yield* chunk;
  }
}

/**
 * Chunks as a stream for a response. The `pipe` of Node waits for the client after each buffer that fills that of the socket, so a
 * chunk of a hundred buffers takes a hundred system calls; this one writes all buffers of a chunk, and waits then.
 */
class ChunkStream extends Readable {
  readonly #chunks: AsyncGenerator<Chunk>;

  constructor(chunks: AsyncGenerator<Chunk>) {
    super();
    this.#chunks = chunks;
  }

  /** The buffers of the next chunk; null at the end, and once the stream is destroyed. */
  async #next(): Promise<readonly Uint8Array[] | null> {
    try {
      const next = await this.#chunks.next();
      if (next.done !== true) return this.destroyed ? null : buffersOf(next.value);
      this.push(null);
    } catch (thrown) {
      this.destroy(thrown as Error);
    }
    return null;
  }

  /** Only the answer to a HEAD is read so, which no client gets. */
  override _read(): void {
    void this.#fill();
  }

  async #fill(): Promise<void> {
    for (const buffer of (await this.#next()) ?? []) this.push(buffer);
  }

  override pipe<Target extends NodeJS.WritableStream>(response: Target): Target {
    void this.#writeTo(response);
    return response;
  }

  async #writeTo(response: NodeJS.WritableStream): Promise<void> {
    for (let buffers = await this.#next(); buffers !== null; buffers = await this.#next()) {
      let isTaken = true;
      for (const buffer of buffers) isTaken = response.write(buffer);
      // Never resolves once the client has left.
      if (!isTaken) await new Promise<void>((resolve) => void response.once('drain', resolve));
    }
    this.on('end', () => void response.end()).resume();
  }

  override _destroy(fault: Error | null, done: (fault: Error | null) => void): void {
    void this.#end(fault, done);
  }

  async #end(fault: Error | null, done: (fault: Error | null) => void): Promise<void> {
    try {
      await this.#chunks.return(undefined);
      done(fault);
    } catch (thrown) {
      done(thrown as Error);
    }
  }
}

export interface StallWatch {
  /**
   * From now on the client has so long to take what it was given, the longer the more bytes that are, unless cancelled; then its
   * connection is cut.
   */
  watchStall(bytes: number): Cancel;
}

/** The same pieces, for a client that takes each of them in time. */
async function* unstalled<T extends Chunk | Uint8Array>(
  pieces: AsyncIterable<T> | Iterable<T>,
  stall: StallWatch,
): AsyncGenerator<T> {
  let cancel: Cancel = () => undefined;
  try {
    for await (const piece of pieces) {
      cancel = stall.watchStall(piece instanceof Uint8Array ? piece.length : lengthOf(piece));
      yield piece;
      cancel();
    }
  } finally {
    cancel();
  }
}

/** Sends a text of unknown length while it is made. */
export function sendFlow(exchange: Exchange, chunks: AsyncIterable<Chunk>, stall: StallWatch): FastifyReply {
  const encoding = encodingOf(acceptOf(exchange));
  declare(exchange, encoding);
  if (encoding === null) {
    return exchange.reply.send(new ChunkStream(unstalled(chunks, stall)));
  }
  const coder = encoding === 'br' ? createBrotliCompress(brotliOptions) : createGzip(gzipOptions);
  const packed: AsyncIterable<Buffer> = through(
    Readable.from(oneByOne(chunks), { objectMode: false }),
    coder,
  );
  return exchange.reply.send(Readable.from(unstalled(packed, stall), { objectMode: false }));
}

/** Sends a long text that lies ready, in gzip where the client takes that: each piece is packed once for all answers. */
export function sendPieces(
  { request, reply }: Exchange,
  pieces: readonly Buffer[],
  stall: StallWatch,
): FastifyReply {
  const header = acceptOf({ request, reply });
  const isPacked = header !== undefined && weightOf(header, 'gzip') > 0;
  declare({ request, reply }, isPacked ? 'gzip' : null);
  if (!isPacked) void reply.header('content-length', byteLengthOf(pieces));
  const bytes = isPacked ? gzipPieces(pieces) : pieces;
  return reply.send(Readable.from(unstalled<Buffer>(bytes, stall), { objectMode: false }));
}

export const byteLengthOf = (pieces: readonly Buffer[]): number =>
  pieces.reduce((sum, { length }) => sum + length, 0);

/** A long text, kept in a tenth of its bytes until it is sent. */
export interface HeldText {
  readonly parts: readonly Buffer[];
  /** What was not kept, because it is too long; null: the parts are all of it. */
  readonly rest: AsyncIterator<Buffer> | null;
}

interface HoldOptions {
  readonly mostBytes: number;
  /** Sees each piece as it comes. */
  readonly onChunk: (part: string | Uint8Array) => void;
}

/** Reads a text to its end, or until `mostBytes` of it are kept compressed. */
export async function holdText(
  chunks: AsyncIterable<Chunk>,
  { mostBytes, onChunk }: HoldOptions,
): Promise<HeldText> {
  const parts: Buffer[] = [];
  const seen = async function* (): AsyncGenerator<string | Uint8Array> {
    for await (const part of oneByOne(chunks)) {
      onChunk(part);
      yield part;
    }
  };
  const packed: AsyncIterable<Buffer> = through(
    Readable.from(seen(), { objectMode: false }),
    createGzip(gzipOptions),
  );
  const rest = packed[Symbol.asyncIterator]();
  for (let length = 0; length <= mostBytes; ) {
    const next = await rest.next();
    if (next.done === true) return { parts, rest: null };
    parts.push(next.value);
    length += next.value.length;
  }
  return { parts, rest };
}

async function* bytesOf({ parts, rest }: HeldText): AsyncGenerator<Buffer> {
  yield* parts;
  if (rest !== null) yield* { [Symbol.asyncIterator]: () => rest };
}

/** Sends a kept text: as it is kept to a client that takes gzip, unpacked to the others. */
export function sendHeld(exchange: Exchange, held: HeldText, stall: StallWatch): FastifyReply {
  const header = acceptOf(exchange);
  const isPacked = header !== undefined && weightOf(header, 'gzip') > 0;
  declare(exchange, isPacked ? 'gzip' : null);
  if (isPacked && held.rest === null) {
    const length = held.parts.reduce((sum, part) => sum + part.length, 0);
    void exchange.reply.header('content-length', length);
  }
  const bytes: AsyncIterable<Buffer> = isPacked
    ? bytesOf(held)
    : through(Readable.from(bytesOf(held)), createGunzip());
  return exchange.reply.send(Readable.from(unstalled(bytes, stall), { objectMode: false }));
}
