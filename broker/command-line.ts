// The words of the broker's command line: commands, flags, help and examples. It decides nothing and does nothing; the
// handlers are given by main.ts. Every setting of the configuration is a flag, made from the schema.
import yargs, { type Argv } from 'yargs';
import { hideBin } from 'yargs/helpers';
import { settingsOf } from '../src/config.ts';
import { AppError } from '../src/core/errors.ts';
import { brokerSchema } from './config.ts';

/** What was given on the command line, by flag name. */
export type Flags = Readonly<Record<string, unknown>>;

export interface Handlers {
  readonly start: (flags: Flags) => Promise<void>;
  readonly accountCreate: (flags: Flags) => Promise<void>;
  readonly device: (flags: Flags, action: 'create' | 'secret') => Promise<void>;
  readonly config: (flags: Flags, action: 'check' | 'show') => void;
}

/** Settings that matter to a command which starts no server; the others are understood there, but not shown. */
const offlineKeys = ['database', 'signingKeyFile'];

function withSettings(parser: Argv, isOffline = false): Argv {
  const described = settingsOf(brokerSchema).reduce(
    (so, { key, flag, isSwitch, words }) =>
      so.option(flag, {
        describe: words,
        type: isSwitch ? 'boolean' : 'string',
        requiresArg: !isSwitch,
        hidden: isOffline && !offlineKeys.includes(key),
      }),
    parser,
  );
  return described.option('config', {
    describe: 'TOML file with settings',
    type: 'string',
    requiresArg: true,
  });
}

const withJson = (parser: Argv, isOffline = false): Argv =>
  withSettings(parser, isOffline).option('json', { describe: 'Print JSON for programs', type: 'boolean' });
const withDevice = (parser: Argv): Argv =>
  withJson(parser, true)
    .positional('accountID', { describe: 'The account', type: 'string', demandOption: true })
    .positional('deviceID', { describe: 'The device', type: 'string', demandOption: true });
const withAccount = (parser: Argv): Argv =>
  withJson(parser, true)
    .positional('accountID', { describe: 'The new account', type: 'string', demandOption: true })
    .option('admin', { describe: 'User id of its first administrator', type: 'string', demandOption: true })
    .option('password-file', {
      describe:
        'File whose first line is the password; - reads standard input; generated and shown when absent',
      type: 'string',
      // Without it a lone `-` would be taken for an argument of its own.
      nargs: 1,
    });

/** The whole command line. Parsing runs the handler of the command that was given. @throws AppError `usage`. */
export function createCommandLine(handlers: Handlers, version: string): Argv {
  return yargs(hideBin(process.argv))
    .scriptName('fleetward-broker')
    .usage('$0 <command>\n\nMQTT broker, command ledger and HTTP/JSON service of Fleetward.')
    .parserConfiguration({ 'camel-case-expansion': false, 'parse-positional-numbers': false })
    .command('start', 'Run the broker until SIGTERM or SIGINT', (more) => withSettings(more), handlers.start)
    .command('account', 'Create accounts; the broker may run meanwhile', (parser) =>
      parser
        .command(
          'create <accountID>',
          'Create an account with its administrator',
          withAccount,
          handlers.accountCreate,
        )
        .demandCommand(1, 'Say what to do with accounts: create'),
    )
    .command('device', 'Create devices, replace their secrets; the broker may run meanwhile', (parser) =>
      parser
        .command(
          'create <accountID> <deviceID>',
          'Create a device; prints its MQTT secret and the key that its agent pins, once',
          withDevice,
          (flags) => handlers.device(flags, 'create'),
        )
        .command(
          'secret <accountID> <deviceID>',
          'Replace the secret of a device; prints the new one once',
          withDevice,
          (flags) => handlers.device(flags, 'secret'),
        )
        .demandCommand(1, 'Say what to do with devices: create or secret'),
    )
    .command('config', 'Look at the configuration', (parser) =>
      parser
        .command(
          'check',
          'Check the configuration',
          (more) => withJson(more),
          (flags) => handlers.config(flags, 'check'),
        )
        .command(
          'show',
          'Show every setting',
          (show) =>
            withJson(show).option('origin', { describe: 'Say where each comes from', type: 'boolean' }),
          (flags) => handlers.config(flags, 'show'),
        )
        .demandCommand(1, 'Say what to do with the configuration: check or show'),
    )
    .example(
      '$0 account create acme --admin ann --password-file -',
      'Account; the password is typed or piped in',
    )
    .example('$0 device create acme truck-17 --json', 'Device; its secret and the key that its agent pins')
    .example('$0 start --database /var/lib/fleetward/fleet.db', 'Run; docs at http://127.0.0.1:8080/docs')
    .example('$0 config show --origin --config broker.toml', 'Which settings hold, and from where')
    .epilogue(
      'A setting is taken from its flag, else FLEETWARD_..., else the TOML file, else its default.\n\nExit codes: 0 good, 64 wrong command line, 65 bad input, 66 not found, 69 a port is taken, 70 a fault of ours,\n74 the disk, 75 try again, 77 refused, 78 wrong configuration.',
    )
    .demandCommand(1, 'Say what to do: start, account, device or config')
    .strict()
    .version(version)
    .wrap(Math.min(110, process.stdout.columns ?? 110))
    .exitProcess(false)
    .fail((message, thrown) => {
      throw thrown ?? new AppError('usage', message, { hint: 'Try --help.' });
    });
}
