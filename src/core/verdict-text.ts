// Sentences for people, made from a verdict of the interlock where it meets them: a log line, a status page, an answer of the
// HTTP service. Nothing reads them but people.
import { allowed, type RuleFinding, type Verdict } from './verdict.ts';

const standstillTexts: Readonly<Record<string, string>> = {
  no_fix: 'There is no position',
  fix_old: 'The last position is too old',
  fix_void: 'The receiver reports no fix',
  fix_mode: 'The position is not a measurement',
  fix_time: 'The receiver gives no time',
  fix_speed: 'The receiver gives no speed',
  hdop: 'The position is not precise enough',
  doubtful: 'The position is doubtful',
  few_fixes: 'Too few positions in a row',
  moving: 'The vehicle moves',
  frozen: 'The receiver repeats one and the same position',
  no_stop_seen: 'No stop was observed; the vehicle must stand longer',
  motion_unproven: 'There is no position, and no proven motion input that shows standstill',
  motion_active: 'The motion input reports movement',
  motion_quiet_s: 'The motion input has not been quiet for long enough',
};

/** Why the receiver or the motion input does not prove standstill, by the value of the rule `standstill`. */
export function standstillText(value: unknown): string {
  return standstillTexts[String(value)] ?? 'Standstill is not proven';
}

const witnessNames: Readonly<Record<string, string>> = {
  gnss: 'GNSS',
  motion: 'the motion input',
  ignition: 'the ignition input',
  rpm: 'engine speed',
  voltage: 'the supply voltage',
};

const stateTexts: Readonly<Record<string, string>> = {
  absent: 'is not fitted',
  unproven: 'has not proven itself on this vehicle yet',
  stale: 'has not proven itself for too long',
  contradicted: 'was contradicted by another sensor',
  suspended: 'must be seen active once more',
  silent: 'says nothing now',
};

const witnessOf = (rule: string): string => witnessNames[rule.slice('witness_'.length)] ?? rule;
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function ignitionText(value: RuleFinding['value']): string {
  if (value === 'on') return 'Ignition is on';
  return value === 'suspended'
    ? 'Ignition reads off, but must be seen on once before that counts'
    : 'Ignition is unknown';
}

type Text = (finding: RuleFinding) => string;

const texts: Readonly<Record<string, Text>> = {
  storage: () => 'The storage does not work',
  relay_follows: ({ value }) => `The relay did not follow: ${value ?? 'unknown'}`,
  board_alive: () => 'The I/O board is silent',
  time_known: ({ value }) =>
    value === 'behind'
      ? 'The clock is behind the newest trusted time'
      : value === 'unconfirmed'
        ? 'The time since the restart is not confirmed, so expiry cannot be judged'
        : 'The time is unknown, so expiry cannot be judged',
  change_interval_s: ({ needed }) => `The relay changed less than ${needed} s ago`,
  changes_per_hour: ({ value }) =>
    `The relay changed ${value} times within the last hour; send the command again to insist`,
  automation_enabled: () => 'Automatic cuts are switched off',
  panic_calm_s: ({ value }) => (value === null ? 'Panic is active' : 'Panic was active or unknown recently'),
  ignition_off: ({ value }) => ignitionText(value),
  ignition_off_s: ({ needed }) => `Ignition has been off for less than ${needed} s`,
  no_movement: ({ value }) => `${capital(witnessNames[String(value)] ?? String(value))} reports movement`,
  speed_kmh: ({ value }) =>
    value === null ? 'Speed is unknown' : `The vehicle moves at ${Math.round(Number(value))} km/h`,
  engine_at_rest: ({ value }) =>
    value === 'voltage' ? 'The supply voltage shows a charging alternator' : 'The engine turns',
  no_position_allowed: () => 'There is no position, and this vehicle waits for one',
  position_trusted_s: () => 'The position was doubtful recently',
  standstill: ({ value }) => standstillText(value),
  standstill_s: ({ needed }) => `Standing for less than ${needed} s`,
  witnesses: ({ value, needed }) => `${value} of ${needed} proven independent sensors agree`,
  warning_output: ({ value }) =>
    value === 'absent' ? 'No warning output is fitted' : 'The warning output does not follow',
  warning_s: ({ needed }) => `The warning sounds for ${needed} s first`,
};

/** One rule that is not met, as a sentence without a full stop. A rule of a newer vehicle is named as it is. */
export function ruleText(finding: RuleFinding): string {
  const { rule, value } = finding;
  if (rule.startsWith('witness_'))
    return `${capital(witnessOf(rule))} ${stateTexts[String(value)] ?? `says ${value}`}`;
  return texts[rule]?.(finding) ?? `Rule ${rule} is not met`;
}

/** Why a change waits: every rule that is not met, most important first; '' when it is allowed. */
export function verdictText({ code, rules }: Verdict): string {
  if (code === allowed) return '';
  const unmet = rules.filter(({ isMet }) => !isMet);
  const first = unmet.filter(({ rule }) => rule === code);
  const others = unmet.filter(({ rule }) => rule !== code);
  return unmet.length === 0 ? `Rule ${code} is not met` : [...first, ...others].map(ruleText).join('; ');
}

const hints: Readonly<Record<string, string>> = {
  board_alive: 'Check the board, its supply and the serial line with fleetward-agent doctor',
  time_known: 'Bring the unit into network coverage once, or give the receiver a view of the sky',
  ignition_off: 'Switch the ignition off; if it is off, turn it on and off once',
  no_movement: 'If the vehicle stands, check that sensor with fleetward-agent doctor',
  engine_at_rest: 'Stop the engine, or disconnect an external charger',
  no_position_allowed: 'Give the receiver a view of the sky, or see [protection] noGnss',
  standstill: 'Give the receiver a view of the sky, or wire a motion input',
  witnesses:
    'Drive at least a minute with a view of the sky, stop and switch off: the sensors then prove each other',
  warning_output: 'Check the warning output with fleetward-agent doctor --relay-test warning',
};

/** What can be done about it; null where only time helps. */
export function verdictHint({ code }: Verdict): string | null {
  return hints[code] ?? null;
}
