// The schema of a scenario file: fleet, routes, actions, commands, phases, faults and thresholds, each with limits and default. It is the
// JSON Schema for editors too. It holds no setting without a reader.
import { type Static, Type } from 'typebox';
import { exerciseNames } from './exercises.ts';

const closed = { additionalProperties: false } as const;

interface NumberRule {
  readonly low: number;
  readonly high: number;
  readonly standard: number;
}

const number = ({ low, high, standard }: NumberRule, description: string) =>
  Type.Number({ minimum: low, maximum: high, default: standard, description });
const integer = ({ low, high, standard }: NumberRule, description: string) =>
  Type.Integer({ minimum: low, maximum: high, default: standard, description });
const table = <T extends Parameters<typeof Type.Object>[0]>(members: T, description: string) =>
  Type.Object(members, { ...closed, default: {}, description });

const boards = ['waveshare-io-analog', 'waveshare-relay-d', 'eletechsup', 'generic'] as const;

const wirings = ['plain', 'positive'] as const;

const fleetSchema = table(
  {
    kind: Type.Enum(['agent', 'tracker'], {
      default: 'agent',
      description:
        'agent: the real agent on simulated hardware; tracker: prepared events through raw MQTT, for pure load',
    }),
    devices: integer({ low: 1, high: 200_000, standard: 20 }, 'Vehicles'),
    trackerEveryS: number(
      { low: 0.1, high: 3600, standard: 10 },
      'A light tracker sends an event this often',
    ),
    board: Type.Enum([...boards], {
      default: 'waveshare-io-analog',
      description: 'I/O board of all of them',
    }),
    wiring: Type.Enum([...wirings], {
      default: 'plain',
      description:
        'positive: with an off contact of ignition, a life input and, where the board has room, a loop-back, in place of the contacts of tamper, external power and service',
    }),
    trackerJitter: Type.Boolean({
      default: true,
      description:
        'A light tracker connects again at a random moment within its back-off, as agents do; false: at its end, all at once',
    }),
    connectSpreadS: number(
      { low: 0, high: 300, standard: 5 },
      'Each vehicle connects at a random moment within this after its start',
    ),
    inputsMs: integer(
      { low: 40, high: 500, standard: 200 },
      'How often a vehicle reads its inputs, ms; 40 as delivered, more makes room for a larger fleet',
    ),
    busShare: number(
      { low: 0, high: 1, standard: 0 },
      'Part of the agents whose vehicle is a truck with a J1939 bus, the first vehicles first',
    ),
    clockOffsetS: number(
      { low: 0, high: 86_400, standard: 60 },
      'Clocks of vehicles start wrong by up to this, either way',
    ),
    clockDriftPpm: number({ low: 0, high: 500, standard: 50 }, '... and run wrong by up to this'),
  },
  'The vehicles',
);

const routeSchema = table(
  {
    latitude: number({ low: -80, high: 80, standard: 43.6511 }, 'Centre of the generated streets'),
    longitude: number({ low: -180, high: 180, standard: -79.347 }, 'Centre of the generated streets'),
    restS: number({ low: 120, high: 86_400, standard: 600 }, 'Rest at the depot between two rounds'),
    files: Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), {
      default: [],
      maxItems: 100,
      description:
        'Recorded tracks (CSV, t,lat,lon) to drive instead of generated streets, one after the other',
    }),
  },
  'Where they drive',
);

const perHour = (description: string) => number({ low: 0, high: 720, standard: 0 }, description);

const actionsSchema = table(
  {
    panicPerHour: perHour('Presses of the panic button of a vehicle in an hour'),
    doorPerHour: perHour('Cabin doors opened and closed besides those of the route'),
    tamperPerHour: perHour('Openings of the housing of the unit'),
    powerCutPerHour: perHour('Cuts of the supply'),
    refuelPerHour: perHour('Fillings of the tank while parked'),
    fuelTheftPerHour: perHour('Thefts of fuel while parked'),
    towPerHour: perHour('Tows with the ignition off'),
  },
  'Scripted actions on each vehicle; drawn from the seed',
);

const reportingSchema = table(
  {
    movingS: number({ low: 1, high: 3600, standard: 10 }, 'A position at least this often while moving'),
    stoppedS: number({ low: 10, high: 86_400, standard: 60 }, '... and while parked'),
    distanceM: number({ low: 10, high: 100_000, standard: 250 }, '... and after so many metres'),
    heartbeatS: number({ low: 30, high: 86_400, standard: 300 }, 'A heartbeat this often'),
    windowS: number({ low: 0, high: 60, standard: 5 }, 'Positions wait so long before they are written'),
  },
  'How often vehicles report',
);

const commandsSchema = table(
  {
    perMinute: number(
      { low: 0, high: 10, standard: 0 },
      'Commands of state 1 to the whole fleet in a minute; a user may give 10',
    ),
    features: Type.Array(Type.Enum(['enginecutoff', 'cargoaccess']), {
      default: ['cargoaccess', 'enginecutoff'],
      minItems: 1,
      uniqueItems: true,
      description: 'Features that are commanded',
    }),
    ttlS: integer({ low: 10, high: 86_400, standard: 60 }, 'How long a command may wait for its vehicle'),
    restoreS: number(
      { low: 5, high: 86_400, standard: 20 },
      'Every command of state 1 is followed by one of state 0 after this',
    ),
  },
  'Commands that users send',
);

const least = (description: string, standard = 0) =>
  integer({ low: 0, high: 1_000_000, standard }, description);

const needsSchema = table(
  {
    facts: least('Facts of any kind', 1),
    commands: least('Commands of state 1 that were confirmed and whose relay moved, where any are given', 1),
    panic: least('Presses of a panic button'),
    door: least('Openings of a cabin door'),
    tamper: least('Openings of a housing'),
    powerCut: least('Cuts of a supply'),
    refuel: least('Fillings of a tank'),
    fuelTheft: least('Thefts of fuel'),
    tow: least('Tows'),
  },
  'What a run of agents must have observed, each fact with its event; with less it was too small to prove anything',
);

const phaseSchema = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 40, description: 'Shown in the progress' }),
    atS: Type.Number({ minimum: 0, maximum: 604_800, description: 'Begins so many seconds after the start' }),
    share: number({ low: 0, high: 1, standard: 1 }, 'Part of the fleet that is on the road from then on'),
    rate: number({ low: 0, high: 100, standard: 1 }, 'Actions and commands happen so many times as often'),
  },
  closed,
);

/** Faults of the link, of a vehicle's hardware, and of the broker. */
export const faultKinds = [
  'link-outage',
  'link-half-open',
  'link-delay',
  'link-loss',
  'reconnect-storm',
  'duplicate-id',
  'clock-jump',
  'gnss-tunnel',
  'gnss-jam',
  'gnss-spoof',
  'bus-unplugged',
  'bus-engine-silent',
  'bus-engine-alone',
  'bus-speed-stuck',
  'bus-odometer-stuck',
  'bus-odometer-silent',
  'bus-wrong-vin',
  'bus-scale',
  'bus-codes',
  'bus-repeats',
  'board-silent',
  'board-unplugged',
  'board-noise',
  'disk-full',
  'agent-kill',
  'broker-kill',
  'slow-consumer',
] as const;
export type FaultKind = (typeof faultKinds)[number];

const faultSchema = Type.Object(
  {
    kind: Type.Enum([...faultKinds], { description: 'What goes wrong' }),
    atS: Type.Number({ minimum: 0, maximum: 604_800, description: 'Begins so many seconds after the start' }),
    forS: number({ low: 0, high: 86_400, standard: 10 }, 'Lasts so long; a jump of the clock does not'),
    share: number(
      { low: 0, high: 1, standard: 1 },
      'Part of the fleet that it strikes, the first vehicles first',
    ),
    delayMs: number({ low: 0, high: 60_000, standard: 1000 }, 'link-delay: every byte comes this much later'),
    loss: number(
      { low: 0, high: 1, standard: 0.1 },
      'link-loss: part of the segments that are lost and sent again after 200 ms, as TCP does; board-noise: chance of an answer to be changed, cut or lost',
    ),
    scale: number(
      { low: 0.1, high: 10, standard: 1.6 },
      'bus-scale: speeds on the bus are so many times the true ones',
    ),
    jumpS: number({ low: -86_400, high: 86_400, standard: 3600 }, 'clock-jump: how far the wall clock steps'),
  },
  closed,
);

const rampSchema = Type.Object(
  {
    of: Type.Enum(['rate', 'devices'], {
      description: 'What grows: events of light trackers and actions of agents, or the number of vehicles',
    }),
    from: Type.Number({
      exclusiveMinimum: 0,
      maximum: 200_000,
      description: 'First level: times, or vehicles',
    }),
    to: Type.Number({ exclusiveMinimum: 0, maximum: 200_000, description: 'Last level' }),
    steps: integer({ low: 2, high: 50, standard: 8 }, 'Levels, in equal ratios'),
    stepS: number({ low: 3, high: 3600, standard: 15 }, 'A step lasts so long'),
    settleS: number({ low: 0, high: 1800, standard: 5 }, '... of which the beginning is not measured'),
    thresholds: Type.Array(Type.String({ minLength: 3, maxLength: 100 }), {
      minItems: 1,
      maxItems: 20,
      description:
        'What a good step holds: latencies, events.rate, delivered (percent of the events made), online (percent)',
    }),
  },
  { ...closed, description: 'Load that grows until a threshold fails' },
);

export const scenarioSchema = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 200, description: 'What the scenario shows, in one line' }),
    seed: Type.String({ maxLength: 100, default: 'fleetward', description: 'Same seed, same facts' }),
    durationS: number({ low: 5, high: 604_800, standard: 60 }, 'How long facts are made'),
    drainS: number(
      { low: 5, high: 86_400, standard: 60 },
      'How long vehicles may take afterwards to deliver what they hold; longer is a failure',
    ),
    panicMs: number(
      { low: 100, high: 600_000, standard: 2000 },
      'A panic press with the link up must be stored by the broker within this',
    ),
    fleet: fleetSchema,
    route: routeSchema,
    actions: actionsSchema,
    reporting: reportingSchema,
    commands: commandsSchema,
    needs: needsSchema,
    exercises: Type.Array(Type.Enum([...exerciseNames]), {
      default: [],
      maxItems: exerciseNames.length,
      uniqueItems: true,
      description: `What is done with the account, with a broker of the run's own: ${exerciseNames.join(', ')}`,
    }),
    phases: Type.Array(phaseSchema, {
      default: [{ name: 'all', atS: 0, share: 1, rate: 1 }],
      minItems: 1,
      maxItems: 100,
      description: 'Load over time, in the order of atS',
    }),
    ramp: Type.Optional(rampSchema),
    faults: Type.Array(faultSchema, {
      default: [],
      maxItems: 1000,
      description: 'What goes wrong, and when',
    }),
    thresholds: Type.Array(Type.String({ minLength: 3, maxLength: 100 }), {
      default: [],
      maxItems: 100,
      description: 'What must hold, such as ingest.p99<250ms; the truth must always hold',
    }),
  },
  {
    ...closed,
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Scenario of fleetward-simulator',
  },
);

export type Scenario = Static<typeof scenarioSchema>;
export type Fault = Scenario['faults'][number];
export type Ramp = NonNullable<Scenario['ramp']>;
export type Phase = Scenario['phases'][number];

/** A span in which a fault struck, ms of the run. */
export interface FaultSpan {
  readonly kind: FaultKind;
  /** Part of the fleet that it struck. */
  readonly share: number;
  readonly fromMs: number;
  readonly toMs: number;
}
