// Command state that survives power cuts, and the events that report it. Types and pure helpers of `commands.ts`; no
// decisions.
import {
  type CommandState,
  type FeatureName,
  type FeatureState,
  type FleetEvent,
} from '../../../src/core/events/event.ts';
import { type StatusName, statusCodes } from '../../../src/core/events/status-codes.ts';
import { type Verdict, verdictAttributes } from '../../../src/core/verdict/verdict.ts';
import type { ZoneSide } from '../zones/zone-automation.ts';

export const commandLimits = {
  /**
   * Ids remembered so that a replay is recognised, and for how long (rule 7: 30 days). The record is written with
   * every state of every command and holds 8 KiB at most; a replay of a removed id is still refused by its counter
   * and its boot.
   */
  seen: 64,
  seenMs: 30 * 24 * 3_600_000,
  /** For so long a change to a safe state is written again and again before its outcome is called unknown. */
  driveMs: 5000,
  /** Pause after the first outcome that was not a confirmation; doubles with each, up to `retryMostMs`. */
  retryMs: 2000,
  retryMostMs: 60_000,
  /**
   * A restrictive command is refused when its relay was driven and did not follow this often, or when it could not be
   * driven at all this often (a bus in trouble for some minutes). A safe one is never given up (rule 4).
   */
  mismatches: 3,
  attempts: 12,
  /** Least time between two reported reasons to wait. */
  reportMs: 10_000,
  /** Changes of a relay remembered for the rate rule. */
  changes: 8,
} as const;

/** What asks for a command on the vehicle itself. `service`: a person at the vehicle, with a code. */
export type LocalSource = 'zone' | 'service';

/** A command that is not finished. */
export interface ActiveCommand {
  readonly commandID: string;
  readonly feature: FeatureName;
  readonly state: FeatureState;
  /** UTC ms of its issue and of its end, by the clock of its issuer. */
  readonly issuedMs: number;
  readonly expiresMs: number;
  readonly phase: 'received' | 'armed' | 'executing' | 'unknown';
  /** Why it waits; null when it does not. */
  readonly waiting: Verdict | null;
  /** Times that it was tried and not confirmed. */
  readonly attempts: number;
  /** ... of these, how often it was written and read back as it was before. */
  readonly mismatches: number;
  /** Asked for on the vehicle; absent when the broker sent it. */
  readonly source?: LocalSource;
  /** Of a geozone: it is withdrawn when the vehicle is on the other side of this border before it was carried out. */
  readonly side?: ZoneSide;
  /** A person asked again although the relay had changed too often (rule 11). */
  readonly isReconfirmed?: true;
}

/** An automatic request: a person supersedes it, and it always uses prevent-start. */
export function isAutomatic(command: Pick<ActiveCommand, 'source'>): boolean {
  return command.source === 'zone';
}

/** What was last proved on a relay, and by which command. */
export interface ConfirmedRelay {
  readonly state: FeatureState;
  readonly commandID: string | null;
}

/** Everything that must survive a power cut; written in the same transaction as the events that report it. */
export interface CommandRecord {
  readonly counter: number;
  readonly active: Readonly<Partial<Record<FeatureName, ActiveCommand>>>;
  /** A newer command that arrived while the relay was being driven for an older one. */
  readonly next: Readonly<Partial<Record<FeatureName, ActiveCommand>>>;
  readonly confirmed: Readonly<Partial<Record<FeatureName, ConfirmedRelay>>>;
  readonly changesUtcMs: Readonly<Partial<Record<FeatureName, readonly number[]>>>;
  readonly seen: readonly {
    readonly commandID: string;
    readonly atMs: number;
    readonly last: CommandState;
  }[];
  /** One-time codes used and tried; absent until the first try. */
  readonly service?: ServiceRecord;
}

/**
 * State of the one-time codes (`service-code.ts`), in the record so that a code is used in the commit of its
 * command.
 */
export interface ServiceRecord {
  /** Identifies the key; another key resets the state. */
  readonly keyID: string;
  /** The first counter that is not used yet. */
  readonly counter: number;
  /** Wrong tries since the last right one or the last lock. */
  readonly wrong: number;
  readonly isLocked: boolean;
}

export function createCommandRecord(): CommandRecord {
  return { counter: 0, active: {}, next: {}, confirmed: {}, changesUtcMs: {}, seen: [] };
}

/** Remembers the last state of a command, and removes entries that are too old or too many. */
export function remember(record: CommandRecord, entry: CommandRecord['seen'][number]): CommandRecord {
  // Time 0 means that it was unknown; such an entry is ordered by number only.
  const young = (other: { readonly atMs: number }): boolean =>
    entry.atMs === 0 || other.atMs === 0 || entry.atMs - other.atMs < commandLimits.seenMs;
  const others = record.seen.filter((other) => other.commandID !== entry.commandID && young(other));
  return { ...record, seen: [...others, entry].slice(-commandLimits.seen) };
}

/** An event in the making; the vehicle adds time and position. */
export type EventDraft = Pick<
  FleetEvent,
  'statusCode' | 'commandID' | 'commandState' | 'attributes' | 'outputs' | 'fuelLevel'
>;

const confirmedStatus: Readonly<Record<FeatureName, Readonly<Record<FeatureState, StatusName>>>> = {
  enginecutoff: { '0': 'VEHICLE_ENABLED', '1': 'VEHICLE_DISABLED' },
  cargoaccess: { '0': 'DOOR_LOCK', '1': 'DOOR_UNLOCK' },
};

const stateStatus: Readonly<Record<Exclude<CommandState, 'confirmed' | 'requested' | 'sent'>, StatusName>> = {
  received: 'COMMAND_ACK',
  armed: 'COMMAND_WAITING',
  executing: 'COMMAND_EXECUTING',
  refused: 'COMMAND_REFUSED',
  expired: 'COMMAND_EXPIRED',
  superseded: 'COMMAND_SUPERSEDED',
  cancelled: 'COMMAND_CANCELLED',
  unknown: 'COMMAND_UNKNOWN',
};

/** Status code of a relay that is now in this state. */
export function relayStatusCode(feature: FeatureName, state: FeatureState): number {
  return statusCodes[confirmedStatus[feature][state]].code;
}

/** Content of a command's event beside its state. */
export interface ReportDetail {
  /** For operators; never used in a decision. */
  readonly reason?: string;
  /** The rules as they were found: what a command waits for, what it ended by, or the proof that a relay was moved on. */
  readonly verdict?: Verdict | null;
}

/** The event of a command's new state. */
export function draftOf(
  command: Pick<ActiveCommand, 'commandID' | 'feature' | 'state' | 'source'>,
  to: Exclude<CommandState, 'requested' | 'sent'>,
  detail: ReportDetail = {},
): EventDraft {
  const statusCode =
    to === 'confirmed' ? relayStatusCode(command.feature, command.state) : statusCodes[stateStatus[to]].code;
  const { feature, state, source } = command;
  const { reason, verdict } = detail;
  const attributes = {
    feature,
    state,
    ...(source === undefined ? {} : { source }),
    ...(reason === undefined ? {} : { reason }),
    ...(verdict === undefined || verdict === null ? {} : verdictAttributes(verdict)),
  };
  const outputs = to === 'confirmed' ? { outputs: { [command.feature]: command.state === '1' } } : {};
  return { statusCode, commandID: command.commandID, commandState: to, attributes, ...outputs };
}

/** The relay state that should hold: what was last proved, or the safe one. */
export function wantedState(record: CommandRecord, feature: FeatureName): FeatureState {
  return record.confirmed[feature]?.state ?? '0';
}

/** Records that a relay was found in a state that is right to leave (see `relays.ts`). */
export function adoptRelay(record: CommandRecord, feature: FeatureName, found: FeatureState): CommandRecord {
  return { ...record, confirmed: { ...record.confirmed, [feature]: { state: found, commandID: null } } };
}
