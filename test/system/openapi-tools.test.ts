// Other people's tools on our OpenAPI document: two linters, five generators of clients, and a proxy that compares every request and
// answer with the document. Made from the list of operations: a new one is tested by being there.
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Operation, pathVariables, servedPaths } from '../../broker/api/base/operation.ts';
import { createOpenapi } from '../../broker/api/openapi.ts';
import { adminIntroduction, adminOperations } from '../../broker/api/operator/admin-operations.ts';
import { operations } from '../../broker/operations.ts';
import { type HttpService, prepareCall, seedFleet } from '../support/http/http-fixtures.ts';
import { password, startHttpService } from '../support/http/http-service.ts';
import {
  installedTools,
  type Proxy,
  runScript,
  runTool,
  startPrism,
  toolsFolder,
} from '../support/http/openapi-tools.ts';
import { requires } from '../support/machine/requires.ts';

const { missing } = requires({ files: [installedTools], remedy: 'npm ci --prefix test/openapi' });
const title = `the OpenAPI document${missing === null ? '' : ` (${missing})`}`;

/** Of the users' interface and of the service operator's. */
const documents = [
  ['users', createOpenapi(operations, '0.0.0')],
  [
    'operator',
    createOpenapi(
      adminOperations({ read: () => Promise.reject(new Error('only its document is read')) }),
      '0.0.0',
      adminIntroduction,
    ),
  ],
] as const;

describe.skipIf(missing !== null)(title, () => {
  let folder = '';
  let document = '';
  const fileOf = (name: string): string => join(folder, `${name}.json`);
  let service: HttpService;
  let url = '';

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'fleetward-openapi-'));
    for (const [name, content] of documents) writeFileSync(fileOf(name), JSON.stringify(content, null, 2));
    document = fileOf('users');
    service = await startHttpService();
    await seedFleet(service);
    url = `http://127.0.0.1:${await service.http.listen({ host: '127.0.0.1', port: 0 })}`;
  });

  afterAll(async () => {
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(documents)('for the %s has nothing that Spectral would change', async (name) => {
    const settings = ['--ruleset', '.spectral.yaml', '--fail-severity', 'hint'];
    const { status, output } = await runTool('spectral', ['lint', ...settings, fileOf(name)]);
    expect(output).toContain("No results with a severity of 'hint' or higher found");
    expect(status).toBe(0);
  });

  it.each(documents)('for the %s has nothing that Redocly would change', async (name) => {
    const { status, output } = await runTool('redocly', ['lint', '--config', 'redocly.yaml', fileOf(name)]);
    expect(output).toContain('Your API description is valid.');
    expect(output).not.toMatch(/You have \d+ warning/);
    expect(status).toBe(0);
  });

  it('gives types with which a strict program compiles, and the program works', async () => {
    for (const name of ['client.ts', 'tsconfig.json', 'package.json']) {
      cpSync(`${toolsFolder}${name}`, join(folder, name));
    }
    symlinkSync(`${toolsFolder}node_modules`, join(folder, 'node_modules'));
    const made = await runTool('openapi-typescript', [document, '--output', join(folder, 'service.d.ts')]);
    expect(made.status, made.output).toBe(0);
    expect(await runTool('tsc', ['--project', folder])).toEqual({ status: 0, output: '' });
    const env = { SERVICE_URL: url, SERVICE_PASSWORD: password };
    const { status, output } = await runScript(join(folder, 'client.js'), { args: [], env });
    expect(status, output).toBe(0);
    expect(JSON.parse(output)).toEqual({
      devices: expect.arrayContaining(['truck-17']),
      position: 'truck-17 43.65107 -79.34702 1',
      codes: expect.arrayContaining(['truck-17 61472', 'truck-17 63553']),
      counts: expect.arrayContaining([
        ['1', true],
        ['1', false],
      ]),
      drivers: true,
      latitude: 43.65107,
      commandState: 'requested',
      pending: '1',
      isSame: true,
      unknown: [404, 'not_found'],
    });
  });

  it('gives four more generators what they make clients of that compile strictly, with a call of each', async () => {
    const place = join(folder, 'generated');
    mkdirSync(place);
    cpSync(`${toolsFolder}generated.ts`, join(place, 'generated.ts'));
    symlinkSync(`${toolsFolder}node_modules`, join(place, 'node_modules'));
    const of = (name: string): string => join(place, name);
    const generators: readonly (readonly [tool: string, args: readonly string[]])[] = [
      ['openapi-ts', ['-i', document, '-o', of('hey-api'), '-c', '@hey-api/client-fetch', '--silent']],
      ['oazapfts', [document, of('oazapfts.ts')]],
      ['orval', ['--input', document, '--output', of('orval.ts'), '--client', 'fetch']],
      [
        'swagger-typescript-api',
        ['generate', '--path', document, '--output', of('swagger-typescript-api'), '--name', 'client.ts'],
      ],
    ];
    for (const [tool, args] of generators) {
      const made = await runTool(tool, args);
      expect(made.status, `${tool}: ${made.output}`).toBe(0);
    }
    const compilerOptions = {
      target: 'es2022',
      lib: ['es2023', 'dom', 'dom.iterable'],
      types: [],
      module: 'esnext',
      moduleResolution: 'bundler',
      strict: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
    };
    writeFileSync(of('tsconfig.json'), JSON.stringify({ compilerOptions, files: ['generated.ts'] }));
    expect(await runTool('tsc', ['--project', place])).toEqual({ status: 0, output: '' });
  });

  describe('between a caller and the service, in prism,', () => {
    let proxy: Proxy;
    const tokens = new Map<Operation['access'], string>();

    beforeAll(async () => {
      for (const [role, userID] of [
        ['viewer', 'guest'],
        ['operator', 'dispatch'],
        ['admin', 'admin'],
      ] as const) {
        tokens.set(role, await service.login('acme', userID));
      }
      proxy = await startPrism({ document, service: url });
    });
    afterAll(() => proxy.close());

    interface Sent {
      readonly operation: Operation;
      readonly path: string;
      readonly token?: string | undefined;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }

    /** Sends through the proxy; gives the status, and the proxy's own message when it found a violation. */
    async function send({ operation, path, token, body, headers = {} }: Sent) {
      const answer = await fetch(`${proxy.url}${path}`, {
        method: operation.method,
        headers: {
          ...(token === undefined ? {} : { authorization: token }),
          ...(operation.body === null ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(operation.body === null ? {} : { body: JSON.stringify(body ?? operation.examples.body) }),
      });
      const text = await answer.text();
      const isProblem = answer.headers.get('content-type')?.includes('application/problem+json') === true;
      const violations = [answer.headers.get('sl-violations'), isProblem ? text : null].filter(
        (one) => one !== null,
      );
      return { status: answer.status, violations, etag: answer.headers.get('etag') };
    }

    /** The call ends in this status, and the document allows what went both ways. */
    async function expectKept(sent: Sent, status: number) {
      const { etag, ...verdict } = await send(sent);
      expect(verdict).toEqual({ status, violations: [] });
      return etag;
    }

    const example = (operation: Operation) => operation.examples.params as Readonly<Record<string, string>>;
    const fill = (path: string, params: Readonly<Record<string, string>>): string =>
      path.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(params[name] ?? ''));
    const pathOf = (operation: Operation, params = example(operation)): string =>
      fill(servedPaths(operation)[0] ?? '', params);

    /** Names something that is not there in the first part of the path; null where such a name would not fit. */
    function strange(operation: Operation): string | null {
      const [first] = pathVariables(operation.path);
      if (first === undefined || !operation.errors.includes('not_found')) return null;
      const params = { ...example(operation), [first]: 'no-such-thing' };
      return Compile(operation.params).Check(params) ? pathOf(operation, params) : null;
    }

    const listed = operations.map((operation) => [operation.id, operation] as const);
    // The proxy waits for the end of an answer, and a live stream has none.
    const ending = listed.filter(([, { produces }]) => produces !== 'text/event-stream');

    it('stops what it does not allow', async () => {
      const operation = operations.find(({ id }) => id === 'createDevice');
      if (operation === undefined) throw new Error('no operation to try it on');
      const call = { operation, path: pathOf(operation), token: tokens.get('operator') };
      const { status, violations } = await send({ ...call, body: { deviceID: 17, colour: 'red' } });
      expect(status).toBe(422);
      expect(violations.join()).toMatch(/found 'colour'.*deviceID must be string/);
    });

    it.each(ending)('allows %s to succeed as it does', async (_id, operation) => {
      for (const path of servedPaths(operation)) {
        const {
          params = {},
          body,
          token = tokens.get(operation.access),
        } = await prepareCall(service, operation);
        const call = { operation, path: fill(path, { ...example(operation), ...params }), token, body };
        const etag = await expectKept(call, 200);
        if (operation.isConditional !== true) continue;
        await expectKept({ ...call, headers: { 'if-none-match': String(etag) } }, 304);
      }
    });

    it.each(listed)('allows %s to fail as it does', async (_id, operation) => {
      const { access } = operation;
      // A share is read with its own token.
      const { token = tokens.get(access) } = access === 'share' ? await prepareCall(service, operation) : {};
      const call = { operation, path: pathOf(operation), token };
      await expectKept({ ...call, headers: { accept: 'application/xml' } }, 406);
      if (access === 'public') return;
      await expectKept({ ...call, token: 'acme%7Cdispatch%7Cwrong' }, 401);
      const path = strange(operation);
      if (path !== null) await expectKept({ ...call, path }, 404);
      if (access !== 'viewer') await expectKept({ ...call, token: tokens.get('viewer') }, 422);
    });
  });
});
