// The commands `run` and `scenario`: words and flags in, one run or one look at a scenario out. A run that found a breach, or whose
// thresholds were not met, ends with exit code 3.
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Argv } from 'yargs';
import { openMqttLink } from '../../src/adapters/mqtt-link.ts';
import { untilAsked } from '../../src/adapters/program.ts';
import { createVerifier } from '../../src/adapters/signing.ts';
import { openSqlite } from '../../src/adapters/sqlite.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import { readEnvironment } from '../../src/config.ts';
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { Clock } from '../../src/ports.ts';
import { readVersion } from '../../src/version.ts';
import { countOf } from '../core/count-words.ts';
import { resultSchema } from '../core/result-schema.ts';
import { editorSchema } from '../core/scenario.ts';
import type { Scenario } from '../core/scenario-schema.ts';
import { figureNames } from '../core/thresholds.ts';
import { formatComparisonHtml } from '../report/comparison-page.ts';
import type { RunOptions } from '../run/drive.ts';
import { servePart } from '../run/part-process.ts';
import { connectionsMost, processesFor } from '../run/parts.ts';
import type { RunPorts } from '../run/ports.ts';
import { formatComparison, formatResult, parseResult } from '../run/report.ts';
import { isOnlyBelowRamp } from '../run/result.ts';
import { runScenario } from '../run/run.ts';
import { repeatCommand } from '../run/setting.ts';
import { listPresets, type NamedScenario, readScenario } from '../scenario-files.ts';
import { assertWritable, writeResults } from './results.ts';
import { metricsOf, targetOf, withMetrics, withTarget } from './target.ts';

export const standardSocket = './fleetward-run.sock';

/** Thresholds failed: neither a failure of the program nor of its usage. */
const thresholdsExitCode = 3;
/** The truth held, but a ramp was too steep to find anything: its very first step was bad already. */
const belowRampExitCode = 4;

/** What every run has, whatever it does: where it goes, and what becomes of its result. */
export function withResult(command: Argv) {
  return withMetrics(withTarget(command))
    .option('processes', {
      type: 'number',
      describe: 'processes that share the fleet; as many as there are cores unless the fleet is small',
    })
    .option('clean', {
      type: 'boolean',
      default: false,
      describe: 'remove the devices and their events at the end',
    })
    .option('json', { type: 'string', describe: 'write the whole result to this file' })
    .option('report', {
      type: 'string',
      describe: 'write one HTML file with plots, map and every finding, for people',
    })
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
    });
}

export function withRun(command: Argv) {
  return withResult(command)
    .positional('scenario', { type: 'string', demandOption: true, describe: 'a preset, or a TOML file' })
    .option('devices', { type: 'number', describe: 'vehicles instead of those of the scenario' })
    .option('kind', {
      choices: ['agent', 'tracker'] as const,
      describe: 'the real agent, or light trackers for pure load: a scenario without deeds and commands',
    })
    .option('duration', { type: 'number', describe: 'seconds instead of those of the scenario' })
    .option('rate', { type: 'number', describe: 'deeds and commands this many times as often' })
    .option('seed', { type: 'string', describe: 'same seed, same facts' })
    .option('ctl', {
      type: 'string',
      describe: `Unix socket at which \`ctl\` may change the run, such as ${standardSocket}`,
    })
    .example('$0 run smoke', 'half a minute against a broker of its own')
    .example("$0 run smoke --devices 100 --threshold 'ingest.p99<100ms' --junit smoke.xml", 'in CI')
    .epilogue(
      `Exit codes: 0 passed, ${thresholdsExitCode} a breach of the truth or a threshold that was not met, ${belowRampExitCode} a ramp whose first step was bad already, 64 usage, 74 a result that could not be written, 75 no broker, 78 a wrong scenario, 130 broken off.\nThresholds: ${figureNames.join(' ')}`,
    );
}

type RunFlags = Awaited<ReturnType<ReturnType<typeof withRun>['parseAsync']>>;

/** Of a flag that was given once. @throws AppError `usage`. */
export function assertNumber(
  flag: string,
  value: unknown,
  limits: { low: number; high: number; isWhole: boolean },
) {
  if (value === undefined) return;
  const { low, high, isWhole } = limits;
  const isNumber = typeof value === 'number' && (isWhole ? Number.isInteger(value) : Number.isFinite(value));
  if (isNumber && value >= low && value <= high) return;
  throw new AppError('usage', `--${flag} takes one ${isWhole ? 'whole ' : ''}number from ${low} to ${high}`);
}

function processesOf(asked: number | undefined, { fleet }: Scenario): number {
  assertNumber('processes', asked, { low: 1, high: 64, isWhole: true });
  const processes = Math.min(asked ?? processesFor(fleet, availableParallelism()), fleet.devices);
  if (fleet.devices / processes <= connectionsMost) return processes;
  throw new AppError('usage', `${fleet.devices} connections are too many for ${processes} processes`, {
    hint: `A process may have ${connectionsMost}: give more with --processes.`,
  });
}

function faster(scenario: Scenario, rate: number | undefined): Scenario {
  if (rate === undefined) return scenario;
  return { ...scenario, phases: scenario.phases.map((phase) => ({ ...phase, rate: phase.rate * rate })) };
}

/** The phases and faults that fit into another duration; what is left out is said. */
async function shortened(name: string, durationS: number) {
  const { phases, faults } = (await readScenario(name)).scenario;
  const kept = {
    phases: phases.filter(({ atS }) => atS < durationS),
    faults: faults.filter(({ atS, forS }) => atS + forS <= durationS && atS < durationS),
  };
  const left = faults.length - kept.faults.length;
  if (left > 0)
    process.stdout.write(
      `Left out, because ${durationS} s are too short: ${countOf(left, 'fault')} of ${name}\n`,
    );
  return kept;
}

async function scenarioOf(flags: RunFlags): Promise<NamedScenario> {
  const { devices, kind, duration: durationS, seed, threshold } = flags;
  assertNumber('devices', devices, { low: 1, high: 200_000, isWhole: true });
  assertNumber('duration', durationS, { low: 5, high: 604_800, isWhole: false });
  assertNumber('rate', flags.rate, { low: 0, high: 100, isWhole: false });
  if (seed !== undefined && typeof seed !== 'string') throw new AppError('usage', '--seed is given once');
  const change = {
    ...(durationS === undefined ? {} : await shortened(flags.scenario, durationS)),
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

const program = fileURLToPath(new URL('../main.js', import.meta.url));

const createPorts = (clock: Clock): RunPorts => ({
  clock,
  entropy: createSystemEntropy(),
  openMqttLink,
  createVerifier,
  openDatabase: (file) => openSqlite({ pageSize: 1024, ...file }),
});

/** A process of a run: started by one, never by people. */
export const part = (): Promise<void> => servePart(createPorts(createSystemClock()));

type ResultFlags = Awaited<ReturnType<ReturnType<typeof withResult>['parseAsync']>>;

/** Runs it and writes what was found where the flags say. */
export async function perform(
  flags: ResultFlags,
  what: NamedScenario & Pick<RunOptions, 'scripts' | 'controlPath'>,
): Promise<void> {
  const processes = processesOf(flags.processes, what.scenario);
  await assertWritable(flags);
  const clock = createSystemClock();
  const folder = flags.state ?? join(tmpdir(), `fleetward-run-${process.pid}-${Math.floor(clock.utcMs())}`);
  const result = await runScenario(
    {
      ...what,
      ports: createPorts(clock),
      target: await targetOf(flags),
      folder,
      environment: readEnvironment(),
      isClean: flags.clean,
      processes,
      program,
      version: readVersion(),
      output: process.stdout,
      command: repeatCommand(process.argv.slice(2), what.scripts === null ? what.scenario.seed : null),
      ...(await metricsOf(flags)),
    },
    untilAskedTwice(),
  );
  process.stdout.write(formatResult(result));
  if (!result.isPassed) {
    if (flags.target === undefined)
      process.stdout.write(`The broker's log and database are kept in ${folder}\n`);
    process.exitCode = isOnlyBelowRamp(result) ? belowRampExitCode : thresholdsExitCode;
  }
  const unwritten = await writeResults(flags, result);
  if (unwritten.length === 0) return;
  // That the run did not hold weighs more than that its file is not there.
  if (result.isPassed) throw new AppError('storage', unwritten.join('; '));
  process.stdout.write(unwritten.map((words) => `${words}\n`).join(''));
}

export async function run(flags: RunFlags): Promise<void> {
  const controlPath = flags.ctl === undefined ? null : flags.ctl || standardSocket;
  await perform(flags, { ...(await scenarioOf(flags)), controlPath, scripts: null });
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

const withSchema = (command: Argv) =>
  command.positional('of', { choices: ['scenario', 'result'] as const, default: 'scenario' as const });

function schema({ of }: { of: 'scenario' | 'result' }): void {
  const shown = of === 'result' ? resultSchema : editorSchema();
  process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
}

export function withScenario(command: Argv): Argv {
  return command
    .command('list', 'the presets', (more) => more, list)
    .command('show <scenario>', 'a scenario with all its defaults, as JSON', withName, show)
    .command('validate <scenario>', 'whether a scenario is good; names every fault', withName, validate)
    .command(
      'schema [of]',
      'JSON Schema of a scenario, for the completion of an editor, or of the JSON that a run writes',
      withSchema,
      schema,
    )
    .demandCommand(1, 'Name a command; --help lists them.');
}

export const withCompare = (command: Argv) =>
  command
    .positional('a', { type: 'string', demandOption: true, describe: 'JSON report of a run' })
    .positional('b', { type: 'string', demandOption: true, describe: 'JSON report of another one' })
    .option('report', { type: 'string', describe: 'write one HTML file with both, plot over plot' });

export async function compare(flags: { a: string; b: string; report?: string | undefined }): Promise<void> {
  const read = async (file: string) => {
    const text = await readFile(file, 'utf8').catch((thrown: unknown) => {
      throw new AppError('config', `The report cannot be read: ${messageOf(thrown)}`);
    });
    return parseResult(text, file);
  };
  const [a, b] = [await read(flags.a), await read(flags.b)];
  process.stdout.write(formatComparison(a, b));
  if (flags.report === undefined) return;
  await writeFile(flags.report, formatComparisonHtml(a, b)).catch((cause: unknown) => {
    throw new AppError('storage', `--report ${flags.report} is not whole: ${messageOf(cause)}`, { cause });
  });
}
