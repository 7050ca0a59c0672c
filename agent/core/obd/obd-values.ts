// What the answers of a car gave, as the same view that frames of a J1939 bus give: values with sender and age, movement, a running engine.
// It never shows rest: an answered zero may be a gateway's, or a sensor's below its limit, and no answer is nothing.
import { busLimits } from '../bus/bus-limits.ts';
import type { BusActivity, BusText, BusValue, BusView } from '../bus/bus-reading.ts';
import type { CodeList } from '../bus/obd-facts.ts';
import { createOdometer, stepOdometer } from '../bus/odometer-check.ts';
import type { EcuMessage } from './elm-answer.ts';
import type { ObdReading } from './obd-session.ts';
import {
  codesIn,
  obdSignals,
  pidsIn,
  readPid,
  readStatus,
  rpmPid,
  signalOf,
  speedPid,
  statusPid,
  statusSignals,
} from './obd-signals.ts';

const limits = {
  /** Values that are kept: 10 names of at most 8 control units. */
  values: 80,
  /** Codes are read every 10 minutes; those of a list that is not read any more end. */
  codesMs: 1_500_000,
  /** Without an answer for this long the car begins anew. */
  gapMs: 15_000,
  statusMs: 180_000,
  adapterMs: 30_000,
} as const;

/** The adapter itself, as the sender of what it measures. */
const adapterSource = 0;

type Stored = Omit<BusValue, 'isSettled'>;

export interface ObdValues {
  take(readings: readonly ObdReading[], atMs: number): void;
  activity(nowMs: number): Pick<BusView, 'movement' | 'engine'>;
  view(nowMs: number, dropped: number): BusView;
}

const order = [
  ...obdSignals.map(({ name }) => name),
  ...statusSignals.map(({ name }) => name),
] as readonly string[];
/** The control unit's own voltage before that of the adapter. */
const byOrder = (a: Stored, b: Stored): number =>
  order.indexOf(a.name) - order.indexOf(b.name) ||
  Number(a.pid === 'ATRV') - Number(b.pid === 'ATRV') ||
  a.source - b.source;

const lists: Readonly<Record<3 | 7 | 10, CodeList>> = { 3: 'stored', 7: 'pending', 10: 'permanent' };
const nameOf = (pid: number): string => pid.toString(16).toUpperCase().padStart(2, '0');

/** Values of the control units, one for each name, origin and sender. */
interface CarSlots {
  store(
    given: Pick<Stored, 'name' | 'pid' | 'source' | 'value' | 'fault'>,
    atMs: number,
    ageMostMs: number,
  ): void;
  take(message: EcuMessage, atMs: number): void;
  activity(nowMs: number): Pick<BusView, 'movement' | 'engine'>;
  values(isSettled: boolean): readonly BusValue[];
  odometerJumps(): number;
}

function createCarSlots(): CarSlots {
  const values = new Map<string, Stored>();
  const active = new Map<string, BusActivity & { readonly kind: 'movement' | 'engine' }>();
  let odometer = createOdometer();

  const store: CarSlots['store'] = (given, atMs, ageMostMs) => {
    const key = `${given.name} ${given.pid} ${given.source}`;
    const before = values.get(key);
    if (before === undefined && values.size >= limits.values) return;
    const periodMs = before === undefined ? null : atMs - before.atMs;
    values.set(key, { ...given, spn: null, atMs, periodMs, untilMs: atMs + ageMostMs });
  };
  const takeStatus = (source: number, data: Uint8Array, atMs: number): void => {
    const { isLampOn, codes } = readStatus(data);
    const of = { pid: nameOf(statusPid), source, fault: null };
    store({ ...of, name: 'malfunctionLamp', value: isLampOn ? 1 : 0 }, atMs, limits.statusMs);
    store({ ...of, name: 'codeCount', value: codes }, atMs, limits.statusMs);
  };
  const takePid = (source: number, pid: number, data: Uint8Array, atMs: number): void => {
    if (pid === statusPid) return takeStatus(source, data, atMs);
    const signal = signalOf(pid);
    if (signal === undefined) return;
    const read = readPid(signal, data);
    const fault = typeof read === 'number' ? null : read;
    let value = typeof read === 'number' ? read : null;
    if (signal.name === 'odometer' && value !== null) {
      odometer = stepOdometer(odometer, value, atMs);
      value = odometer.km;
    }
    store({ name: signal.name, pid: nameOf(pid), source, value, fault }, atMs, signal.ageMostMs);
    const untilMs = atMs + signal.ageMostMs;
    // One answer is enough: the next may come seconds later.
    if (pid === speedPid && value !== null && value > busLimits.movingKmh)
      active.set(`movement ${source}`, { kind: 'movement', value, source, untilMs });
    if (pid === rpmPid && value !== null && value >= busLimits.runningRpm)
      active.set(`engine ${source}`, { kind: 'engine', value, source, untilMs });
  };
  const most = (kind: 'movement' | 'engine', nowMs: number): BusActivity | null => {
    let best: BusActivity | null = null;
    for (const one of active.values())
      if (one.kind === kind && nowMs <= one.untilMs && (best === null || one.value > best.value))
        best = { value: one.value, source: one.source, untilMs: one.untilMs };
    return best;
  };
  return {
    store,
    take(message, atMs) {
      for (const [pid, data] of pidsIn(message) ?? []) takePid(message.source, pid, data, atMs);
    },
    activity: (nowMs) => ({ movement: most('movement', nowMs), engine: most('engine', nowMs) }),
    values: (isSettled) => [...values.values()].sort(byOrder).map((one) => ({ ...one, isSettled })),
    odometerJumps: () => odometer.jumps,
  };
}

/** The codes of each control unit in the answers to one request. */
function codesBySource({
  mode,
  isCounted,
  messages,
}: Extract<ObdReading, { kind: 'codes' }>): ReadonlyMap<number, readonly string[]> {
  const found = new Map<number, readonly string[]>();
  for (const message of messages) {
    const own = codesIn(message, mode, isCounted);
    if (own !== null) found.set(message.source, [...(found.get(message.source) ?? []), ...own]);
  }
  return found;
}

/** Values of a car that has answered nothing. */
export function createObdValues(): ObdValues {
  const slots = createCarSlots();
  const codes = new Map<string, BusView['obdCodes'][number]>();
  let vin: BusText<string> | null = null;
  let frameMs: number | null = null;
  let sinceMs = 0;
  let answers = 0;

  const takeCodes = (reading: Extract<ObdReading, { kind: 'codes' }>, atMs: number): void => {
    const list = lists[reading.mode];
    for (const [source, value] of codesBySource(reading))
      if (codes.size < 3 * busLimits.codeSources || codes.has(`${list} ${source}`))
        codes.set(`${list} ${source}`, { value, source, atMs, list });
  };
  const takeOne = (reading: ObdReading, atMs: number): void => {
    switch (reading.kind) {
      case 'answers':
        for (const message of reading.messages) slots.take(message, atMs);
        break;
      case 'volts': {
        const of = { pid: 'ATRV', source: adapterSource, fault: null };
        slots.store({ ...of, name: 'batteryVolts', value: reading.volts }, atMs, limits.adapterMs);
        break;
      }
      case 'vin':
        vin = { value: reading.vin, source: reading.source, atMs };
        break;
      case 'codes':
        takeCodes(reading, atMs);
        break;
    }
  };
  return {
    take(readings, atMs) {
      for (const reading of readings) {
        // The adapter measures without a car.
        if (reading.kind !== 'volts') {
          if (frameMs === null || atMs - frameMs > limits.gapMs) sinceMs = atMs;
          frameMs = atMs;
          answers += 1;
        }
        takeOne(reading, atMs);
      }
    },
    activity: slots.activity,
    view(nowMs, dropped) {
      const isSettled =
        frameMs !== null && nowMs - frameMs <= limits.gapMs && nowMs - sinceMs >= busLimits.settleMs;
      return {
        frameMs,
        frames: answers,
        foreign: 0,
        dropped,
        isSettled,
        values: slots.values(isSettled),
        vin,
        driverCards: null,
        troubleCodes: [],
        obdCodes: [...codes.values()].filter(({ atMs }) => nowMs - atMs <= limits.codesMs),
        odometerJumps: slots.odometerJumps(),
        motion: null,
        ...slots.activity(nowMs),
      };
    },
  };
}

/** Units of the values of a car, by name. */
export const obdUnits: ReadonlyMap<string, string> = new Map<string, string>(
  [...obdSignals, ...statusSignals].map(({ name, unit }) => [name, unit]),
);
