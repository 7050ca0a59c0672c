// Reports of the vehicle's own state as a module: a Diagnostic a minute after the start, then periodically, and the answers to
// requests of the broker (health, newest log lines, position). It reads nothing itself; readings arrive as events. It
// cannot move a relay or change a setting.

import type { AttributeValue } from '../../../src/core/events/event.ts';
import { type Priority, statusCodes } from '../../../src/core/events/status-codes.ts';
import { verdictAttributes } from '../../../src/core/verdict/verdict.ts';
import {
  type RehearsalKind,
  type RequestBody,
  rehearsedFeature,
} from '../../../src/core/wire/device-request.ts';
import type { StepContext, VehicleModule } from '../kernel/module.ts';
import { configHello } from '../kernel/vehicle-config.ts';
import { commitNow, evidenceOf, isOurs, log, put, stamp, vehicleLimits } from '../kernel/vehicle-state.ts';
import type { EventDraft } from '../protection/command-record.ts';
import { rehearse } from '../protection/commands.ts';
import { bestOrigin, latestUtcMs, upMsAt } from '../timekeeping.ts';
import { diagnosticOf, type UnitReading } from './diagnostic.ts';
import { cutExcerpt } from './log-excerpt.ts';
import {
  createRequests,
  judgeRequest,
  parseRequestRecord,
  type RequestRecord,
  type RequestsState,
  recordAnswered,
} from './requests.ts';

declare module '../kernel/module-slots.ts' {
  interface ModuleStates {
    /** Monotonic: of the start, of the newest Diagnostic, and of the reading that is awaited; null: none. */
    readonly diagnosis: {
      readonly startedMs: number;
      readonly reportedMs: number | null;
      readonly askedMs: number | null;
    };
    readonly requests: RequestsState;
  }
  interface ModuleRows {
    readonly requests: RequestRecord;
  }
  interface ModuleEvents {
    /** Verified, and acknowledged at once. */
    readonly request: { readonly body: RequestBody };
    /** What `readUnit` and `readLog` have read. */
    readonly unit: { readonly requestID: string | null; readonly reading: UnitReading };
    readonly excerpt: { readonly requestID: string; readonly text: string | null };
  }
  interface ModuleEffects {
    /** `requestID` null: scheduled, not requested. */
    readonly readUnit: { readonly requestID: string | null };
    readonly readLog: { readonly requestID: string };
  }
}

const limits = {
  /** After the start, when ports, receiver and link have had time to come up. */
  firstMs: 60_000,
  /** A reading that has not arrived by then is requested again. */
  readingMs: 30_000,
} as const;

/** Asks for what a Diagnostic needs when one is due. */
function watchDiagnosis(context: StepContext): void {
  const { diagnosis, settings } = context.state;
  const { monoMs } = context.now;
  const { startedMs, reportedMs, askedMs } = diagnosis;
  const dueMs =
    reportedMs === null ? startedMs + limits.firstMs : reportedMs + settings.diagnostics.diagnosticsS * 1000;
  if (monoMs < dueMs || (askedMs !== null && monoMs - askedMs < limits.readingMs)) return;
  put(context, { diagnosis: { ...diagnosis, askedMs: monoMs } });
  context.effects.push({ kind: 'readUnit', requestID: null });
}

/** The request that is being answered, which from now on counts as answered; null when it is no longer pending. */
function finish(context: StepContext, requestID: string): boolean {
  const { requests } = context.state;
  const reading = requests.reading[requestID];
  if (reading === undefined) return false;
  put(context, { requests: recordAnswered(requests, { requestID, issuedMs: reading.issuedMs }) });
  return true;
}

/** Commits an answer together with the record that the request is answered. */
function answer(context: StepContext, drafts: readonly EventDraft[], priority?: Priority): void {
  const events = drafts.map((draft) => {
    const stamped = stamp(context, draft);
    return priority === undefined ? stamped : { ...stamped, priority };
  });
  commitNow(context, events);
}

/** What the shell has read of unit and disk. @param requestID null when it was due by time. */
function handleReading(context: StepContext, requestID: string | null, reading: UnitReading): void {
  if (context.state.isStopping) return;
  if (requestID !== null && !finish(context, requestID)) return;
  const { state, config, now } = context;
  const attributes = diagnosticOf(
    {
      ...reading,
      agentVersion: config.agentVersion,
      upMs: upMsAt(state.time, now.monoMs),
      counts: state.counts,
      ports: { board: state.ports.board.kind, gnss: state.ports.gnss.kind },
      modbus: state.board.master.counters,
      fix: state.fix,
      nowMs: now.monoMs,
      trafficBytes: state.delivery.traffic.bytes,
      light: state.delivery.light,
      supplyVoltage: state.analogs.supplyVoltage,
      backupVoltage: state.analogs.backupVoltage,
      configVersion: configHello(state).configVersion,
      timeQuality: bestOrigin(state.time)?.quality ?? 'none',
    },
    requestID,
  );
  put(context, { diagnosis: { ...state.diagnosis, reportedMs: now.monoMs, askedMs: null } });
  answer(context, [{ statusCode: statusCodes.DIAGNOSTIC.code, attributes }]);
}

function refusal(requestID: string, of: string, reason: string): EventDraft {
  return {
    statusCode: statusCodes.DIAGNOSTIC.code,
    attributes: { kind: 'refused', requestID, of, reason },
  };
}

/**
 * The newest lines of the log, as logged. They are of the lowest class: they are the first to be dropped when space
 * or the data budget runs out.
 * @param text null when this unit keeps none.
 */
function handleExcerpt(context: StepContext, requestID: string, text: string | null): void {
  if (context.state.isStopping || !finish(context, requestID)) return;
  if (text === null) return answer(context, [refusal(requestID, 'log', 'this unit keeps no log')]);
  const chunks = cutExcerpt(text);
  const drafts = chunks.map((chunk, at): EventDraft => {
    const attributes = { kind: 'log', requestID, part: at + 1, parts: chunks.length, text: chunk };
    return { statusCode: statusCodes.DIAGNOSTIC.code, attributes };
  });
  answer(context, drafts, 3);
}

/**
 * Locate now: the last plausible fix and its age. A fresh one is in the event itself. An older one is in its attributes only: the
 * vehicle's position at the event's time is then unknown.
 */
function reportPosition(context: StepContext, requestID: string): void {
  const { fix, evidence } = context.state;
  const { suspectMs } = evidence.gnss;
  const ageMs = fix === null ? null : Math.max(0, context.now.monoMs - fix.atMonoMs);
  const isFresh = ageMs !== null && ageMs <= vehicleLimits.fixAgeMs;
  const isSuspect = suspectMs !== null && (fix === null || suspectMs > fix.atMonoMs);
  const attributes: Record<string, AttributeValue> = {
    kind: 'position',
    requestID,
    gps: fix === null ? 'none' : isFresh ? 'fix' : 'old',
    ...(ageMs === null ? {} : { fixAgeS: Math.round(ageMs / 1000) }),
    ...(fix === null || isFresh ? {} : { lastLatitude: fix.latitude, lastLongitude: fix.longitude }),
    ...(isSuspect ? { suspect: true } : {}),
  };
  // As urgent as an alarm: a thief may be sought, and the data budget may be at red.
  answer(context, [{ statusCode: statusCodes.QUERY.code, attributes }], 1);
}

const missingRelays = {
  enginecutoff: 'this unit has no engine cut-off',
  cargoaccess: 'this unit has no cargo lock',
} as const;

/**
 * Answers if an engine cut or an unlock of the cargo would be carried out now, by the one judge and the current evidence. It
 * changes nothing: a waiting command waits on, and no relay is ordered.
 */
function answerInterlock(context: StepContext, requestID: string, kind: RehearsalKind): void {
  const feature = rehearsedFeature(kind);
  if (context.config.profile.relays[feature] === undefined)
    return answer(context, [refusal(requestID, kind, missingRelays[feature])], 1);
  const verdict = rehearse(context.state.commands, feature, evidenceOf(context));
  const attributes = { kind, requestID, ...verdictAttributes(verdict) };
  // As urgent as an alarm: a person waits, and what it says is soon not true any more.
  answer(context, [{ statusCode: statusCodes.DIAGNOSTIC.code, attributes }], 1);
}

/** A verified request. It is acknowledged already: an unanswered one comes again on the next connect. */
function handleRequest(context: StepContext, body: RequestBody): void {
  const { requestID, kind } = body;
  if (!isOurs(context, body)) return log(context, 'error', 'request_not_for_this_boot', { requestID });
  const { monoMs } = context.now;
  const utc = latestUtcMs(context.state.time, monoMs);
  const verdict = judgeRequest(context.state.requests, body, { monoMs, latestUtcMs: utc });
  if (verdict.kind === 'ignore')
    return log(context, 'info', 'request_unanswered', { requestID, of: kind, reason: verdict.reason });
  put(context, { requests: verdict.state });
  if (verdict.kind === 'refuse') {
    log(context, 'warn', 'request_refused', { requestID, of: kind, reason: verdict.reason });
    return answer(context, [refusal(requestID, kind, verdict.reason)]);
  }
  log(context, 'info', 'request', { requestID, of: kind });
  switch (kind) {
    case 'diagnostic':
      return void context.effects.push({ kind: 'readUnit', requestID });
    case 'log':
      return void context.effects.push({ kind: 'readLog', requestID });
    case 'position':
      finish(context, requestID);
      return reportPosition(context, requestID);
    case 'interlock':
    case 'interlock_cargo':
      finish(context, requestID);
      return answerInterlock(context, requestID, kind);
  }
}

export const diagnosticModule: VehicleModule = {
  create: ({ rows, nowMs }) => ({
    diagnosis: { startedMs: nowMs, reportedMs: null, askedMs: null },
    requests: createRequests(parseRequestRecord(rows['requests'])),
  }),
  rows: ({ requests }) => ({ requests: requests.record }),
  on: {
    request: (context, { body }) => handleRequest(context, body),
    unit: (context, { requestID, reading }) => handleReading(context, requestID, reading),
    excerpt: (context, { requestID, text }) => handleExcerpt(context, requestID, text),
  },
  tick: watchDiagnosis,
};
