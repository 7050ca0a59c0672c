// Which certificates of a device count, by the statements that decide it: those that were issued since its last revocation,
// and never those of a device that had its name before.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { issueDeviceSecret } from '../../broker/accounts/issue-device-secret.ts';
import { revocationFault } from '../../broker/core/accounts/client-certificate.ts';
import type { DeviceRef } from '../../broker/core/device-key.ts';
import { wholeAccount } from '../../broker/store/base/scope.ts';
import {
  findBySerial,
  findCertificate,
  listCertificates,
  recordCertificate,
  revokeAllCertificates,
  revokeCertificate,
} from '../../broker/store/devices/certificates.ts';
import { deleteDevice } from '../../broker/store/devices/device-deletion.ts';
import type { Database } from '../../src/ports.ts';
import {
  addDevice,
  createBenchClock,
  createBenchEntropy,
  openBenchDatabase,
  startMs,
} from '../support/broker/broker-bench.ts';

const hourMs = 3600_000;
let db: Database;
let truck: DeviceRef;
beforeEach(async () => {
  db = await openBenchDatabase();
  truck = await addDevice(db, 'acme', 'truck-1');
});
afterEach(() => db.close());

const issued = (serial: string) => ({ serial, atMs: startMs, untilMs: startMs + hourMs });
/** Why a certificate does not count for the device; null when it does. */
async function faultOf(device: DeviceRef, serial: string, fromMs: number): Promise<string | null> {
  const record = await findCertificate(db, device.deviceNo, serial);
  return record === null ? 'no such device' : revocationFault({ fromMs }, record);
}
const changes = async (): Promise<number | undefined> =>
  (await findCertificate(db, truck.deviceNo, 'none'))?.changes;

describe('a certificate', () => {
  it('is valid whichever process issued it, until one of its device is revoked', async () => {
    await db.write([recordCertificate(truck, issued('a1'))]);
    expect([await faultOf(truck, 'a1', startMs), await faultOf(truck, 'f00', 0)]).toEqual([null, null]);
    await db.write(revokeAllCertificates(truck, { atMs: startMs + 5, isForSecret: false }));
    expect(await faultOf(truck, 'a1', startMs)).toMatch(/revoked/);
    expect(await faultOf(truck, 'f00', startMs + 4)).toMatch(/older/);
    expect(await faultOf(truck, 'f00', startMs + 5)).toBeNull();
    // Issued afterwards by the broker, however early it says that it begins.
    await db.write([recordCertificate(truck, issued('b2'))]);
    expect(await faultOf(truck, 'b2', startMs - hourMs)).toBeNull();
    expect((await listCertificates(db, 10)).map(({ serial, revokedMs }) => [serial, revokedMs])).toEqual([
      ['a1', startMs + 5],
      ['b2', null],
    ]);
  });

  it('is revoked alone, also one that was never recorded, and every time is counted once', async () => {
    await db.write([recordCertificate(truck, issued('a1'))]);
    await db.write(revokeCertificate(truck, issued('f00')));
    expect(await faultOf(truck, 'f00', startMs + hourMs)).toMatch(/revoked/);
    expect(await faultOf(truck, 'a1', 0)).toBeNull();
    expect(await faultOf(truck, 'other', 0)).toBeNull();
    expect(await changes()).toBe(1);
    expect(await findBySerial(db, 'f00')).toMatchObject([{ deviceID: 'truck-1', revokedMs: startMs }]);
  });

  it('ends with the secret of its device, but not with the very first one', async () => {
    const clock = createBenchClock();
    const entropy = createBenchEntropy();
    await issueDeviceSecret(db, entropy, clock, truck);
    expect(await faultOf(truck, 'f00', 0)).toBeNull();
    await db.write([recordCertificate(truck, issued('a1'))]);
    await issueDeviceSecret(db, entropy, clock, truck);
    expect(await faultOf(truck, 'a1', startMs)).toMatch(/revoked/);
    expect(await faultOf(truck, 'f00', startMs - 1)).toMatch(/older/);
    expect(await changes()).toBe(1);
  });

  it('does not authenticate a new device of the same name', async () => {
    await db.write([recordCertificate(truck, issued('a1'))]);
    const atS = startMs / 1000;
    await db.write(deleteDevice(truck, wholeAccount('acme'), atS));
    expect(await faultOf(truck, 'a1', startMs)).toBe('no such device');
    const heir = await addDevice(db, 'acme', 'truck-1');
    for (const serial of ['a1', 'f00']) {
      expect(await faultOf(heir, serial, startMs)).toMatch(/older/);
      expect(await faultOf(heir, serial, (atS + 1) * 1000)).toBeNull();
    }
    const other = await addDevice(db, 'acme', 'truck-2');
    expect(await faultOf(other, 'a1', 0)).toBeNull();
  });
});
