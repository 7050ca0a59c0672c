// What the operator of the service sees of it. Types only. Times (`...AtS`) are epoch seconds, lengths (`...S`) seconds. A group that
// comes from the database has the time of its look and stays as it was while the database does not answer; null: not read yet.
import type { Severity } from '../../../src/core/releases/advisories.ts';

export const accountStates = ['active', 'suspended', 'expired', 'deleting'] as const;

export interface AccountFacts {
  readonly accountID: string;
  readonly accountDisplayName: string;
  readonly state: (typeof accountStates)[number];
  readonly devices: number;
  readonly devicesOnline: number;
  /** 0: no limit. */
  readonly maximumDevices: number;
  readonly users: number;
  readonly createdAtS: number;
  /** 0: never. */
  readonly expiresAtS: number;
  /** Days that events are kept; 0: for ever. */
  readonly retainedDays: number;
}

export interface QuarantineReason {
  /** Of the newest payload; reasons that differ in numbers only count as one. */
  readonly reason: string;
  readonly payloads: number;
  readonly devices: number;
  readonly oldestAtS: number;
  readonly newestAtS: number;
  /** Whose payload is the newest: where to look. */
  readonly accountID: string;
  readonly deviceID: string;
}

/** What waits, in the order of the page. */
export const queueNames = [
  'commits',
  'deliveries',
  'occurrences',
  'audit',
  'commands',
  'approvals',
  'alarms',
  'purges',
  'feeds',
] as const;
export type QueueName = (typeof queueNames)[number];

export interface QueueFacts {
  readonly name: QueueName;
  readonly waiting: number;
  /** Age of the oldest; 0 when nothing waits. */
  readonly oldestS: number;
}

export interface GoodBackup {
  readonly atS: number;
  readonly file: string;
  readonly bytes: number;
  readonly durationS: number;
  readonly hasSigningKey: boolean;
}

/** Archiving of the write-ahead log by a PostgreSQL server. */
export interface ArchiveFacts {
  /** 0: never. */
  readonly archivedAtS: number;
  readonly failedAtS: number;
}

export interface LeaseFacts {
  readonly name: string;
  /** Begin of the holder's id; '' while no bridge holds it. */
  readonly holder: string;
  readonly isOwn: boolean;
  /** Since its last sign of life, by the clock of this bridge. */
  readonly silentS: number;
}

/** A broker that holds the database. */
export interface BridgeFacts {
  /** Address of its connection to the database; '' when it is on the machine of the server. */
  readonly address: string;
  readonly sinceAtS: number;
}

export interface RecentCount {
  readonly name: string;
  readonly lastHour: number;
  readonly lastAtS: number;
}

export const sliceStates = ['open', 'closed', 'retired', 'dropping'] as const;

/** What the supplier's signed list says; see `known-advisories.ts`. */
export interface AdvisoryFacts {
  /** Why the list is not used; '': it is. */
  readonly fault: string;
  /** End of the security updates of this broker; 0: the list does not say. */
  readonly serviceUntilAtS: number;
  /** The earliest end among the releases that units run; 0: the list does not say it of all. */
  readonly unitsUntilAtS: number;
  readonly listed: readonly {
    readonly id: string;
    readonly severity: Severity;
    readonly summary: string;
    readonly action: string;
    readonly url: string;
    readonly isOfService: boolean;
    /** Units whose release it concerns. */
    readonly units: number;
  }[];
}

export interface ServiceFacts {
  readonly timestamp: number;
  readonly service: {
    readonly version: string;
    readonly nodeVersion: string;
    readonly startedAtS: number;
    readonly database: 'sqlite' | 'postgres';
    readonly ingress: 'own' | 'cluster';
    /** What must work; `fault` '': it does. */
    readonly checks: readonly { readonly name: string; readonly fault: string }[];
  };
  readonly accounts: {
    readonly atS: number;
    readonly total: number;
    readonly devices: number;
    readonly devicesOnline: number;
    /** When the oldest was made; 0: there is none. */
    readonly oldestAtS: number;
    /** Those nearest to a limit or an end first. */
    readonly listed: readonly AccountFacts[];
  } | null;
  readonly quarantine: {
    readonly atS: number;
    readonly payloads: number;
    readonly bytes: number;
    /** How many of the newest payloads the rest is about. */
    readonly examined: number;
    readonly lastHour: number;
    readonly reasons: readonly QuarantineReason[];
  } | null;
  readonly backup: {
    readonly atS: number;
    /** A good one that is older is late. */
    readonly lateAfterS: number;
    readonly good: GoodBackup | null;
    /** `isLast`: no good one came after it. By their order, which a second that holds both and a clock that was set leave as it is. */
    readonly failed: { readonly atS: number; readonly reason: string; readonly isLast: boolean } | null;
    /** Null: the database is a file, or its server archives nothing. */
    readonly archive: ArchiveFacts | null;
  } | null;
  readonly queues: { readonly atS: number; readonly listed: readonly QueueFacts[] } | null;
  readonly connections: {
    readonly devices: number;
    readonly devicesWaiting: number;
    readonly apps: number;
    readonly streams: number;
    readonly refused: readonly RecentCount[];
    /** Devices that sent more than they may, as account/device: how many payloads passed the limit. */
    readonly overLimit: readonly RecentCount[];
  };
  readonly storage: {
    readonly atS: number;
    /** Null: unknown. */
    readonly databaseBytes: number | null;
    readonly walBytes: number | null;
    readonly freeBytes: number | null;
    readonly slices: Readonly<Record<(typeof sliceStates)[number], number>>;
    /** When the oldest slice was opened; 0: the first one, which has no such time. */
    readonly oldestSliceAtS: number;
    readonly lastEventNo: number;
    /** How far the notifier has decided. */
    readonly notifiedEventNo: number;
  } | null;
  /** Bridges on the database; null: not read yet, or this broker works alone. */
  readonly bridges: { readonly atS: number; readonly listed: readonly BridgeFacts[] } | null;
  readonly leases: readonly LeaseFacts[];
  /** Null: not read yet, or the settings name no list. */
  readonly advisories: (AdvisoryFacts & { readonly atS: number }) | null;
  readonly certificates: readonly { readonly setting: string; readonly untilAtS: number }[];
  readonly errors: {
    /** Begin of what is counted: an hour ago, or the start. */
    readonly sinceAtS: number;
    readonly listed: readonly (RecentCount & { readonly level: 'warn' | 'error' })[];
  };
}
