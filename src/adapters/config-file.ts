// Reads a configuration file from the disk.
import { readFileSync } from 'node:fs';
import type { ConfigFile } from '../config.ts';
import { AppError, messageOf } from '../core/errors.ts';

/** Longest configuration file in bytes; larger ones are something else. */
const fileMost = 1024 * 1024;

/** @throws AppError `config` when the file cannot be read. */
export function readConfigFile(path: string): ConfigFile {
  try {
    const text = readFileSync(path, 'utf8');
    if (text.length <= fileMost) return { path, text };
  } catch (thrown) {
    throw new AppError('config', `Cannot read the configuration file ${path}: ${messageOf(thrown)}`, {
      hint: 'Check the path given with --config and the rights on the file.',
      cause: thrown,
    });
  }
  throw new AppError('config', `The configuration file ${path} is longer than ${fileMost} characters`);
}
