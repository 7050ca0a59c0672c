// Every operation of the HTTP service keeps the rules of the interface. Most of this file is made from the list of
// operations: a new one is tested by being there. The OpenAPI document is compared with test/data/openapi.json; after
// a change that is meant, run with UPDATE_OPENAPI=1 and review the difference.
import { readFileSync, writeFileSync } from 'node:fs';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Operation, servedPaths } from '../../broker/api/base/operation.ts';
import { createOpenapi } from '../../broker/api/openapi.ts';
import { errorCodesOf } from '../../broker/api/openapi-errors.ts';
import { operations } from '../../broker/operations.ts';
import { errorKinds } from '../../src/core/errors.ts';
import { type HttpService, prepareCall } from '../support/http/http-fixtures.ts';
import { password } from '../support/http/http-service.ts';
import { bodyOf, expectError, fill, isEndless, startSeededService } from '../support/http/operation-calls.ts';

let service: HttpService;
let token = '';
let viewer = '';
let tokenOf: Awaited<ReturnType<typeof startSeededService>>['tokenOf'];
let succeed: Awaited<ReturnType<typeof startSeededService>>['succeed'];

beforeAll(async () => {
  ({ service, token, viewer, tokenOf, succeed } = await startSeededService());
});
afterAll(() => service.close());

const first = (operation: Operation) => fill(operation, servedPaths(operation)[0] ?? '');
const typeOf = ({ produces }: Operation) => produces ?? 'application/json';

const guarded = operations.filter((operation) => operation.access !== 'public');
const withBody = operations.filter((operation) => operation.body !== null);

describe.each(operations.map((operation) => [operation.id, operation] as const))('%s', (_id, operation) => {
  const { method } = operation;

  it('has examples that fit its own schemas', () => {
    expect(Compile(operation.params).Errors(operation.examples.params)).toEqual([]);
    expect(Compile(operation.result).Errors(operation.examples.result)).toEqual([]);
    if (operation.body !== null) expect(Compile(operation.body).Errors(operation.examples.body)).toEqual([]);
  });

  it.skipIf(isEndless(operation))('answers in its result schema at every path it is served at', async () => {
    for (const path of servedPaths(operation)) {
      const { params } = await prepareCall(service, operation);
      const answer = await succeed(operation, { path: fill(operation, path, params) });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.headers['content-type']).toContain(typeOf(operation));
      const kept =
        operation.cacheS === undefined ? 'private, no-cache' : `public, max-age=${operation.cacheS}`;
      const caching = operation.isConditional === true ? kept : 'no-store';
      expect(answer.headers).toMatchObject({ 'cache-control': caching, 'x-content-type-options': 'nosniff' });
      if (operation.produces !== undefined) continue;
      expect(Compile(operation.result).Errors(answer.json())).toEqual([]);
      expect(answer.json()).toMatchObject({ status_code: '200', success: '1' });
    }
  });

  it('answers 405 with Allow to every other verb, without looking at token or body', async () => {
    const verbs = operations
      .filter(({ path }) => path === operation.path)
      .flatMap((one) => (one.method === 'GET' && !one.effects ? ['GET', 'HEAD'] : [one.method]));
    const allow = [...new Set(verbs)].join(', ');
    for (const other of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      if (allow.split(', ').includes(other)) continue;
      const body = other === 'POST' || other === 'PUT' ? '<xml/>' : undefined;
      const answer = await service.call({ method: other, path: first(operation), ...(body ? { body } : {}) });
      expect([other, answer.status, answer.headers['allow']]).toEqual([other, 405, allow]);
      if (other !== 'HEAD') expectError(answer, 405, 'method_not_allowed');
    }
  });

  it('answers 406 when Accept excludes what it gives', async () => {
    for (const accept of ['text/plain', `${typeOf(operation)};q=0, */*`, 'application/xml, image/*']) {
      expectError(await succeed(operation, { headers: { accept } }), 406, 'not_acceptable');
    }
  });

  it('has descriptions that Markdown does not render as a list', () => {
    expect(operation.description).not.toMatch(/^\d+[.)] /m);
  });

  it('is described in the document at every path, with every error', () => {
    const paths = createOpenapi(operations, '0.0.0')['paths'] as Record<
      string,
      Record<string, { responses: object }>
    >;
    for (const path of servedPaths(operation)) {
      const described = paths[path]?.[method.toLowerCase()];
      const statuses = errorCodesOf(operation).map((code) => String(errorKinds[code].status));
      expect(Object.keys(described?.responses ?? {})).toEqual(expect.arrayContaining(['200', ...statuses]));
    }
  });
});

describe.each(guarded.map((operation) => [operation.id, operation] as const))('%s', (_id, operation) => {
  it('answers 401 without a good token, before it looks at anything else', async () => {
    const wrong = [
      undefined,
      '',
      'x',
      token.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      token.replace('acme', 'rival'),
    ];
    const basic = `Basic ${Buffer.from(`dispatch:${password}`).toString('base64')}`;
    for (const other of [...wrong, basic]) {
      const answer = await service.call({
        method: operation.method,
        path: first(operation),
        ...(other === undefined ? {} : { token: other }),
        headers: { accept: 'text/plain', 'content-type': 'text/xml' },
        ...(operation.method === 'POST' ? { body: '<xml/>' } : {}),
      });
      expectError(answer, 401, 'unauthorized');
      expect(answer.headers['www-authenticate']).toContain('Bearer');
    }
  });

  it('allows no caller more than its role', async () => {
    const request = {
      method: operation.method,
      path: first(operation),
      token: viewer,
      body: bodyOf(operation),
    };
    if (operation.access !== 'viewer') expectError(await service.call(request), 422, 'forbidden');
  });
});

describe.each(withBody.map((operation) => [operation.id, operation] as const))(
  'the body of %s',
  (_id, operation) => {
    const { method } = operation;
    const send = (body: unknown, headers = {}, used = tokenOf(operation) ?? token) =>
      service.call({ method, path: first(operation), token: used, body, headers });
    const required = Object.keys(operation.body?.properties ?? {}).filter((name) =>
      operation.body?.required?.includes(name),
    );

    it('must be JSON by its type: 406', async () => {
      for (const type of [
        'text/xml',
        'application/x-www-form-urlencoded',
        'text/plain',
        'application/jsonp',
      ].filter((one) => one !== operation.textBody?.mediaType)) {
        expectError(await send('<xml/>', { 'content-type': type }), 406, 'not_acceptable');
      }
    });

    it('must be JSON by its syntax: 400, and is not quoted back', async () => {
      for (const text of ['', '{', '{"a":SECRET}', '\u00e9{}', 'nul']) {
        const { detail } = expectError(await send(text), 400, 'malformed_json');
        expect(detail).not.toContain('SECRET');
      }
    });

    it('must not be longer than 1 MiB: 400', async () => {
      expectError(await send(JSON.stringify({ x: 'x'.repeat(1024 * 1024) })), 400, 'malformed_request');
    });

    it('must be an object, flat or under data: 422', async () => {
      for (const body of [[], [1], 1, 'null', '"text"', { data: [] }, { data: 1 }, { data: [{}, {}] }]) {
        expectError(
          await send(typeof body === 'string' ? body : JSON.stringify(body)),
          422,
          'invalid_content',
        );
      }
    });

    it.skipIf(required.length === 0)(
      'must hold what is required: 422 with a pointer to each missing member',
      async () => {
        const { errors } = expectError(await send({}), 422, 'invalid_content');
        expect(errors.map(({ pointer }) => pointer).sort()).toEqual(
          required.map((name) => `/${name}`).sort(),
        );
      },
    );

    it('must have the right types, and nothing is converted: 422 with pointers', async () => {
      const schema = operation.body?.properties ?? {};
      for (const [name, member] of Object.entries(schema)) {
        const isText = !('type' in member) || member.type === 'string';
        for (const value of [isText ? 5 : '5', null, [], {}, true]) {
          // True is right for a switch, [] for a list.
          if (Compile(member).Check(value)) continue;
          const body = { ...(bodyOf(operation) as object), [name]: value };
          const { errors } = expectError(await send({ data: [body] }), 422, 'invalid_content');
          // An object lacks its own members below it.
          const inner =
            JSON.stringify(value) === '{}' && 'required' in member ? (member.required as string[]) : [''];
          expect(errors.map(({ pointer }) => pointer)).toEqual(
            inner.map((below) => `/data/0/${name}${below === '' ? '' : `/${below}`}`),
          );
        }
      }
    });

    it.skipIf(operation.isIntake)(
      'must not hold unknown members: 422 with a pointer, whatever they are called',
      async () => {
        for (const name of ['nonsense', 'DEVICEID', 'constructor', 'a/b~c']) {
          const { errors } = expectError(
            await send({ ...(bodyOf(operation) as object), [name]: 1 }),
            422,
            'invalid_content',
          );
          expect(errors.map(({ pointer }) => pointer)).toEqual([
            `/${name.replace('~', '~0').replace('/', '~1')}`,
          ]);
        }
        const text = JSON.stringify(bodyOf(operation)).replace('{', '{"__proto__":{"deviceID":"x"},');
        expect(expectError(await send(text), 422, 'invalid_content').errors[0]?.pointer).toBe('/__proto__');
      },
    );

    it('may stand under data, as an object or an array of one', async () => {
      for (const wrap of [(body: unknown) => body, (body: unknown) => [body]]) {
        const { body = bodyOf(operation), token: own } = await prepareCall(service, operation);
        const answer = await send({ data: wrap(body) }, {}, own);
        expect(answer.status, answer.text).toBe(200);
      }
    });
  },
);

describe('the service', () => {
  it.each([
    '/nothing',
    '/api/v2/auth/login',
    '/api/v1',
    '/api/v1/device/updatedevice',
    '/device/updatedevice/authorization',
  ])('has nothing at %s', async (path) => {
    expectError(await service.call({ path }), 404, 'not_found');
  });

  it('answers 404 for a path variable that is too long to be an id, and 400 for a broken escape', async () => {
    const path = `/device/getdevice/${'x'.repeat(1000)}/authorization`;
    expectError(await service.call({ path, token }), 404, 'not_found');
    expectError(
      await service.call({ path: '/device/getdevice/%zz/authorization', token }),
      400,
      'malformed_request',
    );
  });

  it('never shows the cause of an internal error', async () => {
    await service.sql('ALTER TABLE device_states RENAME TO hidden_states');
    const answer = await service.call({ path: '/device/getalldevices/authorization', token });
    await service.sql('ALTER TABLE hidden_states RENAME TO device_states');
    expectError(answer, 503, 'unavailable');
    expect(answer.headers['retry-after']).toBe('5');
    expect(answer.text).not.toMatch(/sqlite|device_states|:memory:/i);
    expect(service.logLines.join('\n')).toContain('http_failure');
  });

  it('publishes its document and a page that needs no other host', async () => {
    const document = (await service.call({ path: '/openapi.json' })).json() as {
      openapi: string;
      paths: object;
    };
    expect(document.openapi).toBe('3.1.0');
    expect(Object.keys(document.paths)).toEqual([...new Set(operations.flatMap(servedPaths))]);
    const page = await service.call({ path: '/docs/' });
    expect(page.status).toBe(200);
    expect(page.text).not.toMatch(/https?:\/\//);
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    const script = await service.call({ path: '/docs/static/swagger-initializer.js' });
    expect(script.text).toMatch(/validatorUrl: null/);
    // Every file that the page names is there.
    const named = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name]) => `/docs/${name}`);
    expect(named).toHaveLength(4);
    for (const path of named) expect((await service.call({ path })).status, path).toBe(200);
    expect((await service.call({ path: '/docs' })).headers['location']).toBe('/docs/');
  });

  it('has the document of test/data/openapi.json', () => {
    const golden = new URL('../data/openapi.json', import.meta.url);
    const text = `${JSON.stringify(createOpenapi(operations, '0.0.0'), null, 2)}\n`;
    if (process.env['UPDATE_OPENAPI'] === '1') writeFileSync(golden, text);
    expect(JSON.parse(readFileSync(golden, 'utf8'))).toEqual(JSON.parse(text));
  });
});

// Last: it leaves the service broken.
describe('at the end', () => {
  it('distinguishes liveness from readiness in the probes', async () => {
    expect((await service.call({ path: '/readyz' })).json()).toEqual({ status: 'ok', checks: ['database'] });
    service.breakPart('mqtt');
    const { errors } = expectError(await service.call({ path: '/readyz' }), 503, 'unavailable');
    expect(errors).toEqual([{ pointer: '/mqtt', message: 'is broken' }]);
    expect((await service.call({ path: '/livez' })).json()).toEqual({ status: 'ok' });
  });
});
