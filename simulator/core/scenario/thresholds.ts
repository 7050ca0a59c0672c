// Thresholds: `ingest.p99<250ms`, `lost==0`, `events.rate>=100`. Parsed once, judged at the end and while a run goes on. A figure
// that was not measured fails its threshold.

import { nearestWord } from '../../../src/core/nearest-word.ts';
import { factKinds } from '../ledger/facts.ts';
import { breachKinds } from '../ledger/ledger-types.ts';

/** Measurements of a run; latencies in ms, `rate` in events a second, the rest are counts. */
export type Figures = Readonly<Record<string, number>>;

export interface Threshold {
  readonly text: string;
  readonly name: string;
  readonly operator: '<' | '<=' | '==' | '>=' | '>';
  /** In the unit of the figure. */
  readonly limit: number;
}

type Parsed =
  | { readonly kind: 'ok'; readonly threshold: Threshold }
  | { readonly kind: 'fault'; readonly message: string };

export interface ThresholdResult extends Threshold {
  /** Null: not measured. */
  readonly value: number | null;
  readonly isMet: boolean;
}

/**
 * Latencies: from durable on the vehicle to acknowledged, with the connection always up (`ingest`) or after waiting or a link
 * fault (`outage`). Fact to disk; press to acknowledged; fact to seen over HTTP, connected all the time; orders; the generator
 * itself.
 */
export const latencyNames = [
  'ingest',
  'outage',
  'durable',
  'panic',
  'visible',
  'restore',
  'cut',
  'lag',
] as const;
export type LatencyName = (typeof latencyNames)[number];
/** Those that are measured where the vehicles are, while the run goes on. */
export const measuredNames = ['ingest', 'outage', 'visible'] as const satisfies readonly LatencyName[];
export type MeasuredName = (typeof measuredNames)[number];
export const latencyParts = ['p50', 'p90', 'p95', 'p99', 'p999', 'max', 'mean', 'count'] as const;

const countNames = [
  ...breachKinds,
  // In percent: acknowledged of those made, and of the vehicles on the road those with a connection.
  'delivered',
  'online',
  'events.count',
  'events.rate',
  'facts.count',
  'connects',
  'commands',
  // Commands of state 1 that were confirmed and whose relay moved; facts whose event was found, by kind.
  'carriedOut',
  ...factKinds,
];

export const figureNames: readonly string[] = [
  ...latencyNames.flatMap((name) => latencyParts.map((part) => `${name}.${part}`)),
  ...countNames,
];

/** Whether a figure is a time in ms. */
export const isLatencyFigure = (name: string): boolean =>
  latencyNames.some((latency) => name.startsWith(`${latency}.`)) && !name.endsWith('.count');

const pattern = /^\s*([A-Za-z0-9.]+)\s*(<=|>=|==|<|>)\s*([0-9]+(?:\.[0-9]+)?)\s*(ms|s|\/s)?\s*$/;

/** One threshold from its text. */
export function parseThreshold(text: string): Parsed {
  const [, name = '', operator = '', digits = '', unit = ''] = pattern.exec(text) ?? [];
  const isLatency = isLatencyFigure(name);
  if (name === '') return { kind: 'fault', message: `"${text}" is not such as ingest.p99<250ms or lost==0` };
  if (!figureNames.includes(name)) {
    const near = nearestWord(name, figureNames) ?? '';
    return {
      kind: 'fault',
      message: `there is no figure "${name}"; did you mean "${near}"? \`run --help\` lists them all`,
    };
  }
  if (isLatency && unit !== 'ms' && unit !== 's')
    return { kind: 'fault', message: `"${text}" needs its unit, ms or s` };
  if (!isLatency && unit !== '' && !(unit === '/s' && name === 'events.rate'))
    return { kind: 'fault', message: `"${name}" has no unit ${unit}` };
  const limit = Number(digits) * (unit === 's' ? 1000 : 1);
  return { kind: 'ok', threshold: { text, name, operator: operator as Threshold['operator'], limit } };
}

function holds(value: number, { operator, limit }: Threshold): boolean {
  switch (operator) {
    case '<':
      return value < limit;
    case '<=':
      return value <= limit;
    case '==':
      return value === limit;
    case '>=':
      return value >= limit;
    case '>':
      return value > limit;
  }
}

/** Every threshold with what was measured. Texts must be good: see `parseThreshold`. */
export function judgeThresholds(texts: readonly string[], figures: Figures): readonly ThresholdResult[] {
  return texts.flatMap((text) => {
    const parsed = parseThreshold(text);
    if (parsed.kind === 'fault') return [];
    const { threshold } = parsed;
    const value = Object.hasOwn(figures, threshold.name) ? (figures[threshold.name] ?? null) : null;
    return [{ ...threshold, value, isMet: value !== null && holds(value, threshold) }];
  });
}
