// Alarms as shared objects, through the service as a client sees it: which events raise one, who may have it, what two
// users at once get, and what the service does by itself.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startHttpService } from '../support/http/http-service.ts';

/** The service's clock is so much ahead of this one. */
let aheadMs = 0;
const nowS = () => Math.floor((Date.now() + aheadMs) / 1000);
const panic = 63_553;
const panicOff = 63_554;
const tow = 63_601;
const suspect = 4370;
const trusted = 4371;
const hourMs = 3_600_000;

type Json = Record<string, unknown>;

let service: Awaited<ReturnType<typeof startHttpService>>;
const tokens = new Map<string, string>();

async function begin(): Promise<void> {
  service = await startHttpService();
  aheadMs = 0;
  for (const accountID of ['acme', 'rival']) {
    await service.account(accountID);
    await service.user(accountID, 'guest', 'viewer');
    await service.user(accountID, 'dispatch', 'operator');
    await service.user(accountID, 'night', 'operator');
    for (const user of ['admin', 'guest', 'dispatch', 'night']) {
      tokens.set(`${accountID}/${user}`, await service.login(accountID, user));
    }
  }
  await service.device('acme', 'truck-17');
  await service.device('acme', 'truck-18');
  await service.device('rival', 'truck-17');
}

async function ask(who: string, path: string, body?: unknown) {
  const [name = '', query = ''] = path.split('?');
  const answer = await service.call({
    method: body === undefined ? 'GET' : 'POST',
    path: `/api/v1/alarm/${name}/authorization${query === '' ? '' : `?${query}`}`,
    token: tokens.get(who) ?? '',
    ...(body === undefined ? {} : { body }),
  });
  const json = answer.json();
  return { status: answer.status, text: answer.text, json, error: json['error'] as Json | undefined };
}

/** The answer of a call that succeeds. */
async function succeed(who: string, path: string, body?: unknown): Promise<Json> {
  const { status, text, json } = await ask(who, path, body);
  expect(status, text).toBe(200);
  return json;
}

async function list(query = '', who = 'acme/guest'): Promise<Json[]> {
  return (await succeed(who, `alarms?${query}`))['alarms'] as Json[];
}

/** The newest open alarm. */
async function newest(): Promise<Json & { alarmID: string; version: number }> {
  const [first] = await list();
  if (first === undefined) throw new Error('there is no open alarm');
  return first as Json & { alarmID: string; version: number };
}

let seq = 0;
function happen(statusCode: number, changes: object = {}, device = 'acme/truck-17'): Promise<void> {
  const [accountID = '', deviceID = ''] = device.split('/');
  seq += 1;
  return service.events(accountID, deviceID, {
    boot: 'b1',
    events: [{ seq, timestamp: nowS(), statusCode, ...changes }],
  });
}

const audited = async (): Promise<unknown[]> =>
  (await service.rows("SELECT actor, action FROM audit WHERE action LIKE 'alarm.%' ORDER BY audit_no")).map(
    ({ actor, action }) => `${String(actor)} ${String(action)}`,
  );

describe('with one service', () => {
  beforeAll(begin);
  afterAll(() => service.close());
  beforeEach(async () => {
    await service.sql('DELETE FROM alarms');
    await service.sql("DELETE FROM audit WHERE action LIKE 'alarm.%'");
  });

  describe('an alarm', () => {
    it('is raised by an event of an alarm kind, one for each device and kind, and counts what repeats it', async () => {
      for (const code of [61_472, 62_465, panic, panic, tow]) {
        await happen(code, { latitude: 43.65107, longitude: -79.34702 });
      }
      await happen(panic, {}, 'acme/truck-18');
      const found = await list();
      expect(found.map((one) => [one['deviceID'], one['statusCode'], one['count'], one['priority']])).toEqual(
        [
          ['truck-18', panic, 1, 'critical'],
          ['truck-17', tow, 1, 'high'],
          ['truck-17', panic, 2, 'critical'],
        ],
      );
      expect(found[2]).toMatchObject({
        alarmState: 'new',
        owner: '',
        version: 1,
        latitude: 43.65107,
        isPositionValid: true,
        statusDescription: 'Panic',
        late: false,
      });
      const detail = await succeed('acme/guest', `alarm/${String(found[2]?.['alarmID'])}`);
      expect(detail['events']).toHaveLength(2);
      expect((detail['events'] as Json[])[0]?.['eventID']).toBe(found[2]?.['lastEventID']);
      expect(detail['nextEscalation']).toBeNull();
    });

    // Seconds that the vehicle's clock is ahead when it begins, at its repeat and at its end.
    it.each([
      [7200, 7200, 7200],
      [7200, 0, 0],
      [7200, 7200, 0],
      [0, 7200, 0],
      [90_000, 0, 0],
      [-7200, 0, 0],
    ])(
      'of a clock that is %i s, then %i s and %i s ahead is repeated, ended and begins again',
      async (...ahead) => {
        const [first, again, end] = ahead;
        const serviceS = (): number => {
          service.advance(5000);
          aheadMs += 5000;
          return nowS();
        };
        await happen(panic, { timestamp: serviceS() + first, latitude: 1, longitude: 1 });
        const opened = (await newest())['opened'];
        await happen(panic, { timestamp: serviceS() + again, latitude: 2, longitude: 2 });
        const repeated = { opened, count: 2, latitude: 2, lastEventID: `b1:${seq}`, ended: 0 };
        expect(await newest()).toMatchObject(repeated);
        const endS = serviceS();
        await happen(panicOff, { timestamp: endS + end });
        expect((await newest())['ended']).toBeOneOf([endS, endS + 1]);
        await happen(panic, { timestamp: serviceS(), latitude: 3, longitude: 3 });
        expect(await newest()).toMatchObject({ opened, count: 3, latitude: 3, ended: 0 });
      },
    );

    it('is a new one when the last one of its kind was closed', async () => {
      await happen(panic);
      const { alarmID } = await newest();
      await succeed('acme/dispatch', 'close', { alarmID, reason: 'resolved' });
      expect(await list()).toEqual([]);
      await happen(panic);
      expect((await newest()).alarmID).not.toBe(alarmID);
      expect((await list('state=closed,open')).map(({ alarmState }) => alarmState)).toEqual([
        'new',
        'closed',
      ]);
    });

    it('of a crossing is one for each geozone, and only where its zone asks for an alert', async () => {
      await happen(61_968, { geozoneID: 'yard', attributes: { alert: false } });
      await happen(61_968, { geozoneID: 'depot', attributes: { alert: true } });
      await happen(61_968, { geozoneID: 'port', attributes: { alert: true } });
      await happen(61_968, { geozoneID: 'depot', attributes: { alert: true } });
      expect((await list()).map((one) => [one['geozoneID'], one['count']])).toEqual([
        ['port', 1],
        ['depot', 2],
      ]);
    });

    it('of a crossing is raised where its zone wants one; an alert alone is a notification', async () => {
      const base = { geozoneType: 0, geozonePoint1: '43.65000,-79.35000' };
      const choices: readonly (readonly [string, object])[] = [
        ['silent', {}],
        ['noticed', { geozoneAlertEntry: true, geozoneAlertExit: true }],
        ['watched', { geozoneAlarmEntry: true, geozoneAlertExit: true }],
        ['left', { geozoneAlertEntry: true, geozoneAlarmExit: true }],
        ['lane', { geozoneType: 2, geozonePoint2: '43.66000,-79.35000', geozoneAlarmEntry: true }],
        ['road', { geozoneType: 2, geozonePoint2: '43.66000,-79.35000', geozoneAlertEntry: true }],
      ];
      for (const [geozoneID, change] of choices) {
        const answer = await service.call({
          method: 'POST',
          path: '/api/v1/geozone/creategeozone/authorization',
          token: tokens.get('acme/dispatch') ?? '',
          body: { geozoneID, ...base, ...change },
        });
        expect(answer.status, answer.text).toBe(200);
        const isLane = geozoneID === 'lane' || geozoneID === 'road';
        const asks = (moment: string): boolean => JSON.stringify(change).includes(moment);
        await happen(isLane ? 61_971 : 61_968, { geozoneID, attributes: { alert: asks('Entry') } });
        await happen(isLane ? 62_003 : 62_000, { geozoneID, attributes: { alert: asks('Exit') } });
      }
      // A tracker that says nothing of the zone's wish; the zone of the same name in another account decides nothing.
      await happen(61_968, { geozoneID: 'noticed' });
      await happen(61_968, { geozoneID: 'noticed' }, 'rival/truck-17');
      const crossings = (rows: readonly Json[]) =>
        rows.map((one) => `${String(one['statusCode'])} ${String(one['geozoneID'])}`).sort();
      expect(crossings(await list())).toEqual(['61968 watched', '61971 lane', '62000 left']);
      expect(crossings(await list('', 'rival/guest'))).toEqual(['61968 noticed']);
      const inbox = await service.rows(
        "SELECT DISTINCT status_code, geozone_id FROM notifications WHERE account_id = 'acme' AND geozone_id IN ('silent', 'noticed', 'watched', 'left', 'lane', 'road')",
      );
      const shown = inbox.map((row) => ({ statusCode: row['status_code'], geozoneID: row['geozone_id'] }));
      expect(crossings(shown)).toEqual([
        '61968 left',
        '61968 noticed',
        '61968 watched',
        '61971 lane',
        '61971 road',
        '62000 left',
        '62000 noticed',
        '62000 watched',
      ]);
    });

    it('shows when its condition has ended; of low priority without an owner it closes by itself', async () => {
      const sinceS = nowS();
      await happen(panic);
      await happen(suspect);
      await happen(panicOff);
      await happen(trusted);
      const [open, ...others] = await list();
      expect([open?.['statusCode'], others]).toEqual([panic, []]);
      expect(open?.['ended']).toBeGreaterThanOrEqual(sinceS);
      const [closed] = await list('state=closed');
      expect(closed).toMatchObject({ statusCode: suspect, closeReason: 'ended', closedBy: 'service' });
      expect(await audited()).toEqual(['service alarm.close']);
      await happen(panic, { timestamp: nowS() + 1 });
      expect(await newest()).toMatchObject({ count: 2, ended: 0 });
    });

    it('has ended when its end arrived before its beginning, unless it began again since', async () => {
      const at = nowS();
      const happened = (code: number, timestamp: number) => happen(code, { timestamp }, 'acme/truck-18');
      await happened(panicOff, at - 60);
      await happened(trusted, at - 50);
      await happened(panic, at - 90);
      await happened(suspect, at - 3600);
      expect(await newest()).toMatchObject({ statusCode: panic, ended: at - 60 });
      expect(await list('state=closed')).toMatchObject([{ statusCode: suspect, closeReason: 'ended' }]);
      // A later beginning is not ended, and one that arrives late does not end it.
      await happened(panic, at - 10);
      expect(await newest()).toMatchObject({ statusCode: panic, ended: 0 });
      await happened(panic, at - 70);
      expect(await newest()).toMatchObject({ statusCode: panic, ended: 0, count: 3 });
    });

    it('that has an owner does not close by itself', async () => {
      await happen(suspect);
      const { alarmID } = await newest();
      await succeed('acme/dispatch', 'take', { alarmID });
      await happen(trusted);
      expect(await newest()).toMatchObject({ alarmState: 'taken', ended: expect.any(Number) as number });
    });

    it('keeps its first and newest event by event time, whatever arrives later', async () => {
      const at = nowS();
      await happen(panic, { timestamp: at - 60 });
      await happen(panic, { timestamp: at });
      await happen(panic, { timestamp: at - 3600 });
      expect(await newest()).toMatchObject({
        firstTimestamp: at - 3600,
        lastTimestamp: at,
        count: 3,
        late: false,
      });
    });

    it('links its newest hundred events', async () => {
      const events = Array.from({ length: 130 }, () => ({
        seq: ++seq,
        timestamp: nowS(),
        statusCode: panic,
      }));
      await service.events('acme', 'truck-17', { boot: 'b1', events });
      const { alarmID } = await newest();
      const detail = await succeed('acme/guest', `alarm/${alarmID}`);
      expect([detail['count'], (detail['events'] as Json[]).length]).toEqual([130, 100]);
      expect((detail['events'] as Json[])[0]?.['eventID']).toBe(`b1:${seq}`);
    });

    it('is opened beyond the limit of its device only when it is critical and of no geozone', async () => {
      const zones = Array.from({ length: 105 }, (_one, at) => ({
        seq: ++seq,
        timestamp: nowS(),
        statusCode: 61_968,
        geozoneID: `zone-${at}`,
        attributes: { alert: true },
      }));
      await service.events('acme', 'truck-17', { boot: 'b1', events: zones });
      await happen(tow);
      await happen(panic);
      const found = await list('limit=500');
      expect(found).toHaveLength(101);
      expect(found[0]?.['statusCode']).toBe(panic);
      await happen(61_968, { geozoneID: 'zone-1', attributes: { alert: true } });
      expect((await list('limit=500')).find(({ geozoneID }) => geozoneID === 'zone-1')?.['count']).toBe(2);
    });
  });

  describe('the handling of an alarm', () => {
    beforeEach(() => happen(panic));

    it('goes from new over taken to closed, with owner, notes and reason', async () => {
      const { alarmID, version } = await newest();
      const taken = await succeed('acme/dispatch', 'take', { alarmID, version });
      expect(taken).toMatchObject({ alarmState: 'taken', owner: 'dispatch', version: 2, untakenSince: 0 });
      expect(taken['firstTaken']).toBeGreaterThan(0);
      await succeed('acme/night', 'addnote', { alarmID, text: 'Driver does not answer' });
      const closed = await succeed('acme/dispatch', 'close', {
        alarmID,
        reason: 'false_alarm',
        text: 'Pressed by mistake',
      });
      expect(closed).toMatchObject({
        alarmState: 'closed',
        closedBy: 'dispatch',
        closeReason: 'false_alarm',
        note: 'Pressed by mistake',
        notes: 1,
        owner: 'dispatch',
      });
      const detail = await succeed('acme/guest', `alarm/${alarmID}`);
      expect(
        (detail['activity'] as Json[]).map(({ actor, action, other, text }) => [actor, action, other, text]),
      ).toEqual([
        ['dispatch', 'take', '', ''],
        ['night', 'note', '', 'Driver does not answer'],
        ['dispatch', 'close', 'false_alarm', 'Pressed by mistake'],
      ]);
      expect(await audited()).toEqual(['dispatch alarm.take', 'night alarm.note', 'dispatch alarm.close']);
    });

    it('gives an alarm to one of many users who take it at once, and names the owner to the others', async () => {
      const { alarmID, version } = await newest();
      const users = ['dispatch', 'night', 'admin', 'dispatch', 'night', 'admin'];
      const answers = await Promise.all(
        users.map((user) => ask(`acme/${user}`, 'take', { alarmID, version })),
      );
      const owner = String((await newest())['owner']);
      for (const [at, { status, error }] of answers.entries()) {
        if (users[at] === owner) continue;
        expect([status, error]).toMatchObject([422, { code: 'conflict' }]);
        expect(String(error?.['detail'])).toContain(owner);
      }
      expect((await audited()).length).toBe(1);
      expect((await newest()).version).toBe(2);
    });

    it('refuses a version that is no longer the one, but not for events that repeated it', async () => {
      const { alarmID, version } = await newest();
      await happen(panic);
      await succeed('acme/dispatch', 'take', { alarmID, version });
      const { status, error } = await ask('acme/dispatch', 'release', { alarmID, version });
      expect([status, error?.['code']]).toEqual([422, 'conflict']);
      expect(String(error?.['detail'])).toContain('version 2, not 1');
    });

    it('lets only its owner or an administrator release, shelve and close what is taken', async () => {
      const { alarmID } = await newest();
      await succeed('acme/dispatch', 'take', { alarmID });
      const until = nowS() + 600;
      for (const [path, body] of [
        ['take', {}],
        ['release', {}],
        ['shelve', { until, text: 'x' }],
        ['close', { reason: 'resolved' }],
        ['assign', { userID: 'night' }],
      ] as const) {
        const { status, error } = await ask('acme/night', path, { alarmID, ...body });
        expect([path, status, error?.['code']]).toEqual([path, 422, 'conflict']);
        expect(String(error?.['detail'])).toContain('"dispatch" has it');
      }
      expect(await succeed('acme/admin', 'release', { alarmID })).toMatchObject({
        alarmState: 'new',
        owner: '',
      });
      const twice = await succeed('acme/night', 'take', { alarmID });
      expect(await succeed('acme/night', 'take', { alarmID })).toEqual(twice);
    });

    it('is taken over on purpose only, by the version that was seen', async () => {
      const { alarmID } = await newest();
      const { version } = await succeed('acme/dispatch', 'take', { alarmID });
      const without = await ask('acme/night', 'take', { alarmID, takeOver: true });
      expect([without.status, without.error]).toMatchObject([422, { errors: [{ pointer: '/version' }] }]);
      const over = await succeed('acme/night', 'take', { alarmID, version, takeOver: true });
      expect(over['owner']).toBe('night');
      expect((await ask('acme/admin', 'take', { alarmID, version, takeOver: true })).status).toBe(422);
    });

    it('is assigned to active operators who see the device, and to no others', async () => {
      const { alarmID } = await newest();
      await service.user('acme', 'blind', 'operator');
      await service.sql("UPDATE users SET sees_all = 0 WHERE user_id = 'blind'");
      for (const userID of ['guest', 'nobody', 'blind']) {
        expect((await ask('acme/dispatch', 'assign', { alarmID, userID })).status).toBe(422);
      }
      expect(await succeed('acme/dispatch', 'assign', { alarmID, userID: 'night' })).toMatchObject({
        alarmState: 'taken',
        owner: 'night',
      });
      expect((await ask('acme/dispatch', 'assign', { alarmID, userID: 'dispatch' })).status).toBe(422);
      expect((await succeed('acme/night', 'assign', { alarmID, userID: 'dispatch' }))['owner']).toBe(
        'dispatch',
      );
    });

    it('becomes new when its owner is suspended, loses the role, or no longer sees the device', async () => {
      for (const change of ['is_active = 0', "role = 'viewer'", 'sees_all = 0']) {
        const { alarmID } = await newest();
        await succeed('acme/night', 'take', { alarmID });
        await service.notices.runAll();
        expect(await newest()).toMatchObject({ owner: 'night' });
        await service.sql(`UPDATE users SET ${change} WHERE account_id = 'acme' AND user_id = 'night'`);
        await service.notices.runAll();
        expect([change, await newest()]).toMatchObject([change, { alarmState: 'new', owner: '' }]);
        await service.sql(
          "UPDATE users SET is_active = 1, role = 'operator', sees_all = 1 WHERE account_id = 'acme' AND user_id = 'night'",
        );
        tokens.set('acme/night', await service.login('acme', 'night'));
      }
    });

    it('takes notes up to their limit, on closed alarms too', async () => {
      const { alarmID } = await newest();
      await succeed('acme/dispatch', 'close', { alarmID, reason: 'test' });
      for (let at = 0; at < 50; at += 1) await succeed('acme/night', 'addnote', { alarmID, text: `n${at}` });
      expect((await ask('acme/night', 'addnote', { alarmID, text: 'one more' })).status).toBe(422);
      const detail = await succeed('acme/guest', `alarm/${alarmID}`);
      expect([detail['notes'], detail['note'], (detail['activity'] as Json[]).length]).toEqual([
        50,
        'n49',
        51,
      ]);
    });

    it('keeps its activity bounded and its notes complete', async () => {
      const { alarmID } = await newest();
      await succeed('acme/dispatch', 'addnote', { alarmID, text: 'kept' });
      for (let at = 0; at < 80; at += 1) {
        await succeed('acme/dispatch', 'take', { alarmID });
        await succeed('acme/dispatch', 'release', { alarmID });
      }
      const { activity } = (await succeed('acme/guest', `alarm/${alarmID}`)) as { activity: Json[] };
      expect(activity.length).toBeLessThanOrEqual(152);
      expect(activity[0]?.['text']).toBe('kept');
    });

    it.each([
      ['/until', 'shelve', { until: 1, text: 'x' }],
      ['/until', 'shelve', { until: nowS() + 25 * 3600, text: 'x' }],
      ['/until', 'shelve', { until: 1e15, text: 'x' }],
      ['/text', 'shelve', { until: nowS() + 12 * 3600 }],
      ['/text', 'shelve', { until: nowS() + 12 * 3600, text: '' }],
      ['/reason', 'close', {}],
      ['/reason', 'close', { reason: 'ended' }],
      ['/text', 'close', { reason: 'other' }],
      ['/text', 'close', { reason: 'other', text: '  ' }],
      ['/text', 'addnote', { text: '' }],
      ['/text', 'addnote', { text: 'x'.repeat(1001) }],
      ['/text', 'addnote', { text: 'two\nlines' }],
      ['/version', 'take', { version: 0 }],
      ['/userID', 'assign', {}],
      ['/alarmID', 'take', { alarmID: '1; DROP TABLE alarms' }],
      ['/state', 'take', { state: 'closed' }],
    ])('with a wrong %s of %s is refused', async (pointer, path, changes) => {
      const { alarmID } = await newest();
      const { status, error } = await ask('acme/dispatch', path, { alarmID, ...changes });
      expect([status, error]).toMatchObject([422, { errors: [{ pointer }] }]);
      expect(await newest()).toMatchObject({ alarmState: 'new', version: 1, notes: 0 });
    });

    it('shows and changes nothing for another account, another group, or a viewer', async () => {
      const { alarmID } = await newest();
      await service.user('acme', 'north', 'operator');
      await service.sql("UPDATE users SET sees_all = 0 WHERE user_id = 'north'");
      tokens.set('acme/north', await service.login('acme', 'north'));
      const until = nowS() + 600;
      for (const who of ['rival/admin', 'acme/north']) {
        for (const [path, body] of [
          ['take', {}],
          ['release', {}],
          ['assign', { userID: 'dispatch' }],
          ['shelve', { until, text: 'x' }],
          ['unshelve', {}],
          ['close', { reason: 'resolved' }],
          ['addnote', { text: 'x' }],
        ] as const) {
          expect([path, (await ask(who, path, { alarmID, ...body })).status]).toEqual([path, 404]);
        }
        expect((await ask(who, `alarm/${alarmID}`)).status).toBe(404);
        expect(await list('state=open,closed', who)).toEqual([]);
        expect(await succeed(who, 'summary')).toMatchObject({ new: { total: 0 } });
        expect((await ask(who, 'takealarms', { alarms: [{ alarmID }] })).status).toBe(404);
      }
      for (const path of ['take', 'release', 'takealarms']) {
        expect((await ask('acme/guest', path, { alarmID })).error).toMatchObject({ code: 'forbidden' });
      }
      expect(await newest()).toMatchObject({ alarmState: 'new', version: 1 });
      expect(await audited()).toEqual([]);
    });
  });

  describe('a list of alarms', () => {
    it('is filtered by state, device, kind, priority, owner and time', async () => {
      const sinceS = nowS();
      for (const code of [panic, tow, suspect]) await happen(code);
      await happen(tow, {}, 'acme/truck-18');
      const { alarmID } = await newest();
      await succeed('acme/dispatch', 'take', { alarmID });
      const count = async (query: string) => (await list(query)).length;
      expect(await count('state=new')).toBe(3);
      expect(await count('state=taken&owner=dispatch')).toBe(1);
      expect(await count('owner=night')).toBe(0);
      expect(await count('deviceID=truck-18')).toBe(1);
      expect(await count(`statusCode=${tow},${panic}`)).toBe(3);
      expect(await count('priority=critical,low')).toBe(2);
      expect(await count(`from=${sinceS}&to=${nowS() + 60}`)).toBe(4);
      expect(await count(`to=${sinceS - 60}`)).toBe(0);
      expect(await count('state=closed')).toBe(0);
    });

    it('comes in pages, the newest first or as the queue, each alarm once', async () => {
      const codes = [suspect, tow, panic, 64_784, 63_826];
      for (const device of ['acme/truck-17', 'acme/truck-18'])
        for (const code of codes) await happen(code, {}, device);
      const taken = (await list(`statusCode=${panic}&deviceID=truck-17`))[0]?.['alarmID'];
      await succeed('acme/dispatch', 'take', { alarmID: taken });
      for (const sort of ['newest', 'queue']) {
        const whole = await list(`sort=${sort}`);
        const paged: Json[] = [];
        for (let next: string | null = ''; next !== null; ) {
          const page: Json = await succeed(
            'acme/guest',
            `alarms?sort=${sort}&limit=3${next === '' ? '' : `&cursor=${next}`}`,
          );
          paged.push(...(page['alarms'] as Json[]));
          next = page['next'] as string | null;
          expect(page['more']).toBe(next !== null);
        }
        expect(paged).toEqual(whole);
        expect(new Set(paged.map(({ alarmID }) => alarmID)).size).toBe(10);
      }
      const queue = await list('sort=queue');
      expect(queue.slice(0, 2).map((one) => [one['deviceID'], one['alarmState']])).toEqual([
        ['truck-18', 'new'],
        ['truck-17', 'taken'],
      ]);
      expect(queue.map(({ priority }) => priority)).toEqual([
        'critical',
        'critical',
        ...Array.from({ length: 6 }, () => 'high'),
        'low',
        'low',
      ]);
    });

    it.each([
      'state=opened',
      'state=',
      'sort=queue&state=closed',
      'sort=oldest',
      'limit=0',
      'limit=501',
      'cursor=1-q5',
      'cursor=x',
      'statusCode=panic',
      'priority=urgent',
      'from=yesterday',
      'owner=a%20b',
      'unknown=1',
    ])('with %s is refused', async (query) => {
      expect((await ask('acme/guest', `alarms?${query}`)).error).toMatchObject({ code: 'invalid_content' });
    });
  });

  describe('many alarms at once', () => {
    it('are taken and closed each by itself, with a result for each in the order of the request', async () => {
      for (const code of [panic, tow, suspect]) await happen(code);
      const [low, high, critical] = (await list()).map(({ alarmID }) => String(alarmID));
      await succeed('acme/night', 'take', { alarmID: high });
      const { items, done, failed } = (await succeed('acme/dispatch', 'takealarms', {
        alarms: [
          { alarmID: low, version: 7 },
          { alarmID: high },
          { alarmID: '999999' },
          { alarmID: critical },
        ],
      })) as { items: Json[]; done: number; failed: number };
      expect([done, failed]).toEqual([1, 3]);
      expect(
        items.map(({ alarmID, status, error }) => [alarmID, status, (error as Json | null)?.['code']]),
      ).toEqual([
        [low, 422, 'conflict'],
        [high, 422, 'conflict'],
        ['999999', 404, 'not_found'],
        [critical, 200, undefined],
      ]);
      expect(items[3]?.['alarm']).toMatchObject({ owner: 'dispatch', version: 2 });
      const closed = (await succeed('acme/dispatch', 'closealarms', {
        alarms: [{ alarmID: low }, { alarmID: high }, { alarmID: critical }],
        reason: 'test',
      })) as { items: Json[] };
      expect(closed.items.map(({ status }) => status)).toEqual([200, 422, 200]);
      expect((await list()).map(({ alarmID }) => alarmID)).toEqual([high]);
      expect(await audited()).toEqual([
        'night alarm.take',
        'dispatch alarm.take',
        'dispatch alarm.close',
        'dispatch alarm.close',
      ]);
    });

    it('are at most a hundred, each named once', async () => {
      const named = (count: number) =>
        Array.from({ length: count }, (_one, at) => ({ alarmID: String(at + 1) }));
      expect((await ask('acme/dispatch', 'takealarms', { alarms: named(101) })).status).toBe(422);
      expect((await ask('acme/dispatch', 'takealarms', { alarms: named(100) })).status).toBe(404);
      expect((await ask('acme/dispatch', 'takealarms', { alarms: [] })).status).toBe(422);
      const twice = [{ alarmID: '1' }, { alarmID: '01' }];
      expect((await ask('acme/dispatch', 'takealarms', { alarms: twice })).status).toBe(422);
    });
  });
});

describe('as time passes', () => {
  beforeEach(begin);
  afterEach(() => service.close());

  describe('the shelf', () => {
    const shelve = (alarmID: string, forS = 600, who = 'acme/dispatch') =>
      succeed(who, 'shelve', { alarmID, until: nowS() + forS, text: 'Unit in repair' });

    it('holds an alarm until its time is over; then it is new, or with its owner', async () => {
      await happen(tow);
      await happen(suspect);
      const [first, second] = (await list()).map(({ alarmID }) => String(alarmID));
      await succeed('acme/dispatch', 'take', { alarmID: second });
      for (const alarmID of [first ?? '', second ?? '']) {
        expect(await shelve(alarmID)).toMatchObject({
          alarmState: 'shelved',
          shelvedBy: 'dispatch',
          note: 'Unit in repair',
          untakenSince: 0,
        });
      }
      await happen(tow);
      expect((await list('state=shelved')).length).toBe(2);
      service.advance(601_000);
      await service.notices.runAll();
      expect((await list('sort=newest')).map((one) => [one['alarmState'], one['owner']])).toEqual([
        ['new', ''],
        ['taken', 'dispatch'],
      ]);
      expect((await audited()).slice(-2)).toEqual(['service alarm.unshelve', 'service alarm.unshelve']);
    });

    it('gives an alarm back before its time, to any user who asks', async () => {
      await happen(tow);
      const { alarmID } = await newest();
      await shelve(alarmID);
      expect(await succeed('acme/night', 'unshelve', { alarmID })).toMatchObject({
        alarmState: 'new',
        shelvedUntil: 0,
        shelvedBy: '',
      });
      expect((await ask('acme/night', 'unshelve', { alarmID })).status).toBe(422);
    });

    it('does not hold a critical alarm that is raised again', async () => {
      await happen(panic);
      const { alarmID } = await newest();
      await shelve(alarmID);
      await service.notices.runAll();
      expect(await newest()).toMatchObject({ alarmState: 'shelved' });
      await happen(panic);
      expect(await newest()).toMatchObject({ alarmState: 'new', count: 2 });
    });
  });

  describe('the summary', () => {
    it('counts open and closed alarms, the rate, and how long alarms wait', async () => {
      await happen(panic);
      await happen(tow);
      const [second, first] = (await list()).map(({ alarmID }) => alarmID);
      service.advance(30_000);
      await succeed('acme/dispatch', 'take', { alarmID: first });
      await succeed('acme/dispatch', 'close', { alarmID: second, reason: 'duplicate' });
      await happen(suspect);
      const found = await succeed('acme/guest', 'summary');
      expect(found).toMatchObject({
        new: { total: 1, critical: 0, high: 0, low: 1 },
        taken: { total: 1, critical: 1, high: 0, low: 0 },
        shelved: { total: 0 },
        closed: 1,
      });
      const { taken1h, opened10min } = found as { taken1h: Json; opened10min: number[] };
      expect(taken1h['count']).toBe(1);
      expect(taken1h['medianS']).toBeGreaterThanOrEqual(30);
      expect(taken1h['medianS']).toBe(taken1h['longestS']);
      expect(opened10min).toHaveLength(12);
      expect(opened10min.reduce((sum, one) => sum + one, 0)).toBe(3);
      expect(await succeed('acme/guest', `summary?since=${nowS() + 3600}`)).toMatchObject({ closed: 0 });
      service.advance(3 * hourMs);
      tokens.set('acme/guest', await service.login('acme', 'guest'));
      expect(await succeed('acme/guest', 'summary')).toMatchObject({
        taken1h: { count: 0, medianS: 0, longestS: 0 },
        opened10min: Array.from({ length: 12 }, () => 0),
      });
    });
  });

  describe('closed alarms', () => {
    it('are kept for 90 days; open ones stay', async () => {
      await happen(panic);
      await happen(tow);
      const { alarmID } = await newest();
      await succeed('acme/dispatch', 'close', { alarmID, reason: 'resolved' });
      service.advance(89 * 24 * hourMs);
      await service.notices.clear();
      expect(await service.rows('SELECT 1 FROM alarms')).toHaveLength(2);
      service.advance(2 * 24 * hourMs);
      await service.notices.clear();
      expect(await service.rows('SELECT state FROM alarms')).toEqual([{ state: 'new' }]);
      expect(await service.rows('SELECT 1 FROM alarm_activity')).toEqual([]);
    });
  });
});
