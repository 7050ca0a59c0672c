// The whole vehicle core over a simulated board and receiver on a virtual clock, with a disk that takes everything at once:
// for tests of what the vehicle does, without a network. Restarting it keeps the disk and loses the rest. It begins as a
// commissioned vehicle, by what is on its disk; what its inputs read counts as soon as the receiver shows it where it was parked.

import { readBoardProfile } from '../../../agent/boards.ts';
import type { BoardOverrides } from '../../../agent/core/board/board-profile.ts';
import { applyOverrides } from '../../../agent/core/board/profile-parsing.ts';
import type { DriverReaderConfig } from '../../../agent/core/driver/driver-config.ts';
import type { LlsConfig } from '../../../agent/core/fuel/lls-config.ts';
import type { Commit, VehicleEffect, VehicleEvent } from '../../../agent/core/kernel/vehicle-events.ts';
import type { StepContext, VehicleState } from '../../../agent/core/kernel/vehicle-state.ts';
import { type VehicleConfig } from '../../../agent/core/kernel/vehicle-types.ts';
import { createCommandRecord } from '../../../agent/core/protection/command-record.ts';
import { type Protection, standardProtection } from '../../../agent/core/protection/protection.ts';
import type { SleepConfig } from '../../../agent/core/sleep/sleep.ts';
import type { UpdateSetup, UpdateTask } from '../../../agent/core/update/update-types.ts';
import { modules } from '../../../agent/core/vehicle/modules.ts';
import { stepVehicle, vehicleWakeMs } from '../../../agent/core/vehicle/vehicle.ts';
import { createVehicle } from '../../../agent/core/vehicle/vehicle-start.ts';
import { commissionedMemory, emptyMemory } from '../../../agent/vehicle-record.ts';
import { createVirtualClock } from '../../../simulator/clock.ts';
import { createSeededEntropy } from '../../../simulator/core/random.ts';
import { createBoard } from '../../../simulator/hardware/board.ts';
import { type BoardName, fittedOverrides, type WiringName } from '../../../simulator/hardware/board-maps.ts';
import type { RelayChange } from '../../../simulator/hardware/contacts.ts';
import { createGnss } from '../../../simulator/hardware/gnss.ts';
import { personsCrypto } from '../../../src/adapters/persons-crypto.ts';
import type { FleetEvent } from '../../../src/core/events/event.ts';
import { statusText } from '../../../src/core/events/status-codes.ts';
import { type Settings, standardSettings } from '../../../src/core/settings/settings.ts';
import type { CommandBody } from '../../../src/core/wire/wire.ts';
import type { Cancel } from '../../../src/ports.ts';
import { serviceCodesOfSecret } from '../../../src/service-codes.ts';
import { plainVerifier } from '../guard/guard-lines.ts';

export const rigCodes = serviceCodesOfSecret('a-device-secret-of-some-length', {
  accountID: 'acme',
  deviceID: 'truck-1',
});

export interface RigOptions {
  readonly boardName?: BoardName;
  readonly overrides?: BoardOverrides;
  /** Which wires prove its contacts; plain unless given. */
  readonly wiring?: WiringName;
  readonly protection?: Partial<Protection>;
  /** With it the vehicle takes firmware jobs up; its tasks are kept and not done. */
  readonly updateSetup?: UpdateSetup;
  readonly clocks?: Partial<RigClocks>;
  /** False: fresh from the shop, no witness has earned credit. */
  readonly isCommissioned?: boolean;
  /** Its reader of drivers' keys; none unless given. Keys come by `dispatch`. */
  readonly driverReader?: DriverReaderConfig;
  /** Its digital fuel sender; none unless given. What it shows comes by `dispatch`. */
  readonly fuelSender?: LlsConfig;
  /** The receiver smooths its speed with this time constant, ms; not unless given. */
  readonly smoothMs?: number;
  /** Its owner; none unless given. Documents come by `dispatch`. */
  readonly owner?: { readonly pin: string; readonly documentText: string | null };
  /** When its machine is suspended; never unless given. */
  readonly sleep?: SleepConfig;
  /** Tables of settings beside the standard ones. */
  readonly settings?: Partial<Settings>;
  /** Every line of the vehicle's log. */
  onLog?(event: string, fields: Readonly<Record<string, unknown>>): void;
  /** Every move of a contact, as it happens. */
  onContact?(change: RelayChange): void;
}

/** How far the vehicle's clocks are from the truth; may be changed while it runs. */
export interface RigClocks {
  /** The system's wall clock. */
  wallAheadMs: number;
  /** The receiver's UTC. */
  skyAheadMs: number;
  /** Monotonic time of the vehicle: parts per million that it is fast. */
  quartzPpm: number;
}

/** How fast a vehicle changes its speed, km/h per second. */
const rateKmhPerS = 7;
const metresPerDegree = 111_195;

const rigUnit = { accountID: 'acme', deviceID: 'truck-1', hardwareID: 'unit-1' } as const;

/** A vehicle on a straight road to the north. @param smoothMs time constant of the receiver's filter on the speed; 0: none. */
function createRoad(monoMs: () => number, smoothMs: number) {
  const truth = { latitude: 43.65, longitude: -79.34, altitudeM: 90, speedKmh: 0, headingDeg: 0 };
  let targetKmh = 0;
  let smoothKmh = 0;
  let atMs = monoMs();
  const now = () => {
    const stepS = (monoMs() - atMs) / 1000;
    atMs = monoMs();
    const before = truth.speedKmh;
    const reach = rateKmhPerS * stepS;
    truth.speedKmh = before + Math.max(-reach, Math.min(reach, targetKmh - before));
    truth.latitude += (((before + truth.speedKmh) / 2 / 3.6) * stepS) / metresPerDegree;
    const share = smoothMs === 0 ? 1 : 1 - Math.exp((-stepS * 1000) / smoothMs);
    smoothKmh += (truth.speedKmh - smoothKmh) * share;
    return truth;
  };
  return {
    now,
    /** As the receiver shows it. */
    seen: () => ({ ...now(), speedKmh: smoothKmh }),
    drive(speedKmh: number) {
      now();
      targetKmh = speedKmh;
    },
  };
}

/** Starts it; the vehicle is parked with its ignition off. */
export async function createVehicleRig({
  boardName = 'waveshare-relay-d',
  overrides = {},
  wiring = 'plain',
  protection,
  updateSetup,
  clocks: given = {},
  isCommissioned = true,
  driverReader,
  fuelSender,
  smoothMs = 0,
  owner,
  sleep,
  settings,
  onLog,
  onContact,
}: RigOptions = {}) {
  const clocks: RigClocks = { wallAheadMs: 0, skyAheadMs: 0, quartzPpm: 0, ...given };
  // Inputs are read seldom, so that minutes pass quickly; a test of presses asks for more.
  const fitted = fittedOverrides(boardName, wiring);
  const polls = { ...fitted.polls, inputs: { periodMs: 250 }, ...overrides.polls };
  const inputs = { ...fitted.inputs, ...overrides.inputs };
  const verdict = applyOverrides(await readBoardProfile(boardName), {
    ...fitted,
    ...overrides,
    inputs,
    polls,
  });
  if (verdict.kind !== 'ok') throw new Error(JSON.stringify(verdict.faults));
  const clock = createVirtualClock(Date.UTC(2027, 0, 1));
  const entropy = createSeededEntropy('rig');
  let isPlugged = true;
  const road = createRoad(() => clock.monoMs(), smoothMs);
  const changes: RelayChange[] = [];
  const told: FleetEvent[] = [];
  const updateTasks: UpdateTask[] = [];
  /** Until the board hears what the vehicle writes: a computer that stalls sends late. */
  const line = { lateMs: 0, busyUntilMs: 0 };
  const commissioned = { parkedAt: road.now(), utcMs: clock.utcMs() - 86_400_000 };
  const disk = {
    record: createCommandRecord(),
    memory: isCommissioned
      ? commissionedMemory({ ...rigUnit, profile: verdict.profile }, commissioned)
      : emptyMemory,
    rows: {} as Commit['rows'],
  };
  let boots = 0;
  let counter = 0;
  let nonces = 0;
  let config: VehicleConfig;
  let state: VehicleState;
  let timer: Cancel = () => undefined;
  let isAlive = false;
  let isQuiet = false;
  const queue: VehicleEvent[] = [];
  /** What has come while the process was held up; null while it runs. */
  let held: VehicleEvent[] | null = null;
  let isStepping = false;
  const monoMs = (): number => clock.monoMs() * (1 + clocks.quartzPpm / 1e6);
  const now = () => ({ monoMs: monoMs(), utcMs: clock.utcMs() + clocks.wallAheadMs, fraction: 0.5 });

  /** The last effects, in order, by their names. */
  const performed: string[] = [];

  const perform = (effect: VehicleEffect): void => {
    performed.push(effect.kind === 'delivery' ? effect.effect.kind : effect.kind);
    performed.splice(0, performed.length - 50);
    if (effect.kind === 'openPort') queue.push({ kind: 'opened', port: effect.port });
    if (effect.kind === 'writePort' && effect.port === 'board') {
      const { bytes } = effect;
      // No byte overtakes another.
      const atMs = Math.max(clock.monoMs() + line.lateMs, line.busyUntilMs);
      line.busyUntilMs = atMs;
      if (atMs <= clock.monoMs()) board.receive(bytes);
      else clock.after(atMs - clock.monoMs(), () => board.receive(bytes));
    }
    if (effect.kind === 'log') onLog?.(effect.event, effect.fields);
    if (effect.kind === 'update') updateTasks.push(effect.task);
    if (effect.kind !== 'commit') return;
    if (effect.record !== null) disk.record = JSON.parse(JSON.stringify(effect.record));
    disk.memory = effect.memory;
    disk.rows = JSON.parse(JSON.stringify(effect.rows));
    told.push(...effect.events.map(({ event }) => ({ ...event, seq: told.length })));
    if (effect.token !== null) queue.push({ kind: 'committed', token: effect.token, durable: true });
  };
  const dispatch = (event: VehicleEvent): void => {
    if (!isAlive) return;
    if (held !== null) return void held.push(event);
    queue.push(event);
    if (isStepping) return;
    isStepping = true;
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const step = stepVehicle(state, next, { now: now(), config });
      state = step.state;
      for (const effect of step.effects) perform(effect);
    }
    isStepping = false;
    timer();
    const delayMs = Math.max(1, vehicleWakeMs(state, config) - monoMs());
    timer = clock.after(delayMs, () => dispatch({ kind: 'time' }));
  };
  const board = createBoard({
    name: boardName,
    wiring,
    clock,
    entropy: entropy.stream('board'),
    send: (bytes) => dispatch({ kind: 'bytes', port: 'board', bytes }),
    refresh: (to) => to.setSignal('motion', isPlugged && road.now().speedKmh > 1),
    onRelayChange(change) {
      changes.push(change);
      onContact?.(change);
    },
  });
  const gnss = createGnss({
    clock,
    entropy: entropy.stream('gnss'),
    utcMs: () => clock.utcMs() + clocks.skyAheadMs,
    truth: road.seen,
    send: (bytes) => (isQuiet ? undefined : dispatch({ kind: 'bytes', port: 'gnss', bytes })),
    acquireS: 2,
  });
  const start = (): void => {
    boots += 1;
    config = {
      ...rigUnit,
      agentVersion: '0.0.0',
      earliestUtcMs: Date.UTC(2026, 10, 1),
      boot: `b${boots}`,
      verifier: plainVerifier,
      profile: verdict.profile,
      ...(driverReader === undefined ? {} : { driverReader }),
      ...(fuelSender === undefined ? {} : { fuelSender }),
      ...(sleep === undefined ? {} : { sleep }),
      ...(owner === undefined
        ? {}
        : {
            owner: { pin: owner.pin },
            ownerSource: { crypto: personsCrypto, documentText: owner.documentText },
          }),
      ...(updateSetup === undefined ? {} : { updateSetup }),
      broker: { keepaliveS: 240 },
      gnssSilenceMs: 5000,
      settings: { ...standardSettings, ...settings },
      protection: { ...standardProtection, ...protection },
      serviceCodes: rigCodes,
      windowMs: 0,
    };
    const { record, memory, rows } = disk;
    state = createVehicle(config, {
      now: now(),
      bootMonoMs: monoMs(),
      poweredMs: Number.NEGATIVE_INFINITY,
      record,
      memory,
      rows,
      connectDelayMs: 1e9,
    });
    isAlive = true;
    dispatch({ kind: 'start' });
  };
  start();

  return {
    board,
    clock,
    gnss,
    line,
    clocks,
    performed,
    trueUtcMs: () => clock.utcMs(),
    changes,
    told,
    updateTasks,
    disk,
    /** The plug comes off that carries the wires of ignition and motion, and not that of a life input. */
    unplug() {
      isPlugged = false;
      board.setSignal('motion', false);
      board.setSignal('ignition', false);
    },
    /** Nothing is heard of board and receiver: hours pass quickly. */
    quiet(isOn: boolean) {
      isQuiet = isOn;
      board.setFaults({ silent: isOn });
    },
    /** Whether the receiver sees the sky, or says nothing. */
    sky(isInSight: boolean) {
      isQuiet = !isInSight;
    },
    run: (seconds: number) => clock.advance(seconds * 1000),
    /** The process is held up: time passes without it. */
    hold() {
      held = [];
    },
    /** It goes on, and takes what has come meanwhile or what time demands first. */
    goOn(first: 'bytes' | 'time') {
      const late = held ?? [];
      held = null;
      if (first === 'time') dispatch({ kind: 'time' });
      for (const event of late) dispatch(event);
    },
    /** Gathers or loses speed; the key is turned by the ignition signal. */
    drive: road.drive,
    speedKmh: () => road.now().speedKmh,
    /** Metres to the north of the equator, by the true road. */
    place: () => road.now().latitude * metresPerDegree,
    state: () => state,
    config: () => config,
    /** Monotonic. */
    nowMs: () => clock.monoMs(),
    dispatch,
    /** Status texts of all events, with the state of commands. */
    said: () => told.map(({ statusCode, commandState }) => commandState ?? statusText(statusCode)),
    /** Codes and reasons that commands and relays gave, in order. */
    reasons: () =>
      told.flatMap(({ attributes }) => {
        const { code, reason } = attributes ?? {};
        return [code, reason].filter((text) => text !== undefined).map(String);
      }),
    command(feature: CommandBody['feature'], wanted: CommandBody['state'], over: Partial<CommandBody> = {}) {
      counter += 1;
      const body: CommandBody = {
        accountID: 'acme',
        deviceID: 'truck-1',
        commandID: `c${counter}`,
        boot: config.boot,
        counter,
        issuedMs: clock.utcMs(),
        expiresMs: clock.utcMs() + 3_600_000,
        feature,
        state: wanted,
        mode: 'interlock',
        reason: '',
        issuer: 'acme/op',
        cancel: false,
        ...over,
      };
      dispatch({ kind: 'command', body, receipt: counter, token: `good.${JSON.stringify(body)}` });
    },
    /** Connects to a broker whose clock shows this; its welcome comes at once. */
    welcome(serverTimeMs: number) {
      const nonce = `n${(nonces += 1)}`;
      const { accountID, deviceID, boot } = config;
      dispatch({ kind: 'delivery', input: { kind: 'up', nonce } });
      dispatch({ kind: 'delivery', input: { kind: 'greeted' } });
      const welcome = { accountID, deviceID, boot, nonce, serverTimeMs, upTo: 0, configVersion: 0 };
      dispatch({ kind: 'welcome', welcome });
    },
    /** What a part of the vehicle does within a step: a geozone, for one. */
    within(act: (work: StepContext) => void) {
      const work: StepContext = { state, effects: [], now: now(), config, modules, receipts: [] };
      act(work);
      state = work.state;
      isStepping = true;
      for (const effect of work.effects) perform(effect);
      isStepping = false;
      dispatch({ kind: 'time' });
    },
    kill() {
      isAlive = false;
      queue.length = 0;
      timer();
    },
    start,
  };
}

export type VehicleRig = Awaited<ReturnType<typeof createVehicleRig>>;
