// The vehicle bus as a witness of rest, from raw frames: what it takes for its zeros to count, and each way in which recorded buses lied.
import { describe, expect, it } from 'vitest';
import { createBusValues } from '../../agent/core/bus/bus-values.ts';
import type { CanFrame } from '../../agent/core/bus/slcan-line.ts';
import { ccvs1, ebc2, eec1, tco1, vep1 } from '../../simulator/hardware/j1939-frames.ts';

/** A bus whose nodes send what a function says, every 100 ms; volts jitter as those of a real supply do. */
function createBus() {
  const bus = createBusValues();
  let nowMs = 0;
  const run = {
    for(seconds: number, frames: (atMs: number) => readonly CanFrame[]) {
      for (const endMs = nowMs + seconds * 1000; nowMs < endMs; ) {
        nowMs += 100;
        for (const frame of frames(nowMs)) bus.take(frame, nowMs);
      }
      return run;
    },
    motion: () => bus.view(nowMs).motion,
    activity: () => bus.activity(nowMs),
    stillS: () => {
      const { stillSinceMs } = bus.view(nowMs).motion;
      return stillSinceMs === null ? null : Math.round((nowMs - stillSinceMs) / 1000);
    },
  };
  return run;
}

const volts = (atMs: number, source = 0): CanFrame => vep1(24 + (atMs % 2000 === 0 ? 0.05 : 0), null, source);
/** A truck in a garage: speed of the engine's address, parking brake of the cab's, key off. */
const parked = (atMs: number): readonly CanFrame[] => [
  ccvs1(0, 3, 0),
  ccvs1(null, 1, 0x31),
  eec1(0, 0),
  ...(atMs % 1000 === 0 ? [volts(atMs)] : []),
];

describe('rest on a vehicle bus', () => {
  it('is shown by zeros of a living bus with the parking brake set, from 10 s after its start', () => {
    const bus = createBus().for(9, parked);
    expect(bus.motion()).toMatchObject({ stillSinceMs: null, lacks: 'settling' });
    bus.for(21, parked);
    expect(bus.motion()).toMatchObject({ lacks: null, fact: 'parking_brake', senders: '00', mostKmh: 0 });
    expect(bus.stillS()).toBeGreaterThanOrEqual(19);
    expect(bus.motion().stoppedSinceMs).not.toBeNull();
  });

  it('is shown with the noise of a standing truck, and not at a speed beyond it', () => {
    const at = (kmh: number) =>
      createBus().for(30, (atMs) => [ccvs1(atMs % 700 === 0 ? kmh : 0, 1), eec1(600), volts(atMs)]);
    expect(at(0.34).motion().lacks).toBeNull();
    // A single frame among zeros begins the rest anew.
    expect(at(0.6).stillS()).toBeLessThanOrEqual(1);
  });

  it('is begun anew after a gap, as senders begin with defaults', () => {
    const bus = createBus()
      .for(30, parked)
      .for(2, () => [])
      .for(5, parked);
    expect(bus.motion().lacks).toBe('settling');
    expect(bus.for(6, parked).stillS()).toBeLessThanOrEqual(1);
  });

  it('is not shown by a gateway that repeats its last values, whatever its clock and counters do', () => {
    const frozen = (atMs: number) => [
      ccvs1(0, 1, 0xee),
      eec1(0, 0xee),
      vep1(24, null, 0xee),
      // Its own time of day goes on.
      { id: 0x18fee6ee, isExtended: true, data: Uint8Array.of(atMs % 251, 0, 0, 0, 0, 0, 0, 0) },
    ];
    expect(createBus().for(30, parked).for(30, frozen).motion().lacks).toBe('repeats');
    expect(createBus().for(60, frozen).motion().lacks).toBe('repeats');
  });

  it('is not shown by a sender that repeats its zeros beside another that measures', () => {
    const bus = createBus().for(60, (atMs) => [ccvs1(0, 1, 0xee), eec1(0, 0), volts(atMs, 0)]);
    expect(bus.motion().lacks).toBe('repeats');
  });

  it('is not shown by wheel speeds that go on as zeros after the engine has fallen silent', () => {
    const bus = createBus()
      .for(30, (atMs) => [ebc2(0, 0x0b), ...parked(atMs)])
      .for(3, (atMs) => [ebc2(0, 0x0b), ccvs1(null, 1, 0x31), volts(atMs, 0x0b)]);
    expect(bus.motion()).toMatchObject({ senders: '0b', lacks: 'engine_silent', stillSinceMs: null });
  });

  it('has no second fact from the zeros of an engine alone, or while the key is on', () => {
    const alone = createBus().for(40, (atMs) => [ccvs1(0, 3, 0), eec1(0, 0), volts(atMs)]);
    expect(alone.motion()).toMatchObject({ lacks: null, fact: null });
    const on = createBus().for(40, (atMs) => [...parked(atMs), vep1(24 + (atMs % 500 === 0 ? 0.05 : 0), 24)]);
    expect(on.motion()).toMatchObject({ lacks: null, fact: null, stoppedSinceMs: null });
  });

  it('has no second fact where two senders disagree about the parking brake', () => {
    const bus = createBus().for(40, (atMs) => [...parked(atMs), ccvs1(null, 0, 0x21)]);
    expect(bus.motion().fact).toBeNull();
  });

  it('has a second fact from a tachograph that shows no motion and speed 0', () => {
    const with_ = (kmh: number, motion: 0 | 1) =>
      createBus()
        .for(40, (atMs) => [ccvs1(0, 3, 0), eec1(0, 0), volts(atMs), tco1(kmh, motion)])
        .motion();
    expect(with_(0, 0)).toMatchObject({ lacks: null, fact: 'tachograph', senders: '00,ee' });
    expect(with_(0, 1).fact).toBeNull();
    expect(with_(12, 0)).toMatchObject({ lacks: 'moving', fact: null });
  });

  it('is denied by the fastest of all senders', () => {
    const bus = createBus().for(40, (atMs) => [...parked(atMs), ebc2(123, 0x0b)]);
    expect(bus.motion()).toMatchObject({ lacks: 'moving', mostKmh: 123, leastKmh: 0 });
  });

  it('is no claim of an electric or hybrid vehicle without engine frames', () => {
    expect(
      createBus()
        .for(40, (atMs) => [ccvs1(0, 1), volts(atMs)])
        .motion().lacks,
    ).toBe('engine_silent');
  });

  it('is denied after a stop that no vehicle makes, until a drive, and not after hard braking or a stop from a crawl', () => {
    const at = (kmh: number) => (atMs: number) => [
      ccvs1(kmh, 1, 0),
      ccvs1(null, 1, 0x31),
      eec1(0, 0),
      volts(atMs),
    ];
    const braked = (fromKmh: number, kmhPerS: number) => {
      const bus = createBus().for(20, at(fromKmh));
      for (let kmh = fromKmh; kmh > 0; kmh -= kmhPerS / 10) bus.for(0.1, at(kmh));
      return bus.for(30, parked);
    };
    expect(braked(50, 28).motion().lacks).toBeNull();
    expect(createBus().for(20, at(4.5)).for(30, parked).motion().lacks).toBeNull();
    const lost = createBus().for(20, at(50)).for(600, parked);
    expect(lost.motion().lacks).toBe('sudden_stop');
    expect(lost.for(20, at(7)).for(30, parked).motion().lacks).toBe('sudden_stop');
    for (let kmh = 50; kmh > 0; kmh -= 2) lost.for(0.1, at(kmh));
    expect(lost.for(30, parked).motion().lacks).toBeNull();
    const unavailable = (atMs: number) => [ccvs1(null, 1, 0), volts(atMs)];
    expect(createBus().for(20, at(50)).for(60, unavailable).for(60, parked).motion().lacks).toBe(
      'sudden_stop',
    );
  });

  it('is denied without a break by two nodes with one address of which one shows movement', () => {
    const bus = createBus().for(30, parked);
    for (let second = 0; second < 20; second += 1) {
      bus.for(1, (atMs) => [ccvs1(60, 1, 0), ...parked(atMs)]);
      // The last frame of each pair is a zero.
      expect(bus.activity().movement?.value).toBe(60);
      expect(bus.motion()).toMatchObject({ lacks: 'sudden_stop', stillSinceMs: null });
    }
  });

  it('is forgotten where a sender has no value for a moment', () => {
    const bus = createBus()
      .for(60, parked)
      .for(0.1, () => [ccvs1(null, 3, 0)])
      .for(0.2, parked);
    expect(bus.stillS()).toBe(0);
  });
});
