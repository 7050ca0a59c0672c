// How much a device and an account may send: no honest vehicle waits, a flood waits behind itself, and nothing is lost by it.
import { describe, expect, it } from 'vitest';
import type { DeviceRef } from '../../broker/core/device-key.ts';
import { defaultEventLimits, type EventLimits } from '../../broker/core/scheduling/event-budget.ts';
import { createEventLimiter } from '../../broker/ingest/event-limiter.ts';
import { statusCodes } from '../../src/core/events/status-codes.ts';
import { createBenchClock, createBenchLog, jsonBytes } from '../support/broker/broker-bench.ts';

const truck = (deviceNo: number, accountID = 'acme'): DeviceRef => ({
  accountID,
  deviceID: `truck-${deviceNo}`,
  deviceNo,
});
const payload = (bytes: number) => ({ verb: 'events', payload: new Uint8Array(bytes) }) as const;
const eventsOf = (...codes: readonly number[]) => {
  const events = codes.map((statusCode, at) => ({ seq: at + 1, statusCode, timestamp: 1_760_000_000 }));
  return { verb: 'events', payload: jsonBytes({ boot: 'b1', events }) } as const;
};

function rigOf(changes: Partial<EventLimits> = {}) {
  const clock = createBenchClock();
  const log = createBenchLog();
  const limiter = createEventLimiter({ limits: { ...defaultEventLimits, ...changes }, clock, log });
  /** Sends so many payloads as fast as it may; gives the seconds that it took. */
  const send = (
    device: DeviceRef,
    count: number,
    of: { readonly events: number; readonly bytes: number },
  ) => {
    const fromMs = clock.monoMs();
    let left = count;
    const one = (): void => {
      limiter.charge(device, payload(of.bytes), of.events);
      left -= 1;
      if (left === 0) return;
      if (limiter.isHeld(device)) limiter.wait(device, one);
      else one();
    };
    one();
    const isDone = (): boolean => left === 0;
    while (!isDone()) clock.advance(25);
    return (clock.monoMs() - fromMs) / 1000;
  };
  return { clock, log, limiter, send };
}

describe('a device', () => {
  it.each([
    ['an event each second for a day', { events: 1, bytes: 300, everyMs: 1000, count: 86_400 }],
    ['ten events each second for an hour', { events: 1, bytes: 300, everyMs: 100, count: 36_000 }],
    ['a large event each 10 s for a day', { events: 1, bytes: 60_000, everyMs: 10_000, count: 8640 }],
    ['50 events of an agent each 10 s', { events: 50, bytes: 870, everyMs: 10_000, count: 8640 }],
  ])('that sends %s never waits', (_name, { events, bytes, everyMs, count }) => {
    const { clock, log, limiter } = rigOf();
    for (let at = 0; at < count; at++) {
      if (limiter.isHeld(truck(1))) throw new Error(`held at ${at}`);
      limiter.charge(truck(1), payload(bytes), events);
      clock.advance(everyMs);
    }
    expect(log.lines).toEqual([]);
  });

  it.each([
    ['a week of 10 s, in batches of 50', { count: 1210, events: 50, bytes: 900 }],
    ['a week of 8 hours a day at 1 s, in batches of 500', { count: 400, events: 500, bytes: 64_000 }],
    ['a day at 1 s, one by one', { count: 86_400, events: 1, bytes: 200 }],
  ])('that comes back with %s is paced and stays below its limit', (_name, { count, ...of }) => {
    const { log, limiter, send } = rigOf();
    const total = count * of.events;
    expect(send(truck(1), count, of)).toBeLessThan(total / 900);
    expect([log.lines, limiter.overLimit()]).toEqual([[], []]);
  });

  it.each([
    ['many events', { events: 500, bytes: 64_000 }],
    ['few large ones: bytes count as well', { events: 1, bytes: 65_536 }],
    ['payloads that cannot be read', { events: 0, bytes: 65_536 }],
    ['single ones', { events: 1, bytes: 100 }],
  ])('that floods with %s is held to its rate, and named to the operator once', (_name, of) => {
    const { log, limiter, send } = rigOf({ deviceEventsPerS: 20, deviceBurst: 5000 });
    const cost = Math.max(of.events, Math.ceil(of.bytes / 1024));
    const total = 20_000;
    const tookS = send(truck(1), Math.ceil(total / cost), of);
    expect(tookS).toBeGreaterThan((total - 5000 - 1000) / 20);
    expect(tookS).toBeLessThan((total - 5000 + 2000) / 20);
    const named = log.lines.filter(({ event }) => event === 'device_over_limit');
    expect(named[0]?.fields).toMatchObject({
      clientID: 'acme/truck-1',
      setting: 'ingest.deviceEventsPerS',
      limit: 20,
    });
    expect(named.length).toBeLessThanOrEqual(1 + tookS / 600);
    expect(limiter.overLimit().map(({ name }) => name)).toEqual(['acme/truck-1']);
    expect(limiter.counts().held.device).toBeGreaterThan(0);
  });

  it('that is held sends an alarm, a report on a command and a hello at once, and no flood of them', () => {
    const { clock, limiter } = rigOf();
    const held = truck(1);
    const hello = { verb: 'hello', payload: jsonBytes({}) } as const;
    expect(limiter.mayOvertake(held, eventsOf(statusCodes.LOCATION.code, statusCodes.PANIC_ON.code))).toBe(
      true,
    );
    expect(limiter.mayOvertake(held, eventsOf(statusCodes.TOWING_START.code))).toBe(true);
    expect(limiter.mayOvertake(held, hello)).toBe(true);
    for (const other of [eventsOf(statusCodes.LOCATION.code), payload(10), payload(70_000)])
      expect(limiter.mayOvertake(held, other)).toBe(false);
    const panics = (count: number): number =>
      Array.from({ length: count }).filter(() =>
        limiter.mayOvertake(held, eventsOf(statusCodes.PANIC_ON.code)),
      ).length;
    expect(panics(1000)).toBe(17);
    clock.advance(60_000);
    expect(panics(1000)).toBe(6);
  });
});

describe('the devices of an account', () => {
  const flood = { events: 100, bytes: 1000 };

  it('that stay within their share never wait for the flood of others; floods share the limit in turns', () => {
    const { clock, log, limiter } = rigOf({ accountEventsPerS: 200 });
    const counts = new Map<number, number>();
    for (let deviceNo = 1; deviceNo <= 4; deviceNo++) {
      const device = truck(deviceNo);
      const one = (): void => {
        limiter.charge(device, payload(flood.bytes), flood.events);
        counts.set(deviceNo, (counts.get(deviceNo) ?? 0) + 1);
        limiter.wait(device, one);
      };
      limiter.wait(device, one);
    }
    for (let second = 0; second < 300; second++) {
      expect(limiter.isHeld(truck(9))).toBe(false);
      limiter.charge(truck(9), payload(200), 1);
      // Another account is not concerned at all.
      expect(limiter.isHeld(truck(10, 'other'))).toBe(false);
      limiter.charge(truck(10, 'other'), payload(200), 2);
      clock.advance(1000);
    }
    const sent = [...counts.values()];
    // 200 a second for all, and the share of each.
    const total = sent.reduce((sum, count) => sum + count, 0) * flood.events;
    expect(total / 300).toBeGreaterThan(190);
    expect(total / 300).toBeLessThan(200 + 4 * 2 + 15);
    expect(Math.max(...sent) - Math.min(...sent)).toBeLessThanOrEqual(3);
    expect(log.lines.map(({ event }) => event)).toContain('account_over_limit');
    expect(limiter.counts().waiting).toBe(4);
  });

  it('have the limit that the operator gives their account', () => {
    const took = (own: number | null): number => {
      const { limiter, send } = rigOf({ accountEventsPerS: 100, deviceEventsPerS: 0 });
      limiter.setAccountLimit('acme', own);
      return send(truck(1), 200, flood);
    };
    const [service, ten, none] = [took(null), took(1000), took(0)];
    expect(service / ten).toBeGreaterThan(5);
    expect(none).toBe(0);
  });

  it('go on after one of them has left, and wait for none that closed', () => {
    const { clock, limiter, send } = rigOf({ deviceEventsPerS: 20, deviceBurst: 1000 });
    send(truck(1), 3, { events: 500, bytes: 1 });
    const begun: string[] = [];
    limiter.wait(truck(1), () => void begun.push('first'))();
    limiter.wait(truck(1), () => void begun.push('second'));
    expect(limiter.counts().waiting).toBe(1);
    clock.advance(60_000);
    expect([begun, limiter.counts().waiting]).toEqual([['second'], 0]);
  });

  it('keep what they owe, and the limit of their account, after tens of thousands of others', () => {
    const { clock, limiter } = rigOf({ deviceEventsPerS: 1, deviceBurst: 400, accountEventsPerS: 1_000_000 });
    limiter.setAccountLimit('own', 1);
    limiter.charge(truck(1), payload(1), 500);
    clock.advance(61_000);
    for (let at = 2; at < 30_000; at += 1) limiter.charge(truck(at, `account-${at}`), payload(1), 1);
    expect(limiter.isHeld(truck(1))).toBe(true);
    limiter.charge(truck(40_000, 'own'), payload(1), 100);
    limiter.charge(truck(40_000, 'own'), payload(1), 2);
    expect(limiter.isHeld(truck(40_001, 'own'))).toBe(false);
    limiter.charge(truck(40_001, 'own'), payload(1), 100);
    expect(limiter.isHeld(truck(40_001, 'own'))).toBe(true);
  });
});
