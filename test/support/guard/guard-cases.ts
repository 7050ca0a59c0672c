// Cases of the relay guard as data: facts, a question, and the answer. The test of the guard runs them, the mutants must fail one, and an oracle in
// another language answers them as lines.
import type { GuardFact } from '../../../agent/guard/facts.ts';
import type { LineRequest, Refusal } from '../../../agent/guard/guard.ts';
import type { CommandBody } from '../../../src/core/wire/wire.ts';
import { type PlainList, plainPersons } from './guard-lines.ts';
import {
  type Asking,
  type Course,
  inputsFact,
  linesOf,
  linesOfCourse,
  nowMs,
  orderFact,
  parked,
  speedFact,
  tokenOf,
  unlock,
  utcMs,
} from './guard-rig.ts';

export type Case = readonly [
  what: string,
  facts: readonly GuardFact[],
  refusals: 'permit' | readonly Refusal[],
  asking?: Asking,
];

export const ago = (ms: number): number => nowMs - ms;
const relays = (agoMs: number, on: boolean | null, more = {}): GuardFact => ({
  kind: 'relays',
  atMs: ago(agoMs),
  enginecutoff: on,
  ...more,
});
type SignName = Extract<GuardFact, { kind: 'sign' }>['of'];
const sign = (of: SignName, value: number | null, agoMs = 100): GuardFact => ({
  kind: 'sign',
  atMs: ago(agoMs),
  of,
  value,
});
export const without = (kind: GuardFact['kind']): readonly GuardFact[] =>
  parked.filter((fact) => fact.kind !== kind);
const unlocks = orderFact({ feature: 'cargoaccess', counter: 2 });
const zoneOrder = {
  kind: 'order',
  atMs: ago(1000),
  origin: 'new',
  proof: { kind: 'zone', feature: 'enginecutoff', zoneID: 'z', to: 'inside', untilMs: 0 },
} as const;
const grants: GuardFact = { kind: 'grants', atMs: ago(2000), grants: ['enginecutoff inside z'] };
const attended = (agoMs: number): GuardFact => ({
  kind: 'order',
  atMs: ago(100),
  origin: 'new',
  proof: { kind: 'attended', feature: 'enginecutoff', agreedMs: ago(agoMs) },
});
const sound = (agoMs: number): readonly GuardFact[] => [
  { kind: 'relays', atMs: ago(agoMs), warning: true },
  { kind: 'relays', atMs: ago(100), warning: true },
];
const keyOn = [...parked, inputsFact(true, false)];

const onTwoUnits = [
  { feature: 'enginecutoff', unit: 1, addresses: [0], off: null },
  { feature: 'cargoaccess', unit: 2, addresses: [1], off: null },
] as const;

export const conditions: readonly Case[] = [
  [
    'a frame without an address, as if it were of the first one',
    parked,
    'permit',
    { request: { kind: 'unheardOf', unit: 1 } },
  ],
  [
    'a frame that opens one address of a relay and closes another',
    [],
    ['order', 'expiry', 'holdup', 'key', 'place'],
    {
      setup: { outputs: [{ feature: 'enginecutoff', unit: 1, addresses: [0, 1], off: null }] },
      request: { kind: 'writeCoils', unit: 1, first: 0, values: [false, true] },
    },
  ],
  [
    'a place that is not named, on a unit of one relay',
    [],
    ['fault'],
    {
      setup: { outputs: [{ feature: 'enginecutoff', unit: 1, addresses: [0, 1], off: null }] },
      request: { kind: 'writeCoil', unit: 1, address: 0xff, on: true },
    },
  ],
  [
    'a broadcast of a place that one of the units with a relay does not name',
    parked,
    ['fault'],
    { setup: { outputs: onTwoUnits }, request: { kind: 'writeCoil', unit: 0, address: 0, on: true } },
  ],
  [
    'a broadcast of a place that names a relay on each of two units',
    parked,
    ['fault'],
    {
      setup: { outputs: [...onTwoUnits, { feature: 'enginecutoff', unit: 2, addresses: [0], off: null }] },
      request: { kind: 'writeCoil', unit: 0, address: 0, on: true },
    },
  ],
  [
    'a broadcast that opens a relay on each of two units',
    parked,
    'permit',
    {
      setup: { outputs: [...onTwoUnits, { feature: 'enginecutoff', unit: 2, addresses: [0], off: null }] },
      request: { kind: 'writeCoil', unit: 0, address: 0, on: false },
    },
  ],
  [
    'an input whose request is unknown, soon after a start',
    [
      ...[-150, -50, 40].map((atMs) => ({ kind: 'step', atMs }) as const),
      { kind: 'inputs', atMs: 50, askedMs: null, ignition: false },
    ],
    ['order', 'expiry', 'inputs', 'holdup', 'place'],
    { atMs: 100 },
  ],
  [
    'no fix, motion unknown for more than 3 s',
    [
      ...without('speed').filter(({ kind }) => kind !== 'inputs'),
      ...quiet(60_000).slice(0, 25),
      ...[34, 32, 30].map((s) => inputsFact(false, null, s * 1000)),
      ...quiet(29_000),
    ],
    ['place'],
  ],
  [
    'the key on after a warning that the last reading does not name',
    [...keyOn, ...sound(30_000), relays(50, false)],
    'permit',
  ],
  ['one that is active since the end of a drive', stuck(600_000, [], [speedFact(20, 600_000)]), ['motion']],

  ['an honest cut', parked, 'permit'],
  ['nothing known', [], ['order', 'expiry', 'holdup', 'key', 'place']],
  ['no order', without('order'), ['order', 'expiry']],
  ['inputs of 600 ms ago', [...parked, inputsFact(false, false, 600)], 'permit'],
  ['inputs of 601 ms ago', [...parked, inputsFact(false, false, 601)], ['inputs']],
  [
    'an input whose request is unknown',
    [...parked, { kind: 'inputs', atMs: nowMs, askedMs: null, ignition: false }],
    ['inputs', 'holdup'],
  ],
  ['the key on', keyOn, ['key']],
  ['the key unknown', [...parked, inputsFact(null, false)], ['key']],
  ['the key on by an inverted input', parked, ['key'], { setup: { ignition: { invert: true } } }],
  ['the key on after a warning', [...keyOn, ...sound(30_000)], 'permit'],
  ['the key on after a short warning', [...keyOn, ...sound(29_999)], ['key']],
  [
    'the key on after a warning that was not read lately',
    [
      ...keyOn,
      { kind: 'relays', atMs: ago(50_000), warning: true },
      { kind: 'relays', atMs: ago(6001), warning: true },
    ],
    ['key'],
  ],
  [
    'the key on after a warning read just lately enough',
    [
      ...keyOn,
      { kind: 'relays', atMs: ago(50_000), warning: true },
      { kind: 'relays', atMs: ago(6000), warning: true },
    ],
    'permit',
  ],
  [
    'the key on after a warning that stopped',
    [...keyOn, ...sound(30_000), { kind: 'relays', atMs: ago(50), warning: false }],
    ['key'],
  ],
  [
    'the key on after a warning, by an installer without that mode',
    [...keyOn, ...sound(30_000)],
    ['key'],
    { setup: { warningMs: Number.POSITIVE_INFINITY } },
  ],
  [
    'the key on after a warning, motion unknown',
    [...keyOn, ...sound(30_000), inputsFact(true, null)],
    ['key'],
  ],
  [
    'the key on after a warning, no fix',
    [...keyOn.filter(({ kind }) => kind !== 'speed'), ...sound(30_000)],
    ['key', 'place'],
  ],
  [
    'the key on after a warning, by a geozone',
    [...keyOn.filter(({ kind }) => kind !== 'order'), grants, zoneOrder, ...sound(30_000)],
    ['key'],
  ],
  ['the key unknown after a warning', [...keyOn, ...sound(30_000), inputsFact(null, false)], ['key']],
  ['motion', [...parked, inputsFact(false, true)], ['motion']],
  ['motion 3 s ago', [...parked, inputsFact(false, true, 3020), inputsFact(false, false)], ['motion']],
  ['motion before that', [...parked, inputsFact(false, true, 3021), inputsFact(false, false)], 'permit'],
  ['motion by an inverted input', parked, ['motion'], { setup: { motion: { invert: true } } }],
  ['no motion input', parked, 'permit', { setup: { motion: null } }],
  ['a fix at 3 km/h', [...parked, speedFact(3)], 'permit'],
  ['a fix above it', [...parked, speedFact(3.01)], ['speed']],
  ['a speed of VTG', [...parked, speedFact(3.01, 300, 'VTG')], ['speed']],
  ['an estimated speed', [...parked, speedFact(9, 300, 'RMC', false)], ['speed']],
  ['a speed in a void sentence', [...parked, speedFact(90, 300, 'RMC', null)], 'permit'],
  ['a drive 2 s ago', [speedFact(50, 2000), ...parked], ['speed']],
  ['a drive before that', [speedFact(50, 2001), ...parked], 'permit'],
  ['no fix, the motion input at rest for 30 s', without('speed'), 'permit'],
  ['no fix, and the installer waits for one', without('speed'), ['place'], { setup: { mayLackFix: false } }],
  ['no fix and no motion input', without('speed'), ['place'], { setup: { motion: null } }],
  ['a fix of 2 s ago', [...parked, speedFact(0, 2000)], 'permit', { setup: { mayLackFix: false } }],
  ['a fix of before that', [...parked, speedFact(0, 2001)], ['place'], { setup: { mayLackFix: false } }],
  [
    'VTG for a fix',
    [...without('speed'), speedFact(0, 300, 'VTG')],
    ['place'],
    { setup: { mayLackFix: false } },
  ],
  [
    'no fix, motion 30 s ago',
    [
      ...without('speed'),
      inputsFact(false, true, 30_020),
      inputsFact(false, false, 29_000),
      ...quiet(28_000),
    ],
    'permit',
  ],
  [
    'no fix, motion just later',
    [
      ...without('speed'),
      inputsFact(false, true, 30_019),
      inputsFact(false, false, 29_000),
      ...quiet(28_000),
    ],
    ['place'],
  ],
  [
    'no fix, motion unread for more than 3 s',
    [
      ...without('speed').filter(({ kind }) => kind !== 'inputs'),
      ...quiet(40_000).slice(0, 5),
      ...quiet(29_000),
    ],
    ['place'],
  ],
  ['a turning engine', [...parked, sign('rpm', 100, 10_000)], ['engine']],
  ['an engine that turned before', [...parked, sign('rpm', 800, 10_001)], 'permit'],
  ['an engine that hardly turns', [...parked, sign('rpm', 99, 100)], 'permit'],
  [
    'an engine that turned before an unknown speed',
    [...parked, sign('rpm', 800, 9000), sign('rpm', null)],
    ['engine'],
  ],
  ['an engine that turned before it stood', [...parked, sign('rpm', 800, 9000), sign('rpm', 0)], 'permit'],
  [
    'a speed on the bus before an unknown one',
    [...parked, sign('busKmh', 40, 900), sign('busKmh', null)],
    ['bus'],
  ],
  ['an engine of unknown speed', [...parked, sign('rpm', null, 100)], 'permit'],
  ['an engine on the bus', [...parked, sign('busRpm', 300)], ['engine']],
  ['an engine on the bus 2 s ago', [...parked, sign('busRpm', 300, 2000)], ['engine']],
  ['an engine on the bus before', [...parked, sign('busRpm', 300, 2001)], 'permit'],
  ['a starter on the bus', [...parked, sign('busRpm', 299)], 'permit'],
  ['a speed on the bus', [...parked, sign('busKmh', 3, 2000)], ['bus']],
  ['a speed on the bus before', [...parked, sign('busKmh', 80, 2001)], 'permit'],
  ['rest on the bus', [...parked, sign('busKmh', 2.9)], 'permit'],
  [
    'a closing 10 s ago',
    [relays(11_000, false), relays(10_000, true), relays(9900, false), ...parked],
    'permit',
  ],
  [
    'a closing after that',
    [relays(11_000, false), relays(9999, true), relays(9900, false), ...parked],
    ['pace'],
  ],
  ['six closings within an hour', [...closings(6, 3_599_999), ...parked], ['pace']],
  ['six closings in an hour', [...closings(6, 3_600_000), ...parked], 'permit'],
  [
    'a relay that reads closed at first, 10 s ago',
    [relays(10_000, true), relays(9900, false), ...parked],
    'permit',
  ],
  [
    'a relay that reads closed at first, after that',
    [relays(9999, true), relays(9900, false), ...parked],
    ['pace'],
  ],
  ['five closings', [...closings(5, 3_000_000), ...parked], 'permit'],
  ['a refusal of the interlock', parked, ['interlock'], { isAllowed: false }],
  ['a fact of later than the question', [...parked, { ...grants, atMs: nowMs + 1 }], ['holdup']],
  [
    'one of earlier behind it',
    [...parked, { ...grants, atMs: nowMs + 1 }, { ...grants, atMs: nowMs }],
    ['holdup'],
  ],
  [
    'a request of later than its answer',
    [...parked, { kind: 'inputs', atMs: nowMs, askedMs: nowMs + 1, ignition: false }],
    ['inputs', 'holdup'],
    { atMs: nowMs + 1 },
  ],
  [
    'a request as late as its answer',
    [...parked, { kind: 'inputs', atMs: nowMs, askedMs: nowMs, ignition: false }],
    'permit',
  ],
  ['a step of 200 ms ago', parked, 'permit', { atMs: nowMs + 200 }],
  ['a step of before that', parked, ['holdup'], { atMs: nowMs + 201 }],
  [
    'a hold-up after the inputs were asked for',
    [...parked, { kind: 'step', atMs: nowMs + 201 }, speedFact(0, -401)],
    ['holdup'],
    { atMs: nowMs + 400 },
  ],
  ['steps 200 ms apart', [...parked, { kind: 'step', atMs: nowMs + 200 }], 'permit', { atMs: nowMs + 300 }],
  ['a fix that came within 130 ms of a hold-up', held(330), ['holdup'], { atMs: nowMs + 500 }],
  ['a fix after that', held(331), 'permit', { atMs: nowMs + 500 }],
  [
    'steps that are too close to count',
    [...parked, { kind: 'step', atMs: nowMs + 19 }],
    ['holdup'],
    { atMs: nowMs + 201 },
  ],
  ['steps that just count', [...parked, { kind: 'step', atMs: nowMs + 20 }], 'permit', { atMs: nowMs + 201 }],
  ['an unlock', [...parked, unlocks], 'permit', { request: unlock }],
  ['an unlock, by an order to cut', parked, ['order', 'expiry'], { request: unlock }],
  ['an unlock with the key on', [...keyOn, unlocks], 'permit', { request: unlock }],
  [
    'an unlock with the key unknown',
    [...parked, unlocks, inputsFact(null, false)],
    'permit',
    { request: unlock },
  ],
  [
    'an unlock with the key on and no motion input',
    [...keyOn, unlocks],
    ['key'],
    { request: unlock, setup: { motion: null } },
  ],
  [
    'an unlock with the key on and no fix',
    [...keyOn.filter(({ kind }) => kind !== 'speed'), unlocks],
    ['key', 'place'],
    { request: unlock },
  ],
  [
    'an unlock with the key on, attended',
    [
      ...keyOn,
      {
        kind: 'order',
        atMs: ago(9),
        origin: 'new',
        proof: { kind: 'attended', feature: 'cargoaccess', agreedMs: ago(9) },
      },
    ],
    ['key'],
    { request: unlock },
  ],
  [
    'an unlock beside a turning engine',
    [...parked, unlocks, sign('busRpm', 900)],
    'permit',
    { request: unlock },
  ],
  ['a stuck motion input', stuck(600_000, []), 'permit'],
  ['a motion input that is stuck for a shorter time', stuck(599_999, []), ['motion']],
  ['one that is active since a drive', stuck(600_000, [speedFact(20, 300_000)]), ['motion']],
  [
    'a stuck motion input without a fix',
    stuck(600_000, []).filter(({ kind }) => kind !== 'speed'),
    ['motion', 'place'],
  ],
];

/** Samples of rest once a second from then on. */
function quiet(fromMs: number): readonly GuardFact[] {
  return Array.from({ length: Math.floor(Math.min(fromMs, 1e9) / 1000) }, (_, at) =>
    inputsFact(false, false, fromMs - at * 1000),
  ).concat(inputsFact(false, false));
}

function closings(count: number, firstAgoMs: number): readonly GuardFact[] {
  return Array.from({ length: count }, (_, at) => [
    relays(firstAgoMs - at * 20_000 + 100, false),
    relays(firstAgoMs - at * 20_000, true),
  ])
    .flat()
    .concat(relays(firstAgoMs - count * 20_000, false));
}

/** A hold-up that ended 200 ms from now, inputs after it, and a fix that long from now. */
function held(fixMs: number): readonly GuardFact[] {
  const steps = [201, 301, 401, 500].map((ms) => ({ kind: 'step', atMs: nowMs + ms }) as const);
  return [...parked, ...steps, inputsFact(false, false, -300), speedFact(0, -fixMs)];
}

/** A motion input that has read active every 2 s for so long. */
function stuck(
  forMs: number,
  meanwhile: readonly GuardFact[],
  first: readonly GuardFact[] = [],
): readonly GuardFact[] {
  const active = Array.from({ length: Math.ceil(forMs / 2000) }, (_, at) =>
    inputsFact(false, true, forMs + 20 - at * 2000),
  );
  const [before, after] = [active.slice(0, active.length / 2), active.slice(active.length / 2)];
  return [
    ...first,
    ...before,
    ...meanwhile,
    ...after,
    ...parked.filter(({ kind }) => kind !== 'inputs'),
    inputsFact(false, true),
  ];
}

const byPersons = { verifyPersons: plainPersons };
const agreed = (...by: readonly string[]): Partial<CommandBody> => ({
  assertions: by.map((credential) => ({
    credential,
    clientData: 'x',
    authenticatorData: 'x',
    signature: 'x',
  })),
});
/** @param untilMs end of the list, from now on. */
const owner = (persons: readonly string[], untilMs = 9e9): GuardFact => {
  const needed = { enginecutoff: 2, cargoaccess: 1 };
  const list: PlainList = { validUntilMs: utcMs + untilMs, needed, persons };
  return { kind: 'owner', atMs: ago(400), list } as unknown as GuardFact;
};
const both = orderFact(agreed('ann', 'bob'));
const list = owner(['ann', 'bob']);
const later = clock(0, true);
const once = orderFact({ ...agreed('ann', 'bob'), boot: 'b0' }, 'carried');
const owned = (
  [
    ['no persons', [orderFact(), list, later], ['order']],
    ['the persons of its list', [both, list, later], 'permit'],
    ['a person too few', [orderFact(agreed('ann')), list, later], ['order']],
    ['a person who left the list', [list, both, owner(['ann']), later], ['order']],
    ['no list', [both, later], ['order']],
    ['no time', [both, list], ['order']],
    ['a list just before its end', [both, owner(['ann', 'bob'], 501), later], 'permit'],
    ['a list at its end', [both, owner(['ann', 'bob'], 500), later], ['order']],
    ['a geozone', [grants, zoneOrder, list, later], ['order']],
    ['a person at the unit', [attended(100), list, later], ['order']],
    ['what its persons had done, later', [once, list, clock(9e8, true)], 'permit'],
    ['what was done by a list that ended with the order', [once, owner(['ann', 'bob'], 59_999)], ['order']],
    ['what was done without persons', [orderFact({ boot: 'b0' }, 'carried'), list, later], ['order']],
    ['what a geozone had done', [{ ...zoneOrder, origin: 'carried' }, grants, list], ['order']],
  ] satisfies readonly (readonly [string, readonly GuardFact[], Case[2]])[]
).map(([what, facts, refusals]): Case => {
  return [`a unit with an owner: ${what}`, [...facts, ...without('order')], refusals, { setup: byPersons }];
});

export const lives: readonly Case[] = [
  ['an order with the number 0', [...without('order'), orderFact({ counter: 0 })], ['order', 'expiry']],
  ['a second consent', [...without('order'), attended(130_000), attended(100)], 'permit'],

  ['an order until its end', [...without('order'), orderFact({}, 'new', 59_999)], 'permit'],
  ['an order at its end', [...without('order'), orderFact({}, 'new', 60_000)], ['expiry']],
  [
    'a bad signature',
    [
      ...without('order'),
      { ...orderFact(), proof: { kind: 'broker', token: tokenOf().replace('good', 'bad') } },
    ],
    ['order', 'expiry'],
  ],
  ['no key of a broker', parked, ['order', 'expiry'], { setup: { verifier: null } }],
  [
    'an order that is no command',
    [...without('order'), { ...orderFact(), proof: { kind: 'broker', token: 'good.{}' } }],
    ['order', 'expiry'],
  ],
  ...(['accountID', 'deviceID', 'boot'] as const).map(
    (name): Case => [
      `another ${name}`,
      [...without('order'), orderFact({ [name]: 'x' })],
      ['order', 'expiry'],
    ],
  ),
  [
    'an order with a used number',
    [...parked, orderFact({ state: '0', counter: 2 }), orderFact({ commandID: 'c2', counter: 2 })],
    ['order', 'expiry'],
  ],
  [
    'an order with the next number',
    [...parked, orderFact({ state: '0', counter: 2 }), orderFact({ commandID: 'c2', counter: 3 })],
    'permit',
  ],
  ['a restore', [...parked, orderFact({ state: '0', counter: 2 })], ['order', 'expiry']],
  [
    'a restore of the other relay',
    [...parked, orderFact({ feature: 'cargoaccess', state: '0', counter: 2 })],
    'permit',
  ],
  ['a cancelled order', [...parked, orderFact({ cancel: true, counter: 2 })], ['order', 'expiry']],
  [
    'a cancel of another order',
    [...parked, orderFact({ cancel: true, commandID: 'c9', counter: 2 })],
    'permit',
  ],
  [
    'the same order once more, later',
    [...without('order'), orderFact({}, 'new', 60_000), orderFact({ counter: 2 })],
    ['expiry'],
  ],
  [
    'another order, later',
    [...without('order'), orderFact({}, 'new', 60_000), orderFact({ counter: 2, commandID: 'c2' })],
    'permit',
  ],
  [
    'an order of an earlier run at an unknown time',
    [orderFact({ boot: 'b0' }, 'waiting'), ...without('order')],
    ['expiry'],
  ],
  [
    'an order of an earlier run that comes after the start',
    [...without('order'), clock(0, true), orderFact({ boot: 'b0' }, 'waiting')],
    ['order', 'expiry'],
  ],
  [
    'one that was carried out and comes after the start',
    [...without('order'), orderFact({ boot: 'b0' }, 'carried')],
    ['order', 'expiry'],
  ],
  [
    'an unlock that was carried out in an earlier run',
    [orderFact({ boot: 'b0', feature: 'cargoaccess' }, 'carried'), ...without('order')],
    ['order', 'expiry'],
    { request: unlock },
  ],
  ['one before its end by UTC', kept(59_999), 'permit'],
  ['one at its end by UTC', kept(60_000), ['expiry']],
  [
    'one by the time of a receiver',
    [orderFact({ boot: 'b0' }, 'waiting'), ...without('order'), clock(0, false)],
    'permit',
  ],
  [
    'one by the time of a receiver that the broker contradicts',
    [...kept(60_000), clock(0, false)],
    ['expiry'],
  ],
  [
    'one that a signed time mends',
    [orderFact({ boot: 'b0' }, 'waiting'), ...without('order'), clock(90_000, false), clock(0, true)],
    'permit',
  ],
  [
    'one that was carried out, at any time',
    [orderFact({ boot: 'b0' }, 'carried', 600_000), ...without('order')],
    'permit',
  ],
  [
    'one that was carried out, with the key on after a warning',
    [orderFact({}, 'carried'), ...without('order'), ...sound(30_000), inputsFact(true, false)],
    ['key'],
  ],
  [
    'a cancel of one that was carried out',
    [orderFact({}, 'carried'), ...without('order'), orderFact({ cancel: true, counter: 2 })],
    'permit',
  ],
  ['a geozone that the configuration names', [...without('order'), grants, zoneOrder], 'permit'],
  [
    'a geozone that it does not name',
    [...without('order'), { ...grants, grants: ['enginecutoff outside z'] }, zoneOrder],
    ['order'],
  ],
  [
    'a geozone where the installer lets none cut',
    [...without('order'), grants, zoneOrder],
    ['order'],
    { setup: { zoneCuts: false } },
  ],
  [
    'a geozone that unlocks, where it may not cut',
    [
      ...without('order'),
      { ...grants, grants: ['cargoaccess inside z'] },
      { ...zoneOrder, proof: { ...zoneOrder.proof, feature: 'cargoaccess' } },
    ],
    'permit',
    { request: unlock, setup: { zoneCuts: false } },
  ],
  ['a geozone for a day', [...without('order'), grants, { ...zoneOrder, atMs: ago(86_399_999) }], 'permit'],
  [
    'a geozone after a day',
    [...without('order'), grants, { ...zoneOrder, atMs: ago(86_400_000) }],
    ['expiry'],
  ],
  [
    'a geozone of an earlier run',
    [
      { ...zoneOrder, origin: 'waiting', proof: { ...zoneOrder.proof, untilMs: utcMs + 5 } },
      ...without('order'),
      grants,
      clock(-1000, true),
    ],
    'permit',
  ],
  [
    'a geozone of an earlier run after its end',
    [
      { ...zoneOrder, origin: 'waiting', proof: { ...zoneOrder.proof, untilMs: utcMs } },
      ...without('order'),
      grants,
      clock(0, true),
    ],
    ['expiry'],
  ],
  [
    'a geozone behind a person',
    [...without('order'), orderFact({}, 'new', 60_000), grants, zoneOrder],
    ['expiry'],
  ],
  [
    'a geozone behind what a person had done',
    [orderFact({}, 'carried', 60_000), ...without('order'), grants, zoneOrder],
    'permit',
  ],
  ['a person at the unit', [...without('order'), attended(124_999)], 'permit'],
  ['a consent of later than now', [...without('order'), attended(99)], ['order', 'expiry']],
  ['a consent of that moment', [...without('order'), attended(100)], 'permit'],
  ['a consent that is too old', [...without('order'), attended(125_000)], ['expiry']],
  [
    'a person at the unit, no fix',
    [...without('order').filter(({ kind }) => kind !== 'speed'), attended(100)],
    'permit',
    { setup: { motion: null, mayLackFix: false } },
  ],
  [
    'a person at the unit, the key on',
    [...keyOn.filter(({ kind }) => kind !== 'order' && kind !== 'speed'), attended(100)],
    ['key', 'place'],
  ],
  [
    'six closings, and an order that was carried out',
    [orderFact({}, 'carried'), ...closings(6, 500_000), ...without('order')],
    ['pace'],
  ],
  ...owned,
  [
    'a lock that opened and closed',
    [
      ...parked,
      unlocks,
      { kind: 'relays', atMs: ago(900), cargoaccess: false },
      { kind: 'relays', atMs: ago(800), cargoaccess: true },
      { kind: 'relays', atMs: ago(700), cargoaccess: false },
    ],
    ['order', 'expiry', 'pace'],
    { request: unlock },
  ],
];

function clock(aheadMs: number, isSigned: boolean): GuardFact {
  return { kind: 'clock', atMs: ago(500), utcMs: utcMs + aheadMs, isSigned };
}
function kept(atUtcMs: number): readonly GuardFact[] {
  return [orderFact({ boot: 'b0' }, 'waiting'), ...without('order'), clock(atUtcMs - 500, true)];
}

const none = ['order', 'expiry', 'holdup', 'key', 'place'] as const;
export const requests: readonly (readonly [request: LineRequest, answer: 'permit' | readonly Refusal[]])[] = [
  [{ kind: 'unheardOf', unit: 1 }, none],
  [{ kind: 'unheardOf', unit: 1, address: 0 }, none],
  [{ kind: 'readWriteRegisters', unit: 1, first: 0, values: [0] }, none],
  // Members of another kind are not sent: they must not hide what is.
  [{ kind: 'unheardOf', unit: 1, address: 0, on: false }, none],
  [{ kind: 'pulseCoil', unit: 1, address: 0, value: 7, on: false }, none],
  [{ kind: 'writeCoil', unit: 1, address: 0, on: true, values: [false] }, none],
  [{ kind: 'writeCoil', unit: 1, address: 0, on: true, first: 2 }, none],
  [{ kind: 'writeCoils', unit: 1, first: 0, values: [true], address: 2 }, none],
  [{ kind: 'writeCoils', unit: 1, first: 0, on: false }, none],
  [{ kind: 'writeCoil', unit: 1, address: 0 }, none],
  [{ kind: 'readBits', unit: 1, first: 0 }, 'permit'],
  [{ kind: 'readRegisters', unit: 1, first: 0 }, 'permit'],
  [{ kind: 'readBits', unit: 1, first: 5 }, 'permit'],
  [{ kind: 'writeCoil', unit: 1, address: 0, on: false }, 'permit'],
  [{ kind: 'writeCoil', unit: 1, address: 0x200, on: true }, none],
  [{ kind: 'pulseCoil', unit: 1, address: 0x201, value: 0 }, none],
  [{ kind: 'writeCoils', unit: 1, first: 0, values: [false, false] }, 'permit'],
  [{ kind: 'writeCoils', unit: 1, first: 1, values: [true] }, none],
  [{ kind: 'writeCoils', unit: 1, first: 0, values: [false, true] }, ['fault']],
  // Outputs and registers that restrict nothing pass; a unit without a relay is no matter of the guard.
  [{ kind: 'writeCoil', unit: 1, address: 2, on: true }, 'permit'],
  [{ kind: 'writeCoils', unit: 1, first: 1, values: [false, true] }, 'permit'],
  [{ kind: 'writeRegister', unit: 1, address: 7, value: 1 }, 'permit'],
  [{ kind: 'writeCoil', unit: 2, address: 0, on: true }, 'permit'],
  [{ kind: 'writeCoil', unit: 3, address: 5, on: true }, 'permit'],
  // What the set-up does not name on a unit of the relays, such as the coil that moves all relays of a board.
  [{ kind: 'writeCoil', unit: 1, address: 0xff, on: true }, ['fault']],
  [{ kind: 'writeCoil', unit: 1, address: 0xff, on: false }, ['fault']],
  [{ kind: 'writeCoil', unit: 1, address: 7, on: true }, ['fault']],
  [{ kind: 'writeRegister', unit: 1, address: 0, value: 1 }, ['fault']],
  [{ kind: 'writeCoils', unit: 1, first: 2, values: [true, true] }, ['fault']],
  [{ kind: 'writeCoils', unit: 1, first: 0, values: [true, false, true, true] }, ['fault']],
  // A broadcast reaches each unit.
  [{ kind: 'writeCoil', unit: 0, address: 0, on: true }, none],
  [{ kind: 'writeCoil', unit: 0, address: 0, on: false }, 'permit'],
  [{ kind: 'writeCoil', unit: 0, address: 2, on: true }, ['fault']],
  [{ kind: 'writeCoil', unit: 0, address: 9, on: true }, ['fault']],
  [{ kind: 'readBits', unit: 0, first: 9 }, 'permit'],
];

const long = orderFact({ expiresMs: utcMs + 9e9 });
const short = orderFact({ expiresMs: utcMs + 20_000 });
const read = (ms: number, on: boolean): GuardFact => relays(-ms, on);
const pace = ['pace'] as const;

const held10 = [10, 20, 30, 40, 50].flatMap((s) => [s * 1000 - 1, s * 1000]);
export const courses: readonly Course[] = [
  [
    'a relay that reads nothing is tried again after 10 s, and six times an hour',
    [long, 0, ...held10, 60_000, 3_599_999, 3_600_000],
    [
      'permit',
      ...held10.map((_, index) => (index % 2 === 0 ? pace : ('permit' as const))),
      pace,
      pace,
      'permit',
    ],
  ],
  [
    'a write that is repeated within 2 s belongs to the same try',
    [long, 0, 100, 1999, 2000, 9999, 10_000],
    ['permit', 'permit', 'permit', pace, pace, 'permit'],
  ],
  [
    'a closing that is read within 4 s of a permit was counted with it',
    [long, 0, read(4000, true), read(4500, false), 10_000],
    ['permit', 'permit'],
  ],
  [
    'a later one is another',
    [long, 0, read(4001, true), read(4500, false), 14_000, 14_001],
    ['permit', pace, 'permit'],
  ],
  [
    'an order is carried out by its own closing that reads closed for 4 s, and has no end then',
    [short, 0, read(100, true), read(4100, true), read(20_000, false), 30_000],
    ['permit', 'permit'],
  ],
  [
    'one that reads closed for a shorter time is not',
    [short, 0, read(100, true), read(4099, true), read(4100, false), 30_000],
    ['permit', ['expiry']],
  ],
  [
    'nor is one without a permit, whose relay another cause holds closed',
    [short, read(-900, true), read(9000, true), read(9100, false), 30_000],
    [['expiry']],
  ],
  [
    'a permit on a relay that is closed counts from the permit',
    [short, read(-20_000, true), 0, read(3999, true), read(4100, false), 30_000],
    ['permit', ['expiry']],
  ],
  [
    'and makes the order carried out after 4 s',
    [short, read(-20_000, true), 0, read(4000, true), read(4100, false), 30_000],
    ['permit', 'permit'],
  ],
  [
    'an order that had ended before its relay closed is not carried out',
    [short, 0, read(19_000, true), read(24_000, true), read(24_100, false), 40_000],
    ['permit', ['expiry']],
  ],
  [
    'one that ended just after it is',
    [short, 0, read(18_999, true), read(24_000, true), read(24_100, false), 40_000],
    ['permit', 'permit'],
  ],
];

/** Each case as lines of its own. */
export const casesAsLines = [
  ...[...conditions, ...lives].map(([, facts, , asking]) => linesOf(facts, asking)),
  ...requests.map(([request]) => linesOf([], { request })),
  ...courses.map(linesOfCourse),
];
