// Board profiles: which units are on the bus, what is polled, what each bit means, how relays are driven. Profiles
// are data (`agent/boards/*.toml`); this file holds their schema, their checks and the installer's overrides. A
// profile in which a signal or relay refers to a register that is not polled must never pass.
import { type Static, Type } from 'typebox';
import { Errors } from 'typebox/value';
import type { ErrorDetail } from '../../../src/core/errors.ts';
import {
  type FeatureName,
  featureNames,
  type InputName,
  inputNames,
} from '../../../src/core/events/event.ts';
import { checkRequest, encodeRequest, expectedLength, type ModbusRequest } from './modbus-frame.ts';

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
    /** Address on the wire of the bit, or of a register that holds 0 or 1. */
    address: word,
    /** The input reads 0 while the signal is active. */
    invert: Type.Boolean(),
    debounceMs: Type.Integer({ minimum: 0, maximum: 60_000 }),
  },
  closed,
);
const analogSchema = Type.Object(
  {
    poll: name,
    address: word,
    /** measure = raw x scale + offset, in the unit of `valid` and `table`. */
    scale: Type.Number(),
    offset: Type.Number(),
    /** A measure outside is unknown: a broken wire must not read as an empty tank. */
    valid: Type.Tuple([Type.Number(), Type.Number()]),
    /** Pairs of measure and value, measures rising; straight lines between, flat outside. */
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
    /** What FC06 writes; only for `register`. */
    on: Type.Optional(word),
    off: Type.Optional(word),
    /** Where the relay is read back. */
    poll: name,
    readAddress: Type.Optional(word),
    readOn: Type.Optional(word),
    readOff: Type.Optional(word),
    /** FC05 with value x 100 ms: the board closes the relay for that time, then opens it; only for `coil`. */
    flashAddress: Type.Optional(word),
    /** De-energised = engine can start, cargo locked. There is no other choice (edge-agents 2.3 rule 8). */
    safe: Type.Literal('de-energised'),
  },
  closed,
);

/** Relays are read back at least this often (edge-agents 2.3 rule 10). */
const readBackMostMs = 5000;

const analogNames = ['fuel', 'supplyVoltage', 'backupVoltage', 'rpm', 'passengers'] as const;
export type AnalogName = (typeof analogNames)[number];

/** Outputs that are not vehicle features: no command controls them, and de-energised is off. */
const outputNames = ['warning'] as const;
/** Everything that the agent switches. */
export type RelayName = FeatureName | (typeof outputNames)[number];

const optionalKeys = <Name extends string, Schema extends Type.TSchema>(
  names: readonly Name[],
  schema: Schema,
) =>
  Object.fromEntries(names.map((key) => [key, Type.Optional(schema)])) as Record<
    Name,
    Type.TOptional<Schema>
  >;

const inputsSchema = Type.Object(optionalKeys(inputNames, digitalSchema), closed);
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
  },
  closed,
);

const patch = <Schema extends Type.TObject>(schema: Schema) => Type.Partial(schema, closed);
const orOff = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([Type.Literal(false), schema]);

/** Overrides in the agent's own configuration; `false` removes a signal or relay. */
export const boardOverridesSchema = Type.Object(
  {
    serial: Type.Optional(patch(serialSchema)),
    units: Type.Optional(Type.Record(name, unitSchema)),
    polls: Type.Optional(Type.Record(name, patch(pollSchema))),
    inputs: Type.Optional(Type.Object(optionalKeys(inputNames, orOff(patch(digitalSchema))), closed)),
    analogs: Type.Optional(Type.Object(optionalKeys(analogNames, orOff(patch(analogSchema))), closed)),
    relays: Type.Optional(Type.Object(optionalKeys(featureNames, orOff(patch(relaySchema))), closed)),
    outputs: Type.Optional(Type.Object(optionalKeys(outputNames, orOff(patch(relaySchema))), closed)),
  },
  closed,
);

export type BoardProfile = Static<typeof boardProfileSchema>;
export type BoardOverrides = Static<typeof boardOverridesSchema>;
type BoardPoll = Static<typeof pollSchema>;
export type BoardRelay = Static<typeof relaySchema>;
export type BoardAnalog = Static<typeof analogSchema>;

export type ProfileVerdict =
  | { readonly kind: 'ok'; readonly profile: BoardProfile }
  | { readonly kind: 'faults'; readonly faults: readonly ErrorDetail[] };

/** Keys that the schema allows at the place an error names. */
function allowedKeys(schemaPath: string): readonly string[] {
  let place: unknown = boardProfileSchema;
  for (const step of schemaPath.split('/').slice(1)) {
    if (typeof place !== 'object' || place === null) return [];
    place = (place as Record<string, unknown>)[step.replaceAll('~1', '/')];
  }
  return place !== null && typeof place === 'object' && 'properties' in place
    ? Object.keys(place.properties as object)
    : [];
}

/**
 * Parses any value as a profile: schema first, then references. Every fault names its place; unknown keys name the
 * allowed ones.
 */
export function parseProfile(value: unknown): ProfileVerdict {
  const faults: ErrorDetail[] = [];
  for (const error of Errors(boardProfileSchema, value)) {
    if (error.keyword === 'boolean' || error.keyword === 'const') continue;
    const unknown = error.keyword === 'additionalProperties' ? error.params.additionalProperties : [];
    for (const key of unknown) {
      const allowed = allowedKeys(error.schemaPath).join(', ');
      const message = `unknown key "${key}"; allowed: ${allowed}`;
      faults.push({ pointer: `${error.instancePath}/${key}`, message });
    }
    const missing = error.keyword === 'required' ? error.params.requiredProperties : [];
    const message = missing.length > 0 ? `members are missing: ${missing.join(', ')}` : error.message;
    if (unknown.length === 0) faults.push({ pointer: error.instancePath, message });
  }
  if (faults.length > 0) return { kind: 'faults', faults };
  const profile = value as BoardProfile;
  const senses = checkProfile(profile);
  return senses.length > 0 ? { kind: 'faults', faults: senses } : { kind: 'ok', profile };
}

function checkProfile(profile: BoardProfile): ErrorDetail[] {
  const faults: ErrorDetail[] = [];
  const fault = (pointer: string, message: string) => faults.push({ pointer, message });
  for (const [key, poll] of Object.entries(profile.polls)) {
    const request = pollRequest(profile, poll);
    const wrong = request === null ? `there is no unit "${poll.unit}"` : checkRequest(request);
    if (wrong !== null) fault(`/polls/${key}`, wrong);
  }
  const addresses = Object.values(profile.units).map((unit) => unit.address);
  if (new Set(addresses).size < addresses.length) fault('/units', 'two units have the same address');
  for (const [at, setup] of profile.setup.entries()) {
    if (!(setup.unit in profile.units)) fault(`/setup/${at}/unit`, `there is no unit "${setup.unit}"`);
  }
  const within = (
    pointer: string,
    place: { poll: string; address: number },
    functions: readonly number[],
  ) => {
    const poll = profile.polls[place.poll];
    if (poll === undefined) return fault(`${pointer}/poll`, `there is no poll "${place.poll}"`);
    if (!functions.includes(poll.function)) {
      fault(
        `${pointer}/poll`,
        `poll "${place.poll}" has function ${poll.function}, not ${functions.join(' or ')}`,
      );
    }
    if (place.address < poll.first || place.address >= poll.first + poll.count) {
      const last = poll.first + poll.count - 1;
      fault(
        `${pointer}/address`,
        `${place.address} is not in poll "${place.poll}" (${poll.first} to ${last})`,
      );
    }
    return undefined;
  };
  for (const [key, signal] of Object.entries(profile.inputs)) within(`/inputs/${key}`, signal, [1, 2, 3, 4]);
  for (const [key, signal] of Object.entries(profile.analogs)) {
    within(`/analogs/${key}`, signal, [3, 4]);
    const rising = (signal.table ?? []).every(
      (point, at, all) => at === 0 || point[0] > (all[at - 1]?.[0] ?? 0),
    );
    if (!rising) fault(`/analogs/${key}/table`, 'the first numbers of the pairs must rise');
    if (signal.valid[0] >= signal.valid[1])
      fault(`/analogs/${key}/valid`, 'the second number must be larger');
  }
  const wirings = wiringsOf(profile);
  for (const [key, relay] of wirings) {
    const pointer = `/${key === 'warning' ? 'outputs' : 'relays'}/${key}`;
    within(pointer, { poll: relay.poll, address: readAddress(relay) }, relay.kind === 'coil' ? [1] : [3]);
    faults.push(...relayFaults(profile, relay).map((message) => ({ pointer, message })));
    const twin = wirings.find(
      ([other, { unit, address }]) => other > key && unit === relay.unit && address === relay.address,
    );
    if (twin !== undefined) fault('/relays', `${key} and ${twin[0]} are the same relay`);
  }
  return faults;
}

/** Faults of one relay other than those of its reading. */
function relayFaults(profile: BoardProfile, relay: BoardRelay): readonly string[] {
  const faults: string[] = [];
  const poll = profile.polls[relay.poll];
  if (!(relay.unit in profile.units)) faults.push(`there is no unit "${relay.unit}"`);
  if (poll?.unit !== relay.unit) faults.push(`poll "${relay.poll}" reads another unit`);
  // Rule 10: a relay that is not read back every 5 s cannot be supervised.
  if (poll !== undefined && poll.periodMs > readBackMostMs)
    faults.push(`poll "${relay.poll}" reads back every ${poll.periodMs} ms, not within ${readBackMostMs} ms`);
  const hasWords = relay.on !== undefined && relay.off !== undefined && relay.on !== relay.off;
  if (relay.kind === 'register' && !hasWords)
    faults.push('a register relay needs two different values: on and off');
  if (relay.kind === 'register' && relay.flashAddress !== undefined)
    faults.push('flashAddress is for coils only');
  return faults;
}

/** All that the agent switches, by name. */
export function wiringsOf(
  profile: Pick<BoardProfile, 'relays' | 'outputs'>,
): readonly (readonly [RelayName, BoardRelay])[] {
  const all = { ...profile.relays, ...profile.outputs };
  return [...featureNames, ...outputNames].flatMap((key) => {
    const relay = all[key];
    return relay === undefined ? [] : [[key, relay] as const];
  });
}

/** The wiring of one relay; undefined when it is not fitted. */
export function wiringOf(profile: BoardProfile, relay: RelayName): BoardRelay | undefined {
  return relay === 'warning' ? profile.outputs?.warning : profile.relays[relay];
}

/** The read request of a poll; null when its unit does not exist. */
export function pollRequest(profile: BoardProfile, poll: BoardPoll): ModbusRequest | null {
  const unit = profile.units[poll.unit]?.address;
  if (unit === undefined) return null;
  const { first, count } = poll;
  return poll.function <= 2
    ? { kind: 'readBits', unit, function: poll.function as 1 | 2, first, count }
    : { kind: 'readRegisters', unit, function: poll.function as 3 | 4, first, count };
}

/** Where a relay is read back. */
export function readAddress(relay: BoardRelay): number {
  return relay.readAddress ?? relay.address;
}

type Entries = Readonly<Record<string, object | false | undefined>>;

function merge(base: Entries, patches: Entries | undefined): Record<string, object> {
  const merged: Record<string, object> = {};
  for (const key of new Set([...Object.keys(base), ...Object.keys(patches ?? {})])) {
    const change = patches?.[key];
    if (change !== false) merged[key] = { ...base[key], ...change };
  }
  return merged;
}

/** The profile as the installer wired it. Faults name the place in the merged profile. */
export function applyOverrides(profile: BoardProfile, overrides: BoardOverrides): ProfileVerdict {
  return parseProfile({
    ...profile,
    serial: { ...profile.serial, ...overrides.serial },
    units: merge(profile.units, overrides.units),
    polls: merge(profile.polls, overrides.polls),
    inputs: merge(profile.inputs, overrides.inputs),
    analogs: merge(profile.analogs, overrides.analogs),
    relays: merge(profile.relays, overrides.relays),
    ...(profile.outputs === undefined && overrides.outputs === undefined
      ? {}
      : { outputs: merge(profile.outputs ?? {}, overrides.outputs) }),
  });
}

/** The value of an analog signal from a register, in the table's unit (fuel: 0 to 1; supply: volts); null = unknown. */
export function analogValue(signal: BoardAnalog, raw: number): number | null {
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

/** The poll that shows the panic button, else the crash contact: the one that must not be late; null when neither is fitted. */
export function urgentPoll(profile: BoardProfile): string | null {
  return profile.inputs.panic?.poll ?? profile.inputs.crash?.poll ?? null;
}

/** Timers go off on whole milliseconds, at either end of an exchange. */
const timerMs = 2;

/** How long one exchange of a poll holds the bus, in ms, including `turnaroundMs` of processing time in the board. */
export function exchangeMs(profile: BoardProfile, name: string, turnaroundMs: number): number {
  const poll = profile.polls[name];
  const request = poll === undefined ? null : pollRequest(profile, poll);
  if (request === null) return 0;
  const charMs = (bitsPerChar(profile.serial) * 1000) / profile.serial.baudRate;
  const silenceMs = Math.max(3.5 * charMs, 1.75);
  // The board waits for the silence that ends a request (SL 2.5.1.1), and the master for the one that ends the answer.
  const pausesMs = silenceMs + turnaroundMs + silenceMs + 1 + timerMs;
  return (encodeRequest(request).length + expectedLength(request)) * charMs + pausesMs;
}

/**
 * The longest time between two good samples of an input on an undisturbed bus, in ms. For the urgent poll that is
 * its own period or, if longer, its exchange and the longest other one, because at most one exchange is ever
 * interposed (`poll-order.ts`); for any other poll it is an estimate. A shorter pulse may be missed; faster serial
 * settings shorten it. Relay orders go first and are not included, nor is the latency of a USB adapter, which adds
 * to `turnaroundMs`.
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
