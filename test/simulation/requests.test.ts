// What people ask a unit to tell, on the whole way: the broker's desk, the network, the agent with its disk, and back, on a
// virtual clock. Each request is answered once at most, over lost connections, replays and crashes.
import { describe, expect, it, onTestFinished } from 'vitest';
import { readBoardProfile } from '../../agent/boards.ts';
import { wholeAccount } from '../../broker/store/base/scope.ts';
import {
  answersFor,
  findRequest,
  listRequests,
  type RequestRow,
} from '../../broker/store/devices/device-requests.ts';
import { findDevice } from '../../broker/store/devices/devices.ts';
import { findDiagnostic } from '../../broker/store/devices/diagnostics.ts';
import type { RequestKind } from '../../src/core/wire/device-request.ts';
import { sql } from '../../src/sql.ts';
import { createFleet, runFor } from '../support/virtual/virtual-fleet.ts';

const acme = wholeAccount('acme');

async function start(seed: string) {
  const fleet = await createFleet(seed, await readBoardProfile('waveshare-relay-d'));
  onTestFinished(() => fleet.close());
  const { db } = fleet.broker;
  const device = await findDevice(db, { accountID: 'acme', deviceID: 'truck-1' });
  if (device === null) throw new Error('no device');
  void fleet.startAgent();
  await runFor(fleet, 50_000);
  /** Lets time pass until it is asked for, so that the desk's own work gets its turns. */
  const ask = async (kind: RequestKind, ttlS = 3600): Promise<string> => {
    const record = () => sql`SELECT 1`;
    const asked = fleet.broker.requests()?.ask({ device, kind, issuer: 'olga', ttlS, record });
    let row: RequestRow | undefined;
    const note = async (): Promise<void> => {
      row = await asked;
    };
    note().catch(() => undefined);
    await runFor(fleet, 500);
    return row?.requestID ?? '';
  };
  const request = (requestID: string) => findRequest(db, acme, requestID);
  const answer = async (requestID: string) => {
    const row = await request(requestID);
    const parts = row === null ? [] : await answersFor(db, row.requestNo);
    return parts.map(({ content }) => JSON.parse(content) as Record<string, unknown>);
  };
  /** Events of those codes that answer somebody. */
  const answering = async (): Promise<number> => {
    const rows = await db.read(
      sql`SELECT 1 AS one FROM events WHERE status_code IN (61504, 64816) AND attributes LIKE '%requestID%'`,
    );
    return rows.length;
  };
  const answers = async (requestID: string): Promise<number> =>
    (await db.read(sql`SELECT 1 AS one FROM events WHERE attributes LIKE ${`%${requestID}%`}`)).length;
  const diagnostics = async () =>
    (await db.read(sql`SELECT 1 AS one FROM events WHERE status_code = 64816 ORDER BY event_no`)).length;
  return { fleet, device, ask, request, answer, answering, answers, diagnostics };
}

describe('a unit', () => {
  it('reports its health a minute after the start, and then periodically', async () => {
    const { fleet, diagnostics } = await start('health');
    expect(await diagnostics()).toBe(0);
    await runFor(fleet, 40_000);
    expect(await diagnostics()).toBe(1);
    const row = await findDiagnostic(fleet.broker.db, acme, 'truck-1');
    expect(row?.diagnostic).toMatchObject({
      kind: 'diagnostic',
      agentVersion: '0.0.0',
      queueDepth: expect.any(Number),
      gps: 'fix',
      disk: expect.any(Number),
      board: 'open',
      connects: 1,
      light: 'green',
      mbRequests: expect.any(Number),
      droppedP0: 0,
      rssMb: 84,
    });
    expect(row?.diagnostic).not.toHaveProperty('requestID');
    await runFor(fleet, 180_000);
    expect(await diagnostics()).toBe(1);
  });

  it('answers each kind of request once, whatever is replayed', async () => {
    const { fleet, ask, request, answer, answering } = await start('each');
    const ids = [await ask('position'), await ask('diagnostic')];
    await runFor(fleet, 10_000);
    ids.push(await ask('log'));
    await runFor(fleet, 20_000);
    const [position = '', diagnostic = '', log = ''] = ids;
    for (const requestID of ids)
      expect(await request(requestID)).toMatchObject({ requestState: 'answered', isOpen: false });
    const [place] = await answer(position);
    expect(place).toMatchObject({ kind: 'position', gps: 'fix' });
    expect(Number(place?.['fixAgeS'])).toBeLessThan(5);
    const truth = fleet.world.place();
    expect(place?.['latitude']).toBeCloseTo(truth.latitude, 2);
    expect((await answer(diagnostic))[0]).toMatchObject({ kind: 'diagnostic', requestID: diagnostic });
    const parts = await answer(log);
    expect(parts).toHaveLength((await request(log))?.parts ?? 0);
    expect(parts.map((part) => part['text']).join('')).toContain('"msg":"connected"');
    // What a log says is nobody's health.
    expect((await findDiagnostic(fleet.broker.db, acme, 'truck-1'))?.diagnostic).toMatchObject({
      kind: 'diagnostic',
    });
    const before = await answering();
    for (let times = 0; times < 30; times++) fleet.broker.replay();
    fleet.broker.cut('carrier lost');
    await runFor(fleet, 60_000);
    for (let times = 0; times < 30; times++) fleet.broker.replay();
    await runFor(fleet, 20_000);
    expect(await answering()).toBe(before);
    expect(fleet.truth.breaches).toEqual([]);
  });

  it('that is away is asked on its next hello, and not after the time is over', async () => {
    const { fleet, ask, request } = await start('away');
    fleet.broker.network.isUp = false;
    fleet.broker.cut('carrier lost');
    const position = await ask('position', 60);
    const diagnostic = await ask('diagnostic');
    expect(await request(position)).toMatchObject({ requestState: 'requested' });
    await runFor(fleet, 70_000);
    expect(await request(position)).toMatchObject({ requestState: 'expired', isOpen: false });
    fleet.broker.network.isUp = true;
    await runFor(fleet, 300_000);
    expect(await request(diagnostic)).toMatchObject({ requestState: 'answered' });
    expect(await request(position)).toMatchObject({ requestState: 'expired' });
  });

  it('says how old its last fix is, and moves no position on the map by it', async () => {
    const { fleet, ask, answer } = await start('old fix');
    const fixMs = async () =>
      Number(
        (await fleet.broker.db.read(sql`SELECT fix_ms FROM devices WHERE device_id = 'truck-1'`))[0]?.[
          'fix_ms'
        ],
      );
    await runFor(fleet, 30_000);
    const offMs = fleet.clock.utcMs();
    fleet.gnss.setPower(false);
    await runFor(fleet, 120_000);
    const requestID = await ask('position');
    await runFor(fleet, 10_000);
    const [place] = await answer(requestID);
    expect(place).toMatchObject({
      gps: 'old',
      lastLatitude: expect.any(Number),
      lastLongitude: expect.any(Number),
    });
    expect(Number(place?.['fixAgeS'])).toBeGreaterThan(100);
    expect(place).not.toHaveProperty('latitude');
    expect(await fixMs()).toBeLessThanOrEqual(offMs);
  });

  it('answers once and not twice when it is killed at any moment of answering', async () => {
    const { fleet, device, answers } = await start('kill');
    const asked = async (): Promise<string> =>
      (await listRequests(fleet.broker.db, device.deviceNo))[0]?.requestID ?? '';
    for (let afterMs = 5; afterMs <= 90; afterMs += 5) {
      const record = () => sql`SELECT 1`;
      const wish = { device, kind: 'diagnostic', issuer: 'olga', record } as const;
      fleet.broker
        .requests()
        ?.ask(wish)
        .catch(() => undefined);
      await runFor(fleet, afterMs);
      fleet.killAgent();
      await runFor(fleet, 1000);
      void fleet.startAgent();
      await runFor(fleet, 30_000);
      for (let times = 0; times < 5; times++) fleet.broker.replay();
      await runFor(fleet, 5000);
      expect([afterMs, await answers(await asked())]).toEqual([afterMs, 1]);
    }
  });

  it('refuses what is asked too often, and says so', async () => {
    const { fleet, ask, request } = await start('often');
    const states: (string | undefined)[] = [];
    for (let times = 0; times < 4; times++) {
      const requestID = await ask('log');
      await runFor(fleet, 15_000);
      const row = await request(requestID);
      states.push(row?.requestState);
      if (row?.requestState === 'refused') expect(row.detail).toBe('asked too often: one every 900 s');
    }
    expect(states).toEqual(['answered', 'answered', 'refused', 'refused']);
  });
});
