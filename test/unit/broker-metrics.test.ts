// The figures of the broker: their names, their labels, and that the dashboard and the alert rules ask for nothing else.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMetricsText } from '../../broker/adapters/http/prometheus.ts';
import { createTally } from '../../broker/core/scheduling/tally.ts';
import { listFamilies, type MetricsSource } from '../../broker/metrics/families.ts';
import { createMeter } from '../../broker/metrics/meter.ts';
import type { MqttServerOptions } from '../../broker/ports/mqtt-server.ts';
import { createBenchClock, startMs } from '../support/broker/broker-bench.ts';
import { handleUplinkOf, onUplinkOf } from '../support/broker/uplinks.ts';

const clock = createBenchClock();

function sourceOf(meter = createMeter(clock)): MetricsSource {
  return {
    clock,
    version: '1.2.3',
    nodeVersion: 'v20.0.0',
    meter,
    broker: () => ({
      connections: 3,
      arrivals: 7,
      lagMs: 1500,
      waiting: { writes: 2, values: 40 },
      limited: { held: { device: 4, pace: 1, account: 0 }, waiting: 2 },
      overLimit: [],
      payloads: 10,
      events: 20,
      duplicates: 1,
      reused: 0,
      quarantined: 0,
      failures: 0,
    }),
    streams: () => 1,
    longReads: () => 0,
    longAnswers: () => 0,
    features: () => [],
    retention: () => ({ devices: 0, events: 5, payloads: 0, runs: 1 }),
    sample: () => ({
      backlog: {
        openCommands: new Map([['sent', 2]]),
        deliveriesWaiting: 4,
        openAlarms: new Map([['new', 3]]),
        occurrencesWaiting: 0,
        approvalsWaiting: 0,
        auditUnsealed: 0,
        purgesWaiting: 0,
      },
      disk: { databaseBytes: 4096, walBytes: null, freeBytes: 1e9 },
      tables: [{ table: 'events', rows: 20, bytes: 4096 }],
      quarantine: { payloads: 3, bytes: 120 },
      atMs: 0,
    }),
    certificates: () => [{ setting: 'mqtt.tls.certFile', untilMs: startMs + 10 * 86_400_000 }],
  };
}

/** Every name that Prometheus knows of it, with those of a histogram's parts. */
async function namesShown(): Promise<ReadonlySet<string>> {
  const text = await createMetricsText(sourceOf()).text();
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Set(
    types.flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
}

/** Names of figures in an expression of PromQL. */
const namesIn = (expression: string): readonly string[] =>
  [...expression.matchAll(/\b(?:fleetward|nodejs|process)_[a-z0-9_]+/g)].map(([name]) => name);

describe('a tally', () => {
  it('counts every value once, in the first bucket that is not below it', () => {
    const bounds = fc.uniqueArray(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(bounds, fc.array(fc.integer({ min: -5, max: 1500 })), (unsorted, values) => {
        const sorted = unsorted.toSorted((left, right) => left - right);
        const tally = createTally(sorted);
        for (const value of values) tally.observe(value);
        const counted = values.map((value) => Math.max(0, value));
        const { counts, sum, count } = tally.view();
        expect(counts).toEqual([
          ...sorted.map((bound) => counted.filter((value) => value <= bound).length),
          values.length,
        ]);
        expect([sum, count]).toEqual([counted.reduce((total, value) => total + value, 0), values.length]);
      }),
    );
  });

  it('ignores a value that is no number', () => {
    const tally = createTally([1]);
    tally.observe(Number.NaN);
    expect(tally.view()).toMatchObject({ count: 0, sum: 0 });
  });
});

describe('the figures', () => {
  it('have names that stand for one thing each, in base units', () => {
    const names = listFamilies(sourceOf()).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^fleetward_[a-z]+(_[a-z]+)*$/);
    for (const { name, type } of listFamilies(sourceOf())) {
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
      expect(name).not.toMatch(/_(ms|milliseconds|kilobytes|minutes)$/);
    }
  });

  it('show what was counted, in the text that Prometheus reads', async () => {
    const meter = createMeter(clock);
    meter.onAnswered({ operation: 'getDevices', status: 200, durationMs: 3 });
    meter.onAnswered({ operation: 'getDevices', status: 503, durationMs: 3000 });
    const text = await createMetricsText(sourceOf(meter)).text();
    for (const line of [
      'fleetward_ingest_events_total 20',
      'fleetward_commit_queue_age_seconds 1.5',
      'fleetward_commands_open{state="sent"} 2',
      'fleetward_commands_open{state="requested"} 0',
      'fleetward_alarms_open{state="new"} 3',
      'fleetward_alarms_open{state="shelved"} 0',
      'fleetward_table_size_bytes{table="events"} 4096',
      'fleetward_certificate_expiry_days{setting="mqtt.tls.certFile"} 10',
      'fleetward_http_requests_total{operation="getDevices",status="2xx"} 1',
      'fleetward_http_request_duration_seconds_bucket{operation="getDevices",le="0.005"} 1',
      'fleetward_http_request_duration_seconds_bucket{operation="getDevices",le="+Inf"} 2',
      'fleetward_build_info{version="1.2.3",node="v20.0.0"} 1',
    ])
      expect(text.split('\n')).toContain(line);
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
    expect(text).toMatch(/^process_resident_memory_bytes /m);
    // An unknown value is not shown as 0.
    expect(text).not.toMatch(/^fleetward_database_wal_size_bytes /m);
  });

  it('stay few, however many operations a client invents', () => {
    const meter = createMeter(clock);
    for (let at = 0; at < 5000; at++)
      meter.onAnswered({ operation: `made-up-${at}`, status: 200, durationMs: 1 });
    expect(meter.requests.size).toBeLessThanOrEqual(400);
  });

  it('count what an MQTT server reports, and how long a payload waits for its acknowledgement', async () => {
    const meter = createMeter(clock);
    let given: MqttServerOptions | null = null;
    const open = meter.watchMqtt((options) => {
      given = options;
      return Promise.reject(new Error('not needed'));
    });
    const failing = { isFailing: false };
    const onUplink = async (): Promise<void> => {
      clock.advance(20);
      if (failing.isFailing) throw new Error('not stored');
    };
    await open({ onUplink: onUplinkOf(onUplink) } as unknown as MqttServerOptions).catch(() => undefined);
    const options = given as unknown as MqttServerOptions;
    const message = { verb: 'events', payload: new Uint8Array() } as const;
    const device = { accountID: 'acme', deviceID: 't1', deviceNo: 1 };
    options.count?.('accepted');
    options.count?.('refused_rate');
    const take = handleUplinkOf(options.onUplink);
    await take(device, message);
    failing.isFailing = true;
    await expect(take(device, message)).rejects.toThrow('not stored');
    expect(meter.mqtt).toEqual(
      new Map([
        ['accepted', 1],
        ['refused_rate', 1],
      ]),
    );
    expect(meter.acknowledgements.durations.view()).toMatchObject({ count: 1, sum: 0.02 });
    expect(meter.acknowledgements.failures).toBe(1);
  });
});

const read = (path: string): string =>
  readFileSync(new URL(`../../systemd/${path}`, import.meta.url), 'utf8');

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly refId: string }[];
}

describe('the dashboard', () => {
  const dashboard = JSON.parse(read('grafana/fleetward.json')) as {
    readonly schemaVersion: number;
    readonly uid: string;
    readonly panels: readonly Panel[];
    readonly templating: { readonly list: readonly { readonly name: string }[] };
  };

  it('asks only for figures that there are', async () => {
    const shown = await namesShown();
    const asked = dashboard.panels.flatMap(({ targets = [] }) =>
      targets.flatMap(({ expr }) => namesIn(expr)),
    );
    expect(new Set(asked).size).toBeGreaterThan(30);
    expect(asked.filter((name) => !shown.has(name))).toEqual([]);
  });

  it('has panels that do not lie upon each other, each with a number of its own', () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_unused, at) => `${x + (at % w)}:${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    for (const { gridPos, type, targets = [] } of panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      expect(targets.length > 0).toBe(type !== 'row');
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
    }
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'job', 'instance']);
  });
});

describe('the alert rules', () => {
  const text = read('prometheus/fleetward.rules.yml');

  it('ask only for figures that there are', async () => {
    const shown = await namesShown();
    const expressions = [...text.matchAll(/^ +expr: (.+)$/gm)].map((match) => match[1] ?? '');
    expect(expressions.length).toBeGreaterThan(15);
    for (const expression of expressions) expect(namesIn(expression).length, expression).toBeGreaterThan(0);
    expect(expressions.flatMap(namesIn).filter((name) => !shown.has(name))).toEqual([]);
  });

  it('each have a name of their own, a severity and a text that says what is wrong', () => {
    const rules = text.split(/^ {6}- alert: /m).slice(1);
    expect(new Set(rules.map((rule) => rule.split('\n')[0])).size).toBe(rules.length);
    for (const rule of rules) {
      expect(rule).toMatch(/labels: \{ severity: (page|ticket) \}/);
      expect(rule).toMatch(/^ {10}summary: \S/m);
    }
  });
});
