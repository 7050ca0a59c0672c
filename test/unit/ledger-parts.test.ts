// The ledgers of several processes, laid together after they have crossed between them, are the ledger of one: the same counts, the
// same breaches, the same facts left without a judgement. A stall of one process excuses nobody else's vehicles.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judge } from '../../simulator/core/judgement/judgement.ts';
import { createLedger, type Ledger } from '../../simulator/core/ledger/ledger.ts';
import type { FleetEvent } from '../../src/core/events/event.ts';
import { statusCodes } from '../../src/core/events/status-codes.ts';

const vehicles = 6;
const boot = 'b1';

const deedArbitrary = fc.record({
  vehicle: fc.integer({ min: 0, max: vehicles - 1 }),
  kind: fc.constantFrom('stored', 'panic', 'acknowledged', 'sent', 'link', 'stopping'),
});

interface Deed {
  readonly vehicle: number;
  readonly kind: 'stored' | 'panic' | 'acknowledged' | 'sent' | 'link' | 'stopping';
}

const idOf = (vehicle: number): string => `sim-${vehicle}`;
const eventOf = (seq: number, atMs: number, code: number): FleetEvent => ({
  seq,
  timestamp: 1_800_000_000_000 + atMs,
  upMs: atMs,
  timeQuality: 'gnss',
  statusCode: code,
});

/** Does it all, each to the ledger that its vehicle belongs to. */
function live(deeds: readonly Deed[], ledgerOf: (vehicle: number) => Ledger): void {
  const seqs = new Map<number, number>();
  for (const [at, { vehicle, kind }] of deeds.entries()) {
    const ledger = ledgerOf(vehicle);
    const [id, atMs] = [idOf(vehicle), at * 1000];
    const seq = (seqs.get(vehicle) ?? 0) + 1;
    const { LOCATION, PANIC_ON } = statusCodes;
    const event = eventOf(seq, atMs, kind === 'panic' ? PANIC_ON.code : LOCATION.code);
    if (kind === 'panic') ledger.fact(id, 'panicOn', atMs);
    if (kind === 'stored' || kind === 'panic') {
      seqs.set(vehicle, seq);
      ledger.stored(id, boot, { events: [event], atMs });
    } else if (kind === 'sent' && seq > 1) {
      ledger.sent(id, boot, { events: [eventOf(seq - 1, atMs, LOCATION.code)], atMs });
    } else if (kind === 'acknowledged') ledger.acknowledged(id, boot, { ranges: [[1, seq - 1]], atMs });
    else if (kind === 'link') ledger.link(id, at % 2 === 0, atMs);
    else if (kind === 'stopping') ledger.stopping(id, atMs);
  }
}

const judged = (ledger: Ledger) => {
  const { counts, breaches, unjudged } = judge(ledger, {
    endMs: 1e9,
    panicMs: 2000,
    inputsMs: 200,
    movingS: 10,
    views: null,
  });
  return { counts, unjudged, breaches: breaches.map((breach) => JSON.stringify(breach)).sort() };
};

describe('ledgers of several workers', () => {
  it('merge into the ledger of one worker', () => {
    fc.assert(
      fc.property(
        fc.array(deedArbitrary, { maxLength: 120 }),
        fc.integer({ min: 1, max: 4 }),
        (deeds, processes) => {
          const one = createLedger();
          live(deeds, () => one);
          const parts = Array.from({ length: processes }, () => createLedger());
          live(deeds, (vehicle) => parts[vehicle % processes] ?? one);
          const whole = createLedger();
          // As it crosses between processes.
          for (const part of parts) whole.merge(structuredClone(part.notes()));
          expect(whole.counts()).toEqual(one.counts());
          expect(whole.waiting()).toBe(one.waiting());
          expect(judged(whole)).toEqual(judged(one));
        },
      ),
    );
  });

  it('excuse by their own stalls only', () => {
    const unjudgedWith = (stalled: number): readonly number[] =>
      [0, 1].map((vehicle) => {
        const parts = [createLedger(), createLedger()];
        parts[stalled]?.stall(1000, 3000);
        parts[vehicle]?.fact(idOf(vehicle), 'panicOn', 2000);
        const whole = createLedger();
        for (const part of parts) whole.merge(structuredClone(part.notes()));
        return judged(whole).unjudged;
      });
    expect(unjudgedWith(0)).toEqual([1, 0]);
    expect(unjudgedWith(1)).toEqual([0, 1]);
  });

  it('are refused when two drive the same vehicle', () => {
    const part = createLedger();
    part.addVehicle('sim-1');
    const whole = createLedger();
    whole.merge(part.notes());
    expect(() => whole.merge(part.notes())).toThrow('driven twice');
  });
});
