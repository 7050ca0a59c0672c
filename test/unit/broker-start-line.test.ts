// `start` of the broker is read without yargs where its command line is right; both readers give the same flags, and faults stay with yargs.
import { describe, expect, it } from 'vitest';
import { createCommandLine, type Flags, type Handlers } from '../../broker/cli/command-line.ts';
import { parseStart } from '../../broker/cli/flags/start-line.ts';

/** What yargs gives the handler of `start`, without what it adds of its own. */
async function byYargs(words: readonly string[]): Promise<Flags | null> {
  let given: Flags | null = null;
  const start = async (flags: Flags): Promise<void> => {
    given = Object.fromEntries(Object.entries(flags).filter(([name]) => name !== '_' && name !== '$0'));
  };
  const handlers = { start } as unknown as Handlers;
  await createCommandLine(handlers, '0', 80).parseAsync([...words]);
  return given;
}

describe('the command line of the start of the broker', () => {
  it.each([
    [['start']],
    [['start', '--config', '/etc/fleetward-broker/broker.toml']],
    [['start', '--database=fleet.db', '--http-port', '0', '--http-allow-plain', '--new-fleet']],
    [['start', '--log-level', 'debug', '--ingest-device-events-per-s=0']],
  ])('%j gives the flags that yargs gives', async (words) => {
    expect(parseStart(words)).toEqual(await byYargs(words));
  });

  it.each([
    [['config', 'show']],
    [[]],
    [['start', '--help']],
    [['start', '--version']],
    [['start', '--no-http-allow-plain']],
    [['start', '--http-allow-plain=false']],
    [['start', '--confg', 'broker.toml']],
    [['start', '--config']],
    [['start', '--config', '']],
    [['start', '--config', 'one.toml', '--config', 'other.toml']],
    [['start', 'more']],
  ])('%j is left to yargs', (words) => {
    expect(parseStart(words)).toBeNull();
  });
});
