// The check of a car that is asked: reads the ignition from the board as the agent does, and asks only while it is on. The relays are left alone.
import { pause } from '../../src/timeout.ts';
import { startObdBus } from '../bus/obd-bus.ts';
import type { VehicleBus } from '../bus/vehicle-bus.ts';
import type { AgentConfig } from '../config.ts';
import type { ObdConfig } from '../core/bus/bus-config.ts';
import { obdPermission } from '../core/obd/obd-permission.ts';
import { rulesOf } from '../core/protection/protection.ts';
import { busStatus } from '../core/status/bus-status.ts';
import { obdRefusals } from '../core/status/obd-text.ts';
import { type Check, warning } from './check.ts';
import { type LiveConfig, type LiveVehicle, openLiveVehicle } from './live-vehicle.ts';
import type { DoctorPorts } from './ports.ts';
import { busFindings } from './vehicle-bus.ts';

const timing = {
  /** The ignition is read, the adapter set up, and the protocol searched within this, ms. */
  openMs: 60_000,
  /** Of the refusals these may pass by themselves within so long. */
  ignitionMs: 10_000,
  /** Most values were asked for once by then, ms. */
  askMs: 20_000,
  lookMs: 250,
} as const;

/** Waits until the car answers, or is not asked for a reason that time does not mend. */
async function untilAsked(bus: VehicleBus, { clock }: DoctorPorts, isStopped: () => boolean): Promise<void> {
  const startMs = clock.monoMs();
  while (clock.monoMs() - startMs < timing.openMs && !isStopped()) {
    const { phase, refusal } = bus.reading().adapter;
    if (phase === 'open') return pause(clock, timing.askMs);
    const isIgnition = refusal?.startsWith('ignition_') ?? false;
    const isFinal = phase === 'waiting' && refusal !== null && !isIgnition;
    if (isFinal || (isIgnition && clock.monoMs() - startMs > timing.ignitionMs)) return;
    await pause(clock, timing.lookMs);
  }
}

/** The permission by the board alone: no history speaks for its ignition. */
const permissionBy = (vehicle: LiveVehicle, nowMs: number) => {
  const { ignition, ignitionSuspension } = vehicle.evidence();
  return obdPermission({ ignition, isDoubtful: ignitionSuspension !== null, supplyV: null }, nowMs);
};

/** The check of the car that is configured. */
export function obdCheck(context: {
  readonly config: LiveConfig & Pick<AgentConfig, 'protection'>;
  readonly obd: ObdConfig;
  readonly ports: DoctorPorts;
  isStopped(): boolean;
}): Check {
  const { config, obd, ports, isStopped } = context;
  const { clock } = ports;
  return {
    id: 'bus',
    title: 'Vehicle bus',
    mostS: 120,
    async run() {
      if (!obd.hasConsent) {
        const { words, todo } = obdRefusals.no_consent;
        return [warning(words, todo)];
      }
      const rules = rulesOf(config.protection, config.profile);
      const vehicle = await openLiveVehicle(config, rules, ports);
      const silent = { info: () => undefined, warn: () => undefined };
      const bus = startObdBus({
        ...ports,
        config: obd,
        log: silent,
        permission: () => permissionBy(vehicle, clock.monoMs()),
        onReading: () => undefined,
      });
      try {
        await untilAsked(bus, ports, isStopped);
        return busFindings(busStatus(bus.reading(), clock.monoMs()));
      } finally {
        await bus.close();
        await vehicle.close();
      }
    },
  };
}
