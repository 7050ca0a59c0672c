// The service way into the vehicle: codes from the push button or the local socket, judged and obeyed. A right code asks
// for the engine to be restored, by the same machine as every other command; nothing else can come of it.

import { readingOf } from '../board/inputs.ts';
import type { ServiceRecord } from '../protection/command-record.ts';
import {
  type ServiceWay,
  serviceLimits,
  serviceRecordFor,
  tryServiceCode,
} from '../protection/service-code.ts';
import { createEntry, type EntryState, stepEntry } from '../protection/service-entry.ts';
import { chirp, chirpMs } from '../protection/warning.ts';
import { requestLocal } from './vehicle-control.ts';
import { commitNow, log, put, stamp, type Work } from './vehicle-state.ts';

/** What is going on with codes just now; what must survive stands in the command record. */
export interface ServiceState {
  readonly entry: EntryState;
  /** The lock ends then (monotonic); null while there is none. A restart begins the hour anew. */
  readonly lockedUntilMs: number | null;
  /** What came of the last try, for the person who made it. */
  readonly last: { readonly isRight: boolean; readonly words: string } | null;
}

export function createService(record: ServiceRecord | undefined, nowMs: number): ServiceState {
  const lockedUntilMs = record?.isLocked === true ? nowMs + serviceLimits.lockMs : null;
  return { entry: createEntry(), lockedUntilMs, last: null };
}

function keepRecord(work: Work, service: ServiceRecord): void {
  const { commands } = work.state;
  put(work, { commands: { ...commands, record: { ...commands.record, service } } });
}

function answer(work: Work, ms: number): void {
  put(work, { warning: chirp(work.state.warning, ms, work.now.monoMs) });
}

/** One try, from wherever it came. Each is an event; a right one restores the engine. */
export function takeServiceCode(work: Work, code: string, way: ServiceWay): void {
  const { serviceCodes } = work.config;
  if (serviceCodes === undefined) {
    const words = 'this unit has no device secret to make codes from';
    put(work, { service: { ...work.state.service, last: { isRight: false, words } } });
    return log(work, 'warn', 'service code', { way, words });
  }
  const before = serviceRecordFor(work.state.commands.record.service, serviceCodes);
  const tried = tryServiceCode(before, serviceCodes, { code, way });
  const { isRight, words } = tried;
  const isNewLock = tried.record.isLocked && !before.isLocked;
  const lockedUntilMs = isNewLock ? work.now.monoMs + serviceLimits.lockMs : work.state.service.lockedUntilMs;
  // In the record before the restore is asked for: the commit that holds the command holds the used code as well.
  keepRecord(work, tried.record);
  put(work, { service: { ...work.state.service, lockedUntilMs, last: { isRight, words } } });
  log(work, isRight ? 'info' : 'warn', 'service code', { way, isRight, words });
  answer(work, isRight ? chirpMs.right : chirpMs.wrong);
  if (isRight)
    requestLocal(work, {
      feature: 'enginecutoff',
      state: '0',
      source: 'service',
      reason: `restored at the vehicle with a one-time code (${way})`,
    });
  commitNow(work, [stamp(work, tried.draft)], { record: true });
}

function endLock(work: Work): void {
  const { service, commands } = work.state;
  if (service.lockedUntilMs === null || work.now.monoMs < service.lockedUntilMs) return;
  put(work, { service: { ...service, lockedUntilMs: null } });
  const { service: kept } = commands.record;
  if (kept === undefined) return;
  keepRecord(work, { ...kept, isLocked: false, wrong: 0 });
  commitNow(work, [], { record: true });
}

/** Looks at the service button and at the lock; call it in every step. */
export function watchService(work: Work): void {
  endLock(work);
  const { service, inputs } = work.state;
  const { state: entry, news } = stepEntry(service.entry, readingOf(inputs, 'service'), work.now.monoMs);
  if (entry !== service.entry) put(work, { service: { ...work.state.service, entry } });
  if (news === null) return;
  if (news.kind === 'code') return takeServiceCode(work, news.code, 'input');
  answer(work, news.kind === 'taken' ? chirpMs.taken : chirpMs.wrong);
}
