// The commands `run` and `scenario`: words and flags in, one run or one look at a scenario out. A run that found a breach, or whose
// thresholds were not met, ends with exit code 3.
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Argv } from 'yargs';
import { openMqttLink } from '../../src/adapters/mqtt-link.ts';
import { untilAsked } from '../../src/adapters/program.ts';
import { createVerifier } from '../../src/adapters/signing.ts';
import { openSqlite } from '../../src/adapters/sqlite.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import { readEnvironment } from '../../src/config.ts';
import { AppError, messageOf } from '../../src/core/errors.ts';
import { readVersion } from '../../src/version.ts';
import { editorSchema } from '../core/scenario.ts';
import type { Scenario } from '../core/scenario-schema.ts';
import { figureNames } from '../core/thresholds.ts';
import type { Target } from '../run/own-broker.ts';
import { formatComparison, formatJson, formatJunit, formatResult, parseResult } from '../run/report.ts';
import { runScenario } from '../run/run.ts';
import { listPresets, type NamedScenario, readScenario } from '../scenario-files.ts';

/** Thresholds failed: neither a failure of the program nor of its usage. */
const thresholdsExitCode = 3;

export function withRun(command: Argv) {
  return command
    .positional('scenario', { type: 'string', demandOption: true, describe: 'a preset, or a TOML file' })
    .option('devices', { type: 'number', describe: 'vehicles instead of those of the scenario' })
    .option('kind', {
      choices: ['agent', 'tracker'] as const,
      describe: 'the real agent, or light trackers for pure load: a scenario without deeds and commands',
    })
    .option('duration', { type: 'number', describe: 'seconds instead of those of the scenario' })
    .option('rate', { type: 'number', describe: 'deeds and commands this many times as often' })
    .option('seed', { type: 'string', describe: 'same seed, same facts' })
    .option('target', {
      type: 'string',
      describe: 'HTTP service of a running broker, http://…; without it one is started',
    })
    .option('mqtt', { type: 'string', describe: 'its MQTT listener, mqtt://… or mqtts://…' })
    .option('account', { type: 'string', describe: 'account in which the devices are created' })
    .option('user', { type: 'string', default: 'admin', describe: 'an administrator of the account' })
    .option('password-file', {
      type: 'string',
      nargs: 1,
      describe: 'file with his password; - reads standard input',
    })
    .option('public-key', { type: 'string', describe: "the broker's public key, which vehicles pin" })
    .option('clean', {
      type: 'boolean',
      default: false,
      describe: 'remove the devices and their events at the end',
    })
    .option('json', { type: 'string', describe: 'write the whole result to this file' })
    .option('junit', { type: 'string', describe: 'write it as JUnit XML to this file' })
    .option('threshold', {
      type: 'string',
      array: true,
      nargs: 1,
      default: [],
      describe: "what must hold, such as 'ingest.p99<250ms'; may be repeated",
    })
    .option('state', {
      type: 'string',
      describe: 'folder of the broker that is started; a temporary one unless given',
    })
    .implies('target', ['mqtt', 'account', 'password-file', 'public-key'])
    .implies('mqtt', 'target')
    .example('$0 run smoke', 'half a minute against a broker of its own')
    .example("$0 run smoke --devices 100 --threshold 'ingest.p99<100ms' --junit smoke.xml", 'in CI')
    .epilogue(
      `Exit codes: 0 passed, ${thresholdsExitCode} a breach of the truth or a threshold that was not met, 64 usage, 75 no broker, 78 a wrong scenario.\nThresholds: ${figureNames.join(' ')}`,
    );
}

type RunFlags = Awaited<ReturnType<ReturnType<typeof withRun>['parseAsync']>>;

async function readPassword(file: string): Promise<string> {
  const text = await readFile(file === '-' ? '/dev/stdin' : file, 'utf8').catch((thrown: unknown) => {
    throw new AppError('usage', `The password cannot be read: ${messageOf(thrown)}`);
  });
  return text.split('\n')[0] ?? '';
}

async function targetOf(flags: RunFlags): Promise<Target | null> {
  const { target, mqtt, account, user } = flags;
  const passwordFile = flags['password-file'];
  const publicKey = flags['public-key'];
  if (target === undefined) return null;
  if (mqtt === undefined || account === undefined || passwordFile === undefined || publicKey === undefined) {
    throw new AppError('usage', '--target needs --mqtt, --account, --password-file and --public-key');
  }
  if (!/^https?:\/\//.test(target))
    throw new AppError('usage', `--target ${target} is not http://… or https://…`);
  if (!/^mqtts?:\/\//.test(mqtt)) throw new AppError('usage', `--mqtt ${mqtt} is not mqtt://… or mqtts://…`);
  const login = { accountID: account, userID: user, password: await readPassword(passwordFile) };
  return { http: target, mqtt, login, publicKey };
}

function faster(scenario: Scenario, rate: number | undefined): Scenario {
  if (rate === undefined) return scenario;
  if (!(rate >= 0 && rate <= 100)) throw new AppError('usage', '--rate takes a number from 0 to 100');
  return { ...scenario, phases: scenario.phases.map((phase) => ({ ...phase, rate: phase.rate * rate })) };
}

async function scenarioOf(flags: RunFlags): Promise<NamedScenario> {
  const { devices, kind, duration: durationS, seed, threshold } = flags;
  const change = {
    fleet: { ...(devices === undefined ? {} : { devices }), ...(kind === undefined ? {} : { kind }) },
    ...(durationS === undefined ? {} : { durationS }),
    ...(seed === undefined ? {} : { seed }),
  };
  const named = await readScenario(flags.scenario, change);
  const thresholds = [...named.scenario.thresholds, ...threshold];
  // Once more, because a threshold of a flag may be wrong too.
  const checked =
    threshold.length === 0 ? named : await readScenario(flags.scenario, { ...change, thresholds });
  return { name: checked.name, scenario: faster(checked.scenario, flags.rate) };
}

/** Resolves at the first signal; a second one ends the process, and with it the broker that it started. */
async function untilAskedTwice(): Promise<void> {
  await untilAsked();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));
}

export async function run(flags: RunFlags): Promise<void> {
  const { name, scenario } = await scenarioOf(flags);
  const clock = createSystemClock();
  const folder = flags.state ?? join(tmpdir(), `fleetward-run-${process.pid}-${Math.floor(clock.utcMs())}`);
  const result = await runScenario(
    {
      name,
      scenario,
      ports: {
        clock,
        entropy: createSystemEntropy(),
        openMqttLink,
        createVerifier,
        openDatabase: (file) => openSqlite({ pageSize: 1024, ...file }),
      },
      target: await targetOf(flags),
      folder,
      environment: readEnvironment(),
      isClean: flags.clean,
      version: readVersion(),
      output: process.stdout,
    },
    untilAskedTwice(),
  );
  process.stdout.write(formatResult(result));
  if (flags.json !== undefined) await writeFile(flags.json, formatJson(result));
  if (flags.junit !== undefined) await writeFile(flags.junit, formatJunit(result));
  if (!result.isPassed) {
    if (flags.target === undefined)
      process.stdout.write(`The broker's log and database are kept in ${folder}\n`);
    process.exitCode = thresholdsExitCode;
  }
}

const withName = (command: Argv) =>
  command.positional('scenario', {
    type: 'string',
    demandOption: true,
    describe: 'a preset, or a TOML file',
  });

async function validate({ scenario: file }: { scenario: string }): Promise<void> {
  const { scenario } = await readScenario(file);
  process.stdout.write(`${file} is good: ${scenario.title}\n`);
}

async function show({ scenario: file }: { scenario: string }): Promise<void> {
  const { scenario } = await readScenario(file);
  process.stdout.write(`${JSON.stringify(scenario, null, 2)}\n`);
}

async function list(): Promise<void> {
  const presets = await listPresets();
  const lines = await Promise.all(
    presets.map(async (name) => {
      const { scenario } = await readScenario(name);
      const { fleet, durationS } = scenario;
      return `${name.padEnd(12)} ${String(fleet.devices).padStart(6)} vehicles ${String(durationS).padStart(6)} s  ${scenario.title}`;
    }),
  );
  process.stdout.write(`${lines.join('\n')}\n`);
}

function schema(): void {
  process.stdout.write(`${JSON.stringify(editorSchema(), null, 2)}\n`);
}

export function withScenario(command: Argv): Argv {
  return command
    .command('list', 'the presets', (more) => more, list)
    .command('show <scenario>', 'a scenario with all its defaults, as JSON', withName, show)
    .command('validate <scenario>', 'whether a scenario is good; names every fault', withName, validate)
    .command('schema', 'JSON Schema of a scenario, for the completion of an editor', (more) => more, schema)
    .demandCommand(1, 'Name a command; --help lists them.');
}

export const withCompare = (command: Argv) =>
  command
    .positional('a', { type: 'string', demandOption: true, describe: 'JSON report of a run' })
    .positional('b', { type: 'string', demandOption: true, describe: 'JSON report of another one' });

export async function compare({ a, b }: { a: string; b: string }): Promise<void> {
  const read = async (file: string) => {
    const text = await readFile(file, 'utf8').catch((thrown: unknown) => {
      throw new AppError('config', `The report cannot be read: ${messageOf(thrown)}`);
    });
    return parseResult(text, file);
  };
  process.stdout.write(formatComparison(await read(a), await read(b)));
}
