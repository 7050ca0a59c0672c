// The control units on the J1939 bus of a simulated truck: their frames, periods and view of the true motion. Senders, periods
// and errors are those of recorded trucks: two units share CCVS1, values begin with defaults, and zeros continue after key-off.
import type { SeededEntropy } from '../core/random.ts';
import type { DriverMoment } from '../world/driver.ts';
import { bamFrames, type CanFrame, ccvs1, ebc2, eec1, j1939Frame, tco1, vdhr, vep1 } from './j1939-frames.ts';
import { litresPerKm } from './tank.ts';

/** What the control units measure. */
export interface TruckTruth extends Pick<DriverMoment, 'speedKmh' | 'odometerM' | 'ignition' | 'engine'> {
  /** Fraction of the tank, 0 to 1. */
  readonly tankLevel: number;
  readonly supplyVolts: number;
}

/** Faults of the units; all off is a sound truck. */
export interface TruckFaults {
  /** The engine's unit sends nothing, and the brakes send no speed in its place. */
  readonly isEngineSilent: boolean;
  /** The engine's unit is alone on the bus and sends a valid speed of zero, as on a bench. */
  readonly isEngineAlone: boolean;
  /** All speeds and the engine speed keep the values of when this began. */
  readonly isSpeedStuck: boolean;
  readonly isOdometerStuck: boolean;
  /** The tachograph sends no odometer; that of the cluster, which counts from another moment on, goes on. */
  readonly isOdometerSilent: boolean;
  /** Another vehicle's number is sent. */
  readonly isVinWrong: boolean;
  /** Two trouble codes are active. */
  readonly hasCodes: boolean;
  /** Speeds are multiplied by this, as of other tyres or of miles. 0.1 to 10. */
  readonly speedScale: number;
  /** A gateway repeats the last frame of each unit, whatever the unit measures. */
  readonly isRepeating: boolean;
}

const noTruckFaults: TruckFaults = {
  isEngineSilent: false,
  isEngineAlone: false,
  isSpeedStuck: false,
  isOdometerStuck: false,
  isOdometerSilent: false,
  isVinWrong: false,
  hasCodes: false,
  speedScale: 1,
  isRepeating: false,
};

/** Frames are due at multiples of this, ms. */
export const busStepMs = 20;

const truckTiming = {
  /** After a start: speeds, parking brake and odometer are zeros for so long (truck A), ms. */
  zerosMs: 640,
  /** ... and levels, temperatures and counters are not available for so long, ms. */
  defaultsMs: 10_000,
  /**
   * After key-off the engine's unit sends while it empties its urea lines: 70 s on a Perkins 1200F, which says so on the bus. The
   * other units outlast it by 33 s, with zeros (GT350, whose petrol engine falls silent after 3 s). ms.
   */
  engineSleepsMs: 90_000,
  busSleepsMs: 123_000,
} as const;

/** Below these speeds a sensor gives zero: of the wheels and of the gearbox, km/h. */
const sensorKmh = { wheel: 2, gearbox: 1 } as const;

/** Source addresses, as on recorded trucks. */
const senders = { engine: 0x00, brakes: 0x0b, cluster: 0x17, cab: 0x31, tachograph: 0xee } as const;
const vehicleIdPgn = 65_260;
const troubleCodesPgn = 65_226;
const packetMs = 60;
/** SPN 100 FMI 1 (oil pressure low), SPN 110 FMI 0 (coolant hot), each once, with the warning lamp on. */
const activeCodes = [0x04, 0xff, 0x64, 0x00, 0x01, 0x01, 0x6e, 0x00, 0x00, 0x01] as const;
const noCodes = [0x00, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff] as const;
const vinLetters = 'ABCDEFGHJKLMNPRSTUVWXYZ0123456789';
const coolant = { coldC: 20, warmC: 86, warmingMs: 300_000, coolingMs: 3_600_000 } as const;
const idleRpm = 600;
/** The gearbox shifts up at these speeds, km/h. */
const shiftKmh = [0, 12, 22, 36, 54, 78, 140] as const;

/** As on a truck whose units counted 438,978 and 537,152 km. */
const otherOdometerKm = 98_174;

const sensed = (kmh: number, leastKmh: number): number => (kmh < leastKmh ? 0 : kmh);

/** Engine speed in 1/min by the gear that fits the speed. */
function rpmOf({ engine, speedKmh }: TruckTruth): number {
  if (engine !== 'running') return 0;
  const gear = Math.max(
    1,
    shiftKmh.findIndex((kmh) => kmh > speedKmh),
  );
  const [low = 0, high = 140] = [shiftKmh[gear - 1], shiftKmh[gear]];
  return idleRpm + (gear === 1 ? 0 : 400) + (800 * (speedKmh - low)) / (high - low);
}

const at = (pgn: number, source: number, first: number, bytes: readonly number[]): CanFrame =>
  j1939Frame(
    pgn,
    source,
    Array.from({ length: 8 }, (_, index) => bytes[index - first + 1] ?? 0xff),
  );

function littleEndian(value: number, count: number): readonly number[] {
  const raw = Math.round(value);
  return Array.from({ length: count }, (_, index) => Math.floor(raw / 256 ** index) % 256);
}

const createVin = (entropy: SeededEntropy): string =>
  `XFW${Array.from({ length: 14 }, () => vinLetters[entropy.integer(0, vinLetters.length - 1)]).join('')}`;

export interface TruckNodes {
  /** Frames that are due now; time must not go back. Empty while the bus sleeps. */
  step(truth: TruckTruth, nowMs: number): readonly CanFrame[];
  /** True when the next step may have frames: key on, off for less than 123 s, or kept awake. */
  isAwake(): boolean;
  setFaults(change: Partial<TruckFaults>): void;
  faults(): TruckFaults;
  /** Odometer of the cluster at this distance of the driver, km. */
  odometerKm(odometerM: number): number;
  readonly vin: string;
}

interface Moment {
  readonly truth: TruckTruth;
  readonly nowMs: number;
  /** The step before. */
  readonly beforeMs: number;
  /** Since the key was turned on, ms. */
  readonly onMs: number;
  /** Since it was turned off; 0 while it is on. */
  readonly offMs: number;
  readonly isBraked: boolean;
  /** As the sensors see it, with the faults. */
  readonly speedKmh: number;
  readonly rpm: number;
}

interface Readings {
  readonly hours: number;
  readonly litres: number;
  readonly coolantC: number;
  readonly km: number;
}

/** True when a multiple of a period lies between the last step and this one, however late it is. */
const every = (ms: number, { nowMs, beforeMs }: Pick<Moment, 'nowMs' | 'beforeMs'>): boolean =>
  Math.floor(nowMs / ms) > Math.floor(beforeMs / ms);

function engineFrames(moment: Moment, readings: Readings, isAlone: boolean): readonly CanFrame[] {
  const { truth, nowMs, onMs } = moment;
  const hasZeros = onMs < truckTiming.zerosMs;
  const isKnown = onMs >= truckTiming.defaultsMs;
  const source = senders.engine;
  const wheelKmh = hasZeros || isAlone ? 0 : sensed(moment.speedKmh, sensorKmh.wheel);
  const frames = [eec1(hasZeros || isAlone ? 0 : moment.rpm, source)];
  if (every(100, moment)) {
    const rate = truth.engine === 'running' ? truth.speedKmh * litresPerKm : 0;
    frames.push(ccvs1(wheelKmh, 3, source), at(65_266, source, 1, littleEndian(rate / 0.05, 2)));
  }
  if (every(1000, moment)) {
    // The voltage jitters by its last digit, as on every recording.
    const volts = truth.supplyVolts + (nowMs % 2000 < 1000 ? 0.05 : 0);
    frames.push(vep1(volts, null, source));
    if (isKnown)
      frames.push(
        at(65_262, source, 1, [Math.round(readings.coolantC + 40)]),
        at(65_253, source, 1, littleEndian(readings.hours / 0.05, 4)),
        at(65_257, source, 5, littleEndian(readings.litres / 0.5, 4)),
      );
    else for (const pgn of [65_262, 65_253, 65_257]) frames.push(at(pgn, source, 1, []));
  }
  return frames;
}

function otherFrames(
  moment: Moment,
  readings: Readings,
  { hasCodes, isOdometerSilent }: TruckFaults,
): readonly CanFrame[] {
  const { truth, onMs, isBraked } = moment;
  const hasZeros = onMs < truckTiming.zerosMs;
  const isOff = !truth.ignition;
  const frames: CanFrame[] = [];
  const gearboxKmh = hasZeros || isOff ? 0 : sensed(moment.speedKmh, sensorKmh.gearbox);
  if (every(50, moment)) frames.push(tco1(gearboxKmh, gearboxKmh > 0 ? 1 : 0, senders.tachograph));
  if (every(100, moment)) {
    const wheelKmh = hasZeros || isOff ? 0 : sensed(moment.speedKmh, sensorKmh.wheel);
    frames.push(ebc2(wheelKmh, senders.brakes), ccvs1(null, isBraked && !hasZeros ? 1 : 0, senders.cab));
  }
  if (every(1000, moment)) {
    if (!isOdometerSilent) frames.push(vdhr(hasZeros ? 0 : readings.km, senders.tachograph));
    frames.push(at(65_248, senders.cluster, 5, littleEndian((readings.km + otherOdometerKm) / 0.125, 4)));
    const level = onMs < truckTiming.defaultsMs ? [] : [Math.round((truth.tankLevel * 100) / 0.4)];
    frames.push(at(65_276, senders.cluster, 2, level));
    if (!hasCodes) frames.push(j1939Frame(troubleCodesPgn, senders.cluster, noCodes));
  }
  return frames;
}

/** Long messages of which one packet is due each 60 ms; each begins once a period, so that few wait. */
function createLongMessages() {
  let waiting: { readonly dueMs: number; readonly frame: CanFrame }[] = [];
  return {
    begin(frames: readonly CanFrame[], nowMs: number): void {
      for (const [index, frame] of frames.entries()) waiting.push({ dueMs: nowMs + index * packetMs, frame });
    },
    due(nowMs: number): readonly CanFrame[] {
      if (waiting.length === 0) return [];
      const due = waiting.filter(({ dueMs }) => dueMs <= nowMs).map(({ frame }) => frame);
      waiting = waiting.filter(({ dueMs }) => dueMs > nowMs);
      return due;
    },
    clear(): void {
      waiting = [];
    },
  };
}

/** A gateway, which keeps the last frame of each identifier. */
function createGateway() {
  const last = new Map<number, CanFrame>();
  return {
    pass(frames: readonly CanFrame[], isRepeating: boolean): readonly CanFrame[] {
      if (isRepeating) return frames.map((frame) => last.get(frame.id) ?? frame);
      for (const frame of frames) last.set(frame.id, frame);
      return frames;
    },
  };
}

/** Hours, litres and temperature of the engine over time; starts warm where the engine runs already. */
function createEngineCounters(entropy: SeededEntropy, startKm: number) {
  let runMs = 0;
  let coolantC: number = coolant.coldC;
  let atMs: number | null = null;
  const startHours = startKm / 45 + entropy.fraction() * 500;
  const startLitres = startKm * litresPerKm;
  return {
    step({ engine }: TruckTruth, nowMs: number): void {
      const isRunning = engine === 'running';
      if (atMs === null && isRunning) coolantC = coolant.warmC;
      const forMs = nowMs - (atMs ?? nowMs);
      atMs = nowMs;
      if (isRunning) runMs += forMs;
      const [targetC, tauMs] = isRunning
        ? [coolant.warmC, coolant.warmingMs]
        : [coolant.coldC, coolant.coolingMs];
      coolantC += (targetC - coolantC) * (1 - Math.exp(-forMs / tauMs));
    },
    readings: (km: number): Readings => ({
      hours: startHours + runMs / 3_600_000,
      litres: startLitres + (km - startKm) * litresPerKm,
      coolantC,
      km,
    }),
  };
}

/** Units of a truck that has driven 80,000 to 400,000 km. With the key on at the first step they have been awake for long. */
export function createTruckNodes(entropy: SeededEntropy): TruckNodes {
  const vin = createVin(entropy);
  const otherVin = createVin(entropy);
  const startKm = entropy.integer(80_000, 400_000);
  const counters = createEngineCounters(entropy, startKm);
  const messages = createLongMessages();
  const gateway = createGateway();
  let faults = noTruckFaults;
  let stuck: { readonly speedKmh: number; readonly rpm: number } | null = null;
  let stuckKm: number | null = null;
  let key: { readonly isOn: boolean; readonly sinceMs: number } | null = null;
  let isBraked = true;
  let awake = false;
  let steppedMs: number | null = null;

  const turnKey = (isOn: boolean, nowMs: number): void => {
    if (key?.isOn === isOn) return;
    const isEngineAwake = key !== null && nowMs - key.sinceMs < truckTiming.engineSleepsMs;
    // Units that are still awake keep their values.
    const sinceMs = key === null || (isOn && isEngineAwake) ? Number.NEGATIVE_INFINITY : nowMs;
    key = { isOn, sinceMs };
  };
  const momentOf = (truth: TruckTruth, nowMs: number): Moment => {
    turnKey(truth.ignition, nowMs);
    const beforeMs = steppedMs ?? nowMs - busStepMs;
    steppedMs = nowMs;
    if (truth.speedKmh > 0) isBraked = false;
    else if (!truth.ignition) isBraked = true;
    const forMs = nowMs - (key?.sinceMs ?? nowMs);
    const seen = { speedKmh: truth.speedKmh * faults.speedScale, rpm: rpmOf(truth) };
    stuck = faults.isSpeedStuck ? (stuck ?? seen) : null;
    return {
      truth,
      nowMs,
      beforeMs,
      onMs: truth.ignition ? forMs : Number.POSITIVE_INFINITY,
      offMs: truth.ignition ? 0 : forMs,
      isBraked,
      ...(stuck ?? seen),
    };
  };
  const beginMessages = (moment: Moment, isEngineAwake: boolean): void => {
    if (isEngineAwake && every(10_000, moment)) {
      const text = faults.isVinWrong ? otherVin : vin;
      messages.begin(bamFrames(vehicleIdPgn, senders.engine, [...Buffer.from(`${text}*`)]), moment.nowMs);
    }
    if (faults.hasCodes && every(1000, moment))
      messages.begin(bamFrames(troubleCodesPgn, senders.cluster, activeCodes), moment.nowMs);
  };
  return {
    step(truth, nowMs) {
      counters.step(truth, nowMs);
      const moment = momentOf(truth, nowMs);
      awake = moment.offMs < truckTiming.busSleepsMs;
      if (!awake) {
        messages.clear();
        return [];
      }
      const km = startKm + truth.odometerM / 1000;
      stuckKm = faults.isOdometerStuck ? (stuckKm ?? km) : null;
      const readings = counters.readings(km);
      const { isEngineSilent, isEngineAlone, isRepeating } = faults;
      const isEngineAwake = !isEngineSilent && moment.offMs < truckTiming.engineSleepsMs;
      if (!isEngineAlone) beginMessages(moment, isEngineAwake);
      const frames = [
        ...(isEngineAwake ? engineFrames(moment, readings, isEngineAlone) : []),
        ...(isEngineAlone ? [] : otherFrames(moment, { ...readings, km: stuckKm ?? km }, faults)),
      ];
      return [...gateway.pass(frames, isRepeating), ...messages.due(nowMs)];
    },
    isAwake: () => awake,
    setFaults(change) {
      faults = { ...faults, ...change };
    },
    faults: () => faults,
    odometerKm: (odometerM) => startKm + odometerM / 1000,
    vin,
  };
}
