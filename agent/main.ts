#!/usr/bin/env node
// Composition root of the agent: the one place where ports meet adapters. What there is on the command line stands in
// `cli/command-line.ts`, what each command does in its own file of `cli/`.
import { readFileSync, statfsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createCertificateRequest } from '../src/adapters/certificate-request.ts';
import { createEnrolmentCrypto } from '../src/adapters/enrolment-crypto.ts';
import { createLog } from '../src/adapters/log.ts';
import { openMqttLink } from '../src/adapters/mqtt-link.ts';
import { endSoon, runProgram, untilAsked, untilStopped } from '../src/adapters/program.ts';
import { createVerifier } from '../src/adapters/signing.ts';
import { holdLock, inspectSqlite, openSqlite } from '../src/adapters/sqlite.ts';
import { createSystemClock, createSystemEntropy } from '../src/adapters/system.ts';
import { createSupervisor } from '../src/adapters/systemd.ts';
import { readEnvironment } from '../src/config.ts';
import { AppError } from '../src/core/errors.ts';
import { serviceCodesOfSecret } from '../src/service-codes.ts';
import { pause } from '../src/settle.ts';
import { readVersion } from '../src/version.ts';
import { createEnrolmentFiles, findUser, type Owner } from './adapters/enrolment-files.ts';
import { askBroker, parseBrokerAddress } from './adapters/enrolment-http.ts';
import { createHostFacts } from './adapters/host-facts.ts';
import { createMachine } from './adapters/machine.ts';
import { readNetworkFile } from './adapters/network-file.ts';
import { createNetworkProbe } from './adapters/network-probe.ts';
import { driverStuckMs } from './adapters/serial-driver.ts';
import { loadSerialBinding, openSerialPort } from './adapters/serial-port.ts';
import { askPerson, readSecretLine } from './adapters/terminal.ts';
import { askUnixSocket, listenOnUnixSocket } from './adapters/unix-http.ts';
import { createAgent } from './agent.ts';
import { listAlarms } from './cli/alarms.ts';
import { listBoards, showBoard } from './cli/boards.ts';
import type { Handlers } from './cli/command-line.ts';
import { checkConfig, showConfig } from './cli/config.ts';
import { runDoctor } from './cli/doctor.ts';
import { reportEnrolled, wishOf } from './cli/enrol.ts';
import { fuelCalibrate } from './cli/fuel-calibrate.ts';
import { reportSelftest, selftest } from './cli/selftest.ts';
import { type Flags, loadSettings, missingIn, print, readAgentConfig, readPem } from './cli/settings-file.ts';
import { parseStart } from './cli/start-line.ts';
import { askIfRunning, enterServiceCode, listMessages, sendMessage, showStatus } from './cli/status.ts';
import { formatVersion } from './cli/version.ts';
import { type AgentFile, describeConfig, toAgentConfig } from './config.ts';
import { createConfigFiles } from './config-store.ts';
import type { ProcessFacts } from './core/status/agent-facts.ts';
import type { DoctorPorts } from './doctor/ports.ts';
import { enrol } from './enrolment/enrolment.ts';
import { openLocalSocket } from './local-socket.ts';
import { createLogRing } from './log-ring.ts';
import { createLagMeter, type LagMeter } from './loop-lag.ts';
import { countQueued } from './outbox/outbox-schema.ts';
import { openOutbox } from './outbox.ts';
import { restartExitCode, type Updater } from './update/performer.ts';
import { readReleaseState, standardReleases } from './update/release-state.ts';
import { openUpdater } from './update/update-start.ts';
import { memoryKey } from './vehicle-record.ts';

const networkOf = (path: string | undefined) =>
  path === undefined ? {} : { network: () => readNetworkFile(path) };
const mostBytesOf = ({ storage }: AgentFile): number => storage.maxMb * 1024 * 1024;

/** Free bytes for whoever is not root; null where the file system does not say. */
function freeBytesAt(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return null;
  }
}

function processFacts(file: AgentFile, lag: LagMeter): ProcessFacts {
  return {
    rssBytes: process.memoryUsage.rss(),
    lagMs: Math.round(lag.worstMs()),
    storageMostBytes: mostBytesOf(file),
    diskFreeBytes: freeBytesAt(dirname(file.storage.path)),
  };
}

/** Resolves when a start through the launcher is wanted; the process then ends with the code that asks for it. */
async function untilRestart(updater: Updater | null): Promise<void> {
  await (updater?.restartWanted ?? new Promise(() => undefined));
  process.exitCode = restartExitCode;
  endSoon();
}

async function start(flags: Flags): Promise<void> {
  const { value: file } = loadSettings(flags);
  const recent = createLogRing();
  const log = createLog(file.log.level, 'stdout', recent.add);
  const config = await readAgentConfig(file);
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
        maxBytes: mostBytesOf(file),
        openDatabase: async (options) => openSqlite({ pageSize: 1024, ...options }),
        boot,
        bootMonoMs,
        clock,
        entropy,
        log,
      }),
  });
  log.info('configuration', describeConfig(config));
  const lag = createLagMeter(clock);
  const socket = await openLocalSocket(file.local.socket, {
    agent,
    clock,
    log,
    process: () => processFacts(file, lag),
    listen: listenOnUnixSocket,
  });
  await Promise.race([untilStopped(), untilRestart(updater)]);
  await socket.close();
  lag.close();
  await agent.close();
  lock.close();
}

/** Who new files belong to: as root the user that the agent runs as, else whoever runs this. @throws AppError `usage`. */
function ownerOf(flags: Flags): Owner | null {
  if (process.getuid?.() !== 0) return null;
  const name = flags['user'];
  const owner = findUser(typeof name === 'string' ? name : 'fleetward-agent');
  if (owner !== null || typeof name !== 'string') return owner;
  throw new AppError('usage', `there is no user ${name} on this machine`);
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

async function calibrateFuel(flags: Flags): Promise<void> {
  const { value: file } = loadSettings(flags);
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

async function status(flags: Flags): Promise<void> {
  const clock = createSystemClock();
  process.exitCode = await showStatus(flags, {
    ask: askUnixSocket,
    packaged: readVersion(),
    print: (output) => print(flags, output),
    // Home and clear, as of ECMA-48; a file or a pipe keeps every picture.
    clear: () => process.stdout.isTTY && void process.stdout.write('\u001b[H\u001b[2J'),
    pause: (ms) => pause(clock, ms),
    isStopped: () => false,
  });
}

async function serviceCode(flags: Flags): Promise<void> {
  const code = await readSecretLine('One-time code: ');
  process.exitCode = await enterServiceCode(flags, {
    ask: askUnixSocket,
    code,
    print: (output) => print(flags, output),
  });
}

async function doctor(flags: Flags): Promise<void> {
  const clock = createSystemClock();
  const ports: DoctorPorts = {
    clock,
    entropy: createSystemEntropy(),
    openByteLink: openSerialPort,
    openMqttLink,
    createVerifier,
    machine: createMachine(),
    network: createNetworkProbe(),
    inspectOutbox(path) {
      const { rows, integrity } = inspectSqlite(path, countQueued(memoryKey));
      const [row] = rows;
      const memory = row?.['value'];
      return {
        events: Number(row?.['events'] ?? 0),
        integrity,
        memory: typeof memory === 'string' ? memory : null,
      };
    },
  };
  const stopped = untilAsked();
  process.exitCode = await runDoctor(flags, {
    ports,
    askAgent: (socket) => askIfRunning(askUnixSocket, socket),
    holdLock,
    ask: (question) => askPerson(question, stopped),
    print: (text) => void process.stdout.write(`${text}\n`),
    say: (text) => void process.stderr.write(`${text}\n`),
    stopped,
  });
}

async function runSelftest(flags: Flags): Promise<void> {
  const results = await selftest({
    clock: createSystemClock(),
    openDatabase: (path) => openSqlite({ path, pageSize: 1024 }),
    createVerifier,
    loadSerial: loadSerialBinding,
  });
  const report = reportSelftest(readVersion(), results, process.memoryUsage.rss());
  print(flags, report);
  if (!report.isGood) process.exitCode = 70;
}

const handlers: Handlers = {
  start,
  enrol: runEnrol,
  checkConfig: async (flags) => print(flags, await checkConfig(flags, createVerifier)),
  showConfig: async (flags) => print(flags, await showConfig(flags)),
  status,
  listMessages: async (flags) => print(flags, await listMessages(flags, askUnixSocket)),
  sendMessage: async (flags) => print(flags, await sendMessage(flags, askUnixSocket)),
  serviceCode,
  doctor,
  selftest: runSelftest,
  boards: async (flags) => print(flags, await listBoards()),
  showBoard: async (flags) => print(flags, await showBoard(String(flags['profile']))),
  alarms: (flags) => print(flags, listAlarms()),
  calibrateFuel,
};

/** Asks the running agent only when its version is wanted. */
async function versionWords(words: readonly string[]): Promise<string> {
  const packaged = readVersion();
  if (!words.includes('--version')) return packaged;
  const confirmed = (): string | null => readReleaseState(standardReleases).state.confirmed;
  return formatVersion(words, { packaged, confirmed, ask: askUnixSocket });
}

await runProgram('fleetward-agent', async () => {
  const words = process.argv.slice(2);
  const flags = parseStart(words);
  if (flags !== null) return start(flags);
  const { createCommandLine } = await import('./cli/command-line.ts');
  const version = await versionWords(words);
  const columns = Math.min(110, process.stdout.columns ?? 110);
  return createCommandLine(words, handlers, { version, columns }).parseAsync();
});
