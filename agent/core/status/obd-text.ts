// A car that is asked, in words, for `status` and `doctor bus`. Pure.
import type { ElmKind, ObdRefusal } from '../bus/obd-facts.ts';
import type { BusStatus } from './bus-status.ts';

export const obdRefusals: Readonly<Record<ObdRefusal, { readonly words: string; readonly todo: string }>> = {
  no_consent: {
    words: 'the car is not asked: the installer has not agreed',
    todo: 'Set bus.obdConsent = true if requests to this car are agreed with its owner.',
  },
  ignition_off: { words: 'nothing is asked while the ignition is off', todo: '' },
  ignition_unknown: {
    words: 'nothing is asked: the ignition is not known to be on',
    todo: 'Map the ignition input of the board; see its state in `status`.',
  },
  ignition_new: { words: 'the ignition was switched on a moment ago', todo: '' },
  battery_low: { words: 'nothing is asked: the battery is low', todo: 'Charge or replace the battery.' },
  silent_adapter: {
    words: 'nothing answers as an ELM327 adapter',
    todo: 'Check bus.port and bus.baud (38400 and 115200 are common), and the plug.',
  },
  unfit_adapter: {
    words: 'the adapter lacks a command that is needed, and is not used',
    todo: 'Use an STN adapter (OBDLink) or an ELM327 of Elm Electronics.',
  },
  no_supply: {
    words: 'the adapter measures no supply',
    todo: 'Plug it into the diagnostic connector of the car.',
  },
  silent_vehicle: {
    words: 'the adapter answers and the car does not',
    todo: 'Switch the ignition on; it is tried again.',
  },
  unfit_protocol: {
    words: 'the car speaks a protocol that is not read',
    todo: 'A truck with J1939 is read with profile = "j1939" and an SLCAN adapter.',
  },
  bus_errors: {
    words: 'errors on the bus: nothing is asked until the ignition was off',
    todo: 'Check the plug and whether another device asks the car as well.',
  },
};

/** Refusals that are no fault. */
export const calmRefusals: readonly string[] = [
  'ignition_off',
  'ignition_new',
  'silent_vehicle',
] satisfies readonly ObdRefusal[];

const kinds: Readonly<Record<ElmKind, string>> = {
  elm327: 'ELM327',
  stn: 'STN',
  clone: 'clone of an ELM327',
};

/** Names of the protocols by number (ELM327 data sheet). */
const protocols: readonly string[] = [
  '',
  'J1850 PWM',
  'J1850 VPW',
  'ISO 9141-2',
  'KWP2000, 5 baud',
  'KWP2000, fast',
  'CAN 11 bit, 500 kbit/s',
  'CAN 29 bit, 500 kbit/s',
  'CAN 11 bit, 250 kbit/s',
  'CAN 29 bit, 250 kbit/s',
];

/** What the adapter is, and the protocol of the car: `STN, CAN 11 bit, 500 kbit/s`. */
export function elmText({ kind, protocol }: NonNullable<BusStatus['obd']>): string {
  const name = kind === null ? 'adapter' : kinds[kind];
  return protocol === null ? name : `${name}, ${protocols[protocol] ?? ''}`;
}

const hex = (value: number): string => value.toString(16).toUpperCase().padStart(2, '0');

/** What was found out, a line each. */
export function obdLines(obd: NonNullable<BusStatus['obd']>): readonly string[] {
  const { kind, device, failedProbes, units, givenUp, errors, volts } = obd;
  const written = Object.entries(obd.written).map(([command, count]) => `${command} ${count}`);
  const probes =
    kind === 'stn' || failedProbes.length === 0
      ? 'its probes were answered'
      : `it does not know ${failedProbes.join(' ')}`;
  const extras = [
    obd.hasLongRequests ? 'two values in a request' : 'one value in a request',
    obd.hasAnswerCount ? 'counts answers' : 'waits for further answers',
  ];
  return [
    ...(kind === null
      ? []
      : [`${kinds[kind]}${device === null ? '' : ` (${device})`}: ${probes}; ${extras.join(', ')}`]),
    ...(volts === null ? [] : [`supply at the adapter ${volts} V`]),
    ...units.map(({ source, pids }) => `control unit 0x${hex(source)} offers ${pids.map(hex).join(' ')}`),
    ...(givenUp.length === 0 ? [] : [`no answer to ${givenUp.join(' ')}: not asked any more`]),
    ...(errors === 0 ? [] : [`${errors} errors or incomplete answers`]),
    written.length === 0 ? 'nothing was ever written' : `ever written, and how often: ${written.join(', ')}`,
  ];
}
