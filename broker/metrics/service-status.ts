// Gathers what the operator of the service sees. What the database gives is held for some seconds, so that open pages cost it little,
// and kept with its time while it does not answer: the page of a service in trouble must still come.
import type { AdvisoryVerdict } from '../../src/core/releases/advisories.ts';
import type { Clock, Database } from '../../src/ports.ts';
import { waitAtMost } from '../../src/timeout.ts';
import type { HourCount } from '../core/operating/hour-counts.ts';
import { advisoryFacts } from '../core/operating/known-advisories.ts';
import type {
  ArchiveFacts,
  BridgeFacts,
  LeaseFacts,
  QueueFacts,
  ServiceFacts,
} from '../core/operating/service-facts.ts';
import type { BrokerMetrics } from '../ports/broker-metrics.ts';
import type { ServiceStatus } from '../ports/service-status.ts';
import { quarantineTotals } from '../store/events/quarantine.ts';
import {
  readAccountFacts,
  readBackups,
  readPositions,
  readQuarantineFacts,
  readQueues,
  readReleases,
} from '../store/operating.ts';
import type { Meter } from './meter.ts';
import type { CertificateTerm, DiskSizes } from './sampler.ts';

/** What a database server says of itself. */
export interface ServerAccess {
  figures(): Promise<{ readonly bytes: number; readonly archive: ArchiveFacts | null }>;
  bridges(): Promise<readonly BridgeFacts[]>;
}

export interface ServiceStatusOptions {
  /** Reads of low priority. */
  readonly db: Database;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly version: string;
  readonly nodeVersion: string;
  readonly ingress: 'own' | 'cluster';
  /** A good backup that is older is late, s. */
  readonly backupLateS: number;
  readonly readiness: () => Promise<readonly { readonly name: string; readonly fault: string | null }[]>;
  readonly metrics: () => BrokerMetrics;
  /** Open connections of apps, and live streams. */
  readonly apps: () => number;
  readonly streams: () => number;
  /** What of the features waits. */
  readonly queues: () => readonly QueueFacts[];
  readonly leases: () => readonly LeaseFacts[];
  readonly certificates: () => readonly CertificateTerm[];
  /** The supplier's list, read from the disk; its answer null: there is no file. Null: the settings name none. */
  readonly advisories: (() => AdvisoryVerdict | null) | null;
  /** Of a database that is a file; null: it is on a server. */
  readonly diskSizes: (() => DiskSizes) | null;
  /** Null: the database is a file. */
  readonly server: ServerAccess | null;
}

/** How long figures are held, and how long a request waits for new ones, in ms. */
const holdMs = { queues: 5000, rest: 30_000 } as const;
const waitMs = 2000;

interface Held<Value> {
  readonly value: Value;
  readonly atS: number;
}

/** Reads at most every `everyMs`, one read at a time; gives the last value that there was, null before the first. */
function createHeldRead<Value>(clock: Clock, everyMs: number, read: () => Promise<Value>) {
  let held: Held<Value> | null = null;
  let heldMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;
  const refresh = async (): Promise<void> => {
    const [atS, monoMs] = [Math.floor(clock.utcMs() / 1000), clock.monoMs()];
    held = { value: await read(), atS };
    heldMs = monoMs;
  };
  return async (): Promise<Held<Value> | null> => {
    if (clock.monoMs() - heldMs >= everyMs) {
      // A read that hangs stays the only one: the database would get another with each request.
      reading ??= refresh().finally(() => {
        reading = null;
      });
      await waitAtMost(clock, reading, waitMs);
    }
    return held;
  };
}

function createReads(options: ServiceStatusOptions) {
  const { db, clock, diskSizes, server, ingress, backupLateS, advisories, version } = options;
  const nowMs = (): number => Math.round(clock.utcMs());
  const every = <Value>(ms: number, read: () => Promise<Value>) => createHeldRead(clock, ms, read);
  const unknown: DiskSizes = { databaseBytes: null, walBytes: null, freeBytes: null };
  return {
    accounts: every(holdMs.rest, () => readAccountFacts(db, Math.floor(nowMs() / 1000))),
    quarantine: every(holdMs.rest, async () => ({
      ...(await quarantineTotals(db)),
      ...(await readQuarantineFacts(db, nowMs())),
    })),
    backup: every(holdMs.rest, async () => ({
      lateAfterS: backupLateS,
      ...(await readBackups(db)),
      archive: server === null ? null : (await server.figures()).archive,
    })),
    queues: every(holdMs.queues, () => readQueues(db, nowMs())),
    storage: every(holdMs.rest, async () => ({
      ...unknown,
      ...(server === null ? diskSizes?.() : { databaseBytes: (await server.figures()).bytes }),
      ...(await readPositions(db)),
    })),
    advisories: every(holdMs.rest, async () =>
      advisories === null ? null : advisoryFacts(advisories(), version, await readReleases(db)),
    ),
    bridges: every(holdMs.queues, async () =>
      server === null || ingress === 'own' ? null : { listed: await server.bridges() },
    ),
  };
}

/** A group of answers with the time of its look. */
const dated = <Value extends object>(
  held: Held<Value | null> | null,
): (Value & { readonly atS: number }) | null =>
  held === null || held.value === null ? null : { ...held.value, atS: held.atS };

/** What waits for the disk is known without the database. */
function queuesOf(
  held: Held<readonly QueueFacts[]> | null,
  { waiting, lagMs }: BrokerMetrics,
  features: readonly QueueFacts[],
  nowS: number,
): ServiceFacts['queues'] {
  const commits: QueueFacts = { name: 'commits', waiting: waiting.writes, oldestS: lagMs / 1000 };
  return { atS: held?.atS ?? nowS, listed: [commits, ...(held?.value ?? []), ...features] };
}

const errorsSince = 3600;

export function createServiceStatus(options: ServiceStatusOptions): ServiceStatus {
  const { clock, meter, version, nodeVersion, ingress, server } = options;
  const startedMono = clock.monoMs();
  const reads = createReads(options);
  const database = server === null ? 'sqlite' : 'postgres';
  return {
    async read() {
      const [checks, accounts, quarantine, backup, queues, storage, bridges, advisories] = await Promise.all([
        options.readiness(),
        reads.accounts(),
        reads.quarantine(),
        reads.backup(),
        reads.queues(),
        reads.storage(),
        reads.bridges(),
        reads.advisories(),
      ]);
      const nowS = Math.floor(clock.utcMs() / 1000);
      const startedAtS = Math.floor(nowS - (clock.monoMs() - startedMono) / 1000);
      const metrics = options.metrics();
      const refused = meter.recent.mqtt.list().filter(({ name }) => /^(refused_|takeover$)/.test(name));
      const recent = (counts: readonly HourCount[]) =>
        counts.map(({ name, lastHour, lastMs }) => ({ name, lastHour, lastAtS: Math.floor(lastMs / 1000) }));
      return {
        timestamp: nowS,
        service: {
          version,
          nodeVersion,
          startedAtS,
          database,
          ingress,
          checks: checks.map(({ name, fault }) => ({ name, fault: fault ?? '' })),
        },
        accounts: dated(accounts),
        quarantine: dated(quarantine),
        backup: dated(backup),
        queues: queuesOf(queues, metrics, options.queues(), nowS),
        connections: {
          devices: ingress === 'own' ? metrics.connections : (accounts?.value.devicesOnline ?? 0),
          devicesWaiting: metrics.arrivals,
          apps: options.apps(),
          streams: options.streams(),
          refused: recent(refused),
          overLimit: recent(metrics.overLimit),
        },
        storage: dated(storage),
        bridges: dated(bridges),
        leases: options.leases(),
        advisories: dated(advisories),
        certificates: options
          .certificates()
          .map(({ setting, untilMs }) => ({ setting, untilAtS: Math.floor(untilMs / 1000) })),
        errors: {
          sinceAtS: Math.max(startedAtS, nowS - errorsSince),
          listed: [
            ...recent(meter.recent.errors.list()).map((one) => ({ ...one, level: 'error' as const })),
            ...recent(meter.recent.warnings.list()).map((one) => ({ ...one, level: 'warn' as const })),
          ],
        },
      };
    },
  };
}
