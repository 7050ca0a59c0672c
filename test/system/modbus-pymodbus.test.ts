import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSerialPort } from '../../agent/adapters/serial-port.ts';
import { readBoardProfile } from '../../agent/boards.ts';
import type { BoardProfile } from '../../agent/core/board/board-profile.ts';
import { applyOverrides } from '../../agent/core/board/profile-parsing.ts';
import { requires } from '../support/machine/requires.ts';
import { runSeed } from '../support/machine/run-seed.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { type BoardLoop, runBoard } from '../support/serial/board-loop.ts';
import { seededRandom } from '../support/serial/nmea-lines.ts';
import { faultProxy, ptyPair, serial, startSlave } from '../support/serial/pty-bus.ts';

const { missing, python } = requires({
  commands: ['socat'],
  python: ['pymodbus', 'serial_asyncio'],
  debian: ['socat', 'python3-pymodbus', 'python3-serial-asyncio'],
});
const slaveBy = python ?? '';
const name = `the board on a pymodbus slave over ptys${missing === null ? '' : ` (${missing})`}`;

/** The Relay (D) profile with two input registers as raw analog values: 16 and 17. */
async function profile(): Promise<BoardProfile> {
  const raw = { poll: 'analogs', scale: 1, offset: 0, valid: [0, 65_535] as [number, number] };
  const verdict = applyOverrides(await readBoardProfile('waveshare-relay-d'), {
    polls: { analogs: { unit: 'io', function: 4, first: 16, count: 2, periodMs: 200 } },
    analogs: { fuel: { ...raw, address: 16 }, supplyVoltage: { ...raw, address: 17 } },
  });
  if (verdict.kind !== 'ok') throw new Error(JSON.stringify(verdict.faults));
  return verdict.profile;
}

/**
 * The machine may stand still for seconds: an answer is not given up meanwhile, and the bound of the master, that no answer comes later
 * than its guard, holds all the same.
 */
const patient = { timeoutMinMs: 6000, timeoutInitialMs: 6000, timeoutMaxMs: 6000, lateGuardMs: 8000 };

/** Wrong values seen: of another register, or not newer than the one before from the same slave. */
function watchValues(loop: BoardLoop): string[] {
  const wrong: string[] = [];
  let last: number | null = null;
  loop.onOutput = (output) => {
    // Another slave counts anew.
    if (output.kind === 'boardDown') last = null;
    if (output.kind !== 'analogs') return;
    const values = [output.values.fuel, output.values.supplyVoltage];
    for (const [at, value] of values.entries())
      if (typeof value === 'number' && value >> 8 !== 16 + at) wrong.push(`register ${16 + at}: ${value}`);
    const [fuel] = values;
    if (typeof fuel !== 'number') return;
    const steps = last === null ? 1 : (fuel - last) & 255;
    if (steps === 0 || steps > 128) wrong.push(`reading ${fuel & 255} after ${last}`);
    last = fuel & 255;
  };
  return wrong;
}

describe.skipIf(missing !== null)(name, () => {
  let folder = '';
  const cleanups: (() => Promise<void>)[] = [];
  const owned = <T extends { close(): Promise<void> }>(thing: T): T => {
    cleanups.unshift(() => thing.close());
    return thing;
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'fleetward-pty-'));
  });
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup();
    rmSync(folder, { recursive: true, force: true });
  });

  it('reads inputs and registers, drives relays and proves it', async () => {
    const pair = owned(await ptyPair(folder, 'bus'));
    const slave = owned(await startSlave(slaveBy, pair.far));
    const loop = owned(runBoard(await profile(), pair.near, patient));
    const wrong = watchValues(loop);
    await waitUntil('inputs', () => loop.last('inputs')?.values.ignition === false);
    await slave.set('input', 1, 1);
    await waitUntil('panic', () => loop.last('inputs')?.values.panic === true);
    expect(await loop.setRelay('enginecutoff', true)).toMatchObject({ outcome: 'confirmed', readBack: true });
    expect(await slave.coil(0)).toBe(true);
    expect(await loop.setRelay('enginecutoff', false)).toMatchObject({
      outcome: 'confirmed',
      readBack: false,
    });
    expect(await slave.coil(0)).toBe(false);
    await waitUntil('analogs', () => loop.of('analogs').length >= 5);
    expect(wrong).toEqual([]);
    expect(slave.writes.map((write) => [write.address, write.value])).toEqual([
      [0, 1],
      [0, 0],
    ]);
    expect(loop.of('problem')).toEqual([]);
  });

  it('finds the board again after the slave was killed, and after the cable was pulled', async () => {
    const first = owned(await ptyPair(folder, 'bus'));
    const slave = owned(await startSlave(slaveBy, first.far));
    const loop = owned(runBoard(await profile(), first.near, patient));
    const wrong = watchValues(loop);
    await waitUntil('the board', () => loop.of('boardUp').length > 0);
    await slave.close();
    await waitUntil('inputs to be unknown', () => loop.last('inputs')?.values.ignition === null);
    expect(await loop.setRelay('enginecutoff', true, 500)).toMatchObject({ outcome: 'refused' });
    const second = owned(await startSlave(slaveBy, first.far));
    await waitUntil('the board after a restart', () => loop.of('boardUp').length > 1);
    expect(await loop.setRelay('enginecutoff', true)).toMatchObject({ outcome: 'confirmed' });
    const order = loop.setRelay('enginecutoff', false);
    await first.close();
    await second.close();
    expect((await order).outcome).not.toBe('confirmed');
    await waitUntil('the link to be down', () => loop.last('boardDown')?.unit === null);
    expect(await loop.setRelay('enginecutoff', false)).toMatchObject({ outcome: 'refused' });
    const ups = loop.of('boardUp').length;
    const third = owned(await ptyPair(folder, 'bus'));
    const last = owned(await startSlave(slaveBy, third.far));
    await waitUntil('the board after a replug', () => loop.of('boardUp').length > ups);
    expect(last.writes).toEqual([]);
    expect(await loop.setRelay('enginecutoff', true)).toMatchObject({ outcome: 'confirmed' });
    expect(wrong).toEqual([]);
  });

  it('with 30 % of the answers garbled, cut, lost or late shows no wrong value and confirms nothing false', async () => {
    const near = owned(await ptyPair(folder, 'near'));
    const far = owned(await ptyPair(folder, 'far'));
    const slave = owned(await startSlave(slaveBy, far.far));
    const proxy = owned(await faultProxy(near.far, far.near, seededRandom(runSeed())));
    await slave.set('input', 3, 1);
    // It gives up as soon as it does on a vehicle; only its guard is longer.
    const { lateGuardMs } = patient;
    const loop = owned(runBoard(await profile(), near.near, { lateGuardMs }));
    const wrong = watchValues(loop);
    const outcomes: Record<string, number> = {};
    const seen = () => JSON.stringify([proxy.spoilt, outcomes, loop.outputs.slice(-3)]);
    await waitUntil('the board', () => loop.of('boardUp').length > 0, { seen });
    proxy.share = 0.3;
    const isDone = () => (outcomes['confirmed'] ?? 0) >= 3 && Object.values(proxy.spoilt).every((n) => n > 0);
    for (let energised = true; !isDone(); energised = !energised) {
      const { outcome } = await loop.setRelay('cargoaccess', energised);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      if (outcome === 'confirmed') expect(await slave.coil(1)).toBe(energised);
    }
    proxy.share = 0;
    const samples = loop.of('inputs').length;
    const isFresh = () =>
      loop
        .of('inputs')
        .slice(samples)
        .some(({ values }) => values.cargoDoor === true);
    await waitUntil('a sample after the faults', isFresh, { seen });
    expect(wrong).toEqual([]);
    const doors = loop.of('inputs').map((output) => output.values.cargoDoor);
    expect(doors.filter((door) => door === false)).toEqual([]);
  });

  it('a port that is missing, taken, or no port at all is refused in words', async () => {
    const pair = owned(await ptyPair(folder, 'ttyUSB'));
    const handlers = { onBytes() {}, onDown() {} };
    await expect(openSerialPort(serial(`${folder}/ttyUSB-mear`), handlers)).rejects.toMatchObject({
      code: 'serial',
      message: expect.stringContaining('ttyUSB-mear is not there'),
      hint: expect.stringContaining('ttyUSB-near'),
    });
    await expect(openSerialPort(serial('/dev/null'), handlers)).rejects.toMatchObject({
      message: '/dev/null is not a serial port',
    });
    const link = owned(await openSerialPort(serial(pair.near), handlers));
    await expect(openSerialPort(serial(pair.near), handlers)).rejects.toMatchObject({
      message: expect.stringContaining('is in use'),
    });
    await expect(openSerialPort({ ...serial(pair.far), baudRate: 0 }, handlers)).rejects.toMatchObject({
      code: 'serial',
      message: expect.stringContaining('0 baud'),
    });
    await link.close();
    expect(link.write(Uint8Array.of(1))).toBe(false);
    const second = owned(await openSerialPort(serial(pair.near), handlers));
    const heard: number[] = [];
    owned(
      await openSerialPort(serial(pair.far), { onBytes: (bytes) => void heard.push(...bytes), onDown() {} }),
    );
    expect(second.write(Uint8Array.of(2))).toBe(true);
    await waitUntil('the byte', () => heard.length > 0);
    expect(heard).toEqual([2]);
  });
});
