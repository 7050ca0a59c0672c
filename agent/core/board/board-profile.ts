// Board profiles: units on the bus, polls, the meaning of each bit, and the way to drive relays. Profiles are data (`agent/boards/*.toml`); this file
// holds their schema and what follows from it. `profile-parsing.ts` checks them.
import { type Static, Type } from 'typebox';
import {
  type FeatureName,
  featureNames,
  type InputName,
  inputNames,
} from '../../../src/core/events/event.ts';
import { encodeRequest, expectedLength, type ModbusRequest } from './modbus-frame.ts';

const closed = { additionalProperties: false } as const;
const text = Type.String({ minLength: 1, maxLength: 500 });
const word = Type.Integer({ minimum: 0, maximum: 0xffff });
const name = Type.String({ pattern: '^[a-z][A-Za-z0-9-]{0,31}$' });

const serialSchema = Type.Object(
  {
    baudRate: Type.Integer({ minimum: 1200, maximum: 921_600 }),
    dataBits: Type.Literal(8),
    parity: Type.Union([Type.Literal('none'), Type.Literal('even'), Type.Literal('odd')]),
    stopBits: Type.Union([Type.Literal(1), Type.Literal(2)]),
  },
  closed,
);
const unitSchema = Type.Object({ address: Type.Integer({ minimum: 1, maximum: 247 }) }, closed);
const pollSchema = Type.Object(
  {
    unit: name,
    function: Type.Union([Type.Literal(1), Type.Literal(2), Type.Literal(3), Type.Literal(4)]),
    first: word,
    count: Type.Integer({ minimum: 1, maximum: 2000 }),
    periodMs: Type.Integer({ minimum: 10, maximum: 60_000 }),
    /** The unit sends the bytes of its bits in reverse order. */
    reversed: Type.Optional(Type.Boolean()),
  },
  closed,
);
const setupSchema = Type.Object(
  {
    unit: name,
    first: word,
    count: Type.Integer({ minimum: 1, maximum: 64 }),
    value: word,
    /** Exception 2 for these registers is no fault. */
    optional: Type.Boolean(),
    meaning: text,
  },
  closed,
);
const digitalSchema = Type.Object(
  {
    poll: name,
    /** Address on the wire of a bit, or of a register that holds 0 or 1. */
    address: word,
    /** The input reads 0 while the signal is active. */
    invert: Type.Boolean(),
    debounceMs: Type.Integer({ minimum: 0, maximum: 60_000 }),
  },
  closed,
);
/** Contact of a changeover switch that is closed while ignition is off. It is in the poll of the other contact. */
const offContactSchema = Type.Object({ address: word, invert: Type.Boolean() }, closed);
const ignitionSchema = Type.Object(
  { ...digitalSchema.properties, off: Type.Optional(offContactSchema) },
  closed,
);
const pointSchema = Type.Object({ poll: name, address: word, invert: Type.Boolean() }, closed);
const analogSchema = Type.Object(
  {
    poll: name,
    address: word,
    /** measure = raw x scale + offset, in the unit of `valid` and `table`. */
    scale: Type.Number(),
    offset: Type.Number(),
    /** A measure outside is unknown: a broken wire must not read as an empty tank. */
    valid: Type.Tuple([Type.Number(), Type.Number()]),
    /** Pairs of measure and value, measures rising; linear between them, flat outside. */
    table: Type.Optional(
      Type.Array(Type.Tuple([Type.Number(), Type.Number()]), { minItems: 2, maxItems: 64 }),
    ),
  },
  closed,
);
const relaySchema = Type.Object(
  {
    unit: name,
    kind: Type.Union([Type.Literal('coil'), Type.Literal('register')]),
    address: word,
    /** Values for FC06; only for `register`. */
    on: Type.Optional(word),
    off: Type.Optional(word),
    /** Read-back of the relay. */
    poll: name,
    readAddress: Type.Optional(word),
    readOn: Type.Optional(word),
    readOff: Type.Optional(word),
    /** FC05 with value x 100 ms: the board closes the relay for this time, then opens it; only for `coil`. */
    flashAddress: Type.Optional(word),
    /** De-energised: the engine can start, the cargo is locked. There is no other choice (edge-agents 2.3 rule 8). */
    safe: Type.Literal('de-energised'),
  },
  closed,
);

/** A spare output, and the input wired to it. */
const loopbackSchema = Type.Object({ output: relaySchema, input: pointSchema }, closed);

const analogNames = ['fuel', 'supplyVoltage', 'backupVoltage', 'rpm', 'passengers'] as const;
export type AnalogName = (typeof analogNames)[number];

/** Outputs that are no vehicle features: no command controls them, and de-energised means off. */
const outputNames = ['warning'] as const;
/** Every output that the agent switches. `loopback` is the spare output of a loop-back and no vehicle feature either. */
export type RelayName = FeatureName | (typeof outputNames)[number] | 'loopback';

const optionalKeys = <Name extends string, Schema extends Type.TSchema>(
  names: readonly Name[],
  schema: Schema,
) =>
  Object.fromEntries(names.map((key) => [key, Type.Optional(schema)])) as Record<
    Name,
    Type.TOptional<Schema>
  >;

const inputsSchema = Type.Object(
  { ...optionalKeys(inputNames, digitalSchema), ignition: Type.Optional(ignitionSchema) },
  closed,
);
const analogsSchema = Type.Object(optionalKeys(analogNames, analogSchema), closed);
const relaysSchema = Type.Object(optionalKeys(featureNames, relaySchema), closed);
const outputsSchema = Type.Object(optionalKeys(outputNames, relaySchema), closed);

export const boardProfileSchema = Type.Object(
  {
    name,
    title: text,
    notes: Type.Array(text, { maxItems: 20 }),
    sources: Type.Array(text, { minItems: 1, maxItems: 20 }),
    serial: serialSchema,
    units: Type.Record(name, unitSchema),
    polls: Type.Record(name, pollSchema),
    setup: Type.Array(setupSchema, { maxItems: 16 }),
    inputs: inputsSchema,
    analogs: analogsSchema,
    relays: relaysSchema,
    outputs: Type.Optional(outputsSchema),
    /** An input tied to the supply of its unit's contacts. */
    life: Type.Optional(pointSchema),
    loopback: Type.Optional(loopbackSchema),
  },
  closed,
);

const patch = <Schema extends Type.TObject>(schema: Schema) => Type.Partial(schema, closed);
const orOff = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([Type.Literal(false), schema]);

const ignitionPatch = Type.Partial(
  Type.Object({ ...digitalSchema.properties, off: orOff(patch(offContactSchema)) }),
  closed,
);
const loopbackPatch = Type.Partial(
  Type.Object({ output: patch(relaySchema), input: patch(pointSchema) }),
  closed,
);

/** Overrides in the agent's configuration; `false` removes a signal, a contact or a relay. */
export const boardOverridesSchema = Type.Object(
  {
    serial: Type.Optional(patch(serialSchema)),
    units: Type.Optional(Type.Record(name, unitSchema)),
    polls: Type.Optional(Type.Record(name, patch(pollSchema))),
    inputs: Type.Optional(
      Type.Object(
        {
          ...optionalKeys(inputNames, orOff(patch(digitalSchema))),
          ignition: Type.Optional(orOff(ignitionPatch)),
        },
        closed,
      ),
    ),
    analogs: Type.Optional(Type.Object(optionalKeys(analogNames, orOff(patch(analogSchema))), closed)),
    relays: Type.Optional(Type.Object(optionalKeys(featureNames, orOff(patch(relaySchema))), closed)),
    outputs: Type.Optional(Type.Object(optionalKeys(outputNames, orOff(patch(relaySchema))), closed)),
    life: Type.Optional(orOff(patch(pointSchema))),
    loopback: Type.Optional(orOff(loopbackPatch)),
  },
  closed,
);

export type BoardProfile = Static<typeof boardProfileSchema>;
export type BoardOverrides = Static<typeof boardOverridesSchema>;
type BoardPoll = Static<typeof pollSchema>;
/** Ignition; no other input has a second contact. */
export type BoardContact = Static<typeof ignitionSchema>;
export type BoardRelay = Static<typeof relaySchema>;
export type BoardAnalog = Static<typeof analogSchema>;

export function wiringsOf(profile: BoardProfile): readonly (readonly [RelayName, BoardRelay])[] {
  return [...featureNames, ...outputNames, 'loopback' as const].flatMap((key) => {
    const relay = wiringOf(profile, key);
    return relay === undefined ? [] : [[key, relay] as const];
  });
}

/** Wiring of one relay; undefined: not fitted. */
export function wiringOf(profile: BoardProfile, relay: RelayName): BoardRelay | undefined {
  if (relay === 'loopback') return profile.loopback?.output;
  return relay === 'warning' ? profile.outputs?.warning : profile.relays[relay];
}

/** Wires that let an input read "inactive" by more than the absence of a current. */
export interface ContactProof {
  /** Two contacts, exactly one of which is closed. */
  readonly isAntivalent: boolean;
  /** A life input is tied to the supply of its unit's contacts. */
  readonly hasLife: boolean;
  /** A loop-back returns through its unit. */
  readonly hasLoopback: boolean;
}

/** Wires that prove an input; null: not fitted. */
export function proofOf(profile: BoardProfile, input: InputName): ContactProof | null {
  const signal: BoardContact | undefined = profile.inputs[input];
  if (signal === undefined) return null;
  const { life, loopback } = profile;
  return {
    isAntivalent: signal.off !== undefined,
    hasLife: life !== undefined && isSameUnit(profile, life.poll, signal.poll),
    hasLoopback: loopback !== undefined && isSameUnit(profile, loopback.input.poll, signal.poll),
  };
}

/** True for two polls of one unit: their readings fail together. */
export function isSameUnit({ polls }: Pick<BoardProfile, 'polls'>, one: string, other: string): boolean {
  return polls[one] !== undefined && polls[one].unit === polls[other]?.unit;
}

/** Read request of a poll; null: its unit does not exist. */
export function pollRequest(profile: BoardProfile, poll: BoardPoll): ModbusRequest | null {
  const unit = profile.units[poll.unit]?.address;
  if (unit === undefined) return null;
  const { first, count } = poll;
  const order = poll.reversed === true ? { isReversed: true } : {};
  return poll.function <= 2
    ? { kind: 'readBits', unit, function: poll.function as 1 | 2, first, count, ...order }
    : { kind: 'readRegisters', unit, function: poll.function as 3 | 4, first, count };
}

/** Absolute write of a relay, or with null the read of its range. Never a toggle. */
export function relayRequest(
  profile: BoardProfile,
  name: RelayName,
  order: { readonly energised: boolean; readonly holdMs?: number } | null,
): ModbusRequest | null {
  const relay = wiringOf(profile, name);
  const poll = relay && profile.polls[relay.poll];
  const unit = relay && profile.units[relay.unit]?.address;
  if (relay === undefined || poll === undefined || unit === undefined) return null;
  if (order === null) return pollRequest(profile, poll);
  const { address, flashAddress } = relay;
  const { energised, holdMs } = order;
  if (relay.kind === 'coil' && energised && holdMs !== undefined && flashAddress !== undefined)
    return { kind: 'pulseCoil', unit, address: flashAddress, value: Math.round(holdMs / 100) };
  if (relay.kind === 'coil') return { kind: 'writeCoil', unit, address, on: energised };
  const value = energised ? relay.on : relay.off;
  return value === undefined ? null : { kind: 'writeRegister', unit, address, value };
}

export function readAddress(relay: BoardRelay): number {
  return relay.readAddress ?? relay.address;
}

/** Value of an analog signal from a register, in the table's unit (fuel: 0 to 1; supply: volts); null: unknown. */
export function analogValue(signal: Omit<BoardAnalog, 'poll' | 'address'>, raw: number): number | null {
  const measure = raw * signal.scale + signal.offset;
  if (measure < signal.valid[0] || measure > signal.valid[1]) return null;
  if (signal.table === undefined) return measure;
  const above = signal.table.findIndex((point) => point[0] >= measure);
  const high = signal.table[above] ?? signal.table.at(-1);
  const low = signal.table[above - 1] ?? high;
  if (high === undefined || low === undefined || above < 0 || high[0] === low[0]) return high?.[1] ?? null;
  return low[1] + ((measure - low[0]) * (high[1] - low[1])) / (high[0] - low[0]);
}

/** Start, data, parity and stop bits of one character. */
export function bitsPerChar(serial: BoardProfile['serial']): number {
  return 1 + serial.dataBits + (serial.parity === 'none' ? 0 : 1) + serial.stopBits;
}

/** Poll of the panic button, else of the crash contact, which must not be late; null: neither is fitted. */
export function urgentPoll(profile: BoardProfile): string | null {
  return profile.inputs.panic?.poll ?? profile.inputs.crash?.poll ?? null;
}

/** Timers fire on whole milliseconds, at both ends of an exchange. */
const timerMs = 2;

/** Time for which one exchange of a poll holds the bus, ms, including `turnaroundMs` of processing in the board. */
export function exchangeMs(profile: BoardProfile, name: string, turnaroundMs: number): number {
  const poll = profile.polls[name];
  const request = poll === undefined ? null : pollRequest(profile, poll);
  if (request === null) return 0;
  const charMs = (bitsPerChar(profile.serial) * 1000) / profile.serial.baudRate;
  const silenceMs = Math.max(3.5 * charMs, 1.75);
  // The board waits for the silence that ends a request (SL 2.5.1.1), the master for the silence that ends the answer.
  const pausesMs = silenceMs + turnaroundMs + silenceMs + 1 + timerMs;
  return (encodeRequest(request).length + expectedLength(request)) * charMs + pausesMs;
}

/**
 * Longest time between two good samples of an input on an undisturbed bus, ms. For the urgent poll it is its period or, if longer, its exchange and
 * the longest other one, because at most one exchange is interposed (`poll-order.ts`). For any other poll it is an estimate. A shorter pulse may be
 * missed; faster serial settings reduce the time. Relay orders go first and are not included. The latency of a USB adapter is not included either; it
 * adds to `turnaroundMs`.
 */
export function worstSampleGapMs(profile: BoardProfile, input: InputName, turnaroundMs = 5): number {
  const own = profile.inputs[input]?.poll;
  const ownPoll = own === undefined ? undefined : profile.polls[own];
  if (own === undefined || ownPoll === undefined) return Infinity;
  const ownMs = exchangeMs(profile, own, turnaroundMs);
  const others = Object.keys(profile.polls).filter((key) => key !== own);
  const longestMs = Math.max(0, ...others.map((key) => exchangeMs(profile, key, turnaroundMs)));
  const periodMs = ownPoll.periodMs + timerMs;
  if (own === urgentPoll(profile)) return Math.max(periodMs, ownMs + longestMs);
  return Math.max(periodMs, ownMs) + longestMs;
}
