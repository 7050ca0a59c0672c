// Composition root of every command but `start`: joins ports and adapters; each command has its own file in this
// folder.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readAdvisories } from '../../src/adapters/advisory-file.ts';
import { createCertificateRequest } from '../../src/adapters/certificate-request.ts';
import { openSqlite } from '../../src/adapters/database/sqlite.ts';
import { createEnrolmentCrypto } from '../../src/adapters/enrolment-crypto.ts';
import { createVerifier } from '../../src/adapters/signing.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import { readVersion } from '../../src/adapters/version.ts';
import { AppError } from '../../src/core/errors.ts';
import { pause } from '../../src/timeout.ts';
import { createEnrolmentFiles, findUser, type Owner } from '../adapters/enrolment-files.ts';
import { askBroker, parseBrokerAddress } from '../adapters/enrolment-http.ts';
import { loadSerialBinding } from '../adapters/serial-port.ts';
import { readSecretLine } from '../adapters/terminal.ts';
import { askUnixSocket } from '../adapters/unix-http.ts';
import { readReleaseState, standardReleases } from '../adapters/update/release-state.ts';
import { adviceOn, standardAdvisories } from '../core/status/release-advice.ts';
import { standardReleaseKey } from '../core/update/manifest.ts';
import { enrol } from '../enrolment/enrolment.ts';
import { listAlarms } from './alarms.ts';
import { listBoards, showBoard } from './boards.ts';
import type { Handlers } from './command-line.ts';
import { enrolmentOptionsOf, reportEnrolled } from './enrol.ts';
import { reportSelftest, selftest } from './selftest.ts';
import { type Flags, missingIn, print, readPem } from './settings-file.ts';
import { enterServiceCode, listMessages, sendMessage, showStatus } from './status.ts';
import { formatVersion } from './version.ts';

/**
 * Owner of new files: as root the agent's user, else the present user.
 * @throws AppError `usage`.
 */
function ownerOf(flags: Flags): Owner | null {
  if (process.getuid?.() !== 0) return null;
  const name = flags['user'];
  const owner = findUser(typeof name === 'string' ? name : 'fleetward-agent');
  if (owner !== null || typeof name !== 'string') return owner;
  throw new AppError('usage', `There is no user ${name} on this machine`);
}

async function runEnrol(flags: Flags): Promise<void> {
  const typed = String(flags['code']);
  const code = typed === '-' ? (readFileSync(0, 'utf8').split(/\r?\n/, 1)[0] ?? '') : typed;
  const url = parseBrokerAddress(String(flags['broker']));
  const caFile = flags['ca'];
  const address = typeof caFile === 'string' ? { url, ca: readPem(caFile, '--ca') } : { url };
  const isLocalBroker = /^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
  const options = enrolmentOptionsOf(flags, {
    code,
    configFile: resolve(String(flags['config'])),
    isLocalBroker,
  });
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
    options,
  );
  print(flags, reportEnrolled(enrolled, await missingIn({ config: enrolled.configFile })));
}

async function status(flags: Flags): Promise<void> {
  const clock = createSystemClock();
  process.exitCode = await showStatus(flags, {
    ask: askUnixSocket,
    packaged: readVersion(),
    advise: (version) =>
      adviceOn(version, readAdvisories(standardAdvisories, standardReleaseKey), clock.utcMs()),
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

async function runSelftest(flags: Flags): Promise<void> {
  const results = await selftest({
    clock: createSystemClock(),
    openDatabase: (path) => openSqlite({ path, pageSize: 512 }),
    createVerifier,
    loadSerial: loadSerialBinding,
  });
  const report = reportSelftest(readVersion(), results, process.memoryUsage.rss());
  print(flags, report);
  if (!report.isGood) process.exitCode = 70;
}

/** What every command but `start` does. */
export const handlers: Omit<Handlers, 'start'> = {
  enrol: runEnrol,
  checkConfig: async (flags) =>
    print(flags, await (await import('./config.ts')).checkConfig(flags, createVerifier)),
  showConfig: async (flags) => print(flags, await (await import('./config.ts')).showConfig(flags)),
  status,
  listMessages: async (flags) => print(flags, await listMessages(flags, askUnixSocket)),
  sendMessage: async (flags) => print(flags, await sendMessage(flags, askUnixSocket)),
  serviceCode,
  doctor: async (flags) => (await import('./doctor-command.ts')).doctor(flags),
  selftest: runSelftest,
  boards: async (flags) => print(flags, await listBoards()),
  showBoard: async (flags) => print(flags, await showBoard(String(flags['profile']))),
  alarms: (flags) => print(flags, listAlarms()),
};

/** The text of `--version`. Asks the running agent only when it is printed. */
export async function versionText(words: readonly string[]): Promise<string> {
  const packaged = readVersion();
  if (!words.includes('--version')) return packaged;
  const confirmed = (): string | null => readReleaseState(standardReleases).state.confirmed;
  return formatVersion(words, { packaged, confirmed, ask: askUnixSocket });
}
