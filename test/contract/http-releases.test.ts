// Releases over HTTP: who may stage them, which devices a stage has, what a unit gets, what a failure stops, and what a stop takes back.
import { afterEach, describe, expect, it } from 'vitest';
import { startHttpService } from '../support/http/http-service.ts';
import { waitUntil } from '../support/machine/wait-until.ts';

type Service = Awaited<ReturnType<typeof startHttpService>>;

const open: Service[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});

interface Stage {
  readonly stage: number;
  readonly groupDevices: number | null;
  readonly units: number;
  readonly waiting: number;
  readonly underWay: number;
  readonly done: number;
  readonly failed: number;
  readonly withdrawn: number;
}
interface Release {
  readonly releaseID: string;
  readonly releaseState: string;
  readonly stoppedFor: string;
  readonly stoppedBy: string;
  readonly stages: readonly Stage[];
}
interface Unit {
  readonly deviceID: string;
  readonly stage: number;
  readonly unitState: string;
  readonly phase: string;
  readonly detail: string;
  readonly commandID: string | null;
}

const file = {
  version: '1.4.0',
  url: 'https://updates.example.com/agent.tar.gz?key=hidden',
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
} as const;

async function start() {
  const service = await startHttpService();
  open.push(service);
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  await service.user('acme', 'olga', 'operator');
  for (let at = 1; at <= 6; at++) await service.device('acme', `truck-${at}`);
  const tokens = {
    admin: await service.login('acme', 'admin'),
    olga: await service.login('acme', 'olga'),
    rival: await service.login('rival', 'admin'),
  };
  type Who = keyof typeof tokens;
  const post = (who: Who, path: string, body: unknown) =>
    service.call({ method: 'POST', path: `/api/v1/${path}/authorization`, token: tokens[who], body });
  const get = (who: Who, path: string, query = '') =>
    service.call({ path: `/api/v1/${path}/authorization${query}`, token: tokens[who] });
  const group = (groupID: string, devices: readonly string[]) =>
    post('admin', 'group/updategroup', { groupID, devices });
  await group('pilot', ['truck-1', 'truck-2']);
  await group('north', ['truck-2', 'truck-3', 'truck-4']);
  const create = async (changes: object = {}): Promise<string> => {
    const answer = await post('admin', 'release/create', { ...file, stages: ['pilot', 'north'], ...changes });
    return (answer.json()['release'] as Release).releaseID;
  };
  const release = async (releaseID: string): Promise<Release> =>
    (await get('admin', `release/get/${releaseID}`)).json()['release'] as Release;
  const units = async (releaseID: string, query = ''): Promise<readonly Unit[]> =>
    (await get('admin', `release/units/${releaseID}`, query)).json()['units'] as readonly Unit[];
  const begin = (releaseID: string, stage: number) =>
    post('admin', 'release/startstage', { releaseID, stage });
  const ordered = (releaseID: string, stage: number) =>
    waitUntil('every unit of the stage to have its job', async () => {
      const found = (await release(releaseID)).stages[stage - 1];
      return found !== undefined && found.units > 0 && found.waiting === 0;
    });
  let seq = 0;
  /** The unit reports on its job. */
  const report = async (deviceID: string, commandID: string | null, state: 'confirmed' | 'refused') => {
    seq += 1;
    const [statusCode, attributes] =
      state === 'confirmed' ? [64_835, {}] : [64_836, { reason: 'not enough memory' }];
    const event = {
      seq,
      timestamp: Date.now() + seq,
      statusCode,
      commandID,
      commandState: state,
      attributes,
    };
    await service.events('acme', deviceID, { boot: 'b1', events: [event] });
  };
  return { service, post, get, group, create, release, units, begin, ordered, report };
}

const code = (answer: Awaited<ReturnType<Service['call']>>) =>
  (answer.json()['error'] as { code?: string } | undefined)?.code ?? answer.status;

describe('a release', () => {
  it('is made and read by administrators of its account only, and shows no key to its file', async () => {
    const { post, get, create } = await start();
    expect(code(await post('olga', 'release/create', { ...file, stages: ['pilot'] }))).toBe('forbidden');
    const releaseID = await create();
    for (const path of ['release/list', `release/get/${releaseID}`, `release/units/${releaseID}`]) {
      expect(code(await get('olga', path))).toBe('forbidden');
      expect((await get('admin', path)).text).not.toContain('hidden');
    }
    expect(code(await get('rival', `release/get/${releaseID}`))).toBe('not_found');
    expect(code(await get('rival', `release/units/${releaseID}`))).toBe('not_found');
    expect(code(await post('rival', 'release/startstage', { releaseID, stage: 1 }))).toBe('not_found');
    expect(code(await post('rival', 'release/stop', { releaseID }))).toBe('not_found');
    expect((await get('rival', 'release/list')).json()['releases']).toEqual([]);
  });

  it.each([
    ['a host that is not listed', { url: 'https://evil.example/agent.tar.gz' }],
    ['plain HTTP', { url: 'http://updates.example.com/agent.tar.gz' }],
    ['a group that is not there', { stages: ['pilot', 'nobody'] }],
    ['a group that is named twice', { stages: ['pilot', 'pilot'] }],
    ['no group', { stages: [] }],
    ['a hash of another kind', { sha256: 'abc' }],
    ['no failure at all that stops it', { stopAfter: 0 }],
  ])('is refused with %s', async (_what, changes) => {
    const { post, get } = await start();
    const answer = await post('admin', 'release/create', { ...file, stages: ['pilot'], ...changes });
    expect(code(answer)).toBe('invalid_content');
    expect((await get('admin', 'release/list')).json()['releases']).toEqual([]);
  });

  it('is one of five that have not ended, at most', async () => {
    const { post, create } = await start();
    const made = [];
    for (let at = 0; at < 5; at++) made.push(await create());
    const body = { ...file, stages: ['pilot'] };
    expect(code(await post('admin', 'release/create', body))).toBe('conflict');
    await post('admin', 'release/stop', { releaseID: made[0] });
    await waitUntil(
      'room for one more',
      async () => (await post('admin', 'release/create', body)).status === 200,
    );
  });
});

describe('a stage', () => {
  it('sends nothing before it is begun, and then a job to each device of its group that no earlier stage had', async () => {
    const { create, release, units, begin, ordered } = await start();
    const releaseID = await create();
    expect(await units(releaseID)).toEqual([]);
    expect((await begin(releaseID, 1)).json()['units']).toBe(2);
    await ordered(releaseID, 1);
    expect(await units(releaseID)).toMatchObject([
      { deviceID: 'truck-1', stage: 1, unitState: 'requested', phase: 'underWay' },
      { deviceID: 'truck-2', stage: 1, unitState: 'requested', phase: 'underWay' },
    ]);
    expect((await begin(releaseID, 2)).json()['units']).toBe(2);
    await ordered(releaseID, 2);
    expect(
      (await units(releaseID, '?stage=2')).map(({ deviceID }) => deviceID),
      'truck-2 was in the pilot group',
    ).toEqual(['truck-3', 'truck-4']);
    expect((await release(releaseID)).stages).toMatchObject([
      { units: 2, underWay: 2, done: 0, failed: 0 },
      { units: 2, underWay: 2, groupDevices: 3 },
    ]);
  });

  it('begins once, in its turn, and not without its group', async () => {
    const { post, create, begin, service } = await start();
    const releaseID = await create();
    expect(code(await begin(releaseID, 2))).toBe('conflict');
    const both = await Promise.all([begin(releaseID, 1), begin(releaseID, 1)]);
    expect(new Set(both.map(code))).toEqual(new Set([200, 'conflict']));
    await post('admin', 'group/deletegroup', { groupID: 'north' });
    expect(code(await begin(releaseID, 2))).toBe('conflict');
    const [started] = await service.sql(
      "SELECT actor, object FROM audit WHERE action = 'release.startstage' ORDER BY audit_no",
    );
    expect(started?.rows).toEqual([{ actor: 'admin', object: releaseID }]);
  });

  it('needs no job for a unit that runs the version, and counts what units confirm', async () => {
    const { service, create, release, units, begin, ordered, report } = await start();
    await service.sql("UPDATE devices SET agent_version = '1.4.0' WHERE device_id = 'truck-1'");
    const releaseID = await create({ stages: ['pilot'] });
    await begin(releaseID, 1);
    await ordered(releaseID, 1);
    const [current, other] = await units(releaseID);
    expect(current).toMatchObject({ deviceID: 'truck-1', unitState: 'current', commandID: null });
    await report('truck-2', other?.commandID ?? null, 'confirmed');
    await waitUntil('the release to be done', async () => (await release(releaseID)).releaseState === 'done');
    expect((await release(releaseID)).stages).toMatchObject([{ units: 2, done: 2, failed: 0 }]);
    expect(code(await begin(releaseID, 1))).toBe('conflict');
  });

  it('leaves the limits of commands to people: a cut is taken while jobs go out', async () => {
    const { service, post, group, create, begin, ordered } = await start();
    const many = Array.from({ length: 70 }, (_, at) => `bus-${at}`);
    for (const deviceID of many) await service.device('acme', deviceID);
    await group('many', many);
    const releaseID = await create({ stages: ['many'] });
    await begin(releaseID, 1);
    await ordered(releaseID, 1);
    const cut = await post('admin', 'command/feature', {
      deviceID: 'truck-1',
      feature: 'enginecutoff',
      state: '1',
    });
    expect(cut.json()).toMatchObject({ commandState: 'requested' });
  });
});

describe('a stop', () => {
  it('comes by itself with the first unit that fails, says why, and withdraws what is under way', async () => {
    const { create, release, units, begin, ordered, report } = await start();
    const releaseID = await create();
    await begin(releaseID, 1);
    await ordered(releaseID, 1);
    const [first] = await units(releaseID);
    await report('truck-1', first?.commandID ?? null, 'refused');
    await waitUntil('the stop', async () => (await release(releaseID)).releaseState === 'stopped');
    expect(await release(releaseID)).toMatchObject({
      stoppedFor: 'failures',
      stoppedBy: '',
      stages: [{ failed: 1, withdrawn: 1, underWay: 0 }, { units: 0 }],
    });
    expect(await units(releaseID, '?phase=failed')).toMatchObject([
      { deviceID: 'truck-1', unitState: 'refused', detail: 'not enough memory' },
    ]);
    expect(code(await begin(releaseID, 2))).toBe('conflict');
  });

  it('waits for as many failures as the release allows', async () => {
    const { create, release, units, begin, ordered, report } = await start();
    const releaseID = await create({ stopAfter: 2 });
    await begin(releaseID, 1);
    await ordered(releaseID, 1);
    const [first, second] = await units(releaseID);
    await report('truck-1', first?.commandID ?? null, 'refused');
    await waitUntil('the failure', async () => (await release(releaseID)).stages[0]?.failed === 1);
    expect((await release(releaseID)).releaseState).toBe('running');
    await report('truck-2', second?.commandID ?? null, 'refused');
    await waitUntil('the stop', async () => (await release(releaseID)).releaseState === 'stopped');
  });

  it('by an administrator takes back every job that has not ended, once, and is in the audit log', async () => {
    const { service, post, create, release, units, begin, ordered } = await start();
    const releaseID = await create();
    await begin(releaseID, 1);
    await ordered(releaseID, 1);
    expect(code(await post('olga', 'release/stop', { releaseID }))).toBe('forbidden');
    expect((await post('admin', 'release/stop', { releaseID, reason: 'wrong file' })).status).toBe(200);
    expect(code(await post('admin', 'release/stop', { releaseID }))).toBe('conflict');
    await waitUntil('the stop', async () => (await release(releaseID)).releaseState === 'stopped');
    expect(await release(releaseID)).toMatchObject({ stoppedFor: 'user', stoppedBy: 'admin' });
    expect((await units(releaseID)).map(({ unitState }) => unitState)).toEqual(['cancelled', 'cancelled']);
    const [audit] = await service.sql(
      "SELECT actor, detail FROM audit WHERE action = 'release.stop' ORDER BY audit_no",
    );
    expect(audit?.rows).toMatchObject([{ actor: 'admin' }]);
    expect(JSON.stringify(audit?.rows)).toContain('wrong file');
    expect(JSON.stringify(await service.rows('SELECT detail FROM audit'))).not.toContain('hidden');
  });

  it('is undone for one unit by a further job of the same file, which then counts', async () => {
    const { post, create, release, units, begin, ordered, report } = await start();
    const releaseID = await create({ stopAfter: 2 });
    await begin(releaseID, 1);
    await ordered(releaseID, 1);
    const [first] = await units(releaseID);
    await report('truck-1', first?.commandID ?? null, 'refused');
    const again = (await post('admin', 'command/firmware', { deviceID: 'truck-1', ...file })).json();
    expect(await units(releaseID, '?phase=underWay')).toMatchObject([
      { deviceID: 'truck-1', commandID: again['commandID'] },
      { deviceID: 'truck-2' },
    ]);
    await report('truck-1', String(again['commandID']), 'confirmed');
    expect((await release(releaseID)).stages[0]).toMatchObject({ done: 1, failed: 0 });
  });
});

describe('the units of a release', () => {
  it('come page by page, and a deleted device is in it no more', async () => {
    const { post, get, create, begin, ordered, units } = await start();
    const releaseID = await create();
    await begin(releaseID, 1);
    await ordered(releaseID, 1);
    const first = (await get('admin', `release/units/${releaseID}`, '?limit=1')).json();
    expect(first).toMatchObject({ units: [{ deviceID: 'truck-1' }], more: true, next: 'truck-1' });
    const second = (await get('admin', `release/units/${releaseID}`, '?limit=1&cursor=truck-1')).json();
    expect(second).toMatchObject({ units: [{ deviceID: 'truck-2' }], more: false, next: null });
    await post('admin', 'release/stop', { releaseID });
    await waitUntil(
      'the jobs to be withdrawn',
      async () => (await units(releaseID, '?phase=withdrawn')).length === 2,
    );
    expect((await post('admin', 'device/deletedevice', { deviceID: 'truck-1' })).status).toBe(200);
    expect((await units(releaseID)).map(({ deviceID }) => deviceID)).toEqual(['truck-2']);
  });
});
