// Options that several commands share, as data for yargs.
import type { Argv } from 'yargs';
import { standardConfig } from './settings-file.ts';

export const text = (describe: string) => ({ type: 'string', requiresArg: true, describe }) as const;

export const withConfig = (parser: Argv): Argv =>
  parser.option('config', { ...text('Configuration file (TOML)'), default: standardConfig });
