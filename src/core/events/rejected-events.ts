// Events of a payload that could not be read, separate from those that could. They form a payload with their boot, which can be decoded again after a
// correction. Pure.
import { type EventBatch, eventLimits } from './event.ts';

/** The unreadable events of a payload that has readable ones too. */
export interface RejectedEvents {
  readonly reason: string;
  /** A JSON payload of these events; null: it would be too long, so the whole payload represents them. */
  readonly payload: Uint8Array | null;
}

export type Decoded =
  | { readonly ok: true; readonly batch: EventBatch; readonly rejected?: RejectedEvents }
  | { readonly ok: false; readonly reason: string };

/** Maximum length of the list of reasons, in characters. */
const reasonsMost = 400;

/** The events of one payload that could not be read. */
export class Rejects {
  readonly #boot: string | null;
  readonly #rejected: { readonly event: unknown; readonly reason: string }[] = [];

  constructor(boot: string | null) {
    this.#boot = boot;
  }

  /** @param event in the JSON form. */
  add(event: unknown, reason: string): void {
    this.#rejected.push({ event, reason });
  }

  /** Adds an event whose attributes could not all be read. @param where prefix of the reason. */
  addCut(event: unknown, where: string): void {
    this.add(event, `${where}attributes are longer than ${eventLimits.attributesBytes} characters`);
  }

  /** The good events with the rejected ones; a fault when none is good. */
  decoded(batch: EventBatch): Decoded {
    if (this.#rejected.length === 0) return { ok: true, batch };
    const events = this.#rejected.map(({ event }) => event);
    const reasons = this.#rejected.map(({ reason }) => reason);
    const [first = ''] = reasons;
    const all = reasons.join('; ');
    const reason = all.length <= reasonsMost ? all : `${first} (and ${reasons.length - 1} further events)`;
    if (batch.events.length === 0) return { ok: false, reason };
    const boot = this.#boot;
    const payload = new TextEncoder().encode(JSON.stringify(boot === null ? events[0] : { boot, events }));
    return {
      ok: true,
      batch,
      rejected: { reason, payload: payload.length <= eventLimits.payloadBytes ? payload : null },
    };
  }
}
