// The check of the digital fuel sender: reads it as the agent does, and names level, temperature, or what is wrong.
import { pause } from '../../src/timeout.ts';
import type { LlsReading } from '../core/fuel/lls.ts';
import { type LlsConfig, llsLevel } from '../core/fuel/lls-config.ts';
import { llsText } from '../core/fuel/lls-status.ts';
import { type Check, fault, ok } from '../doctor/check.ts';
import type { DoctorPorts } from '../doctor/ports.ts';
import { startLlsReader } from './lls-reader.ts';

const lookMs = 100;

export function fuelSenderCheck(given: {
  readonly config: LlsConfig;
  readonly ports: DoctorPorts;
  isStopped(): boolean;
}): Check {
  const { config, ports, isStopped } = given;
  return {
    id: 'fuel-sender',
    title: 'Fuel sender',
    mostS: 20,
    async run() {
      const known: LlsReading[] = [];
      const reader = startLlsReader({
        ...ports,
        config,
        log: { info: () => undefined, warn: () => undefined },
        onReading: (reading) => reading.measure !== 'unknown' && known.push(reading),
      });
      // A silent sender is known for one after five seconds.
      while (known.length === 0 && !isStopped()) await pause(ports.clock, lookMs);
      await reader.close();
      const [first] = known;
      if (first === undefined) return [];
      const level = typeof first.measure === 'number' ? llsLevel(config, first.measure) : null;
      const { level: severity, words, todo } = llsText({ ...first, level }, false);
      return [severity === 'ok' ? ok(words) : fault(words, todo)];
    },
  };
}
