// What a vehicle does with firmware jobs and messages: it answers each once, keeps little, and changes nothing else.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerJob, createInboxRecord, inboxLimits, keepMessage } from '../../agent/core/link/inbox.ts';
import { eventFault } from '../../src/core/events/event-check.ts';
import type { FirmwareBody, MessageBody } from '../../src/core/wire/wire.ts';

const job: FirmwareBody = {
  accountID: 'acme',
  deviceID: 'truck-1',
  commandID: 'c1',
  boot: 'b1',
  issuedMs: 1,
  expiresMs: 2,
  version: '1.4.0',
  url: 'https://updates.example.com/agent.deb',
  sha256: '0'.repeat(64),
  issuer: 'anna',
  cancel: false,
};

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

describe('a firmware job', () => {
  it('is begun and refused in one answer, once', () => {
    const first = answerJob(createInboxRecord(), job);
    expect(first.events).toEqual([
      { statusCode: 64_834, commandID: 'c1', commandState: 'executing', attributes: { version: '1.4.0' } },
      {
        statusCode: 64_836,
        commandID: 'c1',
        commandState: 'refused',
        attributes: { version: '1.4.0', reason: 'this unit is updated by its package manager' },
      },
    ]);
    expect(answerJob(first.record, job)).toEqual({ record: first.record, events: [] });
    expect(JSON.stringify(first.record)).not.toContain('https');
  });

  it('that is withdrawn before it came never begins', () => {
    const withdrawn = answerJob(createInboxRecord(), { ...job, cancel: true });
    expect(withdrawn.events).toMatchObject([{ statusCode: 4358, commandState: 'cancelled' }]);
    expect(answerJob(withdrawn.record, job).events).toEqual([]);
  });
});

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
        const step = keepMessage(answerJob(record, { ...job, commandID: `c${at}` }).record, {
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
      expect(record.jobs.length).toBeLessThanOrEqual(inboxLimits.jobs);
      expect(JSON.stringify(record).length).toBeLessThanOrEqual(8192);
    }),
    { numRuns: 300 },
  );
});
