// What is left of a run: HTML, JSON and JUnit, whole at the worst that a run can be, and never markup of somebody else's.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Intervention } from '../../simulator/core/control.ts';
import { type BreachKind, breachKinds } from '../../simulator/core/ledger-types.ts';
import { kneeOf, type RampStep } from '../../simulator/core/ramp.ts';
import { checkScenario } from '../../simulator/core/scenario.ts';
import { type Fault, faultKinds, type Scenario } from '../../simulator/core/scenario-schema.ts';
import { columnNames } from '../../simulator/core/series-columns.ts';
import { verdictOf } from '../../simulator/core/verdict.ts';
import { formatComparisonHtml } from '../../simulator/report/comparison-page.ts';
import { escapeHtml, html } from '../../simulator/report/html.ts';
import { formatHtml } from '../../simulator/report/page.ts';
import {
  formatComparison,
  formatJson,
  formatJunit,
  formatResult,
  parseResult,
} from '../../simulator/run/report.ts';
import { isOnlyBelowRamp, type RunResult } from '../../simulator/run/result.ts';
import { repeatCommand } from '../../simulator/run/setting.ts';

function scenarioOf(value: object): Scenario {
  const verdict = checkScenario({ title: 'a test', ...value });
  if (verdict.kind !== 'ok') throw new Error(JSON.stringify(verdict.faults));
  return verdict.scenario;
}

function faultOf(fault: object): Fault {
  const [first] = scenarioOf({ faults: [fault] }).faults;
  if (first === undefined) throw new Error('no fault');
  return first;
}

const noTruth = Object.fromEntries(breachKinds.map((kind) => [kind, 0])) as Record<BreachKind, number>;

function resultOf(change: Partial<RunResult> = {}): RunResult {
  return {
    format: 1,
    scenario: 'test',
    title: 'a test',
    seed: 'fleetward',
    kind: 'agent',
    devices: 3,
    durationS: 10,
    elapsedS: 11.5,
    startedAt: '2025-11-21T10:00:00.000Z',
    isPassed: true,
    counts: { facts: 5, events: 9, sent: 10, acknowledged: 9, shown: 9, commands: 2, connects: 3 },
    truth: noTruth,
    unjudged: 0,
    figures: { 'ingest.p50': 12, 'ingest.p99': 40, 'ingest.count': 9, 'events.rate': 0.9 },
    thresholds: [],
    ramp: null,
    interventions: [],
    machine: { cpuMs: 1200, rssMb: 120, startRssMb: 90, processes: 2 },
    refusedCommands: { count: 0, last: '' },
    failedStarts: { count: 0, last: '' },
    warnings: [],
    breaches: [],
    series: { stepMs: 1000, endMs: 11_000, columns: { storedRate: [1, null, 3], online: [1, 2, 3] } },
    faults: [],
    routes: [{ deviceID: 'sim-1', points: [43.65, -79.34, 43.66, -79.35] }],
    brokerSight: { seen: 0, missed: 0, reason: '' },
    setting: {
      command: 'fleetward-simulator run test',
      target: null,
      version: '0.1.0',
      node: 'v20.20.2',
      machine: { cpu: 'a processor', cores: 2, memoryMb: 8000, system: 'Linux x64' },
    },
    spec: scenarioOf({}),
    ...change,
  };
}

const hostile = '</script></style><img src=x onerror=alert(1)>"\' \u202e\u0007&<svg/onload=alert(2)>';

/** A step whose every threshold failed. */
const badStep: RampStep = {
  no: 1,
  level: 2.5,
  fromS: 3,
  toS: 9,
  figures: { 'events.rate': 1234, 'ingest.p99': 900 },
  online: 3,
  waiting: 40,
  generatorCore: 0.42,
  failures: Array.from({ length: 20 }, () => hostile.padEnd(120, 'x')),
};

const strike: Intervention = {
  atS: 4,
  request: { kind: 'fault', fault: faultOf({ kind: 'link-outage', atS: 1, forS: 2, share: 0.5 }) },
};

/** A result with a hostile text wherever a scenario, a server or a file could put one. */
function hostileResult(): RunResult {
  const whole = resultOf();
  const spec = scenarioOf({
    title: hostile.replaceAll(/\p{Cc}/gu, ''),
    seed: hostile,
    phases: [{ name: '</pre><b>', atS: 0 }],
    route: { files: [hostile] },
  });
  return {
    ...whole,
    scenario: hostile,
    title: hostile,
    seed: hostile,
    startedAt: hostile,
    isPassed: false,
    truth: { ...noTruth, lost: 1 },
    figures: { ...whole.figures, [hostile]: 3 },
    thresholds: [{ text: hostile, name: hostile, operator: '<', limit: 1, value: null, isMet: false }],
    failedStarts: { count: 1, last: hostile },
    ramp: { of: 'rate', steps: [badStep], knee: kneeOf('rate', [badStep]) },
    interventions: [strike],
    warnings: [hostile],
    breaches: [
      { kind: 'lost', deviceID: hostile, factNo: 1, eventID: hostile, commandID: hostile, words: hostile },
    ],
    routes: [{ deviceID: hostile, points: [1, 2, 3, 4] }],
    brokerSight: { seen: 0, missed: 3, reason: hostile },
    setting: {
      command: hostile,
      target: hostile,
      version: hostile,
      node: hostile,
      machine: { cpu: hostile, cores: 2, memoryMb: 1, system: hostile },
    },
    spec,
  };
}

/** The most that the limits of a scenario and of a result let through. */
function greatestResult(): RunResult {
  const long = (at: number): number => 100_000 + ((at * 7919) % 899_999);
  const column = Array.from({ length: 720 }, (_, at) => long(at));
  const breaches = Array.from({ length: 500 }, (_, at) => ({
    kind: 'lost' as const,
    deviceID: `sim-mwr8vbxf-${at}`,
    factNo: at,
    eventID: `0123456789abcdef:${at}`,
    commandID: null,
    words: 'x'.repeat(2000),
  }));
  const faults = Array.from({ length: 1000 }, (_, at) => ({
    kind: faultKinds[at % faultKinds.length] ?? 'link-outage',
    share: 1,
    fromMs: at * 600_000,
    toMs: at * 600_000 + 60_000,
  }));
  // A ramp ends at its first bad step.
  const steps = Array.from({ length: 50 }, (_, no) =>
    no === 49 ? badStep : { ...badStep, no, failures: [] },
  );
  return resultOf({
    isPassed: false,
    durationS: 604_800,
    truth: { ...noTruth, lost: 500 },
    breaches,
    faults,
    ramp: { of: 'rate', steps, knee: kneeOf('rate', steps) },
    interventions: Array.from({ length: 1000 }, () => strike),
    warnings: Array.from({ length: 5 }, () => 'w'.repeat(5000)),
    series: {
      stepMs: 1_024_000,
      endMs: 604_900_000,
      columns: Object.fromEntries(columnNames.map((name) => [name, column])),
    },
    routes: Array.from({ length: 100 }, (_, at) => ({
      deviceID: `sim-mwr8vbxf-${at}`,
      points: Array.from({ length: 120 }, (_point, index) => 40 + ((index * 7919 + at) % 10_000) / 10_000),
    })),
    spec: scenarioOf({
      durationS: 604_800,
      faults: Array.from({ length: 1000 }, (_, at) => ({ kind: 'link-outage', atS: at * 600, forS: 60 })),
    }),
  });
}

/** What a page would ask for, besides its own empty picture. */
const outside =
  /(?:src|href|action|srcset|data|poster)="(?!data:,")[^"]*"|url\(|@import|<(?:link|img|iframe|object|embed)\b(?! rel="icon")/gi;

describe('HTML of a run', () => {
  it('makes no markup of any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(escapeHtml(text)).not.toMatch(/[<>"']/);
        expect(html`<p title="${text}">${text}</p>`.markup.match(/</g)).toHaveLength(2);
      }),
    );
  });

  it('shows what is hostile as text, and lets it start nothing', () => {
    const plain = formatHtml(resultOf({ isPassed: false, truth: { ...noTruth, lost: 1 } }));
    for (const page of [
      formatHtml(hostileResult()),
      formatComparisonHtml(hostileResult(), hostileResult()),
    ]) {
      expect(page).not.toMatch(/<img|<svg\/|onerror=alert\(1\)>|<b>/);
      expect(page).toContain('&lt;img src=x onerror=alert(1)&gt;');
      expect(page).not.toMatch(/\u202e|(?!\n)\p{Cc}/u);
      expect(page.match(/<\/script>/g)).toHaveLength(2);
      expect(page.match(outside)).toBeNull();
    }
    expect(plain.match(outside)).toBeNull();
  });

  it('stays under 500 kB at the most that a run can hold, alone and compared', () => {
    const greatest = greatestResult();
    const sizes = [formatHtml(greatest), formatComparisonHtml(greatest, greatest)].map((page) => page.length);
    expect(Math.max(...sizes)).toBeLessThan(500_000);
    expect(formatHtml(greatest)).toContain('and 400 more: see the JSON of the run');
  });

  it('forbids every request by its own policy, and every script but its own', () => {
    const [, policy = ''] = formatHtml(resultOf()).match(/content-security-policy" content="([^"]*)"/) ?? [];
    expect(policy).toContain('default-src &#39;none&#39;');
    expect(policy).toMatch(/script-src &#39;sha256-[\w+/=]+&#39;;/);
  });

  it('shows each step of a ramp with its knee, and what people changed by hand', () => {
    const good: RampStep = { ...badStep, no: 0, level: 1, failures: [] };
    const bad: RampStep = { ...badStep, failures: ['ingest.p99<500ms (900)'] };
    const rate = { kind: 'rate', factor: 2, from: 1, to: 3 } as const;
    const page = formatHtml(
      resultOf({
        ramp: { of: 'rate', steps: [good, bad], knee: kneeOf('rate', [good, bad]) },
        interventions: [strike, { atS: 65, request: rate }],
      }),
    );
    expect(page).toContain(escapeHtml('first bad step x2.5 (1234 events/s): ingest.p99<500ms (900)'));
    expect(page.match(/42 %<\/td>/g)).toHaveLength(2);
    expect(page).toContain('<td>link-outage for 2 s, 50 % of the fleet</td>');
    expect(page).toMatch(/1:05<\/th><td>rate × 2 for the vehicles 1 to 3</);
    expect(formatHtml(resultOf())).not.toMatch(/id="ramp"|id="interventions"/);
  });

  it('says in words why a run failed, or what it proved', () => {
    expect(verdictOf(resultOf()).sentence).toBe(
      'Every one of the 9 events of 3 vehicles came back once, whole and in order. The 2 commands moved relays at most once, in time, and never while a vehicle moved.',
    );
    const thresholds = [
      { text: 'ingest.p99<20ms', name: 'ingest.p99', operator: '<', limit: 20, value: 40, isMet: false },
      { text: 'cut.p99<1s', name: 'cut.p99', operator: '<', limit: 1000, value: null, isMet: false },
    ] as const;
    const failed = resultOf({
      isPassed: false,
      truth: { ...noTruth, lost: 2, commandMoving: 1 },
      thresholds,
    });
    expect(verdictOf(failed).reasons).toEqual([
      '2 × lost: not at the service when the time to deliver was over',
      '1 × engine cut while moving: a restrictive relay closed while the vehicle moved or its ignition was on',
      'threshold ingest.p99<20ms was not met: 40 ms',
      'threshold cut.p99<1s was not met: not measured',
    ]);
    const empty = resultOf({ isPassed: false, counts: { ...resultOf().counts, shown: 0 } });
    expect(verdictOf(empty).reasons).toEqual(['the service returned no event, so nothing is proven']);
  });
});

describe('JSON of a run', () => {
  it('comes back as it was, with a line for each column', () => {
    for (const result of [resultOf(), greatestResult(), hostileResult()]) {
      expect(parseResult(formatJson(result), 'a.json')).toEqual(JSON.parse(JSON.stringify(result)));
    }
    expect(formatJson(resultOf())).toContain('"storedRate": [1,null,3]');
  });

  it.each([
    ['not JSON', 'nonsense'],
    ['another file', '{"format":1}'],
    ['a wrong member', formatJson(resultOf()).replace('"devices": 3', '"devices": "3"')],
    ['too many buckets', formatJson(resultOf()).replace('[1,null,3]', `[${'1,'.repeat(800)}1]`)],
  ])('is refused when it is %s', (_, text) => {
    expect(() => parseResult(text, 'a.json')).toThrow('a.json is no report of');
  });

  it('says where it is wrong', () => {
    const text = formatJson(resultOf()).replace('"devices": 3', '"devices": "3"');
    expect(() => parseResult(text, 'a.json')).toThrow('/devices');
  });
});

describe('two runs in a terminal', () => {
  it('say in what they differ besides their outcome', () => {
    const other = resultOf({
      devices: 4,
      seed: 'other',
      durationS: 20,
      machine: { ...resultOf().machine, processes: 1 },
      interventions: [strike],
    });
    const text = formatComparison(resultOf(), other);
    expect(text).toContain('note: these are runs of different things');
    expect(text).toContain('note: the seeds differ, and so do the facts');
    expect(text).toContain('note: a took 10 s and b 20 s');
    expect(text).toContain('note: their generators had different numbers of processes');
    expect(text).toContain('note: people changed one of them by hand');
    expect(formatComparison(resultOf(), resultOf())).not.toContain('note:');
  });
});

describe('a result in a terminal and in JUnit', () => {
  it('lets nothing of a scenario or a server steer the terminal', () => {
    expect(formatResult(hostileResult()).replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });

  it('is well-formed XML with a case for every check and threshold', () => {
    const xml = formatJunit(hostileResult());
    expect(xml.match(/<testcase /g)).toHaveLength(breachKinds.length + 3);
    expect(xml).not.toContain('<img');
    // XML 1.0 has no way to write them; and a mark shows that there was one.
    expect(xml.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    expect(xml).toContain('\ufffd');
    expect(xml).toContain(`failures="4"`);
  });
});

describe('JUnit of a run', () => {
  it.each([
    ['passed', {}, 0],
    ['lost something', { isPassed: false, truth: { ...noTruth, lost: 3 } }, 1],
    ['proved nothing', { isPassed: false, unjudged: 4 }, 1],
    ['showed nothing', { isPassed: false, counts: { ...resultOf().counts, shown: 0 } }, 1],
    ['did not start', { isPassed: false, failedStarts: { count: 1, last: 'no' } }, 1],
  ])('that %s has that many failures', (_, change, failures) => {
    const xml = formatJunit(resultOf(change));
    expect(xml).toContain(`failures="${failures}">`);
    expect(xml.match(/<failure /g) ?? []).toHaveLength(failures);
    expect(xml).toContain('<property name="seed" value="fleetward"/>');
  });
});

describe('a ramp whose first step was bad already', () => {
  const below: Partial<RunResult> = {
    isPassed: false,
    ramp: { of: 'rate', steps: [badStep], knee: kneeOf('rate', [badStep]) },
  };

  it('is an outcome of its own, unless more is wrong', () => {
    expect(isOnlyBelowRamp(resultOf(below))).toBe(true);
    expect(isOnlyBelowRamp(resultOf({ ...below, truth: { ...noTruth, lost: 1 } }))).toBe(false);
    expect(isOnlyBelowRamp(resultOf({ ...below, unjudged: 4 }))).toBe(false);
    expect(isOnlyBelowRamp(resultOf())).toBe(false);
  });

  it('is told in words, in JUnit and on the page', () => {
    const words = 'it lies below the first step, which was bad already, x2.5 (1234 events/s)';
    const result = resultOf(below);
    expect(verdictOf(result).reasons).toEqual([expect.stringContaining(words)]);
    expect(formatResult(result)).toContain(`knee: ${words}`);
    expect(formatJunit(result)).toContain(`failures="1">`);
    expect(formatHtml(result)).toContain(escapeHtml(words));
  });
});

describe('numbers of things', () => {
  it('stand before a word that fits them', () => {
    const one = resultOf({
      devices: 1,
      counts: { facts: 1, events: 1, sent: 1, acknowledged: 1, shown: 1, commands: 1, connects: 1 },
      faults: [{ kind: 'link-outage', share: 1, fromMs: 1000, toMs: 2000 }],
      brokerSight: { seen: 1, missed: 1, reason: 'no' },
      machine: { cpuMs: 1200, rssMb: 120, startRssMb: 90, processes: 1 },
      truth: { ...noTruth, lost: 1 },
      isPassed: false,
    });
    const plural =
      /\b1 (facts|events|faults|vehicles|commands|connects|breaches|times|processes|trackers|reasons)\b/;
    for (const text of [formatResult(one), formatHtml(one), formatComparison(one, one)])
      expect(text).not.toMatch(plural);
    expect(formatHtml(one)).toContain('1 fault as a table');
  });
});

describe('the command that repeats a run', () => {
  it.each([
    [['run', 'smoke'], 'fleetward-simulator run smoke --seed fleetward'],
    [['run', 'smoke', '--seed', 'x'], 'fleetward-simulator run smoke --seed x'],
    [['run', 'smoke', '--seed=x'], 'fleetward-simulator run smoke --seed=x'],
    [
      ['run', "it's.toml", '--threshold', 'ingest.p99<250ms'],
      `fleetward-simulator run 'it'\\''s.toml' --threshold 'ingest.p99<250ms' --seed fleetward`,
    ],
    [
      ['run', 'smoke', '--target', 'http://me:secret@host:8080'],
      'fleetward-simulator run smoke --target http://host:8080 --seed fleetward',
    ],
  ])('of %j', (words, command) => expect(repeatCommand(words, 'fleetward')).toBe(command));

  it('names no seed where nothing is drawn from one', () => {
    expect(repeatCommand(['replay', 'day.jsonl'], null)).toBe('fleetward-simulator replay day.jsonl');
  });
});
