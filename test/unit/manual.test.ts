// The manual pages say what the program does: every command, every flag and every setting is named, and the page of the settings
// is the one that the schema makes.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createCommandLine, type Handlers } from '../../agent/cli/command-line.ts';
import { agentFileSchema } from '../../agent/config.ts';
import {
  type Handlers as BrokerHandlers,
  createCommandLine as createBrokerLine,
} from '../../broker/cli/command-line.ts';
import { brokerSchema } from '../../broker/config/broker-config.ts';
import { settingsOf } from '../../src/config.ts';
import { remakePage } from '../../systemd/man-page.ts';

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
  showBoard: idle,
  alarms: idle,
};

/** The broker's commands are asked for their help only. */
const brokerHandlers: BrokerHandlers = new Proxy({}, { get: () => idle }) as BrokerHandlers;

interface Parser {
  parse(args: string[], flags: object, take: (fault: unknown, flags: unknown, text: string) => void): unknown;
}

/** The help of this command. */
const helpOf = (...args: string[]): Promise<string> =>
  helpBy(createCommandLine([], handlers, { version: '0', columns: 200 }), args);
const brokerHelpOf = (...args: string[]): Promise<string> =>
  helpBy(createBrokerLine(brokerHandlers, '0', 400), args);

function helpBy(parser: Parser, args: string[]): Promise<string> {
  return new Promise((resolve) => {
    void parser.parse([...args, '--help'], {}, (_fault: unknown, _flags: unknown, text: string) =>
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

  it('names every setting, and is made anew when one changes (npm run man)', async () => {
    const page = pageOf('fleetward-agent.toml.5');
    expect(page).toBe(await remakePage('fleetward-agent.toml.5', page));
    for (const { key } of settingsOf(agentFileSchema)) expect(plain(page)).toContain(key);
  });
});

describe('the manual of the broker', () => {
  const page = plain(pageOf('fleetward-broker.8'));
  const settingsPage = plain(pageOf('fleetward-broker.toml.5'));
  const commandsOf = (help: string): readonly string[] =>
    [...help.matchAll(/^ {2}fleetward-broker ((?:[a-z-]+ )+)/gm)].map((match) => (match[1] ?? '').trim());

  it('names every command with its flags', async () => {
    const settings = new Set(settingsOf(brokerSchema).map(({ flag }) => `--${flag}`));
    const commands = commandsOf((await brokerHelpOf()).split('Options:')[0] ?? '');
    expect(commands.length).toBeGreaterThanOrEqual(11);
    for (const command of commands) {
      const parts = commandsOf((await brokerHelpOf(command)).split('Options:')[0] ?? '');
      for (const line of parts.length === 0 ? [command] : parts) {
        expect(page).toContain(line);
        for (const flag of flagsIn(await brokerHelpOf(...line.split(' '))))
          if (!settings.has(flag)) expect(page, `${line} ${flag}`).toContain(flag);
      }
    }
  });

  it('is made anew when a command or a setting changes (npm run man)', async () => {
    for (const name of ['fleetward-broker.8', 'fleetward-broker.toml.5'])
      expect(pageOf(name)).toBe(await remakePage(name, pageOf(name)));
    for (const { key } of settingsOf(brokerSchema)) expect(settingsPage).toContain(key);
  });
});
