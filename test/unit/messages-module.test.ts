// What a vehicle does with messages of operators: it confirms each once, and keeps little.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type KeptMessage, keepMessage, messageLimits } from '../../agent/core/messages/messages-module.ts';
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
    const first = keepMessage([], note);
    expect(first?.messages).toEqual([
      { messageID: 'm1', from: 'olga', text: 'Please call the depot', sentMs: 1 },
    ]);
    expect(first?.confirmed).toEqual({
      statusCode: 4393,
      commandID: 'm1',
      commandState: 'received',
      attributes: { from: 'olga' },
    });
    expect(keepMessage(first?.messages ?? [], note)).toBeNull();
  });
});

it('the record stays small whatever comes, keeps the newest, and every answer is a sound event', () => {
  const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 500 });
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 40 }), (texts) => {
      let messages: readonly KeptMessage[] = [];
      for (const [at, one] of texts.entries()) {
        const step = keepMessage(messages, { ...note, messageID: `m${at}`, text: one });
        if (step === null) throw new Error('a new message was taken for a known one');
        messages = step.messages;
        const event = { seq: 1, timestamp: 1, upMs: 1, timeQuality: 'gnss', ...step.confirmed } as const;
        expect(eventFault(event)).toBeNull();
      }
      expect(messages.at(-1)?.text).toBe(texts.at(-1));
      expect(messages.length).toBeLessThanOrEqual(messageLimits.kept);
      expect(JSON.stringify(messages).length).toBeLessThanOrEqual(8192);
    }),
    { numRuns: 300 },
  );
});
