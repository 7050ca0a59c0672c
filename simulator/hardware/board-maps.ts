// Register maps of the I/O boards that the simulator can be, as data. Facts are from the makers' public manuals, written
// here independently: the agent's profiles must never be tested against themselves.
import type { AgentFile } from '../../agent/config.ts';
import type { FeatureName, InputName } from '../../src/core/events/event.ts';

/** Relays driven by coils: FC01, FC05, FC0F. */
interface RelayCoils {
  readonly kind: 'relayCoils';
  readonly first: number;
  readonly count: number;
  readonly firstRelay: number;
  /** One coil address that writes all relays at once. */
  readonly allAt?: number;
  /** FC05 at this address + n switches relay n on (off) for value x 100 ms, then back. */
  readonly flashOnAt?: number;
  readonly flashOffAt?: number;
}

/** Relays driven by command words: FC06 and FC10 write 0x0100 on, 0x0200 off …; FC03 reads 0 or 1. */
interface RelayRegisters {
  readonly kind: 'relayRegisters';
  readonly first: number;
  readonly count: number;
  readonly firstRelay: number;
  /** Writing 0x0700 (0x0800) here switches all on (off). */
  readonly allAt?: number;
}

/** Digital inputs as discrete inputs (FC02) or as registers of 0 and 1 (FC03). */
interface Inputs {
  readonly kind: 'inputs';
  readonly function: 2 | 3;
  readonly first: number;
  readonly count: number;
  readonly firstInput: number;
}

/** Analog inputs as registers: raw value = volts x `perVolt`, from 0 to `max`. */
interface Analogs {
  readonly kind: 'analogs';
  readonly function: 3 | 4;
  readonly first: number;
  readonly count: number;
  readonly firstAnalog: number;
  readonly perVolt: number;
  readonly max: number;
}

/** Holding registers that only configure; `role` gives them a meaning inside the board. */
interface Settings {
  readonly kind: 'settings';
  readonly first: number;
  readonly values: readonly number[];
  readonly max: number;
  readonly isReadOnly?: boolean;
  /** `inputAction`: what input n does to relay n by itself; `unit`: the address that the unit answers to. */
  readonly role?: 'inputAction' | 'unit';
}

export type Region = RelayCoils | RelayRegisters | Inputs | Analogs | Settings;

export interface UnitMap {
  readonly unit: number;
  readonly label: string;
  readonly answersBroadcast: boolean;
  readonly regions: readonly Region[];
}

/** Wires that prove contacts. */
interface ProofWires {
  /** The contact that is closed while ignition is off. */
  readonly ignitionOff: number;
  /** An input on the supply of the contacts. */
  readonly life: number;
  /** A relay that is wired to an input; null: the unit has no input left. */
  readonly loopback: { readonly relay: number; readonly input: number } | null;
}

/** Channel of a signal; `inverted`: the input reads 0 while the signal is active. */
interface Wiring {
  readonly inputs: Readonly<
    Partial<Record<InputName, { readonly channel: number; readonly inverted?: boolean }>>
  >;
  /** Volts at the channel = `atZero` + fraction x (`atOne` - `atZero`). For the supply the fraction is volts / 30. */
  readonly fuel: { readonly channel: number; readonly atZero: number; readonly atOne: number } | null;
  readonly supply: { readonly channel: number; readonly atZero: number; readonly atOne: number } | null;
  readonly relays: Readonly<Record<FeatureName, number>>;
  /** Channels of the wires that prove the contacts; null: there are none. */
  readonly proof: ProofWires | null;
  /** The buzzer in the cabin; the agent drives it only if its configuration says so. */
  readonly warning: number;
}

export interface BoardMap {
  readonly label: string;
  readonly units: readonly UnitMap[];
  readonly wiring: Wiring;
}

const uart: Settings = { kind: 'settings', first: 0x2000, values: [1], max: 7 };
const unitAddress = (unit: number): Settings => ({
  kind: 'settings',
  first: 0x4000,
  values: [unit],
  max: 247,
  role: 'unit',
});
const version: Settings = { kind: 'settings', first: 0x8000, values: [200], max: 0xffff, isReadOnly: true };
const eightZeros: readonly number[] = [0, 0, 0, 0, 0, 0, 0, 0];

/** Signals on inputs 0 to 7 in the order an installer meets them; external power fails to 0. */
const usualInputs: Wiring['inputs'] = {
  ignition: { channel: 0 },
  panic: { channel: 1 },
  cabinDoor: { channel: 2 },
  cargoDoor: { channel: 3 },
  tamper: { channel: 4 },
  externalPower: { channel: 5 },
  motion: { channel: 6 },
  service: { channel: 7 },
};

const relays: Wiring['relays'] = { enginecutoff: 0, cargoaccess: 1 };
const warning = 2;
const proof = null;

/** Modbus RTU Relay (D): waveshare.com/wiki/Modbus_RTU_Relay_(D); flash values in 100 ms (wiki, "flash ON"). */
const waveshareRelayD: UnitMap = {
  unit: 1,
  label: 'Waveshare Modbus RTU Relay (D)',
  answersBroadcast: true,
  regions: [
    {
      kind: 'relayCoils',
      first: 0,
      count: 8,
      firstRelay: 0,
      allAt: 0xff,
      flashOnAt: 0x200,
      flashOffAt: 0x400,
    },
    { kind: 'inputs', function: 2, first: 0, count: 8, firstInput: 0 },
    { kind: 'settings', first: 0x1000, values: eightZeros, max: 3, role: 'inputAction' },
    uart,
    unitAddress(1),
    version,
  ],
};

/** waveshare.com/wiki/Modbus_RTU_IO_8CH: outputs are open drain and drive an automotive relay. */
const waveshareIo: UnitMap = {
  unit: 1,
  label: 'Waveshare Modbus RTU IO 8CH',
  answersBroadcast: true,
  regions: [
    { kind: 'relayCoils', first: 0, count: 8, firstRelay: 0, allAt: 0xff },
    { kind: 'inputs', function: 2, first: 0, count: 8, firstInput: 0 },
    { kind: 'settings', first: 0x1000, values: eightZeros, max: 3, role: 'inputAction' },
    uart,
    unitAddress(1),
    version,
  ],
};

/** waveshare.com/wiki/Modbus_RTU_Analog_Input_8CH_(B): mode 0 gives millivolts of 0 to 10 V. */
const waveshareAnalog: UnitMap = {
  unit: 2,
  label: 'Waveshare Modbus RTU Analog Input 8CH (B)',
  answersBroadcast: true,
  regions: [
    { kind: 'analogs', function: 4, first: 0, count: 8, firstAnalog: 0, perVolt: 1000, max: 10_000 },
    { kind: 'settings', first: 0x1000, values: eightZeros, max: 4 },
    uart,
    unitAddress(2),
    version,
  ],
};

/** Erriez/R421A08-rs485-8ch-relay-board: unit by DIP switch, no broadcast, registers start at 1. */
const r421a08: UnitMap = {
  unit: 1,
  label: 'Eletechsup R421A08',
  answersBroadcast: false,
  regions: [{ kind: 'relayRegisters', first: 1, count: 8, firstRelay: 0, allAt: 0 }],
};

/** Python package cheap_modbus_rtu: inputs as registers 0x81 to 0x88. */
const r4dif08: UnitMap = {
  unit: 2,
  label: 'Eletechsup R4DIF08',
  answersBroadcast: false,
  regions: [
    { kind: 'inputs', function: 3, first: 0x81, count: 8, firstInput: 0 },
    { kind: 'settings', first: 0xfc, values: [0], max: 1 },
    { kind: 'settings', first: 0xfe, values: [2], max: 247, role: 'unit' },
    { kind: 'settings', first: 0xff, values: [1], max: 5 },
  ],
};

/** Python package cheap_modbus_rtu: 0 to 5 V and 0 to 10 V in 10 mV, two current inputs in 0.1 mA. */
const n4aia04: UnitMap = {
  unit: 3,
  label: 'Eletechsup N4AIA04',
  answersBroadcast: false,
  regions: [
    { kind: 'analogs', function: 3, first: 0, count: 1, firstAnalog: 0, perVolt: 100, max: 500 },
    { kind: 'analogs', function: 3, first: 1, count: 1, firstAnalog: 1, perVolt: 100, max: 1000 },
    { kind: 'settings', first: 2, values: [0, 0], max: 250, isReadOnly: true },
    { kind: 'settings', first: 7, values: [1000, 1000, 1000, 1000], max: 2000 },
    { kind: 'settings', first: 0x0e, values: [3], max: 247, role: 'unit' },
    { kind: 'settings', first: 0x0f, values: [1], max: 5 },
  ],
};

/** Advantech ADAM-4150 in Modbus mode: outputs are coils 0x10 to 0x17, inputs 0 to 6. */
const adam4150: UnitMap = {
  unit: 1,
  label: 'Advantech ADAM-4150',
  answersBroadcast: false,
  regions: [
    { kind: 'relayCoils', first: 0x10, count: 8, firstRelay: 0 },
    { kind: 'inputs', function: 2, first: 0, count: 7, firstInput: 0 },
  ],
};

/** No product: what an integrator's own controller usually looks like. */
const genericUnit: UnitMap = {
  unit: 1,
  label: 'generic Modbus I/O',
  answersBroadcast: true,
  regions: [
    { kind: 'relayCoils', first: 0, count: 8, firstRelay: 0 },
    { kind: 'inputs', function: 2, first: 0, count: 8, firstInput: 0 },
    { kind: 'analogs', function: 4, first: 0, count: 4, firstAnalog: 0, perVolt: 1000, max: 10_000 },
  ],
};

/** A tank sender of 0 to 5 V on the first channel, the supply through a 3:1 divider on the second. */
const usualAnalogs: Pick<Wiring, 'fuel' | 'supply'> = {
  fuel: { channel: 0, atZero: 0, atOne: 5 },
  supply: { channel: 1, atZero: 0, atOne: 10 },
};
const noAnalogs: Pick<Wiring, 'fuel' | 'supply'> = { fuel: null, supply: null };

export const boardMaps = {
  'waveshare-relay-d': {
    label: 'Waveshare Modbus RTU Relay (D)',
    units: [waveshareRelayD],
    wiring: { inputs: usualInputs, relays, warning, proof, ...noAnalogs },
  },
  'waveshare-io-analog': {
    label: 'Waveshare Modbus RTU IO 8CH + Analog Input 8CH (B)',
    units: [waveshareIo, waveshareAnalog],
    wiring: { inputs: usualInputs, relays, warning, proof, ...usualAnalogs },
  },
  eletechsup: {
    label: 'Eletechsup R421A08 + R4DIF08 + N4AIA04',
    units: [r421a08, r4dif08, n4aia04],
    wiring: { inputs: usualInputs, relays, warning, proof, ...usualAnalogs },
  },
  'adam-4150': {
    label: 'Advantech ADAM-4150',
    units: [adam4150],
    wiring: { inputs: usualInputs, relays, warning, proof, ...noAnalogs },
  },
  generic: {
    label: 'generic Modbus I/O',
    units: [genericUnit],
    wiring: { inputs: usualInputs, relays, warning, proof, ...usualAnalogs },
  },
} as const satisfies Record<string, BoardMap>;

export type BoardName = keyof typeof boardMaps;

export const boardNames = Object.keys(boardMaps) as readonly BoardName[];

/** As shipped, or with wires that prove the contacts. */
export const wiringNames = ['plain', 'positive'] as const;
export type WiringName = (typeof wiringNames)[number];

const proofWires: ProofWires = { ignitionOff: 4, life: 5, loopback: { relay: 3, input: 7 } };

/**
 * A board wired so. The positive wiring takes the channels of tamper, external power and service, which are not wired
 * then.
 */
export function boardMapOf(name: BoardName, wiringName: WiringName): BoardMap {
  const map: BoardMap = boardMaps[name];
  if (wiringName === 'plain') return map;
  const { tamper: _, externalPower: __, service: ___, ...inputs } = map.wiring.inputs;
  const { loopback } = proofWires;
  const fits = loopback !== null && (terminalsOf(map)?.count ?? 0) > loopback.input;
  return {
    ...map,
    wiring: { ...map.wiring, inputs, proof: { ...proofWires, loopback: fits ? loopback : null } },
  };
}

/** The digital inputs of a board. */
function terminalsOf({ units }: BoardMap): Inputs | undefined {
  return units.flatMap(({ regions }) => regions).find((region) => region.kind === 'inputs');
}

/** The unit with the relays, as the profiles name it, and how its relay of this index is switched. */
function relayOverride(name: BoardName, relay: number) {
  const [unit] = boardMaps[name].units;
  const region = unit.regions.find(({ kind }) => kind === 'relayCoils' || kind === 'relayRegisters');
  if (region === undefined || !('firstRelay' in region)) throw new Error(`${name} has no relays`);
  const address = region.first + relay - region.firstRelay;
  const common = { address, poll: 'relays', safe: 'de-energised' } as const;
  return region.kind === 'relayCoils'
    ? { unit: 'io', kind: 'coil' as const, ...common }
    : { unit: 'relay', kind: 'register' as const, on: 0x0100, off: 0x0200, readOn: 1, readOff: 0, ...common };
}

/** Debounce of the inputs that a simulated vehicle has beyond those of a shipped profile. */
const fittedDebounceMs = { tamper: 200, externalPower: 500, motion: 200 } as const;

type Overrides = NonNullable<AgentFile['board']['overrides']>;

/** Overrides that name what a simulated vehicle has beyond the profile: tamper, external power, motion, proving wires. */
export function fittedOverrides(name: BoardName, wiringName: WiringName = 'plain'): Overrides {
  const map = boardMapOf(name, wiringName);
  const { wiring } = map;
  const terminals = terminalsOf(map);
  const inputs = Object.entries(fittedDebounceMs).flatMap(([input, debounceMs]) => {
    const wire = wiring.inputs[input as InputName];
    if (wire === undefined || terminals === undefined) return [];
    const address = terminals.first + wire.channel - terminals.firstInput;
    return [[input, { poll: 'inputs', address, invert: wire.inverted ?? false, debounceMs }]];
  });
  const fitted = Object.fromEntries(inputs);
  if (wiring.proof === null || terminals === undefined) return { inputs: fitted };
  const { ignitionOff, life, loopback } = wiring.proof;
  const point = (channel: number) => ({
    poll: 'inputs',
    address: terminals.first + channel - terminals.firstInput,
    invert: false,
  });
  const { poll: _, ...off } = point(ignitionOff);
  return {
    inputs: { ...fitted, ignition: { off } },
    life: point(life),
    ...(loopback === null
      ? {}
      : {
          // Eletechsup reads only the relays that its profile switches.
          ...(name === 'eletechsup' ? { polls: { relays: { count: loopback.relay + 1 } } } : {}),
          loopback: { output: relayOverride(name, loopback.relay), input: point(loopback.input) },
        }),
  };
}
