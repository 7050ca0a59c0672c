// The JSON Schema of a result, for programs that read it and for `compare`. Members may be added; none is removed within a format.
import { type TSchema, Type } from 'typebox';
import { featureNames } from '../../../src/core/events/event.ts';
import { factKinds, factRules, unjudgedReasons } from '../ledger/facts.ts';
import { breachKinds, breachTexts } from '../ledger/ledger-types.ts';
import { exerciseNames } from '../scenario/exercises.ts';
import { faultKinds } from '../scenario/scenario-schema.ts';
import { brokerErrors } from '../series/broker-metrics-text.ts';
import { bucketsMost } from '../series/series.ts';
import { columnNames } from '../series/series-columns.ts';
import { expectationNames } from './expectations.ts';
import { stopSignals } from './stop-signal.ts';

const text = (description: string) => Type.String({ maxLength: 100_000, description });
const number = (description: string) => Type.Number({ description });
const count = (description: string) => Type.Integer({ minimum: 0, description });
const list = <T extends TSchema>(of: T, maxItems: number, description: string) =>
  Type.Array(of, { maxItems, description });

const nullable = <T extends TSchema>(of: T) => Type.Union([of, Type.Null()]);
const counted = (description: string) =>
  Type.Object({ count: count('How many'), last: text('The last reason') }, { description });

const breach = Type.Object({
  kind: Type.Enum([...breachKinds]),
  deviceID: text('Vehicle'),
  factNo: nullable(count('Number of the fact within its vehicle')),
  eventID: nullable(text('boot:seq')),
  commandID: nullable(text('Command')),
  words: text('What was found'),
});

const threshold = Type.Object({
  text: text('As it was asked for'),
  name: text('The figure'),
  operator: Type.Enum(['<', '<=', '==', '>=', '>']),
  limit: number('In the unit of the figure'),
  value: nullable(number('Measured; null: not measured')),
  isMet: Type.Boolean(),
});

const expectation = Type.Object({
  name: Type.Enum([...expectationNames]),
  needed: count('At least'),
  seen: count('Was seen'),
  isMet: Type.Boolean(),
  detail: text('Why it was not met; may be empty'),
});

const column = list(nullable(Type.Number()), bucketsMost, 'A value for each bucket; null: not measured');

const series = Type.Object(
  {
    stepMs: Type.Integer({ minimum: 1000, description: 'Width of a bucket, ms' }),
    endMs: Type.Number({ minimum: 0, description: 'End of the last bucket, ms of the run' }),
    columns: Type.Object(Object.fromEntries(columnNames.map((name) => [name, Type.Optional(column)])), {
      description: 'Rates are a second, CPU is in percent of one core, memory is MiB, the rest ms or counts',
    }),
  },
  { description: 'The run over time, in at most 720 buckets' },
);

const setting = Type.Object({
  command: text('The command line that repeats the run'),
  target: nullable(text('HTTP address of the broker; null: one of the run’s own')),
  version: text('Of Fleetward'),
  node: text('Of Node.js'),
  machine: Type.Object({
    cpu: text('Model'),
    cores: count('Processors'),
    memoryMb: number('MiB'),
    system: text('Kernel and architecture'),
  }),
});

const truth = Type.Object(Object.fromEntries(breachKinds.map((kind) => [kind, count(breachTexts[kind])])), {
  description: 'How often what must never happen did',
});

const counts = Type.Object({
  facts: count('What happened to vehicles'),
  events: count('Stored on vehicles'),
  sent: count('Handed to links, repeats too'),
  acknowledged: count('By the broker'),
  shown: count('Returned by the HTTP service'),
  commands: count('Given by people'),
  connects: count('Connections that came up'),
});

const factTally = (description: string) =>
  Type.Object(
    {
      happened: count('How often'),
      found: count('With their event'),
      unjudged: Type.Object(
        Object.fromEntries(
          unjudgedReasons.map((reason) => [reason, count('Without an event, for this reason')]),
        ),
        { description: 'Neither found nor a breach' },
      ),
    },
    { description },
  );

const facts = Type.Object(
  Object.fromEntries(factKinds.map((kind) => [kind, factTally(factRules[kind].words)])),
  { description: 'What happened to vehicles, by kind' },
);

const times = (description: string) =>
  nullable(Type.Object({ p50: number('ms'), max: number('ms'), count: count('Measured') }, { description }));

const commandOutcome = Type.Object({
  feature: Type.Enum([...featureNames]),
  state: Type.Enum(['0', '1']),
  requested: count('Given by people'),
  ends: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
    description: 'How many ended in which state of the broker’s ledger; `unread`: it was never asked',
  }),
  relayMs: times('From the request to the first move of the relay'),
  reportMs: times('From the request to the vehicle’s report of the end'),
});

const step = Type.Object({
  no: count('From 0'),
  level: number('Vehicles on the road, or times the planned rate'),
  fromS: number('s of the run'),
  toS: number('s of the run'),
  figures: Type.Record(Type.String(), Type.Number()),
  online: count('Vehicles with a connection at its end'),
  waiting: count('Events without an acknowledgement at its end'),
  generatorCore: number('Part of a core that the busiest process of the generator used'),
  failures: list(text('A threshold that did not hold, with what was measured'), 1000, 'Empty: a good step'),
});

const ramp = Type.Object(
  {
    of: Type.Enum(['devices', 'rate']),
    steps: list(step, 50, 'Up to the first that was bad'),
    knee: Type.Object({
      lastGood: nullable(step),
      firstBad: nullable(step),
      isGenerator: Type.Boolean({ description: 'The generator was late or full in the first bad step' }),
      place: Type.Optional(
        Type.Enum(['within', 'below', 'above', 'unknown'], {
          description:
            'Of the knee, seen from the ramp; below: its first step already failed, so the run failed',
        }),
      ),
      words: text('In words'),
    }),
  },
  { description: 'Load in steps until a threshold failed; null: none was asked for' },
);

const intervention = Type.Object({
  atS: number('s of the run'),
  request: Type.Union([
    Type.Object({
      kind: Type.Literal('rate'),
      factor: number('Times the planned rate'),
      from: count('First vehicle'),
      to: count('Last vehicle'),
    }),
    Type.Object({
      kind: Type.Literal('fault'),
      fault: Type.Object({
        kind: Type.Enum([...faultKinds]),
        forS: number('s'),
        share: number('Part of the fleet'),
      }),
    }),
  ]),
});

export const resultSchema = Type.Object(
  {
    format: Type.Literal(1),
    scenario: text('Name'),
    title: text('In one line'),
    seed: text('Same seed, same facts'),
    kind: Type.Enum(['agent', 'tracker'], { description: 'Real agents, or light trackers without one' }),
    devices: Type.Integer({ minimum: 1 }),
    durationS: number('How long facts were made'),
    elapsedS: number('Until no further facts came'),
    startedAt: text('ISO 8601'),
    isPassed: Type.Boolean(),
    outcome: Type.Optional(
      Type.Enum(['passed', 'failed', 'incomplete'], {
        description: 'Incomplete: a signal ended it, or something could not be looked at; it has not passed',
      }),
    ),
    notLookedAt: Type.Optional(
      list(text('In words'), 100, 'What an incomplete run did not look at; empty for a complete one'),
    ),
    interruptedBy: nullable(
      Type.Enum([...stopSignals], {
        description: 'The signal that ended it early; null: it came to its end',
      }),
    ),
    counts,
    truth,
    unjudged: count('Facts that could not be judged'),
    facts,
    commands: list(commandOutcome, 10, 'How commands ended; empty: none was given'),
    readVehicles: count('Vehicles whose history, present and exports were read back one by one'),
    live: Type.Object(
      {
        seen: count('Events of the run'),
        isCounted: Type.Boolean({ description: 'Each was counted, so that one that is missing is found' }),
      },
      { description: 'The live stream' },
    ),
    figures: Type.Record(Type.String(), Type.Number(), {
      description: 'Every figure that a threshold may name; latencies in ms over the whole run',
    }),
    thresholds: list(threshold, 1000, 'What was asked for'),
    expectations: list(expectation, 100, 'What had to be seen; empty for a run that a signal ended'),
    ramp: nullable(ramp),
    interventions: list(intervention, 1000, 'What people changed while it went on'),
    machine: Type.Object({
      cpuMs: number('CPU time of the generator, ms'),
      rssMb: number('Its resident memory at the end, MiB'),
      startRssMb: number('... and before the first vehicle'),
      grownMb: Type.Optional(number('By how much the processes with the vehicles have grown, MiB')),
      processes: count('That shared the fleet'),
    }),
    approvals: Type.Object(
      { approved: count('By the second user of the run'), waiting: count('For a second user, in vain') },
      { description: 'Cuts that need a second user' },
    ),
    exercises: list(
      Type.Object({
        name: Type.Enum([...exerciseNames]),
        isPossible: Type.Boolean({ description: 'False: it needs a broker of the run’s own, and agents' }),
        looked: count('Comparisons that were made'),
        reason: text('Why it was not carried out; may be empty'),
      }),
      exerciseNames.length,
      'What was done with the account',
    ),
    refusedCommands: counted('Commands that the service refused'),
    failedStarts: counted('Vehicles that did not start'),
    warnings: list(text('In words'), 1000, 'What the reader of the figures must know'),
    breaches: list(breach, 10_000, 'The first of what was found; truth counts all'),
    series,
    faults: list(
      Type.Object({
        kind: Type.Enum([...faultKinds]),
        share: number('Part of the fleet'),
        fromMs: number('ms of the run'),
        toMs: number('ms of the run'),
      }),
      2000,
      'When which fault was there',
    ),
    routes: list(
      Type.Object({
        deviceID: text('Vehicle'),
        points: list(Type.Number(), 12_000, 'Latitude and longitude, one after the other'),
      }),
      100,
      'Ways as vehicles reported them, simplified; none of light trackers',
    ),
    brokerSight: Type.Object({
      seen: count('Looks at the broker’s own figures'),
      missed: count('Looks without an answer'),
      reason: text('Why the last one failed'),
      errors: Type.Object(
        Object.fromEntries(brokerErrors.map((error) => [error, count('From the first look to the last')])),
        { description: 'What the broker counts as an error' },
      ),
    }),
    setting,
    spec: Type.Object({}, { description: 'The scenario with all its defaults' }),
  },
  {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Result of a run of fleetward-simulator',
  },
);
