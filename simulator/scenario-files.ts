// Scenarios from files: the presets that are shipped as data beside this module, or any TOML file. Every fault is told with its
// place, and nothing runs on a scenario that is not whole.
import { readdir, readFile } from 'node:fs/promises';
import { parse } from 'smol-toml';
import { AppError, messageOf } from '../src/core/errors.ts';
import { checkScenario, overlay } from './core/scenario.ts';
import type { Scenario } from './core/scenario-schema.ts';

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
    throw new AppError('config', `${nameOrPath} is not TOML: ${messageOf(cause)}`, { cause });
  }
  const verdict = checkScenario(overlay(value, change));
  const name = nameOrPath.replace(/^.*\//, '').replace(/\.toml$/, '');
  if (verdict.kind === 'ok') return { name, scenario: verdict.scenario };
  const lines = verdict.faults.map(({ pointer, message }) => `${pointer || '/'}: ${message}`).join('\n  ');
  throw new AppError('config', `Scenario ${nameOrPath} is wrong:\n  ${lines}`, { details: verdict.faults });
}
