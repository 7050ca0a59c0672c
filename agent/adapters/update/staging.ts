// From a signed job to a staged release: download, hash of the archive, unpack, check. A power cut may interrupt any
// step, which is then repeated from the files on disk. No directory gets the name of a release before it is whole.
import { createHash, type KeyObject } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AppError, messageOf } from '../../../src/core/errors.ts';
import { compareVersions } from '../../../src/core/releases/version.ts';
import { type Arch, type Manifest } from '../../core/update/manifest.ts';
import type { UpdateFault, UpdateJob } from '../../core/update/update-types.ts';
import { needDiskSpace, syncFolder } from '../disk.ts';
import { type DownloadOptions, download } from './download.ts';
import { readReleaseState } from './release-state.ts';
import { unpackRelease } from './unpack.ts';

export interface StagingOptions extends Omit<DownloadOptions, 'url' | 'path' | 'signal' | 'onBytes'> {
  /** Where releases are staged; only the agent writes there. */
  readonly root: string;
  readonly key: KeyObject;
  /** The release that runs. */
  readonly running: string;
}

interface Stage extends Pick<DownloadOptions, 'signal' | 'onBytes'> {
  readonly job: UpdateJob;
}

const downloadName = (sha256: string): string => `.download-${sha256}`;
const archiveName = (sha256: string): string => `.archive-${sha256}`;
const partialName = (version: string): string => `.staging-${version}`;

const ownArch: Arch = process.arch === 'arm64' ? 'arm64' : 'amd64';

async function hashOf(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash, { signal });
  return hash.digest('hex');
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Reason why a well-signed manifest does not fit the job, or cannot run here. */
function objectionTo(manifest: Manifest, job: UpdateJob, { root, running }: StagingOptions): string | null {
  const { version, arch, nodeAbi } = manifest;
  const { floor } = readReleaseState(root).state;
  if (version !== job.version) return `the archive holds release ${version}, the job says ${job.version}`;
  if (arch !== ownArch) return `release ${version} is for ${arch}, this machine is ${ownArch}`;
  if (nodeAbi !== process.versions.modules)
    return `release ${version} is for Node ABI ${nodeAbi}, this unit has ${process.versions.modules}`;
  if (compareVersions(version, running) <= 0)
    return `release ${version} is not newer than ${running}, which runs`;
  return compareVersions(version, floor) < 0 ? `release ${version} is below the floor ${floor}` : null;
}

/** The archive of the job with its hash checked, from the disk or from the server. */
async function fetchArchive(options: StagingOptions, { job, signal, onBytes }: Stage): Promise<string> {
  const { root } = options;
  const archive = join(root, archiveName(job.sha256));
  if (await isThere(archive)) {
    if ((await hashOf(archive, signal)) === job.sha256) return archive;
    await rm(archive);
  }
  const path = join(root, downloadName(job.sha256));
  const wasBegun = await isThere(path);
  await download({ ...options, url: job.url, path, signal, onBytes });
  if ((await hashOf(path, signal)) === job.sha256) {
    await rename(path, archive);
    await syncFolder(root);
    return archive;
  }
  await rm(path);
  // A resumed file may be torn, or the source was replaced meanwhile: retry. A file downloaded in one go stays wrong.
  const code = wasBegun ? 'not_found' : 'invalid_content';
  throw new AppError(code, 'the file at the address is not the one that the job names: its SHA-256 differs');
}

/** Disk space of a release: every file fills up its last block. */
const sizeOf = ({ files }: Manifest): number =>
  files.reduce((sum, { sizeBytes }) => sum + sizeBytes + 4096, 0);

async function stageNow(options: StagingOptions, stage: Stage): Promise<void> {
  const { root, key } = options;
  const { job, signal } = stage;
  await mkdir(root, { recursive: true, mode: 0o700 });
  await tidyReleases(root, job);
  const archive = await fetchArchive(options, stage);
  const partial = join(root, partialName(job.version));
  const target = join(root, job.version);
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { mode: 0o700 });
  try {
    await unpackRelease({
      archive,
      folder: partial,
      key,
      signal,
      async objectionTo(manifest) {
        const objection = objectionTo(manifest, job, options);
        const { reserveBytes } = options;
        if (objection === null) await needDiskSpace(root, { bytes: sizeOf(manifest), reserveBytes });
        return objection;
      },
    });
    signal.throwIfAborted();
    await rm(target, { recursive: true, force: true });
    await rename(partial, target);
    await syncFolder(root);
  } catch (thrown) {
    await rm(partial, { recursive: true, force: true });
    throw thrown;
  }
}

/** Stages the release of a job. Never rejects; null when it is whole, on the disk. */
export async function stageRelease(options: StagingOptions, stage: Stage): Promise<UpdateFault | null> {
  try {
    await stageNow(options, stage);
    return null;
  } catch (thrown) {
    const reason = messageOf(thrown);
    if (stage.signal.aborted) return { kind: 'halted', reason: 'it was stopped' };
    if (!(thrown instanceof AppError)) return { kind: 'refused', reason };
    if (thrown.code === 'invalid_content') return { kind: 'final', reason };
    return { kind: thrown.code === 'unavailable' ? 'network' : 'refused', reason };
  }
}

/**
 * Deletes everything that is neither confirmed, nor on trial, nor part of the job.
 * @throws a plain Error of the disk.
 */
export async function tidyReleases(root: string, job: UpdateJob | null): Promise<void> {
  const { confirmed, trial } = readReleaseState(root).state;
  const kept = new Set(['state.json', '.state.json', confirmed, trial?.version]);
  if (job !== null) kept.add(downloadName(job.sha256)).add(archiveName(job.sha256)).add(job.version);
  const names = await readdir(root).catch(() => []);
  for (const name of names) {
    if (!kept.has(name)) await rm(join(root, name), { recursive: true, force: true });
  }
}
