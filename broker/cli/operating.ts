// What the running broker shows its operator and the service manager: the Prometheus listener, the watchdog and the status
// line in `systemctl status`. The broker works without any of it.

import { createSystemClock } from '../../src/adapters/system.ts';
import { createSupervisor } from '../../src/adapters/systemd.ts';
import { readVersion } from '../../src/adapters/version.ts';
import { readEnvironment } from '../../src/config.ts';
import { isPostgresUrl } from '../../src/core/database-url.ts';
import type { Log } from '../../src/ports.ts';
import { openMetricsServer } from '../adapters/http/metrics-server.ts';
import { loadAdminTokenHash } from '../adapters/keys/admin-token-file.ts';
import { type ProbedPort, probePort } from '../adapters/port-probe.ts';
import { sqliteDiskSizes } from '../adapters/storage/disk-sizes.ts';
import type { Broker } from '../broker.ts';
import type { BrokerConfig } from '../config/broker-config.ts';
import type { Meter } from '../metrics/meter.ts';
import { type CertificateTerm, createSampler } from '../metrics/sampler.ts';
import type { Services } from '../services.ts';
import { sqliteTableSizes } from '../store/sampling.ts';
import { startWatchdog } from '../upkeep/watchdog.ts';

export interface OperatingOptions {
  readonly config: BrokerConfig;
  readonly log: Log;
  readonly meter: Meter;
  readonly broker: Broker;
  readonly services: Services;
  /** Every listener but that for Prometheus, by name, with the port that it really has. */
  readonly listeners: Readonly<Record<string, ProbedPort>>;
  readonly certificates: () => readonly CertificateTerm[];
}

export interface Operating {
  /** Null: there is no listener for Prometheus. */
  readonly metricsPort: number | null;
  /** Says that the broker is stopping; the watchdog is not fed any more. */
  stopping(): void;
  close(): Promise<void>;
}

/** What the service manager waits without a sign of life, in ms (sd_watchdog_enabled(3)); null: it does not watch. */
function watchdogMs(environment: Readonly<Record<string, string | undefined>>): number | null {
  const { WATCHDOG_USEC: text, WATCHDOG_PID: pid } = environment;
  const us = Number(text ?? '');
  const isOurs = pid === undefined || Number(pid) === process.pid;
  return isOurs && Number.isFinite(us) && us > 0 ? us / 1000 : null;
}

async function openMetrics({ config, log, meter, broker, services, certificates }: OperatingOptions) {
  const { port, host, tokenFile } = config.metrics;
  if (port === undefined) return null;
  const { createMetricsText } = await import('../adapters/http/prometheus.ts');
  const clock = createSystemClock();
  const { db, metrics } = broker.services;
  const isFile = !isPostgresUrl(config.database);
  const sampler = createSampler({
    db,
    clock,
    log,
    meter,
    diskSizes: isFile ? () => sqliteDiskSizes(config.database) : null,
    tableSizes: isFile ? () => sqliteTableSizes(db) : null,
    lagMs: () => metrics().lagMs,
  });
  broker.services.onCommitted(meter.onCommitted);
  const text = createMetricsText({
    clock,
    version: readVersion(),
    nodeVersion: process.version,
    meter,
    broker: metrics,
    streams: services.streamCount,
    features: services.families,
    longReads: () => services.api.exportLimit.count(),
    longAnswers: () => services.api.pageLimit.count(),
    retention: () => services.retention.counts(),
    sample: () => sampler.last(),
    certificates,
  });
  const tokenHash = tokenFile === undefined ? null : loadAdminTokenHash('metrics.tokenFile', tokenFile);
  const server = await openMetricsServer(
    { metrics: text, clock, log, tokenHash },
    { host, port, setting: 'metrics' },
  );
  return { server, sampler };
}

/** Starts all of it and says that the broker is ready. @throws AppError `port_in_use` or `config`. */
export async function startOperating(options: OperatingOptions): Promise<Operating> {
  const { config, log, broker, listeners } = options;
  const metrics = await openMetrics(options);
  const environment = readEnvironment();
  const supervisor = createSupervisor({ log, environment });
  const figures = broker.services.metrics;
  supervisor.ready();
  const stopFeeding = startWatchdog({
    clock: createSystemClock(),
    log,
    supervisor,
    watchdogMs: watchdogMs(environment),
    hangingMs: () => figures().lagMs,
    listeners: () =>
      Object.entries(listeners).map(([name, at]) => ({ name, isAlive: (limitMs) => probePort(at, limitMs) })),
    status: () => {
      const { connections, events, lagMs } = figures();
      const own = config.ingress === undefined ? `${connections} vehicles connected, ` : '';
      return `${own}${events} events since the start, ${Math.round(lagMs)} ms behind`;
    },
  });
  return {
    metricsPort: metrics?.server.port ?? null,
    stopping() {
      stopFeeding();
      supervisor.stopping();
    },
    async close() {
      await Promise.all([metrics?.sampler.close(), metrics?.server.close()]);
    },
  };
}
