// What the latency bench measured, as figures and as lines for people. It judges nothing but the goals of the one figure that
// people feel: from the request of a command to the relay.
import { type Figure, formatFigures, percentile } from './agent-figures.ts';
import type { Measured } from './ingest-servers.ts';
import { orders, type SeenCommand } from './latency-commands.ts';
import type { FleetNews } from './latency-types.ts';

/** One run of all commands. */
export interface LatencyPart {
  readonly name: string;
  readonly commands: readonly SeenCommand[];
  readonly load: Measured | null;
  readonly truth: Extract<FleetNews, { readonly kind: 'truth' }> | null;
}

export interface LatencyBenchResult {
  readonly figures: readonly Figure[];
  /** The same by what was asked for, ms. */
  readonly orders: readonly {
    readonly part: string;
    readonly order: string;
    readonly commands: number;
    readonly p50Ms: number;
    readonly p99Ms: number;
  }[];
  readonly unconfirmed: readonly string[];
  readonly node: string;
  readonly cores: number;
  readonly loadBefore: number;
  readonly loadAfter: number;
}

const goals = { p50: 50, p99: 250 } as const;
const kinds = [
  { name: 'request to HTTP answer', of: (one: SeenCommand) => one.answerMs, hasGoal: false },
  { name: "request to the vehicle's socket", of: (one: SeenCommand) => one.messageMs, hasGoal: false },
  {
    name: "the vehicle's socket to relay",
    of: ({ messageMs, relayMs }: SeenCommand) =>
      messageMs === null || relayMs === null ? null : relayMs - messageMs,
    hasGoal: false,
  },
  { name: 'request to relay', of: (one: SeenCommand) => one.relayMs, hasGoal: true },
  { name: 'request to confirmed over HTTP', of: (one: SeenCommand) => one.confirmedMs, hasGoal: false },
] as const;

const known = (values: readonly (number | null)[]): readonly number[] =>
  values.filter((value) => value !== null);

export function figuresOf(part: LatencyPart, floorMs: number): readonly Figure[] {
  const section = part.name;
  const isGoal = part.load !== null;
  const times = kinds.flatMap(({ name, of, hasGoal }): readonly Figure[] => {
    const values = known(part.commands.map(of));
    const goal = (most: number) => (isGoal && hasGoal ? { goal: most } : {});
    const common = { section, unit: 'ms' };
    const baseline = { name: 'PUBLISH to PUBACK at bare aedes, p50', value: floorMs };
    return [
      { ...common, name: `${name}, p50`, value: percentile(values, 0.5), baseline, ...goal(goals.p50) },
      { ...common, name: `${name}, p99`, value: percentile(values, 0.99), ...goal(goals.p99) },
      { ...common, name: `${name}, longest`, value: Math.max(0, ...values) },
    ];
  });
  const unmoved = part.commands.filter(({ relayMs }) => relayMs === null).length;
  const unconfirmed = part.commands.filter(({ confirmedMs }) => confirmedMs === null).length;
  const count = { section, unit: 'commands', goal: 0 };
  const { load, truth } = part;
  return [
    ...times,
    { ...count, name: `of ${part.commands.length}: no relay moved`, value: unmoved },
    { ...count, name: `of ${part.commands.length}: not confirmed`, value: unconfirmed },
    { ...count, name: 'engines cut while moving', value: truth?.cutWhileMoving ?? Number.NaN },
    {
      section,
      name: "longest stall of the vehicles' process",
      value: truth?.lagMostMs ?? Number.NaN,
      unit: 'ms',
    },
    ...(load === null
      ? []
      : [
          { section, name: 'load: events acknowledged', value: load.eventsPerS, unit: '/s' },
          { section, name: 'load: acknowledgement, p99', value: load.p99Ms, unit: 'ms' },
          { section, name: 'load: CPU time of the broker', value: load.cpuUs, unit: 'us/event' },
          { section, name: 'load: failures', value: load.failures, unit: '', goal: 0 },
        ]),
  ];
}

export function byOrder({ name: part, commands }: LatencyPart): LatencyBenchResult['orders'] {
  return orders.map(({ name: order }) => {
    const values = known(commands.filter((one) => one.order === order).map(({ relayMs }) => relayMs));
    return {
      part,
      order,
      commands: values.length,
      p50Ms: percentile(values, 0.5),
      p99Ms: percentile(values, 0.99),
    };
  });
}

/** The figures as lines for people. */
export function formatLatency(result: LatencyBenchResult): string {
  const { figures, orders: times, unconfirmed, node, cores, loadBefore, loadAfter } = result;
  const load = `load ${loadBefore.toFixed(1)} before and ${loadAfter.toFixed(1)} after`;
  return [
    formatFigures(figures),
    '',
    'request to relay by order, ms:',
    ...times.map(
      ({ part, order, commands, p50Ms, p99Ms }) =>
        `${part.padEnd(10)} ${order.padEnd(18)} ${String(commands).padStart(4)} p50 ${p50Ms.toFixed(1).padStart(7)} p99 ${p99Ms.toFixed(1).padStart(7)}`,
    ),
    ...unconfirmed,
    '',
    `Node ${node}, ${cores} cores, ${load}`,
  ].join('\n');
}
