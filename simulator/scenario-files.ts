// Scenarios from files: the presets that are shipped as data beside this module, or any TOML file. Every fault is told with its
// place, and nothing runs on a scenario that is not whole.
import { readdir, readFile } from 'node:fs/promises';
import { parse, TomlError } from 'smol-toml';
import { AppError, messageOf } from '../src/core/errors.ts';
import { checkScenario, overlay } from './core/scenario.ts';
import type { Scenario } from './core/scenario-schema.ts';
import { createLineFinder } from './core/toml-lines.ts';

const shipped = new URL('./scenarios/', import.meta.url);
const bytesMost = 256 * 1024;

/** Names of the presets. */
export async function listPresets(): Promise<readonly string[]> {
  const files = await readdir(shipped);
  return files
    .filter((file) => file.endsWith('.toml'))
    .map((file) => file.slice(0, -'.toml'.length))
    .sort();
}

export interface NamedScenario {
  readonly name: string;
  readonly scenario: Scenario;
}

async function readText(nameOrPath: string): Promise<string> {
  const isPath = nameOrPath.includes('/') || nameOrPath.endsWith('.toml');
  if (!isPath && !(await listPresets()).includes(nameOrPath)) {
    throw new AppError('config', `There is no preset "${nameOrPath}"`, {
      hint: `Take one of ${(await listPresets()).join(', ')}, or give the path of a TOML file.`,
    });
  }
  try {
    return await readFile(isPath ? nameOrPath : new URL(`${nameOrPath}.toml`, shipped), 'utf8');
  } catch (cause) {
    throw new AppError('config', `The scenario cannot be read: ${messageOf(cause)}`, { cause });
  }
}

/** Whether the command line has set what stands there: the file is not to blame. */
function isLaidOver(change: unknown, pointer: string): boolean {
  const names = pointer.split('/').slice(1);
  const at = names.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? (value as Readonly<Record<string, unknown>>)[name]
        : undefined,
    change,
  );
  return at !== undefined;
}

function notToml(file: string, cause: unknown): AppError {
  const place = cause instanceof TomlError ? `, line ${cause.line}, column ${cause.column}` : '';
  const [reason = ''] = messageOf(cause).split('\n');
  const hint = '`scenario show smoke` prints a good one as JSON, `scenario schema` is for your editor.';
  return new AppError('config', `${file}${place}: ${reason}`, { cause, hint });
}

/**
 * A scenario by the name of a preset or by path, with what the command line sets laid over it.
 * @throws AppError `config` that names the file and every fault in it.
 */
export async function readScenario(
  nameOrPath: string,
  change: Readonly<Record<string, unknown>> = {},
): Promise<NamedScenario> {
  const text = await readText(nameOrPath);
  if (text.length > bytesMost) throw new AppError('config', `${nameOrPath}: larger than ${bytesMost} bytes`);
  let value: Readonly<Record<string, unknown>>;
  try {
    value = parse(text);
  } catch (cause) {
    throw notToml(nameOrPath, cause);
  }
  const verdict = checkScenario(overlay(value, change));
  const name = nameOrPath.replace(/^.*\//, '').replace(/\.toml$/, '');
  if (verdict.kind === 'ok') return { name, scenario: verdict.scenario };
  const lineOf = createLineFinder(text);
  const lines = verdict.faults.map(({ pointer, message }) => {
    const line = isLaidOver(change, pointer) ? null : lineOf(pointer);
    return `${line === null ? '' : `line ${line}, `}${pointer || '/'}: ${message}`;
  });
  throw new AppError('config', `Scenario ${nameOrPath} is wrong:\n  ${lines.join('\n  ')}`, {
    details: verdict.faults,
  });
}
