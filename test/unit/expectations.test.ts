// What a run must have seen: of its scenario, of the service, and of a recording; and what the seed plans before a run begins.
import { describe, expect, it } from 'vitest';
import { type FactKind, factKinds } from '../../simulator/core/ledger/facts.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { expectationsOf, needsOf, type Seen } from '../../simulator/core/result/expectations.ts';
import { planCommands } from '../../simulator/core/scenario/command-plan.ts';
import { checkScenario } from '../../simulator/core/scenario/scenario.ts';
import type { Scenario } from '../../simulator/core/scenario/scenario-schema.ts';
import { unplannedNeeds } from '../../simulator/run/size-check.ts';
import { processesFor } from '../../simulator/run/workers/workers.ts';
import { listPresets, openScenario, readScenario } from '../../simulator/scenario-files.ts';

function scenarioOf(value: object): Scenario {
  const verdict = checkScenario({ title: 'a test', ...value });
  if (verdict.kind !== 'ok') throw new Error(JSON.stringify(verdict.faults));
  return verdict.scenario;
}

const noFacts = Object.fromEntries(factKinds.map((kind) => [kind, 0])) as Record<FactKind, number>;
const all: Seen = {
  onRoad: 3,
  connected: 3,
  live: { seen: 9, reason: '' },
  commands: { requested: 4, refused: { count: 0, last: '' } },
  commandsDone: 2,
  noticed: { ...noFacts, panicOn: 2, tow: 1 },
  replay: null,
  exercises: [],
};
const busy = scenarioOf({ commands: { perMinute: 4 }, needs: { panic: 2, tow: 1, facts: 3, commands: 2 } });

const unmet = (scenario: Scenario, change: Partial<Seen>): readonly string[] =>
  expectationsOf(scenario, { ...all, ...change })
    .filter(({ isMet }) => !isMet)
    .map(({ name, seen, needed, detail }) => `${name} ${seen}/${needed} ${detail}`.trim());

describe('a run', () => {
  it('that saw everything it needed lacks nothing', () => {
    expect(unmet(busy, {})).toEqual([]);
  });

  it.each([
    ['no vehicle connected', { connected: 0 }, ['connected 0/3']],
    ['the live stream was refused', { live: { seen: 0, reason: '403' } }, ['live 0/1 403']],
    [
      'a command was refused',
      { commands: { requested: 4, refused: { count: 1, last: 'no' } } },
      ['commandsTaken 3/4 no'],
    ],
    ['no relay moved', { commandsDone: 0 }, ['commands 0/2']],
    ['a tow was not noticed', { noticed: { ...noFacts, panicOn: 3 } }, ['tow 0/1']],
    ['nothing happened', { noticed: noFacts }, ['facts 0/3', 'panic 0/2', 'tow 0/1']],
    ['a recording was not sent to its end', { replay: { recorded: 8, made: 7 } }, ['replayed 7/8']],
  ])('in which %s says so by name', (_, change, names) => {
    expect(unmet(busy, change)).toEqual(names);
  });

  it('of light trackers needs neither facts nor commands', () => {
    const light = scenarioOf({ fleet: { kind: 'tracker' } });
    expect(new Set(Object.values(needsOf(light)))).toEqual(new Set([0]));
    expect(unmet(light, { noticed: noFacts, commandsDone: 0 })).toEqual([]);
  });
});

describe('a preset', () => {
  it('plans what it needs, as it is', async () => {
    for (const name of await listPresets())
      expect([name, unplannedNeeds((await readScenario(name)).scenario)]).toEqual([name, []]);
  });

  it('that is cut down to nothing is refused before it begins', async () => {
    const { scenario } = (await openScenario('theft')).check({
      durationS: 100,
      fleet: { devices: 6 },
      faults: [],
    });
    expect(unplannedNeeds(scenario)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^thefts of fuel: 0 planned, \d+ needed$/)]),
    );
    const day = (await openScenario('day')).check({
      durationS: 5,
      phases: [{ name: 'night', atS: 0 }],
      faults: [],
    });
    expect(unplannedNeeds(day.scenario).length).toBeGreaterThan(0);
  });

  it('with actions and commands states how many of them it needs', async () => {
    for (const name of await listPresets()) {
      const { scenario } = await readScenario(name);
      const { needs, actions, commands, fleet, durationS } = scenario;
      const hours = (fleet.devices * durationS) / 3600;
      if (commands.perMinute > 0)
        expect([name, needs.commands]).toEqual([name, expect.toSatisfy((least) => least >= 1)]);
      for (const kind of ['panic', 'door', 'tamper', 'powerCut', 'refuel', 'fuelTheft', 'tow'] as const)
        if (actions[`${kind}PerHour`] * hours >= 10)
          expect([name, kind, needs[kind] > 0]).toEqual([name, kind, true]);
    }
  });
});

describe('the processes of a fleet', () => {
  it.each([
    { kind: 'agent', devices: 200, cores: 2, hasBroker: true, count: 1 },
    { kind: 'agent', devices: 200, cores: 2, hasBroker: false, count: 2 },
    { kind: 'agent', devices: 200, cores: 4, hasBroker: true, count: 3 },
    { kind: 'agent', devices: 40, cores: 8, hasBroker: false, count: 1 },
    { kind: 'agent', devices: 10_000, cores: 1, hasBroker: true, count: 1 },
    { kind: 'tracker', devices: 2000, cores: 8, hasBroker: true, count: 1 },
    { kind: 'tracker', devices: 16_000, cores: 4, hasBroker: true, count: 3 },
  ] as const)(
    'leave a core to a broker of their own: $devices of kind $kind on $cores cores are $count',
    (of) => {
      expect(processesFor(of, of)).toBe(of.count);
    },
  );
});

describe('the commands that the seed plans', () => {
  it('are as many as the rate says, within chance, and none for light trackers', () => {
    const hour = scenarioOf({ durationS: 3600, fleet: { devices: 200 }, commands: { perMinute: 4 } });
    const countOf = (of: Scenario, most: number): number =>
      planCommands(of, createSeededEntropy('a'), most).length;
    const planned = countOf(hour, 10_000);
    expect(planned).toBeGreaterThan(180);
    expect(planned).toBeLessThan(300);
    expect(countOf(hour, 7)).toBe(7);
    const most = scenarioOf({ durationS: 600, fleet: { devices: 200 }, commands: { perMinute: 10 } });
    // More than ten a minute are refused to one user.
    expect(countOf({ ...most, phases: [{ name: 'x', atS: 0, share: 1, rate: 50 }] }, 1e4)).toBe(100);
    expect(countOf(scenarioOf({ fleet: { kind: 'tracker' } }), 7)).toBe(0);
  });
});
