// Samples every few seconds what cannot be counted in passing: queue lengths in the database, sizes, free space,
// certificate expiry. A scrape gets the last sample, so that scrapes cause no work. After a failed sample the previous one
// stays, with its age.
import { messageOf } from '../../src/core/errors.ts';
import type { Clock, Database, Log } from '../../src/ports.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';
import { quarantineTotals } from '../store/events/quarantine.ts';
import { type Backlog, confirmedWithin, readBacklog, type TableSize } from '../store/sampling.ts';
import type { Meter } from './meter.ts';

/** Sizes on the disk in bytes; null when unknown. */
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
  /** None where the database counts its tables itself. */
  readonly tableSizes: (() => Promise<readonly TableSize[]>) | null;
  /** Age of the oldest write that waits for the disk, in ms. */
  readonly lagMs: () => number;
}

export interface Sample {
  readonly backlog: Backlog;
  readonly disk: DiskSizes | null;
  readonly tables: readonly TableSize[];
  /** Payloads that could not be read and are kept, and their bytes. */
  readonly quarantine: { readonly payloads: number; readonly bytes: number };
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
  let quarantine: Sample['quarantine'] = { payloads: 0, bytes: 0 };
  let tablesMs = Number.NEGATIVE_INFINITY;
  let confirmedMs = Math.round(clock.utcMs()) - settledMs;
  const takeSample = async (): Promise<void> => {
    const toMs = Math.round(clock.utcMs()) - settledMs;
    // A wall clock that was set back begins anew: nothing is counted twice.
    if (toMs > confirmedMs) {
      for (const tookMs of await confirmedWithin(db, { fromMs: confirmedMs, toMs })) {
        meter.confirmations.observe(tookMs / 1000);
      }
    }
    confirmedMs = toMs;
    const backlog = await readBacklog(db);
    if (clock.monoMs() - tablesMs >= tablesPeriodMs) {
      if (tableSizes !== null) tables = await tableSizes();
      quarantine = await quarantineTotals(db);
      tablesMs = clock.monoMs();
    }
    last = {
      backlog,
      disk: diskSizes === null ? null : diskSizes(),
      tables,
      quarantine,
      atMs: clock.monoMs(),
    };
  };
  const run = async (): Promise<number> => {
    if (lagMs() > lagMostMs) return periodMs;
    await takeSample().catch((thrown: unknown) =>
      log.warn('metrics_sample_failed', { reason: messageOf(thrown) }),
    );
    return periodMs;
  };
  const task = createPeriodicTask({ clock, firstMs: 0, run });
  return { last: () => last, close: () => task.close() };
}
