// Staged releases on the disk: their signing key, manifest and files. The agent's user can write a staging directory, so it is
// untrusted until signature and every hash are checked. A release runs from a copy of the hashed bytes, with only the manifest's
// files.
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readPlainFile } from '../../../src/adapters/plain-file.ts';
import { AppError, messageOf } from '../../../src/core/errors.ts';
import { isVersion } from '../../../src/core/releases/version.ts';
import {
  type Manifest,
  manifestLimits,
  parseManifest,
  type ReleaseFile,
} from '../../core/update/manifest.ts';

export const manifestName = 'manifest.json';
export const signatureName = 'manifest.sig';

const keyMostBytes = 4096;
const signatureMostBytes = 256;
/** Most staging directories that are read; the agent keeps two. */
const stagedMost = 16;

export interface StagedRelease {
  readonly folder: string;
  readonly manifest: Manifest;
}

/**
 * The key that releases are signed with (Ed25519, PEM as `openssl pkey -pubout` writes it).
 * @param ownerUid required owner of the file; 0 on a vehicle.
 * @throws AppError `config` when it is missing, not a key, or writable by others than its owner.
 */
export function readReleaseKey(path: string, ownerUid: number): KeyObject {
  const refuse = (reason: string): AppError =>
    new AppError('config', `The release key ${path} is not used: ${reason}`, {
      hint: 'Install the public key of `package:release`: owner root, mode 0644.',
    });
  let file: ReturnType<typeof readPlainFile>;
  try {
    file = readPlainFile(path, keyMostBytes);
  } catch (thrown) {
    throw refuse(messageOf(thrown));
  }
  if (file.uid !== ownerUid || (file.mode & 0o022) !== 0)
    throw refuse(`it must belong to user ${ownerUid} and be writable by its owner only`);
  try {
    const key = createPublicKey(file.bytes);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch (thrown) {
    throw refuse(messageOf(thrown));
  }
  throw refuse('it is not an Ed25519 key');
}

/**
 * The signed manifest of one directory. Its files are not checked.
 * @throws AppError `invalid_content` with the reason.
 */
export function openRelease(folder: string, key: KeyObject): StagedRelease {
  const refuse = (reason: string): AppError => new AppError('invalid_content', `${folder}: ${reason}`);
  let manifestBytes: Buffer;
  let signature: Buffer;
  try {
    manifestBytes = readPlainFile(join(folder, manifestName), manifestLimits.bytes).bytes;
    const text = readPlainFile(join(folder, signatureName), signatureMostBytes)
      .bytes.toString('latin1')
      .trim();
    signature = Buffer.from(text, 'base64');
  } catch (thrown) {
    throw refuse(messageOf(thrown));
  }
  if (!verify(null, manifestBytes, key, signature))
    throw refuse('the signature is not that of the release key');
  const verdict = parseManifest(manifestBytes);
  if (verdict.kind === 'bad') throw refuse(verdict.reason);
  return { folder, manifest: verdict.manifest };
}

/** The staged releases with a good signature; of each other directory a note. A directory that is still being written has a name that is no version. */
export function listReleases(
  root: string,
  key: KeyObject,
): { readonly releases: readonly StagedRelease[]; readonly notes: readonly string[] } {
  const names = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isVersion(entry.name))
    .map((entry) => entry.name)
    .sort();
  const notes =
    names.length > stagedMost ? [`${root}: more than ${stagedMost} releases; the rest is ignored`] : [];
  const releases: StagedRelease[] = [];
  for (const name of names.slice(0, stagedMost)) {
    try {
      const release = openRelease(join(root, name), key);
      if (release.manifest.version === name) releases.push(release);
      else notes.push(`${release.folder}: holds release ${release.manifest.version}`);
    } catch (thrown) {
      notes.push(messageOf(thrown));
    }
  }
  return { releases, notes };
}

/** The bytes of one file of a release. Throws AppError `invalid_content` unless size and hash are those of the manifest. */
function readVerified(release: StagedRelease, file: ReleaseFile): Buffer {
  const path = join(release.folder, file.path);
  let bytes: Buffer;
  try {
    bytes = readPlainFile(path, file.sizeBytes).bytes;
  } catch (thrown) {
    throw new AppError('invalid_content', messageOf(thrown));
  }
  const hash = createHash('sha256').update(bytes).digest('hex');
  if (bytes.length !== file.sizeBytes || hash !== file.sha256)
    throw new AppError('invalid_content', `${path} is not the file that was signed`);
  return bytes;
}

/** Checks every file of a staged release. Throws AppError `invalid_content` at the first that is wrong. */
export function verifyRelease(release: StagedRelease): void {
  for (const file of release.manifest.files) readVerified(release, file);
}

/**
 * Copies the verified bytes of a release to `target`, which is replaced whole.
 * @throws AppError `invalid_content` when a file is not the signed one; a plain Error when the disk is full.
 */
export function copyRelease(release: StagedRelease, target: string): void {
  const partial = join(dirname(target), `.partial-${release.manifest.version}`);
  rmSync(partial, { recursive: true, force: true });
  try {
    for (const file of release.manifest.files) {
      const bytes = readVerified(release, file);
      const to = join(partial, file.path);
      mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
      writeFileSync(to, bytes, { flag: 'wx', mode: file.mode & 0o700 });
    }
    rmSync(target, { recursive: true, force: true });
    renameSync(partial, target);
  } catch (thrown) {
    rmSync(partial, { recursive: true, force: true });
    throw thrown;
  }
}
