// The line of new connections: order, bounds, and what a first record of TLS is; random lives of it against a plain list.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createHandshakeOrder,
  firstRecordMost,
  hasFirstRecord,
} from '../../broker/core/mqtt/handshake-order.ts';

interface Visitor {
  readonly name: number;
}

describe('the line of new connections', () => {
  it('admits connections in order of arrival, and none when every place is taken', () => {
    const line = createHandshakeOrder<Visitor>({ waitingMost: 10, atWorkMost: 2 });
    const [first, second, third] = [{ name: 1 }, { name: 2 }, { name: 3 }];
    for (const one of [first, second, third]) expect(line.enter(one)).toBe(true);
    expect([line.next(), line.next(), line.next()]).toEqual([first, second, null]);
    line.leave(second);
    expect(line.next()).toBe(third);
    expect([line.waiting(), line.atWork()]).toEqual([0, 2]);
  });

  it('is bounded: a full queue turns connections away, and a closed one frees its place', () => {
    const line = createHandshakeOrder<Visitor>({ waitingMost: 2, atWorkMost: 1 });
    const [first, second, third] = [{ name: 1 }, { name: 2 }, { name: 3 }];
    expect([line.enter(first), line.enter(second), line.enter(third)]).toEqual([true, true, false]);
    line.leave(first);
    expect(line.enter(third)).toBe(true);
    expect([line.next(), line.next()]).toEqual([second, null]);
  });

  it('does what a plain list would do, whatever happens in whatever order', () => {
    const action = fc.oneof(
      fc.record({ kind: fc.constant('enter' as const) }),
      fc.record({ kind: fc.constant('next' as const) }),
      fc.record({ kind: fc.constant('leave' as const), who: fc.nat() }),
    );
    const limits = fc.record({
      waitingMost: fc.integer({ min: 1, max: 6 }),
      atWorkMost: fc.integer({ min: 1, max: 4 }),
    });
    fc.assert(
      fc.property(limits, fc.array(action, { maxLength: 80 }), ({ waitingMost, atWorkMost }, actions) => {
        const line = createHandshakeOrder<Visitor>({ waitingMost, atWorkMost });
        const all: Visitor[] = [];
        let waiting: Visitor[] = [];
        let working: Visitor[] = [];
        for (const one of actions) {
          if (one.kind === 'enter') {
            const visitor = { name: all.length };
            all.push(visitor);
            const isRoom = waiting.length < waitingMost;
            expect(line.enter(visitor)).toBe(isRoom);
            if (isRoom) waiting.push(visitor);
          } else if (one.kind === 'next') {
            const expected = working.length < atWorkMost ? (waiting[0] ?? null) : null;
            expect(line.next()).toBe(expected);
            if (expected !== null) [waiting, working] = [waiting.slice(1), [...working, expected]];
          } else {
            const gone = all[one.who % Math.max(1, all.length)];
            if (gone === undefined) continue;
            line.leave(gone);
            waiting = waiting.filter((other) => other !== gone);
            working = working.filter((other) => other !== gone);
          }
          expect([line.waiting(), line.atWork()]).toEqual([waiting.length, working.length]);
        }
      }),
    );
  });
});

describe('the first record of TLS', () => {
  /** A record with a handshake message of so many bytes. */
  const record = (length: number): Uint8Array =>
    Uint8Array.from([22, 3, 1, length >> 8, length & 0xff, ...Array.from({ length }, () => 1)]);

  it('is there when its last byte is, whatever comes after it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 600 }), fc.nat(700), fc.nat(50), (length, cut, more) => {
        const bytes = Uint8Array.from([...record(length), ...Array.from({ length: more }, () => 7)]);
        const there = bytes.subarray(0, cut);
        expect(hasFirstRecord(there)).toBe(cut >= length + 5);
      }),
    );
  });

  it('is not waited for when it is none, or longer than a client of ours could mean', () => {
    expect(hasFirstRecord(new Uint8Array(0))).toBe(false);
    expect(hasFirstRecord(new TextEncoder().encode('G'))).toBe(true);
    expect(hasFirstRecord(Uint8Array.from([22, 3, 1, 0x20, 0x01]))).toBe(true);
    expect(hasFirstRecord(record(8192).subarray(0, -1))).toBe(false);
    expect(record(8192)).toHaveLength(firstRecordMost);
  });
});
