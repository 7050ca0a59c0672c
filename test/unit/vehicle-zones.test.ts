// Geozones in the whole vehicle: bytes of a receiver in, events and wishes out. What an event tells, that it is committed with the
// record, what automations ask for and what they never ask for.

import { describe, expect, it } from 'vitest';
import { readBoardProfile } from '../../agent/boards.ts';
import { standardProtection } from '../../agent/config.ts';
import type { Commit } from '../../agent/core/kernel/vehicle-events.ts';
import { type StepContext, type VehicleState } from '../../agent/core/kernel/vehicle-state.ts';
import { type VehicleConfig } from '../../agent/core/kernel/vehicle-types.ts';
import { createCommandRecord } from '../../agent/core/protection/command-record.ts';
import { modules } from '../../agent/core/vehicle/modules.ts';
import { stepVehicle } from '../../agent/core/vehicle/vehicle.ts';
import { createVehicle } from '../../agent/core/vehicle/vehicle-start.ts';
import { decideAutomations } from '../../agent/core/zones/zone-automation.ts';
import { zonesModule } from '../../agent/core/zones/zones-module.ts';
import { emptyMemory } from '../../agent/vehicle-record.ts';
import { formatBurst } from '../../simulator/hardware/gnss-sentences.ts';
import { eventFault } from '../../src/core/events/event-check.ts';
import type { Point } from '../../src/core/geo/geo.ts';
import type { ZoneSwitch } from '../../src/core/geo/geozone.ts';
import type { ZoneConfig } from '../../src/core/geo/zone-config.ts';
import { standardSettings } from '../../src/core/settings/settings.ts';
import type { Mark } from '../../src/core/zones/zone-watch.ts';
import { away, startUtcMs, zone } from '../support/vehicle/zone-drive.ts';

const home: Point = { latitude: 43.65, longitude: -79.34 };
const config: VehicleConfig = {
  accountID: 'acme',
  deviceID: 'truck-1',
  hardwareID: '',
  agentVersion: '0',
  earliestUtcMs: startUtcMs - 1000,
  boot: 'b1',
  verifier: null,
  profile: await readBoardProfile('waveshare-relay-d'),
  broker: { keepaliveS: 240 },
  gnssSilenceMs: 5000,
  settings: standardSettings,
  protection: standardProtection,
  windowMs: 0,
};

/** A vehicle with nothing but a receiver. */
function createTruck(kept?: unknown, bootMonoMs = 0) {
  const effects: Commit[] = [];
  let monoMs = bootMonoMs;
  const now = () => ({ monoMs, utcMs: startUtcMs + monoMs, fraction: 0.5 });
  let state: VehicleState = createVehicle(config, {
    now: now(),
    bootMonoMs,
    poweredMs: bootMonoMs,
    record: createCommandRecord(),
    memory: emptyMemory,
    rows: { zones: kept },
    connectDelayMs: 1e9,
  });
  const work = (run: (work: StepContext) => void): void => {
    const one: StepContext = { state, effects: [], now: now(), config, modules, receipts: [] };
    run(one);
    state = one.state;
  };
  const step = (event: Parameters<typeof stepVehicle>[1]): void => {
    const done = stepVehicle(state, event, { now: now(), config });
    state = done.state;
    effects.push(...done.effects.filter((effect) => effect.kind === 'commit'));
  };
  step({ kind: 'time' });
  step({ kind: 'opened', port: 'gnss' });
  return {
    state: () => state,
    /** What the commands were asked for: as the first event of each tells it. */
    wishes: () =>
      effects
        .flatMap(({ events }) => events)
        .filter(
          ({ event }) => event.commandID?.startsWith('local-') === true && event.commandState === 'received',
        )
        .map(({ event }) => event.attributes),
    commits: effects,
    apply: (zones: readonly ZoneConfig[]) => work((one) => zonesModule.configured?.(one, zones)),
    /** One second later the receiver says this. */
    fix(at: Point, over: { readonly isValid?: boolean; readonly speedKmh?: number } = {}): void {
      monoMs += 1000;
      const truth = { ...at, altitudeM: 90, speedKmh: over.speedKmh ?? 36, headingDeg: 0 };
      const seen = {
        ...truth,
        utcMs: startUtcMs + monoMs,
        isValid: over.isValid ?? true,
        satellites: 9,
        satellitesInView: 9,
        hdop: 1,
      };
      step({ kind: 'bytes', port: 'gnss', bytes: new TextEncoder().encode(formatBurst(seen, 'GP', [])) });
      monoMs += 500;
      step({ kind: 'time' });
      monoMs -= 500;
    },
    events: () => effects.flatMap(({ events }) => events.map(({ event }) => event)),
    nowMs: () => monoMs,
  };
}
type Truck = ReturnType<typeof createTruck>;
const zoneCodes = [61_968, 62_000, 61_971, 62_003];
const zoneEvents = (truck: Truck) =>
  truck.events().filter(({ statusCode }) => zoneCodes.includes(statusCode));
/** Due north at 10 m/s, at `home` when `s` is 100. */
function pass(truck: Truck, from: number, to: number): void {
  for (let s = from; s < to; s += 1) truck.fix(away(home, (s - 100) * 10, 0));
}
const yard = (...switches: ZoneSwitch[]) => zone('yard', [home], { radiusM: 305, switches });

/** Came from outside, with zones that it knows. */
function arriving(zones: readonly ZoneConfig[]): Truck {
  const truck = createTruck();
  truck.apply(zones);
  pass(truck, 50, 90);
  return truck;
}

describe('an arrival', () => {
  it('is an event with the zone, the time and the place of the crossing, committed with the record', () => {
    const truck = arriving([yard('alertEntry')]);
    const [arrived] = zoneEvents(truck);
    expect(arrived).toMatchObject({
      statusCode: 61_968,
      geozoneID: 'yard',
      timestamp: startUtcMs + 21_000,
      attributes: { alert: true, dwellS: 10 },
    });
    expect(arrived?.latitude).toBeCloseTo(away(home, -300, 0).latitude, 5);
    expect(zoneEvents(truck).every((event) => eventFault({ ...event, seq: 1 }) === null)).toBe(true);
    const commit = truck.commits.find(({ events }) => events.some(({ event }) => event.geozoneID === 'yard'));
    expect(commit?.rows.zones?.inside).toEqual(['yard']);
  });

  it('and a departure of a corridor have codes of their own', () => {
    const road = zone('road', [away(home, 0, -500), away(home, 0, 500)], { type: 2, radiusM: 300 });
    const truck = arriving([road]);
    pass(truck, 90, 160);
    expect(zoneEvents(truck).map(({ statusCode }) => statusCode)).toEqual([61_971, 62_003]);
    expect(zoneEvents(truck)[1]?.attributes).toMatchObject({ alert: false });
  });

  it('shows in the positions from then on, until the departure', () => {
    const truck = arriving([yard()]);
    pass(truck, 90, 160);
    const places = truck.events().filter(({ statusCode }) => statusCode === 61_472);
    const zones = places.map(({ geozoneID }) => geozoneID ?? '-').join(' ');
    expect(zones).toMatch(/^-( -)*( yard)+( -)+$/);
    // The fix that makes it certain is reported itself, so nobody shows the old zone for minutes.
    const certainMs = startUtcMs + 31_000;
    expect(places.find(({ timestamp }) => timestamp === certainMs)?.geozoneID).toBe('yard');
  });

  it('is not reported again after a restart, and a departure meanwhile is', () => {
    const truck = arriving([yard()]);
    const kept: unknown = JSON.parse(JSON.stringify(truck.state().zones.record));
    const stays = createTruck(kept, 100_000);
    stays.apply([yard()]);
    pass(stays, 95, 115);
    expect(zoneEvents(stays)).toEqual([]);
    const left = createTruck(kept, 100_000);
    left.apply([yard()]);
    pass(left, 150, 165);
    expect(zoneEvents(left)[0]).toMatchObject({
      statusCode: 62_000,
      attributes: { reason: 'the border was crossed while the unit was off' },
    });
  });

  it('that began before a restart keeps its time and place', () => {
    const truck = createTruck();
    truck.apply([yard()]);
    pass(truck, 50, 75);
    const kept: unknown = JSON.parse(JSON.stringify(truck.state().zones.record));
    const next = createTruck(kept, 30_000);
    next.apply([yard()]);
    pass(next, 78, 90);
    const [arrived] = zoneEvents(next);
    expect(arrived).toMatchObject({ statusCode: 61_968, timestamp: startUtcMs + 21_000, geozoneID: 'yard' });
    expect(arrived?.latitude).toBeCloseTo(away(home, -300, 0).latitude, 4);
    expect(arrived && eventFault({ ...arrived, seq: 1 })).toBeNull();
  });

  it('needs a plausible fix: a jump into the zone and void epochs change nothing', () => {
    const truck = createTruck();
    truck.apply([yard()]);
    pass(truck, 0, 30);
    truck.fix(home);
    for (let s = 0; s < 20; s += 1) truck.fix(home, { isValid: false });
    expect(zoneEvents(truck)).toEqual([]);
    expect(truck.state().zones.watch.marks).toEqual([]);
  });

  it('of more zones than are watched is reported once, with the reason', () => {
    const truck = arriving(Array.from({ length: 300 }, (_value, n) => ({ ...yard(), id: `z${n}` })));
    pass(truck, 90, 100);
    const faults = truck.events().filter(({ attributes }) => attributes?.['part'] === 'zones');
    expect(faults).toMatchObject([{ statusCode: 64_821, attributes: { part: 'zones' } }]);
    expect(zoneEvents(truck)).toHaveLength(64);
  });
});

describe('automations', () => {
  it('ask for what the zone says, once the arrival is certain', () => {
    const truck = arriving([
      yard('arrivalCargoUnlock', 'departureCargoLock', 'arrivalEngineOn', 'arrivalCabinLock'),
    ]);
    expect(truck.wishes()).toEqual([
      { feature: 'enginecutoff', state: '0', source: 'zone', reason: 'geozone yard: arrival' },
      { feature: 'cargoaccess', state: '1', source: 'zone', reason: 'geozone yard: arrival' },
    ]);
    expect(zoneEvents(truck)[0]?.attributes).toMatchObject({
      engine: 'on asked',
      cargo: 'unlock asked',
      cabin: 'lock not fitted',
    });
    pass(truck, 90, 160);
    expect(truck.wishes().slice(2)).toMatchObject([
      { feature: 'cargoaccess', state: '0', reason: 'geozone yard: departure' },
    ]);
  });

  const unlocks = (truck: Truck): readonly (string | undefined)[] =>
    truck
      .events()
      .filter(({ commandID, attributes }) => commandID !== undefined && attributes?.['state'] === '1')
      .map(({ commandState }) => commandState);

  it('that were not carried out by then end where the vehicle leaves: nothing opens at its next stop, kilometres away', () => {
    const truck = arriving([yard('arrivalCargoUnlock')]);
    expect(truck.state().commands.record.active.cargoaccess).toMatchObject({ state: '1', phase: 'armed' });
    pass(truck, 90, 160);
    expect(truck.state().commands.record.active.cargoaccess).toBeUndefined();
    expect(unlocks(truck).at(-1)).toBe('cancelled');
  });

  it('end where the position of a vehicle at rest drifts out of the zone, which is no departure and locks nothing', () => {
    const truck = createTruck();
    truck.apply([yard('arrivalCargoUnlock', 'departureCargoLock', 'alertExit')]);
    pass(truck, 50, 85);
    const stop = away(home, -150, 0);
    for (let s = 0; s < 60; s += 1) truck.fix(stop, { speedKmh: 0.3 });
    expect(truck.state().commands.record.active.cargoaccess).toMatchObject({ state: '1' });
    for (let s = 0; s < 140; s += 1) truck.fix(away(stop, -1.5 * s, 0), { speedKmh: 0.3 });
    expect(zoneEvents(truck).map(({ statusCode }) => statusCode)).toEqual([61_968]);
    expect(truck.state().commands.record.active.cargoaccess).toBeUndefined();
    expect(unlocks(truck).at(-1)).toBe('cancelled');
    for (let s = 0; s < 30; s += 1) truck.fix(away(stop, -210 - 8 * s, 0), { speedKmh: 29 });
    expect(zoneEvents(truck).map(({ statusCode }) => statusCode)).toEqual([61_968, 62_000]);
  });

  it('end with their own zone alone: the border of a smaller one within is another', () => {
    const site = zone('site', [home], { radiusM: 400, switches: ['arrivalCargoUnlock'] });
    const truck = createTruck();
    truck.apply([site, zone('dock', [home], { radiusM: 100, switches: [] })]);
    pass(truck, 50, 130);
    // It has left the dock, and is on the site still.
    expect(zoneEvents(truck).map(({ geozoneID, statusCode }) => [geozoneID, statusCode])).toEqual([
      ['site', 61_968],
      ['dock', 61_968],
      ['dock', 62_000],
    ]);
    expect(truck.state().commands.record.active.cargoaccess).toMatchObject({ state: '1' });
  });

  it('keep the side that they came of in the record, which survives a restart', () => {
    const truck = arriving([yard('arrivalCargoUnlock')]);
    const { active } = JSON.parse(JSON.stringify(truck.state().commands.record));
    expect(active.cargoaccess.side).toEqual({ id: 'yard', to: 'inside' });
  });

  it('never come from a configuration', () => {
    const truck = createTruck();
    truck.apply([]);
    pass(truck, 50, 90);
    truck.apply([yard('arrivalEngineOff', 'arrivalCargoUnlock')]);
    pass(truck, 90, 110);
    expect(truck.wishes()).toEqual([]);
    expect([zoneEvents(truck), truck.state().zones.watch.inside]).toEqual([[], ['yard']]);
  });

  it('never cut while panic cannot be ruled out: this board has the input and is silent', () => {
    const truck = arriving([yard('arrivalEngineOff')]);
    expect(truck.wishes()).toEqual([]);
    expect(zoneEvents(truck)[0]?.attributes).toMatchObject({ engine: 'off not asked: panic is unknown' });
  });

  const mark: Mark = {
    id: 'a',
    to: 'inside',
    atMs: 0,
    utcMs: 0,
    ...home,
    cause: 'seen',
    gapMs: null,
    isCarried: false,
    isDrift: false,
  };
  const crossing = (id: string, to: Mark['to'], ...switches: ZoneSwitch[]) => ({
    zone: { ...yard(...switches), id },
    mark: { ...mark, id, to },
    dwellMs: 10_000,
  });
  const calm = { panic: false, isSuspect: false, fitted: ['enginecutoff', 'cargoaccess'] } as const;

  it('of two zones at one moment: the safe request wins, whatever the order', () => {
    const cut = crossing('cut', 'inside', 'arrivalEngineOff', 'arrivalCargoUnlock');
    const safe = crossing('safe', 'outside', 'departureEngineOn', 'departureCargoLock');
    for (const both of [
      [cut, safe],
      [safe, cut],
    ]) {
      const { requests: wishes, reports: told } = decideAutomations(both, calm);
      expect(wishes.map(({ feature, state }) => `${feature} ${state}`)).toEqual([
        'enginecutoff 0',
        'cargoaccess 0',
      ]);
      expect(told.find((one) => one.crossing === cut)?.attributes).toMatchObject({
        engine: 'off not asked: a zone at the same place asks for on',
      });
    }
  });

  it.each([
    ['panic is active', { ...calm, panic: true }],
    ['panic is unknown', { ...calm, panic: null }],
    ['the position was suspect lately', { ...calm, isSuspect: true }],
    ['not fitted', { ...calm, fitted: ['cargoaccess'] as const }],
  ])('do not cut when %s, and say so', (words, around) => {
    const { requests: wishes, reports: told } = decideAutomations(
      [crossing('cut', 'inside', 'arrivalEngineOff')],
      around,
    );
    expect(wishes).toEqual([]);
    expect(told[0]?.attributes['engine']).toContain(words);
    const restore = decideAutomations([crossing('on', 'inside', 'arrivalCargoLock')], around);
    expect(restore.requests).toHaveLength(1);
  });

  it('cut only as one calm, certain crossing asks for it', () => {
    const { requests: wishes } = decideAutomations([crossing('cut', 'outside', 'departureEngineOff')], calm);
    const side = { id: 'cut', to: 'outside' };
    expect(wishes).toEqual([{ feature: 'enginecutoff', state: '1', reason: 'geozone cut: departure', side }]);
  });
});
