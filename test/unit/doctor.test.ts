// The rules of the doctor that need no hardware: who may use a port, what an exit code means, and above all when a relay may be
// switched by its test.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../agent/core/protection/evidence.ts';
import { standardRules } from '../../agent/core/protection/interlock.ts';
import { parseBrokerUrl } from '../../agent/doctor/broker.ts';
import { type Check, exitCodeOf, fault, ok, runChecks, warning } from '../../agent/doctor/check.ts';
import { mayUse } from '../../agent/doctor/places.ts';
import { refusalOf } from '../../agent/doctor/relay-test.ts';
import { createVirtualClock } from '../../simulator/clock.ts';

const sensed = fc.record({
  value: fc.constantFrom(true, false, null),
  sinceMs: fc.integer({ min: 0, max: 1_000_000 }),
});
const evidence: fc.Arbitrary<Evidence> = fc.record({
  nowMs: fc.constant(1_000_000),
  ignition: sensed,
  panic: sensed,
  motion: sensed,
  speed: fc.oneof(
    fc.record({ kind: fc.constant('standing' as const), forMs: fc.integer({ min: 0, max: 60_000 }) }),
    fc.record({ kind: fc.constant('moving' as const), speedKmh: fc.integer({ min: 4, max: 130 }) }),
    fc.record({ kind: fc.constant('unknown' as const), why: fc.constant('void'), suspect: fc.boolean() }),
  ),
  trustedUtcMs: fc.constant(1),
  latestUtcMs: fc.constant(1),
  boardAlive: fc.boolean(),
  pace: fc.constant(null),
  wasSuspect: fc.boolean(),
  zone: fc.boolean(),
});
const relays = ['warning', 'cargoaccess', 'enginecutoff'] as const;

describe('the relay test', () => {
  it('switches nothing unless ignition is known to be off and the board answers', () => {
    fc.assert(
      fc.property(evidence, fc.constantFrom(...relays), (seen, relay) => {
        if (refusalOf(relay, seen, standardRules) !== null) return;
        expect(seen.ignition.value).toBe(false);
        expect(seen.boardAlive).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it('cuts no engine while anything speaks of movement, or nothing proves standstill; whatever the modes of the vehicle', () => {
    const moving = { ...standardRules, cutMode: 'below_speed', cutBelowKmh: 20, unlockZones: true } as const;
    fc.assert(
      fc.property(evidence, fc.constantFrom(standardRules, moving), (seen, rules) => {
        if (refusalOf('enginecutoff', seen, rules) !== null) return;
        expect(seen.speed.kind).not.toBe('moving');
        expect(seen.motion.value).not.toBe(true);
        expect(seen.nowMs - seen.ignition.sinceMs).toBeGreaterThanOrEqual(10_000);
        if (seen.speed.kind === 'unknown') expect(seen.motion.value).toBe(false);
      }),
      { numRuns: 3000 },
    );
  });

  it('is possible at all', () => {
    const parked = { value: false, sinceMs: 0 };
    const proven: Evidence = {
      nowMs: 1_000_000,
      ignition: parked,
      panic: parked,
      motion: parked,
      speed: { kind: 'standing', forMs: 20_000 },
      trustedUtcMs: 1,
      latestUtcMs: 1,
      boardAlive: true,
    };
    expect(relays.map((relay) => refusalOf(relay, proven, standardRules))).toEqual([null, null, null]);
  });
});

describe('the doctor', () => {
  it('tells who may read and write a port by owner, group and mode, in this order', () => {
    const port = { mode: 0o660, owner: 'root', group: 'dialout' };
    const person = { name: 'fleetward-agent', groups: ['fleetward-agent', 'dialout'], isRoot: false };
    expect(mayUse(port, person)).toBe(true);
    expect(mayUse(port, { ...person, groups: ['fleetward-agent'] })).toBe(false);
    expect(mayUse({ ...port, mode: 0o640 }, person)).toBe(false);
    expect(mayUse({ ...port, mode: 0o060, owner: person.name }, person)).toBe(false);
    expect(mayUse({ ...port, mode: 0 }, { ...person, isRoot: true })).toBe(true);
    expect(mayUse({ ...port, mode: 0o666, group: 'tty' }, person)).toBe(true);
  });

  it('ends with 0, 1 or 2 by the worst that it found', () => {
    expect(exitCodeOf([ok('a')])).toBe(0);
    expect(exitCodeOf([ok('a'), warning('b', 'c')])).toBe(1);
    expect(exitCodeOf([warning('b', 'c'), fault('d', 'e')])).toBe(2);
  });

  it('goes on after a check that throws or hangs, and says so while one takes long', async () => {
    const clock = createVirtualClock(0);
    const progress: number[] = [];
    const check = (id: string, run: Check['run']): Check => ({ id, title: id, mostS: 15, run });
    const checks = [
      check('throws', () => Promise.reject(new Error('no such thing'))),
      check('hangs', () => new Promise(() => undefined)),
      check('works', async () => [ok('fine')]),
    ];
    const running = runChecks(checks, {
      clock,
      onResult: () => undefined,
      onProgress: (_title, forS) => progress.push(forS),
      isStopped: () => false,
      stopped: new Promise(() => undefined),
    });
    for (let second = 0; second < 20; second += 1) {
      clock.advance(1000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await running).map(({ id, verdict }) => [id, verdict])).toEqual([
      ['throws', 'fault'],
      ['hangs', 'fault'],
      ['works', 'ok'],
    ]);
    expect(progress).toEqual([2, 12]);
  });

  it('reads the address of the broker as the agent does, and refuses what is none', () => {
    expect(parseBrokerUrl('mqtts://fleet.example.com')).toEqual({
      host: 'fleet.example.com',
      port: 8883,
      isTls: true,
    });
    expect(parseBrokerUrl('mqtt://[::1]:1884')).toEqual({ host: '::1', port: 1884, isTls: false });
    for (const wrong of ['http://x', 'mqtt://x:99999', 'mqtt://a:b@c', 'mqtt://'])
      expect(() => parseBrokerUrl(wrong)).toThrow('no address');
  });
});
