// Outcomes of a run's commands by feature and state, with their times: until the relay's contact moved, and until the vehicle
// stored its final report. Pure.
import {
  type CommandState,
  type FeatureName,
  type FeatureState,
  featureNames,
} from '../../../src/core/events/event.ts';
import type { Ledger } from './ledger.ts';
import type { CommandNote } from './ledger-types.ts';

export interface CommandTimes {
  readonly p50: number;
  readonly max: number;
  readonly count: number;
}

export interface CommandOutcome {
  readonly feature: FeatureName;
  readonly state: FeatureState;
  readonly requested: number;
  /** Number of commands by final state in the broker's ledger; `unread`: never read. */
  readonly ends: Readonly<Record<string, number>>;
  /** From the request to the first move of the relay, ms; null: none moved. */
  readonly relayMs: CommandTimes | null;
  /** From the request to the vehicle's report of the end, ms; null: there is none. */
  readonly reportMs: CommandTimes | null;
}

const endStates: ReadonlySet<CommandState> = new Set([
  'confirmed',
  'refused',
  'expired',
  'superseded',
  'cancelled',
]);

function timesOf(ms: readonly number[]): CommandTimes | null {
  const sorted = [...ms].sort((a, b) => a - b);
  const p50 = sorted[Math.ceil(sorted.length / 2) - 1];
  const max = sorted.at(-1);
  return p50 === undefined || max === undefined ? null : { p50, max, count: sorted.length };
}

const known = (values: readonly (number | null)[]): readonly number[] =>
  values.filter((value) => value !== null);

function relayMs({ vehicles }: Ledger, { deviceID, commandID, requestedMs }: CommandNote): number | null {
  const moved = vehicles.get(deviceID)?.contacts.find(({ token }) => token === `drive:${commandID}`);
  return moved === undefined ? null : Math.max(0, moved.atMs - requestedMs);
}

function reportMs({ vehicles }: Ledger, { deviceID, commandID, requestedMs }: CommandNote): number | null {
  const report = vehicles
    .get(deviceID)
    ?.reports.findLast((one) => one.commandID === commandID && endStates.has(one.state));
  return report === undefined ? null : Math.max(0, report.storedMs - requestedMs);
}

const ordered = featureNames.flatMap((feature) => [
  { feature, state: '1' as const },
  { feature, state: '0' as const },
]);

/** Those that were given, by feature and state. */
export function commandOutcomes(ledger: Ledger): readonly CommandOutcome[] {
  const all = [...ledger.commands.values()];
  return ordered.flatMap(({ feature, state }) => {
    const commands = all.filter((one) => one.feature === feature && one.state === state);
    if (commands.length === 0) return [];
    const ends: Record<string, number> = {};
    for (const { endState } of commands) ends[endState ?? 'unread'] = (ends[endState ?? 'unread'] ?? 0) + 1;
    return [
      {
        feature,
        state,
        requested: commands.length,
        ends,
        relayMs: timesOf(known(commands.map((command) => relayMs(ledger, command)))),
        reportMs: timesOf(known(commands.map((command) => reportMs(ledger, command)))),
      },
    ];
  });
}
