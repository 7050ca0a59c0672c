// One short life of a vehicle in a world that means it harm, from one number: a driver, sensors that fail alone and in pairs, a board
// that is late or swapped, a disk that refuses, power that goes at any time, clocks that step, an operator who repeats commands. The
// truth is kept apart from what the agent reads, and every closing of a restrictive contact is judged by the truth alone.
import { type EvidenceRecord, emptyEvidence } from '../../agent/core/evidence/evidence-record.ts';
import { createCommandRecord } from '../../agent/core/protection/command-record.ts';
import {
  type CutMode,
  createRules,
  type InterlockRules,
} from '../../agent/core/protection/interlock-rules.ts';
import { type FeatureName, featureNames } from '../../src/core/event.ts';
import type { CommandBody } from '../../src/core/wire.ts';
import { type WitnessName, witnessNames } from '../../src/core/witness.ts';
import {
  analogFaults,
  boardFaults,
  contactFaults,
  createSenses,
  type Fault,
  gnssFaults,
  honestAlarms,
  isReceiverSilent,
  keepRecords,
  misleading,
  readBoard,
  readReceiver,
  type Senses,
} from './hostile-senses.ts';
import { createLuck, createTruth, moveOn, stepMs, type Truth, turnKey } from './hostile-truth.ts';
import {
  createHostileVehicle,
  type Disk,
  type HostileVehicle,
  type Order,
  startUtcMs,
} from './hostile-vehicle.ts';

/**
 * What nothing can know in time: a fix is good for 2 s, its burst takes half a second, an order waits 1.5 s. A vehicle that has moved
 * for longer must have been seen.
 */
const latencyMs = 4000;
const lifeMs = 110_000;

export interface LifeCounts {
  lives: number;
  closings: number;
  withIgnitionOn: number;
  unlocks: number;
  reboots: number;
  withdrawals: number;
  /** Closings on a vehicle that was towed with its key off. */
  towed: number;
  /** Closings above 3 km/h with two misleading proven witnesses, by pair. */
  doubleLies: Record<string, number>;
  /** How often each rule was the reason to wait. */
  refusals: Record<string, number>;
  /** True speed at each closing, in steps of 10 km/h. */
  speeds: Record<string, number>;
}

export const noCounts = (): LifeCounts => ({
  lives: 0,
  closings: 0,
  withIgnitionOn: 0,
  unlocks: 0,
  reboots: 0,
  withdrawals: 0,
  towed: 0,
  doubleLies: {},
  refusals: {},
  speeds: {},
});

export interface Life {
  readonly breaches: readonly string[];
  readonly trail: readonly string[];
  /** When the first cut was confirmed, ms after it was sent; null when it was not. */
  readonly confirmedMs: number | null;
}

export interface World {
  readonly luck: () => number;
  readonly rules: InterlockRules;
  readonly disk: { now: Disk };
  readonly truth: Truth;
  readonly senses: Senses;
  readonly counts: LifeCounts;
  readonly breaches: string[];
  readonly trail: string[];
  vehicle: HostileVehicle;
  wiring: string;
  nowMs: number;
  /** How far the system clock is off. */
  systemErrorMs: number;
  isOffline: boolean;
  readonly contacts: Record<Order['relay'], boolean>;
  warningSinceMs: number;
  isStuck: boolean;
  isDiskBad: boolean;
  nextReadMs: number;
  isBoardFresh: boolean;
  /** Since when the agent has read its inputs without a break; a receiver that shows the vehicle at rest vouches for them too. */
  freshMs: number;
  /** Since when delivered fixes have shown a vehicle at rest. */
  restFixMs: number | null;
  silentSinceMs: number | null;
  /** The panic button is pressed, and when it last was. */
  isPanic: boolean;
  panicMs: number;
  /** When each relay was last moved by a command. */
  readonly changedMs: Record<Order['relay'], number>;
  boot: number;
  counter: number;
  readonly issued: CommandBody[];
  /** When each was first issued. */
  readonly sentMs: Map<string, number>;
  /** How far the broker's clock is off. */
  serverErrorMs: number;
  rebootAtMs: number;
  mendAtMs: number;
  tunnelAtMs: number;
  driveAtMs: number;
  /** The unit has no power until then. */
  downMs: number;
  downUntilMs: number;
  readonly movedBy: Map<string, boolean>;
  lastMover: string | null;
  confirmedMs: number | null;
}

const chance = (world: Pick<World, 'luck'>, of: number): boolean => world.luck() < of;
const pick = <T>(world: Pick<World, 'luck'>, from: readonly T[]): T =>
  from[Math.floor(world.luck() * from.length)] as T;
const count = (table: Record<string, number>, key: string): void => {
  table[key] = (table[key] ?? 0) + 1;
};
const note = (world: World, text: string): void => {
  if (world.trail.length > 400) world.trail.shift();
  world.trail.push(`${(world.nowMs / 1000).toFixed(1)} ${text}`);
};
const breach = (world: World, text: string): void => {
  const { faults, fitted, unwired } = world.senses;
  const active = faults.filter(({ fromMs, untilMs }) => fromMs <= world.nowMs && world.nowMs < untilMs);
  const names = active.map(({ part, kind }) => `${part} ${kind}`).join(', ');
  world.breaches.push(
    `${(world.nowMs / 1000).toFixed(1)} s: ${text} [fitted ${fitted.join(' ')}; unwired ${unwired.join(' ')}; ${names}]`,
  );
  note(world, `BREACH ${text}`);
};
const utcMs = (world: World): number => startUtcMs + world.nowMs;
const serverMs = (world: World): number => utcMs(world) + world.serverErrorMs;

/** The witnesses that are proven and say "at rest" now: what a verdict can rest on. */
function resting(world: World): readonly WitnessName[] {
  const { witnesses } = world.vehicle.evidence();
  return witnessNames.filter(
    (name) => witnesses[name].state === 'proven' && witnesses[name].claim === 'rest',
  );
}

/** No contact closes while a healthy sensor has been showing the opposite for longer than anything takes. */
function judgeAlarms(world: World, relay: FeatureName): void {
  const { truth, nowMs, senses, rules } = world;
  const alarms = honestAlarms(senses, truth, { atMs: nowMs, sinceMs: nowMs - latencyMs - 1000 });
  const isAboutEngine = relay === 'enginecutoff' && rules.cutMode === 'ignition_off';
  const counted = alarms.filter((name) => isAboutEngine || name === 'gnss' || name === 'motion');
  if (counted.length > 0) breach(world, `${relay} closed against ${counted.join(' and ')}`);
}

/** A contact closes on a vehicle that moves: allowed only where two proven witnesses mislead at the same time. */
function judgeMotion(world: World, relay: FeatureName): void {
  const { truth, counts, nowMs } = world;
  const movingMs = truth.movingSinceMs === null ? 0 : nowMs - truth.movingSinceMs;
  count(counts.speeds, `${Math.floor(truth.speedKmh / 10) * 10}`);
  judgeAlarms(world, relay);
  if (movingMs <= latencyMs) return;
  const lies = misleading(world.senses, resting(world), { atMs: nowMs, freshMs: world.freshMs });
  // With the key off an ignition that reads "off" is honest, and the engine does not run.
  if (!truth.ignition && lies.length > 0) {
    counts.towed += 1;
    return;
  }
  if (lies.length >= 2) return count(counts.doubleLies, lies.join(' + '));
  breach(
    world,
    `${relay} closed at ${truth.speedKmh.toFixed(1)} km/h; misled by: ${lies.join(', ') || 'nothing'}`,
  );
}

function judgeEngineCut(world: World, token: string): void {
  const { truth, rules, nowMs, counts } = world;
  const onMs = truth.ignition ? nowMs - truth.ignitionSinceMs : 0;
  const isSeen = !world.senses.faults.some(({ part }) => part === 'ignition' || part === 'board');
  if (onMs <= 1600 || world.senses.unwired.includes('ignition') || !isSeen) return;
  counts.withIgnitionOn += 1;
  const soundedMs = world.contacts.warning ? nowMs - world.warningSinceMs : 0;
  if (rules.cutMode === 'ignition_off' || !token.startsWith('drive:'))
    breach(world, `closed ${onMs} ms after the key was turned`);
  else if (soundedMs < rules.warningMs) breach(world, `closed after ${soundedMs} ms of warning`);
}

/** Geozones cut only where the installer allows it, and never while or shortly after panic was pressed. */
function judgeAutomatic(world: World, commandID: string): void {
  const { rules, nowMs, panicMs, truth } = world;
  if (!rules.zoneCuts) breach(world, `${commandID} closed without permission`);
  if (rules.isPanicFitted && nowMs - panicMs < 290_000) breach(world, `${commandID} closed after panic`);
  if (
    truth.ignition &&
    nowMs - truth.ignitionSinceMs > latencyMs &&
    !world.senses.unwired.includes('ignition')
  )
    judgeAlarms(world, 'enginecutoff');
}

/** Asked for, in time, once, and known to the disk before. */
function judgeCommand(world: World, relay: FeatureName, token: string): void {
  const { record } = world.disk.now;
  const { nowMs } = world;
  if (token.startsWith('repair:')) {
    if (record.confirmed[relay]?.state !== '1') breach(world, 'closed by a repair of nothing');
    return;
  }
  if (!token.startsWith('drive:')) return breach(world, `closed by ${token}`);
  const commandID = token.slice('drive:'.length);
  const sinceMs = nowMs - world.changedMs[relay];
  if (sinceMs < 9000) breach(world, `${relay} closed ${sinceMs} ms after its last change`);
  if (commandID.startsWith('local-')) return judgeAutomatic(world, commandID);
  const body = world.issued.find((item) => item.commandID === commandID);
  if (body?.state !== '1') breach(world, `closed for ${commandID}, which was not ordered`);
  else {
    const lateMs = nowMs - (world.sentMs.get(commandID) ?? 0) - (body.expiresMs - body.issuedMs);
    if (lateMs >= 0) breach(world, `closed ${lateMs} ms after the end of ${commandID}`);
  }
  const active = record.active[relay];
  if (active?.commandID !== commandID || active.phase !== 'executing')
    breach(world, `closed for ${commandID} before the disk knew`);
  if (world.movedBy.get(commandID) === true) breach(world, `closed twice for ${commandID}`);
  world.movedBy.set(commandID, true);
  world.lastMover = commandID;
}

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
  if (!order.token.startsWith('drive:') && world.lastMover !== null)
    world.movedBy.set(world.lastMover, false);
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
  if (fix === null) vehicle.noFix();
  else vehicle.fix(fix);
}

function sense(world: World): void {
  const { vehicle, senses, truth, nowMs } = world;
  const sample = readBoard(senses, truth, nowMs);
  if (world.isPanic) world.panicMs = nowMs;
  if (nowMs % 1000 === 0) hearReceiver(world);
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
  vehicle.sample({ ...sample, panic: world.isPanic });
  keepRecords(senses, truth, nowMs);
  if (nowMs < world.nextReadMs) return;
  world.nextReadMs = nowMs + (chance(world, 0.3) ? 1000 : 5000);
  const { enginecutoff, cargoaccess, warning } = world.contacts;
  vehicle.readBack({ enginecutoff, cargoaccess }, warning, world.isBoardFresh);
  world.isBoardFresh = false;
}

function bodyOf(world: World, feature: FeatureName, state: '0' | '1'): CommandBody {
  const isShort = chance(world, 0.3);
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
  if (world.isOffline) return;
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

/** The broker's clock is set, and the vehicle hears of it. */
function mendServer(world: World, errorMs = pick(world, [0, 0, -20_000, -600_000, 45_000])): void {
  world.serverErrorMs = errorMs;
  if (!world.isOffline) world.vehicle.welcome(serverMs(world));
}

/** A geozone asks for a cut. */
function automate(world: World): void {
  world.counter += 1;
  const wish = { feature: 'enginecutoff', state: '1', source: 'zone', reason: 'geozone' } as const;
  world.vehicle.take({ kind: 'local', commandID: `local-${world.counter}`, ...wish, fitted: featureNames });
}

/** Wired anew by another hand, who forgot an input. */
function rewire(world: World): void {
  world.wiring = `other-${world.boot}`;
  world.senses.unwired.push(pick(world, ['ignition', 'motion']));
}

/** Power goes: what is not on disk never happened; a board that loses it too drops its relays. */
function reboot(world: World): void {
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
  if (chance(world, 0.08)) rewire(world);
  const { fitted } = senses;
  world.vehicle = createHostileVehicle({ disk: disk.now, rules, fitted, wiring: world.wiring, nowMs });
  world.vehicle.at(nowMs, utcMs(world) + world.systemErrorMs);
  world.isBoardFresh = true;
  world.freshMs = nowMs;
  world.nextReadMs = nowMs;
  world.isOffline = world.downMs > 0 || chance(world, 0.5);
  if (!world.isOffline) world.vehicle.welcome(serverMs(world));
}

function faultFor(world: World, fromMs: number): Fault {
  const { luck, senses } = world;
  const kinds: Readonly<Record<Fault['part'], readonly string[]>> = {
    gnss: gnssFaults,
    ignition: contactFaults,
    motion: contactFaults,
    rpm: analogFaults,
    voltage: analogFaults,
    board: boardFaults,
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
function meddle(world: World): void {
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
  return { ...emptyEvidence(wiring), ...state, credits: isFresh ? {} : credits, utcMs: startUtcMs };
}

export function createWorld(seed: number, mode: CutMode, counts: LifeCounts, isHonest = false): World {
  const luck = createLuck(seed);
  const by = { luck };
  const fitted = witnessNames.filter(
    (name) =>
      name === 'gnss' ||
      name === 'ignition' ||
      chance(by, name === 'motion' ? 0.6 : 0.35) ||
      (name === 'motion' && mode === 'at_standstill'),
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
  const world: World = {
    luck,
    rules,
    disk: { now: disk },
    truth: createTruth(isParked, 0),
    senses: createSenses({ fitted, unwired, luck }),
    counts,
    breaches: [],
    trail: [],
    vehicle: createHostileVehicle({ disk, rules, fitted, wiring, nowMs: 0 }),
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
    tunnelAtMs: -1,
    driveAtMs: -1,
    downMs: 0,
    downUntilMs: -1,
    movedBy: new Map(),
    lastMover: null,
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

function countRefusals(world: World): void {
  for (const feature of featureNames) {
    const waiting = world.vehicle.state().record.active[feature]?.waiting;
    if (waiting !== undefined && waiting !== null) count(world.counts.refusals, waiting.code);
  }
}

/**
 * What a life is about: anything at all, a drive that never ends, a driver who waits with the engine running, a parked vehicle with
 * automations, panic, and clocks that are wrong after a restart, or one of the stories that went wrong on real roads.
 */
type Plot = 'chaos' | 'drive' | 'wait' | 'park' | 'script';

/** The pair that a thief with a jammer or a spoofer and a pair of pliers makes. */
const pliers = ['stuck-0', 'inverted', 'chatter'] as const;
const spoofs = [
  'plausible-stop',
  'frozen-still',
  'sudden-stop',
  'silent',
  'walk',
  'creep',
  'frozen',
] as const;

/** A cut waits for a board that is silent. Then the broker's clock is set back, or the unit is off for a while and its clocks are behind. */
function beginParked(world: World): void {
  turnKey(world.truth, false, 0);
  world.truth.targetKmh = 0;
  world.truth.speedKmh = 0;
  const variant = world.luck();
  if (variant < 0.3) return;
  const silentMs = 10_000 + world.luck() * 25_000;
  addFault(world, { part: 'board', kind: 'silent', fromMs: 12_000, untilMs: 12_000 + silentMs, delayMs: 0 });
  if (variant < 0.6) {
    world.mendAtMs = 15_000;
    return;
  }
  const behindMs = pick(world, [4000, 12_000, 3_600_000]);
  addFault(world, {
    part: 'gnss',
    kind: 'behind',
    fromMs: 11_000,
    untilMs: Number.POSITIVE_INFINITY,
    delayMs: behindMs,
  });
  // Two clocks that are behind alike, by less than the unit was off, cannot be told from right ones (SAFETY, H12).
  if (behindMs === 3_600_000) world.systemErrorMs = -behindMs;
  world.rebootAtMs = 16_000;
  world.downMs = 14_000;
}

const forGood = { untilMs: Number.POSITIVE_INFINITY, delayMs: 0 } as const;

function driveOff(world: World): void {
  turnKey(world.truth, true, world.nowMs);
  world.truth.targetKmh = 20 + world.luck() * 60;
}

/** What begins on the road: into a tunnel for good, with faults of the inputs that no position exposes. */
const roadScripts: readonly ((world: World) => void)[] = [
  (world) => addFault(world, { part: 'board', kind: 'common', fromMs: 8000, ...forGood }),
  (world) => {
    addFault(world, { part: 'motion', kind: 'pulse-25', fromMs: 6000, ...forGood });
    addFault(world, { part: 'ignition', kind: 'stuck-0', fromMs: 8000, ...forGood });
  },
  (world) => {
    // Under the sky for long enough to expose the broken wire; then the receiver lies.
    addFault(world, { part: 'ignition', kind: 'stuck-0', fromMs: 5000, ...forGood });
    addFault(world, { part: 'gnss', kind: 'plausible-stop', fromMs: 45_000, ...forGood });
    world.tunnelAtMs = Number.POSITIVE_INFINITY;
  },
];

/** Into a tunnel after 14 s, with inputs that are dead once the board is back. */
function returnDead(world: World): void {
  world.driveAtMs = 14_000;
  addFault(world, { part: 'board', kind: 'common', fromMs: 32_000, ...forGood });
}

/** What begins parked: the board, or the whole unit, is off while the vehicle drives away; or the unit is wired anew. */
const parkedScripts: readonly ((world: World) => void)[] = [
  (world) => {
    addFault(world, { part: 'board', kind: 'silent', fromMs: 12_000, untilMs: 32_000, delayMs: 0 });
    returnDead(world);
  },
  (world) => {
    world.rebootAtMs = 12_000;
    world.downMs = 20_000;
    returnDead(world);
  },
  (world) => {
    world.rebootAtMs = 12_000;
    world.downMs = 5000;
    world.wiring = 'another';
    world.senses.unwired.push('ignition', 'motion');
    addFault(world, { part: 'gnss', kind: 'sudden-stop', fromMs: 30_000, ...forGood });
    world.driveAtMs = 40_000;
    world.tunnelAtMs = Number.POSITIVE_INFINITY;
  },
];

function beginScript(world: World): void {
  const { truth } = world;
  const isRoad = truth.ignition;
  world.tunnelAtMs = isRoad ? 9000 : 20_000;
  if (isRoad) truth.targetKmh = truth.speedKmh;
  pick(world, isRoad ? roadScripts : parkedScripts)(world);
}

function passScript(world: World): void {
  const { nowMs } = world;
  if (nowMs === world.driveAtMs) driveOff(world);
  if (nowMs >= world.tunnelAtMs) world.truth.isInTunnel = true;
  if (nowMs === world.rebootAtMs) world.downUntilMs = nowMs + world.downMs;
  if (nowMs <= world.downUntilMs + 3000) return;
  if (world.isOffline) {
    world.isOffline = false;
    world.vehicle.welcome(serverMs(world));
  }
  if (chance(world, 0.02)) operate(world, '1');
}

function beginPlot(world: World, plot: Plot): void {
  const { truth } = world;
  if (plot === 'chaos') return;
  if (plot === 'park') return beginParked(world);
  if (plot === 'script') return beginScript(world);
  turnKey(truth, true, 0);
  truth.targetKmh = plot === 'drive' ? 20 + world.luck() * 60 : 0;
  if (plot === 'drive') truth.speedKmh = truth.targetKmh;
}

function addFault(world: World, fault: Fault): void {
  world.senses.faults.push(fault);
  note(world, `fault ${fault.part} ${fault.kind}`);
}

/** Faults of this step: single ones, and now and then the pair. A tunnel hides what a failed sensor no longer shows. */
function failNow(world: World): void {
  const { nowMs } = world;
  if (chance(world, 0.3)) {
    const always = { fromMs: nowMs, untilMs: Number.POSITIVE_INFINITY, delayMs: 0 };
    addFault(world, { part: 'ignition', kind: pick(world, pliers), ...always });
    addFault(world, { part: 'gnss', kind: pick(world, spoofs), ...always });
    return;
  }
  addFault(world, faultFor(world, nowMs));
  if (chance(world, 0.5)) world.truth.isInTunnel = true;
}

function passPlot(world: World, plot: Plot, harm: number): void {
  if (plot === 'chaos') {
    if (chance(world, harm)) meddle(world);
    return;
  }
  if (plot === 'script') return passScript(world);
  if (plot === 'park') {
    if (world.nowMs === world.mendAtMs) mendServer(world, -600_000);
    if (world.nowMs === world.rebootAtMs) world.downUntilMs = world.nowMs + world.downMs;
    if (chance(world, 0.01)) for (const state of ['0', '1'] as const) operate(world, state);
    if (world.nowMs < world.downUntilMs) return;
    if (chance(world, 0.02)) automate(world);
    if (chance(world, 0.02)) world.isPanic = !world.isPanic;
    if (chance(world, 0.01)) mendServer(world);
    if (chance(world, 0.01)) operate(world);
    return;
  }
  if (chance(world, 0.01)) operate(world);
  if (chance(world, 0.006)) reboot(world);
  if (chance(world, 0.006)) automate(world);
  if (chance(world, 0.01)) world.truth.isInTunnel = !world.truth.isInTunnel;
}

/** Lives one life; `counts` sums over lives. */
export function liveHostile(seed: number, mode: CutMode, counts: LifeCounts): Life {
  const world = createWorld(seed, mode, counts);
  counts.lives += 1;
  const plot = pick<Plot>(world, ['chaos', 'drive', 'drive', 'wait', 'park', 'script']);
  beginPlot(world, plot);
  const harm = mode === 'ignition_off' ? 0.02 + world.luck() ** 2 * 0.12 : 0.006 + world.luck() ** 3 * 0.08;
  const faults = plot === 'park' || plot === 'script' ? 0 : pick(world, [0, 1, 1, 1, 2, 2, 2, 3]);
  const latestMs = plot === 'chaos' ? 90_000 : 40_000;
  const faultAt = Array.from({ length: faults }, () => world.luck() * latestMs);
  const anyMs = 5000 + world.luck() * 35_000;
  // Asked for on the road: a cut that was carried out before proves nothing.
  const startsAtMs = plot === 'park' ? 13_000 : Math.max(anyMs, world.driveAtMs + 5000);
  world.truth.isInTunnel = plot !== 'script' && chance(world, 0.2);
  let isOperated = false;
  while (world.nowMs < lifeMs && world.breaches.length === 0) {
    passStep(world, 0.12);
    for (const atMs of faultAt) if (atMs <= world.nowMs && atMs > world.nowMs - stepMs) failNow(world);
    if (!isOperated && world.nowMs >= startsAtMs) {
      isOperated = true;
      operate(world, '1');
    }
    passPlot(world, plot, harm);
  }
  countRefusals(world);
  return { breaches: world.breaches, trail: world.trail, confirmedMs: null };
}

/** A parked, commissioned vehicle with good sensors: how long until a cut is confirmed, ms after it was sent; null = not within a minute. */
export function liveParked(seed: number, mode: CutMode, counts: LifeCounts): Life {
  const world = createWorld(seed, mode, counts, true);
  const parkedMs = Math.floor((60_000 + world.luck() * 60_000) / stepMs) * stepMs;
  while (world.nowMs < parkedMs) passStep(world, 0.02);
  operate(world, '1');
  while (world.nowMs < parkedMs + 60_000 && world.confirmedMs === null) passStep(world, 0.02);
  const confirmedMs = world.confirmedMs === null ? null : world.confirmedMs - parkedMs;
  return { breaches: world.breaches, trail: world.trail, confirmedMs };
}
