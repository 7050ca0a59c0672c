// One-time codes at the vehicle, from the push button or the local socket. A right code requests the restore of the
// engine, by the same machine as every other command, and has no other effect.

import { readingOf } from '../board/inputs.ts';
import type { ServiceRecord } from '../protection/command-record.ts';
import {
  type ServiceEntryPoint,
  serviceLimits,
  serviceRecordFor,
  tryServiceCode,
} from '../protection/service-code.ts';
import { createEntry, stepEntry } from '../protection/service-entry.ts';
import { chirp, chirpMs } from '../protection/warning.ts';
import { requestLocal } from './vehicle-control.ts';
import { commitNow, log, put, type StepContext, stamp } from './vehicle-state.ts';
import type { ServiceState } from './vehicle-types.ts';

export function createService(record: ServiceRecord | undefined, nowMs: number): ServiceState {
  const lockedUntilMs = record?.isLocked === true ? nowMs + serviceLimits.lockMs : null;
  return { entry: createEntry(), lockedUntilMs, last: null };
}

function keepRecord(context: StepContext, service: ServiceRecord): void {
  const { commands } = context.state;
  put(context, { commands: { ...commands, record: { ...commands.record, service } } });
}

function answer(context: StepContext, ms: number): void {
  put(context, { warning: chirp(context.state.warning, ms, context.now.monoMs) });
}

/** One try, from any entry point. Each is an event; a right one restores the engine. */
export function handleServiceCode(context: StepContext, code: string, way: ServiceEntryPoint): void {
  const { serviceCodes } = context.config;
  if (serviceCodes === undefined) {
    const words = 'this unit has no device secret to make codes from';
    put(context, { service: { ...context.state.service, last: { isRight: false, words } } });
    return log(context, 'warn', 'service_code', { way, words });
  }
  const before = serviceRecordFor(context.state.commands.record.service, serviceCodes);
  const tried = tryServiceCode(before, serviceCodes, { code, way });
  const { isRight, words } = tried;
  const isNewLock = tried.record.isLocked && !before.isLocked;
  const lockedUntilMs = isNewLock
    ? context.now.monoMs + serviceLimits.lockMs
    : context.state.service.lockedUntilMs;
  // In the record before the restore is asked for: the commit that holds the command holds the used code as well.
  keepRecord(context, tried.record);
  put(context, { service: { ...context.state.service, lockedUntilMs, last: { isRight, words } } });
  log(context, isRight ? 'info' : 'warn', 'service_code', { way, isRight, words });
  answer(context, isRight ? chirpMs.right : chirpMs.wrong);
  if (isRight)
    requestLocal(context, {
      feature: 'enginecutoff',
      state: '0',
      source: 'service',
      reason: `restored at the vehicle with a one-time code (${way})`,
    });
  commitNow(context, [stamp(context, tried.draft)], { record: true });
}

function endLock(context: StepContext): void {
  const { service, commands } = context.state;
  if (service.lockedUntilMs === null || context.now.monoMs < service.lockedUntilMs) return;
  put(context, { service: { ...service, lockedUntilMs: null } });
  const { service: kept } = commands.record;
  if (kept === undefined) return;
  keepRecord(context, { ...kept, isLocked: false, wrong: 0 });
  commitNow(context, [], { record: true });
}

/** One step of the service button and the lock; call it in every step. */
export function watchService(context: StepContext): void {
  endLock(context);
  const { service, inputs } = context.state;
  const { state: entry, result } = stepEntry(service.entry, readingOf(inputs, 'service'), context.now.monoMs);
  if (entry !== service.entry) put(context, { service: { ...context.state.service, entry } });
  if (result === null) return;
  if (result.kind === 'code') return handleServiceCode(context, result.code, 'input');
  answer(context, result.kind === 'taken' ? chirpMs.taken : chirpMs.wrong);
}
