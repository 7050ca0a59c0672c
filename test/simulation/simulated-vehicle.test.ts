// One virtual vehicle with the real agent on virtual time and with no network: it reads the simulated board and receiver
// over the simulated cables, survives their faults, and keeps what it saw. The same seed drives the same way.
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { standardProtection, standardSettings, standardUpdate, toAgentConfig } from '../../agent/config.ts';
import { openOutbox } from '../../agent/outbox.ts';
import { createCityRoute } from '../../simulator/city-route.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { createSeededEntropy } from '../../simulator/random.ts';
import { createVehicle } from '../../simulator/vehicle.ts';
import { createVerifier, generateSigningKey } from '../../src/adapters/signing.ts';
import { openSqlite } from '../../src/adapters/sqlite.ts';
import type { Log, OpenMqttLink } from '../../src/ports.ts';

const silent: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silent,
};

const { publicKey } = generateSigningKey();

/** No network: every attempt fails a little later. */
const openNothing: OpenMqttLink = (_, handlers) => {
  const never = new Promise<never>(() => undefined);
  setImmediate(() => handlers.onDown('no network'));
  return {
    publish: () => never,
    subscribe: () => never,
    close: () => Promise.resolve(),
    destroy: () => undefined,
  };
};

async function start(seed: string) {
  const clock = createVirtualClock(Date.UTC(2026, 10, 21, 8));
  const entropy = createSeededEntropy(seed);
  const config = await toAgentConfig(
    {
      device: { account: 'demo', id: 'van-01' },
      broker: {
        url: 'mqtt://127.0.0.1:1',
        secretFile: '-',
        publicKey,
        keepaliveS: 60,
        connectSpreadS: 5,
      },
      storage: { path: ':memory:', maxMb: 16, windowS: 5 },
      board: { profile: 'waveshare-io-analog', port: 'board' },
      gnss: { port: 'gnss', baud: 9600, silenceS: 5 },
      network: {},
      protection: standardProtection,
      update: standardUpdate,
      ...standardSettings,
      reporting: { ...standardSettings.reporting, movingS: 5, stoppedS: 60, distanceM: 100, heartbeatS: 300 },
      local: { socket: '' },
      log: { level: 'info' },
    },
    { secret: 'x'.repeat(32), agentVersion: '0.0.0' },
  );
  const route = createCityRoute({
    centre: { latitude: 43.6511, longitude: -79.347 },
    entropy: entropy.stream('route'),
    restS: 120,
  });
  const vehicle = await createVehicle({
    config,
    boardName: 'waveshare-io-analog',
    route,
    startS: 120,
    clock,
    clockErrors: { offsetMs: -86_400_000, driftPpm: 80 },
    entropy,
    agentEntropy: entropy.stream('agent'),
    log: silent,
    verifier: createVerifier(publicKey),
    openMqttLink: openNothing,
    openOutbox: (ownClock, boot, bootMonoMs) =>
      openOutbox({
        path: ':memory:',
        maxBytes: 16 * 1024 * 1024,
        openDatabase: async (file) => openSqlite({ pageSize: 1024, ...file }),
        boot,
        bootMonoMs,
        clock: ownClock,
        entropy: entropy.stream('outbox'),
        log: silent,
      }),
  });
  /** Time passes in steps; between them what was promised is done. */
  const pass = async (seconds: number): Promise<void> => {
    for (let step = 0; step < seconds * 10; step += 1) {
      clock.advance(100);
      if (step % 2 === 0) await turn();
    }
  };
  const stop = async (): Promise<void> => {
    const closed = vehicle.close().then(() => true);
    for (let isClosed = false; !isClosed; ) {
      clock.advance(100);
      isClosed = await Promise.race([closed, turn(false)]);
    }
  };
  return { clock, vehicle, pass, stop };
}

describe('a simulated vehicle without network', () => {
  it('hears its receiver and its board, and keeps what happens', async () => {
    const { vehicle, pass, stop } = await start('a');
    await pass(120);
    const before = await vehicle.agent.status();
    expect(before.fixes).toBeGreaterThan(100);
    expect(before.backlog).toBeGreaterThan(5);
    expect(vehicle.board.counts().requests).toBeGreaterThan(1000);
    expect(vehicle.board.counts().unsound).toBe(0);
    vehicle.panic(200);
    await pass(5);
    expect((await vehicle.agent.status()).backlog).toBeGreaterThan(before.backlog);
    expect(vehicle.truth()).toEqual({ cutWhileMoving: 0, relayChanges: [] });
    await stop();
  });

  it('goes on after the board was pulled and the receiver was in a tunnel', async () => {
    const { vehicle, pass, stop } = await start('b');
    await pass(30);
    vehicle.boardCable.unplug();
    vehicle.gnss.setTunnel(true);
    await pass(30);
    const { requests } = vehicle.board.counts();
    const { fixes } = await vehicle.agent.status();
    vehicle.boardCable.plug();
    vehicle.gnss.setTunnel(false);
    await pass(60);
    expect(vehicle.board.counts().requests).toBeGreaterThan(requests + 200);
    expect((await vehicle.agent.status()).fixes).toBeGreaterThan(fixes + 30);
    await stop();
  });

  it('same seed, same drive and same exchange on the bus; another seed, another', async () => {
    const run = async (seed: string) => {
      const { vehicle, pass, stop } = await start(seed);
      vehicle.board.setFaults({ garbled: 0.1, lost: 0.1 });
      await pass(20);
      const seen = { counts: vehicle.board.counts(), cable: vehicle.boardCable.counts(), at: vehicle.now() };
      await stop();
      return seen;
    };
    const first = await run('c');
    expect(await run('c')).toEqual(first);
    expect(await run('d')).not.toEqual(first);
  });
});
