// The rules of the doctor that need no hardware: who may use a port, what an exit code means, and above all when a relay may be
// switched by its test.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBoardProfile } from '../../agent/boards.ts';
import { type AgentConfig, standardProtection, standardSettings } from '../../agent/config.ts';

import { createRules, standardRules } from '../../agent/core/protection/interlock-rules.ts';
import { parseBrokerUrl } from '../../agent/doctor/broker.ts';
import { type Check, exitCodeOf, fault, ok, runChecks, warning } from '../../agent/doctor/check.ts';
import { mayUse, portCheck } from '../../agent/doctor/file-checks.ts';
import { gnssCheck } from '../../agent/doctor/gnss.ts';
import type { DoctorPorts } from '../../agent/doctor/ports.ts';
import { relayTestCheck, verdictOf } from '../../agent/doctor/relay-test.ts';
import { createSightings } from '../../agent/doctor/sightings.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { createGnss, type GnssHabits } from '../../simulator/hardware/gnss.ts';
import type { ReceiverQuirk } from '../../simulator/hardware/gnss-sentences.ts';
import { isAllowed } from '../../src/core/verdict/verdict.ts';
import { evidenceAt, moving, still, unknownGnss } from '../support/vehicle/evidence-fixtures.ts';

const sensed = fc.record({
  value: fc.constantFrom(true, false, null),
  sinceMs: fc.integer({ min: 0, max: 1_000_000 }),
});
const readings = fc.record({
  ignition: sensed,
  panic: sensed,
  motion: fc.oneof(fc.constant(null), sensed),
  rpm: fc.constantFrom('rest' as const, 'active' as const, null),
  voltage: fc.constantFrom('rest' as const, 'active' as const, null),
  gnss: fc.oneof(
    fc.integer({ min: 0, max: 60_000 }).map(still),
    fc.integer({ min: 4, max: 130 }).map(moving),
    fc.constantFrom('no_fix', 'fix_void', 'doubtful', 'no_stop_seen').map(unknownGnss),
  ),
  boardAlive: fc.boolean(),
  states: fc.constantFrom({}, { ignition: 'suspended' } as const),
});
const nowMs = 1_000_000;
const relays = ['warning', 'cargoaccess', 'enginecutoff'] as const;
const standstillRules = createRules({ cutMode: 'at_standstill', zoneCuts: true });

describe('the relay test', () => {
  it('energises nothing while anything speaks of movement or a running engine, or nothing is known, whatever the modes of the vehicle', () => {
    const any = fc.constantFrom(standardRules, standstillRules);
    fc.assert(
      fc.property(readings, fc.constantFrom(...relays), any, (seen, relay, rules) => {
        const evidence = evidenceAt(nowMs, seen);
        if (!isAllowed(verdictOf(relay, evidence, rules))) return;
        expect([evidence.ignition.value, evidence.ignitionSuspension]).toEqual([false, null]);
        expect(evidence.boardAlive).toBe(true);
        expect(nowMs - evidence.ignition.sinceMs).toBeGreaterThanOrEqual(10_000);
        expect(evidence.gnss.kind).not.toBe('moving');
        expect(seen.motion?.value).not.toBe(true);
        expect([seen.rpm, seen.voltage]).not.toContain('active');
        // Without a position the person at the vehicle is the witness, after a minute of ignition off.
        if (evidence.gnss.kind === 'unknown') {
          expect(evidence.gnss.fault).toMatch(/^(no_fix|fix_void)$/);
          expect(nowMs - evidence.ignition.sinceMs).toBeGreaterThanOrEqual(60_000);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('is possible on a vehicle that is not commissioned, at standstill and with ignition off', () => {
    const states = { gnss: 'unproven', ignition: 'unproven', motion: 'unproven' } as const;
    const fresh = evidenceAt(nowMs, { states, motion: { value: false, sinceMs: 0 } });
    expect(relays.map((relay) => verdictOf(relay, fresh, standardRules).code)).toEqual([
      'allowed',
      'allowed',
      'allowed',
    ]);
  });

  it('waits until the key was seen turned off: what has read off since the start may be a dead wire', () => {
    const readings = [
      { states: { ignition: 'suspended' } },
      { states: { ignition: 'contradicted' } },
    ] as const;
    const blind = unknownGnss('no_fix');
    for (const reading of readings)
      for (const gnss of [still(120_000), blind])
        expect(
          relays.map(
            (relay) => verdictOf(relay, evidenceAt(nowMs, { ...reading, gnss }), standardRules).code,
          ),
        ).toEqual(['ignition_off', 'ignition_off', 'ignition_off']);
  });
});

describe('the check of the receiver', () => {
  async function findings(quirks: readonly ReceiverQuirk[], habits: Partial<GnssHabits>) {
    const clock = createVirtualClock(Date.UTC(2027, 0, 1));
    let hear: (bytes: Uint8Array) => void = () => undefined;
    const truth = { latitude: 43.65, longitude: -79.34, altitudeM: 90, speedKmh: 0, headingDeg: 0 };
    const gnss = createGnss({
      clock,
      entropy: createSeededEntropy('doctor'),
      utcMs: () => clock.utcMs(),
      truth: () => truth,
      send: (bytes) => hear(bytes),
      extra: ['GSV'],
    });
    gnss.setQuirks(quirks);
    gnss.setHabits(habits);
    const link = { write: () => undefined, close: async () => undefined };
    const openByteLink = async (_: unknown, { onBytes }: { onBytes(bytes: Uint8Array): void }) => {
      hear = onBytes;
      return link;
    };
    const running = gnssCheck({
      config: {
        gnssPort: { path: '/dev/gnss', baudRate: 9600 } as AgentConfig['gnssPort'],
        earliestUtcMs: Date.UTC(2026, 0, 1),
      },
      ports: { clock, openByteLink } as unknown as DoctorPorts,
      sightings: createSightings(),
      isStopped: () => false,
    }).run();
    for (let turn = 0; turn < 400; turn += 1) {
      clock.advance(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return (await running).map(({ verdict, seen, todo }) => `${verdict}: ${seen} ${todo}`);
  }

  it.each<[readonly ReceiverQuirk[], readonly RegExp[], Partial<GnssHabits>?]>([
    [[], []],
    [['status-d', 'zda-between', 'rmc-beside', 'dop-9999', 'gsv-decimals'], []],
    [
      ['no-zeros'],
      [
        /^warning: \d+ sentences .* such as \$G.*,7920\..* antenna is not the reason/,
        /^warning: no position; satellites received/,
      ],
    ],
    [['vtg-only'], [/^fault: .*has a speed of RMC/]],
    [[], [/^warning: only one position in \d s has an HDOP/], { ggaEveryS: 5 }],
    // Its date is judged with the other clocks.
    [[], [], { daysAhead: -1024 * 7 }],
  ])('finds of one that is %j what is wrong, and no more', async (quirks, wanted, habits = {}) => {
    const bad = (await findings(quirks, habits)).filter((one) => !one.startsWith('ok'));
    expect(bad.join('\n')).not.toContain('look at the antenna');
    for (const pattern of wanted)
      expect(
        bad.some((one) => pattern.test(one)),
        `${pattern} in ${bad.join()}`,
      ).toBe(true);
    if (wanted.length === 0) expect(bad).toEqual([]);
  });
});

describe('the wait of the relay test', () => {
  /** A board that never answers: the interlock waits for ever. */
  async function waiting(answers: readonly string[]) {
    const clock = createVirtualClock(0);
    const said: string[] = [];
    const asked: string[] = [];
    const writes: number[] = [];
    const link = { write: () => void writes.push(clock.monoMs()), close: async () => undefined };
    const ports = { clock, openByteLink: async () => link } as unknown as DoctorPorts;
    const profile = await readBoardProfile('waveshare-io-analog');
    const config = {
      profile,
      boardPort: {} as AgentConfig['boardPort'],
      gnssPort: {} as AgentConfig['gnssPort'],
      earliestUtcMs: 0,
      settings: standardSettings,
      protection: standardProtection,
    };
    let isStopped = false;
    const check = relayTestCheck({
      refusal: null,
      config,
      ports,
      withEngine: false,
      ask: async (question) => answers[asked.push(question) - 1] ?? '',
      say: (line) => void said.push(line),
      isStopped: () => isStopped,
    });
    const running = check.run();
    const pass = async (seconds: number): Promise<void> => {
      for (let turn = 0; turn < seconds * 20; turn += 1) {
        clock.advance(50);
        for (let tick = 0; tick < 4; tick += 1) await new Promise((resolve) => setImmediate(resolve));
      }
    };
    return { running, pass, said, asked, stop: () => void (isStopped = true) };
  }

  it('goes on for as long as the person agrees, and asks again every two minutes', async () => {
    const { running, pass, said, asked } = await waiting(['YES', 'YES', 'YES', 'no']);
    await pass(365);
    expect(asked).toHaveLength(4);
    expect(asked[1]).toContain('The I/O board is silent');
    // What it waits for, at once and then every ten seconds.
    expect(said.length).toBeGreaterThan(30);
    expect(await running).toMatchObject([
      { verdict: 'skipped', seen: expect.stringContaining('board is silent') },
    ]);
  });

  it('ends when the person stops it, with the reason', async () => {
    const { running, pass, stop } = await waiting(['YES']);
    await pass(5);
    stop();
    await pass(1);
    expect(await running).toMatchObject([{ verdict: 'skipped', seen: expect.stringContaining('stopped') }]);
  });

  it('switches nothing without consent', async () => {
    const { running, pass } = await waiting(['yes']);
    await pass(1);
    expect(await running).toMatchObject([
      { verdict: 'skipped', seen: expect.stringContaining('not confirmed') },
    ]);
  });
});

describe('the doctor', () => {
  it('decides who may read and write a port by owner, group and mode, in this order', () => {
    const port = { mode: 0o660, owner: 'root', group: 'dialout' };
    const person = { name: 'fleetward-agent', groups: ['fleetward-agent', 'dialout'], isRoot: false };
    expect(mayUse(port, person)).toBe(true);
    expect(mayUse(port, { ...person, groups: ['fleetward-agent'] })).toBe(false);
    expect(mayUse({ ...port, mode: 0o640 }, person)).toBe(false);
    expect(mayUse({ ...port, mode: 0o060, owner: person.name }, person)).toBe(false);
    expect(mayUse({ ...port, mode: 0 }, { ...person, isRoot: true })).toBe(true);
    expect(mayUse({ ...port, mode: 0o666, group: 'tty' }, person)).toBe(true);
  });

  it.each([
    ['ModemManager', false, 'warning', 'fleetward-agent-ports set'],
    ['brltty', true, 'fault', 'apt remove brltty'],
    ['gpsd', false, 'warning', 'gpsd.socket'],
    ['agetty', true, 'fault', 'serial-getty@'],
    ['minicom', true, 'fault', 'Stop that program'],
    ['', false, 'warning', 'Two readers'],
  ])('names %j, which has a port open, and says what to do', async (name, hasLock, verdict, todo) => {
    const port = { kind: 'device', mode: 0o666, owner: 'root', group: 'dialout', realPath: '/dev/ttyUSB0' };
    const machine = {
      look: () => port,
      agentUser: () => ({ name: 'root', groups: [], isRoot: true }),
      holdersOf: () => [{ pid: 812, name, hasLock }],
      isProbedByModemManager: () => false,
    };
    const findings = await portCheck({ table: 'gnss', title: '', path: '/dev/fleet-gnss' }, {
      machine,
    } as unknown as DoctorPorts).run();
    expect(findings.at(-1)).toMatchObject({
      verdict,
      seen: expect.stringContaining(`${name === '' ? 'process' : name} (812)`) as string,
      todo: expect.stringContaining(todo) as string,
    });
  });

  it('warns of a port that ModemManager may talk to, though it does not have it open now', async () => {
    const port = { kind: 'device', mode: 0o666, owner: 'root', group: 'dialout', realPath: '/dev/ttyUSB0' };
    const machine = {
      look: () => port,
      agentUser: () => ({ name: 'root', groups: [], isRoot: true }),
      holdersOf: () => [],
      isProbedByModemManager: () => true,
    };
    const findings = await portCheck({ table: 'board', title: '', path: '/dev/fleet-board' }, {
      machine,
    } as unknown as DoctorPorts).run();
    expect(findings.map(({ verdict }) => verdict)).toEqual(['ok', 'warning']);
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
      expect(() => parseBrokerUrl(wrong)).toThrow('not an address');
  });
});
