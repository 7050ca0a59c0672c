#!/usr/bin/env node
// Command line of the agent and its composition root: the one place where ports meet adapters.
import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import yargs, { type Argv } from 'yargs';
import { hideBin } from 'yargs/helpers';
import { createCertificateRequest } from '../src/adapters/certificate-request.ts';
import { createEnrolmentCrypto } from '../src/adapters/enrolment-crypto.ts';
import { createLog } from '../src/adapters/log.ts';
import { openMqttLink } from '../src/adapters/mqtt-link.ts';
import { endSoon, runProgram, untilStopped } from '../src/adapters/program.ts';
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
import { createEnrolmentFiles, findUser, type Owner } from './adapters/enrolment-files.ts';
import { askBroker, parseBrokerAddress } from './adapters/enrolment-http.ts';
import { createHostFacts } from './adapters/host-facts.ts';
import { readNetworkFile } from './adapters/network-file.ts';
import { driverStuckMs } from './adapters/serial-driver.ts';
import { openSerialPort } from './adapters/serial-port.ts';
import { createAgent } from './agent.ts';
import { listBoardProfiles, readBoardProfile } from './boards.ts';
import { listAlarms } from './cli/alarms.ts';
import { reportEnrolled, wishOf, withEnrol } from './cli/enrol.ts';
import { fuelCalibrate } from './cli/fuel-calibrate.ts';
import { describePanicGap } from './cli/panic-gap.ts';
import {
  type AgentFile,
  type AgentSecrets,
  agentFileSchema,
  describeConfig,
  toAgentConfig,
} from './config.ts';
import { createConfigFiles } from './config-store.ts';
import { enrol } from './enrolment.ts';
import { createLogRing } from './log-ring.ts';
import { openOutbox } from './outbox.ts';
import { restartExitCode, type Updater } from './update/performer.ts';
import { openUpdater, withLauncher } from './update-start.ts';

const standardConfig = '/etc/fleetward-agent/agent.toml';

/** @throws AppError `config` when others may read it. */
function readPrivate(path: string): string {
  if ((statSync(path).mode & 0o077) === 0) return readFileSync(path, 'utf8');
  throw new AppError('config', `${path} can be read by others`, { hint: `Run: chmod 600 ${path}` });
}

function readSecret(path: string): string {
  let text: string;
  try {
    text = readPrivate(path).trim();
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    throw new AppError('config', `cannot read broker.secretFile: ${messageOf(thrown)}`, {
      hint: 'Get it with `fleetward-agent enrol`, or put there what `fleetward-broker device secret` printed.',
    });
  }
  if (text.length < 16 || text.length > 200 || /\s/.test(text)) {
    throw new AppError('config', `${path} does not hold a device secret`, {
      hint: 'It is one line, as printed by `fleetward-broker device secret <accountID> <deviceID>`.',
    });
  }
  return text;
}

function readPem(path: string, name: string, read = (from: string) => readFileSync(from, 'utf8')): string {
  try {
    return read(path);
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    throw new AppError('config', `cannot read ${name}: ${messageOf(thrown)}`);
  }
}

/** The contents of the files that the settings name. @throws AppError `config`. */
function readSecrets({ broker }: AgentFile): AgentSecrets {
  const { caFile, certFile, keyFile } = broker;
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new AppError('config', 'broker.certFile and broker.keyFile belong together: give both, or none');
  }
  const client =
    certFile === undefined || keyFile === undefined
      ? {}
      : {
          client: {
            cert: readPem(certFile, 'broker.certFile'),
            key: readPem(keyFile, 'broker.keyFile', readPrivate),
          },
        };
  const ca = caFile === undefined ? {} : { ca: readPem(caFile, 'broker.caFile') };
  return { secret: readSecret(broker.secretFile), ...ca, ...client };
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

/** Resolves when a start through the launcher is wanted; the process then ends with the code that asks for it. */
async function untilRestart(updater: Updater | null): Promise<void> {
  await (updater?.restartWanted ?? new Promise(() => undefined));
  process.exitCode = restartExitCode;
  endSoon();
}

async function start(flags: Flags): Promise<void> {
  const { value: file } = load(flags);
  const recent = createLogRing();
  const log = createLog(file.log.level, 'stdout', recent.add);
  const config = await toAgentConfig(file, { ...readSecrets(file), agentVersion: readVersion() });
  const lock = holdLock(`${file.storage.path}-lock`, `the outbox ${file.storage.path}`);
  const clock = createSystemClock();
  const entropy = createSystemEntropy();
  const updater = openUpdater({ flags, settings: file, running: readVersion(), log });
  const agent = await createAgent(config, {
    clock,
    entropy,
    log,
    openByteLink: openSerialPort,
    driverStuckMs,
    openMqttLink,
    verifier: createVerifier(file.broker.publicKey),
    supervisor: createSupervisor({ log, environment: readEnvironment() }),
    ...networkOf(file.network.stateFile),
    ...(updater === null ? {} : { updater }),
    configSlots: createConfigFiles(dirname(file.storage.path)),
    host: createHostFacts(dirname(file.storage.path)),
    recentLog: recent.text,
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
  await Promise.race([untilStopped(), untilRestart(updater)]);
  await agent.close();
  lock.close();
}

async function check(flags: Flags): Promise<void> {
  const { value } = load(flags);
  const config = await toAgentConfig(value, { ...readSecrets(value), agentVersion: readVersion() });
  createVerifier(value.broker.publicKey);
  const panic = describePanicGap(config.profile);
  const facts = describeConfig(config);
  const lines = [
    `${String(flags['config'])}: good`,
    ...Object.entries(facts).map(([key, text]) => `  ${key}: ${String(text)}`),
  ];
  lines.push(
    ...panic.lines.map((line) => `  ${line}`),
    ...panic.warnings.map((line) => `  WARNING: ${line}`),
  );
  const { gapMs: panicGapMs, warnings } = panic;
  print(flags, { json: { ok: true, ...facts, panicGapMs, warnings }, text: lines.join('\n') });
}

/** Who new files belong to: as root the user that the agent runs as, else whoever runs this. @throws AppError `usage`. */
function ownerOf(flags: Flags): Owner | null {
  if (process.getuid?.() !== 0) return null;
  const name = flags['user'];
  const owner = findUser(typeof name === 'string' ? name : 'fleetward-agent');
  if (owner !== null || typeof name !== 'string') return owner;
  throw new AppError('usage', `there is no user ${name} on this machine`);
}

/** Why the agent would not start with its file; null when it would. */
async function missingIn(flags: Flags): Promise<string | null> {
  try {
    const { value } = load(flags);
    await toAgentConfig(value, { ...readSecrets(value), agentVersion: readVersion() });
    return null;
  } catch (thrown) {
    return messageOf(thrown);
  }
}

async function runEnrol(flags: Flags): Promise<void> {
  const typed = String(flags['code']);
  const code = typed === '-' ? (readFileSync(0, 'utf8').split(/\r?\n/, 1)[0] ?? '') : typed;
  const url = parseBrokerAddress(String(flags['broker']));
  const caFile = flags['ca'];
  const address = typeof caFile === 'string' ? { url, ca: readPem(caFile, '--ca') } : { url };
  const isLocalBroker = /^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
  const wish = wishOf(flags, { code, configFile: resolve(String(flags['config'])), isLocalBroker });
  const entropy = createSystemEntropy();
  const enrolled = await enrol(
    {
      crypto: createEnrolmentCrypto(entropy),
      clock: createSystemClock(),
      entropy,
      files: createEnrolmentFiles(ownerOf(flags)),
      createCertificateRequest,
      ask: (body) => askBroker(address, body),
      onProgress: (line) => void process.stderr.write(`${line}\n`),
    },
    wish,
  );
  print(flags, reportEnrolled(enrolled, await missingIn({ config: enrolled.configFile })));
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
  withLauncher(withConfig(parser))
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
    .command(
      'enrol',
      'Fetch the secret of this unit with a one-time code, and write its configuration',
      (more) => withEnrol(more, standardConfig),
      runEnrol,
    )
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
      '`start --help` lists every setting. A setting is taken from its FLEETWARD_... variable, else the TOML file,\nelse its default.\n\nExit codes: 0 good, 64 wrong command line, 70 a fault of ours, 74 the disk, 78 wrong configuration, 85 a restart\nfor an update (`start` under the launcher only). A port or\na broker that is not there ends nothing: it is tried again.',
    )
    .demandCommand(1, 'Say what to do: start, enrol, config or boards')
    .strict()
    .version(readVersion())
    .wrap(Math.min(110, process.stdout.columns ?? 110))
    .exitProcess(false)
    .fail((message, thrown) => {
      throw thrown ?? new AppError('usage', message, { hint: 'Try --help.' });
    });
}

await runProgram('fleetward-agent', () => createParser().parseAsync());
