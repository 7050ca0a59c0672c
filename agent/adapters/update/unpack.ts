// Unpacks the archive of a release into a folder without trusting it: the manifest comes first, and its signature is
// checked before anything else is written. It writes only files that the manifest names, with its size and hash,
// inside of the folder. It never holds more than one block in memory, and writes no more than the manifest allows.
import { createHash, type KeyObject, verify } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { AppError, codeOf, messageOf } from '../../../src/core/errors.ts';
import {
  type Manifest,
  manifestLimits,
  parseManifest,
  type ReleaseFile,
} from '../../core/update/manifest.ts';
import { parseTarHeader, tarBlockBytes } from '../../core/update/tar-header.ts';
import { syncFolder, withHandle } from '../disk.ts';
import { manifestName, signatureName } from './release.ts';

const signatureMostBytes = 256;
/** Headers and padding of every file, and the end of the archive. */
const frameMostBytes = 2 * tarBlockBytes * (manifestLimits.files + 8) + 64 * 1024;
const unpackedMostBytes = manifestLimits.totalBytes + manifestLimits.bytes + frameMostBytes;

export interface UnpackOptions {
  readonly archive: string;
  /** Must be there and empty. */
  readonly folder: string;
  readonly key: KeyObject;
  /** Why this release is not wanted; null: it is. Asked before any file is written. */
  objectionTo(manifest: Manifest): Promise<string | null>;
  /** Ends it. */
  readonly signal: AbortSignal;
}

const refuse = (reason: string): AppError => new AppError('invalid_content', reason);

/** Bytes of a stream in portions of a wanted size, up to a limit in all. */
function createPortions(source: AsyncIterable<Buffer>) {
  const chunks = source[Symbol.asyncIterator]();
  let left: Buffer = Buffer.alloc(0);
  let totalBytes = 0;
  /** At least one byte and at most `mostBytes`; null at the end. */
  const some = async (mostBytes: number): Promise<Buffer | null> => {
    while (left.length === 0) {
      const next = await chunks.next();
      if (next.done === true) return null;
      totalBytes += next.value.length;
      if (totalBytes > unpackedMostBytes) throw refuse(`archive: more than ${unpackedMostBytes} bytes`);
      left = next.value;
    }
    const portion = left.subarray(0, mostBytes);
    left = left.subarray(portion.length);
    return portion;
  };
  /** Yields exactly `bytes`. */
  const each = async (bytes: number, take: (portion: Buffer) => Promise<void> | void): Promise<void> => {
    for (let missing = bytes; missing > 0; ) {
      const portion = await some(missing);
      if (portion === null) throw refuse('archive: it ends too early');
      missing -= portion.length;
      await take(portion);
    }
  };
  const whole = async (bytes: number): Promise<Buffer> => {
    const parts: Buffer[] = [];
    await each(bytes, (portion) => void parts.push(portion));
    return Buffer.concat(parts);
  };
  return { each, whole };
}

type Portions = ReturnType<typeof createPortions>;

/** The next file's name and size; null at the end. */
async function nextHeader(portions: Portions) {
  const header = parseTarHeader(await portions.whole(tarBlockBytes));
  if (header.kind === 'bad') throw refuse(header.reason);
  return header.kind === 'end' ? null : header;
}

const padding = (sizeBytes: number): number => (tarBlockBytes - (sizeBytes % tarBlockBytes)) % tarBlockBytes;
const nowhere = (): void => undefined;

/** One of the two small files that an archive begins with. */
async function readHead(portions: Portions, name: string, mostBytes: number): Promise<Buffer> {
  const header = await nextHeader(portions);
  if (header?.path !== name || header.sizeBytes > mostBytes)
    throw refuse(`archive: it does not begin with ${manifestName} and ${signatureName}`);
  const bytes = await portions.whole(header.sizeBytes);
  await portions.each(padding(header.sizeBytes), nowhere);
  return bytes;
}

/** Power may fail at once; a release that was reported as staged is whole. */
function writeDurably(path: string, work: (file: FileHandle) => Promise<void>): Promise<void> {
  return withHandle(open(path, 'wx', 0o600), async (file) => {
    await work(file);
    await file.sync();
  });
}

async function writeSmall(path: string, bytes: Buffer): Promise<void> {
  await writeDurably(path, (file) => file.writeFile(bytes));
}

async function writeFileOf(portions: Portions, path: string, expected: ReleaseFile): Promise<void> {
  const hash = createHash('sha256');
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeDurably(path, async (file) => {
    await portions.each(expected.sizeBytes, async (portion) => {
      hash.update(portion);
      await file.writeFile(portion);
    });
  });
  if (hash.digest('hex') !== expected.sha256)
    throw refuse(`archive: ${expected.path} is not the file that was signed`);
}

async function syncFolders(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const below = entries.filter((entry) => entry.isDirectory()).map((e) => join(e.parentPath, e.name));
  for (const path of [...below, folder]) await syncFolder(path);
}

async function unpack(portions: Portions, options: UnpackOptions): Promise<Manifest> {
  const { folder, key, signal } = options;
  const text = await readHead(portions, manifestName, manifestLimits.bytes);
  const signature = await readHead(portions, signatureName, signatureMostBytes);
  if (!verify(null, text, key, Buffer.from(signature.toString('latin1').trim(), 'base64')))
    throw refuse('the signature is not that of the release key');
  const verdict = parseManifest(text);
  if (verdict.kind === 'bad') throw refuse(verdict.reason);
  const { manifest } = verdict;
  const objection = await options.objectionTo(manifest);
  if (objection !== null) throw refuse(objection);
  await writeSmall(join(folder, manifestName), text);
  await writeSmall(join(folder, signatureName), signature);
  const missing = new Map(manifest.files.map((file) => [file.path, file]));
  for (let header = await nextHeader(portions); header !== null; header = await nextHeader(portions)) {
    signal.throwIfAborted();
    const expected = missing.get(header.path);
    if (expected?.sizeBytes !== header.sizeBytes)
      throw refuse(`archive: ${header.path} is not in the manifest, or not of its size, or there twice`);
    missing.delete(header.path);
    await writeFileOf(portions, join(folder, header.path), expected);
    await portions.each(padding(header.sizeBytes), nowhere);
  }
  const [lost] = missing.keys();
  if (lost !== undefined) throw refuse(`archive: ${lost} is missing`);
  await syncFolders(folder);
  return manifest;
}

/**
 * Unpacks, and resolves with the manifest once every file is on the disk.
 * @throws AppError `invalid_content` for any fault of the archive; `storage` when the disk refuses it.
 */
export async function unpackRelease(options: UnpackOptions): Promise<Manifest> {
  const file = createReadStream(options.archive);
  // Its errors come out of the iteration.
  const source = pipeline(file, createGunzip(), () => undefined);
  try {
    return await unpack(createPortions(source), options);
  } catch (thrown) {
    if (thrown instanceof AppError || options.signal.aborted) throw thrown;
    const code = codeOf(thrown);
    if (code.startsWith('Z_')) throw refuse(`archive: it is no gzip file, or damaged (${code})`);
    throw new AppError('storage', `the release cannot be unpacked: ${messageOf(thrown)}`, { cause: thrown });
  } finally {
    source.destroy();
    file.destroy();
  }
}
