// Hours of one vehicle in the hostile world: trips with lights, tunnels and garages, parking, restarts of the unit, and cuts that are asked for
// at any time. One thing fails, or two, at some time, for some time or for good: what a short life cannot have is a fault that waits for its day.
import { drawnBusFault } from './hostile-bus.ts';
import { chance, type Life, type LifeCounts, note, pick, serverMs, type World } from './hostile-life.ts';
import { drawHabits } from './hostile-plots.ts';
import { supplyFaults } from './hostile-senses.ts';
import { halfSeconds, turnKey } from './hostile-truth.ts';
import {
  countRefusals,
  createWorld,
  faultFor,
  type LifeSetup,
  operate,
  passStep,
  reboot,
} from './hostile-world.ts';

/** An action of the driver, the operator or the environment, and its time. */
interface Action {
  readonly atMs: number;
  readonly do: (world: World) => void;
}

const between = (world: World, leastMs: number, mostMs: number): number =>
  halfSeconds(leastMs + world.luck() * (mostMs - leastMs));

const speed = (kmh: number) => (world: World) => {
  world.truth.targetKmh = kmh;
};
const key = (isOn: boolean) => (world: World) => {
  turnKey(world.truth, isOn, world.nowMs);
  note(world, `key ${isOn ? 'on' : 'off'}`);
};
const sky = (isSeen: boolean) => (world: World) => {
  world.truth.isInTunnel = !isSeen;
};

function powerOff(world: World): void {
  world.downMs = 1000 + halfSeconds(world.senses.lineLuck() * 10_000);
  world.downUntilMs = world.nowMs + world.downMs;
  note(world, 'power off');
}

/** A trip from `fromMs` on, and the parking after it; returns when that ends. */
function planTrip(world: World, actions: Action[], fromMs: number): number {
  const add = (atMs: number, what: Action['do']): void => void actions.push({ atMs, do: what });
  let atMs = fromMs;
  // What was cut is restored before its driver comes.
  add(atMs, (one) => operate(one, '0'));
  atMs += between(world, 8000, 15_000);
  add(atMs, key(true));
  atMs += between(world, 1500, 20_000);
  const isGarage = chance(world, 0.3);
  for (let legs = 2 + Math.floor(world.luck() * 8); legs > 0; legs -= 1) {
    add(atMs, speed(15 + world.luck() * 75));
    if (chance(world, 0.25)) {
      const tunnelMs = atMs + between(world, 2000, 20_000);
      add(tunnelMs, sky(false));
      add(tunnelMs + between(world, 5000, 120_000), sky(true));
    }
    atMs += between(world, 15_000, 120_000);
    // A light, with the engine running or stopped by its driver.
    add(atMs, speed(0));
    atMs += between(world, 12_000, 60_000);
  }
  if (isGarage) add(atMs - 8000, sky(false));
  const { lineLuck } = world.senses;
  if (lineLuck() < 0.25) add(fromMs + halfSeconds(lineLuck() * (atMs - fromMs)), powerOff);
  add(atMs, key(false));
  const parkedMs = between(world, 30_000, 1_200_000);
  if (chance(world, 0.2)) add(atMs + between(world, 5000, parkedMs), reboot);
  if (isGarage) add(atMs + parkedMs, sky(true));
  return atMs + parkedMs;
}

/** When a fault ends: never, or within minutes. */
const endOf = (world: World, fromMs: number): number =>
  chance(world, 0.5) ? Number.POSITIVE_INFINITY : fromMs + between(world, 5000, 1_200_000);

function planFault(world: World, lifeMs: number): void {
  const fromMs = between(world, 20_000, lifeMs);
  const fault = faultFor(world, fromMs);
  world.senses.faults.push({ ...fault, untilMs: endOf(world, fromMs) });
  note(world, `fault ${fault.part} ${fault.kind} at ${fromMs / 1000}`);
}

/** As `planFault`, of what only some vehicles have: a dip of the supply at the start of a trip, and the vehicle bus. */
function planOther(world: World, startsMs: readonly number[], lifeMs: number): void {
  const { faults } = world.senses;
  if (world.bus !== null) {
    const fromMs = between(world, 20_000, lifeMs);
    const untilMs = endOf(world, fromMs);
    faults.push({ part: 'bus', ...drawnBusFault(world.luck()), fromMs, untilMs });
    return;
  }
  const fromMs = pick(world, startsMs) + 1000;
  const delayMs = between(world, 2500, 8000);
  const untilMs = fromMs + delayMs + between(world, 0, 50_000);
  faults.push({ part: 'supply', kind: pick(world, supplyFaults), fromMs, untilMs, delayMs });
}

/** Lives for `lifeMs`; `counts` sums over lives. A life has one fault in three of four, else two. */
export function liveDay(
  seed: number,
  given: LifeSetup & { readonly lifeMs: number },
  counts: LifeCounts,
): Life {
  const { lifeMs } = given;
  const world = createWorld(seed, given, counts);
  counts.lives += 1;
  drawHabits(world);
  const actions: Action[] = [];
  const startsMs: number[] = [];
  turnKey(world.truth, false, 0);
  world.truth.targetKmh = 0;
  for (let fromMs = between(world, 20_000, 300_000); fromMs < lifeMs; ) {
    const from = actions.length;
    fromMs = planTrip(world, actions, fromMs);
    startsMs.push(actions[from + 1]?.atMs ?? fromMs);
  }
  if (chance(world, 0.2)) planOther(world, startsMs, lifeMs);
  else planFault(world, lifeMs);
  if (chance(world, 0.25)) planFault(world, lifeMs);
  for (let atMs = between(world, 0, 60_000); atMs < lifeMs; atMs += between(world, 20_000, 240_000))
    actions.push({ atMs, do: (one) => operate(one, '1') });
  actions.sort((a, b) => a.atMs - b.atMs);
  let next = 0;
  while (world.nowMs < lifeMs && world.breaches.length === 0) {
    passStep(world, 0.05);
    for (
      let action = actions[next];
      action !== undefined && action.atMs <= world.nowMs;
      action = actions[++next]
    )
      action.do(world);
    if (world.isOffline && chance(world, 0.05)) {
      world.isOffline = false;
      world.vehicle.welcome(serverMs(world));
    }
  }
  countRefusals(world);
  return { breaches: world.breaches, trail: world.trail, confirmedMs: null };
}
