// The truth ledger alone: a run that is right has no breach whatever its order of arrival, and every single wrong that is done to it
// is found, named, and nothing else with it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changesOf, factRules, type Terminals } from '../../simulator/core/facts.ts';
import { type Judgement, judge } from '../../simulator/core/judgement.ts';
import { createLedger, type Ledger } from '../../simulator/core/ledger.ts';
import { breachKinds, type ContactNote, type ShownEvent } from '../../simulator/core/ledger-types.ts';
import { countOpenFacts } from '../../simulator/core/open-facts.ts';
import type { FleetEvent } from '../../src/core/event.ts';
import { statusCodes } from '../../src/core/status-codes.ts';

const vehicle = 'sim-1';
const boot = 'b1';
const startMs = 1_800_000_000_000;

function eventOf(seq: number, change: Partial<FleetEvent> = {}): FleetEvent {
  return {
    seq,
    timestamp: startMs + seq * 1000,
    upMs: seq * 1000,
    timeQuality: 'gnss',
    statusCode: statusCodes.LOCATION.code,
    latitude: 43.65 + seq / 1e5,
    longitude: -79.34,
    speed: 30.4,
    heading: 181.2,
    ...change,
  };
}

function shownOf(event: FleetEvent, change: Partial<ShownEvent> = {}): ShownEvent {
  return {
    deviceID: vehicle,
    eventID: `${boot}:${event.seq}`,
    statusCode: event.statusCode,
    timestamp: Math.floor((event.timestamp ?? 0) / 1000),
    latitude: event.latitude ?? 0,
    longitude: event.longitude ?? 0,
    isPositionValid: event.latitude !== undefined,
    speed: Math.round(event.speed ?? 0),
    heading: Math.round(event.heading ?? 0) % 360,
    commandID: event.commandID ?? null,
    ...change,
  };
}

/** A vehicle that stored, sent and got acknowledged `count` events. */
function ledgerWith(count: number): { ledger: Ledger; events: readonly FleetEvent[] } {
  const ledger = createLedger();
  const events = Array.from({ length: count }, (_, at) => eventOf(at + 1));
  for (const event of events) ledger.stored(vehicle, boot, { events: [event], atMs: event.seq * 1000 });
  ledger.sent(vehicle, boot, { events, atMs: count * 1000 });
  ledger.acknowledged(vehicle, boot, { ranges: [[1, count]], atMs: count * 1000 + 50 });
  return { ledger, events };
}

const judged = (ledger: Ledger): Judgement =>
  judge(ledger, { endMs: 3_600_000, panicMs: 2000, inputsMs: 200 });

/** Kinds with a count, and the event or command that each names. */
function found(ledger: Ledger): readonly string[] {
  return judged(ledger).breaches.map(
    ({ kind, eventID, commandID, factNo }) => `${kind} ${eventID ?? commandID ?? `fact ${factNo}`}`,
  );
}

describe('events', () => {
  it('that all came back are no breach', () => {
    const { ledger, events } = ledgerWith(50);
    for (const event of events) ledger.shown(shownOf(event));
    const { counts } = judged(ledger);
    expect(breachKinds.map((kind) => counts[kind])).toEqual(breachKinds.map(() => 0));
    expect(ledger.waiting()).toBe(0);
  });

  it('one lost in 10,000 is named, twice in 20,000', () => {
    const { ledger, events } = ledgerWith(20_000);
    for (const event of events) if (event.seq % 10_000 !== 77) ledger.shown(shownOf(event));
    expect(found(ledger)).toEqual(['acknowledgedMissing b1:77', 'acknowledgedMissing b1:10077']);
  });

  it('whatever is done to one of them is found and nothing else is', () => {
    const wrongs = {
      acknowledgedMissing: () => [],
      duplicated: (one: ShownEvent) => [one, one],
      corrupted: (one: ShownEvent) => [{ ...one, latitude: one.latitude + 0.001 }],
      invented: (one: ShownEvent) => [one, { ...one, eventID: 'b9:1' }],
    } as const;
    fc.assert(
      fc.property(
        fc.integer({ min: 3, max: 40 }),
        fc.nat(),
        fc.constantFrom(...(Object.keys(wrongs) as (keyof typeof wrongs)[])),
        (count, pick, kind) => {
          const { ledger, events } = ledgerWith(count);
          const at = pick % count;
          const wrong = wrongs[kind];
          for (const [index, event] of events.entries())
            for (const one of index === at ? wrong(shownOf(event)) : [shownOf(event)]) ledger.shown(one);
          const id = kind === 'invented' ? 'b9:1' : `b1:${at + 1}`;
          expect(found(ledger)).toEqual([`${kind} ${id}`]);
        },
      ),
    );
  });

  it.each([
    ['status code', { statusCode: 61_536 }],
    ['time', { timestamp: 1_800_000_099 }],
    ['speed', { speed: 33 }],
    ['heading', { heading: 184 }],
    ['position', { isPositionValid: false }],
    ['command', { commandID: 'c1' }],
  ])('with another %s are corrupted', (words, change) => {
    const { ledger, events } = ledgerWith(1);
    for (const event of events) ledger.shown(shownOf(event, change));
    expect(judged(ledger).breaches).toMatchObject([
      { kind: 'corrupted', words: expect.stringContaining(words) },
    ]);
  });

  it('in another order than they happened are reordered', () => {
    const { ledger, events } = ledgerWith(5);
    for (const at of [0, 2, 1, 3, 4]) {
      const event = events[at];
      if (event !== undefined) ledger.shown(shownOf(event));
    }
    expect(found(ledger)).toEqual(['reordered b1:2']);
  });

  it('sent again with a better time may come back with either', () => {
    const { ledger, events } = ledgerWith(1);
    const better = events.map((event) => ({ ...event, timestamp: (event.timestamp ?? 0) + 60_000 }));
    ledger.sent(vehicle, boot, { events: better, atMs: 9000 });
    for (const event of better) ledger.shown(shownOf(event));
    expect(found(ledger)).toEqual([]);
  });

  it('that were never acknowledged are lost, but for those that a stopping vehicle keeps', () => {
    const ledger = createLedger();
    ledger.stored(vehicle, boot, { events: [eventOf(1)], atMs: 1000 });
    ledger.stopping(vehicle, 5000);
    ledger.stored(vehicle, boot, { events: [eventOf(2)], atMs: 5001 });
    expect(found(ledger)).toEqual(['lost b1:1']);
    // The second was stored when it had been told to stop: the run does not wait for it.
    expect(ledger.waiting()).toBe(1);
  });

  it('that were acknowledged never escape, whenever they were made, sent or acknowledged, over the end of the deeds and restarts', () => {
    const life = fc.record({
      boot: fc.constantFrom('b1', 'b2'),
      atMs: fc.integer({ min: 0, max: 9000 }),
      // Before it was seen on disk, which a ledger may hear late; in the end of the run; after the vehicle was told to stop.
      ackedMs: fc.option(fc.integer({ min: 0, max: 20_000 })),
      isShown: fc.boolean(),
      isNoted: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(life, { maxLength: 30 }), fc.integer({ min: 0, max: 10_000 }), (lives, stopMs) => {
        const ledger = createLedger();
        const seqs = new Map<string, number>();
        const all = lives.map((one) => {
          const seq = (seqs.get(one.boot) ?? 0) + 1;
          seqs.set(one.boot, seq);
          return { ...one, seq, id: `${one.boot}:${seq}`, event: eventOf(seq) };
        });
        ledger.stopping(vehicle, stopMs);
        for (const { boot: of, atMs, event, isNoted } of all) {
          if (isNoted) ledger.stored(vehicle, of, { events: [event], atMs });
          ledger.sent(vehicle, of, { events: [event], atMs });
        }
        for (const { boot: of, seq, ackedMs } of all)
          if (ackedMs !== null) ledger.acknowledged(vehicle, of, { ranges: [[seq, seq]], atMs: ackedMs });
        for (const { isShown, event, id } of all)
          if (isShown) ledger.shown({ ...shownOf(event), eventID: id });
        const expected = all.flatMap(({ id, atMs, ackedMs, isShown }) =>
          isShown
            ? []
            : ackedMs !== null
              ? [`acknowledgedMissing ${id}`]
              : atMs < stopMs
                ? [`lost ${id}`]
                : [],
        );
        const about = found(ledger).filter((text) => !text.startsWith('reordered'));
        expect(about.toSorted()).toEqual(expected.toSorted());
      }),
    );
  });

  it('given up by the vehicle are told', () => {
    const ledger = createLedger();
    const event = eventOf(1, { statusCode: statusCodes.EVENTS_DROPPED.code, attributes: { count: 3 } });
    ledger.sent(vehicle, boot, { events: [event], atMs: 1 });
    ledger.acknowledged(vehicle, boot, { ranges: [[1, 1]], atMs: 2 });
    ledger.shown(shownOf(event));
    expect(found(ledger)).toEqual(['dropped b1:1']);
  });

  it('of other vehicles are none of its business', () => {
    const { ledger, events } = ledgerWith(1);
    for (const event of events) ledger.shown(shownOf(event));
    ledger.shown({ ...shownOf(eventOf(7)), deviceID: 'truck-17' });
    expect(found(ledger)).toEqual([]);
  });
});

describe('facts', () => {
  const rest: Terminals = {
    ignition: false,
    cabinDoor: false,
    cargoDoor: false,
    panic: false,
    tamper: false,
    externalPower: true,
  };

  it('are what changes at the terminals; found at rest, only the ignition is news', () => {
    expect(changesOf(null, rest)).toEqual(['ignitionOff']);
    expect(changesOf(rest, { ...rest, panic: true, externalPower: false })).toEqual(['panicOn', 'powerOff']);
    expect(changesOf(rest, rest)).toEqual([]);
  });

  /** A press at 10 s whose event is stored and acknowledged at these times. */
  function pressed(storedMs: number, ackedMs: number): Ledger {
    const ledger = createLedger();
    ledger.link(vehicle, true, 0);
    ledger.fact(vehicle, 'panicOn', 10_000);
    const event = eventOf(1, { statusCode: factRules.panicOn.code });
    ledger.stored(vehicle, boot, { events: [event], atMs: storedMs });
    ledger.sent(vehicle, boot, { events: [event], atMs: storedMs });
    ledger.acknowledged(vehicle, boot, { ranges: [[1, 1]], atMs: ackedMs });
    ledger.shown(shownOf(event));
    return ledger;
  }

  it('with their event in time are no breach', () => {
    const { breaches, durableMs, panicMs } = judged(pressed(10_050, 10_200));
    expect(breaches).toEqual([]);
    expect([durableMs, panicMs]).toEqual([[50], [200]]);
  });

  it('of a panic that came late to the broker are told with their number', () => {
    expect(judged(pressed(10_050, 13_000)).breaches).toMatchObject([
      {
        kind: 'panicLate',
        factNo: 1,
        eventID: 'b1:1',
        words: expect.stringContaining('panic pressed at 10.000 s'),
      },
    ]);
  });

  it('of a panic while the link was down count from its return', () => {
    const ledger = pressed(10_050, 60_000);
    ledger.link(vehicle, false, 9000);
    ledger.link(vehicle, true, 59_000);
    expect(found(ledger)).toEqual([]);
  });

  it('that no event came of are unnoticed, unless a fault lay over them or the run ended', () => {
    const ledger = createLedger();
    ledger.fact(vehicle, 'panicOn', 10_000);
    expect(found(ledger)).toEqual(['unnoticed fact 1']);
    ledger.excuse(vehicle, { kind: 'hardware', fromMs: 9000, toMs: 9500 });
    expect(judged(ledger)).toMatchObject({ breaches: [], unjudged: 1 });
    const late = createLedger();
    late.fact(vehicle, 'tow', 3_500_000);
    expect(judged(late)).toMatchObject({ breaches: [], unjudged: 1 });
  });

  it("until the deeds' end are waited for, as long as an event may come of them", () => {
    const openAt = (nowMs: number, ledger: Ledger): number =>
      countOpenFacts(ledger.vehicles.values(), { nowMs, endMs: 20_000 });
    const ledger = pressed(10_050, 10_200);
    expect(openAt(12_000, ledger)).toBe(0);
    ledger.fact(vehicle, 'panicOff', 19_900);
    ledger.fact(vehicle, 'tow', 19_950);
    ledger.fact(vehicle, 'ignitionOff', 20_001);
    // The tow takes minutes, and the ignition went off when nothing was done any more.
    expect([20_100, 29_900, 29_901].map((nowMs) => openAt(nowMs, ledger))).toEqual([1, 1, 0]);
    const event = eventOf(2, { statusCode: factRules.panicOff.code });
    ledger.stored(vehicle, boot, { events: [event], atMs: 21_000 });
    expect(openAt(22_000, ledger)).toBe(0);
  });

  it("after the deeds' end are judged where their time lay before the vehicles were taken off the road", () => {
    const ledger = createLedger();
    ledger.stopping(vehicle, 5000);
    ledger.fact(vehicle, 'ignitionOn', 6000);
    const judgedUntil = (endMs: number) => judge(ledger, { endMs, panicMs: 2000, inputsMs: 200 });
    expect(judgedUntil(15_999)).toMatchObject({ breaches: [], unjudged: 1 });
    expect(judgedUntil(16_000)).toMatchObject({ breaches: [{ kind: 'unnoticed' }], unjudged: 0 });
  });

  it('too short for two readings and the debouncing may go unseen, longer ones may not', () => {
    const after = (ms: number): Ledger => {
      const ledger = createLedger();
      ledger.fact(vehicle, 'cabinDoorOpen', 10_000);
      ledger.fact(vehicle, 'cabinDoorClosed', 10_000 + ms);
      return ledger;
    };
    expect(judged(after(900))).toMatchObject({ breaches: [], unjudged: 2 });
    expect(found(after(1100))).toEqual(['unnoticed fact 1', 'unnoticed fact 2']);
  });

  it('in a stall of the generator are not judged, before and long after it they are', () => {
    const ledger = createLedger();
    for (const atMs of [10_000, 40_000, 90_000]) ledger.fact(vehicle, 'tamperOn', atMs);
    ledger.stall(41_000, 41_500);
    ledger.stall(42_000, 42_300);
    expect(ledger.stalls).toEqual([{ fromMs: 41_000, toMs: 42_300 }]);
    expect(found(ledger)).toEqual(['unnoticed fact 1', 'unnoticed fact 3']);
  });

  it('take one event each', () => {
    const ledger = pressed(10_050, 10_200);
    ledger.fact(vehicle, 'panicOn', 10_020);
    expect(found(ledger)).toEqual(['unnoticed fact 2']);
  });

  it('that never were make their event an invention', () => {
    const ledger = createLedger();
    const event = eventOf(1, { statusCode: factRules.panicOn.code });
    ledger.sent(vehicle, boot, { events: [event], atMs: 1000 });
    ledger.acknowledged(vehicle, boot, { ranges: [[1, 1]], atMs: 1100 });
    ledger.shown(shownOf(event));
    expect(found(ledger)).toEqual(['invented b1:1']);
  });
});

describe('commands', () => {
  const contact: ContactNote = {
    atMs: 20_000,
    feature: 'enginecutoff',
    energised: true,
    token: 'drive:c1',
    wasConfirmed: false,
    movingMs: 0,
    ignitionOnMs: 0,
  };

  function commanded(contacts: readonly Partial<ContactNote>[], hasEnded = true): Ledger {
    const ledger = createLedger();
    ledger.addVehicle(vehicle);
    const command = { commandID: 'c1', deviceID: vehicle, feature: 'enginecutoff', state: '1' } as const;
    ledger.requested({ ...command, requestedMs: 10_000, expiresMs: 70_000 });
    ledger.ended('c1', hasEnded ? 'confirmed' : 'sent', hasEnded);
    for (const change of contacts) ledger.contact(vehicle, { ...contact, ...change });
    return ledger;
  }

  it('carried out once, in time, at rest are no breach, nor is one that was not carried out', () => {
    expect(found(commanded([{}]))).toEqual([]);
    expect(found(commanded([]))).toEqual([]);
    // The relay fell off with the power and came back by itself, as it may.
    expect(
      found(commanded([{}, { energised: false, token: 'power' }, { token: 'repair:enginecutoff' }])),
    ).toEqual([]);
  });

  const back = { energised: false, token: 'withdraw:enginecutoff' };

  it('taken back on the wires before they were confirmed are judged anew, three times at most', () => {
    expect(found(commanded([{}, back, {}]))).toEqual([]);
    expect(found(commanded([{}, back, {}, back, {}]))).toEqual([]);
    expect(found(commanded([{}, back, {}, back, {}, back, {}]))).toEqual(['commandTwice c1']);
  });

  it.each([
    ['twice', [{}, { energised: false, token: 'power' }, {}], 'commandTwice c1'],
    ['twice with nothing between', [{}, {}], 'commandTwice c1'],
    ['again after it was confirmed', [{}, back, { wasConfirmed: true }], 'commandTwice c1'],
    [
      'again, taken back once and fallen off once',
      [{}, back, {}, { ...back, token: 'power' }, {}],
      'commandTwice c1',
    ],
    ['again after its expiry', [{}, back, { atMs: 71_500 }], 'commandLate c1'],
    ['for the order back', [{ token: 'withdraw:enginecutoff' }], 'commandTwice fact null'],
    ['for nobody', [{ token: 'drive:c2' }], 'commandTwice c2'],
    ['by itself', [{ token: null }], 'commandTwice fact null'],
    ['the other way', [{ energised: false }], 'commandTwice c1'],
    ['after its expiry', [{ atMs: 71_500 }], 'commandLate c1'],
    ['while it moved', [{ movingMs: 6000 }], 'commandMoving fact null'],
    ['with the ignition on', [{ ignitionOnMs: 1500 }], 'commandMoving fact null'],
  ])('carried out %s are told', (_, contacts, breach) => {
    expect(found(commanded(contacts))).toEqual([breach]);
  });

  it('that unlock the cargo are never carried out again, taken back or not', () => {
    const ledger = createLedger();
    const command = { commandID: 'c1', deviceID: vehicle, feature: 'cargoaccess', state: '1' } as const;
    ledger.requested({ ...command, requestedMs: 10_000, expiresMs: 70_000 });
    ledger.ended('c1', 'confirmed', true);
    for (const change of [{}, { energised: false, token: 'withdraw:cargoaccess' }, {}])
      ledger.contact(vehicle, { ...contact, feature: 'cargoaccess', ...change });
    expect(found(ledger)).toEqual(['commandTwice c1']);
  });

  it('that came to no end are told', () => {
    expect(found(commanded([], false))).toEqual(['commandOpen c1']);
  });
});
