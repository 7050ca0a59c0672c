// People aboard: counted by pulses of two sensors or read from an analog counter, kept over restarts. The count never
// goes below 0 nor above its limit, and what the sensors did beyond is said, because a wrong count is worse than none.
import type { AlarmStep, Scene, Told } from './scene.ts';

const peopleLimits = {
  /** Pulses told one by one within a minute; what is more only counts, and the next inventory tells. */
  perMinute: 60,
  minuteMs: 60_000,
  /** An analog count must stand this long. */
  steadyMs: 5000,
  /** A door open this long may have let people out. */
  doorMs: 5000,
} as const;

export interface PeopleState {
  /** Null until the first count. */
  readonly count: number | null;
  readonly toldCount: number | null;
  readonly inventoryMs: number;
  readonly minute: { readonly sinceMs: number; readonly told: number };
  /** Pulses counted and not told since the last inventory. */
  readonly untold: number;
  /** Exits at 0 and entries at the limit since the last inventory. */
  readonly impossible: number;
  readonly candidate: { readonly count: number; readonly sinceMs: number } | null;
  readonly wasIgnitionOn: boolean;
  readonly doorOpenMs: number | null;
}

export function createPeople(count: number | null, bootMs: number): PeopleState {
  return {
    count,
    toldCount: count,
    inventoryMs: bootMs,
    minute: { sinceMs: bootMs, told: 0 },
    untold: 0,
    impossible: 0,
    candidate: null,
    wasIgnitionOn: false,
    doorOpenMs: null,
  };
}

/** One pulse of a sensor: a person in or out. */
export function countPerson(
  before: PeopleState,
  scene: Scene,
  pulse: { readonly direction: 'enter' | 'exit'; readonly atMs: number },
): AlarmStep<PeopleState> {
  const { settings, nowMs } = scene;
  const old = before.count ?? 0;
  const wanted = pulse.direction === 'enter' ? old + 1 : old - 1;
  const count = Math.min(settings.peopleMost, Math.max(0, wanted));
  const impossible = before.impossible + (count === wanted ? 0 : 1);
  const isNewMinute = nowMs - before.minute.sinceMs >= peopleLimits.minuteMs;
  const minute = isNewMinute ? { sinceMs: nowMs, told: 0 } : before.minute;
  const counted = { ...before, count, impossible, minute };
  if (minute.told >= peopleLimits.perMinute)
    return { state: { ...counted, untold: before.untold + 1 }, told: [] };
  const name = pulse.direction === 'enter' ? 'PERSON_ENTER' : 'PERSON_EXIT';
  const corrected = count === wanted ? {} : { corrected: true };
  return {
    state: { ...counted, toldCount: count, minute: { ...minute, told: minute.told + 1 } },
    told: [{ name, atMs: pulse.atMs, attributes: { passengers: count, ...corrected } }],
  };
}

function inventory(state: PeopleState, scene: Scene, reason: string): AlarmStep<PeopleState> {
  if (state.count === null) return { state, told: [] };
  const { untold, impossible, count } = state;
  const told: Told = {
    name: 'PERSON_INVENTORY',
    atMs: scene.nowMs,
    attributes: {
      passengers: count,
      reason,
      ...(untold > 0 ? { untold } : {}),
      ...(impossible > 0 ? { impossible } : {}),
    },
  };
  return {
    state: { ...state, toldCount: count, inventoryMs: scene.nowMs, untold: 0, impossible: 0 },
    told: [told],
  };
}

/** The analog counter, once it stands still; null while it says nothing new. */
function readCounter(
  before: PeopleState,
  scene: Scene,
): { readonly state: PeopleState; readonly isNew: boolean } {
  const { passengers, settings, nowMs } = scene;
  if (passengers === null) return { state: { ...before, candidate: null }, isNew: false };
  const count = Math.min(settings.peopleMost, Math.max(0, Math.round(passengers)));
  if (count === before.count) return { state: { ...before, candidate: null }, isNew: false };
  const candidate = before.candidate?.count === count ? before.candidate : { count, sinceMs: nowMs };
  if (nowMs - candidate.sinceMs < peopleLimits.steadyMs)
    return { state: { ...before, candidate }, isNew: false };
  return { state: { ...before, count, candidate: null }, isNew: true };
}

/** The cabin door was open long enough and closes again while the ignition is off: everybody left. */
function noteDoor(
  before: PeopleState,
  scene: Scene,
): { readonly state: PeopleState; readonly isEmptied: boolean } {
  const { cabinDoor, ignition, nowMs, settings } = scene;
  if (cabinDoor === true)
    return { state: { ...before, doorOpenMs: before.doorOpenMs ?? nowMs }, isEmptied: false };
  const wasOpen = before.doorOpenMs !== null && nowMs - before.doorOpenMs >= peopleLimits.doorMs;
  const isEmptied =
    settings.peopleReset &&
    cabinDoor === false &&
    wasOpen &&
    ignition.value === false &&
    (before.count ?? 0) > 0;
  return { state: { ...before, doorOpenMs: null, ...(isEmptied ? { count: 0 } : {}) }, isEmptied };
}

/** Takes in one step. */
export function stepPeople(before: PeopleState, scene: Scene): AlarmStep<PeopleState> {
  const { ignition, nowMs, settings } = scene;
  const counter = readCounter(before, scene);
  const door = noteDoor(counter.state, scene);
  const wentOff = before.wasIgnitionOn && ignition.value === false;
  const wasIgnitionOn = ignition.value ?? before.wasIgnitionOn;
  const state = { ...door.state, wasIgnitionOn };
  if (counter.isNew) return inventory(state, scene, 'counter');
  if (door.isEmptied) return inventory(state, scene, 'cabin door');
  if (wentOff) return inventory(state, scene, 'ignition off');
  const isDue = nowMs - state.inventoryMs >= settings.peopleInventoryS * 1000;
  const isNews = state.count !== state.toldCount || state.untold > 0 || state.impossible > 0;
  return isDue && isNews ? inventory(state, scene, 'period') : { state, told: [] };
}
