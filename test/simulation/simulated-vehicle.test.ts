// One virtual vehicle with the real agent on virtual time and with no network: it reads the simulated board and receiver
// over the simulated cables, survives their faults, and keeps what it saw. The same seed drives the same way.
import { describe, expect, it } from 'vitest';
import { startVirtualVehicle } from '../support/virtual/virtual-vehicle.ts';

const start = (seed: string) =>
  startVirtualVehicle({
    seed,
    windowS: 5,
    reporting: { movingS: 5, stoppedS: 60, distanceM: 100, heartbeatS: 300 },
    clockErrors: { offsetMs: -86_400_000, driftPpm: 80 },
  });

describe('a simulated vehicle without network', () => {
  it('reads its receiver and its board, and stores what happens', async () => {
    const { vehicle, pass, close } = await start('a');
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
    await close();
  });

  it('goes on after the board was pulled and the receiver was in a tunnel', async () => {
    const { vehicle, pass, close } = await start('b');
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
    await close();
  });

  it('same seed, same drive and same exchange on the bus; another seed, another', async () => {
    const run = async (seed: string) => {
      const { vehicle, pass, close } = await start(seed);
      vehicle.board.setFaults({ garbled: 0.1, lost: 0.1 });
      await pass(20);
      const seen = { counts: vehicle.board.counts(), cable: vehicle.boardCable.counts(), at: vehicle.now() };
      await close();
      return seen;
    };
    const first = await run('c');
    expect(await run('c')).toEqual(first);
    expect(await run('d')).not.toEqual(first);
  });
});
