// The configuration in the vehicle: joins the machine of the two slots to settings, zones, events and the session. An
// applied configuration is active from the same step on; it cannot affect a relay, a command or the interlock.

import { decodeZones } from '../../../src/core/geo/zone-config.ts';
import type { Ack } from '../../../src/core/wire/wire.ts';
import { type SlotFiles, type SlotName } from '../config/config-record.ts';
import { activeRecord, stepConfig } from '../config/config-slots.ts';
import { type StartedConfig, startConfig } from '../config/config-start.ts';
import type { ConfigEffect, ConfigInput } from '../config/config-types.ts';
import { recordGrants } from './vehicle-guard.ts';
import { commitNow, log, put, record, type StepContext, stamp, type VehicleState } from './vehicle-state.ts';
import type { ReceivedConfig, VehicleConfig } from './vehicle-types.ts';

const token = 'config';

/** True for the commit of the event that a trial waits for. */
export const isConfigToken = (of: string): boolean => of === token;

/** What holds at the start. */
export function startVehicleConfig(files: SlotFiles, config: VehicleConfig, nowMs: number): StartedConfig {
  return startConfig(files, { nowMs, base: config.settings, decodeZones });
}

function perform(context: StepContext, effect: ConfigEffect): void {
  switch (effect.kind) {
    case 'write':
      context.effects.push({ kind: 'writeSlot', slot: effect.slot, bytes: effect.bytes });
      break;
    case 'apply': {
      const { settings, zones } = effect;
      const heartbeatMs = Math.min(
        context.state.heartbeatMs,
        context.now.monoMs + settings.reporting.heartbeatS * 1000,
      );
      put(context, { settings, heartbeatMs });
      put(context, { zoneCount: zones.length });
      recordGrants(context, zones);
      for (const module of context.modules) module.configured?.(context, zones);
      break;
    }
    case 'event':
      if (effect.isAwaited) commitNow(context, [stamp(context, effect.draft)], { token });
      else record(context, effect.draft);
      break;
    case 'log':
      log(context, effect.level, effect.event, effect.fields);
      break;
  }
}

function step(context: StepContext, input: ConfigInput): void {
  const given = { nowMs: context.now.monoMs, base: context.config.settings, decodeZones };
  const { state, effects } = stepConfig(context.state.config, input, given);
  put(context, { config: state });
  for (const effect of effects) perform(context, effect);
}

/** Does what the start left to do. */
export function beginConfig(context: StepContext): void {
  step(context, { kind: 'start' });
}

/** A configuration arrived. */
export function handleConfig(context: StepContext, received: ReceivedConfig): void {
  step(context, received);
}

/** The store has written a slot, or could not. */
export function handleSlotWritten(context: StepContext, slot: SlotName, fault: string | null): void {
  step(context, { kind: 'written', slot, fault });
}

/** The event that a trial waits for is durable, or the disk does not take it now. */
export function handleConfigStored(
  context: StepContext,
  event: { readonly durable: boolean; readonly seqs?: readonly number[] },
): void {
  // It is the last one of its commit.
  step(context, { kind: 'stored', seq: event.durable ? (event.seqs?.at(-1) ?? null) : null });
}

/** The broker has acknowledged events. */
export function handleConfigAck(context: StepContext, ack: Ack): void {
  if (ack.boot === context.config.boot) step(context, { kind: 'acked', ranges: ack.ranges });
}

/** Checks whether a trial has ended. */
export function watchConfig(context: StepContext): void {
  const { phase, acknowledged } = context.state.delivery;
  step(context, { kind: 'time', isUp: phase.kind === 'up', acknowledged });
}

/** Members of `hello` about the active configuration. */
export function configHello({ config }: VehicleState): {
  readonly configVersion: number;
  readonly configSha256?: string;
} {
  const held = activeRecord(config);
  return held === null ? { configVersion: 0 } : { configVersion: held.version, configSha256: held.sha256 };
}
