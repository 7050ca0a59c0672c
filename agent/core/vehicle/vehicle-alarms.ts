// Joins the alarms to the vehicle: makes the scene of what is known, keeps their memory, records what they tell. It only
// reports; no relay and no proof of standstill ever comes from here.
import { statusCodes } from '../../../src/core/status-codes.ts';
import { type AlarmsStep, hearSky, memoryOf, type Pulse, stepAlarms, takePulse } from '../alarms/alarms.ts';
import type { Epoch, Scene, Told } from '../alarms/scene.ts';
import type { SkySentence } from '../gnss/nmea-sky.ts';
import { commitNow, log, put, record, sensed, type VehicleState, type Work } from './vehicle-state.ts';

/** What brought the step about. */
export type AlarmCause =
  | { readonly kind: 'time' }
  | { readonly kind: 'epoch'; readonly epoch: Epoch }
  | { readonly kind: 'pulse'; readonly pulse: Pulse };

/** A lock reads 1 while cargo access is allowed; null where none is fitted or it was not read. */
function cargoLock(state: VehicleState): boolean | null {
  const reading = state.relays.readings.cargoaccess;
  return reading === undefined || state.relaysReadMs === null ? null : !reading.on;
}

function sceneOf(work: Work, epoch: Epoch | null): Scene {
  const { state, now } = work;
  const { analogs, delivery, ports } = state;
  return {
    nowMs: now.monoMs,
    settings: state.settings.alarms,
    ignition: sensed(state, 'ignition'),
    motion: sensed(state, 'motion'),
    externalPower: sensed(state, 'externalPower').value,
    cabinDoor: sensed(state, 'cabinDoor').value,
    cargoDoor: sensed(state, 'cargoDoor').value,
    isCargoLocked: cargoLock(state),
    supplyV: analogs.supplyVoltage ?? null,
    backupV: analogs.backupVoltage ?? null,
    rpm: analogs.rpm ?? null,
    passengers: analogs.passengers ?? null,
    isLinkUp: delivery.phase.kind === 'up' && delivery.phase.welcomed,
    isReceiverHeard: ports.gnss.kind === 'open',
    epoch,
  };
}

function tell(work: Work, told: Told): void {
  const { name, atMs, attributes } = told;
  const draft = { statusCode: statusCodes[name].code, attributes };
  if (name !== 'LOCATION') log(work, 'info', 'alarm', { name, ...attributes });
  if (told.fix === undefined) record(work, draft, atMs);
  else record(work, draft, atMs, told.fix);
}

function take(work: Work, step: AlarmsStep): void {
  // In place before the events, so that one commit holds both.
  put(work, { alarms: step.state, memory: { ...work.state.memory, alarms: memoryOf(step.state) } });
  for (const told of step.told) tell(work, told);
  if (step.isDip && work.state.pending.length > 0) commitNow(work, []);
}

/** Looks at everything that an alarm may come from. Call it for each tick, epoch, contact and reading. */
export function watchVehicle(work: Work, cause: AlarmCause): void {
  const { alarms } = work.state;
  switch (cause.kind) {
    case 'time':
      return take(work, stepAlarms(alarms, sceneOf(work, null)));
    case 'epoch':
      return take(work, stepAlarms(alarms, sceneOf(work, cause.epoch)));
    case 'pulse':
      take(work, takePulse(alarms, sceneOf(work, null), cause.pulse));
      // The way to an impact is worth as much as the impact.
      if (work.state.pending.length > 0) commitNow(work, []);
      return undefined;
  }
}

/** Sentences about the sky, before the epoch in which they came is judged. */
export function watchSky(work: Work, sentences: readonly SkySentence[]): void {
  if (sentences.length === 0) return;
  put(work, { alarms: hearSky(work.state.alarms, sentences, work.now.monoMs) });
}
