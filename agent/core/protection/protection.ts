// The installer's choices for engine cut-off and cargo lock: the table `[protection]` of agent.toml, its defaults, and invalid combinations. They are
// not among the settings that can be changed remotely. They must never hold a value that weakens a limit of `interlock.ts`.
import { type Static, Type } from 'typebox';
import { Create } from 'typebox/value';
import type { ErrorDetail } from '../../../src/core/errors.ts';
import type { AttributeValue } from '../../../src/core/events/event.ts';
import { numberSetting, switchSetting } from '../../../src/core/settings/kinds.ts';
import type { BoardProfile } from '../board/board-profile.ts';
import { gnssLimits } from '../evidence/gnss-standing.ts';
import { createRules, type InterlockRules, interlockLimits } from './interlock-rules.ts';

/** A delay in seconds, at least as long as its rule demands. */
const delay = (leastMs: number, description: string) =>
  numberSetting({ low: leastMs / 1000, high: 3600, standard: leastMs / 1000 }, description);

export const protectionSchema = Type.Object({
  cutMode: Type.Enum(['ignition_off', 'at_standstill'], {
    default: 'ignition_off',
    description:
      'When a cut may happen: with ignition off; also with ignition on at proven standstill (circuit starter only)',
  }),
  circuit: Type.Enum(['starter', 'ignition', 'fuel'], {
    default: 'starter',
    description:
      'What the cut-off relay interrupts. starter cannot stop a running engine and is the safest; ignition and fuel can, so the stricter proof applies',
  }),
  noGnss: Type.Enum(['ignition_off_only', 'wait'], {
    default: 'ignition_off_only',
    description:
      'Without a position: ignition off and a motion input, both proven, will do; or nothing at all. Circuits ignition and fuel always wait',
  }),
  ignitionOffS: delay(interlockLimits.ignitionOffMs, 'Ignition must be off this long before a cut'),
  ignitionOffNoFixS: delay(interlockLimits.ignitionOffNoFixMs, '... and this long without a position'),
  standstillS: delay(interlockLimits.standstillMs, 'Standstill must last this long'),
  warningS: delay(
    interlockLimits.warningMs,
    'The warning output sounds this long before a cut with ignition on',
  ),
  hdopMost: numberSetting(
    { low: 1, high: gnssLimits.hdop, standard: gnssLimits.hdop },
    'A fix with a higher HDOP proves nothing',
  ),
  zoneCuts: switchSetting(false, 'Geozones may cut the engine, with ignition off only'),
  unlockS: numberSetting({ low: 5, high: 300, standard: 30 }, 'The cargo lock closes again after this long'),
});

export type Protection = Static<typeof protectionSchema>;

/** Defaults without a choice of the installer: prevent start. */
export const standardProtection: Protection = Create(protectionSchema);

/**
 * True when the relay can stop a running engine. In the ignition circuit a cut removes brake servo, steering help and airbags with the engine; a fuel
 * pump stops the engine slowly. Any other place is unsafe (edge-agents 2.1, I8) and has no name here.
 */
const canStopEngine = ({ circuit }: Pick<Protection, 'circuit'>): boolean => circuit !== 'starter';

/** Combinations that are contradictory or cannot work, each with its place and the remedy; empty: none. */
export function protectionFaults(
  protection: Protection,
  profile: Pick<BoardProfile, 'inputs' | 'relays' | 'outputs'>,
): readonly ErrorDetail[] {
  const { cutMode, circuit } = protection;
  const faults: ErrorDetail[] = [];
  const fault = (name: keyof Protection, message: string): void =>
    void faults.push({ pointer: `/${name}`, message });
  if (cutMode !== 'ignition_off' && canStopEngine(protection))
    fault(
      'cutMode',
      `${cutMode} in the ${circuit} circuit could stop the engine of a vehicle that is just setting off: leave ignition_off, or wire the starter circuit`,
    );
  if (cutMode !== 'ignition_off' && profile.relays.enginecutoff === undefined)
    fault('cutMode', 'the board profile has no relay enginecutoff: leave ignition_off');
  if (cutMode !== 'ignition_off' && profile.outputs?.warning === undefined)
    fault(
      'cutMode',
      `${cutMode} needs a warning output: wire one and name it in board.overrides.outputs.warning`,
    );
  if (cutMode !== 'ignition_off' && profile.inputs.ignition === undefined)
    fault('cutMode', `${cutMode} needs the input ignition`);
  if (cutMode !== 'ignition_off' && profile.inputs.motion === undefined)
    fault(
      'cutMode',
      `${cutMode} needs two independent witnesses of standstill: wire a motion input and name it in board.overrides.inputs.motion`,
    );
  return faults;
}

export function rulesOf(protection: Protection, profile: Pick<BoardProfile, 'inputs'>): InterlockRules {
  return createRules({
    cutMode: protection.cutMode,
    canStopEngine: canStopEngine(protection),
    noGnss: protection.noGnss,
    ignitionOffMs: protection.ignitionOffS * 1000,
    ignitionOffNoFixMs: protection.ignitionOffNoFixS * 1000,
    standstillMs: protection.standstillS * 1000,
    warningMs: protection.warningS * 1000,
    hdopMost: protection.hdopMost,
    zoneCuts: protection.zoneCuts,
    unlockMs: protection.unlockS * 1000,
    isPanicFitted: profile.inputs.panic !== undefined,
  });
}

/** The effective mode for the record, which later shows the rules of a cut. */
export function describeProtection(protection: Protection): Readonly<Record<string, AttributeValue>> {
  const { cutMode, circuit, zoneCuts } = protection;
  const noGnss = canStopEngine(protection) ? 'wait' : protection.noGnss;
  return { cutMode, circuit, noGnss, zoneCuts };
}
