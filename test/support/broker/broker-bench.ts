// A broker's parts on a workbench: a clock that moves only by `advance`, a real SQLite database in memory with one account
// and its devices, a log that remembers. No mocks of product code.
import { setImmediate as turn } from 'node:timers/promises';
import type { DeviceRef } from '../../../broker/core/device-key.ts';
import { createIngest, type IngestOptions } from '../../../broker/ingest/ingest.ts';
import { migrations } from '../../../broker/migrations.ts';
import { createGroupCommit } from '../../../broker/scheduling/group-commit.ts';
import { findDevice, insertDevice } from '../../../broker/store/devices/devices.ts';
import { openSqlite } from '../../../src/adapters/database/sqlite.ts';
import { createSigner, createVerifier, generateSigningKey } from '../../../src/adapters/signing.ts';
import type { Hello } from '../../../src/core/wire/wire.ts';
import { migrate } from '../../../src/migrate.ts';
import type {
  Clock,
  Database,
  Entropy,
  Log,
  LogFields,
  NotifyingDatabase,
  Signer,
  Verifier,
} from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';

/** Noon of 2026-01-05 UTC, in ms. */
export const startMs = 1_767_614_400_000;

export interface BenchClock extends Clock {
  /** Lets time pass and runs what falls due. */
  advance(ms: number): void;
  /** Moves the wall clock alone. */
  setUtc(utcMs: number): void;
}

export function createBenchClock(): BenchClock {
  let mono = 0;
  let offset = startMs;
  let timers: { readonly atMs: number; readonly run: () => void }[] = [];
  return {
    monoMs: () => mono,
    utcMs: () => offset + mono,
    after(delayMs, run) {
      const timer = { atMs: mono + Math.max(0, delayMs), run };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(ms) {
      const end = mono + ms;
      for (;;) {
        const next = timers.filter((timer) => timer.atMs <= end).sort((a, b) => a.atMs - b.atMs)[0];
        if (next === undefined) break;
        timers = timers.filter((timer) => timer !== next);
        mono = Math.max(mono, next.atMs);
        next.run();
      }
      mono = end;
    },
    setUtc(utcMs) {
      offset = utcMs - mono;
    },
  };
}

/** What signs for a broker, and what a vehicle checks it with. */
export function createBenchKeys(): { readonly signer: Signer; readonly verifier: Verifier } {
  const key = generateSigningKey();
  return { signer: createSigner(key.privatePem), verifier: createVerifier(key.publicKey) };
}

/** Lets virtual time pass, 1 ms a turn of the loop, until the promise settles. */
export async function advanceUntilSettled<T>(clock: BenchClock, promise: Promise<T>): Promise<T> {
  const state = { isDone: false };
  const mark = (): void => {
    state.isDone = true;
  };
  promise.then(mark, mark);
  for (let turns = 0; !state.isDone && turns < 5000; turns++) {
    clock.advance(1);
    await turn();
  }
  return promise;
}

export interface SteadyClock extends Clock {
  /** Lets no more time pass. */
  stop(): void;
}

/**
 * Time that stands still while this process does: no time-out of the product ends a wait because the machine was elsewhere.
 * @param speed how much faster than the machine's it passes.
 */
export function createSteadyClock(speed = 1): SteadyClock {
  const clock = createBenchClock();
  clock.setUtc(Date.now());
  // An interval makes up for no turn that it missed.
  const turns = setInterval(() => clock.advance(speed), 1);
  return { ...clock, stop: () => clearInterval(turns) };
}

/** Bytes that count up, so that every id of a run is known. */
export function createBenchEntropy(): Entropy {
  let next = 0;
  return {
    bytes: (count) => {
      next += 1;
      const bytes = new Uint8Array(count);
      new DataView(bytes.buffer).setUint32(Math.max(0, count - 4), next);
      return bytes;
    },
    fraction: () => 0.5,
  };
}

export interface BenchLog extends Log {
  readonly lines: { readonly level: string; readonly event: string; readonly fields: LogFields }[];
}

export function createBenchLog(): BenchLog {
  const lines: BenchLog['lines'] = [];
  const at =
    (level: string) =>
    (event: string, fields: LogFields = {}): void =>
      void lines.push({ level, event, fields });
  const log: BenchLog = {
    lines,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: () => log,
  };
  return log;
}

/** A migrated SQLite database with the accounts `acme` and `rival`, in memory unless a path is given. */
export function openBenchDatabase(path = ':memory:'): Promise<NotifyingDatabase> {
  return migrateWithAccounts(openSqlite({ path, pageSize: 4096 }));
}

/** The same on any database that is open. */
export async function migrateWithAccounts<Store extends Database>(db: Store): Promise<Store> {
  await migrate(db, migrations);
  for (const accountID of ['acme', 'rival']) {
    await db.write([
      sql`INSERT INTO accounts (account_id, display_name, created_s) VALUES (${accountID}, ${accountID}, 0)
        ON CONFLICT (account_id) DO NOTHING`,
    ]);
  }
  return db;
}

/** Creates a device and gives its reference. */
export async function addDevice(db: Database, accountID: string, deviceID: string): Promise<DeviceRef> {
  await db.write(insertDevice({ accountID, deviceID }, { createdS: 0 }));
  const row = await findDevice(db, { accountID, deviceID });
  if (row === null) throw new Error('the device was not created');
  return { accountID, deviceID, deviceNo: row.deviceNo };
}

/** Ingest of a process that knows nothing but the store. */
export function openBenchIngest(ports: {
  readonly db: Database;
  readonly clock: BenchClock;
  readonly onCommitted?: IngestOptions['onCommitted'];
}) {
  const { db, clock, onCommitted = () => undefined } = ports;
  const log = createBenchLog();
  const commits = createGroupCommit({ db, clock, log });
  const ingest = createIngest({ db, commits, clock, log, onCommitted });
  return {
    counts: () => ingest.counts(),
    /** Submits payloads at once, and gives what became of each. */
    send: (device: DeviceRef, ...payloads: readonly Uint8Array[]) =>
      advanceUntilSettled(clock, Promise.all(payloads.map((payload) => ingest.submit(device, payload)))),
    async close() {
      await advanceUntilSettled(clock, ingest.close());
      await advanceUntilSettled(clock, commits.close());
    },
  };
}

export const helloOf = (boot: string, changes: Partial<Hello> = {}): Hello => ({
  boot,
  nonce: `nonce-${boot}`,
  agentVersion: '0.1.0',
  features: ['enginecutoff', 'cargoaccess'],
  sensors: ['ignition', 'panic'],
  configVersion: 0,
  commandCounter: 0,
  timeQuality: 'gnss',
  ...changes,
});

export const jsonBytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
