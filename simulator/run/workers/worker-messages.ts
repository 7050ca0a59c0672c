// Messages between the main process of a run and its worker processes, and the clock that both read. Both ends are of one build, so
// only the kind of a message is checked.
import type { LedgerNotes, VehicleNotes } from '../../core/ledger/ledger-types.ts';
import { type MeasuredName } from '../../core/scenario/thresholds.ts';
import type { WorkerInstruction, WorkerSetup, WorkerStatus } from './worker.ts';

export type ToWorker =
  | { readonly kind: 'setup'; readonly setup: WorkerSetup }
  /** The start of the run on the machine's monotonic clock (`process.hrtime`), ms. */
  | { readonly kind: 'begin'; readonly startHrMs: number }
  | { readonly kind: 'instruct'; readonly instruction: WorkerInstruction }
  | { readonly kind: 'close' };

/** Latencies since the last report, ms. */
export type Measured = Readonly<Record<MeasuredName, Float64Array>>;

export interface ProcessStatus extends WorkerStatus {
  /** CPU time of the process since it was set up, ms, and its resident memory, MiB. */
  readonly cpuMs: number;
  readonly rssMb: number;
  /** Greatest delay of its event loop since the last report, ms. */
  readonly lagMs: number;
}

export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'report'; readonly status: ProcessStatus; readonly measured: Measured }
  | { readonly kind: 'say'; readonly text: string }
  /** Some of the vehicles: messages are of bounded size. */
  | { readonly kind: 'vehicles'; readonly vehicles: readonly VehicleNotes[] }
  | { readonly kind: 'closed'; readonly rest: Omit<LedgerNotes, 'vehicles'> }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string; readonly hint: string };

/** The machine's monotonic clock, the same in all processes, ms. */
export const hrMs = (): number => Number(process.hrtime.bigint()) / 1e6;
