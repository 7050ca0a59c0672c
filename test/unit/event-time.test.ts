// The UTC that an event gets when it is sent: made up for from what its boot knows by then, a guess replaced by what is
// known, a good time left alone, and never another order than that of `upMs`.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BootOrigin, keptOrigin, timedEvent } from '../../agent/core/outbox/event-time.ts';
import { type FleetEvent, type TimeQuality, timeQualities } from '../../src/core/events/event.ts';

const trueMs = Date.UTC(2027, 0, 1);
const dayMs = 86_400_000;
const yearMs = 365 * dayMs;

const event = (upMs: number, timestamp: number | null, timeQuality: TimeQuality): FleetEvent => ({
  seq: 1,
  timestamp,
  upMs,
  timeQuality,
  statusCode: 61472,
});
const gnss: BootOrigin = { originMs: trueMs, quality: 'gnss' };

describe('an event that is about to be sent', () => {
  it('without UTC gets it, with the quality of the source', () => {
    expect(timedEvent(event(5000, null, 'none'), gnss)).toEqual(event(5000, trueMs + 5000, 'gnss'));
    expect(timedEvent(event(5000, null, 'none'), null)).toEqual(event(5000, null, 'none'));
  });

  it('with the guess of an RTC gets the time known now, also from that clock after an NTP step', () => {
    expect(timedEvent(event(5000, trueMs - yearMs, 'rtc'), gnss)).toEqual(event(5000, trueMs + 5000, 'gnss'));
    const stepped: BootOrigin = { originMs: trueMs, quality: 'rtc' };
    expect(timedEvent(event(5000, trueMs - yearMs, 'rtc'), stepped).timestamp).toBe(trueMs + 5000);
    expect(timedEvent(event(5000, trueMs + 5400, 'rtc'), stepped).timestamp).toBe(trueMs + 5400);
  });

  it('with a good time keeps it, though the quartz has drifted since', () => {
    const upMs = 10 * dayMs;
    const stamped = event(upMs, trueMs + upMs - (upMs * 500) / 1e6, 'gnss');
    expect(timedEvent(stamped, gnss)).toEqual(stamped);
  });

  it("with the time of a receiver that was found wrong gets the server's time", () => {
    const server: BootOrigin = { originMs: trueMs, quality: 'server' };
    const spoofed = event(5000, trueMs + 3_600_000, 'gnss');
    expect(timedEvent(spoofed, server)).toEqual(event(5000, trueMs + 5000, 'server'));
  });

  it('is never dated by an unverified clock where a verified one did', () => {
    const stamped = event(5000, trueMs + 5000, 'server');
    expect(timedEvent(stamped, { originMs: trueMs - yearMs, quality: 'rtc' })).toEqual(stamped);
  });

  it('is in the order of `upMs` among all events without a time at their moment', () => {
    const guessed = fc.record({
      upMs: fc.integer({ min: 0, max: 100 * dayMs }),
      stamp: fc.option(fc.integer({ min: trueMs - 20 * yearMs, max: trueMs + 20 * yearMs })),
    });
    const origin = fc.record({
      originMs: fc.integer({ min: trueMs - yearMs, max: trueMs + yearMs }),
      quality: fc.constantFrom(...timeQualities.filter((quality) => quality !== 'none' && quality !== 'rtc')),
    });
    fc.assert(
      fc.property(fc.array(guessed, { minLength: 2, maxLength: 30 }), origin, (list, known) => {
        const timed = list
          .toSorted((a, b) => a.upMs - b.upMs)
          .map(({ upMs, stamp }) => timedEvent(event(upMs, stamp, stamp === null ? 'none' : 'rtc'), known));
        for (const [index, { timestamp, upMs, timeQuality }] of timed.entries()) {
          expect(timestamp).toBe(known.originMs + (upMs ?? 0));
          expect(timeQuality).toBe(known.quality);
          expect(timestamp ?? 0).toBeGreaterThanOrEqual(timed[index - 1]?.timestamp ?? 0);
        }
      }),
    );
  });
});

describe('the origin of a boot', () => {
  const server = (originMs: number): BootOrigin => ({ originMs, quality: 'server' });
  const rtc = (originMs: number): BootOrigin => ({ originMs, quality: 'rtc' });

  it('is the first good origin, which is nearest to the events without a time', () => {
    expect(keptOrigin(null, server(trueMs), 0)).toEqual(server(trueMs));
    expect(keptOrigin(server(trueMs), server(trueMs - 20_000), dayMs)).toEqual(server(trueMs));
    expect(keptOrigin(server(trueMs), rtc(trueMs - yearMs), dayMs)).toEqual(server(trueMs));
  });

  it('is another origin if it is better, or shows that the first was wrong', () => {
    expect(keptOrigin(rtc(trueMs - yearMs), server(trueMs), 0)).toEqual(server(trueMs));
    expect(keptOrigin(rtc(trueMs - yearMs), rtc(trueMs), 0)).toEqual(rtc(trueMs));
    expect(keptOrigin(server(trueMs), gnss, dayMs)).toEqual(gnss);
    expect(keptOrigin(gnss, server(trueMs + yearMs), dayMs)).toEqual(server(trueMs + yearMs));
  });
});
