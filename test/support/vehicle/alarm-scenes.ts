// Scenes for the alarm machines: a vehicle whose contacts and voltages a test sets, driven by recorded positions, speeds
// or sentences, one step a second and one for each epoch. It knows nothing of how an alarm decides.

import { type AlarmMemory, emptyAlarmMemory } from '../../../agent/core/alarms/alarm-memory.ts';
import type { AlarmInput, AlarmReport, Epoch } from '../../../agent/core/alarms/alarm-types.ts';
import {
  type AlarmsState,
  createAlarms,
  handlePulse,
  handleSky,
  memoryOf,
  type Pulse,
  stepAlarms,
} from '../../../agent/core/alarms/alarms.ts';
import type { Sensed } from '../../../agent/core/evidence/contact.ts';
import {
  assembleEpochs,
  createEpochState,
  type EpochReport,
  type Fix,
  flushEpoch,
} from '../../../agent/core/gnss/epochs.ts';
import { createNmeaState, decodeNmea } from '../../../agent/core/gnss/nmea.ts';
import { createPlausibilityState, judgeFix } from '../../../agent/core/gnss/plausibility.ts';
import { isPlausible } from '../../../agent/core/reporting.ts';
import type { StatusName } from '../../../src/core/events/status-codes.ts';
import type { AlarmSettings } from '../../../src/core/settings/alarms.ts';
import { standardSettings } from '../../../src/core/settings/settings.ts';
import { readShared } from '../machine/shared-data.ts';

export type Conditions = Omit<AlarmInput, 'nowMs' | 'settings' | 'epoch' | 'ignition' | 'motion'> & {
  readonly ignition: boolean | null;
  readonly motion: boolean | null;
};

const calm: Conditions = {
  ignition: null,
  motion: null,
  externalPower: null,
  cabinDoor: null,
  cargoDoor: null,
  isCargoLocked: null,
  supplyV: null,
  backupV: null,
  rpm: null,
  passengers: null,
  isLinkUp: true,
  isReceiverOpen: true,
};

export interface Bench {
  nowMs(): number;
  readonly told: AlarmReport[];
  /** Names told so far, in order. */
  names(): StatusName[];
  count(name: StatusName): number;
  last(name: StatusName): AlarmReport | undefined;
  set(conditions: Partial<Conditions>): void;
  tune(settings: Partial<AlarmSettings>): void;
  /** Lets time pass in steps of half a second, as the vehicle's tick does. */
  pass(seconds: number): void;
  /** An epoch at its own time. */
  see(epoch: Epoch): void;
  /** A fix now, judged as the vehicle judges it; time goes on by `stepMs` first. */
  fix(at: { latitude: number; longitude: number; speedKmh: number | null }, stepMs?: number): void;
  void(stepMs?: number): void;
  sky(sentences: Parameters<typeof handleSky>[1]): void;
  pulse(contact: Pulse['contact']): void;
  /** The agent dies and starts anew with what it had written. */
  restart(goneMs?: number): void;
  memory(): AlarmMemory;
  state(): AlarmsState;
  readonly dips: number[];
}

export function createBench(settings: Partial<AlarmSettings> = {}, startMs = 1_000_000): Bench {
  let nowMs = startMs;
  let tuned: AlarmSettings = { ...standardSettings.alarms, ...settings };
  let conditions = calm;
  let state = createAlarms(emptyAlarmMemory, nowMs);
  let plausibility = createPlausibilityState();
  const since: Record<'ignition' | 'motion', number> = { ignition: nowMs, motion: nowMs };
  const told: AlarmReport[] = [];
  const dips: number[] = [];
  const sensed = (name: 'ignition' | 'motion'): Sensed => ({ value: conditions[name], sinceMs: since[name] });
  const scene = (epoch: Epoch | null): AlarmInput => ({
    ...conditions,
    nowMs,
    settings: tuned,
    ignition: sensed('ignition'),
    motion: sensed('motion'),
    epoch,
  });
  const step = (epoch: Epoch | null): void => {
    const next = stepAlarms(state, scene(epoch));
    state = next.state;
    told.push(...next.reports);
    if (next.isDip) dips.push(nowMs);
  };
  const bench: Bench = {
    nowMs: () => nowMs,
    told,
    dips,
    names: () => told.map(({ name }) => name),
    count: (name) => told.filter((one) => one.name === name).length,
    last: (name) => told.filter((one) => one.name === name).at(-1),
    set(change) {
      for (const name of ['ignition', 'motion'] as const)
        if (name in change && change[name] !== conditions[name]) since[name] = nowMs;
      conditions = { ...conditions, ...change };
      step(null);
    },
    tune(change) {
      tuned = { ...tuned, ...change };
    },
    pass(seconds) {
      for (let left = seconds * 2; left > 0; left -= 1) {
        nowMs += 500;
        step(null);
      }
    },
    see(epoch) {
      const atMs = epoch.kind === 'void' ? epoch.atMs : epoch.fix.atMonoMs;
      while (nowMs + 500 <= atMs) {
        nowMs += 500;
        step(null);
      }
      nowMs = Math.max(nowMs, atMs);
      step(epoch);
    },
    fix({ latitude, longitude, speedKmh }, stepMs = 1000) {
      const atMonoMs = nowMs + stepMs;
      const judged = judgeFix(plausibility, makeFix({ atMonoMs, latitude, longitude, speedKmh }));
      plausibility = judged.state;
      bench.see({ kind: isPlausible(judged.fix) ? 'fix' : 'doubtful', fix: judged.fix });
    },
    void: (stepMs = 1000) => bench.see({ kind: 'void', atMs: nowMs + stepMs }),
    sky(sentences) {
      state = handleSky(state, sentences, nowMs);
    },
    pulse(contact) {
      const next = handlePulse(state, scene(null), { contact, atMs: nowMs });
      state = next.state;
      told.push(...next.reports);
    },
    restart(goneMs = 5000) {
      const memory = JSON.parse(JSON.stringify(memoryOf(state))) as AlarmMemory;
      nowMs += goneMs;
      since.ignition = nowMs;
      since.motion = nowMs;
      state = createAlarms(memory, nowMs);
      plausibility = createPlausibilityState();
    },
    memory: () => memoryOf(state),
    state: () => state,
  };
  return bench;
}

/** A good fix of a good receiver. */
export function makeFix(of: {
  readonly atMonoMs: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly speedKmh: number | null;
}): Fix {
  return {
    utcMs: Date.UTC(2026, 11, 1) + of.atMonoMs,
    altitudeM: 100,
    headingDeg: 90,
    hdop: 0.9,
    satellites: 9,
    dimension: 3,
    mode: 'A',
    rmcValid: true,
    doubts: [],
    ...of,
  };
}

/** Seconds of the day in a line that opens an epoch; null in others. */
function epochSeconds(line: string): number | null {
  const match = /^\$..(?:RMC|GGA),(\d\d)(\d\d)(\d\d(?:\.\d+)?),/.exec(line);
  return match === null ? null : Number(match[1]) * 3600 + Number(match[2]) * 60 + Number(match[3]);
}

/** Plays a capture at its own pace, sentence by sentence, through the decoder and the judges of the vehicle. */
export function playCapture(bench: Bench, file: string): void {
  const lines = new TextDecoder('latin1').decode(readShared(`nmea/${file}`)).split(/(?<=\n)/);
  let nmea = createNmeaState();
  let epochs = createEpochState({ earliestUtcMs: Date.UTC(2000, 0, 1) });
  let plausibility = createPlausibilityState();
  let atMs = bench.nowMs();
  let lastSeconds: number | null = null;
  const report = (reports: readonly EpochReport[]): void => {
    for (const one of reports) {
      if (one.kind === 'void') {
        bench.see({ kind: 'void', atMs: Math.max(bench.nowMs(), one.atMonoMs) });
        continue;
      }
      const judged = judgeFix(plausibility, one.fix);
      plausibility = judged.state;
      bench.see({ kind: isPlausible(judged.fix) ? 'fix' : 'doubtful', fix: judged.fix });
    }
  };
  for (const line of lines) {
    const seconds = epochSeconds(line);
    if (seconds !== null && lastSeconds !== null && seconds !== lastSeconds) {
      const stepMs = (seconds - lastSeconds) * 1000;
      atMs += stepMs > 0 && stepMs <= 5000 ? stepMs : 1000;
    }
    lastSeconds = seconds ?? lastSeconds;
    const flushed = flushEpoch(epochs, atMs);
    epochs = flushed.state;
    report(flushed.reports);
    const decoded = decodeNmea(
      nmea,
      Uint8Array.from(line, (character) => character.charCodeAt(0) & 0xff),
    );
    nmea = decoded.state;
    bench.sky(decoded.sky);
    for (const sentence of decoded.sentences) {
      const step = assembleEpochs(epochs, sentence, atMs);
      epochs = step.state;
      report(step.reports);
    }
  }
  report(flushEpoch(epochs, atMs + 5000).reports);
}

export interface Sample {
  /** Seconds since the start. */
  readonly s: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly speedKmh: number;
}

const metresPerDegree = 111_195;

const rowsOf = (file: string): readonly (readonly string[])[] =>
  new TextDecoder()
    .decode(readShared(file))
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));

/** Speeds of a log as a drive due east; gaps stay gaps. */
export function readSpeedLog(file: string): readonly Sample[] {
  const rows = rowsOf(`speed/${file}`);
  const first = Number(rows[0]?.[0] ?? 0);
  let eastM = 0;
  return rows.map(([t, mps]) => {
    eastM += Number(mps);
    const longitude = ((eastM / metresPerDegree) % 300) - 150;
    return { s: Number(t) - first, latitude: 0, longitude, speedKmh: Number(mps) * 3.6 };
  });
}

/** A recorded track with the speed from its own steps, as Doppler would have shown it. */
export function readTrack(file: string): readonly Sample[] {
  const isMetres = file.startsWith('delivery');
  const points = rowsOf(`routes/${file}`).map(([t, a, b]) =>
    isMetres
      ? {
          t: Number(t),
          latitude: 45 + Number(b) / metresPerDegree,
          longitude: Number(a) / (metresPerDegree * Math.SQRT1_2),
        }
      : { t: Number(t), latitude: Number(a), longitude: Number(b) },
  );
  const first = points[0]?.t ?? 0;
  return points.map((point, at) => {
    const before = points[at - 1] ?? point;
    const cos = Math.cos((point.latitude * Math.PI) / 180);
    const northM = (point.latitude - before.latitude) * metresPerDegree;
    const eastM = (point.longitude - before.longitude) * metresPerDegree * cos;
    const seconds = Math.max(0.2, point.t - before.t);
    const speedKmh = (Math.hypot(northM, eastM) / seconds) * 3.6;
    return { s: point.t - first, latitude: point.latitude, longitude: point.longitude, speedKmh };
  });
}

/** Plays samples as fixes, judged for plausibility. */
export function playSamples(bench: Bench, samples: readonly Sample[]): void {
  let lastS: number | null = null;
  for (const { s, ...sample } of samples) {
    if (lastS !== null && s <= lastS) continue;
    bench.fix(sample, lastS === null ? 1000 : (s - lastS) * 1000);
    lastS = s;
  }
}
