// The facts file of a run: what the seed plans is the same for the same seed, byte by byte, and another for another; what happened stands
// after it, in a stable order, and names vehicles by their number and never by the ids of one run.
import { describe, expect, it } from 'vitest';
import { createLedger } from '../../simulator/core/ledger/ledger.ts';
import { factOfAction } from '../../simulator/core/result/expectations.ts';
import type { Scenario } from '../../simulator/core/scenario/scenario-schema.ts';
import {
  type FactLine,
  happenedFacts,
  happenedLines,
  seededLines,
} from '../../simulator/run/facts/facts-file.ts';
import { plannedFacts } from '../../simulator/run/facts/planned-facts.ts';
import { readScenario } from '../../simulator/scenario-files.ts';

const scenarioOf = async (name: string, change: Partial<Scenario> = {}): Promise<Scenario> => ({
  ...(await readScenario(name)).scenario,
  ...change,
});

const seeded = async (name: string, change: Partial<Scenario> = {}): Promise<string> => {
  const scenario = await scenarioOf(name, change);
  return [...seededLines(name, scenario, await plannedFacts(scenario))].join('');
};

type Line = FactLine & { readonly part: string };
const linesOf = (text: string): readonly Line[] =>
  text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line) as Line);

describe('the seeded lines of a facts file', () => {
  it.each(['smoke', 'faults', 'theft'])('are the same for the same seed of %s', async (name) => {
    expect(await seeded(name)).toBe(await seeded(name));
  });

  it.each(['smoke', 'theft'])('are others for another seed of %s', async (name) => {
    const [one, other] = [await seeded(name, { seed: 'one' }), await seeded(name, { seed: 'other' })];
    const factsOf = (text: string): string => text.slice(text.indexOf('\n'));
    expect(factsOf(one)).not.toBe(factsOf(other));
  });

  it('begin with format, scenario, seed and size', async () => {
    expect(JSON.parse((await seeded('smoke')).split('\n')[0] ?? '')).toEqual({
      format: 'fleetward-facts',
      version: 1,
      scenario: 'smoke',
      seed: (await scenarioOf('smoke')).seed,
      kind: 'agent',
      devices: 12,
      durationS: 40,
    });
  });

  it('are sorted by vehicle and time, and marked as planned', async () => {
    const lines = linesOf(await seeded('smoke'));
    expect(new Set(lines.map(({ part }) => part))).toEqual(new Set(['planned']));
    const order = lines.map(({ vehicle, atMs }) => [vehicle, atMs] as const);
    expect(order).toEqual(order.toSorted(([a, atMs], [b, toMs]) => a - b || atMs - toMs));
    expect(new Set(lines.map(({ vehicle }) => vehicle)).size).toBe(12);
  });

  it('name starts, the timetable, actions, commands, and faults of each vehicle that they strike', async () => {
    const lines = linesOf(await seeded('smoke'));
    const countOf = (what: string): number => lines.filter((line) => line.what === what).length;
    expect(countOf('start')).toBe(12);
    expect(countOf('road')).toBeGreaterThan(0);
    expect(countOf('action')).toBeGreaterThan(10);
    expect(countOf('command')).toBeGreaterThan(0);
    const struck = lines.filter(({ what }) => what === 'fault');
    const killed = ['agent-kill', 22_000, 2000];
    const cut = ['link-outage', 14_000, 4000];
    expect(struck.map(({ vehicle, kind, atMs, forMs }) => [vehicle, kind, atMs, forMs])).toEqual([
      [1, ...cut],
      [1, ...killed],
      [2, ...cut],
      [2, ...killed],
      [3, ...cut],
    ]);
  });

  it('stay the same for the other vehicles when the fleet has one more', async () => {
    const { fleet } = await scenarioOf('smoke');
    // Starts are spread over the fleet, and commands choose among it: both depend on its size.
    const actionsOf = (text: string) =>
      linesOf(text).filter(({ what, vehicle }) => what === 'action' && vehicle <= 12);
    const more = { fleet: { ...fleet, devices: 13 } };
    expect(actionsOf(await seeded('smoke', more))).toEqual(actionsOf(await seeded('smoke')));
  });

  it('of light trackers are their starts and faults', async () => {
    const { fleet } = await scenarioOf('smoke');
    const lines = linesOf(await seeded('smoke', { fleet: { ...fleet, kind: 'tracker' } }));
    expect(new Set(lines.map(({ what }) => what))).toEqual(new Set(['start', 'fault']));
  });

  it('know an action by the fact that it makes', async () => {
    const kinds = linesOf(await seeded('theft')).filter(({ what }) => what === 'action');
    expect(kinds.every(({ kind }) => Object.keys(factOfAction).includes(kind))).toBe(true);
  });
});

describe('what happened', () => {
  const devices = [
    { deviceID: 'sim-x-00001', index: 0 },
    { deviceID: 'sim-x-00002', index: 1 },
  ];

  function world() {
    const ledger = createLedger();
    ledger.fact('sim-x-00002', 'panicOn', 5000.4);
    ledger.fact('sim-x-00001', 'ignitionOn', 20);
    ledger.fact('sim-x-00001', 'panicOn', 9000);
    ledger.contact('sim-x-00001', {
      atMs: 8000,
      feature: 'cargoaccess',
      energised: true,
      token: 'drive:c1',
      wasConfirmed: false,
      movingMs: 0,
      ignitionOnMs: 0,
    });
    const command = { commandID: 'c1', deviceID: 'sim-x-00001', feature: 'cargoaccess', state: '1' } as const;
    ledger.requested({ ...command, requestedMs: 7000, expiresMs: 60_000 });
    ledger.ended('c1', 'confirmed', true);
    const faults = [{ kind: 'link-outage', share: 0.5, fromMs: 1000, toMs: 3000 }] as const;
    return { ledger, devices, faults };
  }

  it('stands by vehicle and time: facts, contacts, commands, and faults as vehicle 0', () => {
    expect(
      happenedFacts(world()).map(({ vehicle, atMs, what, kind }) => [vehicle, atMs, what, kind]),
    ).toEqual([
      [0, 1000, 'fault', 'link-outage'],
      [1, 20, 'fact', 'ignitionOn'],
      [1, 7000, 'command', 'cargoaccess'],
      [1, 8000, 'contact', 'cargoaccess'],
      [1, 9000, 'fact', 'panicOn'],
      [2, 5000, 'fact', 'panicOn'],
    ]);
  });

  it('names no device of the run', () => {
    expect([...happenedLines(world(), { elapsedS: 30, outcome: 'passed' })].join('')).not.toContain('sim-x');
  });

  it('closes with the end of the run and its outcome', () => {
    const lines = [...happenedLines(world(), { elapsedS: 30.0004, outcome: 'failed' })];
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({ part: 'end', atMs: 30_000, outcome: 'failed' });
    expect(lines.slice(0, -1).every((line) => line.startsWith('{"part":"happened","vehicle":'))).toBe(true);
  });
});
