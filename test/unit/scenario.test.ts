// Scenarios and thresholds: what is right is filled in, what is wrong is named with its place and never ignored; and the actions that
// the seed plans.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { parse } from 'smol-toml';
import type { TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { scenarioOf } from '../../simulator/cli/scenario-flags.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { checkScenario, editorSchema, overlay } from '../../simulator/core/scenario/scenario.ts';
import { type Scenario, scenarioSchema } from '../../simulator/core/scenario/scenario-schema.ts';
import {
  actionKinds,
  planActions,
  settleMs,
  startMsOf,
} from '../../simulator/core/scenario/scripted-actions.ts';
import { figureNames, judgeThresholds, parseThreshold } from '../../simulator/core/scenario/thresholds.ts';
import { createLineFinder } from '../../simulator/core/scenario/toml-lines.ts';
import { listPresets, openScenario, readScenario } from '../../simulator/scenario-files.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';

const folder = temporaryFolder('scenario');

function scenario(value: object): Scenario {
  const verdict = checkScenario({ title: 'a test', ...value });
  if (verdict.kind !== 'ok') throw new Error(JSON.stringify(verdict.faults));
  return verdict.scenario;
}

function faultsOf(value: object): readonly string[] {
  const verdict = checkScenario({ title: 'a test', ...value });
  return verdict.kind === 'ok' ? [] : verdict.faults.map(({ pointer, message }) => `${pointer}: ${message}`);
}

describe('a scenario', () => {
  it('has every default', () => {
    const { fleet, phases, faults } = scenario({});
    expect(fleet.devices).toBe(20);
    expect(phases).toEqual([{ name: 'all', atS: 0, share: 1, rate: 1 }]);
    expect(faults).toEqual([]);
  });

  it.each([
    [{ flet: {} }, ['/flet']],
    [{ fleet: { device: 3 } }, ['/fleet/device']],
    [{ fleet: { devices: 0 } }, ['/fleet/devices']],
    [{ faults: [{ kind: 'earthquake', atS: 1 }] }, ['/faults/0/kind']],
    [{ faults: [{ kind: 'link-outage', atS: 55, forS: 10 }] }, ['/faults/0/forS']],
    [{ faults: [{ kind: 'link-outage', atS: 60 }] }, ['/faults/0/atS']],
    [{ thresholds: ['ingest.p99<250'] }, ['/thresholds/0']],
    [
      {
        phases: [
          { name: 'a', atS: 0, share: 0.5 },
          { name: 'b', atS: 10, share: 0.2 },
        ],
      },
      ['/phases/1/share'],
    ],
    [{ phases: [{ name: 'a', atS: 0, share: 0 }] }, ['/phases']],
    [{ fleet: { kind: 'tracker' }, actions: { panicPerHour: 1 } }, ['/fleet/kind']],
    [{ fleet: { kind: 'tracker' }, faults: [{ kind: 'gnss-jam', atS: 1 }] }, ['/faults/0/kind']],
    [{ fleet: { wiring: 'positive' }, actions: { tamperPerHour: 1 } }, ['/actions/tamperPerHour']],
  ])('%j is refused at its place', (value, places) => {
    expect(faultsOf(value).map((fault) => fault.split(':')[0])).toEqual(places);
  });

  it('names the unknown key', () => {
    expect(faultsOf({ fleet: { device: 3 } })[0]).toContain('there is no such key');
  });

  it('lets flags lie over it, table by table', () => {
    const base = { title: 'x', fleet: { devices: 3, inputsMs: 100 } };
    expect(overlay(base, { fleet: { devices: 5 }, seed: undefined })).toEqual({
      title: 'x',
      fleet: { devices: 5, inputsMs: 100 },
    });
  });

  it('of every preset is good, and fits the schema that editors get', async () => {
    const presets = await listPresets();
    expect(presets).toEqual([
      'breakpoint',
      'day',
      'faults',
      'load',
      'outage',
      'smoke',
      'soak',
      'storm',
      'theft',
    ]);
    for (const name of presets) {
      const { scenario: preset } = await readScenario(name);
      expect(Check(scenarioSchema, preset)).toBe(true);
      expect(
        readFileSync(new URL(`../../simulator/scenarios/${name}.toml`, import.meta.url), 'utf8'),
      ).toMatch(/^# /);
    }
    expect(editorSchema()).toMatchObject({ type: 'object', required: ['title'] });
  });

  it('of every preset is good for an editor too, which knows the schema alone and fills in nothing', async () => {
    const schema = JSON.parse(JSON.stringify(editorSchema())) as TSchema;
    const good = (value: unknown): boolean => Check(schema, value);
    for (const name of await listPresets()) {
      const file = new URL(`../../simulator/scenarios/${name}.toml`, import.meta.url);
      expect([name, good(parse(readFileSync(file, 'utf8')))]).toEqual([name, true]);
    }
    for (const wrong of [
      {},
      { title: 'x', fleet: { device: 3 } },
      { title: 'x', faults: [{ kind: 'link-outage' }] },
      { title: 'x', faults: [{ kind: 'outage', atS: 1 }] },
      { title: 'x', durationS: '60' },
      { title: 'x', ramp: { of: 'rate', from: 1, to: 2 } },
    ])
      expect([wrong, good(wrong)]).toEqual([wrong, false]);
  });

  const written = (lines: readonly string[]): string => {
    const file = join(folder, 'wrong.toml');
    writeFileSync(file, `# a comment\ntitle = "x" # of it\n${lines.join('\n')}\n`);
    return file;
  };

  it.each<readonly [readonly string[], string]>([
    [['[fleet]', 'device = 3'], 'line 4, /fleet/device: there is no such key; did you mean "devices"?'],
    [['duration = 60'], 'line 3, /duration: there is no such key; did you mean "durationS"?'],
    [
      ['[[faults]]', 'kind = "link-outage"', 'atS = 1', '[[faults]]', 'kind = "link-outgae"', 'atS = 2'],
      'line 7, /faults/1/kind: must be one of link-outage',
    ],
    [['[[faults]]', 'kind = "tow"', 'atS = 1'], 'did you mean'],
    [['thresholds = [', '  "ingest.p99<250ms",', '  "ingest.p98<1ms",', ']'], 'line 3, /thresholds/1:'],
    [['thresholds = ["ingets.p99<1ms"]'], 'did you mean "ingest.p99"?'],
    [['fleet.devices = "many"'], 'line 3, /fleet/devices: must be integer'],
    [['seed = "no [fleet]', '"'], 'line 3'],
    [['[fleet', 'devices = 3'], 'line 3, column'],
    [['[fleet]', 'devices = 3', 'devices = 4'], 'line 5, column'],
  ])('with a slip says the line of it and what may be meant: %j', async (lines, words) => {
    await expect(readScenario(written(lines))).rejects.toThrow(words);
  });

  it('is not blamed on the file where a flag has set it', async () => {
    const file = written(['[fleet]', 'kind = "agent"', '[commands]', 'perMinute = 1']);
    const change = { fleet: { kind: 'tracker' } };
    const opened = await openScenario(file);
    expect(() => opened.check(change)).toThrow('\n  /fleet/kind: a light tracker');
    expect(() => opened.check({ durationS: 3 })).toThrow('\n  /durationS: must be');
  });

  it('names the line also behind texts and lists over several lines', () => {
    const text = [
      'title = """',
      '[fleet]',
      'devices = 1 """',
      "seed = '[[faults]]' # [x]",
      'thresholds = [ # one [of] them',
      '  "lost==0",',
      '  "a]b = [",',
      ']',
      '[fleet]',
      'devices = 2',
      '[[faults]]',
      '"kind" = "x"',
      '[[faults]]',
      'atS = { a = [1, 2] }',
      'forS = 3',
    ].join('\n');
    const line = createLineFinder(text);
    const places = [
      '/title',
      '/seed',
      '/thresholds/1',
      '/fleet',
      '/fleet/devices',
      '/faults/0/kind',
      '/faults/1',
    ];
    expect(places.map(line)).toEqual([1, 4, 5, 9, 10, 12, 13]);
    expect([line('/faults/1/atS'), line('/faults/1/forS/7'), line('/route'), line('')]).toEqual([
      14,
      15,
      null,
      null,
    ]);
  });

  it('that is not there, or not TOML, says so', async () => {
    await expect(readScenario('nowhere')).rejects.toThrow('There is no preset "nowhere"');
    await expect(readScenario('./nowhere.toml')).rejects.toThrow('Cannot read');
  });
});

describe('a threshold', () => {
  it.each([
    ['ingest.p99<250ms', { a: 0, 'ingest.p99': 249 }, true],
    ['ingest.p99<250ms', { 'ingest.p99': 250 }, false],
    ['ingest.p99 <= 0.25s', { 'ingest.p99': 250 }, true],
    ['lost==0', { lost: 1 }, false],
    ['events.rate>=100/s', { 'events.rate': 100 }, true],
    ['panic.count>0', { 'panic.count': 1 }, true],
  ])('%s with %j', (text, figures, isMet) => {
    expect(judgeThresholds([text], figures)).toMatchObject([{ isMet }]);
  });

  it('of a figure that was not measured is not met', () => {
    expect(judgeThresholds(['cut.p99<1s'], {})).toMatchObject([{ value: null, isMet: false }]);
  });

  it.each(['', 'ingest.p99', 'ingest.p42<1ms', 'ingest.p99<1', 'lost<1ms', 'toString<1', 'lost<-1'])(
    '%j is refused',
    (text) => {
      expect(parseThreshold(text).kind).toBe('fault');
    },
  );

  it('may be on every figure', () => {
    for (const name of figureNames) {
      const unit = name.includes('.') && !/(count|rate)$/.test(name) ? 'ms' : '';
      expect([name, parseThreshold(`${name}<1${unit}`).kind]).toEqual([name, 'ok']);
    }
  });
});

describe('actions', () => {
  const rates = fc.record({
    panicPerHour: fc.integer({ min: 0, max: 720 }),
    doorPerHour: fc.integer({ min: 0, max: 720 }),
    towPerHour: fc.integer({ min: 0, max: 20 }),
  });
  const plan = (of: Scenario, seed: string) =>
    planActions(of, { draw: createSeededEntropy(seed), fromMs: 1000 });

  it('are the same for the same seed, in order, within the run, and never two of a kind at once', () => {
    fc.assert(
      fc.property(rates, fc.string(), fc.integer({ min: 20, max: 7200 }), (actions, seed, durationS) => {
        const of = scenario({ actions, durationS });
        const planned = plan(of, seed);
        expect(plan(of, seed)).toEqual(planned);
        let before = 0;
        for (const action of planned) {
          expect(action.atMs).toBeGreaterThanOrEqual(Math.max(before, 1000 + settleMs));
          expect(action.atMs + action.forMs).toBeLessThanOrEqual(durationS * 1000);
          before = action.atMs;
        }
        for (const kind of actionKinds) {
          const own = planned.filter((action) => action.kind === kind);
          own
            .slice(1)
            .forEach((action, at) =>
              expect(action.atMs).toBeGreaterThan((own[at]?.atMs ?? 0) + (own[at]?.forMs ?? 0)),
            );
        }
      }),
    );
  });

  it('come as often as their phase says', () => {
    const phases = [
      { name: 'quiet', atS: 0, share: 1, rate: 0 },
      { name: 'busy', atS: 3600, share: 1, rate: 2 },
    ];
    const of = scenario({ actions: { panicPerHour: 30 }, durationS: 7200, phases });
    const counts = Array.from({ length: 50 }, (_, seed) => plan(of, String(seed)));
    expect(counts.flat().every(({ atMs }) => atMs >= 3_600_000)).toBe(true);
    const mean = counts.flat().length / counts.length;
    expect(mean).toBeGreaterThan(50);
    expect(mean).toBeLessThan(62); // 60 and what the rest between two presses takes away
  });

  it('begin with the phase that puts the vehicle on the road', () => {
    const phases = [
      { name: 'few', atS: 0, share: 0.2, rate: 1 },
      { name: 'more', atS: 10, share: 0.5, rate: 1 },
    ];
    const of = scenario({ fleet: { devices: 10 }, phases });
    expect(Array.from({ length: 10 }, (_, index) => startMsOf(of, index))).toEqual([
      0,
      0,
      10_000,
      10_000,
      10_000,
      null,
      null,
      null,
      null,
      null,
    ]);
  });
});

describe('a preset with light trackers', () => {
  const lightly = async (name: string) => {
    const said: string[] = [];
    const flags = { scenario: name, kind: 'tracker', threshold: [] } as const;
    const { scenario: light } = await scenarioOf(flags, (words) => void said.push(words));
    return { light, said };
  };

  it('runs without actions, commands and faults of hardware, and says what is left out', async () => {
    const presets = (await listPresets()).filter((name) => !['faults', 'theft'].includes(name));
    for (const name of presets) {
      const { light, said } = await lightly(name);
      expect([name, light.fleet.kind, light.commands.perMinute]).toEqual([name, 'tracker', 0]);
      const { scenario: base } = await readScenario(name);
      expect([name, said.length]).toEqual([name, base.fleet.kind === 'tracker' ? 0 : 1]);
    }
    expect((await lightly('outage')).said).toEqual([
      'Left out, because light trackers have no hardware: actions, commands, 3 faults of outage',
    ]);
  });

  it.each(['faults', 'theft'])(
    'is refused where nothing would be left, naming those that take them: %s',
    async (name) => {
      await expect(lightly(name)).rejects.toMatchObject({
        code: 'config',
        message: `${name} cannot be run with --kind tracker: light trackers have no hardware`,
        hint: 'Choose one of breakpoint, day, load, outage, smoke, soak, storm.',
      });
    },
  );
});
