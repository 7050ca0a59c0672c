// A car that is asked in the whole vehicle: when its state permits a request, that answers only refuse, and which values go with its events.
import { describe, expect, it } from 'vitest';
import type { BusReading } from '../../agent/core/bus/bus-reading.ts';
import { createBusReport, stepBusReport } from '../../agent/core/bus/bus-report.ts';
import { createObdSession, type ObdReading } from '../../agent/core/obd/obd-session.ts';
import { createObdValues } from '../../agent/core/obd/obd-values.ts';
import { busStatus } from '../../agent/core/status/bus-status.ts';
import { busText, sourceText } from '../../agent/core/status/bus-text.ts';
import { obdPermissionOf } from '../../agent/core/vehicle/vehicle-evidence.ts';
import { busFindings } from '../../agent/doctor/vehicle-bus.ts';
import { createVehicleRig, type VehicleRig } from '../support/vehicle/vehicle-rig.ts';

const { failedProbes, volts } = createObdSession(0, null);
const adapter: BusReading['adapter'] = {
  phase: 'open',
  refusal: null,
  portFault: null,
  dialect: 'clone',
  version: 'ELM327 v2.1',
  bitRate: null,
  writtenBytes: 120,
  rejected: 0,
  remotes: 0,
  skipped: 0,
  framesPerS: 0,
  obd: {
    kind: 'clone',
    device: null,
    failedProbes: [...failedProbes, 'ATPPS', 'ATAMC'],
    hasLongRequests: false,
    hasAnswerCount: false,
    protocol: 6,
    volts: volts ?? 14.1,
    units: [{ source: 0xe8, pids: [0x01, 0x0c, 0x0d] }],
    givenUp: ['0A'],
    errors: 0,
    written: { ATZ: 1, '010D': 20 },
  },
};

const answer = (text: string): ObdReading => ({
  kind: 'answers',
  messages: [{ source: 0xe8, data: Uint8Array.from(Buffer.from(text, 'hex')) }],
});

/** The reading of a car that gave these answers every second for some seconds, up to `nowMs`. */
function readingAt(nowMs: number, readings: readonly ObdReading[], forMs = 12_000): BusReading {
  const values = createObdValues();
  for (let atMs = nowMs - forMs; atMs <= nowMs; atMs += 1000) values.take(readings, atMs);
  return { atMs: nowMs, adapter, view: values.view(nowMs, 0) };
}

function runWithCar(rig: VehicleRig, seconds: number, readings: readonly ObdReading[]): void {
  for (let passedS = 0; passedS < seconds; passedS += 0.5) {
    rig.dispatch({ kind: 'bus', reading: readingAt(rig.nowMs(), readings, 1000) });
    rig.run(0.5);
  }
}

const isCut = (rig: VehicleRig): boolean => rig.said().includes('confirmed');

describe('the permission of a vehicle', () => {
  it('is there 3 s after the key was turned, and ends with it', async () => {
    const rig = await createVehicleRig();
    const permission = () => obdPermissionOf(rig.state(), rig.nowMs());
    rig.run(20);
    expect(permission()).not.toBe('granted');
    rig.board.setSignal('ignition', true);
    rig.run(1);
    expect(permission()).toMatch(/^ignition_(new|unknown)$/);
    rig.run(5);
    expect(permission()).toBe('granted');
    rig.board.setSignal('ignition', false);
    rig.run(1);
    expect(permission()).not.toBe('granted');
  });

  it('ends within seconds of the silence of the board, whose last reading was on', async () => {
    const rig = await createVehicleRig();
    rig.board.setSignal('ignition', true);
    rig.run(20);
    expect(obdPermissionOf(rig.state(), rig.nowMs())).toBe('granted');
    rig.board.setFaults({ silent: true });
    rig.run(5);
    expect(obdPermissionOf(rig.state(), rig.nowMs())).toBe('ignition_unknown');
  });
});

describe('a cut on a car that is asked', () => {
  it.each([
    ['a speed above 3 km/h', 'no_movement', answer('410D04')],
    ['a running engine', 'engine_at_rest', answer('410C0BB8')],
  ])(
    'waits while an answer shows %s, and goes on when the car is not asked any more',
    async (_, rule, reading) => {
      const rig = await createVehicleRig();
      rig.run(20);
      runWithCar(rig, 1, [reading]);
      rig.command('enginecutoff', '1');
      runWithCar(rig, 60, [reading]);
      expect(isCut(rig)).toBe(false);
      expect(rig.changes).toEqual([]);
      expect(rig.reasons()).toContain(rule);
      rig.run(30);
      expect(isCut(rig)).toBe(true);
    },
  );

  it('is not refused by answered zeros, and is not carried out by them: they are no witness', async () => {
    const zeros = [answer('410D00'), answer('410C0000')];
    const rig = await createVehicleRig();
    rig.run(20);
    runWithCar(rig, 60, zeros);
    expect(rig.state().bus?.view.motion).toBeNull();
    expect(Object.keys(rig.state().evidence.credit.credits)).not.toContain('bus_speed');
    rig.command('enginecutoff', '1');
    runWithCar(rig, 40, zeros);
    expect(isCut(rig)).toBe(true);
  });
});

describe('values of a car', () => {
  const codes = (mode: 3 | 7 | 10, text: string): ObdReading => ({
    kind: 'codes',
    mode,
    isCounted: true,
    messages: [{ source: 0xe8, data: Uint8Array.from(Buffer.from(text, 'hex')) }],
  });

  it('go with events under the names of the bus', () => {
    const readings = [
      answer('410D28'),
      answer('418301'),
      answer('410182000000'),
      answer('412F80'),
      answer('41A60001E240'),
      codes(3, '43020301C123'),
      codes(7, '4700'),
      { kind: 'vin', source: 0xe8, vin: '1D4GP00R55B123456' } as const,
      { kind: 'volts', volts: 13.9 } as const,
    ];
    const nowMs = 60_000;
    const step = stepBusReport(createBusReport(), readingAt(nowMs, readings), nowMs);
    expect(step?.attributes).toEqual({
      busSpeed: 40,
      busFuelLevel: 50.2,
      busOdometer: 12_345.6,
      vehicleVolts: 13.9,
      malfunctionLamp: true,
      dtcCount: 2,
      vin: '1D4GP00R55B123456',
      dtcs: 'P0301 U0123',
      pendingDtcs: '',
    });
  });

  it('hold at most 12 codes of a list, so that an event stays small', () => {
    const many = (mode: 3 | 7 | 10): ObdReading =>
      codes(
        mode,
        `4${mode.toString(16)}28${Array.from({ length: 40 }, (_, n) => `01${(16 + n).toString(16)}`).join('')}`,
      );
    const step = stepBusReport(createBusReport(), readingAt(60_000, [many(3), many(7), many(10)]), 60_000);
    const texts = Object.values(step?.attributes ?? {});
    expect(texts).toHaveLength(3);
    for (const text of texts) expect(String(text).split(' ')).toHaveLength(12);
    expect(JSON.stringify(step?.attributes).length).toBeLessThan(400);
  });

  it('hold nothing of the first 10 s, and nothing that is old', () => {
    const readings = [answer('410D28')];
    expect(stepBusReport(createBusReport(), readingAt(60_000, readings, 5000), 60_000)).toBeNull();
    expect(stepBusReport(createBusReport(), readingAt(60_000, readings), 66_000)).toBeNull();
  });

  it('are shown with source and age, beside what the adapter is and what was ever written', () => {
    const status = busStatus(readingAt(60_000, [answer('410D28')]), 60_000);
    expect(busText(status)).toMatchObject({
      level: 'ok',
      words: 'clone of an ELM327, CAN 11 bit, 500 kbit/s; speed 40 km/h',
    });
    expect(status.values.map(sourceText)).toEqual([
      'speed (0D) from 0xE8: 40 km/h, 0 s old, every 1000 ms, reported',
    ]);
    const seen = busFindings(status).map((one) => one.seen);
    expect(seen).toContain('ever written, and how often: ATZ 1, 010D 20');
    expect(seen).toContain('control unit 0xE8 offers 01 0C 0D');
    expect(seen.join('\n')).toContain('it does not know ATPPS ATAMC');
    expect(seen.join('\n')).toContain('is not what it calls itself');
  });
});
