// A vehicle of a run on virtual time, without a network: what its world does to it is the same for the same seed, and the agent
// makes the predicted event of every fact, also of those that take a quarter of an hour: fuel and tows.
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { standardProtection, standardSettings, toAgentConfig } from '../../agent/config.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { judge } from '../../simulator/core/judgement/judgement.ts';
import { createLedger } from '../../simulator/core/ledger/ledger.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { checkScenario } from '../../simulator/core/scenario/scenario.ts';
import { planActions, type ScriptedAction } from '../../simulator/core/scenario/scripted-actions.ts';
import { fittedOverrides } from '../../simulator/hardware/board-maps.ts';
import { createActionRunner } from '../../simulator/run/fleet/action-runner.ts';
import { startAgentVehicle } from '../../simulator/run/fleet/agent-vehicle.ts';
import { createCityRoute } from '../../simulator/world/city-route.ts';
import { openSqlite } from '../../src/adapters/database/sqlite.ts';
import { openHttpReceiver } from '../../src/adapters/http-receiver.ts';
import { createVerifier, generateSigningKey } from '../../src/adapters/signing.ts';
import { openNoNetwork } from '../support/mqtt/no-network.ts';

const { publicKey } = generateSigningKey();
const deviceID = 'sim-1';

interface Life {
  readonly seed: string;
  readonly durationS: number;
  /** Where on its round it begins; the depot comes last. */
  readonly startS: 'depot' | number;
  readonly actions?: readonly ScriptedAction[];
  readonly perHour?: object;
}

/** Lives for so long; gives the ledger and its judgement. */
async function live({ seed, durationS, startS, actions, perHour = {} }: Life) {
  const clock = createVirtualClock(Date.UTC(2026, 10, 21, 8));
  const entropy = createSeededEntropy(seed);
  const config = await toAgentConfig(
    {
      device: { account: 'demo', id: deviceID },
      broker: { url: 'mqtt://127.0.0.1:1', secretFile: '-', publicKey, keepaliveS: 60, connectSpreadS: 5 },
      storage: { path: ':memory:', maxMb: 16, windowS: 5 },
      board: {
        profile: 'waveshare-io-analog',
        port: 'board',
        overrides: { ...fittedOverrides('waveshare-io-analog'), polls: { inputs: { periodMs: 200 } } },
      },
      gnss: { port: 'gnss', baud: 9600, silenceS: 5 },
      protection: standardProtection,
      ...standardSettings,
      local: { socket: '' },
      log: { level: 'info' },
    },
    { secret: 'x'.repeat(32), agentVersion: '0.0.0', hardwareID: '' },
  );
  const centre = { latitude: 43.6511, longitude: -79.347 };
  const route = createCityRoute({ centre, entropy: entropy.stream('route'), restS: 7200 });
  const ledger = createLedger();
  const time = { nowMs: () => clock.monoMs() };
  const target = await startAgentVehicle({
    ports: {
      clock,
      entropy: entropy.stream('agent'),
      openMqttLink: openNoNetwork,
      createVerifier,
      openDatabase: openSqlite,
      openHttpReceiver,
    },
    time,
    ledger,
    config,
    boardName: 'waveshare-io-analog',
    wiring: 'plain',
    route,
    startS: startS === 'depot' ? route.roundS - 7000 : startS,
    clockErrors: { offsetMs: -60_000, driftPpm: 50 },
    entropy,
    verifier: createVerifier(publicKey),
    folder: null,
    onAcknowledged: () => undefined,
  });
  const verdict = checkScenario({ title: 'a test', durationS, actions: perHour });
  if (verdict.kind !== 'ok') throw new Error(JSON.stringify(verdict.faults));
  const actor = createActionRunner({
    clock,
    target,
    actions: actions ?? planActions(verdict.scenario, { draw: entropy.stream('deeds'), fromMs: 0 }),
    nowMs: time.nowMs,
    record: (kind) => void ledger.fact(deviceID, kind, time.nowMs()),
  });
  for (let step = 0; step < durationS * 10; step += 1) {
    clock.advance(100);
    if (step % 2 === 0) await turn();
  }
  actor.close();
  const endMs = clock.monoMs();
  const closed = target.close().then(() => true);
  for (let isClosed = false; !isClosed; ) {
    clock.advance(100);
    isClosed = await Promise.race([closed, turn(false)]);
  }
  const judgement = judge(ledger, { endMs, panicMs: 2000, inputsMs: 200, movingS: 10, views: null });
  const facts = ledger.vehicles.get(deviceID)?.facts ?? [];
  // Nothing was delivered, and that is not what this is about.
  const breaches = judgement.breaches.filter(({ kind }) => kind !== 'lost');
  return { facts, judgement, breaches };
}

const kindsOf = (facts: readonly { readonly kind: string }[]): readonly string[] =>
  facts.map(({ kind }) => kind);

describe('a vehicle of a run', () => {
  it('meets the same facts for the same seed, each with the event that was predicted', async () => {
    const perHour = { panicPerHour: 60, doorPerHour: 60, tamperPerHour: 30, powerCutPerHour: 30 };
    const life = { seed: 'a', durationS: 300, startS: 400, perHour };
    const [first, again] = [await live(life), await live(life)];
    expect(first.breaches).toEqual([]);
    expect(first.judgement.durableMs).toHaveLength(first.facts.length - first.judgement.unjudged);
    expect(kindsOf(first.facts).length).toBeGreaterThan(15);
    expect(kindsOf(again.facts)).toEqual(kindsOf(first.facts));
    for (const [index, { atMs }] of first.facts.entries())
      expect(Math.abs(atMs - (again.facts[index]?.atMs ?? 0))).toBeLessThanOrEqual(500);
    const other = await live({ ...life, seed: 'b' });
    expect(kindsOf(other.facts)).not.toEqual(kindsOf(first.facts));
  });

  it('is towed again only when its unit may report that, however soon it was planned', async () => {
    const actions = [10_000, 20_000].map((atMs) => ({ kind: 'tow', atMs, forMs: 0 }) as const);
    const { facts, breaches, judgement } = await live({
      seed: 'c',
      durationS: 1200,
      startS: 'depot',
      actions,
    });
    const tows = facts.filter(({ kind }) => kind === 'tow');
    expect(tows).toHaveLength(2);
    expect(breaches).toEqual([]);
    expect(judgement.facts.tow.found).toBe(2);
  });

  it.each(['refuel', 'fuelTheft', 'tow'] as const)('reports a %s at the depot', async (kind) => {
    const actions = [{ kind, atMs: 10_000, forMs: 0 }] as const;
    const { facts, breaches, judgement } = await live({
      seed: 'c',
      durationS: 720,
      startS: 'depot',
      actions,
    });
    expect(kindsOf(facts)).toContain(kind);
    expect(breaches).toEqual([]);
    expect(judgement.unjudged).toBe(0);
  });
});
