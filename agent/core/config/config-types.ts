// The types of the vehicle's configuration machine, and its limits. Data only; what they mean in motion is in
// `config-slots.ts`.
import type { ContentVerdict, DecodeZones } from '../../../src/core/config-content.ts';
import type { Settings } from '../../../src/core/settings/settings.ts';
import type { Ack } from '../../../src/core/wire.ts';
import type { EventDraft } from '../protection/command-record.ts';
import type { Failure, SlotName, SlotRecord } from './config-record.ts';
import type { ConfigZone } from './config-zones.ts';

export const trialLimits = {
  /** Link time without any acknowledgement after which a trial has failed. */
  quietMs: 120_000,
  /** ... and link time in all: a backlog that drains may take longer, but not for ever. */
  linkMostMs: 1_800_000,
  /** Starts of the agent that a trial outlives. */
  startsMost: 1,
  /** A content that failed so often is not tried again. */
  failuresMost: 3,
  /** A write that failed is tried again after this. */
  retryMs: 30_000,
  /** Without a number of the event that tells of the trial for this long it is told again. */
  tellAgainMs: 60_000,
  /** Longest stretch of link time that one look adds; a machine that slept was not connected. */
  lookMostMs: 5000,
} as const;

/** A configuration that was read without a fault. */
export type Content = Extract<ContentVerdict<ConfigZone>, { kind: 'ok' }>;

/** A write that is under way, and what it leads to once it is durable. */
export interface SlotWrite {
  readonly slot: SlotName;
  readonly record: SlotRecord;
  readonly aim: 'try' | 'keep' | 'note' | 'fail';
  /** For people, when it ends a trial. */
  readonly reason: string;
  /** True for what must be written however long it takes; otherwise a failed write gives it up. */
  readonly isStubborn: boolean;
  /** When to try again; null while the store works on it. */
  readonly retryAtMs: number | null;
}

export interface Trial {
  /** Sequence number of CONFIG_COMPLETE in this boot; null until it is durable. */
  readonly seq: number | null;
  readonly toldMs: number;
  readonly lookedMs: number;
  readonly acknowledged: number;
  readonly quietMs: number;
  readonly linkMs: number;
}

export interface ConfigState {
  /** As they are on disk, as far as is known. */
  readonly slots: Readonly<Record<SlotName, SlotRecord | null>>;
  /** The slot that holds now, be it on trial; null: the installer's file. */
  readonly active: SlotName | null;
  readonly write: SlotWrite | null;
  readonly trial: Trial | null;
  /** Of the newest write. */
  readonly serial: number;
  readonly failures: readonly Failure[];
  /** What the start has to tell or do; empty afterwards. */
  readonly atStart: readonly ConfigEffect[];
}

export type ConfigInput =
  | { readonly kind: 'start' }
  /** A whole whose signature and SHA-256 were checked. */
  | { readonly kind: 'received'; readonly version: number; readonly sha256: string; readonly text: string }
  /** A whole that could not be unpacked. */
  | { readonly kind: 'refused'; readonly version: number; readonly sha256: string; readonly reason: string }
  | { readonly kind: 'written'; readonly slot: SlotName; readonly fault: string | null }
  /** The event that tells of the trial is durable under this number; null: the disk does not take it now. */
  | { readonly kind: 'stored'; readonly seq: number | null }
  | { readonly kind: 'acked'; readonly ranges: Ack['ranges'] }
  /** `acknowledged` counts events that the broker acknowledged since the start. */
  | { readonly kind: 'time'; readonly isUp: boolean; readonly acknowledged: number };

export type ConfigEffect =
  | { readonly kind: 'write'; readonly slot: SlotName; readonly bytes: Uint8Array }
  | { readonly kind: 'apply'; readonly settings: Settings; readonly zones: readonly ConfigZone[] }
  /** `isAwaited`: its number is to come back as `stored`. */
  | { readonly kind: 'event'; readonly draft: EventDraft; readonly isAwaited: boolean }
  | {
      readonly kind: 'log';
      readonly level: 'info' | 'warn' | 'error';
      readonly event: string;
      readonly fields: Readonly<Record<string, unknown>>;
    };

export interface ConfigGiven {
  readonly nowMs: number;
  /** The installer's settings. */
  readonly base: Settings;
  readonly decodeZones: DecodeZones<ConfigZone>;
}

export interface ConfigStep {
  readonly state: ConfigState;
  readonly effects: readonly ConfigEffect[];
}
