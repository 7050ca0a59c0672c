// A link that lasts for days: the agent asks the broker for its time again on it, so that what is not known of the time stays
// a matter of seconds. A real agent and a real broker on a virtual clock.
import { expect, it, onTestFinished } from 'vitest';
import { readBoardProfile } from '../../agent/boards.ts';
import { deliveryLimits } from '../../agent/core/link/delivery.ts';
import { sql } from '../../src/sql.ts';
import { createFleet, runFor } from '../support/virtual/virtual-fleet.ts';

it('a hello on the same link renews the time, sends nothing twice and ends no session', async () => {
  const fleet = await createFleet('renewal', await readBoardProfile('waveshare-relay-d'));
  onTestFinished(() => fleet.close());
  fleet.world.calm();
  // A night in a garage: nothing is heard, so that six hours pass quickly.
  fleet.board.setPower(false);
  fleet.gnss.setPower(false);
  void fleet.startAgent();
  await runFor(fleet, 60_000);
  const { db } = fleet.broker;
  const device = async () => (await db.read(sql`SELECT nonce, hello_ms, is_online FROM devices`))[0];
  const events = async () => Number((await db.read(sql`SELECT count(*) AS n FROM events`))[0]?.['n']);
  const first = await device();
  expect(first?.['is_online']).toBe(1);
  const before = await events();
  await runFor(fleet, deliveryLimits.renewMs + 60_000);
  const second = await device();
  // Either hello was some time on the way.
  const apartMs = Number(second?.['hello_ms']) - Number(first?.['hello_ms']);
  expect(Math.abs(apartMs - deliveryLimits.renewMs)).toBeLessThan(60_000);
  expect(second?.['nonce']).not.toBe(first?.['nonce']);
  expect(second?.['is_online']).toBe(1);
  expect(await fleet.agent()?.status()).toMatchObject({ connection: 'up' });
  const after = await events();
  // Heartbeats went on, before and after.
  expect(after).toBeGreaterThan(before);
  await runFor(fleet, 600_000);
  expect(await events()).toBeGreaterThan(after);
  expect(fleet.truth.breaches).toEqual([]);
});
