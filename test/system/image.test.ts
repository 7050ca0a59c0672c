// The image as an operator meets it: built without a container engine, the same bytes each time, unpacked and started by runc as its own
// user on a file system that nothing can be written to but its volume.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readVersion } from '../../src/adapters/version.ts';
import { type Containers, createContainers, userNo } from '../support/machine/containers.ts';
import { repository, runTool, whyNoPackager } from '../support/machine/deb-package.ts';
import { freePort } from '../support/machine/free-port.ts';
import { requires } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { hangMs, waitUntil } from '../support/machine/wait-until.ts';

const { missing } = requires({
  commands: ['runc', 'umoci', 'dpkg-deb', 'strip'],
  debian: ['runc', 'umoci', 'dpkg-dev', 'binutils'],
});
const why = missing ?? whyNoPackager() ?? (process.getuid?.() === 0 ? null : 'skipped, needs root');
const version = readVersion();

describe.skipIf(why !== null)(`the image${why === null ? '' : ` (${why})`}`, { timeout: 900_000 }, () => {
  const folder = temporaryFolder('image');
  const layout = join(folder, 'image');
  const bundle = join(folder, 'bundle');
  let built = { digest: '', sizeBytes: 0, components: 0 };
  let containers: Containers;
  const start: Containers['start'] = (...args) => containers.start(...args);

  const build = (output: string): typeof built =>
    JSON.parse(
      runTool(process.execPath, [join(repository, 'dist/systemd/package-image.js'), '--output', output]),
    ) as typeof built;

  beforeAll(() => {
    built = build(layout);
    runTool('umoci', ['unpack', '--image', `${layout}:${version}-amd64`, bundle]);
    containers = createContainers(folder, bundle);
  }, 900_000);
  afterEach(() => containers.stop());

  it('has at most 90 MB, and the same bytes when it is built again', () => {
    expect(built.sizeBytes).toBeLessThanOrEqual(90_000_000);
    expect(build(join(folder, 'again')).digest).toBe(built.digest);
    const names = (path: string): readonly string[] => readdirSync(join(path, 'blobs/sha256')).sort();
    expect(names(join(folder, 'again'))).toEqual(names(layout));
  });

  it('lists every file of it under a component, with its hash', () => {
    const root = join(bundle, 'rootfs');
    const sbom = JSON.parse(readFileSync(join(root, 'usr/share/doc/fleetward/sbom.cdx.json'), 'utf8')) as {
      components: { components: { name: string; hashes: { content: string }[] }[] }[];
    };
    const listed = new Map(
      sbom.components.flatMap(({ components }) =>
        components.map(({ name, hashes }) => [name, hashes[0]?.content] as const),
      ),
    );
    const own = /^\/etc\/|^\/usr\/share\/doc\/fleetward\//;
    const files = readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length));
    expect(files.length).toBeGreaterThan(1000);
    for (const file of files.filter((name) => !own.test(name))) {
      const sha256 = createHash('sha256')
        .update(readFileSync(join(root, file)))
        .digest('hex');
      expect([file, listed.get(file)]).toEqual([file, sha256]);
    }
  });

  it('serves as its own user, writes to its volume only, knows that it is ready, and ends well on SIGTERM', async () => {
    const port = await freePort();
    const ports = [`FLEETWARD_HTTP_PORT=${port}`, `FLEETWARD_MQTT_PORT=${await freePort()}`];
    const container = start('broker', [], ports);
    const isReady = async (): Promise<boolean> => {
      if (container.child.exitCode !== null) throw new Error(`it ended:\n${container.said()}`);
      return (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.ok === true;
    };
    await waitUntil('a broker that is ready', isReady, { seen: container.said });
    expect(statSync(join(container.volume, 'fleetward.db')).uid).toBe(userNo);
    const healthy = start('healthy', ['healthy'], ports);
    expect([await healthy.ended, healthy.said()]).toEqual([0, '']);
    const account = start(
      'broker',
      ['broker', 'account', 'create', 'acme', '--admin', 'ann', '--json'],
      ports,
    );
    expect([await account.ended, account.said()]).toEqual([0, expect.stringContaining('acme')]);
    container.child.kill('SIGTERM');
    expect([await container.ended, container.said()]).toEqual([0, expect.anything()]);
    const unready = start('healthy', ['healthy'], ports);
    expect(await unready.ended).toBe(1);
  });

  it('refuses a word that it does not know', async () => {
    const container = start('wrong', ['sh']);
    expect([await container.ended, container.said()]).toEqual([
      64,
      expect.stringContaining('no command "sh"'),
    ]);
  });

  it('copies the database at once, and takes older copies away', async () => {
    const broker = start('copied', ['broker', 'account', 'create', 'acme', '--admin', 'ann']);
    expect([await broker.ended, broker.said()]).toEqual([0, expect.anything()]);
    for (const day of [1, 2]) writeFileSync(join(broker.volume, `fleetward-2026010${day}T000000Z.db`), '');
    const backup = start('copied', ['backup', '--folder', '/data', '--keep', '2']);
    const copies = (): readonly string[] =>
      readdirSync(broker.volume).filter((name) => /^fleetward-\d+T.*\.db$/.test(name));
    const isCopied = (): boolean =>
      copies().length === 2 && !copies().includes('fleetward-20260101T000000Z.db');
    await waitUntil('a new copy in place of the oldest', isCopied, { seen: backup.said });
    expect(copies()).toContain('fleetward-20260102T000000Z.db');
    backup.child.kill('SIGTERM');
    expect(await backup.ended).toBe(0);
  });

  it('shows a practice fleet whose colleague asks for a cut', async () => {
    const ports = ['--http-port', String(await freePort()), '--mqtt-port', String(await freePort())];
    const demo = start('demo', ['demo', '--vehicles', '2', ...ports]);
    const isServed = (): boolean => {
      if (demo.child.exitCode !== null) throw new Error(`it ended:\n${demo.said()}`);
      return /2 of 2 online/.test(demo.said());
    };
    await waitUntil('vehicles online', isServed, { seen: demo.said, limitMs: hangMs });
    const base = `http://127.0.0.1:${ports[1]}/api/v1`;
    const post = async (path: string, body: object, token = ''): Promise<Record<string, unknown>> => {
      const headers = { authorization: token, 'content-type': 'application/json' };
      const answer = await fetch(`${base}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      return (await answer.json()) as Record<string, unknown>;
    };
    const code = /#code=([\w-]{43}) /.exec(demo.said())?.[1];
    const { token } = await post('auth/login/code', { code });
    const asked = await post('practice/askforcut/authorization', { deviceID: 'van-01' }, String(token));
    expect(asked).toMatchObject({ success: '1' });
    const answer = await fetch(`${base}/command/approvals/authorization`, {
      headers: { authorization: String(token) },
    });
    expect(((await answer.json()) as { approvals: unknown[] }).approvals).toHaveLength(1);
  });
});
