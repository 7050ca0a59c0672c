// The tank as a module of the vehicle: feeds the fuel machine from the board or a digital sender, keeps its memory over a
// power-down, and records its findings.
import { type Static, Type } from 'typebox';
import { readingOf } from '../board/inputs.ts';
import { claimOf } from '../evidence/evidence-state.ts';
import { looksStill } from '../evidence/testimony.ts';
import type { Fix } from '../gnss/epochs.ts';
import type { StepContext, VehicleModule } from '../kernel/module.ts';
import { log, put, record, sensed, vehicleLimits } from '../kernel/vehicle-state.ts';
import { stepFuel } from './fuel.ts';
import { fuelEventDraft } from './fuel-events.ts';
import { createFuel, type FuelMemory, fuelMemoryOf, parseFuelMemory } from './fuel-memory.ts';
import type { FuelState, Motion } from './fuel-types.ts';
import type { LlsReading } from './lls.ts';
import {
  describeLls,
  fuelSenderSchema,
  type LlsConfig,
  llsConfigOf,
  llsFault,
  llsLevel,
} from './lls-config.ts';
import { llsText } from './lls-status.ts';

declare module '../kernel/module-slots.ts' {
  interface ModuleStates {
    readonly fuel: FuelState;
    /** Last reading of the digital fuel sender; null: none yet. Its level is among the analogs. */
    readonly fuelSender: LlsReading | null;
  }
  interface ModuleMemory {
    /** Memory of fuel monitoring. */
    readonly fuel?: FuelMemory;
  }
  interface ModuleConfig {
    /** The digital fuel sender; absent: none. Never beside a fuel signal of the board. */
    readonly fuelSender?: LlsConfig;
  }
  interface ModuleEvents {
    /** What the digital fuel sender shows, once a second. */
    readonly fuelSender: { readonly reading: LlsReading };
  }
  interface ModuleStatus {
    /** With the fraction of the tank; null: no digital fuel sender is configured. */
    readonly fuelSender: (LlsReading & { readonly level: number | null }) | null;
  }
}

function motionOf(context: StepContext): Motion {
  const motion = sensed(context.state, 'motion').value;
  const claim = claimOf(context.state.evidence, context.now.monoMs);
  if (claim.kind === 'moving' || motion === true) return 'moving';
  return looksStill(claim) || motion === false ? 'standing' : 'unknown';
}

/** A tank changes where the vehicle stands, so its place now is that of a change a while ago. */
function fixOf({ state, now }: StepContext, atMs: number): Fix | null {
  const { fix } = state;
  const isFresh = fix !== null && now.monoMs - fix.atMonoMs <= vehicleLimits.fixAgeMs;
  return isFresh ? { ...fix, atMonoMs: atMs } : null;
}

/**
 * One step of the tank.
 * @param level a fraction as just read, null when it was read and is out of range; `unknown` when only time has
 * passed.
 */
function watchFuel(context: StepContext, level: number | null | 'unknown'): void {
  const { state, now, config } = context;
  if (config.profile.analogs.fuel === undefined && config.fuelSender === undefined) return;
  const surroundings = {
    ignition: readingOf(state.inputs, 'ignition').reading,
    motion: motionOf(context),
    supplyV: state.analogs.supplyVoltage ?? null,
  };
  const { capacityL } = state.settings.fuel;
  const step = stepFuel(state.fuel, { atMs: now.monoMs, level, context: surroundings }, state.settings.fuel);
  put(context, { fuel: step.state });
  for (const event of step.events) {
    const draft = fuelEventDraft(event, capacityL);
    log(context, event.kind === 'theft' ? 'warn' : 'info', 'fuel', {
      finding: event.kind,
      ...draft.attributes,
    });
    record(context, draft, event.atMs, fixOf(context, event.atMs));
  }
}

/** The digital sender's level replaces the analog signal. A silent one makes the level unknown, never zero. */
function handleSender(context: StepContext, reading: LlsReading): void {
  const { fuelSender } = context.config;
  const { measure } = reading;
  if (fuelSender === undefined) return;
  put(context, { fuelSender: reading });
  if (measure === 'unknown') return;
  const fuel = measure === null ? null : llsLevel(fuelSender, measure);
  put(context, { analogs: { ...context.state.analogs, fuel } });
  watchFuel(context, fuel);
}

export const fuelModule: VehicleModule = {
  tables: [
    {
      table: 'fuelSender',
      schema: Type.Optional(fuelSenderSchema),
      configOf: llsConfigOf,
      describe: describeLls,
      fault: (table: Static<typeof fuelSenderSchema> | undefined, { analogs }) =>
        llsFault(table, analogs.fuel !== undefined),
    },
  ],
  create: ({ memory, nowMs }) => ({
    fuel: createFuel(parseFuelMemory(memory.fuel), nowMs),
    fuelSender: null,
  }),
  remember: ({ fuel }) => ({ fuel: fuelMemoryOf(fuel) }),
  on: { fuelSender: (context, { reading }) => handleSender(context, reading) },
  tick: (context) => watchFuel(context, 'unknown'),
  analogs(context, { fuel }) {
    if (fuel !== undefined) watchFuel(context, fuel);
  },
  status: ({ fuelSender, analogs }) => ({
    fuelSender: fuelSender === null ? null : { ...fuelSender, level: analogs.fuel ?? null },
  }),
  lines({ fuelSender, inputs }) {
    if (fuelSender === null) return [];
    const isOff = inputs.some(({ input, reading }) => input === 'ignition' && reading === 'off');
    return [{ name: 'Fuel', ...llsText(fuelSender, isOff) }];
  },
};
