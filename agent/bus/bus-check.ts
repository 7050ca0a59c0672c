// The check of the vehicle bus: opens the adapter as the agent does, listens, and shows every sender of every signal. It only listens.
import { pause } from '../../src/timeout.ts';
import type { BusConfig } from '../core/bus/bus-config.ts';
import { type BusStatus, busStatus } from '../core/bus/bus-status.ts';
import { adapterText, busText, sourceText } from '../core/bus/bus-text.ts';
import { type Check, type Finding, fault, ok, warning } from '../doctor/check.ts';
import type { DoctorPorts } from '../doctor/ports.ts';
import { startVehicleBus, type VehicleBus } from './vehicle-bus.ts';

const timing = {
  /** A search for the bit rate and one more try take less than this, ms. */
  openMs: 20_000,
  /** Values count 10 s after the first frame, ms. */
  listenMs: 12_000,
  lookMs: 250,
} as const;

/** What one look at the bus found; also of a running agent. */
export function busFindings(status: BusStatus): readonly Finding[] {
  const { level, words, todo } = busText(status);
  const verdict = { ok: 'ok', note: 'warning', fault: 'fault' } as const;
  const { rejected, skipped, foreign, vin, driverCards, troubleCodes, odometerJumps } = status;
  const findings: Finding[] = [{ verdict: verdict[level], seen: words, todo }];
  if (status.version !== null) findings.push(ok(`${adapterText(status)} calls itself ${status.version}`));
  findings.push(
    ok(
      `${status.writtenBytes} bytes were written to the adapter to set it up for listening, and none to the bus`,
    ),
  );
  if (rejected + skipped > 0)
    findings.push(
      warning(
        `${rejected} lines were no frames, ${skipped} frames were too many`,
        'At 115200 baud an adapter passes 426 frames/s on: a faster bus needs a higher bus.baud.',
      ),
    );
  if (foreign > 0 && status.values.length === 0)
    findings.push(
      warning(
        `${foreign} frames have identifiers of 11 bits: this is no J1939 bus`,
        'Use the FMS connector or the J1939 pair of the vehicle.',
      ),
    );
  findings.push(...status.values.map((one) => ok(sourceText(one))));
  if (vin !== null) findings.push(ok(`vehicle identification number ${vin}`));
  if (driverCards !== null)
    findings.push(
      ok(
        `driver cards ${driverCards.map((card) => (card === undefined ? 'not told' : (card ?? 'none'))).join(', ')}`,
      ),
    );
  if (troubleCodes.length > 0) {
    const codes = troubleCodes.map(({ spn, fmi }) => `${spn}/${fmi}`).join(' ');
    findings.push(ok(`active trouble codes (SPN/FMI) ${codes}`));
  }
  if (odometerJumps > 0) findings.push(warning(`the odometer jumped ${odometerJumps} times`, ''));
  return findings;
}

/** Waits until the adapter listens, or is refused for a reason that time does not mend. */
async function untilOpen(bus: VehicleBus, { clock }: DoctorPorts, isStopped: () => boolean): Promise<void> {
  const untilMs = clock.monoMs() + timing.openMs;
  while (clock.monoMs() < untilMs && !isStopped()) {
    const { phase, refusal } = bus.reading().adapter;
    if (phase === 'open' || (phase === 'waiting' && refusal !== 'no_answer' && refusal !== null)) return;
    await pause(clock, timing.lookMs);
  }
}

/** The check of the bus that is configured. */
export function vehicleBusCheck(context: {
  readonly bus: BusConfig;
  readonly ports: DoctorPorts;
  isStopped(): boolean;
}): Check {
  const { bus: config, ports, isStopped } = context;
  return {
    id: 'bus',
    title: 'Vehicle bus',
    mostS: 60,
    async run() {
      const silent = { info: () => undefined, warn: () => undefined };
      const bus = startVehicleBus({ ...ports, config, log: silent, onReading: () => undefined });
      try {
        await untilOpen(bus, ports, isStopped);
        const opened = bus.reading().adapter;
        if (opened.phase === 'open' && !isStopped()) await pause(ports.clock, timing.listenMs);
        const reading = bus.reading();
        const late = reading.adapter.writtenBytes - opened.writtenBytes;
        return [
          ...busFindings(busStatus(reading, ports.clock.monoMs())),
          ...(reading.adapter.phase === 'open' && late > 0
            ? [
                fault(
                  `${late} bytes were written after the adapter was set up`,
                  'The adapter was lost meanwhile: check its plug.',
                ),
              ]
            : []),
        ];
      } finally {
        await bus.close();
      }
    },
  };
}
