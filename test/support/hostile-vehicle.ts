// The agent's protection without its bytes: evidence, commands, relays and warning joined as `vehicle-control.ts` joins them,
// over a board, a disk and a receiver that a hostile world plays. Fast enough for a million lives. It judges nothing.

import type { Fix } from '../../agent/core/gnss/epochs.ts';
import { createPlausibilityState, judgeFix } from '../../agent/core/gnss/plausibility.ts';
import {
  type CommandEffect,
  type CommandsState,
  createCommandsState,
} from '../../agent/core/protection/command-draft.ts';
import { adoptRelay, type CommandRecord, isAutomatic } from '../../agent/core/protection/command-record.ts';
import {
  type CommandInput,
  noteReadBack,
  stepCommands,
  wantsWarning,
} from '../../agent/core/protection/commands.ts';
import {
  createSpeedState,
  type Evidence,
  noteFix,
  noteVoid,
  paceAt,
  type Sensed,
  type SpeedState,
  speedAt,
  wasSuspectAt,
} from '../../agent/core/protection/evidence.ts';
import { contradiction, fixRulesOf, type InterlockRules } from '../../agent/core/protection/interlock.ts';
import {
  createRelaysState,
  noteRelays,
  noteRepair,
  superviseRelays,
  withDriven,
} from '../../agent/core/protection/relays.ts';
import {
  createWarning,
  noteWarningOrder,
  noteWarningRead,
  stepWarning,
  warningEvidence,
} from '../../agent/core/protection/warning.ts';
import { createTimeState, latestUtcMs, offerServerTime, trustedUtcMs } from '../../agent/core/timekeeping.ts';

export const startUtcMs = Date.UTC(2027, 0, 1);

export interface Order {
  readonly relay: 'enginecutoff' | 'warning';
  readonly on: boolean;
  readonly token: string;
  readonly deadlineMs: number;
}

/** What survives: the record as of the last commit that the disk took. */
export interface Disk {
  record: CommandRecord;
  wasIgnitionOn: boolean;
}

export interface Commit {
  readonly record: CommandRecord;
  readonly token: string;
  /** A change of ignition is an event: the memory goes to disk with it, in its turn. */
  readonly wasIgnitionOn?: boolean;
}

export interface HostileVehicle {
  readonly commits: Commit[];
  /** The newest order of each relay; a newer one replaces it. */
  readonly orders: Map<Order['relay'], Order>;
  state(): CommandsState;
  evidence(): Evidence;
  at(nowMs: number): void;
  welcome(utcMs: number): void;
  fix(fix: Fix): void;
  noFix(): void;
  ignition(value: boolean | null): void;
  readBack(relays: { readonly cut: boolean; readonly warning: boolean }, boardCameUp: boolean): void;
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

/** A vehicle that has just been switched on. */
export function createHostileVehicle(given: {
  readonly disk: Disk;
  readonly rules: InterlockRules;
  readonly nowMs: number;
}): HostileVehicle {
  const { disk, rules } = given;
  let { nowMs } = given;
  let commands = createCommandsState(disk.record, rules);
  let relays = createRelaysState({
    wasIgnitionOn: disk.wasIgnitionOn,
    hasDriven: disk.record.hasDriven === true,
  });
  let warning = createWarning();
  let speed: SpeedState = createSpeedState();
  let plausibility = createPlausibilityState();
  let time = createTimeState({ bootMonoMs: nowMs, earliestUtcMs: startUtcMs - 1 });
  let ignition: Sensed = { value: null, sinceMs: nowMs };
  let readMs: number | null = null;
  const unwired: Sensed = { value: null, sinceMs: 0 };
  const commits: Commit[] = [];
  const orders = new Map<Order['relay'], Order>();

  const evidence = (): Evidence => ({
    nowMs,
    ignition,
    panic: unwired,
    motion: unwired,
    speed: speedAt(speed, nowMs),
    trustedUtcMs: trustedUtcMs(time, nowMs),
    latestUtcMs: latestUtcMs(time, nowMs),
    boardAlive: readMs !== null && nowMs - readMs <= 15_000,
    pace: paceAt(speed, nowMs),
    wasSuspect: wasSuspectAt(speed, nowMs),
    warning: warningEvidence(warning, nowMs),
  });
  const order = (wish: Omit<Order, 'deadlineMs'>, withinMs: number): void => {
    const replaced = orders.get(wish.relay);
    orders.set(wish.relay, { ...wish, deadlineMs: nowMs + withinMs });
    // What the board did of the replaced order by then is not known.
    if (replaced !== undefined) done(replaced, 'unknown', null);
  };
  const perform = (effects: readonly CommandEffect[]): void => {
    for (const effect of effects) {
      if (effect.kind === 'commit') commits.push({ record: commands.record, token: effect.token });
      if (effect.kind === 'drive' && effect.feature === 'enginecutoff')
        order({ relay: 'enginecutoff', on: effect.state === '1', token: effect.token }, effect.withinMs);
    }
  };
  const take = (input: CommandInput): void => {
    const step = stepCommands(commands, input, evidence());
    commands = step.state;
    perform(step.effects);
  };
  const supervise = (): void => {
    const step = superviseRelays(relays, { commands, evidence: evidence() });
    relays = step.state;
    const kept = withDriven(commands.record, relays);
    if (kept !== commands.record) {
      commands = { ...commands, record: kept };
      commits.push({ record: kept, token: '' });
    }
    for (const effect of step.effects) {
      if (effect.kind === 'adopt') {
        commands = { ...commands, record: adoptRelay(commands.record, effect.feature, effect.state) };
        commits.push({ record: commands.record, token: '' });
      }
      if (effect.kind === 'repair' && effect.feature === 'enginecutoff')
        order({ relay: 'enginecutoff', on: effect.state === '1', token: effect.token }, 2000);
    }
  };
  const guard = (): void => {
    const active = commands.record.active.enginecutoff;
    const isCutWaiting = active?.state === '1';
    const step = stepWarning(warning, isCutWaiting && wantsWarning(commands, evidence()), nowMs);
    warning = step.state;
    if (step.order !== null) order({ relay: 'warning', on: step.order, token: 'warning' }, 1000);
    const isDriving = commands.work.enginecutoff?.kind === 'driving' && isCutWaiting;
    const isRepairing = relays.watch.enginecutoff?.repairing === true;
    if (!isDriving && !(isRepairing && commands.record.confirmed.enginecutoff?.state === '1')) return;
    if (relays.readings.enginecutoff?.on !== false) return;
    const by = isDriving && active !== undefined ? { rules, isAutomatic: isAutomatic(active) } : undefined;
    if (contradiction('enginecutoff', evidence(), by) !== null)
      order({ relay: 'enginecutoff', on: false, token: 'withdraw:enginecutoff' }, 5000);
  };
  const done: HostileVehicle['done'] = (of, outcome, readBack) => {
    if (orders.get(of.relay) === of) orders.delete(of.relay);
    if (of.relay === 'warning') {
      warning = noteWarningOrder(warning, readBack, nowMs);
      return;
    }
    relays = noteRepair(relays, { feature: 'enginecutoff', readBack, atMs: nowMs });
    if (of.token.startsWith('drive:')) take({ kind: 'driven', token: of.token, outcome, reason: outcome });
    else supervise();
  };
  return {
    commits,
    orders,
    state: () => commands,
    evidence,
    at(ms) {
      nowMs = ms;
    },
    welcome(utcMs) {
      time = offerServerTime(time, { monoMs: nowMs, utcMs, askedMs: nowMs - 200 });
    },
    fix(fix) {
      const judged = judgeFix(plausibility, fix);
      plausibility = judged.state;
      speed = noteFix(speed, judged.fix, fixRulesOf(rules));
    },
    noFix() {
      speed = noteVoid(speed);
    },
    ignition(value) {
      if (ignition.value === value) return;
      ignition = { value, sinceMs: nowMs };
      if (value !== null) commits.push({ record: commands.record, token: '', wasIgnitionOn: value });
    },
    readBack(read, boardCameUp) {
      readMs = nowMs;
      warning = noteWarningRead(warning, read.warning, nowMs);
      relays = noteRelays(relays, { enginecutoff: read.cut }, { atMs: nowMs, boardCameUp });
      const step = noteReadBack(commands, { enginecutoff: read.cut }, evidence());
      commands = step.state;
      perform(step.effects);
      supervise();
    },
    boardLost() {
      readMs = null;
      warning = noteWarningRead(warning, null, nowMs);
    },
    take,
    done,
    guard,
    look() {
      take({ kind: 'time' });
      supervise();
    },
  };
}
