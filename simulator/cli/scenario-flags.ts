// Applies flags to the scenario of a run: another size, duration, rate, seed or kind of vehicle. What a change leaves out is printed.
import { AppError } from '../../src/core/errors.ts';
import { isTrackerFault } from '../core/scenario/scenario.ts';
import type { Fault, Scenario } from '../core/scenario/scenario-schema.ts';
import { countOf } from '../core/text/number-text.ts';
import { listPresets, type NamedScenario, openScenario, readScenario } from '../scenario-files.ts';

export interface ScenarioFlags {
  readonly scenario: string;
  readonly devices?: number | undefined;
  readonly kind?: Scenario['fleet']['kind'] | undefined;
  /** Seconds. */
  readonly duration?: number | undefined;
  /** Times as often. */
  readonly rate?: number | undefined;
  readonly seed?: string | undefined;
  readonly threshold: readonly string[];
}

type Print = (text: string) => void;

/** Checks a flag that takes one number. @throws AppError `usage`. */
export function assertNumber(
  flag: string,
  value: unknown,
  limits: { low: number; high: number; isWhole: boolean },
) {
  if (value === undefined) return;
  const { low, high, isWhole } = limits;
  const isNumber = typeof value === 'number' && (isWhole ? Number.isInteger(value) : Number.isFinite(value));
  if (isNumber && value >= low && value <= high) return;
  throw new AppError('usage', `--${flag} takes one ${isWhole ? 'whole ' : ''}number from ${low} to ${high}`);
}

function withRate(scenario: Scenario, rate: number | undefined): Scenario {
  if (rate === undefined) return scenario;
  return { ...scenario, phases: scenario.phases.map((phase) => ({ ...phase, rate: phase.rate * rate })) };
}

/** Whether all faults of a scenario need hardware. */
const needsHardware = ({ fleet, faults }: Scenario): boolean =>
  fleet.kind === 'agent' && faults.length > 0 && !faults.some(isTrackerFault);

/** Presets that light trackers can run. */
async function trackerPresets(): Promise<readonly string[]> {
  const names = await listPresets();
  const all = await Promise.all(names.map((name) => readScenario(name)));
  return all.filter(({ scenario }) => !needsHardware(scenario)).map(({ name }) => name);
}

/** Leaves out what needs hardware. @throws AppError `config` where no fault is left. */
async function forTrackers(name: string, base: Scenario, print: Print) {
  if (needsHardware(base)) {
    throw new AppError(
      'config',
      `${name} cannot be run with --kind tracker: light trackers have no hardware`,
      {
        hint: `Choose one of ${(await trackerPresets()).join(', ')}.`,
      },
    );
  }
  const hasActions = Object.values(base.actions).some((rate) => rate > 0);
  const hasCommands = base.commands.perMinute > 0;
  const lost = base.faults.filter((fault) => !isTrackerFault(fault)).length;
  const left = [
    ...(hasActions ? ['actions'] : []),
    ...(hasCommands ? ['commands'] : []),
    ...(lost > 0 ? [countOf(lost, 'fault')] : []),
  ];
  if (left.length > 0)
    print(`Left out, because light trackers have no hardware: ${left.join(', ')} of ${name}`);
  return {
    actions: Object.fromEntries(Object.keys(base.actions).map((kind) => [kind, 0])),
    commands: { perMinute: 0 },
    faults: base.faults.filter(isTrackerFault),
  };
}

function shortened(
  name: string,
  of: { readonly base: Scenario; readonly faults: readonly Fault[]; readonly durationS: number },
  print: Print,
) {
  const { base, faults, durationS } = of;
  const kept = faults.filter(({ atS, forS }) => atS + forS <= durationS && atS < durationS);
  const left = faults.length - kept.length;
  if (left > 0) print(`Left out, because ${durationS} s are too short: ${countOf(left, 'fault')} of ${name}`);
  return { phases: base.phases.filter(({ atS }) => atS < durationS), faults: kept, durationS };
}

/** The scenario that the flags name, changed as they say. @throws AppError `usage` or `config`. */
export async function scenarioOf(flags: ScenarioFlags, print: Print): Promise<NamedScenario> {
  const { scenario: name, devices, kind, duration: durationS, seed, threshold } = flags;
  assertNumber('devices', devices, { low: 1, high: 200_000, isWhole: true });
  assertNumber('duration', durationS, { low: 5, high: 604_800, isWhole: false });
  assertNumber('rate', flags.rate, { low: 0, high: 100, isWhole: false });
  if (seed !== undefined && typeof seed !== 'string') throw new AppError('usage', '--seed is given once');
  const file = await openScenario(name);
  const { scenario: base } = file.check();
  const light = kind === 'tracker' && base.fleet.kind === 'agent' ? await forTrackers(name, base, print) : {};
  const { faults = base.faults } = light as { readonly faults?: readonly Fault[] };
  const change = {
    ...light,
    ...(durationS === undefined ? {} : shortened(name, { base, faults, durationS }, print)),
    fleet: { ...(devices === undefined ? {} : { devices }), ...(kind === undefined ? {} : { kind }) },
    ...(seed === undefined ? {} : { seed }),
    ...(threshold.length === 0 ? {} : { thresholds: [...base.thresholds, ...threshold] }),
  };
  const checked = file.check(change);
  return { name: checked.name, scenario: withRate(checked.scenario, flags.rate) };
}
