// The published client as an integrator gets it: installed from its tarball into an empty folder, compiled strictly with the library of
// browsers alone, its types compared with the operations' own, and run against a real broker that is killed.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client, LiveMessage } from '../../broker/client/index.ts';
import { operations } from '../../broker/operations.ts';
import { checkout as checkoutUrl } from '../support/machine/checkout.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import {
  createBrokerSetup,
  dist,
  type Program,
  provision,
  runProgram,
  startBroker,
} from '../support/programs/fleet-processes.ts';

const checkout = checkoutUrl.pathname;
const isBuilt = existsSync(join(dist, 'systemd/package-client.js'));
const devices = ['van-01', 'van-02', 'van-03', 'van-04', 'van-05'];
/** Alerts that a user may record, each once for a device. */
const alerts = Array.from({ length: 30 }, (_unused, at) => String(62_496 + at));

const consumer = `import { createClient, outcomeOf, type LiveMessage, type Result, ServiceError } from '@fleetward/client';
const client = createClient({ baseUrl: 'https://fleet.example.com', token: () => null });
export const speed = async (): Promise<number | null> =>
  (await client.call('getDevice', { params: { deviceID: 'van-01' } })).deviceLastValidSpeed;
export const first: Result<'listAlarms'>['alarms'][number]['alarmID'] = '1';
export const owner = (message: LiveMessage): string | null | undefined =>
  message.kind === 'alarm' ? message.data.owner : null;
export const all = client.pages('listAlarms');
export const failed = (thrown: unknown): boolean => thrown instanceof ServiceError && thrown.mayHaveActed;
export const asked = outcomeOf(client.call('getAllDevices'));
// @ts-expect-error there is no such operation
void client.call('getDevices');
// @ts-expect-error the device is missing
void client.call('getDevice');
// @ts-expect-error an id is text
void client.call('createDevice', { body: { deviceID: 17 } });
// @ts-expect-error one device is no list
void client.pages('getDevice', { params: { deviceID: 'van-01' } });
`;

describe.skipIf(!isBuilt)(`the published client${isBuilt ? '' : ' [skipped: not built]'}`, () => {
  const setup = createBrokerSetup('client');
  const folder = join(setup.folder, 'consumer');
  const installed = join(folder, 'node_modules/@fleetward/client');
  const running = new Set<ChildProcess>();
  let broker: Program;
  let baseUrl = '';
  let packed = '';
  let library: typeof import('../../broker/client/index.ts') & {
    createClient(options: object): Client;
  };

  const clientOfUser = async (): Promise<Client> => {
    const body = { accountID: 'demo', userID: 'admin', password: setup.password };
    const { token } = await library.createClient({ baseUrl }).call('login', { body });
    return library.createClient({ baseUrl, token });
  };
  const compile = (options: object, files: Readonly<Record<string, string>>, place = folder): string => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text);
    const config = { ...options, files: Object.keys(files) };
    writeFileSync(join(place, 'tsconfig.json'), JSON.stringify(config));
    try {
      return execFileSync(
        process.execPath,
        [join(checkout, 'node_modules/typescript/bin/tsc'), '-p', place],
        { encoding: 'utf8' },
      );
    } catch (thrown) {
      return (thrown as { stdout: string }).stdout;
    }
  };

  beforeAll(async () => {
    const output = join(setup.folder, 'package');
    const made = execFileSync(
      process.execPath,
      [join(dist, 'systemd/package-client.js'), '--output', output],
      {
        encoding: 'utf8',
      },
    );
    packed = made.trim();
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }');
    execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', packed], { cwd: folder });
    library = (await import(
      /* @vite-ignore */ pathToFileURL(join(installed, 'index.js')).href
    )) as typeof library;
    provision(setup, 'van-01');
    for (const deviceID of devices.slice(1))
      runProgram('broker', ['device', 'create', 'demo', deviceID, '--database', `${setup.folder}/fleet.db`]);
    broker = await startBroker(setup);
    baseUrl = `http://127.0.0.1:${setup.httpPort}`;
  });

  afterAll(async () => {
    for (const child of running) child.kill('SIGKILL');
    broker?.signal('SIGKILL');
    await broker?.ended();
    rmSync(setup.folder, { recursive: true, force: true });
  });

  it('has no dependency, and names every operation', () => {
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as object;
    expect(manifest).not.toHaveProperty('dependencies');
    const types = readFileSync(join(installed, 'types/operations.d.ts'), 'utf8');
    expect(
      operations.filter(({ id }) => !new RegExp(`^ +${id}: \\{$`, 'm').test(types)).map(({ id }) => id),
    ).toEqual([]);
    expect(readFileSync(join(installed, 'index.js'), 'utf8')).not.toMatch(
      /^import|\brequire\(|node:|Buffer/m,
    );
  });

  it.each([
    ['a bundler', { module: 'esnext', moduleResolution: 'bundler' }],
    ['Node', { module: 'nodenext', moduleResolution: 'nodenext' }],
  ])('compiles strictly in an empty folder, with no types but those of browsers, for %s', (_for, module) => {
    const compilerOptions = {
      ...module,
      target: 'es2022',
      lib: ['es2023', 'dom'],
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      noEmit: true,
    };
    expect(compile({ compilerOptions }, { 'consumer.ts': consumer })).toBe('');
  });

  it("has the operations' own types", () => {
    const place = join(setup.folder, 'types');
    mkdirSync(place);
    writeFileSync(join(place, 'package.json'), '{ "type": "module" }');
    const own = join(checkout, 'broker/client/operations.ts');
    const given = join(installed, 'types/operations.js');
    const compare = `import type * as Own from ${JSON.stringify(own)};
import type * as Given from ${JSON.stringify(given)};
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
// A row of the fleet is a tuple here, and a list for clients.
type WithoutRows<R> = R extends { readonly rows?: unknown } ? Omit<R, 'rows'> : R;
type Differs<I extends Own.OperationID & Given.OperationID> =
  | (Same<Own.Params<I>, Given.Params<I>> extends true ? never : 'params')
  | (Same<Own.Body<I>, Given.Body<I>> extends true ? never : 'body')
  | (Same<Own.Query<I>, Given.Query<I>> extends true ? never : 'query')
  | (Same<WithoutRows<Own.Result<I>>, WithoutRows<Given.Result<I>>> extends true ? never : 'result');
type Found = { [I in Own.OperationID & Given.OperationID]: Differs<I> extends never ? never : [I, Differs<I>] };
// Those of the practice fleet are served by the demonstration only.
type Practice = 'getPracticeFleet' | 'actInPractice' | 'askInPractice';
export const sameNames: Same<Exclude<Own.OperationID, Practice>, Given.OperationID> = true;
export const none: [Found[keyof Found]] extends [never] ? 'none' : Found[keyof Found] = 'none';
`;
    const compilerOptions = {
      noEmit: true,
      rootDir: '/',
      types: ['node'],
      typeRoots: [join(checkout, 'node_modules/@types')],
      rewriteRelativeImportExtensions: false,
      allowImportingTsExtensions: true,
    };
    const options = { extends: join(checkout, 'tsconfig.json'), compilerOptions, include: [], exclude: [] };
    expect(compile(options, { 'compare.ts': compare }, place)).toBe('');
  });

  it('gives a list page by page, and stops reading where the loop is left', async () => {
    const client = await clientOfUser();
    const pages: string[][] = [];
    for await (const page of client.pages('getAllDevices', { query: { limit: '2' } }))
      pages.push(page.devices.map(({ deviceID }) => deviceID));
    expect(pages).toEqual([['van-01', 'van-02'], ['van-03', 'van-04'], ['van-05']]);
    for await (const page of client.pages('getAllDevices', { query: { limit: '2' } })) {
      expect(page.devices).toHaveLength(2);
      break;
    }
  });

  it('gives a failure with the code, the hint and the request id of the service, also as data', async () => {
    const outcome = await library.outcomeOf(
      (await clientOfUser()).call('getDevice', { params: { deviceID: 'nope' } }),
    );
    expect(outcome).toMatchObject({
      isOk: false,
      error: { code: 'not_found', status: 404, requestId: expect.stringMatching(/^[0-9a-f]{16}$/) },
    });
  });

  it('ends a stream whose token is wrong with that error, and one whose signal aborts without any', async () => {
    const wrong = library.createClient({ baseUrl, token: 'demo%7Cadmin%7Cwrong' });
    await expect(wrong.follow().next()).rejects.toMatchObject({ status: 401 });
    const leave = new AbortController();
    const seen: string[] = [];
    for await (const { kind } of (await clientOfUser()).follow({ signal: leave.signal })) {
      seen.push(kind);
      leave.abort();
    }
    expect(seen).toEqual(['hello']);
  });

  it('runs the programs of its guide as they are printed', async () => {
    const guide = readFileSync(join(installed, 'README.md'), 'utf8');
    const blocks = [...guide.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
    expect(blocks).toHaveLength(5);
    writeFileSync(join(folder, 'guide.js'), blocks.join('\n'));
    const child = spawn(process.execPath, ['guide.js'], {
      cwd: folder,
      env: {
        FLEETWARD_URL: baseUrl,
        FLEETWARD_PASSWORD: setup.password,
        FLEETWARD_PLACE: join(folder, 'place'),
      },
    });
    running.add(child);
    const output = { out: '', err: '' };
    child.stdout.on('data', (part: Buffer) => void (output.out += part.toString()));
    child.stderr.on('data', (part: Buffer) => void (output.err += part.toString()));
    const ended = new Promise<number | null>((done) => child.once('close', done));
    const seen = (): string => `${output.out}${output.err}`;
    await waitUntil(
      'the stream of the guide',
      () => output.out.includes('hello') || child.exitCode !== null,
      {
        seen,
      },
    );
    const client = await clientOfUser();
    await client.call('createActivation', { params: { deviceID: 'van-01', statusCode: '63553' } });
    expect(await ended, seen()).toBe(0);
    expect(output.err).toBe('');
    expect(output.out.trim().split('\n')).toEqual([
      'van-01 null',
      ...devices.map((deviceID) => `device ${deviceID}`),
      'hello',
      'event van-01 63553',
      'order requested',
      'error not_found 404',
    ]);
    expect(readFileSync(join(folder, 'place'), 'utf8')).toMatch(/^\d+$/);
  });

  it('loses no event over kills of the service and of its own program, and gives none twice', async () => {
    const client = await clientOfUser();
    const seen: string[] = [];
    const states: string[] = [];
    let resumeID: string | null = null;
    let hasBegun = false;
    let leave = new AbortController();
    const follow = async (): Promise<void> => {
      const { signal } = leave;
      const onState = (state: string): void => void (state === states.at(-1) || states.push(state));
      const input = { query: { kinds: 'event' }, resumeID, signal, onState };
      for await (const message of client.follow(input) as AsyncIterable<LiveMessage>) {
        hasBegun = true;
        // A program that was killed before it kept its place is given the message again.
        if (signal.aborted) return;
        if (message.kind === 'event') seen.push(`${message.data.deviceID} ${message.data.statusCode}`);
        expect(message.kind).not.toBe('reset');
        resumeID = message.resumeID;
      }
    };
    let following = follow();
    await waitUntil('the stream', () => hasBegun);
    const recorded: string[] = [];
    for (const [at, deviceID] of devices.entries()) {
      for (const [nth, statusCode] of alerts.entries()) {
        if (at > 0 && nth === 15) {
          broker.signal('SIGKILL');
          await broker.ended();
          broker = await startBroker(setup);
        }
        if (at % 2 === 1 && nth === 20) {
          leave.abort();
          await following;
          leave = new AbortController();
          following = follow();
        }
        // A record is made once however often it is asked for.
        const record = (): Promise<boolean> =>
          client.call('createActivation', { params: { deviceID, statusCode } }).then(
            () => true,
            () => false,
          );
        while (!(await record()));
        recorded.push(`${deviceID} ${statusCode}`);
      }
    }
    await waitUntil('every event', () => seen.length >= recorded.length, {
      seen: () => `${seen.length} of ${recorded.length}; ${states.join(' ')}`,
    });
    leave.abort();
    await following;
    expect(seen.toSorted()).toEqual(recorded.toSorted());
    expect(states).toContain('down');
  });
});
