// Which requests a unit answers: once each, over any history of replays, restarts and crowds; and how an answer is cut.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutExcerpt } from '../../agent/core/diagnostic/log-excerpt.ts';
import {
  createRequestRecord,
  createRequests,
  judgeRequest,
  parseRequestRecord,
  type RequestsState,
  recordAnswered,
  requestRules,
} from '../../agent/core/diagnostic/requests.ts';
import { eventLimits } from '../../src/core/events/event.ts';
import { decodeRequest, requestKinds, requestLimits } from '../../src/core/wire/device-request.ts';

const body = (at: number, kind: (typeof requestKinds)[number] = 'position') => ({
  requestID: `r${at}`,
  kind,
  issuedMs: 1000 + at,
  expiresMs: 1e12,
});
const now = (monoMs: number, latestUtcMs: number | null = null) => ({ monoMs, latestUtcMs });
const fresh = () => createRequests(createRequestRecord());

describe('a request', () => {
  it('is answered once, whatever is replayed and however often the unit restarts', () => {
    const step = fc.oneof(
      { weight: 8, arbitrary: fc.record({ kind: fc.constant('envelope' as const), at: fc.nat(80) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), at: fc.constant(0) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('time' as const), at: fc.nat(3_600_000) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const ended = new Map<string, number>();
        let state: RequestsState = fresh();
        let monoMs = 0;
        for (const { kind, at } of steps) {
          if (kind === 'time') monoMs += at;
          if (kind === 'restart')
            state = createRequests(parseRequestRecord(JSON.parse(JSON.stringify(state.record))));
          if (kind !== 'envelope') continue;
          const verdict = judgeRequest(state, body(at), now(monoMs));
          if (verdict.kind === 'ignore') continue;
          state = verdict.kind === 'answer' ? recordAnswered(verdict.state, body(at)) : verdict.state;
          ended.set(`r${at}`, (ended.get(`r${at}`) ?? 0) + 1);
        }
        expect([...ended.values()].every((times) => times === 1)).toBe(true);
        expect(state.record.answered.length).toBeLessThanOrEqual(requestRules.remembered);
        expect(JSON.stringify(state.record).length).toBeLessThan(8192);
      }),
      { numRuns: 300 },
    );
  });

  it('that is being answered is not begun again, unless its reading got lost', () => {
    const first = judgeRequest(fresh(), body(1, 'diagnostic'), now(0));
    if (first.kind !== 'answer') throw new Error('not taken');
    expect(judgeRequest(first.state, body(1, 'diagnostic'), now(1000)).kind).toBe('ignore');
    expect(judgeRequest(first.state, body(1, 'diagnostic'), now(31_000)).kind).toBe('answer');
  });

  it('that has expired by the latest that it can be now is not answered; without any time it is', () => {
    const short = { ...body(1), expiresMs: 5000 };
    expect(judgeRequest(fresh(), short, now(0, 5001)).kind).toBe('ignore');
    expect(judgeRequest(fresh(), short, now(0, 5000)).kind).toBe('answer');
    expect(judgeRequest(fresh(), short, now(0)).kind).toBe('answer');
  });

  it('beyond the rate is refused in words, and beyond that in silence', () => {
    let state = fresh();
    const kinds: string[] = [];
    for (let at = 1; at <= 10; at++) {
      const verdict = judgeRequest(state, body(at, 'log'), now(0));
      kinds.push(verdict.kind);
      if (verdict.kind !== 'ignore') state = recordAnswered(verdict.state, body(at));
    }
    expect(kinds).toEqual([
      ...Array<string>(2).fill('answer'),
      ...Array<string>(5).fill('refuse'),
      ...Array<string>(3).fill('ignore'),
    ]);
    // A crowd of one kind takes nothing from another.
    expect(judgeRequest(state, body(20, 'position'), now(0)).kind).toBe('answer');
    expect(judgeRequest(state, body(21, 'log'), now(900_000)).kind).toBe('answer');
  });

  it('is read from a damaged record without a fault', () => {
    for (const value of [
      null,
      1,
      'x',
      [],
      { answered: 1 },
      { answered: [null, { requestID: 1 }], floorMs: 'x' },
    ])
      expect(parseRequestRecord(value)).toEqual(createRequestRecord());
  });

  it('is decoded to the letter, or not at all', () => {
    const good = { ...body(1), accountID: 'acme', deviceID: 'truck-1', boot: 'b1' };
    const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
    expect(decodeRequest(bytes({ ...good, more: 1 }))).toEqual(good);
    for (const wrong of [
      { kind: 'reboot' },
      { kind: undefined },
      { expiresMs: 1 },
      { issuedMs: -1 },
      { boot: 'b/1' },
      { requestID: '' },
      { deviceID: 5 },
    ])
      expect(decodeRequest(bytes({ ...good, ...wrong }))).toBeNull();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
        expect(decodeRequest(noise)).toBeNull();
      }),
    );
  });
});

describe('an excerpt of a log', () => {
  const envelope = { kind: 'log', requestID: 'f'.repeat(64), part: 42, parts: 42 };
  const character = fc.oneof(
    fc.constantFrom(
      '"',
      '\\',
      '\n',
      '\u0000',
      '\u001f',
      '\u00e9',
      '\u4e16',
      '\ud83d\ude9a',
      '\ud800',
      'a',
      ' ',
    ),
    fc.string({ minLength: 1, maxLength: 40 }),
  );
  const text = fc.array(character, { maxLength: 200 }).map((parts) => parts.join(''));
  const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;

  it('is split into parts that fit into one event each and join to the text', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 120 }), (line, times) => {
        const log = `${line}\n`.repeat(times);
        const parts = cutExcerpt(log);
        expect(parts.length).toBeLessThanOrEqual(requestLimits.parts);
        for (const part of parts) {
          expect(bytesOf(part) - 2).toBeLessThanOrEqual(requestLimits.chunkBytes);
          expect(bytesOf({ ...envelope, text: part })).toBeLessThanOrEqual(eventLimits.attributesBytes);
        }
        expect(log.endsWith(parts.join(''))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('is the newest lines, whole ones, up to its limit', () => {
    const lines = Array.from({ length: 5000 }, (_one, at) => `{"n":${at},"text":"${'x'.repeat(at % 90)}"}\n`);
    const parts = cutExcerpt(lines.join(''));
    expect(parts).toHaveLength(requestLimits.parts);
    const kept = parts.join('').split(/(?<=\n)/);
    expect(kept).toEqual(lines.slice(-kept.length));
    expect(kept.length).toBeGreaterThan(500);
  });

  it('of one endless line is its end, of an empty log one empty part', () => {
    const parts = cutExcerpt(`${'x'.repeat(200_000)}END`);
    expect(parts.join('').endsWith('END')).toBe(true);
    expect(parts.length).toBeLessThanOrEqual(requestLimits.parts);
    expect(cutExcerpt('')).toEqual(['']);
  });
});
