// Answers in gzip from pieces that are packed once and shared by many answers: each piece is a run of deflate blocks of its own that
// ends on a byte and refers to nothing before it (RFC 1951 section 3.2.3), so any pieces in a row are one stream.
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw } from 'node:zlib';
import { combineCrc32 } from '../../core/crc32.ts';

interface Packed {
  readonly bytes: Buffer;
  readonly crc: number;
  readonly length: number;
}

const deflate = promisify(deflateRaw);
const options = { level: 5, finishFlush: constants.Z_FULL_FLUSH } as const;

/** Shorter pieces are not packed. */
const packedLeast = 1024;
/** Pieces that are packed ahead of the one that is sent. */
const aheadMost = 2;

/** RFC 1952 section 2.3: deflate, no flags, no time, no system. */
const head = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
/** An empty block that is the last. */
const lastBlock = Buffer.from([3, 0]);

function stored(piece: Buffer): Packed {
  const frame = Buffer.alloc(5);
  frame.writeUInt16LE(piece.length, 1);
  frame.writeUInt16LE(~piece.length & 0xffff, 3);
  return { bytes: Buffer.concat([frame, piece]), crc: crc32(piece), length: piece.length };
}

async function pack(piece: Buffer): Promise<Packed> {
  if (piece.length < packedLeast) return stored(piece);
  return { bytes: await deflate(piece, options), crc: crc32(piece), length: piece.length };
}

/** By piece: it lives as long as the piece does. */
const known = new WeakMap<Buffer, Promise<Packed>>();

function packedOf(piece: Buffer): Promise<Packed> {
  const packed = known.get(piece) ?? pack(piece);
  known.set(piece, packed);
  return packed;
}

/** The gzip form of the pieces in a row. @param pieces must not change, now or later. */
export async function* gzipPieces(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield head;
  let [crc, length] = [0, 0];
  for (const [at, piece] of pieces.entries()) {
    // A fault of one that is only ahead shows when its turn comes.
    for (const next of pieces.slice(at + 1, at + 1 + aheadMost)) packedOf(next).catch(() => undefined);
    const packed = await packedOf(piece);
    crc = combineCrc32(crc, packed.crc, packed.length);
    length = (length + packed.length) % 2 ** 32;
    yield packed.bytes;
  }
  const tail = Buffer.alloc(8);
  tail.writeUInt32LE(crc, 0);
  tail.writeUInt32LE(length, 4);
  yield Buffer.concat([lastBlock, tail]);
}
