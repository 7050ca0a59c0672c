// Input and output of the alarms in one step. Types and small helpers only. Null means unknown, never a guess, except
// `engine`, which is an estimate that serves alarms alone, never the interlock.
import type { AttributeValue } from '../../../src/core/events/event.ts';
import type { StatusName } from '../../../src/core/events/status-codes.ts';
import type { AlarmSettings } from '../../../src/core/settings/alarms.ts';
import type { Sensed } from '../evidence/contact.ts';
import type { Fix } from '../gnss/epochs.ts';
import type { EpisodeChange } from './episode.ts';

/** What the receiver reported in this step. A doubtful fix must not be used. */
export type Epoch =
  | { readonly kind: 'fix' | 'doubtful'; readonly fix: Fix }
  | { readonly kind: 'void'; readonly atMs: number };

export interface AlarmInput {
  /** Monotonic. */
  readonly nowMs: number;
  readonly settings: AlarmSettings;
  /** The wire, debounced; null where none is fitted or it is not known. */
  readonly ignition: Sensed;
  readonly motion: Sensed;
  readonly externalPower: boolean | null;
  readonly cabinDoor: boolean | null;
  readonly cargoDoor: boolean | null;
  /** As read back from the board; null where no cargo lock is fitted or it is not known. */
  readonly isCargoLocked: boolean | null;
  readonly supplyV: number | null;
  readonly backupV: number | null;
  readonly rpm: number | null;
  readonly passengers: number | null;
  readonly isLinkUp: boolean;
  /** The receiver's port is open and bytes come. */
  readonly isReceiverOpen: boolean;
  /** Null in steps without one. */
  readonly epoch: Epoch | null;
}

/** One event that an alarm wants recorded. */
export interface AlarmReport {
  readonly name: StatusName;
  /** Monotonic time of the reported fact. */
  readonly atMs: number;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  /** Place at that time, if known; undefined: the present place, if `atMs` is now. */
  readonly fix?: Fix | null;
}

export interface AlarmStep<State> {
  readonly state: State;
  readonly reports: readonly AlarmReport[];
}

/** Without a plausible fix for this long the speed is unknown to an alarm; slow receivers send one in five seconds. */
export const fixLifeMs = 20_000;

export const seconds = (ms: number): number => Math.round(ms / 1000);

/** Number of suppressed begins, for the attributes of the next begin; empty when none. */
export function suppressedCount(change: EpisodeChange): { readonly suppressed?: number } {
  return change.kind === 'begin' && change.suppressed > 0 ? { suppressed: change.suppressed } : {};
}

/** Duration for the attributes of an end; absent when the begin lies before this start of the agent. */
export function durationOf(change: EpisodeChange): { readonly durationS?: number } {
  if (change.kind !== 'end' || change.sinceMs === null) return {};
  return { durationS: Math.max(0, seconds(change.endMs - change.sinceMs)) };
}
