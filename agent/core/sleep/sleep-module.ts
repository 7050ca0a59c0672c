// Sleep as a module of the vehicle: asks that the machine of a parked unit is suspended once nothing speaks against it. It moves no relay.
import { Type } from 'typebox';
import type { VehicleModule } from '../kernel/module.ts';
import { log, put } from '../kernel/vehicle-state.ts';
import { sleepObjectionOf } from '../kernel/vehicle-update.ts';
import { createSleep, type SleepConfig, type SleepState, stepSleep } from './sleep.ts';
import { describeSleep, sleepConfigOf, sleepSchema, sleepWarnings } from './sleep-config.ts';

declare module '../kernel/module-slots.ts' {
  interface ModuleStates {
    readonly sleep: SleepState;
  }
  interface ModuleConfig {
    /** When the machine of a parked unit is suspended; absent: never. */
    readonly sleep?: SleepConfig;
  }
  interface ModuleEffects {
    /** The machine is to be suspended for this long. */
    readonly sleep: { readonly seconds: number };
  }
}

export const sleepModule: VehicleModule = {
  tables: [
    {
      table: 'sleep',
      schema: Type.Optional(sleepSchema),
      configOf: sleepConfigOf,
      describe: describeSleep,
      warnings: sleepWarnings,
    },
  ],
  create: () => ({ sleep: createSleep() }),
  tick(context) {
    const { sleep: config } = context.config;
    if (config === undefined) return;
    const { state, isRequested } = stepSleep(context.state.sleep, config, {
      objection: sleepObjectionOf(context, config.afterMs),
      startedMs: context.state.time.bootMonoMs,
      nowMs: context.now.monoMs,
    });
    put(context, { sleep: state });
    if (!isRequested) return;
    log(context, 'info', 'sleep_requested', { wakeS: config.wakeS });
    context.effects.push({ kind: 'sleep', seconds: config.wakeS });
  },
};
