// Payloads that arrived and are not answered yet. Each is answered exactly once: done, or failed with the fault that prevents its acknowledgement.
import { AppError } from '../../src/core/errors.ts';
import type { FleetEvent } from '../../src/core/events/event.ts';
import type { Ack } from '../../src/core/wire/wire.ts';
import type { Completion } from '../core/completion.ts';

/** Outcome of one payload. It is on disk in every case, except when the device was deleted. */
export type Outcome =
  | {
      readonly kind: 'stored';
      readonly fresh: readonly FleetEvent[];
      /** Null for bare events, whose only answer is the PUBACK. */
      readonly ack: Ack | null;
    }
  | { readonly kind: 'quarantined'; readonly reason: string }
  | { readonly kind: 'gone' };

export interface IngestCounts {
  readonly payloads: number;
  readonly events: number;
  readonly duplicates: number;
  /** Events under a number that another event of the same boot has. */
  readonly reused: number;
  readonly quarantined: number;
  readonly failures: number;
}

/** Open payloads, and counts since the start. */
export class OpenPayloads {
  readonly counts: { -readonly [Name in keyof IngestCounts]: number } = {
    payloads: 0,
    events: 0,
    duplicates: 0,
    reused: 0,
    quarantined: 0,
    failures: 0,
  };
  #open = 0;
  #isClosed = false;
  #onIdle: (() => void) | null = null;

  /** Opens a payload. False: it was failed, because the broker is stopping. */
  begin(completion: Completion<Outcome>): boolean {
    if (this.#isClosed) {
      completion.fail(new AppError('unavailable', 'the broker is stopping'));
      return false;
    }
    this.counts.payloads += 1;
    this.#open += 1;
    return true;
  }

  done(completion: Completion<Outcome>, outcome: Outcome): void {
    this.#open -= 1;
    try {
      completion.done(outcome);
    } finally {
      if (this.#open === 0) this.#onIdle?.();
    }
  }

  fail(completion: Completion<Outcome>, thrown: unknown): void {
    this.counts.failures += 1;
    this.#open -= 1;
    try {
      completion.fail(thrown);
    } finally {
      if (this.#open === 0) this.#onIdle?.();
    }
  }

  /** Accepts nothing more; resolves when everything is answered. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#open === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }
}
