// Text of an interlock verdict, for a log line, a status page or an answer of the HTTP service. No code parses it.
import { allowed, type RuleFinding, type RuleName, type Verdict } from './verdict.ts';
import type { WitnessName, WitnessState } from './witness.ts';

// Maps, because keys come from a vehicle and a plain object has inherited names, such as `constructor`.
const mapOf = <T>(members: Readonly<Record<string, T>>): ReadonlyMap<unknown, T> =>
  new Map(Object.entries(members));

const standstillTexts = mapOf({
  no_fix: 'There is no position',
  fix_old: 'The last position is too old',
  fix_void: 'The receiver reports no fix',
  fix_mode: 'The position is not a measurement',
  fix_time: 'The receiver gives no time',
  fix_speed: 'The receiver gives no speed',
  fix_late: 'The position is late: its stream lags, or the time of the broker is ahead',
  unsteady: 'The position wanders too much to show standstill',
  hdop: 'The position is not precise enough',
  doubtful: 'The position is doubtful',
  few_fixes: 'Too few positions in a row',
  moving: 'The vehicle moves',
  frozen: 'The receiver repeats one and the same position',
  no_stop_seen: 'No stop was observed; the vehicle must stand longer',
  motion_unproven: 'There is no position, and no proven motion input that shows standstill',
  motion_active: 'The motion input reports movement',
  motion_quiet_s: 'The motion input has not been quiet for long enough',
});

/** Values of the unmet rule `standstill`; a newer vehicle may send others. */
export const standstillFaults: readonly string[] = [...standstillTexts.keys()].map(String);

/** Reason why the receiver or the motion input does not prove standstill, from the value of the rule `standstill`. */
export function standstillText(value: unknown): string {
  return standstillTexts.get(value) ?? 'Standstill is not proven';
}

const witnessNames = mapOf({
  gnss: 'GNSS',
  motion: 'the motion input',
  ignition: 'the ignition input',
  rpm: 'engine speed',
  voltage: 'the supply voltage',
} satisfies Record<WitnessName, string>);

const stateTexts = mapOf({
  absent: 'is not fitted',
  unproven: 'is not proven on this vehicle yet',
  stale: 'may have missed a drive, and must be proven by the next one',
  contradicted: 'was contradicted by another sensor',
  suspended: 'must be seen active once more',
  silent: 'gives no reading',
  active: 'shows movement or a running engine',
} satisfies Record<Exclude<WitnessState, 'proven'> | 'silent' | 'active', string>);

/** Outcome of the last order of a relay, as a vehicle reports it in `relay_follows`. */
const orderEnds = mapOf({
  refused: 'the board refused its last order',
  mismatch: 'its read-back differs from its last order',
});

/** Single fault that explains all agreeing witnesses; any other value is the supply of the contacts. */
const commonTexts = mapOf({
  board: 'The sensors that agree are read by one I/O board, which may repeat old values',
});

const witnessPrefix = 'witness_';
const numberOr = (value: RuleFinding['value'], otherwise: string): string =>
  Number.isFinite(value) ? String(value) : otherwise;
const secondsOf = (value: RuleFinding['value']): string => `${numberOr(value, 'the required')} s`;
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function ignitionText(value: RuleFinding['value']): string {
  if (value === 'on') return 'Ignition is on';
  if (value === 'contradicted') return 'Ignition reads off, but another sensor contradicted it';
  if (value === 'unsteady')
    return 'Ignition was switched too often: it counts after a minute off while a position shows a standstill, or 15 s on';
  return value === 'suspended'
    ? 'Ignition reads off, but must be seen on once before that counts'
    : 'Ignition is unknown';
}

type Text = (finding: RuleFinding) => string;

const texts = mapOf<Text>({
  storage: () => 'The storage does not work',
  relay_follows: ({ value }) =>
    `The relay did not follow: ${orderEnds.get(value) ?? 'how its last order ended is unknown'}`,
  board_alive: () => 'The I/O board is silent',
  time_known: ({ value }) =>
    value === 'behind'
      ? 'The clock is behind the newest trusted time'
      : value === 'unconfirmed'
        ? 'The time since the restart is not confirmed, so expiry cannot be judged'
        : 'The time is unknown, so expiry cannot be judged',
  change_interval_s: ({ needed }) => `The relay changed less than ${secondsOf(needed)} ago`,
  changes_per_hour: ({ value }) =>
    `The relay changed ${numberOr(value, 'too many')} times within the last hour; send the command again to insist`,
  automation_enabled: () => 'Automatic cuts are switched off',
  panic_calm_s: ({ value }) => (value === null ? 'Panic is active' : 'Panic was active or unknown recently'),
  ignition_off: ({ value }) => ignitionText(value),
  ignition_off_s: ({ needed }) => `Ignition has been off for less than ${secondsOf(needed)}`,
  no_movement: ({ value }) =>
    `${capital(value === 'bus' ? 'the vehicle bus' : (witnessNames.get(value) ?? 'a sensor'))} reports movement`,
  speed_kmh: ({ value }) =>
    Number.isFinite(value) ? `The vehicle moves at ${Math.round(Number(value))} km/h` : 'Speed is unknown',
  engine_at_rest: ({ value }) =>
    value === 'voltage'
      ? 'The supply voltage shows a charging alternator'
      : value === 'bus'
        ? 'The vehicle bus shows a running engine'
        : 'The engine turns',
  no_position_allowed: () => 'There is no position, and this vehicle waits for one',
  position_trusted_s: () => 'The position was doubtful recently',
  standstill: ({ value }) => standstillText(value),
  standstill_s: ({ needed }) => `Standing for less than ${secondsOf(needed)}`,
  witnesses: ({ value, needed }) =>
    `${numberOr(value, 'Too few')} of ${numberOr(needed, 'the required')} proven independent sensors agree`,
  warning_output: ({ value }) =>
    value === 'absent' ? 'No warning output is fitted' : 'The warning output does not follow',
  warning_s: ({ needed }) => `The warning sounds for ${secondsOf(needed)} first`,
  common_cause: ({ value }) =>
    commonTexts.get(value) ?? 'The sensors that agree share one supply of their contacts, which may be lost',
  fix_age_ms: () => 'It is decided at the next position',
  rising_kmh: () => 'The newest position is faster than the one before: it is decided at the next one',
  input_age_ms: () => 'It is decided at the next reading of the inputs',
} satisfies Record<Exclude<RuleName, `witness_${WitnessName}`>, Text>);

/** One unmet rule as a sentence without a full stop. A rule of a newer vehicle appears by its name. */
export function ruleText(finding: RuleFinding): string {
  const { rule, value } = finding;
  if (!rule.startsWith(witnessPrefix)) return texts.get(rule)?.(finding) ?? `Rule ${rule} is not met`;
  const name = witnessNames.get(rule.slice(witnessPrefix.length)) ?? rule;
  return `${capital(name)} ${stateTexts.get(value) ?? 'is not proven'}`;
}

/** Maximum number of sentences for one verdict; more would hide the important one. All rules are in the data. */
const sentencesMost = 3;

/** Reasons why a change waits, most important first; '' when it is allowed. */
export function verdictText({ code, rules }: Verdict): string {
  if (code === allowed) return '';
  const isSpeedShown = rules.some(({ rule, isMet }) => rule === 'speed_kmh' && !isMet);
  // A speed is more precise than "the vehicle moves".
  const unmet = rules.filter(
    ({ rule, isMet, value }) => !isMet && !(isSpeedShown && rule === 'standstill' && value === 'moving'),
  );
  const first = unmet.filter(({ rule }) => rule === code);
  const others = unmet.filter(({ rule }) => rule !== code);
  return unmet.length === 0
    ? `Rule ${code} is not met`
    : [...first, ...others].slice(0, sentencesMost).map(ruleText).join('; ');
}

/**
 * Change of a setting or of the receiver's place that helps, by the value of the rule `standstill`. Other values pass with time, or need another
 * sensor.
 */
const standstillHints = mapOf({
  no_fix: 'Give the receiver a view of the sky, or wire a motion input with a life input and a loop-back',
  fix_void: 'Give the receiver a view of the sky, or wire a motion input with a life input and a loop-back',
  fix_old: 'Set the receiver to send RMC and GGA once a second',
  few_fixes: 'If it stays so, set the receiver to send RMC and GGA once a second',
  fix_mode: 'Switch dead reckoning and simulation of the receiver off, or give it a view of the sky',
  fix_time: 'Set the receiver to send RMC, which has time and date',
  fix_speed: 'Set the receiver to send RMC, which has a speed',
  fix_late:
    'Its line may be too slow for its sentences: raise the speed of the receiver and gnss.baud, or let it send fewer; else check the clock of the broker',
  hdop: 'Set the receiver to send GGA or GSA with every RMC; else give its antenna a better view of the sky',
  doubtful:
    'If it stays so, look at the date of the receiver with fleetward-agent status: after a roll-over of its week number it needs other firmware',
  frozen: 'Switch static navigation (static hold) of the receiver off',
  moving: null,
  unsteady: null,
  no_stop_seen: null,
});

/** Remedy if the receiver proves no standstill; null: only time helps. */
export const standstillHint = (value: unknown): string | null => standstillHints.get(value) ?? null;

const hints = mapOf({
  board_alive: 'Check the board, its supply and the serial line with fleetward-agent doctor',
  time_known: 'Bring the unit into network coverage once, or give the receiver a view of the sky',
  ignition_off: 'Switch the ignition off once the vehicle stands; if it is off, turn it on and off once',
  no_movement: 'If the vehicle stands, check that sensor with fleetward-agent doctor',
  engine_at_rest: 'Stop the engine, or disconnect an external charger',
  no_position_allowed: 'Give the receiver a view of the sky, or see [protection] noGnss',
  standstill: 'Give the receiver a view of the sky, or wire a motion input with a life input and a loop-back',
  witnesses:
    'Drive at least a minute with a view of the sky, stop and switch off: the sensors then prove each other',
  common_cause:
    'Give the receiver a view of the sky; a life input shows the loss of a contact supply, a loop-back a board that repeats old values',
  warning_output: 'Check the warning output with fleetward-agent doctor --relay-test warning',
});

/** Remedy; null: only time helps. */
export function verdictHint({ code, rules }: Verdict): string | null {
  const isUnsteady = rules.some(({ rule, value }) => rule === 'ignition_off' && value === 'unsteady');
  const standstill = rules.find(({ rule, isMet }) => rule === 'standstill' && !isMet);
  if (code === 'standstill' && standstill !== undefined && standstillHints.has(standstill.value))
    return standstillHint(standstill.value);
  return code === 'ignition_off' && isUnsteady ? null : (hints.get(code) ?? null);
}
