// Alarms through the whole vehicle core: bytes of a board and of a receiver in, durable events out, over a restart. Also that
// what alarms guess never lets the interlock believe in an ignition that is off.

import { describe, expect, it } from 'vitest';
import { readBoardProfile } from '../../agent/boards.ts';
import { standardProtection } from '../../agent/config.ts';
import { applyOverrides } from '../../agent/core/board/profile-parsing.ts';
import {
  type Commit,
  type VehicleEffect,
  type VehicleEvent,
} from '../../agent/core/kernel/vehicle-events.ts';
import { evidenceOf } from '../../agent/core/kernel/vehicle-state.ts';
import { type VehicleConfig, type VehicleMemory } from '../../agent/core/kernel/vehicle-types.ts';
import { createCommandRecord } from '../../agent/core/protection/command-record.ts';
import { modules } from '../../agent/core/vehicle/modules.ts';
import { stepVehicle, vehicleWakeMs } from '../../agent/core/vehicle/vehicle.ts';
import { createVehicle } from '../../agent/core/vehicle/vehicle-start.ts';
import { emptyMemory } from '../../agent/vehicle-record.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { createBoard } from '../../simulator/hardware/board.ts';
import { createGnss } from '../../simulator/hardware/gnss.ts';
import { createPipe } from '../../simulator/hardware/pipe.ts';
import { type StatusName, statusCodes } from '../../src/core/events/status-codes.ts';
import { standardSettings } from '../../src/core/settings/settings.ts';
import type { ByteLink } from '../../src/ports.ts';

const line = { baudRate: 9600, dataBits: 8, parity: 'none', stopBits: 1 } as const;
const startMs = Date.UTC(2026, 11, 1);

async function createBench() {
  const shipped = await readBoardProfile('waveshare-io-analog');
  const verdict = applyOverrides(shipped, {
    // A crash sensor is wired to the terminal that the simulated installation uses for motion.
    inputs: { crash: { poll: 'inputs', address: 6, invert: false, debounceMs: 500 } },
  });
  if (verdict.kind !== 'ok') throw new Error('profile');
  const config: VehicleConfig = {
    accountID: 'acme',
    deviceID: 'truck-1',
    hardwareID: '',
    agentVersion: '0.0.0',
    earliestUtcMs: Date.UTC(2026, 10, 1),
    boot: 'b1',
    verifier: null,
    profile: verdict.profile,
    broker: { keepaliveS: 240 },
    gnssSilenceMs: 5000,
    settings: standardSettings,
    protection: standardProtection,
    windowMs: 10_000,
  };
  const clock = createVirtualClock(startMs);
  const entropy = createSeededEntropy('vehicle alarms');
  const truth = { latitude: 43.65, longitude: -79.34, altitudeM: 90, speedKmh: 0, headingDeg: 90 };
  const commits: Commit[] = [];
  const links: Partial<Record<'board' | 'gnss', ByteLink>> = {};
  let memory: VehicleMemory = emptyMemory;
  const now = () => ({ monoMs: clock.monoMs(), utcMs: clock.utcMs(), fraction: 0.5 });
  const boot = () =>
    createVehicle(config, {
      now: now(),
      bootMonoMs: clock.monoMs(),
      poweredMs: clock.monoMs(),
      record: createCommandRecord(),
      memory,
      connectDelayMs: 3_600_000,
    });
  let state = boot();
  const perform = (effect: VehicleEffect): void => {
    if (effect.kind === 'writePort') links[effect.port]?.write(effect.bytes);
    if (effect.kind !== 'commit') return;
    commits.push(effect);
    memory = JSON.parse(JSON.stringify(effect.memory)) as VehicleMemory;
  };
  const feed = (event: VehicleEvent): void => {
    const step = stepVehicle(state, event, { now: now(), config });
    state = step.state;
    for (const effect of step.effects) perform(effect);
  };
  const board = createBoard({
    name: 'waveshare-io-analog',
    clock,
    entropy: entropy.stream('board'),
    send: (bytes) => cables.board.send(bytes),
  });
  const cableOf = (name: string, onBytes: (bytes: Uint8Array) => void) =>
    createPipe({ clock, entropy: entropy.stream(name), line, onBytes });
  const cables = {
    board: cableOf('board', (bytes) => board.receive(bytes)),
    gnss: cableOf('gnss', () => undefined),
  };
  const gnss = createGnss({
    clock,
    entropy: entropy.stream('gnss'),
    utcMs: () => clock.utcMs(),
    truth: () => truth,
    send: (bytes) => cables.gnss.send(bytes),
    extra: ['GSV'],
    acquireS: 3,
  });
  const open = async (): Promise<void> => {
    for (const port of ['board', 'gnss'] as const) {
      links[port] = await cables[port].open(
        { path: port, ...line },
        { onBytes: (bytes) => feed({ kind: 'bytes', port, bytes }), onDown: () => undefined },
      );
      feed({ kind: 'time' });
      feed({ kind: 'opened', port });
    }
  };
  const told = () => commits.flatMap(({ events }) => events.map(({ event }) => event));
  return {
    board,
    gnss,
    truth,
    commits,
    open,
    names: () =>
      told().map(
        ({ statusCode }) => Object.entries(statusCodes).find(([, { code }]) => code === statusCode)?.[0],
      ),
    last: (name: StatusName) =>
      told()
        .filter(({ statusCode }) => statusCode === statusCodes[name].code)
        .at(-1),
    clear: () => commits.splice(0),
    evidence: () => evidenceOf({ state, effects: [], now: now(), config, modules, receipts: [] }),
    setRpm: (rpm: number) => {
      // Read again and again, until the board is lost.
      const analogsReadMs = { ...state.analogsReadMs, rpm: Number.POSITIVE_INFINITY };
      state = { ...state, analogs: { ...state.analogs, rpm }, analogsReadMs };
    },
    memory: () => memory,
    pass(seconds: number) {
      const untilMs = clock.monoMs() + seconds * 1000;
      while (clock.monoMs() < untilMs) {
        const wakeMs = Math.max(clock.monoMs() + 1, vehicleWakeMs(state, config));
        const stepMs = Math.min(clock.nextDueMs() ?? untilMs, wakeMs, untilMs) - clock.monoMs();
        clock.advance(stepMs);
        // Due east.
        truth.longitude +=
          ((truth.speedKmh / 3_600_000) * stepMs) / (111.195 * Math.cos((truth.latitude * Math.PI) / 180));
        if (vehicleWakeMs(state, config) <= clock.monoMs()) feed({ kind: 'time' });
      }
    },
    /** Dies without a word, and starts anew. */
    async restart() {
      for (const link of Object.values(links)) await link.close();
      state = boot();
      await open();
    },
  };
}

describe('a whole vehicle', () => {
  it('reports an impact at its first sample, durable with the positions before it, and once', async () => {
    const vehicle = await createBench();
    await vehicle.open();
    vehicle.board.setSignal('ignition', true);
    vehicle.truth.speedKmh = 54;
    vehicle.pass(30);
    vehicle.clear();
    vehicle.board.setSignal('motion', true); // the terminal that the crash sensor is wired to
    vehicle.pass(0.15);
    // The first commit holds the positions that waited, and the impact.
    const first = vehicle.commits[0]?.events.at(-1);
    expect(first).toMatchObject({ priority: 0, event: { statusCode: statusCodes.IMPACT.code } });
    expect(Number(vehicle.last('IMPACT')?.attributes?.['speedBeforeKmh'])).toBeCloseTo(54, -1);
    expect(vehicle.names().filter((name) => name === 'LOCATION').length).toBeGreaterThanOrEqual(9);
    vehicle.pass(5);
    expect(vehicle.names().filter((name) => name === 'IMPACT')).toHaveLength(1);
  });

  it('remembers over a restart what it reported, and reports the end', async () => {
    const vehicle = await createBench();
    await vehicle.open();
    vehicle.board.setSupplyVolts(11);
    vehicle.pass(150);
    expect(vehicle.last('LOW_BATTERY')?.attributes).toMatchObject({ battery: 'vehicle' });
    expect(vehicle.last('GPS_FIRST_FIX')?.latitude).toBeCloseTo(43.65, 2);
    expect(JSON.stringify(vehicle.memory()).length).toBeLessThan(600);
    vehicle.clear();
    await vehicle.restart();
    vehicle.pass(150);
    vehicle.board.setSupplyVolts(12.8);
    vehicle.pass(150);
    const names = vehicle.names();
    expect(names).not.toContain('LOW_BATTERY');
    expect(names.filter((name) => name === 'BATTERY_RESTORED')).toHaveLength(1);
  });

  it('detects a jammer and its end; the loss carries the last position', async () => {
    const vehicle = await createBench();
    await vehicle.open();
    vehicle.pass(60);
    vehicle.clear();
    vehicle.gnss.setJammed(true);
    vehicle.pass(200);
    expect(vehicle.names()).toEqual(expect.arrayContaining(['GPS_JAMMING', 'GPS_LOST']));
    expect(vehicle.last('GPS_LOST')).toMatchObject({ attributes: { reason: 'jammed' } });
    expect(vehicle.last('GPS_LOST')?.latitude).toBeCloseTo(43.65, 2);
    vehicle.gnss.setJammed(false);
    vehicle.pass(60);
    expect(vehicle.names().filter((name) => name === 'GPS_RESTORED')).toHaveLength(1);
  });

  it('engine speed vetoes at once, and is at rest after ten seconds only; the ignition stays what its wire says', async () => {
    const vehicle = await createBench();
    await vehicle.open();
    vehicle.pass(30);
    expect(vehicle.evidence().ignition.value).toBe(false);
    vehicle.setRpm(800);
    vehicle.pass(1);
    expect(vehicle.evidence()).toMatchObject({
      ignition: { value: false },
      witnesses: { rpm: { claim: 'active' } },
    });
    vehicle.setRpm(0);
    vehicle.pass(8);
    expect(vehicle.evidence().witnesses.rpm.claim).toBe(null);
    vehicle.pass(4);
    expect(vehicle.evidence().witnesses.rpm.claim).toBe('rest');
    // A silent board: unknown, whatever was last read of the engine.
    vehicle.board.setPower(false);
    vehicle.pass(5);
    expect(vehicle.evidence()).toMatchObject({
      ignition: { value: null },
      witnesses: { rpm: { claim: null } },
    });
  });
});
