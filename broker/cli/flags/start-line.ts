// Parses the arguments of `start` without yargs, which writes the help of all settings before it runs a command: a tenth of the
// start. Only a valid command line is parsed here; everything else, `--help` included, is left to `../command-line.ts`.
import { parseArgs } from 'node:util';
import { settingsOf } from '../../../src/config.ts';
import { brokerSchema } from '../../config/broker-config.ts';

/** The flags of `start` as yargs gives them; null for every other command line, and for one with a fault. */
export function parseStart(words: readonly string[]): Readonly<Record<string, unknown>> | null {
  if (words[0] !== 'start') return null;
  const settings = settingsOf(brokerSchema).map(
    ({ flag, isSwitch }) => [flag, { type: isSwitch ? 'boolean' : 'string' }] as const,
  );
  try {
    const { values, tokens } = parseArgs({
      args: words.slice(1),
      options: {
        ...Object.fromEntries(settings),
        config: { type: 'string' },
        'new-fleet': { type: 'boolean' },
      },
      tokens: true,
    });
    // What is given twice, or empty, has its own rules there.
    const isPlain = tokens.length === Object.keys(values).length && !Object.values(values).includes('');
    return isPlain ? { ...values } : null;
  } catch {
    return null;
  }
}
