// A configuration on its whole way: chosen at the broker, signed and sent, tried and kept by a real agent on a virtual clock,
// while connections break at every step, either side is killed, and old envelopes are played back.
import { describe, expect, it, onTestFinished } from 'vitest';
import { readBoardProfile } from '../../agent/boards.ts';
import { decodeSlot } from '../../agent/core/config/config-record.ts';
import { readDeviceConfig } from '../../broker/store/devices/device-configs.ts';
import { findDevice } from '../../broker/store/devices/devices.ts';
import { saveAccountSettings, saveDeviceSettings } from '../../broker/store/devices/vehicle-settings.ts';
import type { SettingsChange } from '../../src/core/settings/change.ts';
import { sql } from '../../src/sql.ts';
import { extent } from '../support/extent.ts';
import { createFleet, runFor } from '../support/virtual/virtual-fleet.ts';

async function start(seed = 'config') {
  const fleet = await createFleet(seed, await readBoardProfile('waveshare-relay-d'));
  onTestFinished(() => fleet.close());
  fleet.world.calm();
  void fleet.startAgent();
  await runFor(fleet, 60_000);
  const { db } = fleet.broker;
  const device = await findDevice(db, { accountID: 'acme', deviceID: 'truck-1' });
  if (device === null) throw new Error('no device');
  const { deviceNo } = device;
  const choose = async (settings: SettingsChange): Promise<void> => {
    const atMs = Math.round(fleet.clock.utcMs());
    await db.write(saveDeviceSettings(deviceNo, { settings, revision: null, atMs }));
  };
  const chooseForAll = async (settings: SettingsChange): Promise<void> => {
    const atMs = Math.round(fleet.clock.utcMs());
    await db.write(saveAccountSettings('acme', { settings, revision: null, atMs }));
  };
  const state = () => readDeviceConfig(db, deviceNo);
  const held = async () => {
    const files = await fleet.slots.read();
    return Object.fromEntries(
      (['a', 'b'] as const).map((slot) => {
        const file = files[slot];
        const record = file.kind === 'sound' ? decodeSlot(file.bytes) : null;
        return [slot, record === null ? null : `${record.state} ${record.version}`];
      }),
    );
  };
  const codes = async (): Promise<readonly number[]> => {
    const rows = await db.read(
      sql`SELECT status_code FROM events WHERE status_code IN (64833, 64835, 64836) ORDER BY event_no`,
    );
    return rows.map((row) => Number(row['status_code']));
  };
  return { fleet, choose, chooseForAll, state, held, codes };
}

describe('a configuration', () => {
  it('that was not chosen is never sent', async () => {
    const { fleet, state, held, codes } = await start();
    await runFor(fleet, 120_000);
    expect(await state()).toMatchObject({ version: 0, sentMs: 0 });
    expect(await held()).toEqual({ a: null, b: null });
    expect(await codes()).toEqual([]);
  });

  it('reaches a connected vehicle, is kept, and is not sent again', async () => {
    const { fleet, choose, chooseForAll, state, held, codes } = await start();
    await chooseForAll({ reporting: { movingS: 30, stoppedS: 900 } });
    await runFor(fleet, 20_000);
    expect(await state()).toMatchObject({ version: 1, heldVersion: 1 });
    expect(await held()).toEqual({ a: 'good 1', b: null });
    await choose({ reporting: { movingS: 5 } });
    await runFor(fleet, 20_000);
    expect(await held()).toEqual({ a: 'good 1', b: 'good 2' });
    const { sentMs } = await state();
    for (let times = 0; times < 5; times++) fleet.broker.replay();
    fleet.broker.cut('carrier lost');
    await runFor(fleet, 420_000);
    expect(await state()).toMatchObject({ version: 2, heldVersion: 2, sentMs });
    // A replay within the boot is answered, and changes nothing.
    expect(new Set(await codes())).toEqual(new Set([64_835]));
    expect(await held()).toEqual({ a: 'good 1', b: 'good 2' });
    expect(fleet.truth.breaches).toEqual([]);
  });

  it('whose content comes back to what holds only changes its number', async () => {
    const { fleet, choose, held } = await start();
    await choose({ reporting: { movingS: 5 } });
    await runFor(fleet, 20_000);
    fleet.broker.network.isUp = false;
    fleet.broker.cut('carrier lost');
    await choose({ reporting: { movingS: 6 } });
    await runFor(fleet, 20_000);
    await choose({ reporting: { movingS: 5 } });
    fleet.broker.network.isUp = true;
    await runFor(fleet, 300_000);
    expect((await held())['b']).toBeNull();
    expect((await held())['a']).toMatch(/^good /);
  });

  it('is taken back when nothing is acknowledged any more, and taken anew when that is over', async () => {
    const { fleet, choose, state, held, codes } = await start();
    await choose({ reporting: { movingS: 5 } });
    await runFor(fleet, 20_000);
    fleet.broker.network.isAckLost = true;
    await choose({ reporting: { movingS: 6 } });
    for (let ms = 0; ms < 900_000 && (await held())['b']?.startsWith('failed') !== true; ms += 10_000)
      await runFor(fleet, 10_000);
    expect(await held()).toEqual({ a: 'good 1', b: 'failed 2' });
    fleet.broker.network.isAckLost = false;
    for (let ms = 0; ms < 1_500_000 && (await held())['b'] !== 'good 2'; ms += 10_000)
      await runFor(fleet, 10_000);
    expect(await held()).toEqual({ a: 'good 1', b: 'good 2' });
    await runFor(fleet, 30_000);
    expect(await state()).toMatchObject({ version: 2, heldVersion: 2, failedVersion: 2, failedRetry: true });
    expect(await codes()).toEqual([64_835, 64_835, 64_836, 64_835]);
    expect(fleet.truth.breaches).toEqual([]);
  });

  it.each(extent({ gate: [500, 1100, 1700], nightly: [500, 700, 900, 1100, 1300, 1500, 1700, 1900] }))(
    'arrives in the end when the link breaks %i ms after it was chosen, and again and again',
    async (afterMs) => {
      const { fleet, choose, state, held } = await start(`drop ${afterMs}`);
      await choose({ reporting: { movingS: 5 } });
      await runFor(fleet, afterMs);
      for (let times = 0; times < 4; times++) {
        fleet.broker.cut('carrier lost');
        await runFor(fleet, 5000 + afterMs);
      }
      await runFor(fleet, 420_000);
      expect(await state()).toMatchObject({ version: 1, heldVersion: 1 });
      expect(await held()).toEqual({ a: 'good 1', b: null });
    },
  );

  it.each(extent({ gate: [600, 2100], nightly: [600, 1100, 1600, 2100, 2600, 3100] }))(
    'arrives in the end when agent and broker are killed %i ms after it was chosen',
    async (afterMs) => {
      const { fleet, choose, state, held } = await start(`kill ${afterMs}`);
      await choose({ reporting: { movingS: 5 } });
      await runFor(fleet, afterMs);
      fleet.killAgent();
      await runFor(fleet, 1000);
      void fleet.startAgent();
      await runFor(fleet, 3000 + afterMs);
      fleet.broker.kill();
      await runFor(fleet, 2000);
      fleet.broker.start();
      await runFor(fleet, 600_000);
      expect(await state()).toMatchObject({ version: 1, heldVersion: 1 });
      expect(Object.values(await held())).toContain('good 1');
      expect(fleet.truth.breaches).toEqual([]);
    },
  );
});
