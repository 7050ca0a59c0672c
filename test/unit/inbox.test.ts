// What a vehicle does with messages of operators: it confirms each once, and keeps little.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createInboxRecord, inboxLimits, keepMessage } from '../../agent/core/link/inbox.ts';
import { eventFault } from '../../src/core/events/event-check.ts';
import type { MessageBody } from '../../src/core/wire/wire.ts';

const note: MessageBody = {
  accountID: 'acme',
  deviceID: 'truck-1',
  messageID: 'm1',
  boot: 'b1',
  sentMs: 1,
  expiresMs: 2,
  from: 'olga',
  text: 'Please call the depot',
};

describe('a message', () => {
  it('is kept and confirmed, once', () => {
    const first = keepMessage(createInboxRecord(), note);
    expect(first.record.messages).toEqual([
      { messageID: 'm1', from: 'olga', text: 'Please call the depot', sentMs: 1 },
    ]);
    expect(first.events).toEqual([
      { statusCode: 4393, commandID: 'm1', commandState: 'received', attributes: { from: 'olga' } },
    ]);
    expect(keepMessage(first.record, note)).toEqual({ record: first.record, events: [] });
  });
});

it('the record stays small whatever comes, keeps the newest, and every answer is a sound event', () => {
  const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 500 });
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 40 }), (texts) => {
      let record = createInboxRecord();
      for (const [at, one] of texts.entries()) {
        const step = keepMessage(record, {
          ...note,
          messageID: `m${at}`,
          text: one,
        });
        record = step.record;
        for (const draft of step.events) {
          const event = { seq: 1, timestamp: 1, upMs: 1, timeQuality: 'gnss', ...draft } as const;
          expect(eventFault(event)).toBeNull();
        }
      }
      expect(record.messages.at(-1)?.text).toBe(texts.at(-1));
      expect(record.messages.length).toBeLessThanOrEqual(inboxLimits.messages);
      expect(JSON.stringify(record).length).toBeLessThanOrEqual(8192);
    }),
    { numRuns: 300 },
  );
});
