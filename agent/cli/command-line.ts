// The command line of the agent as data for yargs: every command with its flags, help and examples. The composition
// root passes in the handlers.
import yargs, { type Argv } from 'yargs';
import { settingsOf } from '../../src/config.ts';
import { AppError } from '../../src/core/errors.ts';
import { messageTextMost } from '../../src/core/wire/wire.ts';
import { agentFileSchema } from '../config.ts';
import { withEnrol } from './enrol.ts';
import { withFuel } from './fuel-command.ts';
import { text, withConfig } from './options.ts';
import { type Flags, standardConfig } from './settings-file.ts';

/** Commands of modules, behind those of every vehicle. */
const moduleCommands: readonly ((parser: Argv) => Argv)[] = [withFuel];

type Run = (flags: Flags) => Promise<void> | void;

/** What each command does. */
export interface Handlers {
  readonly start: Run;
  readonly enrol: Run;
  readonly checkConfig: Run;
  readonly showConfig: Run;
  readonly status: Run;
  readonly listMessages: Run;
  readonly sendMessage: Run;
  readonly serviceCode: Run;
  readonly doctor: Run;
  readonly selftest: Run;
  readonly boards: Run;
  readonly showBoard: Run;
  readonly alarms: Run;
}

const settingsHelp = settingsOf(agentFileSchema)
  .filter(({ key }) => !key.includes('overrides'))
  .map(({ key, words }) => `  ${key}: ${words}`)
  .join('\n');

const withJson = (parser: Argv): Argv =>
  parser.option('json', { type: 'boolean', describe: 'Print JSON for programs' });
const withSocket = (parser: Argv): Argv =>
  withJson(withConfig(parser)).option('socket', text("The agent's local socket; default: as configured"));

/** The options with which the service starts the agent behind its launcher. */
const withLauncher = (parser: Argv): Argv =>
  parser
    .option('releases', {
      type: 'string',
      requiresArg: true,
      describe: 'Folder from which the launcher takes releases; without it none is fetched',
    })
    .option('release-key', {
      type: 'string',
      requiresArg: true,
      implies: 'releases',
      describe: 'Public key (PEM) that releases are signed with; the same as for the launcher',
    })
    .option('release-key-owner', {
      type: 'number',
      default: 0,
      describe: 'User id that must own this file',
    });

const withStart = (parser: Argv): Argv =>
  withLauncher(withConfig(parser))
    .example('$0 start --config agent.toml', 'Run with this file')
    .epilogue(`Settings of the file; each can also be given by its variable:\n${settingsHelp}
  board.overrides: What differs from the profile, in the tables inputs, analogs, relays, polls, units, serial;
  \`false\` takes a signal or relay away. In the file only, as in:
    [board.overrides.inputs]
    ignition = { address = 3 }
    panic = { address = 0, invert = true }
    cabinDoor = false`);

const withStatus = (parser: Argv): Argv =>
  withSocket(parser)
    .option('watch', { type: 'boolean', describe: 'Refresh every two seconds, until Ctrl-C' })
    .epilogue(
      'Exit codes: 0 all works (offline is no fault), 1 something does not work, 69 the agent does not run.',
    );

const withDoctor = (parser: Argv): Argv =>
  withJson(withConfig(parser))
    .positional('part', {
      type: 'string',
      choices: ['bus'],
      describe: 'Check this part only: the vehicle bus, with every sender of every signal',
    })
    .option('relay-test', {
      type: 'string',
      describe:
        'Also switch each relay for a second, after YES was typed; the engine cut-off only when it is named',
    })
    .option('watch', {
      type: 'boolean',
      describe:
        'Instead of the checks: show each change of each input until Ctrl-C, while you work at the wires',
    })
    .conflicts('watch', 'relay-test')
    .example('$0 doctor', 'After the installation, with the agent stopped')
    .example('$0 doctor bus', 'Ignition on: adapter, bit rate, signals with their senders and ages')
    .example('$0 doctor --watch', 'Turn the key, open a door, pull a wire: what the board reads, live')
    .example(
      '$0 doctor --relay-test enginecutoff',
      'Vehicle at rest, key on and off again: also the engine cut-off',
    )
    .epilogue(
      'The doctor needs the ports, so stop the agent first; a running agent is asked for its status instead. Nothing is switched\nwithout --relay-test, and then only what the interlock allows at that moment. The relay test waits for that, shows for what and for how long still, and asks\nevery two minutes whether to go on; Ctrl-C ends it.\n\nExit codes: 0 all good, 1 warnings, 2 faults.',
    );

const withMessages = (parser: Argv, run: Handlers): Argv =>
  parser
    .command('list', 'Show messages to this vehicle', withSocket, run.listMessages)
    .command(
      'send <text>',
      'Send a message to the fleet; stored before the command returns',
      (more) =>
        withSocket(more).positional('text', {
          type: 'string',
          demandOption: true,
          describe: `1 to ${messageTextMost} characters`,
        }),
      run.sendMessage,
    )
    .demandCommand(1, 'Give a subcommand: list or send');

const withBoards = (parser: Argv, run: Handlers): Argv =>
  withJson(parser)
    .command(
      'show <profile>',
      'Print a board profile as TOML, to copy and change',
      (more) =>
        withJson(more).positional('profile', {
          type: 'string',
          demandOption: true,
          describe: 'Name of a shipped profile, or path of your own, which is checked',
        }),
      run.showBoard,
    )
    .example('$0 boards show generic > my-board.toml', 'A template for your own profile');

const withConfigCommands = (parser: Argv, run: Handlers): Argv =>
  parser
    .command(
      'check',
      'Check the file, the secret and the board profile; touches no hardware',
      (more) => withJson(withConfig(more)),
      run.checkConfig,
    )
    .command(
      'show',
      'Print every effective setting',
      (more) =>
        withJson(withConfig(more)).option('origin', {
          type: 'boolean',
          describe: 'Print the origin of each setting',
        }),
      run.showConfig,
    )
    .demandCommand(1, 'Give a subcommand: check or show');

const epilogue = `\`start --help\` lists every setting. A setting is taken from its FLEETWARD_... variable, else the TOML file,
else its default.

Exit codes: 0 good, 64 wrong command line, 69 the agent is not running, 70 internal error, 74 disk error, 77 refused,
78 wrong configuration, 85 a restart for an update (start behind the launcher only); doctor and status have their own. A missing port or broker does not end the agent: it tries again.`;

function withCommands(parser: Argv, run: Handlers): Argv {
  return parser
    .command('start', 'Run the agent until it is stopped (SIGTERM)', withStart, run.start)
    .command(
      'enrol',
      'Fetch the secret of this unit with a one-time code, and write its configuration',
      (more) => withEnrol(more, standardConfig),
      run.enrol,
    )
    .command('config', 'Check or print the configuration', (more) => withConfigCommands(more, run))
    .command(
      'status',
      'Show what works on this vehicle, what does not, and what to do',
      withStatus,
      run.status,
    )
    .command(
      'doctor [part]',
      'Check the installation: ports, board, receiver, vehicle bus, disk, clock, broker',
      withDoctor,
      run.doctor,
    )
    .command('selftest', 'Check the installed program without any hardware', withJson, run.selftest)
    .command('messages', 'List or send messages between this vehicle and its fleet', (more) =>
      withMessages(more, run),
    )
    .command(
      'service-code',
      'Enter a one-time code that restores the engine; asked for without echo, or read from standard input',
      withSocket,
      run.serviceCode,
    )
    .command(
      'boards',
      'List the shipped board profiles with the inputs, analogs and relays of each',
      (more) => withBoards(more, run),
      run.boards,
    )
    .command('alarms', 'List the alarms that the vehicle raises by itself', withJson, run.alarms);
}

/**
 * The parser for these arguments.
 * @param given.version printed by `--version`.
 */
export function createCommandLine(
  words: readonly string[],
  run: Handlers,
  given: { readonly version: string; readonly columns: number },
): Argv {
  return moduleCommands
    .reduce((parser, add) => add(parser), withCommands(yargs(words).scriptName('fleetward-agent'), run))
    .usage(
      '$0 <command>\n\nProtects one vehicle: reads its I/O board and GNSS receiver, stores every event, executes signed commands.',
    )
    .completion('completion', 'Print the completion script for bash or zsh')
    .example('$0 boards', 'List known boards')
    .example('$0 config check --config agent.toml', 'Before the first start; touches no hardware')
    .example('$0 doctor', 'Check everything, with advice for each fault')
    .example('$0 start --config agent.toml', 'Run; logs are JSON lines')
    .epilogue(epilogue)
    .demandCommand(1, 'Give a command; --help lists them')
    .strict()
    .version(given.version)
    .wrap(given.columns)
    .exitProcess(false)
    .fail((message, thrown) => {
      throw thrown ?? new AppError('usage', message, { hint: 'Try --help.' });
    });
}
