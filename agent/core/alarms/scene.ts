// What the alarms look at in one step, and what they may say. Types and two helpers only; what is unknown is null here
// and never a guess, except `engine`, which is a guess by its nature and serves alarms alone, never the interlock.
import type { AttributeValue } from '../../../src/core/event.ts';
import type { AlarmSettings } from '../../../src/core/settings/alarms.ts';
import type { StatusName } from '../../../src/core/status-codes.ts';
import type { Sensed } from '../evidence/contact.ts';
import type { Fix } from '../gnss/epochs.ts';
import type { EpisodeNews } from './episode.ts';

/** What the receiver said in this step. A doubtful fix is not to be believed. */
export type Epoch =
  | { readonly kind: 'fix' | 'doubtful'; readonly fix: Fix }
  | { readonly kind: 'void'; readonly atMs: number };

export interface Scene {
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
  readonly isReceiverHeard: boolean;
  /** Null in steps without one. */
  readonly epoch: Epoch | null;
}

/** One event that an alarm wants recorded. */
export interface Told {
  readonly name: StatusName;
  /** Monotonic time of what it tells of. */
  readonly atMs: number;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  /** Where it was then, if it was known; undefined = where it is now, if that is `atMs`. */
  readonly fix?: Fix | null;
}

export interface AlarmStep<State> {
  readonly state: State;
  readonly told: readonly Told[];
}

/** Without a believable fix for this long the speed is unknown to an alarm; slow receivers send one in five seconds. */
export const fixLifeMs = 20_000;

export const seconds = (ms: number): number => Math.round(ms / 1000);

/** How many begins were kept back, in the attributes of the next one; nothing when none. */
export function keptBack(news: EpisodeNews): { readonly suppressed?: number } {
  return news.kind === 'begin' && news.suppressed > 0 ? { suppressed: news.suppressed } : {};
}

/** Duration in the attributes of an end; absent when the begin lies before this start of the agent. */
export function lasted(news: EpisodeNews): { readonly durationS?: number } {
  if (news.kind !== 'end' || news.sinceMs === null) return {};
  return { durationS: Math.max(0, seconds(news.endMs - news.sinceMs)) };
}
