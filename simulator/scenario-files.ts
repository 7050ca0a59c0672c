// Reads scenarios: the presets that are shipped beside this module, or any TOML file. Every fault is reported with its line.
import { readdir, readFile } from 'node:fs/promises';
import { parse, TomlError } from 'smol-toml';
import { AppError, messageOf } from '../src/core/errors.ts';
import { checkScenario, overlay } from './core/scenario/scenario.ts';
import type { Scenario } from './core/scenario/scenario-schema.ts';
import { createLineFinder } from './core/scenario/toml-lines.ts';

const shipped = new URL('./scenarios/', import.meta.url);
const bytesMost = 256 * 1024;

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
      hint: `Choose one of ${(await listPresets()).join(', ')}, or give the path of a TOML file.`,
    });
  }
  try {
    return await readFile(isPath ? nameOrPath : new URL(`${nameOrPath}.toml`, shipped), 'utf8');
  } catch (cause) {
    throw new AppError('config', `Cannot read scenario ${nameOrPath}: ${messageOf(cause)}`, {
      cause,
      hint: 'Check the path and its rights; `scenario list` lists the presets.',
    });
  }
}

/** True when flags, not the file, set the value at `pointer`. */
function isOverlaid(change: unknown, pointer: string): boolean {
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

const validHint =
  '`scenario show smoke` prints a valid one as JSON, `scenario schema` the JSON Schema for editors.';

function notToml(file: string, cause: unknown): AppError {
  const place = cause instanceof TomlError ? `, line ${cause.line}, column ${cause.column}` : '';
  const [reason = ''] = messageOf(cause).split('\n');
  return new AppError('config', `${file}${place}: ${reason}`, { cause, hint: validHint });
}

/** A scenario file that was read and is not checked yet. */
export interface ScenarioFile {
  /** Checks it with `change` laid over it. @throws AppError `config` that names the file and every fault in it. */
  check(change?: Readonly<Record<string, unknown>>): NamedScenario;
}

/** Reads a scenario by the name of a preset or by path. @throws AppError `config`. */
export async function openScenario(nameOrPath: string): Promise<ScenarioFile> {
  const text = await readText(nameOrPath);
  if (text.length > bytesMost)
    throw new AppError('config', `Scenario ${nameOrPath} is larger than ${bytesMost} bytes`, {
      hint: validHint,
    });
  let value: Readonly<Record<string, unknown>>;
  try {
    value = parse(text);
  } catch (cause) {
    throw notToml(nameOrPath, cause);
  }
  return { check: (change = {}) => checkFile({ nameOrPath, text, value }, change) };
}

/** Reads and checks a scenario. @throws AppError `config` that names the file and every fault in it. */
export const readScenario = async (nameOrPath: string): Promise<NamedScenario> =>
  (await openScenario(nameOrPath)).check();

function checkFile(
  { nameOrPath, text, value }: { nameOrPath: string; text: string; value: Readonly<Record<string, unknown>> },
  change: Readonly<Record<string, unknown>>,
): NamedScenario {
  const verdict = checkScenario(overlay(value, change));
  const name = nameOrPath.replace(/^.*\//, '').replace(/\.toml$/, '');
  if (verdict.kind === 'ok') return { name, scenario: verdict.scenario };
  const lineOf = createLineFinder(text);
  const lines = verdict.faults.map(({ pointer, message }) => {
    const line = isOverlaid(change, pointer) ? null : lineOf(pointer);
    return `${line === null ? '' : `line ${line}, `}${pointer || '/'}: ${message}`;
  });
  throw new AppError('config', `Scenario ${nameOrPath} is wrong:\n  ${lines.join('\n  ')}`, {
    details: verdict.faults,
    hint: validHint,
  });
}
