// The operator's listener over the broker of a test: the same host, operations and state as in the program.
import {
  createHttpServer,
  type HttpOptions,
  type HttpServer,
} from '../../../broker/adapters/http/fastify.ts';
import type { Caller } from '../../../broker/api/base/caller.ts';
import { adminIntroduction, adminOperations } from '../../../broker/api/operator/admin-operations.ts';
import { createMeter, type Meter } from '../../../broker/metrics/meter.ts';
import { createServiceStatus, type ServiceStatusOptions } from '../../../broker/metrics/service-status.ts';
import type { ServiceStatus } from '../../../broker/ports/service-status.ts';
import { listHolders, readServerFigures } from '../../../src/adapters/database/postgres-figures.ts';
import { isOnPostgres } from '../database/test-database.ts';
import type { HttpService } from './http-fixtures.ts';

/** A day and two hours, as the setting has it. */
export const backupLateS = 93_600;

export interface OperatorHost {
  readonly http: HttpServer;
  readonly meter: Meter;
}

/** What the operator sees of a service of a test. */
export function statusOf(
  service: HttpService,
  changes: Partial<ServiceStatusOptions> = {},
): { readonly status: ServiceStatus; readonly meter: Meter } {
  const { db } = service.api;
  const meter = createMeter(service.api.clock);
  const status = createServiceStatus({
    db,
    clock: service.api.clock,
    meter,
    version: '0.0.0',
    nodeVersion: process.version,
    ingress: 'own',
    backupLateS,
    readiness: async () => [{ name: 'database', fault: null }],
    metrics: service.api.metrics,
    apps: () => service.http.connections(),
    streams: service.streamCount,
    queues: service.queues,
    leases: () => [],
    certificates: () => [],
    advisories: null,
    diskSizes: isOnPostgres ? null : () => ({ databaseBytes: 4096, walBytes: 0, freeBytes: 80e9 }),
    server: isOnPostgres ? { figures: () => readServerFigures(db), bridges: () => listHolders(db) } : null,
    ...changes,
  });
  return { status, meter };
}

/** Builds the host; `http.close` must be called. */
export async function openOperatorHost(
  service: HttpService,
  {
    authenticate,
    changes,
    ...options
  }: Pick<HttpOptions, 'console' | 'names' | 'rates'> & {
    readonly authenticate: (header: string | undefined) => Promise<Caller>;
    readonly changes?: Partial<ServiceStatusOptions>;
  },
): Promise<OperatorHost> {
  const { status, meter } = statusOf(service, changes);
  const http = await createHttpServer({
    services: service.api,
    operations: adminOperations(status),
    version: '0.0.0',
    readiness: async () => [],
    authenticate,
    introduction: adminIntroduction,
    ...options,
  });
  return { http, meter };
}
