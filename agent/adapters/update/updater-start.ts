// Opens the updater when the service's command line names the launcher's folder of releases and the release key.
// Without them firmware jobs are refused with a reason.
import { existsSync, readFileSync } from 'node:fs';
import { AppError, messageOf } from '../../../src/core/errors.ts';
import type { Log } from '../../../src/ports.ts';
import { standardUpdate, type UpdateSettings } from '../../core/update/update-config.ts';
import type { Updater } from '../../ports.ts';
import { readReleaseKey } from './release.ts';
import { createUpdater } from './updater.ts';

type Flags = Readonly<Record<string, unknown>>;

interface UpdaterStart {
  readonly flags: Flags;
  /** Absent: the standard ones. */
  readonly settings: UpdateSettings | undefined;
  /** Most that the outbox may take. */
  readonly outboxMb: number;
  /** Version of the release that runs. */
  readonly running: string;
  readonly log: Log;
}

const mebibyte = 1_048_576;
/** Left for others beside the outbox. */
const spareMb = 16;

function readAuthority(path: string | undefined): { readonly ca?: string } {
  if (path === undefined) return {};
  try {
    return { ca: readFileSync(path, 'utf8') };
  } catch (thrown) {
    throw new AppError('config', `Cannot read update.caFile: ${messageOf(thrown)}`);
  }
}

/**
 * Null where releases cannot be swapped; an unusable key is logged.
 * @throws AppError `config`.
 */
export function openUpdater({
  flags,
  settings = standardUpdate,
  outboxMb,
  running,
  log,
}: UpdaterStart): Updater | null {
  const { releases, 'release-key': keyPath, 'release-key-owner': owner } = flags;
  const { parkedS, healthS, trialS, maxMb, caFile, allowHttp } = settings;
  const authority = readAuthority(caFile);
  if (typeof releases !== 'string' || typeof keyPath !== 'string' || !existsSync(keyPath)) return null;
  try {
    return createUpdater({
      root: releases,
      key: readReleaseKey(keyPath, Number(owner)),
      running,
      parkedMs: parkedS * 1000,
      healthMs: healthS * 1000,
      trialMs: trialS * 1000,
      mostBytes: maxMb * mebibyte,
      // The outbox may grow to its cap at any time, and goes first.
      reserveBytes: (outboxMb + spareMb) * mebibyte,
      allowHttp,
      log,
      ...authority,
    });
  } catch (thrown) {
    log.error('updates_disabled', { reason: messageOf(thrown) });
    return null;
  }
}
