// The vehicle's status at this moment, for the local socket: derived from its state alone. Pure. It must never show a
// secret or a code, and never show a stale value as known.
import { type FeatureName, featureNames, type InputName } from '../../../src/core/events/event.ts';
import type { Verdict } from '../../../src/core/verdict/verdict.ts';
import type { WitnessName, WitnessStates } from '../../../src/core/verdict/witness.ts';
import { wiringsOf } from '../board/board-profile.ts';
import { readingOf } from '../board/inputs.ts';
import { judgeClocks } from '../clock-verdict.ts';
import { activeRecord } from '../config/config-slots.ts';
import { claimOf, type EvidenceState } from '../evidence/evidence-state.ts';
import { wasSuspectAt } from '../evidence/gnss-claim.ts';
import { witnessStatesOf } from '../evidence/testimony.ts';
import { lacksOf, unusableLately } from '../gnss/receiver-facts.ts';
import type { ModuleFacts, ModuleStatus } from '../kernel/module-slots.ts';
import { type VehicleState, vehicleLimits } from '../kernel/vehicle-state.ts';
import { type VehicleConfig } from '../kernel/vehicle-types.ts';
import { deliveryLimits } from '../link/delivery.ts';
import { type ActiveCommand, wantedState } from '../protection/command-record.ts';
import type { PortState } from '../serial-port-state.ts';
import { bestOrigin, timeLimits, trustedUtcMs, upMsAt } from '../timekeeping.ts';
import { modules } from '../vehicle/modules.ts';

/** One serial port. `forS`: how long it has been in that state; null where unknown. */
export interface PortStatus {
  readonly state: PortState['kind'];
  readonly path: string;
  readonly forS: number | null;
  readonly attempts: number;
  /** Why it is not open; empty when it is. */
  readonly reason: string;
}

export interface UnitStatus {
  readonly unit: string;
  readonly address: number;
  /** Null: neither answered nor timed out since the port opened. */
  readonly isUp: boolean | null;
  readonly failures: number;
  /** Since its last good answer. */
  readonly answeredAgoS: number | null;
}

export interface CommandStatus {
  readonly commandID: string;
  readonly feature: FeatureName;
  readonly state: string;
  readonly phase: ActiveCommand['phase'] | 'next';
  /** Why it waits; null when it does not. */
  readonly verdict: Verdict | null;
}

/** Proof of standstill, and its witnesses. */
export interface EvidenceStatus {
  readonly drive: EvidenceState['drive']['state'];
  /** The witness that showed it; null = none. */
  readonly by: WitnessName | null;
  readonly forS: number | null;
  readonly witnesses: WitnessStates;
}

export interface RelayStatus {
  readonly feature: string;
  /** As read from the board within the last 15 s; null: not known. */
  readonly isEnergised: boolean | null;
  /** Wanted state; null for an output that no command sets. */
  readonly wanted: boolean | null;
}

export interface VehicleStatus extends ModuleStatus {
  readonly connection: {
    readonly state: 'waiting' | 'connecting' | 'up';
    readonly forS: number | null;
    readonly reason: string;
    readonly attempts: number;
    readonly nextTryInS: number | null;
    readonly isWelcomed: boolean;
    readonly inFlight: number;
    /** Delay behind the session's next deadline; above zero it should have acted. */
    readonly overdueS: number;
    readonly light: string;
    readonly trafficMb: number;
    readonly monthlyMb: number;
  };
  readonly clock: ReturnType<typeof clockStatus>;
  readonly board: PortStatus & {
    readonly profile: string;
    readonly units: readonly UnitStatus[];
    /** Since the last good answer of any unit. */
    readonly polledAgoS: number | null;
    readonly counters: Readonly<Record<string, number>>;
    /** Where board and profile do not fit. */
    readonly problems: Readonly<Record<string, string>>;
  };
  readonly inputs: readonly { readonly input: InputName; readonly reading: string; readonly forS: number }[];
  readonly analogs: Readonly<Record<string, number | null>>;
  readonly relays: readonly RelayStatus[];
  readonly commands: readonly CommandStatus[];
  /** Last alarm of the relay guard since the start: conditions that did not hold; null: none. */
  readonly guardRefused: {
    readonly feature: FeatureName | null;
    readonly refusals: readonly string[];
    readonly agoS: number | null;
  } | null;
  readonly gnss: PortStatus & ReturnType<typeof gnssStatus>;
  readonly evidence: EvidenceStatus;
  readonly config: { readonly version: number; readonly onTrial: number | null; readonly zones: number };
  readonly odometerKm: number;
  readonly isRoaming: boolean;
}

/** Whole seconds, or tenths below a minute. */
const seconds = (ms: number): number => (ms < 60_000 ? Math.round(ms / 100) / 10 : Math.round(ms / 1000));
const ago = (atMs: number | null, nowMs: number): number | null =>
  atMs === null || !Number.isFinite(atMs) ? null : seconds(Math.max(0, nowMs - atMs));

function portStatus(port: PortState, path: string, nowMs: number): PortStatus {
  switch (port.kind) {
    case 'waiting':
      return { state: port.kind, path, forS: null, attempts: port.attempt, reason: port.why };
    case 'opening':
      return {
        state: port.kind,
        path,
        forS: ago(port.sinceMs, nowMs),
        attempts: port.attempt,
        reason: 'being opened',
      };
    case 'open':
      return { state: port.kind, path, forS: ago(port.openedMs, nowMs), attempts: port.attempt, reason: '' };
  }
}

/** Delay of the session's machine behind its deadline, in ms; 0: none. */
function overdueMs({ phase, inFlight }: VehicleState['delivery'], nowMs: number): number {
  const { connectTimeoutMs, ackTimeoutMs } = deliveryLimits;
  switch (phase.kind) {
    case 'waiting':
      return Math.max(0, nowMs - phase.untilMs);
    case 'connecting':
      return Math.max(0, nowMs - phase.sinceMs - connectTimeoutMs);
    case 'up':
      return Math.max(0, nowMs - (inFlight[0]?.sentMs ?? nowMs) - ackTimeoutMs);
  }
}

function connectionStatus({ delivery, settings }: VehicleState, nowMs: number): VehicleStatus['connection'] {
  const { phase, attempt, inFlight, light, traffic } = delivery;
  const shared = {
    state: phase.kind,
    attempts: attempt,
    inFlight: inFlight.reduce((sum, batch) => sum + batch.seqs.length, 0),
    overdueS: seconds(overdueMs(delivery, nowMs)),
    light,
    trafficMb: Math.round(traffic.bytes / 10_000) / 100,
    monthlyMb: settings.link.monthlyMb,
  };
  switch (phase.kind) {
    case 'waiting': {
      const nextTryInS = seconds(Math.max(0, phase.untilMs - nowMs));
      return { ...shared, forS: null, reason: phase.why, nextTryInS, isWelcomed: false };
    }
    case 'connecting':
      return { ...shared, forS: ago(phase.sinceMs, nowMs), reason: '', nextTryInS: null, isWelcomed: false };
    case 'up':
      return {
        ...shared,
        forS: ago(phase.sinceMs, nowMs),
        reason: '',
        nextTryInS: null,
        isWelcomed: phase.welcomed,
      };
  }
}

/** A receiver that is further off than this is wrong, and not only read late. */
const receiverOffMs = timeLimits.serverDisagreementMs;

/** The receiver's current time by its last fix; null without a fresh one. */
function receiverUtcMs(fix: VehicleState['fix'], nowMs: number): number | null {
  if (fix === null || fix.utcMs === null || nowMs - fix.atMonoMs > vehicleLimits.fixAgeMs) return null;
  return fix.utcMs + nowMs - fix.atMonoMs;
}

/** UTC as the agent computes it, its source, the difference of each source in seconds, and which of them is wrong. */
function clockStatus({ time, fix }: Pick<VehicleState, 'time' | 'fix'>, nowMs: number) {
  const best = bestOrigin(time);
  const upMs = upMsAt(time, nowMs);
  const shown = (originMs: number | null): number | null => (originMs === null ? null : originMs + upMs);
  const beyond = (originMs: number | null): number | null =>
    originMs === null || best === null ? null : Math.round((originMs - best.originMs) / 100) / 10;
  return {
    utcMs: shown(best?.originMs ?? null),
    quality: best?.quality ?? 'none',
    differencesS: {
      gnss: beyond(time.gnssOriginMs),
      server: beyond(time.serverOriginMs),
      system: beyond(time.systemOriginMs),
    },
    verdict: judgeClocks(
      {
        machineMs: shown(time.systemOriginMs),
        brokerMs: shown(time.serverOriginMs),
        receiverMs: receiverUtcMs(fix, nowMs),
      },
      { earliestMs: time.earliestUtcMs, brokerMs: receiverOffMs, receiverMs: receiverOffMs },
    ),
  };
}

function gnssStatus(state: VehicleState, nowMs: number) {
  const { fix, alarms } = state;
  const { sky } = alarms.gnss;
  const claim = claimOf(state.evidence, nowMs);
  const lately = Object.entries(sky.constellations).filter(([, { atMs }]) => nowMs - atMs < 5000);
  return {
    hasFix: fix !== null && nowMs - fix.atMonoMs <= vehicleLimits.fixAgeMs,
    fixAgeS: fix === null ? null : ago(fix.atMonoMs, nowMs),
    fixes: state.fixes,
    latitude: fix?.latitude ?? null,
    longitude: fix?.longitude ?? null,
    satellites: fix?.satellites ?? null,
    hdop: fix?.hdop ?? null,
    tracked: Object.fromEntries(lately.map(([talker, { tracked }]) => [talker, tracked])),
    antenna: sky.antenna,
    doubts: fix?.doubts ?? [],
    /** Between two of its epochs, and between two that could prove something. */
    everyS: seconds(state.evidence.gnss.stream.everyMs),
    goodEveryS: seconds(state.evidence.gnss.intervalMs),
    /** Sentences that could not be used, lately; and what most of its positions lack. */
    unusable: unusableLately(state.receiver, nowMs),
    lacks: lacksOf(state.receiver),
    isSuspect: wasSuspectAt(state.evidence.gnss, nowMs),
    /** `still` is proven, `moving` measured; `unknown` for the reason in `fault`. */
    motion: claim.kind,
    speedKmh: claim.kind === 'moving' ? Math.round(claim.speedKmh * 10) / 10 : null,
    standingS: claim.kind === 'still' ? seconds(claim.forMs) : null,
    fault: claim.kind === 'unknown' ? claim.fault : null,
  };
}

function evidenceStatus({ evidence, time }: VehicleState, nowMs: number): EvidenceStatus {
  const { state, by, sinceMs } = evidence.drive;
  const utcMs = trustedUtcMs(time, nowMs);
  return {
    drive: state,
    by,
    forS: ago(sinceMs, nowMs),
    witnesses: witnessStatesOf(evidence, { atMs: nowMs, utcMs }),
  };
}

function unitsOf({ board }: VehicleState, nowMs: number): readonly UnitStatus[] {
  return Object.entries(board.profile.units).map(([unit, { address }]) => ({
    unit,
    address,
    isUp: board.isLinkUp ? (board.units[unit]?.isUp ?? null) : false,
    failures: board.units[unit]?.failures ?? 0,
    answeredAgoS: ago(board.master.units.get(address)?.lastOkMs ?? null, nowMs),
  }));
}

function relaysOf(state: VehicleState, nowMs: number): readonly RelayStatus[] {
  return wiringsOf(state.board.profile).map(([feature]) => {
    const isOutput = feature === 'warning' || feature === 'loopback';
    const reading =
      feature === 'warning'
        ? state.warning.reading
        : feature === 'loopback'
          ? state.loopback.output
          : (state.relays.readings[feature] ?? null);
    const isFresh = reading !== null && nowMs - reading.atMs <= vehicleLimits.relaysAgeMs;
    const isKnown = isFresh && (isOutput || state.relaysReadMs !== null);
    const wanted = isOutput ? null : wantedState(state.commands.record, feature) === '1';
    return { feature, isEnergised: isKnown ? reading.on : null, wanted };
  });
}

function guardStatus({ guard: { refused } }: VehicleState, nowMs: number): VehicleStatus['guardRefused'] {
  if (refused === null) return null;
  const { feature, refusals, atMs } = refused;
  return { feature, refusals, agoS: ago(atMs, nowMs) };
}

function commandsOf({ commands }: VehicleState): readonly CommandStatus[] {
  const { active, next } = commands.record;
  const statusOfCommand = (
    { commandID, feature, state, waiting: verdict }: ActiveCommand,
    phase: CommandStatus['phase'],
  ) => ({
    commandID,
    feature,
    state,
    phase,
    verdict,
  });
  return featureNames.flatMap((name) => {
    const [now, later] = [active[name], next[name]];
    return [
      ...(now === undefined ? [] : [statusOfCommand(now, now.phase)]),
      ...(later === undefined ? [] : [statusOfCommand(later, 'next')]),
    ];
  });
}

const moduleStatus = (state: VehicleState, nowMs: number): ModuleStatus =>
  Object.assign({}, ...modules.map((module) => module.status?.(state, nowMs)));

/** What modules add to the status of the agent. */
export const moduleFacts = (state: VehicleState): ModuleFacts =>
  Object.assign({}, ...modules.map((module) => module.facts?.(state)));

/**
 * Status of the vehicle.
 * @param given.nowMs monotonic.
 */
export function statusOfVehicle(
  state: VehicleState,
  given: {
    readonly nowMs: number;
    readonly paths: { readonly board: string; readonly gnss: string };
    readonly config: Pick<VehicleConfig, 'profile'>;
  },
): VehicleStatus {
  const { nowMs, paths, config } = given;
  const units = unitsOf(state, nowMs);
  const ages = units.flatMap(({ answeredAgoS }) => (answeredAgoS === null ? [] : [answeredAgoS]));
  const held = activeRecord(state.config);
  return {
    connection: connectionStatus(state, nowMs),
    clock: clockStatus(state, nowMs),
    board: {
      ...portStatus(state.ports.board, paths.board, nowMs),
      profile: config.profile.name,
      units,
      polledAgoS: ages.length === 0 ? null : Math.min(...ages),
      counters: { ...state.board.master.counters },
      problems: state.board.problems,
    },
    inputs: Object.keys(config.profile.inputs).map((name) => {
      const input = name as InputName;
      const { reading, sinceMs } = readingOf(state.inputs, input);
      return { input, reading, forS: ago(sinceMs, nowMs) ?? 0 };
    }),
    analogs: Object.fromEntries(
      Object.keys(config.profile.analogs).map((name) => [
        name,
        state.analogs[name as keyof typeof state.analogs] ?? null,
      ]),
    ),
    relays: relaysOf(state, nowMs),
    commands: commandsOf(state),
    guardRefused: guardStatus(state, nowMs),
    gnss: { ...portStatus(state.ports.gnss, paths.gnss, nowMs), ...gnssStatus(state, nowMs) },
    evidence: evidenceStatus(state, nowMs),
    ...moduleStatus(state, nowMs),
    config: {
      version: held?.version ?? 0,
      onTrial: held?.state === 'trial' ? held.version : null,
      zones: state.zoneCount,
    },
    odometerKm: Math.round(state.reporting.odometerM / 100) / 10,
    isRoaming: state.isRoaming,
  };
}
