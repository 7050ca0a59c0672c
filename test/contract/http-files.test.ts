// The console and the maps as a browser gets them: under a strict policy, compressed once, by range, and never a file beside them.
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readConsoleFiles } from '../../broker/adapters/storage/console-files.ts';
import { openMapFolder } from '../../broker/adapters/storage/map-folder.ts';
import { startHttpService } from '../support/http/http-service.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';

const folder = temporaryFolder('files');
const [built, maps] = [join(folder, 'console'), join(folder, 'maps')];
const script = `console.log(${JSON.stringify('x'.repeat(5000))});`;
const tiles = Buffer.from(Array.from({ length: 200_000 }, (_unused, at) => (at * 7) % 251));
let service: Awaited<ReturnType<typeof startHttpService>>;
let token = '';

beforeAll(async () => {
  mkdirSync(join(built, 'assets'), { recursive: true });
  mkdirSync(join(maps, 'folder.pmtiles'), { recursive: true });
  writeFileSync(join(built, 'index.html'), '<!doctype html><title>Fleetward</title>');
  writeFileSync(join(built, 'assets/index-Bx3kL9aQ.js'), script);
  writeFileSync(join(built, 'assets/index-Bx3kL9aQ.js.map'), '{}');
  writeFileSync(join(built, 'icon.png'), Buffer.alloc(3000));
  writeFileSync(join(built, '.env'), 'SECRET=1');
  writeFileSync(join(folder, 'secret.txt'), 'SECRET');
  symlinkSync(join(folder, 'secret.txt'), join(built, 'link.txt'));
  writeFileSync(join(maps, 'city.pmtiles'), tiles);
  writeFileSync(join(maps, 'empty.pmtiles'), '');
  writeFileSync(join(maps, 'notes.txt'), 'SECRET');
  writeFileSync(join(folder, 'outside.pmtiles'), 'SECRET');
  service = await startHttpService({
    console: await readConsoleFiles(built),
    maps: await openMapFolder(maps),
  });
  await service.account('acme');
  await service.user('acme', 'guest', 'viewer');
  token = await service.login('acme', 'guest');
});
afterAll(() => service.close());

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  service.call({ method, path, headers });

describe('the console', () => {
  it('comes without a token under a policy that allows no inline code and no other host', async () => {
    const { status, headers, text } = await get('/console/');
    expect([status, text]).toEqual([200, '<!doctype html><title>Fleetward</title>']);
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'fleetward-version': '0.0.0',
    });
  });

  it('keeps hashed names for ever, asks again for others, and answers 304 and HEAD', async () => {
    const asset = await get('/console/assets/index-Bx3kL9aQ.js');
    expect(asset.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
    });
    for (const path of ['/console/', '/console/assets/index-Bx3kL9aQ.js']) {
      const etag = String((await get(path)).headers['etag']);
      const again = await get(path, { 'if-none-match': etag });
      expect([again.status, again.text, again.headers['etag']]).toEqual([304, '', etag]);
      const head = await get(path, {}, 'HEAD');
      expect([head.status, head.text, head.headers['etag']]).toEqual([200, '', etag]);
    }
  });

  it.each([
    ['/console/assets/index-Bx3kL9aQ.js', 'script', false],
    ['/console/assets/index-Bx3kL9aQ.js', 'style', false],
    ['/console/assets/index-Bx3kL9aQ.js', 'empty', false],
    ['/console/assets/index-Bx3kL9aQ.js', 'worker', true],
    ['/console/assets/index-Bx3kL9aQ.js', 'document', true],
    ['/console/assets/index-Bx3kL9aQ.js', 'iframe', true],
    ['/console/', 'script', true],
    ['/console/', 'document', true],
  ])('sends %s for the destination %s with headers of a document: %s', async (path, destination, isWhole) => {
    const { headers } = await get(path, { 'sec-fetch-dest': destination });
    const ofDocuments = [
      'content-security-policy',
      'cross-origin-opener-policy',
      'permissions-policy',
      'x-frame-options',
      'x-robots-tag',
      'fleetward-version',
      'x-request-id',
    ];
    expect(ofDocuments.map((name) => name in headers)).toEqual(ofDocuments.map(() => isWhole));
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      vary: path.includes('assets') ? 'accept-encoding, sec-fetch-dest' : 'accept-encoding',
    });
  });

  it('is compressed where that helps and the client takes it', async () => {
    const path = '/console/assets/index-Bx3kL9aQ.js';
    const br = await get(path, { 'accept-encoding': 'gzip, br' });
    expect([br.headers['content-encoding'], br.headers['vary']]).toEqual([
      'br',
      'accept-encoding, sec-fetch-dest',
    ]);
    expect(brotliDecompressSync(br.raw).toString()).toBe(script);
    const gz = await get(path, { 'accept-encoding': 'gzip' });
    expect(gunzipSync(gz.raw).toString()).toBe(script);
    expect((await get(path)).text).toBe(script);
    expect((await get('/console/icon.png', { 'accept-encoding': 'br' })).headers['content-encoding']).toBe(
      undefined,
    );
  });

  it('gives its index for views, and leads there from the root', async () => {
    expect((await get('/console/vehicles/truck-17')).text).toContain('<title>Fleetward');
    expect((await get('/')).headers['location']).toBe('/console/');
    expect((await get('/console')).headers['location']).toBe('/console/');
  });

  it.each([
    '/console/.env',
    '/console/link.txt',
    '/console/assets/index-Bx3kL9aQ.js.map',
    '/console/../secret.txt',
    '/console/%2e%2e/secret.txt',
    '/console/..%2fsecret.txt',
    '/console/..%5csecret.txt',
    '/console/assets/gone-12345678.js',
    '/console//etc/passwd.txt',
    '/console/index.html%00.js',
    '/console/__proto__.js',
  ])('has nothing at %s', async (path) => {
    const answer = await get(path);
    expect([answer.status, answer.text.includes('SECRET')]).toEqual([
      answer.status === 400 ? 400 : 404,
      false,
    ]);
  });

  it('may read, and only read, at the hosts of a map that the operator has set', async () => {
    const plain = String((await get('/console/')).headers['content-security-policy']);
    expect((await service.call({ path: '/api/v1/map/list/authorization', token })).json()['style']).toBe(
      null,
    );
    const style = {
      url: 'https://tiles.example.com/style.json?key=abc',
      origins: ['https://tiles.example.com', 'https://a.example.com:8443'],
    };
    const other = await startHttpService({ console: await readConsoleFiles(built), mapStyle: style });
    onTestFinished(() => other.close());
    await other.account('acme');
    const session = await other.login('acme', 'admin');
    for (const path of ['/console/', '/console/live', '/console/assets/index-Bx3kL9aQ.js']) {
      const policy = String((await other.call({ path })).headers['content-security-policy']);
      expect(policy).toBe(
        plain.replace("connect-src 'self'", `connect-src 'self' ${style.origins.join(' ')}`),
      );
    }
    // Other answers know nothing of it.
    const listed = await other.call({ path: '/api/v1/map/list/authorization', token: session });
    expect(listed.json()['style']).toEqual(style);
    expect(String(listed.headers['content-security-policy'])).not.toContain('example.com');
    expect((await other.call({ path: '/api/v1/map/list/authorization' })).status).toBe(401);
  });

  it('answers that it is not installed when it is not', async () => {
    const bare = await startHttpService({ console: null });
    onTestFinished(() => bare.close());
    const answer = await bare.call({ path: '/console/' });
    expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('No console is installed')]);
    expect((await bare.call({ path: '/' })).headers['location']).toBe('/docs/');
    expect((await bare.call({ path: '/maps/city.pmtiles', token: 'x' })).status).toBe(404);
  });

  it('is read at the start or refused with a reason', async () => {
    expect(await readConsoleFiles(join(folder, 'nope'))).toBeNull();
    await expect(readConsoleFiles(maps)).rejects.toThrow('has no index.html');
    await expect(openMapFolder(join(folder, 'nope'))).rejects.toThrow('is no folder');
  });
});

describe('a map file', () => {
  const part = (headers: Record<string, string>, method = 'GET', name = 'city.pmtiles') =>
    get(`/maps/${name}`, { authorization: token, ...headers }, method);

  it('is for sessions only', async () => {
    for (const headers of [{}, { authorization: 'wrong' }, { authorization: `${token.slice(0, -1)}x` }]) {
      expect((await get('/maps/city.pmtiles', headers)).status).toBe(401);
    }
  });

  it('comes in parts, byte for byte, with a strong ETag', async () => {
    for (const [range, from, to] of [
      ['bytes=0-126', 0, 127],
      ['bytes=199990-', 199_990, 200_000],
      ['bytes=-16384', 183_616, 200_000],
      ['bytes=70000-140000', 70_000, 140_001],
    ] as const) {
      const answer = await part({ range });
      expect([answer.status, answer.headers['content-range']]).toEqual([
        206,
        `bytes ${from}-${to - 1}/200000`,
      ]);
      expect(answer.raw.equals(tiles.subarray(from, to))).toBe(true);
      expect(answer.headers['etag']).toMatch(/^"[^"]+"$/);
      expect(answer.headers['content-length']).toBe(String(to - from));
    }
    const whole = await part({});
    expect([whole.status, whole.raw.equals(tiles), whole.headers['accept-ranges']]).toEqual([
      200,
      true,
      'bytes',
    ]);
    expect(
      (await part({ range: 'bytes=0-1', 'accept-encoding': 'br, gzip' })).headers['content-encoding'],
    ).toBe(undefined);
  });

  it('has no part behind its end, and one part at a time', async () => {
    const beyond = await part({ range: 'bytes=200000-' });
    expect([beyond.status, beyond.headers['content-range'], beyond.raw.length]).toEqual([
      416,
      'bytes */200000',
      0,
    ]);
    expect((await part({ range: 'bytes=0-1,4-5' })).status).toBe(200);
    expect((await part({}, 'GET', 'empty.pmtiles')).raw.length).toBe(0);
    expect((await part({ range: 'bytes=0-' }, 'GET', 'empty.pmtiles')).status).toBe(416);
  });

  it('is described by HEAD, and by 304 to a client that has it', async () => {
    const head = await part({}, 'HEAD');
    expect([head.status, head.headers['content-length'], head.raw.length]).toEqual([200, '200000', 0]);
    const etag = String(head.headers['etag']);
    expect((await part({ 'if-none-match': etag, range: 'bytes=0-9' })).status).toBe(304);
  });

  it('that was replaced is given whole to a reader of the old one, with another ETag', async () => {
    writeFileSync(join(maps, 'new.pmtiles'), 'old content');
    const etag = String((await part({ range: 'bytes=0-2' }, 'GET', 'new.pmtiles')).headers['etag']);
    const fresh = await part({ range: 'bytes=0-2', 'if-range': etag }, 'GET', 'new.pmtiles');
    expect([fresh.status, fresh.text]).toEqual([206, 'old']);
    writeFileSync(join(maps, 'new.pmtiles'), 'new content');
    utimesSync(join(maps, 'new.pmtiles'), 1, 1);
    const stale = await part({ range: 'bytes=0-2', 'if-range': etag }, 'GET', 'new.pmtiles');
    expect([stale.status, stale.text]).toEqual([200, 'new content']);
    expect(stale.headers['etag']).not.toBe(etag);
  });

  it.each([
    'notes.txt',
    'folder.pmtiles',
    'nope.pmtiles',
    '..%2foutside.pmtiles',
    '%2e%2e%2foutside.pmtiles',
    '.pmtiles',
    'city.pmtiles%00',
    'city.pmtiles%2f',
  ])('is no %s', async (name) => {
    const answer = await part({}, 'GET', name);
    expect([answer.status === 404 || answer.status === 400, answer.text.includes('SECRET')]).toEqual([
      true,
      false,
    ]);
  });

  it('is listed with its size', async () => {
    const answer = await service.call({ path: '/api/v1/map/list/authorization', token });
    const listed = answer.json()['maps'] as readonly { name: string; size: number }[];
    expect(listed.map(({ name }) => name)).toEqual(['city.pmtiles', 'empty.pmtiles', 'new.pmtiles']);
    expect(listed[0]?.size).toBe(200_000);
  });

  it('is chosen for all users of the account by an administrator, by a name that can be one', async () => {
    const list = async () => (await service.call({ path: '/api/v1/map/list/authorization', token })).json();
    const guest = await service.call({
      method: 'POST',
      path: '/api/v1/auth/updateaccount/authorization',
      token,
      body: { accountID: 'acme', baseMap: 'world' },
    });
    expect(guest.status).toBe(422);
    const admin = await service.login('acme', 'admin');
    const choose = (baseMap: unknown) =>
      service.call({
        method: 'POST',
        path: '/api/v1/auth/updateaccount/authorization',
        token: admin,
        body: { accountID: 'acme', baseMap },
      });
    expect((await list())['chosen']).toBe('');
    for (const one of ['file:city.pmtiles', 'style', 'world', 'file:not-there-yet.pmtiles']) {
      expect((await choose(one)).json()['baseMap']).toBe(one);
      expect((await list())['chosen']).toBe(one);
    }
    for (const one of [
      '',
      'city.pmtiles',
      'file:../city.pmtiles',
      'file:.pmtiles',
      'file:a/b.pmtiles',
      'World',
      1,
      null,
    ])
      expect((await choose(one)).status).toBe(422);
    expect((await list())['chosen']).toBe('file:not-there-yet.pmtiles');
  });

  it('releases its file handle however an answer ends', async () => {
    const opened: { closed: boolean }[] = [];
    const real = await openMapFolder(maps);
    const counting = {
      list: () => real.list(),
      open: async (name: string) => {
        const file = await real.open(name);
        if (file === null) return null;
        const state = { closed: false };
        opened.push(state);
        return { ...file, close: () => ((state.closed = true), file.close()) };
      },
    };
    const other = await startHttpService({ maps: counting });
    onTestFinished(() => other.close());
    await other.account('acme');
    const session = await other.login('acme', 'admin');
    for (const headers of [
      {},
      { range: 'bytes=0-9' },
      { range: 'bytes=900000-' },
      { 'if-none-match': '*' },
    ]) {
      for (const method of ['GET', 'HEAD'])
        await other.call({
          method,
          path: '/maps/city.pmtiles',
          headers: { authorization: session, ...headers },
        });
    }
    await expect.poll(() => opened.filter(({ closed }) => !closed).length).toBe(0);
    expect(opened).toHaveLength(8);
  });
});
