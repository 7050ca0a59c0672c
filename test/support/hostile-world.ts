// One short life of a vehicle in a world that means it harm, from one number: a driver, a receiver that lies, a wire that
// flaps, a board that is late or wrong, a disk that refuses, power that goes anywhere, an operator who repeats himself. The
// truth is kept apart from what the agent is told, and every closing of the cut-off contact is judged by the truth alone.

import type { Fix } from '../../agent/core/gnss/epochs.ts';
import { type CommandRecord, createCommandRecord } from '../../agent/core/protection/command-record.ts';
import { type CutMode, createRules, type InterlockRules } from '../../agent/core/protection/interlock.ts';
import type { CommandBody } from '../../src/core/wire.ts';
import {
  createHostileVehicle,
  type Disk,
  type HostileVehicle,
  type Order,
  startUtcMs,
} from './hostile-vehicle.ts';

/** Numbers in [0, 1) from a seed (mulberry32): the same seed, the same life. */
function createLuck(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * What nobody can know in time. A vehicle that is pulled away with its ignition off is seen by GNSS only: a fix is good for
 * 2 s, its burst takes half a second, an order waits 1.5 s. A key that is turned is seen within 1.1 s, and no engine has
 * moved a vehicle by then.
 */
const latencyMs = { motion: 4000, ignition: 1100, startLeast: 1300 } as const;
/** Full acceleration, as the interlock has it. */
const accelerationKmhPerS = 7;
const stepMs = 250;
const metresPerDegree = 111_195;

type Lie = 'none' | 'void' | 'standing' | 'walk' | 'jump' | 'old';

export interface LifeCounts {
  closings: number;
  withIgnitionOn: number;
  reboots: number;
  withdrawals: number;
  fastestKmh: number;
}

export interface Life {
  readonly breaches: readonly string[];
  readonly trail: readonly string[];
}

interface World {
  readonly luck: () => number;
  readonly rules: InterlockRules;
  readonly disk: Disk;
  vehicle: HostileVehicle;
  nowMs: number;
  readonly breaches: string[];
  readonly trail: string[];
  readonly counts: LifeCounts;
  // The truth.
  ignition: boolean;
  ignitionSinceMs: number;
  speedKmh: number;
  targetKmh: number;
  movingSinceMs: number | null;
  isTowed: boolean;
  /** It rolls because it was driven, and the disk had the time to know. */
  isCoasting: boolean;
  north: number;
  cut: boolean;
  warning: boolean;
  warningSinceMs: number;
  // What lies.
  lie: Lie;
  liedMs: number;
  lieNorth: number;
  lieStep: number;
  ignitionLie: boolean | null;
  ignitionLieUntilMs: number;
  sampleUntilMs: number;
  offSinceMs: number | null;
  boardSilentUntilMs: number;
  isStuck: boolean;
  isDiskBad: boolean;
  diskStallsUntilMs: number;
  /** The command at whose worst moment something was done already. */
  struckID: string | null;
  nextReadMs: number;
  isBoardFresh: boolean;
  // The operator.
  counter: number;
  readonly issued: CommandBody[];
  readonly movedBy: Map<string, boolean>;
  lastMover: string | null;
}

const chance = (world: World, of: number): boolean => world.luck() < of;
const pick = <T>(world: World, from: readonly T[]): T => from[Math.floor(world.luck() * from.length)] as T;
const note = (world: World, text: string): void => {
  if (world.trail.length > 400) world.trail.shift();
  world.trail.push(`${(world.nowMs / 1000).toFixed(2)} ${text}`);
};
const breach = (world: World, text: string): void => {
  world.breaches.push(`${(world.nowMs / 1000).toFixed(2)} s: ${text}`);
  note(world, `BREACH ${text}`);
};
const utcMs = (world: World): number => startUtcMs + world.nowMs;

/** Why a closing is no prevention of a start: ignition is on, or the vehicle moves; null when it is one. */
function faultOfPrevention(world: World, token: string): string | null {
  const { nowMs } = world;
  const ignitionOnMs = world.ignition ? nowMs - world.ignitionSinceMs : 0;
  const movingMs = world.movingSinceMs === null ? 0 : nowMs - world.movingSinceMs;
  if (ignitionOnMs > latencyMs.ignition) return `closed ${ignitionOnMs} ms after the key was turned`;
  // Moved by others, or rolling, with its ignition off. A cut that was proven comes back on such a vehicle at once (rule 9).
  const isTow = world.isTowed || world.ignition;
  const isHonest = nowMs - world.liedMs > 15_000;
  const isReapplied = token.startsWith('repair:') && !world.isCoasting;
  const isUnseen = isTow && (movingMs <= latencyMs.motion || !isHonest || isReapplied);
  return world.speedKmh > 0 && !isUnseen
    ? `closed at ${world.speedKmh.toFixed(1)} km/h, for ${movingMs} ms`
    : null;
}

/** Why a closing does not keep to a mode with ignition on; null when it does. */
function faultOfMode(world: World, token: string): string | null {
  const { rules, nowMs } = world;
  const soundedMs = world.warning ? nowMs - world.warningSinceMs : 0;
  const isHonest = nowMs - world.liedMs > 15_000;
  if (rules.cutMode === 'ignition_off' || !token.startsWith('drive:')) return 'no mode for it';
  if (isHonest && world.speedKmh > 20) return 'above the ceiling';
  if (world.vehicle.evidence().speed.kind === 'unknown') return 'with an unknown speed';
  return soundedMs < rules.warningMs ? `after ${soundedMs} ms of warning` : null;
}

/** The contact closes: everything that must hold, by the truth. */
function judgeClosing(world: World, token: string): void {
  const { counts } = world;
  counts.closings += 1;
  counts.fastestKmh = Math.max(counts.fastestKmh, world.speedKmh);
  const against = faultOfPrevention(world, token);
  const mode = faultOfMode(world, token);
  if (mode === null) counts.withIgnitionOn += 1;
  if (against !== null && mode !== null) breach(world, `${against}; ${mode}`);
  const active = world.disk.record.active.enginecutoff;
  if (token.startsWith('drive:')) {
    const commandID = token.slice('drive:'.length);
    const body = world.issued.find((item) => item.commandID === commandID);
    if (body?.state !== '1') breach(world, `closed for ${commandID}, which nobody asked for`);
    else if (utcMs(world) >= body.expiresMs) breach(world, `closed after the expiry of ${commandID}`);
    if (active?.commandID !== commandID || active.phase !== 'executing')
      breach(world, `closed for ${commandID} before the disk knew`);
    if (world.movedBy.get(commandID) === true) breach(world, `closed twice for ${commandID}`);
    world.movedBy.set(commandID, true);
    world.lastMover = commandID;
  } else if (token.startsWith('repair:')) {
    if (world.disk.record.confirmed.enginecutoff?.state !== '1')
      breach(world, 'closed by a repair of nothing');
  } else breach(world, `closed by ${token}`);
}

function moveContact(world: World, order: Order): void {
  if (world.isStuck) return;
  if (order.relay === 'warning') {
    if (world.warning !== order.on) {
      world.warningSinceMs = world.nowMs;
      note(world, `warning ${order.on ? 'sounds' : 'falls silent'}`);
    }
    world.warning = order.on;
    return;
  }
  if (world.cut === order.on) return;
  world.cut = order.on;
  note(
    world,
    `contact ${order.on ? 'closes' : 'opens'} for ${order.token}, ${world.speedKmh.toFixed(1)} km/h`,
  );
  if (order.on) return judgeClosing(world, order.token);
  // Taken back by us or by the power: the command may be carried out again.
  if (order.token.startsWith('withdraw')) world.counts.withdrawals += 1;
  if (!order.token.startsWith('drive:') && world.lastMover !== null)
    world.movedBy.set(world.lastMover, false);
}

/** The bus: late, lost and wrong answers; but nothing is written after its deadline, and no answer is invented. */
function serveOrders(world: World): void {
  const { vehicle, nowMs } = world;
  // As they are now: an answer may bring a new one.
  for (const order of Array.from(vehicle.orders.values())) {
    const isSilent = nowMs < world.boardSilentUntilMs;
    if (nowMs > order.deadlineMs) {
      vehicle.done(order, 'refused', null);
      continue;
    }
    if (isSilent || chance(world, 0.15)) continue;
    moveContact(world, order);
    const is = order.relay === 'warning' ? world.warning : world.cut;
    if (chance(world, 0.12)) vehicle.done(order, 'unknown', null);
    else vehicle.done(order, is === order.on ? 'confirmed' : 'mismatch', is);
  }
}

function serveDisk(world: World): void {
  const { vehicle, disk } = world;
  if (world.nowMs < world.diskStallsUntilMs) return;
  for (let left = 4; left > 0 && vehicle.commits.length > 0; left -= 1) {
    if (chance(world, 0.25)) return;
    const commit = vehicle.commits[0];
    if (commit === undefined) return;
    if (world.isDiskBad) {
      // Told as not durable, once; it stays in the queue until the disk takes it.
      vehicle.commits[0] = { ...commit, token: '' };
      if (commit.token !== '') vehicle.take({ kind: 'committed', token: commit.token, durable: false });
      return;
    }
    vehicle.commits.shift();
    disk.record = commit.record;
    disk.wasIgnitionOn = commit.wasIgnitionOn ?? disk.wasIgnitionOn;
    if (commit.token !== '') vehicle.take({ kind: 'committed', token: commit.token, durable: true });
  }
}

function fixOf(world: World): Fix | null {
  const { lie, luck } = world;
  if (lie === 'void') return null;
  const isWalk = lie === 'walk' || lie === 'jump';
  if (lie === 'jump') world.lieNorth += chance(world, 0.1) ? 2000 : 0;
  if (isWalk) world.lieNorth += world.lieStep;
  const stands = lie === 'standing' || isWalk;
  const north = isWalk
    ? world.lieNorth
    : lie === 'standing'
      ? world.lieNorth
      : world.north + (luck() - 0.5) * 3;
  const speedKmh = stands ? 0 : Math.max(0, world.speedKmh + (luck() - 0.5) * 0.6);
  return {
    utcMs: lie === 'old' ? startUtcMs : utcMs(world),
    atMonoMs: world.nowMs,
    latitude: 43 + north / metresPerDegree,
    longitude: -79,
    altitudeM: 90,
    speedKmh,
    headingDeg: 0,
    hdop: lie === 'old' ? 7 : 0.9,
    satellites: 9,
    dimension: 3,
    mode: 'A',
    rmcValid: true,
    doubts: [],
  };
}

/** What the agent learns in this step. */
function sense(world: World): void {
  const { vehicle, nowMs, luck } = world;
  if (world.lie !== 'none') world.liedMs = nowMs;
  if (nowMs % 1000 === 0) {
    const fix = fixOf(world);
    if (fix === null) vehicle.noFix();
    else vehicle.fix(fix);
  }
  const isSilent = nowMs < world.boardSilentUntilMs;
  if (!isSilent) world.sampleUntilMs = nowMs + 1000;
  if (nowMs >= world.sampleUntilMs) {
    vehicle.ignition(null);
    world.offSinceMs = null;
  } else if (!isSilent) {
    const lies = nowMs < world.ignitionLieUntilMs && world.ignitionLie !== null;
    const seen = lies ? world.ignitionLie === true : world.ignition;
    // On counts at its first sample, off after the debounce.
    if (seen) world.offSinceMs = null;
    else world.offSinceMs ??= nowMs;
    if (seen) vehicle.ignition(true);
    else if (nowMs - (world.offSinceMs ?? nowMs) >= 300) vehicle.ignition(false);
  }
  if (isSilent) {
    if (nowMs - world.nextReadMs > 20_000) vehicle.boardLost();
    return;
  }
  if (nowMs < world.nextReadMs) return;
  world.nextReadMs = nowMs + (luck() < 0.3 ? 1000 : 5000);
  vehicle.readBack({ cut: world.cut, warning: world.warning }, world.isBoardFresh);
  world.isBoardFresh = false;
}

/** The driver and the tow truck. */
function drive(world: World): void {
  const { nowMs } = world;
  const hasRun = world.ignition && nowMs - world.ignitionSinceMs >= latencyMs.startLeast;
  const canMove = world.isTowed || hasRun || world.speedKmh > 0;
  const reach = (accelerationKmhPerS * stepMs) / 1000;
  const target = canMove ? world.targetKmh : 0;
  world.speedKmh += Math.max(-reach * 2, Math.min(reach, target - world.speedKmh));
  if (world.speedKmh < 0.01) world.speedKmh = 0;
  world.north += ((world.speedKmh / 3.6) * stepMs) / 1000;
  if (world.ignition && world.speedKmh > 0) world.isCoasting = !world.isDiskBad;
  if (world.speedKmh === 0) world.isCoasting = false;
  if (world.speedKmh === 0) world.movingSinceMs = null;
  else world.movingSinceMs ??= nowMs;
  if (world.ignition) world.isTowed = false;
  else if (world.speedKmh > 0) world.isTowed = true;
}

function turnKey(world: World, isOn: boolean): void {
  if (world.ignition === isOn) return;
  note(world, `key ${isOn ? 'on' : 'off'}`);
  world.ignition = isOn;
  world.ignitionSinceMs = world.nowMs;
  if (!isOn) return;
  world.isTowed = false;
  // A wire that breaks at the very moment at which the key is turned is more than anybody can see.
  world.ignitionLieUntilMs = 0;
}

function operate(world: World): void {
  const { luck, vehicle, issued } = world;
  const fitted = ['enginecutoff'] as const;
  const old = issued.length > 0 ? pick(world, issued) : undefined;
  world.counter += 1;
  if (old !== undefined && chance(world, 0.4)) {
    // A replay, the same with a fresh counter, or its withdrawal.
    const kind = luck();
    const body = kind < 0.3 ? old : { ...old, counter: world.counter, cancel: kind > 0.7 };
    return vehicle.take({ kind: 'envelope', body, fitted, boot: 'b' });
  }
  const body: CommandBody = {
    accountID: 'a',
    deviceID: 'd',
    commandID: `c${world.counter}`,
    boot: 'b',
    counter: world.counter,
    issuedMs: utcMs(world),
    expiresMs: utcMs(world) + (chance(world, 0.3) ? 4000 + luck() * 20_000 : 3_600_000),
    feature: 'enginecutoff',
    state: chance(world, 0.75) ? '1' : '0',
    mode: 'interlock',
    reason: '',
    issuer: 'o',
    cancel: false,
  };
  issued.push(body);
  note(world, `operator ${body.commandID} ${body.state}`);
  vehicle.take({ kind: 'envelope', body, fitted, boot: 'b' });
}

/** Power goes: what is not on disk never happened; a board that loses it too drops its relays. */
function reboot(world: World): void {
  const { nowMs, disk, rules } = world;
  world.counts.reboots += 1;
  note(world, 'reboot');
  // The disk does not know that it was on, and the wire says that it is not: then nobody does.
  const isUntold = world.isDiskBad || world.vehicle.commits.length > 0;
  if (isUntold && world.ignitionLie === false) world.ignitionLieUntilMs = 0;
  // An order that was on its way may still reach the board as the agent dies.
  for (const order of world.vehicle.orders.values())
    if (nowMs <= order.deadlineMs && nowMs >= world.boardSilentUntilMs && chance(world, 0.3))
      moveContact(world, order);
  if (chance(world, 0.3)) {
    const power = { on: false, token: 'power', deadlineMs: nowMs } as const;
    const { isStuck } = world;
    world.isStuck = false;
    moveContact(world, { relay: 'enginecutoff', ...power });
    moveContact(world, { relay: 'warning', ...power });
    world.isStuck = isStuck;
  }
  world.vehicle = createHostileVehicle({ disk, rules, nowMs });
  world.isBoardFresh = true;
  world.nextReadMs = nowMs;
  world.offSinceMs = null;
  if (chance(world, 0.8)) world.vehicle.welcome(utcMs(world));
}

/** Up to 3 km/h a vehicle stands, by the rule; what creeps slower for long cannot be told from it by any receiver. */
const speedFrom = (world: World, mostKmh: number): number => 4 + world.luck() * (mostKmh - 4);

/** One thing goes wrong, or a person does something. */
function meddle(world: World): void {
  const { luck, nowMs } = world;
  const which = luck();
  if (which < 0.22) operate(world);
  else if (which < 0.34) turnKey(world, !world.ignition);
  else if (which < 0.46)
    world.targetKmh = chance(world, 0.4) ? 0 : speedFrom(world, chance(world, 0.5) ? 25 : 90);
  else if (which < 0.5) {
    if (!world.ignition) world.isTowed = true;
    world.targetKmh = speedFrom(world, 40);
  } else if (which < 0.62) {
    note(world, 'lies');
    world.lie = pick<Lie>(world, ['none', 'none', 'void', 'standing', 'walk', 'jump', 'old']);
    world.lieNorth = world.north;
    world.lieStep = (luck() - 0.5) * 60;
  } else if (which < 0.7) {
    // A wire that is loose for some seconds while ignition is on; for longer only towards "on", which is the safe side.
    world.ignitionLie = chance(world, 0.3) || world.vehicle.evidence().ignition.value !== true;
    world.ignitionLieUntilMs = nowMs + luck() * (world.ignitionLie ? 30_000 : 9000);
  } else if (which < 0.77) world.boardSilentUntilMs = nowMs + luck() * (chance(world, 0.2) ? 30_000 : 3000);
  else if (which < 0.81) world.isStuck = !world.isStuck;
  else if (which < 0.86) world.isDiskBad = !world.isDiskBad;
  else if (which < 0.93) reboot(world);
  else world.vehicle.welcome(utcMs(world));
  if (chance(world, 0.3)) world.isDiskBad = false;
}

/** The worst of moments: a cut is on its way to the disk or to the board. Somebody drives off, or the way becomes long. */
function strike(world: World): void {
  const { luck, nowMs, vehicle } = world;
  const active = vehicle.state().record.active.enginecutoff;
  if (active?.phase !== 'executing' || active.state !== '1' || active.commandID === world.struckID) return;
  world.struckID = active.commandID;
  note(world, `strike at ${active.commandID}`);
  if (chance(world, 0.4)) {
    turnKey(world, true);
    world.targetKmh = speedFrom(world, 90);
  }
  if (!world.ignition && chance(world, 0.3)) {
    world.isTowed = true;
    world.targetKmh = speedFrom(world, 40);
  }
  if (chance(world, 0.3)) world.diskStallsUntilMs = nowMs + luck() * 12_000;
  if (chance(world, 0.3)) world.boardSilentUntilMs = nowMs + luck() * 1800;
  if (chance(world, 0.1)) operate(world);
  if (chance(world, 0.1)) reboot(world);
}

function createWorld(seed: number, mode: CutMode, counts: LifeCounts): World {
  const luck = createLuck(seed);
  const rules = createRules({ cutMode: mode, cutBelowKmh: 5 + luck() * 40, isPanicFitted: false });
  const record: CommandRecord = createCommandRecord();
  const disk: Disk = { record, wasIgnitionOn: false };
  const isParked = mode === 'ignition_off' ? luck() < 0.8 : luck() < 0.3;
  const vehicle = createHostileVehicle({ disk, rules, nowMs: 0 });
  return {
    luck,
    rules,
    disk,
    vehicle,
    nowMs: 0,
    breaches: [],
    trail: [],
    counts,
    ignition: !isParked,
    ignitionSinceMs: -60_000,
    speedKmh: 0,
    targetKmh: 0,
    movingSinceMs: null,
    isTowed: false,
    isCoasting: false,
    north: 0,
    cut: false,
    warning: false,
    warningSinceMs: 0,
    lie: 'none',
    liedMs: Number.NEGATIVE_INFINITY,
    lieNorth: 0,
    lieStep: 0,
    ignitionLie: null,
    ignitionLieUntilMs: 0,
    sampleUntilMs: 0,
    offSinceMs: null,
    boardSilentUntilMs: 0,
    isStuck: false,
    isDiskBad: false,
    diskStallsUntilMs: 0,
    struckID: null,
    nextReadMs: 0,
    isBoardFresh: true,
    counter: 0,
    issued: [],
    movedBy: new Map(),
    lastMover: null,
  };
}

/** Lives one life; `counts` sums over lives. */
export function liveHostile(seed: number, mode: CutMode, counts: LifeCounts): Life {
  const world = createWorld(seed, mode, counts);
  world.vehicle.welcome(utcMs(world));
  // Calm first, so that there is something to lose; then harm, more or less of it.
  const calmMs = mode === 'ignition_off' ? 13_000 : 14_000;
  const lastMs = calmMs + (mode === 'ignition_off' ? 25_000 : 75_000);
  const harm = 0.01 + world.luck() ** 2 * (mode === 'ignition_off' ? 0.3 : 0.08);
  const startsAtMs = 8000 + world.luck() * 6000;
  let isOperated = false;
  while (world.nowMs < lastMs && world.breaches.length === 0) {
    world.nowMs += stepMs;
    world.vehicle.at(world.nowMs);
    drive(world);
    sense(world);
    world.vehicle.guard();
    if (!isOperated && world.nowMs >= startsAtMs) {
      isOperated = true;
      operate(world);
    }
    if (world.nowMs > calmMs && chance(world, harm)) meddle(world);
    strike(world);
    serveOrders(world);
    serveDisk(world);
    if (world.nowMs % 500 !== 0) continue;
    world.vehicle.look();
    serveDisk(world);
  }
  return { breaches: world.breaches, trail: world.trail };
}
