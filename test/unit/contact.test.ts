// A digital input as a witness: when its "off" counts. After a start, a lost board, a common loss or chatter it counts only once
// the input was seen alive, or the place of the vehicle shows that nothing has happened meanwhile (DESIGN 8).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alertTo, createInputs, stepInputs } from '../../agent/core/board/inputs.ts';
import {
  atPlace,
  type Contact,
  contactLimits,
  createContact,
  isCommonLoss,
  recordReading,
  restingForMs,
} from '../../agent/core/evidence/contact.ts';

/** An input that is read every 250 ms; `value` null while the board is silent. */
function createInput(countsFlips = true, isLive = false, isParked = true) {
  let nowMs = 0;
  let contact: Contact = createContact(nowMs, isLive, isParked);
  let seen: { value: boolean | null; sinceMs: number } = { value: null, sinceMs: 0 };
  const input = {
    contact: () => contact,
    nowMs: () => nowMs,
    /** Reads this for so long. */
    read(value: boolean | null, forMs: number) {
      if (seen.value !== value) seen = { value, sinceMs: nowMs };
      for (const endMs = nowMs + forMs; nowMs < endMs; ) {
        contact = recordReading(contact, seen, { atMs: nowMs, countsFlips });
        nowMs += 250;
      }
      return input;
    },
    restS: (seenBy = contact) => {
      const restMs = restingForMs(seenBy, nowMs);
      return restMs === null ? null : Math.round(restMs / 1000);
    },
    /** While the vehicle is shown where it was parked. */
    restAtPlaceS: () => input.restS(atPlace(contact)),
    why: () => contact.suspension,
  };
  return input;
}

/** Seen alive, and off for a minute. */
const alive = () => createInput().read(true, 2000).read(false, 60_000);

describe('after a start', () => {
  it('"off" does not count, however long it lasts', () => {
    const input = createInput().read(false, 3_600_000);
    expect([input.restS(), input.why()]).toEqual([null, 'start']);
  });

  it('"off" counts once the input was active for one second', () => {
    expect(createInput().read(false, 5000).read(true, 750).read(false, 60_000).restS()).toBe(null);
    expect(createInput().read(false, 5000).read(true, 1500).read(false, 60_000).restS()).toBe(60);
  });

  it('"off" counts from its first reading while the receiver shows the parking place', () => {
    const input = createInput().read(false, 30_000);
    expect([input.restAtPlaceS(), input.restS()]).toEqual([30, null]);
  });

  it('"off" counts at once where the supply of the contact is read beside it, and the vehicle was parked', () => {
    expect(createInput(true, true).read(false, 30_000).restS()).toBe(30);
    const driven = createInput(true, true, false).read(false, 30_000);
    expect([driven.restAtPlaceS(), driven.restS()]).toEqual([30, null]);
    expect(driven.read(true, 2000).read(false, 30_000).restS()).toBe(30);
  });
});

describe('a lost board', () => {
  it('of at most three seconds changes nothing but the time for which it has been off', () => {
    const input = alive().read(null, 2500).read(false, 10_000);
    expect([input.restS(), input.why()]).toEqual([10, null]);
  });

  it('of at most three seconds does not interrupt the "off" time; a longer one, or an "on", restarts it', () => {
    const offS = (input: ReturnType<typeof createInput>) => {
      const { offSinceMs } = input.contact();
      return offSinceMs === null ? null : (input.nowMs() - offSinceMs) / 1000;
    };
    expect(offS(alive())).toBe(60);
    expect(offS(alive().read(null, 2500).read(false, 10_000))).toBe(72.5);
    expect(offS(alive().read(null, 2500).read(false, 5000).read(null, 2500).read(false, 10_000))).toBe(80);
    expect(offS(alive().read(null, 3500).read(false, 10_000))).toBe(10);
    expect(offS(alive().read(null, 1000).read(true, 250).read(false, 10_000))).toBe(10);
    expect(offS(alive().read(true, 250))).toBe(null);
    expect(offS(createInput())).toBe(null);
  });

  it('of more than three seconds suspends the input until activity or the parking place confirms it', () => {
    const lost = alive().read(null, 3500).read(false, 60_000);
    expect([lost.restS(), lost.why()]).toEqual([null, 'board']);
    expect([lost.restAtPlaceS(), lost.restS()]).toEqual([60, null]);
    expect(alive().read(null, 3500).read(true, 1500).read(false, 10_000).restS()).toBe(10);
  });

  it('leaves the input unknown while it lasts', () => {
    expect(alive().read(null, 500).restS()).toBe(null);
  });
});

describe('chatter', () => {
  const flips = (count: number, everyMs: number) => {
    const input = alive();
    for (let flip = 0; flip < count; flip += 1) input.read(flip % 2 === 0, everyMs);
    return input;
  };

  it('of six changes within twenty seconds suspends the input, also at the parking place', () => {
    const input = flips(6, 1000).read(false, 60_000);
    expect([input.restS(), input.why()]).toEqual([null, 'chatter']);
    expect(input.restAtPlaceS()).toBe(null);
  });

  it('ends once the input was active for fifteen seconds', () => {
    expect(flips(6, 1000).read(true, 14_000).read(false, 60_000).restS()).toBe(null);
    expect(flips(6, 1000).read(true, 15_500).read(false, 10_000).restS()).toBe(10);
  });

  it('is not a driver turning the key five times, nor doing it slowly', () => {
    expect(flips(5, 1500).why()).toBe(null);
    expect(flips(12, 4500).why()).toBe(null);
  });

  it('is not detected on a motion input, which pulses', () => {
    const input = createInput(false).read(true, 1500);
    for (let flip = 0; flip < 30; flip += 1) input.read(flip % 2 === 1, 500);
    expect(input.why()).toBe(null);
  });
});

describe('an "on" that is too short for its debounce', () => {
  it('ends at its last reading, although the input reports "off" since before it', () => {
    const off = { value: false, sinceMs: 0 };
    const now = (atMs: number) => ({ atMs, countsFlips: true });
    const on = recordReading(
      createInput().read(true, 2000).read(false, 8000).contact(),
      { value: true, sinceMs: 10_000 },
      now(10_000),
    );
    expect(recordReading(on, off, now(10_250)).fellMs).toBe(10_000);
  });
});

/** An input that was on from the beginning and opens at `fellMs`, read through its debounce as the vehicle reads it. */
function fallingAs(how: { debounceMs: number; periodMs: number; phaseMs: number }, fellMs: number): Contact {
  const { debounceMs, periodMs, phaseMs } = how;
  const rule = { invert: false, debounceMs, staleMs: 5 * periodMs, immediate: false };
  let inputs = createInputs({ key: rule }, 0);
  let contact = createContact(0, true, true);
  for (let atMs = phaseMs; atMs < fellMs + 10_000; atMs += periodMs) {
    inputs = stepInputs(inputs, { kind: 'sample', atMs, values: { key: atMs < fellMs } }).state;
    contact = recordReading(contact, alertTo(inputs, 'key'), { atMs, countsFlips: false });
  }
  return contact;
}

describe('a common loss', () => {
  const fallingAt = (firstMs: number, secondMs: number): boolean => {
    const fall = (ms: number) => createInput().read(true, ms).read(false, 20_000).contact();
    return isCommonLoss(fall(firstMs), fall(secondMs));
  };

  it('is two inputs that fall within 200 ms of each other', () => {
    expect(fallingAt(5000, 5000)).toBe(true);
    expect(fallingAt(5000, 5000 + contactLimits.commonMs + 50)).toBe(false);
  });

  it('is detected with different polls, sample times and debounces of the two inputs', () => {
    const how = fc.record({
      debounceMs: fc.integer({ min: 0, max: 2000 }),
      periodMs: fc.integer({ min: 10, max: 2000 }),
      phaseMs: fc.integer({ min: 0, max: 2000 }),
    });
    fc.assert(
      fc.property(
        how,
        how,
        fc.integer({ min: 12_000, max: 15_000 }),
        fc.integer({ min: 0, max: 200 }),
        (one, other, fellMs, laterMs) => {
          expect(isCommonLoss(fallingAs(one, fellMs), fallingAs(other, fellMs + laterMs))).toBe(true);
        },
      ),
    );
  });

  it('is not detected where the samples show that one input fell later', () => {
    const how = { debounceMs: 300, periodMs: 100, phaseMs: 0 };
    expect(isCommonLoss(fallingAs(how, 12_000), fallingAs({ ...how, debounceMs: 900 }, 12_450))).toBe(false);
  });

  it('is not detected where one input never fell', () => {
    const resting = createInput().read(false, 5000).contact();
    expect(isCommonLoss(resting, resting)).toBe(false);
  });

  it('is detected also during a short silence of the board', () => {
    const input = createInput().read(true, 5000).read(null, 1000).read(false, 5000);
    expect(Number.isFinite(input.contact().fellMs)).toBe(true);
    expect(isCommonLoss(input.contact(), input.contact())).toBe(true);
  });
});
