// `fleetward-broker backup`, `restore` and `check`: copies a database to a file and back, and checks it. For a database
// server the first two name its own tools.
import { constants, setPriority } from 'node:os';
import { basename } from 'node:path';
import { openDatabase } from '../../src/adapters/database/database.ts';
import { holdSqlite, openSqliteFile, openSqliteReader } from '../../src/adapters/database/sqlite.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import { readVersion } from '../../src/adapters/version.ts';
import { isPostgresUrl } from '../../src/core/database-url.ts';
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { Database } from '../../src/ports.ts';
import { makeBackup, readKeys } from '../adapters/storage/backup-file.ts';
import { copyToRead } from '../adapters/storage/read-copy.ts';
import { changeOwner, restoreBackup } from '../adapters/storage/restore-file.ts';
import { needKnownSchema } from '../adapters/storage/sqlite-copy.ts';
import { verifyAudit } from '../audit/verify.ts';
import type { BrokerConfig } from '../config/broker-config.ts';
import { migrations } from '../migrations.ts';
import { insertAudit } from '../store/accounts/audit.ts';
import { backupEntry } from '../store/operating.ts';
import { markRestored } from '../store/renumbering.ts';
import { checkIntegrity } from '../upkeep/integrity.ts';
import type { Flags } from './command-line.ts';
import { configOf, needDatabase, print } from './program.ts';

const names = migrations.map(({ name }) => name);
const printProgress = (line: string): void => void process.stderr.write(`${line}\n`);

/** @throws AppError `unsupported` for a database that is a server. */
function needFile({ database }: BrokerConfig, command: 'backup' | 'restore' | 'check'): void {
  if (!isPostgresUrl(database)) return;
  const hints = {
    backup: `Use pg_dump --format=custom --file=FILE DATABASE for one database, or pg_basebackup with archived WAL for a server and
  any moment; keep the signing key apart.`,
    restore:
      'Stop every broker, then pg_restore --create --exit-on-error FILE, or the base backup with its WAL.',
    check: `Use pg_amcheck --all and data checksums (pg_checksums); \`fleetward-broker audit verify\` checks the audit log.`,
  } as const;
  throw new AppError(
    'unsupported',
    `${command} works on SQLite files, and the database is a PostgreSQL server`,
    {
      hint: hints[command],
    },
  );
}

/** What this program does may take minutes of a processor: the broker comes first. */
function yieldProcessor(): void {
  setPriority(constants.priority.PRIORITY_LOW);
}

/** True from the first Ctrl-C or SIGTERM on. */
function watchSignals(): () => boolean {
  let isAsked = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => void (isAsked = true));
  return () => isAsked;
}

/** Longest text of a failure that the log keeps. */
const reasonMost = 300;

/**
 * Records in the audit log of the service what became of a backup, for the operator's page. The database may be of an older version: it is
 * not brought up to date. What cannot be recorded changes nothing of the backup, and is said.
 */
async function recordBackup(
  database: string,
  action: typeof backupEntry.good | typeof backupEntry.failed,
  detail: Readonly<Record<string, unknown>>,
): Promise<void> {
  const atMs = Math.round(createSystemClock().utcMs());
  const { object } = backupEntry;
  const entry = { accountID: '', atMs, actor: 'operator', source: '', action, object, detail };
  try {
    // Another program's file is not touched.
    const connection = openSqliteFile(database, 'read');
    try {
      needKnownSchema(connection, database, names);
    } finally {
      connection.close();
    }
    const db = await openDatabase({ database, environment: {}, use: 'command' });
    try {
      await db.write([insertAudit(entry)]);
    } finally {
      await db.close();
    }
  } catch (thrown) {
    printProgress(`The backup is not recorded in the database: ${messageOf(thrown)}`);
  }
}

/** Records a backup that fails, then lets it fail. */
async function recordFailure<Result>(database: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    const reason = messageOf(thrown).slice(0, reasonMost);
    await recordBackup(database, backupEntry.failed, { reason });
    throw thrown;
  }
}

export async function runBackup(flags: Flags): Promise<void> {
  const config = configOf(flags).value;
  needFile(config, 'backup');
  needDatabase(config);
  yieldProcessor();
  const withKeys = flags['with-signing-key'] === true;
  const clock = createSystemClock();
  const sinceMs = clock.monoMs();
  const result = await recordFailure(config.database, async () =>
    makeBackup({
      database: config.database,
      target: String(flags['file']),
      version: readVersion(),
      keys: withKeys ? readKeys(config) : null,
      migrations: names,
      clock,
      isCancelled: watchSignals(),
      onProgress: printProgress,
    }),
  );
  const { file, bytes, rows } = result;
  const durationS = Math.round((clock.monoMs() - sinceMs) / 100) / 10;
  await recordBackup(config.database, backupEntry.good, {
    file: basename(file),
    bytes,
    durationS,
    hasSigningKey: withKeys,
  });
  const keyText = withKeys
    ? 'It includes the signing key: this file allows commands to every vehicle.'
    : `It does not include the signing key: keep ${config.signingKeyFile} separately, or no vehicle accepts commands after a restore.`;
  print(flags, {
    json: { file, bytes, durationS, hasSigningKey: withKeys, rows },
    text: `${file}: ${bytes} bytes, ${rows['events'] ?? 0} events, checked, in ${durationS} s\n${keyText}`,
  });
}

export function runRestore(flags: Flags): void {
  const config = configOf(flags).value;
  needFile(config, 'restore');
  const { database, signingKeyFile, vapidKeyFile } = config;
  const file = String(flags['file']);
  const clock = createSystemClock();
  const lock = holdSqlite(database, `the database ${database}`);
  changeOwner(lock.lockFile);
  const result = restoreBackup({
    file,
    database,
    signingKeyFile,
    vapidKeyFile,
    migrations: names,
    clock,
    onProgress: printProgress,
    audit: (notes) => [
      markRestored(),
      insertAudit({
        accountID: '',
        atMs: Math.round(clock.utcMs()),
        actor: 'operator',
        source: '',
        action: 'service.restore',
        object: basename(file),
        detail: { made: notes.get('made') ?? null, version: notes.get('version') ?? null },
      }),
    ],
  });
  lock.close();
  const keyText = result.hasSigningKey
    ? ''
    : `\nPut the signing key to ${signingKeyFile} before the start; with a new key no vehicle accepts commands.`;
  const madeText = result.made === null ? '' : ` as of ${result.made}`;
  print(flags, {
    json: { ...result },
    text: `Restored ${database}${madeText}; later data is not included.${keyText}`,
  });
}

/** @throws AppError `usage`. */
function sampleOf(text: unknown): number {
  const sample = Number(text ?? 500);
  if (Number.isInteger(sample) && sample >= 1 && sample <= 1_000_000) return sample;
  throw new AppError('usage', '--sample must be a whole number from 1 to 1000000');
}

function needCurrentSchema(database: string): void {
  const connection = openSqliteFile(database, 'read');
  try {
    needKnownSchema(connection, database, names);
    const rows = connection.prepare('SELECT COUNT(*) AS applied FROM migrations').get() as {
      applied: number;
    };
    if (rows.applied === names.length) return;
    throw new AppError('storage', `${database} is of an older version`, {
      hint: 'Start the broker once: it brings the database up to date.',
    });
  } finally {
    connection.close();
  }
}

export async function runCheck(flags: Flags): Promise<void> {
  const config = configOf(flags).value;
  needFile(config, 'check');
  needDatabase(config);
  const sample = sampleOf(flags['sample']);
  yieldProcessor();
  const copy = copyToRead(config.database);
  const path = copy?.path ?? config.database;
  let db: Database | null = null;
  try {
    needCurrentSchema(path);
    const reader = openSqliteReader(path);
    db = reader;
    const clock = createSystemClock();
    const report = await checkIntegrity({
      db: reader,
      clock,
      sample,
      verifyAudit: (onProgress) =>
        verifyAudit({ db: reader, clock, verifier: null, accountID: null, saved: [], onProgress }),
      onProgress: printProgress,
    });
    const lines = report.parts.flatMap(({ name, looked, faults }) => [
      `${faults.length === 0 ? 'good  ' : 'BROKEN'} ${name}: ${looked}`,
      ...faults.map((fault) => `  ${fault}`),
    ]);
    print(flags, { json: report, text: lines.join('\n') });
    // Not a fault of the program or of its input: the database itself is wrong.
    if (!report.ok) process.exitCode = 1;
  } finally {
    await db?.close();
    copy?.remove();
  }
}
