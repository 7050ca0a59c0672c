// What an integrator reads first holds: the calls of the guide at /docs work as printed, the table of status codes is complete, all
// lists page in one way, and files have names.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Operation, servedPaths } from '../../broker/api/base/operation.ts';
import { about } from '../../broker/api/openapi-text.ts';
import { activationCodes } from '../../broker/core/events/activation.ts';
import { operations } from '../../broker/operations.ts';
import { statusCodes } from '../../src/core/events/status-codes.ts';
import { type HttpService, prepareCall } from '../support/http/http-fixtures.ts';
import { fill, startSeededService } from '../support/http/operation-calls.ts';

let service: HttpService;
let tokenOf: Awaited<ReturnType<typeof startSeededService>>['tokenOf'];
let admin = '';

beforeAll(async () => {
  ({ service, tokenOf, admin } = await startSeededService());
  // More than one row for each list to page through.
  for (const deviceID of ['log-1', 'truck-17']) {
    const nowS = Math.floor(Date.now() / 1000);
    const events = [1, 2, 3].map((seq) => ({ seq, timestamp: nowS - seq, statusCode: 63553 }));
    await service.events('acme', deviceID, { boot: 'more', events });
  }
});
afterAll(() => service.close());

describe('the guide at the head of /docs', () => {
  interface Shown {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  }

  const calls = [...about.matchAll(/```http\n([\s\S]*?)\n```/g)].map(([, text = '']): Shown => {
    const [head = '', body = ''] = text.split('\n\n');
    const [first = '', ...lines] = head.split('\n');
    const [method = '', path = ''] = first.split(' ');
    return { method, path, body, headers: Object.fromEntries(lines.map((line) => line.split(': '))) };
  });

  it('shows calls that succeed as printed, one after the other', async () => {
    expect(calls.length).toBeGreaterThanOrEqual(4);
    let token = '';
    for (const { method, path, headers, body } of calls) {
      const filled = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, value.replace('{token}', token)]),
      );
      const answer = await service.call({ method, path, headers: filled, ...(body === '' ? {} : { body }) });
      expect([path, answer.status]).toEqual([path, 200]);
      const given = answer.json()['token'];
      if (typeof given === 'string') token = given;
    }
    expect(token).not.toBe('');
  });

  it('names operations that exist, and stands at the head of the document', async () => {
    const document = (await service.call({ path: '/openapi.json' })).json() as {
      info: { description: string };
    };
    expect(document.info.description).toBe(about);
    const paths = [...about.matchAll(/(?:GET|POST) (\/api\/v1\/[\w/]+)/g)].map(([, path = '']) => path);
    const served = operations.flatMap((operation) => servedPaths(operation));
    const known = (path: string) => served.some((one) => one.startsWith(path.replace(/truck$/, '')));
    expect(paths.filter((path) => !known(path))).toEqual([]);
  });
});

describe('the document for generated clients', () => {
  /** As generators fold names of values and members: without letter case, signs and types. */
  const folded = (values: readonly unknown[]): readonly string[] =>
    values.map((value) =>
      String(value)
        .toLowerCase()
        .replace(/[^a-z0-9]/g, ''),
    );
  const twice = (values: readonly unknown[]): readonly string[] => {
    const names = folded(values);
    return names.filter((name, at) => names.indexOf(name) !== at);
  };

  it('has no two values of an enum, and no two members or parameters of a request, that fold into one name', async () => {
    const document = (await service.call({ path: '/openapi.json' })).json() as {
      components: { parameters: Readonly<Record<string, { name: string }>> };
    };
    const nameOf = ({ name, $ref = '' }: { readonly name?: string; readonly $ref?: string }): string =>
      name ?? document.components.parameters[$ref.split('/').at(-1) ?? '']?.name ?? $ref;
    const faults: string[] = [];
    const walk = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return;
      const { enum: values, properties } = value as { enum?: unknown; properties?: object };
      const found = [
        ...(Array.isArray(values) ? twice(values) : []),
        ...(path.includes('/requestBody/') ? twice(Object.keys(properties ?? {})) : []),
        ...(path.endsWith('/parameters') && Array.isArray(value) ? twice(value.map(nameOf)) : []),
      ];
      if (found.length > 0) faults.push(`${path}: ${found.join()}`);
      for (const [name, member] of Object.entries(value)) walk(member, `${path}/${name}`);
    };
    walk(document, '');
    expect(faults).toEqual([]);
  });
});

describe('the table of status codes', () => {
  interface Entry {
    readonly statusCode: number;
    readonly statusDescription: string;
    readonly meaning: string;
    readonly category: string | null;
    readonly isAlert: boolean;
  }
  const entries = async () =>
    (await service.call({ path: '/statuscodes' })).json()['statusCodes'] as readonly Entry[];

  it('has every code of a vehicle and every alert once, ascending, with a name and a sentence', async () => {
    const found = await entries();
    const codes = found.map(({ statusCode }) => statusCode);
    expect(codes).toEqual([...new Set(codes)].sort((one, other) => one - other));
    const wanted = [...Object.values(statusCodes).map(({ code }) => code), ...activationCodes];
    expect(wanted.filter((code) => !codes.includes(code))).toEqual([]);
    expect(found.filter(({ isAlert }) => isAlert).map(({ statusCode }) => statusCode)).toEqual(
      [...activationCodes].sort((one, other) => one - other),
    );
    for (const one of found) {
      expect(one.statusDescription).not.toBe('');
      expect(one.meaning).toMatch(/^[A-Z].*[^.]$/);
      expect(one.isAlert).toBe(one.category !== null);
    }
  });

  it('needs no token, may be cached by any cache, and answers 304 to its ETag', async () => {
    for (const path of ['/statuscodes', '/api/v1/statuscodes', '/api/v1/StatusCodes']) {
      const answer = await service.call({ path });
      expect(answer.headers).toMatchObject({ 'cache-control': 'public, max-age=3600' });
      const etag = String(answer.headers['etag']);
      const again = await service.call({ path, headers: { 'if-none-match': etag } });
      expect([again.status, again.text, again.headers['etag']]).toEqual([304, '', etag]);
      expect(again.headers).toMatchObject({ 'cache-control': 'public, max-age=3600' });
    }
  });

  it('is in /docs with the same text', async () => {
    const document = (await service.call({ path: '/openapi.json' })).text;
    for (const { statusCode, statusDescription, meaning } of await entries()) {
      expect(document).toContain(`| ${statusCode} | ${statusDescription} |`);
      expect(document).toContain(JSON.stringify(meaning).slice(1, -1));
    }
  });
});

describe('a list in pages', () => {
  const queryOf = ({ query }: Operation) => Object.keys(query?.properties ?? {});
  const paged = operations.filter((one) =>
    queryOf(one).some((name) => name === 'limit' || name === 'cursor'),
  );
  const others = /^(before|after|offset|page|pageSize|skip|top|count|start)$/i;

  it('is asked for by limit and cursor everywhere, and by nothing else', () => {
    expect(paged.length).toBeGreaterThan(15);
    for (const operation of paged) {
      expect([operation.id, queryOf(operation)]).toEqual([
        operation.id,
        expect.arrayContaining(['limit', 'cursor']),
      ]);
      const members = Object.keys((operation.result as unknown as { properties: object }).properties);
      expect([operation.id, members]).toEqual([operation.id, expect.arrayContaining(['more', 'next'])]);
      expect(operation.description, operation.id).toMatch(/limit/);
      expect(operation.description, operation.id).toMatch(/next/);
    }
    const strange = operations.filter((one) => queryOf(one).some((name) => others.test(name)));
    expect(strange.map(({ id }) => id)).toEqual([]);
  });

  it.each(paged.map((operation) => [operation.id, operation] as const))(
    'of %s: pages of one hold the same rows as one long page, and end',
    async (_id, operation) => {
      const { params, token = tokenOf(operation) ?? admin } = await prepareCall(service, operation);
      const path = fill(operation, servedPaths(operation)[0] ?? '', params);
      const page = async (query: string) => {
        const answer = await service.call({ path: `${path}${query}`, token });
        expect(answer.status, answer.text).toBe(200);
        return answer.json();
      };
      const rowsOf = (answer: Record<string, unknown>): readonly unknown[] => {
        const nested = answer['eventdata'] as { devices?: unknown[] } | undefined;
        const lists = Object.values(answer).filter((value): value is unknown[] => Array.isArray(value));
        return nested?.devices ?? lists[0] ?? [];
      };
      const whole = await page('?limit=400');
      expect([whole['more'], whole['next']]).toEqual([false, null]);
      const seen: unknown[] = [];
      let query = '?limit=1';
      for (let turn = 0; turn <= rowsOf(whole).length; turn += 1) {
        const answer = await page(query);
        seen.push(...rowsOf(answer));
        if (answer['more'] !== true) {
          expect(answer['next']).toBeNull();
          break;
        }
        query = `?limit=1&cursor=${encodeURIComponent(String(answer['next']))}`;
      }
      expect(seen).toEqual(rowsOf(whole));
    },
  );

  it.each(paged.map((operation) => [operation.id, operation] as const))(
    'of %s refuses sizes and cursors that are none',
    async (_id, operation) => {
      const { params, token = tokenOf(operation) ?? admin } = await prepareCall(service, operation);
      const path = fill(operation, servedPaths(operation)[0] ?? '', params);
      for (const query of [
        '?limit=0',
        '?limit=-1',
        '?limit=1e1',
        '?limit=99999',
        '?limit=',
        '?limit=1&limit=2',
        '?cursor=%00',
        "?cursor=';--",
        '?before=3',
        '?offset=1',
      ]) {
        const answer = await service.call({ path: `${path}${query}`, token });
        expect([query, answer.status]).toEqual([query, 422]);
      }
    },
  );
});

describe('an exported file', () => {
  it.each(['csv', 'gpx', 'geojson'])('is named by device and period: %s', async (format) => {
    const token = await service.login('acme', 'guest');
    const named = async (period: string) =>
      (await service.call({ path: `/api/v1/export/${format}/truck-17/${period}/authorization`, token }))
        .headers['content-disposition'];
    const name = `truck-17_20251120T231320Z_20251122T000000Z.${format}`;
    expect(await named('1763680400/1763769600')).toBe(
      `attachment; filename="${name}"; filename*=UTF-8''${name}`,
    );
    expect(await named('0/0')).toContain(`truck-17_start_now.${format}`);
  });

  it('has no name when it is an error', async () => {
    const token = await service.login('acme', 'guest');
    const answer = await service.call({ path: '/api/v1/export/csv/nope/0/0/authorization', token });
    expect([answer.status, answer.headers['content-disposition']]).toEqual([404, undefined]);
  });
});
