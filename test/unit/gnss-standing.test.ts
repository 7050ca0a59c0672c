// What a GNSS receiver proves about standstill: an observed stop, a place that was held, a place that is known; and what it must
// never be believed: sudden stops, frozen or repeated fixes, a place that wanders, fixes of poor quality (DESIGN 8).
import { describe, expect, it } from 'vitest';
import {
  createGnssState,
  type GnssClaim,
  type GnssFault,
  type GnssState,
  gnssClaim,
  gnssLimits,
  recordGnssFix,
  recordGnssVoid,
  wasSuspectAt,
} from '../../agent/core/evidence/gnss-standing.ts';
import type { Fix } from '../../agent/core/gnss/epochs.ts';
import {
  brakingFrom,
  createRoadReceiver,
  fixAt,
  north,
  type RoadReceiver,
} from '../support/vehicle/gnss-drive.ts';

const unknownPlace = { at: null, engineOnMs: Number.NEGATIVE_INFINITY } as const;
const home = { latitude: 43.65, longitude: -79.34 } as const;

/** A receiver and what is made of its fixes. */
function createWatch(stepMs = 1000, startM = 0) {
  const road: RoadReceiver = createRoadReceiver({ stepMs, startM });
  let state: GnssState = createGnssState();
  const watch = {
    road,
    state: () => state,
    fix(fix: Fix) {
      state = recordGnssFix(state, fix, gnssLimits.hdop);
      return watch;
    },
    at(speedKmh: number, over: Partial<Fix> = {}) {
      return watch.fix(road.next(speedKmh, over));
    },
    drive(speeds: readonly number[]) {
      for (const speedKmh of speeds) watch.at(speedKmh);
      return watch;
    },
    stand(fixes: number, over: (index: number) => Partial<Fix> = () => ({})) {
      for (let index = 0; index < fixes; index += 1) watch.at(0, over(index));
      return watch;
    },
    lose() {
      state = recordGnssVoid(state);
      return watch;
    },
    claim: (place: Parameters<typeof gnssClaim>[1] = unknownPlace, laterMs = 0): GnssClaim =>
      gnssClaim(state, place, road.nowMs() + laterMs),
  };
  return watch;
}

const minuteAt = (speedKmh: number): readonly number[] => Array.from({ length: 60 }, () => speedKmh);
const faultOf = (claim: GnssClaim): GnssFault | GnssClaim['kind'] =>
  claim.kind === 'unknown' ? claim.fault : claim.kind;

describe('a stop that was observed', () => {
  it('proves standstill at once, and says for how long it has lasted', () => {
    const watch = createWatch().drive(minuteAt(50)).drive(brakingFrom(50));
    expect(watch.claim()).toMatchObject({ kind: 'still', forMs: 1000 });
    expect(watch.stand(12).claim()).toMatchObject({ kind: 'still', forMs: 13_000 });
  });

  it('is also seen by a receiver of 0.5 Hz', () => {
    const watch = createWatch(2000).drive(minuteAt(50)).drive([36, 22, 8, 0]).stand(6);
    expect(watch.claim()).toMatchObject({ kind: 'still', forMs: 12_000 });
  });

  it('is none when the position of the last fix in motion comes again, to the last digit', () => {
    const road = createRoadReceiver();
    let state = createGnssState();
    const take = (fix: ReturnType<typeof road.next>): void => {
      state = recordGnssFix(state, fix, gnssLimits.hdop);
    };
    for (const kmh of [...minuteAt(50), 43, 36, 29, 22, 15]) take(road.next(kmh));
    const { latitude } = state.last ?? { latitude: 0 };
    for (let second = 0; second < 20; second += 1) take(road.next(0, { latitude }));
    expect(gnssClaim(state, unknownPlace, road.nowMs())).toMatchObject({
      kind: 'unknown',
      fault: 'no_stop_seen',
      heldMs: 19_000,
    });
  });

  it('stays proven when the receiver freezes after it, for what was seen was a vehicle that stops', () => {
    const watch = createWatch().drive(minuteAt(50)).drive(brakingFrom(50)).stand(5);
    const still = fixAt(0, { altitudeM: 91 });
    for (let index = 0; index < 120; index += 1) watch.at(0, { altitudeM: still.altitudeM });
    expect(watch.claim().kind).toBe('still');
  });

  it('ends with the first fix above 3 km/h', () => {
    const watch = createWatch().drive(minuteAt(50)).drive(brakingFrom(50)).stand(20);
    expect(watch.at(3.5).claim()).toMatchObject({ kind: 'moving', speedKmh: 3.5, fixes: 1 });
    expect(faultOf(watch.stand(10).claim())).toBe('no_stop_seen');
  });

  it('survives the settling of the filter right after it, and no displacement later', () => {
    const settling = createWatch().drive(minuteAt(50)).drive(brakingFrom(50)).stand(5);
    for (let index = 0; index < 12; index += 1) settling.fix({ ...settling.road.next(0), ...north(900) });
    expect(settling.claim().kind).toBe('still');
    const later = createWatch().drive(minuteAt(50)).drive(brakingFrom(50)).stand(30);
    for (let index = 0; index < 12; index += 1) later.fix({ ...later.road.next(0), ...north(900) });
    expect(faultOf(later.claim())).toBe('no_stop_seen');
  });
});

describe('what is no stop', () => {
  it.each<[string, readonly number[]]>([
    ['a drop from 50 km/h to none in one second', [0]],
    ['a drop to walking speed in one second', [8, 4, 0]],
    ['a drop in the middle of the braking', [43, 36, 5, 2.5, 0]],
  ])('%s: the place must be held for 60 s', (_what, speeds) => {
    const watch = createWatch().drive(minuteAt(50)).drive(speeds).stand(30);
    expect(faultOf(watch.claim())).toBe('no_stop_seen');
    expect(watch.stand(31).claim().kind).toBe('still');
  });

  it('is a receiver that freezes on the road', () => {
    const watch = createWatch().drive(minuteAt(80));
    const frozen = watch.road.next(80);
    for (let index = 0; index < 600; index += 1) {
      const { utcMs, atMonoMs } = watch.road.next(0);
      watch.fix({ ...frozen, speedKmh: 0, utcMs, atMonoMs });
    }
    expect(faultOf(watch.claim())).toBe('frozen');
    expect(watch.claim().kind).not.toBe('still');
  });

  it('is one that follows a gap in the fixes: the drive before it was not this one', () => {
    const watch = createWatch().drive(minuteAt(50)).lose();
    expect(faultOf(watch.stand(20).claim())).toBe('no_stop_seen');
  });

  it('is one after two fixes of noise above 3 km/h', () => {
    const watch = createWatch().drive([5, 2.5]).stand(20);
    expect(faultOf(watch.claim())).toBe('no_stop_seen');
  });
});

describe('a place without an observed stop', () => {
  it('must be held for 60 s, by fixes that vary', () => {
    const watch = createWatch().stand(60);
    expect(faultOf(watch.claim())).toBe('no_stop_seen');
    expect(watch.stand(1).claim()).toMatchObject({ kind: 'still', forMs: 60_000 });
  });

  it('is proven by a receiver of 0.5 Hz too, and by no slower one', () => {
    expect(createWatch(2000).stand(31).claim()).toMatchObject({ kind: 'still', forMs: 60_000 });
    expect(faultOf(createWatch(5000).stand(30).claim())).toBe('few_fixes');
  });

  it('is not proven by one fix that is repeated bit by bit, however long', () => {
    const watch = createWatch().stand(600, () => ({ altitudeM: 90 }));
    expect(faultOf(watch.claim())).toBe('frozen');
  });

  it('is not proven while it walks although the Doppler speed is 0', () => {
    const watch = createWatch();
    for (let second = 0; second < 300; second += 1) {
      watch.fix({ ...watch.road.next(0), ...north(second * 1.2), speedKmh: 0 });
      expect(watch.claim().kind).not.toBe('still');
    }
  });

  it('may wander by twice the HDOP in metres', () => {
    const wander = (hdop: number, metres: number): string => {
      const watch = createWatch();
      for (let second = 0; second < 90; second += 1)
        watch.fix({ ...watch.road.next(0), ...north(second % 8 < 4 ? 0 : metres), hdop, speedKmh: 0 });
      return faultOf(watch.claim());
    };
    expect(wander(1, 7.9)).toBe('still');
    expect(wander(1, 8.2)).toBe('no_stop_seen');
    expect(wander(4.5, 8.9)).toBe('still');
  });

  it('is not proven by a Doppler speed that stays above 1 km/h on average', () => {
    expect(
      createWatch()
        .stand(90, () => ({ speedKmh: 1.4 }))
        .claim().kind,
    ).not.toBe('still');
    expect(
      createWatch()
        .stand(90, (index) => ({ speedKmh: index % 4 === 0 ? 1.9 : 0.3 }))
        .claim().kind,
    ).toBe('still');
  });
});

describe('the place where it was parked', () => {
  const parked = { at: home, engineOnMs: Number.NEGATIVE_INFINITY };

  it('is standstill at once within 25 m, and elsewhere only after the hold', () => {
    expect(createWatch().stand(12).claim(parked)).toMatchObject({ kind: 'still', forMs: 11_000 });
    expect(createWatch(1000, 24).stand(12).claim(parked).kind).toBe('still');
    expect(faultOf(createWatch(1000, 27).stand(12).claim(parked))).toBe('no_stop_seen');
  });

  it('is not believed of fixes that have not varied since the ignition was switched on', () => {
    const watch = createWatch().stand(30);
    const frozen = watch.road.next(0);
    watch.fix(frozen);
    const onMs = watch.road.nowMs() + 500;
    for (let index = 0; index < 30; index += 1) {
      const { utcMs, atMonoMs } = watch.road.next(0);
      watch.fix({ ...frozen, utcMs, atMonoMs });
    }
    expect(faultOf(watch.claim({ at: home, engineOnMs: onMs }))).toBe('frozen');
  });
});

describe('one fix', () => {
  it.each<[GnssFault, Partial<Fix>]>([
    ['fix_void', { rmcValid: false }],
    ['fix_mode', { mode: 'E' }],
    ['fix_mode', { mode: null }],
    ['fix_time', { utcMs: null }],
    ['fix_speed', { speedKmh: null }],
    ['hdop', { hdop: 5.1 }],
    ['hdop', { hdop: null }],
    ['doubtful', { doubts: ['jump'] }],
    ['doubtful', { doubts: ['time-backwards'] }],
  ])('proves nothing: %s', (fault, over) => {
    const watch = createWatch().stand(90).at(0, over);
    expect(faultOf(watch.claim())).toBe(fault);
    expect(faultOf(watch.stand(20).claim())).toBe('no_stop_seen');
  });

  it('counts from the fifth good one in a row', () => {
    const watch = createWatch().stand(4);
    const parked = { at: home, engineOnMs: Number.NEGATIVE_INFINITY };
    expect(faultOf(watch.claim(parked))).toBe('few_fixes');
    expect(watch.stand(1).claim(parked).kind).toBe('still');
  });

  it('says nothing about now after 2 s, and of a receiver of 0.5 Hz after 3.5 s', () => {
    const fast = createWatch().stand(90);
    expect(fast.claim(unknownPlace, 2000).kind).toBe('still');
    expect(faultOf(fast.claim(unknownPlace, 2001))).toBe('fix_old');
    const slow = createWatch(2000).stand(90);
    expect(slow.claim(unknownPlace, 3500).kind).toBe('still');
    expect(faultOf(slow.claim(unknownPlace, 3501))).toBe('fix_old');
  });

  it('of a worse HDOP than the installer allows proves nothing', () => {
    expect(gnssClaim(recordGnssFix(createGnssState(), fixAt(0, { hdop: 2.1 }), 2), unknownPlace, 0)).toEqual({
      kind: 'unknown',
      fault: 'hdop',
    });
  });

  it('that is doubtful or moves without being evidence is suspect for a minute; an honest void is not', () => {
    const doubtful = createWatch()
      .stand(20)
      .at(0, { doubts: ['jump'] })
      .lose();
    expect(wasSuspectAt(doubtful.state(), doubtful.road.nowMs() + 59_999)).toBe(true);
    expect(wasSuspectAt(doubtful.state(), doubtful.road.nowMs() + 60_000)).toBe(false);
    const honest = createWatch().stand(20).lose();
    expect(wasSuspectAt(honest.state(), honest.road.nowMs())).toBe(false);
    const fast = createWatch().stand(20).at(50, { hdop: 9 });
    expect(wasSuspectAt(fast.state(), fast.road.nowMs())).toBe(true);
  });
});
