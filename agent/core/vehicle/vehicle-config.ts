// The configuration in the vehicle: joins the machine of the two slots to settings, zones, events and the session. What is
// applied counts from the same step on; nothing here can reach a relay, a command or the interlock.
import type { Ack } from '../../../src/core/wire.ts';
import { type SlotFiles, type SlotName } from '../config/config-record.ts';
import { activeRecord, stepConfig } from '../config/config-slots.ts';
import { type StartedConfig, startConfig } from '../config/config-start.ts';
import type { ConfigEffect, ConfigInput } from '../config/config-types.ts';
import { applyZones, decodeZones } from '../config/config-zones.ts';
import {
  commitNow,
  log,
  put,
  record,
  stamp,
  type VehicleConfig,
  type VehicleState,
  type Work,
} from './vehicle-state.ts';

/** A configuration as the session hands it on: signed for this vehicle and boot, put together, unpacked or not. */
export type ReceivedConfig = Extract<ConfigInput, { kind: 'received' | 'refused' }>;

const token = 'config';

/** True for the commit of the event that a trial waits for. */
export const isConfigToken = (of: string): boolean => of === token;

/** What holds at the start. */
export function startVehicleConfig(files: SlotFiles, config: VehicleConfig, nowMs: number): StartedConfig {
  return startConfig(files, { nowMs, base: config.settings, decodeZones });
}

function perform(work: Work, effect: ConfigEffect): void {
  switch (effect.kind) {
    case 'write':
      work.effects.push({ kind: 'writeSlot', slot: effect.slot, bytes: effect.bytes });
      break;
    case 'apply': {
      const { settings, zones } = effect;
      const heartbeatMs = Math.min(
        work.state.heartbeatMs,
        work.now.monoMs + settings.reporting.heartbeatS * 1000,
      );
      put(work, { settings, heartbeatMs });
      applyZones(work, zones);
      break;
    }
    case 'event':
      if (effect.isAwaited) commitNow(work, [stamp(work, effect.draft)], { token });
      else record(work, effect.draft);
      break;
    case 'log':
      log(work, effect.level, effect.event, effect.fields);
      break;
  }
}

function step(work: Work, input: ConfigInput): void {
  const given = { nowMs: work.now.monoMs, base: work.config.settings, decodeZones };
  const { state, effects } = stepConfig(work.state.config, input, given);
  put(work, { config: state });
  for (const effect of effects) perform(work, effect);
}

/** Does what the start left to do. */
export function beginConfig(work: Work): void {
  step(work, { kind: 'start' });
}

/** A configuration came. */
export function takeConfig(work: Work, received: ReceivedConfig): void {
  step(work, received);
}

/** The store has written a slot, or could not. */
export function noteSlot(work: Work, slot: SlotName, fault: string | null): void {
  step(work, { kind: 'written', slot, fault });
}

/** The event that a trial waits for is durable, or the disk does not take it now. */
export function noteConfigStored(
  work: Work,
  event: { readonly durable: boolean; readonly seqs?: readonly number[] },
): void {
  // It is the last one of its commit.
  step(work, { kind: 'stored', seq: event.durable ? (event.seqs?.at(-1) ?? null) : null });
}

/** The broker has acknowledged events. */
export function noteConfigAck(work: Work, ack: Ack): void {
  if (ack.boot === work.config.boot) step(work, { kind: 'acked', ranges: ack.ranges });
}

/** Looks whether a trial is over. */
export function watchConfig(work: Work): void {
  const { phase, acknowledged } = work.state.delivery;
  step(work, { kind: 'time', isUp: phase.kind === 'up', acknowledged });
}

/** What `hello` says of the configuration that holds. */
export function configHello({ config }: VehicleState): {
  readonly configVersion: number;
  readonly configSha256?: string;
} {
  const held = activeRecord(config);
  return held === null ? { configVersion: 0 } : { configVersion: held.version, configSha256: held.sha256 };
}
