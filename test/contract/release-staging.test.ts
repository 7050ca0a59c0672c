// From a signed job to a release that lies staged, over a real server and a real disk: goes on where it ended, and nothing that
// is not signed, whole, wanted and inside of its folder ever gets the name of a release.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseContentRange, parseFileAddress } from '../../agent/adapters/update/download.ts';
import { openRelease, verifyRelease } from '../../agent/adapters/update/release.ts';
import { requestTrial, writeReleaseState } from '../../agent/adapters/update/release-state.ts';
import { stageRelease } from '../../agent/adapters/update/staging.ts';
import { openUpdater } from '../../agent/adapters/update/updater-start.ts';
import { parseTarHeader } from '../../agent/core/update/tar-header.ts';
import { standardUpdate, updateFault } from '../../agent/core/update/update-config.ts';
import type { UpdateFault } from '../../agent/core/update/update-types.ts';
import { writeTar } from '../../systemd/tar.ts';
import {
  type ArchiveWish,
  buildArchive,
  type FileServer,
  releaseFiles,
  sha256Of,
  startFileServer,
} from '../support/machine/release-archive.ts';
import { silentLog } from '../support/storage/outbox-bench.ts';

let folder: string;
let root: string;
let server: FileServer;
let key: KeyObject;
let signing: KeyObject;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetward-staging-'));
  root = join(folder, 'releases');
  const pair = generateKeyPairSync('ed25519');
  [key, signing] = [pair.publicKey, pair.privateKey];
  server = await startFileServer();
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Asked {
  readonly version?: string;
  readonly url?: string;
  readonly sha256?: string;
  readonly mostBytes?: number;
  readonly reserveBytes?: number;
  readonly allowHttp?: boolean;
  readonly signal?: AbortSignal;
  /** Called with each part that has come. */
  readonly onPart?: () => void;
}

const carried: number[] = [];

function stage(archive: Buffer, asked: Asked = {}): Promise<UpdateFault | null> {
  const { version = '1.1.0', mostBytes = 1e7, reserveBytes = 0, allowHttp = true } = asked;
  server.files.set('/release', archive);
  const url = asked.url ?? `http://127.0.0.1:${server.port}/release`;
  const sha256 = asked.sha256 ?? sha256Of(archive);
  const job = { commandID: 'c1', version, url, sha256, issuedMs: 1, expiresMs: 2 };
  const signal = asked.signal ?? new AbortController().signal;
  carried.length = 0;
  const onBytes = (bytes: number): void => {
    carried.push(bytes);
    asked.onPart?.();
  };
  return stageRelease(
    { root, key, running: '1.0.0', mostBytes, reserveBytes, allowHttp },
    { job, signal, onBytes },
  );
}

const archiveOf = (wish: Partial<ArchiveWish> = {}): Buffer =>
  buildArchive({ version: '1.1.0', key: signing, ...wish });
/** What would look like a release to the launcher, and what lies outside of the folder. */
const named = (): readonly string[] =>
  existsSync(root) ? readdirSync(root).filter((name) => !name.startsWith('.')) : [];
const noise = (bytes: number): string =>
  Array.from({ length: bytes / 8 }, (_, at) =>
    ((at * 2_654_435_761) % 2 ** 31).toString(36).padStart(8),
  ).join('');

describe('a release', () => {
  it('is staged whole, and can be asked for', async () => {
    const archive = archiveOf();
    expect(await stage(archive)).toBeNull();
    expect(named()).toEqual(['1.1.0']);
    verifyRelease(openRelease(join(root, '1.1.0'), key));
    requestTrial({ root, key, version: '1.1.0', confirmWithinS: 60 });
    expect(carried.reduce((sum, bytes) => sum + bytes, 0)).toBe(archive.length);
  });

  it('is fetched once: what is there whole is used again, also after a power cut in between', async () => {
    const archive = archiveOf();
    await stage(archive);
    expect(await stage(archive)).toBeNull();
    rmSync(join(root, '1.1.0'), { recursive: true });
    mkdirSync(join(root, '.staging-1.1.0/dist'), { recursive: true });
    writeFileSync(join(root, '.staging-1.1.0/manifest.json'), '{');
    expect(await stage(archive)).toBeNull();
    expect(server.requests).toEqual(['GET /release whole']);
    expect(named()).toEqual(['1.1.0']);
  });

  it('is gone on with where the line broke, and bytes are carried once', async () => {
    const archive = archiveOf({ code: `// ${noise(400_000)}` });
    server.breakAfter = 100_000;
    let fault = await stage(archive);
    let sum = 0;
    for (let turn = 0; turn < 20 && fault !== null; turn++) {
      expect(fault.kind).toBe('network');
      sum += carried.reduce((total, bytes) => total + bytes, 0);
      fault = await stage(archive);
    }
    sum += carried.reduce((total, bytes) => total + bytes, 0);
    expect(fault).toBeNull();
    expect(server.requests.length).toBeGreaterThan(2);
    expect(server.requests.at(-1)).toMatch(/bytes=[1-9]\d+-$/);
    expect(sum).toBe(archive.length);
  });

  it('is fetched anew when what a power cut left is torn, and given up when the server has another file', async () => {
    const archive = archiveOf();
    mkdirSync(root);
    writeFileSync(join(root, `.download-${sha256Of(archive)}`), Buffer.alloc(50));
    expect(await stage(archive)).toMatchObject({ kind: 'refused' });
    expect(await stage(archive)).toBeNull();
    const other = { sha256: sha256Of('another') };
    expect(await stage(archive, other)).toMatchObject({
      kind: 'final',
      reason: expect.stringContaining('SHA-256 differs') as string,
    });
  });

  it('replaces what lay there before of others, but never what is confirmed or on trial', async () => {
    for (const name of ['0.8.0', '0.9.0', '1.0.5', '.staging-1.0.9', '.download-abc'])
      mkdirSync(join(root, name), { recursive: true });
    writeReleaseState(root, {
      floor: '0.0.0',
      confirmed: '0.9.0',
      trial: { version: '1.0.5', attempts: 0, confirmWithinS: 60 },
      rejected: [],
    });
    expect(await stage(archiveOf())).toBeNull();
    expect(named().toSorted()).toEqual(['0.9.0', '1.0.5', '1.1.0', 'state.json']);
  });

  it('can be stopped, and keeps what it has', async () => {
    const archive = archiveOf({ code: `// ${noise(800_000)}` });
    server.pauseMs = 20;
    const control = new AbortController();
    const onPart = (): void => {
      if (carried.length === 2) control.abort();
    };
    expect(await stage(archive, { signal: control.signal, onPart })).toMatchObject({ kind: 'halted' });
    server.pauseMs = 0;
    expect(await stage(archive)).toBeNull();
    expect(server.requests[1]).toMatch(/bytes=[1-9]/);
  });
});

describe('a server', () => {
  it.each([
    ['says it is not there', 404, 'refused'],
    ['forbids it', 403, 'refused'],
    ['is in trouble', 503, 'network'],
    ['has seen too many requests', 429, 'network'],
  ])('that %s (%i) is asked again: %s', async (_what, status, kind) => {
    server.instead = (_request, response) => {
      response.writeHead(status).end();
      return true;
    };
    expect(await stage(archiveOf())).toMatchObject({ kind, reason: `the server of the file says ${status}` });
  });

  it('that is not there is asked again', async () => {
    const url = 'http://127.0.0.1:9/release';
    expect(await stage(archiveOf(), { url })).toMatchObject({ kind: 'network' });
  });

  it('may send elsewhere within the scheme, and nowhere else', async () => {
    const archive = archiveOf();
    const redirect = (location: string, most: number) => {
      let hops = 0;
      server.instead = (_request, response) => {
        if (hops++ >= most) return false;
        response.writeHead(302, { location }).end();
        return true;
      };
    };
    redirect('/release', 3);
    expect(await stage(archive)).toBeNull();
    rmSync(root, { recursive: true });
    redirect('/release', 100);
    expect(await stage(archive)).toMatchObject({ kind: 'refused', reason: 'more than 3 redirects' });
    for (const location of ['https://127.0.0.1:9/release', 'file:///etc/passwd', 'http://u:p@127.0.0.1/x']) {
      redirect(location, 100);
      expect(await stage(archive), location).toMatchObject({ kind: 'final' });
    }
  });

  it('that has more than it said, or more than is allowed, is not listened to', async () => {
    const archive = archiveOf({ code: `// ${noise(200_000)}` });
    const limit = { mostBytes: 50_000 };
    expect(await stage(archive, limit)).toMatchObject({ kind: 'final' });
    server.instead = (_request, response) => {
      response.writeHead(200);
      response.end(archive);
      return true;
    };
    expect(await stage(archive, limit)).toMatchObject({
      kind: 'final',
      reason: 'the file is larger than 50000 bytes',
    });
    expect(named()).toEqual([]);
  });

  it('that answers with another range than was asked for is refused', async () => {
    const archive = archiveOf();
    mkdirSync(root);
    writeFileSync(join(root, `.download-${sha256Of(archive)}`), archive.subarray(0, 100));
    server.instead = (_request, response) => {
      response
        .writeHead(206, { 'content-range': `bytes 0-9/${archive.length}` })
        .end(archive.subarray(0, 10));
      return true;
    };
    expect(await stage(archive)).toMatchObject({ kind: 'refused' });
    server.instead = null;
    expect(await stage(archive)).toBeNull();
  });

  it('needs https, and the disk needs room', async () => {
    expect(await stage(archiveOf(), { allowHttp: false })).toMatchObject({ kind: 'final' });
    expect(server.requests).toEqual([]);
    expect(await stage(archiveOf(), { reserveBytes: 2 ** 52 })).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('Too little disk space for the release') as string,
    });
    expect(() => parseFileAddress('ftp://a/b', true)).toThrow(/https/);
  });
});

describe('nothing is staged of an archive', () => {
  const good = () => releaseFiles('1.1.0', 'process.exit(0)');
  const extra = (path: string) => [...good(), { path, bytes: Buffer.from('evil'), mode: 0o644 }];
  /** Changes the header of the first file behind manifest and signature, and mends its checksum. */
  const header =
    (change: (block: Buffer) => void) =>
    (tar: Buffer): Buffer => {
      const at = tar.indexOf('dist/agent/main.js\0');
      const block = tar.subarray(at, at + 512);
      change(block);
      block.fill(' ', 148, 156);
      const sum = block.reduce((total, byte) => total + byte, 0);
      block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
      return tar;
    };
  const cases: readonly [string, () => Buffer, RegExp][] = [
    [
      'signed by another key',
      () => archiveOf({ key: generateKeyPairSync('ed25519').privateKey }),
      /signature/,
    ],
    ['of another version', () => archiveOf({ version: '1.2.0' }), /holds release 1\.2\.0/],
    ['for another machine', () => archiveOf({ manifest: { arch: 'arm64', nodeAbi: '1' } }), /is for /],
    ['for another Node', () => archiveOf({ manifest: { nodeAbi: '1' } }), /Node ABI 1/],
    ['with a file too many', () => archiveOf({ files: extra('dist/x.js') }), /not in the manifest/],
    ['with a file twice', () => archiveOf({ files: [...good(), ...good()] }), /there twice/],
    ['with a second manifest', () => archiveOf({ files: extra('manifest.json') }), /not in the manifest/],
    ['with a file less', () => archiveOf({ files: good().slice(1) }), /main\.js is missing/],
    [
      'with another content',
      () => archiveOf({ files: releaseFiles('1.1.0', 'process.exit(9)') }),
      /not the file that was signed/,
    ],
    ['that leaves its folder', () => archiveOf({ files: extra('../evil') }), /path is not allowed/],
    ['with an absolute path', () => archiveOf({ files: extra('/tmp/evil') }), /path is not allowed/],
    ['with a hidden file', () => archiveOf({ files: extra('.state.json') }), /path is not allowed/],
    [
      'with a symbolic link',
      () => archiveOf({ change: header((block) => block.fill('2', 156, 157)) }),
      /plain/,
    ],
    ['with a hard link', () => archiveOf({ change: header((block) => block.fill('1', 156, 157)) }), /plain/],
    ['with a folder', () => archiveOf({ change: header((block) => block.fill('5', 156, 157)) }), /plain/],
    [
      'with a GNU extension',
      () => archiveOf({ change: header((block) => block.fill('L', 156, 157)) }),
      /plain/,
    ],
    ['with a wrong checksum', () => archiveOf({ change: (tar) => tar.fill('7', 130, 131) }), /checksum/],
    [
      'with a manifest of 64 MiB',
      () => gzipSync(writeTar([{ path: 'manifest.json', bytes: Buffer.alloc(2 ** 26), mode: 0o644 }], 0)),
      /does not begin with/,
    ],
    ['cut short', () => archiveOf({ change: (tar) => tar.subarray(0, 1700) }), /too early/],
    ['that is no gzip file', () => Buffer.from('hello, this is a text'), /no gzip/],
    ['that is no tar archive', () => gzipSync(Buffer.alloc(600, 1)), /archive/],
    ['that begins with something else', () => gzipSync(writeTar(good(), 0)), /does not begin with/],
    ['that is empty', () => gzipSync(Buffer.alloc(1024)), /does not begin with/],
  ];
  it.each(cases)('%s', async (_what, build, reason) => {
    const fault = await stage(build());
    expect(fault).toMatchObject({ kind: 'final' });
    expect(fault?.reason).toMatch(reason);
    expect(named()).toEqual([]);
    expect(readdirSync(root).filter((name) => name.startsWith('.staging'))).toEqual([]);
    expect(readdirSync(folder)).toEqual(['releases']);
  });

  it('below the floor, or not newer than what runs', async () => {
    expect(await stage(archiveOf({ version: '0.9.0' }), { version: '0.9.0' })).toMatchObject({
      reason: 'release 0.9.0 is not newer than 1.0.0, which runs',
    });
    writeReleaseState(root, { floor: '1.5.0', confirmed: null, trial: null, rejected: [] });
    expect(await stage(archiveOf())).toMatchObject({ reason: 'release 1.1.0 is below the floor 1.5.0' });
  });

  it('that swells: what follows its end is not even read', async () => {
    const bomb = gzipSync(Buffer.concat([tarOf(archiveOf()), Buffer.alloc(90_000_000)]), { level: 1 });
    expect(await stage(bomb)).toBeNull();
    expect(readdirSync(join(root, '1.1.0')).toSorted()).toEqual([
      'dist',
      'manifest.json',
      'manifest.sig',
      'package.json',
    ]);
  });
});

/** A whole archive without its compression. */
function tarOf(archive: Buffer): Buffer {
  return gunzipSync(archive).subarray(0, -1024);
}

describe('a header', () => {
  it('of any bytes is judged without throwing, and never names a path that leaves', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 512, maxLength: 512 }), (block) => {
        expect(parseTarHeader(block).kind).not.toBe('file');
      }),
      { numRuns: 500 },
    );
    const tar = writeTar([{ path: 'dist/agent/main.js', bytes: Buffer.from('x'), mode: 0o644 }], 0);
    const change = fc.tuple(fc.nat({ max: 511 }), fc.nat({ max: 255 }));
    fc.assert(
      fc.property(fc.array(change, { maxLength: 4 }), (changes) => {
        const block = Buffer.from(tar.subarray(0, 512));
        for (const [at, byte] of changes) block[at] = byte;
        const header = parseTarHeader(block);
        if (header.kind === 'file') expect(header.path).toMatch(/^[A-Za-z0-9@_+-][A-Za-z0-9@._+/-]*$/);
      }),
      { numRuns: 2000 },
    );
  });

  it('of a range says where it begins', () => {
    expect(parseContentRange('bytes 100-199/200')).toEqual({ from: 100, totalBytes: 200 });
    for (const text of [undefined, 'bytes 1-2/*', 'bytes 5-4/9', 'bytes 0-9/9', 'items 1-2/3'])
      expect(parseContentRange(text)).toBeNull();
  });
});

describe('updates', () => {
  const start = (flags: object, update: Partial<typeof standardUpdate> = {}) => {
    const lines: string[] = [];
    const take = (event: string): void => void lines.push(event);
    const log = { ...silentLog, error: take };
    const settings = { ...standardUpdate, ...update };
    const given = { 'release-key-owner': process.getuid?.() ?? 0, ...flags };
    return { updater: openUpdater({ flags: given, settings, outboxMb: 64, running: '1.0.0', log }), lines };
  };

  it('are on only behind a launcher and with a key that only root can change', () => {
    const path = join(folder, 'release.pub');
    const flags = { releases: root, 'release-key': path };
    expect(start({}).updater).toBeNull();
    expect(start(flags).updater).toBeNull();
    writeFileSync(path, key.export({ type: 'spki', format: 'pem' }), { mode: 0o644 });
    expect(start({ 'release-key': path }).updater).toBeNull();
    expect(start({ releases: root }).updater).toBeNull();
    expect(start(flags).updater?.setup).toMatchObject({
      running: '1.0.0',
      parkedMs: 60_000,
      healthMs: 300_000,
      trialMs: 3_600_000,
      facts: { trial: null, confirmed: null, rejected: [] },
    });
    chmodSync(path, 0o666);
    expect(start(flags)).toMatchObject({ updater: null, lines: ['updates_disabled'] });
    expect(() => start(flags, { caFile: join(folder, 'none.crt') })).toThrow(/update\.caFile/);
  });

  it('need more time for a trial than for its proof', () => {
    expect(updateFault(standardUpdate)).toBe('');
    expect(updateFault({ ...standardUpdate, healthS: 600, trialS: 1199 })).toMatch(/trialS/);
  });
});

it('the packager and the unit agree on long paths', () => {
  const path = `${'a'.repeat(120)}/${'b'.repeat(90)}`;
  const tar = writeTar([{ path, bytes: Buffer.from('x'), mode: 0o644 }], 0);
  expect(parseTarHeader(tar.subarray(0, 512))).toEqual({ kind: 'file', path, sizeBytes: 1 });
});
