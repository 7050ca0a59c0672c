// The manual pages say what the program does: every command, every flag and every setting is named, and the page of the settings
// is the one that the schema makes.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createCommandLine, type Handlers } from '../../agent/cli/command-line.ts';
import { agentFileSchema } from '../../agent/config.ts';
import { settingsOf } from '../../src/config.ts';
import { formatSettingsPage } from '../../systemd/man-page.ts';

const pageOf = (name: string): string =>
  readFileSync(new URL(`../../systemd/man/${name}`, import.meta.url), 'utf8');
/** As a reader sees it: without the marks of troff. */
const plain = (page: string): string => page.replaceAll('\\-', '-').replaceAll(/\\f./g, '');

const idle = (): void => undefined;
const handlers: Handlers = {
  start: idle,
  enrol: idle,
  checkConfig: idle,
  showConfig: idle,
  status: idle,
  listMessages: idle,
  sendMessage: idle,
  serviceCode: idle,
  doctor: idle,
  selftest: idle,
  boards: idle,
  alarms: idle,
  calibrateFuel: idle,
};

/** The help after these words. */
function helpOf(...words: string[]): Promise<string> {
  const parser = createCommandLine([], handlers, { version: '0', columns: 200 });
  return new Promise((resolve) => {
    void parser.parse([...words, '--help'], {}, (_fault: unknown, _flags: unknown, text: string) =>
      resolve(text),
    );
  });
}

const commandsIn = (help: string): readonly string[] =>
  [...help.matchAll(/^ {2}fleetward-agent ((?:[a-z-]+ )+)/gm)].map((match) => (match[1] ?? '').trim());
const flagsIn = (help: string): readonly string[] =>
  [...help.matchAll(/^ +(--[a-z-]+) /gm)].map((match) => match[1] ?? '');

describe('the manual', () => {
  it('names every command with its flags', async () => {
    const page = plain(pageOf('fleetward-agent.8'));
    const commands = commandsIn((await helpOf()).split('Options:')[0] ?? '');
    expect(commands).toHaveLength(12);
    for (const command of commands) {
      const help = await helpOf(command);
      const parts = commandsIn(help.split('Options:')[0] ?? '');
      for (const line of parts.length === 0 ? [command] : parts) {
        expect(page).toContain(line);
        const flags = flagsIn(await helpOf(...line.split(' ')));
        // Its own help is the script.
        expect(flags.includes('--help'), line).toBe(line !== 'completion');
        for (const flag of flags) expect(page, `${line} ${flag}`).toContain(flag);
      }
    }
  });

  it('names every setting, and is made anew when one changes (npm run man)', () => {
    const page = pageOf('fleetward-agent.toml.5');
    expect(page).toBe(formatSettingsPage());
    for (const { key } of settingsOf(agentFileSchema)) expect(plain(page)).toContain(key);
  });
});
