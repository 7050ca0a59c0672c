// Looks every few seconds at what cannot be counted on the way: what waits in the database, sizes, free space, the last days
// of certificates. Whoever scrapes is shown the last look, so that nobody can make the broker work by asking. A look that
// fails leaves the one before, and its age is shown.
import { messageOf } from '../../src/core/errors.ts';
import type { Clock, Database, Log } from '../../src/ports.ts';
import { type Backlog, confirmedWithin, readBacklog, type TableSize } from '../store/sampling.ts';
import { createRounds } from '../work/rounds.ts';
import type { Meter } from './meter.ts';

/** Sizes on the disk in bytes; null where nobody can tell. */
export interface DiskSizes {
  readonly databaseBytes: number | null;
  readonly walBytes: number | null;
  readonly freeBytes: number | null;
}

/** A certificate that the broker shows or signs with. */
export interface CertificateTerm {
  /** The setting that names it. */
  readonly setting: string;
  readonly untilMs: number;
}

export interface SamplerOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  /** Null: the database is on a server that watches its own disk. */
  readonly diskSizes: (() => DiskSizes) | null;
  /** None where the database tells of its tables itself. */
  readonly tableSizes: (() => Promise<readonly TableSize[]>) | null;
  /** Age of the oldest write that waits for the disk, in ms. */
  readonly lagMs: () => number;
}

export interface Sample {
  readonly backlog: Backlog;
  readonly disk: DiskSizes | null;
  readonly tables: readonly TableSize[];
  /** When the look ended, by the monotonic clock. */
  readonly atMs: number;
}

export interface Sampler {
  /** The last look; null before the first. */
  last(): Sample | null;
  close(): Promise<void>;
}

const periodMs = 10_000;
const tablesPeriodMs = 300_000;
/** A change of a command may be committed so much later than the time that it carries. */
const settledMs = 2000;
/** Vehicles wait longer than this: they come first. */
const lagMostMs = 250;

/** Starts to look, until `close`. */
export function createSampler(options: SamplerOptions): Sampler {
  const { db, clock, log, meter, diskSizes, tableSizes, lagMs } = options;
  let last: Sample | null = null;
  let tables: readonly TableSize[] = [];
  let tablesMs = Number.NEGATIVE_INFINITY;
  let confirmedMs = Math.round(clock.utcMs()) - settledMs;
  const look = async (): Promise<void> => {
    const toMs = Math.round(clock.utcMs()) - settledMs;
    // A wall clock that was set back begins anew: nothing is told twice.
    if (toMs > confirmedMs) {
      for (const tookMs of await confirmedWithin(db, { fromMs: confirmedMs, toMs })) {
        meter.confirmations.observe(tookMs / 1000);
      }
    }
    confirmedMs = toMs;
    const backlog = await readBacklog(db);
    if (tableSizes !== null && clock.monoMs() - tablesMs >= tablesPeriodMs) {
      tables = await tableSizes();
      tablesMs = clock.monoMs();
    }
    last = { backlog, disk: diskSizes === null ? null : diskSizes(), tables, atMs: clock.monoMs() };
  };
  const run = async (): Promise<number> => {
    if (lagMs() > lagMostMs) return periodMs;
    await look().catch((thrown: unknown) => log.warn('figures not taken', { reason: messageOf(thrown) }));
    return periodMs;
  };
  const rounds = createRounds({ clock, firstMs: 0, run });
  return { last: () => last, close: () => rounds.close() };
}
