// What the leader of a run and the process of a part say to each other over the channel between them, and the clock that both
// read. Both ends are of one build, started by each other, so nothing is checked but the kind.
import type { LedgerNotes, VehicleNotes } from '../core/ledger-types.ts';
import type { MeasuredName, PartLook, PartOrder, PartSetup } from './part.ts';

export type ToPart =
  | { readonly kind: 'setup'; readonly setup: PartSetup }
  /** The run begins at that moment of the machine's monotonic clock (`process.hrtime`), ms. */
  | { readonly kind: 'begin'; readonly startHrMs: number }
  | { readonly kind: 'order'; readonly order: PartOrder }
  | { readonly kind: 'close' };

/** What was measured since the last report. */
export type Measured = Readonly<Record<MeasuredName, Float64Array>>;

export interface ProcessLook extends PartLook {
  /** CPU time of the process since it was set up, ms, and its resident memory, MiB. */
  readonly cpuMs: number;
  readonly rssMb: number;
  /** The most by which its event loop was late since the last report, ms. */
  readonly lagMs: number;
}

export type FromPart =
  | { readonly kind: 'ready' }
  | { readonly kind: 'report'; readonly look: ProcessLook; readonly measured: Measured }
  | { readonly kind: 'say'; readonly text: string }
  /** Some of the vehicles, so that no message grows too large. */
  | { readonly kind: 'vehicles'; readonly vehicles: readonly VehicleNotes[] }
  | { readonly kind: 'closed'; readonly rest: Omit<LedgerNotes, 'vehicles'> }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string; readonly hint: string };

/** The machine's monotonic clock, the same for all processes, ms. */
export const hrMs = (): number => Number(process.hrtime.bigint()) / 1e6;
