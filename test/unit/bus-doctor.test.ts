// The vehicle bus in the configuration and in `doctor bus`.
import { describe, expect, it } from 'vitest';
import { vehicleBusCheck } from '../../agent/bus/bus-check.ts';
import { toAgentConfig } from '../../agent/config.ts';
import type { BusConfig } from '../../agent/core/bus/bus-config.ts';
import type { CheckResult } from '../../agent/doctor/check.ts';
import type { DoctorPorts } from '../../agent/doctor/ports.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { ccvs1, eec1 } from '../../simulator/hardware/j1939-frames.ts';
import { createSlcanAdapter } from '../../simulator/hardware/slcan-adapter.ts';
import type { ByteLinkHandlers } from '../../src/ports.ts';
import { latin1 } from '../support/serial/nmea-lines.ts';
import { agentFileOf, givenOfMachine } from '../support/vehicle/agent-file.ts';

describe('the table [bus]', () => {
  it('is absent as a rule: then no bus is read', async () => {
    const config = await toAgentConfig(agentFileOf(''), givenOfMachine);
    expect(config).not.toHaveProperty('bus');
  });

  it('names a port, and has defaults for the rest', async () => {
    const { bus } = await toAgentConfig(agentFileOf('[bus]\nport = "/dev/fleet-bus"'), givenOfMachine);
    expect(bus).toEqual({
      port: { path: '/dev/fleet-bus', baudRate: 115_200, dataBits: 8, parity: 'none', stopBits: 1 },
      bitRate: 250_000,
    });
    const { bus: searched } = await toAgentConfig(
      agentFileOf('[bus]\nport = "/dev/x"\nbitRate = "auto"'),
      givenOfMachine,
    );
    expect(searched?.bitRate).toBe('auto');
  });

  it('with the port of the board or the receiver, an unknown setting or another bit rate is refused', async () => {
    await expect(
      toAgentConfig(agentFileOf('[bus]\nport = "/dev/fleet-gnss"'), givenOfMachine),
    ).rejects.toThrow('gnss.port');
    await expect(
      toAgentConfig(agentFileOf('[bus]\nport = "/dev/fleet-board"'), givenOfMachine),
    ).rejects.toThrow('board.port');
    const file = agentFileOf('');
    const swapped = { ...file, gnss: { ...file.gnss, port: file.board.port } };
    await expect(toAgentConfig(swapped, givenOfMachine)).rejects.toThrow(
      'gnss.port: /dev/fleet-board is board.port',
    );
    for (const [name, value] of [
      ['profile', '"obd"'],
      ['obdConsent', 'true'],
      ['engine', '"combustion"'],
    ])
      expect(() => agentFileOf(`[bus]\nport = "/dev/x"\n${name} = ${value}`)).toThrow(
        `bus.${name}: there is no such key`,
      );
    expect(() => agentFileOf('[bus]\nport = "/dev/x"\nbitRate = "33333"')).toThrow('bitRate');
  });
});

/** Runs the check before a simulated adapter, whose bus sends every 100 ms. */
async function check(
  dialect: 'canable' | 'lawicel',
  canListen = true,
): Promise<readonly Pick<CheckResult, 'verdict' | 'seen'>[]> {
  const clock = createVirtualClock(0);
  let handlers: ByteLinkHandlers | null = null;
  const adapter = createSlcanAdapter({ dialect, canListen, send: (text) => handlers?.onBytes(latin1(text)) });
  const ports = {
    clock,
    async openByteLink(_settings: BusConfig['port'], taken: ByteLinkHandlers) {
      handlers = taken;
      const write = (bytes: Uint8Array): boolean => {
        adapter.receive(bytes);
        return true;
      };
      return { write, close: async () => undefined };
    },
  } as unknown as DoctorPorts;
  const port = { path: '/dev/can', baudRate: 115_200, dataBits: 8, parity: 'none', stopBits: 1 } as const;
  const bus: BusConfig = { port, bitRate: 250_000 };
  const progress = { isDone: false };
  const running = vehicleBusCheck({ bus, ports, isStopped: () => false }).run();
  void running.finally(() => {
    progress.isDone = true;
  });
  while (!progress.isDone) {
    await new Promise((resolve) => void setImmediate(resolve));
    clock.advance(100);
    for (const frame of [ccvs1(0, 1), ccvs1(null, 3, 0x31), eec1(600)]) adapter.frame(frame);
  }
  return running;
}

describe('doctor bus', () => {
  it('shows the adapter, what was written to it, and every sender of every signal', async () => {
    const findings = await check('canable');
    const seen = findings.map((one) => one.seen);
    expect(seen[0]).toContain(
      'CANable at 250000 bit/s, 30 frames/s; speed 0 km/h, rpm 600 1/min, parkingBrake 1',
    );
    expect(seen).toContain(
      '16 bytes were written to the adapter to set it up for listening, and none to the bus',
    );
    expect(seen.join('\n')).toMatch(/speed \(SPN 84\) from 0x00: 0 km\/h, .* reported/);
    expect(seen.join('\n')).toMatch(/speed \(SPN 84\) from 0x31: not available, .* does not count/);
    expect(findings.every(({ verdict }) => verdict === 'ok')).toBe(true);
  });

  it('says that an adapter which cannot listen is not used', async () => {
    const findings = await check('lawicel', false);
    expect(findings[0]).toMatchObject({ verdict: 'fault' });
    expect(findings[0]?.seen).toContain('cannot listen');
  });
});
