// A truck with a receiver and a bus for tests of what the evidence makes of both: each has a delay of its own, speeds change as a vehicle's do,
// and readings come as often as the agent passes them on.
import { type BusRecorder, createBusRecorder } from '../../../agent/bus/bus-recorder.ts';
import type { BusMotion } from '../../../agent/core/bus/bus-reading.ts';
import { type CanFrame, createSlcanState } from '../../../agent/core/bus/slcan-line.ts';
import { isStepDue, recordFix, recordVoid, stepEvidence } from '../../../agent/core/evidence/evidence.ts';
import { emptyEvidence } from '../../../agent/core/evidence/evidence-record.ts';
import { createEvidence } from '../../../agent/core/evidence/evidence-state.ts';
import { witnessStatesOf } from '../../../agent/core/evidence/testimony.ts';
import type { Fix } from '../../../agent/core/gnss/epochs.ts';
import { driveStartUtcMs, fixAt, north } from '../vehicle/gnss-drive.ts';
import { plainCauses } from '../vehicle/plain-causes.ts';
import { truckFrames } from './truck-bus.ts';

const stepMs = 50;
const frameMs = 100;

export interface BusDriveOptions {
  /** Frames come so late; may be changed while it drives. */
  readonly lateMs?: number;
  /** Readings come no more often than this. */
  readonly viewMs?: number;
  /** Between two fixes, from the measurement of a fix to its arrival, and the time over which a fix averages the speed. */
  readonly fixMs?: number;
  readonly fixLateMs?: number;
  readonly smoothMs?: number;
  /** When fixes are measured within a second. */
  readonly phaseMs?: number;
  /** Gathering speed and braking, km/h per second. */
  readonly upKmhPerS?: number;
  readonly downKmhPerS?: number;
}

/** True motion at one moment. */
interface Moment {
  readonly atMs: number;
  readonly kmh: number;
  readonly metres: number;
}

export function createBusDrive(options: BusDriveOptions = {}) {
  const { viewMs = 0, fixMs = 1000, fixLateMs = 100, smoothMs = 0, phaseMs = 0 } = options;
  const { upKmhPerS = 5, downKmhPerS = 6 } = options;
  let { lateMs = 0 } = options;
  let nowMs = 0;
  let truth: Moment = { atMs: 0, kmh: 0, metres: 0 };
  let targetKmh = 0;
  const past: Moment[] = [];
  let queue: { readonly atMs: number; readonly frames: readonly CanFrame[] }[] = [];
  let recorder: BusRecorder = createBusRecorder();
  let motion: BusMotion | null = null;
  let viewedMs = 0;
  let isKeyOn = false;
  let adapter: 'open' | 'lost' = 'open';
  let alter: (fix: Fix) => Fix | null = (fix) => fix;
  let records = 0;
  let state = createEvidence({
    record: emptyEvidence('board-0badcafe'),
    fitted: ['gnss', 'ignition', 'bus_speed', 'bus_rpm'],
    causes: plainCauses,
    hdopMost: 5,
    poweredMs: Number.NEGATIVE_INFINITY,
    nowMs,
  });
  const time = () => ({ atMs: nowMs, utcMs: driveStartUtcMs + nowMs });
  let ignition = { value: false, sinceMs: 0 };

  const moveOn = (): void => {
    const seconds = stepMs / 1000;
    const { kmh: before, metres } = truth;
    const kmh = Math.max(
      before - downKmhPerS * seconds,
      Math.min(before + upKmhPerS * seconds, Math.max(0, targetKmh)),
    );
    truth = { atMs: nowMs, kmh, metres: metres + ((before + kmh) / 2 / 3.6) * seconds };
    past.push(truth);
    if (past.length > 400) past.shift();
  };
  /** Mean speed over the time that the receiver smooths, and the place at its end. */
  const measure = (atMs: number) => {
    const seen = past.filter((one) => one.atMs <= atMs && one.atMs >= atMs - smoothMs);
    const kmh = seen.reduce((sum, one) => sum + one.kmh, 0) / Math.max(1, seen.length);
    const wanderM = Math.sin(atMs / 7000) * 0.2;
    return { speedKmh: Math.max(0.1, kmh), ...north((seen.at(-1)?.metres ?? 0) + wanderM) };
  };
  const hearReceiver = (): void => {
    if ((nowMs - phaseMs - fixLateMs) % fixMs !== 0 || nowMs <= fixLateMs) return;
    const fix = alter(fixAt(nowMs, measure(nowMs - fixLateMs)));
    state =
      fix === null
        ? recordVoid(state, { atMonoMs: nowMs, estimatedKmh: null })
        : recordFix(state, fix, time());
  };
  const hearBus = (): void => {
    if (nowMs % frameMs === 0) {
      const { kmh } = truth;
      const rpm = isKeyOn ? 600 + kmh * 12 : 0;
      const sent = { kmh: kmh < 0.5 ? 0 : kmh, rpm, isBraked: !isKeyOn, atMs: nowMs };
      queue.push({ atMs: nowMs, frames: truckFrames(sent) });
    }
    const due = queue.filter(({ atMs }) => atMs <= nowMs - lateMs);
    if (due.length === 0) return;
    queue = queue.slice(due.length);
    if (adapter === 'lost') return;
    const frames = due.flatMap((one) => one.frames);
    const lines = { state: createSlcanState(), frames, answers: [], remotes: 0, rejected: 0 };
    if (!recorder.take(lines, nowMs) || nowMs - viewedMs < viewMs) return;
    viewedMs = nowMs;
    motion = recorder.view(nowMs).motion;
  };
  const step = (): void => {
    nowMs += stepMs;
    moveOn();
    hearReceiver();
    hearBus();
    if (ignition.value !== isKeyOn) ignition = { value: isKeyOn, sinceMs: nowMs };
    const seen = {
      ignition,
      motion: { value: null, sinceMs: 0 },
      rpm: null,
      supplyV: null,
      answering: [],
      bus: adapter === 'open' ? motion : null,
    };
    if (!isStepDue(state, seen, nowMs)) return;
    const { record } = state;
    state = stepEvidence(state, seen, time());
    if (state.record !== record) records += 1;
  };
  const drive = {
    states: () => witnessStatesOf(state, time()),
    bus: () => state.record.bus,
    /** How often the record has changed, which writes it to the disk. */
    records: () => records,
    /** Goes on for so long, towards this speed. */
    for(seconds: number, kmh = targetKmh) {
      targetKmh = kmh;
      for (let steps = Math.round((seconds * 1000) / stepMs); steps > 0; steps -= 1) step();
      return drive;
    },
    key(isOn: boolean) {
      isKeyOn = isOn;
      return drive;
    },
    late(ms: number) {
      lateMs = ms;
      return drive;
    },
    /** What the receiver says instead; null: no fix. */
    receiver(change: (fix: Fix) => Fix | null) {
      alter = change;
      return drive;
    },
    /** The port of the adapter is lost, and opened again. */
    adapter(to: 'open' | 'lost') {
      adapter = to;
      if (to === 'lost') {
        queue = [];
        motion = null;
        recorder = createBusRecorder();
      }
      return drive;
    },
    /** Half a minute at 50 km/h, a stop, and so long at rest. */
    leg(restS: number) {
      return drive.for(45, 50).for(50 / downKmhPerS + restS, 0);
    },
    /** Key on, three legs, parked for 40 s. */
    trip() {
      return drive.key(true).for(15, 0).leg(10).leg(20).leg(15).key(false).for(40, 0);
    },
  };
  return drive;
}
