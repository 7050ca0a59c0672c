// Runs before the agent, from the root-owned package and as the agent's user: chooses the release to run. `choose`
// prints the directory and the seconds that a release on trial has (0: none); `overdue` exits with 0 if a trial is
// still not confirmed. The vehicle must never be left without an agent: any fault is reported and selects the
// packaged release. The shell script `launch` calls it and becomes the agent.
import { accessSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ignoreErrors } from '../../src/adapters/output.ts';
import { readVersion } from '../../src/adapters/version.ts';
import { messageOf } from '../../src/core/errors.ts';
import { copyRelease, listReleases, readReleaseKey, type StagedRelease } from '../adapters/update/release.ts';
import { readReleaseState, standardReleases, writeReleaseState } from '../adapters/update/release-state.ts';
import { standardReleaseKey } from '../core/update/manifest.ts';
import { type Installed, type Plan, planLaunch, type ReleaseState } from '../core/update/plan.ts';

interface Places {
  /** Where releases are staged and `state.json` is kept. */
  readonly releases: string;
  /** A memory file system of the service's own that programs may run from. */
  readonly scratch: string;
  readonly key: string;
  readonly keyOwnerUid: number;
}

interface Chosen {
  readonly folder: string;
  readonly confirmWithinS: number;
}

const packagedFolder = join(dirname(fileURLToPath(import.meta.url)), '../../..');

function say(text: string): void {
  process.stderr.write(`fleetward-agent launcher: ${text}\n`);
}

function installed(): Installed {
  const arch = process.arch === 'arm64' ? 'arm64' : 'amd64';
  return { version: readVersion(), arch, nodeAbi: process.versions.modules };
}

/** Copies the chosen release; null, with a message, when that fails. */
function prepare(release: StagedRelease | undefined, places: Places): string | null {
  if (release === undefined) return null;
  const target = join(places.scratch, release.manifest.version);
  try {
    mkdirSync(places.scratch, { recursive: true, mode: 0o700 });
    copyRelease(release, target);
    return target;
  } catch (thrown) {
    say(messageOf(thrown));
    return null;
  }
}

/** True when the state is on the disk: a trial whose start cannot be counted must not start. */
function remember(root: string, before: ReleaseState, after: ReleaseState): boolean {
  if (before === after) return true;
  try {
    writeReleaseState(root, after);
    return true;
  } catch (thrown) {
    say(messageOf(thrown));
    return false;
  }
}

/** Plans, copies, and plans again without what turned out to be damaged; ends because each turn drops a release or a trial. */
function choose(places: Places): Chosen {
  const packaged = { folder: packagedFolder, confirmWithinS: 0 };
  const { state: known, fault } = readReleaseState(places.releases);
  if (fault !== null) say(fault);
  if (known.trial === null && known.confirmed === null) return packaged;
  const { releases, notes } = listReleases(places.releases, readReleaseKey(places.key, places.keyOwnerUid));
  for (const note of notes) say(note);
  let [state, usable]: [ReleaseState, readonly StagedRelease[]] = [known, releases];
  for (;;) {
    const plan: Plan = planLaunch({
      packaged: installed(),
      state,
      staged: usable.map(({ manifest }) => manifest),
    });
    for (const note of plan.notes) say(note);
    const { choice } = plan;
    const isRemembered = remember(places.releases, state, plan.state);
    if (choice.kind === 'packaged') return packaged;
    if (choice.kind === 'trial' && !isRemembered) {
      state = { ...state, trial: null };
      continue;
    }
    const folder = prepare(
      usable.find(({ manifest }) => manifest.version === choice.version),
      places,
    );
    if (folder !== null) {
      const confirmWithinS = choice.kind === 'trial' ? choice.confirmWithinS : 0;
      say(
        `release ${choice.version} runs${choice.kind === 'trial' ? `, on trial for ${confirmWithinS} s` : ''}`,
      );
      return { folder, confirmWithinS };
    }
    state = plan.state;
    usable = usable.filter(({ manifest }) => manifest.version !== choice.version);
  }
}

function chooseSafely(places: Places): Chosen {
  try {
    return choose(places);
  } catch (thrown) {
    say(`${messageOf(thrown)}; the packaged release runs`);
    return { folder: packagedFolder, confirmWithinS: 0 };
  }
}

function run(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      releases: { type: 'string', default: standardReleases },
      scratch: { type: 'string', default: '/usr/lib/fleetward-agent/release' },
      key: { type: 'string', default: standardReleaseKey },
      'key-owner': { type: 'string', default: '0' },
    },
  });
  const { releases, scratch, key } = values;
  switch (positionals[0]) {
    case 'choose': {
      const chosen = chooseSafely({ releases, scratch, key, keyOwnerUid: Number(values['key-owner']) });
      accessSync(join(chosen.folder, 'dist/agent/main.js'));
      process.stdout.write(`${chosen.folder} ${chosen.confirmWithinS}\n`);
      return 0;
    }
    case 'overdue':
      return readReleaseState(releases).state.trial === null ? 1 : 0;
    default:
      say('say what to do: choose or overdue');
      return 64;
  }
}

ignoreErrors();
try {
  process.exitCode = run();
} catch (thrown) {
  say(messageOf(thrown));
  process.exitCode = 70;
}
