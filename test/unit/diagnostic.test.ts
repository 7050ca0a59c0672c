// What a unit says of its health: the names that the service shows, nothing made up, and never more than an event holds. And
// where the facts come from: the ring of the log, the machine.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHostFacts } from '../../agent/adapters/host-facts.ts';
import { type DiagnosticFacts, diagnosticOf } from '../../agent/core/diagnostic/diagnostic.ts';
import { readUnit } from '../../agent/diagnostic/unit-reading.ts';
import { createLogRing } from '../../agent/log-ring.ts';
import { createLog } from '../../src/adapters/log.ts';
import { eventLimits } from '../../src/core/events/event.ts';
import { advanceUntilSettled, createBenchClock, createBenchLog } from '../support/broker/broker-bench.ts';

const counters = {
  requests: 9000,
  answers: 8990,
  timeouts: 4,
  cut: 1,
  crc: 3,
  wrongUnit: 1,
  wrongFunction: 0,
  wrongLength: 1,
  wrongEcho: 0,
  tooLong: 0,
  exceptions: 2,
  noiseBytes: 17,
  lateAnswers: 1,
};

const facts: DiagnosticFacts = {
  host: { rssMb: 84.31, loopLagMs: 12.4, diskFreeMb: 5120.7, cpuC: 51.23, load: 0.251, hostUpS: 86_400.5 },
  storage: { queued: [0, 1, 2, 30], bytes: 65_536, dropped: [0, 0, 0, 7], waiting: 0, failing: null },
  agentVersion: '0.1.0',
  upMs: 60_000,
  counts: { boardLosses: 1, gnssLosses: 0, nmeaRejected: 0, connects: 3 },
  ports: { board: 'open', gnss: 'open' },
  modbus: counters,
  fix: {
    utcMs: null,
    atMonoMs: 59_000,
    latitude: 1,
    longitude: 2,
    altitudeM: null,
    speedKmh: null,
    headingDeg: null,
    hdop: 0.94,
    satellites: 9,
    dimension: 3,
    mode: null,
    rmcValid: true,
    doubts: [],
  },
  nowMs: 60_000,
  trafficBytes: 123_456,
  light: 'green',
  supplyVoltage: 13.84,
  backupVoltage: null,
  configVersion: 4,
  timeQuality: 'gnss',
};

describe('a diagnostic', () => {
  it('says what is known, under the names that the service shows by themselves', () => {
    expect(diagnosticOf(facts, 'r1')).toEqual({
      kind: 'diagnostic',
      requestID: 'r1',
      agentVersion: '0.1.0',
      upS: 60,
      queueDepth: 33,
      queueP0: 0,
      queueP1: 1,
      queueP2: 2,
      queueP3: 30,
      droppedP0: 0,
      droppedP1: 0,
      droppedP2: 0,
      droppedP3: 7,
      dbBytes: 65_536,
      commitsWaiting: 0,
      gps: 'fix',
      satellites: 9,
      hdop: 0.9,
      fixAgeS: 1,
      voltage: 13.8,
      disk: 5121,
      rssMb: 84.3,
      loopLagMs: 12,
      cpuC: 51.2,
      load: 0.25,
      hostUpS: 86_401,
      board: 'open',
      boardLosses: 1,
      gnssLosses: 0,
      nmeaRejected: 0,
      mbRequests: 9000,
      mbAnswers: 8990,
      mbTimeouts: 4,
      mbCrc: 3,
      mbCut: 1,
      mbWrong: 2,
      mbExceptions: 2,
      mbLate: 1,
      mbNoise: 17,
      connects: 3,
      monthBytes: 123_456,
      light: 'green',
      configVersion: 4,
      timeQuality: 'gnss',
    });
  });

  it('leaves out unknown values, and reports a disk that does not answer', () => {
    const bare = diagnosticOf(
      { ...facts, host: null, storage: null, fix: null, supplyVoltage: undefined },
      null,
    );
    for (const name of [
      'requestID',
      'disk',
      'rssMb',
      'voltage',
      'backupV',
      'satellites',
      'fixAgeS',
      'queueDepth',
    ])
      expect(bare).not.toHaveProperty(name);
    expect(bare).toMatchObject({ gps: 'no-fix', storage: 'no answer' });
    expect(diagnosticOf({ ...facts, ports: { board: 'waiting', gnss: 'waiting' } }, null)).toMatchObject({
      gps: 'no-port',
      board: 'waiting',
    });
  });

  it('fits into an event whatever the numbers are', () => {
    const wild = fc.oneof(fc.double(), fc.constant(Number.MAX_SAFE_INTEGER), fc.constant(Number.NaN));
    fc.assert(
      fc.property(wild, fc.string({ maxLength: 5000 }), (number, text) => {
        const attributes = diagnosticOf(
          {
            ...facts,
            host: {
              rssMb: number,
              loopLagMs: number,
              diskFreeMb: number,
              cpuC: number,
              load: number,
              hostUpS: number,
            },
            storage: {
              ...facts.storage,
              queued: [1e15, 1e15, 1e15, 1e15],
              dropped: [1e15, 1e15, 1e15, 1e15],
              bytes: 1e15,
              waiting: 1e15,
              failing: text,
            },
            agentVersion: text,
            supplyVoltage: number,
          },
          'f'.repeat(64),
        );
        expect(JSON.stringify(attributes).length).toBeLessThanOrEqual(eventLimits.attributesBytes);
        expect(attributes).toHaveProperty('requestID');
      }),
    );
  });
});

describe('the reading of a unit', () => {
  it('leaves out what hangs or fails, and ends all the same', async () => {
    const clock = createBenchClock();
    const log = createBenchLog();
    const commits = { status: () => ({ waiting: 2, failing: 'disk full' }) };
    const stats = { queued: [0, 0, 0, 1], isExact: true, bytes: 1, dropped: [0, 0, 0, 0] } as const;
    const host = { read: () => new Promise<never>(() => undefined), upMs: () => 0 };
    const hanging = readUnit({ ports: { clock, log, host }, outbox: { stats: async () => stats }, commits });
    expect(await advanceUntilSettled(clock, hanging)).toEqual({
      host: null,
      storage: { queued: [0, 0, 0, 1], bytes: 1, dropped: [0, 0, 0, 0], waiting: 2, failing: 'disk full' },
    });
    const broken = readUnit({
      ports: { clock, log },
      outbox: { stats: () => Promise.reject(new Error('closed')) },
      commits,
    });
    expect(await advanceUntilSettled(clock, broken)).toEqual({ host: null, storage: null });
    expect(log.lines).toMatchObject([
      { level: 'warn', event: 'unit_reading_failed', fields: { reason: 'closed' } },
    ]);
  });

  it('of this machine gives its facts, and the hottest sane sensor', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fleetward-host-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const [zone, temp] of [
      ['thermal_zone0', '41000'],
      ['thermal_zone1', '57500\n'],
      ['thermal_zone2', '-274000'],
      ['cooling_device0', '99000'],
    ] as const) {
      mkdirSync(join(folder, zone));
      writeFileSync(join(folder, zone, 'temp'), temp);
    }
    const reading = await createHostFacts(folder, folder).read();
    expect(reading.cpuC).toBe(57.5);
    expect(reading.rssMb).toBeGreaterThan(10);
    expect(reading.diskFreeMb).toBeGreaterThan(0);
    expect(reading.hostUpS).toBeGreaterThan(0);
    expect(createHostFacts(folder, folder).upMs()).toBeGreaterThanOrEqual((reading.hostUpS ?? 0) * 1000);
    const bare = await createHostFacts(join(folder, 'nothing'), join(folder, 'nothing')).read();
    expect(bare).toMatchObject({ cpuC: null, diskFreeMb: null });
  });
});

describe('the ring of a log', () => {
  it('keeps the newest whole lines within its bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 60 }), { maxLength: 300 }), (texts) => {
        const ring = createLogRing(1000);
        const lines = texts.map((text) => `${text.replaceAll('\n', ' ')}\u00e9\n`);
        for (const line of lines) ring.add(line);
        const kept = ring.text();
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(1000);
        expect(lines.join('').endsWith(kept)).toBe(true);
        expect(kept === '' || kept.endsWith('\n')).toBe(true);
        const more = lines.slice(0, lines.length - kept.split('\n').length + 1).at(-1);
        if (more !== undefined) expect(Buffer.byteLength(more + kept)).toBeGreaterThan(1000);
      }),
    );
  });

  it('holds what was logged, so nothing that the log leaves out', () => {
    const ring = createLogRing();
    const log = createLog('info', 'stderr', ring.add);
    log.debug('not at this level');
    log.info('kept', { secret: 'CANARY', nested: { token: 'CANARY' }, requestID: 'r1' });
    const [line = '', rest] = ring.text().split('\n');
    expect(JSON.parse(line)).toMatchObject({ msg: 'kept', requestID: 'r1', secret: '[Redacted]' });
    expect([rest, line.includes('CANARY')]).toEqual(['', false]);
  });

  it('cuts a line that is far too long, and holds on', () => {
    const ring = createLogRing();
    ring.add(`${'x'.repeat(1e6)}\n`);
    ring.add('after\n');
    expect(ring.text().length).toBeLessThan(9000);
    expect(ring.text().endsWith('...\nafter\n')).toBe(true);
  });
});
