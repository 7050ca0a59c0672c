// What is left of a run: HTML, JSON and JUnit, whole at the worst that a run can be, and never markup of somebody else's.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readReportParts } from '../../simulator/cli/page-files.ts';
import {
  type FactKind,
  type FactTally,
  factKinds,
  type UnjudgedReason,
} from '../../simulator/core/ledger/facts.ts';
import { type BreachKind, breachKinds } from '../../simulator/core/ledger/ledger-types.ts';
import type { Intervention } from '../../simulator/core/live/control-requests.ts';
import { type Coverage, notLookedAtOf } from '../../simulator/core/result/coverage.ts';
import { type ExpectationName, expectationNames } from '../../simulator/core/result/expectations.ts';
import { gapsOf, uncheckedOf } from '../../simulator/core/result/gaps.ts';
import { outcomeOf, verdictOf } from '../../simulator/core/result/verdict.ts';
import { exerciseNames } from '../../simulator/core/scenario/exercises.ts';
import { kneeOf, type RampStep } from '../../simulator/core/scenario/ramp.ts';
import { checkScenario } from '../../simulator/core/scenario/scenario.ts';
import { type Fault, faultKinds, type Scenario } from '../../simulator/core/scenario/scenario-schema.ts';
import { noBrokerErrors } from '../../simulator/core/series/broker-metrics-text.ts';
import { columnNames } from '../../simulator/core/series/series-columns.ts';
import { formatComparisonHtml } from '../../simulator/report/comparison-page.ts';
import { escapeHtml, html } from '../../simulator/report/html.ts';
import { commonStart, placeLabels } from '../../simulator/report/map.ts';
import { formatHtml } from '../../simulator/report/page.ts';
import {
  formatComparison,
  formatJson,
  formatJunit,
  formatResult,
  parseResult,
} from '../../simulator/run/measure/report.ts';
import { isOnlyBelowRamp, isOnlyTooSmall, type RunResult } from '../../simulator/run/measure/result.ts';
import { repeatCommand } from '../../simulator/run/measure/setting.ts';

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

const library = readReportParts();
const htmlOf = (result: RunResult): string => formatHtml(result, library);
const comparisonOf = (a: RunResult, b: RunResult): string => formatComparisonHtml(a, b, library);

const tally = (
  happened: number,
  found: number,
  unjudged: Partial<Record<UnjudgedReason, number>> = {},
): FactTally => ({ happened, found, unjudged: { late: 0, brief: 0, fault: 0, stall: 0, ...unjudged } });
const noFacts = Object.fromEntries(factKinds.map((kind) => [kind, tally(0, 0)])) as Record<
  FactKind,
  FactTally
>;

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
    interruptedBy: null,
    expectations: [],
    exercises: exerciseNames.map((name) => ({ name, isPossible: true, looked: 3, reason: '' })),
    counts: { facts: 5, events: 9, sent: 10, acknowledged: 9, shown: 9, commands: 2, connects: 3 },
    truth: noTruth,
    unjudged: 0,
    facts: { ...noFacts, panicOn: tally(3, 3), panicOff: tally(2, 2) },
    commands: [
      {
        feature: 'enginecutoff',
        state: '1',
        requested: 2,
        ends: { confirmed: 1, expired: 1 },
        relayMs: { p50: 1500, max: 1500, count: 1 },
        reportMs: null,
      },
    ],
    readVehicles: 3,
    live: { seen: 5, isCounted: true },
    figures: { 'ingest.p50': 12, 'ingest.p99': 40, 'ingest.count': 9, 'events.rate': 0.9 },
    thresholds: [],
    ramp: null,
    interventions: [],
    machine: { cpuMs: 1200, rssMb: 120, startRssMb: 90, processes: 2 },
    approvals: { approved: 0, waiting: 0 },
    refusedCommands: { count: 0, last: '' },
    failedStarts: { count: 0, last: '' },
    warnings: [],
    breaches: [],
    series: { stepMs: 1000, endMs: 11_000, columns: { storedRate: [1, null, 3], online: [1, 2, 3] } },
    faults: [],
    routes: [{ deviceID: 'sim-1', points: [43.65, -79.34, 43.66, -79.35] }],
    brokerSight: { seen: 0, missed: 0, reason: '', errors: noBrokerErrors },
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
    brokerSight: { seen: 0, missed: 3, reason: hostile, errors: noBrokerErrors },
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

/** What a page would ask for, besides its own empty picture and places in itself. */
const outside =
  /(?:src|href|action|srcset|data|poster)="(?!data:,"|#[a-z]+")[^"]*"|url\(|@import|<(?:link|img|iframe|object|embed)\b(?! rel="icon")/gi;

describe('HTML of a run', () => {
  it('escapes every text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(escapeHtml(text)).not.toMatch(/[<>"']/);
        expect(html`<p title="${text}">${text}</p>`.markup.match(/</g)).toHaveLength(2);
      }),
    );
  });

  it('shows hostile text as text and runs none of it', () => {
    const plain = htmlOf(resultOf({ isPassed: false, truth: { ...noTruth, lost: 1 } }));
    for (const page of [htmlOf(hostileResult()), comparisonOf(hostileResult(), hostileResult())]) {
      expect(page).not.toMatch(/<img|<svg\/|onerror=alert\(1\)>|<b>/);
      expect(page).toContain('&lt;img src=x onerror=alert(1)&gt;');
      expect(page).not.toMatch(/\u202e|(?!\n)\p{Cc}/u);
      expect(page.match(/<\/script>/g)).toHaveLength(2);
      expect(page.match(outside)).toBeNull();
    }
    expect(plain.match(outside)).toBeNull();
  });

  it('stays under 500 kB for the largest result, alone and compared', () => {
    const greatest = greatestResult();
    const sizes = [htmlOf(greatest), comparisonOf(greatest, greatest)].map((page) => page.length);
    expect(Math.max(...sizes)).toBeLessThan(500_000);
    expect(htmlOf(greatest)).toContain('and 400 more: see the JSON of the run');
  });

  it('forbids every request and every other script by its content security policy', () => {
    const [, policy = ''] = htmlOf(resultOf()).match(/content-security-policy" content="([^"]*)"/) ?? [];
    expect(policy).toContain('default-src &#39;none&#39;');
    expect(policy).toMatch(/script-src &#39;sha256-[\w+/=]+&#39;;/);
    expect(policy).toMatch(/style-src &#39;sha256-[\w+/=]+&#39;;/);
    expect(policy).not.toContain('unsafe');
  });

  it('holds uPlot whole, with its licence', () => {
    const page = htmlOf(resultOf());
    expect(page).toContain(library.script);
    expect(page).toContain('The MIT License (MIT)');
    expect(page).toMatch(/Copyright \(c\) \d+ Leon Sorokin/);
  });

  it.each([
    ['of a run', htmlOf(resultOf())],
    ['of a comparison', comparisonOf(resultOf(), resultOf({ seed: 'other' }))],
  ])('%s lists its sections at the top, in their order', (_, page) => {
    const listed = [...page.matchAll(/<li><a href="#([a-z]+)">/g)].map(([, id]) => id);
    const sections = [...page.matchAll(/<section id="([a-z]+)"/g)].map(([, id]) => id);
    expect(listed.length).toBeGreaterThan(2);
    expect(listed).toEqual(sections);
  });

  it('shows each step of a ramp with its knee, and the interventions', () => {
    const good: RampStep = { ...badStep, no: 0, level: 1, failures: [] };
    const bad: RampStep = { ...badStep, failures: ['ingest.p99<500ms (900)'] };
    const rate = { kind: 'rate', factor: 2, from: 1, to: 3 } as const;
    const page = htmlOf(
      resultOf({
        ramp: { of: 'rate', steps: [good, bad], knee: kneeOf('rate', [good, bad]) },
        interventions: [strike, { atS: 65, request: rate }],
      }),
    );
    expect(page).toContain(escapeHtml('first bad step x2.5 (1234 events/s): ingest.p99<500ms (900)'));
    expect(page.match(/42 %<\/td>/g)).toHaveLength(2);
    expect(page).toContain('<td>link-outage for 2 s, 50 % of the fleet</td>');
    expect(page).toMatch(/1:05<\/th><td>rate × 2 for the vehicles 1 to 3</);
    expect(htmlOf(resultOf())).not.toMatch(/id="ramp"|id="interventions"/);
  });

  it('states why a run failed, or what it proved', () => {
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

/** The text of a section, without its markup. */
function wordsOf(result: RunResult, id: string): string {
  const [, section = ''] = new RegExp(`<section id="${id}"(.*?)</section>`, 's').exec(htmlOf(result)) ?? [];
  return section.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
}

describe('what a run did not look at', () => {
  const tracker = resultOf({
    kind: 'tracker',
    facts: noFacts,
    commands: [],
    counts: { ...resultOf().counts, facts: 0, commands: 0 },
    live: { seen: 0, isCounted: true },
  });
  const kindsOf = (result: RunResult): readonly string[] => gapsOf(result).map(({ kind }) => kind);

  it('is nothing but facts, faults and metrics that did not come, after a whole run of agents', () => {
    expect(kindsOf(resultOf())).toEqual(['facts', 'metrics', 'faults']);
    expect([...uncheckedOf(resultOf())]).toEqual([]);
  });

  it('of light trackers is every relay, the road and the live stream', () => {
    expect(kindsOf(tracker)).toEqual(['tracker', 'stream', 'metrics', 'faults']);
    const none = { ...tracker, exercises: [] };
    expect(kindsOf(none).filter((kind) => kind === 'exercise')).toHaveLength(exerciseNames.length);
    expect(uncheckedOf(none).has('zonesWrong')).toBe(true);
    const unchecked = uncheckedOf(tracker);
    for (const kind of [
      'commandMoving',
      'untracked',
      'odometerWrong',
      'reportsWrong',
      'streamWrong',
    ] as const)
      expect([kind, unchecked.has(kind)]).toEqual([kind, true]);
    expect(unchecked.has('lost')).toBe(false);
    expect(wordsOf(tracker, 'proof')).toContain('Relays, sensors and the road: a light tracker has none.');
  });

  it('of an interrupted run is what is read at its end', () => {
    const stopped = resultOf({ interruptedBy: 'SIGTERM', readVehicles: 0 });
    expect(kindsOf(stopped)).toContain('interrupted');
    expect(uncheckedOf(stopped).has('historyWrong')).toBe(true);
    expect(wordsOf(stopped, 'proof')).toContain('SIGTERM interrupted it');
  });

  it('is counted: vehicles not read, facts not judged and why, cuts that waited', () => {
    const result = resultOf({
      devices: 100,
      readVehicles: 40,
      unjudged: 3,
      facts: { ...resultOf().facts, tow: tally(4, 1, { fault: 2, late: 1 }) },
      approvals: { approved: 0, waiting: 2 },
      setting: { ...resultOf().setting, target: 'http://127.0.0.1:1' },
    });
    const words = wordsOf(result, 'proof');
    expect(words).toContain('1 too late in the run, 2 during a fault of the hardware');
    expect(words).toContain('exports of 60 of 100 vehicles: those of 40 were read');
    expect(words).toContain('2 cuts that waited for the approval');
    expect(kindsOf(result)).toEqual(expect.arrayContaining(['otherAccount', 'clock']));
  });

  it('is never shown as a check that found nothing', () => {
    expect(wordsOf(resultOf(), 'proof')).not.toContain('not looked at Not looked at');
    const words = wordsOf(tracker, 'proof');
    expect(words).toMatch(/Panic late not looked at a panic press that took too long/);
    expect(words).toMatch(/Lost 0 not at the service when the time to deliver was over/);
    expect(words).toContain(
      `${breachKinds.length - uncheckedOf(tracker).size} of ${breachKinds.length} checks`,
    );
  });

  it('does not hide what a check found all the same', () => {
    const found = { ...tracker, truth: { ...noTruth, streamWrong: 2 }, isPassed: false };
    expect(wordsOf(found, 'proof')).toMatch(/Wrong live stream 2 the live stream left an event out/);
  });
});

describe('the sections of a report', () => {
  it('count facts by kind: happened, found, not found, not judged and why', () => {
    const facts = { ...noFacts, panicOn: tally(9, 5, { brief: 1, stall: 2 }) };
    expect(wordsOf(resultOf({ facts }), 'facts')).toContain(
      'panic pressed 9 5 1 3 1 too short to be seen, 2 in a stall of the generator',
    );
    expect(wordsOf(resultOf({ facts: noFacts }), 'facts')).toContain('Nothing happened to a vehicle');
  });

  it('show how commands ended, and times with their samples or none', () => {
    expect(wordsOf(resultOf(), 'commands')).toContain(
      'Engine: cut 2 1 confirmed, 1 expired 1,500 1,500 1 – – 0',
    );
    expect(wordsOf(resultOf({ commands: [] }), 'commands')).toContain('None was given.');
  });

  it('leave out a percentile of too few samples', () => {
    const figures = {
      'ingest.count': 50,
      'ingest.p50': 12,
      'ingest.p95': 30,
      'ingest.p99': 40,
      'ingest.max': 40,
    };
    expect(wordsOf(resultOf({ figures }), 'latencies')).toMatch(/connected 50 12 – 30 – – 40/);
  });

  it('count errors by kind, of the run and of the broker', () => {
    const errors = { ...noBrokerErrors, requestsFailed: 7 };
    const result = resultOf({
      brokerSight: { seen: 9, missed: 2, reason: 'timed out', errors },
      counts: { ...resultOf().counts, sent: 12, connects: 5 },
    });
    const words = wordsOf(result, 'errors');
    expect(words).toContain('metrics without an answer 2 timed out');
    expect(words).toContain('by faults too 2 ');
    expect(words).toContain('HTTP requests failed (5xx) 7');
    expect(wordsOf(resultOf(), 'errors')).not.toContain('5xx');
  });

  it('show first, last, mean and highest of broker and generator', () => {
    const series = { stepMs: 1000, endMs: 4000, columns: { brokerMb: [null, 80, 120, 100], lagMs: [5] } };
    const words = wordsOf(resultOf({ series }), 'machines');
    expect(words).toContain('Broker: resident memory, MiB 80 100 100 120');
    expect(words).toContain('greatest event loop delay, ms 5 5 5 5');
  });

  it('name every vehicle on the map, and say how many are not on it', () => {
    const routes = Array.from({ length: 40 }, (_, at) => ({
      deviceID: `sim-x-${at + 1}`,
      points: [43.65, -79.34, 43.66 + at / 1e4, -79.35],
    }));
    const page = htmlOf(resultOf({ devices: 2000, routes }));
    const named = [...page.matchAll(/<text [^>]*>(\d+)<\/text>/g)].map(([, name]) => Number(name));
    expect(named).toEqual(routes.map((_, at) => at + 1));
    expect(wordsOf(resultOf({ devices: 2000, routes }), 'map')).toContain('Routes of 40 of 2,000 vehicles');
  });
});

describe('the labels of a map', () => {
  const plane = { width: 10_000, height: 6000, dots: [] };

  it('never lie over each other or outside of the map', () => {
    const point = fc.tuple(fc.integer({ min: 0, max: 10_000 }), fc.integer({ min: 0, max: 6000 }));
    fc.assert(
      fc.property(fc.array(point, { maxLength: 100 }), (points) => {
        const width = 300;
        const boxes = placeLabels(
          points.map((at, index) => ({ at, width, angle: index })),
          plane,
        ).filter((box) => box !== null);
        for (const [index, { x, y }] of boxes.entries()) {
          expect(x - width / 2 >= 0 && x + width / 2 <= plane.width).toBe(true);
          expect(y - 95 >= 0 && y + 95 <= plane.height).toBe(true);
          for (const other of boxes.slice(0, index))
            expect(Math.abs(other.x - x) >= width || Math.abs(other.y - y) >= 190).toBe(true);
        }
      }),
    );
  });

  it('find a place for 40 vehicles at one depot', () => {
    const depot = Array.from({ length: 40 }, () => ({ at: [5000, 3000] as const, width: 300, angle: 0 }));
    expect(placeLabels(depot, plane)).not.toContain(null);
  });

  it('leave out what all ids begin with, and never the whole of an id', () => {
    expect(commonStart(['sim-a-1', 'sim-a-12'])).toBe('sim-a-');
    expect(commonStart(['sim-a-', 'sim-a-12'])).toBe('sim-');
    expect(commonStart(['truck', 'tram'])).toBe('');
    expect(commonStart(['sim-a-1'])).toBe('');
  });
});

describe('JSON of a run', () => {
  it('is parsed back unchanged, with its outcome and one line for each column', () => {
    for (const result of [resultOf(), greatestResult(), hostileResult()]) {
      const written = { ...result, outcome: outcomeOf(result) };
      expect(parseResult(formatJson(result), 'a.json')).toEqual(JSON.parse(JSON.stringify(written)));
    }
    expect(formatJson(resultOf())).toContain('"storedRate": [1,null,3]');
  });

  it.each([
    ['not JSON', 'nonsense'],
    ['another file', '{"format":1}'],
    ['a wrong member', formatJson(resultOf()).replace('"devices": 3', '"devices": "3"')],
    ['too many buckets', formatJson(resultOf()).replace('[1,null,3]', `[${'1,'.repeat(800)}1]`)],
  ])('is refused when it is %s', (_, text) => {
    expect(() => parseResult(text, 'a.json')).toThrow('a.json is not a result of');
  });

  it('names the place of a fault', () => {
    const text = formatJson(resultOf()).replace('"devices": 3', '"devices": "3"');
    expect(() => parseResult(text, 'a.json')).toThrow('/devices');
  });
});

describe('two runs in a terminal', () => {
  it('list their differences besides the outcome', () => {
    const other = resultOf({
      devices: 4,
      seed: 'other',
      durationS: 20,
      machine: { ...resultOf().machine, processes: 1 },
      interventions: [strike],
    });
    const text = formatComparison(resultOf(), other);
    expect(text).toContain('note: The runs differ in scenario, size or kind of vehicle');
    expect(text).toContain('note: The seeds differ, and so do the facts');
    expect(text).toContain('note: Run a took 10 s and run b 20 s');
    expect(text).toContain('note: The generators had different numbers of processes');
    expect(text).toContain('note: One of the runs was changed through --ctl');
    expect(formatComparison(resultOf(), resultOf())).not.toContain('note:');
  });
});

describe('a result in a terminal and in JUnit', () => {
  it('removes control characters of scenarios and servers', () => {
    expect(formatResult(hostileResult()).replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });

  it('is well-formed XML with a case for every check and threshold', () => {
    const xml = formatJunit(hostileResult());
    expect(xml.match(/<testcase /g)).toHaveLength(breachKinds.length + 4);
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

describe('a ramp whose first step already failed', () => {
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

  it('is reported in the terminal, in JUnit and on the page', () => {
    const words = 'it lies below the first step, which already failed: x2.5 (1234 events/s)';
    const result = resultOf(below);
    expect(verdictOf(result).reasons).toEqual([expect.stringContaining(words)]);
    expect(formatResult(result)).toContain(`knee: ${words}`);
    expect(formatJunit(result)).toContain(`failures="1">`);
    expect(htmlOf(result)).toContain(escapeHtml(words));
  });
});

describe('an incomplete run', () => {
  const stopped = resultOf({
    isPassed: false,
    interruptedBy: 'SIGINT',
    notLookedAt: ['the last 47 seconds of the scenario'],
    elapsedS: 13,
    durationS: 60,
  });

  it('is called incomplete in the terminal, in JUnit, in JSON and on the page, with the signal that ended it', () => {
    expect(formatResult(stopped)).toMatch(/^INCOMPLETE {2}test/m);
    expect(formatResult(stopped)).toContain('is incomplete, ended by SIGINT after 13 s of 60 seconds');
    expect(formatResult(stopped)).toContain('  not looked at: the last 47 seconds of the scenario');
    expect(formatJunit(stopped)).toMatch(
      /errors="1" failures="0".*<error type="incomplete" message="The run/s,
    );
    expect(htmlOf(stopped)).toMatch(/<title>Incomplete: test.*■ Incomplete.*not looked at: the last 47/s);
    expect(parseResult(formatJson(stopped), 'x')).toMatchObject({
      isPassed: false,
      outcome: 'incomplete',
      interruptedBy: 'SIGINT',
      notLookedAt: stopped.notLookedAt,
    });
    expect(formatComparison(stopped, stopped)).toContain('One of the runs is incomplete');
  });

  it('still reports what was found until then', () => {
    const found = { ...stopped, truth: { ...noTruth, lost: 1 } };
    expect(verdictOf(found)).toMatchObject({
      outcome: 'incomplete',
      reasons: [expect.stringContaining('lost'), expect.stringContaining('not looked at')],
    });
  });

  it('is one without a signal when the service did not let it look at everything, unless more is wrong', () => {
    const unread = resultOf({ isPassed: false, notLookedAt: ['exports (503)'] });
    expect(outcomeOf(unread)).toBe('incomplete');
    expect(verdictOf(unread).reasons).toEqual(['not looked at: exports (503)']);
    expect(formatJunit(unread)).toMatch(/errors="1" failures="0".*Not looked at: exports \(503\)/s);
    expect(outcomeOf({ ...unread, truth: { ...noTruth, lost: 1 } })).toBe('failed');
    expect(verdictOf({ ...unread, truth: { ...noTruth, lost: 1 } }).reasons).toHaveLength(2);
  });

  it('is no older result that does not know of it', () => {
    const { notLookedAt: _, ...older } = resultOf();
    expect(outcomeOf(older)).toBe('passed');
    expect(outcomeOf({ ...older, isPassed: false })).toBe('failed');
    expect(outcomeOf({ ...older, isPassed: false, interruptedBy: 'SIGTERM' })).toBe('incomplete');
  });
});

describe('what a run did not look at', () => {
  const whole: Coverage = {
    interruptedBy: null,
    elapsedS: 60,
    durationS: 60,
    hasViews: true,
    unreadReason: null,
  };

  it('is nothing for a run that came to its end and read everything', () => {
    expect(notLookedAtOf(whole)).toEqual([]);
  });

  it('is what people read, with the reason, when the service did not let it be read', () => {
    const unread = { ...whole, hasViews: false, unreadReason: 'GET /export/csv: 503' };
    expect(notLookedAtOf(unread)).toEqual([expect.stringMatching(/^what people read: .* \(GET.*503\)$/)]);
  });

  it('is the rest of the scenario, its needs, and what people read, when a signal ended it', () => {
    expect(notLookedAtOf({ ...whole, interruptedBy: 'SIGINT', elapsedS: 13.2, hasViews: false })).toEqual([
      'the last 47 seconds of the scenario',
      'whether it saw what its scenario needs',
      expect.stringMatching(/^what people read: .*refused$/),
    ]);
  });

  it('is what its scenario needs when the signal came while it read back', () => {
    expect(notLookedAtOf({ ...whole, interruptedBy: 'SIGTERM' })).toEqual([
      'whether it saw what its scenario needs',
    ]);
  });
});

describe('an unmet expectation of a run', () => {
  const unseen = (name: ExpectationName): RunResult =>
    resultOf({
      isPassed: false,
      expectations: [{ name, needed: 3, seen: 1, isMet: false, detail: 'so it was' }],
    });

  it.each(expectationNames)('is named: %s', (name) => {
    const result = unseen(name);
    const words = expect.stringContaining(': 1 seen, 3 needed (so it was)');
    expect(verdictOf(result).reasons).toEqual([words]);
    expect(formatResult(result)).toEqual(words);
    expect(htmlOf(result)).toEqual(words);
    expect(formatJunit(result)).toMatch(new RegExp(`name="seen: ${name}"><failure`));
    expect(parseResult(formatJson(result), 'x').expectations).toEqual(result.expectations);
  });

  it('makes a run too small only when nothing else is wrong', () => {
    expect(isOnlyTooSmall(unseen('fuelTheft'))).toBe(true);
    expect(isOnlyTooSmall(unseen('commandsTaken'))).toBe(false);
    expect(isOnlyTooSmall({ ...unseen('fuelTheft'), truth: { ...noTruth, lost: 1 } })).toBe(false);
    expect(isOnlyTooSmall({ ...unseen('fuelTheft'), interruptedBy: 'SIGTERM' })).toBe(false);
    expect(isOnlyTooSmall(resultOf())).toBe(false);
  });
});

describe('numbers of things', () => {
  it('are followed by a noun in singular or plural', () => {
    const one = resultOf({
      devices: 1,
      counts: { facts: 1, events: 1, sent: 1, acknowledged: 1, shown: 1, commands: 1, connects: 1 },
      faults: [{ kind: 'link-outage', share: 1, fromMs: 1000, toMs: 2000 }],
      brokerSight: { seen: 1, missed: 1, reason: 'no', errors: noBrokerErrors },
      machine: { cpuMs: 1200, rssMb: 120, startRssMb: 90, processes: 1 },
      truth: { ...noTruth, lost: 1 },
      isPassed: false,
    });
    const plural =
      /\b1 (facts|events|faults|vehicles|commands|connects|breaches|times|processes|trackers|reasons)\b/;
    for (const text of [formatResult(one), htmlOf(one), formatComparison(one, one)])
      expect(text).not.toMatch(plural);
    expect(htmlOf(one)).toContain('1 fault as a table');
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

  it('has no seed where the run draws nothing from one', () => {
    expect(repeatCommand(['replay', 'day.jsonl'], null)).toBe('fleetward-simulator replay day.jsonl');
  });
});
