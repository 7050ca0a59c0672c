// The words of the broker's command line: commands, flags, help and examples. It decides nothing and does nothing; the
// handlers are given by main.ts. Every setting of the configuration is a flag, made from the schema.
import yargs, { type Argv } from 'yargs';
import { hideBin } from 'yargs/helpers';
import { settingsOf } from '../../src/config.ts';
import { AppError } from '../../src/core/errors.ts';
import { brokerSchema } from '../config.ts';
import { type CaAction, caCommands } from './ca-command-line.ts';

/** What is done with accounts that are there. */
export type AccountAction = 'list' | 'show' | 'suspend' | 'resume' | 'limit' | 'delete';

/** What was given on the command line, by flag name. */
export type Flags = Readonly<Record<string, unknown>>;

export interface Handlers {
  readonly start: (flags: Flags) => Promise<void>;
  readonly accountCreate: (flags: Flags) => Promise<void>;
  readonly account: (flags: Flags, action: AccountAction) => Promise<void>;
  readonly adminToken: (flags: Flags) => void;
  readonly device: (flags: Flags, action: 'create' | 'secret') => Promise<void>;
  readonly deviceCode: (flags: Flags) => Promise<void>;
  readonly serviceCode: (flags: Flags) => Promise<void>;
  readonly audit: (flags: Flags, action: 'verify' | 'heads') => Promise<void>;
  readonly retention: (flags: Flags) => Promise<void>;
  readonly config: (flags: Flags, action: 'check' | 'show') => void;
  readonly ca: (flags: Flags, action: CaAction) => Promise<void>;
  readonly backup: (flags: Flags) => Promise<void>;
  readonly restore: (flags: Flags) => void;
  readonly check: (flags: Flags) => Promise<void>;
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

const withChain = (parser: Argv): Argv =>
  withJson(parser, true).option('account', {
    describe: 'One account only; all of them, and the service itself, when absent',
    type: 'string',
    requiresArg: true,
  });

function deviceCommands(parser: Argv, handlers: Handlers): Argv {
  return parser
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
    .command(
      'code <accountID> <deviceID>',
      'Make a one-time code with which the vehicle fetches its secret; prints it once',
      (more) =>
        withDevice(more).option('hours', {
          describe: 'How long it is good, 1 to 168; the setting enrolment.codeHours when absent',
          type: 'string',
          requiresArg: true,
        }),
      handlers.deviceCode,
    )
    .command(
      'service-code <accountID> <deviceID>',
      'Show the next one-time code that restores the engine at the vehicle, and does nothing else',
      withDevice,
      handlers.serviceCode,
    )
    .demandCommand(1, 'Say what to do with devices: create, secret, code or service-code');
}

function auditCommands(parser: Argv, handlers: Handlers): Argv {
  return parser
    .command(
      'verify',
      'Check that no entry was changed, removed or moved; exit code 1 when one was',
      (more) =>
        withChain(more).option('head', {
          describe:
            'File with heads that were kept elsewhere (audit heads, or the log); - reads standard input',
          type: 'string',
          // Without it a lone `-` would be taken for an argument of its own.
          nargs: 1,
        }),
      (flags) => handlers.audit(flags, 'verify'),
    )
    .command('heads', 'Show the signed last entry of each chain, to be kept elsewhere', withChain, (flags) =>
      handlers.audit(flags, 'heads'),
    )
    .demandCommand(1, 'Say what to do with the audit log: verify or heads');
}

function retentionCommands(parser: Argv, handlers: Handlers): Argv {
  return parser
    .command(
      'run',
      'Remove now what accounts no longer keep; the running broker does it by itself each hour',
      (more) =>
        withJson(more, true).option('dry-run', { describe: 'Count, and remove nothing', type: 'boolean' }),
      handlers.retention,
    )
    .demandCommand(1, 'Say what to do with old events: run');
}

const withExisting = (parser: Argv): Argv =>
  withJson(parser, true).positional('accountID', {
    describe: 'The account',
    type: 'string',
    demandOption: true,
  });
const withLimits = (parser: Argv): Argv =>
  ['devices', 'retained-days', 'expires'].reduce(
    (so, name) => so.option(name, { describe: limitWords[name] ?? '', type: 'string', requiresArg: true }),
    withExisting(parser),
  );

const limitWords: Readonly<Record<string, string>> = {
  devices: 'Most devices, or none for no limit',
  'retained-days': 'Most days that events are kept, or none for no limit',
  expires: 'End of the account: YYYY-MM-DD (midnight UTC), epoch seconds, or none',
};

function accountCommands(parser: Argv, { accountCreate, account }: Handlers): Argv {
  const on = (action: AccountAction) => (flags: Flags) => account(flags, action);
  return parser
    .command('create <accountID>', 'Create an account with its administrator', withAccount, accountCreate)
    .command('list', 'List all accounts', (more) => withJson(more, true), on('list'))
    .command('show <accountID>', 'Show state, limits and figures of an account', withExisting, on('show'))
    .command(
      'suspend <accountID>',
      'Refuse all its tokens at once, end its connections in seconds',
      withExisting,
      on('suspend'),
    )
    .command('resume <accountID>', 'Open it again', withExisting, on('resume'))
    .command('limit <accountID>', 'Set its limits; what is not given stays', withLimits, on('limit'))
    .command(
      'delete <accountID>',
      'Delete it with its devices, users and events; needs --yes',
      (more) => withExisting(more).option('yes', { describe: 'Really do it', type: 'boolean' }),
      on('delete'),
    )
    .demandCommand(1, 'Say what to do with accounts: create, list, show, suspend, resume, limit or delete');
}

function configCommands(parser: Argv, handlers: Handlers): Argv {
  return parser
    .command(
      'check',
      'Check the configuration',
      (more) => withJson(more),
      (flags) => handlers.config(flags, 'check'),
    )
    .command(
      'show',
      'Show every setting',
      (show) => withJson(show).option('origin', { describe: 'Say where each comes from', type: 'boolean' }),
      (flags) => handlers.config(flags, 'show'),
    )
    .demandCommand(1, 'Say what to do with the configuration: check or show');
}

const withFile = (parser: Argv, words: string): Argv =>
  withJson(parser, true).positional('file', { describe: words, type: 'string', demandOption: true });

function safekeepingCommands(parser: Argv, handlers: Handlers): Argv {
  return parser
    .command(
      'backup <file>',
      'Copy the database to a new file and check the copy; the broker may run meanwhile',
      (more) =>
        withFile(more, 'New file, mode 0600; nothing is overwritten').option('with-signing-key', {
          describe:
            'Put the signing key and the Web Push key in: whoever has the file can command every vehicle',
          type: 'boolean',
        }),
      handlers.backup,
    )
    .command(
      'restore <file>',
      'Put a backup in the place of a database that is not there; the broker must not run',
      (more) => withFile(more, 'A file that backup made'),
      handlers.restore,
    )
    .command(
      'check',
      'Look the whole database over; changes nothing; exit code 1 when something does not hold',
      (more) =>
        withJson(more, true).option('sample', {
          describe: 'Devices whose present is held against their events; 500 when absent',
          type: 'string',
          requiresArg: true,
        }),
      handlers.check,
    );
}

/** Of the terminal, as far as lines of this length are read with ease. */
const columnsOfTerminal = (): number => Math.min(110, process.stdout.columns ?? 110);

/** The whole command line. Parsing runs the handler of the command that was given. @throws AppError `usage`. */
export function createCommandLine(handlers: Handlers, version: string, columns = columnsOfTerminal()): Argv {
  const commandLine = yargs(hideBin(process.argv))
    .scriptName('fleetward-broker')
    .usage('$0 <command>\n\nMQTT broker, command ledger and HTTP/JSON service of Fleetward.')
    .parserConfiguration({ 'camel-case-expansion': false, 'parse-positional-numbers': false })
    .command('start', 'Run the broker until SIGTERM or SIGINT', (more) => withSettings(more), handlers.start)
    .command('account', 'Create, limit, suspend, delete accounts; the broker may run meanwhile', (parser) =>
      accountCommands(parser, handlers),
    )
    .command(
      'admin-token',
      "Make the file with the service operator's token, for start --admin-token-file",
      (more) =>
        more
          .option('file', {
            describe: 'New file, mode 0600',
            type: 'string',
            demandOption: true,
            requiresArg: true,
          })
          .option('json', { describe: 'Print JSON for programs', type: 'boolean' }),
      handlers.adminToken,
    )
    .command('device', 'Devices, their secrets and one-time codes; the broker may run meanwhile', (parser) =>
      deviceCommands(parser, handlers),
    )
    .command('audit', 'Check the audit log; the broker may run meanwhile', (parser) =>
      auditCommands(parser, handlers),
    )
    .command('retention', 'Remove events that are older than accounts keep them', (parser) =>
      retentionCommands(parser, handlers),
    )
    .command('config', 'Look at the configuration', (parser) => configCommands(parser, handlers))
    .command('ca', 'Certificates for TLS: of listeners, of vehicles, and their authority', (parser) =>
      caCommands(parser, { withJson: (more) => withJson(more, true), run: handlers.ca }),
    );
  return safekeepingCommands(commandLine, handlers)
    .completion('completion', 'Print the completion script for bash or zsh')
    .example(
      '$0 account create acme --admin ann --password-file -',
      'Account; the password is typed or piped in',
    )
    .example('$0 device create acme truck-17 --json', 'Device; its secret and the key that its agent pins')
    .example('$0 start --database /var/lib/fleetward/fleet.db', 'Run; docs at http://127.0.0.1:8080/docs')
    .example('$0 config show --origin --config broker.toml', 'Which settings hold, and from where')
    .epilogue(
      'A setting is taken from its flag, else FLEETWARD_..., else the TOML file, else its default.\n\nExit codes: 0 good, 1 the audit log or the database does not hold, 64 wrong command line, 65 bad input, 66 not found,\n69 a port is taken, 70 a fault of ours, 74 the disk, 75 try again, 77 refused, 78 wrong configuration.',
    )
    .demandCommand(
      1,
      'Say what to do: start, account, admin-token, device, audit, retention, config, backup, restore or check',
    )
    .strict()
    .version(version)
    .wrap(columns)
    .exitProcess(false)
    .fail((message, thrown) => {
      throw thrown ?? new AppError('usage', message, { hint: 'Try --help.' });
    });
}
