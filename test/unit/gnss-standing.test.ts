// What a GNSS receiver proves about standstill: an observed stop, a place that was held, a place that is known; and what it must
// never be believed: sudden stops, frozen or repeated fixes, a place that wanders, fixes of poor quality (DESIGN 8).
import { describe, expect, it } from 'vitest';
import { type FixTime, smoothedInterval } from '../../agent/core/evidence/fix-age.ts';
import { type GnssClaim, gnssClaim, wasSuspectAt } from '../../agent/core/evidence/gnss-claim.ts';
import {
  createGnssState,
  type GnssFault,
  type GnssState,
  gnssLimits,
  recordGnssFix,
  recordGnssVoid,
} from '../../agent/core/evidence/gnss-standing.ts';
import type { Fix } from '../../agent/core/gnss/epochs.ts';
import { createLuck } from '../support/hostile/hostile-truth.ts';
import {
  brakingFrom,
  createRoadReceiver,
  driveStartUtcMs,
  fixAt,
  north,
  type RoadReceiver,
} from '../support/vehicle/gnss-drive.ts';

const unknownPlace = { at: null, engineOnMs: Number.NEGATIVE_INFINITY } as const;
const home = { latitude: 43.65, longitude: -79.34 } as const;

/** A fix that is taken in as it was measured. */
const taken = (fix: Fix, utcMs: number | null = null): FixTime => ({
  atMs: fix.atMonoMs,
  utcMs,
  hdopMost: gnssLimits.hdop,
});

/** A receiver and what is made of its fixes. */
function createWatch(stepMs = 1000, startM = 0) {
  const road: RoadReceiver = createRoadReceiver({ stepMs, startM });
  let state: GnssState = createGnssState(0);
  const watch = {
    road,
    state: () => state,
    fix(fix: Fix) {
      state = recordGnssFix(state, fix, taken(fix));
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
      road.next(0);
      state = recordGnssVoid(state, road.nowMs());
      return watch;
    },
    claim: (place: Parameters<typeof gnssClaim>[1] = unknownPlace, laterMs = 0): GnssClaim =>
      gnssClaim(state, place, road.nowMs() + laterMs),
  };
  return watch;
}

/** A normal deviate (Box and Muller). */
const gauss = (luck: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - luck())) * Math.cos(2 * Math.PI * luck());
const minuteAt = (speedKmh: number): readonly number[] => Array.from({ length: 60 }, () => speedKmh);
const faultOf = (claim: GnssClaim): GnssFault | GnssClaim['kind'] =>
  claim.kind === 'unknown' ? claim.fault : claim.kind;

describe('a fix beside those just before it', () => {
  const stopped = (stepMs: number) => {
    const watch = createWatch(stepMs).drive([40, 40, 40, 40]);
    for (let kmh = 40; kmh > 0; kmh -= stepMs / 100) watch.at(kmh);
    return watch.stand(20_000 / stepMs);
  };

  it('is compared with the one before, once a second or more rarely', () => {
    for (const stepMs of [1000, 2000])
      expect(stopped(stepMs).drive([0.3, 0.2]).claim()).toMatchObject({
        kind: 'still',
        speedKmh: 0.2,
        beforeKmh: 0.3,
      });
  });

  it('is compared with all of the last second, where they are more: noise between two hides no rise', () => {
    const watch = stopped(200).drive([0.2, 0.5, 0.4]);
    expect(watch.claim()).toMatchObject({ kind: 'still', speedKmh: 0.4, beforeKmh: 0.1 });
    expect(watch.drive([0.4, 0.4, 0.4, 0.3]).claim()).toMatchObject({ speedKmh: 0.3, beforeKmh: 0.4 });
  });
});

describe('a stop that was observed', () => {
  it('proves standstill at once, with its duration', () => {
    const watch = createWatch().drive(minuteAt(50)).drive(brakingFrom(50));
    expect(watch.claim()).toMatchObject({ kind: 'still', forMs: 1000 });
    expect(watch.stand(12).claim()).toMatchObject({ kind: 'still', forMs: 13_000 });
  });

  it('is also seen by a receiver of 0.5 Hz', () => {
    const watch = createWatch(2000).drive(minuteAt(50)).drive([36, 22, 8, 0]).stand(6);
    expect(watch.claim()).toMatchObject({ kind: 'still', forMs: 12_000 });
  });

  it('is not accepted when the position of the last moving fix repeats to the last digit', () => {
    const road = createRoadReceiver();
    let state = createGnssState(0);
    const take = (fix: ReturnType<typeof road.next>): void => {
      state = recordGnssFix(state, fix, taken(fix));
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

  it('proves nothing 20 s after the receiver froze: it would report the same for a moving vehicle', () => {
    const watch = createWatch().drive(minuteAt(50)).drive(brakingFrom(50)).stand(5);
    const freeze = (fixes: number) => watch.stand(fixes, () => ({ altitudeM: 91 }));
    expect(freeze(20).claim().kind).toBe('still');
    expect(faultOf(freeze(3).claim())).toBe('frozen');
    expect(faultOf(freeze(600).claim())).toBe('frozen');
    expect(watch.stand(1).claim().kind).toBe('still');
  });

  describe('by a receiver that holds its place below a speed', () => {
    /** Static navigation: place and speed stay, quality goes on; `next` is the vehicle on its road. */
    const holding = (watch: ReturnType<typeof createWatch>, kmh: number, seconds: number) => {
      const { latitude } = watch.state().last ?? { latitude: 0 };
      for (let second = 0; second < seconds; second += 1)
        watch.at(kmh, { latitude, speedKmh: 0, hdop: 0.9 + (second % 3) / 10 });
      return watch;
    };

    it('proves nothing in a traffic jam, from the stop on', () => {
      const watch = createWatch().drive(minuteAt(50)).drive([43, 36, 29, 22, 15, 8]);
      for (let second = 0; second < 120; second += 1)
        expect(faultOf(holding(watch, 4.5, 1).claim())).not.toBe('still');
    });

    it('proves nothing 3 s after the receiver began to hold its place, and counts again with the first fix that moves it', () => {
      const watch = createWatch().drive(minuteAt(50)).drive(brakingFrom(50)).stand(15);
      expect(faultOf(holding(watch, 0, 3).claim())).toBe('still');
      expect(faultOf(holding(watch, 0, 1).claim())).toBe('frozen');
      expect(faultOf(holding(watch, 0, 60).claim())).toBe('frozen');
      expect(watch.at(0, { ...north(970.2), speedKmh: 0 }).claim().kind).toBe('still');
    });

    it('is distinguished from one that reports speed 0 at standstill while its place scatters', () => {
      const watch = createWatch().drive(minuteAt(50)).drive(brakingFrom(50));
      const { latitude } = watch.state().last ?? { latitude: 0 };
      for (let second = 0; second < 15; second += 1)
        watch.at(0, { latitude: latitude + (second % 4) * 1e-7, speedKmh: 0 });
      expect(watch.claim()).toMatchObject({ kind: 'still' });
    });
  });

  it('survives epochs without RMC or GGA, on the way and at its place', () => {
    const partial = (index: number): Partial<Fix> =>
      index % 3 === 1
        ? { speedKmh: null, mode: null, rmcValid: false }
        : index % 3 === 2
          ? { hdop: null, satellites: null, altitudeM: null }
          : {};
    for (const first of [0, 1, 2]) {
      const watch = createWatch(250);
      const speeds = [...minuteAt(50), ...Array.from({ length: 80 }, (_, step) => 50 - step * 0.625)];
      for (const [index, kmh] of speeds.entries()) watch.at(kmh, partial(index + first));
      expect(watch.stand(60, partial).claim()).toMatchObject({ kind: 'still' });
    }
  });

  it('neither varies nor moves by an epoch with a lost sentence', () => {
    const watch = createWatch().drive(minuteAt(50)).drive(brakingFrom(50));
    const { latitude, longitude } = watch.state().last ?? { latitude: 0, longitude: 0 };
    const held = { latitude, longitude, altitudeM: 90, satellites: 9, hdop: 0.9 };
    watch.stand(30, (index) => ({
      ...held,
      ...(index % 2 === 0 ? { speedKmh: null, rmcValid: false } : {}),
    }));
    expect(faultOf(watch.claim())).toBe('frozen');
    watch.stand(30, (index) => ({ ...held, ...(index % 2 === 0 ? { satellites: null, hdop: null } : {}) }));
    expect(faultOf(watch.claim())).toBe('frozen');
  });

  it('survives epochs without a speed at its place, and none elsewhere', () => {
    const without = (metres: number, epochs: number) => {
      const watch = createWatch().drive(minuteAt(50)).drive(brakingFrom(50)).stand(3);
      const { latitude } = watch.state().last ?? { latitude: 0 };
      for (let epoch = 0; epoch < epochs; epoch += 1)
        watch.at(0, { latitude: latitude + metres / 111_195, speedKmh: null, rmcValid: false });
      expect(watch.claim().kind === 'still').toBe(metres < 8 && epochs <= 2);
      return faultOf(watch.stand(12).claim());
    };
    expect([without(0.5, 1), without(0.5, 3)]).toEqual(['still', 'still']);
    expect([without(20, 1), without(0.5, 6)]).toEqual(['no_stop_seen', 'no_stop_seen']);
  });

  it('ends with the first fix above 3 km/h', () => {
    const watch = createWatch().drive(minuteAt(50)).drive(brakingFrom(50)).stand(20);
    expect(watch.at(3.5).claim()).toMatchObject({ kind: 'moving', speedKmh: 3.5, fixes: 1 });
  });

  it('continues at the next stop after a second or two of shunting', () => {
    const stopped = () => createWatch().drive(minuteAt(50)).drive(brakingFrom(50)).stand(10);
    for (const hop of [[3.5], [4, 6, 2.5]])
      expect(stopped().drive(hop).stand(12).claim()).toMatchObject({ kind: 'still' });
    // Not with a fix missing, after a sudden drop, nor where the stop before it was none.
    expect(faultOf(stopped().at(4).lose().stand(20).claim())).toBe('no_stop_seen');
    expect(faultOf(stopped().drive([8, 36]).stand(20).claim())).toBe('no_stop_seen');
    expect(faultOf(stopped().drive([50, 4]).stand(20).drive([4]).stand(20).claim())).toBe('no_stop_seen');
  });

  it('survives one distant position, but not two', () => {
    const outliers = (count: number) => {
      const watch = createWatch().drive(minuteAt(50)).drive(brakingFrom(50)).stand(15);
      for (let index = 0; index < count; index += 1) watch.fix({ ...watch.road.next(0), ...north(1000) });
      return faultOf(watch.stand(3).claim());
    };
    expect([outliers(1), outliers(2)]).toEqual(['still', 'no_stop_seen']);
  });

  it('survives the settling of the filter right after it, but no later displacement', () => {
    const settling = createWatch().drive(minuteAt(50)).drive(brakingFrom(50)).stand(5);
    for (let index = 0; index < 12; index += 1) settling.fix({ ...settling.road.next(0), ...north(900) });
    expect(settling.claim().kind).toBe('still');
    const later = createWatch().drive(minuteAt(50)).drive(brakingFrom(50)).stand(30);
    for (let index = 0; index < 12; index += 1) later.fix({ ...later.road.next(0), ...north(960) });
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

  it('is a stop after a gap in the fixes, which may hide the drive', () => {
    const watch = createWatch().drive(minuteAt(50)).lose();
    expect(faultOf(watch.stand(20).claim())).toBe('no_stop_seen');
  });

  it('is a stop after two noisy fixes above 3 km/h', () => {
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

  it('is not proven by one fix that is repeated without change, however long', () => {
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

  it('is no longer proven after its position has drifted by 45 m, however long it stood before', () => {
    for (const stoodS of [12, 30, 60, 600])
      for (const walkMs of [1.2, 2.4, 5, 8]) {
        const watch = createWatch().drive(brakingFrom(50)).stand(stoodS);
        expect(watch.claim().kind).toBe('still');
        const { latitude } = watch.road.next(0);
        let walkedM = 0;
        while (watch.claim().kind === 'still' && walkedM < 100) {
          walkedM += walkMs;
          watch.fix({ ...watch.road.next(0), latitude: latitude + walkedM / 111_195, speedKmh: 0 });
        }
        expect(walkedM, `${walkMs} m/s after ${stoodS} s`).toBeLessThanOrEqual(45 + walkMs);
      }
  });

  /** Positions around the place, one a second, with the share of seconds in which they were standstill after the first two minutes. */
  const standingShare = (place: (second: number) => { readonly x: number; readonly y: number }): number => {
    const watch = createWatch();
    let still = 0;
    for (let second = 0; second < 3000; second += 1) {
      const { x, y } = place(second);
      const longitude = home.longitude + x / (111_195 * Math.cos((43.65 * Math.PI) / 180));
      watch.fix({ ...watch.road.next(0), ...north(y), longitude });
      if (second >= 120 && watch.claim().kind === 'still') still += 1;
    }
    return still / 2880;
  };

  it('is proven in a town: by positions that scatter by 4 m', () => {
    const luck = createLuck(1);
    expect(standingShare(() => ({ x: 4 * gauss(luck), y: 4 * gauss(luck) }))).toBeGreaterThan(0.99);
  });

  /** Positions that wander: their scatter, and the time after which they have forgotten where they were. */
  const wanderOf = (scatterM: number, overS: number) => {
    const luck = createLuck(2);
    let [x, y] = [0, 0];
    const keep = Math.exp(-1 / overS);
    const fresh = scatterM * Math.sqrt(1 - keep * keep);
    return () => {
      x = keep * x + fresh * gauss(luck);
      y = keep * y + fresh * gauss(luck);
      return { x, y };
    };
  };

  it('is proven in a town where it was parked: by positions that wander by 8 m within a minute', () => {
    expect(standingShare(wanderOf(8, 60))).toBeGreaterThan(0.5);
  });

  it('is proven at its parking place within 30 s of any moment, by positions that wander by 8 m', () => {
    for (const overS of [30, 60, 120]) {
      const wander = wanderOf(8, overS);
      const watch = createWatch();
      const stoodLong: boolean[] = [];
      for (let second = 0; second < 20_000; second += 1) {
        const { x, y } = wander();
        const longitude = home.longitude + x / (111_195 * Math.cos((43.65 * Math.PI) / 180));
        watch.fix({ ...watch.road.next(0), ...north(y), longitude });
        const claim = watch.claim({ at: home, engineOnMs: Number.NEGATIVE_INFINITY });
        stoodLong.push(claim.kind === 'still' && claim.forMs >= gnssLimits.windowMs);
      }
      const asked = stoodLong.slice(120, -30);
      const answered = asked.filter((_isNow, at) => stoodLong.slice(120 + at, 120 + at + 28).includes(true));
      expect(answered.length / asked.length, `${overS} s`).toBeGreaterThan(0.99);
    }
  });

  it('is not proven by a position that drifts by a metre a second, with any scatter', () => {
    for (const scatterM of [0, 1, 2, 4]) {
      const luck = createLuck(3);
      const walk = (second: number) => ({ x: second + scatterM * gauss(luck), y: scatterM * gauss(luck) });
      expect(standingShare(walk)).toBe(0);
    }
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

  it('proves standstill at once within 40 m, and elsewhere only after a minute', () => {
    expect(createWatch().stand(12).claim(parked)).toMatchObject({ kind: 'still', forMs: 11_000 });
    expect(createWatch(1000, 39).stand(12).claim(parked).kind).toBe('still');
    expect(faultOf(createWatch(1000, 41).stand(12).claim(parked))).toBe('no_stop_seen');
  });

  it('does not count for fixes that have not varied since the ignition was switched on', () => {
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
    ['fix_time', { utcMs: null }],
    ['hdop', { hdop: 8.1 }],
    ['fix_speed', { speedKmh: null }],
  ])('proves nothing, and ends nothing when those around it agree: %s', (fault, over) => {
    const watch = createWatch().stand(90).at(0, over);
    expect(faultOf(watch.claim())).toBe(fault);
    expect(watch.stand(1).claim()).toMatchObject({ kind: 'still', forMs: 91_000 });
  });

  it.each<[GnssFault, Partial<Fix>]>([
    ['fix_speed', { speedKmh: null, ...north(20) }],
    ['doubtful', { doubts: ['jump'] }],
    ['doubtful', { doubts: ['time-backwards'] }],
    ['fix_void', { rmcValid: false, speedKmh: 12 }],
    ['fix_void', { rmcValid: false, speedKmh: 12, isSpeedOfVtg: true }],
    ['fix_speed', { speedKmh: 12, isSpeedOfVtg: true }],
    ['fix_void', { rmcValid: false, speedKmh: 0, isSpeedOfVtg: true, ...north(20) }],
  ])('that may be of a vehicle that moves ends a standstill: %s', (fault, over) => {
    const watch = createWatch().stand(90).at(0, over);
    expect(faultOf(watch.claim())).toBe(fault);
    expect(faultOf(watch.stand(20).claim())).toBe('no_stop_seen');
  });

  it.each<[string, Partial<Fix>]>([
    ['VTG alone', { rmcValid: false, mode: null, isSpeedOfVtg: true }],
    ['VTG beside an RMC without a speed', { isSpeedOfVtg: true }],
    ['no speed', { speedKmh: null }],
    ['GGA alone', { rmcValid: false, mode: null, speedKmh: null }],
  ])('never shows rest with %s, however long and whatever is known of the place', (_, over) => {
    const watch = createWatch().stand(600, () => over);
    expect(watch.claim().kind).toBe('unknown');
    expect(watch.claim({ ...unknownPlace, at: home }).kind).toBe('unknown');
    // Nor does it continue a rest that RMC had shown, nor show an observed stop.
    expect(
      createWatch()
        .stand(90)
        .stand(10, () => over)
        .claim().kind,
    ).toBe('unknown');
    const braking = createWatch();
    for (const kmh of [...minuteAt(50), ...brakingFrom(50), ...Array.from({ length: 90 }, () => 0)])
      braking.at(kmh, over.speedKmh === null ? over : { ...over, speedKmh: kmh });
    expect(braking.claim().kind).toBe('unknown');
  });

  it('of VTG shows movement, and overrides no speed of RMC', () => {
    const watch = createWatch().stand(90);
    expect(watch.at(40, { rmcValid: false, isSpeedOfVtg: true }).claim()).toMatchObject({ saidKmh: 40 });
    expect(watch.at(0, { rmcValid: false, isSpeedOfVtg: true }).claim()).toMatchObject({ saidKmh: 40 });
  });

  it('counts without a mode indicator too: receivers before NMEA 2.3 give none', () => {
    expect(
      createWatch()
        .stand(61, () => ({ mode: null }))
        .claim().kind,
    ).toBe('still');
  });

  it('may be missing for up to 5 s in a standstill', () => {
    const lose = (count: number) => {
      const watch = createWatch().stand(90);
      for (let lost = 0; lost < count; lost += 1) watch.lose();
      expect(watch.claim().kind).toBe('unknown');
      return faultOf(watch.stand(5).claim());
    };
    expect([1, 4].map(lose)).toEqual(['still', 'still']);
    expect([5, 30].map(lose)).toEqual(['no_stop_seen', 'no_stop_seen']);
  });

  it('may be missing at the stop itself, but not through a whole braking', () => {
    const stop = (before: readonly number[], lost: number, after: readonly number[]) => {
      const watch = createWatch().drive(minuteAt(50)).drive(before);
      for (let count = 0; count < lost; count += 1) watch.lose();
      return faultOf(watch.drive(after).stand(3).claim());
    };
    expect(stop([43, 36, 29], 1, [15, 8, 0])).toBe('still');
    expect(stop([43, 36, 29, 22], 2, [0])).toBe('still');
    expect(stop([], 2, [0])).toBe('no_stop_seen');
    // The epoch before lacked GGA, and stated a speed.
    const after = (saidKmh: number) => {
      const watch = createWatch().drive(minuteAt(50)).drive([43, 36, 28]).at(saidKmh, { hdop: null }).lose();
      return faultOf(watch.stand(4).claim());
    };
    expect(after(22)).toBe('still');
    expect(after(36)).toBe('no_stop_seen');
  });

  it('restores the learned interval within a hundred fixes after several were read at once', () => {
    for (const ms of [100, 200, 1000, 2000]) {
      let intervalMs = ms;
      for (let read = 0; read < 4; read += 1) intervalMs = smoothedInterval(intervalMs, 0);
      expect(intervalMs).toBeLessThan(ms / 10);
      for (let fix = 0; fix < 100; fix += 1) intervalMs = smoothedInterval(intervalMs, ms);
      expect(intervalMs).toBeCloseTo(ms, 0);
      // A gap is none of its intervals.
      expect(smoothedInterval(intervalMs, 5 * ms)).toBeLessThan(1.1 * ms);
    }
  });

  describe('is as old as it would be had nothing held it up', () => {
    /** How old the newest of these fixes is as it is taken in, ms; each came `onLineMs` after its time, and was taken in `readMs` later. */
    const ageAfter = (fixes: number, lateOf: (index: number) => { onLineMs: number; readMs: number }) => {
      const road = createRoadReceiver();
      let state = createGnssState(0);
      let atMs = 0;
      for (let index = 0; index < fixes; index += 1) {
        const fix = road.next(0);
        const { onLineMs, readMs } = lateOf(index);
        const atMonoMs = fix.atMonoMs + onLineMs;
        atMs = atMonoMs + readMs;
        state = recordGnssFix(state, { ...fix, atMonoMs }, { atMs, utcMs: null, hdopMost: 8 });
      }
      return atMs - state.takenMs;
    };
    const usual = { onLineMs: 300, readMs: 150 };
    const lastOf = (last: typeof usual) => (index: number) => (index < 59 ? usual : last);

    it('on the line or unread, and read but not recorded yet', () => {
      expect(ageAfter(60, () => usual)).toBe(0);
      expect(ageAfter(60, lastOf({ onLineMs: 1200, readMs: 150 }))).toBeCloseTo(900, -2);
      expect(ageAfter(60, lastOf({ onLineMs: 300, readMs: 950 }))).toBeCloseTo(800, -2);
      expect(ageAfter(60, lastOf({ onLineMs: 200, readMs: 150 }))).toBe(0);
    });

    it('and new again after half a minute where all bursts became 300 ms longer', () => {
      const longer = (fixes: number) =>
        ageAfter(60 + fixes, (index) => (index < 60 ? usual : { onLineMs: 300, readMs: 450 }));
      expect(longer(1)).toBeGreaterThan(250);
      expect(longer(35)).toBe(0);
    });
  });

  it('that is more than 2 s later than the soonest of this run, or than trusted time, proves nothing', () => {
    const late = (trusted: boolean, lateMs: number) => {
      let state = createGnssState(0);
      const road = createRoadReceiver();
      const take = (fix: Fix) => {
        state = recordGnssFix(state, fix, taken(fix, trusted ? driveStartUtcMs + fix.atMonoMs : null));
      };
      for (let second = 0; second < 10; second += 1) take(road.next(0));
      if (trusted) state = createGnssState(0);
      for (let second = 0; second < 120; second += 1) {
        const fix = road.next(0);
        const utcMs = (fix.utcMs ?? 0) - lateMs;
        // What was held back comes later, and nothing twice.
        if (utcMs > (state.last?.utcMs ?? 0)) take({ ...fix, utcMs });
      }
      return faultOf(gnssClaim(state, unknownPlace, road.nowMs()));
    };
    expect([late(true, 1900), late(false, 1900)]).toEqual(['still', 'still']);
    expect([late(true, 2100), late(false, 2200)]).toEqual(['fix_late', 'fix_late']);
    expect(late(true, 20_000)).toBe('fix_late');
  });

  it('is not late because two clocks drift apart, nor after the receiver has set its clock back', () => {
    let state = createGnssState(0);
    const road = createRoadReceiver();
    let behindMs = 0;
    const take = (): void => {
      const fix = road.next(0);
      const late = { ...fix, utcMs: (fix.utcMs ?? 0) - behindMs };
      state = recordGnssFix(state, late, taken(late));
    };
    // A quartz that is fast by 500 ppm, for three hours.
    for (let second = 0; second < 10_800; second += 1) {
      behindMs += 0.5;
      take();
    }
    expect(faultOf(gnssClaim(state, unknownPlace, road.nowMs()))).toBe('still');
    // A leap second table that was old, and one fix from the future.
    for (const stepMs of [3000, 15_000, -15_000]) {
      behindMs += stepMs;
      take();
    }
    for (let second = 0; second < 90; second += 1) take();
    expect(faultOf(gnssClaim(state, unknownPlace, road.nowMs()))).toBe('still');
  });

  it('that is estimated proves no standstill, but its speed is reported', () => {
    let { state } = { state: createWatch().stand(90).state() };
    state = recordGnssVoid(state, 91_000, 60);
    expect(gnssClaim(state, unknownPlace, 91_000)).toEqual({ kind: 'unknown', fault: 'no_fix', saidKmh: 60 });
  });

  it('counts from the fifth good one in a row', () => {
    const watch = createWatch().stand(4);
    const parked = { at: home, engineOnMs: Number.NEGATIVE_INFINITY };
    expect(faultOf(watch.claim(parked))).toBe('few_fixes');
    expect(watch.stand(1).claim(parked).kind).toBe('still');
  });

  it('expires after 2 s, and from a 0.5 Hz receiver after 3.5 s', () => {
    const fast = createWatch().stand(90);
    expect(fast.claim(unknownPlace, 2000).kind).toBe('still');
    expect(faultOf(fast.claim(unknownPlace, 2001))).toBe('fix_old');
    const slow = createWatch(2000).stand(90);
    expect(slow.claim(unknownPlace, 3500).kind).toBe('still');
    expect(faultOf(slow.claim(unknownPlace, 3501))).toBe('fix_old');
  });

  it('of a worse HDOP than the installer allows proves nothing', () => {
    const fix = fixAt(0, { hdop: 2.1 });
    const state = recordGnssFix(createGnssState(0), fix, { ...taken(fix), hdopMost: 2 });
    expect(faultOf(gnssClaim(state, unknownPlace, 0))).toBe('hdop');
  });

  it('that is doubtful, or moves without being evidence, is suspect for a minute; a plain void is not', () => {
    const doubtful = createWatch()
      .stand(20)
      .at(0, { doubts: ['jump'] })
      .lose();
    expect(wasSuspectAt(doubtful.state(), doubtful.road.nowMs() + 58_999)).toBe(true);
    expect(wasSuspectAt(doubtful.state(), doubtful.road.nowMs() + 59_000)).toBe(false);
    const honest = createWatch().stand(20).lose();
    expect(wasSuspectAt(honest.state(), honest.road.nowMs())).toBe(false);
    const fast = createWatch().stand(20).at(50, { hdop: 9 });
    expect(wasSuspectAt(fast.state(), fast.road.nowMs())).toBe(true);
  });
});
