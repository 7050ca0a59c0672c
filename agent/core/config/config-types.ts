// Types and limits of the vehicle's configuration machine. Data only; the transitions are in `config-slots.ts`.

import type { ZoneConfig } from '../../../src/core/geo/zone-config.ts';
import type { Settings } from '../../../src/core/settings/settings.ts';
import type { ContentVerdict, DecodeZones } from '../../../src/core/wire/config-content.ts';
import type { Ack } from '../../../src/core/wire/wire.ts';
import type { EventDraft } from '../protection/command-record.ts';
import type { Failure, SlotName, SlotRecord } from './config-record.ts';

export const trialLimits = {
  /** Link time without any acknowledgement after which a trial has failed. */
  quietMs: 120_000,
  /** Total link time after which a trial has failed: a backlog that drains may take longer, but not for ever. */
  linkMostMs: 1_800_000,
  /** Number of agent starts that a trial survives. */
  startsMost: 1,
  /** Number of failures after which a content is not tried again. */
  failuresMost: 3,
  /** Pause before a failed write is tried again. */
  retryMs: 30_000,
  /** The event that reports the trial is repeated if it has no number after this time. */
  reportAgainMs: 60_000,
  /** Maximum link time that one step adds; a machine that slept was not connected. */
  lookMostMs: 5000,
} as const;

export type Content = Extract<ContentVerdict<ZoneConfig>, { kind: 'ok' }>;

/** A write in progress, and its effect once it is durable. */
export interface SlotWrite {
  readonly slot: SlotName;
  readonly record: SlotRecord;
  readonly aim: 'try' | 'keep' | 'note' | 'fail';
  /** Reason for operators, when it ends a trial. */
  readonly reason: string;
  /** True: retried until it succeeds. False: a failed write is dropped. */
  readonly isStubborn: boolean;
  /** Monotonic time of the next try, ms; null while the store works on it. */
  readonly retryAtMs: number | null;
}

export interface Trial {
  /** Sequence number of CONFIG_COMPLETE in this boot; null until it is durable. */
  readonly seq: number | null;
  readonly reportedMs: number;
  readonly lookedMs: number;
  readonly acknowledged: number;
  readonly quietMs: number;
  readonly linkMs: number;
}

export interface ConfigState {
  /** The slots on disk, as far as known. */
  readonly slots: Readonly<Record<SlotName, SlotRecord | null>>;
  /** The active slot, possibly on trial; null: the installer's file. */
  readonly active: SlotName | null;
  readonly write: SlotWrite | null;
  readonly trial: Trial | null;
  readonly serial: number;
  readonly failures: readonly Failure[];
  /** Reports and effects of the start; empty afterwards. */
  readonly atStart: readonly ConfigEffect[];
}

export type ConfigInput =
  | { readonly kind: 'start' }
  /** A complete content whose signature and SHA-256 were checked. */
  | { readonly kind: 'received'; readonly version: number; readonly sha256: string; readonly text: string }
  /** A complete content that could not be unpacked. */
  | { readonly kind: 'refused'; readonly version: number; readonly sha256: string; readonly reason: string }
  | { readonly kind: 'written'; readonly slot: SlotName; readonly fault: string | null }
  /** The event that reports the trial is durable under this number; null: the disk refuses it now. */
  | { readonly kind: 'stored'; readonly seq: number | null }
  | { readonly kind: 'acked'; readonly ranges: Ack['ranges'] }
  /** `acknowledged`: number of events that the broker acknowledged since the start. */
  | { readonly kind: 'time'; readonly isUp: boolean; readonly acknowledged: number };

export type ConfigEffect =
  | { readonly kind: 'write'; readonly slot: SlotName; readonly bytes: Uint8Array }
  | { readonly kind: 'apply'; readonly settings: Settings; readonly zones: readonly ZoneConfig[] }
  /** `isAwaited`: its number must come back as `stored`. */
  | { readonly kind: 'event'; readonly draft: EventDraft; readonly isAwaited: boolean }
  | {
      readonly kind: 'log';
      readonly level: 'info' | 'warn' | 'error';
      readonly event: string;
      readonly fields: Readonly<Record<string, unknown>>;
    };

export interface ConfigGiven {
  readonly nowMs: number;
  /** Settings of the installer. */
  readonly base: Settings;
  readonly decodeZones: DecodeZones<ZoneConfig>;
}

export interface ConfigStep {
  readonly state: ConfigState;
  readonly effects: readonly ConfigEffect[];
}
