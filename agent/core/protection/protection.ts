// What the installer alone decides about the engine cut-off and the cargo lock: the table `[protection]` of agent.toml,
// its defaults, and which combinations make no sense. It is not part of the settings that people may tune remotely, and
// it must never hold a value that weakens a limit of `interlock.ts`.
import { type Static, Type } from 'typebox';
import { Create } from 'typebox/value';
import type { ErrorDetail } from '../../../src/core/errors.ts';
import type { AttributeValue } from '../../../src/core/event.ts';
import { numberSetting, switchSetting } from '../../../src/core/settings/kinds.ts';
import type { BoardProfile } from '../board/board-profile.ts';
import { evidenceLimits } from './evidence.ts';
import { type CutMode, createRules, type InterlockRules, interlockLimits } from './interlock.ts';

/** A delay in seconds that may only be longer than its rule. */
const delay = (leastMs: number, description: string) =>
  numberSetting({ low: leastMs / 1000, high: 3600, standard: leastMs / 1000 }, description);

export const protectionSchema = Type.Object({
  cutMode: Type.Enum(['ignition_off', 'at_standstill', 'below_speed'], {
    default: 'ignition_off',
    description:
      'When a cut may happen: with ignition off; also with ignition on at standstill; also below a speed',
  }),
  cutBelowKmh: Type.Optional(
    Type.Number({
      minimum: evidenceLimits.standstillKmh,
      maximum: interlockLimits.ceilingKmh,
      description: 'The speed of cutMode below_speed, in km/h; the code has the same ceiling',
    }),
  ),
  circuit: Type.Enum(['starter', 'ignition', 'pump'], {
    default: 'starter',
    description: 'What the cut-off relay interrupts: it limits the modes that make sense',
  }),
  noGnss: Type.Enum(['ignition_off_only', 'wait'], {
    default: 'ignition_off_only',
    description: 'Without a position: ignition off and a motion sensor will do, or nothing at all',
  }),
  ignitionOffS: delay(interlockLimits.ignitionOffMs, 'Ignition must be off this long before a cut'),
  ignitionOffNoFixS: delay(interlockLimits.ignitionOffNoFixMs, '... and this long without a position'),
  standstillS: delay(interlockLimits.standstillMs, 'Standstill must last this long'),
  belowS: delay(interlockLimits.belowMs, 'The speed must stay below cutBelowKmh this long'),
  warningS: delay(
    interlockLimits.warningMs,
    'The warning output sounds this long before a cut with ignition on',
  ),
  hdopMost: numberSetting(
    { low: 1, high: evidenceLimits.hdop, standard: evidenceLimits.hdop },
    'A fix with a higher HDOP proves nothing',
  ),
  zoneCuts: switchSetting(false, 'Geozones may cut the engine, with ignition off only'),
  unlockZones: Type.Enum(['never', 'allowed'], {
    default: 'never',
    description: 'Whether an unlock zone stands for standstill when the cargo is to be unlocked',
  }),
  unlockS: numberSetting({ low: 5, high: 300, standard: 30 }, 'The cargo lock closes again after this long'),
});

export type Protection = Static<typeof protectionSchema>;

/** What holds where the installer chose nothing: prevent start. */
export const standardProtection: Protection = Create(protectionSchema);

/**
 * Modes by circuit. A starter relay cannot stop a running engine, so a speed means nothing to it. In the ignition circuit a
 * cut takes brake servo, steering help and airbags with the engine: there it may only ever meet a vehicle that stands. A
 * pump lets the engine die slowly with ignition on, so all modes are left to it, under the ceiling. Any other place is
 * unsafe (edge-agents 2.1, I8) and has no name here.
 */
const modesOf: Readonly<Record<Protection['circuit'], readonly CutMode[]>> = {
  starter: ['ignition_off', 'at_standstill'],
  ignition: ['ignition_off', 'at_standstill'],
  pump: ['ignition_off', 'at_standstill', 'below_speed'],
};

/** Combinations that make no sense or cannot work, each with its place and what to do; none when all is good. */
export function protectionFaults(
  protection: Protection,
  profile: Pick<BoardProfile, 'inputs' | 'relays' | 'outputs'>,
): readonly ErrorDetail[] {
  const { cutMode, circuit, cutBelowKmh } = protection;
  const faults: ErrorDetail[] = [];
  const fault = (name: keyof Protection, message: string): void =>
    void faults.push({ pointer: `/${name}`, message });
  if (!modesOf[circuit].includes(cutMode))
    fault('cutMode', `${cutMode} is not for the ${circuit} circuit; use ${modesOf[circuit].join(' or ')}`);
  if (cutMode === 'below_speed' && cutBelowKmh === undefined)
    fault('cutBelowKmh', 'below_speed needs it: 3 to 20 km/h');
  if (cutMode !== 'below_speed' && cutBelowKmh !== undefined)
    fault('cutBelowKmh', `means nothing with ${cutMode}: take it out, or use below_speed`);
  if (cutMode !== 'ignition_off' && profile.relays.enginecutoff === undefined)
    fault('cutMode', 'the board profile has no relay enginecutoff: leave ignition_off');
  if (cutMode !== 'ignition_off' && profile.outputs?.warning === undefined)
    fault(
      'cutMode',
      `${cutMode} needs a warning output: wire one and name it in board.overrides.outputs.warning`,
    );
  if (cutMode !== 'ignition_off' && profile.inputs.ignition === undefined)
    fault('cutMode', `${cutMode} needs the input ignition`);
  return faults;
}

/** The rules for the interlock. */
export function rulesOf(protection: Protection, profile: Pick<BoardProfile, 'inputs'>): InterlockRules {
  return createRules({
    cutMode: protection.cutMode,
    ...(protection.cutBelowKmh === undefined ? {} : { cutBelowKmh: protection.cutBelowKmh }),
    noGnss: protection.noGnss,
    ignitionOffMs: protection.ignitionOffS * 1000,
    ignitionOffNoFixMs: protection.ignitionOffNoFixS * 1000,
    standstillMs: protection.standstillS * 1000,
    belowMs: protection.belowS * 1000,
    warningMs: protection.warningS * 1000,
    hdopMost: protection.hdopMost,
    zoneCuts: protection.zoneCuts,
    unlockZones: protection.unlockZones === 'allowed',
    unlockMs: protection.unlockS * 1000,
    isPanicFitted: profile.inputs.panic !== undefined,
  });
}

/** The effective mode, for the record: who looks at a cut later wants to know by which rules it was made. */
export function describeProtection(protection: Protection): Readonly<Record<string, AttributeValue>> {
  const { cutMode, cutBelowKmh, circuit, noGnss, zoneCuts, unlockZones } = protection;
  return {
    cutMode,
    ...(cutBelowKmh === undefined ? {} : { cutBelowKmh }),
    circuit,
    noGnss,
    zoneCuts,
    unlockZones,
  };
}
