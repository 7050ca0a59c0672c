// Common parts of the broker's commands: configuration, a database connection for one command, and output.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { readConfigFile } from '../../src/adapters/config-file.ts';
import {
  type HeldDatabase,
  type HoldMode,
  holdDatabase,
  openDatabase,
} from '../../src/adapters/database/database.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import { readEnvironment } from '../../src/config.ts';
import { isPostgresUrl } from '../../src/core/database-url.ts';
import { AppError, codeOf, errorKinds, messageOf } from '../../src/core/errors.ts';
import type { Log } from '../../src/ports.ts';
import type { AdministrationPorts } from '../accounts/administration.ts';
import { createPasswords } from '../adapters/passwords.ts';
import { type BrokerConfig, loadBrokerConfig } from '../config/broker-config.ts';
import { prepareDatabase } from '../known-database.ts';
import type { Flags } from './command-line.ts';

/** The settings of the installed service; taken where neither a file nor a database is named. */
const standardConfig = '/etc/fleetward-broker/broker.toml';

/**
 * Whether the settings of the installed service are there.
 * @throws AppError `config` for a user that may not read them: another fleet would be made in the folder of that user.
 */
function hasStandardConfig(): boolean {
  try {
    statSync(standardConfig);
    return true;
  } catch (thrown) {
    if (codeOf(thrown) !== 'EACCES') return false;
    throw new AppError(
      'config',
      `The settings of the installed service, ${standardConfig}, are not yours to read`,
      {
        cause: thrown,
        hint: 'Run the command with sudo, or name a database of your own with --database.',
      },
    );
  }
}

/** The settings from flags, environment and file. */
export function configOf(flags: Flags) {
  const isElsewhere = flags['database'] !== undefined || flags['config'] !== undefined;
  const isInstalled = !isElsewhere && hasStandardConfig();
  const path = flags['config'] ?? (isInstalled ? standardConfig : undefined);
  const file = typeof path === 'string' ? readConfigFile(path) : null;
  return loadBrokerConfig({ file, env: readEnvironment(), flags });
}

/** One answer: JSON for programs with --json, else text. */
export function print(flags: Flags, output: { readonly json: object; readonly text: string }): void {
  const isJson = flags['json'] === true;
  process.stdout.write(`${isJson ? JSON.stringify(output.json) : output.text}\n`);
}

/** Opens the database for one piece of work and closes it whatever happens; the broker may run meanwhile. */
export async function administer(
  config: BrokerConfig,
  work: (ports: AdministrationPorts) => Promise<void>,
): Promise<void> {
  const { database } = config;
  const db = await openDatabase({ database, environment: readEnvironment(), use: 'command' });
  try {
    await prepareDatabase(db);
    await work({
      db,
      clock: createSystemClock(),
      entropy: createSystemEntropy(),
      passwords: createPasswords(),
    });
  } finally {
    await db.close();
  }
}

/**
 * Keeps other brokers off the database while this one runs.
 * @param mode `alone` for one with every connection of vehicles, `shared` for several behind a cluster.
 * @throws AppError `config` when one has it, `storage`.
 */
export function holdFor(
  { database }: BrokerConfig,
  { log, mode }: { readonly log: Log; readonly mode: HoldMode },
): Promise<HeldDatabase> {
  return holdDatabase(
    { database, environment: readEnvironment() },
    {
      mode,
      onLost(error) {
        log.error('database_lost', { reason: error.message });
        // No orderly stop: this process no longer owns the database.
        process.exit(errorKinds[error.code].exitCode);
      },
    },
  );
}

/** A PostgreSQL database is there, or its server says why not. */
export const hasDatabase = ({ database }: BrokerConfig): boolean =>
  isPostgresUrl(database) || existsSync(database);

/** A misspelt path must not make a new fleet with a new key. A PostgreSQL database is never made by the program. */
export function needDatabase(config: BrokerConfig): void {
  if (hasDatabase(config)) return;
  const { database } = config;
  throw new AppError('not_found', `There is no database ${database}`, {
    hint: 'Name it with --database; `fleetward-broker account create` makes a new one.',
  });
}

/** A text file; `-` is standard input. */
export function readText(path: string, what: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (thrown) {
    throw new AppError('usage', `Cannot read ${what} ${path}: ${messageOf(thrown)}`);
  }
}
