// The guided start of a practice fleet: a step is done by what happened to vehicles that somebody did something to, never by a press.
import { describe, expect, it } from 'vitest';
import {
  keptSteps,
  keptText,
  offersOf,
  type Seen,
  stepsSeen,
} from '../../broker/console/state/practice/guide.ts';
import type { PracticeVehicle } from '../../src/core/practice.ts';

const vehicleOf = (deviceID: string, but: Partial<PracticeVehicle> = {}): PracticeVehicle => ({
  deviceID,
  speedKmh: 0,
  engine: 'off',
  isIgnitionOn: false,
  isCargoDoorOpen: false,
  isPanicPressed: false,
  isPowered: true,
  isTowed: false,
  isJammed: false,
  isConnected: true,
  hasOwner: false,
  actedS: null,
  ...but,
});
const fleetOf = (...vehicles: PracticeVehicle[]) => ({ startedS: 1000, vehicles });
const nothing = { alarms: [], vehicles: [], requests: [] };
const seen = (but: Partial<Seen>) =>
  stepsSeen({
    fleet: fleetOf(vehicleOf('van-01', { actedS: 1100 }), vehicleOf('van-02')),
    ...nothing,
    ...but,
  });

describe('a step of the guided start', () => {
  it('has not happened while nothing is seen', () => {
    expect(seen({})).toEqual([]);
  });

  it.each([
    ['van-01', 1100, ['alarm']],
    ['van-01', 1099, []],
    ['van-02', 5000, []],
    ['van-99', 5000, []],
  ])('is an alarm of %s that the service received at %d: %j', (deviceID, creationTime, steps) => {
    expect(seen({ alarms: [{ deviceID, creationTime }] })).toEqual(steps);
  });

  it.each([
    ['armed', ['wait']],
    ['sent', []],
    ['approval', []],
    [null, []],
  ])('is a cut that is %s: %j', (pendingCut, steps) => {
    expect(seen({ vehicles: [{ pendingCut }] })).toEqual(steps);
  });

  it.each([
    ['approved', 1000, ['approval']],
    ['approved', 999, []],
    ['refused', 2000, []],
    ['pending', 0, []],
  ])('is a request that was %s at %d: %j', (approvalState, decided, steps) => {
    expect(seen({ requests: [{ approvalState, decided }] })).toEqual(steps);
  });

  it('is kept for this run of the fleet, and whatever else a tab holds counts for nothing', () => {
    expect(keptSteps(keptText(1000, ['approval', 'alarm']), 1000)).toEqual(['alarm', 'approval']);
    expect(keptSteps(keptText(1000, ['alarm']), 1001)).toEqual([]);
    for (const text of [null, '', '[', '7', 'null', '{"startedS":1000}', '{"startedS":1000,"done":"alarm"}'])
      expect(keptSteps(text, 1000)).toEqual([]);
    expect(keptSteps('{"startedS":1000,"done":["alarm","other",3]}', 1000)).toEqual(['alarm']);
  });
});

describe('the vehicles that the guided start offers', () => {
  const driving = vehicleOf('van-02', { engine: 'running', speedKmh: 40 });
  const idsOf = (fleet: ReturnType<typeof fleetOf>, cut: readonly string[] = []) => {
    const { alarm, wait, isDriving, approval } = offersOf(fleet, (id) => cut.includes(id));
    return [alarm?.deviceID, wait?.deviceID, isDriving, approval?.deviceID];
  };

  it('are one that drives for the cut that waits, and one that stands for the colleague', () => {
    const fleet = fleetOf(vehicleOf('van-01'), driving, vehicleOf('van-03'));
    expect(idsOf(fleet)).toEqual(['van-03', 'van-02', true, 'van-01']);
  });

  it('are none of which a cut is asked for already', () => {
    const fleet = fleetOf(vehicleOf('van-01'), driving, vehicleOf('van-03'));
    expect(idsOf(fleet, ['van-02'])).toEqual(['van-02', 'van-01', false, 'van-03']);
    expect(idsOf(fleet, ['van-01', 'van-02', 'van-03'])).toEqual(['van-03', undefined, false, undefined]);
  });

  it('are those to which nothing was done, as long as there are any: the panic button of a van keeps it uncut for minutes', () => {
    const pressed = vehicleOf('van-01', { engine: 'running', speedKmh: 40, actedS: 1100 });
    expect(idsOf(fleetOf(pressed, driving, vehicleOf('van-03')))).toEqual([
      'van-01',
      'van-02',
      true,
      'van-03',
    ]);
    expect(idsOf(fleetOf(pressed, vehicleOf('van-03', { actedS: 1100 })))).toEqual([
      'van-01',
      'van-01',
      true,
      'van-03',
    ]);
  });

  it('are none without a network, and one for both cuts where there is no other', () => {
    expect(idsOf(fleetOf(vehicleOf('van-01', { isConnected: false }), driving))).toEqual([
      'van-02',
      'van-02',
      true,
      'van-02',
    ]);
    expect(idsOf(fleetOf())).toEqual([undefined, undefined, false, undefined]);
  });
});
