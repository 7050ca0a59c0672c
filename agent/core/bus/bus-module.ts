// The vehicle bus as a module of the vehicle: keeps what it shows, objects to a relay change, and adds its values to positions. It can only
// object: nothing that it shows proves rest.
import { Type } from 'typebox';
import type { VehicleModule } from '../kernel/module.ts';
import { watchEvidence } from '../kernel/vehicle-evidence.ts';
import { recordGuardFact } from '../kernel/vehicle-guard.ts';
import { put } from '../kernel/vehicle-state.ts';
import { type BusConfig, busConfigOf, busSchema, describeBus } from './bus-config.ts';
import type { BusReading } from './bus-reading.ts';
import { type BusReportState, createBusReport, stepBusReport } from './bus-report.ts';
import { type BusStatus, busStatus } from './bus-status.ts';
import { busText } from './bus-text.ts';
import { busVetoAt } from './bus-veto.ts';
import { type CounterSenders, parseCounterSenders } from './counter-senders.ts';

declare module '../kernel/module-slots.ts' {
  interface ModuleStates {
    /** Last reading of the vehicle bus; null: none is read. */
    readonly bus: BusReading | null;
    readonly busReport: BusReportState;
  }
  interface ModuleMemory {
    /** Chosen sender of each counter of the vehicle bus. */
    readonly busCounters?: CounterSenders;
  }
  interface ModuleConfig {
    /** The vehicle bus that is listened to; absent: none. */
    readonly bus?: BusConfig;
  }
  interface ModuleEvents {
    /** A reading of the vehicle bus; sent at once when its veto of a relay change begins or ends. */
    readonly bus: { readonly reading: BusReading };
  }
  interface ModuleStatus {
    /** Null: no bus is read. */
    readonly bus: BusStatus | null;
  }
}

export const busModule: VehicleModule = {
  tables: [
    {
      table: 'bus',
      schema: Type.Optional(busSchema),
      configOf: busConfigOf,
      describe: describeBus,
      notes: ['the vehicle bus is only listened to: a speed or a running engine on it refuses a cut at once'],
    },
  ],
  create: ({ memory }) => ({
    bus: null,
    busReport: createBusReport(parseCounterSenders(memory.busCounters)),
  }),
  remember: ({ bus, busReport }) => (bus === null ? {} : { busCounters: busReport.senders }),
  on: {
    bus(context, { reading }) {
      put(context, { bus: reading });
      const { movement, engine } = reading.view;
      const sign = { kind: 'sign', atMs: context.now.monoMs } as const;
      recordGuardFact(context, { ...sign, of: 'busKmh', value: movement?.value ?? null });
      recordGuardFact(context, { ...sign, of: 'busRpm', value: engine?.value ?? null });
      watchEvidence(context);
    },
  },
  veto: ({ bus }, atMs) => busVetoAt(bus, atMs),
  attributes(context, of) {
    const { bus, busReport } = context.state;
    if (bus === null || of === 'heartbeat') return null;
    const step = stepBusReport(busReport, bus, context.now.monoMs);
    if (step === null) return null;
    put(context, { busReport: step.state });
    return step.attributes;
  },
  status: ({ bus, busReport }, nowMs) => ({
    bus: bus === null ? null : busStatus(bus, nowMs, busReport.senders),
  }),
  lines: ({ bus }) => (bus === null ? [] : [{ name: 'Bus', ...busText(bus) }]),
};
