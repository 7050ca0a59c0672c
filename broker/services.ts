// What the HTTP side works with beyond the broker itself, made in one place for the program and for tests, and the
// background work that belongs to it. Everything here stops in `close`.
import { createAccountDeletion } from './accounts/account-deletion.ts';
import type { ApiServices } from './api/operation.ts';
import { createAuditSealer } from './audit/sealer.ts';
import type { BrokerServices } from './broker.ts';
import { createLoginThrottle } from './core/login-throttle.ts';
import type { Passwords } from './core/password.ts';
import type { EnrolmentOptions } from './devices/enrolment.ts';
import { createLiveHub } from './live/hub.ts';
import { createNotices, type Notices } from './notify/notices.ts';
import type { Senders } from './notify/senders.ts';
import { createPurge } from './upkeep/purge.ts';
import { createRetention, type Retention } from './upkeep/retention.ts';
import { createSlicing } from './upkeep/slicing.ts';
import { createLongReads } from './work/long-reads.ts';
import { createSpareTime, inSpareTime } from './work/spare-time.ts';

export interface ServicesOptions {
  readonly broker: BrokerServices;
  readonly passwords: Passwords;
  /** Hosts that firmware may lie at; none without it. */
  readonly firmwareHosts?: readonly string[];
  /** The ways out to people; closed with the rest. */
  readonly senders: Senders;
  readonly enrolment: EnrolmentOptions;
}

export interface Services {
  readonly api: ApiServices;
  readonly notices: Notices;
  readonly retention: Retention;
  /** Live streams that are open. */
  readonly streamCount: () => number;
  /** Ends the background work; the store is still open. */
  close(): Promise<void>;
}

/** Starts what the HTTP side needs. */
export function createServices({
  broker,
  passwords,
  senders,
  enrolment,
  firmwareHosts = [],
}: ServicesOptions): Services {
  const { onNews } = broker.db;
  const live = createLiveHub({ ...broker, onNews });
  const lagMs = (): number => broker.metrics().lagMs;
  const archive = inSpareTime(broker.db, createSpareTime({ clock: broker.clock, lagMs }));
  const upkeep = { ...broker, lagMs, isOurs: () => broker.leases.holds('upkeep') };
  const sealer = createAuditSealer(upkeep);
  const purge = createPurge(upkeep);
  const deletion = createAccountDeletion(upkeep);
  const notices = createNotices({ ...broker, onNews, senders, isOurs: () => broker.leases.holds('notices') });
  const retention = createRetention(upkeep);
  const slicing = createSlicing({ ...broker, lagMs });
  return {
    api: {
      ...broker,
      passwords,
      firmwareHosts,
      throttle: createLoginThrottle(),
      // The same object: what it reads anew at a reload must be seen here.
      enrolment: Object.assign(enrolment, { throttle: createLoginThrottle() }),
      live,
      longReads: createLongReads(),
      archive,
      senders,
      wakeDelivery: () => notices.wake(),
    },
    notices,
    retention,
    streamCount: () => live.count(),
    async close() {
      live.close();
      await Promise.all([
        purge.close(),
        deletion.close(),
        sealer.close(),
        notices.close(),
        retention.close(),
        slicing.close(),
      ]);
    },
  };
}
