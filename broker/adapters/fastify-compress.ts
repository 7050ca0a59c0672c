// Answers in fewer bytes: brotli or gzip where the client takes it, nothing for what is short. It must never touch a live
// stream, whose messages would wait in the encoder, nor an answer that holds a secret (its length would tell about it).

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
import { AppError } from '../../src/core/errors.ts';

export interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

type Encoding = 'br' | 'gzip';

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
  void reply.header('vary', 'accept-encoding');
  if (encoding !== null) void reply.header('content-encoding', encoding);
}

/** Sends a whole text. The work is done on another thread. */
export async function sendText(exchange: Exchange, text: string): Promise<unknown> {
  const { reply } = exchange;
  const encoding = encodingOf(acceptOf(exchange));
  const isShort = text.length < leastBytes;
  declare(exchange, isShort ? null : encoding);
  if (encoding === null || isShort) return reply.send(text);
  return reply.send(await (encoding === 'br' ? brotliOf(text, brotliOptions) : gzipOf(text, gzipOptions)));
}

/** Sends one text again and again: packed once for each coding. */
export function createFixedText(text: string): (exchange: Exchange) => Promise<unknown> {
  const packed = new Map<Encoding, Promise<Buffer>>();
  return async (exchange) => {
    const encoding = encodingOf(acceptOf(exchange));
    declare(exchange, encoding);
    if (encoding === null) return exchange.reply.send(text);
    const bytes =
      packed.get(encoding) ?? (encoding === 'br' ? brotliOf(text, brotliOptions) : gzipOf(text, gzipOptions));
    packed.set(encoding, bytes);
    return exchange.reply.send(await bytes);
  };
}

/** The far end of a pipeline; a fault on the way breaks it, and so the connection. */
function through(source: Readable, coder: Transform): Transform {
  pipeline(source, coder, () => undefined);
  return coder;
}

/** Sends a text of unknown length while it is made. */
export function sendFlow(exchange: Exchange, chunks: AsyncIterable<string>): FastifyReply {
  const encoding = encodingOf(acceptOf(exchange));
  declare(exchange, encoding);
  const source = Readable.from(chunks, { objectMode: false });
  if (encoding === null) return exchange.reply.send(source);
  const coder = encoding === 'br' ? createBrotliCompress(brotliOptions) : createGzip(gzipOptions);
  return exchange.reply.send(through(source, coder));
}

/** A long text, kept in a tenth of its bytes until it is sent. */
export interface HeldText {
  readonly parts: readonly Buffer[];
}

interface HoldOptions {
  readonly mostBytes: number;
  /** Sees each piece as it comes. */
  readonly onChunk: (chunk: string) => void;
  /** False once the client has gone. */
  readonly isWanted: () => boolean;
}

/**
 * Reads a text to its end and keeps it compressed; null when even that is longer than `mostBytes`.
 */
export async function holdText(
  chunks: AsyncIterable<string>,
  { mostBytes, onChunk, isWanted }: HoldOptions,
): Promise<HeldText | null> {
  const parts: Buffer[] = [];
  let length = 0;
  const seen = async function* (): AsyncGenerator<string> {
    for await (const chunk of chunks) {
      // Nobody is there any more to send it to.
      if (!isWanted()) throw new AppError('unavailable', 'the client has gone');
      onChunk(chunk);
      yield chunk;
    }
  };
  const packed = through(Readable.from(seen(), { objectMode: false }), createGzip(gzipOptions));
  for await (const part of packed as AsyncIterable<Buffer>) {
    parts.push(part);
    length += part.length;
    // Leaving the loop ends the pipeline, and with it the reader behind the chunks.
    if (length > mostBytes) return null;
  }
  return { parts };
}

/** Sends a kept text: as it is kept to who takes gzip, unpacked to the others. */
export function sendHeld(exchange: Exchange, { parts }: HeldText): FastifyReply {
  const header = acceptOf(exchange);
  const isPacked = header !== undefined && weightOf(header, 'gzip') > 0;
  declare(exchange, isPacked ? 'gzip' : null);
  if (isPacked) return exchange.reply.send(Buffer.concat(parts));
  return exchange.reply.send(through(Readable.from(parts), createGunzip()));
}
