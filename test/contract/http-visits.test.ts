// "Who was here?" over HTTP: the same answer as a scan of all events, whatever is in the index, within the caller's scope, and nothing of
// what was deleted.
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fixOf } from '../../broker/core/events/belief.ts';
import { visitOf } from '../../broker/features/visits/core/visit.ts';
import { cellsOf, coverOf } from '../../broker/features/visits/core/visit-cells.ts';
import { visitIndex } from '../../broker/features/visits/visit-index.ts';
import { tableOf, wholeSlices } from '../../broker/store/slices/slices.ts';
import type { Point } from '../../src/core/geo/geo.ts';
import { openNextSlice } from '../support/database/stored-events.ts';
import { extent } from '../support/extent.ts';
import { startHttpService } from '../support/http/http-service.ts';

let service: Awaited<ReturnType<typeof startHttpService>>;
let admin = '';
/** A full hour, as the index counts them. */
const startS = (Math.floor(Date.now() / 3_600_000) - 2) * 3600;
const metre = 1 / 111_195;
const home = { latitude: 48, longitude: 11 };
let seq = 0;

beforeEach(async () => {
  service = await startHttpService();
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  for (const deviceID of ['van-1', 'van-2']) await service.device('acme', deviceID);
  await service.device('rival', 'van-1');
  admin = await service.login('acme', 'admin');
});
afterEach(() => service.close());

interface Report extends Point {
  /** After `startS`. */
  readonly s: number;
  readonly statusCode?: number;
}

async function send(deviceID: string, reports: readonly Report[], accountID = 'acme'): Promise<void> {
  const events = reports.map(({ s, statusCode = 61_714, latitude, longitude }) => {
    seq += 1;
    return { seq, timestamp: (startS + s) * 1000, statusCode, latitude, longitude, satellites: 9 };
  });
  await service.events(accountID, deviceID, { boot: 'b', events });
}

const north = (m: number, s: number, from: Point = home): Report => ({
  s,
  latitude: from.latitude + m * metre,
  longitude: from.longitude,
});

interface Question {
  readonly at?: Point;
  readonly radius?: number;
  readonly from?: number;
  readonly to?: number;
  readonly query?: string;
}

const pathOf = ({ at = home, radius = 200, from = 0, to = 3600, query = '' }: Question): string =>
  `/api/v1/eventdata/visits/${at.latitude}/${at.longitude}/${radius}/${startS + from}/${startS + to}/authorization${query}`;

async function ask(question: Question = {}, token = admin) {
  const answer = await service.call({ path: pathOf(question), token });
  expect(answer.status, answer.text).toBe(200);
  const { visits, next } = answer.json() as {
    readonly visits: readonly Readonly<Record<string, string | number>>[];
    readonly next: string | null;
  };
  return { visits, next };
}
const idsOf = async (question: Question = {}, token = admin) =>
  (await ask(question, token)).visits.map(({ deviceID }) => deviceID);

const index = () => service.api.of(visitIndex);
const indexRows = () => service.rows('SELECT * FROM visit_cells');

describe('the vehicles of a place', () => {
  it('are those that reported a position there, with first and last time and how near they came', async () => {
    await send('van-1', [north(500, 0), north(150, 600), north(-90, 1200), north(500, 1800)]);
    await send('van-2', [north(201, 600)]);
    const visit = {
      deviceID: 'van-1',
      firstTimestamp: startS + 600,
      lastTimestamp: startS + 1200,
      positions: 2,
      nearestDistance: 90,
    };
    expect(await ask()).toEqual({ visits: [visit], next: null });
    await index().takeInNow();
    expect(await ask()).toEqual({ visits: [visit], next: null });
    expect(await idsOf({ from: 601, to: 1199 })).toEqual([]);
    expect(await idsOf({ from: 1200, to: 1200 })).toEqual(['van-1']);
    expect(await idsOf({ radius: 202 })).toEqual(['van-1', 'van-2']);
  });

  it('are also those that crossed it between two positions, as far as the way between them is known', async () => {
    await send('van-1', [north(-700, 0), north(700, 60)]);
    await send('van-2', [north(-700, 0), north(700, 95)]);
    for (let time = 0; time < 2; time++) {
      const { visits } = await ask();
      expect(visits).toEqual([
        {
          deviceID: 'van-1',
          firstTimestamp: startS + 21,
          lastTimestamp: startS + 38,
          positions: 0,
          nearestDistance: 0,
        },
      ]);
      // Both positions lie outside of the asked time, and the crossing within it.
      expect(await idsOf({ from: 25, to: 30 })).toEqual(['van-1']);
      expect(await idsOf({ from: 45, to: 59 })).toEqual([]);
      await index().takeInNow();
    }
  });

  it('are also those whose way crosses it only since a position came late', async () => {
    // Too long a way without the one between.
    await send('van-1', [north(-1400, 0), north(1400, 100)]);
    await index().takeInNow();
    await openNextSlice(service.db, Date.now());
    const before = { at: north(-700, 0), radius: 10 };
    const after = { at: north(700, 0), radius: 10 };
    for (const question of [before, after]) expect(await idsOf(question)).toEqual([]);
    await send('van-1', [north(0, 50)]);
    for (let time = 0; time < 2; time++) {
      for (const question of [before, after]) expect(await idsOf(question)).toEqual(['van-1']);
      expect(await idsOf({ ...before, from: 24, to: 26 })).toEqual(['van-1']);
      expect(await idsOf({ ...before, from: 50 })).toEqual([]);
      await index().takeInNow();
    }
    // And no longer where the way led before a position aside of it came.
    await send('van-1', [{ ...north(-700, 25), longitude: home.longitude + 1000 * metre }]);
    for (let time = 0; time < 2; time++) {
      expect(await idsOf(before)).toEqual([]);
      await index().takeInNow();
    }
  });

  it('are also those that crossed it about a full hour, where only the hour before or after has a position', async () => {
    await send('van-1', [north(-700, 3570), north(700, 3650)]);
    await send('van-2', [north(-700, 3550), north(700, 3630)]);
    for (let time = 0; time < 2; time++) {
      expect(await idsOf({ radius: 50, from: 3600, to: 3640 })).toEqual(['van-1']);
      expect(await idsOf({ radius: 50, from: 3580, to: 3599 })).toEqual(['van-2']);
      await index().takeInNow();
    }
  });

  it('do not count a repeated last location, latitude and longitude 0, or a time a day ahead of its arrival', async () => {
    await send('van-1', [{ ...north(0, 10), statusCode: 61_477 }]);
    await send('van-2', [north(0, 2 * 86_400 + 7200)]);
    const nowhere = { latitude: 0, longitude: 0 };
    await send('van-2', [north(0, 20, nowhere)]);
    expect(await idsOf({ at: nowhere })).toEqual([]);
    expect(await idsOf({ from: 2 * 86_400, to: 2 * 86_400 + 7201 })).toEqual([]);
  });

  it('are of the caller only: its account, its groups, the devices of its token', async () => {
    for (const deviceID of ['van-1', 'van-2']) await send(deviceID, [north(0, 60)]);
    await send('van-1', [north(10, 60)], 'rival');
    await service.user('acme', 'one', 'viewer');
    await service.sql("UPDATE users SET sees_all = 0 WHERE user_id = 'one'");
    await service.sql("INSERT INTO device_groups (account_id, group_id) VALUES ('acme', 'g')");
    await service.sql(`INSERT INTO group_devices (device_no, group_no) SELECT d.device_no, g.group_no FROM devices d
      JOIN device_groups g ON g.group_id = 'g' WHERE d.account_id = 'acme' AND d.device_id = 'van-2'`);
    const one = await service.login('acme', 'one');
    const made = await service.call({
      method: 'POST',
      path: '/api/v1/auth/token/authorization',
      token: admin,
      body: { description: 'x', devices: ['van-1'] },
    });
    const token = String(made.json()['token']);
    const rival = await service.login('rival', 'admin');
    for (let time = 0; time < 2; time++) {
      expect(await idsOf()).toEqual(['van-1', 'van-2']);
      expect(await idsOf({}, one)).toEqual([]);
      expect(await idsOf({}, token)).toEqual(['van-1']);
      expect((await ask({}, rival)).visits).toMatchObject([{ deviceID: 'van-1', nearestDistance: 10 }]);
      await index().takeInNow();
    }
    await service.sql(`INSERT INTO group_users (account_id, user_id, group_no)
      SELECT 'acme', 'one', group_no FROM device_groups WHERE group_id = 'g'`);
    expect(await idsOf({}, one)).toEqual(['van-2']);
  });

  it('come in parts in the order of ids', async () => {
    for (const deviceID of ['van-2', 'van-1']) await send(deviceID, [north(0, 60)]);
    await index().takeInNow();
    const first = await ask({ query: '?limit=1' });
    expect([first.visits.length, first.next]).toEqual([1, 'van-1']);
    const second = await ask({ query: `?limit=1&cursor=${first.next}` });
    expect([second.visits[0]?.['deviceID'], second.next]).toEqual(['van-2', null]);
  });

  it('come in parts also where more of the index is near than one statement reads', async () => {
    for (const deviceID of ['van-2', 'van-1']) await send(deviceID, [north(0, 60)]);
    await index().takeInNow();
    const hour = startS / 3600;
    for (const { first, last } of cellsOf(coverOf(home, 5000))) {
      await service.sql(
        `WITH RECURSIVE c (cell) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT cell + 1 FROM c WHERE cell < $2),
          h (hour) AS (SELECT CAST($3 AS BIGINT) UNION ALL SELECT hour + 1 FROM h WHERE hour < $4)
        INSERT INTO visit_cells (account_no, hour, cell, device_no, slots)
        SELECT a.account_no, h.hour, c.cell, d.device_no, 1 FROM c, h, devices d JOIN accounts a ON a.account_id = d.account_id
        WHERE a.account_id = 'acme' ON CONFLICT (account_no, hour, cell, device_no) DO NOTHING`,
        [first, last, hour, hour + 23],
      );
    }
    const day = { radius: 5000, to: 86_399 };
    const first = await ask(day);
    expect([first.visits.map(({ deviceID }) => deviceID), first.next]).toEqual([['van-1'], 'van-1']);
    const second = await ask({ ...day, query: `?cursor=${first.next}` });
    expect([second.visits.map(({ deviceID }) => deviceID), second.next]).toEqual([['van-2'], null]);
  });

  it('are found over the 180th meridian and the poles', async () => {
    const date = { latitude: -16.5, longitude: 180 };
    await send('van-1', [{ s: 60, latitude: -16.5, longitude: -179.9995 }]);
    await send('van-2', [{ s: 60, latitude: -16.5, longitude: 179.9995 }]);
    const pole = { latitude: 90, longitude: 0 };
    await send('van-1', [{ s: 3000, latitude: 89.999, longitude: 77 }]);
    for (let time = 0; time < 2; time++) {
      expect(await idsOf({ at: date })).toEqual(['van-1', 'van-2']);
      expect(await idsOf({ at: { ...date, longitude: -180 } })).toEqual(['van-1', 'van-2']);
      expect(await idsOf({ at: pole })).toEqual(['van-1']);
      expect(await idsOf({ at: { latitude: 89.999, longitude: -103 }, radius: 300 })).toEqual(['van-1']);
      expect(await idsOf({ at: { latitude: 89.999, longitude: -103 }, radius: 200 })).toEqual([]);
      await index().takeInNow();
    }
  });

  it.each([
    ['/latitude', { at: { latitude: 90.1, longitude: 0 } }],
    ['/longitude', { at: { latitude: 0, longitude: 180.1 } }],
    ['/radius', { radius: 5001 }],
    ['/startTime', { from: 10, to: 9 }],
    ['/startTime', { from: 0, to: 86_401 }],
  ] as const)('are refused with %s out of its limits', async (pointer, question) => {
    const answer = await service.call({ path: pathOf(question), token: admin });
    expect(answer.status).toBe(422);
    expect(answer.text).toContain(pointer);
  });
});

describe('the index', () => {
  it('loses the rows of a deleted device, and those of a time of which no event is left', async () => {
    for (const deviceID of ['van-1', 'van-2']) await send(deviceID, [north(0, -9 * 86_400), north(0, 60)]);
    await index().takeInNow();
    const body = { deviceID: 'van-1' };
    const path = '/api/v1/device/deletedevice/authorization';
    expect((await service.call({ method: 'POST', path, token: admin, body })).status).toBe(200);
    expect(await idsOf()).toEqual(['van-2']);
    await index().cleanNow();
    expect(await indexRows()).toHaveLength(2);
    // Past the limit, and still there because it came in a moment ago.
    await service.sql("UPDATE accounts SET retained_days = 7 WHERE account_id = 'acme'");
    await index().cleanNow();
    expect(await idsOf({ from: -9 * 86_400, to: -9 * 86_400 + 60 })).toEqual(['van-2']);
    await service.sql('DELETE FROM events WHERE timestamp_ms < $1', [(startS - 86_400) * 1000]);
    await index().cleanNow();
    expect(await indexRows()).toHaveLength(1);
    expect(await idsOf()).toEqual(['van-2']);
  });
});

interface Step {
  readonly deviceID: string;
  readonly reports: readonly Report[];
  readonly next: 'nothing' | 'index' | 'slice';
  /** Every other report comes after the rest of them are in the index. */
  readonly isTorn: boolean;
}

const places: readonly Point[] = [
  home,
  { latitude: 0.0001, longitude: 179.9999 },
  { latitude: -89.9995, longitude: 40 },
];

/** Drives about a place at whole seconds, late as often as not. */
const steps = fc.array(
  fc.record({
    deviceID: fc.constantFrom('van-1', 'van-2'),
    next: fc.constantFrom('nothing', 'index', 'slice'),
    isTorn: fc.boolean(),
    reports: fc
      .record({
        place: fc.constantFrom(...places),
        beginS: fc.oneof(
          fc.constantFrom(-3700, -60, 0, 3500, 3590, 3650, 7000),
          fc.integer({ min: -3700, max: 6000 }),
        ),
        east: fc.integer({ min: -2500, max: 2500 }),
        north: fc.integer({ min: -2500, max: 2500 }),
        moves: fc.array(
          fc.record({
            afterS: fc.integer({ min: 0, max: 130 }),
            east: fc.integer({ min: -1600, max: 1600 }),
            north: fc.integer({ min: -1600, max: 1600 }),
            // Straight over the place, or a report that is no position.
            kind: fc.constantFrom('drive', 'drive', 'cross', 'repeat', 'nowhere'),
          }),
          { minLength: 1, maxLength: 12 },
        ),
      })
      .map(({ place, beginS, moves, ...begin }): readonly Report[] => {
        let [s, eastM, northM]: [number, number, number] = [beginS, begin.east, begin.north];
        return moves.map((move) => {
          s += move.afterS;
          if (move.kind === 'nowhere') return { s, latitude: 0, longitude: 0 };
          if (move.kind === 'cross') [eastM, northM] = [-eastM / 2, -northM / 2];
          else [eastM, northM] = [eastM + move.east, northM + move.north];
          const latitude = Math.max(-90, place.latitude + northM * metre);
          const wide =
            place.longitude + (eastM * metre) / Math.max(0.0001, Math.cos((latitude * Math.PI) / 180));
          const longitude = ((((wide + 180) % 360) + 360) % 360) - 180;
          return { s, latitude, longitude, statusCode: move.kind === 'repeat' ? 61_477 : 61_714 };
        });
      }),
  }),
  { minLength: 1, maxLength: 8 },
);

interface Aimed {
  readonly at: Point;
  readonly from: number;
  readonly to: number;
}

/** Small circles on ways of the vehicles, each asked for about the moment of its crossing. */
function aimedAt(all: readonly Step[]): readonly Aimed[] {
  return ['van-1', 'van-2'].flatMap((deviceID) => {
    const reports = all.flatMap((step) => (step.deviceID === deviceID ? step.reports : []));
    const places = reports.filter(({ latitude }) => latitude !== 0);
    const inOrder = places.toSorted((one, other) => one.s - other.s);
    return inOrder.slice(1).flatMap((to, index) => {
      const from = inOrder[index] ?? to;
      const part = [0.1, 0.5, 0.9][index % 3] ?? 0;
      const between = (one: number, other: number): number => Number((one + part * (other - one)).toFixed(9));
      const s = Math.floor(between(from.s, to.s));
      const at = {
        latitude: between(from.latitude, to.latitude),
        longitude: between(from.longitude, to.longitude),
      };
      return to.s - from.s > 95 ? [] : [{ at, from: s - 1, to: s + 1 }];
    });
  });
}

/** Every event of every slice, looked at one by one. */
async function scan(at: Point, radius: number, from: number, to: number): Promise<readonly string[]> {
  const found: string[] = [];
  for (const deviceID of ['van-1', 'van-2']) {
    const rows = [];
    for (const { sliceNo } of await wholeSlices(service.db))
      rows.push(
        ...(await service.rows(`SELECT e.* FROM ${tableOf(sliceNo).sql} e
          JOIN devices d ON d.device_no = e.device_no WHERE d.device_id = '${deviceID}' AND e.latitude IS NOT NULL`)),
      );
    const positions = rows
      .toSorted(
        (one, other) =>
          Number(one['timestamp_ms']) - Number(other['timestamp_ms']) ||
          Number(one['event_no']) - Number(other['event_no']),
      )
      .flatMap((row) => {
        const place = { latitude: Number(row['latitude']), longitude: Number(row['longitude']) };
        const satellites = Number(row['satellites']);
        const point = fixOf({ point: place, statusCode: Number(row['status_code']), satellites });
        return point === null ? [] : [{ timestampMs: Number(row['timestamp_ms']), ...point }];
      });
    const span = { fromMs: (startS + from) * 1000, toMs: (startS + to) * 1000 + 999 };
    const visit = visitOf(positions, { centre: at, radiusM: radius }, span);
    if (visit !== null)
      found.push(
        `${deviceID} ${visit.firstMs} ${visit.lastMs} ${visit.positions} ${visit.nearestM.toFixed(1)}`,
      );
  }
  return found;
}

describe('the answer', () => {
  it('is that of a scan, with late events, several slices, and any part of the events in the index', {
    timeout: 600_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(10, 200, 999, 5000), async (all, radius) => {
        for (const { deviceID, reports, next, isTorn } of all as readonly Step[]) {
          const isLate = (_report: Report, at: number): boolean => isTorn && at % 2 === 1;
          const late = reports.filter(isLate);
          await send(deviceID, late.length === 0 ? reports : reports.filter((one, at) => !isLate(one, at)));
          if (next === 'index') await index().takeInNow();
          if (late.length > 0) await send(deviceID, late);
          if (next === 'index') await index().takeInNow();
          if (next === 'slice') await openNextSlice(service.db, Date.now());
        }
        const spans = [
          [0, 3599],
          [3600, 3600],
          [-3600, 7200],
        ] as const;
        const questions = [
          ...places.flatMap((at) => spans.map(([from, to]) => ({ at, radius, from, to }))),
          ...aimedAt(all).map((aimed) => ({ ...aimed, radius: 10 })),
        ];
        for (const { at, radius: m, from, to } of questions) {
          const { visits } = await ask({ at, radius: m, from, to });
          const scanned = await scan(at, m, from, to);
          const answered = visits.map(({ deviceID, firstTimestamp, lastTimestamp, positions }) => [
            deviceID,
            firstTimestamp,
            lastTimestamp,
            positions,
          ]);
          expect(answered).toEqual(
            scanned.map((text) => {
              const [deviceID, firstMs, lastMs, positions] = text.split(' ');
              return [
                deviceID,
                Math.floor(Number(firstMs) / 1000),
                Math.floor(Number(lastMs) / 1000),
                Number(positions),
              ];
            }),
          );
        }
      }),
      { numRuns: extent({ gate: 25, nightly: 300 }) },
    );
  });
});
