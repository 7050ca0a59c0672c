// The counters and gauges of the agent in the text format of Prometheus 0.0.4. Pure. Names are constant and labels
// come from fixed sets, so that the number of series is bounded; they hold no position and no personal name.
import type { AgentFacts } from './agent-facts.ts';
import { conditionsOf } from './health.ts';

export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8';

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

interface Metric {
  readonly name: string;
  readonly kind: 'counter' | 'gauge';
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** Of a label's value (Prometheus exposition format: backslash, quote and line feed). */
const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

function formatMetric({ name, kind, help, samples }: Metric): string {
  const lines = samples.map(([labels, value]) => {
    const inside = Object.entries(labels).map(([key, text]) => `${key}="${escaped(text)}"`);
    return `fleetward_agent_${name}${inside.length === 0 ? '' : `{${inside.join(',')}}`} ${value}`;
  });
  return [
    `# HELP fleetward_agent_${name} ${help}`,
    `# TYPE fleetward_agent_${name} ${kind}`,
    ...lines,
    '',
  ].join('\n');
}

const perClass = (counts: readonly number[]): Sample[] =>
  counts.map((count, index) => [{ class: String(index) }, count]);
const single = (value: number | null): Sample[] => (value === null ? [] : [[{}, value]]);
const flag = (value: boolean): number => (value ? 1 : 0);

function gauges(facts: AgentFacts): readonly Metric[] {
  const { vehicle, process } = facts;
  const { gnss, board, connection } = vehicle;
  const gauge = (name: string, help: string, samples: readonly Sample[]): Metric => ({
    name,
    kind: 'gauge',
    help,
    samples,
  });
  return [
    gauge('up_seconds', 'Since the start of the agent.', single(facts.upS)),
    gauge(
      'healthy',
      'Conditions of /healthz.',
      conditionsOf(facts).map(({ name, isGood }) => [{ condition: name }, flag(isGood)]),
    ),
    gauge('queue_events', 'Events that wait for the broker.', perClass(facts.queue.queued)),
    gauge('storage_bytes', 'Bytes of the outbox on disk.', single(facts.storage.bytes)),
    gauge('storage_most_bytes', 'Most that the outbox may take.', single(process.storageMostBytes)),
    gauge('disk_free_bytes', 'Free on the file system of the outbox.', single(process.diskFreeBytes)),
    gauge('commits_waiting', 'Commits that the disk has not taken yet.', single(facts.commits.waiting)),
    gauge('connected', 'A session with the broker is up.', single(flag(connection.state === 'up'))),
    gauge('traffic_month_bytes', 'Estimate of what the mobile link carried this month.', [
      [{}, Math.round(connection.trafficMb * 1_000_000)],
    ]),
    gauge('board_open', "The board's port is open.", single(flag(board.state === 'open'))),
    gauge(
      'board_unit_up',
      'A unit of the board answers.',
      board.units.map(({ unit, isUp }) => [{ unit }, flag(isUp === true)]),
    ),
    gauge('board_polled_age_seconds', 'Since the last good answer.', single(board.polledAgoS)),
    gauge('gnss_open', "The receiver's port is open.", single(flag(gnss.state === 'open'))),
    gauge('gnss_fix', 'There is a plausible position.', single(flag(gnss.hasFix))),
    gauge('gnss_fix_age_seconds', 'Age of the last plausible position.', single(gnss.fixAgeS)),
    gauge('gnss_satellites', 'Satellites of the last position.', single(gnss.satellites)),
    gauge('gnss_hdop', 'Its horizontal dilution of precision.', single(gnss.hdop)),
    gauge('resident_bytes', 'Memory of the process.', single(process.rssBytes)),
    gauge(
      'loop_lag_seconds',
      'Longest delay of a timer in the last ten seconds.',
      single(process.lagMs / 1000),
    ),
  ];
}

function counters(facts: AgentFacts): readonly Metric[] {
  const counter = (name: string, help: string, samples: readonly Sample[]): Metric => ({
    name: `${name}_total`,
    kind: 'counter',
    help,
    samples,
  });
  const { requests, answers, noiseBytes, ...errors } = facts.vehicle.board.counters;
  return [
    counter('dropped_events', 'Events given up for want of space, ever.', perClass(facts.queue.dropped)),
    counter('commits', 'Commits that the disk has taken since the start.', single(facts.committed)),
    counter('acknowledged_events', 'Events that the broker has acknowledged since the start.', [
      [{}, facts.acknowledged],
    ]),
    counter('connections', 'Sessions with the broker since the start.', single(facts.connects)),
    counter('fixes', 'Positions since the start.', single(facts.fixes)),
    counter('board_requests', 'Requests on the bus.', single(requests ?? 0)),
    counter('board_answers', 'Good answers.', single(answers ?? 0)),
    counter('board_noise_bytes', 'Bytes that belonged to no answer.', single(noiseBytes ?? 0)),
    counter(
      'board_errors',
      'Exchanges without a good answer, by kind.',
      Object.entries(errors).map(([kind, count]) => [{ kind }, count]),
    ),
  ];
}

/** All of it, as one text. */
export function formatMetrics(facts: AgentFacts): string {
  return [...gauges(facts), ...counters(facts)].map(formatMetric).join('');
}
