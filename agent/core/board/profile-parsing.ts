// Checks board profiles and applies the installer's overrides. A profile must never pass if a signal or relay refers to a register that is not
// polled. Neither must one in which a wire is to prove itself.
import { Errors } from 'typebox/value';
import type { ErrorDetail } from '../../../src/core/errors.ts';
import {
  type BoardContact,
  type BoardOverrides,
  type BoardProfile,
  type BoardRelay,
  boardProfileSchema,
  isSameUnit,
  pollRequest,
  type RelayName,
  readAddress,
  wiringsOf,
} from './board-profile.ts';
import { checkRequest } from './modbus-frame.ts';

/** Maximum interval of a relay's read-back (edge-agents 2.3 rule 10). */
const readBackMostMs = 5000;
/** Maximum poll interval of ignition, motion, life and loop-back inputs, whose readings must be recent. */
const proofMostMs = 500;

export type ProfileVerdict =
  | { readonly kind: 'ok'; readonly profile: BoardProfile }
  | { readonly kind: 'faults'; readonly faults: readonly ErrorDetail[] };

/** Keys that the schema allows at the place of an error. */
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

/** Parses any value as a profile: schema first, then references. Every fault names its place; unknown keys name the allowed ones. */
export function parseProfile(value: unknown): ProfileVerdict {
  const faults: ErrorDetail[] = [];
  for (const error of Errors(boardProfileSchema, value)) {
    if (error.keyword === 'boolean' || error.keyword === 'const') continue;
    const unknown = error.keyword === 'additionalProperties' ? error.params.additionalProperties : [];
    for (const key of unknown) {
      const allowed = allowedKeys(error.schemaPath).join(', ');
      const isOff = key === 'off' && error.instancePath.startsWith('/inputs/');
      const message = isOff
        ? 'only ignition can have an off contact'
        : `unknown key "${key}"; allowed: ${allowed}`;
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

type Faults = ErrorDetail[];

/** A bit or register of a poll. */
interface Place {
  readonly poll: string;
  readonly address: number;
}

function checkProfile(profile: BoardProfile): Faults {
  const faults: Faults = [];
  const fault = (pointer: string, message: string) => faults.push({ pointer, message });
  for (const [key, poll] of Object.entries(profile.polls)) {
    const request = pollRequest(profile, poll);
    const wrong = request === null ? `there is no unit "${poll.unit}"` : checkRequest(request);
    if (wrong !== null) fault(`/polls/${key}`, wrong);
    if (poll.reversed === true && poll.function > 2)
      fault(`/polls/${key}/reversed`, 'only bits (function 1 or 2) have an order of bytes');
  }
  const addresses = Object.values(profile.units).map((unit) => unit.address);
  if (new Set(addresses).size < addresses.length) fault('/units', 'two units have the same address');
  for (const [at, setup] of profile.setup.entries()) {
    if (!(setup.unit in profile.units)) fault(`/setup/${at}/unit`, `there is no unit "${setup.unit}"`);
  }
  for (const [key, signal] of Object.entries(profile.inputs)) {
    faults.push(...placeFaults(profile, `/inputs/${key}`, { ...signal, functions: [1, 2, 3, 4] }));
    if (key === 'ignition' || key === 'motion')
      faults.push(...slowFaults(profile, `/inputs/${key}`, signal.poll));
  }
  for (const [key, signal] of Object.entries(profile.analogs)) {
    faults.push(...placeFaults(profile, `/analogs/${key}`, { ...signal, functions: [3, 4] }));
    const rising = (signal.table ?? []).every(
      (point, at, all) => at === 0 || point[0] > (all[at - 1]?.[0] ?? 0),
    );
    if (!rising) fault(`/analogs/${key}/table`, 'the first numbers of the pairs must rise');
    if (signal.valid[0] >= signal.valid[1])
      fault(`/analogs/${key}/valid`, 'the second number must be larger');
  }
  const wirings = wiringsOf(profile);
  for (const [key, relay] of wirings) {
    const pointer = pointerOf(key);
    const functions = relay.kind === 'coil' ? [1] : [3];
    const place = { poll: relay.poll, address: readAddress(relay), functions };
    faults.push(...placeFaults(profile, pointer, place));
    faults.push(...relayFaults(profile, relay).map((message) => ({ pointer, message })));
    const own = writtenBy(relay);
    const twin = wirings.find(
      ([other, wiring]) => other > key && writtenBy(wiring).some((place) => own.includes(place)),
    );
    if (twin !== undefined) fault('/relays', `${key} and ${twin[0]} are the same relay`);
  }
  return [...faults, ...proofFaults(profile)];
}

/** Every place that moves a relay, as unit and address. */
function writtenBy({ unit, address, flashAddress }: BoardRelay): readonly string[] {
  return [address, ...(flashAddress === undefined ? [] : [flashAddress])].map((place) => `${unit}:${place}`);
}

function pointerOf(relay: RelayName): string {
  if (relay === 'loopback') return '/loopback/output';
  return relay === 'warning' ? '/outputs/warning' : `/relays/${relay}`;
}

/** Faults of a place that is outside its poll, or in a poll of the wrong function. */
function placeFaults(
  profile: BoardProfile,
  pointer: string,
  place: Place & { readonly functions: readonly number[] },
): Faults {
  const { address, functions } = place;
  const poll = profile.polls[place.poll];
  if (poll === undefined)
    return [{ pointer: `${pointer}/poll`, message: `there is no poll "${place.poll}"` }];
  const faults: Faults = [];
  if (!functions.includes(poll.function))
    faults.push({
      pointer: `${pointer}/poll`,
      message: `poll "${place.poll}" has function ${poll.function}, not ${functions.join(' or ')}`,
    });
  const last = poll.first + poll.count - 1;
  if (address < poll.first || address > last)
    faults.push({
      pointer: `${pointer}/address`,
      message: `${address} is not in poll "${place.poll}" (${poll.first} to ${last})`,
    });
  return faults;
}

/** Unit, function and address of a place; undefined: its poll does not exist. */
function terminalOf({ polls }: BoardProfile, { poll, address }: Place): string | undefined {
  const read = polls[poll];
  return read === undefined ? undefined : `${read.unit}:${read.function}:${address}`;
}

/** Faults of inputs that share one wire, which would confirm itself, and of proving wires that are read too rarely. */
function proofFaults(profile: BoardProfile): Faults {
  const { inputs, life, loopback } = profile;
  const { ignition } = inputs;
  const off = ignition?.off === undefined ? null : { poll: ignition.poll, address: ignition.off.address };
  const places: readonly { readonly pointer: string; readonly name: string; readonly at: Place }[] = [
    ...Object.entries(inputs).map(([name, at]) => ({ pointer: `/inputs/${name}`, name, at })),
    ...(off === null
      ? []
      : [{ pointer: '/inputs/ignition/off', name: 'the off contact of ignition', at: off }]),
    ...(life === undefined ? [] : [{ pointer: '/life', name: 'the life input', at: life }]),
    ...(loopback === undefined
      ? []
      : [{ pointer: '/loopback/input', name: 'the loop-back input', at: loopback.input }]),
  ];
  const faults: Faults = [];
  if (ignition !== undefined) faults.push(...offFaults(profile, ignition));
  if (life !== undefined) faults.push(...lifeFaults(profile, life));
  if (loopback !== undefined) faults.push(...loopbackFaults(profile, loopback));
  for (const [index, { pointer, at }] of places.entries()) {
    const terminal = terminalOf(profile, at);
    const twin = places
      .slice(0, index)
      .find((other) => terminal !== undefined && terminalOf(profile, other.at) === terminal);
    if (twin !== undefined)
      faults.push({
        pointer: `${pointer}/address`,
        message: `${at.address} is ${twin.name} too: it needs an input of its own`,
      });
  }
  return faults;
}

/**
 * Faults of the off contact. A fault of its poll is also one of the ignition and is reported there. Without a supply both contacts read the same bit.
 * With one common inversion that means "neither" or "both"; with two different ones it could mean "off".
 */
function offFaults(profile: BoardProfile, { poll, invert, off }: BoardContact): Faults {
  if (off === undefined) return [];
  const pointer = '/inputs/ignition/off';
  const place = { poll, address: off.address, functions: [1, 2, 3, 4] };
  const faults = placeFaults(profile, pointer, place).filter((each) => each.pointer.endsWith('/address'));
  if (off.invert !== invert)
    faults.push({
      pointer: `${pointer}/invert`,
      message: `ignition has invert = ${invert} and its off contact ${off.invert}, so a lost supply could read as off: both contacts of a changeover switch hang on one supply, give both the same invert`,
    });
  return faults;
}

/**
 * Faults of a point that proves others. It must be read often, in one answer with them, and must not be an output that reads back what was written to
 * it.
 */
function pointFaults(profile: BoardProfile, pointer: string, place: Place): Faults {
  return [
    ...placeFaults(profile, pointer, { ...place, functions: [2, 3, 4] }),
    ...slowFaults(profile, pointer, place.poll),
    ...answerFaults(profile, pointer, place.poll),
  ];
}

/** Faults if ignition or motion of the same unit is in another poll: one poll may repeat old bits while the other is read again. */
function answerFaults(profile: BoardProfile, pointer: string, poll: string): Faults {
  return (['ignition', 'motion'] as const).flatMap((name) => {
    const contact = profile.inputs[name];
    if (contact === undefined || contact.poll === poll || !isSameUnit(profile, contact.poll, poll)) return [];
    const message = `${name} is in poll "${contact.poll}": both must come from one answer, so this input must be in that poll too`;
    return [{ pointer: `${pointer}/poll`, message }];
  });
}

/** Faults of a poll that is too slow for a cut: a vehicle would move before it is seen. */
function slowFaults(profile: BoardProfile, pointer: string, poll: string): Faults {
  const periodMs = profile.polls[poll]?.periodMs ?? 0;
  const message = `poll "${poll}" reads every ${periodMs} ms, not within ${proofMostMs} ms`;
  return periodMs > proofMostMs ? [{ pointer: `${pointer}/poll`, message }] : [];
}

/**
 * Faults of an inverted life input beside contacts that read 0 when open and "inactive". Such a life input reads on for ever once its wire is off,
 * which voids every other proof. Ignition and motion decide on a cut, so their inversion must be the same; the other inputs only cause a warning.
 */
function deadLifeFaults({ inputs, polls }: BoardProfile, life: Place & { readonly invert: boolean }): Faults {
  if (!life.invert) return [];
  const names = (['ignition', 'motion'] as const).filter((name) => {
    const contact = inputs[name];
    return contact !== undefined && !contact.invert && isSameUnit({ polls }, life.poll, contact.poll);
  });
  if (names.length === 0) return [];
  const message = `life has invert = true, unlike ${names.join(' and ')}: it would read on for ever once its wire is off; give them the same invert, with normally open contacts`;
  return [{ pointer: '/life/invert', message }];
}

function lifeFaults(profile: BoardProfile, life: Place & { readonly invert: boolean }): Faults {
  const faults = [...pointFaults(profile, '/life', life), ...deadLifeFaults(profile, life)];
  const covers = Object.values(profile.inputs).some(({ poll }) => isSameUnit(profile, poll, life.poll));
  const unit = profile.polls[life.poll]?.unit;
  if (unit !== undefined && !covers)
    faults.push({
      pointer: '/life/poll',
      message: `no input is read from unit "${unit}", so it speaks for none`,
    });
  return faults;
}

function loopbackFaults(
  profile: BoardProfile,
  { output, input }: NonNullable<BoardProfile['loopback']>,
): Faults {
  const faults = pointFaults(profile, '/loopback/input', input);
  const readBack = terminalOf(profile, { poll: output.poll, address: readAddress(output) });
  if (readBack !== undefined && readBack === terminalOf(profile, input))
    faults.push({
      pointer: '/loopback/input/address',
      message: 'it reads the output itself, not a wire to an input',
    });
  if (output.flashAddress !== undefined)
    faults.push({ pointer: '/loopback/output', message: 'flashAddress has no meaning here' });
  return faults;
}

/** Faults of one relay other than those of its read-back place. */
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

type Entries = Readonly<Record<string, object | false | undefined>>;

function merge(base: Entries, patches: Entries | undefined): Record<string, object> {
  const merged: Record<string, object> = {};
  for (const key of new Set([...Object.keys(base), ...Object.keys(patches ?? {})])) {
    const change = patches?.[key];
    if (change !== false) merged[key] = { ...base[key], ...change };
  }
  return merged;
}

type Entry = object | undefined;

/** One member with its override applied; undefined: there is none, or `false` removes it. */
const mergeOne = (base: Entry, change: Entry | false): Entry =>
  change === false ? undefined : change === undefined ? base : { ...base, ...change };

/** The member under its name; empty without a member. */
const named = (name: string, member: Entry): object => (member === undefined ? {} : { [name]: member });

function mergeInputs(profile: BoardProfile, overrides: BoardOverrides['inputs']): Record<string, object> {
  const merged = merge(profile.inputs, overrides);
  const change = overrides?.ignition;
  const { ignition } = merged;
  if (ignition === undefined || change === undefined || change === false || change.off === undefined)
    return merged;
  const { off: _, ...contact } = ignition as { off?: unknown };
  const off = mergeOne(profile.inputs.ignition?.off, change.off);
  return { ...merged, ignition: { ...contact, ...named('off', off) } };
}

function mergeLoopback(base: BoardProfile['loopback'], change: BoardOverrides['loopback']): Entry {
  if (change === undefined || change === false) return mergeOne(base, change);
  return {
    ...named('output', mergeOne(base?.output, change.output)),
    ...named('input', mergeOne(base?.input, change.input)),
  };
}

/** The profile as the installer wired it. Faults name the place in the merged profile. */
export function applyOverrides(profile: BoardProfile, overrides: BoardOverrides): ProfileVerdict {
  const { life, loopback, ...plain } = profile;
  return parseProfile({
    ...plain,
    serial: { ...profile.serial, ...overrides.serial },
    units: merge(profile.units, overrides.units),
    polls: merge(profile.polls, overrides.polls),
    inputs: mergeInputs(profile, overrides.inputs),
    analogs: merge(profile.analogs, overrides.analogs),
    relays: merge(profile.relays, overrides.relays),
    ...(profile.outputs === undefined && overrides.outputs === undefined
      ? {}
      : { outputs: merge(profile.outputs ?? {}, overrides.outputs) }),
    ...named('life', mergeOne(life, overrides.life)),
    ...named('loopback', mergeLoopback(loopback, overrides.loopback)),
  });
}
