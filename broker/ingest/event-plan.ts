// Statements of a commit for its payloads of events. Each payload is decided in turn on the known stored state. Then all are written together, each
// boot and each device once. It must never treat an event as stored that is not, nor as new one that is stored. The statements name the state on
// which they are based, so that the store refuses them if it was stale.
import type { Database, Statement, WriteResult } from '../../src/ports.ts';
import { mergePresent, type Present } from '../core/events/projection.ts';
import { changesOf } from '../core/events/stored-numbers.ts';
import type { Plan, Planner } from '../scheduling/commit-draft.ts';
import { numberOf } from '../store/base/row.ts';
import {
  type BootChange,
  type BootProof,
  changeBoots,
  changeRanges,
  proveBoots,
} from '../store/events/boot-states.ts';
import {
  allocateEventNos,
  bareKey,
  insertBareEvents,
  insertEvents,
  type NewEvent,
} from '../store/events/event-insert.ts';
import { type DevicePresent, presentStatements, reportStatements } from '../store/events/projections.ts';
import { createSliceTarget, type Target } from '../store/slices/slice-target.ts';
import { type Draft, draftsOf, stateAfter } from './boot-drafts.ts';
import { type BootMemory, type BootState, createBootMemory } from './boot-memory.ts';
import type { DecodedPayload, EventOutcome } from './decoded-payload.ts';
import { type Decided, decideAll } from './event-decisions.ts';
import { runOf, type SentEvents } from './reused-numbers.ts';

export type { DecodedPayload, EventOutcome } from './decoded-payload.ts';

/** New states of the boots of a commit, and their statements. */
interface BootUpdates {
  readonly after: readonly BootState[];
  readonly statements: readonly Statement[];
}

function bootUpdates(drafts: readonly Draft[]): BootUpdates {
  const after: BootState[] = [];
  const changes: BootChange[] = [];
  const proofs: BootProof[] = [];
  const ranges: Statement[] = [];
  for (const draft of drafts) {
    const { key, from, stored, receivedMs } = draft;
    const { deviceNo, boot } = key;
    const state = stateAfter(draft);
    after.push(state);
    if (state === from) {
      // A boot that was never written, such as the one of bare events, has no stored state to prove.
      if (from.revision > 0) proofs.push({ deviceNo, boot, revision: from.revision });
      continue;
    }
    const { revision, rangeCount } = state;
    const fromRevision = from.revision;
    const { upTo } = stored;
    const { times } = state;
    changes.push({ deviceNo, boot, atMs: receivedMs, upTo, fromRevision, revision, rangeCount, times });
    if (stored.ranges === from.stored.ranges) continue;
    ranges.push(...changeRanges(key, changesOf(from.stored.ranges, stored.ranges)));
  }
  const statements = [
    ...(proofs.length === 0 ? [] : [proveBoots(proofs)]),
    ...changeBoots(changes),
    ...ranges,
  ];
  return { after, statements };
}

/** Present state of each device after all of its payloads, in order of arrival. */
function presentsOf(works: readonly DecodedPayload[], decided: readonly Decided[]): readonly DevicePresent[] {
  const presents = new Map<number, DevicePresent>();
  for (const [at, { deviceNo, receivedMs, lastContactMs }] of works.entries()) {
    const one = decided[at] ?? null;
    if (one === null) continue;
    const { accountNo, projection } = one;
    const known = presents.get(deviceNo);
    const atMs = Math.max(receivedMs, known?.atMs ?? 0);
    const latestMs = Math.max(lastContactMs, known?.lastContactMs ?? 0);
    const present: Present =
      known === undefined ? projection : mergePresent(known.present, projection, receivedMs);
    presents.set(deviceNo, { accountNo, deviceNo, atMs, lastContactMs: latestMs, present });
  }
  return [...presents.values()];
}

/** New events of a commit, numbered ones before bare ones. */
interface NewEvents {
  readonly numbered: readonly NewEvent[];
  readonly bare: readonly NewEvent[];
  /** Index of the payload of each bare event. */
  readonly bareOf: readonly number[];
}

function newEventsOf(works: readonly DecodedPayload[], decided: readonly Decided[]): NewEvents {
  const numbered: NewEvent[] = [];
  const bare: NewEvent[] = [];
  const bareOf: number[] = [];
  const seen = new Set<string>();
  for (const [at, { deviceNo, boot, key: given, receivedMs }] of works.entries()) {
    const one = decided[at] ?? null;
    if (one === null) continue;
    const { accountNo, fresh, reused } = one;
    for (const event of fresh) {
      if (boot !== null) {
        const run = reused.has(event) ? runOf(boot, event) : boot;
        numbered.push({ accountNo, deviceNo, boot: run, seq: event.seq, receivedMs, event });
        continue;
      }
      const key = bareKey(event, receivedMs, given);
      const name = `${deviceNo}${key.boot}/${key.seq}`;
      if (seen.has(name)) continue;
      seen.add(name);
      bare.push({ accountNo, deviceNo, ...key, receivedMs, event });
      bareOf.push(at);
    }
  }
  return { numbered, bare, bareOf };
}

const timeOf = ({ event, receivedMs }: NewEvent): number => event.timestamp ?? receivedMs;

/** Times of the new events of a commit, and the time of their receipt. */
function timesOf({ numbered, bare }: NewEvents) {
  const sought = bare.map(timeOf);
  const receivedMs = Math.max(0, ...[numbered.at(-1), bare.at(-1)].map((one) => one?.receivedMs ?? 0));
  return { receivedMs, timestamps: [...numbered.map(timeOf), ...sought], sought };
}

/** Inserts the new events; the first statement allocates their numbers. Bare ones are inserted one by one, so that each has a separate result. */
function insertStatements({ numbered, bare }: NewEvents, target: Target): readonly Statement[] {
  const count = numbered.length + bare.length;
  if (count === 0) return [];
  return [
    allocateEventNos(count, target.sliceNo),
    ...(numbered.length === 0 ? [] : [insertEvents(numbered, count, target.sliceNo)]),
    ...(bare.length === 0 ? [] : [insertBareEvents(bare, bare.length, target)]),
  ];
}

/** Outcome of each payload. @param results of `insertStatements`. */
function outcomesOf(
  works: readonly DecodedPayload[],
  decided: readonly Decided[],
  { newEvents, results }: { readonly newEvents: NewEvents; readonly results: readonly WriteResult[] },
): readonly EventOutcome[] {
  const count = newEvents.numbered.length + newEvents.bare.length;
  const [taken] = results[0]?.rows ?? [];
  let next = taken === undefined ? 0 : numberOf(taken, 'next_no') - count;
  const firstBare = next + newEvents.numbered.length;
  const written = new Set(
    (newEvents.bare.length === 0 ? [] : (results.at(-1)?.rows ?? [])).map((row) => numberOf(row, 'event_no')),
  );
  const bareNos = new Map<number, { readonly bare: NewEvent; readonly eventNo: number }[]>();
  for (const [at, bare] of newEvents.bare.entries()) {
    const of = newEvents.bareOf[at] ?? 0;
    if (written.has(firstBare + at))
      bareNos.set(of, [...(bareNos.get(of) ?? []), { bare, eventNo: firstBare + at }]);
  }
  return works.map(({ boot }, at): EventOutcome => {
    const one = decided[at] ?? null;
    if (one === null) return { kind: 'gone' };
    const { upTo, projection } = one;
    let { fresh } = one;
    const reused = one.reused.size;
    let eventNos: readonly number[];
    let boots: readonly string[] | undefined;
    if (boot === null) {
      const some = bareNos.get(at) ?? [];
      fresh = some.map(({ bare: { event } }) => event);
      eventNos = some.map(({ eventNo }) => eventNo);
      boots = some.map(({ bare }) => bare.boot);
    } else {
      eventNos = fresh.map(() => next++);
      if (reused > 0) boots = fresh.map((event) => (one.reused.has(event) ? runOf(boot, event) : boot));
    }
    return { kind: 'stored', upTo, projection, reused, fresh, eventNos, boots };
  });
}

function alsoOf(works: readonly DecodedPayload[]): readonly Statement[] {
  const statements: Statement[] = [];
  for (const { also } of works) statements.push(...also);
  return statements;
}

function reportsOf(works: readonly DecodedPayload[], decided: readonly Decided[]): readonly Statement[] {
  const statements: Statement[] = [];
  for (const [at, { deviceNo, receivedMs }] of works.entries()) {
    const one = decided[at] ?? null;
    if (one === null) continue;
    const { projection } = one;
    if (projection.reports.length === 0 && projection.answers.length === 0) continue;
    statements.push(...reportStatements(deviceNo, projection, receivedMs));
  }
  return statements;
}

/** @param db for reads of what the memory does not hold. */
export function createEventPlanner(
  db: Database,
  memory: BootMemory = createBootMemory(db),
): Planner<DecodedPayload, EventOutcome> {
  const slices = createSliceTarget(db);
  const inFlight = new Set<SentEvents>();
  return {
    async plan(works): Promise<Plan<EventOutcome>> {
      const drafts = await draftsOf(memory, works);
      const contents: SentEvents = new Map();
      const decided = await decideAll(db, works, { drafts, sent: [contents, ...inFlight] });
      inFlight.add(contents);
      const open = drafts.all;
      const newEvents = newEventsOf(works, decided);
      const also = alsoOf(works);
      const { after, statements: boots } = bootUpdates(open);
      const target = await slices.of(timesOf(newEvents));
      const events = insertStatements(newEvents, target);
      const presents = presentsOf(works, decided);
      const reports = reportsOf(works, decided);
      const present = presents.length === 0 ? [] : presentStatements(presents);
      // The next plan is based on the state after this one, and is dropped with it.
      for (const [at, { name, from }] of open.entries()) memory.keep(name, after[at] ?? from);
      return {
        batch:
          open.length === 0
            ? []
            : [...also, ...boots, ...events, ...target.spanStatements, ...present, ...reports],
        finish(results) {
          slices.keep(target);
          inFlight.delete(contents);
          const start = also.length + boots.length;
          const ofEvents = results.slice(start, start + events.length);
          return outcomesOf(works, decided, { newEvents, results: ofEvents });
        },
        drop() {
          slices.forget();
          inFlight.delete(contents);
          for (const { name } of open) memory.forget(name);
        },
      };
    },
  };
}
