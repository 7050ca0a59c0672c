// A result for people, for programs and for CI: plain text, JSON, JUnit XML. Each says the same, and which kind of vehicle was used.
import { Check, Errors } from 'typebox/value';
import { AppError } from '../../src/core/errors.ts';
import { escapeXml, escapeXmlAttribute } from '../../src/core/xml-text.ts';
import { compareFigures } from '../core/comparison.ts';
import { countOf } from '../core/count-words.ts';
import { type Breach, breachKinds, breachWords } from '../core/ledger-types.ts';
import { isBelowRamp } from '../core/ramp.ts';
import { resultSchema } from '../core/result-schema.ts';
import { printable } from '../core/screen.ts';
import { latencyNames } from '../core/thresholds.ts';
import type { RunResult } from './result.ts';

export const latencyWords: Readonly<Record<(typeof latencyNames)[number], string>> = {
  ingest: 'stored on the vehicle -> acknowledged',
  durable: 'happened -> stored on the vehicle',
  panic: 'panic pressed -> acknowledged',
  visible: 'stored on the vehicle -> live stream',
  restore: 'restore asked -> relay',
  cut: 'cut asked -> relay (waits until safe)',
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
    return [`  ${latencyWords[name].padEnd(40)}${values}${String(count).padStart(9)}`];
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

export const kindWords = { agent: 'real agents', tracker: 'light trackers, no agent in them' } as const;
const shownMost = 20;
/** Of fewer than this the memory is lost in that of the program. */
const measuredLeast = 10;
export const each = { agent: 'a vehicle', tracker: 'a light tracker' } as const;

/** Memory of the generator for each vehicle, beyond what it took before the first, MiB; null where that cannot be told. */
export function memoryPerVehicle({
  machine,
  devices,
}: Pick<RunResult, 'machine' | 'devices'>): number | null {
  const grownMb = machine.grownMb ?? machine.rssMb - machine.startRssMb;
  return devices < measuredLeast || grownMb <= 0 ? null : grownMb / devices;
}

/** The same in words; '' where it cannot be told. */
export function memoryWords(result: Pick<RunResult, 'machine' | 'devices' | 'kind'>): string {
  const mb = memoryPerVehicle(result);
  return mb === null
    ? ''
    : `${mb < 0.1 ? `${(mb * 1024).toFixed(0)} KiB` : `${mb.toFixed(2)} MiB`} ${each[result.kind]}`;
}

const inBrackets = (words: string): string => (words === '' ? '' : ` (${words})`);

/** The end of a run for a terminal or a log. */
export function formatResult(result: RunResult): string {
  const { counts, truth, machine, figures } = result;
  const found = breachKinds.filter((kind) => truth[kind] > 0);
  const total = breachKinds.reduce((sum, kind) => sum + truth[kind], 0);
  return [
    '',
    `${result.isPassed ? 'PASSED' : 'FAILED'}  ${result.scenario}: ${result.title}`,
    `  ${countOf(result.devices, 'vehicle')} (${kindWords[result.kind]}), ${result.durationS} s, seed ${JSON.stringify(result.seed)}`,
    `  ${countOf(counts.facts, 'fact')}, ${countOf(counts.events, 'event')} stored, ${counts.acknowledged} acknowledged (${figures['events.rate']}/s), ${counts.shown} returned, ${countOf(counts.commands, 'command')}, ${countOf(counts.connects, 'connect')}`,
    `  generator: ${countOf(machine.processes, 'process', 'processes')}, ${(machine.cpuMs / 1000).toFixed(1)} s of CPU, ${machine.rssMb.toFixed(0)} MiB${inBrackets(memoryWords(result))}`,
    ...latencyTable(result),
    `  truth: ${total === 0 ? `${breachKinds.length} checks, all 0` : countOf(total, 'breach', 'breaches')}`,
    ...found.map((kind) => `    ${kind} ${truth[kind]}: ${breachWords[kind]}`),
    ...result.breaches.slice(0, shownMost).map((breach) => `      ${formatBreach(breach)}`),
    ...(total > shownMost ? [`      ... and ${total - shownMost} more (see --json)`] : []),
    ...result.thresholds.map(
      ({ text, value, isMet }) =>
        `  threshold ${isMet ? 'met   ' : 'FAILED'} ${text} (${value ?? 'not measured'})`,
    ),
    ...(result.ramp === null ? [] : [`  knee: ${result.ramp.knee.words}`]),
    ...result.warnings.map((warning) => `  note: ${warning}`),
    '',
  ]
    .map(printable)
    .join('\n');
}

/** What the cases of a run have in common. */
const propertiesOf = (result: RunResult): readonly (readonly [name: string, value: string])[] => [
  ['title', result.title],
  ['vehicles', `${result.devices} ${kindWords[result.kind]}`],
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
            `${result.truth[kind]}: ${breachWords[kind]}`,
            ...result.breaches.filter((breach) => breach.kind === kind).map(formatBreach),
          ].join('\n'),
  }));
  const thresholdCases = result.thresholds.map(({ text, value, isMet }) => ({
    name: `threshold: ${text}`,
    failure: isMet ? null : `measured: ${value ?? 'nothing'}`,
  }));
  const { counts, failedStarts, unjudged } = result;
  const isProof = counts.shown > 0 && failedStarts.count === 0 && unjudged * 2 <= counts.facts;
  const runCase = {
    name: 'run: every vehicle started and reported, and most facts could be judged',
    failure: isProof
      ? null
      : `${failedStarts.count} did not start; ${counts.shown} events returned; ${unjudged} of ${counts.facts} facts not judged`,
  };
  const rampCase = {
    name: 'ramp: its first step was good',
    failure: result.ramp !== null && isBelowRamp(result.ramp) ? result.ramp.knee.words : null,
  };
  const rampCases = result.ramp === null ? [] : [rampCase];
  const cases = [runCase, ...truthCases, ...thresholdCases, ...rampCases];
  const failures = cases.filter(({ failure }) => failure !== null).length;
  const lines = cases.map(({ name, failure }) => {
    const head = `    <testcase classname="${suite}" name="${escapeXmlAttribute(name)}"`;
    if (failure === null) return `${head}/>`;
    const [first = ''] = failure.split('\n');
    return `${head}><failure message="${escapeXmlAttribute(first)}">${escapeXml(failure)}</failure></testcase>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites tests="${cases.length}" failures="${failures}">`,
    `  <testsuite name="${suite}" tests="${cases.length}" failures="${failures}" time="${(result.series.endMs / 1000).toFixed(3)}" timestamp="${escapeXmlAttribute(result.startedAt)}">`,
    '    <properties>',
    ...propertiesOf(result).map(
      ([name, value]) =>
        `      <property name="${escapeXmlAttribute(name)}" value="${escapeXmlAttribute(value)}"/>`,
    ),
    '    </properties>',
    ...lines,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

/** A list of numbers and nulls as it stands indented; a line break is never within a string of JSON. */
const numberList = /\[\n\s+(?:(?:-?[\d.]+(?:e[+-]?\d+)?|null)(?:,\n\s+)?)+\n\s+\]/g;

/** The whole result as JSON; columns of numbers stand in one line each. */
export function formatJson(result: RunResult): string {
  const text = JSON.stringify(result, null, 2);
  return `${text.replaceAll(numberList, (list) => list.replaceAll(/\n\s+/g, ''))}\n`;
}

const figure = (value: number | null): string =>
  (value === null ? '-' : String(Math.round(value * 100) / 100)).padStart(14);

/** In what two runs differ besides their outcome: who compares them must know. */
export function differencesOf(a: RunResult, b: RunResult): readonly string[] {
  const isLike = a.scenario === b.scenario && a.devices === b.devices && a.kind === b.kind;
  const isSameMachine = JSON.stringify(a.setting.machine) === JSON.stringify(b.setting.machine);
  return [
    ...(isLike ? [] : ['these are runs of different things']),
    ...(a.durationS === b.durationS ? [] : [`a took ${a.durationS} s and b ${b.durationS} s`]),
    ...(a.seed === b.seed ? [] : ['the seeds differ, and so do the facts']),
    ...(isSameMachine ? [] : ['they ran on different machines']),
    ...(a.machine.processes === b.machine.processes
      ? []
      : ['their generators had different numbers of processes']),
    ...(a.interventions.length + b.interventions.length === 0 ? [] : ['people changed one of them by hand']),
    ...(a.setting.version === b.setting.version ? [] : ['they are of different versions']),
  ];
}

/** Two runs side by side, for a terminal. */
export function formatComparison(before: RunResult, after: RunResult): string {
  const describe = (result: RunResult): string =>
    `${result.scenario}, ${countOf(result.devices, 'vehicle')} (${kindWords[result.kind]}), ${result.durationS} s, seed ${JSON.stringify(result.seed)}, ${result.isPassed ? 'passed' : 'FAILED'}, ${result.startedAt}`;
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

/** A larger file is none of ours. */
const reportCharactersMost = 32 * 1024 * 1024;

/** A result from the text of a JSON report. @throws AppError `config` that names the file and what is wrong in it. */
export function parseResult(text: string, file: string): RunResult {
  let value: unknown = null;
  try {
    if (text.length <= reportCharactersMost) value = JSON.parse(text);
  } catch {
    // Said below.
  }
  if (Check(resultSchema, value)) return value as unknown as RunResult;
  const [first] = Errors(resultSchema, value);
  const words = `${file} is no report of \`fleetward-simulator run --json\``;
  if (value === null || first === undefined) throw new AppError('config', words);
  throw new AppError('config', `${words}: ${first.instancePath || '/'} ${first.message}`, {
    hint: 'An older version wrote others: run it again.',
  });
}
