// The files that a run leaves behind: looked at before the run, so that no hour of driving ends at a wrong path, and written one after
// the other at the end, so that one that cannot be written takes no other with it.
import { open, stat, unlink, writeFile } from 'node:fs/promises';
import { AppError, messageOf } from '../../src/core/errors.ts';
import { formatHtml } from '../report/page.ts';
import { formatJson, formatJunit } from '../run/report.ts';
import type { RunResult } from '../run/result.ts';

export interface ResultFiles {
  readonly json?: string | undefined;
  readonly report?: string | undefined;
  readonly junit?: string | undefined;
}

const formats = { json: formatJson, report: formatHtml, junit: formatJunit } as const;
const names = Object.keys(formats) as (keyof ResultFiles)[];

/** Opens it for writing and leaves it as it was. */
async function tryFile(path: string): Promise<void> {
  const isNew = (await stat(path).catch(() => null)) === null;
  const file = await open(path, 'a');
  await file.close();
  if (isNew) await unlink(path);
}

/** @throws AppError `usage` that names the flag whose file cannot be written. */
export async function assertWritable(files: ResultFiles): Promise<void> {
  for (const name of names) {
    const path = files[name];
    if (path === undefined) continue;
    await tryFile(path).catch((cause: unknown) => {
      throw new AppError('usage', `--${name} ${path} cannot be written: ${messageOf(cause)}`, { cause });
    });
  }
}

/** Writes what was asked for; gives in words what could not be written. */
export async function writeResults(files: ResultFiles, result: RunResult): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const name of names) {
    const path = files[name];
    if (path === undefined) continue;
    await writeFile(path, formats[name](result)).catch((thrown: unknown) => {
      failures.push(`--${name} ${path} is not whole: ${messageOf(thrown)}`);
    });
  }
  return failures;
}
