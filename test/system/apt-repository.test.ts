// The repository for apt as apt itself meets it: fetched over HTTP with the key that lies in it, and refused once a byte of it is another.
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildPackage, repository, runTool, whyNoPackager } from '../support/machine/deb-package.ts';
import { requires } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';

const { missing } = requires({
  commands: ['dpkg-deb', 'strip', 'gpg', 'apt-get'],
  debian: ['dpkg-dev', 'binutils', 'gnupg', 'apt'],
});
const why = missing ?? whyNoPackager();
const run = promisify(execFile);

describe.skipIf(why !== null)(
  `the repository for apt${why === null ? '' : ` (${why})`}`,
  { timeout: 900_000 },
  () => {
    const folder = temporaryFolder('apt');
    const site = join(folder, 'site');
    const keys = join(folder, 'keys');
    let server: Server;
    let options: readonly string[] = [];
    const apt = (...args: readonly string[]) =>
      run('apt-get', [...options, '--quiet', ...args], {
        cwd: folder,
        env: { ...process.env, LC_ALL: 'C.UTF-8' },
      });

    beforeAll(async () => {
      mkdirSync(keys, { mode: 0o700 });
      const gpg = [
        '--homedir',
        keys,
        '--batch',
        '--passphrase',
        '',
        '--quick-generate-key',
        'Test <test@example.com>',
      ];
      runTool('gpg', [...gpg, 'ed25519', 'sign', 'never']);
      buildPackage('agent', '--output', folder, '--version', '0.8.0');
      const script = join(repository, 'dist/systemd/package-apt.js');
      const args = ['--key', 'test@example.com', '--packages', folder, '--output', site];
      runTool('env', [`GNUPGHOME=${keys}`, process.execPath, script, ...args]);
      server = createServer((request, answer) => {
        try {
          answer.end(readFileSync(join(site, new URL(request.url ?? '', 'http://localhost').pathname)));
        } catch {
          answer.writeHead(404).end();
        }
      });
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      const { port } = server.address() as { port: number };
      for (const path of ['state/lists/partial', 'cache/archives/partial', 'etc'])
        mkdirSync(join(folder, path), { recursive: true });
      writeFileSync(join(folder, 'status'), '');
      const list = join(folder, 'etc/fleetward.list');
      writeFileSync(list, `deb [signed-by=${site}/fleetward.gpg] http://127.0.0.1:${port} stable main\n`);
      options = [
        `Dir::Etc::sourcelist=${list}`,
        'Dir::Etc::sourceparts=-',
        `Dir::State=${join(folder, 'state')}`,
        `Dir::State::status=${join(folder, 'status')}`,
        `Dir::Cache=${join(folder, 'cache')}`,
        'APT::Sandbox::User=root',
        'Acquire::Retries=0',
        'Acquire::http::Proxy=DIRECT',
      ].flatMap((option) => ['-o', option]);
      chmodSync(folder, 0o755);
    }, 900_000);
    afterAll(() => new Promise((done) => server.close(done)));

    it('gives the package to an apt that knows its key', async () => {
      await apt('update');
      await apt('download', 'fleetward-agent');
      const fetched = readFileSync(join(folder, 'fleetward-agent_0.8.0-1_amd64.deb'));
      expect(fetched.equals(readFileSync(join(site, 'pool/main/fleetward-agent_0.8.0-1_amd64.deb')))).toBe(
        true,
      );
    });

    it('is refused when its list or a package was changed', async () => {
      const release = join(site, 'dists/stable/InRelease');
      const text = readFileSync(release, 'utf8');
      writeFileSync(release, text.replace('Label: Fleetward', 'Label: Otherward'));
      await expect(apt('update', '-o', 'APT::Update::Error-Mode=any')).rejects.toThrow(
        /signature|not signed|BADSIG/i,
      );
      writeFileSync(release, text);
      await apt('update');
      const path = join(site, 'pool/main/fleetward-agent_0.8.0-1_amd64.deb');
      const bytes = readFileSync(path);
      bytes.writeUInt8(bytes.readUInt8(1000) ^ 1, 1000);
      writeFileSync(path, bytes);
      await run('rm', ['-rf', join(folder, 'fleetward-agent_0.8.0-1_amd64.deb')]);
      await expect(apt('download', 'fleetward-agent')).rejects.toThrow(/Hash Sum mismatch/);
    });
  },
);
