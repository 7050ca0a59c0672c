// What a start compares before it makes or signs anything: that a missing database is really none, and that the key is the one which
// the vehicles of the database obey.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { mountPoints, realPathOf } from '../../src/adapters/database/sqlite-files.ts';
import { isPostgresUrl } from '../../src/core/database-url.ts';
import { AppError } from '../../src/core/errors.ts';
import type { Database } from '../../src/ports.ts';
import { loadSigningKey, type SigningKey } from '../adapters/keys/signing-key-file.ts';
import type { BrokerConfig } from '../config/broker-config.ts';
import { countDevices, putFact, readFact, shareFact } from '../store/service-facts.ts';
import type { Flags } from './command-line.ts';

const keyEnding = '.signing-key.pem';

/** Which key vehicles know: its public key. */
const keyFact = 'signing-key';

/** Folders above the file, up to the root. */
function foldersAbove(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...foldersAbove(folder)];
}

/** Mount points of fstab(5). */
function expectedMounts(): readonly string[] {
  try {
    const lines = readFileSync('/etc/fstab', 'utf8').split('\n');
    return lines.flatMap((line) => (/^\s*#/.test(line) ? [] : [line.trim().split(/\s+/)[1] ?? '']));
  } catch {
    return [];
  }
}

/** Why a database that is missing has been there; null: nothing shows it. */
function signOfFleet({ database, signingKeyFile }: BrokerConfig): string | null {
  const real = realPathOf(database);
  const log = [`${real}-wal`, `${real}-journal`].find((path) => existsSync(path));
  if (log !== undefined) return `its log ${log} is there`;
  if (existsSync(signingKeyFile)) return `the signing key ${signingKeyFile} is there`;
  const mounted = mountPoints();
  const unmounted = expectedMounts().find(
    (one) => foldersAbove(real).includes(one) && !mounted.includes(one),
  );
  if (unmounted !== undefined && unmounted !== '/')
    return `${unmounted} is not mounted, and /etc/fstab lists it`;
  const folder = dirname(real);
  const other = existsSync(folder)
    ? readdirSync(folder).find(
        (name) => name.endsWith(keyEnding) && existsSync(join(folder, name.slice(0, -keyEnding.length))),
      )
    : undefined;
  return other === undefined
    ? null
    : `${join(folder, basename(other, keyEnding))} is the database of a fleet in the same folder`;
}

/**
 * A new fleet begins only where nothing shows that there was one.
 * @throws AppError `config` when a database seems to be gone.
 */
export function needNoSignOfFleet(config: BrokerConfig, flags: Flags): void {
  if (isPostgresUrl(config.database) || existsSync(config.database) || flags['new-fleet'] === true) return;
  const sign = signOfFleet(config);
  if (sign === null) return;
  throw new AppError('config', `There is no database ${config.database}, but ${sign}`, {
    hint: 'Check the path and the disk, or restore a backup. To begin another fleet here on purpose, give --new-fleet.',
  });
}

/**
 * The signing key; a new one is made only for a database whose vehicles know none.
 * @throws AppError `config` when vehicles of the database obey another key.
 */
export async function loadFleetKey(config: BrokerConfig, db: Database, flags: Flags): Promise<SigningKey> {
  const { signingKeyFile } = config;
  const isNewFleet = flags['new-fleet'] === true;
  const devices = await countDevices(db);
  const hint = `Put the key of this fleet to ${signingKeyFile} (of a bridge: from another one): no vehicle obeys another. If it is lost, start once with --new-fleet and enrol every vehicle again.`;
  // Bridges must agree even before the first vehicle.
  const isBound = !isNewFleet && (devices > 0 || config.ingress !== undefined);
  const before = await readFact(db, keyFact);
  if (before !== null && isBound && !existsSync(signingKeyFile)) {
    const what = `There is no signing key ${signingKeyFile}, and ${devices} devices of the database obey one`;
    throw new AppError('config', what, { hint });
  }
  const key = loadSigningKey(signingKeyFile);
  const known = await shareFact(db, { name: keyFact, value: key.publicKey });
  if (known === key.publicKey) return key;
  if (isBound) {
    const what = `${signingKeyFile} is another signing key (${key.publicKey}) than that of this fleet (${known})`;
    throw new AppError('config', what, { hint });
  }
  await db.write([putFact(keyFact, key.publicKey)]);
  return key;
}
