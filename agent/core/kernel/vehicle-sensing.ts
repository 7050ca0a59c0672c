// Turns the data of the board and the GNSS receiver into evidence and events. It never acts.
import type { InputName } from '../../../src/core/events/event.ts';
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { type BoardReportInput, stepBoardReport } from '../board/board-report.ts';
import type { BoardOutput } from '../board/board-types.ts';
import { type InputChange, stepInputs } from '../board/inputs.ts';
import { recordLoopbackInput } from '../board/loopback.ts';
import { recordVoid, recordFix as takeFixEvidence } from '../evidence/evidence.ts';
import { assembleEpochs, type EpochReport, type Fix, flushEpoch, recordBytes } from '../gnss/epochs.ts';
import { decodeNmea } from '../gnss/nmea.ts';
import { judgeFix } from '../gnss/plausibility.ts';
import { recordReport, recordSentences } from '../gnss/receiver-facts.ts';
import type { EventDraft } from '../protection/command-record.ts';
import { isPlausible, type ReportingProfile, stepReporting } from '../reporting.ts';
import { changeStatusCode } from '../sensor-events.ts';
import { fixReferenceUtcMs, offerGnssTime } from '../timekeeping.ts';
import { watchSky, watchVehicle } from './vehicle-alarms.ts';
import { watchEvidence } from './vehicle-evidence.ts';
import { factsOfSentences, recordGuardFact } from './vehicle-guard.ts';
import { putLoopback } from './vehicle-loopback.ts';
import { addCount, commitNow, log, put, record, type StepContext, stamp } from './vehicle-state.ts';

/** Handles inputs, analogs and state of the board; relays are in `vehicle-control.ts`. */
export function handleBoardOutputs(context: StepContext, outputs: readonly BoardOutput[]): void {
  for (const output of outputs) {
    switch (output.kind) {
      case 'write':
        context.effects.push({
          kind: 'writePort',
          port: 'board',
          bytes: output.bytes,
          permit: output.permit,
        });
        break;
      case 'inputs':
        senseInputs(context, { kind: 'sample', atMs: output.atMs, values: output.values });
        break;
      case 'analogs':
        put(context, {
          analogs: { ...context.state.analogs, ...output.values },
          analogsReadMs: { ...context.state.analogsReadMs, ...readAt(output.values, output.atMs) },
        });
        for (const module of context.modules) module.analogs?.(context, output.values);
        watchVehicle(context, { kind: 'time' });
        break;
      case 'loopback':
        putLoopback(context, recordLoopbackInput(context.state.loopback, output.on, output.atMs));
        break;
      case 'boardUp':
        put(context, { isBoardFresh: true });
        if (answersWhole(context)) reportBoard(context, 'answers', output.reason);
        break;
      case 'boardDown':
        put(context, { isBoardFresh: true, relaysReadMs: null, analogs: foreignAnalogs(context) });
        reportBoard(context, 'lost', output.reason);
        break;
      case 'problem':
        log(context, output.reason === null ? 'info' : 'error', 'board_profile', {
          profile: context.config.profile.name,
          place: output.place,
          problem: output.reason ?? 'none any more',
        });
        if (output.reason !== null) {
          const attributes = { part: 'board', place: output.place, reason: output.reason };
          record(context, { statusCode: statusCodes.INTERNAL_FAILURE.code, attributes });
        }
        break;
      case 'relays':
      case 'relayResult':
        break;
    }
  }
}

/** Values that outlive a lost board: the level of a separate sender. No witness does. */
function foreignAnalogs({ state, config }: StepContext): StepContext['state']['analogs'] {
  const { fuel } = state.analogs;
  return config.profile.analogs.fuel !== undefined || fuel === undefined ? {} : { fuel };
}

function readAt(values: object, atMs: number): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.keys(values).map((name) => [name, atMs]));
}

/** All units of the board answer; one that was not asked yet does not. */
function answersWhole({ state }: StepContext): boolean {
  return Object.values(state.board.units).every(({ isUp }) => isUp === true);
}

/** Records that the board, or a unit of it, was lost or is back; `board-report.ts` decides what is reported. */
export function reportBoard(context: StepContext, kind: 'lost' | 'answers', reason: string): void {
  const before = context.state.boardReport;
  stepReport(context, { kind, atMs: context.now.monoMs, reason });
  // Only the first loss and the first return are logged; a bus that flaps would fill the log.
  if (before.isLost === (kind === 'lost') || context.state.boardReport.losses > 1) return;
  log(context, kind === 'lost' ? 'warn' : 'info', kind === 'lost' ? 'board_lost' : 'board_answers', {
    reason,
  });
}

/** Reports the return of the board once it has lasted. */
export function reportBoardReturn(context: StepContext): void {
  stepReport(context, { kind: 'time', atMs: context.now.monoMs });
}

function stepReport(context: StepContext, input: BoardReportInput): void {
  const { state, report } = stepBoardReport(context.state.boardReport, input);
  put(context, { boardReport: state });
  if (report === null) return;
  const isLost = report.kind === 'lost';
  put(context, { memory: { ...context.state.memory, isBoardLost: isLost } });
  const status = isLost ? statusCodes.BOARD_LOST : statusCodes.BOARD_RESTORED;
  const attributes = isLost
    ? { reason: report.reason }
    : {
        losses: report.losses,
        ...(report.lostForMs === null ? {} : { lostS: Math.round(report.lostForMs / 1000) }),
      };
  record(context, { statusCode: status.code, attributes }, report.atMs);
}

type Sample = Parameters<typeof stepInputs<InputName>>[1];

/** Debounces, and reports every change. */
export function senseInputs(context: StepContext, input: Sample): void {
  const { state, changes } = stepInputs(context.state.inputs, input);
  put(context, { inputs: state });
  for (const change of changes) reportInput(context, change);
  watchEvidence(context);
}

function reportInput(context: StepContext, change: InputChange<InputName>): void {
  const { signal, reading, sinceMs } = change;
  if (reading === 'unknown') return log(context, 'warn', 'input_unknown', { input: signal });
  const { memory } = context.state;
  const value = reading === 'on';
  const before = memory.inputs[signal] ?? null;
  const statusCode = changeStatusCode(signal, before, value);
  log(context, 'info', 'input', { input: signal, on: value });
  if (before === value) return;
  put(context, { memory: { ...memory, inputs: { ...memory.inputs, [signal]: value } } });
  if (statusCode !== null) commitNow(context, [stamp(context, { statusCode }, sinceMs)]);
  if (value && (signal === 'crash' || signal === 'personEnter' || signal === 'personExit'))
    watchVehicle(context, { kind: 'pulse', pulse: { contact: signal, atMs: sinceMs } });
}

/** Bytes of the GNSS receiver; true when a sentence with a sound checksum was completed. */
export function handleGnssBytes(context: StepContext, bytes: Uint8Array): boolean {
  const atMs = context.now.monoMs;
  const decoded = decodeNmea(context.state.nmea, bytes);
  let epochs = recordBytes(context.state.epochs, atMs);
  const reports: EpochReport[] = [];
  for (const sentence of decoded.sentences) {
    const step = assembleEpochs(epochs, sentence, atMs);
    epochs = step.state;
    reports.push(...step.reports);
  }
  const receiver = recordSentences(context.state.receiver, decoded.sentences, atMs);
  put(context, { nmea: decoded.state, epochs, receiver });
  for (const fact of factsOfSentences(decoded.sentences, atMs)) recordGuardFact(context, fact);
  watchSky(context, decoded.sky);
  addCount(
    context,
    'nmeaRejected',
    Object.values(decoded.rejected).reduce((sum, lines) => sum + lines, 0),
  );
  for (const report of reports) handleReport(context, report);
  return decoded.sentences.length + decoded.sky.length + decoded.ignored > 0;
}

/** Ends an epoch by silence when it is due. */
export function flushGnss(context: StepContext): void {
  const { state, reports } = flushEpoch(context.state.epochs, context.now.monoMs);
  put(context, { epochs: state });
  for (const report of reports) handleReport(context, report);
}

function handleReport(context: StepContext, report: EpochReport): void {
  put(context, { receiver: recordReport(context.state.receiver, report) });
  if (report.kind === 'void') {
    put(context, { evidence: recordVoid(context.state.evidence, report) });
    watchEvidence(context);
    return watchVehicle(context, { kind: 'epoch', epoch: { kind: 'void', atMs: report.atMonoMs } });
  }
  const judged = judgeFix(context.state.plausibility, report.fix);
  const atMs = context.now.monoMs;
  const now = { atMs, utcMs: fixReferenceUtcMs(context.state.time, atMs) };
  put(context, {
    plausibility: judged.state,
    evidence: takeFixEvidence(context.state.evidence, judged.fix, now),
    fixes: context.state.fixes + 1,
  });
  recordFix(context, judged.fix);
  watchEvidence(context);
  // Waiting changes are decided now: a fix proves this moment only.
  const { commands, relays } = context.state;
  if (Object.keys(commands.record.active).length > 0 || Object.keys(relays.watch).length > 0)
    put(context, { tickMs: atMs });
  const kind = isPlausible(judged.fix) ? 'fix' : 'doubtful';
  watchVehicle(context, { kind: 'epoch', epoch: { kind, fix: judged.fix } });
}

/** Current saving: the battery first, then a costly link. */
function profileOf({ state }: StepContext): ReportingProfile {
  const { power } = state.alarms;
  // A supply that was cut is no reason to report less: it may be a thief at work.
  if (power.supply.isOn || power.backup.isOn) return 'low-battery';
  return state.isRoaming || state.delivery.light !== 'green' ? 'roaming' : 'home';
}

/** What modules add to a position or heartbeat. */
export function attributesOf(
  context: StepContext,
  of: 'position' | 'heartbeat',
): Pick<EventDraft, 'attributes'> {
  let attributes: EventDraft['attributes'];
  for (const module of context.modules) {
    const given = module.attributes?.(context, of) ?? null;
    if (given !== null) attributes = { ...attributes, ...given };
  }
  return attributes === undefined ? {} : { attributes };
}

function recordFix(context: StepContext, fix: Fix): void {
  if (fix.utcMs !== null && fix.doubts.length === 0) {
    const time = offerGnssTime(context.state.time, { monoMs: fix.atMonoMs, utcMs: fix.utcMs });
    put(context, { time });
  }
  if (!isPlausible(fix)) return;
  put(context, { fix });
  for (const module of context.modules) module.fix?.(context, fix);
  const settings = context.state.settings.reporting;
  const step = stepReporting(context.state.reporting, fix, { settings, profile: profileOf(context) });
  put(context, { reporting: step.state });
  for (const report of step.reports) {
    const draft: EventDraft = { statusCode: statusCodes.LOCATION.code, ...attributesOf(context, 'position') };
    record(context, draft, report.atMonoMs, report);
  }
}
