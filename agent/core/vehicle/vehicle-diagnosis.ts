// What the vehicle tells of itself: a Diagnostic a minute after the start, then now and then, and the answers to requests of
// the broker (health, newest log lines, position). It reads nothing itself; the shell hands the readings in. Nothing here
// can move a relay or change a setting.
import type { RequestBody } from '../../../src/core/device-request.ts';
import type { AttributeValue } from '../../../src/core/event.ts';
import { type Priority, statusCodes } from '../../../src/core/status-codes.ts';
import { judgeRequest, noteAnswered } from '../link/requests.ts';
import type { EventDraft } from '../protection/command-record.ts';
import { diagnosticOf, noCounts, type UnitCounts, type UnitReading } from '../status/diagnostic.ts';
import { cutExcerpt } from '../status/log-excerpt.ts';
import { bestOrigin, latestUtcMs, upMsAt } from '../timekeeping.ts';
import { configHello } from './vehicle-config.ts';
import { commitNow, log, type PortName, put, stamp, vehicleLimits, type Work } from './vehicle-state.ts';

const limits = {
  /** After the start, when ports, receiver and link have had time to come up. */
  firstMs: 60_000,
  /** A reading that did not come by then is asked for anew. */
  readingMs: 30_000,
} as const;

export type DiagnosisEvent =
  /** Verified, and acknowledged at once. */
  | { readonly kind: 'request'; readonly body: RequestBody }
  /** What `readUnit` and `readLog` have read. */
  | { readonly kind: 'unit'; readonly requestID: string | null; readonly reading: UnitReading }
  | { readonly kind: 'excerpt'; readonly requestID: string; readonly text: string | null };

export type DiagnosisEffect =
  /** `requestID` null: nobody asked, it was due. */
  | { readonly kind: 'readUnit'; readonly requestID: string | null }
  | { readonly kind: 'readLog'; readonly requestID: string };

export interface DiagnosisState {
  /** Monotonic: of the start, of the newest Diagnostic, and of the reading that is awaited; null: none. */
  readonly startedMs: number;
  readonly toldMs: number | null;
  readonly askedMs: number | null;
  readonly counts: UnitCounts;
}

export function createDiagnosis(nowMs: number): DiagnosisState {
  return { startedMs: nowMs, toldMs: null, askedMs: null, counts: noCounts };
}

/** Counts for the next Diagnostic. */
export function noteCount(work: Work, name: keyof UnitCounts, more = 1): void {
  const { diagnosis } = work.state;
  if (more === 0) return;
  const counts = { ...diagnosis.counts, [name]: diagnosis.counts[name] + more };
  put(work, { diagnosis: { ...diagnosis, counts } });
}

const lossOf = { board: 'boardLosses', gnss: 'gnssLosses' } as const satisfies Record<PortName, string>;

/** A serial port that worked was lost. */
export function noteLoss(work: Work, port: PortName): void {
  noteCount(work, lossOf[port]);
}

/** Asks for what a Diagnostic needs when one is due. */
export function watchDiagnosis(work: Work): void {
  const { diagnosis, settings } = work.state;
  const { monoMs } = work.now;
  const { startedMs, toldMs, askedMs } = diagnosis;
  const dueMs =
    toldMs === null ? startedMs + limits.firstMs : toldMs + settings.diagnostics.diagnosticsS * 1000;
  if (monoMs < dueMs || (askedMs !== null && monoMs - askedMs < limits.readingMs)) return;
  put(work, { diagnosis: { ...diagnosis, askedMs: monoMs } });
  work.effects.push({ kind: 'readUnit', requestID: null });
}

/** The request that is being answered, which from now on counts as answered; null when it is none of ours any more. */
function finish(work: Work, requestID: string): boolean {
  const { requests } = work.state;
  const reading = requests.reading[requestID];
  if (reading === undefined) return false;
  put(work, { requests: noteAnswered(requests, { requestID, issuedMs: reading.issuedMs }) });
  return true;
}

/** Commits an answer together with the note that the request is answered. */
function answer(work: Work, drafts: readonly EventDraft[], priority?: Priority): void {
  const events = drafts.map((draft) => {
    const stamped = stamp(work, draft);
    return priority === undefined ? stamped : { ...stamped, priority };
  });
  commitNow(work, events, { requests: true });
}

/** What the shell has read of unit and disk. @param requestID null when it was due by time. */
function takeReading(work: Work, requestID: string | null, reading: UnitReading): void {
  if (work.state.isStopping) return;
  if (requestID !== null && !finish(work, requestID)) return;
  const { state, config, now } = work;
  const attributes = diagnosticOf(
    {
      ...reading,
      agentVersion: config.agentVersion,
      upMs: upMsAt(state.time, now.monoMs),
      counts: state.diagnosis.counts,
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
  put(work, { diagnosis: { ...state.diagnosis, toldMs: now.monoMs, askedMs: null } });
  const draft: EventDraft = { statusCode: statusCodes.DIAGNOSTIC.code, attributes };
  if (requestID === null) return commitNow(work, [stamp(work, draft)]);
  answer(work, [draft]);
}

function refusal(requestID: string, of: string, reason: string): EventDraft {
  return {
    statusCode: statusCodes.DIAGNOSTIC.code,
    attributes: { kind: 'refused', requestID, of, reason },
  };
}

/**
 * The newest lines of the log, as logged. They are of the lowest class: they give way to everything else when room or the
 * data budget runs out. @param text null when this unit keeps none.
 */
function takeExcerpt(work: Work, requestID: string, text: string | null): void {
  if (work.state.isStopping || !finish(work, requestID)) return;
  if (text === null) return answer(work, [refusal(requestID, 'log', 'this unit keeps no log')]);
  const chunks = cutExcerpt(text);
  const drafts = chunks.map((chunk, at): EventDraft => {
    const attributes = { kind: 'log', requestID, part: at + 1, parts: chunks.length, text: chunk };
    return { statusCode: statusCodes.DIAGNOSTIC.code, attributes };
  });
  answer(work, drafts, 3);
}

/**
 * Locate now: the last believable fix and its age. A fresh one stands in the event itself; an older one in its attributes
 * only, because the event says where the vehicle is at its time, and nobody knows that then.
 */
function tellPosition(work: Work, requestID: string): void {
  const { fix, evidence } = work.state;
  const { suspectMs } = evidence.gnss;
  const ageMs = fix === null ? null : Math.max(0, work.now.monoMs - fix.atMonoMs);
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
  // As urgent as an alarm: it may be a thief who is looked for, and the data budget may be at red.
  answer(work, [{ statusCode: statusCodes.QUERY.code, attributes }], 1);
}

/** A verified request. It is acknowledged already: what is not answered comes again on the next connect. */
function takeRequest(work: Work, body: RequestBody): void {
  const { accountID, deviceID, boot } = work.config;
  const { requestID, kind } = body;
  if (body.accountID !== accountID || body.deviceID !== deviceID || body.boot !== boot)
    return log(work, 'error', 'request for another vehicle or boot', { requestID });
  const { monoMs } = work.now;
  const utc = latestUtcMs(work.state.time, monoMs);
  const verdict = judgeRequest(work.state.requests, body, { monoMs, latestUtcMs: utc });
  if (verdict.kind === 'ignore')
    return log(work, 'info', 'request not answered', { requestID, of: kind, reason: verdict.reason });
  put(work, { requests: verdict.state });
  if (verdict.kind === 'refuse') {
    log(work, 'warn', 'request refused', { requestID, of: kind, reason: verdict.reason });
    return answer(work, [refusal(requestID, kind, verdict.reason)]);
  }
  log(work, 'info', 'request', { requestID, of: kind });
  switch (kind) {
    case 'diagnostic':
      return void work.effects.push({ kind: 'readUnit', requestID });
    case 'log':
      return void work.effects.push({ kind: 'readLog', requestID });
    case 'position':
      finish(work, requestID);
      return tellPosition(work, requestID);
  }
}

/** A request, or what was read for one. */
export function takeDiagnosis(work: Work, event: DiagnosisEvent): void {
  switch (event.kind) {
    case 'request':
      return takeRequest(work, event.body);
    case 'unit':
      return takeReading(work, event.requestID, event.reading);
    case 'excerpt':
      return takeExcerpt(work, event.requestID, event.text);
  }
}
