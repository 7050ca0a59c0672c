// What handlers of operations may use, and what features make their services of.
import type { AppError } from '../../../src/core/errors.ts';
import type { EventTexts } from '../../../src/core/events/event-text.ts';
import type { PersonsCrypto } from '../../../src/core/persons/webauthn.ts';
import type { Clock, Database, Entropy, Log } from '../../../src/ports.ts';
import type { AccountChecks } from '../../audit/account-check.ts';
import type { CommandLedger } from '../../commands/commands.ts';
import type { DeviceRequests } from '../../commands/device-requests.ts';
import type { LoginThrottle } from '../../core/accounts/login-throttle.ts';
import type { Passwords } from '../../core/accounts/password.ts';
import type { TextCache, TextCacheLimits } from '../../core/events/text-cache.ts';
import type { KeyOwner } from '../../core/events/trip-drivers.ts';
import type { QueueFacts } from '../../core/operating/service-facts.ts';
import type { EnrolmentOptions } from '../../devices/enrolment.ts';
import type { Ingest } from '../../ingest/ingest.ts';
import type { LiveHub } from '../../live/hub.ts';
import type { Family } from '../../metrics/families.ts';
import type { Senders } from '../../notify/senders.ts';
import type { BrokerMetrics } from '../../ports/broker-metrics.ts';
import type { FeedTarget } from '../../ports/feed-targets.ts';
import type { FleetCache } from '../../ports/fleet-cache.ts';
import type { IdentityProvider } from '../../ports/identity-provider.ts';
import type { MapFolder } from '../../ports/map-folder.ts';
import type { MapStyle } from '../../ports/map-style.ts';
import type { PracticeWorld } from '../../ports/practice-world.ts';
import type { TraccarServer } from '../../ports/traccar-server.ts';
import type { ExportLimit, PageLimit, TakeTurn } from '../../scheduling/per-account-limits.ts';
import type { UserKey } from '../../store/accounts/accounts.ts';
import type { KeptPage } from '../../store/events/event-pages.ts';
import type { LinkCaller } from './caller.ts';

/** Blocks of events that were written as text, how much of them is kept, and pages that they make. */
interface KeptTexts {
  readonly cache: TextCache<EventTexts>;
  /** Bytes of texts that were read once: such a text is kept only when it is asked for again before `cache` would have forgotten it. */
  readonly asked: TextCache<number>;
  readonly pages: TextCache<KeptPage>;
  readonly limits: TextCacheLimits;
}

/** What handlers may use. */
export interface ApiServices {
  readonly db: Database;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  /** The one way to a vehicle's relays. */
  readonly ledger: Pick<
    CommandLedger,
    'arrived' | 'request' | 'enact' | 'cancel' | 'sendMessages' | 'sendOwnerDocument'
  >;
  /** Requests to units, and their answers. */
  readonly requests: Pick<DeviceRequests, 'ask'>;
  /** Hosts that firmware may lie at. */
  readonly firmwareHosts: readonly string[];
  readonly ingest: Pick<Ingest, 'submit' | 'quarantine'>;
  isOnline(accountID: string, deviceID: string): Promise<boolean>;
  /** Ends the device's MQTT connection, if it has one. */
  kick(device: { readonly accountID: string; readonly deviceID: string }, reason: string): void;
  metrics(): BrokerMetrics;
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
  /** Identity provider of users without a password; null: none is configured. */
  readonly identityProvider: IdentityProvider | null;
  readonly enrolment: EnrolmentOptions;
  readonly persons: PersonsCrypto;
  readonly live: Pick<LiveHub, 'open'>;
  readonly senders: Pick<Senders, 'email' | 'targets' | 'vapidPublicKey' | 'webhook'>;
  /** The operator's map files. */
  readonly maps: Pick<MapFolder, 'list'>;
  /** A map of another host that the console may show; null: none. */
  readonly mapStyle: MapStyle | null;
  /** The server of an account's other trackers, to fetch what it could not forward; null: none. */
  readonly traccar: TraccarServer | null;
  /** Brokers of others that events of accounts are fed into. */
  readonly feeds: readonly FeedTarget[];
  /** The world of a practice fleet; null at every service but that of a demonstration. */
  readonly practice: PracticeWorld | null;
  readonly takeTurn: TakeTurn;
  /** Deliveries may be due. */
  wakeDelivery(): void;
  /** Address of the console; empty: not known. */
  readonly consoleUrl: string;
  readonly exportLimit: ExportLimit;
  /** How the long answers of an account share the service. */
  readonly pageLimit: PageLimit;
  /** Texts of blocks of events that were listed. */
  readonly eventTexts: KeptTexts;
  /** The devices of accounts, ready for answers. */
  readonly fleet: FleetCache;
  /** Checks of the audit log. */
  readonly auditChecks: AccountChecks;
  /** The database for what reads much: lists of events, files, reports. It lets everything else go first. */
  readonly archive: Database;
  /** The caller of a link by its token; null when no feature knows one that is open. */
  callerOfLink(token: string): Promise<LinkCaller | null>;
  /** Why the password of this user alone begins no session; null: it does. */
  needsMore(user: UserKey): Promise<AppError | null>;
  /** Owners of drivers' keys, at any time; none without a feature that knows them. */
  keyOwners(accountID: string, keyIDs: readonly string[]): Promise<readonly KeyOwner[]>;
  /** What the slice of a feature made. */
  of<S extends FeatureService>(slice: Slice<S>): S;
}

/** What features make their services of. */
export interface Kernel extends Omit<ApiServices, 'callerOfLink' | 'keyOwners' | 'needsMore' | 'of'> {
  /** The leases of singleton work. */
  readonly leases: { holds(work: 'notifications' | 'upkeep'): boolean };
  /** Age of the oldest write that waits for the disk, in ms. */
  lagMs(): number;
  /** The time that removals by age go by. */
  readonly aging: { read(): Promise<{ readonly nowMs: number }> };
}

/** The background work of a feature. */
export interface FeatureService {
  /** Ends it; the store is still open. */
  close(): Promise<void>;
  /** Its metrics; none without it. */
  families?(): readonly Family[];
  /** What of it waits, for the operator; nothing without it. */
  queues?(): readonly QueueFacts[];
}

/** Makes the services of a feature, once for each process, and names them for its operations. */
export interface Slice<S extends FeatureService> {
  create(kernel: Kernel): S;
}
