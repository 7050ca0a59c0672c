// The client of the service without a service: what it repeats and what never, and where a stream goes on.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { clientOf } from '../../broker/client/client.ts';
import type { Route } from '../../broker/client/request.ts';
import type { ServiceError } from '../../broker/client/service-error.ts';

const routes = {
  getDevice: {
    method: 'GET',
    path: '/api/v1/device/{deviceID}',
    isPublic: false,
    isRead: true,
    isKeyed: false,
  },
  commandFeature: { method: 'POST', path: '/api/v1/command', isPublic: false, isRead: false, isKeyed: true },
  deleteDevice: { method: 'POST', path: '/api/v1/delete', isPublic: false, isRead: false, isKeyed: false },
  listAlarms: { method: 'GET', path: '/api/v1/alarms', isPublic: false, isRead: true, isKeyed: false },
  login: { method: 'POST', path: '/api/v1/login', isPublic: true, isRead: false, isKeyed: false },
  streamEvents: { method: 'GET', path: '/api/v1/stream', isPublic: false, isRead: false, isKeyed: false },
} as const satisfies Readonly<Record<string, Route>>;

type Answer = Response | Error | ((signal: AbortSignal) => Response);
const sent: { readonly url: string; readonly headers: Headers }[] = [];
const answers: Answer[] = [];

const json = (status: number, body: object, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers });
const failed = (status: number, code: string, headers = {}): Response =>
  json(
    status,
    { error: { code, detail: code, hint: null, requestId: '5b1f0c9a2d7e4836', errors: [] } },
    headers,
  );

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    sent.push({ url, headers: new Headers(init.headers) });
    const answer = answers.shift();
    if (answer === undefined) return Promise.reject(new Error('nothing more to answer'));
    if (answer instanceof Error) return Promise.reject(answer);
    return Promise.resolve(typeof answer === 'function' ? answer(init.signal as AbortSignal) : answer);
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  sent.length = 0;
  answers.length = 0;
});

const client = clientOf<keyof typeof routes>(
  { baseUrl: 'https://fleet.example.com/', token: 'acme|ann|1' },
  (id) => routes[id],
);
const order = { deviceID: 'van-01', feature: 'enginecutoff', state: '0' } as const;
const refused = (call: Promise<unknown>): Promise<ServiceError> =>
  call.then(
    () => expect.fail('it succeeded'),
    (thrown: unknown) => thrown as ServiceError,
  );

describe('a call that fails for the moment', () => {
  const broken = (): void => void answers.push(new TypeError('connection reset'), json(200, {}));

  it('is repeated when it reads, or is a change with a key of its intent', async () => {
    for (const call of [
      () => client.call('getDevice', { params: { deviceID: 'a/b' } }),
      () => client.call('commandFeature', { body: order, idempotencyKey: 'k1' }),
    ]) {
      broken();
      const answered = call();
      await vi.advanceTimersByTimeAsync(1000);
      await answered;
    }
    expect(sent.map(({ url }) => url.replace('https://fleet.example.com/api/v1/', ''))).toEqual([
      'device/a%2Fb',
      'device/a%2Fb',
      'command',
      'command',
    ]);
    expect(sent.slice(2).map(({ headers }) => headers.get('idempotency-key'))).toEqual(['k1', 'k1']);
  });

  it('is never repeated when it changes something and has no key, or a key that the service does not keep', async () => {
    for (const call of [
      () => client.call('commandFeature', { body: order }),
      () => client.call('deleteDevice', { body: { deviceID: 'van-01' }, idempotencyKey: 'k2' }),
    ]) {
      answers.push(new TypeError('connection reset'));
      expect(await refused(call())).toMatchObject({ code: 'unreachable', status: 0, mayHaveActed: true });
    }
    expect(sent).toHaveLength(2);
  });

  it('waits as long as the service says, and ends after its time', async () => {
    answers.push(
      failed(503, 'throttled', { 'retry-after': '20' }),
      failed(503, 'throttled', { 'retry-after': '20' }),
    );
    const call = refused(client.call('getDevice', { params: { deviceID: 'van-01' } }));
    await vi.advanceTimersByTimeAsync(19_000);
    expect(sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(2000);
    expect(await call).toMatchObject({ code: 'throttled', retryAfterS: 20, mayHaveActed: false });
    expect(sent).toHaveLength(2);
  });

  it('may have been carried out as soon as one of its tries may have', async () => {
    answers.push(new TypeError('connection reset'), failed(422, 'forbidden'));
    const call = refused(client.call('commandFeature', { body: order, idempotencyKey: 'k3' }));
    await vi.advanceTimersByTimeAsync(1000);
    expect(await call).toMatchObject({
      code: 'forbidden',
      requestId: '5b1f0c9a2d7e4836',
      mayHaveActed: true,
    });
  });

  it('ends with the reason of its signal, also between two tries', async () => {
    answers.push(new TypeError('connection reset'));
    const leave = new AbortController();
    const call = refused(client.call('getDevice', { params: { deviceID: 'van-01' }, signal: leave.signal }));
    await vi.advanceTimersByTimeAsync(100);
    leave.abort(new Error('left'));
    expect(await call).toMatchObject({ message: 'left' });
  });
});

it('sends its token with every call but the public ones', async () => {
  answers.push(json(200, {}), json(200, {}));
  await client.call('login', { body: { accountID: 'acme', userID: 'ann', password: 'x' } });
  await client.call('getDevice', { params: { deviceID: 'van-01' } });
  expect(sent.map(({ headers }) => headers.get('authorization'))).toEqual([null, 'acme|ann|1']);
});

it('ends a list whose next page is the same again with an error', async () => {
  const page = { alarms: [], more: true, next: 'c1' };
  answers.push(json(200, page), json(200, page));
  const read = async (): Promise<void> => {
    for await (const { more } of client.pages('listAlarms')) expect(more).toBe(true);
  };
  await expect(read()).rejects.toThrow('the cursor that it was asked with');
});

describe('a stream', () => {
  const text = new TextEncoder();
  const message = (id: number, event = 'event'): string =>
    `id: ${id}\nevent: ${event}\ndata: {"at":${id}}\n\n`;
  /** Sends these pieces; stays open after the last unless it ends. */
  const streamed =
    (pieces: readonly string[], ends = false) =>
    (signal: AbortSignal): Response =>
      new Response(
        new ReadableStream<Uint8Array>({
          start(controller) {
            for (const piece of pieces) controller.enqueue(text.encode(piece));
            if (ends) controller.close();
            else signal.addEventListener('abort', () => controller.error(signal.reason));
          },
        }),
      );
  const resumed = (): readonly (string | null)[] =>
    sent.map(({ url }) => new URL(url).searchParams.get('lastEventId'));

  it('goes on behind the last message that its reader took, and gives the place behind each', async () => {
    answers.push(streamed([message(5, 'hello') + message(6), message(7)], true), streamed([message(8)]));
    const leave = new AbortController();
    const seen: (string | null)[] = [];
    const follow = async (): Promise<void> => {
      for await (const { kind, resumeID } of client.follow({ signal: leave.signal })) {
        seen.push(kind, resumeID);
        if (resumeID === '8') leave.abort();
      }
    };
    const followed = follow();
    await vi.advanceTimersByTimeAsync(2000);
    await followed;
    expect(seen).toEqual(['hello', '5', 'event', '6', 'event', '7', 'event', '8']);
    expect(resumed()).toEqual([null, '7']);
  });

  it('is not silent while its reader is busy, however long', async () => {
    answers.push(streamed([message(5, 'hello'), message(6), message(7)], true));
    const states: string[] = [];
    const taken: (string | null)[] = [];
    const leave = new AbortController();
    const follow = async (): Promise<void> => {
      const input = { signal: leave.signal, onState: (state: string) => void states.push(state) };
      for await (const { resumeID } of client.follow(input)) {
        taken.push(resumeID);
        await new Promise((done) => setTimeout(done, 60_000));
      }
    };
    const followed = follow();
    await vi.advanceTimersByTimeAsync(179_000);
    expect([taken, states]).toEqual([
      ['5', '6', '7'],
      ['live', 'live', 'live'],
    ]);
    leave.abort();
    await vi.advanceTimersByTimeAsync(60_000);
    await followed;
    expect(sent).toHaveLength(1);
  });

  it('is down after 3 s without a sign of life, and is opened again after 10 s', async () => {
    answers.push(streamed([message(5, 'hello')]), streamed([message(6)]));
    const states: string[] = [];
    const leave = new AbortController();
    const follow = async (): Promise<void> => {
      const onState = (state: string): void => void states.push(state);
      for await (const { kind } of client.follow({ signal: leave.signal, onState }))
        if (kind === 'event') leave.abort();
    };
    const followed = follow();
    await vi.advanceTimersByTimeAsync(4000);
    expect([states, sent.length]).toEqual([['live', 'down'], 1]);
    await vi.advanceTimersByTimeAsync(8000);
    await followed;
    expect(states).toEqual(['live', 'down', 'down', 'live']);
    expect(resumed()).toEqual([null, '5']);
  });

  it('ends with the error when the service refuses it for good, and is tried again when it is busy', async () => {
    answers.push(failed(503, 'throttled', { 'retry-after': '3' }), failed(401, 'unauthorized'));
    const next = refused(client.follow().next());
    await vi.advanceTimersByTimeAsync(2900);
    expect(sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(5000);
    expect(await next).toMatchObject({ code: 'unauthorized', status: 401 });
  });
});
