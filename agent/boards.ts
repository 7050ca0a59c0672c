// Reads board profiles: by the name of a shipped one, or from a TOML file of the installer's. It must never start
// with a profile it does not understand fully: an unknown key is an error that says which are known.
import { readdir, readFile } from 'node:fs/promises';
import { parse } from 'smol-toml';
import { AppError, messageOf } from '../src/core/errors.ts';
import { type BoardProfile, parseProfile } from './core/board/board-profile.ts';

const shipped = new URL('./boards/', import.meta.url);
const maxFileBytes = 256 * 1024;

/** Names of the profiles that come with the agent. */
export async function listBoardProfiles(): Promise<readonly string[]> {
  const files = await readdir(shipped);
  return files
    .filter((file) => file.endsWith('.toml'))
    .map((file) => file.slice(0, -'.toml'.length))
    .sort();
}

/**
 * The TOML of a profile by name (`waveshare-relay-d`) or by path (anything with a slash or ending in `.toml`), unchecked.
 * Throws AppError `config` when there is no such profile or file.
 */
export async function readBoardText(nameOrPath: string): Promise<string> {
  const isPath = nameOrPath.includes('/') || nameOrPath.endsWith('.toml');
  if (!isPath && !(await listBoardProfiles()).includes(nameOrPath)) {
    const names = (await listBoardProfiles()).join(', ');
    throw new AppError('config', `There is no board profile "${nameOrPath}"`, {
      hint: `Take one of ${names}, or give the path of a TOML file.`,
    });
  }
  try {
    return await readFile(isPath ? nameOrPath : new URL(`${nameOrPath}.toml`, shipped), 'utf8');
  } catch (cause) {
    throw new AppError('config', `The board profile cannot be read: ${messageOf(cause)}`, { cause });
  }
}

/** A profile by name or path, as `readBoardText`. Throws AppError `config` that names the file and every fault in it. */
export async function readBoardProfile(nameOrPath: string): Promise<BoardProfile> {
  return parseBoardProfile(await readBoardText(nameOrPath), nameOrPath);
}

/** A profile from the text of a TOML file; `file` is named in errors. Throws AppError `config`. */
export function parseBoardProfile(toml: string, file: string): BoardProfile {
  if (toml.length > maxFileBytes)
    throw new AppError('config', `Board profile ${file}: larger than ${maxFileBytes} bytes`);
  let value: unknown;
  try {
    value = parse(toml);
  } catch (cause) {
    throw new AppError('config', `Board profile ${file} is not TOML: ${messageOf(cause)}`, { cause });
  }
  const verdict = parseProfile(value);
  if (verdict.kind === 'ok') return verdict.profile;
  const lines = verdict.faults.map((fault) => `${fault.pointer || '/'}: ${fault.message}`).join('; ');
  throw new AppError('config', `Board profile ${file} is wrong: ${lines}`, { details: verdict.faults });
}
