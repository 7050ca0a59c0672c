// Sleep as a module of the vehicle: asks that the machine of a parked unit is suspended once nothing speaks against it. It moves no relay.
import { Type } from 'typebox';
import type { InputName } from '../../../src/core/events/event.ts';
import type { EpisodeName } from '../alarms/alarm-memory.ts';
import { memoryOf } from '../alarms/alarms.ts';
import type { StepContext, VehicleModule } from '../kernel/module.ts';
import { restObjectionOf } from '../kernel/vehicle-rest.ts';
import { log, put, sensed } from '../kernel/vehicle-state.ts';
import { isDrained } from '../link/delivery.ts';
import { wantedState } from '../protection/command-record.ts';
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

/** Alarms during which the machine stays awake. A low battery and a lost position are none of them: a garage has no sky, and sleep saves the battery. */
const wakefulAlarms: readonly EpisodeName[] = [
  'engine',
  'motion',
  'tow',
  'cut',
  'jam',
  'suspect',
  'forced',
  'driving',
];
const wakefulInputs: readonly InputName[] = ['tamper', 'crash'];

/** Why the machine is not suspended now. Unknown is never a reason to sleep. */
function objectionOf(context: StepContext, afterMs: number): string | null {
  const { state } = context;
  const { phase, inFlight } = state.delivery;
  const rest = restObjectionOf(context, afterMs);
  if (rest !== null) return rest;
  if (wantedState(state.commands.record, 'enginecutoff') === '1') return 'the engine is cut off';
  const alarm =
    wakefulInputs.find((name) => sensed(state, name).value === true) ??
    memoryOf(state.alarms).on.find((name) => wakefulAlarms.includes(name));
  if (alarm !== undefined) return `an alarm is active: ${alarm}`;
  for (const module of context.modules) {
    const objection = module.wakefulness?.(state) ?? null;
    if (objection !== null) return objection;
  }
  if (phase.kind !== 'up' || !phase.welcomed) return 'there is no session with the broker';
  return state.pending.length > 0 || inFlight.length > 0 || !isDrained(state.delivery)
    ? 'stored events are not delivered yet'
    : null;
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
      objection: objectionOf(context, config.afterMs),
      startedMs: context.state.time.bootMonoMs,
      nowMs: context.now.monoMs,
    });
    put(context, { sleep: state });
    if (!isRequested) return;
    log(context, 'info', 'sleep_requested', { wakeS: config.wakeS });
    context.effects.push({ kind: 'sleep', seconds: config.wakeS });
  },
};
