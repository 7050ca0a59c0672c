// How the broker brings configurations to vehicles: versions that grow only with the content, one on its way at a time, sent
// again until answered, and a change for a whole fleet in small rounds.
import { setImmediate as turn } from 'node:timers/promises';
import { inflateRawSync } from 'node:zlib';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { nextConfig } from '../../broker/core/config/config-plan.ts';
import type { DeviceRef } from '../../broker/core/device-key.ts';
import { projectBatch } from '../../broker/core/events/projection.ts';
import { packConfig, readZonesText } from '../../broker/rollout/config-compiler.ts';
import {
  type ConfigRollout,
  createConfigRollout,
  rolloutLimits,
} from '../../broker/rollout/config-rollout.ts';
import { configSizeFault } from '../../broker/rollout/config-size.ts';
import type { EncodeZones } from '../../broker/rollout/config-zones.ts';
import { readDeviceConfig } from '../../broker/store/devices/device-configs.ts';
import {
  saveAccountSettings,
  saveDeviceSettings,
  touchConfigs,
} from '../../broker/store/devices/vehicle-settings.ts';
import { insertGeozone } from '../../broker/store/geozones/geozones.ts';
import { createSigner, createVerifier, generateSigningKey } from '../../src/adapters/signing.ts';
import type { FleetEvent } from '../../src/core/events/event.ts';
import { type ConfigPart, decodeConfigPart } from '../../src/core/wire/config-message.ts';
import { signedTypes } from '../../src/core/wire/wire.ts';
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import {
  addDevice,
  advanceUntilSettled,
  createBenchClock,
  createBenchLog,
  helloOf,
  openBenchDatabase,
} from '../support/broker/broker-bench.ts';
import { waitUntil } from '../support/machine/wait-until.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

const encodeAll: EncodeZones = (rows) =>
  rows.map(({ geozoneID, zone }) => ({ id: geozoneID, p: zone.points.slice(0, 4) }));

const encodeAll8: EncodeZones = (rows) =>
  rows.map(({ geozoneID, zone }) => ({
    id: geozoneID,
    p: zone.points.flatMap(({ latitude, longitude }) => [latitude, longitude]),
  }));

async function createBench(encodeZones: EncodeZones = () => []) {
  const clock = createBenchClock();
  const db: Database = await openBenchDatabase();
  const key = generateSigningKey();
  const verifier = createVerifier(key.publicKey);
  const sent: ConfigPart[] = [];
  const bench = { lagMs: 0, isListening: true };
  const rollout: ConfigRollout = createConfigRollout({
    db,
    clock,
    log: createBenchLog(),
    signer: createSigner(key.privatePem),
    encodeZones,
    lagMs: () => bench.lagMs,
    async publish(_device, message) {
      if (!bench.isListening) return false;
      const body = verifier.verify(new TextDecoder().decode(message.payload), signedTypes.config);
      const part = body === null ? null : decodeConfigPart(body);
      if (part === null || message.verb !== 'config' || message.qos !== 1) throw new Error('not a part');
      sent.push(part);
      return true;
    },
  });
  open.push(async () => {
    await advanceUntilSettled(clock, rollout.close());
    await db.close();
  });
  const atMs = () => Math.round(clock.utcMs());
  return {
    bench,
    clock,
    db,
    rollout,
    sent,
    /** Lets time pass, and the work of each moment come to its end. */
    async pass(ms: number): Promise<void> {
      for (let passed = 0; passed < ms; passed += 100) {
        clock.advance(Math.min(100, ms - passed));
        for (let turns = 0; turns < 12; turns++) await turn();
      }
    },
    choose: (device: DeviceRef, movingS: number) =>
      db.write(
        saveDeviceSettings(device.deviceNo, {
          settings: { reporting: { movingS } },
          revision: null,
          atMs: atMs(),
        }),
      ),
    chooseForAll: (movingS: number) =>
      db.write(
        saveAccountSettings('acme', { settings: { reporting: { movingS } }, revision: null, atMs: atMs() }),
      ),
    hello: (device: DeviceRef, changes: Parameters<typeof helloOf>[1] = {}) =>
      rollout.onHello(device, helloOf(`boot-${device.deviceNo}`, changes)),
    report(
      device: DeviceRef,
      statusCode: number,
      attributes: FleetEvent['attributes'] & object,
      boot = `boot-${device.deviceNo}`,
    ): void {
      const event: FleetEvent = {
        seq: 1,
        timestamp: atMs(),
        upMs: 1,
        timeQuality: 'gnss',
        statusCode,
        attributes,
      };
      const projection = projectBatch({ boot, events: [event] }, atMs());
      rollout.onCommitted({ device, boot, fresh: [event], eventNos: [1], receivedMs: atMs(), projection });
    },
  };
}

const versions = (sent: readonly ConfigPart[]) =>
  sent.map(({ deviceID, version }) => `${deviceID} ${version}`);

describe('the broker', () => {
  it('sends the chosen configuration after a hello, signed for its boot, once', async () => {
    const { db, sent, pass, choose, chooseForAll, hello } = await createBench();
    const truck = await addDevice(db, 'acme', 'truck-1');
    await chooseForAll(30);
    await choose(truck, 5);
    await pass(5000);
    expect(sent).toEqual([]);
    hello(truck);
    await pass(5000);
    expect(sent).toMatchObject([
      {
        accountID: 'acme',
        deviceID: 'truck-1',
        boot: `boot-${truck.deviceNo}`,
        version: 1,
        part: 1,
        parts: 1,
      },
    ]);
    const text = inflateRawSync(Buffer.from(sent[0]?.data ?? '', 'base64')).toString();
    expect(text).toBe('{"settings":{"reporting":{"movingS":5}},"zones":[]}');
    await pass(rolloutLimits.resendMs - 10_000);
    expect(sent).toHaveLength(1);
  });

  it('sends again until the vehicle answers, ever more seldom', async () => {
    const { db, sent, pass, choose, hello, report } = await createBench();
    const truck = await addDevice(db, 'acme', 'truck-1');
    await choose(truck, 5);
    hello(truck);
    await pass(2000);
    await pass(rolloutLimits.resendMs + 2000);
    expect(sent).toHaveLength(2);
    await pass(rolloutLimits.resendMs + 2000);
    expect(sent).toHaveLength(2);
    await pass(rolloutLimits.resendMs + 2000);
    expect(sent).toHaveLength(3);
    report(truck, 64_835, { configVersion: 1, configSha256: sent[0]?.sha256 ?? '' });
    await pass(rolloutLimits.resendMs * 5);
    expect(sent).toHaveLength(3);
    expect(await readDeviceConfig(db, truck.deviceNo)).toMatchObject({ version: 1, heldVersion: 1 });
  });

  it('sends at most one at a time to a vehicle: a change waits for the answer to the one before', async () => {
    const { db, sent, pass, choose, hello, report } = await createBench();
    const truck = await addDevice(db, 'acme', 'truck-1');
    await choose(truck, 5);
    hello(truck);
    await pass(2000);
    for (const movingS of [6, 7, 8]) {
      await choose(truck, movingS);
      await pass(3000);
    }
    expect(versions(sent)).toEqual(['truck-1 1']);
    report(truck, 64_835, { configVersion: 1, configSha256: sent[0]?.sha256 ?? '' });
    await pass(3000);
    expect(versions(sent)).toEqual(['truck-1 1', 'truck-1 2']);
  });

  it('does not send again what the vehicle cannot take, unless ordered to or to another agent', async () => {
    const { db, sent, pass, choose, hello, report } = await createBench();
    const truck = await addDevice(db, 'acme', 'truck-1');
    await choose(truck, 5);
    hello(truck);
    await pass(2000);
    report(truck, 64_836, {
      configVersion: 1,
      configSha256: sent[0]?.sha256 ?? '',
      reason: 'no such table',
      retry: false,
    });
    await pass(2000);
    expect(await readDeviceConfig(db, truck.deviceNo)).toMatchObject({
      failedVersion: 1,
      failedReason: 'no such table',
    });
    hello(truck);
    await pass(5000);
    expect(sent).toHaveLength(1);
    hello(truck, { agentVersion: '0.2.0' });
    await pass(5000);
    expect(sent).toHaveLength(2);
    report(truck, 64_836, { configVersion: 1, reason: 'in time', retry: true });
    await pass(rolloutLimits.retryMs - 10_000);
    expect(sent).toHaveLength(2);
    await pass(20_000);
    expect(sent).toHaveLength(3);
    await choose(truck, 6);
    report(truck, 64_836, { configVersion: 1, reason: 'in time', retry: false });
    await pass(5000);
    expect(versions(sent).at(-1)).toBe('truck-1 2');
  });

  it('does not take the failure of a firmware job, nor a report of an earlier boot, for a report on this one', async () => {
    const { db, sent, pass, choose, hello, report } = await createBench();
    const truck = await addDevice(db, 'acme', 'truck-1');
    await choose(truck, 5);
    hello(truck);
    await pass(2000);
    report(truck, 64_836, { version: '1.4.0', reason: 'no update' });
    report(truck, 64_835, { configVersion: 1, configSha256: sent[0]?.sha256 ?? '' }, 'an-earlier-boot');
    await pass(2000);
    expect(await readDeviceConfig(db, truck.deviceNo)).toMatchObject({ heldVersion: 0, failedVersion: 0 });
  });

  it('goes beyond the version that a vehicle holds after the store was restored from a backup', async () => {
    const { db, sent, pass, choose, hello } = await createBench();
    const truck = await addDevice(db, 'acme', 'truck-1');
    await choose(truck, 5);
    hello(truck, { configVersion: 7, configSha256: 'a'.repeat(64) });
    await pass(2000);
    expect(versions(sent)).toEqual(['truck-1 8']);
    hello(truck, { configVersion: 2 ** 50, configSha256: 'a'.repeat(64) });
    await pass(2000);
    expect(versions(sent).at(-1)).toBe('truck-1 8');
  });

  it('reverts to the defaults when the choices are removed', async () => {
    const { db, sent, pass, choose, hello, report } = await createBench();
    const truck = await addDevice(db, 'acme', 'truck-1');
    await choose(truck, 5);
    hello(truck);
    await pass(2000);
    report(truck, 64_835, { configVersion: 1, configSha256: sent[0]?.sha256 ?? '' });
    await db.write(
      saveDeviceSettings(truck.deviceNo, {
        settings: {},
        revision: null,
        atMs: Math.round(1_767_614_400_000),
      }),
    );
    await pass(5000);
    expect(versions(sent)).toEqual(['truck-1 1', 'truck-1 2']);
  });

  it('waits while vehicles wait for the disk, and does not send to a device that is offline', async () => {
    const { bench, db, sent, pass, choose, hello } = await createBench();
    const truck = await addDevice(db, 'acme', 'truck-1');
    await choose(truck, 5);
    bench.lagMs = 5000;
    hello(truck);
    await pass(5000);
    expect(await readDeviceConfig(db, truck.deviceNo)).toMatchObject({ version: 0 });
    bench.lagMs = 0;
    bench.isListening = false;
    await pass(5000);
    expect(sent).toEqual([]);
    expect(await readDeviceConfig(db, truck.deviceNo)).toMatchObject({ version: 1, sentMs: 0 });
  });

  it('sends a change for a whole fleet in several runs, and compiles what is common once', async () => {
    let encoded = 0;
    const { db, sent, pass, hello, report } = await createBench((rows) => {
      encoded += rows.length;
      return encodeAll(rows);
    });
    const trucks: DeviceRef[] = [];
    for (let at = 0; at < 120; at++) trucks.push(await addDevice(db, 'acme', `truck-${at}`));
    const other = await addDevice(db, 'rival', 'rival-1');
    for (let at = 0; at < 1200; at++) {
      const points = Array.from({ length: 8 }, (_, corner) => ({
        latitude: 40 + at / 1000,
        longitude: corner / 10,
      }));
      const content = {
        displayName: '',
        description: '',
        switches: [],
        zone: { type: 3, radiusM: 500, points },
      } as const;
      await db.write([
        insertGeozone({
          key: { accountID: 'acme', geozoneID: `z${at}` },
          content,
          box: null,
          atMs: 1,
          onlyIf: sql`1 = 1`,
        }),
      ]);
    }
    for (const truck of [...trucks, other]) hello(truck);
    const served = () => new Set(sent.map(({ deviceID }) => deviceID)).size;
    // What is common is long enough to be deflated on another thread, which knows nothing of the virtual clock.
    await waitUntil('the configuration of every vehicle', async () => {
      await pass(500);
      return served() === 120;
    });
    expect(encoded).toBe(1200);
    expect(served()).toBe(120);
    for (const truck of trucks)
      report(truck, 64_835, { configVersion: 1, configSha256: sent[0]?.sha256 ?? '' });
    await pass(2000);
    sent.length = 0;
    const revisions = () =>
      Promise.all(trucks.map(async ({ deviceNo }) => (await readDeviceConfig(db, deviceNo)).accountRevision));
    const [before = 0] = await revisions();
    await db.write([touchConfigs('acme', 1_767_614_400_000)]);
    await waitUntil('a look at every vehicle after the change', async () => {
      await pass(500);
      return (await revisions()).every((revision) => revision > before);
    });
    await pass(2000);
    // It was made anew, and is the same: nothing is sent to any vehicle.
    expect(encoded).toBe(2400);
    expect(sent).toEqual([]);
  });
});

it('a version grows exactly when the content changes, and a vehicle is never asked to take an older one', () => {
  const hash = fc.constantFrom('a', 'b', 'c', '');
  const version = fc.nat({ max: 5 });
  fc.assert(
    fc.property(
      fc.record({
        wanted: fc.record({ version, sha256: hash }),
        held: fc.record({ version, sha256: hash }),
        made: fc.record({ sha256: fc.constantFrom('a', 'b', 'c'), isEmpty: fc.boolean() }),
      }),
      (facts) => {
        const { wanted, held, made } = facts;
        const next = nextConfig(facts);
        expect(next).toBeGreaterThanOrEqual(wanted.version);
        expect(next).toBeGreaterThanOrEqual(held.version);
        // The same facts again give the same version.
        expect(nextConfig({ ...facts, wanted: { version: next, sha256: made.sha256 } })).toBe(next);
        if (next === held.version && next > 0) expect([made.sha256, '']).toContain(held.sha256);
      },
    ),
    { numRuns: 2000 },
  );
});

it('warns when one geozone too many is saved, and not below the limit', async () => {
  const db = await openBenchDatabase();
  open.push(() => db.close());
  // Coordinates that do not deflate.
  const points = (at: number) =>
    Array.from({ length: 8 }, (_, corner) => ({
      latitude: (Math.sin(at * 8.3 + corner) * 89).toFixed(6),
      longitude: (Math.cos(at * 3.7 + corner) * 179).toFixed(6),
    })).map(({ latitude, longitude }) => ({ latitude: Number(latitude), longitude: Number(longitude) }));
  const zoneOf = (at: number) =>
    ({
      displayName: '',
      description: '',
      switches: [],
      zone: { type: 3, radiusM: 500, points: points(at) },
    }) as const;
  const rowOf = (at: number) => ({ geozoneID: `zone-${at}`, version: 0, ...zoneOf(at) });
  const fault = (at: number) =>
    configSizeFault(db, encodeAll8, { accountID: 'acme', settings: {}, zone: rowOf(at) });
  for (let at = 0; at < 10_000; at += 500) {
    await db.write(
      Array.from({ length: 500 }, (_, more) =>
        insertGeozone({
          key: { accountID: 'acme', geozoneID: `zone-${at + more}` },
          content: zoneOf(at + more),
          box: null,
          atMs: 1,
          onlyIf: sql`1 = 1`,
        }),
      ),
    );
    const found = await fault(at + 500 - 1);
    const made = await packConfig({}, await readZonesText(db, encodeAll8, { accountID: 'acme' }));
    // Nobody is turned away far below the limit, and nothing that is let through cannot be sent.
    if (found === null) expect(made.kind).toBe('ok');
    if (made.kind === 'fault') {
      expect(found).toMatch(/KiB/);
      expect(at).toBeGreaterThan(3000);
      return;
    }
  }
  expect.fail('the limit was never reached');
});
