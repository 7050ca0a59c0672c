// One of the two slots of a vehicle's configuration: its content, whether it is on trial, and the contents that failed. Pure. A slot that does not
// parse exactly is damaged; none of it is guessed.
import { parseObject } from '../../../src/core/wire/wire-checks.ts';

export const slotNames = ['a', 'b'] as const;
export type SlotName = (typeof slotNames)[number];

export const otherSlot = (slot: SlotName): SlotName => (slot === 'a' ? 'b' : 'a');

export interface Failure {
  readonly sha256: string;
  readonly count: number;
}

const rememberedFailures = 4;

export interface SlotRecord {
  /** Grows with every write of either slot: the higher one is newer. */
  readonly serial: number;
  readonly state: 'trial' | 'good' | 'failed';
  readonly version: number;
  readonly sha256: string;
  /** Starts of the agent since the trial began. */
  readonly starts: number;
  /** The newest contents that failed, newest last. */
  readonly failures: readonly Failure[];
  /** Canonical text of the configuration; '' when it failed. */
  readonly content: string;
}

/** A slot as read by the store. */
export type SlotFile =
  | { readonly kind: 'absent' }
  | { readonly kind: 'damaged'; readonly reason: string }
  | { readonly kind: 'sound'; readonly bytes: Uint8Array };

export type SlotFiles = Readonly<Record<SlotName, SlotFile>>;

export const noSlots: SlotFiles = { a: { kind: 'absent' }, b: { kind: 'absent' } };

const format = 1;

/** Bytes of a slot; the store adds its checksum. */
export function encodeSlot(record: SlotRecord): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ format, ...record }));
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isHash = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);

function failuresOf(value: unknown): readonly Failure[] | null {
  if (!Array.isArray(value) || value.length > rememberedFailures) return null;
  const failures: Failure[] = [];
  for (const item of value as readonly unknown[]) {
    if (typeof item !== 'object' || item === null) return null;
    const { sha256, count } = item as Readonly<Record<string, unknown>>;
    if (!isHash(sha256) || !isCount(count)) return null;
    failures.push({ sha256, count });
  }
  return failures;
}

/** Null: the bytes are not a slot of this version of the agent. Never throws. */
export function decodeSlot(bytes: Uint8Array): SlotRecord | null {
  const value = parseObject(bytes);
  if (value === null || value['format'] !== format) return null;
  const { serial, state, version, sha256, starts, content } = value;
  const failures = failuresOf(value['failures']);
  if (!isCount(serial) || !isCount(version) || !isHash(sha256) || !isCount(starts) || failures === null)
    return null;
  if (typeof content !== 'string' || (state !== 'trial' && state !== 'good' && state !== 'failed'))
    return null;
  return { serial, state, version, sha256, starts, failures, content };
}

/** Counts one more failure of a content; drops the oldest when there are too many. */
export function withFailure(failures: readonly Failure[], sha256: string): readonly Failure[] {
  const count = failureCount(failures, sha256) + 1;
  const others = failures.filter((failure) => failure.sha256 !== sha256);
  return [...others, { sha256, count }].slice(-rememberedFailures);
}

export function failureCount(failures: readonly Failure[], sha256: string): number {
  return failures.find((failure) => failure.sha256 === sha256)?.count ?? 0;
}
