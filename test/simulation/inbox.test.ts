// Firmware jobs and messages on the whole way: the broker's ledger, the network, the agent with its disk, and back, on a
// virtual clock. Each is answered once, over lost connections, replays and crashes.
import { describe, expect, it, onTestFinished } from 'vitest';
import { readBoardProfile } from '../../agent/boards.ts';
import { insertMessage } from '../../broker/features/messages/message-statements.ts';
import { supersedeAndInsert } from '../../broker/store/commands/commands.ts';
import { findDevice } from '../../broker/store/devices/devices.ts';
import { sql } from '../../src/sql.ts';
import { createFleet, runFor } from '../support/virtual/virtual-fleet.ts';

async function start() {
  const fleet = await createFleet('inbox', await readBoardProfile('waveshare-relay-d'));
  onTestFinished(() => fleet.close());
  void fleet.startAgent();
  await runFor(fleet, 60_000);
  const device = await findDevice(fleet.broker.db, { accountID: 'acme', deviceID: 'truck-1' });
  if (device === null) throw new Error('no device');
  const { db } = fleet.broker;
  const content = JSON.stringify({ version: '1.4.0', url: 'https://u.example/x', sha256: 'ab'.repeat(32) });
  const order = async (): Promise<void> => {
    const ordered = fleet.broker.ledger()?.enact({
      device,
      statements: ({ commandID, issuedMs }) =>
        supersedeAndInsert(
          {
            deviceNo: device.deviceNo,
            commandID,
            feature: 'firmware',
            state: '1',
            reason: '',
            issuer: 'anna',
            issuedMs,
            expiresMs: issuedMs + 604_800_000,
            sameSinceMs: issuedMs,
            content,
          },
          sql`1 = 1`,
        ),
    });
    ordered?.catch(() => undefined);
    await runFor(fleet, 1000);
  };
  const write = async (messageID: string): Promise<void> => {
    const sentMs = Math.round(fleet.clock.utcMs());
    await db.write([
      insertMessage({
        messageID,
        deviceNo: device.deviceNo,
        text: `hello ${messageID}`,
        sender: 'olga',
        sentMs,
      }),
    ]);
    fleet.broker
      .ledger()
      ?.sendMessages(device)
      .catch(() => undefined);
  };
  const codes = async (): Promise<readonly number[]> => {
    const rows = await db.read(
      sql`SELECT status_code FROM events WHERE status_code IN (64834, 64836, 4393) ORDER BY event_no`,
    );
    return rows.map((row) => Number(row['status_code']));
  };
  const job = async () => (await db.read(sql`SELECT command_state, detail, is_final FROM commands`))[0];
  const undelivered = async (): Promise<number> =>
    (await db.read(sql`SELECT 1 AS one FROM messages WHERE delivered_ms IS NULL`)).length;
  return { fleet, order, write, codes, job, undelivered };
}

describe('a vehicle', () => {
  it('refuses a firmware job in its own words, and the ledger knows', async () => {
    const { fleet, order, codes, job } = await start();
    await order();
    await runFor(fleet, 20_000);
    expect(await job()).toMatchObject({
      command_state: 'refused',
      detail: 'this unit is updated by its package manager',
      is_final: 1,
    });
    for (let times = 0; times < 5; times++) fleet.broker.replay();
    fleet.broker.cut('carrier lost');
    await runFor(fleet, 60_000);
    expect(await codes()).toEqual([64_834, 64_836]);
    expect(fleet.truth.breaches).toEqual([]);
  });

  it('confirms messages once, and keeps them over a crash', async () => {
    const { fleet, write, codes, undelivered } = await start();
    await write('m1');
    await runFor(fleet, 20_000);
    expect(await undelivered()).toBe(0);
    fleet.broker.network.isUp = false;
    fleet.broker.cut('carrier lost');
    await write('m2');
    await runFor(fleet, 10_000);
    expect(await undelivered()).toBe(1);
    fleet.broker.network.isUp = true;
    await runFor(fleet, 300_000);
    fleet.killAgent();
    await runFor(fleet, 5000);
    void fleet.startAgent();
    await runFor(fleet, 120_000);
    for (let times = 0; times < 5; times++) fleet.broker.replay();
    await runFor(fleet, 20_000);
    expect(await undelivered()).toBe(0);
    expect(await codes()).toEqual([4393, 4393]);
    const asked = fleet.agent()?.status();
    await runFor(fleet, 1000);
    expect((await asked)?.messages).toMatchObject([
      { messageID: 'm1', from: 'olga', text: 'hello m1' },
      { messageID: 'm2', from: 'olga', text: 'hello m2' },
    ]);
    expect(fleet.truth.breaches).toEqual([]);
  });
});
