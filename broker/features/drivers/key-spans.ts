// Keys and the spans of time in which they belong to a driver. Pure.
import { keyForm } from '../../../src/core/driver-key.ts';
import { AppError } from '../../../src/core/errors.ts';
import { invalidAt } from '../../api/base/input-members.ts';

/** From `fromMs` on, up to and without `untilMs`; null: still. */
export interface KeySpan {
  readonly keyID: string;
  readonly fromMs: number;
  readonly untilMs: number | null;
}

export interface OwnedSpan extends KeySpan {
  readonly driverNo: number;
  readonly driverID: string;
  readonly displayName: string;
}

/** A span as sent, in epoch seconds; `endTime` 0: still. */
interface SentSpan {
  readonly keyID: string;
  readonly startTime?: number;
  readonly endTime?: number;
}

export const covers = ({ fromMs, untilMs }: KeySpan, atMs: number): boolean =>
  fromMs <= atMs && (untilMs === null || atMs < untilMs);

const overlap = (one: KeySpan, other: KeySpan): boolean =>
  one.keyID === other.keyID &&
  (other.untilMs === null || one.fromMs < other.untilMs) &&
  (one.untilMs === null || other.fromMs < one.untilMs);

export interface KeyPlan {
  /** All spans of the driver from now on. */
  readonly spans: readonly KeySpan[];
  /** Spans of other drivers that end where one of these begins, with their new end. */
  readonly ended: readonly OwnedSpan[];
}

interface Given {
  /** Spans of other drivers of the same keys. */
  readonly others: readonly OwnedSpan[];
  readonly nowMs: number;
  /** A key that another driver still has is taken over. */
  readonly takesOver: boolean;
}

/** Without a given start a key begins where another driver's span of it ended last, or with the first record. */
function startMs(keyID: string, { others, nowMs, takesOver }: Given): number {
  let fromMs = 0;
  for (const one of others) {
    if (one.keyID !== keyID) continue;
    if (one.untilMs !== null && one.untilMs <= nowMs) fromMs = Math.max(fromMs, one.untilMs);
    else if (takesOver) return nowMs;
  }
  return fromMs;
}

function spanOf({ keyID: text, startTime, endTime = 0 }: SentSpan, at: number, given: Given): KeySpan {
  const keyID = keyForm(text);
  if (keyID === '') throw invalidAt(`/keys/${at}/keyID`, 'is empty');
  const fromMs = startTime === undefined ? startMs(keyID, given) : startTime * 1000;
  const untilMs = endTime === 0 ? null : endTime * 1000;
  if (fromMs > given.nowMs) throw invalidAt(`/keys/${at}/startTime`, 'is in the future');
  if (untilMs !== null && untilMs <= fromMs)
    throw invalidAt(`/keys/${at}/endTime`, 'is not after the start of the span');
  return { keyID, fromMs, untilMs };
}

/**
 * Plans the keys of a driver.
 * @throws AppError `invalid_content` for a span that cannot be, `conflict` for a key that was another driver's at the time.
 */
export function planKeys(sent: readonly SentSpan[], given: Given): KeyPlan {
  const spans: KeySpan[] = [];
  const ended: OwnedSpan[] = [];
  let { others } = given;
  for (const [at, one] of sent.entries()) {
    const span = spanOf(one, at, given);
    const twin = spans.findIndex((other) => overlap(span, other));
    if (twin >= 0) throw invalidAt(`/keys/${at}`, `overlaps /keys/${twin}, a span of the same key`);
    for (const other of others) {
      if (!overlap(span, other)) continue;
      if (!given.takesOver || other.fromMs >= span.fromMs) {
        const message = `is of driver ${JSON.stringify(other.driverID)} at that time`;
        throw new AppError('conflict', `Key ${span.keyID} ${message}`, {
          details: [{ pointer: `/keys/${at}/keyID`, message }],
          hint: 'End the other span first, or send `takesOver` with the time from which the key belongs to this driver.',
        });
      }
      const shorter = { ...other, untilMs: span.fromMs };
      ended.push(shorter);
      others = others.map((known) => (known === other ? shorter : known));
    }
    spans.push(span);
  }
  return { spans, ended };
}
