// The check of the reader of drivers' keys: opens it as the agent does, and waits some seconds for a key. Ids are shown masked only.

import type { DriverSettings } from '../../src/core/settings/driver.ts';
import { pause } from '../../src/timeout.ts';
import { allowedKeys } from '../core/driver/driver.ts';
import type { DriverReaderConfig } from '../core/driver/driver-config.ts';
import { readerFaultText } from '../core/driver/driver-status.ts';
import { maskKey } from '../core/driver/key-id.ts';
import { type Check, type Finding, fault, ok, warning } from '../doctor/check.ts';
import type { DoctorPorts } from '../doctor/ports.ts';
import { type KeyReader, startKeyReader } from './key-reader.ts';

const timing = {
  /** A port opens, and a line driver answers or does not, within this, ms. */
  openMs: 5000,
  /** A key is waited for this long, ms. */
  keyMs: 8000,
  lookMs: 100,
} as const;

interface ReaderCheckContext {
  readonly config: DriverReaderConfig;
  /** Of the installer's file. */
  readonly settings: DriverSettings;
  readonly ports: Pick<DoctorPorts, 'clock' | 'openByteLink'>;
  say(text: string): void;
  isStopped(): boolean;
}

function findingsOf(reader: KeyReader, key: string | null, context: ReaderCheckContext): readonly Finding[] {
  const { config, settings } = context;
  const reading = reader.reading();
  const wrong = readerFaultText(reading);
  if (wrong !== null) return [fault(wrong.words, wrong.todo)];
  const allowed = allowedKeys(settings);
  const findings: Finding[] = [];
  if (key === null) {
    const answers = config.kind === 'ds2480b' ? 'the reader answers' : 'the port is open';
    findings.push(
      reading.noise + reading.rejected > 0
        ? warning(
            `${reading.noise + reading.rejected} bytes or readings made no sense`,
            'Check driverReader.baud, and driverReader.kind: rfid-once for a reader that sends a tag only once. Hold one key alone to it.',
          )
        : ok(`${answers}; no key was held to it within ${timing.keyMs / 1000} s`),
    );
  } else if (allowed.size > 0 && !allowed.has(key)) {
    findings.push(
      warning(
        `key ${maskKey(key)} is not on the list of this file`,
        'Put it into driver.keys, here or in the settings of the fleet.',
      ),
    );
  } else findings.push(ok(`key ${maskKey(key)} was read, and counts`));
  return findings;
}

/** The check of the reader that is configured. */
export function driverReaderCheck(context: ReaderCheckContext): Check {
  const { config, ports, say, isStopped } = context;
  const { clock } = ports;
  return {
    id: 'driver-reader',
    title: "Reader of drivers' keys",
    mostS: 30,
    async run() {
      let key: string | null = null;
      const reader = startKeyReader({
        ...ports,
        config,
        log: { info: () => undefined, warn: () => undefined },
        onKey: (id) => {
          key = id;
        },
        onReading: () => undefined,
      });
      const wait = async (forMs: number, isOver: () => boolean): Promise<void> => {
        const untilMs = clock.monoMs() + forMs;
        while (clock.monoMs() < untilMs && !isStopped() && !isOver()) await pause(clock, timing.lookMs);
      };
      try {
        await wait(timing.openMs, () => reader.reading().phase !== 'opening');
        if (reader.reading().phase === 'open') {
          say("Hold a driver's key to the reader now.");
          await wait(timing.keyMs, () => key !== null || reader.reading().fault !== null);
        }
        return findingsOf(reader, key, context);
      } finally {
        await reader.close();
      }
    },
  };
}
