// All metrics of the broker in one table, so that the dashboard and the alert rules can be checked against it. Names follow
// prometheus.io/docs/practices/naming. Labels are from small fixed sets: never a device, a user or an account.
import type { Clock } from '../../src/ports.ts';
import { openStates } from '../core/alarms/alarm.ts';
import type { TallyView } from '../core/scheduling/tally.ts';
import { type BrokerMetrics } from '../ports/broker-metrics.ts';
import type { Meter } from './meter.ts';
import type { CertificateTerm, Sample } from './sampler.ts';

type Labels = Readonly<Record<string, string>>;

export interface Series {
  readonly labels: Labels;
  readonly value: number;
}

/** One name with everything under it. */
export type Family =
  | {
      readonly type: 'counter' | 'gauge';
      readonly name: string;
      readonly help: string;
      readonly series: readonly Series[];
    }
  | {
      readonly type: 'histogram';
      readonly name: string;
      readonly help: string;
      readonly tallies: readonly { readonly labels: Labels; readonly view: TallyView }[];
    };

/** What is shown, asked for at the moment of showing. */
export interface MetricsSource {
  readonly clock: Clock;
  readonly version: string;
  readonly nodeVersion: string;
  readonly meter: Meter;
  broker(): BrokerMetrics;
  /** Open live streams. */
  streams(): number;
  /** Exports and reports that are being made. */
  longReads(): number;
  /** Answers of more than some 256 kB under way. */
  longAnswers(): number;
  /** Of the features. */
  features(): readonly Family[];
  /** What the retention has done since the start. */
  retention(): { readonly runs: number; readonly events: number; readonly payloads: number };
  sample(): Sample | null;
  certificates(): readonly CertificateTerm[];
}

const prefix = 'fleetward_';
const bare = (value: number): readonly Series[] => [{ labels: {}, value }];
export const counter = (name: string, help: string, series: readonly Series[] | number): Family => ({
  type: 'counter',
  name: `${prefix}${name}_total`,
  help,
  series: typeof series === 'number' ? bare(series) : series,
});
export const gauge = (name: string, help: string, series: readonly Series[] | number): Family => ({
  type: 'gauge',
  name: `${prefix}${name}`,
  help,
  series: typeof series === 'number' ? bare(series) : series,
});
const histogram = (name: string, help: string, view: TallyView): Family => ({
  type: 'histogram',
  name: `${prefix}${name}`,
  help,
  tallies: [{ labels: {}, view }],
});
const seriesOf = (label: string, counts: Iterable<readonly [string, number]>): readonly Series[] =>
  [...counts].map(([name, value]) => ({ labels: { [label]: name }, value }));

function ingestFamilies({ meter, broker }: MetricsSource): readonly Family[] {
  const { payloads, events, duplicates, reused, quarantined, failures, lagMs, waiting, limited } = broker();
  return [
    counter('ingest_payloads', 'Payloads of vehicles that came in, whatever became of them', payloads),
    counter('ingest_events', 'Events that were stored and were not there before', events),
    counter('ingest_duplicates', 'Events that were there already', duplicates),
    counter(
      'ingest_numbers_reused',
      'Events that were stored under a run of their own, because another event of the same boot has their number',
      reused,
    ),
    counter('ingest_quarantined', 'Payloads that could not be read and were kept apart', quarantined),
    counter(
      'ingest_failures',
      'Payloads that were not stored and not acknowledged: they come again',
      failures,
    ),
    counter(
      'ingest_held_publishes',
      'Publishes that had to wait: for the limit of their device, the pace of a backlog, or the limit of their account',
      seriesOf('limit', Object.entries(limited.held)),
    ),
    gauge('ingest_held_devices', 'Devices of which publishes wait for a limit', limited.waiting),
    histogram(
      'ingest_commit_latency_seconds',
      'From the arrival of a payload to its commit, by the wall clock',
      meter.ingest.view(),
    ),
    histogram(
      'acknowledgement_latency_seconds',
      'From the arrival of a message to the moment at which it may be acknowledged',
      meter.acknowledgements.durations.view(),
    ),
    counter(
      'acknowledgement_failures',
      'Messages that were not acknowledged and ended their connection',
      meter.acknowledgements.failures,
    ),
    gauge('commit_queue_writes', 'Writes that wait for a commit or are in one', waiting.writes),
    gauge('commit_queue_values', 'Values in the writes that wait', waiting.values),
    gauge('commit_queue_age_seconds', 'Age of the oldest write that waits for the disk', lagMs / 1000),
  ];
}

function databaseFamilies({ meter, sample, clock }: MetricsSource): readonly Family[] {
  const { commits, reads } = meter;
  const last = sample();
  const tables = last?.tables ?? [];
  const disk = { databaseBytes: null, walBytes: null, freeBytes: null, ...last?.disk };
  const known = (value: number | null): readonly Series[] => (value === null ? [] : bare(value));
  const inTables = (pick: (one: (typeof tables)[number]) => number): readonly Series[] =>
    tables.map((one) => ({ labels: { table: one.table }, value: pick(one) }));
  return [
    histogram('commit_duration_seconds', 'How long a commit took', commits.durations.view()),
    histogram('commit_statements', 'Statements in a commit', commits.statements.view()),
    counter('commit_failures', 'Commits that failed; nothing of them was written', commits.failures),
    histogram(
      'database_read_duration_seconds',
      'How long a read took, waiting included',
      reads.durations.view(),
    ),
    counter('database_long_reads', 'Reads that took longer than a second', reads.long),
    gauge('database_size_bytes', 'The database file', known(disk.databaseBytes)),
    gauge(
      'database_wal_size_bytes',
      'What was committed and is not in the database file yet',
      known(disk.walBytes),
    ),
    gauge('database_free_bytes', 'Space that is left where the database stands', known(disk.freeBytes)),
    gauge(
      'quarantine_payloads',
      'Payloads that could not be read and are kept, looked at every five minutes',
      last === null ? [] : bare(last.quarantine.payloads),
    ),
    gauge(
      'quarantine_bytes',
      'Bytes of the payloads that are kept in quarantine',
      last === null ? [] : bare(last.quarantine.bytes),
    ),
    gauge(
      'table_rows',
      'Rows of a table, at most',
      inTables(({ rows }) => rows),
    ),
    gauge(
      'table_size_bytes',
      'A table with its indexes, estimated',
      inTables(({ bytes }) => bytes),
    ),
    gauge(
      'sample_age_seconds',
      'How old the figures are that are taken every ten seconds',
      last === null ? [] : bare((clock.monoMs() - last.atMs) / 1000),
    ),
  ];
}

function mqttFamilies({ meter, broker }: MetricsSource): readonly Family[] {
  const counts = meter.mqtt;
  const of = (name: Parameters<typeof counts.get>[0]): number => counts.get(name) ?? 0;
  const reasons = ['rate', 'full', 'crowd', 'identity', 'credentials', 'unavailable', 'packet'] as const;
  const securities = (['plain', 'tls', 'mtls'] as const).map((name) => [name, of(`login_${name}`)] as const);
  const refused = reasons.map((reason) => [reason, of(`refused_${reason}`)] as const);
  return [
    gauge('mqtt_connections', 'Vehicles that are connected now', broker().connections),
    gauge('mqtt_arrivals_waiting', 'New connections that wait for their turn', broker().arrivals),
    counter('mqtt_connections_accepted', 'Connections that were taken', of('accepted')),
    counter(
      'mqtt_logins',
      'Connections that were taken, by what protects them: plain, tls, or mtls with a certificate of the vehicle',
      seriesOf('security', securities),
    ),
    counter('mqtt_connections_refused', 'Connections that were turned away', seriesOf('reason', refused)),
    counter(
      'mqtt_takeovers',
      'Connections that were ended by a newer one of the same vehicle',
      of('takeover'),
    ),
    counter(
      'mqtt_stalls',
      'Times that a vehicle did not read its acknowledgements, so that nothing more was read from it',
      of('stalled'),
    ),
    counter('mqtt_unread', 'Connections that were ended because too much waited for them', of('unread')),
    counter(
      'mqtt_publishes_refused',
      'Messages to topics that a vehicle may not write',
      of('publish_refused'),
    ),
    counter(
      'mqtt_subscriptions_refused',
      'Subscriptions to topics that a vehicle may not read',
      of('subscription_refused'),
    ),
  ];
}

/** Those that a command goes on from. */
const commandStates = ['requested', 'sent', 'received', 'armed', 'executing'] as const;

function commandFamilies({ meter, sample }: MetricsSource): readonly Family[] {
  const backlog = sample()?.backlog;
  const open = backlog?.openCommands ?? new Map<string, number>();
  const states = new Map<string, number>([...commandStates.map((state) => [state, 0] as const), ...open]);
  const alarms = new Map<string, number>([
    ...openStates.map((state) => [state, 0] as const),
    ...(backlog?.openAlarms ?? []),
  ]);
  const known = (value: number | undefined): readonly Series[] => (value === undefined ? [] : bare(value));
  return [
    gauge(
      'commands_open',
      'Commands that have not come to an end, by state',
      backlog === undefined ? [] : seriesOf('state', states),
    ),
    counter(
      'command_reports',
      'What vehicles said about commands, by state',
      seriesOf('state', meter.reports),
    ),
    histogram(
      'command_confirmation_seconds',
      'From the request for a command to the report that the vehicle confirmed it',
      meter.confirmations.view(),
    ),
    gauge(
      'alarms_open',
      'Alarms that are not closed, by state',
      backlog === undefined ? [] : seriesOf('state', alarms),
    ),
    gauge(
      'occurrences_waiting',
      'Occurrences in the service that no rule has decided about; more than a few for a minute: the notifier is stuck',
      known(backlog?.occurrencesWaiting),
    ),
    gauge('approvals_waiting', 'Engine cuts that wait for a second user', known(backlog?.approvalsWaiting)),
    gauge(
      'deliveries_waiting',
      'Notices to people that wait or are being tried',
      known(backlog?.deliveriesWaiting),
    ),
    gauge('audit_unsealed', 'Audit entries without a place in a chain yet', known(backlog?.auditUnsealed)),
    gauge('purges_waiting', 'Deleted devices whose history is still there', known(backlog?.purgesWaiting)),
  ];
}

function serviceFamilies(source: MetricsSource): readonly Family[] {
  const { meter, clock, version, nodeVersion } = source;
  const { runs, events, payloads } = source.retention();
  const requests = [...meter.requests];
  return [
    counter(
      'http_requests',
      'Answered requests by operation and class of status',
      requests.flatMap(([operation, { classes }]) =>
        [...classes].map(([status, value]) => ({ labels: { operation, status }, value })),
      ),
    ),
    {
      type: 'histogram',
      name: `${prefix}http_request_duration_seconds`,
      help: 'How long requests took by operation, to the last byte',
      tallies: requests.map(([operation, { durations }]) => ({
        labels: { operation },
        view: durations.view(),
      })),
    },
    gauge('live_streams', 'Live streams that are open', source.streams()),
    gauge('long_reads', 'Exports and reports that are being made', source.longReads()),
    gauge('long_answers', 'Long answers that are being sent', source.longAnswers()),
    counter('retention_runs', 'Runs of the retention that ended well', runs),
    counter('retention_removed_events', 'Events that the retention removed', events),
    counter('retention_removed_payloads', 'Unreadable payloads that the retention removed', payloads),
    gauge(
      'certificate_expiry_days',
      'Days until a certificate ends; below 0 it has',
      source.certificates().map(({ setting, untilMs }) => ({
        labels: { setting },
        value: Math.round(((untilMs - clock.utcMs()) / 86_400_000) * 100) / 100,
      })),
    ),
    gauge('build_info', 'Always 1; the versions are in the labels', [
      { labels: { version, node: nodeVersion }, value: 1 },
    ]),
  ];
}

/** All figures as they are now. */
export function listFamilies(source: MetricsSource): readonly Family[] {
  return [
    ...ingestFamilies(source),
    ...databaseFamilies(source),
    ...mqttFamilies(source),
    ...commandFamilies(source),
    ...serviceFamilies(source),
    ...source.features(),
  ];
}
