// `releases/state.json`: state of releases over starts, and the calls with which the agent requests a trial and
// confirms it. The file is replaced whole and is on the disk before a call returns: a power cut leaves the old or the
// new.

import type { KeyObject } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPlainFile } from '../../../src/adapters/plain-file.ts';
import { AppError, codeOf, messageOf } from '../../../src/core/errors.ts';
import {
  emptyState,
  formatState,
  parseState,
  planLimits,
  type ReleaseState,
  withConfirmed,
  withRejection,
  withTrial,
} from '../../core/update/plan.ts';
import { openRelease, verifyRelease } from './release.ts';

/** Where the installed service stages releases. */
export const standardReleases = '/var/lib/fleetward-agent/releases';

const stateName = 'state.json';
const stateMostBytes = 64 * 1024;

/** The state; `fault` is the reason when the file is damaged. A missing file is no fault. */
export function readReleaseState(root: string): {
  readonly state: ReleaseState;
  readonly fault: string | null;
} {
  const path = join(root, stateName);
  try {
    const state = parseState(readPlainFile(path, stateMostBytes).bytes.toString('utf8'));
    if (state !== null) return { state, fault: null };
    return { state: emptyState, fault: `${path} is damaged; the packaged release runs` };
  } catch (thrown) {
    const isMissing = codeOf(thrown) === 'ENOENT';
    return { state: emptyState, fault: isMissing ? null : messageOf(thrown) };
  }
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Replaces the file. Throws AppError `storage` when it cannot be written; then the old one is unchanged. */
export function writeReleaseState(root: string, state: ReleaseState): void {
  const fresh = join(root, `.${stateName}`);
  try {
    mkdirSync(root, { recursive: true, mode: 0o700 });
    rmSync(fresh, { force: true });
    const descriptor = openSync(fresh, 'wx', 0o600);
    try {
      writeFileSync(descriptor, formatState(state));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(fresh, join(root, stateName));
    syncFolder(root);
  } catch (thrown) {
    throw new AppError('storage', `${root}: the state of releases was not written: ${messageOf(thrown)}`);
  }
}

export interface TrialRequest {
  /** `standardReleases` on a vehicle. */
  readonly root: string;
  readonly key: KeyObject;
  readonly version: string;
  /** From each start, how long it has to be confirmed, in seconds: 10 to 604,800. */
  readonly confirmWithinS: number;
}

/**
 * Asks for a trial of the release that is staged as `root/<version>`, from the next start on.
 * @throws AppError `invalid_content` unless signature and every file are good, `storage` when it cannot be written.
 */
export function requestTrial({ root, key, version, confirmWithinS }: TrialRequest): void {
  const isAllowed = confirmWithinS >= planLimits.confirmLeastS && confirmWithinS <= planLimits.confirmMostS;
  if (!Number.isSafeInteger(confirmWithinS) || !isAllowed)
    throw new AppError(
      'invalid_content',
      `confirmWithinS is not ${planLimits.confirmLeastS} to ${planLimits.confirmMostS}`,
    );
  const release = openRelease(join(root, version), key);
  if (release.manifest.version !== version)
    throw new AppError('invalid_content', `${release.folder}: holds release ${release.manifest.version}`);
  verifyRelease(release);
  writeReleaseState(root, withTrial(readReleaseState(root).state, { version, confirmWithinS }));
}

/**
 * Confirms the release that runs on trial: from now on it is what starts, and its floor counts. False when it is not on
 * trial. To be called by the release itself once it has shown that it works.
 * @throws AppError `invalid_content` when it is no longer staged whole, `storage` when it cannot be written.
 */
export function confirmTrial({ root, key, version }: Omit<TrialRequest, 'confirmWithinS'>): boolean {
  const { state } = readReleaseState(root);
  if (state.trial?.version !== version) return false;
  const { manifest } = openRelease(join(root, version), key);
  writeReleaseState(root, withConfirmed(state, manifest));
  return true;
}

/**
 * Withdraws the requested trial of this release: the next start runs the previous one.
 * @param reason if given, the release is rejected for it, which the next start reports.
 * @throws AppError `storage` when it cannot be written; then the trial remains.
 */
export function withdrawTrial(root: string, version: string, reason?: string): void {
  const { state } = readReleaseState(root);
  if (state.trial?.version !== version) return;
  const without = { ...state, trial: null };
  writeReleaseState(root, reason === undefined ? without : withRejection(without, { version, reason }));
}
