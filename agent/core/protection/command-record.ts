// Command state that survives power cuts, and the events that report it. Types and pure helpers of `commands.ts`; no decisions.
import {
  type CommandState,
  type FeatureName,
  type FeatureState,
  type FleetEvent,
} from '../../../src/core/events/event.ts';
import { type StatusName, statusCodes } from '../../../src/core/events/status-codes.ts';
import { type Verdict, verdictAttributes } from '../../../src/core/verdict/verdict.ts';
import type { Mark } from '../../../src/core/zones/zone-watch.ts';
import type { OrderProof } from '../../guard/order.ts';

/** One side of the border of a geozone. */
export interface ZoneSide {
  readonly id: string;
  readonly to: Mark['to'];
}

export const commandLimits = {
  /**
   * Number of ids remembered to recognise a replay, and for how long (rule 7: 30 days). The record is written with every state of every command and
   * holds at most 8 KiB. The counter and the boot still refuse the replay of a removed id.
   */
  seen: 64,
  seenMs: 30 * 24 * 3_600_000,
  /** A change to a safe state is written repeatedly for this long before its outcome is unknown. */
  driveMs: 5000,
  /** Pause after the first outcome that is no confirmation. It doubles with each further one, up to `retryMostMs`. */
  retryMs: 2000,
  retryMostMs: 60_000,
  /**
   * A restrictive command is refused after its relay was driven without following this often, or could not be driven at all this often (a bus in
   * trouble for some minutes). A safe command is never given up (rule 4).
   */
  mismatches: 3,
  attempts: 12,
  /** Minimum time between two reported reasons to wait. */
  reportMs: 10_000,
  /** Number of relay changes remembered for the rate rule. */
  changes: 8,
} as const;

/** Source of a command on the vehicle itself. `service`: a person at the vehicle, with a code. */
export type LocalSource = 'zone' | 'service';

export interface ActiveCommand {
  readonly commandID: string;
  readonly feature: FeatureName;
  readonly state: FeatureState;
  /** UTC ms of its issue and of its expiry, by the clock of its issuer. */
  readonly issuedMs: number;
  readonly expiresMs: number;
  readonly phase: 'received' | 'armed' | 'executing' | 'unknown';
  /** Unmet rules for which it waits; null: it does not wait. */
  readonly waiting: Verdict | null;
  /** Number of tries without a confirmation. */
  readonly attempts: number;
  /** Number of these tries that were written and read back unchanged. */
  readonly mismatches: number;
  /** Source on the vehicle; absent: the broker sent it. */
  readonly source?: LocalSource;
  /** Side of a geozone border. The command is withdrawn if the vehicle crosses to the other side before execution. */
  readonly side?: ZoneSide;
  /** A person asked again after the relay had changed too often (rule 11). */
  readonly isReconfirmed?: true;
  /** Of a restriction, for the relay guard; it outlives a restart. Nothing else reads it. */
  readonly proof?: OrderProof;
}

/** True for an automatic request: a person supersedes it, and it always uses prevent-start. */
export function isAutomatic(command: Pick<ActiveCommand, 'source'>): boolean {
  return command.source === 'zone';
}

/** State last proved on a relay, and the command that set it; null: none. */
export interface ConfirmedRelay {
  readonly state: FeatureState;
  readonly commandID: string | null;
  /** Of the command, if it restricts. */
  readonly proof?: OrderProof;
}

/** Everything that must survive a power cut, written in one transaction with the events that report it. */
export interface CommandRecord {
  readonly counter: number;
  readonly active: Readonly<Partial<Record<FeatureName, ActiveCommand>>>;
  /** Newer command that arrived while the relay was driven for an older one. */
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

/** State of the one-time codes (`service-code.ts`). It is part of the record, so that one commit uses a code and stores its command. */
export interface ServiceRecord {
  /** Identifies the key. Another key restarts the counter; wrong tries and lock stay. */
  readonly keyID: string;
  /** First unused counter. */
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
  // Time 0 means unknown; such an entry is ordered by number only.
  const young = (other: { readonly atMs: number }): boolean =>
    entry.atMs === 0 || other.atMs === 0 || entry.atMs - other.atMs < commandLimits.seenMs;
  const others = record.seen.filter((other) => other.commandID !== entry.commandID && young(other));
  return { ...record, seen: [...others, entry].slice(-commandLimits.seen) };
}

/** An unfinished event; the vehicle adds time and position. */
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

/** Content of a command's event besides its state. */
export interface ReportDetail {
  /** For operators; never used in a decision. */
  readonly reason?: string;
  /** Findings of the rules: reason to wait, reason of the end, or the proof that permitted a relay to move. */
  readonly verdict?: Verdict | null;
}

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

/** Required relay state: the last proved one, or the safe one. */
export function wantedState(record: CommandRecord, feature: FeatureName): FeatureState {
  return record.confirmed[feature]?.state ?? '0';
}

/** Adopts a relay state that is right to keep (see `relays.ts`). */
export function adoptRelay(record: CommandRecord, feature: FeatureName, found: FeatureState): CommandRecord {
  return { ...record, confirmed: { ...record.confirmed, [feature]: { state: found, commandID: null } } };
}
