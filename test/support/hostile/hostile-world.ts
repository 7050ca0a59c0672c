// One short life of a vehicle in a world that means it harm, from one number: a driver, sensors that fail alone and in pairs, a board
// that is late or swapped, a disk that refuses, power that goes at any time, clocks that step, an operator who repeats commands. The
// truth is kept apart from what the agent reads, and every closing of a restrictive contact is judged by the truth alone.
import { type EvidenceRecord, emptyEvidence } from '../../../agent/core/evidence/evidence-record.ts';
import { createCommandRecord } from '../../../agent/core/protection/command-record.ts';
import { type CutMode, createRules } from '../../../agent/core/protection/interlock-rules.ts';
import { type FeatureName, featureNames } from '../../../src/core/events/event.ts';
import { type WitnessName, witnessNames } from '../../../src/core/verdict/witness.ts';
import type { CommandBody } from '../../../src/core/wire/wire.ts';
import { busFaults, createHostileBus } from './hostile-bus.ts';
import { keepRecords } from './hostile-causes.ts';
import { judgeCommand, judgeEngineCut, judgeMotion } from './hostile-judge.ts';
import { chance, count, type LifeCounts, note, pick, serverMs, utcMs, type World } from './hostile-life.ts';
import {
  analogFaults,
  boardFaults,
  contactFaults,
  createSenses,
  type Fault,
  faultOf,
  gnssFaults,
  heardFix,
  isReceiverSilent,
  motionInputOf,
  readBoard,
  readReceiver,
  supplyFaults,
} from './hostile-senses.ts';
import { createLuck, createTruth, moveOn, stepMs, turnKey } from './hostile-truth.ts';
import { createHostileVehicle, type Disk, type Order, startUtcMs } from './hostile-vehicle.ts';

/** The line from the receiver draws from a random stream of its own, so that lives without loss are as before it was there. */
const lineSalt = 0x3c_6e_f3_72;

function moveContact(world: World, order: Order): void {
  const { contacts, counts } = world;
  if (world.isStuck || contacts[order.relay] === order.on) return;
  contacts[order.relay] = order.on;
  note(
    world,
    `${order.relay} ${order.on ? 'closes' : 'opens'} for ${order.token} at ${world.truth.speedKmh.toFixed(1)} km/h`,
  );
  if (order.relay === 'warning') {
    world.warningSinceMs = world.nowMs;
    return;
  }
  if (order.token.startsWith('drive:') && !order.on) world.changedMs[order.relay] = world.nowMs;
  if (order.on) {
    counts.closings += 1;
    if (order.relay === 'cargoaccess') counts.unlocks += 1;
    else judgeEngineCut(world, order.token);
    judgeMotion(world, order.relay);
    judgeCommand(world, order.relay, order.token);
    if (order.token.startsWith('drive:')) world.changedMs[order.relay] = world.nowMs;
    return;
  }
  if (order.token.startsWith('withdraw')) counts.withdrawals += 1;
  // Taken back by the agent or by the power: the command may be carried out again.
  const lastMover = world.lastMover.get(order.relay);
  if (!order.token.startsWith('drive:') && lastMover !== undefined) world.movedBy.set(lastMover, false);
}

const isSilent = (world: World): boolean =>
  world.senses.faults.some(
    ({ part, kind, fromMs, untilMs }) =>
      part === 'board' && kind === 'silent' && fromMs <= world.nowMs && world.nowMs < untilMs,
  );

/** The bus: late, lost and wrong answers; but nothing is written after its deadline, and no answer is invented. */
function serveOrders(world: World, loss: number): void {
  const { vehicle, nowMs } = world;
  for (const order of Array.from(vehicle.orders.values())) {
    if (nowMs > order.deadlineMs) {
      vehicle.done(order, 'refused', null);
      continue;
    }
    if (isSilent(world) || chance(world, loss)) continue;
    moveContact(world, order);
    const is = world.contacts[order.relay];
    if (chance(world, loss)) vehicle.done(order, 'unknown', null);
    else vehicle.done(order, is === order.on ? 'confirmed' : 'mismatch', is);
  }
}

function serveDisk(world: World): void {
  const { vehicle, disk } = world;
  while (vehicle.commits.length > 0) {
    const commit = vehicle.commits[0];
    if (commit === undefined) return;
    if (world.isDiskBad) {
      // Reported as not durable, once; it stays in the queue until the disk takes it.
      vehicle.commits[0] = { ...commit, token: '' };
      if (commit.token !== '') vehicle.take({ kind: 'committed', token: commit.token, durable: false });
      return;
    }
    vehicle.commits.shift();
    disk.now = commit.disk;
    if (commit.token !== '') vehicle.take({ kind: 'committed', token: commit.token, durable: true });
  }
}

function hearReceiver(world: World): void {
  const { vehicle, senses, truth, nowMs } = world;
  if (isReceiverSilent(senses, nowMs)) return;
  const fix = readReceiver(senses, truth, nowMs);
  const isRest = fix !== null && (fix.speedKmh ?? 9) <= 2;
  world.restFixMs = isRest ? (world.restFixMs ?? nowMs) : null;
  if (world.restFixMs !== null && nowMs - world.restFixMs >= 9000) world.freshMs = Number.NEGATIVE_INFINITY;
  if (fix === null) return vehicle.noFix();
  const heard = heardFix(senses, truth, fix);
  if (heard === null) return;
  if (heard.rmcValid && heard.hdop !== null) senses.fixMs = nowMs;
  vehicle.fix(heard);
}

function sense(world: World): void {
  const { vehicle, senses, truth, nowMs } = world;
  if (world.bus !== null) {
    world.bus.step(truth, faultOf(senses, 'bus', nowMs), nowMs);
    vehicle.hear(world.bus.reading(nowMs));
  }
  const sample = readBoard(senses, truth, nowMs);
  if (world.isPanic) world.panicMs = nowMs;
  if (nowMs % senses.everyMs === 0) hearReceiver(world);
  if (sample === null) world.silentSinceMs ??= nowMs;
  else if (world.silentSinceMs !== null) {
    if (nowMs - world.silentSinceMs > 5000) world.freshMs = nowMs;
    world.silentSinceMs = null;
  }
  if (sample === null) {
    if (nowMs - world.nextReadMs > 20_000) vehicle.boardLost();
    world.isBoardFresh = true;
    return;
  }
  vehicle.sample(sample, world.isPanic);
  keepRecords(senses, truth, nowMs);
  if (nowMs < world.nextReadMs) return;
  world.nextReadMs = nowMs + (chance(world, 0.3) ? 1000 : 5000);
  const { enginecutoff, cargoaccess, warning } = world.contacts;
  vehicle.readBack({ enginecutoff, cargoaccess }, warning, world.isBoardFresh);
  world.isBoardFresh = false;
}

function bodyOf(world: World, feature: FeatureName, state: '0' | '1'): CommandBody {
  const isShort = chance(world, 0.3) && !world.isHonest;
  return {
    accountID: 'a',
    deviceID: 'd',
    commandID: `c${world.counter}`,
    boot: `b${world.boot}`,
    counter: world.counter,
    issuedMs: serverMs(world),
    expiresMs: serverMs(world) + (isShort ? 4000 + world.luck() * 40_000 : 3_600_000),
    feature,
    state,
    mode: 'interlock',
    reason: '',
    issuer: 'o',
    cancel: false,
  };
}

function send(world: World, body: CommandBody): void {
  if (world.isOffline || world.nowMs < world.downUntilMs) return;
  world.vehicle.take({ kind: 'envelope', body, fitted: featureNames, boot: `b${world.boot}` });
}

export function operate(world: World, state?: '0' | '1'): void {
  const { issued } = world;
  world.counter += 1;
  const old = issued.length > 0 ? pick(world, issued) : undefined;
  if (state === undefined && old !== undefined && chance(world, 0.4)) {
    // A replay, the same with a fresh counter, or its withdrawal.
    const kind = world.luck();
    const body = { ...old, counter: world.counter, boot: `b${world.boot}`, cancel: kind > 0.7 };
    return send(world, kind < 0.3 ? old : body);
  }
  const feature = chance(world, 0.8) ? 'enginecutoff' : 'cargoaccess';
  const body = bodyOf(
    world,
    state === undefined ? feature : 'enginecutoff',
    state ?? (chance(world, 0.8) ? '1' : '0'),
  );
  issued.push(body);
  world.sentMs.set(body.commandID, world.nowMs);
  note(world, `operator ${body.commandID} ${body.feature} ${body.state}`);
  send(world, body);
}

/** The broker's clock is set, and a welcome tells the vehicle. */
export function mendServer(world: World, errorMs = pick(world, [0, 0, -20_000, -600_000, 45_000])): void {
  world.serverErrorMs = errorMs;
  if (!world.isOffline) world.vehicle.welcome(serverMs(world));
}

/** A geozone asks for a cut. */
export function automate(world: World): void {
  world.counter += 1;
  const wish = { feature: 'enginecutoff', state: '1', source: 'zone', reason: 'geozone' } as const;
  world.vehicle.take({ kind: 'local', commandID: `local-${world.counter}`, ...wish, fitted: featureNames });
}

/** Wired anew by another hand, who forgot an input. */
function rewire(world: World): void {
  world.wiring = `other-${world.boot}`;
  world.senses.unwired.push(pick(world, ['ignition', 'motion']));
}

const longAgo = Number.NEGATIVE_INFINITY;

/** The agent ends, or power goes: what is not on disk never happened; a board that loses it too drops its relays. */
export function reboot(world: World, isPower = world.downMs > 0 || world.senses.lineLuck() < 0.5): void {
  const { nowMs, disk, rules, senses } = world;
  world.counts.reboots += 1;
  world.boot += 1;
  note(world, 'reboot');
  // An order that was on its way may still reach the board as the agent dies.
  for (const order of world.vehicle.orders.values())
    if (nowMs <= order.deadlineMs && !isSilent(world) && chance(world, 0.3)) moveContact(world, order);
  if (chance(world, 0.3)) {
    const { isStuck } = world;
    world.isStuck = false;
    for (const relay of ['enginecutoff', 'cargoaccess', 'warning'] as const)
      moveContact(world, { relay, on: false, token: 'power', deadlineMs: nowMs });
    world.isStuck = isStuck;
  }
  if (chance(world, 0.08) && !world.isHonest) rewire(world);
  const { fitted } = senses;
  if (isPower) world.poweredMs = nowMs;
  world.vehicle = createHostileVehicle({
    disk: disk.now,
    rules,
    fitted,
    wiring: world.wiring,
    isPositive: senses.isPositive,
    motionInput: senses.motionInput,
    poweredMs: world.poweredMs,
    nowMs,
  });
  world.vehicle.at(nowMs, utcMs(world) + world.systemErrorMs);
  world.bus?.reopen();
  world.isBoardFresh = true;
  world.startedMs = nowMs;
  world.freshMs = nowMs;
  world.nextReadMs = nowMs;
  world.isOffline = world.downMs > 0 || chance(world, 0.5);
  if (!world.isOffline) world.vehicle.welcome(serverMs(world));
}

export function faultFor(world: World, fromMs: number): Fault {
  const { luck, senses } = world;
  const kinds: Readonly<Record<Fault['part'], readonly string[]>> = {
    gnss: gnssFaults,
    ignition: contactFaults,
    motion: contactFaults,
    rpm: analogFaults,
    voltage: analogFaults,
    board: boardFaults,
    bus: busFaults,
    supply: supplyFaults,
  };
  const part = pick<Fault['part']>(world, [...senses.fitted, 'gnss', 'ignition', 'ignition', 'board']);
  const isLong = chance(world, 0.7);
  return {
    part,
    kind: pick(world, kinds[part]),
    fromMs,
    untilMs: isLong ? Number.POSITIVE_INFINITY : fromMs + 2000 + luck() * 40_000,
    delayMs: 2000 + luck() * 15_000,
  };
}

/** One thing goes wrong, or a person does something. */
export function meddle(world: World): void {
  const { truth, luck, nowMs } = world;
  const which = luck();
  if (which < 0.04) automate(world);
  else if (which < 0.06) world.isPanic = !world.isPanic;
  else if (which < 0.22) operate(world);
  else if (which < 0.4) {
    const isOn = !truth.ignition;
    turnKey(truth, isOn, nowMs);
    note(world, `key ${isOn ? 'on' : 'off'}`);
    truth.targetKmh = isOn && chance(world, 0.8) ? 20 + luck() * 70 : 0;
  } else if (which < 0.52) truth.targetKmh = chance(world, 0.5) ? 0 : 5 + luck() * 85;
  else if (which < 0.66) truth.isInTunnel = !truth.isInTunnel;
  else if (which < 0.69) {
    if (!truth.ignition) truth.isTowed = true;
    truth.targetKmh = 10 + luck() * 50;
  } else if (which < 0.74) world.isStuck = !world.isStuck;
  else if (which < 0.78) world.isDiskBad = !world.isDiskBad;
  else if (which < 0.88) reboot(world);
  else if (which < 0.92) world.systemErrorMs = (luck() - 0.5) * 2 * pick(world, [3000, 120_000, 7_200_000]);
  else if (chance(world, 0.5)) world.isOffline = !world.isOffline;
  else if (chance(world, 0.3)) mendServer(world);
  else world.vehicle.welcome(serverMs(world));
  if (chance(world, 0.3)) world.isDiskBad = false;
}

/** What a unit's disk holds: a commissioned vehicle, in 6 of 7 lives; what was never wired never earned anything. */
function evidenceOnDisk(
  world: Pick<World, 'luck'>,
  given: { wiring: string; names: readonly WitnessName[]; isParked: boolean },
): EvidenceRecord {
  const { wiring, names, isParked } = given;
  const state = isParked
    ? ({ motion: 'standing', by: 'gnss', parkedAt: { latitude: 43, longitude: -79 } } as const)
    : ({ motion: 'driving', by: 'gnss', parkedAt: null } as const);
  const credits = Object.fromEntries(
    names.map((name) => [
      name,
      { kind: 'proven', utcMs: startUtcMs - 86_400_000, against: name === 'gnss' ? 'ignition' : 'gnss' },
    ]),
  ) as EvidenceRecord['credits'];
  const isFresh = chance(world, 0.15);
  return {
    ...emptyEvidence(wiring),
    ...state,
    credits: isFresh ? {} : credits,
    utcMs: startUtcMs,
  };
}

/** What a campaign is about. */
export interface LifeSetup {
  readonly mode: CutMode;
  /** With a life input, a loop-back and a motion input. */
  readonly isPositive: boolean;
  /** With a vehicle bus, beside what it would have without one. */
  readonly hasBus?: boolean;
  /** Every sensor is good, and the vehicle parked. */
  readonly isHonest?: boolean;
}

export function createWorld(seed: number, setup: LifeSetup, counts: LifeCounts): World {
  const { mode, isPositive, hasBus = false, isHonest = false } = setup;
  const luck = createLuck(seed);
  const by = { luck };
  const bus = hasBus ? createHostileBus(seed) : null;
  const fitted = witnessNames.filter(
    (name) =>
      name === 'gnss' ||
      name === 'ignition' ||
      chance(by, name === 'motion' ? 0.6 : 0.35) ||
      (name === 'motion' && (isPositive || mode === 'at_standstill')),
  );
  const isWired = (name: WitnessName): boolean =>
    isHonest || name === 'gnss' || !chance(by, name === 'ignition' ? 0.15 : 0.25);
  const unwired = fitted.filter((name) => !isWired(name));
  const canStopEngine = mode === 'at_standstill' && chance(by, 0.3);
  const rules = createRules({
    cutMode: mode,
    canStopEngine,
    zoneCuts: chance(by, 0.4),
    isPanicFitted: chance(by, 0.5),
  });
  const isParked = isHonest || chance(by, mode === 'ignition_off' ? 0.5 : 0.3);
  const wiring = 'wiring';
  const names = fitted.filter((name) => !unwired.includes(name));
  const evidence = isHonest
    ? { ...evidenceOnDisk({ luck: () => 0.9 }, { wiring, names, isParked }) }
    : evidenceOnDisk(by, { wiring, names, isParked });
  const disk: Disk = { record: createCommandRecord(), evidence, newestUtcMs: startUtcMs - 1000 };
  const motionInput = motionInputOf(seed, isHonest);
  const world: World = {
    luck,
    isHonest,
    rules,
    disk: { now: disk },
    truth: createTruth(isParked, 0),
    senses: createSenses({
      fitted,
      unwired,
      isPositive,
      motionInput,
      luck,
      lineLuck: createLuck(seed ^ lineSalt),
    }),
    bus,
    counts,
    breaches: [],
    trail: [],
    vehicle: createHostileVehicle({
      disk,
      rules,
      fitted,
      wiring,
      isPositive,
      motionInput,
      poweredMs: longAgo,
      nowMs: 0,
    }),
    wiring,
    nowMs: 0,
    systemErrorMs: 0,
    isOffline: false,
    contacts: { enginecutoff: false, cargoaccess: false, warning: false },
    warningSinceMs: 0,
    isStuck: false,
    isDiskBad: false,
    nextReadMs: 0,
    isBoardFresh: true,
    startedMs: 0,
    poweredMs: longAgo,
    freshMs: 0,
    restFixMs: null,
    silentSinceMs: null,
    isPanic: false,
    panicMs: Number.NEGATIVE_INFINITY,
    changedMs: { enginecutoff: -1e9, cargoaccess: -1e9, warning: -1e9 },
    boot: 1,
    counter: 0,
    issued: [],
    sentMs: new Map(),
    serverErrorMs: 0,
    rebootAtMs: -1,
    mendAtMs: -1,
    mendedErrorMs: -600_000,
    tunnelAtMs: -1,
    driveAtMs: -1,
    crawlKmh: null,
    keyOffAtMs: -1,
    downMs: 0,
    downUntilMs: -1,
    movedBy: new Map(),
    lastMover: new Map(),
    confirmedMs: null,
  };
  world.vehicle.at(0, utcMs(world));
  world.vehicle.welcome(utcMs(world));
  return world;
}

/** One step of everything. @param loss share of bus exchanges that fail. */
export function passStep(world: World, loss: number): void {
  world.nowMs += stepMs;
  if (world.nowMs <= world.downUntilMs) {
    moveOn(world.truth, world.nowMs);
    if (world.nowMs < world.downUntilMs) return;
    reboot(world);
    world.isOffline = true;
  }
  world.vehicle.at(world.nowMs, utcMs(world) + world.systemErrorMs);
  moveOn(world.truth, world.nowMs);
  sense(world);
  world.vehicle.guard();
  serveOrders(world, loss);
  // The disk takes its time now and then.
  if (!chance(world, loss)) serveDisk(world);
  world.vehicle.look();
  if (!chance(world, loss)) serveDisk(world);
  const confirmed = world.vehicle.state().record.confirmed.enginecutoff;
  if (confirmed?.state === '1' && confirmed.commandID !== null) world.confirmedMs ??= world.nowMs;
}

export function countRefusals(world: World): void {
  for (const feature of featureNames) {
    const waiting = world.vehicle.state().record.active[feature]?.waiting;
    if (waiting !== undefined && waiting !== null) count(world.counts.refusals, waiting.code);
  }
}
