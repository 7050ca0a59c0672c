// What is given up first when space runs out, and that a sound row is told from a damaged one.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextEviction, type Space, thin, thinPassesMost } from '../../agent/core/outbox/eviction.ts';
import {
  bootNumberMost,
  bootNumberOf,
  crc32,
  decodeRow,
  encodeRow,
  rowId,
  seqOf,
} from '../../agent/core/outbox/outbox-row.ts';
import { carveRows, walFault } from '../../agent/core/outbox/page-carving.ts';
import { eventLimits } from '../../src/core/events/event.ts';

const full: Space = {
  usedPages: 99,
  softPages: 80,
  hardPages: 95,
  present: [true, true, true, true],
  thinPasses: 0,
};

describe('eviction', () => {
  it('does nothing while there is room', () => {
    expect(nextEviction({ ...full, usedPages: 80 })).toEqual({ kind: 'none' });
  });

  it('thins positions, then deletes them, then state changes, then alarms, then urgent events', () => {
    expect(nextEviction(full)).toEqual({ kind: 'thin' });
    const thinned = { ...full, thinPasses: thinPassesMost };
    expect(nextEviction(thinned)).toEqual({ kind: 'delete', priority: 3 });
    expect(nextEviction({ ...thinned, present: [true, true, true, false] })).toEqual({
      kind: 'delete',
      priority: 2,
    });
    expect(nextEviction({ ...thinned, present: [true, true, false, false] })).toEqual({
      kind: 'delete',
      priority: 1,
    });
    expect(nextEviction({ ...thinned, present: [true, false, false, false] })).toEqual({
      kind: 'delete',
      priority: 0,
    });
  });

  it('leaves urgent events the space that is reserved for them', () => {
    expect(nextEviction({ ...full, usedPages: 94, present: [true, false, false, false] })).toEqual({
      kind: 'none',
    });
  });

  it('never gives up an urgent event while anything else is there', () => {
    const space = fc.record({
      usedPages: fc.nat(200),
      softPages: fc.constant(80),
      hardPages: fc.constant(95),
      present: fc.tuple(fc.boolean(), fc.boolean(), fc.boolean(), fc.boolean()),
      thinPasses: fc.nat(6),
    });
    fc.assert(
      fc.property(space, (given) => {
        const step = nextEviction(given);
        const hasOthers = given.present.slice(1).includes(true);
        expect(step.kind === 'delete' && step.priority === 0 && hasOthers).toBe(false);
        if (step.kind === 'delete') expect(given.present[step.priority]).toBe(true);
      }),
    );
  });

  it('thins to every second one and keeps the newest', () => {
    expect(thin([1, 2, 3, 4, 5])).toEqual({ keep: [1, 3, 5], drop: [2, 4] });
    expect(thin([1, 2, 3, 4])).toEqual({ keep: [2, 4], drop: [1, 3] });
    expect(thin([])).toEqual({ keep: [], drop: [] });
  });
});

describe('rows', () => {
  const row = {
    boot: 'b1',
    priority: 0 as const,
    event: { seq: 7, timestamp: null, upMs: 1234, timeQuality: 'none' as const, statusCode: 63_553 },
  };

  it('come back as they were stored', () => {
    expect(decodeRow(encodeRow(row))).toEqual(row);
  });

  it('with any one bit flipped are not rows', () => {
    const bytes = encodeRow(row);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const damaged = bytes.slice();
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(decodeRow(damaged)).toBeNull();
    }
  });

  it('have ids that order by boot, then by number, exact to the last', () => {
    const id = rowId(bootNumberMost, eventLimits.seq);
    expect(Number.isSafeInteger(id)).toBe(true);
    expect([bootNumberOf(id), seqOf(id)]).toEqual([bootNumberMost, eventLimits.seq]);
    expect(rowId(2, 1)).toBeGreaterThan(rowId(1, eventLimits.seq));
  });

  it('have the checksum of zlib', () => {
    expect(crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf43926);
  });
});

describe('salvage from raw bytes', () => {
  it('never throws and finds nothing in noise', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1024, maxLength: 1024 }), (page) => {
        page[0] = 0x0d;
        expect(carveRows(page, () => page)).toEqual([]);
      }),
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 4000 }), (wal) => void walFault(wal)));
  });
});
