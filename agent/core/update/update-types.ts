// The types of the update machine, its limits, and its record over power cuts. Data only; the transitions are in
// `update.ts` and `update-trial.ts`.
import type { VehicleEffect } from '../kernel/vehicle-events.ts';
import type { EventDraft } from '../protection/command-record.ts';

export const updateLimits = {
  /** Refusals in a row by a server or the disk before the job is ended; time without a network does not count. */
  refusals: 8,
  backoff: { baseMs: 30_000, capMs: 3_600_000, floorMs: 5000 },
  /** After a write that failed. */
  retryMs: 30_000,
  /** Starts that returned to the old release without a reason; then the job is ended. */
  swaps: 3,
  /** Share of the launcher's time after which an unhealthy release ends itself, so that it can report why. */
  giveUpShare: 0.9,
  reasonCharacters: 200,
} as const;

/** A firmware job as far as the vehicle needs it. */
export interface UpdateJob {
  readonly commandID: string;
  readonly version: string;
  readonly url: string;
  /** Of the archive, 64 lower-case hexadecimal digits. */
  readonly sha256: string;
  /** UTC ms of the broker's clock. */
  readonly issuedMs: number;
  readonly expiresMs: number;
}

/** What of the vehicle works. */
export interface WorkingConnections {
  readonly board: boolean;
  readonly gnss: boolean;
  /** Connected, welcomed, and an event of this start was acknowledged. */
  readonly broker: boolean;
}

/**
 * `fetching`: downloaded, checked and unpacked. `staged`: waits until the vehicle is parked. `swapping`: the launcher is
 * asked, or the new release is on trial.
 */
export interface ActiveUpdate extends UpdateJob {
  readonly phase: 'fetching' | 'staged' | 'swapping';
  /** Connections that worked just before the swap, and must work again after it. */
  readonly baseline: WorkingConnections;
  readonly swaps: number;
}

/** Survives restarts under a key of its own; written together with the events that report it. */
export interface UpdateRecord {
  readonly active: ActiveUpdate | null;
}

export const noUpdateRecord: UpdateRecord = { active: null };

/** What is known of releases when the agent starts. */
export interface ReleaseFacts {
  /** The release that is to prove itself; null: none. */
  readonly trial: string | null;
  /** The staged release that proved itself; null: the packaged one runs. */
  readonly confirmed: string | null;
  readonly rejected: readonly { readonly version: string; readonly reason: string }[];
}

export interface UpdateSetup {
  readonly running: string;
  /** Time of ignition off before a restart. */
  readonly parkedMs: number;
  /** Time for which the baseline must work without a break before the new release is confirmed. */
  readonly healthMs: number;
  /** Time limit of a release's proof, from each of its starts. */
  readonly trialMs: number;
  readonly facts: ReleaseFacts;
}

/**
 * Reason of a failed task. `final`: it will never succeed. `refused`: the server or disk refused, and may not later.
 * `network`: no server was reached. `halted`: it was stopped.
 */
export interface UpdateFault {
  readonly kind: 'final' | 'refused' | 'network' | 'halted';
  readonly reason: string;
}

/** Tasks of the updater; each but `halt` and `restart` is answered by one input. */
export type UpdateTask =
  /** Download, check, unpack: answered by `staged`. Files that exist already are used. */
  | { readonly kind: 'stage'; readonly job: UpdateJob }
  /** Ends a `stage`; what was downloaded stays. */
  | { readonly kind: 'halt' }
  /** Ends a `stage` and deletes all releases neither confirmed nor on trial; not answered. */
  | { readonly kind: 'tidy' }
  | { readonly kind: 'ask' | 'withdraw' | 'confirm'; readonly version: string }
  | { readonly kind: 'reject'; readonly version: string; readonly reason: string }
  /** The agent ends in good order, and the launcher starts what it chooses. */
  | { readonly kind: 'restart' };

export type UpdateInput =
  | { readonly kind: 'start' | 'time' }
  | { readonly kind: 'job'; readonly job: UpdateJob }
  | { readonly kind: 'cancel'; readonly commandID: string }
  | { readonly kind: 'staged'; readonly commandID: string; readonly fault: UpdateFault | null }
  /** The awaited commit; `durable` false: the disk does not take it now. */
  | { readonly kind: 'committed'; readonly durable: boolean }
  /** An answer of the updater; `fault` null: it is on the disk. */
  | {
      readonly kind: 'asked' | 'withdrawn' | 'confirmed' | 'rejected';
      readonly fault: string | null;
    };

/** Inputs from outside of the machine; downloaded bytes are counted for the data budget. */
export type UpdateResult = UpdateInput | { readonly kind: 'carried'; readonly bytes: number };

export interface UpdateTrial {
  readonly version: string;
  readonly sinceMs: number;
  readonly baseline: WorkingConnections;
  /** Worked at least once since the start. */
  readonly seen: WorkingConnections;
  /** Since when all that must work has worked; null while something does not. */
  readonly healthySinceMs: number | null;
}

export interface UpdateState {
  /** Null: no key of releases is pinned, or no launcher is in front of the agent. */
  readonly setup: UpdateSetup | null;
  readonly record: UpdateRecord;
  /** The answer that is waited for. */
  readonly work:
    | 'none'
    | 'staging'
    | 'committing'
    | 'asking'
    | 'withdrawing'
    | 'proving'
    | 'confirming'
    | 'rejecting'
    | 'restarting';
  /** Refusals in a row, and attempts in a row for the back-off. */
  readonly refusals: number;
  readonly attempts: number;
  readonly notBeforeMs: number;
  /** Why the update waits; empty when it does not. */
  readonly waiting: string;
  readonly trial: UpdateTrial | null;
}

/** The vehicle as the machine sees it at this moment. */
export interface VehicleSnapshot {
  readonly nowMs: number;
  /** Uniform in [0, 1). */
  readonly fraction: number;
  /** The latest UTC that it can be; null while unknown. */
  readonly latestUtcMs: number | null;
  /** Why no download is allowed now; null: it is. */
  readonly fetchObjection: string | null;
  /** Objection to a restart now; null: none. */
  readonly swapObjection: string | null;
  readonly parts: WorkingConnections;
}

export type UpdateEffect =
  | { readonly kind: 'task'; readonly task: UpdateTask }
  /** Commits the events with the record; `isAwaited`: its end is to come back as `committed`. */
  | { readonly kind: 'commit'; readonly events: readonly EventDraft[]; readonly isAwaited: boolean }
  | Extract<VehicleEffect, { kind: 'log' }>;

/** One step in the making. */
export interface UpdateDraft {
  state: UpdateState;
  readonly effects: UpdateEffect[];
  readonly look: VehicleSnapshot;
}
