// The result files of a run and its facts. Paths are checked before the run. Files are written one by one at the end, so a
// failure does not prevent the others.
import { open, stat, unlink, writeFile } from 'node:fs/promises';
import { AppError, messageOf } from '../../src/core/errors.ts';
import { formatHtml } from '../report/page.ts';
import { formatJson, formatJunit } from '../run/measure/report.ts';
import type { RunResult } from '../run/measure/result.ts';
import { readReportParts } from './page-files.ts';

export interface ResultFiles {
  readonly json?: string | undefined;
  readonly report?: string | undefined;
  readonly junit?: string | undefined;
  readonly facts?: string | undefined;
}

const formats = {
  json: formatJson,
  report: (result: RunResult) => formatHtml(result, readReportParts()),
  junit: formatJunit,
} as const;
const names = [...(Object.keys(formats) as (keyof typeof formats)[]), 'facts'] as const;

/** Opens a file for writing and leaves it unchanged. */
async function assertFileWritable(path: string): Promise<void> {
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
    await assertFileWritable(path).catch((cause: unknown) => {
      throw new AppError('usage', `--${name} ${path} cannot be written: ${messageOf(cause)}`, { cause });
    });
  }
}

/**
 * @param facts the lines of the facts file.
 * @returns a text for each file that could not be written.
 */
export async function writeResults(
  files: ResultFiles,
  result: RunResult,
  facts: Iterable<string> = [],
): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const name of names) {
    const path = files[name];
    if (path === undefined) continue;
    await writeFile(path, name === 'facts' ? facts : formats[name](result)).catch((thrown: unknown) => {
      failures.push(`--${name} ${path} was not written: ${messageOf(thrown)}`);
    });
  }
  return failures;
}
