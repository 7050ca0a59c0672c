// What `doctor` finds of a receiver, and how long it takes: slow ones, at the wrong speed, with sentences that are missing. The receiver is
// simulated at the speed of its line, on a virtual clock.
import { describe, expect, it } from 'vitest';
import type { AgentConfig } from '../../agent/config.ts';
import type { CheckResult } from '../../agent/doctor/check.ts';
import { clockCheck } from '../../agent/doctor/clock.ts';
import { gnssCheck } from '../../agent/doctor/gnss.ts';
import type { DoctorPorts } from '../../agent/doctor/ports.ts';
import { createSightings } from '../../agent/doctor/sightings.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { createGnss, type GnssHabits } from '../../simulator/hardware/gnss.ts';
import type { ByteLinkHandlers } from '../../src/ports.ts';
import { latin1 } from '../support/serial/nmea-lines.ts';

type Finding = Pick<CheckResult, 'verdict' | 'seen' | 'todo'>;

interface Receiver {
  readonly baud?: number;
  readonly habits?: Partial<GnssHabits>;
  /** False: only void sentences. */
  readonly hasFix?: boolean;
  /** Sentences that it does not send. */
  readonly without?: RegExp;
  /** It is not there. */
  readonly isSilent?: boolean;
}

const startMs = Date.UTC(2026, 10, 28, 12);
const earliestUtcMs = Date.UTC(2026, 9, 1);
const place = { latitude: 43.65, longitude: -79.34, altitudeM: 90, speedKmh: 0, headingDeg: 0 };

/** Runs the check at 9600 baud, and then that of the clocks. @returns the findings of both, and the seconds that the first took. */
async function examine({ baud = 9600, habits = {}, hasFix = true, without, isSilent = false }: Receiver) {
  const clock = createVirtualClock(startMs);
  const entropy = createSeededEntropy('doctor').stream('gnss');
  let open: { readonly handlers: ByteLinkHandlers; readonly baud: number } | null = null;
  /** Each sentence takes its time on the line, and is noise at another speed. */
  const send = (bytes: Uint8Array): void => {
    let delayMs = 0;
    for (const sentence of new TextDecoder().decode(bytes).split(/(?<=\n)/)) {
      if (without?.test(sentence) === true) continue;
      delayMs += (sentence.length * 10_000) / baud;
      clock.after(Math.ceil(delayMs), () => {
        if (open === null || isSilent) return;
        open.handlers.onBytes(open.baud === baud ? latin1(sentence) : entropy.bytes(sentence.length));
      });
    }
  };
  const gnss = createGnss({ clock, entropy, utcMs: () => clock.utcMs(), truth: () => place, send });
  gnss.setHabits(habits);
  gnss.setTunnel(!hasFix);
  const ports = {
    clock,
    machine: { isTimeSynchronised: () => true, hardwareClockMs: () => null },
    async openByteLink(settings: { readonly baudRate: number }, handlers: ByteLinkHandlers) {
      open = { handlers, baud: settings.baudRate };
      const close = async (): Promise<void> => void (open = null);
      return { write: () => true, close };
    },
  } as unknown as DoctorPorts;
  const config = {
    gnssPort: { path: '/dev/gnss', baudRate: 9600, dataBits: 8, parity: 'none', stopBits: 1 },
    earliestUtcMs,
  } as unknown as AgentConfig;
  const sightings = createSightings();
  const check = gnssCheck({ config, ports, sightings, isStopped: () => false });
  const progress: { findings: readonly Finding[] | null } = { findings: null };
  // A person starts it at no full second.
  clock.advance(370);
  const running = check.run().then((findings) => void (progress.findings = findings));
  while (progress.findings === null) {
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
    clock.advance(50);
  }
  await running;
  const tookS = (clock.utcMs() - startMs) / 1000;
  expect(tookS).toBeLessThan(check.mostS);
  gnss.close();
  sightings.brokerAheadMs = 0;
  const clocks = await clockCheck(earliestUtcMs, sightings, ports).run();
  return { findings: progress.findings, clocks, tookS };
}

const verdicts = (findings: readonly Finding[]): string => findings.map(({ verdict }) => verdict).join(' ');
const text = (findings: readonly Finding[]): string =>
  findings.map(({ seen, todo }) => `${seen} ${todo}`).join('\n');

describe('the doctor before a receiver', () => {
  it('that sends all once a second is done within a few seconds', async () => {
    const { findings, clocks, tookS } = await examine({});
    expect(verdicts([...findings, ...clocks])).not.toMatch(/warning|fault/);
    expect(text(findings)).toContain('position with');
    expect(text(clocks)).toContain('this machine, the broker and GNSS agree on the time');
    expect(tookS).toBeLessThan(6);
  });

  it.each([
    ['every 5 s', { habits: { everyS: 5 } }, 'one position in 5 s'],
    ['every 5 s at 4800 baud', { baud: 4800, habits: { everyS: 5 } }, 'one position in 5 s'],
    ['every 4 s at 115200 baud', { baud: 115_200, habits: { everyS: 4 } }, 'one position in 4 s'],
    ['every 10 s', { habits: { everyS: 10 } }, 'one position in'],
  ] as const)('that sends %s is found, and told to be set faster', async (_, receiver, words) => {
    const { findings } = await examine(receiver);
    const baud = 'baud' in receiver ? receiver.baud : 9600;
    expect(text(findings)).toContain(`at ${baud} baud`);
    expect(text(findings)).toContain(words);
    expect(text(findings)).toContain('once a second');
    if (baud !== 9600) expect(text(findings)).toContain(`Set gnss.baud = ${baud}.`);
  });

  it.each([
    ['at 38400 baud', { baud: 38_400 }, 'Set gnss.baud = 38400.'],
    ['without a fix', { hasFix: false }, 'no position, the receiver says so itself'],
    ['that says nothing', { isSilent: true }, 'is silent'],
    ['without RMC and VTG', { without: /RMC|VTG/ }, 'has a speed of RMC: it proves no standstill'],
    ['without GGA and GSA', { without: /GGA|GSA/ }, 'has an HDOP: it proves no standstill'],
    [
      'with GGA every 5 s',
      { habits: { ggaEveryS: 5 } },
      'Set the receiver to send GGA or GSA with every RMC',
    ],
  ] as const)('%s says what helps', async (_, receiver, words) => {
    expect(text((await examine(receiver)).findings)).toContain(words);
  });

  it('takes an open antenna for a fault only where there is no position', async () => {
    for (const antenna of ['OPEN', 'SHORT'] as const) {
      const good = await examine({ habits: { antenna } });
      expect(verdicts(good.findings)).not.toMatch(/warning|fault/);
      expect(text(good.findings)).toContain('splitters');
      const bad = await examine({ habits: { antenna }, hasFix: false });
      expect(verdicts(bad.findings)).toContain('fault');
      expect(text(bad.findings)).toContain('Check plug and cable');
    }
  });

  it.each([
    [-7168, '1,024 weeks behind'],
    [7168, '1,024 weeks ahead'],
    [300, '300 days ahead'],
    [-20, '20 days behind'],
  ])('whose date is %i days off is said to be the one that is wrong', async (daysAhead, words) => {
    const { findings, clocks } = await examine({ habits: { daysAhead } });
    expect(text(clocks)).toContain(words);
    expect(text(clocks)).toContain('this machine and the broker agree on the time');
    expect(text([...findings, ...clocks])).not.toContain('timedatectl');
  });
});
