// Checks a scenario: first by its schema, then by the rules that the schema cannot express. Nothing is repaired or ignored: a misspelt key is
// a fault that names its place.
import { Default, Errors } from 'typebox/value';
import type { ErrorDetail } from '../../../src/core/errors.ts';
import { nearestWord } from '../../../src/core/nearest-word.ts';
import { countOf } from '../text/number-text.ts';
import { phasesOf } from './ramp.ts';
import { type Fault, type FaultKind, type Scenario, scenarioSchema } from './scenario-schema.ts';
import { parseThreshold } from './thresholds.ts';

export type ScenarioVerdict =
  | { readonly kind: 'ok'; readonly scenario: Scenario }
  | { readonly kind: 'faults'; readonly faults: readonly ErrorDetail[] };

type Table = Readonly<Record<string, unknown>>;

/** Merges the values of command line flags into a scenario, table by table. */
export function overlay(base: Table, change: Table): Table {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(change)) {
    const before = merged[key];
    const areTables = isTable(before) && isTable(value);
    if (value !== undefined) merged[key] = areTables ? overlay(before, value) : value;
  }
  return merged;
}

const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: unknown;
}

/** Member behind these names in the schema or a scenario: tables by key, lists by number. */
function memberAt(root: unknown, names: readonly string[]): unknown {
  return names.reduce<unknown>((at, name) => {
    if (Array.isArray(at)) return at[Number(name)];
    if (!isTable(at)) return undefined;
    if (at['type'] === 'array') return at['items'];
    return isTable(at['properties']) ? at['properties'][name] : at[name];
  }, root);
}

function suggestion(word: string, known: readonly string[]): string {
  const near = nearestWord(word, known);
  return near === null ? '' : `; did you mean ${JSON.stringify(near)}?`;
}

/** As text; an unknown key is reported at its own place, and not once more at that of its table. */
function textOf(
  { keyword, params, message, instancePath: pointer }: SchemaError,
  value: unknown,
): readonly ErrorDetail[] {
  const names = pointer.split('/').slice(1);
  if (keyword === 'additionalProperties') return [];
  if (keyword === 'boolean') {
    const table = memberAt(scenarioSchema, names.slice(0, -1));
    const known = isTable(table) && isTable(table['properties']) ? Object.keys(table['properties']) : [];
    return [{ pointer, message: `there is no such key${suggestion(names.at(-1) ?? '', known)}` }];
  }
  if (isTable(params) && keyword === 'enum') {
    const allowed: unknown = params['allowedValues'];
    const texts = Array.isArray(allowed) ? allowed.map(String) : [];
    const given = memberAt(value, names);
    const hint = typeof given === 'string' ? suggestion(given, texts) : '';
    return [{ pointer, message: `must be one of ${texts.join(', ')}${hint}` }];
  }
  return [{ pointer, message }];
}

/** Faults that light trackers can have. */
const trackerFaults: readonly FaultKind[] = [
  'link-outage',
  'link-half-open',
  'link-delay',
  'link-loss',
  'reconnect-storm',
  'broker-kill',
];

export const isTrackerFault = ({ kind }: Pick<Fault, 'kind'>): boolean => trackerFaults.includes(kind);

/** Faults of the bus of a truck, or of its adapter. */
export const isBusFault = ({ kind }: Pick<Fault, 'kind'>): boolean => kind.startsWith('bus-');

function thresholdFaults(texts: readonly string[], place: string): readonly ErrorDetail[] {
  return texts.flatMap((text, index) => {
    const parsed = parseThreshold(text);
    return parsed.kind === 'fault' ? [{ pointer: `${place}/${index}`, message: parsed.message }] : [];
  });
}

function rampFaults({ ramp, fleet, durationS }: Scenario): readonly ErrorDetail[] {
  if (ramp === undefined) return [];
  const { of, from, to, steps, stepS, settleS, thresholds } = ramp;
  const wrong = (isWrong: boolean, key: string, message: string): readonly ErrorDetail[] =>
    isWrong ? [{ pointer: `/ramp/${key}`, message }] : [];
  return [
    ...wrong(from >= to, 'to', 'a ramp goes up: more than /ramp/from'),
    ...wrong(
      of === 'devices' && to > fleet.devices,
      'to',
      `the fleet has ${countOf(fleet.devices, 'vehicle')}`,
    ),
    ...wrong(of === 'rate' && to > 100, 'to', 'the rate goes up to 100 times'),
    ...wrong(settleS >= stepS, 'settleS', 'a step has to be measured: less than /ramp/stepS'),
    ...wrong(
      steps * stepS > durationS,
      'steps',
      `${steps * stepS} s of steps, but the run ends at ${durationS} s`,
    ),
    ...thresholdFaults(thresholds, '/ramp/thresholds'),
  ];
}

/** The rules that the schema cannot express. */
function rulesOf(scenario: Scenario): readonly ErrorDetail[] {
  const faults: ErrorDetail[] = [];
  const fault = (pointer: string, message: string): void => void faults.push({ pointer, message });
  let before = { atS: -1, share: 0 };
  for (const [index, phase] of scenario.phases.entries()) {
    const at = `/phases/${index}`;
    if (phase.atS <= before.atS) fault(`${at}/atS`, 'phases must stand in the order of their time');
    if (phase.share < before.share)
      fault(`${at}/share`, 'vehicles are not taken off the road again: share only grows');
    if (phase.atS >= scenario.durationS) fault(`${at}/atS`, 'begins when the run has ended');
    before = phase;
  }
  if (!scenario.phases.some(({ share }) => share > 0))
    fault('/phases', 'no phase puts a vehicle on the road');
  for (const [index, { atS, forS, kind }] of scenario.faults.entries()) {
    const endS = kind === 'clock-jump' ? atS : atS + forS;
    if (atS >= scenario.durationS) fault(`/faults/${index}/atS`, 'begins when the run has ended');
    else if (endS > scenario.durationS)
      fault(`/faults/${index}/forS`, `lasts until ${endS} s, but the run ends at ${scenario.durationS} s`);
  }
  for (const action of ['tamperPerHour', 'powerCutPerHour'] as const)
    if (scenario.fleet.wiring === 'positive' && scenario.actions[action] > 0)
      fault(`/actions/${action}`, 'the positive wiring takes the place of this contact: 0');
  for (const [index, { kind }] of scenario.faults.entries())
    if (scenario.fleet.kind === 'tracker' && !trackerFaults.includes(kind))
      fault(`/faults/${index}/kind`, `a light tracker knows ${trackerFaults.join(', ')} only`);
  for (const [index, { kind }] of scenario.faults.entries())
    if (scenario.fleet.kind === 'agent' && scenario.fleet.busShare === 0 && isBusFault({ kind }))
      fault(`/faults/${index}/kind`, 'no vehicle has a bus: /fleet/busShare above 0');
  const asked = [...Object.values(scenario.actions), scenario.commands.perMinute];
  if (scenario.fleet.kind === 'tracker' && asked.some((rate) => rate > 0))
    fault(
      '/fleet/kind',
      'a light tracker has no inputs and takes no commands: leave out actions and commands',
    );
  if (scenario.fleet.kind === 'tracker' && scenario.fleet.busShare > 0)
    fault('/fleet/busShare', 'a light tracker has no bus: 0');
  return [...faults, ...thresholdFaults(scenario.thresholds, '/thresholds'), ...rampFaults(scenario)];
}

/** A schema in which only members without a default are required. */
function withoutDefaults(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutDefaults);
  if (!isTable(schema)) return schema;
  const { properties, required } = schema;
  const copy = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, withoutDefaults(value)]),
  );
  if (!isTable(properties) || !Array.isArray(required)) return copy;
  const isNeeded = (name: unknown): boolean => {
    const member = properties[String(name)];
    return !isTable(member) || !('default' in member);
  };
  return { ...copy, required: required.filter(isNeeded) };
}

/** JSON Schema of a scenario file, for the completion of an editor. */
export function editorSchema(): unknown {
  return withoutDefaults(JSON.parse(JSON.stringify(scenarioSchema)));
}

/** A ramp of vehicles is carried out as phases. */
function withRampPhases(scenario: Scenario): Scenario {
  const { ramp, fleet } = scenario;
  const phases = ramp === undefined ? null : phasesOf(ramp, fleet.devices);
  return phases === null ? scenario : { ...scenario, phases: [...phases] };
}

/** Checks the value of a file and fills in defaults. */
export function checkScenario(value: unknown): ScenarioVerdict {
  // Default writes into its argument.
  const filled: unknown = Default(scenarioSchema, JSON.parse(JSON.stringify(value ?? {})));
  const errors = Errors(scenarioSchema, filled).flatMap((error) => textOf(error as SchemaError, filled));
  if (errors.length > 0) return { kind: 'faults', faults: errors };
  const scenario = withRampPhases(filled as Scenario);
  const faults = rulesOf(scenario);
  return faults.length > 0 ? { kind: 'faults', faults } : { kind: 'ok', scenario };
}
