// What the vehicle learns from its board and its GNSS receiver, turned into evidence and events. It never acts.
import type { InputName } from '../../../src/core/event.ts';
import { statusCodes } from '../../../src/core/status-codes.ts';
import { type BoardNewsInput, stepBoardNews } from '../board/board-news.ts';
import type { BoardOutput } from '../board/board-types.ts';
import { type InputChange, stepInputs } from '../board/inputs.ts';
import { takeFix as takeFixEvidence, takeVoid } from '../evidence/evidence.ts';
import { assembleEpochs, type EpochReport, type Fix, flushEpoch, noteBytes } from '../gnss/epochs.ts';
import { decodeNmea } from '../gnss/nmea.ts';
import { judgeFix } from '../gnss/plausibility.ts';
import { isBelievable, type ReportingProfile, stepReporting } from '../reporting.ts';
import { changeStatusCode } from '../sensor-events.ts';
import { offerGnssTime } from '../timekeeping.ts';
import { watchSky, watchVehicle } from './vehicle-alarms.ts';
import { noteCount } from './vehicle-diagnosis.ts';
import { watchEvidence } from './vehicle-evidence.ts';
import { watchFuel } from './vehicle-fuel.ts';
import { commitNow, log, put, record, stamp, type Work } from './vehicle-state.ts';
import { watchZones } from './vehicle-zones.ts';

/** Takes in what the board said about inputs, analogs and itself; relays are `vehicle-control.ts`'s. */
export function takeBoardOutputs(work: Work, outputs: readonly BoardOutput[]): void {
  for (const output of outputs) {
    switch (output.kind) {
      case 'write':
        work.effects.push({ kind: 'writePort', port: 'board', bytes: output.bytes });
        break;
      case 'inputs':
        senseInputs(work, { kind: 'sample', atMs: output.atMs, values: output.values });
        break;
      case 'analogs':
        put(work, {
          analogs: { ...work.state.analogs, ...output.values },
          analogsReadMs: { ...work.state.analogsReadMs, ...readAt(output.values, output.atMs) },
        });
        if (output.values.fuel !== undefined) watchFuel(work, output.values.fuel);
        watchVehicle(work, { kind: 'time' });
        break;
      case 'boardUp':
        put(work, { isBoardFresh: true });
        if (answersWhole(work)) tellBoard(work, 'answers', output.reason);
        break;
      case 'boardDown':
        put(work, { isBoardFresh: true, relaysReadMs: null, analogs: {} });
        tellBoard(work, 'lost', output.reason);
        break;
      case 'problem':
        log(work, output.reason === null ? 'info' : 'error', 'board profile', {
          profile: work.config.profile.name,
          place: output.place,
          problem: output.reason ?? 'none any more',
        });
        if (output.reason !== null) {
          const attributes = { part: 'board', place: output.place, reason: output.reason };
          record(work, { statusCode: statusCodes.INTERNAL_FAILURE.code, attributes });
        }
        break;
      case 'relays':
      case 'relayResult':
        break;
    }
  }
}

function readAt(values: object, atMs: number): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.keys(values).map((name) => [name, atMs]));
}

/** All units of the board answer; one that was not asked yet does not. */
function answersWhole({ state }: Work): boolean {
  return Object.values(state.board.units).every(({ isUp }) => isUp === true);
}

/** Notes that the board, or a unit of it, was lost or is back; `board-news.ts` says what of it is told. */
export function tellBoard(work: Work, kind: 'lost' | 'answers', reason: string): void {
  const before = work.state.boardNews;
  stepNews(work, { kind, atMs: work.now.monoMs, reason });
  // The log hears of the first loss and the first return; a bus that flaps would fill it.
  if (before.isLost === (kind === 'lost') || work.state.boardNews.losses > 1) return;
  log(work, kind === 'lost' ? 'warn' : 'info', kind === 'lost' ? 'board lost' : 'board answers', { reason });
}

/** Tells the return of the board once it has lasted. */
export function settleBoard(work: Work): void {
  stepNews(work, { kind: 'time', atMs: work.now.monoMs });
}

function stepNews(work: Work, input: BoardNewsInput): void {
  const { news, told } = stepBoardNews(work.state.boardNews, input);
  put(work, { boardNews: news });
  if (told === null) return;
  const isLost = told.kind === 'lost';
  put(work, { memory: { ...work.state.memory, isBoardLost: isLost } });
  const status = isLost ? statusCodes.BOARD_LOST : statusCodes.BOARD_RESTORED;
  const attributes = isLost
    ? { reason: told.reason }
    : {
        losses: told.losses,
        ...(told.lostForMs === null ? {} : { lostS: Math.round(told.lostForMs / 1000) }),
      };
  record(work, { statusCode: status.code, attributes }, told.atMs);
}

type Sample = Parameters<typeof stepInputs<InputName>>[1];

/** Debounces, and tells every change that is news. */
export function senseInputs(work: Work, input: Sample): void {
  const { state, changes } = stepInputs(work.state.inputs, input);
  put(work, { inputs: state });
  for (const change of changes) tellInput(work, change);
  watchEvidence(work);
}

function tellInput(work: Work, change: InputChange<InputName>): void {
  const { signal, reading, sinceMs } = change;
  if (reading === 'unknown') return log(work, 'warn', 'input unknown', { input: signal });
  const { memory } = work.state;
  const value = reading === 'on';
  const before = memory.inputs[signal] ?? null;
  const statusCode = changeStatusCode(signal, before, value);
  log(work, 'info', 'input', { input: signal, on: value });
  if (before === value) return;
  put(work, { memory: { ...memory, inputs: { ...memory.inputs, [signal]: value } } });
  if (statusCode !== null) commitNow(work, [stamp(work, { statusCode }, sinceMs)]);
  if (value && (signal === 'crash' || signal === 'personEnter' || signal === 'personExit'))
    watchVehicle(work, { kind: 'pulse', pulse: { contact: signal, atMs: sinceMs } });
}

/** Bytes of the GNSS receiver; true when a sentence with a sound checksum was completed. */
export function takeGnssBytes(work: Work, bytes: Uint8Array): boolean {
  const atMs = work.now.monoMs;
  const decoded = decodeNmea(work.state.nmea, bytes);
  let epochs = noteBytes(work.state.epochs, atMs);
  const reports: EpochReport[] = [];
  for (const sentence of decoded.sentences) {
    const step = assembleEpochs(epochs, sentence, atMs);
    epochs = step.state;
    reports.push(...step.reports);
  }
  put(work, { nmea: decoded.state, epochs });
  watchSky(work, decoded.sky);
  noteCount(
    work,
    'nmeaRejected',
    Object.values(decoded.rejected).reduce((sum, lines) => sum + lines, 0),
  );
  for (const report of reports) takeReport(work, report);
  return decoded.sentences.length + decoded.sky.length + decoded.ignored > 0;
}

/** Ends an epoch by silence when it is due. */
export function flushGnss(work: Work): void {
  const { state, reports } = flushEpoch(work.state.epochs, work.now.monoMs);
  put(work, { epochs: state });
  for (const report of reports) takeReport(work, report);
}

function takeReport(work: Work, report: EpochReport): void {
  if (report.kind === 'void') {
    put(work, { evidence: takeVoid(work.state.evidence) });
    watchEvidence(work);
    return watchVehicle(work, { kind: 'epoch', epoch: { kind: 'void', atMs: report.atMonoMs } });
  }
  const judged = judgeFix(work.state.plausibility, report.fix);
  put(work, {
    plausibility: judged.state,
    evidence: takeFixEvidence(work.state.evidence, judged.fix),
    fixes: work.state.fixes + 1,
  });
  takeFix(work, judged.fix);
  watchEvidence(work);
  const kind = isBelievable(judged.fix) ? 'fix' : 'doubtful';
  watchVehicle(work, { kind: 'epoch', epoch: { kind, fix: judged.fix } });
}

/** What is to be spared now: the battery first, then a link that costs. */
function profileOf({ state }: Work): ReportingProfile {
  const { power } = state.alarms;
  // A supply that was cut is no reason to report less: it may be a thief at work.
  if (power.supply.isOn || power.backup.isOn) return 'low-battery';
  return state.isRoaming || state.delivery.light !== 'green' ? 'roaming' : 'home';
}

function takeFix(work: Work, fix: Fix): void {
  if (fix.utcMs !== null && fix.doubts.length === 0) {
    const time = offerGnssTime(work.state.time, { monoMs: fix.atMonoMs, utcMs: fix.utcMs });
    put(work, { time });
  }
  if (!isBelievable(fix)) return;
  put(work, { fix });
  watchZones(work, fix);
  const settings = work.state.settings.reporting;
  const step = stepReporting(work.state.reporting, fix, { settings, profile: profileOf(work) });
  put(work, { reporting: step.state });
  for (const report of step.reports)
    record(work, { statusCode: statusCodes.LOCATION.code }, report.atMonoMs, report);
}
