// The agent's protection without its bytes: inputs, evidence, commands, relays, warning and time joined as the vehicle joins them,
// over a board, a disk and a receiver that a hostile world plays. Fast enough for a million lives. It judges nothing.
import {
  alertTo,
  createInputs,
  type InputRule,
  type InputsState,
  stepInputs,
} from '../../../agent/core/board/inputs.ts';
import type { BusReading } from '../../../agent/core/bus/bus-reading.ts';
import { busVetoAt } from '../../../agent/core/bus/bus-veto.ts';
import type { Sensed } from '../../../agent/core/evidence/contact.ts';
import { isStepDue, recordFix, recordVoid, stepEvidence } from '../../../agent/core/evidence/evidence.ts';
import { type EvidenceRecord, parseEvidence } from '../../../agent/core/evidence/evidence-record.ts';
import { createEvidence, type EvidenceState } from '../../../agent/core/evidence/evidence-state.ts';
import { type Evidence, testimonyOf } from '../../../agent/core/evidence/testimony.ts';
import type { Fix } from '../../../agent/core/gnss/epochs.ts';
import { createPlausibilityState, judgeFix } from '../../../agent/core/gnss/plausibility.ts';
import {
  type CommandEffect,
  type CommandsState,
  createCommandsState,
} from '../../../agent/core/protection/command-draft.ts';
import { adoptRelay, type CommandRecord } from '../../../agent/core/protection/command-record.ts';
import {
  type CommandInput,
  changeOf,
  recordReadBack,
  stepCommands,
  wantsWarning,
} from '../../../agent/core/protection/commands.ts';
import { judge } from '../../../agent/core/protection/interlock.ts';
import { type InterlockRules } from '../../../agent/core/protection/interlock-rules.ts';
import {
  createRelaysState,
  recordRelays,
  recordRepair,
  superviseRelays,
} from '../../../agent/core/protection/relays.ts';
import { needsLoopback } from '../../../agent/core/protection/waiting-changes.ts';
import {
  createWarning,
  recordWarningOrder,
  recordWarningRead,
  stepWarning,
  warningEvidence,
} from '../../../agent/core/protection/warning.ts';
import {
  createTimeState,
  fixReferenceUtcMs,
  isServerBehind,
  isTimeConfirmed,
  latestUtcMs,
  newestUtcMsAt,
  offerGnssTime,
  offerIssuedTime,
  offerServerTime,
  offerSystemTime,
  trustedUtcMs,
} from '../../../agent/core/timekeeping.ts';
import { type FeatureName, featureNames } from '../../../src/core/events/event.ts';
import { isAllowed } from '../../../src/core/verdict/verdict.ts';
import type { WitnessName } from '../../../src/core/verdict/witness.ts';
import { livingCauses, plainCauses } from '../vehicle/plain-causes.ts';
import { stepMs } from './hostile-truth.ts';

export const startUtcMs = Date.UTC(2027, 0, 1);

export interface Order {
  readonly relay: FeatureName | 'warning';
  readonly on: boolean;
  readonly token: string;
  readonly deadlineMs: number;
}

/** What survives: records as of the last commit that the disk took. */
export interface Disk {
  record: CommandRecord;
  evidence: EvidenceRecord;
  newestUtcMs: number | null;
}

export interface Commit {
  readonly disk: Disk;
  readonly token: string;
}

/** Raw values of one sample; null = no sample. */
export interface Sample {
  readonly ignition: boolean | null;
  readonly motion: boolean | null;
  readonly rpm: number | null;
  readonly supplyV: number | null;
  /** What a life input reads; false = the contacts have no supply. */
  readonly life?: boolean;
  /** The board reads its inputs: its loop-back would answer. */
  readonly isReading?: boolean;
}

export interface HostileVehicle {
  readonly commits: Commit[];
  /** The newest order of each relay; a newer one replaces it. */
  readonly orders: Map<Order['relay'], Order>;
  state(): CommandsState;
  evidence(): Evidence;
  at(nowMs: number, systemUtcMs: number): void;
  welcome(utcMs: number): void;
  fix(fix: Fix): void;
  noFix(): void;
  /** What the vehicle bus shows now. */
  hear(reading: BusReading): void;
  sample(sample: Sample, isPanic: boolean): void;
  readBack(
    relays: Readonly<Partial<Record<FeatureName, boolean>>>,
    warning: boolean,
    boardCameUp: boolean,
  ): void;
  boardLost(): void;
  take(input: CommandInput): void;
  done(
    order: Order,
    outcome: 'confirmed' | 'mismatch' | 'unknown' | 'refused',
    readBack: boolean | null,
  ): void;
  /** In every step: orders that something speaks against, and the warning output. */
  guard(): void;
  /** Twice a second, as the vehicle does. */
  look(): void;
}

/** As the vehicle has them: how long an answer of the loop-back is valid, and how often it is asked. */
const answerMs = 1500;
const askEveryMs = 5000;

/** How an input is read. */
export interface MotionInput {
  readonly debounceMs: number;
  readonly pollMs: number;
}

export const ignitionInput = { debounceMs: 300, pollMs: stepMs } as const satisfies MotionInput;

const ruleOf = ({ debounceMs, pollMs }: MotionInput): InputRule => ({
  invert: false,
  debounceMs,
  staleMs: Math.max(1000, 2 * pollMs),
  immediate: false,
});

/** The parts that are only seen: inputs, receiver, clocks. */
function createSenses(given: HostileSetup) {
  const { disk, rules, fitted, wiring, isPositive, motionInput, poweredMs } = given;
  let { nowMs } = given;
  let inputs: InputsState<'ignition' | 'motion'> = createInputs(
    {
      ignition: ruleOf(ignitionInput),
      ...(fitted.includes('motion') ? { motion: ruleOf(motionInput) } : {}),
    },
    nowMs,
  );
  let evidence: EvidenceState = createEvidence({
    record: parseEvidence(disk.evidence, wiring),
    fitted,
    causes: isPositive ? livingCauses : plainCauses,
    hdopMost: rules.hdopMost,
    poweredMs,
    nowMs,
  });
  let plausibility = createPlausibilityState();
  let time = createTimeState({
    bootMonoMs: nowMs,
    earliestUtcMs: startUtcMs - 86_400_000,
    newestUtcMs: disk.newestUtcMs,
  });
  let pressed: Sensed = { value: null, sinceMs: nowMs };
  let analogs: { rpm: number | null; supplyV: number | null } = { rpm: null, supplyV: null };
  let answeredMs: number | null = null;
  const askedMs = { ignition: Number.NEGATIVE_INFINITY, motion: Number.NEGATIVE_INFINITY };
  let bus: BusReading | null = null;
  const answering = (): readonly string[] =>
    answeredMs !== null && nowMs - answeredMs <= answerMs ? ['io'] : [];
  const stamp = () => ({ atMs: nowMs, utcMs: trustedUtcMs(time, nowMs) });
  /** A board is read ten times a second, and this world looks at it twice. */
  const readAs = (name: 'ignition' | 'motion', pollMs: number): Sensed => {
    const reading = alertTo(inputs, name);
    return pollMs > stepMs ? reading : { ...reading, afterMs: reading.sinceMs - 100 };
  };
  /** Whether anything new was seen. */
  const look = (): boolean => {
    const seen = {
      ignition: readAs('ignition', stepMs),
      motion: readAs('motion', motionInput.pollMs),
      rpm: analogs.rpm,
      supplyV: analogs.supplyV,
      answering: answering(),
    };
    if (!isStepDue(evidence, seen, nowMs)) return false;
    evidence = stepEvidence(evidence, seen, stamp());
    return true;
  };
  return {
    at(ms: number, systemUtcMs: number): void {
      nowMs = ms;
      time = offerSystemTime(time, { monoMs: ms, utcMs: systemUtcMs });
      inputs = stepInputs(inputs, { kind: 'time', atMs: ms }).state;
    },
    sample({ ignition, motion, rpm, supplyV, life = true }: Sample, panic: boolean): void {
      // Without a supply a contact says nothing but that it is closed.
      const spoken = (value: boolean | null): boolean | null =>
        isPositive && !life && value === false ? null : value;
      if (rules.isPanicFitted && pressed.value !== panic) pressed = { value: panic, sinceMs: nowMs };
      const values = {
        ignition: spoken(ignition),
        motion: nowMs % motionInput.pollMs === 0 ? spoken(motion) : null,
      };
      inputs = stepInputs(inputs, { kind: 'sample', atMs: nowMs, values }).state;
      for (const name of ['ignition', 'motion'] as const) if (values[name] !== null) askedMs[name] = nowMs;
      analogs = { rpm, supplyV };
      look();
    },
    look,
    answer(isAnswering: boolean): void {
      answeredMs = isAnswering ? nowMs : null;
      look();
    },
    fix(fix: Fix): void {
      const judged = judgeFix(plausibility, fix);
      plausibility = judged.state;
      if (judged.fix.utcMs !== null && judged.fix.doubts.length === 0)
        time = offerGnssTime(time, { monoMs: nowMs, utcMs: judged.fix.utcMs });
      evidence = recordFix(evidence, judged.fix, { atMs: nowMs, utcMs: fixReferenceUtcMs(time, nowMs) });
      look();
    },
    noFix(): void {
      evidence = recordVoid(evidence, { atMonoMs: nowMs, estimatedKmh: null });
      look();
    },
    hear(reading: BusReading): void {
      bus = reading;
      look();
    },
    welcome(utcMs: number): void {
      time = offerServerTime(time, { monoMs: nowMs, utcMs, askedMs: nowMs - 200 });
    },
    issued(issuedMs: number): void {
      time = offerIssuedTime(time, { monoMs: nowMs, issuedMs });
    },
    record: () => evidence.record,
    newestUtcMs: () => newestUtcMsAt(time, nowMs),
    testimony(boardAlive: boolean, warning: NonNullable<Evidence['warning']>): Evidence {
      const seen = testimonyOf(evidence, stamp());
      const veto = busVetoAt(bus, nowMs);
      return {
        nowMs,
        ...(veto === null ? {} : { bus: veto }),
        ...seen,
        panic: pressed,
        trustedUtcMs: trustedUtcMs(time, nowMs),
        latestUtcMs: latestUtcMs(time, nowMs),
        isTimeBehind: time.isGnssBehind,
        isServerBehind: isServerBehind(time, nowMs),
        isTimeConfirmed: isTimeConfirmed(time, nowMs),
        boardAlive,
        askedMs: Math.min(
          ...(['ignition', 'motion'] as const)
            .filter((name) => alertTo(inputs, name).value !== null)
            .map((name) => askedMs[name]),
        ),
        heldUpMs: Number.NEGATIVE_INFINITY,
        warning,
      };
    },
  };
}

export interface HostileSetup {
  readonly disk: Disk;
  readonly rules: InterlockRules;
  readonly fitted: readonly WitnessName[];
  /** Names the wiring; another one voids what was proven. */
  readonly wiring: string;
  /** With a life input and a loop-back. */
  readonly isPositive: boolean;
  readonly motionInput: MotionInput;
  /** When the unit was switched on. */
  readonly poweredMs: number;
  readonly nowMs: number;
}

/** A vehicle that has just been switched on. */
export function createHostileVehicle(given: HostileSetup): HostileVehicle {
  const { disk, rules } = given;
  let { nowMs } = given;
  const senses = createSenses(given);
  let commands = createCommandsState(disk.record, rules);
  let relays = createRelaysState();
  let warning = createWarning();
  let readMs: number | null = null;
  let written = disk.evidence;
  const commits: Commit[] = [];
  const orders = new Map<Order['relay'], Order>();

  // Several machines ask for it within one moment.
  let proven: Evidence | null = null;
  const evidence = (): Evidence => {
    const isBoardAlive = readMs !== null && nowMs - readMs <= 15_000;
    proven ??= senses.testimony(isBoardAlive, warningEvidence(warning, nowMs));
    return proven;
  };
  const commit = (token: string): void => {
    written = senses.record();
    const next: Disk = { record: commands.record, evidence: written, newestUtcMs: senses.newestUtcMs() };
    commits.push({ disk: next, token });
  };
  const order = (wish: Omit<Order, 'deadlineMs'>, withinMs: number): void => {
    const replaced = orders.get(wish.relay);
    orders.set(wish.relay, { ...wish, deadlineMs: nowMs + withinMs });
    // What the board did of the replaced order by then is not known.
    if (replaced !== undefined) done(replaced, 'unknown', null);
  };
  const perform = (effects: readonly CommandEffect[]): void => {
    for (const effect of effects) {
      if (effect.kind === 'commit') commit(effect.token);
      if (effect.kind === 'withdraw')
        order({ relay: effect.relay, on: false, token: `withdraw:${effect.relay}` }, 5000);
      if (effect.kind === 'drive')
        order({ relay: effect.feature, on: effect.state === '1', token: effect.token }, effect.withinMs);
    }
  };
  const take = (input: CommandInput): void => {
    if (input.kind === 'envelope') senses.issued(input.body.issuedMs);
    if (input.kind === 'envelope') proven = null;
    const step = stepCommands(commands, input, evidence());
    commands = step.state;
    perform(step.effects);
  };
  const supervise = (): void => {
    const step = superviseRelays(relays, {
      commands,
      evidence: evidence(),
      ordered: featureNames.filter((name) => orders.has(name)),
    });
    relays = step.state;
    for (const effect of step.effects) {
      if (effect.kind === 'adopt') {
        commands = { ...commands, record: adoptRelay(commands.record, effect.feature, effect.state) };
        commit('');
      }
      if (effect.kind === 'repair')
        order({ relay: effect.feature, on: effect.state === '1', token: effect.token }, effect.withinMs);
    }
  };
  const guardRelay = (relay: FeatureName): void => {
    const active = commands.record.active[relay];
    const isDriving = commands.work[relay]?.kind === 'driving' && active?.state === '1';
    const isRepairing = relays.watch[relay]?.repairing === true;
    if (!isDriving && !(isRepairing && commands.record.confirmed[relay]?.state === '1')) return;
    if (relays.readings[relay]?.on !== false) return;
    const change =
      isDriving && active !== undefined
        ? changeOf(commands, active)
        : ({ feature: relay, state: '1', occasion: 'reapply' } as const);
    const verdict = judge({ ...change, isOnTheWay: true }, evidence(), rules);
    if (isAllowed(verdict)) return;
    if (isDriving) take({ kind: 'withdrawn', feature: relay, verdict });
    order({ relay, on: false, token: `withdraw:${relay}` }, 5000);
  };
  const done: HostileVehicle['done'] = (of, outcome, readBack) => {
    if (orders.get(of.relay) === of) orders.delete(of.relay);
    if (of.relay === 'warning') {
      warning = recordWarningOrder(warning, readBack, nowMs);
      proven = null;
      return;
    }
    relays = recordRepair(relays, { feature: of.relay, readBack, atMs: nowMs });
    if (of.token.startsWith('drive:')) take({ kind: 'driven', token: of.token, outcome, reason: outcome });
    else supervise();
  };
  let isReading = false;
  let nextAskMs = 0;
  return {
    commits,
    orders,
    state: () => commands,
    evidence,
    at(ms: number, systemUtcMs: number) {
      proven = null;
      nowMs = ms;
      senses.at(ms, systemUtcMs);
    },
    welcome(utcMs) {
      proven = null;
      senses.welcome(utcMs);
    },
    fix(fix) {
      proven = null;
      senses.fix(fix);
    },
    noFix() {
      proven = null;
      senses.noFix();
    },
    hear(reading) {
      proven = null;
      senses.hear(reading);
    },
    sample(sample, isPanic) {
      proven = null;
      isReading = sample.isReading === true;
      senses.sample(sample, isPanic);
    },
    readBack(read, warns, boardCameUp) {
      proven = null;
      readMs = nowMs;
      warning = recordWarningRead(warning, warns, nowMs);
      relays = recordRelays(relays, read, { atMs: nowMs, boardCameUp });
      const step = recordReadBack(commands, read, evidence());
      commands = step.state;
      perform(step.effects);
      supervise();
    },
    boardLost() {
      proven = null;
      readMs = null;
      warning = recordWarningRead(warning, null, nowMs);
    },
    take,
    done,
    guard() {
      if (senses.record() !== written) commit('');
      const isCutWaiting = commands.record.active.enginecutoff?.state === '1';
      const step = stepWarning(warning, isCutWaiting && wantsWarning(commands, evidence()), nowMs);
      if (step.state !== warning) proven = null;
      warning = step.state;
      if (step.order !== null) order({ relay: 'warning', on: step.order, token: 'warning' }, 1000);
      for (const relay of featureNames) guardRelay(relay);
    },
    look() {
      if (senses.look()) proven = null;
      take({ kind: 'time' });
      supervise();
      if (!given.isPositive || nowMs < nextAskMs || !needsLoopback({ commands, relays }, evidence)) return;
      nextAskMs = nowMs + askEveryMs;
      senses.answer(isReading);
      proven = null;
      take({ kind: 'time' });
      supervise();
    },
  };
}
