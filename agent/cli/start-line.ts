// Parses the arguments of `start` without yargs, which with its help holds about 2 MB for as long as the service
// runs. Only a valid command line is parsed here; everything else, `--help` included, is left to `command-line.ts`,
// which has the texts.
import { parseArgs } from 'node:util';
import { type Flags, standardConfig } from './settings-file.ts';

/** The flags of `start` as yargs gives them; null for every other command line, and for one with a fault. */
export function parseStart(words: readonly string[]): Flags | null {
  if (words[0] !== 'start') return null;
  try {
    const { values } = parseArgs({
      args: words.slice(1),
      options: {
        config: { type: 'string', default: standardConfig },
        releases: { type: 'string' },
        'release-key': { type: 'string' },
        'release-key-owner': { type: 'string', default: '0' },
      },
    });
    const owner = values['release-key-owner'];
    const isWhole = values['release-key'] === undefined || values.releases !== undefined;
    const hasEmpty = Object.values(values).includes('');
    if (!isWhole || hasEmpty || !/^\d{1,10}$/.test(owner)) return null;
    return { ...values, 'release-key-owner': Number(owner) };
  } catch {
    return null;
  }
}
