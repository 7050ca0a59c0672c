// The command line of the agent as data for yargs: every command with its flags, help and examples. What a command does is given
// by the composition root; nothing is done here.
import yargs, { type Argv } from 'yargs';
import { settingsOf } from '../../src/config.ts';
import { AppError } from '../../src/core/errors.ts';
import { messageTextMost } from '../../src/core/wire.ts';
import { agentFileSchema } from '../config.ts';
import { withLauncher } from '../update/update-start.ts';
import { withEnrol } from './enrol.ts';
import { type Flags, standardConfig } from './settings-file.ts';

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
  readonly calibrateFuel: Run;
}

const settingsHelp = settingsOf(agentFileSchema)
  .filter(({ key }) => !key.includes('overrides'))
  .map(({ key, words }) => `  ${key}: ${words}`)
  .join('\n');

const text = (describe: string) => ({ type: 'string', requiresArg: true, describe }) as const;

const withConfig = (parser: Argv): Argv =>
  parser.option('config', { ...text('Configuration file (TOML)'), default: standardConfig });
const withJson = (parser: Argv): Argv =>
  parser.option('json', { type: 'boolean', describe: 'Print JSON for programs' });
const withSocket = (parser: Argv): Argv =>
  withJson(withConfig(parser)).option('socket', text("The agent's local socket; as configured, when absent"));

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
    .option('watch', { type: 'boolean', describe: 'Show it anew every two seconds, until Ctrl-C' })
    .epilogue(
      'Exit codes: 0 all works (offline is no fault), 1 something does not work, 69 the agent does not run.',
    );

const withDoctor = (parser: Argv): Argv =>
  withJson(withConfig(parser))
    .option('relay-test', {
      type: 'string',
      describe:
        'Also switch the relays for a second each, after YES was typed; the engine cut-off only when it is named',
    })
    .example('$0 doctor', 'After the installation, with the agent stopped')
    .example('$0 doctor --relay-test enginecutoff', 'Key off, vehicle at rest: also the engine cut-off')
    .epilogue(
      'It needs the ports, so stop the agent first; while it runs, it is asked instead. Nothing is switched without --relay-test,\nand then only what the interlock allows at that moment.\n\nExit codes: 0 all good, 1 warnings, 2 faults.',
    );

const withFuelCalibrate = (parser: Argv): Argv =>
  withConfig(parser)
    .option('capacity', { type: 'number', describe: 'Litres in the full tank' })
    .option('litres', { type: 'number', default: 0, describe: 'Litres in the tank now' })
    .option('drain', { type: 'boolean', describe: 'Take fuel out step by step instead of filling' })
    .option('answers', text('JSON file with the amounts, for use without a person'))
    .example('$0 fuel calibrate --capacity 300', 'An empty tank of 300 litres; Ctrl-C keeps every point');

const withMessages = (parser: Argv, run: Handlers): Argv =>
  parser
    .command('list', 'Show what people wrote to this vehicle', withSocket, run.listMessages)
    .command(
      'send <text>',
      'Tell the fleet something; stored before this returns',
      (more) =>
        withSocket(more).positional('text', {
          type: 'string',
          demandOption: true,
          describe: `1 to ${messageTextMost} characters`,
        }),
      run.sendMessage,
    )
    .demandCommand(1, 'Say what to do with messages: list or send');

const withBoards = (parser: Argv, run: Handlers): Argv =>
  withJson(parser)
    .command(
      'show <profile>',
      'Print a board profile as TOML, to copy and change',
      (more) =>
        withJson(more).positional('profile', {
          type: 'string',
          demandOption: true,
          describe: 'Name of a shipped profile, or path of an own one, which is checked',
        }),
      run.showBoard,
    )
    .example('$0 boards show generic > my-board.toml', 'A template for an own profile');

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
      'Print every setting as it holds',
      (more) =>
        withJson(withConfig(more)).option('origin', {
          type: 'boolean',
          describe: 'Say where each comes from',
        }),
      run.showConfig,
    )
    .demandCommand(1, 'Say what to do with the configuration: check or show');

const epilogue = `\`start --help\` lists every setting. A setting is taken from its FLEETWARD_... variable, else the TOML file,
else its default.

Exit codes: 0 good, 64 wrong command line, 69 the agent does not run, 70 a fault of ours, 74 the disk, 77 refused,
78 wrong configuration, 85 a restart for an update (start behind the launcher only); doctor and status have their own. A port or a broker that is not there ends nothing: it is tried again.`;

function withCommands(parser: Argv, run: Handlers): Argv {
  return parser
    .command('start', 'Run the agent until it is stopped (SIGTERM)', withStart, run.start)
    .command(
      'enrol',
      'Fetch the secret of this unit with a one-time code, and write its configuration',
      (more) => withEnrol(more, standardConfig),
      run.enrol,
    )
    .command('config', 'Look at the configuration', (more) => withConfigCommands(more, run))
    .command(
      'status',
      'What works on this vehicle now, what does not, and what to do',
      withStatus,
      run.status,
    )
    .command(
      'doctor',
      'Look for faults of the installation: ports, board, receiver, disk, clock, broker',
      withDoctor,
      run.doctor,
    )
    .command('selftest', 'Check this installation without any hardware', withJson, run.selftest)
    .command('messages', 'Messages between this vehicle and its fleet', (more) => withMessages(more, run))
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
    .command('alarms', 'List the alarms that the vehicle raises by itself', withJson, run.alarms)
    .command('fuel', 'The tank', (more) =>
      more
        .command(
          'calibrate',
          'Make the table of a tank of any shape: fill or drain it step by step (stop the agent first)',
          withFuelCalibrate,
          run.calibrateFuel,
        )
        .demandCommand(1, 'Say what to do with the tank: calibrate'),
    );
}

/**
 * The parser for these words.
 * @param given.version what `--version` prints.
 */
export function createCommandLine(
  words: readonly string[],
  run: Handlers,
  given: { readonly version: string; readonly columns: number },
): Argv {
  return withCommands(yargs(words).scriptName('fleetward-agent'), run)
    .usage(
      '$0 <command>\n\nProtects one vehicle: reads its I/O board and GNSS receiver, keeps every event, obeys signed commands.',
    )
    .completion('completion', 'Print the completion script for bash or zsh')
    .example('$0 boards', 'Which boards are known')
    .example('$0 config check --config agent.toml', 'Before the first start; touches no hardware')
    .example('$0 doctor', 'Everything at once, with words what to do')
    .example('$0 start --config agent.toml', 'Run; what it sees is logged as JSON lines')
    .epilogue(epilogue)
    .demandCommand(1, 'Say what to do: --help lists the commands')
    .strict()
    .version(given.version)
    .wrap(given.columns)
    .exitProcess(false)
    .fail((message, thrown) => {
      throw thrown ?? new AppError('usage', message, { hint: 'Try --help.' });
    });
}
