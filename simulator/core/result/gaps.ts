// Omissions of a run as data: checks without input, kinds of facts and faults that did not occur, skipped parts. Pure; the report
// has the sentences.
import {
  type FactKind,
  type FactTally,
  factKinds,
  type UnjudgedReason,
  unjudgedReasons,
} from '../ledger/facts.ts';
import type { BreachKind } from '../ledger/ledger-types.ts';
import { type ExerciseName, type ExerciseResult, exerciseNames } from '../scenario/exercises.ts';
import { type FaultKind, faultKinds } from '../scenario/scenario-schema.ts';
import type { StopSignal } from './stop-signal.ts';

export type Gap =
  /** `tracker`: no relay, no road, no sensor. `otherAccount`, `clock`: of a broker that the run did not start itself. */
  | { readonly kind: 'tracker' | 'commands' | 'otherAccount' | 'clock' | 'metrics' }
  | { readonly kind: 'interrupted'; readonly signal: StopSignal }
  | { readonly kind: 'stream'; readonly why: 'silent' | 'uncounted' }
  | { readonly kind: 'vehicles'; readonly read: number; readonly of: number }
  | { readonly kind: 'cutsWaiting'; readonly count: number }
  | { readonly kind: 'unjudged'; readonly reasons: Readonly<Record<UnjudgedReason, number>> }
  | { readonly kind: 'exercise'; readonly name: ExerciseName; readonly reason: string }
  | { readonly kind: 'facts'; readonly absent: readonly FactKind[] }
  | { readonly kind: 'faults'; readonly absent: readonly FaultKind[] };

export interface Observed {
  readonly kind: 'agent' | 'tracker';
  readonly devices: number;
  readonly interruptedBy: StopSignal | null;
  readonly counts: { readonly commands: number };
  readonly facts: Readonly<Record<FactKind, FactTally>>;
  readonly live: { readonly seen: number; readonly isCounted: boolean };
  readonly exercises: readonly ExerciseResult[];
  readonly readVehicles: number;
  readonly faults: readonly { readonly kind: FaultKind }[];
  readonly approvals: { readonly waiting: number };
  readonly brokerSight: { readonly seen: number };
  /** Target null: a broker of the run's own. */
  readonly setting: { readonly target: string | null };
}

const isStreamJudged = ({ live, interruptedBy }: Observed): boolean =>
  live.isCounted && live.seen > 0 && interruptedBy === null;

/** Checks that need a relay, and those of them that need a command. */
const relayChecks = ['commandTwice', 'commandMoving', 'wrongRelay', 'wrongState'] as const;
const commandChecks = [
  'commandLate',
  'commandOpen',
  'commandUndelivered',
  'falseConfirmation',
  'notRestored',
  'commandsWrong',
] as const;
/** Checks that need the road, a tank or an outbox. */
const roadChecks = [
  'misplaced',
  'untracked',
  'odometerWrong',
  'fuelWrong',
  'busWrong',
  'reportsWrong',
  'dropped',
] as const;
/** Checks of what is read once at the end. */
const finalChecks = [
  'historyWrong',
  'presentWrong',
  'alertsWrong',
  'accessWrong',
  'commandsWrong',
  'reportsWrong',
] as const;

/** Checks by exercises; groups and secrets are access, which is tried without them too. */
const exerciseChecks = {
  settings: 'settingsWrong',
  zones: 'zonesWrong',
  messages: 'messagesWrong',
  webhook: 'deliveriesWrong',
  groups: null,
  secrets: null,
  approvals: 'approvalsWrong',
  serviceCodes: 'serviceCodesWrong',
  audit: 'auditWrong',
} as const satisfies Record<ExerciseName, BreachKind | null>;

/** Exercises that compared nothing, because they were not asked for or could not be carried out. */
const undoneOf = ({
  exercises,
}: Pick<Observed, 'exercises'>): readonly Omit<ExerciseResult, 'looked' | 'isPossible'>[] =>
  exerciseNames.flatMap((name) => {
    const one = exercises.find((exercise) => exercise.name === name);
    return (one?.looked ?? 0) > 0 ? [] : [{ name, reason: one?.reason ?? '' }];
  });

/** Checks that had nothing to look at: that they found nothing proves nothing. */
export function uncheckedOf(run: Observed): ReadonlySet<BreachKind> {
  const { kind, interruptedBy, counts, facts, setting } = run;
  const hasFacts = factKinds.some((one) => facts[one].happened > 0);
  return new Set<BreachKind>([
    ...(kind === 'tracker' ? [...roadChecks, ...relayChecks] : []),
    ...(counts.commands === 0 ? commandChecks : []),
    ...(hasFacts ? [] : (['unnoticed'] as const)),
    ...(hasFacts || setting.target === null ? [] : (['mistimed'] as const)),
    ...(facts.panicOn.found === 0 ? (['panicLate'] as const) : []),
    ...(interruptedBy === null ? [] : finalChecks),
    ...(isStreamJudged(run) ? [] : (['streamWrong'] as const)),
    ...undoneOf(run).flatMap(({ name }) => exerciseChecks[name] ?? []),
  ]);
}

const sumOf = (facts: Observed['facts'], reason: UnjudgedReason): number =>
  factKinds.reduce((sum, kind) => sum + facts[kind].unjudged[reason], 0);

/** Everything that a reader of the verdict must know was not looked at. */
export function gapsOf(run: Observed): readonly Gap[] {
  const { kind, devices, interruptedBy, counts, facts, live, readVehicles, faults } = run;
  const isWhole = interruptedBy === null;
  const isForeign = run.setting.target !== null;
  const isAgent = kind === 'agent';
  const reasons = Object.fromEntries(
    unjudgedReasons.map((reason) => [reason, sumOf(facts, reason)]),
  ) as Record<UnjudgedReason, number>;
  const absentFacts = factKinds.filter((one) => facts[one].happened === 0);
  const absentFaults = faultKinds.filter((one) => !faults.some((fault) => fault.kind === one));
  const gaps: readonly (Gap | null)[] = [
    isWhole ? null : { kind: 'interrupted', signal: interruptedBy },
    isAgent ? null : { kind: 'tracker' },
    isAgent && counts.commands === 0 ? { kind: 'commands' } : null,
    run.approvals.waiting > 0 ? { kind: 'cutsWaiting', count: run.approvals.waiting } : null,
    Object.values(reasons).some((count) => count > 0) ? { kind: 'unjudged', reasons } : null,
    isAgent && absentFacts.length > 0 ? { kind: 'facts', absent: absentFacts } : null,
    isWhole && !isStreamJudged(run)
      ? { kind: 'stream', why: live.seen === 0 ? 'silent' : 'uncounted' }
      : null,
    isWhole && readVehicles < devices ? { kind: 'vehicles', read: readVehicles, of: devices } : null,
    isWhole && isForeign ? { kind: 'otherAccount' } : null,
    isForeign ? { kind: 'clock' } : null,
    run.brokerSight.seen === 0 ? { kind: 'metrics' } : null,
    ...undoneOf(run).map((one) => ({ kind: 'exercise' as const, ...one })),
    absentFaults.length > 0 ? { kind: 'faults', absent: absentFaults } : null,
  ];
  return gaps.filter((gap) => gap !== null);
}
