// Modem and SIM by mmcli: what counts of an answer, what the vehicle reports of it, and that a program which is absent, hangs or floods changes nothing.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readModem } from '../../agent/adapters/modem-manager.ts';
import { watchModem } from '../../agent/agent-loop.ts';
import { toAgentConfig } from '../../agent/config.ts';
import type { VehicleEvent } from '../../agent/core/kernel/vehicle-events.ts';
import { type ModemReading, maskIccid, parseModem, parseSim } from '../../agent/core/modem/modem-reading.ts';
import {
  createModemReport,
  modemReportLimits,
  stepModemReport,
} from '../../agent/core/modem/modem-report.ts';
import { statusOfVehicle } from '../../agent/core/status/status.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { statusCodes } from '../../src/core/events/status-codes.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { agentFileOf, givenOfMachine } from '../support/vehicle/agent-file.ts';
import { createVehicleRig } from '../support/vehicle/vehicle-rig.ts';

/** As mmcli answers for a Telit LE910C4: members and kinds of values are those of recorded answers, ids and names are not. */
const recorded = {
  modem: {
    '3gpp': {
      'enabled-locks': ['fixed-dialing'],
      eps: { 'initial-bearer': { 'dbus-path': '--', settings: { apn: 'APN.WAP', password: '--' } } },
      imei: '000000000000000',
      'operator-code': '00000',
      'operator-name': 'OperatorName',
      pco: '--',
      'registration-state': 'home',
    },
    cdma: { 'activation-state': '--', esn: '--' },
    'dbus-path': '/org/freedesktop/ModemManager1/Modem/0',
    generic: {
      'access-technologies': ['lte'],
      bearers: ['/org/freedesktop/ModemManager1/Bearer/5'],
      'carrier-configuration': '--',
      'current-bands': [],
      'current-capabilities': ['gsm-umts, lte'],
      'current-modes': 'allowed: 2g, 3g, 4g; preferred: 4g',
      device: '/sys/devices/platform/bus@0/3610000.usb/usb1/1-2',
      drivers: ['option', 'qmi_wwan'],
      manufacturer: 'Telit',
      model: 'LE910C4-WWXD',
      'own-numbers': [],
      ports: ['cdc-wdm0 (qmi)', 'ttyUSB0 (ignored)', 'ttyUSB1 (at)', 'ttyUSB2 (at)', 'wwan0 (net)'],
      'power-state': 'on',
      'primary-sim-slot': '1',
      'signal-quality': { recent: 'yes', value: '78' },
      sim: '/org/freedesktop/ModemManager1/SIM/0',
      'sim-slots': ['/org/freedesktop/ModemManager1/SIM/0', '/'],
      state: 'connected',
    },
  },
};
const simRecorded = {
  sim: {
    'dbus-path': '/org/freedesktop/ModemManager1/SIM/0',
    properties: {
      active: 'yes',
      eid: '--',
      'emergency-numbers': [],
      iccid: '89490000000000000017',
      imsi: '001010000000017',
      'operator-code': '00101',
      'operator-name': 'Test',
    },
  },
};
const text = JSON.stringify(recorded);
const reading: ModemReading = {
  operator: 'OperatorName',
  isRoaming: false,
  iccid: null,
  signal: 78,
  technology: 'lte',
  bytes: null,
};

describe('an answer of mmcli', () => {
  it('gives operator, network, signal, technology, and where SIM and interface are', () => {
    expect(parseModem(text)).toEqual({
      reading,
      paths: { sim: '/org/freedesktop/ModemManager1/SIM/0', net: 'wwan0' },
    });
    expect(parseSim(JSON.stringify(simRecorded))).toBe('89490000000000000017');
  });

  it('of a modem that is not registered, has no SIM and knows nothing gives nothing', () => {
    const generic = {
      'access-technologies': [],
      sim: '--',
      ports: ['ttyUSB2 (at)'],
      'signal-quality': { value: '--' },
    };
    const unregistered = {
      modem: { '3gpp': { 'operator-code': '--', 'registration-state': 'searching' }, generic },
    };
    expect(parseModem(JSON.stringify(unregistered))).toEqual({
      reading: { operator: null, isRoaming: null, iccid: null, signal: null, technology: null, bytes: null },
      paths: { sim: null, net: null },
    });
  });

  it('names no path and no interface but those that can be one', () => {
    const generic = { sim: '/etc/passwd', ports: ['../../etc (net)', '--help (net)', 'a b (net)'] };
    expect(parseModem(JSON.stringify({ modem: { generic } }))?.paths).toEqual({ sim: null, net: null });
  });

  it('that is anything never throws, and gives texts of at most 40 characters', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), fc.jsonValue(), (any, value) => {
        expect(parseModem(any)?.reading.iccid ?? null).toBeNull();
        parseSim(any);
        const member = {
          modem: { generic: value, '3gpp': { 'operator-name': value, 'registration-state': value } },
        };
        expect((parseModem(JSON.stringify(member))?.reading.operator ?? '').length).toBeLessThanOrEqual(40);
      }),
    );
  });
});

/** A program in place of mmcli. */
function fakeProgram(folder: string, script: string): string {
  const path = join(folder, 'mmcli');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

describe('the program of ModemManager', () => {
  it('is asked about modem and SIM without a shell, and the kernel for what the interface carried', async () => {
    const folder = temporaryFolder('modem');
    writeFileSync(join(folder, 'modem.json'), text);
    writeFileSync(join(folder, 'sim.json'), JSON.stringify(simRecorded));
    mkdirSync(join(folder, 'net/wwan0/statistics'), { recursive: true });
    writeFileSync(join(folder, 'net/wwan0/statistics/rx_bytes'), '7000000\n');
    writeFileSync(join(folder, 'net/wwan0/statistics/tx_bytes'), '500000\n');
    const program = fakeProgram(
      folder,
      `case "$*" in
"-m any -J") cat ${folder}/modem.json ;;
"-i /org/freedesktop/ModemManager1/SIM/0 -J") cat ${folder}/sim.json ;;
*) exit 1 ;;
esac`,
    );
    expect(await readModem(program, join(folder, 'net'))).toEqual({
      ...reading,
      iccid: '89490000000000000017',
      bytes: 7_500_000,
    });
  });

  it.each([
    ['says that there is no modem', 'echo "error: couldn\'t find modem" >&2; exit 1', "couldn't find modem"],
    ['gives something else', 'echo hello', 'no answer about a modem'],
    ['floods', 'yes', 'maxBuffer'],
  ])('that %s gives no reading, with the reason', async (_, script, reason) => {
    const program = fakeProgram(temporaryFolder('modem'), script);
    await expect(readModem(program)).rejects.toThrow(reason);
  });

  it('that is absent gives no reading', async () => {
    await expect(readModem('/nowhere/mmcli')).rejects.toThrow('ENOENT');
  });
});

describe('the watch of a modem', () => {
  it('asks in its period, logs one reason once, and passes on that nothing is known', async () => {
    const clock = createVirtualClock(0);
    const lines: string[] = [];
    const events: VehicleEvent[] = [];
    let answer: ModemReading | null = null;
    const read = async (): Promise<ModemReading> => {
      if (answer === null) throw new Error('no modem');
      return answer;
    };
    const log = { warn: (event: string) => void lines.push(event) } as never;
    const stop = watchModem({ clock, log, modem: { everyMs: 300_000, read } }, (event) => events.push(event));
    const pass = async (): Promise<void> => {
      for (let n = 0; n < 10; n++) await Promise.resolve();
      clock.advance(300_000);
      for (let n = 0; n < 10; n++) await Promise.resolve();
    };
    for (let n = 0; n < 20; n++) await pass();
    expect(lines).toEqual(['modem_unreadable']);
    answer = reading;
    await pass();
    expect(events[0]).toEqual({ kind: 'modem', sight: { reading: null, reason: 'no modem' } });
    expect(events.at(-1)).toEqual({ kind: 'modem', sight: { reading, reason: '' } });
    expect(events).toHaveLength(22);
    stop();
    await pass();
    expect(events).toHaveLength(22);
  });
});

describe('what a vehicle reports of its modem', () => {
  const known = { ...reading, iccid: '89490000000000000017', bytes: 7_500_000 };

  it('is a set of attributes with a position, and again only what changed by its dead band', () => {
    const first = stepModemReport(createModemReport(), known, 0);
    expect(first?.attributes).toEqual({
      operator: 'OperatorName',
      roaming: false,
      iccid: '89490000000000000017',
      signal: 78,
      technology: 'lte',
      modemMb: 7.5,
    });
    const state = first?.state ?? createModemReport();
    const later = modemReportLimits.everyMs;
    const changed = { ...known, isRoaming: true, signal: 57 };
    expect(stepModemReport(state, { ...known, signal: 60, bytes: 12_000_000 }, later)).toBeNull();
    expect(stepModemReport(state, changed, later - 1)).toBeNull();
    expect(stepModemReport(state, changed, later)?.attributes).toEqual({ roaming: true, signal: 57 });
  });

  it('goes with one position or heartbeat, sets the saving profile while roaming, and is masked in log and status', async () => {
    const lines: string[] = [];
    const rig = await createVehicleRig({
      onLog: (event, fields) => lines.push(JSON.stringify([event, fields])),
    });
    rig.run(5);
    rig.dispatch({ kind: 'modem', sight: { reading: { ...known, isRoaming: true }, reason: '' } });
    expect(rig.state().isRoaming).toBe(true);
    rig.run(1800);
    const named = rig.told.filter(({ attributes }) => attributes?.['iccid'] !== undefined);
    expect(named).toHaveLength(1);
    expect([statusCodes.LOCATION.code, statusCodes.HEARTBEAT.code]).toContain(named[0]?.statusCode);
    const given = { nowMs: rig.nowMs(), paths: { board: '', gnss: '' }, config: rig.config() };
    lines.push(JSON.stringify(statusOfVehicle(rig.state(), given).modem));
    rig.dispatch({ kind: 'modem', sight: { reading: null, reason: 'no modem' } });
    expect(rig.state().isRoaming).toBe(false);
    expect(lines.join('')).toContain(maskIccid(known.iccid));
    expect(lines.join('')).not.toContain(known.iccid);
  });
});

describe('the table [modem]', () => {
  it('is absent as a rule, and names a program by its whole path', async () => {
    expect(await toAgentConfig(agentFileOf(''), givenOfMachine)).not.toHaveProperty('modem');
    const { modem } = await toAgentConfig(agentFileOf('[modem]\nprogram = "/usr/bin/mmcli"'), givenOfMachine);
    expect(modem).toEqual({ program: '/usr/bin/mmcli', everyMs: 300_000 });
    expect(() => agentFileOf('[modem]\nprogram = "mmcli"')).toThrow('program');
  });

  it('excludes the file of a script that says the same', async () => {
    const both = '[modem]\nprogram = "/usr/bin/mmcli"\n[network]\nstateFile = "/run/network"';
    await expect(toAgentConfig(agentFileOf(both), givenOfMachine)).rejects.toThrow('network.stateFile');
  });
});
