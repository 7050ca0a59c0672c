// The truth ledger alone: a run that is right has no breach whatever its order of arrival, and every single wrong that is done to it
// is found, named, and nothing else with it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Judgement, judge } from '../../simulator/core/judgement/judgement.ts';
import { commandOutcomes } from '../../simulator/core/ledger/command-outcomes.ts';
import { changesOf, factRules, type Terminals } from '../../simulator/core/ledger/facts.ts';
import { createLedger, type Ledger } from '../../simulator/core/ledger/ledger.ts';
import { breachKinds, type ContactNote, type ShownEvent } from '../../simulator/core/ledger/ledger-types.ts';
import { countOpenFacts } from '../../simulator/core/ledger/open-facts.ts';
import type { CommandState, FleetEvent } from '../../src/core/events/event.ts';
import { statusCodes, statusText } from '../../src/core/events/status-codes.ts';

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
    commandState: event.commandState ?? null,
    geozoneID: event.geozoneID ?? '',
    statusDescription: statusText(event.statusCode),
    creationTime: 0,
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
  judge(ledger, { endMs: 3_600_000, panicMs: 2000, inputsMs: 200, movingS: 10, views: null });

/** Kinds with a count, and the event or command that each names. */
function found(ledger: Ledger): readonly string[] {
  return judged(ledger).breaches.map(
    ({ kind, eventID, commandID, factNo }) => `${kind} ${eventID ?? commandID ?? `fact ${factNo}`}`,
  );
}

describe('events', () => {
  it('that were all returned are no breach', () => {
    const { ledger, events } = ledgerWith(50);
    for (const event of events) ledger.shown(shownOf(event), true);
    const { counts } = judged(ledger);
    expect(breachKinds.map((kind) => counts[kind])).toEqual(breachKinds.map(() => 0));
    expect(ledger.waiting()).toBe(0);
  });

  it('are reported when one of 10,000 is lost, and two of 20,000', () => {
    const { ledger, events } = ledgerWith(20_000);
    for (const event of events) if (event.seq % 10_000 !== 77) ledger.shown(shownOf(event), true);
    expect(found(ledger)).toEqual(['acknowledgedMissing b1:77', 'acknowledgedMissing b1:10077']);
  });

  it('are reported for any change to one of them, and for nothing else', () => {
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
            for (const one of index === at ? wrong(shownOf(event)) : [shownOf(event)])
              ledger.shown(one, true);
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
    ['state of the command', { commandState: 'confirmed' }],
    ['text', { statusDescription: 'Panic' }],
  ])('with another %s are corrupted', (words, change) => {
    const { ledger, events } = ledgerWith(1);
    for (const event of events) ledger.shown(shownOf(event, change), true);
    expect(judged(ledger).breaches).toMatchObject([
      { kind: 'corrupted', words: expect.stringContaining(words) },
    ]);
  });

  it('that are returned in another order are reported as reordered', () => {
    const { ledger, events } = ledgerWith(5);
    for (const at of [0, 2, 1, 3, 4]) {
      const event = events[at];
      if (event !== undefined) ledger.shown(shownOf(event), true);
    }
    expect(found(ledger)).toEqual(['reordered b1:2']);
  });

  it('that were sent again with a better time may be returned with either time', () => {
    const { ledger, events } = ledgerWith(1);
    const better = events.map((event) => ({ ...event, timestamp: (event.timestamp ?? 0) + 60_000 }));
    ledger.sent(vehicle, boot, { events: better, atMs: 9000 });
    for (const event of better) ledger.shown(shownOf(event), true);
    expect(found(ledger)).toEqual([]);
  });

  it('without an acknowledgement are lost, except those stored by a closing vehicle', () => {
    const ledger = createLedger();
    ledger.stored(vehicle, boot, { events: [eventOf(1)], atMs: 1000 });
    ledger.stopping(vehicle, 5000);
    ledger.stored(vehicle, boot, { events: [eventOf(2)], atMs: 5001 });
    expect(found(ledger)).toEqual(['lost b1:1']);
    // The second was stored when it had been told to stop: the run does not wait for it.
    expect(ledger.waiting()).toBe(1);
  });

  it('that were acknowledged are always checked, whenever they were made, sent or acknowledged, over the end of the actions and restarts', () => {
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
          if (isShown) ledger.shown({ ...shownOf(event), eventID: id }, true);
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

  it('that the vehicle dropped are reported', () => {
    const ledger = createLedger();
    const event = eventOf(1, { statusCode: statusCodes.EVENTS_DROPPED.code, attributes: { count: 3 } });
    ledger.sent(vehicle, boot, { events: [event], atMs: 1 });
    ledger.acknowledged(vehicle, boot, { ranges: [[1, 1]], atMs: 2 });
    ledger.shown(shownOf(event), true);
    expect(found(ledger)).toEqual(['dropped b1:1']);
  });

  it('of vehicles outside the run are ignored', () => {
    const { ledger, events } = ledgerWith(1);
    for (const event of events) ledger.shown(shownOf(event), true);
    ledger.shown({ ...shownOf(eventOf(7)), deviceID: 'truck-17' }, true);
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

  it('are changes at the terminals; at the start only the ignition counts', () => {
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
    ledger.shown(shownOf(event), true);
    return ledger;
  }

  it('with an event in time are no breach', () => {
    const { breaches, durableMs, panicMs } = judged(pressed(10_050, 10_200));
    expect(breaches).toEqual([]);
    expect([durableMs, panicMs]).toEqual([[50], [200]]);
  });

  it('of a panic that reached the broker late are reported with their number', () => {
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

  it('without an event are unnoticed, unless a fault excuses them or the run ended', () => {
    const ledger = createLedger();
    ledger.fact(vehicle, 'panicOn', 10_000);
    expect(found(ledger)).toEqual(['unnoticed fact 1']);
    ledger.excuse(vehicle, { kind: 'hardware', fromMs: 9000, toMs: 9500 });
    expect(judged(ledger)).toMatchObject({ breaches: [], unjudged: 1 });
    expect(judged(ledger).facts.panicOn).toMatchObject({ happened: 1, found: 0, unjudged: { fault: 1 } });
    const late = createLedger();
    late.fact(vehicle, 'tow', 3_500_000);
    expect(judged(late)).toMatchObject({ breaches: [], unjudged: 1 });
    expect(judged(late).facts.tow.unjudged).toEqual({ late: 1, brief: 0, fault: 0, stall: 0 });
    // A jammer hides a tow, and no button.
    const jammed = createLedger();
    jammed.fact(vehicle, 'tow', 10_000);
    jammed.fact(vehicle, 'panicOn', 10_000);
    jammed.excuse(vehicle, { kind: 'position', fromMs: 20_000, toMs: 30_000 });
    expect(found(jammed)).toEqual(['unnoticed fact 2']);
  });

  it('before the end of the actions are awaited as long as their event may come', () => {
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

  it('after the end of the actions are judged when their time ended before the vehicles were closed', () => {
    const ledger = createLedger();
    ledger.stopping(vehicle, 5000);
    ledger.fact(vehicle, 'ignitionOn', 6000);
    const judgedUntil = (endMs: number) =>
      judge(ledger, { endMs, panicMs: 2000, inputsMs: 200, movingS: 10, views: null });
    expect(judgedUntil(15_999)).toMatchObject({ breaches: [], unjudged: 1 });
    expect(judgedUntil(16_000)).toMatchObject({ breaches: [{ kind: 'unnoticed' }], unjudged: 0 });
  });

  it('shorter than two readings and the debouncing may be missed, longer ones may not', () => {
    const after = (ms: number): Ledger => {
      const ledger = createLedger();
      ledger.fact(vehicle, 'cabinDoorOpen', 10_000);
      ledger.fact(vehicle, 'cabinDoorClosed', 10_000 + ms);
      return ledger;
    };
    expect(judged(after(900))).toMatchObject({ breaches: [], unjudged: 2 });
    expect(judged(after(900)).facts.cabinDoorOpen.unjudged.brief).toBe(1);
    expect(found(after(1100))).toEqual(['unnoticed fact 1', 'unnoticed fact 2']);
  });

  it('in a stall of the generator are not judged, those before and long after it are', () => {
    const ledger = createLedger();
    for (const atMs of [10_000, 40_000, 90_000]) ledger.fact(vehicle, 'tamperOn', atMs);
    ledger.stall(41_000, 41_500);
    ledger.stall(42_000, 42_300);
    expect(ledger.stalls).toEqual([{ fromMs: 41_000, toMs: 42_300 }]);
    expect(found(ledger)).toEqual(['unnoticed fact 1', 'unnoticed fact 3']);
  });

  it('match one event each', () => {
    const ledger = pressed(10_050, 10_200);
    ledger.fact(vehicle, 'panicOn', 10_020);
    expect(found(ledger)).toEqual(['unnoticed fact 2']);
  });

  it('that never happened make their event invented', () => {
    const ledger = createLedger();
    const event = eventOf(1, { statusCode: factRules.panicOn.code });
    ledger.sent(vehicle, boot, { events: [event], atMs: 1000 });
    ledger.acknowledged(vehicle, boot, { ranges: [[1, 1]], atMs: 1100 });
    ledger.shown(shownOf(event), true);
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

  let reports = 0;
  const report = (ledger: Ledger, commandID: string, commandState: CommandState): void => {
    reports += 1;
    const event = eventOf(reports, { commandID, commandState });
    ledger.stored(vehicle, 'reports', { events: [event], atMs: 1_000_000 });
    ledger.sent(vehicle, 'reports', { events: [event], atMs: 1_000_000 });
    ledger.acknowledged(vehicle, 'reports', { ranges: [[reports, reports]], atMs: 1_000_000 });
    ledger.shown({ ...shownOf(event), eventID: `reports:${reports}` }, true);
  };

  /** A cut with what the relay did, and the restore after it, confirmed with its relay. */
  function commanded(contacts: readonly Partial<ContactNote>[], end: CommandState = 'confirmed'): Ledger {
    const ledger = createLedger();
    ledger.addVehicle(vehicle);
    ledger.link(vehicle, true, 0);
    const cut = { commandID: 'c1', deviceID: vehicle, feature: 'enginecutoff', state: '1' } as const;
    ledger.requested({ ...cut, requestedMs: 10_000, expiresMs: 70_000 });
    ledger.ended('c1', end, end !== 'sent');
    report(ledger, 'c1', end);
    for (const change of contacts) ledger.contact(vehicle, { ...contact, ...change });
    restore(ledger);
    return ledger;
  }

  function restore(ledger: Ledger, feature: ContactNote['feature'] = 'enginecutoff'): void {
    const back = { commandID: 'c9', deviceID: vehicle, feature, state: '0' } as const;
    ledger.requested({ ...back, requestedMs: 90_000, expiresMs: Number.POSITIVE_INFINITY });
    const last = ledger.vehicles.get(vehicle)?.contacts.at(-1);
    if (last?.energised === true)
      ledger.contact(vehicle, { ...contact, feature, energised: false, token: 'drive:c9', atMs: 90_100 });
    ledger.ended('c9', 'confirmed', true);
    report(ledger, 'c9', 'confirmed');
  }

  it('have outcomes by feature and state: how they ended, and times only where a relay moved or a report came', () => {
    const [cut, restored] = commandOutcomes(commanded([{}, { ...back, atMs: 20_500 }, { atMs: 32_000 }]));
    expect(cut).toMatchObject({ feature: 'enginecutoff', state: '1', requested: 1, ends: { confirmed: 1 } });
    // The first move counts: what came after it was taken back is the vehicle's own doing.
    expect(cut?.relayMs).toEqual({ p50: 10_000, max: 10_000, count: 1 });
    expect(cut?.reportMs).toEqual({ p50: 990_000, max: 990_000, count: 1 });
    expect(restored).toMatchObject({ state: '0', relayMs: { p50: 100 } });
    const [open] = commandOutcomes(commanded([], 'sent'));
    expect(open).toMatchObject({ ends: { sent: 1 }, relayMs: null, reportMs: null });
    expect(commandOutcomes(createLedger())).toEqual([]);
  });

  it('that are carried out once, in time and at rest are no breach, nor is one that was not carried out', () => {
    expect(found(commanded([{}]))).toEqual([]);
    expect(found(commanded([], 'expired'))).toEqual([]);
    // The relay fell off with the power and came back by itself, as it may.
    expect(
      found(commanded([{}, { energised: false, token: 'power' }, { token: 'repair:enginecutoff' }])),
    ).toEqual([]);
  });

  const back = { energised: false, token: 'withdraw:enginecutoff' };

  it('that were withdrawn on the bus before they were confirmed may be carried out again, six times at most', () => {
    expect(found(commanded([{}, back, {}]))).toEqual([]);
    expect(found(commanded([{}, back, {}, back, {}]))).toEqual([]);
    const five = Array.from({ length: 5 }, () => [{}, back]).flat();
    expect(found(commanded([...five, {}]))).toEqual([]);
    expect(found(commanded([...five, {}, back, {}]))).toEqual(['commandTwice c1']);
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
    ['for no command', [{ token: 'drive:c2' }], 'commandTwice c2'],
    ['by itself', [{ token: null }], 'commandTwice fact null'],
    ['after its expiry', [{ atMs: 71_500 }], 'commandLate c1'],
    ['while it moved', [{ movingMs: 6000 }], 'commandMoving fact null'],
    ['with the ignition on', [{ ignitionOnMs: 1500 }], 'commandMoving fact null'],
  ])('carried out %s are reported', (_, contacts, breach) => {
    expect(found(commanded(contacts))).toEqual([breach]);
  });

  it.each([
    ['after its expiry', { atMs: 71_500 }, { fromMs: 70_400, toMs: 71_000 }, []],
    ['after its expiry', { atMs: 71_500 }, { fromMs: 69_000, toMs: 70_400 }, ['commandLate c1']],
    ['while it moved', { movingMs: 6000 }, { fromMs: 17_000, toMs: 19_500 }, []],
    ['while it moved', { movingMs: 6000 }, { fromMs: 13_000, toMs: 15_500 }, ['commandMoving fact null']],
    ['with the ignition on', { ignitionOnMs: 1500 }, { fromMs: 19_300, toMs: 19_600 }, []],
    [
      'with the ignition on',
      { ignitionOnMs: 1500 },
      { fromMs: 16_000, toMs: 18_600 },
      ['commandMoving fact null'],
    ],
  ])(
    'carried out %s (%o) are judged without the stall of the generator (%o)',
    (_, change, stall, breaches) => {
      const ledger = commanded([change]);
      ledger.stall(stall.fromMs, stall.toMs);
      expect(found(ledger)).toEqual(breaches);
    },
  );

  it('whose relay moved the other way are reported and do not count as confirmed', () => {
    expect(found(commanded([{ energised: false }]))).toEqual(['commandTwice c1', 'falseConfirmation c1']);
  });

  it('that unlock the cargo are never carried out again, withdrawn or not', () => {
    const ledger = createLedger();
    const command = { commandID: 'c1', deviceID: vehicle, feature: 'cargoaccess', state: '1' } as const;
    ledger.requested({ ...command, requestedMs: 10_000, expiresMs: 70_000 });
    ledger.ended('c1', 'confirmed', true);
    report(ledger, 'c1', 'confirmed');
    for (const change of [{}, { energised: false, token: 'withdraw:cargoaccess' }, {}])
      ledger.contact(vehicle, { ...contact, feature: 'cargoaccess', ...change });
    restore(ledger, 'cargoaccess');
    expect(found(ledger)).toEqual(['commandTwice c1']);
  });

  it('that have not ended are reported', () => {
    expect(found(commanded([], 'sent'))).toEqual(['commandOpen c1']);
  });

  it('that were confirmed without their relay or without a report of the vehicle are false confirmations', () => {
    expect(found(commanded([]))).toEqual(['falseConfirmation c1']);
    const silent = commanded([{}], 'confirmed');
    silent.vehicles.get(vehicle)?.reports.splice(0, 1);
    expect(found(silent)).toEqual(['falseConfirmation c1']);
    // The relay moved, but only after it was taken back by the next command.
    expect(found(commanded([{ atMs: 91_000, token: null }]))).toContain('falseConfirmation c1');
  });

  it('that moved the relay of another feature are reported as wrongRelay', () => {
    const ledger = commanded([{}]);
    ledger.contact(vehicle, { ...contact, feature: 'cargoaccess', atMs: 21_000 });
    ledger.contact(vehicle, { ...contact, feature: 'cargoaccess', energised: false, token: 'power' });
    expect(found(ledger)).toEqual(['wrongRelay c1']);
  });

  it('that a connected vehicle has not stored were not delivered; one without a link is excused, and a fault for 15 s longer than it lasts', () => {
    const untold = (): Ledger => {
      const ledger = commanded([], 'expired');
      ledger.vehicles.get(vehicle)?.reports.splice(0, 1);
      return ledger;
    };
    expect(found(untold())).toEqual(['commandUndelivered c1']);
    const away = untold();
    away.vehicles.get(vehicle)?.ups.splice(0, 1, 66_000);
    expect(found(away)).toEqual([]);
    const broken = untold();
    broken.link(vehicle, false, 14_000);
    broken.link(vehicle, true, 66_000);
    expect(found(broken)).toEqual([]);
    const excused = untold();
    // Requested at 10 s, with a life until 70 s: it was connected for 4 s after the fault.
    excused.excuse(vehicle, { kind: 'link', fromMs: 9000, toMs: 51_000 });
    expect(found(excused)).toEqual([]);
    const late = untold();
    late.excuse(vehicle, { kind: 'link', fromMs: 9000, toMs: 49_000 });
    expect(found(late)).toEqual(['commandUndelivered c1']);
  });

  it('that leave a relay energised at the end are not restored, whatever the ledger of the broker says', () => {
    const ledger = commanded([{}]);
    ledger.contact(vehicle, { ...contact, atMs: 95_000, token: 'repair:enginecutoff' });
    expect(found(ledger)).toEqual(['notRestored c9']);
  });

  it('whose relay the service shows in another state are reported', () => {
    const ledger = commanded([{}]);
    ledger.shownState(vehicle, 'enginecutoff', '0');
    expect(found(ledger)).toEqual([]);
    ledger.shownState(vehicle, 'enginecutoff', '1');
    expect(found(ledger)).toEqual(['wrongState c9']);
  });
});
