#!/usr/bin/env node
// Command line of the agent and its composition root: the one place where ports meet adapters.
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import yargs, { type Argv } from 'yargs';
import { hideBin } from 'yargs/helpers';
import { createLog } from '../src/adapters/log.ts';
import { openMqttLink } from '../src/adapters/mqtt-link.ts';
import { runProgram, untilStopped } from '../src/adapters/program.ts';
import { createVerifier } from '../src/adapters/signing.ts';
import { holdLock, openSqlite } from '../src/adapters/sqlite.ts';
import { createSystemClock, createSystemEntropy } from '../src/adapters/system.ts';
import { createSupervisor } from '../src/adapters/systemd.ts';
import {
  type Config,
  loadConfig,
  readConfigFile,
  readEnvironment,
  settingAt,
  settingsOf,
} from '../src/config.ts';
import { AppError, messageOf } from '../src/core/errors.ts';
import { serviceCodesOfSecret } from '../src/service-codes.ts';
import { readVersion } from '../src/version.ts';
import { readNetworkFile } from './adapters/network-file.ts';
import { openSerialPort } from './adapters/serial-port.ts';
import { createAgent } from './agent.ts';
import { listBoardProfiles, readBoardProfile } from './boards.ts';
import { listAlarms } from './cli/alarms.ts';
import { fuelCalibrate } from './cli/fuel-calibrate.ts';
import { type AgentFile, agentFileSchema, describeConfig, toAgentConfig } from './config.ts';
import { createConfigFiles } from './config-store.ts';
import { worstSampleGapMs } from './core/board-profile.ts';
import { openOutbox } from './outbox.ts';

const standardConfig = '/etc/fleetward-agent/agent.toml';

function readSecret(path: string): string {
  let text: string;
  try {
    if ((statSync(path).mode & 0o077) !== 0) {
      throw new AppError('config', `${path} can be read by others`, { hint: `Run: chmod 600 ${path}` });
    }
    text = readFileSync(path, 'utf8').trim();
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    throw new AppError('config', `cannot read broker.secretFile: ${messageOf(thrown)}`, {
      hint: 'Put there what `fleetward-broker device secret <accountID> <deviceID>` printed.',
    });
  }
  if (text.length < 16 || text.length > 200 || /\s/.test(text)) {
    throw new AppError('config', `${path} does not hold a device secret`, {
      hint: 'It is one line, as printed by `fleetward-broker device secret <accountID> <deviceID>`.',
    });
  }
  return text;
}

function readCa(path: string | undefined): { ca?: string } {
  if (path === undefined) return {};
  try {
    return { ca: readFileSync(path, 'utf8') };
  } catch (thrown) {
    throw new AppError('config', `cannot read broker.caFile: ${messageOf(thrown)}`);
  }
}

const networkOf = (path: string | undefined) =>
  path === undefined ? {} : { network: () => readNetworkFile(path) };

type Flags = Readonly<Record<string, unknown>>;

function load(flags: Flags): Config<AgentFile> {
  const file = readConfigFile(String(flags['config']));
  return loadConfig({ schema: agentFileSchema, file, env: readEnvironment(), flags: null });
}

function print(flags: Flags, output: { readonly json: unknown; readonly text: string }): void {
  console.log(flags['json'] === true ? JSON.stringify(output.json) : output.text);
}

async function start(flags: Flags): Promise<void> {
  const { value: file } = load(flags);
  const log = createLog(file.log.level);
  const config = await toAgentConfig(file, {
    secret: readSecret(file.broker.secretFile),
    ...readCa(file.broker.caFile),
    agentVersion: readVersion(),
  });
  const lock = holdLock(`${file.storage.path}-lock`, `the outbox ${file.storage.path}`);
  const clock = createSystemClock();
  const entropy = createSystemEntropy();
  const agent = await createAgent(config, {
    clock,
    entropy,
    log,
    openByteLink: openSerialPort,
    openMqttLink,
    verifier: createVerifier(file.broker.publicKey),
    supervisor: createSupervisor({ log, environment: readEnvironment() }),
    ...networkOf(file.network.stateFile),
    configSlots: createConfigFiles(dirname(file.storage.path)),
    serviceCodes: serviceCodesOfSecret(config.broker.secret, config),
    openOutbox: (boot, bootMonoMs) =>
      openOutbox({
        path: file.storage.path,
        maxBytes: file.storage.maxMb * 1024 * 1024,
        openDatabase: async (options) => openSqlite({ pageSize: 1024, ...options }),
        boot,
        bootMonoMs,
        clock,
        entropy,
        log,
      }),
  });
  log.info('configuration', describeConfig(config));
  await untilStopped();
  await agent.close();
  lock.close();
}

async function check(flags: Flags): Promise<void> {
  const { value } = load(flags);
  const secret = readSecret(value.broker.secretFile);
  const config = await toAgentConfig(value, {
    secret,
    ...readCa(value.broker.caFile),
    agentVersion: readVersion(),
  });
  createVerifier(value.broker.publicKey);
  const panicGapMs =
    config.profile.inputs.panic === undefined ? null : worstSampleGapMs(config.profile, 'panic');
  const facts = describeConfig(config);
  const lines = [
    `${String(flags['config'])}: good`,
    ...Object.entries(facts).map(([key, text]) => `  ${key}: ${String(text)}`),
  ];
  if (panicGapMs !== null)
    lines.push(`  a panic press of ${Math.ceil(panicGapMs)} ms or longer is always seen`);
  print(flags, { json: { ok: true, ...facts, panicGapMs }, text: lines.join('\n') });
}

function show(flags: Flags): void {
  const { value, origins } = load(flags);
  const lines = Object.entries(origins).map(([key, origin]) => {
    return `${key} = ${JSON.stringify(settingAt(value, key))}${flags['origin'] === true ? `   # ${origin.name}` : ''}`;
  });
  print(flags, { json: { config: value, origins }, text: lines.join('\n') });
}

async function calibrateFuel(flags: Flags): Promise<void> {
  const { value: file } = load(flags);
  const { profile, boardPort } = await toAgentConfig(file, { secret: '', agentVersion: readVersion() });
  const { answers, capacity, drain, litres } = flags;
  await fuelCalibrate({
    profile,
    port: boardPort,
    clock: createSystemClock(),
    openByteLink: openSerialPort,
    plan:
      typeof capacity === 'number'
        ? { capacityL: capacity, mode: drain === true ? 'drain' : 'fill', startL: Number(litres) }
        : null,
    answers: typeof answers === 'string' ? readFileSync(answers, 'utf8') : null,
    progressPath: join(dirname(file.storage.path), 'fuel-calibration.json'),
    input: process.stdin,
    output: process.stdout,
    stopped: untilStopped(),
  });
}

async function boards(flags: Flags): Promise<void> {
  const profiles = await Promise.all((await listBoardProfiles()).map(readBoardProfile));
  const lines = profiles.map((profile) => `${profile.name.padEnd(24)} ${profile.title}`);
  print(flags, { json: profiles, text: lines.join('\n') });
}

const settingsHelp = settingsOf(agentFileSchema)
  .filter(({ key }) => !key.includes('overrides'))
  .map(({ key, words }) => `  ${key}: ${words}`)
  .join('\n');

const withConfig = (parser: Argv): Argv =>
  parser.option('config', {
    type: 'string',
    default: standardConfig,
    describe: 'Configuration file (TOML)',
    requiresArg: true,
  });
const withJson = (parser: Argv): Argv =>
  parser.option('json', { type: 'boolean', describe: 'Print JSON for programs' });
const withStart = (parser: Argv): Argv =>
  withConfig(parser)
    .example('$0 start --config agent.toml', 'Run with this file')
    .epilogue(`Settings of the file; each can also be given by its variable:\n${settingsHelp}
  board.overrides: What differs from the profile, in the tables inputs, analogs, relays, polls, units, serial;
  \`false\` takes a signal or relay away. In the file only, as in:
    [board.overrides.inputs]
    ignition = { address = 3 }
    panic = { address = 0, invert = true }
    cabinDoor = false`);

function createParser(): Argv {
  return yargs(hideBin(process.argv))
    .scriptName('fleetward-agent')
    .usage(
      '$0 <command>\n\nProtects one vehicle: reads its I/O board and GNSS receiver, keeps every event, obeys signed commands.',
    )
    .command('start', 'Run the agent until it is stopped (SIGTERM)', withStart, start)
    .command('config', 'Look at the configuration', (parser) =>
      parser
        .command(
          'check',
          'Check the file, the secret and the board profile; touches no hardware',
          (more) => withJson(withConfig(more)),
          check,
        )
        .command(
          'show',
          'Print every setting',
          (more) =>
            withJson(withConfig(more)).option('origin', {
              type: 'boolean',
              describe: 'Say where each comes from',
            }),
          show,
        )
        .demandCommand(1, 'Say what to do with the configuration: check or show'),
    )
    .command('boards', 'List the board profiles that come with the agent', withJson, boards)
    .command('alarms', 'List the alarms that the vehicle raises by itself', withJson, (flags) =>
      print(flags, listAlarms()),
    )
    .command('fuel', 'The tank', (parser) =>
      parser
        .command(
          'calibrate',
          'Make the table of a tank of any shape: fill or drain it step by step (stop the agent first)',
          (more) =>
            withConfig(more)
              .option('capacity', { type: 'number', describe: 'Litres in the full tank' })
              .option('litres', { type: 'number', default: 0, describe: 'Litres in the tank now' })
              .option('drain', { type: 'boolean', describe: 'Take fuel out step by step instead of filling' })
              .option('answers', {
                type: 'string',
                requiresArg: true,
                describe: 'JSON file with the amounts, for use without a person',
              })
              .example(
                '$0 fuel calibrate --capacity 300',
                'An empty tank of 300 litres; Ctrl-C keeps every point',
              ),
          calibrateFuel,
        )
        .demandCommand(1, 'Say what to do with the tank: calibrate'),
    )
    .example('$0 boards', 'Which boards are known')
    .example('$0 config check --config agent.toml', 'Before the first start; touches no hardware')
    .example('$0 start --config agent.toml', 'Run; what it sees is logged as JSON lines')
    .epilogue(
      '`start --help` lists every setting. A setting is taken from its FLEETWARD_... variable, else the TOML file,\nelse its default.\n\nExit codes: 0 good, 64 wrong command line, 70 a fault of ours, 74 the disk, 78 wrong configuration. A port or\na broker that is not there ends nothing: it is tried again.',
    )
    .demandCommand(1, 'Say what to do: start, config or boards')
    .strict()
    .version(readVersion())
    .wrap(Math.min(110, process.stdout.columns ?? 110))
    .exitProcess(false)
    .fail((message, thrown) => {
      throw thrown ?? new AppError('usage', message, { hint: 'Try --help.' });
    });
}

await runProgram('fleetward-agent', () => createParser().parseAsync());
