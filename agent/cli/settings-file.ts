// Shared by all commands: the settings with their origins, and the files that they name. A secret or private key that
// others can read is never accepted.
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readConfigFile } from '../../src/adapters/config-file.ts';
import { readVersion } from '../../src/adapters/version.ts';
import { type Config, loadConfig, readEnvironment } from '../../src/config.ts';
import { AppError, messageOf } from '../../src/core/errors.ts';
import { readHardwareID } from '../adapters/hardware-id.ts';
import {
  type AgentConfig,
  type AgentFile,
  type AgentSecrets,
  agentFileSchema,
  toAgentConfig,
} from '../config.ts';

/** As yargs gives them. */
export type Flags = Readonly<Record<string, unknown>>;

export const standardConfig = '/etc/fleetward-agent/agent.toml';

/** @throws AppError `config` when others may read it. */
function readPrivate(path: string): string {
  if ((statSync(path).mode & 0o077) === 0) return readFileSync(path, 'utf8');
  throw new AppError('config', `${path} can be read by others`, { hint: `Run: chmod 600 ${path}` });
}

/** @throws AppError `config` when it is not there, can be read by others or holds something else. */
export function readSecret(path: string): string {
  let text: string;
  try {
    text = readPrivate(path).trim();
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    throw new AppError('config', `Cannot read broker.secretFile: ${messageOf(thrown)}`, {
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

/** @param name the setting or flag that names the file, for the message. @throws AppError `config`. */
export function readPem(
  path: string,
  name: string,
  read = (from: string) => readFileSync(from, 'utf8'),
): string {
  try {
    return read(path);
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    throw new AppError('config', `Cannot read ${name}: ${messageOf(thrown)}`);
  }
}

/** The certificates and keys that the settings name. @throws AppError `config`. */
export function readCertificates({ broker }: AgentFile): Omit<AgentSecrets, 'secret'> {
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
  return { ...ca, ...client };
}

/** The contents of all files that the settings name. @throws AppError `config`. */
function readSecrets(file: AgentFile): AgentSecrets {
  return { secret: readSecret(file.broker.secretFile), ...readCertificates(file) };
}

/** The owner's document beside the configuration; null: there is none, or it cannot be read. Its signatures are checked by the vehicle. */
export function readOwnerDocument(flags: Flags): string | null {
  try {
    return readFileSync(join(dirname(String(flags['config'])), 'owner.json'), 'utf8');
  } catch {
    return null;
  }
}

/** The settings of `--config`, with where each comes from. @throws AppError `config`. */
export function loadSettings(flags: Flags): Config<AgentFile> {
  const file = readConfigFile(String(flags['config']));
  return loadConfig({ schema: agentFileSchema, file, env: readEnvironment(), flags: null });
}

/** Settings, files and board profile together: what `start` runs on. @throws AppError `config`. */
export function readAgentConfig(file: AgentFile): Promise<AgentConfig> {
  return toAgentConfig(file, {
    ...readSecrets(file),
    agentVersion: readVersion(),
    hardwareID: readHardwareID(),
  });
}

/** Reason why the agent would not start with its file; null when it would. */
export async function missingIn(flags: Flags): Promise<string | null> {
  try {
    await readAgentConfig(loadSettings(flags).value);
    return null;
  } catch (thrown) {
    return messageOf(thrown);
  }
}

export interface Output {
  readonly json: unknown;
  readonly text: string;
}

/** Plain text, or one line of JSON with `--json`. */
export function print(flags: Flags, output: Output): void {
  process.stdout.write(`${flags['json'] === true ? JSON.stringify(output.json) : output.text}\n`);
}
