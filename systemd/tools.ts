// What the packaging scripts share: programs that must succeed, the one time that all files get, the key of releases.
import { spawnSync } from 'node:child_process';
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';

const toolMostMs = 600_000;

/** What the program printed. Throws with its complaint when it fails or takes longer than 10 minutes. */
export function runTool(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): string {
  const result = spawnSync(program, args, {
    encoding: 'utf8',
    timeout: toolMostMs,
    // The environment is the caller's; only what is given here is set on top of it.
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8', ...env },
  });
  if (result.status !== 0) throw new Error(`${program}: ${result.error?.message ?? result.stderr.trim()}`);
  return result.stdout;
}

/** SOURCE_DATE_EPOCH, else the time of the last commit, in seconds; see reproducible-builds.org. */
export function commitTimeS(repository: string): number {
  const given = process.env['SOURCE_DATE_EPOCH'];
  const text =
    given ?? runTool('git', ['-C', repository, '-c', 'safe.directory=*', 'log', '-1', '--format=%ct']);
  const epochS = Number(text.trim());
  if (!Number.isSafeInteger(epochS) || epochS <= 0)
    throw new Error(`SOURCE_DATE_EPOCH is not seconds: ${text}`);
  return epochS;
}

/** The private Ed25519 key of releases and advisories. Throws when others can read the file, or when it is another kind of key. */
export function readReleaseSigningKey(keyFile: string): KeyObject {
  if ((statSync(keyFile).mode & 0o077) !== 0)
    throw new Error(`${keyFile} can be read by others: chmod 600 ${keyFile}`);
  const key = createPrivateKey(readFileSync(keyFile));
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`${keyFile} is not an Ed25519 key`);
  return key;
}
