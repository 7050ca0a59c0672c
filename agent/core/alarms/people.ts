// People aboard: counted by pulses of two sensors or read from an analog counter, kept over restarts. The count stays
// between 0 and its limit, and pulses beyond that are reported, because a wrong count is worse than none.
import type { AlarmInput, AlarmReport, AlarmStep } from './alarm-types.ts';

const peopleLimits = {
  /** Pulses reported one by one within a minute; more only count and appear in the next inventory. */
  perMinute: 60,
  minuteMs: 60_000,
  /** An analog count must be stable for this long. */
  steadyMs: 5000,
  /** People may have left when a door was open for this long. */
  doorMs: 5000,
} as const;

export interface PeopleState {
  /** Null until the first count. */
  readonly count: number | null;
  readonly reportedCount: number | null;
  readonly inventoryMs: number;
  readonly minute: { readonly sinceMs: number; readonly reported: number };
  /** Pulses counted but not reported since the last inventory. */
  readonly unreported: number;
  /** Exits at 0 and entries at the limit since the last inventory. */
  readonly impossible: number;
  readonly candidate: { readonly count: number; readonly sinceMs: number } | null;
  readonly wasIgnitionOn: boolean;
  readonly doorOpenMs: number | null;
}

export function createPeople(count: number | null, bootMs: number): PeopleState {
  return {
    count,
    reportedCount: count,
    inventoryMs: bootMs,
    minute: { sinceMs: bootMs, reported: 0 },
    unreported: 0,
    impossible: 0,
    candidate: null,
    wasIgnitionOn: false,
    doorOpenMs: null,
  };
}

/** One pulse of a sensor: a person in or out. */
export function countPerson(
  before: PeopleState,
  input: AlarmInput,
  pulse: { readonly direction: 'enter' | 'exit'; readonly atMs: number },
): AlarmStep<PeopleState> {
  const { settings, nowMs } = input;
  const old = before.count ?? 0;
  const wanted = pulse.direction === 'enter' ? old + 1 : old - 1;
  const count = Math.min(settings.peopleMost, Math.max(0, wanted));
  const impossible = before.impossible + (count === wanted ? 0 : 1);
  const isNewMinute = nowMs - before.minute.sinceMs >= peopleLimits.minuteMs;
  const minute = isNewMinute ? { sinceMs: nowMs, reported: 0 } : before.minute;
  const counted = { ...before, count, impossible, minute };
  if (minute.reported >= peopleLimits.perMinute)
    return { state: { ...counted, unreported: before.unreported + 1 }, reports: [] };
  const name = pulse.direction === 'enter' ? 'PERSON_ENTER' : 'PERSON_EXIT';
  const corrected = count === wanted ? {} : { corrected: true };
  return {
    state: { ...counted, reportedCount: count, minute: { ...minute, reported: minute.reported + 1 } },
    reports: [{ name, atMs: pulse.atMs, attributes: { passengers: count, ...corrected } }],
  };
}

function inventory(state: PeopleState, input: AlarmInput, reason: string): AlarmStep<PeopleState> {
  if (state.count === null) return { state, reports: [] };
  const { unreported, impossible, count } = state;
  const report: AlarmReport = {
    name: 'PERSON_INVENTORY',
    atMs: input.nowMs,
    attributes: {
      passengers: count,
      reason,
      ...(unreported > 0 ? { untold: unreported } : {}),
      ...(impossible > 0 ? { impossible } : {}),
    },
  };
  return {
    state: { ...state, reportedCount: count, inventoryMs: input.nowMs, unreported: 0, impossible: 0 },
    reports: [report],
  };
}

/** The analog count once it is stable; null while it is unchanged. */
function readCounter(
  before: PeopleState,
  input: AlarmInput,
): { readonly state: PeopleState; readonly isNew: boolean } {
  const { passengers, settings, nowMs } = input;
  if (passengers === null) return { state: { ...before, candidate: null }, isNew: false };
  const count = Math.min(settings.peopleMost, Math.max(0, Math.round(passengers)));
  if (count === before.count) return { state: { ...before, candidate: null }, isNew: false };
  const candidate = before.candidate?.count === count ? before.candidate : { count, sinceMs: nowMs };
  if (nowMs - candidate.sinceMs < peopleLimits.steadyMs)
    return { state: { ...before, candidate }, isNew: false };
  return { state: { ...before, count, candidate: null }, isNew: true };
}

/** The cabin door was open long enough and closes again while the ignition is off: the vehicle counts as empty. */
function recordDoor(
  before: PeopleState,
  input: AlarmInput,
): { readonly state: PeopleState; readonly isEmptied: boolean } {
  const { cabinDoor, ignition, nowMs, settings } = input;
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

/** Advances the count of people by one input. */
export function stepPeople(before: PeopleState, input: AlarmInput): AlarmStep<PeopleState> {
  const { ignition, nowMs, settings } = input;
  const counter = readCounter(before, input);
  const door = recordDoor(counter.state, input);
  const wentOff = before.wasIgnitionOn && ignition.value === false;
  const wasIgnitionOn = ignition.value ?? before.wasIgnitionOn;
  const state = { ...door.state, wasIgnitionOn };
  if (counter.isNew) return inventory(state, input, 'counter');
  if (door.isEmptied) return inventory(state, input, 'cabin door');
  if (wentOff) return inventory(state, input, 'ignition off');
  const isDue = nowMs - state.inventoryMs >= settings.peopleInventoryS * 1000;
  const hasChanged = state.count !== state.reportedCount || state.unreported > 0 || state.impossible > 0;
  return isDue && hasChanged ? inventory(state, input, 'period') : { state, reports: [] };
}
