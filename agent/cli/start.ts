// Composition root of the agent as a service: joins ports and adapters. `commands.ts` does it for every other command.
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { holdSqlite, openSqlite } from '../../src/adapters/database/sqlite.ts';
import { createLog } from '../../src/adapters/log.ts';
import { openMqttLink } from '../../src/adapters/mqtt-link.ts';
import { personsCrypto } from '../../src/adapters/persons-crypto.ts';
import { endSoon, untilStopped } from '../../src/adapters/program.ts';
import { createVerifier } from '../../src/adapters/signing.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import { createSupervisor } from '../../src/adapters/systemd.ts';
import { readVersion } from '../../src/adapters/version.ts';
import { readEnvironment } from '../../src/config.ts';
import { serviceCodesOfSecret } from '../../src/service-codes.ts';
import { createConfigFiles } from '../adapters/config-files.ts';
import { createHostFacts } from '../adapters/host-facts.ts';
import { openLocalSocket } from '../adapters/local-socket.ts';
import { readModem } from '../adapters/modem-manager.ts';
import { readNetworkFile } from '../adapters/network-file.ts';
import { driverStuckMs } from '../adapters/serial-driver.ts';
import { openSerialPort } from '../adapters/serial-port.ts';
import { requestSleep } from '../adapters/sleep-request.ts';
import { listenOnUnixSocket } from '../adapters/unix-http.ts';
import { restartExitCode } from '../adapters/update/updater.ts';
import { openUpdater } from '../adapters/update/updater-start.ts';
import { createAgent } from '../agent.ts';
import { type AgentConfig, type AgentFile, describeConfig } from '../config.ts';
import type { ProcessFacts } from '../core/status/agent-facts.ts';
import { createLogRing } from '../log-ring.ts';
import { createLagMeter, type LagMeter } from '../loop-lag.ts';
import { openOutbox } from '../outbox.ts';
import type { Updater } from '../ports.ts';
import { type Flags, loadSettings, readAgentConfig, readOwnerDocument } from './settings-file.ts';

const networkOf = (path: string | undefined) =>
  path === undefined ? {} : { network: () => readNetworkFile(path) };
const modemOf = ({ modem }: AgentConfig) =>
  modem === undefined ? {} : { modem: { everyMs: modem.everyMs, read: () => readModem(modem.program) } };
const mostBytesOf = ({ storage }: AgentFile): number => storage.maxMb * 1024 * 1024;

/** Free bytes for users other than root; null where the file system does not report it. */
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

/** Runs the agent until it is stopped, or until an update asks for a restart. @throws AppError when it cannot start. */
export async function start(flags: Flags): Promise<void> {
  const { value: file } = loadSettings(flags);
  const recent = createLogRing();
  const log = createLog(file.log.level, 'stdout', recent.add);
  // First of all: a terminal may be closed while the agent starts.
  const stopped = untilStopped(() => log.info('hang_up_ignored'));
  const config = await readAgentConfig(file);
  const lock = holdSqlite(file.storage.path, `the outbox ${file.storage.path}`, 'any');
  const clock = createSystemClock();
  const entropy = createSystemEntropy();
  const { update: settings } = config;
  const updater = openUpdater({
    flags,
    settings,
    outboxMb: file.storage.maxMb,
    running: readVersion(),
    log,
  });
  const agent = await createAgent(config, {
    clock,
    entropy,
    log,
    openByteLink: openSerialPort,
    driverStuckMs,
    openMqttLink,
    verifier: createVerifier(file.broker.publicKey),
    supervisor: createSupervisor({ log, environment: readEnvironment() }),
    ...networkOf(config.network),
    ...modemOf(config),
    requestSleep: (seconds) => requestSleep(seconds),
    ...(updater === null ? {} : { updater }),
    configSlots: createConfigFiles(dirname(file.storage.path)),
    host: createHostFacts(dirname(file.storage.path)),
    recentLog: recent.text,
    serviceCodes: serviceCodesOfSecret(config.broker.secret, config),
    owner: { crypto: personsCrypto, documentText: readOwnerDocument(flags) },
    openOutbox: (boot, bootMonoMs) =>
      openOutbox({
        path: file.storage.path,
        maxBytes: mostBytesOf(file),
        openDatabase(options) {
          const database = openSqlite(options);
          lock.descriptor();
          return database;
        },
        boot,
        bootMonoMs,
        clock,
        entropy,
        log,
      }),
  });
  log.info('configuration_loaded', describeConfig(config));
  const lag = createLagMeter(clock);
  const socket = await openLocalSocket(file.local.socket, {
    agent,
    clock,
    log,
    process: () => processFacts(file, lag),
    listen: listenOnUnixSocket,
  });
  await Promise.race([stopped, untilRestart(updater)]);
  await socket.close();
  lag.close();
  await agent.close();
  lock.close();
}
