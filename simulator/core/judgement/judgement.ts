// Judges a run at its end: facts by the events that report them, events by the records of the service, relay contacts by commands.
// Pure. Every breach names its fact, event or command.

import { statusText } from '../../../src/core/events/status-codes.ts';
import { eventBreach } from '../ledger/breach.ts';
import { isStruck, meets, recoveryMs, type Span } from '../ledger/excuses.ts';
import {
  briefMs,
  type Fact,
  type FactKind,
  type FactTally,
  factKinds,
  factRules,
  oppositeOf,
  placedFacts,
  type UnjudgedReason,
  unjudgedOf,
  unjudgedReasons,
  watchedCodes,
} from '../ledger/facts.ts';
import type { Ledger } from '../ledger/ledger.ts';
import {
  type Breach,
  type BreachKind,
  breachKinds,
  type EventNote,
  type ShownEvent,
  type VehicleNotes,
} from '../ledger/ledger-types.ts';
import type { AlertViews, VehicleViews } from '../ledger/shown-views.ts';
import { findUntracked } from '../ledger/world-compare.ts';
import { judgeAlerts, judgeMessages, judgeStream, type StreamSight } from './judgement-alerts.ts';
import { judgeBus } from './judgement-bus.ts';
import { judgeCommandEnds } from './judgement-command-ends.ts';
import { judgeCommands } from './judgement-commands.ts';
import { judgeFuel, judgeOdometer } from './judgement-gauges.ts';
import { judgeHistory } from './judgement-history.ts';
import { judgePresent, judgeStreamed } from './judgement-present.ts';
import { judgeReports } from './judgement-reports.ts';

export interface Judgement {
  readonly counts: Readonly<Record<BreachKind, number>>;
  readonly breaches: readonly Breach[];
  /** Facts that could not be judged: a fault of the hardware lay over them, or the run ended too early. */
  readonly unjudged: number;
  /** Facts whose event was found, by kind. */
  readonly noticed: Readonly<Record<FactKind, number>>;
  readonly facts: Readonly<Record<FactKind, FactTally>>;
  /** Time until their event was stored, ms. */
  readonly durableMs: readonly number[];
  /** Of panic presses: until the broker had it, while the link was up, ms. */
  readonly panicMs: readonly number[];
}

interface Numbered {
  readonly eventID: string;
  readonly note: EventNote;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(3)} s`;

function numberedOf(vehicle: VehicleNotes): readonly Numbered[] {
  return [...vehicle.boots].flatMap(([boot, notes]) =>
    notes.flatMap((note, index) => (note === undefined ? [] : [{ eventID: `${boot}:${index + 1}`, note }])),
  );
}

/** The events by code in the order of their numbers. */
function byCode(events: readonly Numbered[]): Map<number, Numbered[]> {
  const lists = new Map<number, Numbered[]>();
  for (const event of events) {
    const list = lists.get(event.note.code) ?? [];
    list.push(event);
    lists.set(event.note.code, list);
  }
  return lists;
}

interface OpenFactTally extends FactTally {
  happened: number;
  found: number;
  readonly unjudged: Record<UnjudgedReason, number>;
}

function recordOf<K extends string, T>(names: readonly K[], of: (name: K) => T): Record<K, T> {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Record<K, T>;
}

const emptyTally = (): OpenFactTally => ({
  happened: 0,
  found: 0,
  unjudged: recordOf(unjudgedReasons, () => 0),
});

interface Tally {
  readonly inputsMs: number;
  readonly breaches: Breach[];
  readonly durableMs: number[];
  readonly panicMs: number[];
  readonly facts: Record<FactKind, OpenFactTally>;
}

const describe = (fact: Fact): string => `${factRules[fact.kind].words} at ${seconds(fact.atMs)}`;

/** Delay of a press at the broker, without the time of a lost link. */
function judgePanic(
  vehicle: VehicleNotes,
  fact: Fact,
  of: { event: Numbered; panicMs: number; tally: Tally },
): void {
  const { event, panicMs, tally } = of;
  const { ackedMs } = event.note;
  if (ackedMs === null) return; // reported as lost
  if (isStruck(vehicle, ['link'], { fromMs: fact.atMs, toMs: ackedMs })) return;
  const lastUp = vehicle.ups.findLast((upMs) => upMs <= ackedMs) ?? fact.atMs;
  const tookMs = ackedMs - Math.max(fact.atMs, lastUp);
  tally.panicMs.push(tookMs);
  if (tookMs <= panicMs) return;
  if (vehicle.stalls.some((stall) => meets(stall, { fromMs: fact.atMs, toMs: ackedMs }))) return;
  const id = { deviceID: vehicle.deviceID, eventID: event.eventID, factNo: fact.no };
  tally.breaches.push(
    eventBreach(
      'panicLate',
      id,
      `${describe(fact)}, at the broker ${seconds(tookMs)} later; ${seconds(panicMs)} are allowed`,
    ),
  );
}

/** Excuse of a vehicle's hardware then: a planned fault, or a stall of the generator; null: none. */
function hardwareExcuse(vehicle: VehicleNotes, of: Span): 'fault' | 'stall' | null {
  if (isStruck(vehicle, ['hardware'], of)) return 'fault';
  return vehicle.stalls.some((stall) => meets(stall, of)) ? 'stall' : null;
}

/** True when a state was too short for an input to be sure to see it. */
function isBrief(vehicle: VehicleNotes, fact: Fact, inputsMs: number): boolean {
  const opposite = oppositeOf(fact.kind);
  const leastMs = briefMs(inputsMs);
  const at = fact.no - 1;
  const isClose = (other: Fact): boolean =>
    other.kind === opposite && Math.abs(other.atMs - fact.atMs) < leastMs;
  // Facts stand in the order of their time: the neighbours are enough.
  return vehicle.facts.slice(Math.max(0, at - 8), at + 9).some(isClose);
}

/** Besides the time that an event may take, ms: receivers count whole seconds. */
const clockMs = 2000;

/** Whether an event says when its fact happened. */
function judgeTime(vehicle: VehicleNotes, fact: Fact, of: { event: Numbered; tally: Tally }): void {
  const { beganUtcMs, deviceID } = vehicle;
  const { note, eventID } = of.event;
  const { sent, isResent } = note;
  if (beganUtcMs === null || sent === null || isResent || sent.timestampMs === null || !sent.isTimed) return;
  const saidMs = sent.timestampMs - beganUtcMs;
  const isRight =
    saidMs >= fact.atMs - clockMs && saidMs <= fact.atMs + factRules[fact.kind].withinMs + clockMs;
  if (isRight || isStruck(vehicle, ['position'], { fromMs: fact.atMs, toMs: note.storedMs })) return;
  const words = `${describe(fact)}, and its event says ${seconds(saidMs)}`;
  of.tally.breaches.push(eventBreach('mistimed', { deviceID, eventID, factNo: fact.no }, words));
}

/** Reason why a fact without its event is no breach; null: it is one. */
function unjudgedReason(
  vehicle: VehicleNotes,
  fact: Fact,
  of: { readonly untilMs: number; readonly endMs: number; readonly inputsMs: number },
): UnjudgedReason | null {
  if (of.untilMs > of.endMs) return 'late';
  if (isBrief(vehicle, fact, of.inputsMs)) return 'brief';
  const span = { fromMs: fact.atMs, toMs: of.untilMs };
  if (placedFacts.has(fact.kind) && isStruck(vehicle, ['position'], span)) return 'fault';
  return hardwareExcuse(vehicle, span);
}

/** Finds the event of every fact. */
function judgeFacts(
  vehicle: VehicleNotes,
  lists: Map<number, Numbered[]>,
  of: { endMs: number; panicMs: number; tally: Tally },
): void {
  const { tally } = of;
  for (const fact of vehicle.facts) {
    const { code, withinMs } = factRules[fact.kind];
    const untilMs = fact.atMs + withinMs;
    const counted = tally.facts[fact.kind];
    counted.happened += 1;
    const event = lists
      .get(code)
      ?.find(({ note }) => note.factNo === null && note.storedMs >= fact.atMs && note.storedMs <= untilMs);
    const limits = { untilMs, endMs: of.endMs, inputsMs: tally.inputsMs };
    const reason = event === undefined ? unjudgedReason(vehicle, fact, limits) : null;
    if (event !== undefined) {
      event.note.factNo = fact.no;
      judgeTime(vehicle, fact, { event, tally });
      counted.found += 1;
      tally.durableMs.push(event.note.storedMs - fact.atMs);
      if (fact.kind === 'panicOn') judgePanic(vehicle, fact, { event, panicMs: of.panicMs, tally });
    } else if (reason !== null) {
      counted.unjudged[reason] += 1;
    } else {
      const words = `${describe(fact)}: no event ${statusText(code)} within ${seconds(withinMs)}`;
      const { deviceID } = vehicle;
      tally.breaches.push({
        kind: 'unnoticed',
        deviceID,
        factNo: fact.no,
        eventID: null,
        commandID: null,
        words,
      });
    }
  }
}

/** Events that the service does not have, and sensor events that nothing happened for. */
function judgeEvents(vehicle: VehicleNotes, events: readonly Numbered[], tally: Tally): void {
  const { deviceID, stopMs } = vehicle;
  const facts = new Map(vehicle.facts.map((fact) => [fact.no, fact]));
  for (const { eventID, note } of events) {
    const id = { deviceID, eventID, factNo: note.factNo };
    const fact = note.factNo === null ? undefined : facts.get(note.factNo);
    const what = `${statusText(note.code)}${fact === undefined ? '' : ` (${describe(fact)})`}, stored at ${seconds(note.storedMs)}`;
    if (watchedCodes.has(note.code) && fact === undefined) {
      const span = { fromMs: note.storedMs - recoveryMs, toMs: note.storedMs };
      if (hardwareExcuse(vehicle, span) === null)
        tally.breaches.push(eventBreach('invented', id, `${what}: nothing of the kind happened`));
    }
    if (note.shown > 0) continue;
    if (note.ackedMs !== null)
      tally.breaches.push(
        eventBreach('acknowledgedMissing', id, `${what}, acknowledged at ${seconds(note.ackedMs)}`),
      );
    else if (stopMs === null || note.storedMs < stopMs) {
      const how = note.sent === null ? 'never sent' : 'sent and never acknowledged';
      tally.breaches.push(eventBreach('lost', id, `${what}, ${how}`));
    }
  }
}

/** What people read at the end of a run. */
export interface FinalViews {
  readonly vehicles: readonly VehicleViews[];
  readonly alerts: { readonly records: readonly ShownEvent[]; readonly views: AlertViews };
  /** Of each live stream that did not leave something out, and said so. */
  readonly streamSights: readonly StreamSight[];
  /** User of the run, who asked for all commands. */
  readonly userID: string;
  /** The service reads the clock of this machine. */
  readonly isSameClock: boolean;
}

const judgeDevices = (ledger: Ledger, vehicles: FinalViews['vehicles'], { devices }: StreamSight) =>
  vehicles.flatMap(({ deviceID }) => {
    const vehicle = ledger.vehicles.get(deviceID);
    return devices === null || vehicle === undefined ? [] : judgeStreamed(vehicle, devices.get(deviceID));
  });

function judgeViews(ledger: Ledger, of: FinalViews) {
  const { vehicles, alerts, streamSights } = of;
  const ofVehicles = vehicles.flatMap((views) => {
    const vehicle = ledger.vehicles.get(views.deviceID);
    return vehicle === undefined
      ? []
      : [
          ...judgeHistory(vehicle, views),
          ...judgeReports(vehicle, views),
          ...judgePresent(ledger, vehicle, views, of),
        ];
  });
  const ofStream = streamSights.flatMap((sight) => [
    ...judgeStream(ledger.vehicles.values(), sight),
    ...vehicles.flatMap(({ records }) => judgeMessages(records, sight)),
    ...judgeDevices(ledger, vehicles, sight),
  ]);
  return [...ofVehicles, ...judgeAlerts(alerts.records, ledger.vehicles, alerts.views), ...ofStream];
}

/**
 * Judges a run.
 * @param of.movingS vehicles report a position at least this often while they move.
 * @param of.views what was read at the end besides the listing of the fleet; null: nothing.
 * @param of.endMs when the vehicles were closed: a fact
 *   whose time for its event lay before then must have one, made before or after the end of the actions; @param of.panicMs most time of a panic press with the link up.
 */
export function judge(
  ledger: Ledger,
  of: {
    readonly endMs: number;
    readonly panicMs: number;
    readonly inputsMs: number;
    readonly movingS: number;
    readonly views: FinalViews | null;
  },
): Judgement {
  const tally: Tally = {
    inputsMs: of.inputsMs,
    breaches: [...ledger.breaches],
    durableMs: [],
    panicMs: [],
    facts: recordOf(factKinds, emptyTally),
  };
  for (const vehicle of ledger.vehicles.values()) {
    const events = numberedOf(vehicle);
    judgeFacts(vehicle, byCode(events), { ...of, tally });
    judgeEvents(vehicle, events, tally);
    tally.breaches.push(...findUntracked(vehicle, of.movingS));
    const lines = of.views?.vehicles.find(({ deviceID }) => deviceID === vehicle.deviceID)?.csv ?? null;
    tally.breaches.push(...judgeOdometer(vehicle, lines), ...judgeFuel(vehicle, lines), ...judgeBus(vehicle));
  }
  if (of.views !== null) tally.breaches.push(...judgeViews(ledger, of.views));
  tally.breaches.push(...judgeCommands(ledger, of.inputsMs), ...judgeCommandEnds(ledger, of.endMs));
  const counts = recordOf(breachKinds, () => 0);
  for (const { kind } of tally.breaches) counts[kind] += 1;
  const { breaches, facts, durableMs, panicMs } = tally;
  const noticed = recordOf(factKinds, (kind) => facts[kind].found);
  const unjudged = Object.values(facts).reduce((sum, one) => sum + unjudgedOf(one), 0);
  return { counts, breaches, unjudged, noticed, facts, durableMs, panicMs };
}
