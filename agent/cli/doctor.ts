// `fleetward-agent doctor`: the checks for this machine, their order, and their output. It never shares ports with a running
// agent, but reads that agent's status.
import { existsSync } from 'node:fs';
import { readVersion } from '../../src/adapters/version.ts';
import { AppError } from '../../src/core/errors.ts';
import type { SerialSettings } from '../../src/ports.ts';
import { readHardwareID } from '../adapters/hardware-id.ts';
import { listBoardProfiles, readBoardProfile } from '../boards.ts';
import { type AgentConfig, type AgentFile, buildUtcMs, toAgentConfig } from '../config.ts';
import type { AgentFacts } from '../core/status/agent-facts.ts';
import { statusLines } from '../core/status/status-text.ts';
import { boardChecks } from '../doctor/board.ts';
import { brokerChecks } from '../doctor/broker.ts';
import {
  type Check,
  type CheckResult,
  exitCodeOf,
  type Finding,
  faultOf,
  runChecks,
  skipped,
} from '../doctor/check.ts';
import { clockCheck } from '../doctor/clock.ts';
import { configurationCheck, portCheck, storageCheck } from '../doctor/file-checks.ts';
import { gnssCheck } from '../doctor/gnss.ts';
import type { DoctorPorts } from '../doctor/ports.ts';
import { relayTestCheck } from '../doctor/relay-test.ts';
import { createSightings, type Sightings } from '../doctor/sightings.ts';
import { changeJson, changeLine, watchInputs } from '../doctor/watch.ts';
import { witnessCheck } from '../doctor/witnesses.ts';
import { agentModules } from '../modules.ts';
import { readRemote } from './config.ts';
import { type Flags, loadSettings, readCertificates, readSecret } from './settings-file.ts';

export interface DoctorIo {
  readonly ports: DoctorPorts;
  /**
   * Status of the running agent; null when none runs.
   * @throws AppError when one runs and refuses access.
   */
  askAgent(socket: string): Promise<AgentFacts | null>;
  /** Keeps an agent from starting meanwhile. @throws AppError `config` when one runs already. */
  holdSqlite(path: string, what: string): { close(): void };
  ask(question: string): Promise<string>;
  /** Results on standard output, the rest on the error output. */
  print(text: string): void;
  say(text: string): void;
  readonly stopped: Promise<void>;
}

interface Settings {
  readonly file: AgentFile | null;
  /** Without a secret too: the hardware can be checked before the vehicle is enrolled. */
  readonly config: AgentConfig | null;
  readonly problem: unknown;
}

async function readSettings(flags: Flags): Promise<Settings> {
  let file: AgentFile;
  try {
    file = loadSettings(flags).value;
  } catch (thrown) {
    return { file: null, config: null, problem: thrown };
  }
  let problem: unknown = null;
  let secret = '';
  let certificates: ReturnType<typeof readCertificates> = {};
  try {
    secret = readSecret(file.broker.secretFile);
    certificates = readCertificates(file);
  } catch (thrown) {
    problem = thrown;
  }
  try {
    const given = { secret, ...certificates, agentVersion: readVersion(), hardwareID: readHardwareID() };
    const config = await toAgentConfig(file, given);
    return { file, config, problem };
  } catch (thrown) {
    return { file, config: null, problem: thrown };
  }
}

const missing = (id: string, title: string, why: string): Check => ({
  id,
  title,
  mostS: 5,
  run: async () => [skipped(why)],
});

/** The status of a running agent, as results of this command. */
function runningCheck(facts: AgentFacts): Check {
  return {
    id: 'agent',
    title: 'The running agent',
    mostS: 5,
    run: async () =>
      statusLines(facts).map(({ level, name, words, todo }): Finding => {
        const seen = `${name}: ${words}`;
        if (level === 'fault') return { verdict: 'fault', seen, todo };
        return { verdict: level === 'note' && todo !== '' ? 'warning' : 'ok', seen, todo };
      }),
  };
}

interface Plan {
  readonly flags: Flags;
  readonly io: DoctorIo;
  readonly settings: Settings;
  readonly sightings: Sightings;
  isStopped(): boolean;
}

/** Of the first module that refuses it. */
const relayTestRefusal = (config: AgentConfig): string | null =>
  agentModules
    .map(({ refusesRelayTest }) => refusesRelayTest?.(config) ?? null)
    .find((one) => one !== null) ?? null;

async function hardwareChecks(plan: Plan, file: AgentFile, config: AgentConfig): Promise<readonly Check[]> {
  const { flags, io, sightings, isStopped } = plan;
  const { ports } = io;
  const shipped = await Promise.all((await listBoardProfiles()).map(readBoardProfile));
  const relayTest = flags['relay-test'];
  const board = boardChecks({ config, shipped, ports, isStopped });
  return [
    portCheck({ table: 'board', title: 'Port of the I/O board', path: file.board.port }, ports),
    ...board,
    portCheck({ table: 'gnss', title: 'Port of the GNSS receiver', path: file.gnss.port }, ports),
    gnssCheck({ config, ports, sightings, isStopped }),
    ...(await moduleChecks(plan, config)),
    ...(relayTest === undefined
      ? []
      : [
          relayTestCheck({
            config,
            ports,
            withEngine: relayTest === 'enginecutoff',
            refusal: relayTestRefusal(config),
            ask: io.ask,
            say: io.say,
            isStopped,
          }),
        ]),
  ];
}

/** The checks of the modules that are configured. @param part of one of them alone; undefined: of all. */
async function moduleChecks(
  { io, isStopped }: Plan,
  config: AgentConfig,
  part?: string,
): Promise<readonly Check[]> {
  const { ports, say } = io;
  const checks: Check[] = [];
  for (const { table, portTitle: title = '', part: name, check } of agentModules) {
    const own = table === undefined ? undefined : config[table];
    if (table === undefined || own === undefined || (part !== undefined && name !== part)) continue;
    const { path } = (own as { readonly port: SerialSettings }).port;
    checks.push(portCheck({ table, title, path }, ports));
    if (check !== undefined)
      checks.push(await check(own, { ports, say, isStopped, settings: config.settings }));
  }
  return checks;
}

/** `doctor PART`: of a running agent what it shows, else the check. @throws AppError `config` where that part is not configured. */
async function partOnly(plan: Plan, part: string, facts: AgentFacts | null): Promise<readonly Check[]> {
  const { config, problem } = plan.settings;
  if (config === null) throw problem;
  const checks = await moduleChecks(plan, config, part);
  const [own] = checks.slice(-1);
  if (own === undefined)
    throw new AppError('config', `No vehicle ${part} is configured`, {
      hint: `Set ${part}.port in agent.toml.`,
    });
  if (facts === null) return checks;
  const findings = agentModules.find((module) => module.part === part)?.findings?.(facts.vehicle) ?? null;
  return findings === null
    ? [missing(own.id, own.title, 'the agent has not read it yet')]
    : [{ ...own, mostS: 5, run: () => findings }];
}

async function brokerPart(
  { io, settings, sightings }: Plan,
  file: AgentFile,
  isRunning: boolean,
): Promise<readonly Check[]> {
  const { config } = settings;
  if (config === null) return [];
  try {
    const context = {
      config,
      publicKey: file.broker.publicKey,
      remote: await readRemote(file),
      ports: io.ports,
      sightings,
    };
    const checks = brokerChecks(context);
    const steps = checks.filter(({ id }) => id !== 'broker-session');
    if (isRunning)
      return [
        ...steps,
        missing('broker-session', 'Session with the broker', 'the agent runs and has it; see above'),
      ];
    return config.broker.secret === ''
      ? [...steps, missing('broker-session', 'Session with the broker', 'there is no secret to connect with')]
      : checks;
  } catch (thrown) {
    return [{ id: 'broker-name', title: 'Name of the broker', mostS: 5, run: async () => [faultOf(thrown)] }];
  }
}

async function checksFor(plan: Plan, facts: AgentFacts | null): Promise<readonly Check[]> {
  const { flags, io, settings, sightings } = plan;
  const part = flags['part'];
  if (typeof part === 'string') return partOnly(plan, part, facts);
  const { file, config, problem } = settings;
  const { ports } = io;
  const first = configurationCheck({ path: String(flags['config']), problem, file, ports });
  const clock = clockCheck(buildUtcMs, sightings, ports);
  if (file === null) return [first, clock];
  const isRunning = facts !== null;
  if (isRunning && flags['relay-test'] !== undefined)
    throw new AppError('usage', 'The relay test needs the ports, and the agent runs', {
      hint: 'Stop it first: systemctl stop fleetward-agent.',
    });
  const hardware = isRunning || config === null ? [] : await hardwareChecks(plan, file, config);
  return [
    first,
    ...(facts === null ? [] : [runningCheck(facts)]),
    ...hardware,
    ...(isRunning ? [] : [storageCheck(file, ports)]),
    ...(await brokerPart(plan, file, isRunning)),
    // After receiver and broker, by whose times and sentences they judge.
    clock,
    ...(isRunning || config === null ? [] : [witnessCheck(config, file.storage.path, { ports, sightings })]),
  ];
}

const marks: Readonly<Record<CheckResult['verdict'], string>> = {
  ok: 'ok     ',
  warning: 'WARNING',
  fault: 'FAULT  ',
  skipped: 'skipped',
};

function formatResult({ verdict, title, seen, todo }: CheckResult): string {
  return `${marks[verdict]} ${title}: ${seen}${todo === '' ? '' : `\n          ${todo}`}`;
}

/** Keeps the outbox's lock where there is one: as root a new lock file would be in the way of the agent's user. */
function keepAway(file: AgentFile | null, io: DoctorIo): { close(): void } {
  const none = { close: (): void => undefined };
  if (file === null) return none;
  const { path } = file.storage;
  return existsSync(`${path}-lock`) ? io.holdSqlite(path, 'the vehicle (its outbox is locked)') : none;
}

/** Shows each change of each input until it is stopped. */
async function watch({ flags, io, settings, isStopped }: Plan, isRunning: boolean): Promise<0> {
  const { config, problem } = settings;
  if (isRunning)
    throw new AppError('usage', 'Watching the inputs needs the port of the board, and the agent runs', {
      hint: 'Stop it first: systemctl stop fleetward-agent.',
    });
  if (config === null) throw problem;
  io.say('Each change of each input is shown. Ctrl-C ends it.');
  const line = flags['json'] === true ? changeJson : changeLine;
  await watchInputs({
    config,
    ports: io.ports,
    onChange: (sight, atMs) => io.print(line(sight, atMs)),
    isStopped,
  });
  return 0;
}

/**
 * Runs all checks; gives 0 when all is good, 1 with warnings, 2 with faults.
 * @throws AppError `usage`, `config` when an agent runs that cannot be asked.
 */
export async function runDoctor(flags: Flags, io: DoctorIo): Promise<0 | 1 | 2> {
  const relayTest = flags['relay-test'];
  if (relayTest !== undefined && relayTest !== '' && relayTest !== 'enginecutoff')
    throw new AppError('usage', `--relay-test ${JSON.stringify(relayTest)}: give nothing, or enginecutoff`);
  let isStopped = false;
  const recordStop = async (): Promise<void> => {
    await io.stopped;
    isStopped = true;
  };
  void recordStop();
  const settings = await readSettings(flags);
  const { file } = settings;
  const facts = file === null || file.local.socket === '' ? null : await io.askAgent(file.local.socket);
  const isJson = flags['json'] === true;
  const isWatch = flags['watch'] === true;
  if (facts !== null && !isWatch)
    io.say(
      'The agent runs and has the ports: it is asked instead. Stop it for all checks: systemctl stop fleetward-agent',
    );
  const lock = facts === null ? keepAway(file, io) : { close: (): void => undefined };
  try {
    const plan: Plan = { flags, io, settings, sightings: createSightings(), isStopped: () => isStopped };
    if (isWatch) return await watch(plan, facts !== null);
    const results = await runChecks(await checksFor(plan, facts), {
      clock: io.ports.clock,
      onResult: (result) => {
        if (!isJson) io.print(formatResult(result));
      },
      onProgress: (title, forS) => io.say(`... ${title}: ${forS} s so far`),
      isStopped: plan.isStopped,
      stopped: io.stopped,
    });
    const exitCode = exitCodeOf(results);
    const count = (verdict: CheckResult['verdict']): number =>
      results.filter((one) => one.verdict === verdict).length;
    if (isJson) io.print(JSON.stringify({ exitCode, running: facts !== null, results }));
    else
      io.print(
        `${count('ok')} ok, ${count('warning')} warnings, ${count('fault')} faults, ${count('skipped')} skipped`,
      );
    return exitCode;
  } finally {
    lock.close();
  }
}
