// What a life in the hostile world is about: the plots, the faults that come in them, and the life itself from one number.
import { type BusFault, drawnBusFault } from './hostile-bus.ts';
import {
  chance,
  type Life,
  type LifeCounts,
  lifeMs,
  note,
  pick,
  serverMs,
  type World,
} from './hostile-life.ts';
import { type Fault, type LineNoise, lostSentences, noiseTimes, supplyFaults } from './hostile-senses.ts';
import { createLuck, halfSeconds, stepMs, turnKey } from './hostile-truth.ts';
import {
  automate,
  countRefusals,
  createWorld,
  faultFor,
  type LifeSetup,
  meddle,
  mendServer,
  operate,
  passStep,
  reboot,
} from './hostile-world.ts';

/**
 * What a life is about: anything at all, a drive that never ends, a driver who waits with the engine running, a parked vehicle with
 * automations, panic, and clocks that are wrong after a restart, or one of the stories that went wrong on real roads.
 */
type Plot = 'chaos' | 'drive' | 'wait' | 'park' | 'script' | 'dip' | 'crawl' | 'plug';

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
  if (world.senses.lineLuck() > 0.3) return;
  // The broker's clock is ahead as it asks for the cut, and mended before the unit is off.
  mendServer(world, 60_000);
  world.mendAtMs = 15_000;
  world.mendedErrorMs = 0;
}

const forGood = { untilMs: Number.POSITIVE_INFINITY, delayMs: 0 } as const;

function driveOff(world: World): void {
  turnKey(world.truth, true, world.nowMs);
  world.truth.targetKmh = world.crawlKmh ?? 20 + world.luck() * 60;
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
  // At a light: the supply of the contacts is lost, or the board goes on with what it read, and the way leads into a tunnel.
  (world) => stopAtLight(world, { part: 'board', kind: 'contacts' }),
  (world) => stopAtLight(world, { part: 'board', kind: 'latched' }),
  (world) => {
    // The receiver hangs at the light, under the sky; the ignition wire breaks much later.
    stopAtLight(world, { part: 'gnss', kind: 'frozen-still' });
    world.tunnelAtMs = Number.POSITIVE_INFINITY;
    addFault(world, { part: 'ignition', kind: 'stuck-0', fromMs: 75_000, ...forGood });
  },
];

/** Stands from the beginning on; what breaks meanwhile shows no edge. */
function stopAtLight(world: World, { part, kind }: Pick<Fault, 'part' | 'kind'>): void {
  world.truth.targetKmh = 0;
  addFault(world, { part, kind, fromMs: 12_000, ...forGood });
  world.driveAtMs = 14_000;
  world.tunnelAtMs = 13_000;
}

/** Into a tunnel after 14 s, with inputs that are dead once the board is back. */
function returnDead(world: World): void {
  world.driveAtMs = 14_000;
  addFault(world, { part: 'board', kind: 'common', fromMs: 32_000, ...forGood });
}

/** What begins parked: the board, or the whole unit, is off while the vehicle drives away; or the unit is wired anew. */
const parkedScripts: readonly ((world: World) => void)[] = [
  (world) => {
    // The stream of the receiver lags, and goes on showing the parking place; the ignition wire is broken.
    addFault(world, { part: 'gnss', kind: 'delayed', fromMs: 8000, ...forGood, delayMs: 15_000 });
    addFault(world, { part: 'ignition', kind: 'stuck-0', fromMs: 10_000, ...forGood });
    world.driveAtMs = 24_000;
    world.tunnelAtMs = Number.POSITIVE_INFINITY;
  },
  ...(['contacts', 'latched', 'swapped'] as const).map((kind) => (world: World) => {
    // While it is parked, where nothing shows it; then it drives where no position shows it.
    addFault(world, { part: 'board', kind, fromMs: 10_000, ...forGood });
    world.driveAtMs = 14_000;
    world.tunnelAtMs = 9000;
  }),
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

/** A vehicle that was seen to stop, or was parked before; its supply dips as its engine starts, under the sky or not. */
function beginDip(world: World, story: () => number): void {
  const { truth } = world;
  const isRoad = truth.ignition;
  truth.targetKmh = 0;
  world.driveAtMs = halfSeconds(isRoad ? 22_000 + story() * 20_000 : 12_000 + story() * 20_000);
  world.keyOffAtMs = isRoad ? 8000 : -1;
  const kind = supplyFaults[story() < 0.5 ? 0 : 1];
  // The key is on before the starter turns, and was read so; a board that restarts with it need not have read it.
  const fromMs = world.driveAtMs + (kind === 'dip' ? 1000 : 500) + halfSeconds(story() * 1000);
  // Two epochs are missing at least; one, where the board was seen to be silent too (SAFETY, H22).
  const delayMs = kind === 'dip' ? 2500 + halfSeconds(story() * 6000) : 1500 + halfSeconds(story() * 4000);
  addFault(world, { part: 'supply', kind, fromMs, untilMs: fromMs + delayMs + story() * 50_000, delayMs });
  world.tunnelAtMs =
    story() < 0.3 ? world.driveAtMs + halfSeconds(story() * 30_000) : Number.POSITIVE_INFINITY;
  // The unit restarts with it.
  if (story() >= 0.6) losePower(world, fromMs, story);
}

/** The unit has no power for a while from then on. */
function losePower(world: World, atMs: number, luck: () => number): void {
  world.rebootAtMs = atMs;
  world.downMs = 1000 + halfSeconds(luck() * 8000);
}

/** A drive, a stop and a traffic jam: the receiver holds its place at the speed of the jam, and the ignition wire breaks there. */
function beginCrawl(world: World, story: () => number): void {
  const { truth, senses } = world;
  turnKey(truth, true, 0);
  truth.speedKmh = 30 + story() * 20;
  truth.targetKmh = 0;
  senses.holdKmh = 4 + story() * 5;
  world.crawlKmh = 3.3 + story() * (senses.holdKmh - 3.5);
  world.driveAtMs = halfSeconds(12_000 + story() * 20_000);
  world.tunnelAtMs = Number.POSITIVE_INFINITY;
  const fromMs = world.driveAtMs + halfSeconds(2000 + story() * 10_000);
  addFault(world, { part: 'ignition', kind: 'stuck-0', fromMs, ...forGood });
}

/** On the road, in a tunnel, the plug with the wires of all contacts comes off. */
function beginPlug(world: World, story: () => number): void {
  const { truth } = world;
  turnKey(truth, true, 0);
  truth.targetKmh = 20 + story() * 60;
  truth.speedKmh = truth.targetKmh;
  world.tunnelAtMs = halfSeconds(5000 + story() * 5000);
  const fromMs = world.tunnelAtMs + halfSeconds(story() * 20_000);
  addFault(world, { part: 'board', kind: 'plug', fromMs, ...forGood });
}

function beginScript(world: World): void {
  const { truth } = world;
  const isRoad = truth.ignition;
  world.tunnelAtMs = isRoad ? 9000 : 20_000;
  if (isRoad) truth.targetKmh = truth.speedKmh;
  pick(world, isRoad ? roadScripts : parkedScripts)(world);
}

function passScript(world: World): void {
  const { nowMs } = world;
  if (nowMs === world.keyOffAtMs) turnKey(world.truth, false, nowMs);
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

function beginPlot(world: World, plot: Plot, story: () => number): void {
  const { truth } = world;
  if (plot === 'chaos') return;
  if (plot === 'dip') return beginDip(world, story);
  if (plot === 'crawl') return beginCrawl(world, story);
  if (plot === 'plug') return beginPlug(world, story);
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

/** The vehicle bus fails at some time, for some time; in lives in which nothing else does too. */
function failBus(world: World, story: () => number): void {
  const fromMs = story() < 0.3 ? 2000 : story() * 60_000;
  const forMs = story() < 0.6 ? Number.POSITIVE_INFINITY : 3000 + story() * 40_000;
  addFault(world, { part: 'bus', ...drawnBusFault(story()), fromMs, untilMs: fromMs + forMs });
}

function passPlot(world: World, plot: Plot, harm: number): void {
  if (plot === 'chaos') {
    if (chance(world, harm)) meddle(world);
    return;
  }
  if (isScripted(plot)) return passScript(world);
  if (plot === 'park') {
    if (world.nowMs === world.mendAtMs) mendServer(world, world.mendedErrorMs);
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

/** Their faults are those of the script; no random fault is added. */
const scripted: readonly Plot[] = ['script', 'dip', 'crawl', 'plug'];
const isScripted = (plot: Plot): boolean => scripted.includes(plot);

/** Scripts that were added later draw from a random stream of their own, so that every other seed gives the life that it gave before. */
const storySalt = 0x5b_d1_e9_95;
const dipShare = 1 / 12;
const crawlShare = 1 / 24;
/** Lives in which the line from the receiver loses sentences, and lives of a loaded vehicle, which no driver of a car is as slow as. */
const noisyLives = 1 / 4;
const heavyLives = 1 / 4;
/** Of the scripted ones: the unit loses its power for a while too. */
const restartedLives = 1 / 3;
const plugShare = 1 / 24;

function laterPlot(drawn: number): Plot | null {
  if (drawn < dipShare) return 'dip';
  if (drawn >= 1 - crawlShare) return 'crawl';
  return drawn >= 1 - crawlShare - plugShare ? 'plug' : null;
}

const steadyNoise = (share: number): LineNoise => ({
  when: 'always',
  takes: 'any',
  share,
  burstMs: 0,
  everyMs: 0,
});

/** Every sentence may be lost now and then, or certain ones at certain times. */
function noiseOf(luck: () => number): LineNoise {
  const share = 0.02 + luck() * 0.8;
  if (luck() < 0.5) return steadyNoise(share);
  const when = pick({ luck }, noiseTimes);
  const takes = pick({ luck }, lostSentences);
  const burstMs = 1000 + luck() * 20_000;
  return { when, takes, share: luck() < 0.5 ? 1 : share, burstMs, everyMs: burstMs + 1000 + luck() * 20_000 };
}

/** What the line from the receiver and the vehicle are like. */
export function drawHabits({ senses, truth }: World): void {
  const { lineLuck } = senses;
  if (lineLuck() < noisyLives) senses.noise = noiseOf(lineLuck);
  if (lineLuck() < heavyLives)
    truth.pull = { up: 0.7 + lineLuck() * 5, down: 2 + lineLuck() * 6, roll: 0.3 + lineLuck() * 2 };
}

/** Lives one life; `counts` sums over lives. */
export function liveHostile(seed: number, setup: LifeSetup, counts: LifeCounts): Life {
  const { mode } = setup;
  const world = createWorld(seed, setup, counts);
  counts.lives += 1;
  const picked = pick<Plot>(world, ['chaos', 'drive', 'drive', 'wait', 'park', 'script']);
  const story = createLuck(seed ^ storySalt);
  const plot = laterPlot(story()) ?? picked;
  beginPlot(world, plot, story);
  if (world.bus !== null && story() < 0.6) failBus(world, story);
  const harm = mode === 'ignition_off' ? 0.02 + world.luck() ** 2 * 0.12 : 0.006 + world.luck() ** 3 * 0.08;
  const faults = plot === 'park' || isScripted(plot) ? 0 : pick(world, [0, 1, 1, 1, 2, 2, 2, 3]);
  const latestMs = plot === 'chaos' ? 90_000 : 40_000;
  const faultAt = Array.from({ length: faults }, () => world.luck() * latestMs);
  const anyMs = 5000 + world.luck() * 35_000;
  // Asked for on the road: a cut that was carried out before proves nothing.
  const startsAtMs = plot === 'park' ? 13_000 : Math.max(anyMs, world.driveAtMs + 5000);
  world.truth.isInTunnel = !isScripted(plot) && chance(world, 0.2);
  const { lineLuck } = world.senses;
  drawHabits(world);
  if (isScripted(plot) && world.rebootAtMs < 0 && lineLuck() < restartedLives)
    losePower(world, halfSeconds(5000 + lineLuck() * 60_000), lineLuck);
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

/** Where a vehicle with good sensors is parked. */
export type Circumstance =
  | 'sky'
  | 'garage'
  | 'charger'
  | 'restart'
  | 'power'
  | 'missing fixes'
  | 'missing sentences'
  | 'slow receiver'
  | 'town'
  | 'hasty key'
  | 'shunting';

/**
 * A parked, commissioned vehicle with good sensors, and at most a bus that fails: how long until a cut is confirmed, ms after it was sent; null = not within two
 * minutes.
 */
export function liveParked(
  seed: number,
  given: LifeSetup & { readonly where: Circumstance; readonly busFault?: BusFault | undefined },
  counts: LifeCounts,
): Life {
  const { where, busFault } = given;
  const world = createWorld(seed, { ...given, isHonest: true }, counts);
  if (busFault !== undefined)
    world.senses.faults.push({
      part: 'bus',
      kind: busFault,
      fromMs: 0,
      untilMs: Number.POSITIVE_INFINITY,
      delayMs: busFault === 'late' ? 5000 : 0,
    });
  const { senses, truth } = world;
  const parkedMs = Math.floor((60_000 + world.luck() * 60_000) / stepMs) * stepMs;
  // The sky is out of sight when the key is turned, on the ramp.
  const isDriven = ['garage', 'charger', 'hasty key', 'shunting'].includes(where);
  const shuntedMs =
    where === 'shunting' ? halfSeconds(parkedMs - 5000 - world.luck() * 5000) : Number.NEGATIVE_INFINITY;
  senses.isCharged = where === 'charger';
  senses.noise = where === 'missing sentences' ? steadyNoise(0.3) : null;
  senses.everyMs = where === 'slow receiver' ? 2000 : 1000;
  senses.lostShare = where === 'missing fixes' ? 0.1 : 0;
  senses.scatterM = where === 'town' ? 4 : 0;
  if (isDriven) driveOff(world);
  while (world.nowMs < parkedMs) {
    if (isDriven && world.nowMs === 40_000) {
      truth.targetKmh = 0;
      truth.isInTunnel = where === 'garage';
    }
    // The motion input falls at that moment too.
    const isHasty = where === 'hasty key' && world.nowMs > 40_000 && truth.speedKmh <= 1;
    const keyOffMs = where === 'shunting' ? shuntedMs + 3000 : 52_000;
    if (isDriven && (isHasty || world.nowMs === keyOffMs)) turnKey(truth, false, world.nowMs);
    if (world.nowMs === shuntedMs - 1500) truth.targetKmh = 4;
    if (world.nowMs === shuntedMs) truth.targetKmh = 0;
    const isRestarted = where === 'restart' || where === 'slow receiver';
    if (isRestarted && world.nowMs === parkedMs - 30_000) reboot(world, false);
    if (where === 'power' && world.nowMs === parkedMs - 60_000) reboot(world, true);
    passStep(world, 0.02);
  }
  world.isOffline = false;
  operate(world, '1');
  while (world.nowMs < parkedMs + 120_000 && world.confirmedMs === null) passStep(world, 0.02);
  const confirmedMs = world.confirmedMs === null ? null : world.confirmedMs - parkedMs;
  return { breaches: world.breaches, trail: world.trail, confirmedMs };
}
