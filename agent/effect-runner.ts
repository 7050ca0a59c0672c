// Runs the effects of the vehicle's core, one at a time, and dispatches the outcome of each.

import { messageOf } from '../src/core/errors.ts';
import type { EffectContext } from './agent-module.ts';
import { type VehicleEffect, type VehicleEvent } from './core/kernel/vehicle-events.ts';
import { agentModules } from './modules.ts';
import type { ConfigStore } from './ports.ts';
import type { createSerialPorts } from './serial-ports.ts';
import type { createSession } from './session.ts';

type SlotEffect = Extract<VehicleEffect, { kind: 'writeSlot' }>;

/** Writes a configuration slot and dispatches the outcome. */
async function writeSlot(
  store: ConfigStore,
  { slot, bytes }: SlotEffect,
  dispatch: (event: VehicleEvent) => void,
): Promise<void> {
  let fault: string | null = null;
  try {
    await store.write(slot, bytes);
  } catch (thrown) {
    fault = messageOf(thrown);
  }
  dispatch({ kind: 'slotWritten', slot, fault });
}

type Performer = (effect: VehicleEffect, context: EffectContext) => void;

/** Of the modules, by the kind of effect; each takes the effects of its own kind. */
const modulePerformers = new Map(
  agentModules.flatMap(({ perform = {} }) => Object.entries(perform) as [string, Performer][]),
);

interface EffectDeps extends EffectContext {
  readonly serial: ReturnType<typeof createSerialPorts>;
  readonly session: ReturnType<typeof createSession>;
}

/** The function that runs one effect. */
export function createEffectRunner(deps: EffectDeps) {
  const { ports, outbox, serial, session, commits, dispatch } = deps;
  const { log } = ports;
  return (effect: VehicleEffect): void => {
    const { kind } = effect;
    switch (effect.kind) {
      case 'openPort':
        return serial.open(effect.port);
      case 'closePort':
        return serial.close(effect.port);
      case 'writePort':
        return serial.write(effect.port, effect.bytes);
      case 'commit':
        return commits.add(effect);
      case 'acknowledge':
        return session.acknowledge(effect.receipt);
      case 'writeSlot':
        return void writeSlot(ports.configSlots, effect, dispatch);
      case 'delivery':
        return session.perform(effect.effect);
      case 'origin':
        return void outbox.setOrigin(effect.originMs, effect.quality).catch((thrown: unknown) => {
          log.warn('clock_origin_not_stored', { reason: messageOf(thrown) });
        });
      case 'log':
        return log[effect.level](effect.event, effect.fields);
      default:
        return modulePerformers.get(kind)?.(effect, deps);
    }
  };
}
