// `doctor bus` of a car that is asked: it reads the ignition from the board, and writes nothing while that is not on.
import { describe, expect, it } from 'vitest';
import { readBoardProfile } from '../../agent/boards.ts';
import { standardProtection, standardSettings } from '../../agent/config.ts';
import { obdCheck } from '../../agent/doctor/obd-bus.ts';
import type { DoctorPorts } from '../../agent/doctor/ports.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { createBoard } from '../../simulator/hardware/board.ts';
import type { ByteLinkHandlers, OpenByteLink } from '../../src/ports.ts';
import { createCar, createElmAdapter } from '../support/bus/elm-adapter.ts';
import { latin1 } from '../support/serial/nmea-lines.ts';

const name = 'waveshare-relay-d';
const port = { baudRate: 9600, dataBits: 8, parity: 'none', stopBits: 1 } as const;

/** Runs the check before a simulated board and adapter. */
async function check(given: { readonly isOn: boolean; readonly hasConsent: boolean }) {
  const clock = createVirtualClock(0);
  const handlers = new Map<string, ByteLinkHandlers>();
  const send = (path: string, bytes: Uint8Array): void => handlers.get(path)?.onBytes(bytes);
  const board = createBoard({
    name,
    clock,
    entropy: createSeededEntropy('doctor'),
    send: (bytes) => send('board', bytes),
  });
  board.setSignal('ignition', given.isOn);
  const { car } = createCar({ speed: 0, rpm: 800, codes: ['0301'] });
  const adapter = createElmAdapter({
    kind: 'stn',
    car,
    send: (text) => void clock.after(20, () => send('elm', latin1(text))),
  });
  const openByteLink: OpenByteLink = async ({ path }, taken) => {
    handlers.set(path, taken);
    return {
      write(bytes) {
        if (path === 'board') board.receive(bytes);
        if (path === 'elm') adapter.receive(bytes);
        return true;
      },
      close: async () => undefined,
    };
  };
  const running = obdCheck({
    config: {
      profile: await readBoardProfile(name),
      boardPort: { ...port, path: 'board' },
      gnssPort: { ...port, path: 'gnss' },
      earliestUtcMs: 0,
      settings: standardSettings,
      protection: standardProtection,
    },
    obd: { port: { ...port, path: 'elm' }, hasConsent: given.hasConsent },
    ports: { clock, openByteLink } as unknown as DoctorPorts,
    isStopped: () => false,
  }).run();
  const progress = { isDone: false };
  void running.finally(() => {
    progress.isDone = true;
  });
  while (!progress.isDone) {
    for (let tick = 0; tick < 3; tick += 1) await new Promise((resolve) => void setImmediate(resolve));
    clock.advance(10);
  }
  const findings = await running;
  expect(board.relayLog().changes).toEqual([]);
  return { commands: adapter.commands, seen: findings.map((one) => one.seen).join('\n'), findings };
}

describe('doctor bus of a car', () => {
  it('shows adapter, protocol, what the car offers, values, codes, and every command that was written', async () => {
    const { commands, seen, findings } = await check({ isOn: true, hasConsent: true });
    expect(findings[0]).toMatchObject({ verdict: 'ok' });
    expect(seen).toContain('STN, CAN 11 bit, 500 kbit/s');
    expect(seen).toContain('STN (STN1110 v4.0.4): its probes were answered');
    expect(seen).toContain('control unit 0xE8 offers 01 05 0C 0D 1F 20');
    expect(seen).toContain('vehicle identification number 1D4GP00R55B123456');
    expect(seen).toContain('stored trouble codes of 0xE8: P0301');
    expect(seen).toMatch(/rpm \(0C\) from 0xE8: 800 1\/min/);
    expect(seen).toMatch(/ever written, and how often: ATZ 1, ATE0 1, /);
    expect(commands.length).toBeGreaterThan(30);
  }, 120_000);

  it('writes nothing with the ignition off, and says so', async () => {
    const { commands, seen, findings } = await check({ isOn: false, hasConsent: true });
    expect(commands).toEqual([]);
    expect(findings[0]).toMatchObject({ verdict: 'warning' });
    expect(seen).toContain('nothing is asked while the ignition is off');
    expect(seen).toContain('nothing was ever written');
  }, 120_000);

  it('opens nothing without consent', async () => {
    const { commands, seen } = await check({ isOn: true, hasConsent: false });
    expect(commands).toEqual([]);
    expect(seen).toBe('the car is not asked: the installer has not agreed');
  });
});
