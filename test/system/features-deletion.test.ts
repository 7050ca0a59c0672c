// A feature of the broker goes with its folder and its line in `broker/features.ts`: the Node programs compile without it, and the broker
// starts and answers. The screens of the console are a program of their own and are not compiled here.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { createBrokerProgram } from '../support/programs/broker-program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const base = temporaryFolder('features');
const started: { killAll(): void }[] = [];
afterAll(() => {
  for (const one of started) one.killAll();
});

const names = readdirSync(join(root, 'broker/features'), { withFileTypes: true })
  .filter((one) => one.isDirectory())
  .map(({ name }) => name);

/** The tracked tree without the feature, compiled. */
function treeWithout(name: string): string {
  const tree = join(base, name);
  const listed = execFileSync(
    'git',
    ['ls-files', '-z', 'agent', 'broker', 'simulator', 'src', 'systemd', '*.json'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  for (const path of listed.split('\0').filter((one) => one !== '' && !one.startsWith('test/'))) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    cpSync(join(root, path), join(tree, path));
  }
  for (const folder of ['build', 'node_modules']) symlinkSync(join(root, folder), join(tree, folder));
  rmSync(join(tree, 'broker/features', name), { recursive: true });
  const list = join(tree, 'broker/features.ts');
  const before = readFileSync(list, 'utf8');
  const imported = before.split('\n').find((line) => line.includes(`./features/${name}/`)) ?? '';
  const variable = /\{ (\w+) \}/.exec(imported)?.[1] ?? '';
  const entry = new RegExp(`(const features = \\[[^\\]]*?)\\b${variable}\\b,?\\s*`);
  writeFileSync(list, before.replace(`${imported}\n`, '').replace(entry, '$1'));
  const compiler = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'];
  expect(spawnSync(process.execPath, compiler, { cwd: tree, encoding: 'utf8' })).toMatchObject({
    status: 0,
    stdout: '',
  });
  return tree;
}

it.each(names)(
  'the broker compiles, starts and answers without the feature %s',
  async (name) => {
    const tree = treeWithout(name);
    // Of its own: a fleet of another key in the same folder refuses the start.
    const folder = join(tree, 'data');
    mkdirSync(folder);
    const program = createBrokerProgram(folder, join(tree, 'dist/broker/main.js'));
    started.push(program);
    const on = ['--database', join(folder, 'fleet.db')];
    const password = 'correct horse battery';
    const account = ['account', 'create', 'acme', '--admin', 'ann', '--password-file', '-', ...on];
    expect(await program.run(account, `${password}\n`)).toMatchObject({ code: 0 });
    const { child, output, ended } = program.launch(['start', ...on, '--http-port', '0', '--mqtt-port', '0']);
    let code: number | null | undefined;
    void ended.then((value) => (code = value));
    await waitUntil('the broker to serve', () => output.out.includes('broker_ready') || code !== undefined);
    expect(output.out).toContain('broker_ready');
    const port = /"httpPort":(\d+)/.exec(output.out)?.[1] ?? '';
    const ask = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${port}${path}`, init);
    const login = await ask('/api/v1/auth/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ accountID: 'acme', userID: 'ann', password }),
    });
    const { token } = (await login.json()) as { token: string };
    for (const path of ['metrics/getMonitorMetaData', 'device/getalldevices'])
      expect((await ask(`/api/v1/${path}/authorization`, { headers: { authorization: token } })).status).toBe(
        200,
      );
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  },
  600_000,
);
