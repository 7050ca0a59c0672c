// The cursor of a listing by event time, opaque to clients. It grants nothing; its checksum only rejects a cursor of
// another listing, or a changed one, instead of returning a wrong page.
import { createHash } from 'node:crypto';
import { AppError } from '../../../src/core/errors.ts';
import type { EventKey } from '../../store/events/event-keys.ts';

const keyPattern = /^(\d{1,16})\.(\d{1,16})\.([0-9a-f]{12})$/;

const checkOf = (subject: string, key: string): string =>
  createHash('sha256').update(`${subject}\n${key}`).digest('hex').slice(0, 12);

/** @param subject what is listed, as one text; a cursor fits no other. */
export function encodeCursor(subject: string, { timestampMs, eventNo }: EventKey): string {
  const key = `${timestampMs}.${eventNo}`;
  return Buffer.from(`${key}.${checkOf(subject, key)}`).toString('base64url');
}

/** @throws AppError `invalid_content` for a text that `encodeCursor` did not make for this subject. */
export function decodeCursor(subject: string, text: string): EventKey {
  const plain = Buffer.from(text, 'base64url').toString('latin1');
  const [, timestamp = '', eventNo = '', check] = keyPattern.exec(plain) ?? [];
  if (check !== checkOf(subject, `${timestamp}.${eventNo}`)) {
    throw new AppError('invalid_content', 'The cursor does not belong to this listing', {
      details: [{ pointer: '/cursor', message: 'must be `next` of the page before, of the same path' }],
      hint: 'Begin again without a cursor.',
    });
  }
  return { timestampMs: Number(timestamp), eventNo: Number(eventNo) };
}
