// Data with which every operation can be called as its example says, for two tenants: `acme`, which calls, and `rival`,
// whose every text holds the canary that must never show. One file per area under `fixtures/`.
import type { Operation } from '../../../broker/api/base/operation.ts';
import { alarmsFixture } from './fixtures/alarms.ts';
import { commandsFixture } from './fixtures/commands.ts';
import { coreFixture } from './fixtures/core.ts';
import { devicesFixture } from './fixtures/devices.ts';
import { enrolmentFixture } from './fixtures/enrolment.ts';
import { eventsFixture } from './fixtures/events.ts';
import { geozoneFixture } from './fixtures/geozones.ts';
import { liveFixture } from './fixtures/live.ts';
import { notifyFixture } from './fixtures/notify.ts';
import { ownerFixture } from './fixtures/owner.ts';
import { releasesFixture } from './fixtures/releases.ts';
import { reportsFixture } from './fixtures/reports.ts';
import { requestsFixture } from './fixtures/requests.ts';
import { sharesFixture } from './fixtures/shares.ts';
import { usersFixture } from './fixtures/users.ts';
import type { startHttpService } from './http-service.ts';

export type HttpService = Awaited<ReturnType<typeof startHttpService>>;

/** What a call takes in place of the operation's example. */
export interface Prepared {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly token?: string;
}

/** Puts back what a call of an operation uses up, so that it succeeds again. */
export type Prepare = (service: HttpService) => Promise<Prepared | undefined>;

export interface Fixture {
  seed(service: HttpService): Promise<void>;
  /** By operation id. */
  readonly prepare: Readonly<Record<string, Prepare>>;
}

/** In the order of what needs what. */
const fixtures: readonly Fixture[] = [
  coreFixture,
  eventsFixture,
  devicesFixture,
  enrolmentFixture,
  usersFixture,
  liveFixture,
  geozoneFixture,
  notifyFixture,
  alarmsFixture,
  commandsFixture,
  ownerFixture,
  requestsFixture,
  sharesFixture,
  releasesFixture,
  reportsFixture,
];

/** Makes both tenants with everything that the examples name. */
export async function seedFleet(service: HttpService): Promise<void> {
  for (const { seed } of fixtures) await seed(service);
}

/** What to send so that the operation succeeds now. */
export async function prepareCall(service: HttpService, operation: Operation): Promise<Prepared> {
  const prepare = fixtures.map((fixture) => fixture.prepare[operation.id]).find((one) => one !== undefined);
  return (await prepare?.(service)) ?? {};
}
