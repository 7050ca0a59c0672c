// The commands `run`, `scenario` and `compare`. A run with a breach of the truth or an unmet threshold ends with exit code 3.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Argv } from 'yargs';
import { openSqlite } from '../../src/adapters/database/sqlite.ts';
import { openHttpReceiver } from '../../src/adapters/http-receiver.ts';
import { openMqttLink } from '../../src/adapters/mqtt-link.ts';
import { createVerifier } from '../../src/adapters/signing.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import { readVersion } from '../../src/adapters/version.ts';
import { readEnvironment } from '../../src/config.ts';
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { Clock } from '../../src/ports.ts';
import {
  type ChangeLimit,
  compareFigures,
  failedChanges,
  parseChangeLimit,
} from '../core/result/comparison.ts';
import { resultSchema } from '../core/result/result-schema.ts';
import { type StopSignal, signalExitCodes, stopSignals } from '../core/result/stop-signal.ts';
import { outcomeOf } from '../core/result/verdict.ts';
import { editorSchema } from '../core/scenario/scenario.ts';
import type { Scenario } from '../core/scenario/scenario-schema.ts';
import { figureNames } from '../core/scenario/thresholds.ts';
import { formatComparisonHtml } from '../report/comparison-page.ts';
import { type FactLine, happenedLines, type RunWorld, seededLines } from '../run/facts/facts-file.ts';
import { plannedFacts } from '../run/facts/planned-facts.ts';
import { formatComparison, formatResult, parseResult } from '../run/measure/report.ts';
import { isOnlyBelowRamp, isOnlyTooSmall, isWorthKeeping, type RunResult } from '../run/measure/result.ts';
import { repeatCommand } from '../run/measure/setting.ts';
import { keptText, runScenario } from '../run/run.ts';
import { type RunOptions } from '../run/run-context.ts';
import { leftText } from '../run/service/provision.ts';
import type { RunPorts } from '../run/shared/run-ports.ts';
import { unplannedNeeds } from '../run/size-check.ts';
import { serveWorker } from '../run/workers/worker-main.ts';
import { connectionsMost, processesFor } from '../run/workers/workers.ts';
import { listPresets, type NamedScenario, readScenario } from '../scenario-files.ts';
import { readReportParts } from './page-files.ts';
import { assertWritable, writeResults } from './results.ts';
import { assertNumber, scenarioOf } from './scenario-flags.ts';
import { metricsOf, targetOf, withMetrics, withTarget } from './target.ts';

export const standardSocket = './fleetward-run.sock';

/** A breach of the truth, or a threshold that was not met. */
const thresholdsExitCode = 3;
/** No breach, but the first step of a ramp already failed. */
const belowRampExitCode = 4;
/** No breach, but the run observed less than its scenario needs. */
const tooSmallExitCode = 5;
/** No breach, but the service did not let the run look at everything. */
const incompleteExitCode = 6;

/** The flags of every run: its broker, and its result files. */
export function withResult(command: Argv) {
  return withMetrics(withTarget(command))
    .option('processes', {
      type: 'number',
      describe:
        'worker processes that share the fleet; by default one for each core that the fleet needs, without the core of its own broker',
    })
    .option('clean', {
      type: 'boolean',
      defaultDescription: 'with --target',
      describe:
        'delete the devices and their events at the end, also after a failed run; --no-clean keeps them',
    })
    .option('json', { type: 'string', describe: 'write the whole result to this file' })
    .option('report', {
      type: 'string',
      describe: 'write an HTML report with plots, map and every finding to this file',
    })
    .option('junit', { type: 'string', describe: 'write the result as JUnit XML to this file' })
    .option('threshold', {
      type: 'string',
      array: true,
      nargs: 1,
      default: [],
      describe: "a condition to meet, such as 'ingest.p99<250ms'; may be repeated",
    })
    .option('state', {
      type: 'string',
      describe: "folder of the run's own broker; a temporary one unless given",
    });
}

export function withRun(command: Argv) {
  return withResult(command)
    .positional('scenario', { type: 'string', demandOption: true, describe: 'a preset, or a TOML file' })
    .option('devices', { type: 'number', describe: 'number of vehicles, instead of that of the scenario' })
    .option('kind', {
      choices: ['agent', 'tracker'] as const,
      describe:
        'the real agent, or light trackers for load: without actions, commands and hardware faults; the presets faults and theft need agents',
    })
    .option('duration', { type: 'number', describe: 'seconds, instead of the duration of the scenario' })
    .option('rate', { type: 'number', describe: 'this many times the actions and commands of the scenario' })
    .option('seed', { type: 'string', describe: 'same seed, same facts' })
    .option('facts', {
      type: 'string',
      describe: 'write what the seed plans and what happened to this file, one JSON object a line',
    })
    .option('ctl', {
      type: 'string',
      describe: `Unix socket through which \`ctl\` changes the run, such as ${standardSocket}`,
    })
    .example('$0 run smoke', 'a minute with its own broker')
    .example("$0 run smoke --devices 100 --threshold 'ingest.p99<100ms' --junit smoke.xml", 'in CI')
    .epilogue(
      `Exit codes: 0 passed, ${thresholdsExitCode} a breach of the truth or a threshold that was not met, ${belowRampExitCode} a ramp whose first step already failed, ${tooSmallExitCode} too small to prove anything, ${incompleteExitCode} something could not be looked at, 64 usage, 74 a result that could not be written, 75 no broker, or a part of the run died, 77 a login or right that is missing, 78 a wrong scenario, 130 interrupted by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.\nThresholds: ${figureNames.join(' ')}`,
    );
}

type RunFlags = Awaited<ReturnType<ReturnType<typeof withRun>['parseAsync']>>;

function processesOf({ processes: asked, target }: ResultFlags, { fleet }: Scenario): number {
  assertNumber('processes', asked, { low: 1, high: 64, isWhole: true });
  const machine = { cores: availableParallelism(), hasBroker: target === undefined };
  const least = Math.ceil(fleet.devices / connectionsMost);
  const processes = Math.min(asked ?? Math.max(least, processesFor(fleet, machine)), fleet.devices);
  if (fleet.devices / processes <= connectionsMost) return processes;
  throw new AppError('usage', `${fleet.devices} connections are too many for ${processes} processes`, {
    hint: `A process may have ${connectionsMost}: give more with --processes.`,
  });
}

/** Resolves at the first signal; a second one ends this process and with it the broker that it started. */
function untilSignal(): Promise<StopSignal> {
  return new Promise((resolve) => {
    let isAsked = false;
    for (const signal of stopSignals) {
      process.on(signal, () => {
        if (isAsked) process.exit(signalExitCodes[signal]);
        isAsked = true;
        resolve(signal);
      });
    }
  });
}

const program = fileURLToPath(new URL('../main.js', import.meta.url));

function createPorts(clock: Clock): RunPorts {
  return {
    clock,
    entropy: createSystemEntropy(),
    openMqttLink,
    createVerifier,
    openDatabase: openSqlite,
    openHttpReceiver,
  };
}

/** The inside of a worker process: a run starts it. */
export const worker = (): Promise<void> => serveWorker(createPorts(createSystemClock()));

type ResultFlags = Awaited<ReturnType<ReturnType<typeof withResult>['parseAsync']>> & {
  readonly facts?: string | undefined;
};

/** The exit code of a run that has not passed. */
function exitCodeOf(result: RunResult): number {
  if (result.interruptedBy !== null) return signalExitCodes[result.interruptedBy];
  if (outcomeOf(result) === 'incomplete') return incompleteExitCode;
  if (isOnlyBelowRamp(result)) return belowRampExitCode;
  return isOnlyTooSmall(result) ? tooSmallExitCode : thresholdsExitCode;
}

/** Refuses a scenario that does not plan what it needs to observe. @returns whether it may run. */
function isLargeEnough({ name, scenario, scripts }: NamedScenario & Pick<RunOptions, 'scripts'>): boolean {
  const lacking = scripts === null ? unplannedNeeds(scenario) : [];
  if (lacking.length === 0) return true;
  process.stderr.write(
    `fleetward-simulator: ${name} is too small to prove anything: ${lacking.join('; ')}\n  Use more --devices or a longer --duration, or a scenario with less in [needs].\n`,
  );
  process.exitCode = tooSmallExitCode;
  return false;
}

/** The lines of the facts file of a run. */
function* factsOf(
  { name, scenario }: NamedScenario,
  planned: readonly FactLine[],
  { world, result }: { readonly world: RunWorld | null; readonly result: RunResult },
): Generator<string> {
  yield* seededLines(name, scenario, planned);
  if (world !== null) yield* happenedLines(world, { ...result, outcome: outcomeOf(result) });
}

/** @returns null for a run that a signal ended before it could have a result: the reason is printed. */
async function runUntilSignal(options: RunOptions): Promise<RunResult | null> {
  const stopped: { by: StopSignal | null } = { by: null };
  let left: readonly string[] = [];
  const onDevices = (ids: readonly string[]): void => {
    left = ids;
  };
  const nameLeft = (): void => {
    if (existsSync(options.folder)) process.stderr.write(`Files of the run are left in ${options.folder}\n`);
    if (options.target !== null && left.length > 0) process.stderr.write(leftText(options.target.http, left));
  };
  const stop = async (): Promise<StopSignal> => (stopped.by = await untilSignal());
  // The process ends before the run does: a second signal, or nothing reads its output.
  process.once('exit', nameLeft);
  try {
    return await runScenario({ ...options, onDevices }, stop());
  } catch (thrown) {
    if (stopped.by === null) throw thrown;
    process.stderr.write(`fleetward-simulator: ${messageOf(thrown)}\n`);
    process.exitCode = signalExitCodes[stopped.by];
    return null;
  } finally {
    process.off('exit', nameLeft);
  }
}

/** Runs a scenario, prints its result and writes the result files. */
export async function runAndReport(
  flags: ResultFlags,
  what: NamedScenario & Pick<RunOptions, 'scripts' | 'controlPath'>,
): Promise<void> {
  const processes = processesOf(flags, what.scenario);
  if (!isLargeEnough(what)) return;
  await assertWritable(flags);
  const clock = createSystemClock();
  const planned = flags.facts === undefined ? [] : await plannedFacts(what.scenario);
  let world: RunWorld | null = null;
  const folder = flags.state ?? join(tmpdir(), `fleetward-run-${process.pid}-${Math.floor(clock.utcMs())}`);
  const result = await runUntilSignal({
    ...what,
    ports: createPorts(clock),
    target: await targetOf(flags),
    folder,
    environment: readEnvironment(),
    isClean: flags.clean ?? flags.target !== undefined,
    processes,
    program,
    version: readVersion(),
    output: process.stdout,
    command: repeatCommand(process.argv.slice(2), what.scripts === null ? what.scenario.seed : null),
    onWorld: (left) => {
      world = left;
    },
    ...(await metricsOf(flags)),
  });
  if (result === null) return;
  process.stdout.write(formatResult(result));
  if (!result.isPassed) {
    if (flags.target === undefined && isWorthKeeping(result)) process.stdout.write(keptText(folder));
    process.exitCode = exitCodeOf(result);
  }
  const unwritten = await writeResults(flags, result, factsOf(what, planned, { world, result }));
  if (unwritten.length === 0) return;
  // The exit code of a failed run takes precedence over that of an unwritten file.
  if (result.isPassed) throw new AppError('storage', unwritten.join('; '));
  process.stdout.write(unwritten.map((line) => `${line}\n`).join(''));
}

export async function run(flags: RunFlags): Promise<void> {
  const controlPath = flags.ctl === undefined ? null : flags.ctl || standardSocket;
  const named = await scenarioOf(flags, (line) => void process.stdout.write(`${line}\n`));
  await runAndReport(flags, { ...named, controlPath, scripts: null });
}

const withName = (command: Argv) =>
  command.positional('scenario', {
    type: 'string',
    demandOption: true,
    describe: 'a preset, or a TOML file',
  });

async function validate({ scenario: file }: { scenario: string }): Promise<void> {
  const { scenario } = await readScenario(file);
  process.stdout.write(`${file} is valid: ${scenario.title}\n`);
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
    .command('list', 'lists the presets', (more) => more, list)
    .command('show <scenario>', 'prints a scenario with all its defaults as JSON', withName, show)
    .command('validate <scenario>', 'checks a scenario and names every fault', withName, validate)
    .command(
      'schema [of]',
      'prints the JSON Schema of a scenario, for editors, or of the JSON result of a run',
      withSchema,
      schema,
    )
    .demandCommand(1, 'Name a command; --help lists them.');
}

export const withCompare = (command: Argv) =>
  command
    .positional('a', { type: 'string', demandOption: true, describe: 'JSON result of a run' })
    .positional('b', { type: 'string', demandOption: true, describe: 'JSON result of another run' })
    .option('report', { type: 'string', describe: 'write an HTML file with the plots of both' })
    .option('fail-on', {
      type: 'string',
      array: true,
      nargs: 1,
      default: [],
      describe: "a change from a to b that fails the comparison, such as 'ingest.p99>1.2x'; may be repeated",
    })
    .example("$0 compare before.json after.json --fail-on 'ingest.p99>1.2x'", 'in CI')
    .epilogue(`Exit codes: 0, ${thresholdsExitCode} a change of --fail-on, 64 usage, 78 no result of a run.`);

interface CompareFlags {
  readonly a: string;
  readonly b: string;
  readonly report?: string | undefined;
  readonly failOn: readonly string[];
}

/** @throws AppError `usage` for a text that is no limit. */
function limitsOf(texts: readonly string[]): readonly ChangeLimit[] {
  return texts.map((text) => {
    const parsed = parseChangeLimit(text);
    if (parsed.kind === 'ok') return parsed.limit;
    throw new AppError('usage', `--fail-on: ${parsed.message}`);
  });
}

export async function compare(flags: CompareFlags): Promise<void> {
  const limits = limitsOf(flags.failOn);
  const read = async (file: string) => {
    const text = await readFile(file, 'utf8').catch((thrown: unknown) => {
      throw new AppError('config', `Cannot read the JSON result: ${messageOf(thrown)}`, {
        hint: 'Give the file that a run wrote with --json.',
      });
    });
    return parseResult(text, file);
  };
  const [a, b] = [await read(flags.a), await read(flags.b)];
  process.stdout.write(formatComparison(a, b));
  const failed = failedChanges(limits, compareFigures(a.figures, b.figures));
  for (const { limit, ratio } of failed) {
    const is = ratio === null ? 'not measured in both runs' : `x${ratio.toFixed(2)}`;
    process.stdout.write(`FAILED  ${limit.text}: ${is}\n`);
  }
  if (failed.length > 0) process.exitCode = thresholdsExitCode;
  if (flags.report === undefined) return;
  await writeFile(flags.report, formatComparisonHtml(a, b, readReportParts())).catch((cause: unknown) => {
    throw new AppError('storage', `--report ${flags.report} was not written: ${messageOf(cause)}`, { cause });
  });
}
