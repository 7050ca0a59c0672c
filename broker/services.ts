// What the HTTP side works with beyond the broker itself, made in one place for the program and for tests, and the
// background work that belongs to it. Everything here stops in `close`.
import type { AppError } from '../src/core/errors.ts';
import type { EventTexts } from '../src/core/events/event-text.ts';
import type { PersonsCrypto } from '../src/core/persons/webauthn.ts';
import type { Database, NotifyingDatabase, Verifier } from '../src/ports.ts';
import { createAccountDeletion } from './accounts/account-deletion.ts';
import type { ApiServices, FeatureService, Kernel, Slice } from './api/base/api-services.ts';
import { callerOf, type LinkCaller } from './api/base/caller.ts';
import { createFleetCache } from './api/fleet/fleet-cache.ts';
import { createAccountChecks } from './audit/account-check.ts';
import { createAuditSealer } from './audit/sealer.ts';
import type { BrokerServices } from './broker.ts';
import { createLoginThrottle } from './core/accounts/login-throttle.ts';
import type { Passwords } from './core/accounts/password.ts';
import { createTextCache } from './core/events/text-cache.ts';
import type { QueueFacts } from './core/operating/service-facts.ts';
import type { EnrolmentOptions } from './devices/enrolment.ts';
import { allFeatures, featureTables } from './features.ts';
import { createLiveHub } from './live/hub.ts';
import type { Family } from './metrics/families.ts';
import { createNotices, type Notices, type NoticesOptions } from './notify/notices.ts';
import type { Senders } from './notify/senders.ts';
import type { FeedTarget } from './ports/feed-targets.ts';
import type { IdentityProvider } from './ports/identity-provider.ts';
import type { MapFolder } from './ports/map-folder.ts';
import type { MapStyle } from './ports/map-style.ts';
import type { PracticeWorld } from './ports/practice-world.ts';
import type { TraccarServer } from './ports/traccar-server.ts';
import { createExportLimit, createPageLimit, createTakeTurn } from './scheduling/per-account-limits.ts';
import { createSpareTime, inSpareTime } from './scheduling/spare-time.ts';
import type { UserKey } from './store/accounts/accounts.ts';
import { bytesOfText } from './store/events/event-blocks.ts';
import { bytesOfPage, type KeptPage } from './store/events/event-pages.ts';
import { createPurge } from './upkeep/purge.ts';
import { createRetention, type Retention } from './upkeep/retention.ts';
import { createSlicing } from './upkeep/slicing.ts';
import { createTripDays } from './upkeep/trip-days.ts';

export interface ServicesOptions {
  readonly broker: BrokerServices;
  readonly passwords: Passwords;
  /** Address of the console as users reach it, with `/` at the end; empty or absent: not known. */
  readonly consoleUrl?: string;
  /** Hosts that firmware may lie at; none without it. */
  readonly firmwareHosts?: readonly string[];
  /** Channels of notifications; closed with the rest. */
  readonly senders: Senders;
  readonly enrolment: EnrolmentOptions;
  /** Verifies what the owner's persons sign. */
  readonly persons: PersonsCrypto;
  /** Checks what the broker signed. */
  readonly verifier: Verifier;
  /** Where users log in who have no password; null or absent: nowhere. */
  readonly identityProvider?: IdentityProvider | null | undefined;
  /** Map files; null or absent: there are none. */
  readonly maps?: MapFolder | null | undefined;
  /** A map of another host; null or absent: there is none. */
  readonly mapStyle?: MapStyle | null | undefined;
  /** The server of other trackers; null or absent: there is none. */
  readonly traccar?: TraccarServer | null | undefined;
  /** Brokers of others that events are fed into; absent: none. */
  readonly feeds?: readonly FeedTarget[] | undefined;
  /** The world of a practice fleet; null or absent: there is none. */
  readonly practice?: PracticeWorld | null | undefined;
  /** Most bytes of JSON held of the fleets that lists are answered from. */
  readonly fleetBytes?: number | undefined;
}

export interface Services {
  readonly api: ApiServices;
  readonly notices: Notices;
  readonly retention: Retention;
  /** Live streams that are open. */
  readonly streamCount: () => number;
  /** Of the features. */
  readonly families: () => readonly Family[];
  readonly queues: () => readonly QueueFacts[];
  /** Ends the background work; the store is still open. */
  close(): Promise<void>;
}

/** A day of a vehicle that reports every ten seconds is some 4 MiB. */
const eventTextLimits = { bytes: 64 * 1024 * 1024, listingBytes: 16 * 1024 * 1024 } as const;
/** Texts of fewer bytes count as so many, so that few thousand are remembered. */
const askedLeastBytes = 16 * 1024;
/** Some hundred pages. */
const eventPageBytes = 4 * 1024 * 1024;

function createEventTexts({ onCommit }: NotifyingDatabase) {
  const cache = createTextCache<EventTexts>(eventTextLimits.bytes, bytesOfText);
  const pages = createTextCache<KeptPage>(eventPageBytes, bytesOfPage);
  const asked = createTextCache<number>(eventTextLimits.bytes, (bytes) => Math.max(bytes, askedLeastBytes));
  // Another server may have taken over that was behind: its events may bear numbers that the lost ones had.
  onCommit(({ topics }) => {
    if (topics !== null) return;
    cache.clear();
    asked.clear();
    pages.clear();
  });
  return { cache, asked, pages, limits: eventTextLimits };
}

const noMaps: Pick<MapFolder, 'list'> = { list: async () => [] };

const startNotices = (
  broker: BrokerServices,
  options: Pick<NoticesOptions, 'senders' | 'consoleUrl'>,
): Notices => {
  const { onCommit } = broker.db;
  const isOurs = (): boolean => broker.leases.holds('notifications');
  const { sendMail } = allFeatures.find((one) => one.sendMail !== undefined) ?? {};
  return createNotices({ ...broker, ...options, sendMail, onCommit, isOurs });
};

/** Starts the services of the features. */
function startSlices(kernel: Kernel) {
  const made = new Map<Slice<FeatureService>, FeatureService>();
  for (const { slice } of allFeatures) if (slice !== undefined) made.set(slice, slice.create(kernel));
  const all = (): readonly FeatureService[] => [...made.values()];
  return {
    families: () => all().flatMap((one) => one.families?.() ?? []),
    queues: () => all().flatMap((one) => one.queues?.() ?? []),
    // The map holds for each slice what it created.
    of: <S extends FeatureService>(slice: Slice<S>): S => made.get(slice) as S,
    close: () => Promise.all(all().map((one) => one.close())),
  };
}

/** The caller of a link, from the feature that gave it. */
async function firstCaller(
  token: string,
  services: Pick<Kernel, 'db' | 'clock'>,
): Promise<LinkCaller | null> {
  for (const { links } of allFeatures) {
    const caller = (await links?.(token, services)) ?? null;
    if (caller !== null) return caller;
  }
  return null;
}

/** Why the password of this user alone begins no session; null: it does. */
async function needsMore(db: Database, user: UserKey): Promise<AppError | null> {
  for (const one of allFeatures) {
    const reason = (await one.needsMore?.(db, user)) ?? null;
    if (reason !== null) return reason;
  }
  return null;
}

const { keyOwners } = allFeatures.find((one) => one.keyOwners !== undefined) ?? {};

/** Starts what the HTTP side needs. */
export function createServices({
  broker,
  passwords,
  senders,
  enrolment,
  persons,
  consoleUrl = '',
  feeds = [],
  firmwareHosts = [],
  fleetBytes,
  identityProvider,
  maps,
  mapStyle,
  practice,
  traccar,
  verifier,
}: ServicesOptions): Services {
  const { onCommit } = broker.db;
  const live = createLiveHub({
    ...broker,
    onCommit,
    callerOf: (tokenHash) => callerOf(tokenHash, broker),
  });
  const lagMs = (): number => broker.metrics().lagMs;
  const archive = inSpareTime(broker.db, createSpareTime({ clock: broker.clock, lagMs }));
  const eventTexts = createEventTexts(broker.db);
  const upkeep = { ...broker, lagMs, isOurs: () => broker.leases.holds('upkeep') };
  const sealer = createAuditSealer({ ...upkeep, verifier });
  const purge = createPurge(upkeep);
  const deletion = createAccountDeletion({ ...upkeep, featureTables });
  const notices = startNotices(broker, { senders, consoleUrl });
  const retention = createRetention(upkeep);
  const tasks = [createSlicing({ ...broker, lagMs }), createTripDays({ ...upkeep, archive })];
  const kernel: Kernel = {
    ...broker,
    passwords,
    firmwareHosts,
    throttle: createLoginThrottle(),
    identityProvider: identityProvider ?? null,
    enrolment,
    persons,
    live,
    exportLimit: createExportLimit(),
    pageLimit: createPageLimit(),
    eventTexts,
    archive,
    auditChecks: createAccountChecks({ ...broker, db: archive, verifier }),
    fleet: createFleetCache({ ...broker, bytesMost: fleetBytes }),
    senders,
    maps: maps ?? noMaps,
    mapStyle: mapStyle ?? null,
    practice: practice ?? null,
    traccar: traccar ?? null,
    feeds,
    takeTurn: createTakeTurn(broker.clock),
    wakeDelivery: () => notices.wake(),
    lagMs,
    consoleUrl,
  };
  const slices = startSlices(kernel);
  return {
    api: {
      ...kernel,
      of: slices.of,
      callerOfLink: async (token) => firstCaller(token, broker),
      keyOwners: async (accountID, keyIDs) => (await keyOwners?.(archive, accountID, keyIDs)) ?? [],
      needsMore: async (user) => needsMore(broker.db, user),
    },
    notices,
    retention,
    streamCount: () => live.count(),
    families: slices.families,
    queues: slices.queues,
    async close() {
      live.close();
      const all = [purge, deletion, sealer, notices, retention, ...tasks, slices];
      await Promise.all(all.map((one) => one.close()));
    },
  };
}
