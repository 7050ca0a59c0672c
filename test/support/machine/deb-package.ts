// The packaging scripts of the build as a test runs them: tools that must end well, and packages with fixed times.
import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

export const repository = realpathSync(new URL('../../..', import.meta.url).pathname);
const epochS = '1760000000';

/** Null when the packaging scripts are there, else why not. */
export function whyNoPackager(): string | null {
  const isBuilt = existsSync(join(repository, 'dist/systemd/package-deb.js'));
  return isBuilt ? null : 'skipped, dist is missing: npm run build';
}

/** Lintian alone reads 2,000 files; a machine under load takes its time. */
const programMostMs = 840_000;

/** Standard output of a tool. Throws in words when it fails. */
export function runTool(program: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    timeout: programMostMs,
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, SOURCE_DATE_EPOCH: epochS },
  });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}${stdout}`);
  return stdout;
}

/** Builds a package, quickly compressed; gives its path. */
export function buildPackage(...args: readonly string[]): string {
  const script = join(repository, 'dist/systemd/package-deb.js');
  return runTool(process.execPath, [script, '--compression', 'gzip', ...args]).trim();
}
