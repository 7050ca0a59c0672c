// `start` is read without yargs where its command line is right; both readers give the same flags, and faults stay with yargs.
import { describe, expect, it } from 'vitest';
import { createCommandLine, type Handlers } from '../../agent/cli/command-line.ts';
import type { Flags } from '../../agent/cli/settings-file.ts';
import { parseStart } from '../../agent/cli/start-line.ts';

const names = ['config', 'releases', 'release-key', 'release-key-owner'] as const;
const ofStart = (flags: Flags | null) => names.map((name) => flags?.[name]);

/** What yargs gives the handler of `start`. */
async function byYargs(words: readonly string[]): Promise<Flags | null> {
  let given: Flags | null = null;
  const start = (flags: Flags): void => {
    given = flags;
  };
  const handlers = new Proxy(
    { start },
    { get: (target, key) => (key === 'start' ? target.start : () => undefined) },
  );
  await createCommandLine(words, handlers as unknown as Handlers, { version: '0', columns: 80 }).parseAsync();
  return given;
}

describe('the command line of start', () => {
  it.each([
    [['start']],
    [['start', '--config', 'agent.toml']],
    [['start', '--config=agent.toml', '--releases', '/r', '--release-key', '/k']],
    [['start', '--releases', '/r', '--release-key', '/k', '--release-key-owner', '1000']],
  ])('%j gives the flags that yargs gives', async (words) => {
    expect(ofStart(parseStart(words))).toEqual(ofStart(await byYargs(words)));
  });

  it.each([
    [['status']],
    [[]],
    [['start', '--help']],
    [['start', '--version']],
    [['start', '--confg', 'agent.toml']],
    [['start', '--config']],
    [['start', '--config', '']],
    [['start', 'more']],
    [['start', '--release-key', '/k']],
    [['start', '--release-key-owner', 'root']],
  ])('%j is left to yargs', (words) => {
    expect(parseStart(words)).toBeNull();
  });
});
