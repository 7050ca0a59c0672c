// The end of a run: facts are held against the events that came of them, events against what the service returned, contacts
// against commands. Pure. Every breach names its fact, event or command, so that it can be looked up.
import { statusText } from '../../src/core/status-codes.ts';
import { briefMs, type Fact, factRules, oppositeOf, watchedCodes } from './facts.ts';
import { judgeCommands } from './judgement-commands.ts';
import { eventBreach, type Ledger } from './ledger.ts';
import {
  type Breach,
  type BreachKind,
  breachKinds,
  type EventNote,
  type VehicleNotes,
} from './ledger-types.ts';

export interface Judgement {
  readonly counts: Readonly<Record<BreachKind, number>>;
  readonly breaches: readonly Breach[];
  /** Facts that could not be judged: a fault of the hardware lay over them, or the run ended too early. */
  readonly unjudged: number;
  /** Facts whose event was found, with how long it took, ms. */
  readonly durableMs: readonly number[];
  /** Of panic presses: until the broker had it, while the link was up, ms. */
  readonly panicMs: readonly number[];
}

interface Numbered {
  readonly eventID: string;
  readonly note: EventNote;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(3)} s`;
/** Inputs of a board that was gone are read anew some seconds after it is back. */
const recoveryMs = 15_000;

function numberedOf(vehicle: VehicleNotes): readonly Numbered[] {
  return [...vehicle.boots].flatMap(([boot, notes]) =>
    notes.flatMap((note, index) => (note === undefined ? [] : [{ eventID: `${boot}:${index + 1}`, note }])),
  );
}

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

const meets = (excuse: Span, of: Span): boolean =>
  excuse.fromMs <= of.toMs && excuse.toMs + recoveryMs >= of.fromMs;

function isExcused(vehicle: VehicleNotes, kind: 'hardware' | 'link', of: Span): boolean {
  return vehicle.excuses.some((excuse) => excuse.kind === kind && meets(excuse, of));
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

interface Tally {
  readonly inputsMs: number;
  readonly breaches: Breach[];
  readonly durableMs: number[];
  readonly panicMs: number[];
  unjudged: number;
}

const describe = (fact: Fact): string => `${factRules[fact.kind].words} at ${seconds(fact.atMs)}`;

/** How late a press came to the broker; what a link that was down took is not counted. */
function judgePanic(
  vehicle: VehicleNotes,
  fact: Fact,
  of: { event: Numbered; panicMs: number; tally: Tally },
): void {
  const { event, panicMs, tally } = of;
  const { ackedMs } = event.note;
  if (ackedMs === null) return; // told as lost
  if (isExcused(vehicle, 'link', { fromMs: fact.atMs, toMs: ackedMs })) return;
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

/** Whether the hardware of a vehicle could not do its part then: broken on purpose, or the generator was late. */
function isHardwareExcused(vehicle: VehicleNotes, of: Span): boolean {
  return isExcused(vehicle, 'hardware', of) || vehicle.stalls.some((stall) => meets(stall, of));
}

/** Whether a state began or ended too shortly before or after for an input to be sure to see it. */
function isBrief(vehicle: VehicleNotes, fact: Fact, inputsMs: number): boolean {
  const opposite = oppositeOf(fact.kind);
  const leastMs = briefMs(inputsMs);
  const at = fact.no - 1;
  const isClose = (other: Fact): boolean =>
    other.kind === opposite && Math.abs(other.atMs - fact.atMs) < leastMs;
  // Facts stand in the order of their time: the neighbours are enough.
  return vehicle.facts.slice(Math.max(0, at - 8), at + 9).some(isClose);
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
    const event = lists
      .get(code)
      ?.find(({ note }) => note.factNo === null && note.storedMs >= fact.atMs && note.storedMs <= untilMs);
    if (event !== undefined) {
      event.note.factNo = fact.no;
      tally.durableMs.push(event.note.storedMs - fact.atMs);
      if (fact.kind === 'panicOn') judgePanic(vehicle, fact, { event, panicMs: of.panicMs, tally });
    } else if (
      untilMs > of.endMs ||
      isBrief(vehicle, fact, tally.inputsMs) ||
      isHardwareExcused(vehicle, { fromMs: fact.atMs, toMs: untilMs })
    ) {
      tally.unjudged += 1;
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
      if (!isHardwareExcused(vehicle, span))
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

/**
 * Judges a run.
 * @param of.endMs until when vehicles could notice what happened to them, which is when they were taken off the road: a fact
 *   whose time for its event lay before then must have one, made before or after the deeds' end; @param of.panicMs most time of a panic press with the link up.
 */
export function judge(
  ledger: Ledger,
  of: { readonly endMs: number; readonly panicMs: number; readonly inputsMs: number },
): Judgement {
  const tally: Tally = {
    inputsMs: of.inputsMs,
    breaches: [...ledger.breaches],
    durableMs: [],
    panicMs: [],
    unjudged: 0,
  };
  for (const vehicle of ledger.vehicles.values()) {
    const events = numberedOf(vehicle);
    judgeFacts(vehicle, byCode(events), { ...of, tally });
    judgeEvents(vehicle, events, tally);
  }
  tally.breaches.push(...judgeCommands(ledger, of.inputsMs));
  const counts = Object.fromEntries(breachKinds.map((kind) => [kind, 0])) as Record<BreachKind, number>;
  for (const { kind } of tally.breaches) counts[kind] += 1;
  const { breaches, unjudged, durableMs, panicMs } = tally;
  return { counts, breaches, unjudged, durableMs, panicMs };
}
