// The broker's command line: commands, flags, help and examples. The handlers come from main.ts. Every setting of the
// configuration is a flag, generated from the schema.
import yargs, { type Argv } from 'yargs';
import { hideBin } from 'yargs/helpers';
import { settingsOf } from '../../src/config.ts';
import { AppError } from '../../src/core/errors.ts';
import { brokerSchema } from '../config/broker-config.ts';
import { type CaAction, caCommands } from './flags/ca-command-line.ts';
import { type OwnerAction, ownerCommands } from './flags/owner-command-line.ts';

/** What is done with accounts that are there. */
export type AccountAction =
  | 'list'
  | 'show'
  | 'suspend'
  | 'resume'
  | 'limit'
  | 'confirm'
  | 'reset-breaker'
  | 'login-code'
  | 'delete';

/** What was given on the command line, by flag name. */
export type Flags = Readonly<Record<string, unknown>>;

export interface Handlers {
  readonly start: (flags: Flags) => Promise<void>;
  readonly accountCreate: (flags: Flags) => Promise<void>;
  readonly account: (flags: Flags, action: AccountAction) => Promise<void>;
  readonly adminToken: (flags: Flags) => Promise<void>;
  readonly device: (flags: Flags, action: 'create' | 'secret') => Promise<void>;
  readonly deviceCode: (flags: Flags) => Promise<void>;
  readonly serviceCode: (flags: Flags) => Promise<void>;
  readonly quarantine: (flags: Flags, action: 'list' | 'show' | 'drop') => Promise<void>;
  readonly audit: (flags: Flags, action: 'verify' | 'heads') => Promise<void>;
  readonly retention: (flags: Flags) => Promise<void>;
  readonly config: (flags: Flags, action: 'check' | 'show') => Promise<void>;
  readonly ca: (flags: Flags, action: CaAction) => Promise<void>;
  readonly owner: (flags: Flags, action: OwnerAction) => Promise<void>;
  readonly backup: (flags: Flags) => Promise<void>;
  readonly restore: (flags: Flags) => Promise<void>;
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
/** Overrules what shows that there was a fleet before. */
const withNewFleet = (parser: Argv): Argv =>
  parser.option('new-fleet', {
    describe:
      'Begin a fleet where another one was, or with another signing key: every vehicle must enrol again',
    type: 'boolean',
  });
const withAccount = (parser: Argv): Argv =>
  withNewFleet(withJson(parser, true))
    .positional('accountID', { describe: 'The new account', type: 'string', demandOption: true })
    .option('admin', { describe: 'User id of its first administrator', type: 'string', demandOption: true })
    .option('password-file', {
      describe:
        'File whose first line is the password; - reads standard input; generated and shown when absent',
      type: 'string',
      // Without it a lone `-` would be taken for an argument of its own.
      nargs: 1,
    })
    .option('base-map', {
      describe: 'Map file that its users see below the vehicles unless they choose otherwise',
      type: 'string',
      nargs: 1,
    });

const withChain = (parser: Argv): Argv =>
  withJson(parser, true).option('account', {
    describe: 'One account only; all accounts and the service itself when absent',
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
      'Make a one-time code that the vehicle exchanges for its secret; prints it once',
      (more) =>
        withDevice(more)
          .option('hours', {
            describe: 'Hours until it expires, 1 to 168; the setting enrolment.codeHours when absent',
            type: 'string',
            requiresArg: true,
          })
          .option('create', { describe: 'Create the device first', type: 'boolean' }),
      handlers.deviceCode,
    )
    .command(
      'service-code <accountID> <deviceID>',
      'Show the next one-time code that restores the engine at the vehicle, and does nothing else',
      withDevice,
      handlers.serviceCode,
    )
    .demandCommand(1, 'Name a subcommand: create, secret, code or service-code');
}

function quarantineCommands(parser: Argv, handlers: Handlers): Argv {
  const withEntry = (more: Argv): Argv =>
    withDevice(more).positional('quarantineID', {
      describe: 'The entry, as list shows it',
      type: 'string',
      demandOption: true,
    });
  return parser
    .command('list <accountID> <deviceID>', 'List unreadable payloads of a device', withDevice, (flags) =>
      handlers.quarantine(flags, 'list'),
    )
    .command('show <accountID> <deviceID> <quarantineID>', 'Show one payload in base64', withEntry, (flags) =>
      handlers.quarantine(flags, 'show'),
    )
    .command(
      'drop <accountID> <deviceID>',
      'Delete all unreadable payloads of a device; recorded in the audit log',
      withDevice,
      (flags) => handlers.quarantine(flags, 'drop'),
    )
    .demandCommand(1, 'Name a subcommand: list, show or drop');
}

function auditCommands(parser: Argv, handlers: Handlers): Argv {
  return parser
    .command(
      'verify',
      'Check that no entry was changed, removed or moved; exit code 1 on a fault',
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
    .demandCommand(1, 'Name a subcommand: verify or heads');
}

function retentionCommands(parser: Argv, handlers: Handlers): Argv {
  return parser
    .command(
      'run',
      'Remove expired events now; the running broker does so every hour',
      (more) =>
        withJson(more, true)
          .option('dry-run', { describe: 'Count only, remove nothing', type: 'boolean' })
          .option('accept-clock', {
            describe: 'Confirm this clock where the service refuses it as far ahead (clock_leap in the log)',
            type: 'boolean',
          }),
      handlers.retention,
    )
    .demandCommand(1, 'Name a subcommand: run');
}

const withExisting = (parser: Argv): Argv =>
  withJson(parser, true).positional('accountID', {
    describe: 'The account',
    type: 'string',
    demandOption: true,
  });
const withLimits = (parser: Argv): Argv =>
  ['devices', 'retained-days', 'events-per-s', 'expires'].reduce(
    (so, name) => so.option(name, { describe: limitTexts[name] ?? '', type: 'string', requiresArg: true }),
    withExisting(parser),
  );

const limitTexts: Readonly<Record<string, string>> = {
  devices: 'Most devices, or none for no limit',
  'retained-days': 'Longest retention of events in days, or none for no limit',
  'events-per-s':
    'Events a second that its devices may go on to send together, or none for the limit of the service',
  expires: 'End of the account: YYYY-MM-DD (midnight UTC), epoch seconds, or none',
};

const withUser = (parser: Argv): Argv =>
  withExisting(parser).positional('userID', { describe: 'The user', type: 'string', demandOption: true });

function accountCommands(parser: Argv, { accountCreate, account }: Handlers): Argv {
  const on = (action: AccountAction) => (flags: Flags) => account(flags, action);
  return parser
    .command('create <accountID>', 'Create an account with its administrator', withAccount, accountCreate)
    .command('list', 'List all accounts', (more) => withJson(more, true), on('list'))
    .command('show <accountID>', 'Show state, limits and figures of an account', withExisting, on('show'))
    .command(
      'suspend <accountID>',
      'Suspend an account: its tokens are refused at once, its connections closed within seconds',
      withExisting,
      on('suspend'),
    )
    .command('resume <accountID>', 'Resume a suspended account', withExisting, on('resume'))
    .command(
      'limit <accountID>',
      'Set limits of an account; absent options leave theirs unchanged',
      withLimits,
      on('limit'),
    )
    .command(
      'confirm <accountID> <userID>',
      'Confirm a user as second person when no other administrator can',
      withUser,
      on('confirm'),
    )
    .command(
      'reset-breaker <accountID>',
      'Take engine cuts again after too many, when no other administrator can reset the breaker',
      withExisting,
      on('reset-breaker'),
    )
    .command(
      'login-code <accountID> <userID>',
      'Make a one-time code that begins a session of a user within 15 minutes; prints it once',
      withUser,
      on('login-code'),
    )
    .command(
      'delete <accountID>',
      'Delete an account with its devices, users and events; needs --yes',
      (more) => withExisting(more).option('yes', { describe: 'Confirm the deletion', type: 'boolean' }),
      on('delete'),
    )
    .demandCommand(
      1,
      'Name a subcommand: create, list, show, suspend, resume, limit, confirm, reset-breaker, login-code or delete',
    );
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
      (show) =>
        withJson(show).option('origin', { describe: 'Show the source of each setting', type: 'boolean' }),
      (flags) => handlers.config(flags, 'show'),
    )
    .demandCommand(1, 'Name a subcommand: check or show');
}

const withFile = (parser: Argv, description: string): Argv =>
  withJson(parser, true).positional('file', { describe: description, type: 'string', demandOption: true });

function safekeepingCommands(parser: Argv, handlers: Handlers): Argv {
  return parser
    .command(
      'backup <file>',
      'Copy the database to a new file and check the copy; the broker may run meanwhile',
      (more) =>
        withFile(more, 'New file, mode 0600; nothing is overwritten').option('with-signing-key', {
          describe:
            'Include the signing key and the Web Push key: the file then allows commands to every vehicle',
          type: 'boolean',
        }),
      handlers.backup,
    )
    .command(
      'restore <file>',
      'Restore a backup where no database exists; the broker must not run',
      (more) => withFile(more, 'A file that backup made'),
      handlers.restore,
    )
    .command(
      'check',
      'Check the whole database without changing it; exit code 1 on a fault',
      (more) =>
        withJson(more, true).option('sample', {
          describe: 'Devices whose state is compared with their events; 500 when absent',
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
    .command(
      'start',
      'Run the broker until SIGTERM or SIGINT',
      (more) => withNewFleet(withSettings(more)),
      handlers.start,
    )
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
    .command('quarantine', 'Unreadable payloads; the broker may run meanwhile', (parser) =>
      quarantineCommands(parser, handlers),
    )
    .command('audit', 'Check the audit log; the broker may run meanwhile', (parser) =>
      auditCommands(parser, handlers),
    )
    .command('retention', 'Remove events that are older than accounts keep them', (parser) =>
      retentionCommands(parser, handlers),
    )
    .command('config', 'Check or show the configuration', (parser) => configCommands(parser, handlers))
    .command('ca', 'Certificates for TLS: of listeners, of vehicles, and their authority', (parser) =>
      caCommands(parser, { withJson: (more) => withJson(more, true), run: handlers.ca }),
    )
    .command('owner', 'Owner keys, and the persons who may order cuts; without the service', (parser) =>
      ownerCommands(parser, handlers.owner),
    );
  return safekeepingCommands(commandLine, handlers)
    .completion('completion', 'Print the completion script for bash or zsh')
    .example(
      '$0 account create acme --admin ann --password-file -',
      'Account; the password is typed or piped in',
    )
    .example('$0 device create acme truck-17 --json', 'Device; its secret and the key that its agent pins')
    .example('$0 start --database /var/lib/fleetward/fleet.db', 'Run; docs at http://127.0.0.1:8080/docs')
    .example('$0 config show --origin --config broker.toml', 'Settings in effect and their sources')
    .epilogue(
      'A setting is taken from its flag, else FLEETWARD_..., else the TOML file, else its default.\n\nExit codes: 0 success, 1 fault in the audit log or database, 64 wrong command line, 65 bad input, 66 not found,\n69 port in use, 70 internal error, 74 storage, 75 try again, 77 refused, 78 wrong configuration.',
    )
    .demandCommand(
      1,
      'Name a command: start, account, admin-token, device, quarantine, audit, retention, config, ca, owner, backup, restore or check',
    )
    .strict()
    .version(version)
    .wrap(columns)
    .exitProcess(false)
    .fail((message, thrown) => {
      throw thrown ?? new AppError('usage', message, { hint: 'Try --help.' });
    });
}
