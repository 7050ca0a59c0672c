// Whatever comes in, the service answers with its own errors: never 500, never a crash, never an answer outside of the schema.
// Requests are the operations' examples with parts exchanged for hostile or borderline values, in random order against
// one living service. FLEETWARD_TEST_FUZZ_REQUESTS sets how many.
import * as fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Operation, servedPaths } from '../../broker/api/base/operation.ts';
import { errorAnswer } from '../../broker/api/base/shapes.ts';
import { operations } from '../../broker/operations.ts';
import { extent } from '../support/extent.ts';
import { holdClock } from '../support/http/held-clock.ts';
import { type HttpService, seedFleet } from '../support/http/http-fixtures.ts';
import { startHttpService } from '../support/http/http-service.ts';
import { DeadlineError, hangMs } from '../support/machine/wait-until.ts';

const requestCount = Number(
  process.env['FLEETWARD_TEST_FUZZ_REQUESTS'] ?? extent({ gate: 1000, nightly: 3000 }),
);
const perRun = 100;
/** Time between two requests, ms. */
const paceMs = 10;

let service: HttpService;
const tokens: string[] = [];
const rejections: unknown[] = [];
const seenStatuses = new Map<number, number>();
const onRejection = (reason: unknown): void => void rejections.push(reason);

async function begin(): Promise<void> {
  service = await startHttpService();
  await seedFleet(service);
  tokens.length = 0;
  for (const user of ['admin', 'dispatch', 'guest']) tokens.push(await service.login('acme', user));
  // What is limited in a minute is the same on every machine.
  holdClock(service);
}

beforeAll(async () => {
  process.on('unhandledRejection', onRejection);
  await begin();
});

afterAll(async () => {
  process.off('unhandledRejection', onRejection);
  await service.close();
});

/** Endless answers, logins (slow on purpose) and logouts (which end the fuzzing user's session) have tests of their own. */
const targets = operations.filter(
  ({ id, produces }) => produces !== 'text/event-stream' && !['login', 'logout'].includes(id),
);

const hostileTexts = `
.
..
../../etc/passwd
%00
%2e%2e%2f
*
#
+
$SYS
__proto__
' OR 1=1 --
"; DROP TABLE events; --
<script>alert(1)</script>
{{7*7}}
=1+1
0
-1
1e308
99999999999999999999
NaN
null
true
rival-1
truck-17
acme
rival
admin
a,b,c
1,2
[]
{}
٣
`
  .split('\n')
  .concat(['', ' ', '\u0000', '\ud800', '\u202e', 'é'.repeat(300), 'x'.repeat(5000)]);

const hostileText = fc.oneof(
  fc.constantFrom(...hostileTexts),
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
);

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom(
    null,
    true,
    false,
    0,
    -1,
    1,
    1.5,
    2 ** 31,
    2 ** 53,
    -(2 ** 53),
    1e308,
    [],
    {},
    [[]],
    [null],
  ),
  fc.integer(),
  fc.double(),
  fc.array(hostileText, { maxLength: 5 }),
  fc.dictionary(fc.string({ maxLength: 8 }), fc.anything({ maxDepth: 1 }), { maxKeys: 4 }),
  fc.constant(Array.from({ length: 2000 }, () => 'truck-17')),
);

interface Shot {
  readonly at: number;
  readonly user: number;
  readonly form: number;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly dropped: readonly string[];
  readonly bodyText: string | null;
}

const rarely = <T>(value: fc.Arbitrary<T>, otherwise: T): fc.Arbitrary<T> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary: value });

const shots: readonly fc.Arbitrary<Shot>[] = targets.map((operation, at) => {
  const names = Object.keys(operation.body?.properties ?? {});
  const members = [...names, 'deviceID', 'deviceid', 'data', '__proto__', 'constructor'];
  const some = (keys: readonly string[], value: fc.Arbitrary<unknown>) =>
    keys.length === 0
      ? fc.constant({})
      : fc.dictionary(fc.constantFrom(...keys), value, { maxKeys: 3 }).map((one) => ({ ...one }));
  return fc.record({
    at: fc.constant(at),
    user: fc.nat({ max: 2 }),
    form: fc.nat({ max: 2 }),
    params: rarely(some(Object.keys(operation.params.properties), hostileText), {}),
    query: rarely(some([...Object.keys(operation.query?.properties ?? {}), 'x'], hostileText), {}),
    body: rarely(some(members, hostileValue), {}),
    dropped: rarely(fc.subarray(names), []),
    bodyText: rarely(fc.oneof({ withCrossShrink: true }, fc.json({ maxDepth: 2 }), hostileText), null),
  }) as fc.Arbitrary<Shot>;
});

function bodyOf(operation: Operation, shot: Shot): string | undefined {
  if (operation.body === null) return undefined;
  if (shot.bodyText !== null) return shot.bodyText;
  const body = { ...(operation.examples.body as object), ...shot.body };
  for (const name of shot.dropped) delete body[name as keyof typeof body];
  return JSON.stringify(body);
}

function pathOf(operation: Operation, shot: Shot): string {
  const params = { ...(operation.examples.params as Record<string, string>), ...shot.params };
  const paths = servedPaths(operation);
  const path = (paths[shot.form % paths.length] ?? '').replace(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent((params[name] ?? '').toWellFormed()),
  );
  const query = Object.entries(shot.query).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`,
  );
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}

const errorShape = Compile(errorAnswer);
const resultShapes = new Map(targets.map((operation) => [operation.id, Compile(operation.result)]));

/** Names what does not end. */
async function inTime<T>(what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const hang = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new DeadlineError(`${what} did not end within ${hangMs} ms`, false)),
      hangMs,
    );
  });
  try {
    return await Promise.race([work, hang]);
  } finally {
    clearTimeout(timer);
  }
}

async function fire(shot: Shot): Promise<void> {
  const operation = targets[shot.at];
  if (operation === undefined) return;
  const body = bodyOf(operation, shot);
  const request = { method: operation.method, path: pathOf(operation, shot), token: tokens[shot.user] ?? '' };
  service.advance(paceMs);
  const answer = await inTime(
    `${operation.id} ${request.path} ${body ?? ''}`,
    service.call({ ...request, ...(body === undefined ? {} : { body }) }),
  );
  const seen = `${operation.id} ${request.path} ${body ?? ''} -> ${answer.status} ${answer.text.slice(0, 400)}`;
  seenStatuses.set(answer.status, (seenStatuses.get(answer.status) ?? 0) + 1);
  expect([200, 400, 401, 404, 405, 406, 422, 503], seen).toContain(answer.status);
  if (answer.status !== 200) {
    expect(errorShape.Check(answer.json()), seen).toBe(true);
    expect(answer.json()['error'], seen).not.toMatchObject({ code: 'unavailable' });
  } else if (operation.produces === undefined && !/\/\.{1,2}(\/|$)/.test(request.path)) {
    // A dot segment names another operation (RFC 3986 section 5.2.4).
    expect(resultShapes.get(operation.id)?.Errors(answer.json()), seen).toEqual([]);
  }
  expect(answer.text).not.toContain('CANARY');
  // A request may have ended the session or changed the user whose token it carried.
  if (answer.status === 401) {
    await inTime('the end of the service', service.close());
    await inTime('the start of the service', begin());
  }
}

it(`answers ${requestCount} hostile requests with documented errors only`, { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(...shots), { minLength: perRun, maxLength: perRun, size: 'max' }),
      async (sequence) => {
        for (const shot of sequence) await fire(shot);
      },
    ),
    { numRuns: Math.ceil(requestCount / perRun), endOnFailure: true },
  );
  expect(rejections).toEqual([]);
  // It must get through to the handlers, and not be refused before.
  const share = (status: number): number => (seenStatuses.get(status) ?? 0) / requestCount;
  console.log(`answers by status: ${JSON.stringify(Object.fromEntries(seenStatuses))}`);
  expect(share(200)).toBeGreaterThan(0.2);
  expect(share(503)).toBeLessThan(0.2);
});
