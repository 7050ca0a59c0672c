// The current state in a batch of events: last position, fuel, passengers, states, command reports. Each has the event's
// time and a tie-breaker, so that the store takes the newest whatever the order of arrival, and a replay changes nothing. A
// doubtful time must never move the last position.
import { type BusValueName, busValuesOf } from '../../../src/core/events/bus-values.ts';
import {
  type AttributeValue,
  type CommandState,
  type EventBatch,
  type FleetEvent,
  featureNames,
  inputNames,
} from '../../../src/core/events/event.ts';
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { type Verdict, verdictFrom } from '../../../src/core/verdict/verdict.ts';
import { storableText } from '../commands/reported-reason.ts';
import { type Answer, answerOf, isOwnHealth } from './answers.ts';
import { isNoPlace } from './belief.ts';
import { impliedState } from './implied-state.ts';
import { ownOrderReports, ownOrderText } from './own-order.ts';

/**
 * Place of an event in time: `ms` is 0 when its time is unknown or not plausible. Such an event says nothing about the
 * position, and states only where nothing better is known.
 */
interface Timed {
  readonly ms: number;
  /** Decides between events of one millisecond: sequence number, then boot. */
  readonly tie: string;
}

export interface Position extends Timed {
  readonly latitude: number;
  readonly longitude: number;
  /** Null: not reported. */
  readonly speed: number | null;
  readonly heading: number | null;
  readonly altitude: number;
  readonly geozoneID: string;
}

export interface Reading extends Timed {
  readonly value: number;
}

/** What a vehicle last said about itself: the attributes of a Diagnostic event. */
export interface Diagnosis extends Timed {
  readonly attributes: Readonly<Record<string, AttributeValue>>;
}

export interface StateReport extends Timed {
  /** Of the input, output or measure; of a value of the vehicle bus see `busStateName`, of an own order `own-order.ts`. */
  readonly name: string;
  readonly state: string;
}

interface Report extends Timed {
  readonly commandID: string;
  readonly commandState: CommandState;
  /** The vehicle's own text, bounded; empty when it sent none. */
  readonly detail: string;
  readonly verdict: Verdict | null;
}

/** What vehicles last said of themselves; null: nothing. */
export interface Present {
  readonly position: Position | null;
  readonly fuel: Reading | null;
  readonly odometer: Reading | null;
  /** People aboard after the event. */
  readonly passengers: Reading | null;
  readonly diagnosis: Diagnosis | null;
  /** Each name once. A list: there are a handful, and a map of them would be most of what a payload is kept as. */
  readonly states: readonly StateReport[];
}

export interface Projection extends Present {
  readonly reports: readonly Report[];
  /** What units answered to requests. */
  readonly answers: readonly Answer[];
  /** Events whose time lies more than a day ahead of the broker's clock. */
  readonly futureCount: number;
}

/** An event may be this far ahead of the broker's clock before its time counts as wrong, in ms. */
export const aheadMostMs = 86_400_000;

/** A time further ahead of the broker's clock than this was a fault of the device's clock, in ms. */
export const aheadOfClockMs = 300_000;

/** No device of ours existed before 2001; an older time is an unset clock. */
const earliestMs = 978_307_200_000;

const { PERSON_ENTER, PERSON_EXIT, PERSON_INVENTORY } = statusCodes;
const departures: readonly number[] = [statusCodes.GEOFENCE_DEPART.code, statusCodes.CORRIDOR_DEPART.code];
const passengerCodes: readonly number[] = [PERSON_ENTER.code, PERSON_EXIT.code, PERSON_INVENTORY.code];

/** One for all: nearly every payload reports and answers nothing. */
const nothing: readonly never[] = [];

/** More people than any vehicle carries: a larger count is a fault. */
const passengersMost = 10_000;

/**
 * People aboard after the event, as the vehicle counted them; null when it does not say. Steps of one are not added up:
 * with some of them late or lost the sum would be wrong without notice.
 */
function passengersOf({ statusCode, attributes }: FleetEvent): number | null {
  if (!passengerCodes.includes(statusCode)) return null;
  const count = attributes?.['passengers'];
  const isCount =
    typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= passengersMost;
  return isCount ? count : null;
}

/** An event with its usable time; within one batch the sequence number decides between equal times. */
interface Candidate {
  readonly ms: number;
  readonly event: FleetEvent;
  /** Made when it is first asked for. */
  tie: string | null;
}

/** The newest report of one state. */
interface StateDraft {
  readonly name: string;
  from: Candidate;
  state: string;
}

function isNewer(one: Candidate, other: Candidate): boolean {
  return one.ms > other.ms || (one.ms === other.ms && one.event.seq > other.event.seq);
}

const newer = (known: Candidate | null, fresh: Candidate): Candidate =>
  known === null || isNewer(fresh, known) ? fresh : known;

/** Records one report of a state, unless a newer one is there. Of several reports in one event the last counts. */
function recordState(
  drafts: StateDraft[],
  from: Candidate,
  { name, state }: Pick<StateDraft, 'name' | 'state'>,
): void {
  for (const known of drafts) {
    if (known.name !== name) continue;
    if (known.from !== from && !isNewer(from, known.from)) return;
    known.from = from;
    known.state = state;
    return;
  }
  drafts.push({ name, from, state });
}

/** The state that holds a value of the vehicle bus, as text. */
export const busStateName = (name: BusValueName): string => `bus.${name}`;

/** Takes the states that one event reports: explicit inputs and outputs stand above what the code implies. */
function recordStates(drafts: StateDraft[], from: Candidate): void {
  const { statusCode, inputs, outputs, fuelLevel, attributes } = from.event;
  const meaning = impliedState(statusCode);
  if (meaning !== null) recordState(drafts, from, meaning);
  if (inputs !== undefined) {
    for (const name of inputNames) {
      const active = inputs[name];
      if (active !== undefined) recordState(drafts, from, { name, state: active ? '1' : '0' });
    }
  }
  if (outputs !== undefined) {
    for (const name of featureNames) {
      const active = outputs[name];
      if (active !== undefined) recordState(drafts, from, { name, state: active ? '1' : '0' });
    }
  }
  if (fuelLevel !== undefined) recordState(drafts, from, { name: 'fuel', state: String(fuelLevel) });
  for (const [name, value] of busValuesOf(attributes))
    recordState(drafts, from, { name: busStateName(name), state: String(value) });
  for (const { name, order } of ownOrderReports(from.event))
    recordState(drafts, from, { name, state: ownOrderText(order) });
}

/** Latitude and longitude 0 are no position, and must not move the last known one. */
const isPlace = ({ latitude, longitude, satellites }: FleetEvent): boolean =>
  latitude !== undefined &&
  longitude !== undefined &&
  !isNoPlace({ latitude, longitude }, satellites ?? null);

/** State of a device: by how many seconds the clock of its newest record of a wrong clock was ahead; its time is that of receipt. */
export const clockAheadState = 'clock.ahead';

/** How far the time of an event is ahead of the broker's clock, ms. */
const aheadBy = ({ timestamp }: FleetEvent, nowMs: number): number =>
  timestamp === null ? 0 : timestamp - nowMs;

function usableMs(event: FleetEvent, nowMs: number): number {
  const { timestamp } = event;
  return timestamp !== null && timestamp >= earliestMs && timestamp <= nowMs + aheadMostMs ? timestamp : 0;
}

/** Ten digits hold any sequence number, so that texts compare as the numbers do. */
function tieOf(candidate: Candidate, boot: string): string {
  candidate.tie ??= `${String(candidate.event.seq).padStart(10, '0')}:${boot}`;
  return candidate.tie;
}

function positionOf(candidate: Candidate | null, boot: string): Position | null {
  if (candidate === null) return null;
  const { ms, event } = candidate;
  return {
    ms,
    tie: tieOf(candidate, boot),
    latitude: event.latitude ?? 0,
    longitude: event.longitude ?? 0,
    speed: event.speed ?? null,
    heading: event.heading ?? null,
    altitude: event.altitude ?? 0,
    // A departure names the zone that was left.
    geozoneID: departures.includes(event.statusCode) ? '' : (event.geozoneID ?? ''),
  };
}

function readingOf(
  candidate: Candidate | null,
  boot: string,
  value: number | null | undefined,
): Reading | null {
  return candidate && { ms: candidate.ms, tie: tieOf(candidate, boot), value: value ?? 0 };
}

function reportOf(candidate: Candidate, boot: string): Report | null {
  const { ms, event } = candidate;
  const { commandID, commandState, attributes } = event;
  if (commandID === undefined || commandState === undefined) return null;
  const detail = storableText(attributes?.['reason']);
  const verdict = verdictFrom(attributes);
  return { ms, tie: tieOf(candidate, boot), commandID, commandState, detail, verdict };
}

/**
 * Reduces a batch to what it says about the present.
 * @param batch with the boot and the sequence numbers that it is stored under.
 * @param nowMs the broker's UTC.
 */
export function projectBatch(batch: EventBatch & { readonly boot: string }, nowMs: number): Projection {
  const { boot, events } = batch;
  let position: Candidate | null = null;
  let fuel: Candidate | null = null;
  let odometer: Candidate | null = null;
  let passengers: Candidate | null = null;
  let diagnosis: Candidate | null = null;
  let futureCount = 0;
  let ahead: Candidate | null = null;
  let aheadMs = aheadOfClockMs;
  const states: StateDraft[] = [];
  let reports: Report[] | null = null;
  let answers: Answer[] | null = null;
  for (const event of events) {
    const candidate: Candidate = { ms: usableMs(event, nowMs), event, tie: null };
    if (aheadBy(event, nowMs) > aheadMostMs) futureCount += 1;
    aheadMs = Math.max(aheadMs, aheadBy(event, nowMs));
    const report = reportOf(candidate, boot);
    if (report !== null) (reports ??= []).push(report);
    const answer = answerOf(event);
    if (answer !== null) (answers ??= []).push(answer);
    // Without a time it is unknown whether this is the current position or last week's.
    if (isPlace(event)) {
      if (candidate.ms > 0) position = newer(position, candidate);
      // Shown while there is no better one: the store and `laterOf` let any right one pass before it.
      else if (aheadBy(event, nowMs) > aheadMostMs)
        ahead = newer(ahead, { ...candidate, ms: event.timestamp ?? 0 });
    }
    if (event.fuelLevel !== undefined) fuel = newer(fuel, candidate);
    if (event.odometer !== undefined) odometer = newer(odometer, candidate);
    if (passengersOf(event) !== null) passengers = newer(passengers, candidate);
    if (isOwnHealth(event)) diagnosis = newer(diagnosis, candidate);
    recordStates(states, candidate);
  }
  const reported = states.map(({ name, from, state }) => ({
    name,
    state,
    ms: from.ms,
    tie: tieOf(from, boot),
  }));
  if (aheadMs > aheadOfClockMs)
    reported.push({ name: clockAheadState, state: String(Math.round(aheadMs / 1000)), ms: nowMs, tie: '' });
  return {
    position: positionOf(position ?? ahead, boot),
    fuel: readingOf(fuel, boot, fuel?.event.fuelLevel),
    odometer: readingOf(odometer, boot, odometer?.event.odometer),
    passengers: readingOf(passengers, boot, passengers && passengersOf(passengers.event)),
    diagnosis: diagnosis && {
      ms: diagnosis.ms,
      tie: tieOf(diagnosis, boot),
      attributes: diagnosis.event.attributes ?? {},
    },
    states: reported,
    reports: reports ?? nothing,
    answers: answers ?? nothing,
    futureCount,
  };
}

/** The later one of two with the same meaning; one that a clock ran ahead for yields to a right one, as in the store. */
function laterOf<T extends Timed>(known: T | null, fresh: T | null, latestMs: number): T | null {
  if (known === null || fresh === null) return fresh ?? known;
  const usableMs = latestMs - aheadOfClockMs + aheadMostMs;
  const isUsable = fresh.ms <= usableMs || known.ms > usableMs;
  const isLater = isUsable && (fresh.ms > known.ms || (fresh.ms === known.ms && fresh.tie > known.tie));
  const isRight = known.ms > latestMs && fresh.ms >= 1 && fresh.ms <= latestMs;
  return isLater || isRight ? fresh : known;
}

/**
 * What two payloads of one device say together, the first of which came in first.
 * @param nowMs the broker's UTC.
 */
export function mergePresent(first: Present, second: Present, nowMs: number): Present {
  const latestMs = nowMs + aheadOfClockMs;
  const states = [...first.states];
  for (const report of second.states) {
    const at = states.findIndex(({ name }) => name === report.name);
    const known = states[at];
    if (known === undefined) states.push(report);
    else if (laterOf(known, report, latestMs) === report) states[at] = report;
  }
  return {
    position: laterOf(first.position, second.position, latestMs),
    fuel: laterOf(first.fuel, second.fuel, latestMs),
    odometer: laterOf(first.odometer, second.odometer, latestMs),
    passengers: laterOf(first.passengers, second.passengers, latestMs),
    diagnosis: laterOf(first.diagnosis, second.diagnosis, latestMs),
    states,
  };
}
