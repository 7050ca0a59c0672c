import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSerialPort } from '../../agent/adapters/serial-port.ts';
import { readBoardProfile } from '../../agent/boards.ts';
import { applyOverrides, type BoardProfile } from '../../agent/core/board/board-profile.ts';
import { requires } from '../support/machine/requires.ts';
import { type BoardLoop, runBoard } from '../support/serial/board-loop.ts';
import { faultProxy, ptyPair, serial, sleep, startSlave, until } from '../support/serial/pty-bus.ts';

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

/** Wrong values seen: of another register, or older than 1.5 s. */
function watchValues(loop: BoardLoop): string[] {
  const wrong: string[] = [];
  const check = (address: number, value: number | null | undefined, utcMs: number) => {
    if (value === null || value === undefined) return;
    const age = (Math.floor(utcMs / 100) - value) & 255;
    if (value >> 8 !== address || (age > 15 && age < 254))
      wrong.push(`register ${address}: ${value}, age ${age}`);
  };
  loop.onOutput = (output, utcMs) => {
    if (output.kind !== 'analogs') return;
    check(16, output.values.fuel, utcMs);
    check(17, output.values.supplyVoltage, utcMs);
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
    const loop = owned(runBoard(await profile(), pair.near));
    const wrong = watchValues(loop);
    await until(() => loop.last('inputs')?.values.ignition === false, 'inputs');
    await slave.set('input', 1, 1);
    await until(() => loop.last('inputs')?.values.panic === true, 'panic');
    expect(await loop.setRelay('enginecutoff', true)).toMatchObject({ outcome: 'confirmed', readBack: true });
    expect(await slave.coil(0)).toBe(true);
    expect(await loop.setRelay('enginecutoff', false)).toMatchObject({
      outcome: 'confirmed',
      readBack: false,
    });
    expect(await slave.coil(0)).toBe(false);
    await until(() => loop.of('analogs').length >= 5, 'analogs');
    expect(wrong).toEqual([]);
    expect(slave.writes.map((write) => [write.address, write.value])).toEqual([
      [0, 1],
      [0, 0],
    ]);
    expect(loop.of('problem')).toEqual([]);
  });

  it('finds the board again after the slave was killed, and after the cable was pulled', async () => {
    const first = owned(await ptyPair(folder, 'bus'));
    const slave = await startSlave(slaveBy, first.far);
    const loop = owned(runBoard(await profile(), first.near));
    const wrong = watchValues(loop);
    await until(() => loop.of('boardUp').length === 1, 'the board');
    await slave.close();
    await until(() => loop.last('inputs')?.values.ignition === null, 'inputs to be unknown');
    expect(await loop.setRelay('enginecutoff', true, 500)).toMatchObject({ outcome: 'refused' });
    const second = await startSlave(slaveBy, first.far);
    await until(() => loop.of('boardUp').length === 2, 'the board after a restart');
    expect(await loop.setRelay('enginecutoff', true)).toMatchObject({ outcome: 'confirmed' });
    const order = loop.setRelay('enginecutoff', false);
    await first.close();
    await second.close();
    expect((await order).outcome).not.toBe('confirmed');
    await until(() => loop.last('boardDown')?.unit === null, 'the link to be down');
    expect(await loop.setRelay('enginecutoff', false)).toMatchObject({ outcome: 'refused' });
    const third = owned(await ptyPair(folder, 'bus'));
    const last = owned(await startSlave(slaveBy, third.far));
    const ups = loop.of('boardUp').length;
    await until(() => loop.of('boardUp').length > ups, 'the board after a replug');
    expect(last.writes).toEqual([]);
    expect(await loop.setRelay('enginecutoff', true)).toMatchObject({ outcome: 'confirmed' });
    expect(wrong).toEqual([]);
  });

  it('with 30 % of the answers garbled, cut, lost or late shows no wrong value and confirms nothing false', async () => {
    const near = owned(await ptyPair(folder, 'near'));
    const far = owned(await ptyPair(folder, 'far'));
    const slave = owned(await startSlave(slaveBy, far.far));
    let seed = 20_261;
    const fraction = () => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return seed / 2 ** 32;
    };
    const proxy = owned(await faultProxy(near.far, far.near, fraction));
    await slave.set('input', 3, 1);
    const loop = owned(runBoard(await profile(), near.near));
    const wrong = watchValues(loop);
    await until(() => loop.of('boardUp').length === 1, 'the board');
    proxy.share = 0.3;
    const outcomes: Record<string, number> = {};
    for (let round = 0; round < 14; round += 1) {
      const energised = round % 2 === 0;
      const result = await loop.setRelay('cargoaccess', energised, 4000);
      outcomes[result.outcome] = (outcomes[result.outcome] ?? 0) + 1;
      if (result.outcome === 'confirmed') expect(await slave.coil(1)).toBe(energised);
      await sleep(300);
    }
    proxy.share = 0;
    const endMs = performance.now();
    await until(
      () => loop.of('inputs').some((output) => output.atMs > endMs && output.values.cargoDoor === true),
      'a sample after the faults',
      2000,
    );
    expect(wrong).toEqual([]);
    const doors = loop.of('inputs').map((output) => output.values.cargoDoor);
    expect(doors.filter((door) => door === false)).toEqual([]);
    expect(outcomes['confirmed']).toBeGreaterThanOrEqual(7);
    expect(Object.values(proxy.spoilt).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(10);
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
    await until(() => heard.length > 0, 'the byte');
    expect(heard).toEqual([2]);
  });

  it('a vanished tty ends the link once, without a busy loop', async () => {
    const pair = await ptyPair(folder, 'bus');
    const reasons: string[] = [];
    await openSerialPort(serial(pair.near), { onBytes() {}, onDown: (reason) => void reasons.push(reason) });
    await pair.close();
    await until(() => reasons.length > 0, 'the end of the link');
    const before = process.cpuUsage();
    await sleep(500);
    const { user, system } = process.cpuUsage(before);
    expect(reasons).toHaveLength(1);
    expect(user + system).toBeLessThan(400_000);
  });
});
