// Observations that a run needs to prove anything: connected vehicles, events, facts, commands. Without them it could find no
// breach. Pure; the needs are data of the scenario.

import type { FactKind } from '../ledger/facts.ts';
import type { ExerciseResult } from '../scenario/exercises.ts';
import type { Scenario } from '../scenario/scenario-schema.ts';
import type { ActionKind } from '../scenario/scripted-actions.ts';
import { actionKinds } from '../scenario/scripted-actions.ts';

/** Needed by every run. */
export const runExpectations = ['connected', 'live', 'commandsTaken', 'replayed', 'exercises'] as const;
/** Needed by the scenario: with fewer the run was too small. */
export const sizeExpectations = ['facts', 'commands', ...actionKinds] as const;
export const expectationNames = [...runExpectations, ...sizeExpectations] as const;
export type ExpectationName = (typeof expectationNames)[number];
type SizeName = (typeof sizeExpectations)[number];

export interface Expectation {
  readonly name: ExpectationName;
  readonly needed: number;
  readonly seen: number;
  readonly isMet: boolean;
  /** Reason why it was not met; empty where there is none. */
  readonly detail: string;
}

const nouns: Readonly<Record<ExpectationName, string>> = {
  connected: 'vehicles that connected',
  live: 'events of the run on the live stream',
  commandsTaken: 'commands that the service took',
  replayed: 'recorded events that were sent',
  exercises: 'exercises with the account that compared something',
  facts: 'facts with their event',
  commands: 'commands carried out by a relay',
  panic: 'panic presses',
  door: 'openings of a cabin door',
  tamper: 'openings of a housing',
  powerCut: 'cuts of a supply',
  refuel: 'fillings of a tank',
  fuelTheft: 'thefts of fuel',
  tow: 'tows',
};

/** The fact that an action causes. */
export const factOfAction: Readonly<Record<ActionKind, FactKind>> = {
  panic: 'panicOn',
  door: 'cabinDoorOpen',
  tamper: 'tamperOn',
  powerCut: 'powerOff',
  refuel: 'refuel',
  fuelTheft: 'fuelTheft',
  tow: 'tow',
};

/** The needs of a scenario; light trackers have neither facts nor commands. */
export function needsOf({ needs, fleet, commands }: Scenario): Readonly<Record<SizeName, number>> {
  const isAgent = fleet.kind === 'agent';
  const entries = sizeExpectations.map((name) => [name, isAgent ? needs[name] : 0] as const);
  const needed = Object.fromEntries(entries) as Record<SizeName, number>;
  return { ...needed, commands: commands.perMinute > 0 ? needed.commands : 0 };
}

const expect = (name: ExpectationName, needed: number, seen: number, detail = ''): Expectation => ({
  name,
  needed,
  seen,
  isMet: seen >= needed,
  detail,
});

export interface Seen {
  readonly onRoad: number;
  readonly connected: number;
  readonly live: { readonly seen: number; readonly reason: string };
  readonly commands: {
    readonly requested: number;
    readonly refused: { readonly count: number; readonly last: string };
  };
  /** Of state 1, confirmed with their relay. */
  readonly commandsDone: number;
  readonly noticed: Readonly<Record<FactKind, number>>;
  /** Events of a recording, and how many vehicles have made; null: none is replayed. */
  readonly replay: { readonly recorded: number; readonly made: number } | null;
  /** Those that were possible. */
  readonly exercises: readonly ExerciseResult[];
}

/** Every expectation of the run with what was observed. */
export function expectationsOf(scenario: Scenario, seen: Seen): readonly Expectation[] {
  const { onRoad, connected, live, commands, commandsDone, noticed, replay, exercises } = seen;
  const undone = exercises.filter(({ looked }) => looked === 0);
  const facts = Object.values(noticed).reduce((sum, count) => sum + count, 0);
  const needed = replay === null ? needsOf(scenario) : null;
  const counts: Readonly<Record<SizeName, number>> = {
    facts,
    commands: commandsDone,
    ...(Object.fromEntries(actionKinds.map((kind) => [kind, noticed[factOfAction[kind]]])) as Record<
      ActionKind,
      number
    >),
  };
  const { requested, refused } = commands;
  return [
    expect('connected', onRoad, connected),
    ...(facts > 0 && replay === null ? [expect('live', 1, live.seen, live.reason)] : []),
    ...(requested > 0 ? [expect('commandsTaken', requested, requested - refused.count, refused.last)] : []),
    ...(replay === null ? [] : [expect('replayed', replay.recorded, replay.made)]),
    ...(exercises.length === 0
      ? []
      : [
          expect(
            'exercises',
            exercises.length,
            exercises.length - undone.length,
            undone
              .map(({ name, reason }) => `${name}: ${reason === '' ? 'nothing was compared' : reason}`)
              .join('; '),
          ),
        ]),
    ...sizeExpectations.flatMap((name) => {
      const least = needed?.[name] ?? 0;
      return least > 0 ? [expect(name, least, counts[name])] : [];
    }),
  ];
}

const isSize = (name: ExpectationName): boolean => (sizeExpectations as readonly string[]).includes(name);

/** Unmet because the run was too small, and not because of what it ran against. */
export const isTooSmall = ({ name, isMet }: Expectation): boolean => !isMet && isSize(name);

/** One expectation that was not met, for people. */
export function unmetText({ name, needed, seen, detail }: Expectation): string {
  const counts = `${nouns[name]}: ${seen} seen, ${needed} needed`;
  const words = detail === '' ? counts : `${counts} (${detail})`;
  return isSize(name) ? `too small to prove anything: ${words}` : words;
}

/** What is planned of a need, for people. @param planned the most that there can be. */
export const plannedText = (name: SizeName, planned: number, needed: number): string =>
  `${nouns[name]}: ${planned} planned, ${needed} needed`;
