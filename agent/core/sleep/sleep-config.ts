// The table `[sleep]` of agent.toml: whether a parked unit suspends its machine. It cannot be changed remotely. Off unless `afterS` is set.
import { type Static, Type } from 'typebox';
import { numberSetting } from '../../../src/core/settings/kinds.ts';
import type { SleepConfig } from './sleep.ts';

/** A shorter time would suspend a vehicle whose driver is at the pump. */
const afterLeastS = 60;

export const sleepSchema = Type.Object({
  afterS: Type.Optional(
    Type.Number({
      minimum: afterLeastS,
      maximum: 86_400,
      description:
        'The machine is suspended when the ignition was off this long and nothing is to be done; without it the unit never sleeps. Needs fleetward-agent-sleep.path',
    }),
  ),
  wakeS: numberSetting(
    { low: 60, high: 86_400, standard: 3600 },
    'It wakes by itself after this, in seconds; not every clock chip reaches a day',
  ),
  awakeS: numberSetting(
    { low: 60, high: 3600, standard: 120 },
    'It stays awake at least this long after each start, in seconds: for a position, stored events and commands',
  ),
});

/** The settings as the vehicle takes them; null: it never sleeps. */
export function sleepConfigOf(file: Static<typeof sleepSchema> | undefined): SleepConfig | null {
  if (file?.afterS === undefined) return null;
  return { afterMs: file.afterS * 1000, awakeMs: file.awakeS * 1000, wakeS: file.wakeS };
}

/** The settings in one line, for `config check` and the log. */
export function describeSleep({ afterMs, awakeMs, wakeS }: SleepConfig): string {
  return `${afterMs / 1000} s after ignition off, for ${wakeS} s at a time, awake for ${awakeMs / 1000} s`;
}

/** What is lost while the machine is suspended. */
export const sleepWarnings: readonly string[] = [
  'while the unit sleeps nothing is read and nothing sent: a panic button, an opened door, a tow or a cut supply is not seen before it wakes, and not at all if it is over by then',
  'a command that is given meanwhile reaches the unit when it wakes, and a cut then waits until standstill is proven anew',
];
