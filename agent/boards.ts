// Reads board profiles: by the name of a shipped one, or from an installer's TOML file. A profile must be understood
// fully: an unknown key is an error that lists the known ones.
import { readdir, readFile } from 'node:fs/promises';
import { parse } from 'smol-toml';
import { AppError, messageOf } from '../src/core/errors.ts';
import type { BoardProfile } from './core/board/board-profile.ts';
import { parseProfile } from './core/board/profile-parsing.ts';

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
    throw new AppError('config', `Cannot read board profile ${nameOrPath}: ${messageOf(cause)}`, {
      cause,
      hint: 'Check board.profile: the path and whether the user of the agent may read the file.',
    });
  }
}

/** A profile by name or path, as `readBoardText`. Throws AppError `config` that names the file and every fault in it. */
export async function readBoardProfile(nameOrPath: string): Promise<BoardProfile> {
  return parseBoardProfile(await readBoardText(nameOrPath), nameOrPath);
}

const profileHint =
  'agent/boards/README.md describes the format; `fleetward-agent boards show generic` prints a valid one.';

/** A profile from the text of a TOML file; `file` is named in errors. Throws AppError `config`. */
export function parseBoardProfile(toml: string, file: string): BoardProfile {
  if (toml.length > maxFileBytes)
    throw new AppError('config', `Board profile ${file} is larger than ${maxFileBytes} bytes`, {
      hint: profileHint,
    });
  let value: unknown;
  try {
    value = parse(toml);
  } catch (cause) {
    throw new AppError('config', `Board profile ${file} is not TOML: ${messageOf(cause)}`, {
      cause,
      hint: profileHint,
    });
  }
  const verdict = parseProfile(value);
  if (verdict.kind === 'ok') return verdict.profile;
  const lines = verdict.faults.map((fault) => `${fault.pointer || '/'}: ${fault.message}`).join('; ');
  throw new AppError('config', `Board profile ${file} is wrong: ${lines}`, {
    details: verdict.faults,
    hint: profileHint,
  });
}
