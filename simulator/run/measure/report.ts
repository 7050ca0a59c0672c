// Formats a result as plain text, JSON and JUnit XML, and compares two results. Each form names the kind of vehicle.
import { Check, Errors } from 'typebox/value';
import { AppError } from '../../../src/core/errors.ts';
import { escapeXml, escapeXmlAttribute } from '../../../src/core/xml-text.ts';
import { type Breach, breachKinds, breachTexts } from '../../core/ledger/ledger-types.ts';
import { printable } from '../../core/live/screen.ts';
import { compareFigures } from '../../core/result/comparison.ts';
import { unmetText } from '../../core/result/expectations.ts';
import { uncheckedOf } from '../../core/result/gaps.ts';
import { resultSchema } from '../../core/result/result-schema.ts';
import { outcomeOf, verdictOf } from '../../core/result/verdict.ts';
import { exerciseTexts } from '../../core/scenario/exercises.ts';
import { isBelowRamp } from '../../core/scenario/ramp.ts';
import { latencyNames } from '../../core/scenario/thresholds.ts';
import { countOf } from '../../core/text/number-text.ts';
import type { RunResult } from './result.ts';

export const latencyTexts: Readonly<Record<(typeof latencyNames)[number], string>> = {
  ingest: 'stored -> acknowledged, while connected',
  outage: 'stored -> acknowledged, over an outage',
  durable: 'happened -> stored on the vehicle',
  panic: 'panic pressed -> acknowledged',
  visible: 'stored -> live stream, while connected',
  restore: 'restore requested -> relay',
  cut: 'cut requested -> relay (when safe)',
  lag: "the generator's own lag",
};

const cell = (value: number | undefined): string =>
  (value === undefined ? '-' : value.toFixed(value < 10 ? 1 : 0)).padStart(9);

function latencyTable({ figures }: RunResult): readonly string[] {
  const parts = ['p50', 'p95', 'p99', 'p999', 'max'] as const;
  const head = `  ${'latency, ms'.padEnd(40)}${parts.map((part) => part.padStart(9)).join('')}${'count'.padStart(9)}`;
  const rows = latencyNames.flatMap((name) => {
    const count = figures[`${name}.count`];
    if (count === undefined) return [];
    const values = parts.map((part) => cell(figures[`${name}.${part}`])).join('');
    return [`  ${latencyTexts[name].padEnd(40)}${values}${String(count).padStart(9)}`];
  });
  return rows.length === 0 ? [] : [head, ...rows];
}

/** One breach in a line. */
export function formatBreach({ kind, deviceID, factNo, eventID, commandID, words }: Breach): string {
  const of = [
    deviceID,
    ...(factNo === null ? [] : [`fact ${factNo}`]),
    ...(eventID === null ? [] : [`event ${eventID}`]),
    ...(commandID === null ? [] : [`command ${commandID}`]),
  ].join(', ');
  return `${kind}: ${of}: ${words}`;
}

export const kindTexts = { agent: 'real agents', tracker: 'light trackers, no agent in them' } as const;
const shownMost = 20;
/** With fewer vehicles their memory cannot be separated from that of the program. */
const measuredLeast = 10;
export const each = { agent: 'a vehicle', tracker: 'a light tracker' } as const;

/** Memory of the generator for each vehicle, beyond what it took before the first, MiB; null where it is not measurable. */
export function memoryPerVehicle({
  machine,
  devices,
}: Pick<RunResult, 'machine' | 'devices'>): number | null {
  const grownMb = machine.grownMb ?? machine.rssMb - machine.startRssMb;
  return devices < measuredLeast || grownMb <= 0 ? null : grownMb / devices;
}

/** The same as text; '' where it is not measurable. */
export function memoryText(result: Pick<RunResult, 'machine' | 'devices' | 'kind'>): string {
  const mb = memoryPerVehicle(result);
  return mb === null
    ? ''
    : `${mb < 0.1 ? `${(mb * 1024).toFixed(0)} KiB` : `${mb.toFixed(2)} MiB`} ${each[result.kind]}`;
}

/** Compared and omitted checks of the account. */
const exerciseLines = ({ exercises }: Pick<RunResult, 'exercises'>): readonly string[] =>
  exercises.map(({ name, looked, reason }) =>
    looked > 0
      ? `  account: ${exerciseTexts[name]}: ${countOf(looked, 'comparison')}`
      : `  not looked at: ${exerciseTexts[name]}${reason === '' ? '' : `: ${reason}`}`,
  );

const inBrackets = (text: string): string => (text === '' ? '' : ` (${text})`);

/** The result for a terminal or a log. */
export function formatResult(result: RunResult): string {
  const { counts, truth, machine, figures } = result;
  const verdict = verdictOf(result);
  const found = breachKinds.filter((kind) => truth[kind] > 0);
  const unchecked = uncheckedOf(result).size;
  const idle = unchecked === 0 ? '' : `, and ${unchecked} without anything to look at`;
  const total = breachKinds.reduce((sum, kind) => sum + truth[kind], 0);
  return [
    '',
    `${verdict.outcome.toUpperCase()}  ${result.scenario}: ${result.title}`,
    `  ${countOf(result.devices, 'vehicle')} (${kindTexts[result.kind]}), ${result.durationS} s, seed ${JSON.stringify(result.seed)}`,
    `  ${countOf(counts.facts, 'fact')}, ${countOf(counts.events, 'event')} stored, ${counts.acknowledged} acknowledged (${figures['events.rate']}/s), ${counts.shown} returned, ${countOf(counts.commands, 'command')}, ${countOf(counts.connects, 'connect')}`,
    `  generator: ${countOf(machine.processes, 'process', 'processes')}, ${(machine.cpuMs / 1000).toFixed(1)} s of CPU, ${machine.rssMb.toFixed(0)} MiB${inBrackets(memoryText(result))}`,
    ...latencyTable(result),
    `  truth: ${total === 0 ? `${breachKinds.length - unchecked} checks, all 0${idle}` : countOf(total, 'breach', 'breaches')}`,
    ...found.map((kind) => `    ${kind} ${truth[kind]}: ${breachTexts[kind]}`),
    ...result.breaches.slice(0, shownMost).map((breach) => `      ${formatBreach(breach)}`),
    ...(total > shownMost ? [`      ... and ${total - shownMost} more (see --json)`] : []),
    ...exerciseLines(result),
    ...result.thresholds.map(
      ({ text, value, isMet }) =>
        `  threshold ${isMet ? 'met   ' : 'FAILED'} ${text} (${value ?? 'not measured'})`,
    ),
    ...result.expectations.filter(({ isMet }) => !isMet).map((one) => `  FAILED ${unmetText(one)}`),
    ...(verdict.outcome === 'incomplete' ? [`  ${verdict.sentence}`] : []),
    ...(result.notLookedAt ?? []).map((what) => `  not looked at: ${what}`),
    ...(result.ramp === null ? [] : [`  knee: ${result.ramp.knee.words}`]),
    ...result.warnings.map((warning) => `  note: ${warning}`),
    '',
  ]
    .map(printable)
    .join('\n');
}

/** The properties of the test suite. */
const propertiesOf = (result: RunResult): readonly (readonly [name: string, value: string])[] => [
  ['title', result.title],
  ['vehicles', `${result.devices} ${kindTexts[result.kind]}`],
  ['seed', result.seed],
  ['command', result.setting.command],
  ['version', result.setting.version],
  ...Object.entries(result.figures)
    .filter(([name]) => /\.p99$|^events\.rate$/.test(name))
    .map(([name, value]) => [name, String(value)] as const),
];

/** JUnit XML: a case for each check of the truth and for each threshold. */
export function formatJunit(result: RunResult): string {
  const suite = escapeXmlAttribute(`fleetward-simulator ${result.scenario}`);
  const truthCases = breachKinds.map((kind) => ({
    name: `truth: ${kind}`,
    failure:
      result.truth[kind] === 0
        ? null
        : [
            `${result.truth[kind]}: ${breachTexts[kind]}`,
            ...result.breaches.filter((breach) => breach.kind === kind).map(formatBreach),
          ].join('\n'),
  }));
  const thresholdCases = result.thresholds.map(({ text, value, isMet }) => ({
    name: `threshold: ${text}`,
    failure: isMet ? null : `measured: ${value ?? 'nothing'}`,
  }));
  const { counts, failedStarts, unjudged, interruptedBy, notLookedAt = [] } = result;
  const isWhole = interruptedBy === null && notLookedAt.length === 0;
  const isProof = counts.shown > 0 && failedStarts.count === 0 && unjudged * 2 <= counts.facts;
  const runCase = {
    name: 'run: every vehicle started and reported, and most facts could be judged',
    failure:
      isProof || !isWhole
        ? null
        : `${failedStarts.count} did not start; ${counts.shown} events returned; ${unjudged} of ${counts.facts} facts not judged`,
  };
  const rampCase = {
    name: 'ramp: its first step was good',
    failure: result.ramp !== null && isBelowRamp(result.ramp) ? result.ramp.knee.words : null,
  };
  const rampCases = result.ramp === null ? [] : [rampCase];
  const seenCases = result.expectations.map((one) => ({
    name: `seen: ${one.name}`,
    failure: one.isMet ? null : unmetText(one),
  }));
  const cases = [runCase, ...truthCases, ...seenCases, ...thresholdCases, ...rampCases];
  // An error and not a failure: what was not looked at is not judged.
  const stopText = [verdictOf(result).sentence, ...notLookedAt.map((what) => `Not looked at: ${what}`)].join(
    '\n',
  );
  const stopCase = `    <testcase classname="${suite}" name="run: was complete"`;
  const stopped = isWhole
    ? `${stopCase}/>`
    : `${stopCase}><error type="incomplete" message="${escapeXmlAttribute(stopText)}"/></testcase>`;
  const total = `tests="${cases.length + 1}"`;
  const errors = `errors="${isWhole ? 0 : 1}"`;
  const failures = cases.filter(({ failure }) => failure !== null).length;
  const lines = cases.map(({ name, failure }) => {
    const head = `    <testcase classname="${suite}" name="${escapeXmlAttribute(name)}"`;
    if (failure === null) return `${head}/>`;
    const [first = ''] = failure.split('\n');
    return `${head}><failure message="${escapeXmlAttribute(first)}">${escapeXml(failure)}</failure></testcase>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${total} ${errors} failures="${failures}">`,
    `  <testsuite name="${suite}" ${total} ${errors} failures="${failures}" time="${(result.series.endMs / 1000).toFixed(3)}" timestamp="${escapeXmlAttribute(result.startedAt)}">`,
    '    <properties>',
    ...propertiesOf(result).map(
      ([name, value]) =>
        `      <property name="${escapeXmlAttribute(name)}" value="${escapeXmlAttribute(value)}"/>`,
    ),
    '    </properties>',
    stopped,
    ...lines,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

/** An indented list of numbers and nulls; strings of JSON hold no line break. */
const numberList = /\[\n\s+(?:(?:-?[\d.]+(?:e[+-]?\d+)?|null)(?:,\n\s+)?)+\n\s+\]/g;

/** The whole result as JSON; columns of numbers stand in one line each. */
export function formatJson(result: RunResult): string {
  const text = JSON.stringify({ ...result, outcome: outcomeOf(result) }, null, 2);
  return `${text.replaceAll(numberList, (list) => list.replaceAll(/\n\s+/g, ''))}\n`;
}

const figure = (value: number | null): string =>
  (value === null ? '-' : String(Math.round(value * 100) / 100)).padStart(14);

/** Differences of two runs that limit a comparison of their figures. */
export function differencesOf(a: RunResult, b: RunResult): readonly string[] {
  const isLike = a.scenario === b.scenario && a.devices === b.devices && a.kind === b.kind;
  const isSameMachine = JSON.stringify(a.setting.machine) === JSON.stringify(b.setting.machine);
  return [
    ...(isLike ? [] : ['The runs differ in scenario, size or kind of vehicle']),
    ...(a.durationS === b.durationS ? [] : [`Run a took ${a.durationS} s and run b ${b.durationS} s`]),
    ...(a.seed === b.seed ? [] : ['The seeds differ, and so do the facts']),
    ...(isSameMachine ? [] : ['The runs took place on different machines']),
    ...(a.machine.processes === b.machine.processes
      ? []
      : ['The generators had different numbers of processes']),
    ...(outcomeOf(a) !== 'incomplete' && outcomeOf(b) !== 'incomplete'
      ? []
      : ['One of the runs is incomplete and not judged as a whole']),
    ...(a.interventions.length + b.interventions.length === 0
      ? []
      : ['One of the runs was changed through --ctl']),
    ...(a.setting.version === b.setting.version ? [] : ['The runs are of different versions']),
  ];
}

/** Two runs side by side, for a terminal. */
export function formatComparison(before: RunResult, after: RunResult): string {
  const describe = (result: RunResult): string =>
    `${result.scenario}, ${countOf(result.devices, 'vehicle')} (${kindTexts[result.kind]}), ${result.durationS} s, seed ${JSON.stringify(result.seed)}, ${outcomeOf(result)}, ${result.startedAt}`;
  const rows = compareFigures(before.figures, after.figures).map(
    ({ name, before: old, after: now, ratio }) =>
      `  ${name.padEnd(22)}${figure(old)}${figure(now)}${ratio === null ? '' : `  x${ratio.toFixed(2)}`}`,
  );
  return [
    `  a: ${describe(before)}`,
    `  b: ${describe(after)}`,
    ...differencesOf(before, after).map((words) => `  note: ${words}`),
    `  ${'figure'.padEnd(22)}${'a'.padStart(14)}${'b'.padStart(14)}`,
    ...rows,
    '',
  ]
    .map(printable)
    .join('\n');
}

/** Bound of a JSON result. */
const reportCharactersMost = 32 * 1024 * 1024;

/** A result from the text of a JSON report. @throws AppError `config` that names the file and what is wrong in it. */
export function parseResult(text: string, file: string): RunResult {
  let value: unknown = null;
  try {
    if (text.length <= reportCharactersMost) value = JSON.parse(text);
  } catch {
    // Reported below.
  }
  if (Check(resultSchema, value)) return value as unknown as RunResult;
  const [first] = Errors(resultSchema, value);
  const words = `${file} is not a result of \`fleetward-simulator run --json\``;
  if (value === null || first === undefined) throw new AppError('config', words);
  throw new AppError('config', `${words}: ${first.instancePath || '/'} ${first.message}`, {
    hint: 'Results of older versions differ: run it again.',
  });
}
