// The relay guard without the interlock: whole vehicles in which every other rule is switched off (the judge permits everything) live through drives,
// keys, losses of the receiver, restarts and forged orders. Whatever closes a relay must satisfy what the guard guarantees alone.
import { describe, expect, it, vi } from 'vitest';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { formatSentence } from '../../simulator/hardware/gnss-sentences.ts';
import type { CommandBody } from '../../src/core/wire/wire.ts';
import { extent } from '../support/extent.ts';
import { createVehicleRig, type VehicleRig } from '../support/vehicle/vehicle-rig.ts';

vi.mock('../../agent/core/protection/interlock.ts', async (original) => ({
  ...(await original<typeof import('../../agent/core/protection/interlock.ts')>()),
  judge: () => ({ code: 'allowed', rules: [] }),
}));

interface Closing {
  readonly feature: string;
  /** Time since the key was last on, ms. */
  readonly offMs: number;
  /** Fastest true speed of the last second and a half, of which no later fix can show anything. */
  readonly kmh: number;
  readonly hasSky: boolean;
  readonly hasOrder: boolean;
}

interface World {
  readonly rig: VehicleRig;
  readonly closings: Closing[];
}

async function createWorld(seed: string): Promise<{ readonly world: World; live(): void }> {
  const luck = createSeededEntropy(`guard alone ${seed}`);
  const closings: Closing[] = [];
  const facts = {
    isKeyOn: false,
    keyMs: Number.NEGATIVE_INFINITY,
    hasSky: true,
    skyMs: 0,
    ordered: new Set<string>(),
  };
  const speeds: { readonly atMs: number; readonly kmh: number }[] = [];
  const rig: VehicleRig = await createVehicleRig({
    wiring: luck.chance(0.5) ? 'plain' : 'positive',
    protection: luck.chance(0.3) ? { noGnss: 'wait' } : {},
    onContact({ feature, energised, atMs }) {
      if (!energised || feature === null) return;
      const recent = speeds.filter((speed) => atMs - speed.atMs >= 1500 && atMs - speed.atMs < 3000);
      closings.push({
        feature,
        offMs: facts.isKeyOn ? 0 : atMs - facts.keyMs,
        kmh: Math.max(0, ...recent.map(({ kmh }) => kmh)),
        hasSky: facts.hasSky && atMs - facts.skyMs > 5000,
        hasOrder: facts.ordered.has(feature),
      });
    },
  });
  const note = (): void => void speeds.push({ atMs: rig.nowMs(), kmh: rig.speedKmh() });
  const turn = (isOn: boolean): void => {
    if (facts.isKeyOn && !isOn) facts.keyMs = rig.nowMs();
    facts.isKeyOn = isOn;
    rig.board.setSignal('ignition', isOn);
  };
  const acts: readonly (() => void)[] = [
    () => turn(true),
    () => turn(false),
    () => turn(false),
    () => rig.drive(luck.integer(0, 1) * 60),
    () => rig.drive(0),
    () => {
      facts.hasSky = luck.chance(0.7);
      facts.skyMs = rig.nowMs();
      rig.sky(facts.hasSky);
    },
    () => {
      const feature = luck.chance(0.6) ? 'enginecutoff' : 'cargoaccess';
      facts.ordered.add(feature);
      rig.command(feature, '1', { expiresMs: rig.clock.utcMs() + luck.integer(5, 600) * 1000 });
    },
    () => rig.command(luck.chance(0.5) ? 'enginecutoff' : 'cargoaccess', '0'),
    () => {
      rig.kill();
      rig.start();
    },
  ];
  const live = (): void => {
    rig.run(20);
    for (let at = 0; at < 120; at += 1) {
      if (luck.chance(0.5)) acts[luck.integer(0, acts.length - 1)]?.();
      for (let part = 0; part < luck.integer(1, 20); part += 1) {
        rig.run(0.25);
        note();
      }
    }
  };
  return { world: { rig, closings }, live };
}

const cut = (rig: VehicleRig): void => rig.command('enginecutoff', '1');

function driveOff(rig: VehicleRig): void {
  rig.board.setSignal('ignition', true);
  rig.run(5);
  rig.drive(60);
  rig.run(30);
}

/** Stops, with an order that waits: each 10 s it is tried once more. Stands for 5 s at the end. */
function stopForCut(rig: VehicleRig): void {
  driveOff(rig);
  rig.drive(0);
  rig.run(8);
  cut(rig);
  rig.run(5);
  expect(rig.speedKmh()).toBe(0);
}

/** The receiver stands still in time and place: it repeats one sentence. */
function repeatPlace(rig: VehicleRig): void {
  rig.sky(false);
  const body = 'GNRMC,000100.00,A,4339.00000,N,07920.40000,W,0.0,0.0,010127,,,A';
  const text = formatSentence(body);
  for (let at = 0; at < 20; at += 1) {
    rig.dispatch({ kind: 'bytes', port: 'gnss', bytes: new TextEncoder().encode(text) });
    rig.run(1);
  }
}

/** Each row of the table in `agent/SAFETY.md` that the guard alone does not refuse, and its nearest that it does. */
const scenes: readonly (readonly [what: string, isLetThrough: boolean, live: (rig: VehicleRig) => void])[] = [
  [
    'a drive with a broken key wire, no fix and a motion input that has failed quiet for 25 s',
    false,
    (rig) => {
      driveOff(rig);
      rig.unplug();
      rig.sky(false);
      cut(rig);
      rig.run(25);
      expect(rig.speedKmh()).toBeGreaterThan(50);
    },
  ],
  [
    'a drive with a broken key wire, no fix and a motion input that has failed quiet for 40 s',
    true,
    (rig) => {
      driveOff(rig);
      rig.unplug();
      rig.sky(false);
      cut(rig);
      rig.run(40);
      expect(rig.speedKmh()).toBeGreaterThan(50);
    },
  ],
  [
    'a receiver that repeats its last place, a broken key wire and a motion input that failed quiet',
    true,
    (rig) => {
      driveOff(rig);
      rig.unplug();
      cut(rig);
      repeatPlace(rig);
      expect(rig.speedKmh()).toBeGreaterThan(50);
    },
  ],
  [
    'a receiver that repeats its last place and a broken key wire, with a sound motion input',
    false,
    (rig) => {
      driveOff(rig);
      rig.board.setSignal('ignition', false);
      cut(rig);
      repeatPlace(rig);
    },
  ],
  [
    'a board that repeats old bits and a silent receiver',
    true,
    (rig) => {
      rig.board.setFaults({ repeatsBits: true });
      rig.sky(false);
      driveOff(rig);
      cut(rig);
      rig.run(10);
      expect(rig.speedKmh()).toBeGreaterThan(50);
    },
  ],
  [
    'contacts that lose their supply at a red light',
    true,
    (rig) => {
      stopForCut(rig);
      rig.board.setFaults({ commonLost: true });
      rig.run(6);
    },
  ],
  [
    'a key that has been off for less than 10 s',
    true,
    (rig) => {
      stopForCut(rig);
      rig.board.setSignal('ignition', false);
      rig.run(6);
    },
  ],
  [
    'a vehicle that is towed without a fix, by a motion input that shows it',
    false,
    (rig) => {
      rig.sky(false);
      rig.drive(20);
      rig.run(10);
      cut(rig);
      rig.run(60);
    },
  ],
  [
    'a vehicle that is towed without a fix, by a motion input that has become quiet',
    true,
    (rig) => {
      rig.sky(false);
      rig.drive(20);
      rig.run(10);
      cut(rig);
      rig.unplug();
      rig.run(60);
      expect(rig.speedKmh()).toBeGreaterThan(10);
    },
  ],
  [
    'an order of an earlier run before its end',
    true,
    (rig) => {
      rig.board.setSignal('ignition', true);
      rig.run(5);
      cut(rig);
      rig.run(5);
      rig.kill();
      rig.board.setSignal('ignition', false);
      rig.start();
      rig.run(30);
    },
  ],
  [
    'an order of an earlier run after its end',
    false,
    (rig) => {
      rig.board.setSignal('ignition', true);
      rig.run(5);
      rig.command('enginecutoff', '1', { expiresMs: rig.clock.utcMs() + 20_000 });
      rig.run(5);
      rig.kill();
      rig.board.setSignal('ignition', false);
      rig.run(20);
      rig.start();
      rig.run(30);
    },
  ],
];

const seeds = Array.from({ length: extent({ gate: 3, nightly: 400 }) }, (_, at) => String(at));

describe('the relay guard alone', () => {
  it('lets no relay close with the key on, above 3 km/h, or without an order', {
    timeout: 3_600_000,
  }, async () => {
    const all: Closing[] = [];
    for (const seed of seeds) {
      const { world, live } = await createWorld(seed);
      live();
      world.rig.kill();
      all.push(...world.closings);
    }
    const cuts = all.filter(({ feature }) => feature === 'enginecutoff');
    expect(cuts.length).toBeGreaterThan(0);
    expect(all.filter(({ hasOrder }) => !hasOrder)).toEqual([]);
    // An input is sampled every 250 ms here, and an order is on the wire one exchange later.
    expect(cuts.filter(({ offMs }) => offMs <= 0)).toEqual([]);
    expect(all.filter(({ kmh, hasSky }) => hasSky && kmh > 3)).toEqual([]);
    console.log(
      `${all.length} closings, ${cuts.length} of them cuts, in ${seeds.length} lives without an interlock`,
    );
  });

  for (const [what, isLetThrough, live] of scenes)
    it(`${isLetThrough ? 'lets a cut through' : 'refuses a cut'}: ${what}`, { timeout: 60_000 }, async () => {
      const closed: string[] = [];
      const rig = await createVehicleRig({
        onContact: ({ feature, energised }) => void (energised && closed.push(String(feature))),
      });
      rig.run(60);
      live(rig);
      expect(closed).toEqual(isLetThrough ? ['enginecutoff'] : []);
      rig.kill();
    });

  it('lets none close by a forged order', async () => {
    const closed: string[] = [];
    const rig = await createVehicleRig({
      onContact: ({ feature, energised }) => void (energised && closed.push(String(feature))),
    });
    rig.run(60);
    const body: CommandBody = {
      accountID: 'acme',
      deviceID: 'truck-1',
      commandID: 'c1',
      boot: rig.config().boot,
      counter: 1,
      issuer: 'x',
      issuedMs: rig.clock.utcMs(),
      expiresMs: rig.clock.utcMs() + 6e5,
      feature: 'enginecutoff',
      state: '1',
      mode: 'interlock',
      reason: '',
      cancel: false,
    };
    rig.dispatch({ kind: 'command', body, receipt: 1, token: `bad.${JSON.stringify(body)}` });
    rig.run(30);
    expect(closed).toEqual([]);
    expect(rig.said()).toContain('Guard_Refused');
    expect(rig.state().guard.refused?.refusals).toEqual(['order', 'expiry']);
    rig.command('enginecutoff', '1', { counter: 9 });
    rig.run(30);
    expect(closed).toEqual(['enginecutoff']);
  });
});
