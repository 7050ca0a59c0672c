// Whether this start can swap releases of the agent: only when the service's command line says where the launcher looks for
// them and which key they are signed with. Without that, or without that key, firmware jobs are refused in words.
import { existsSync, readFileSync } from 'node:fs';
import type { Argv } from 'yargs';
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { Log } from '../../src/ports.ts';
import { createUpdater, type Updater } from './performer.ts';
import { readReleaseKey } from './release.ts';
import type { UpdateSettings } from './update-config.ts';

type Flags = Readonly<Record<string, unknown>>;

/** The options with which the service starts the agent behind its launcher. */
export const withLauncher = (parser: Argv): Argv =>
  parser
    .option('releases', {
      type: 'string',
      requiresArg: true,
      describe:
        'Folder that the launcher in front of this start takes releases from; without it none is fetched',
    })
    .option('release-key', {
      type: 'string',
      requiresArg: true,
      implies: 'releases',
      describe: 'Public key (PEM) that releases are signed with; the same that the launcher uses',
    })
    .option('release-key-owner', {
      type: 'number',
      default: 0,
      describe: 'User id that this file must belong to',
    });

interface UpdaterStart {
  readonly flags: Flags;
  readonly settings: { readonly update: UpdateSettings; readonly storage: { readonly maxMb: number } };
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
    throw new AppError('config', `cannot read update.caFile: ${messageOf(thrown)}`);
  }
}

/** Null where releases cannot be swapped; a key that is there and not fit for use is said in the log. @throws AppError `config`. */
export function openUpdater({ flags, settings, running, log }: UpdaterStart): Updater | null {
  const { releases, 'release-key': keyPath, 'release-key-owner': owner } = flags;
  const { parkedS, healthS, trialS, maxMb, caFile, allowHttp } = settings.update;
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
      reserveBytes: (settings.storage.maxMb + spareMb) * mebibyte,
      allowHttp,
      log,
      ...authority,
    });
  } catch (thrown) {
    log.error('updates are off', { reason: messageOf(thrown) });
    return null;
  }
}
