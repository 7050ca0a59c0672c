// A cut that waits on a vehicle, replaced by a restore that was itself withdrawn before the vehicle heard of it: people
// see two commands that ended, so the vehicle must give up the one it still holds.
import { expect, it, onTestFinished } from 'vitest';
import { readBoardProfile } from '../../agent/boards.ts';
import { sql } from '../../src/sql.ts';
import { createFleet, type Fleet, runFor } from '../support/virtual/virtual-fleet.ts';

/** Keeps the vehicle on its way: the world turns the key as it likes, but never for long. */
async function driveFor(fleet: Fleet, ms: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += 1000) {
    fleet.world.goOff(false);
    await runFor(fleet, 1000);
  }
}

it('does not cut the engine when the vehicle parks', async () => {
  const fleet = await createFleet('replaced', await readBoardProfile('waveshare-relay-d'));
  onTestFinished(() => fleet.close());
  const { broker, world } = fleet;
  const states = async () => {
    const rows = await broker.db.read(sql`SELECT state, command_state FROM commands ORDER BY issued_ms`);
    return rows.map((row) => `${String(row['state'])} ${String(row['command_state'])}`);
  };
  const ask = async (state: '0' | '1'): Promise<string> => {
    const wish = { accountID: 'acme', deviceID: 'truck-1', feature: 'enginecutoff', issuer: 'olga' } as const;
    const asked = broker.ledger()?.request({ ...wish, state, reason: '' });
    await driveFor(fleet, 5000);
    return (await asked)?.commandID ?? '';
  };
  void fleet.startAgent();
  await driveFor(fleet, 120_000);
  await ask('1');
  expect(await states()).toEqual(['1 armed']);
  broker.network.isUp = false;
  broker.cut('carrier lost');
  await driveFor(fleet, 60_000);
  const restore = await ask('0');
  const withdrawn = broker.ledger()?.cancel({ accountID: 'acme', commandID: restore, issuer: 'olga' });
  await driveFor(fleet, 1000);
  await withdrawn;
  expect(await states()).toEqual(['1 superseded', '0 cancelled']);
  broker.network.isUp = true;
  await driveFor(fleet, 300_000);
  world.calm();
  await runFor(fleet, 600_000);
  expect(world.now().ignition).toBe(false);
  expect(await states()).toEqual(['1 cancelled', '0 cancelled']);
  expect(fleet.truth.breaches).toEqual([]);
});
