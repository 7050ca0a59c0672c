// Joins the alarms to the vehicle: makes their input from the state, keeps their memory, records their reports. It
// only reports; it never affects a relay or a proof of standstill.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { AlarmInput, AlarmReport, Epoch } from '../alarms/alarm-types.ts';
import {
  type AlarmsStep,
  handlePulse,
  handleSky,
  memoryOf,
  type Pulse,
  stepAlarms,
} from '../alarms/alarms.ts';
import type { SkySentence } from '../gnss/nmea-sky.ts';
import { commitNow, log, put, record, type StepContext, sensed, type VehicleState } from './vehicle-state.ts';

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

function alarmInputOf(context: StepContext, epoch: Epoch | null): AlarmInput {
  const { state, now } = context;
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
    isReceiverOpen: ports.gnss.kind === 'open',
    epoch,
  };
}

function recordAlarm(context: StepContext, report: AlarmReport): void {
  const { name, atMs, attributes } = report;
  const draft = { statusCode: statusCodes[name].code, attributes };
  if (name !== 'LOCATION') log(context, 'info', 'alarm', { name, ...attributes });
  if (report.fix === undefined) record(context, draft, atMs);
  else record(context, draft, atMs, report.fix);
}

function adoptAlarms(context: StepContext, step: AlarmsStep): void {
  // In place before the events, so that one commit holds both.
  put(context, { alarms: step.state, memory: { ...context.state.memory, alarms: memoryOf(step.state) } });
  for (const report of step.reports) recordAlarm(context, report);
  if (step.isDip && context.state.pending.length > 0) commitNow(context, []);
}

/** One step of all alarms. Call it for each tick, epoch, contact and reading. */
export function watchVehicle(context: StepContext, cause: AlarmCause): void {
  const { alarms } = context.state;
  switch (cause.kind) {
    case 'time':
      return adoptAlarms(context, stepAlarms(alarms, alarmInputOf(context, null)));
    case 'epoch':
      return adoptAlarms(context, stepAlarms(alarms, alarmInputOf(context, cause.epoch)));
    case 'pulse':
      adoptAlarms(context, handlePulse(alarms, alarmInputOf(context, null), cause.pulse));
      // The way to an impact is worth as much as the impact.
      if (context.state.pending.length > 0) commitNow(context, []);
      return undefined;
  }
}

/** Sentences about the sky, before the epoch in which they arrived is checked. */
export function watchSky(context: StepContext, sentences: readonly SkySentence[]): void {
  if (sentences.length === 0) return;
  put(context, { alarms: handleSky(context.state.alarms, sentences, context.now.monoMs) });
}
